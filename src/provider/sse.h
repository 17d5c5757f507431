/* Server-sent events (HTML Living Standard, 9.2), parsed from whatever pieces they come in. Any
 * split of the bytes gives the same events. Comments, `id` and `retry` are passed over. Unlike in
 * the standard, an event that the end of the stream cuts off before its blank line counts. */
#ifndef PROVIDER_SSE_H
#define PROVIDER_SSE_H

#include "provider/lines.h"

/* `name` is "" when the stream gave none. Both are borrowed for the call and NUL-terminated. False
 * stops the parser. */
typedef bool sse_fn(void *context, const char *name, const char *data, size_t len);

struct sse {
    struct lines lines;
    struct buf name;
    struct buf data;
    bool has_data;
    bool too_large;
    sse_fn *on_event;
    void *context;
};

/* `max` bounds a line and an event's data, in bytes. */
void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *context);
void sse_release(struct sse *s);
enum feed_result sse_feed(struct sse *s, const char *bytes, size_t len);
enum feed_result sse_end(struct sse *s);

#endif
