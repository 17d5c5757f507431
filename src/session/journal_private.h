/* What the parts of the journal share. */
#ifndef SESSION_JOURNAL_PRIVATE_H
#define SESSION_JOURNAL_PRIVATE_H

#include "session/journal.h"

/* The next number, the time and the session. */
void journal_stamp(const struct journal *j, struct event *ev);

/* A transaction with a snapshot was committed: of older messages that has the blocks. */
void journal_shed(struct journal *j);

/* journal_show.c: takes the event and pushes it as a notice. A delta may wait for others that join
 * it, so that a surface which is slower than the model does not let notices pile up; whatever
 * else comes shows it first. */
void journal_show(struct journal *j, struct event *ev);

/* Shows the delta that waits. */
void journal_show_held(struct journal *j);

/* The delta goes on the one that waits, whose number it then has. */
bool journal_joins_held(const struct journal *j, const struct event *ev);
void journal_drop_held(struct journal *j);

/* What streamed is whole elsewhere, or worth nothing. */
void journal_forget_deltas(struct journal *j);

#endif
