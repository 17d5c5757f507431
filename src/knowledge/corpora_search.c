/* A search: documents in scope, passages by words and by vectors on one scale, a reranker's order
 * where there is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/corpora_private.h"
#include "knowledge/lone_texts.h"
#include "knowledge/walk.h"
#include "provider/exchange.h"

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

/* Vectors for passages that lack them, in steps. */

enum { EMBED_STEP = 64, GRAPH_STEP = 200 };

/* A fault that only a person can help against is not looked at again soon. */
static enum corpora_work wait_for(struct corpora *c, int *retry_ms)
{
    int64_t left = c->encoder.retry_ms - clock_mono_ms();
    *retry_ms = left > 0 ? (int)left : ENCODER_DEAD_MS;
    return CORPORA_WAITS;
}

static enum corpora_work embed(struct corpora *c, const struct corpus *index,
                               const struct vectors_lacking *lacking, const struct wakeup *wakeup,
                               int64_t *left, int *retry_ms, struct error *why)
{
    struct embeddings made;
    struct failure f;
    if (!embed_all(&c->encoder.embedding, c->encoder.http, wakeup,
                   (const char *const *)lacking->texts.items, lacking->texts.len, &made, &f)) {
        failure_error(&f, why);
        if (f.kind == FAILURE_CANCELLED)
            return CORPORA_WORKED;
        c->encoder.retry_ms = clock_mono_ms() + ENCODER_DEAD_MS;
        return wait_for(c, retry_ms);
    }
    bool ok = vectors_keep(index, c->encoder.model, lacking, &made, why);
    embeddings_release(&made);
    *left -= ok ? (int64_t)lacking->texts.len : 0;
    return ok ? CORPORA_WORKED : wait_for(c, retry_ms);
}

static enum corpora_work embed_some(struct corpora *c, const struct corpus *index,
                                    const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                                    struct error *why)
{
    struct vectors_lacking lacking;
    enum corpora_work done = CORPORA_IDLE;
    if (!vectors_lacking(index, c->encoder.model, EMBED_STEP,
                         c->encoder.embedding.embedder->max_bytes, &lacking, why))
        done = wait_for(c, retry_ms);
    *left = lacking.missing;
    if (done == CORPORA_IDLE && lacking.texts.len > 0)
        done = embed(c, index, &lacking, wakeup, left, retry_ms, why);
    vectors_lacking_release(&lacking);
    return done;
}

static enum corpora_work tidy(struct corpora *c, const struct corpus *index, int64_t *left,
                              int *retry_ms, struct error *why)
{
    const char *model = c->encoder.model;
    bool more;
    *left = 1;
    bool ok = vectors_fit(index, model, why) && vectors_drop_stale(index, model, &more, why) &&
              (more || vectors_graph_step(c->vectors, index, model, GRAPH_STEP, left, why));
    if (!ok)
        return wait_for(c, retry_ms);
    return *left > 0 ? CORPORA_WORKED : CORPORA_IDLE;
}

enum corpora_work corpora_embed(struct corpora *c, const struct wakeup *wakeup, int64_t *left,
                                int *retry_ms, struct error *why)
{
    const struct corpus index = corpora_index(c->store);
    *left = 0;
    *retry_ms = 0;
    *why = (struct error){0};
    if (!corpora_wants_vectors(c))
        return CORPORA_IDLE;
    if (!encoder_read(&c->encoder, wakeup)) {
        *why = c->encoder.fault;
        return why->code == ERR_OK ? CORPORA_IDLE : wait_for(c, retry_ms);
    }
    if (clock_mono_ms() < c->encoder.retry_ms) {
        err_set(why, ERR_AGENT_ERROR,
                "the embedding endpoint did not answer; it is asked again soon");
        return wait_for(c, retry_ms);
    }
    enum corpora_work done = embed_some(c, &index, wakeup, left, retry_ms, why);
    return done == CORPORA_IDLE ? tidy(c, &index, left, retry_ms, why) : done;
}

static const struct dialect dialect = {.name = "reranker"};

bool rerank_is_configured(const struct config *config)
{
    return config_is_set(config, CONFIG_CORPUS_RERANKER_URL);
}

