/* The seam to semantic memory: what a compaction drops is handed over inside its transaction,
 * before the history is replaced. A store that refuses keeps the history as it was. Indexing is
 * idempotent: an entry is known by session and message. */
#ifndef COMPACT_DISCARD_H
#define COMPACT_DISCARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/message.h"

struct store;

struct discard {
    const char *session_id;
    int64_t completed_seq;                 /* number of the compaction_completed that follows */
    const struct message *const *messages; /* in order; no summaries, no system messages; what they
                                              say is in the log, and may not be in their blocks */
    size_t count;
};

struct discard_sink {
    /* How many entries it made, or will make, is in *entries. False with the reason: the compaction
     * is refused. */
    bool (*index)(void *context, struct store *s, const struct discard *d, int *entries,
                  struct error *e);
    /* Takes back what the compaction of this number made: it was undone. */
    bool (*withdraw)(void *context, struct store *s, const char *session_id, int64_t completed_seq,
                     struct error *e);
    void *context;
    /* Messages are no longer part of the conversation, since it was rewound, or again (`undone`):
     * the log says which. NULL: that does not matter. */
    bool (*rewound)(void *context, struct store *s, const char *session_id, bool undone,
                    struct error *e);
};

#endif
