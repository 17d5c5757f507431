#include "provider/lines.h"

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

/* How many of the bytes belong to the mark. A mark that breaks off was text: it goes to `rest`. */
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
    buf_release(&l->rest); /* up to 16 MiB, which who took the line has by now */
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