/* --- the question ----------------------------------------------------------------------------- */

static struct json *body_of(const struct config *config, const char *query,
                            const char *const *texts, size_t count, int top_n)
{
    const char *model = config_string(config, CONFIG_CORPUS_RERANKER_MODEL);
    struct json *body = json_new_object(), *documents = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(documents, json_new_string(texts[i]));
    if (*model)
        json_set_string(body, "model", model);
    json_set_string(body, "query", query);
    json_set(body, "documents", documents);
    json_set_int(body, "top_n", top_n);
    return body;
}

/* The caller frees it with key_command_free(). */
static bool read_key(const struct config *config, const struct wakeup *wakeup, char **key,
                     struct failure *f)
{
    const char *command = config_string(config, CONFIG_CORPUS_RERANKER_KEY_COMMAND);
    const char *own = config_string(config, CONFIG_CORPUS_RERANKER_KEY);
    struct error e = {0};
    *key = NULL;
    if (*command)
        return key_command_run("api_key_command", command, RERANK_MS, wakeup, key, &e) ||
               failure_set(f, FAILURE_SETUP, "reranker: %s", e.text);
    if (*own)
        *key = mem_strdup(own);
    return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

static const struct json *find_list(const struct json *reply)
{
    const struct json *results = json_get(reply, "results");
    if (json_type(reply) == JSON_ARRAY)
        return reply;
    return results ? results : json_get(reply, "data");
}

static bool take_item(const struct json *v, size_t count, bool *taken, struct reranked *out)
{
    double index = json_get_number(v, "index", -1);
    double score = json_get_number(v, "relevance_score", json_get_number(v, "score", NAN));
    if (!(index >= 0) || index >= (double)count || index != floor(index) || !isfinite(score) ||
        taken[(size_t)index])
        return false;
    taken[(size_t)index] = true;
    vec_push(&out->items, (struct reranked_text){(size_t)index, score});
    return true;
}

static int better_first(const void *a, const void *b)
{
    const struct reranked_text *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool take_reply(const struct json *reply, size_t count, struct reranked *out,
                       struct failure *f)
{
    const struct json *list = find_list(reply);
    bool *taken = mem_alloc(count * sizeof *taken), ok = json_type(list) == JSON_ARRAY;
    for (const struct json *v = ok ? json_first(list) : NULL; v && ok; v = json_next(v))
        ok = take_item(v, count, taken, out);
    free(taken);
    if (ok && out->items.len > 0) {
        vec_sort(&out->items, better_first);
        return true;
    }
    vec_release(&out->items);
    return failure_set(f, FAILURE_PROTOCOL, "reranker: its reply is no order of the texts");
}

/* --- both ------------------------------------------------------------------------------------- */

struct patience {
    const struct wakeup *outer;
    int64_t end_ms;
};

static bool go_on(void *context)
{
    const struct patience *p = context;
    return clock_mono_ms() < p->end_ms && (!p->outer || p->outer->go_on(p->outer->context));
}

bool rerank(const struct config *config, struct http *http, const struct wakeup *wakeup,
            const char *query, const char *const *texts, size_t count, int top_n,
            struct reranked *out, struct failure *f)
{
    struct patience patience = {wakeup, clock_mono_ms() + RERANK_MS};
    const struct wakeup both = {.fd = wakeup ? wakeup->fd : -1,
                                .go_on = go_on,
                                .context = &patience,
                                .deadline_ms = patience.end_ms};
    struct endpoint endpoint = {.base_url =
                                    (char *)config_string(config, CONFIG_CORPUS_RERANKER_URL)};
    const struct provider_call call = {
        .http = http, .endpoint = &endpoint, .config = config, .wakeup = &both};
    *out = (struct reranked){0};
    failure_clear(f);
    if (!read_key(config, &both, &endpoint.key, f))
        return false;
    struct json *reply =
        exchange_ask(&call, &dialect, "", body_of(config, query, texts, count, top_n), f);
    bool ok = reply && take_reply(reply, count, out, f);
    json_free(reply);
    key_command_free(endpoint.key);
    return ok;
}
