#include "provider/sse.h"

#include <string.h>

static const char byte_order_mark[] = "\xEF\xBB\xBF";

enum { MARK_LEN = 3, MARK_BEHIND = 4 };

void lines_init(struct lines *l, size_t max)
{
    *l = (struct lines){0};
    buf_init(&l->rest, max);
}

void lines_release(struct lines *l)
{
    buf_release(&l->rest);
}

/* How many of the bytes belong to the byte order mark. One that breaks off was text: it goes to
 * `rest`. */
static size_t skip_mark(struct lines *l, const char *bytes, size_t len)
{
    size_t used = 0;
    while (l->mark < MARK_LEN && used < len && bytes[used] == byte_order_mark[l->mark]) {
        l->mark++;
        used++;
    }
    if (used == len && l->mark < MARK_LEN)
        return used;
    if (l->mark < MARK_LEN)
        buf_add(&l->rest, byte_order_mark, l->mark);
    l->mark = MARK_BEHIND;
    return used;
}

/* memchr() that remembers, for one chunk, where the next one is. */
static const char *find(const char **known, const char *from, const char *end, char c)
{
    if (*known == NULL || *known < from) {
        const char *hit = memchr(from, c, (size_t)(end - from));
        *known = hit == NULL ? end : hit;
    }
    return *known;
}

static enum feed_result deliver(struct lines *l, const char *bytes, size_t len, lines_fn *on_line,
                                void *context)
{
    if (l->rest.len == 0) {
        if (l->rest.max > 0 && len > l->rest.max)
            return FEED_TOO_LARGE;
        return on_line(context, bytes, len) ? FEED_OK : FEED_STOPPED;
    }
    if (!buf_try_add(&l->rest, bytes, len))
        return FEED_TOO_LARGE;
    bool more = on_line(context, l->rest.data, l->rest.len);
    buf_release(&l->rest); /* up to 16 MiB, of which on_line() has a copy by now */
    return more ? FEED_OK : FEED_STOPPED;
}

enum feed_result lines_feed(struct lines *l, const char *bytes, size_t len, lines_fn *on_line,
                            void *context)
{
    const char *end = bytes + len;
    const char *at = l->mark == MARK_BEHIND ? bytes : bytes + skip_mark(l, bytes, len);
    const char *lf = NULL;
    const char *cr = NULL;
    while (at < end) {
        bool half = l->after_cr && *at == '\n';
        l->after_cr = false;
        if (half) {
            at++;
            continue;
        }
        const char *next_lf = find(&lf, at, end, '\n');
        const char *next_cr = find(&cr, at, end, '\r');
        const char *eol = next_cr < next_lf ? next_cr : next_lf;
        if (eol == end)
            return buf_try_add(&l->rest, at, (size_t)(end - at)) ? FEED_OK : FEED_TOO_LARGE;
        enum feed_result result = deliver(l, at, (size_t)(eol - at), on_line, context);
        if (result != FEED_OK)
            return result;
        l->after_cr = *eol == '\r';
        at = eol + 1;
    }
    return FEED_OK;
}

enum feed_result lines_end(struct lines *l, lines_fn *on_line, void *context)
{
    if (l->mark < MARK_LEN)
        buf_add(&l->rest, byte_order_mark, l->mark);
    l->mark = MARK_BEHIND;
    return l->rest.len == 0 ? FEED_OK : deliver(l, "", 0, on_line, context);
}

enum { ID_MAX = 1024 }; /* a longer id is passed over */

/* --- server-sent events ----------------------------------------------------------------------- */

void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *context)
{
    *s = (struct sse){.on_event = on_event, .context = context};
    lines_init(&s->lines, max);
    buf_init(&s->name, max);
    buf_init(&s->data, max);
    buf_init(&s->id, ID_MAX);
    buf_init(&s->last_id, ID_MAX);
    s->retry_ms = -1;
}

void sse_release(struct sse *s)
{
    lines_release(&s->lines);
    buf_release(&s->name);
    buf_release(&s->data);
    buf_release(&s->id);
    buf_release(&s->last_id);
}

static bool dispatch(struct sse *s)
{
    if (s->id.len > 0) {
        buf_clear(&s->last_id);
        buf_addstr(&s->last_id, s->id.data);
        buf_clear(&s->id);
    }
    bool more = !s->has_data || s->on_event(s->context, s->name.data, s->data.data, s->data.len);
    buf_clear(&s->name);
    buf_clear(&s->data);
    s->has_data = false;
    return more;
}

static bool take_field(struct sse *s, const char *line, size_t name_len, const char *value,
                       size_t value_len)
{
    bool fits = true;
    if (name_len == 4 && memcmp(line, "data", 4) == 0) {
        fits = (!s->has_data || buf_try_add(&s->data, "\n", 1)) &&
               buf_try_add(&s->data, value, value_len);
        s->has_data = true;
    } else if (name_len == 5 && memcmp(line, "event", 5) == 0) {
        buf_clear(&s->name);
        fits = buf_try_add(&s->name, value, value_len);
    } else if (name_len == 2 && memcmp(line, "id", 2) == 0 && value_len < ID_MAX) {
        buf_clear(&s->id);
        if (!memchr(value, '\0', value_len))
            buf_add(&s->id, value, value_len);
    } else if (name_len == 5 && memcmp(line, "retry", 5) == 0 && value_len > 0 && value_len < 10) {
        int64_t ms = 0;
        size_t i = 0;
        for (; i < value_len && value[i] >= '0' && value[i] <= '9'; i++)
            ms = 10 * ms + (value[i] - '0');
        s->retry_ms = i == value_len ? ms : s->retry_ms;
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

enum feed_result sse_feed(struct sse *s, const char *bytes, size_t len)
{
    enum feed_result result = lines_feed(&s->lines, bytes, len, take_line, s);
    return result == FEED_STOPPED && s->too_large ? FEED_TOO_LARGE : result;
}

enum feed_result sse_end(struct sse *s)
{
    enum feed_result result = lines_end(&s->lines, take_line, s);
    buf_clear(&s->id); /* what was cut off may be asked for again */
    if (result == FEED_OK)
        return dispatch(s) ? FEED_OK : FEED_STOPPED;
    return result == FEED_STOPPED && s->too_large ? FEED_TOO_LARGE : result;
}
