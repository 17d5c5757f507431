#include "chat/event_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"

void event_pieces_clear(struct event_pieces *p)
{
    vec_clear(&p->lengths);
}

void event_pieces_release(struct event_pieces *p)
{
    vec_release(&p->lengths);
}

void event_pieces_add(struct event_pieces *p, int64_t seq, size_t length)
{
    if (p->lengths.len > 0 && p->last == seq)
        vec_last(&p->lengths) += length;
    else
        vec_push(&p->lengths, length);
    p->last = seq;
}

char *event_pieces_json(const struct event_pieces *p)
{
    struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    if (p->lengths.len < 2)
        return NULL;
    json_out_open(&out, '[');
    for (size_t i = 0; i < p->lengths.len; i++)
        json_out_number(&out, (int64_t)p->lengths.items[i]);
    json_out_close(&out, ']');
    return buf_take(&text);
}

/* A log may come from elsewhere: false where the lengths are not those of the text. */
static bool read_pieces(const struct event *ev, struct event_pieces *out)
{
    struct json *v = json_parse_foreign(ev->pieces, strlen(ev->pieces), NULL);
    const size_t whole = ev->text ? strlen(ev->text) : 0;
    size_t sum = 0;
    bool ok = json_type(v) == JSON_ARRAY;
    for (const struct json *n = ok ? json_first(v) : NULL; n && ok; n = json_next(n)) {
        int64_t length = json_int(n, -1);
        ok = length >= 0 && (size_t)length <= whole - sum;
        if (ok)
            vec_push(&out->lengths, (size_t)length);
        sum += ok ? (size_t)length : 0;
    }
    json_free(v);
    out->last = ev->seq;
    return ok && sum == whole;
}

static void skip(struct event *ev, struct event_pieces *p, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += p->lengths.items[i];
    memmove(ev->text, ev->text + bytes, strlen(ev->text + bytes) + 1);
    vec_remove(&p->lengths, 0, count);
    free(ev->pieces);
    ev->pieces = event_pieces_json(p);
}

void event_pieces_skip(struct event *ev, int64_t after)
{
    struct event_pieces p = {0};
    if (event_is_delta(ev->type) && ev->pieces && after < ev->seq && read_pieces(ev, &p)) {
        int64_t before = ev->seq - (int64_t)p.lengths.len;
        if (after > before)
            skip(ev, &p, (size_t)(after - before));
    }
    event_pieces_release(&p);
}
