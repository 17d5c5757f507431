/* The format of SQLite's files (https://sqlite.org/fileformat2.html), without SQLite: pages of a
 * file that SQLite would refuse, their cells and records, read without trust in them; and unused
 * bytes of pages, which are overwritten. */
#ifndef STORE_DB_PAGES_H
#define STORE_DB_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

/* ---- pages: those of the file, with those of its WAL in their places ---- */

/* A page's newest copy in the WAL. */
struct wal_page {
    uint32_t number;
    int64_t offset;
};

struct db_pages {
    int file, wal; /* -1: there is none */
    int64_t bytes; /* of the file */
    bool header;   /* the file begins as a database does */
    uint32_t page_size;
    uint32_t usable;  /* bytes of a page without what an extension may reserve at its end */
    uint32_t in_file; /* whole pages */
    uint32_t count;   /* pages that there are, in the file or by the WAL */
    uint32_t claimed; /* pages that the header or the WAL's last transaction says there are */
    VEC(struct wal_page) log; /* what transactions that were completed wrote, by number */
};

enum { PAGE_SIZE_MIN = 512, PAGE_SIZE_MAX = 65536 };

/* Reads the header and the WAL; locks and changes nothing. A destroyed header is no error: the size
 * of a page then comes from the WAL, or from what most pages look like. FILE_ERROR when a file
 * cannot be read. */
bool db_pages_open(struct db_pages *p, const char *path, struct error *e);
void db_pages_close(struct db_pages *p);

/* Whether the file begins as a database does, however short it is. */
bool db_pages_begins(const struct db_pages *p);

/* Whether each of the pages that are claimed is there. */
bool db_pages_whole(const struct db_pages *p);

/* One page, from 1, into `out` of page_size bytes. Bytes behind the end of the file are zeros.
 * False when there is no such page or it cannot be read. */
bool db_pages_read(const struct db_pages *p, uint32_t number, unsigned char *out);

/* The page after this one that there is (0: the first); 0 at the end. */
uint32_t db_pages_next(const struct db_pages *p, uint32_t number);

/* A big-endian number. */
uint32_t db_u32(const unsigned char *at);

/* ---- cells and records ---- */

enum db_page_type {
    DB_NO_TREE = 0, /* an overflow page, a free one, or a damaged one */
    DB_INDEX_INTERIOR = 2,
    DB_TABLE_INTERIOR = 5,
    DB_INDEX_LEAF = 10,
    DB_TABLE_LEAF = 13
};

struct db_page {
    unsigned char *bytes; /* owned */
    uint32_t number;      /* 0: none was loaded */
    enum db_page_type type;
    uint32_t cells;
    uint32_t last_child; /* of an interior page; else 0 */
    uint32_t pointers;   /* where those to its cells begin */
};

/* Reads a page into its bytes, which the caller allocates. False when it cannot be read. */
bool db_page_load(struct db_page *page, const struct db_pages *pages, uint32_t number);

struct db_cell {
    int64_t rowid;              /* of a table's leaf */
    uint32_t child;             /* of an interior page; else 0 */
    uint32_t len;               /* of its record; 0: it has none */
    const unsigned char *local; /* the record's beginning, within the page */
    uint32_t local_len;
    uint32_t overflow; /* the page on which it goes on; 0: it does not */
};

/* False when there is no such cell in the page. */
bool db_cell_read(const struct db_page *page, const struct db_pages *pages, uint32_t i,
                  struct db_cell *out);

/* Replaces `out` by the whole record. False when an overflow page is missing or damaged. */
bool db_cell_load(const struct db_cell *cell, const struct db_pages *pages, struct buf *out);

enum db_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BLOB };

struct db_value {
    enum db_type type;
    bool there; /* within the bytes that were given */
    int64_t number;
    double real; /* of DB_INT, too */
    const char *text;
    size_t len;
};

enum { DB_COLUMNS_MAX = 64 };

struct db_record {
    size_t count;
    struct db_value values[DB_COLUMNS_MAX];
};

/* A record of `total` bytes whose first `len` are given. False when it is none, or has more columns
 * than fit. */
bool db_record_read(const void *bytes, size_t len, size_t total, struct db_record *out);

/* ---- scrubbing ----
 *
 * `PRAGMA secure_delete` overwrites deleted
 * cells and freed pages, but when SQLite moves cells between pages (it balances a tree), copies
 * stay in the unused bytes of the pages that they left. Nothing overwrites these copies when the
 * content is deleted later. */

/* Name of an SQLite VFS that works as the default one, but zeroes the unused bytes of each page
 * that is written to a main database file: by a checkpoint, or directly. Callable from any thread.
 */
const char *scrub_vfs(void);

#endif
