/* The desk of corpora: searches and changes them for the surface, and while nobody asks puts in
 * what an ingest has left, takes out what was removed and gives passages their vectors; how far
 * that is it tells with CORPORA_STATE. */
#ifndef SESSION_CORPORA_DESK_H
#define SESSION_CORPORA_DESK_H

#include "base/worker.h"
#include "config/config.h"
#include "knowledge/corpora.h"
#include "session/desk.h"
#include "session/operation.h"

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

/* Ingests and vectors of a store that several processes have open: one of them works at a time, a
 * step or a document each, and what it has done the others find done. A turn is a lock that the
 * kernel drops when its holder dies (session/lock.h). */

enum { CORPORA_TURN_MS = 50 }; /* whoever waits looks again so soon */

struct corpora_turn {
    const char *directory; /* of the store, for locks; borrowed; NULL: it is in memory, one's own */
    int lock;              /* -1: not held. Kept amid a document */
};

/* As ingest_step(). *waits: another process is at it, and nothing was done. */
bool corpora_turn_ingest(struct corpora_turn *t, struct ingest *in, const struct wakeup *wakeup,
                         bool *more, bool *waits, struct error *e);

/* As corpora_embed(), and WAITS without a reason while another process is at it. */
enum corpora_work corpora_turn_embed(const struct corpora_turn *t, struct corpora *c,
                                     const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                                     struct error *why);

/* For whoever drops an ingest before its end. */
void corpora_turn_end(struct corpora_turn *t);

#endif
