#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "knowledge/graph_private.h"
#include "knowledge/lone_texts.h"
#include "memory/content.h"

static const char texts_sql[] = "SELECT key, name, type FROM graph_entry ORDER BY key";
static const char contents_sql[] = "SELECT entity, content FROM graph_observation ORDER BY number";

static bool by_words(const struct graph *g, const struct graph_search *search, const char *text,
                     struct graph_keys *out, struct error *e)
{
    const struct corpus c = graph_corpus(g->store);
    const struct corpus_scope all = {.all = true};
    const struct words_question question = {
        .text = text, .typing = search->typing, .rank = lone_texts_settings()};
    struct candidates found = {0};
    struct word_weights weights = {0};
    bool ok = words_search(&c, &question, &all, (size_t)search->limit, &found, &weights, e);
    for (size_t i = 0; i < found.items.len && ok && (int)out->items.len < search->limit; i++)
        vec_push(&out->items, found.items.items[i].key);
    vec_release(&found.items);
    vec_release(&weights.items);
    return ok;
}

/* All texts are looked at: they are bounded, and no index finds what stands within a word. */
static bool look_through(const struct graph *g, const char *sql, const char *needle, int limit,
                         struct graph_keys *out, struct error *e)
{
    struct query q = query_begin(g->store, sql, e);
    while ((int)out->items.len < limit && query_next(&q)) {
        bool found = false;
        for (int i = 1; i < sqlite3_column_count(q.handle) && !found; i++)
            found = utf8_contains_folded((const char *)sqlite3_column_text(q.handle, i), needle);
        int64_t key = sqlite3_column_int64(q.handle, 0);
        if (found && !graph_keys_have(out, key))
            vec_push(&out->items, key);
    }
    return query_end(&q);
}

static bool find(const struct graph *g, const struct graph_search *search, const char *text,
                 struct graph_part *out, struct error *e)
{
    struct graph_keys keys = {0};
    bool ok = by_words(g, search, text, &keys, e) &&
              look_through(g, texts_sql, text, search->limit, &keys, e) &&
              look_through(g, contents_sql, text, search->limit, &keys, e);
    if (ok && search->brief)
        ok = graph_read_entities(g->store, &keys, false, out, e);
    else if (ok)
        ok = graph_read_part(g->store, &keys, GRAPH_PART_RELATIONS, out, e);
    vec_release(&keys.items);
    return ok;
}

bool graph_search(const struct graph *g, const struct graph_search *search, struct graph_part *out,
                  struct error *e)
{
    char *normal = content_normal(search->query), *text = utf8_composed(normal);
    bool began;
    *out = (struct graph_part){0};
    bool ok = store_step_begin(g->store, &began, e) &&
              store_step_end(g->store, began, !*text || find(g, search, text, out, e), e);
    free(text);
    free(normal);
    if (!ok)
        graph_part_release(out);
    return ok;
}
