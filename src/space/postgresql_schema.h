/* The SQL that makes the tables of shared spaces, in the schema `tiro`. It may be run again. */
#ifndef SPACE_POSTGRESQL_SCHEMA_H
#define SPACE_POSTGRESQL_SCHEMA_H

#include "base/buf.h"

enum { POSTGRESQL_TABLES = 7 };

/* Statements that make the tables where they are missing. */
extern const char postgresql_tables[];

/* Appends statements that let every role of the database use the tables, as far as row level
 * security allows it. An engine without that refuses them; there an administrator grants rights. */
void postgresql_policies(struct buf *out);

#endif
