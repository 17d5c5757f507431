/* The desk of corpora: searches and changes corpora for the surface. While idle it continues
 * ingests, removes deleted passages from the index and makes vectors of passages;
 * NOTICE_CORPORA_STATE tells its progress. */
#ifndef SESSION_CORPORA_DESK_H
#define SESSION_CORPORA_DESK_H

#include "base/worker.h"
#include "config/config.h"
#include "knowledge/corpora.h"
#include "session/desk.h"
#include "session/operation.h"

struct corpora_desk; /* its first member is a struct desk */

/* `config`, `place` and `notices` are borrowed. */
struct corpora_desk *corpora_desk_new(const struct config *config, struct place *place,
                                      struct mailbox *notices);
void corpora_desk_free(struct corpora_desk *d); /* NULL is fine */

/* Looks for work: an unfinished ingest, passages without vectors. */
void corpora_desk_work(struct corpora_desk *d);

/* A turn of one process at ingests or vectors of a store that several processes have open: one
 * process works at a time, on one step or document, and the others see its results. A turn is a
 * lock that the kernel drops when its holder dies (session/lock.h). */

enum { CORPORA_TURN_MS = 50 }; /* a process that waits tries again after this time */

struct corpora_turn {
    const char *directory; /* of the store, for locks; borrowed; NULL: the store is in memory,
                              without locks */
    int lock; /* -1: not held. Kept until a document is finished, or lock_drop()ped with an ingest
                 that is dropped before its end */
};

/* As ingest_step(). *waits: another process has the turn, and nothing was done. */
bool corpora_turn_ingest(struct corpora_turn *t, struct ingest *in, const struct wakeup *wakeup,
                         bool *more, bool *waits, struct error *e);

/* As corpora_embed(); CORPORA_WAITS without a reason while another process has the turn. */
enum corpora_work corpora_turn_embed(const struct corpora_turn *t, struct corpora *c,
                                     const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                                     struct error *why);

#endif
