/* A search: documents in scope, passages by words and by vectors on one scale, a reranker's order
 * where there is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/corpora_private.h"
#include "knowledge/ignore.h"
#include "knowledge/lone_texts.h"
#include "knowledge/rerank.h"

/* POOL: passages that words and vectors are each asked for. A reranker gets RERANKED, or so many
 * times what is wanted. */
enum { POOL = 200, RERANKED = 20, RERANK_FACTOR = 3, RERANKER_DEAD_MS = 30000 };

static const char scope_sql[] =
    "SELECT number, chunks FROM corpus_document INDEXED BY corpus_state"
    " WHERE state = 'ready' AND corpus = ?1 ORDER BY number";
static const char all_scope_sql[] =
    "SELECT number, chunks FROM corpus_document INDEXED BY corpus_state"
    " WHERE state = 'ready' AND corpus IN (SELECT number FROM corpus_set)";
static const char files_sql[] =
    "SELECT number, chunks, file FROM corpus_document"
    " WHERE state = 'ready' AND corpus IN (SELECT number FROM corpus_set)"
    " AND (?1 < 0 OR corpus = ?1)";
static const char hit_sql[] =
    "SELECT s.name, d.file, e.start, e.finish, e.line, e.page_number, e.heading, e.content"
    " FROM corpus_entry AS e JOIN corpus_document AS d ON d.number = e.key >> 24"
    " JOIN corpus_set AS s ON s.number = d.corpus WHERE e.key = ?";

static const char being_made[] = "words only: vectors are being computed";
static const char left_undone[] =
    "words only: passages lack vectors; tiro corpus update makes them";
static const char not_set_up[] = "words only: the embedding endpoint is not configured";
static const char no_answer[] = "words only: the embedding endpoint does not answer";
static const char not_reranked[] = "not reranked: the reranker does not answer";

struct scored {
    int64_t key;
    double words, vector; /* vector -1: none */
    double score;
};

struct search {
    struct corpora *corpora;
    const struct corpus_search *what;
    struct corpus index;
    size_t limit;  /* wanted in the end */
    size_t first;  /* wanted before a reranker orders them */
    double weight; /* of words; 1: words alone */
    struct vector_query vector;
    struct corpus_scope scope;
    VEC(struct scored) scored;
    struct corpus_found *out;
};

static void set_badge(struct corpus_found *out, const char *badge)
{
    if (!out->badge)
        out->badge = mem_strdup(badge);
}

/* --- scope ------------------------------------------------------------------------------------ */

static bool is_glob(const char *filter)
{
    return filter[strcspn(filter, "*?[")] != '\0';
}

