/* The pages of a database's file with those of its WAL in their places, read without SQLite: also
 * where SQLite would refuse the file. Nothing is locked or changed. */
#ifndef STORE_DB_PAGES_H
#define STORE_DB_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

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

/* Looks at the header and reads the WAL. A header that is destroyed is no error: then the WAL says
 * how long pages are, or what most of them look like. FILE_ERROR when a file cannot be read. */
bool db_pages_open(struct db_pages *p, const char *path, struct error *e);
void db_pages_close(struct db_pages *p);

/* Whether the file begins as a database does, however short it is. */
bool db_pages_begins(const struct db_pages *p);

/* Whether each of the pages that are claimed is there. */
bool db_pages_whole(const struct db_pages *p);

/* One page, from 1, into `out` of page_size bytes. What a file that was cut off lacks is zeros.
 * False when there is no such page or it cannot be read. */
bool db_pages_read(const struct db_pages *p, uint32_t number, unsigned char *out);

/* The page after this one that there is (0: the first); 0 at the end. */
uint32_t db_pages_next(const struct db_pages *p, uint32_t number);

/* What SQLite's files are made of: big-endian. */
uint32_t db_u16(const unsigned char *at);
uint32_t db_u32(const unsigned char *at);

#endif
