/* Corpora in the sessions' database, on the caller's connection. A document is whole or not there:
 * its chunks come in steps, each a transaction, and count from the last one on; so whoever is
 * killed leaves nothing half, and others write in between. What is wrong is USAGE, what is not
 * there MEMORY_NOT_FOUND. Structs that are filled in are empty where this fails. Belongs to one
 * thread. */
#ifndef KNOWLEDGE_CORPORA_H
#define KNOWLEDGE_CORPORA_H

#include "base/err.h"
#include "base/wakeup.h"
#include "chat/corpora.h"
#include "config/config.h"
#include "index/encoder.h"
#include "index/vectors.h"
#include "store/store.h"

struct corpora {
    struct store *store; /* borrowed */
    const struct config *config;
    const char *language; /* of the words where there are none yet (store/language.h); a constant */
    struct vectors *vectors;
    struct encoder encoder;
};

/* `directory` is that of the store's file; NULL: it is in memory. Costs nothing until it is used.
 */
struct corpora *corpora_open(const struct config *config, struct store *s, const char *directory);
void corpora_close(struct corpora *c); /* NULL is fine */

#endif
