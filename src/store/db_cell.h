/* Cells and records of a database's pages (https://sqlite.org/fileformat2.html), read without
 * SQLite and without trust in what they say. */
#ifndef STORE_DB_CELL_H
#define STORE_DB_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/db_pages.h"

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

void db_page_init(struct db_page *page, const struct db_pages *pages);
void db_page_release(struct db_page *page);

/* False when it cannot be read. */
bool db_page_load(struct db_page *page, const struct db_pages *pages, uint32_t number);

/* Whether bytes look like a page of a tree that is this long. */
bool db_page_likely(const unsigned char *bytes, uint32_t size);

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

/* Replaces `out` by the whole record. False when a page that it goes on on is not there, or not
 * one of such. */
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

#endif
