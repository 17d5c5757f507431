/* Ingests and vectors of a store that several processes have open: one of them works at a time, a
 * step or a document each, and what it has done the others find done. A turn is a lock that the
 * kernel drops when its holder dies (session/lock.h). */
#ifndef SESSION_CORPORA_TURN_H
#define SESSION_CORPORA_TURN_H

#include "knowledge/corpora.h"

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
