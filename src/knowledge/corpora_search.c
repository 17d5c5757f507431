/* A search: documents in scope, passages by words and by vectors on one scale, then the order of a
 * reranker where there is one; and the vectors that passages lack, in steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/corpora_private.h"
#include "knowledge/walk.h"
#include "provider/exchange.h"

enum {
    POOL = 200,        /* passages that words and vectors are each asked for */
    RERANKED = 20,     /* passages that a reranker gets at least */
    RERANK_FACTOR = 3, /* … or so many times as are wanted */
    RERANK_MS = 5000,
    RERANKER_DEAD_MS = 30000, /* before one that did not answer is asked again */
    EMBED_STEP = 64,
    GRAPH_STEP = 200
};

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
    const struct wakeup *wakeup;
    struct corpus index;
    size_t limit;  /* passages in the end */
    size_t first;  /* passages before a reranker orders them */
    double weight; /* of words; 1: words alone */
    struct vector_query vector;
    struct corpus_scope scope;
    VEC(struct scored) scored;
    struct corpus_found *out;
};

/* The first one stays. */
static bool set_badge(struct search *x, const char *badge)
{
    if (!x->out->badge)
        x->out->badge = mem_strdup(badge);
    return true;
}

/* --- scope ------------------------------------------------------------------------------------ */

/* A glob without a slash is compared with the name, one with a slash with the end of the path. */
static bool passes(const char *filter, const char *file)
{
    const char *slash = strrchr(file, '/');
    if (filter[strcspn(filter, "*?[")] == '\0')
        return utf8_contains_folded(file, filter);
    if (!strchr(filter, '/'))
        return ignore_fits(filter, slash ? slash + 1 : file);
    auto_free char *anywhere = mem_printf("**/%s", filter + (*filter == '/'));
    return ignore_fits(anywhere, file + (*file == '/'));
}

static bool find_scope(struct search *x, struct error *e)
{
    struct store *s = x->corpora->store;
    const char *filter = x->what->filter && *x->what->filter ? x->what->filter : NULL;
    int64_t corpus = -1;
    struct query q;
    if (x->what->corpus && !corpora_need(s, x->what->corpus, &corpus, e))
        return false;
    if (filter)
        q = sql_query(s, e,
                      "SELECT number, chunks, file FROM corpus_document"
                      " WHERE state = 'ready' AND corpus IN (SELECT number FROM corpus_set)"
                      " AND (?1 < 0 OR corpus = ?1)",
                      "i", corpus);
    else if (corpus >= 0)
        q = sql_query(s, e,
                      "SELECT number, chunks FROM corpus_document INDEXED BY corpus_state"
                      " WHERE state = 'ready' AND corpus = ?1 ORDER BY number",
                      "i", corpus);
    else
        q = sql_query(s, e,
                      "SELECT number, chunks FROM corpus_document INDEXED BY corpus_state"
                      " WHERE state = 'ready' AND corpus IN (SELECT number FROM corpus_set)",
                      "");
    while (query_next(&q)) {
        const char *file = filter ? (const char *)sqlite3_column_text(q.handle, 2) : NULL;
        if (filter && !(file && passes(filter, file)))
            continue;
        vec_push(&x->scope.numbers, sqlite3_column_int64(q.handle, 0));
        x->out->searched += sqlite3_column_int64(q.handle, 1);
    }
    if (!query_end(&q))
        return false;
    vec_sort(&x->scope.numbers, vec_number_order);
    x->out->documents = (int64_t)x->scope.numbers.len;
    return true;
}

/* --- passages --------------------------------------------------------------------------------- */

