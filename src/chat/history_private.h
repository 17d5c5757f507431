/* What the parts of the history share. */
#ifndef CHAT_HISTORY_PRIVATE_H
#define CHAT_HISTORY_PRIVATE_H

#include "chat/history.h"

/* An event of a compaction, applied. */
void history_compaction(struct history *h, const struct event *ev);

/* A warning, which may be of one. */
void history_warning(struct history *h, const struct event *ev);

/* Text or a call of a tool: what a provider takes back. */
bool history_has_answer(const struct message *m);

/* Its usage joins the session's. */
void history_count_use(struct history *h, const struct event *ev);

void compaction_state_init(struct compaction_state *s);
void compaction_state_release(struct compaction_state *s);

/* Whether a compaction may leave these behind: numbers rise, turns from 1 on do not fall, the user
 * begins, and calls and results are paired. `what` says why not. */
bool history_messages_fit(const struct message *messages, size_t count,
                          struct message_source *source, const char **what);

/* The message at `i` has its blocks from now on. False: they could not be read. */
bool history_fetch(struct history *h, size_t i);

#endif