/* A glob without a slash is compared with the name, one with a slash with the end of the path. */
static bool passes(const char *filter, const char *file)
{
    const char *slash = strrchr(file, '/');
    if (!is_glob(filter))
        return utf8_contains_folded(file, filter);
    if (!strchr(filter, '/'))
        return ignore_fits(filter, slash ? slash + 1 : file);
    char *anywhere = mem_printf("**/%s", filter + (*filter == '/'));
    bool fits = ignore_fits(anywhere, file + (*file == '/'));
    free(anywhere);
    return fits;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void take_document(struct search *x, const struct query *q)
{
    vec_push(&x->scope.numbers, sqlite3_column_int64(q->handle, 0));
    x->out->searched += sqlite3_column_int64(q->handle, 1);
}

static bool find_filtered(struct search *x, int64_t corpus, struct error *e)
{
    struct query q = query_begin(x->corpora->store, files_sql, e);
    query_int(&q, corpus);
    while (query_next(&q)) {
        const char *file = (const char *)sqlite3_column_text(q.handle, 2);
        if (file && passes(x->what->filter, file))
            take_document(x, &q);
    }
    return query_end(&q);
}

static bool find_unfiltered(struct search *x, int64_t corpus, struct error *e)
{
    struct query q = query_begin(x->corpora->store, corpus >= 0 ? scope_sql : all_scope_sql, e);
    if (corpus >= 0)
        query_int(&q, corpus);
    while (query_next(&q))
        take_document(x, &q);
    return query_end(&q);
}

static bool find_scope(struct search *x, struct error *e)
{
    int64_t corpus = -1;
    bool filtered = x->what->filter && *x->what->filter;
    if ((x->what->corpus && !corpora_need(x->corpora->store, x->what->corpus, &corpus, e)) ||
        !(filtered ? find_filtered : find_unfiltered)(x, corpus, e))
        return false;
    vec_sort(&x->scope.numbers, compare_numbers);
    x->out->documents = (int64_t)x->scope.numbers.len;
    return true;
}

/* --- the question's vector -------------------------------------------------------------------- */

/* Leaves the weight where vectors can be used, else it becomes 1. False: stopped, or a fault. */
static bool plan_vectors(struct search *x, const struct wakeup *wakeup, struct error *e)
{
    struct corpora *c = x->corpora;
    double wanted = x->weight;
    struct vectors_counts have;
    bool stopped;
    x->weight = 1;
    if (wanted >= 1 || !corpora_wants_vectors(c))
        return true;
    if (!encoder_read(&c->encoder, wakeup)) {
        set_badge(x->out, not_set_up);
        return true;
    }
    if (!vectors_count(&x->index, c->encoder.model, &have, e))
        return false;
    if (have.embedded == 0 || have.missing > 0) {
        if (have.missing > 0)
            set_badge(x->out, c->alone ? left_undone : being_made);
        return true;
    }
    if (!encoder_ask(&c->encoder, x->what->query, wakeup, &stopped)) {
        set_badge(x->out, no_answer);
        return !stopped || err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    }
    if (c->encoder.asked.dimension != have.dimension) {
        set_badge(x->out, c->alone ? left_undone : being_made);
        return c->alone ||
               vectors_know_model(&x->index, c->encoder.model, c->encoder.asked.dimension, e);
    }
    x->weight = wanted;
    x->vector = (struct vector_query){.model = c->encoder.model,
                                      .dimension = c->encoder.asked.dimension,
                                      .values = c->encoder.asked.values.items};
    return true;
}

/* --- passages --------------------------------------------------------------------------------- */

static size_t pool_of(const struct search *x)
{
    return x->first > POOL ? x->first : POOL;
}

/* Of the question's words what a passage has, and how close they stand: the rank, on the scale of
 * the score, so that both order alike. */
static double words_score(const struct candidate *c)
{
    return c->why.words > 0 ? rank_score(fmin(1, c->why.coverage * c->rank / c->why.words)) : 0;
}

static bool by_words(struct search *x, struct candidates *out, struct error *e)
{
    const struct words_question question = {.text = x->what->query, .rank = lone_texts_settings()};
    struct word_weights weights = {0};
    bool ok = words_search(&x->index, &question, &x->scope, pool_of(x), out, &weights, e);
    for (size_t i = 0; ok && i < out->items.len; i++)
        vec_push(&x->scored, (struct scored){.key = out->items.items[i].key,
                                             .words = words_score(&out->items.items[i]),
                                             .vector = -1});
    vec_release(&weights.items);
    return ok;
}

static int by_key(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void add_vectors(struct search *x, const struct candidates *vectors)
{
    size_t known = x->scored.len;
    vec_sort(&x->scored, by_key);
    for (size_t i = 0; i < vectors->items.len; i++) {
        const struct scored key = {.key = vectors->items.items[i].key};
        struct scored *there =
            known > 0 ? bsearch(&key, x->scored.items, known, sizeof key, by_key) : NULL;
        double score = vectors->items.items[i].score;
        if (there)
            there->vector = score;
        else
            vec_push(&x->scored, (struct scored){.key = key.key, .vector = score});
    }
}

static bool by_vectors(struct search *x, const struct candidates *words, struct error *e)
{
    struct vectors_field field = {.also = words};
    struct candidates vectors = {0};
    bool ok = vectors_stand(x->corpora->vectors, &x->index, &x->vector, &x->scope, pool_of(x),
                            &field, &vectors, e);
    if (ok)
        add_vectors(x, &vectors);
    vec_release(&vectors.items);
    return ok;
}

static int best_first(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return by_key(a, b);
}

static void order(struct search *x)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->scored.len; i++) {
        struct scored s = x->scored.items[i];
        s.score = x->weight * s.words + (1 - x->weight) * fmax(0, s.vector);
        if (s.score > 0)
            x->scored.items[kept++] = s;
    }
    x->scored.len = kept;
    vec_sort(&x->scored, best_first);
    if (x->scored.len > x->first)
        x->scored.len = x->first;
}

static bool load_hit(struct search *x, const struct scored *s, struct error *e)
{
    struct query q = query_begin(x->corpora->store, hit_sql, e);
    query_int(&q, s->key);
    if (query_next(&q))
        vec_push(&x->out->items,
                 (struct corpus_passage){.document = s->key >> RANK_PLACE_BITS,
                                         .chunk = s->key & ((1 << RANK_PLACE_BITS) - 1),
                                         .corpus = query_column_text(&q, 0),
                                         .file = query_column_text(&q, 1),
                                         .start = sqlite3_column_int64(q.handle, 2),
                                         .finish = sqlite3_column_int64(q.handle, 3),
                                         .line = sqlite3_column_int64(q.handle, 4),
                                         .page = sqlite3_column_int64(q.handle, 5),
                                         .heading = corpora_column(&q, 6),
                                         .content = query_column_text(&q, 7),
                                         .score = s->score,
                                         .words = s->words,
                                         .vector = s->vector});
    return query_end(&q);
}