/* Keeps the weight where vectors can be used, else sets it to 1. False: stopped, or a fault. */
static bool plan_vectors(struct search *x, struct error *e)
{
    struct corpora *c = x->corpora;
    double wanted = x->weight;
    struct vectors_counts have;
    bool stopped;
    x->weight = 1;
    if (wanted >= 1 || !corpora_wants_vectors(c))
        return true;
    if (!encoder_read(&c->encoder, x->wakeup))
        return set_badge(x, not_set_up);
    if (!vectors_count(&x->index, c->encoder.model, &have, e))
        return false;
    if (have.missing > 0)
        set_badge(x, c->alone ? left_undone : being_made);
    if (have.embedded == 0 || have.missing > 0)
        return true;
    if (!encoder_ask(&c->encoder, x->what->query, x->wakeup, &stopped)) {
        set_badge(x, no_answer);
        return !stopped || err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    }
    if (c->encoder.asked.dimension != have.dimension) {
        set_badge(x, c->alone ? left_undone : being_made);
        return c->alone ||
               vectors_know_model(&x->index, c->encoder.model, c->encoder.asked.dimension, e);
    }
    x->weight = wanted;
    x->vector = (struct vector_query){.model = c->encoder.model,
                                      .dimension = c->encoder.asked.dimension,
                                      .values = c->encoder.asked.values.items};
    return true;
}

/* The score is the share of the question's words that a passage has, and how close they stand, on
 * the scale of rank_score(). */
static bool find_by_words(struct search *x, size_t pool, struct candidates *out, struct error *e)
{
    const struct words_question question = {.text = x->what->query, .rank = rank_settings_alone()};
    struct word_weights weights = {0};
    bool ok = words_search(&x->index, &question, &x->scope, pool, out, &weights, e);
    for (size_t i = 0; ok && i < out->items.len; i++) {
        const struct candidate *c = &out->items.items[i];
        double words =
            c->why.words > 0 ? rank_score(fmin(1, c->why.coverage * c->rank / c->why.words)) : 0;
        vec_push(&x->scored, (struct scored){.key = c->key, .words = words, .vector = -1});
    }
    vec_release(&weights.items);
    return ok;
}

