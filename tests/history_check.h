/* Invariants of every history and every log, whatever happened before. A violation fails the test.
 * Include <cmocka.h> first. */
#ifndef TESTS_HISTORY_CHECK_H
#define TESTS_HISTORY_CHECK_H

#include "chat/history.h"
#include "store/store.h"

/* Checks the rules of providers: the first message is the user's, no message is empty, an answer
 * follows a question or results, and every call is followed directly by its one result. Returns
 * NULL if they hold, else the fault, which the caller frees. */
char *history_fault(const struct history *h);

/* Compares the compactions that two histories remember, ignoring the snapshot's text between
 * them. */
void assert_same_compactions(const struct history *a, const struct history *b);

/* Compares messages and counters. */
void assert_same_history(const struct history *a, const struct history *b);

/* Marks the compactions that were undone, before all events of a log are folded into a history. */
void pass_over_undone(struct store *s, const char *id, struct history *h);

/* Checks a kept session: the log decodes and its numbers rise; snapshot and log fold into the same
 * history, which is valid once an open run is dropped; the counts of the row and its tables match
 * the log. */
void assert_session_sound(struct store *s, const char *id);

/* Checks every session, and the integrity of the file, which is opened read-only. Returns the
 * number of sessions. */
size_t assert_store_sound(const char *path);

/* Whether the log has an event of this number that equals this line of event_to_line(), or of
 * stream-json. */
bool log_has_line(struct store *s, const char *id, int64_t seq, const char *line);

#endif