static bool find(struct search *x, struct error *e)
{
    struct candidates words = {0};
    bool ok = find_scope(x, e);
    if (ok && x->scope.numbers.len > 0) {
        ok = (x->weight == 0 || by_words(x, &words, e)) &&
             (x->weight == 1 || by_vectors(x, &words, e));
        order(x);
    }
    vec_release(&words.items);
    for (size_t i = 0; ok && i < x->scored.len; i++)
        ok = load_hit(x, &x->scored.items[i], e);
    return ok;
}

/* --- the reranker ----------------------------------------------------------------------------- */

/* Some give probabilities, some any number. */
static bool are_shares(const struct reranked *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        if (r->items.items[i].score < 0 || r->items.items[i].score > 1)
            return false;
    return true;
}

/* What the server ranked, then what it left out as it was, not above the last one. */
static void apply_order(struct corpus_found *found, const struct reranked *r)
{
    size_t count = found->items.len, next = 0;
    struct corpus_passage *ordered = mem_alloc(count * sizeof *ordered);
    bool *taken = mem_alloc(count * sizeof *taken), shares = are_shares(r);
    double last = 1;
    for (size_t i = 0; i < r->items.len; i++) {
        const struct reranked_text *t = &r->items.items[i];
        ordered[next] = found->items.items[t->index];
        last = ordered[next++].score = shares ? t->score : 1 / (1 + exp(-t->score));
        taken[t->index] = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (taken[i])
            continue;
        ordered[next] = found->items.items[i];
        ordered[next].score = fmin(last, ordered[next].score);
        next++;
    }
    memcpy(found->items.items, ordered, count * sizeof *ordered);
    free(ordered);
    free(taken);
}

static bool reorder(struct search *x, const struct wakeup *wakeup, struct error *e)
{
    struct corpora *c = x->corpora;
    struct reranked r;
    struct failure f;
    VEC(const char *) texts = {0};
    if (x->out->items.len < 2 || clock_mono_ms() < c->reranker_retry_ms) {
        if (x->out->items.len >= 2)
            set_badge(x->out, not_reranked);
        return true;
    }
    for (size_t i = 0; i < x->out->items.len; i++)
        vec_push(&texts, x->out->items.items[i].content);
    bool ok = rerank(c->config, c->encoder.http, wakeup, x->what->query, texts.items, texts.len,
                     (int)x->limit, &r, &f);
    vec_release(&texts);
    if (ok) {
        apply_order(x->out, &r);
        vec_release(&r.items);
        return true;
    }
    if (wakeup && !wakeup->go_on(wakeup->context))
        return err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    c->reranker_retry_ms = clock_mono_ms() + RERANKER_DEAD_MS;
    set_badge(x->out, not_reranked);
    return true;
}

static void cut(struct corpus_found *out, size_t limit)
{
    while (out->items.len > limit) {
        shape_release(&corpus_passage_shape, &vec_last(&out->items));
        out->items.len--;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static void plan(struct search *x)
{
    const struct config *config = x->corpora->config;
    int k = x->what->top_k > 0 ? x->what->top_k : (int)config_integer(config, CONFIG_CORPUS_TOP_K);
    double weight = x->what->hybrid_weight;
    x->limit = (size_t)(k < CORPUS_TOP_K_MOST ? k : CORPUS_TOP_K_MOST);
    x->first = x->limit;
    if (rerank_is_configured(config))
        x->first = RERANK_FACTOR * x->limit > RERANKED ? RERANK_FACTOR * x->limit : RERANKED;
    x->weight = weight >= 0 ? fmin(weight, 1) : config_real(config, CONFIG_CORPUS_WEIGHT);
}

static bool run(struct search *x, const struct wakeup *wakeup, struct error *e)
{
    bool began;
    plan(x);
    if (!plan_vectors(x, wakeup, e) || !store_step_begin(x->corpora->store, &began, e) ||
        !store_step_end(x->corpora->store, began, find(x, e), e))
        return false;
    bool ok = x->first == x->limit || reorder(x, wakeup, e);
    cut(x->out, x->limit);
    return ok;
}

bool corpora_search(struct corpora *c, const struct corpus_search *what,
                    const struct wakeup *wakeup, struct corpus_found *out, struct error *e)
{
    struct search x = {.corpora = c, .what = what, .index = corpora_index(c->store), .out = out};
    *out = (struct corpus_found){0};
    if (utf8_is_blank(what->query))
        return err_set(e, ERR_USAGE, "\"query\" is empty; say what to look for");
    bool ok = run(&x, wakeup, e);
    vec_release(&x.scope.numbers);
    vec_release(&x.scored);
    if (!ok)
        shape_release(&corpus_found_shape, out);
    return ok;
}
