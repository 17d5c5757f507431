#include "chat/memory_hit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"

void memory_hit_release(struct memory_hit *h)
{
    memory_entry_release(&h->entry);
    vec_release(&h->marks);
}

void memory_hits_release(struct memory_hits *h)
{
    for (size_t i = 0; i < h->items.len; i++)
        memory_hit_release(&h->items.items[i]);
    vec_release(&h->items);
}

void memory_stats_release(struct memory_stats *s)
{
    free(s->language);
    free(s->model);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static double four_decimals(double n)
{
    return isfinite(n) ? round(n * 10000) / 10000 : 0;
}

static void write_figure(struct json_out *o, const char *name, double n)
{
    json_out_real(o, name, four_decimals(n));
}

static void write_part(struct json_out *o, const char *name, double n)
{
    if (four_decimals(n) != 0)
        write_figure(o, name, n);
}

static void write_why(struct json_out *o, const struct memory_why *why)
{
    json_out_name(o, "why");
    json_out_open(o, '{');
    write_part(o, "words", why->words);
    write_part(o, "before", why->before);
    write_part(o, "after", why->after);
    write_part(o, "session", why->session);
    write_part(o, "window", why->window);
    write_part(o, "weight", why->weight);
    write_part(o, "coverage", why->coverage);
    if (why->has_vector)
        write_figure(o, "cosine", why->cosine);
    json_out_flag(o, "exact", why->exact);
    json_out_close(o, '}');
}

struct json *memory_hit_to_json(const struct memory_hit *h)
{
    const struct memory_entry *m = &h->entry;
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    memory_entry_write_id(&o, m);
    json_out_member(&o, "content", m->content);
    write_figure(&o, "score", h->score);
    json_out_member(&o, "session_id", m->session_id);
    json_out_int(&o, "turn", m->turn);
    json_out_member(&o, "role", role_name(m->role));
    json_out_member(&o, "speaker", memory_entry_speaker(m));
    memory_entry_write_time(&o, m);
    write_why(&o, &h->why);
    json_out_close(&o, '}');
    return json_out_tree(&text);
}

/* A passage that does not lie in the text is none. */
char *memory_hit_passage(const struct memory_hit *h)
{
    size_t len = strlen(h->entry.content);
    struct memory_span p = h->passage;
    if (p.len == 0 || p.start > len || p.len > len - p.start)
        return mem_strdup(h->entry.content);
    return mem_strndup(h->entry.content + p.start, p.len);
}

static void write_for_model(struct json_out *o, const struct memory_hit *h)
{
    char *content = memory_hit_passage(h);
    json_out_open(o, '{');
    json_out_member(o, "content", content);
    write_figure(o, "score", h->score);
    json_out_member(o, "session_id", h->entry.session_id);
    json_out_int(o, "turn", h->entry.turn);
    json_out_close(o, '}');
    free(content);
}

struct json *memory_hits_for_model(const struct memory_hits *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '[');
    for (size_t i = 0; i < h->items.len; i++)
        write_for_model(&o, &h->items.items[i]);
    json_out_close(&o, ']');
    return json_out_tree(&text);
}

struct json *memory_stats_to_json(const struct memory_stats *s)
{
    struct json *v = json_new_object();
    json_set_int(v, "entries", s->entries);
    json_set_int(v, "sessions", s->sessions);
    json_set_int(v, "pinned", s->pinned);
    json_set_int(v, "flagged", s->flagged);
    json_set_int(v, "bytes", s->bytes);
    json_set_string(v, "language", s->language);
    json_set_bool(v, "language_stale", s->language_stale);
    json_set_string(v, "model", s->model);
    json_set_int(v, "dimension", s->dimension);
    json_set_int(v, "embedded", s->embedded);
    json_set_int(v, "missing", s->missing);
    json_set_int(v, "stale", s->stale);
    json_set_bool(v, "graph", s->graph);
    return v;
}
