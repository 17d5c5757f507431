/* The log with an index of words of users and models in all sessions, and the search in it. Writing
 * to the log and deleting a session goes through these functions, which keep rows and words
 * together. */
#ifndef INDEX_TRANSCRIPTS_H
#define INDEX_TRANSCRIPTS_H

#include "chat/event.h"
#include "chat/session_info.h"
#include "store/store.h"

/* event_log_fill(), for one event and for several, and event_log_copy(), with the index. */
bool transcripts_append(struct store *s, const struct event *ev, struct error *e);
bool transcripts_fill(struct store *s, struct event *const *events, size_t count, struct error *e);
bool transcripts_copy(struct store *s, const char *from, int64_t last, const char *to,
                      struct error *e);

/* sessions_delete(), with the index. The session's words are no longer found, and are gone from the
 * file when transcripts_purge() has come to its end: in steps, on any connection
 * (words_purge_step()). */
bool transcripts_delete(struct store *s, const char *session_id, struct error *e);
bool transcripts_purge(struct store *s, bool *more, struct error *e);

/* words_reindex() for the transcripts; transcripts_purge(), then words_tidy(). */
bool transcripts_reindex(struct store *s, struct error *e);
bool transcripts_tidy(struct store *s, bool *more, struct error *e);

/* Any text is a query, none is an error: words must all occur, "words in quotes" in that order, and
 * the last word may go on (found while it is typed). Case and accents do not matter. Newest
 * sessions first, at most `limit` hits; `more` tells whether there would be others. `session_id`
 * restricts it to one session; NULL: all. A query without a word finds nothing; of a very long one
 * the beginning counts. */
bool transcripts_search(struct store *s, const char *query, const char *session_id, int limit,
                        struct search_hits *out, bool *more, struct error *e);

#endif
