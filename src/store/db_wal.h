/* Reading a write-ahead log (https://sqlite.org/walformat.html). */
#ifndef STORE_DB_WAL_H
#define STORE_DB_WAL_H

#include "store/db_pages.h"

/* As its header says; 0 when it has none. */
uint32_t db_wal_page_size(int fd);

/* Finds the newest copy of each page that a completed transaction wrote. Returns how many pages the
 * database had after the last one; 0 when there is none. What follows a frame whose checksum is
 * wrong was never written, as for SQLite. */
uint32_t db_wal_read(struct db_pages *p);

#endif
