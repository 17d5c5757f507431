/* The events of a session as a stream (text/event-stream): first what the log has behind the number
 * that the reader last saw, then what is told, each once and in order. What runs here comes from
 * the feed at once; what another process wrote is found in the log. A reader that falls behind the
 * feed is told how much it missed: stream_truncated. */
#ifndef SERVE_HTTP_EVENTS_H
#define SERVE_HTTP_EVENTS_H

#include "serve/http_exchange.h"
#include "serve/server.h"

struct http_events;

/* After [serve] heartbeat without a word a comment is sent, and the log is looked at, where nobody
 * writes to it here just now. */
struct http_events *http_events_new(struct server *loop);

/* All streams end, with the event "done". */
void http_events_stop(struct http_events *all);

/* Bytes of the next page of the log for a reader, while all of them may hold so many. */
size_t http_events_share(size_t held);

/* After the server of their exchanges. NULL is fine. */
void http_events_free(struct http_events *all);

/* Answers the exchange, now or later: with the stream of this session (a reference; NULL: of all, without
 * numbers), or an error. `after`: the number of the last event that was seen; negative: what happens from now on. */
void http_events_begin(struct http_events *all, struct http_exchange *x, const char *session,
                       int64_t after);

#endif
