#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/blend.h"
#include "index/vectors.h"
#include "memory/sqlite_private.h"

/* SPARE: how many more than asked for are looked at because some may be left out. MOST: at least so
 * many are, where a filter leaves some out. */
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

static bool by_words(struct search *x, size_t limit, struct candidates *out, struct error *e)
{
    return words_search(&x->memory->corpus, &x->question, &x->scope, limit, out, &x->weights, e);
}

static bool by_vectors(struct search *x, size_t limit, struct candidates *out, struct error *e)
{
    if (!vectors_search(x->memory->vectors, &x->memory->corpus, x->query->vector, &x->scope, limit,
                        out, e))
        return false;
    for (size_t i = 0; i < out->items.len; i++)
        out->items.items[i].why.has_vector = true;
    return true;
}

static bool by_both(struct search *x, struct error *e)
{
    struct candidates words = {0}, vectors = {0};
    struct vectors_field field = {.also = &words};
    size_t limit = wanted(x) > BLENDED ? wanted(x) : BLENDED;
    if (!by_words(x, limit, &words, e))
        return false;
    field.previous = blend_previous(&x->query->rank, words.average);
    bool ok = vectors_stand(x->memory->vectors, &x->memory->corpus, x->query->vector, &x->scope,
                            limit, &field, &vectors, e);
    if (ok)
        blend(&(struct blend_input){&words, &vectors, &field}, &x->found);
    x->found.knows_equals = words.knows_equals;
    x->found.equals = words.equals;
    vec_release(&words.items);
    vec_release(&vectors.items);
    return ok;
}

static bool find_candidates(struct search *x, struct error *e)
{
    if (!x->query->vector || x->query->ranking == MEMORY_WORDS)
        return by_words(x, wanted(x), &x->found, e);
    if (x->query->ranking == MEMORY_VECTORS)
        return by_vectors(x, wanted(x), &x->found, e);
    return by_both(x, e);
}

/* An entry that has the same text as the question comes first, whatever its words are. */
static void put_exact(struct search *x, int64_t key)
{
    struct candidates *c = &x->found;
    struct candidate exact = {.key = key};
    for (size_t i = 0; i < c->items.len; i++)
        if (c->items.items[i].key == key) {
            exact = c->items.items[i];
            vec_remove(&c->items, i, 1);
            break;
        }
    exact.score = 1;
    exact.why.exact = true;
    vec_insert(&c->items, 0, exact);
}

/* Those of `from` that are the question's text. */
static bool keep_equals(struct search *x, const struct rank_whole *from, struct memory_keys *out,
                        struct error *e)
{
    bool ok = true;
    *out = (struct memory_keys){0};
    for (size_t i = 0; ok && i < from->count; i++) {
        struct memory_row row;
        bool found;
        ok = sqlite_row_at(x->memory->store, from->keys[i], &row, &found, e);
        if (found && content_equal(row.entry.content, x->query->text))
            vec_push(&out->items, from->keys[i]);
        memory_row_release(&row);
    }
    return ok;
}

static bool find_equals(struct search *x, struct memory_keys *out, struct error *e)
{
    return x->found.knows_equals
               ? keep_equals(x, &x->found.equals, out, e)
               : sqlite_equal_texts(x->memory->store, x->query->text, &x->scope, out, e);
}

static bool find_exact(struct search *x, struct error *e)
{
    struct memory_keys keys;
    if (!find_equals(x, &keys, e)) {
        vec_release(&keys.items);
        return false;
    }
    size_t first = keys.items.len > wanted(x) ? keys.items.len - wanted(x) : 0;
    for (size_t i = first; i < keys.items.len; i++)
        put_exact(x, keys.items.items[i]);
    vec_release(&keys.items);
    return true;
}

static void drop_worse(struct candidates *c, double min_score)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->items.len; i++)
        if (c->items.items[i].score >= min_score)
            c->items.items[kept++] = c->items.items[i];
    c->items.len = kept;
}

/* Those behind the last that is wanted are left only where they are as good. */
static void drop_surplus(struct candidates *c, size_t limit)
{
    while (c->items.len > limit) {
        const struct candidate *last = &c->items.items[limit - 1], *tail = &vec_last(&c->items);
        if (last->why.exact == tail->why.exact && fabs(last->rank - tail->rank) <= RANK_SAME)
            return;
        c->items.len--;
    }
}

/* ---- hits ---- */

/* The user's message before a long answer. */
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

static bool is_wanted(const struct search *x, const struct memory_row *row)
{
    const struct memory_filter *f = &x->query->scope.filter;
    int64_t said_ms = row->entry.created_ms;
    return (f->origin == 0 || (int)row->entry.origin == f->origin - 1) &&
           (f->after_ms == 0 || said_ms >= f->after_ms) &&
           (f->before_ms == 0 || said_ms < f->before_ms);
}

