/* Semantic memory out of a damaged database: sessions as memory counts them, entries with their
 * places, flags. Neither words nor vectors. */
#ifndef STORE_RECOVER_MEMORY_H
#define STORE_RECOVER_MEMORY_H

#include "store/health.h"
#include "store/salvage.h"

/* Into a database that has no memory yet; counts in out->entries and out->lost. `go_on` is asked
 * now and then; false ends it with INTERRUPTED. */
bool recover_memory(const struct salvage *from, struct store *to, struct recovery *out,
                    bool (*go_on)(void *context), void *context, struct error *e);

#endif
