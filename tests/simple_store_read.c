/* Searching and reading in the simple store. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/simple_store_private.h"

static bool in_scope(const struct memory_entry *entry, const struct memory_scope *scope)
{
    switch (scope->kind) {
    case MEMORY_SCOPE_ALL:
        return true;
    case MEMORY_SCOPE_PROJECT: /* no session has a directory here */
        return false;
    case MEMORY_SCOPE_SESSION:
        break;
    }
    return scope->session_id && strcmp(entry->session_id, scope->session_id) == 0;
}

/* ---- searching ---- */

static const char blanks[] = " \t\r\n";

/* Calls `word` for each of the query's words. */
static void each_word(const char *query, void (*word)(void *context, const char *w), void *context)
{
    for (query += strspn(query, blanks); *query; query += strspn(query, blanks)) {
        size_t len = strcspn(query, blanks);
        auto_free char *w = mem_strndup(query, len);
        word(context, w);
        query += len;
    }
}

struct match {
    const char *content;
    int words, matching;
};

static void match_word(void *context, const char *w)
{
    struct match *match = context;
    match->words++;
    match->matching += utf8_contains_folded(match->content, w);
}

static double score_of(const char *content, const char *query)
{
    struct match match = {.content = content};
    each_word(query, match_word, &match);
    return match.words > 0 ? (double)match.matching / match.words : 0;
}

/* Better score, then pinned, then newer, then later in the store. */
static bool is_before(const struct memory_hit *a, const struct memory_hit *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->entry.pinned != b->entry.pinned)
        return a->entry.pinned;
    return a->entry.created_ms >= b->entry.created_ms;
}

bool simple_search(struct memory *memory, const struct memory_query *query, struct memory_hits *out,
                   struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    *out = (struct memory_hits){0};
    (void)e;
    for (size_t i = 0; i < m->rows.len; i++) {
        const struct memory_entry *entry = &m->rows.items[i].entry;
        double score = in_scope(entry, &query->scope) ? score_of(entry->content, query->text) : 0;
        if (score > 0 && score >= query->min_score) {
            struct memory_hit hit = {
                .entry = memory_entry_clone(entry), .score = score, .rank = score};
            hit.passage = (struct memory_span){0, strlen(entry->content)};
            size_t at = 0;
            while (at < out->items.len && !is_before(&hit, &out->items.items[at]))
                at++;
            vec_insert(&out->items, at, hit);
        }
        if (out->items.len > (size_t)query->limit)
            memory_hit_release(&out->items.items[--out->items.len]);
    }
    return true;
}

/* ---- reading ---- */

static void insert_newest_first(struct memory_entries *list, const struct memory_entry *entry)
{
    size_t at = 0;
    while (at < list->items.len && list->items.items[at].created_ms > entry->created_ms)
        at++;
    vec_insert(&list->items, at, memory_entry_clone(entry));
}

/* Leaves those from `after` on, at most `limit`; a negative one is none. */
static void keep_part(struct memory_entries *list, size_t after, int limit)
{
    size_t first = after < list->items.len ? after : list->items.len;
    for (size_t i = 0; i < first; i++)
        memory_entry_release(&list->items.items[i]);
    vec_remove(&list->items, 0, first);
    while (limit >= 0 && list->items.len > (size_t)limit)
        memory_entry_release(&list->items.items[--list->items.len]);
}

bool simple_list(struct memory *memory, const struct memory_scope *scope, int64_t after, int limit,
                 struct memory_entries *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = (struct memory_entries){0};
    for (size_t i = 0; i < m->rows.len; i++)
        if (in_scope(&m->rows.items[i].entry, scope))
            insert_newest_first(out, &m->rows.items[i].entry);
    keep_part(out, (size_t)after, limit);
    return true;
}

bool simple_count(struct memory *memory, const struct memory_scope *scope, int64_t *out,
                  struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = 0;
    for (size_t i = 0; i < m->rows.len; i++)
        *out += in_scope(&m->rows.items[i].entry, scope);
    return true;
}

bool simple_get(struct memory *memory, const char *id, struct memory_entry *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    ptrdiff_t row;
    *out = (struct memory_entry){0};
    if (!simple_need_row(m, id, &row, e))
        return false;
    *out = memory_entry_clone(&m->rows.items[row].entry);
    return true;
}

bool simple_ids(struct memory *memory, const char *beginning, int limit, struct text_list *out,
                struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = (struct text_list){0};
    for (size_t i = 0; i < m->rows.len; i++) {
        const char *id = m->rows.items[i].entry.id;
        if (strncmp(id, beginning, strlen(beginning)) == 0) {
            size_t at = out->items.len;
            while (at > 0 && strcmp(out->items.items[at - 1], id) > 0)
                at--;
            vec_insert(&out->items, at, mem_strdup(id));
        }
        if (out->items.len > (size_t)limit)
            free(out->items.items[--out->items.len]);
    }
    return true;
}

bool simple_each(struct memory *memory,
                 bool (*visit)(void *context, const struct memory_entry *entry), void *context,
                 struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    bool go_on = true;
    (void)e;
    for (size_t i = 0; i < m->rows.len && go_on; i++)
        go_on = visit(context, &m->rows.items[i].entry);
    return true;
}

bool simple_stats(struct memory *memory, struct memory_stats *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    int64_t last = SIMPLE_NOWHERE;
    (void)e;
    *out =
        (struct memory_stats){.entries = (int64_t)m->rows.len, .language = mem_strdup(m->language)};
    for (size_t i = 0; i < m->rows.len; i++) {
        int64_t session = rank_key_session(m->rows.items[i].key);
        out->sessions += session != last;
        out->pinned += m->rows.items[i].entry.pinned;
        out->bytes += (int64_t)strlen(m->rows.items[i].entry.content);
        last = session;
    }
    return true;
}
