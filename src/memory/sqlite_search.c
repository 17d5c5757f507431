#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/blend.h"
#include "index/vectors.h"
#include "memory/sqlite_private.h"

/* SPARE: candidates beyond the limit, because some may be dropped. MOST: with a filter that drops
 * some, the search is repeated with more candidates up to this number. */
enum { SPARE = 64, BLENDED = 200, MOST = 20000 };

struct search {
    struct sqlite_memory *memory;
    const struct memory_query *query;
    size_t limit; /* of hits; more than asked for where a filter leaves some out */
    struct words_question question;
    struct corpus_scope scope;
    struct candidates found;
    struct word_weights weights;
    struct memory_hits *out;
};

/* ---- candidates ---- */

static size_t wanted(const struct search *x)
{
    return x->limit + (x->query->min_score > 0 ? SPARE : 0);
}

static bool find_candidates(struct search *x, struct error *e)
{
    const struct memory_query *query = x->query;
    const struct corpus *c = &x->memory->corpus;
    struct vectors *v = x->memory->vectors;
    if (!query->vector || query->ranking == MEMORY_WORDS)
        return words_search(c, &x->question, &x->scope, wanted(x), &x->found, &x->weights, e);
    if (query->ranking == MEMORY_VECTORS)
        return vectors_search(v, c, query->vector, &x->scope, wanted(x), NULL, &x->found, e);
    struct candidates words = {0}, vectors = {0};
    struct vectors_field field = {.also = &words};
    size_t limit = wanted(x) > BLENDED ? wanted(x) : BLENDED;
    if (!words_search(c, &x->question, &x->scope, limit, &words, &x->weights, e))
        return false;
    field.previous = blend_previous(&query->rank, words.average);
    bool ok = vectors_search(v, c, query->vector, &x->scope, limit, &field, &vectors, e);
    if (ok)
        blend(&(struct blend_input){&words, &vectors, &field}, &x->found);
    x->found.knows_equals = words.knows_equals;
    x->found.equals = words.equals;
    vec_release(&words.items);
    vec_release(&vectors.items);
    return ok;
}

/* Entries with the same text as the question come first, whatever their words are. */
static bool find_exact(struct search *x, struct error *e)
{
    struct store *s = x->memory->store;
    struct candidates *c = &x->found;
    struct memory_keys keys = {0};
    bool ok = true;
    if (!c->knows_equals)
        ok = sqlite_equal_texts(s, x->query->text, &x->scope, &keys, e);
    for (size_t i = 0; ok && c->knows_equals && i < c->equals.count; i++) {
        struct memory_row row;
        bool found;
        ok = sqlite_row_at(s, c->equals.keys[i], &row, &found, e);
        if (found && content_equal(row.entry.content, x->query->text))
            vec_push(&keys.items, c->equals.keys[i]);
        memory_row_release(&row);
    }
    size_t first = keys.items.len > wanted(x) ? keys.items.len - wanted(x) : 0;
    for (size_t i = first; ok && i < keys.items.len; i++) {
        struct candidate exact = {.key = keys.items.items[i]};
        size_t at = 0;
        while (at < c->items.len && c->items.items[at].key != exact.key)
            at++;
        if (at < c->items.len) {
            exact = c->items.items[at];
            vec_remove(&c->items, at, 1);
        }
        exact.score = 1;
        exact.why.exact = true;
        vec_insert(&c->items, 0, exact);
    }
    vec_release(&keys.items);
    return ok;
}

/* ---- hits ---- */

/* Sets hit->question to the user's message before a long answer. */
static bool load_question(struct search *x, int64_t key, struct memory_hit *hit, struct error *e)
{
    const char *answer = hit->entry.content;
    size_t len = strlen(answer);
    struct memory_row before;
    bool found;
    if (hit->entry.role != ROLE_ASSISTANT || utf8_cut_points(answer, len, MEMORY_PASSAGE) == len)
        return true;
    if (!sqlite_row_at(x->memory->store, key - 1, &before, &found, e))
        return false;
    if (found && before.entry.role == ROLE_USER &&
        rank_key_session(before.key) == rank_key_session(key)) {
        const char *text = before.entry.content;
        hit->question = mem_strndup(text, utf8_cut_points(text, strlen(text), MEMORY_PASSAGE));
    }
    memory_row_release(&before);
    return true;
}

/* The better hit is less. */
static int compare_hits(const void *a, const void *b)
{
    const struct memory_hit *x = a, *y = b;
    if (x->why.exact != y->why.exact)
        return x->why.exact ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x->entry.pinned != y->entry.pinned)
        return x->entry.pinned ? -1 : 1;
    if (x->entry.created_ms != y->entry.created_ms)
        return x->entry.created_ms > y->entry.created_ms ? -1 : 1;
    return strcmp(x->entry.id, y->entry.id);
}

static void cut(struct memory_hits *hits, size_t limit)
{
    while (hits->items.len > limit) {
        memory_hit_release(&vec_last(&hits->items));
        hits->items.len--;
    }
}

/* Makes the scores fall with the order, by isotonic regression: hits whose scores would rise share
 * their mean. Then drops the last hits that have nothing in common with the question. */
