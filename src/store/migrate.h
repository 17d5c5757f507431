/* The schema and its versions. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "store/sql.h"

/* What a file is, as its header says. */
enum schema_state {
    SCHEMA_EMPTY, /* no tables yet */
    SCHEMA_CURRENT,
    SCHEMA_FOREIGN, /* a database of another program */
    SCHEMA_NEWER,   /* of another version of the program */
};

/* Changes nothing. */
bool migrate_inspect(struct store *s, enum schema_state *out, struct error *e);

/* Makes the schema of an empty database, in one transaction. */
bool migrate_run(struct store *s, struct error *e);

#endif
