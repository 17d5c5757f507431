/* What a damaged database still has (salvage.h), as rows of a new one. */
#ifndef STORE_RECOVER_H
#define STORE_RECOVER_H

#include "store/health.h"
#include "store/sql.h"

/* Sessions and events of the damaged file, and what extensions have, into a database that has
 * none yet; counts what was saved and lost. The rows that are looked at meanwhile stand in the file
 * `scratch`, which must not be there and is gone when this returns; NULL: in memory. */
bool recover_rows(const char *damaged, struct store *to, const char *scratch,
                  const struct recovery_help *help, struct recovery *out, struct error *e);

#endif
