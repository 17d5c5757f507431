/* Reads the rows of a database whose pages are damaged. Each page is read by itself, and every
 * record that looks like a row of ours is one. So a row is lost only with its own page, not with
 * those that lead to it.
 *
 * The rows become tables of an empty database that the connection has attached as "found":
 *
 *   session, event          rows of the tables of these names: their columns, `row` the rowid,
 *                           `free` on a free page, `whole` all of its bytes could be
 *                           read (else some columns are NULL); an extension's likewise
 *   id (key, id)            what the index of sessions' ids has
 *   expected (session, seq) what the index of events has
 *   name (id, key)          entries of any index of that shape
 *   setting                 likewise what sessions are set to
 *   tree (name, page)       the pages of each index that is wanted, as far as its tree can be read
 *
 * There may be several copies of a row. A row on a free page was deleted, and is left out unless an
 * index still has it. */
#ifndef STORE_SALVAGE_H
#define STORE_SALVAGE_H

#include "store/health.h"
#include "store/sql.h"

/* The pages of an index, for an extension's `choose`. */
#define SALVAGE_PAGES_OF(index) "(SELECT page FROM found.tree WHERE name = '" index "')"

/* Inside a transaction. Of the file nothing is changed. */
bool salvage_read(struct store *to, const char *path,
                  const struct store_extension *const *extensions, struct error *e);

/* SQL functions for found rows: is_uuid(x), 1 or 0; plain(x), the text or NULL where it is no
 * UTF-8 or has a NUL; cleaned(x), the text made plain; new_uuid(). */
bool salvage_register(struct store *to, struct error *e);

/* The columns of a row in a found table, in the order of the schema: for a test
 * that compares them with it. */
const char *salvage_columns(const struct store_extension *const *extensions, const char *found);

#endif
