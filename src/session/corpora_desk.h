/* The desk of corpora: searches and changes them for the surface, and while nobody asks puts in
 * what an ingest has left, takes out what was removed and gives passages their vectors; how far
 * that is it tells with CORPORA_STATE. */
#ifndef SESSION_CORPORA_DESK_H
#define SESSION_CORPORA_DESK_H

#include "base/worker.h"
#include "config/config.h"
#include "session/operation_request.h"
#include "session/place.h"

struct corpora_desk;

/* `config`, `place` and `notices` are borrowed. */
struct corpora_desk *corpora_desk_new(const struct config *config, struct place *place,
                                      struct mailbox *notices);
void corpora_desk_free(struct corpora_desk *d); /* NULL is fine */

/* As desk.h has it. */
void corpora_desk_start(struct corpora_desk *d, struct operation_request *r);
void corpora_desk_withdraw(struct corpora_desk *d, uint64_t id);

/* There may be something to do: an ingest that was left, passages that lack vectors. */
void corpora_desk_work(struct corpora_desk *d);

#endif
