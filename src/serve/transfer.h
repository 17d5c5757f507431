/* Operations on a thread of their own with their own connection: those with a stream, which an
 * engine's desks have not, and others that these cannot do. The texts are held in memory, and bounded. */
#ifndef SERVE_TRANSFER_H
#define SERVE_TRANSFER_H

#include "serve/server.h"

/* Of what is given and taken; a message that holds it may be longer by what JSON escapes. */
#define TRANSFER_MAX ((size_t)32 * 1024 * 1024)

struct transfers;
struct transfers *transfers_new(struct server *s, const struct engine_options *options);
/* What runs is stopped unless it changes something; nobody is answered. NULL is fine. */
void transfers_free(struct transfers *t);

/* `result` is a struct of the row's shape or NULL, `text` what was written; all borrowed. Where `e`
 * is not NULL the row failed, and both are NULL. */
typedef void transfer_done(void *context, const void *result, const char *text,
                           const struct error *e);

/* Copies `params` and `text` (what is read; NULL: nothing). `done` is called once, from the loop.
 * Returns an id to withdraw it by, or 0 with AGENT_ERROR: too many wait. */
uint64_t transfers_start(struct transfers *t, const struct operation *o, const void *params,
                         const char *text, transfer_done *done, void *context, struct error *e);

/* Returns the context that it was started with; NULL: there is none of this id. */
void *transfers_withdraw(struct transfers *t, uint64_t id);

#endif
