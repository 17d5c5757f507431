/* Full-text search over what users and models said in all sessions (FTS5). The index is kept by
 * event_log_append() and sessions_delete(). */
#ifndef STORE_SEARCH_H
#define STORE_SEARCH_H

#include "chat/event.h"
#include "chat/search_hit.h"
#include "store/store.h"

/* Any text is a query, none is an error: words must all occur, "words in quotes" in that order, and
 * the last word may go on (found while it is typed). Case and accents do not matter. Newest
 * sessions first, at most `limit` hits; `more` tells whether there would be others. `session_id`
 * restricts it to one session; NULL: all. A query without a word finds nothing; of a very long one
 * the beginning counts. */
bool search_texts(struct store *s, const char *query, const char *session_id, int limit,
                  struct search_hits *out, bool *more, struct error *e);

/* For event_log.c: indexes the event if it is one that search looks at. Its row is there. */
bool search_index(struct store *s, const struct event *ev, struct error *e);

/* The same without reading the row, which takes five times the memory of the text; that must be
 * valid UTF-8 without a NUL, or is another one in the row. */
bool search_index_text(struct store *s, const struct event *ev, struct error *e);

/* For event_log.c: all events of a session from this number on, none of which is in the index. */
bool search_index_from(struct store *s, const char *session_id, int64_t first, struct error *e);

/* For sessions.c: before its events are deleted. Nothing of their words stays in the index. */
bool search_forget(struct store *s, const char *session_id, struct error *e);

#endif