static int by_key(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static bool find_by_vectors(struct search *x, size_t pool, const struct candidates *words,
                            struct error *e)
{
    struct vectors_field field = {.also = words};
    AUTO(vec_release_local) struct candidates vectors = {0};
    if (!vectors_search(x->corpora->vectors, &x->index, &x->vector, &x->scope, pool, &field,
                        &vectors, e))
        return false;
    size_t known = x->scored.len;
    vec_sort(&x->scored, by_key);
    for (size_t i = 0; i < vectors.items.len; i++) {
        const struct scored found = {.key = vectors.items.items[i].key,
                                     .vector = vectors.items.items[i].score};
        struct scored *there =
            known > 0 ? bsearch(&found, x->scored.items, known, sizeof found, by_key) : NULL;
        if (there)
            there->vector = found.vector;
        else
            vec_push(&x->scored, found);
    }
    return true;
}

static int best_first(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return by_key(a, b);
}

static bool load_passage(struct search *x, const struct scored *s, struct error *e)
{
    struct query q = sql_query(
        x->corpora->store, e,
        "SELECT s.name, d.file, e.start, e.finish, e.line, e.page_number, e.heading, e.content"
        " FROM corpus_entry AS e JOIN corpus_document AS d ON d.number = e.key >> 24"
        " JOIN corpus_set AS s ON s.number = d.corpus WHERE e.key = ?",
        "i", s->key);
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
    size_t pool = x->first > POOL ? x->first : POOL, kept = 0;
    AUTO(vec_release_local) struct candidates words = {0};
    if (!find_scope(x, e))
        return false;
    if (x->scope.numbers.len == 0)
        return true;
    if ((x->weight != 0 && !find_by_words(x, pool, &words, e)) ||
        (x->weight != 1 && !find_by_vectors(x, pool, &words, e)))
        return false;
    for (size_t i = 0; i < x->scored.len; i++) {
        struct scored s = x->scored.items[i];
        s.score = x->weight * s.words + (1 - x->weight) * fmax(0, s.vector);
        if (s.score > 0)
            x->scored.items[kept++] = s;
    }
    x->scored.len = kept;
    vec_sort(&x->scored, best_first);
    for (size_t i = 0; i < x->scored.len && i < x->first; i++)
        if (!load_passage(x, &x->scored.items[i], e))
            return false;
    return true;
}

/* --- the reranker ----------------------------------------------------------------------------- */

/* A server that orders texts by how well they answer a question: POST {"query", "documents",
 * "top_n", "model"?} to [corpus] reranker_url, answered by {"results": [{"index",
 * "relevance_score"}]}, an array of such objects by itself, or with "data" or "score" in place of
 * these names (Cohere, Jina, Voyage, llama.cpp, text-embeddings-inference). */
static const struct dialect reranker = {.name = "reranker"};

struct reranked {
    size_t index;
    double score; /* of the server */
};
struct reranking {
    VEC(struct reranked) items; /* best first, each text once */
};

static int better_first(const void *a, const void *b)
{
    const struct reranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool read_reply(const struct json *reply, size_t count, struct reranking *out,
                       struct failure *f)
{
    const struct json *results = json_get(reply, "results");
    const struct json *list = json_type(reply) == JSON_ARRAY ? reply
                              : results                      ? results
                                                             : json_get(reply, "data");
    auto_free bool *taken = mem_alloc(count * sizeof *taken);
    bool ok = json_type(list) == JSON_ARRAY;
    for (const struct json *v = ok ? json_first(list) : NULL; v && ok; v = json_next(v)) {
        double index = json_get_number(v, "index", -1);
        double score = json_get_number(v, "relevance_score", json_get_number(v, "score", NAN));
        ok = index >= 0 && index < (double)count && index == floor(index) && isfinite(score) &&
             !taken[(size_t)index];
        if (!ok)
            break;
        taken[(size_t)index] = true;
        vec_push(&out->items, (struct reranked){(size_t)index, score});
    }
    if (!ok || out->items.len == 0)
        return failure_set(f, FAILURE_PROTOCOL, "reranker: its reply is no order of the texts");
    vec_sort(&out->items, better_first);
    return true;
}

/* The caller's wakeup with RERANK_MS as its deadline. */
struct patience {
    const struct wakeup *outer;
    int64_t end_ms;
};

static bool go_on(void *context)
{
    const struct patience *p = context;
    return clock_mono_ms() < p->end_ms && (!p->outer || p->outer->go_on(p->outer->context));
}

static bool rerank(const struct search *x, struct reranking *out, struct failure *f)
{
    const struct config *config = x->corpora->config;
    const char *command = config_string(config, CONFIG_CORPUS_RERANKER_KEY_COMMAND);
    const char *own = config_string(config, CONFIG_CORPUS_RERANKER_KEY);
    const char *model = config_string(config, CONFIG_CORPUS_RERANKER_MODEL);
    struct patience patience = {x->wakeup, clock_mono_ms() + RERANK_MS};
    const struct wakeup both = {.fd = x->wakeup ? x->wakeup->fd : -1,
                                .go_on = go_on,
                                .context = &patience,
                                .deadline_ms = patience.end_ms};
    struct endpoint endpoint = {.base_url =
                                    (char *)config_string(config, CONFIG_CORPUS_RERANKER_URL)};
    const struct provider_call call = {
        .http = x->corpora->encoder.http, .endpoint = &endpoint, .config = config, .wakeup = &both};
    struct error e = {0};
    failure_clear(f);
    if (*command &&
        !key_command_run("api_key_command", command, RERANK_MS, &both, &endpoint.key, &e))
        return failure_set(f, FAILURE_SETUP, "reranker: %s", e.text);
    if (!*command && *own)
        endpoint.key = mem_strdup(own);
    struct json *body = json_new_object(), *documents = json_new_array();
    for (size_t i = 0; i < x->out->items.len; i++)
        json_push(documents, json_new_string(x->out->items.items[i].content));
    if (*model)
        json_set_string(body, "model", model);
    json_set_string(body, "query", x->what->query);
    json_set(body, "documents", documents);
    json_set_int(body, "top_n", (int64_t)x->limit);
    struct json *reply = exchange_ask(&call, &reranker, "", body, f);
    bool ok = reply && read_reply(reply, x->out->items.len, out, f);
    json_free(reply);
    key_command_free(endpoint.key);
    return ok;
}

/* Passages that the server left out come last in their old order, with no better score. Some
 * servers give probabilities, some any number. */
static void apply_order(struct corpus_found *found, const struct reranking *r)
{
    size_t count = found->items.len, next = 0;
    auto_free struct corpus_passage *ordered = mem_alloc(count * sizeof *ordered);
    auto_free bool *taken = mem_alloc(count * sizeof *taken);
    bool are_shares = true;
    double last = 1;
    for (size_t i = 0; i < r->items.len; i++)
        are_shares = are_shares && r->items.items[i].score >= 0 && r->items.items[i].score <= 1;
    for (size_t i = 0; i < r->items.len; i++) {
        const struct reranked *t = &r->items.items[i];
        ordered[next] = found->items.items[t->index];
        last = ordered[next++].score = are_shares ? t->score : 1 / (1 + exp(-t->score));
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
}

static bool reorder(struct search *x, struct error *e)
{
    AUTO(vec_release_local) struct reranking r = {.items = {0}};
    struct failure f;
    if (x->out->items.len < 2)
        return true;
    if (clock_mono_ms() < x->corpora->reranker_retry_ms)
        return set_badge(x, not_reranked);
    if (rerank(x, &r, &f)) {
        apply_order(x->out, &r);
        return true;
    }
    if (x->wakeup && !x->wakeup->go_on(x->wakeup->context))
        return err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    x->corpora->reranker_retry_ms = clock_mono_ms() + RERANKER_DEAD_MS;
    return set_badge(x, not_reranked);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool run(struct search *x, struct error *e)
{
    const struct config *config = x->corpora->config;
    int k = x->what->top_k > 0 ? x->what->top_k : (int)config_integer(config, CONFIG_CORPUS_TOP_K);
    double weight = x->what->hybrid_weight;
    bool began;
    x->limit = (size_t)(k < CORPUS_TOP_K_MOST ? k : CORPUS_TOP_K_MOST);
    x->first = x->limit;
    if (config_is_set(config, CONFIG_CORPUS_RERANKER_URL))
        x->first = RERANK_FACTOR * x->limit > RERANKED ? RERANK_FACTOR * x->limit : RERANKED;
    x->weight = weight >= 0 ? fmin(weight, 1) : config_real(config, CONFIG_CORPUS_WEIGHT);
    if (!plan_vectors(x, e) || !store_step_begin(x->corpora->store, &began, e) ||
        !store_step_end(x->corpora->store, began, find(x, e), e) ||
        (x->first != x->limit && !reorder(x, e)))
        return false;
    while (x->out->items.len > x->limit)
        shape_release(&corpus_passage_shape, &x->out->items.items[--x->out->items.len]);
    return true;
}

bool corpora_search(struct corpora *c, const struct corpus_search *what,
                    const struct wakeup *wakeup, struct corpus_found *out, struct error *e)
{
    struct search x = {
        .corpora = c, .what = what, .wakeup = wakeup, .index = corpora_index(c->store), .out = out};
    *out = (struct corpus_found){0};
    if (utf8_is_blank(what->query))
        return err_set(e, ERR_USAGE, "\"query\" is empty; say what to look for");
    bool ok = run(&x, e);
    vec_release(&x.scope.numbers);
    vec_release(&x.scored);
    if (!ok)
        shape_release(&corpus_found_shape, out);
    return ok;
}

/* --- vectors that passages lack --------------------------------------------------------------- */

/* A fault that only a person can mend is not tried again soon. */
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

enum corpora_work corpora_embed(struct corpora *c, const struct wakeup *wakeup, int64_t *left,
                                int *retry_ms, struct error *why)
{
    const struct corpus index = corpora_index(c->store);
    struct vectors_lacking lacking;
    enum corpora_work done = CORPORA_IDLE;
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
    const char *model = c->encoder.model;
    if (!vectors_lacking(&index, model, EMBED_STEP, c->encoder.embedding.embedder->max_bytes,
                         &lacking, why))
        done = wait_for(c, retry_ms);
    *left = lacking.missing;
    if (done == CORPORA_IDLE && lacking.texts.len > 0)
        done = embed(c, &index, &lacking, wakeup, left, retry_ms, why);
    vectors_lacking_release(&lacking);
    if (done != CORPORA_IDLE)
        return done;
    bool more;
    *left = 1;
    if (!vectors_fit(&index, model, why) || !vectors_drop_stale(&index, model, &more, why) ||
        (!more && !vectors_graph_step(c->vectors, &index, model, GRAPH_STEP, left, why)))
        return wait_for(c, retry_ms);
    return *left > 0 ? CORPORA_WORKED : CORPORA_IDLE;
}
