/* What the parts of the journal share. */
#ifndef SESSION_JOURNAL_PRIVATE_H
#define SESSION_JOURNAL_PRIVATE_H

#include "session/journal.h"

/* The next number, the time and the session. */
void journal_stamp(const struct journal *j, struct event *ev);

/* Writes the row, with the session's lock, and notes that it is there. */
bool journal_write_row(struct journal *j, struct error *e);

/* Pushes the event, which is taken, as a notice. */
void journal_show(struct journal *j, struct event *ev);

/* What streamed is whole elsewhere, or worth nothing. */
void journal_forget_deltas(struct journal *j);

#endif
