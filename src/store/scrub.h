/* Pages of a database without remains of deleted content. `PRAGMA secure_delete` overwrites deleted
 * cells and freed pages, but when SQLite moves cells between pages (it balances a tree), copies stay
 * in the unused bytes of the pages that they left. Nothing overwrites these copies when the content
 * is deleted later. */
#ifndef STORE_SCRUB_H
#define STORE_SCRUB_H

#include <stdint.h>

/* Name of an SQLite VFS that works as the default one, but zeroes the unused bytes of each page that
 * is written to a main database file: by a checkpoint, or directly. Callable from any thread. */
const char *scrub_vfs(void);

/* Zeroes the bytes between the cell pointers and the cells of a page of a tree. `at` is its offset
 * in the file, `len` the size of a page. A page of any other kind, or a damaged one, stays as it
 * is. In a database without auto_vacuum, of less than 64 GiB. */
void scrub_page(unsigned char *page, int len, int64_t at);

#endif
