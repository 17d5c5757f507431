#include "chat/rebuild.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_pack.h"

void rebuild_release(struct rebuild *r)
{
    for (size_t i = 0; i < r->parts.len; i++)
        message_release(&r->parts.items[i].made);
    vec_release(&r->parts);
}

void rebuild_keep(struct rebuild *r, size_t first, size_t count)
{
    if (count == 0)
        return;
    struct rebuild_part *last = r->parts.len > 0 ? &vec_last(&r->parts) : NULL;
    if (last && last->count > 0 && last->first + last->count == first)
        last->count += count;
    else
        vec_push(&r->parts, (struct rebuild_part){.first = first, .count = count});
}

void rebuild_make(struct rebuild *r, struct message made)
{
    vec_push(&r->parts, (struct rebuild_part){.made = made});
}

void rebuild_rewrite(struct rebuild *r, size_t of, struct message made)
{
    vec_push(&r->parts, (struct rebuild_part){.first = of, .made = made, .rewrites = true});
}

size_t rebuild_count(const struct rebuild *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->parts.len; i++)
        count += r->parts.items[i].count > 0 ? r->parts.items[i].count : 1;
    return count;
}

int64_t rebuild_estimate(const struct rebuild *r, const int64_t *estimates)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            sum += message_estimate_tokens(&p->made);
        for (size_t k = 0; k < p->count; k++)
            sum += estimates[p->first + k];
    }
    return sum;
}

char *rebuild_to_json(const struct rebuild *r)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '[');
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count > 0) {
            json_out_pack(&o, "[I I]", (int64_t)p->first, (int64_t)p->count);
            continue;
        }
        json_out_open(&o, '{');
        if (p->rewrites)
            json_out_int(&o, "of", (int64_t)p->first);
        json_out_name(&o, "message");
        shape_write(&message_shape, &p->made, &o);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    return buf_take(&text);
}

/* ---- reading: the text may be foreign ---- */

struct reading {
    size_t old;  /* how many old messages there are */
    size_t next; /* the first of them that a part may still name */
};

/* False unless it is a whole number in [low, high]. */
static bool read_index(const struct json *v, size_t low, size_t high, size_t *out)
{
    double n = json_number(v, -1);
    if (!(n >= (double)low && n <= (double)high) || n != (double)(size_t)n)
        return false;
    *out = (size_t)n;
    return true;
}

static bool read_made(const struct json *v, struct reading *at, struct rebuild *out,
                      struct error *e)
{
    struct message made;
    size_t of = 0;
    const struct json *rewrites = json_get(v, "of");
    if (rewrites && (at->next == at->old || !read_index(rewrites, at->next, at->old - 1, &of)))
        return err_set(e, ERR_AGENT_ERROR, "a message that was shortened is not there");
    if (!message_from_json(json_get(v, "message"), &made, e))
        return false;
    if (made.role == ROLE_SYSTEM) {
        message_release(&made);
        return err_set(e, ERR_AGENT_ERROR, "a message that was made is the system's");
    }
    if (rewrites) {
        rebuild_rewrite(out, of, made);
        at->next = of + 1;
    } else {
        rebuild_make(out, made);
    }
    return true;
}

bool rebuild_from_json(const char *text, size_t old, struct rebuild *out, struct error *e)
{
    struct reading at = {.old = old};
    *out = (struct rebuild){0};
    AUTO(json_free_local) struct json *v = json_parse(text, strlen(text), e);
    if (!v)
        return false;
    bool ok =
        json_type(v) == JSON_ARRAY || err_set(e, ERR_AGENT_ERROR, "a rebuilt history is no array");
    for (const struct json *p = ok ? json_first(v) : NULL; p && ok; p = json_next(p)) {
        size_t first = 0, count = 0;
        if (json_type(p) == JSON_OBJECT) {
            ok = read_made(p, &at, out, e);
        } else if (json_type(p) == JSON_ARRAY) {
            ok = (json_len(p) == 2 && read_index(json_at(p, 0), at.next, old, &first) &&
                  read_index(json_at(p, 1), 1, old - first, &count)) ||
                 err_set(e, ERR_AGENT_ERROR, "a range of kept messages does not fit");
            if (ok) {
                rebuild_keep(out, first, count);
                at.next = first + count;
            }
        } else {
            ok = err_set(e, ERR_AGENT_ERROR,
                         "a part of a rebuilt history is neither range nor message");
        }
    }
    if (!ok)
        rebuild_release(out);
    return ok;
}

/* ---- the dropped messages ---- */

void rebuild_dropped(const struct rebuild *r, size_t old, struct index_list *out)
{
    size_t next = 0; /* the first old message that no part has named yet */
    *out = (struct index_list){0};
    for (size_t i = 0; i <= r->parts.len; i++) {
        const struct rebuild_part *p = i < r->parts.len ? &r->parts.items[i] : NULL;
        if (p && p->count == 0 && !p->rewrites)
            continue;
        size_t first = p ? p->first : old;
        assert(next <= old);
        for (; next < first; next++)
            vec_push(&out->items, next);
        if (p)
            next = first + (p->count > 0 ? p->count : 1);
    }
}

size_t rebuild_rewritten(const struct rebuild *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->parts.len; i++)
        count += r->parts.items[i].rewrites;
    return count;
}

char *rebuild_dropped_events(const struct rebuild *r, const struct message *old, size_t count,
                             int64_t last_seq)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    struct index_list gone;
    int64_t first = 0, last = 0; /* the range that is being joined; 0: none */
    rebuild_dropped(r, count, &gone);
    json_out_open(&o, '[');
    for (size_t i = 0; i < gone.items.len; i++) {
        size_t at = gone.items.items[i];
        if (old[at].summary)
            continue;
        if (first > 0 && old[at].seq != last + 1) {
            json_out_pack(&o, "[I I]", first, last);
            first = 0;
        }
        first = first > 0 ? first : old[at].seq;
        last = at + 1 < count ? old[at + 1].seq - 1 : last_seq;
    }
    if (first > 0)
        json_out_pack(&o, "[I I]", first, last);
    json_out_close(&o, ']');
    vec_release(&gone.items);
    return buf_take(&text);
}
