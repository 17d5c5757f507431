#include "agent/head_tail.h"

#include "base/utf8.h"

void head_tail_init(struct head_tail *h, size_t max)
{
    *h = (struct head_tail){.half = max / 2, .head = BUF_INIT, .tail = BUF_INIT};
}

void head_tail_release(struct head_tail *h)
{
    buf_release(&h->head);
    buf_release(&h->tail);
}

/* Leaves the last `half` bytes. */
static void shorten_tail(struct head_tail *h)
{
    size_t over = h->tail.len - h->half;
    buf_consume(&h->tail, over);
    h->dropped += over;
}

void head_tail_add(struct head_tail *h, const char *bytes, size_t len)
{
    size_t room = h->half - h->head.len;
    size_t first = len < room ? len : room;
    buf_add(&h->head, bytes, first);
    buf_add(&h->tail, bytes + first, len - first);
    /* Not at every piece: moving half of it costs. */
    if (h->tail.len > 2 * h->half)
        shorten_tail(h);
}

static size_t skip_continuation(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && n < 3 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* At most `half` bytes of each; what is cut off counts as dropped. */
static void add_both(struct buf *out, const struct buf *head, const struct buf *tail, size_t half,
                     size_t dropped)
{
    size_t keep = utf8_cut_bytes(head->data, head->len, half);
    size_t from = tail->len > half ? tail->len - half : 0;
    if (from > 0)
        from += skip_continuation(tail->data + from, tail->len - from);
    dropped += head->len - keep + from;
    buf_add(out, head->data, keep);
    if (dropped > 0)
        buf_addf(out, "\n[… %zu bytes left out …]\n", dropped);
    buf_add(out, tail->data + from, tail->len - from);
}

static void show_all(const struct head_tail *h, struct buf *out)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    buf_add(&raw, h->head.data, h->head.len);
    buf_add(&raw, h->tail.data, h->tail.len);
    utf8_clean(&text, raw.data, raw.len, UTF8_MULTILINE);
    if (text.len <= 2 * h->half) {
        buf_add(out, text.data, text.len);
    } else { /* it grew */
        size_t keep = utf8_cut_bytes(text.data, text.len, h->half);
        buf_clear(&raw);
        buf_add(&raw, text.data + keep, text.len - keep);
        buf_truncate(&text, keep);
        add_both(out, &text, &raw, h->half, 0);
    }
    buf_release(&raw);
    buf_release(&text);
}

static void show_ends(const struct head_tail *h, size_t over, struct buf *out)
{
    struct buf head = BUF_INIT, tail = BUF_INIT;
    size_t end = h->head.len - utf8_incomplete_tail(h->head.data, h->head.len);
    size_t start = over + skip_continuation(h->tail.data + over, h->tail.len - over);
    utf8_clean(&head, h->head.data, end, UTF8_MULTILINE);
    utf8_clean(&tail, h->tail.data + start, h->tail.len - start, UTF8_MULTILINE);
    add_both(out, &head, &tail, h->half, h->dropped + start + h->head.len - end);
    buf_release(&head);
    buf_release(&tail);
}

void head_tail_show(const struct head_tail *h, struct buf *out)
{
    size_t over = h->tail.len > h->half ? h->tail.len - h->half : 0;
    if (h->dropped + over > 0)
        show_ends(h, over, out);
    else
        show_all(h, out);
}

void head_tail_cut(struct buf *text, size_t max)
{
    size_t total = text->len;
    if (total <= max)
        return;
    size_t keep = utf8_cut_bytes(text->data, total, max);
    buf_truncate(text, keep);
    buf_addf(text, "\n[cut: %zu of %zu bytes shown]", keep, total);
}
