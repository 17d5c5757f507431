/* The events of a session as a stream (text/event-stream): first what the log has behind the number
 * that the reader last saw, then what is told, each once and in order. Events of this
 * process come from the feed at once; those of another process are found in the log. A reader that
 * falls behind the feed is told how much it missed: stream_truncated. */
#ifndef SERVE_HTTP_EVENTS_H
#define SERVE_HTTP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/vec.h"
#include "serve/http_server.h"
#include "serve/server.h"

struct http_events;

/* When the server stops, all streams end, with the event "done". After [serve] heartbeat without a
 * word a comment is sent, and the log is looked at, where nobody writes to it here just now. */
struct http_events *http_events_new(struct server *loop);

/* Bytes of the next page of the log for a reader, while all of them may hold so many. */
size_t http_events_share(size_t held);

/* After the server of their exchanges. NULL is fine. */
void http_events_free(struct http_events *all);

/* Answers the exchange, now or later: with the stream of this session (a reference; NULL: of all,
 * without numbers), or an error. `after`: the number of the last event that was seen; negative:
 * what happens from now on. */
void http_events_begin(struct http_events *all, struct http_exchange *x, const char *session,
                       int64_t after);

/* --- feeds: recent events of a session as frames, once for all their readers
 * ----------------------
 *
 * A reader is a place in the feed: a slow reader takes no memory, and one that comes back soon
 * reads on. Older events are in the log. Pure. */

/* Most bytes of a feed, whose newest frame stays whatever its length if it has no number; most
 * feeds without a turn and a reader. */
enum { HTTP_FEED_BYTES = 256 * 1024, HTTP_FEEDS_IDLE = 64 };

/* A frame as it is sent. */
struct http_frame {
    int refs;    /* who holds it; http_frame_drop() */
    int64_t seq; /* 0: it has no number, and is not in the log */
    size_t len;
    char bytes[];
};

/* "id: 7\nevent: NAME\ndata: DATA\n\n"; without the id if `seq` is negative. The texts have no line
 * break. Held once, by the caller. */
struct http_frame *http_frame_new(int64_t seq, const char *name, const char *data);
/* Bytes as they are, such as a part of a frame. */
struct http_frame *http_frame_of(int64_t seq, const char *bytes, size_t len);
void http_frame_drop(struct http_frame *f); /* NULL is fine */

/* Frames have places: the first that was ever added has 0, and no place is given twice. */
struct http_feed {
    char session[UUID_LEN + 1];
    VEC(struct http_frame *) frames;
    uint64_t first;  /* place of the first of them */
    int64_t base;    /* all events behind this number are in it … */
    int64_t last;    /* … up to this one */
    uint64_t breaks; /* how often events were missing between two that came: another process wrote,
                            or one was too long */
    size_t bytes;
    bool busy;           /* a turn runs */
    uint64_t used;       /* the order in which feeds were last added to */
    VEC(void *) readers; /* who wants to hear of what comes; theirs */
};

struct http_feeds {
    VEC(struct http_feed *) list; /* by session */
    uint64_t uses;
};

void http_feeds_release(struct http_feeds *all);

/* NULL: nothing was told of that session, or not lately. */
struct http_feed *http_feed_find(const struct http_feeds *all, const char *session);
/* Makes it if it is not there; may forget the one that was used longest ago. */
struct http_feed *http_feed_get(struct http_feeds *all, const char *session);

/* The log has events up to this number; the next one follows, if nothing was told here. */
void http_feed_begin(struct http_feed *f, int64_t last);

/* Takes the frame. An event that does not follow the last one makes the feed begin anew with it,
 * one that is longer than HTTP_FEED_BYTES behind it: the log has it. */
void http_feed_add(struct http_feeds *all, struct http_feed *f, struct http_frame *frame);

/* The place behind the event of that number: what has no number and follows it comes again. */
uint64_t http_feed_behind(const struct http_feed *f, int64_t seq);

void http_feed_leave(struct http_feed *f, void *reader);

#endif