static bool load_one(struct search *x, const struct candidate *c, struct error *e)
{
    struct memory_row row;
    bool found;
    if (!sqlite_row_at(x->memory->store, c->key, &row, &found, e))
        return false;
    if (!found || !is_wanted(x, &row)) {
        memory_row_release(&row);
        return true;
    }
    struct memory_hit hit = {.entry = row.entry, .score = c->score, .rank = c->rank, .why = c->why};
    bool ok = load_question(x, c->key, &hit, e);
    vec_push(&x->out->items, hit);
    return ok;
}

/* The more it is to be preferred, the less. */
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

/* Ranks that differ only by the order of additions are made equal, so that ties are seen. */
static void even_ranks(struct memory_hits *hits)
{
    for (size_t i = 1; i < hits->items.len; i++) {
        struct memory_hit *before = &hits->items.items[i - 1], *hit = &hits->items.items[i];
        if (before->why.exact == hit->why.exact && fabs(before->rank - hit->rank) <= RANK_SAME)
            hit->rank = before->rank;
    }
}

static void cut(struct memory_hits *hits, size_t limit)
{
    while (hits->items.len > limit) {
        memory_hit_release(&vec_last(&hits->items));
        hits->items.len--;
    }
}

/* The score becomes one with the order, by isotonic regression: where it would rise, the hits share
 * the mean of theirs. What then has nothing in common with the question, by words or vectors, and
 * stands behind all that has, is no hit. */
static void settle_scores(struct memory_hits *hits)
{
    struct shared {
        double sum;
        size_t count;
    };
    VEC(struct shared) runs = {0};
    for (size_t i = 0; i < hits->items.len; i++) {
        struct shared run = {hits->items.items[i].score, 1};
        while (runs.len > 0 && vec_last(&runs).sum / (double)vec_last(&runs).count <
                                   run.sum / (double)run.count) {
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

static bool load_session(struct store *s, struct memory_hit *hit, struct error *e)
{
    struct query q = query_for(s, "SELECT title, directory FROM session WHERE id = ?",
                               hit->entry.session_id, e);
    if (query_next(&q)) {
        hit->title = query_column_text(&q, 0);
        hit->project = query_column_text(&q, 1);
    }
    return query_end(&q);
}

static bool load_hits(struct search *x, struct error *e)
{
    for (size_t i = 0; i < x->found.items.len; i++)
        if (!load_one(x, &x->found.items.items[i], e))
            return false;
    even_ranks(x->out);
    vec_sort(&x->out->items, compare_hits);
    settle_scores(x->out);
    cut(x->out, (size_t)x->query->limit);
    for (size_t i = 0; i < x->out->items.len; i++)
        if (!load_session(x->memory->store, &x->out->items.items[i], e))
            return false;
    return words_explain(&x->memory->corpus, &x->question, &x->weights, x->out, e);
}

/* *all: more would not be found. */
static bool look(struct search *x, bool *all, struct error *e)
{
    if (!find_candidates(x, e) || !find_exact(x, e))
        return false;
    *all = x->found.items.len < x->limit;
    drop_worse(&x->found, x->query->min_score);
    drop_surplus(&x->found, x->limit);
    return load_hits(x, e);
}

static void look_anew(struct search *x)
{
    vec_release(&x->found.items);
    vec_release(&x->weights.items);
    x->found = (struct candidates){0};
    x->weights = (struct word_weights){0};
    memory_hits_release(x->out);
}

/* Entries that the filter leaves out take no place. */
static bool run(struct search *x, struct error *e)
{
    if (!sqlite_scope(x->memory->store, &x->query->scope, &x->scope, e))
        return false;
    for (;; x->limit *= 8) {
        bool all;
        if (!look(x, &all, e))
            return false;
        if (all || !sqlite_filters(&x->query->scope.filter) || x->out->items.len == (size_t)x->query->limit ||
            x->limit >= MOST)
            return true;
        look_anew(x);
    }
}

bool sqlite_memory_search(struct memory *m, const struct memory_query *query,
                          struct memory_hits *out, struct error *e)
{
    struct search x = {.memory = sqlite_memory_of(m),
                       .query = query,
                       .limit = query->limit > 0 ? (size_t)query->limit : 0,
                       .question = {query->text, query->typing, query->rank},
                       .out = out};
    bool began;
    *out = (struct memory_hits){0};
    if (query->limit < 1)
        return true;
    bool ok = store_step_begin(x.memory->store, &began, e);
    if (ok)
        ok = store_step_end(x.memory->store, began, run(&x, e), e);
    vec_release(&x.scope.numbers);
    vec_release(&x.found.items);
    vec_release(&x.weights.items);
    if (!ok)
        memory_hits_release(out);
    return ok;
}
