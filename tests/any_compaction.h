/* Random compactions, as data, of any shape that a mode could make of a history. Draws from
 * entropy_unit(). */
#ifndef TESTS_ANY_COMPACTION_H
#define TESTS_ANY_COMPACTION_H

#include "chat/event.h"
#include "chat/history.h"

/* A rebuild that keeps what a compaction has to: the open run's first message, pins, pairs of calls
 * and results, order. Drops turns and answers by luck, an earlier summary whenever anything goes,
 * shortens some tool results. */
void any_rebuild(const struct history *h, const char *summary, struct rebuild *out);

/* A compaction_completed of such a rebuild, "manual" where no run is open; number, time and session
 * are the caller's. */
struct event *any_compaction(const struct history *h, const char *summary);

/* The event of this rebuild, which is only read. */
struct event *compaction_of(const struct history *h, const struct rebuild *r, const char *summary);

#endif
