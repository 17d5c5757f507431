#include "ui/transcript/item.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

struct item *item_new(enum item_kind kind, int64_t seq)
{
    struct item *item = mem_alloc(sizeof *item);
    item->kind = kind;
    item->seq = seq;
    item->change = ITEM_CHANGED;
    item->card = kind == ITEM_COMPACTION ? mem_alloc(sizeof *item->card) : NULL;
    item->text = item->tail = item->images = item->result = item->difference = (struct buf)BUF_INIT;
    rows_init(&item->rows);
    return item;
}

void item_free(struct item *item)
{
    if (!item)
        return;
    buf_release(&item->text);
    buf_release(&item->tail);
    buf_release(&item->images);
    buf_release(&item->result);
    buf_release(&item->difference);
    rows_release(&item->rows);
    if (item->card) {
        event_free(item->card->started);
        event_free(item->card->ended);
        free(item->card);
    }
    recalled_free(item->recalled);
    free(item->markdown);
    free(item->raw);
    free(item->id);
    free(item->name);
    free(item);
}

static void append_clean(struct item *item, const char *text, size_t len)
{
    utf8_clean(&item->text, text, len, UTF8_MULTILINE);
    if (item->change == ITEM_SAME)
        item->change = ITEM_GROWN;
}

/* A delta may end within a character, or between CR and LF. */
void item_append(struct item *item, const char *text)
{
    size_t len = strlen(text);
    AUTO(buf_release) struct buf joined = BUF_INIT;
    if (item->tail.len) {
        buf_add(&joined, item->tail.data, item->tail.len);
        buf_add(&joined, text, len);
        text = joined.data;
        len = joined.len;
    }
    size_t keep = utf8_incomplete_tail(text, len);
    if (keep == 0 && len > 0 && text[len - 1] == '\r')
        keep = 1;
    append_clean(item, text, len - keep);
    buf_clear(&item->tail);
    buf_add(&item->tail, text + len - keep, keep);
}

void item_keep_raw(struct item *item, const char *text)
{
    mem_replace(&item->raw, strcmp(text, item->text.data) != 0 ? mem_strdup(text) : NULL);
}

void item_set_text(struct item *item, const char *text)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    const char *shown = text + strspn(text, " \t\r\n");
    utf8_clean(&clean, shown, strlen(shown), UTF8_MULTILINE);
    buf_clear(&item->tail);
    if (clean.len != item->text.len || memcmp(clean.data, item->text.data, clean.len) != 0) {
        struct buf old = item->text;
        item->text = clean;
        clean = old;
        item->change = ITEM_CHANGED;
    }
    item_keep_raw(item, text);
}

void item_end_text(struct item *item)
{
    if (!item->streaming)
        return;
    if (item->tail.len)
        append_clean(item, item->tail.data, item->tail.len);
    buf_clear(&item->tail);
    item->streaming = false;
    if (item->kind == ITEM_REASONING)
        item->change = ITEM_CHANGED; /* its word count */
    else if (item->change == ITEM_SAME)
        item->change = ITEM_GROWN;
}

void item_add_output(struct item *item, const char *text, bool anew, int64_t ms)
{
    if (anew)
        buf_clear(&item->result);
    utf8_add_output(&item->result, text, ITEM_RESULT_MAX);
    item->runs = true;
    item->ms = ms;
    item->change = ITEM_CHANGED;
}

void item_set_result(struct item *item, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "";
    size_t len = strlen(text);
    AUTO(buf_release) struct buf difference = BUF_INIT;
    item->answered = true;
    item->runs = false;
    item->failed = ev->flag;
    item->ms = ev->number;
    if (ev->change.after)
        item->changed = change_difference(&ev->change, &difference);
    buf_clear(&item->difference);
    utf8_clean(&item->difference, difference.data,
               utf8_cut_bytes(difference.data, difference.len, ITEM_RESULT_MAX), UTF8_MULTILINE);
    item->result_lines = len > 0 && text[len - 1] != '\n';
    for (size_t i = 0; i < len; i++)
        item->result_lines += text[i] == '\n';
    buf_clear(&item->result);
    if (len > ITEM_RESULT_MAX && item->name && strcmp(item->name, "run_command") == 0) {
        text = strchr(text + len - ITEM_RESULT_MAX, '\n'); /* the end tells more */
        text = text ? text + 1 : "";
        len = strlen(text);
    }
    utf8_clean(&item->result, text, utf8_cut_bytes(text, len, ITEM_RESULT_MAX), UTF8_MULTILINE);
    item->passages = 0;
    if (item_gave_passages(item)) {
        AUTO(json_free_local) struct json *all = json_parse_foreign(text, len, NULL);
        int64_t most = all ? 0 : INT_MAX; /* one that is no JSON was cut: it may have any number */
        for (const struct json *v = json_first(all); v; v = json_next(v)) {
            int64_t number = json_get_int(v, "n", 0);
            most = number > most && number < INT_MAX ? number : most;
        }
        item->passages = (int)most;
    }
    item->change = ITEM_CHANGED;
}

bool item_gave_passages(const struct item *item)
{
    return item->kind == ITEM_TOOL && item->answered && !item->failed && item->name &&
           strcmp(item->name, "rag_search") == 0;
}

struct recalled *recalled_new(const struct event *ev)
{
    struct recalled *r = mem_alloc(sizeof *r);
    AUTO(json_free_local)
    struct json *hits = ev->hits ? json_parse(ev->hits, strlen(ev->hits), NULL) : NULL;
    bool list = hits && json_type(hits) == JSON_ARRAY;
    r->seq = ev->seq;
    r->at_ms = ev->wall_ms;
    r->tokens = ev->id ? 0 : ev->number;
    r->query = utf8_clean_line(ev->text);
    r->badge = ev->name ? utf8_clean_line(ev->name) : NULL;
    for (const struct json *v = list ? json_first(hits) : NULL; v; v = json_next(v)) {
        struct memory_hit hit = {0};
        struct error fault;
        const struct json *why = json_get(v, "why");
        if (!memory_entry_read(v, &hit.entry, &fault))
            continue; /* a hit of another version; the others can still be read */
        hit.score = json_get_number(v, "score", 0);
        hit.why.has_vector =
            shape_read(&memory_why_shape, why, &hit.why, &fault) && json_get(why, "cosine") != NULL;
        hit.passage.len = strlen(hit.entry.content);
        vec_push(&r->hits.items, hit);
    }
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

void left_out_note(struct left_out *l, const char *id, int64_t seq, bool holds)
{
    size_t i = 0;
    while (i < l->items.len && strcmp(l->items.items[i].id, id) != 0)
        i++;
    if (i == l->items.len)
        vec_push(&l->items, (struct left_out_entry){.id = mem_strdup(id)});
    struct left_out_entry *e = &l->items.items[i];
    if (seq == 0 || seq >= e->seq)
        e->holds = holds;
    if (seq > e->seq)
        e->seq = seq;
}

bool left_out_has(const struct left_out *l, const char *id)
{
    for (size_t i = 0; id && i < l->items.len; i++)
        if (strcmp(l->items.items[i].id, id) == 0)
            return l->items.items[i].holds;
    return false;
}

void left_out_clear(struct left_out *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        free(l->items.items[i].id);
    vec_release(&l->items);
}

void recalls_clear(struct recalls *r)
{
    left_out_clear(&r->left_out);
    for (size_t i = 0; i < r->items.len; i++)
        recalled_free(r->items.items[i]);
    vec_clear(&r->items);
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