static void settle_scores(struct memory_hits *hits)
{
    struct shared {
        double sum;
        size_t count;
    };
    VEC(struct shared) runs = {0};
    for (size_t i = 0; i < hits->items.len; i++) {
        struct shared run = {hits->items.items[i].score, 1};
        while (runs.len > 0 &&
               vec_last(&runs).sum / (double)vec_last(&runs).count < run.sum / (double)run.count) {
            run.sum += vec_last(&runs).sum;
            run.count += vec_last(&runs).count;
            runs.len--;
        }
        vec_push(&runs, run);
    }
    struct memory_hit *hit = hits->items.items;
    for (size_t i = 0; i < runs.len; i++)
        for (size_t k = 0; k < runs.items[i].count; k++)
            (hit++)->score = runs.items[i].sum / (double)runs.items[i].count;
    vec_release(&runs);
    size_t kept = hits->items.len;
    while (kept > 0 && hits->items.items[kept - 1].score <= 0)
        kept--;
    cut(hits, kept);
}

static bool load_hits(struct search *x, struct error *e)
{
    static const char session_sql[] =
        "SELECT title, directory FROM session WHERE id = ?1 UNION ALL"
        " SELECT title, project FROM space_session WHERE session = ?1 LIMIT 1";
    const struct memory_filter *f = &x->query->scope.filter;
    struct store *s = x->memory->store;
    struct memory_hits *out = x->out;
    for (size_t i = 0; i < x->found.items.len; i++) {
        const struct candidate *c = &x->found.items.items[i];
        struct memory_row row;
        bool found;
        if (!sqlite_row_at(s, c->key, &row, &found, e))
            return false;
        int64_t said_ms = row.entry.created_ms;
        if (!found || (f->origin != 0 && (int)row.entry.origin != f->origin - 1) ||
            (f->after_ms != 0 && said_ms < f->after_ms) ||
            (f->before_ms != 0 && said_ms >= f->before_ms)) {
            memory_row_release(&row);
            continue;
        }
        struct memory_hit hit = {
            .entry = row.entry, .score = c->score, .rank = c->rank, .why = c->why, .key = c->key};
        bool ok = load_question(x, c->key, &hit, e);
        vec_push(&out->items, hit);
        if (!ok)
            return false;
    }
    /* Ranks that differ only by the order of additions are made equal, so that ties are seen. */
    for (size_t i = 1; i < out->items.len; i++) {
        struct memory_hit *before = &out->items.items[i - 1], *hit = &out->items.items[i];
        if (before->why.exact == hit->why.exact && fabs(before->rank - hit->rank) <= RANK_SAME)
            hit->rank = before->rank;
    }
    vec_sort(&out->items, compare_hits);
    settle_scores(out);
    cut(out, (size_t)x->query->limit);
    for (size_t i = 0; i < out->items.len; i++) {
        struct memory_hit *hit = &out->items.items[i];
        struct query q = sql_query(s, e, session_sql, "t", hit->entry.session_id);
        if (query_next(&q)) {
            hit->title = query_column_text(&q, 0);
            hit->project = query_column_text(&q, 1);
        }
        if (!query_end(&q))
            return false;
    }
    return words_explain(&x->memory->corpus, &x->question, &x->weights, out, e);
}

/* *all: a larger limit would find no more. */
static bool look(struct search *x, bool *all, struct error *e)
{
    struct candidates *c = &x->found;
    size_t kept = 0;
    if (!find_candidates(x, e) || !find_exact(x, e))
        return false;
    *all = c->items.len < x->limit;
    for (size_t i = 0; i < c->items.len; i++)
        if (c->items.items[i].score >= x->query->min_score)
            c->items.items[kept++] = c->items.items[i];
    c->items.len = kept;
    /* Of the candidates behind the limit only those that rank the same as the last one stay. */
    while (c->items.len > x->limit) {
        const struct candidate *last = &c->items.items[x->limit - 1], *tail = &vec_last(&c->items);
        if (last->why.exact == tail->why.exact && fabs(last->rank - tail->rank) <= RANK_SAME)
            break;
        c->items.len--;
    }
    return load_hits(x, e);
}

bool sqlite_memory_search(struct memory *m, const struct memory_query *query,
                          struct memory_hits *out, struct error *e)
{
    struct search x = {.memory = sqlite_memory_of(m),
                       .query = query,
                       .limit = query->limit > 0 ? (size_t)query->limit : 0,
                       .question = {query->text, query->typing, query->rank},
                       .out = out};
    struct store *s = x.memory->store;
    bool began, all = false;
    *out = (struct memory_hits){0};
    if (query->limit < 1)
        return true;
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok = sqlite_scope(s, &query->scope, &x.scope, e) && look(&x, &all, e);
    /* Entries that the filter drops take no place of others. */
    while (ok && !all && sqlite_filters(&query->scope.filter) &&
           out->items.len < (size_t)query->limit && x.limit < MOST) {
        vec_release(&x.found.items);
        vec_release(&x.weights.items);
        x.found = (struct candidates){0};
        memory_hits_release(out);
        x.limit *= 8;
        ok = look(&x, &all, e);
    }
    ok = store_step_end(s, began, ok, e);
    for (size_t i = 0; i < x.weights.items.len; i++)
        out->rarity += x.weights.items.items[i];
    out->known = x.weights.known;
    out->rarest = x.weights.most;
    vec_release(&x.scope.numbers);
    vec_release(&x.found.items);
    vec_release(&x.weights.items);
    if (!ok)
        memory_hits_release(out);
    return ok;
}
