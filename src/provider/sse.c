#include "provider/sse.h"

#include <string.h>

void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *context)
{
    *s = (struct sse){.on_event = on_event, .context = context};
    lines_init(&s->lines, max);
    buf_init(&s->name, max);
    buf_init(&s->data, max);
}

void sse_release(struct sse *s)
{
    lines_release(&s->lines);
    buf_release(&s->name);
    buf_release(&s->data);
}

static bool dispatch(struct sse *s)
{
    bool more = !s->has_data || s->on_event(s->context, s->name.data, s->data.data, s->data.len);
    buf_clear(&s->name);
    buf_clear(&s->data);
    s->has_data = false;
    return more;
}

static bool is_field(const char *line, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(line, name, len) == 0;
}

static bool take_field(struct sse *s, const char *line, size_t name_len, const char *value,
                       size_t value_len)
{
    bool fits = true;
    if (is_field(line, name_len, "data")) {
        fits = (!s->has_data || buf_try_add(&s->data, "\n", 1)) &&
               buf_try_add(&s->data, value, value_len);
        s->has_data = true;
    } else if (is_field(line, name_len, "event")) {
        buf_clear(&s->name);
        fits = buf_try_add(&s->name, value, value_len);
    }
    s->too_large = !fits;
    return fits;
}

static bool take_line(void *context, const char *line, size_t len)
{
    struct sse *s = context;
    if (len == 0)
        return dispatch(s);
    const char *colon = memchr(line, ':', len);
    if (colon == NULL)
        return take_field(s, line, len, "", 0);
    const char *value = colon + 1;
    const char *end = line + len;
    if (value < end && *value == ' ')
        value++;
    return take_field(s, line, (size_t)(colon - line), value, (size_t)(end - value));
}

static enum feed_result outcome(const struct sse *s, enum feed_result result)
{
    return result == FEED_STOPPED && s->too_large ? FEED_TOO_LARGE : result;
}

enum feed_result sse_feed(struct sse *s, const char *bytes, size_t len)
{
    return outcome(s, lines_feed(&s->lines, bytes, len, take_line, s));
}

enum feed_result sse_end(struct sse *s)
{
    enum feed_result result = outcome(s, lines_end(&s->lines, take_line, s));
    if (result != FEED_OK)
        return result;
    return dispatch(s) ? FEED_OK : FEED_STOPPED;
}
