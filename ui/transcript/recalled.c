#include "ui/transcript/recalled.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

static char *clean(const char *text)
{
    struct buf out = BUF_INIT;
    utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
}

static void add_hit(struct memory_hits *out, const struct json *v)
{
    struct memory_hit hit = {0};
    struct error fault;
    const struct json *why = json_get(v, "why");
    if (!memory_entry_read(v, &hit.entry, &fault))
        return; /* of another version: what is left of the answer can still be read */
    hit.score = json_get_number(v, "score", 0);
    hit.why.has_vector = shape_read(&memory_why_shape, why, &hit.why, &fault) &&
                         json_get(why, "cosine") != NULL;
    hit.passage.len = strlen(hit.entry.content);
    vec_push(&out->items, hit);
}

struct recalled *recalled_new(const struct event *ev)
{
    struct recalled *r = mem_alloc(sizeof *r);
    struct json *hits = ev->hits ? json_parse(ev->hits, strlen(ev->hits), NULL) : NULL;
    r->seq = ev->seq;
    r->at_ms = ev->wall_ms;
    r->query = clean(ev->text ? ev->text : "");
    r->badge = ev->name ? clean(ev->name) : NULL;
    if (hits && json_type(hits) == JSON_ARRAY)
        for (const struct json *v = json_first(hits); v; v = json_next(v))
            add_hit(&r->hits, v);
    json_free(hits);
    return r;
}

void recalled_free(struct recalled *r)
{
    if (!r)
        return;
    memory_hits_release(&r->hits);
    free(r->query);
    free(r->badge);
    free(r);
}

void recalls_clear(struct recalls *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        recalled_free(r->items.items[i]);
    vec_clear(&r->items);
}

void recalls_release(struct recalls *r)
{
    recalls_clear(r);
    vec_release(&r->items);
}

bool recalls_add(struct recalls *r, const struct event *ev, bool fresh)
{
    size_t at = r->items.len;
    if (ev->type != EVENT_MEMORY_RECALLED)
        return false;
    while (at > 0 && r->items.items[at - 1]->seq > ev->seq)
        at--;
    if (at > 0 && ev->seq > 0 && r->items.items[at - 1]->seq == ev->seq)
        return false;
    struct recalled *made = recalled_new(ev);
    made->fresh = fresh;
    vec_insert(&r->items, at, made);
    return true;
}
