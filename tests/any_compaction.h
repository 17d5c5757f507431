/* Random compactions, as data, of any shape that a mode could make of a history. Draws from
 * entropy_unit(). */
#ifndef TESTS_ANY_COMPACTION_H
#define TESTS_ANY_COMPACTION_H

#include "chat/event.h"
#include "chat/history.h"

/* A valid rebuild: it keeps the open run's first message, pins, pairs of calls and results, and the
 * order. It drops random turns and answers, drops an earlier summary whenever it drops anything,
 * and shortens some tool results. */
void any_rebuild(const struct history *h, const char *summary, struct rebuild *out);

/* A compaction_completed event of such a rebuild, "manual" if no run is open; the caller sets
 * number, time and session. */
struct event *any_compaction(const struct history *h, const char *summary);

/* The event of this rebuild, which is not changed. */
struct event *compaction_of(const struct history *h, const struct rebuild *r, const char *summary);

#endif
