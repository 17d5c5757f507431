/* How a compaction makes the new messages from the old ones, as data: it is written to the log and
 * applied again when a session is resumed. Pure. */
#ifndef CHAT_REBUILD_H
#define CHAT_REBUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/message.h"

/* Either `count` old messages from `first` on, unchanged, or (count 0) one new message. */
struct rebuild_part {
    size_t first, count;
    struct message made; /* owned */
    bool rewrites;       /* `made` replaces the old message `first` and is the same but shorter */
};

struct rebuild {
    VEC(struct rebuild_part) parts;
};

void rebuild_release(struct rebuild *r);
void rebuild_keep(struct rebuild *r, size_t first, size_t count); /* joins what is adjacent */
void rebuild_make(struct rebuild *r, struct message made);        /* takes it */
void rebuild_rewrite(struct rebuild *r, size_t of, struct message made); /* takes it */

size_t rebuild_count(const struct rebuild *r); /* messages afterwards */

/* Sum of message_estimate_tokens() of the new messages. `estimates` are those of the old ones. */
int64_t rebuild_estimate(const struct rebuild *r, const int64_t *estimates);

/* [[first, count], {"message": {…}}, {"of": first, "message": {…}}, …]. The caller frees. */
char *rebuild_to_json(const struct rebuild *r);

/* False with AGENT_ERROR for any other text, a range outside of the `old` messages, or ranges that
 * do not rise; `out` is then empty. */
bool rebuild_from_json(const char *text, size_t old, struct rebuild *out, struct error *e);

/* The old messages that are neither kept nor rewritten, in order: their indices. */
struct index_list {
    VEC(size_t) items;
};
void rebuild_dropped(const struct rebuild *r, size_t old, struct index_list *out);
size_t rebuild_rewritten(const struct rebuild *r);

/* The numbers of the events that the dropped messages were made from: [[first, last], …], from a
 * message's seq to before the next old message's, or to `last_seq`. Summaries have no events of
 * their own and are left out. The caller frees. */
char *rebuild_dropped_events(const struct rebuild *r, const struct message *old, size_t count,
                             int64_t last_seq);

#endif
