/* Streams cut into lines and server-sent events, whatever pieces their bytes come in. Pure: no
 * clock, no I/O. */
#ifndef PROVIDER_SSE_H
#define PROVIDER_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum feed_result {
    FEED_OK,
    FEED_STOPPED,  /* the callback returned false */
    FEED_TOO_LARGE /* a line (or an event made of lines) past the maximum */
};

/* A line ends with LF, CR or CR LF; a byte order mark at the very beginning is dropped. */
struct lines {
    struct buf rest; /* the beginning of a line whose end has not come */
    bool after_cr;
    unsigned mark; /* bytes of the byte order mark seen; past 3: it is behind us */
};

/* `line` is borrowed for the call and not NUL-terminated. */
typedef bool lines_fn(void *context, const char *line, size_t len);

void lines_init(struct lines *l, size_t max);
void lines_release(struct lines *l);

/* After anything but FEED_OK the stream is of no more use. */
enum feed_result lines_feed(struct lines *l, const char *bytes, size_t len, lines_fn *on_line,
                            void *context);

/* The stream is over: a last line without an end counts. */
enum feed_result lines_end(struct lines *l, lines_fn *on_line, void *context);

/* Server-sent events (HTML Living Standard, 9.2). Comments are passed over. Unlike in the standard,
 * an event that the end of the stream cuts off before its blank line counts. `name` is "" when the
 * stream gave none. Both are borrowed for the call and NUL-terminated. False stops the parser. */
typedef bool sse_fn(void *context, const char *name, const char *data, size_t len);

struct sse {
    struct lines lines;
    struct buf name;
    struct buf data;
    bool has_data;
    bool too_large;
    struct buf id, last_id; /* of the event that is read; of the last whole event, or "" */
    int64_t retry_ms;       /* as the stream asked for last; -1: it did not */
    sse_fn *on_event;
    void *context;
};

/* `max` bounds a line and an event's data, in bytes. */
void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *context);
void sse_release(struct sse *s);
enum feed_result sse_feed(struct sse *s, const char *bytes, size_t len);
enum feed_result sse_end(struct sse *s);

#endif
