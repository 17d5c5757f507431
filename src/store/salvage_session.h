/* A row of the session table as its record has it, of each version of the schema. */
#ifndef STORE_SALVAGE_SESSION_H
#define STORE_SALVAGE_SESSION_H

#include "chat/session_info.h"
#include "store/db_cell.h"

struct session_row {
    int64_t key;
    bool free; /* on a page that is given up */
    struct session_info info;
};

/* Whether a record may be one of a session; its values need not be there. */
bool session_row_likely(const struct db_record *r);

/* False when the values do not fit. Texts that are no UTF-8 are cleaned. */
bool session_row_read(const struct db_record *r, int64_t key, struct session_row *out);

/* The columns, in order, of a row of the newest version: for a test that compares them with the
 * schema. NULL behind the last. */
const char *session_row_column(size_t i);

#endif
