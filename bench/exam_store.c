#include "bench/exam_store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/recall.h"

enum { RANKINGS = MEMORY_BOTH + 1 };

static const char *const ranking_names[RANKINGS] = {
    [MEMORY_WORDS] = "words", [MEMORY_VECTORS] = "vectors", [MEMORY_BOTH] = "both"};

/* Each ranking needs settings of its own, so each has a configuration. */
struct asker {
    struct config *config; /* NULL: not asked yet */
    struct recall recall;
};

static const char synthetic[] = "synthetic"; /* name of the model */

struct exam_store {
    struct store *store;
    const struct exam *exam;
    size_t first, count;          /* its conversations */
    struct exam_encoder *encoder; /* NULL: not asked yet */
    struct asker askers[EXAM_VECTORS][RANKINGS];
};

struct exam_way exam_way_default(void)
{
    struct config *config = config_new();
    struct memory_query query = memory_query_for(config, "");
    config_free(config);
    return (struct exam_way){.ranking = MEMORY_WORDS, .rank = query.rank};
}

bool exam_is_served(void)
{
    const char *url = getenv("RECALL_EMBEDDING_URL");
    return url && *url;
}

/* ---- filling ---- */

static bool index_session(struct memory *m, const struct exam_conversation *c, size_t from,
                          size_t to, struct error *e)
{
    struct memory_entry *turns = c->turns.items.items + from;
    int stored;
    return m->ops->index(m, turns->session_id, 0, turns, to - from, &stored, e);
}

static bool index_conversation(struct memory *m, const struct exam_conversation *c, struct error *e)
{
    bool ok = true;
    for (size_t i = 0, end; ok && i < c->turns.items.len; i = end) {
        const char *session = c->turns.items.items[i].session_id;
        for (end = i; end < c->turns.items.len &&
                      strcmp(c->turns.items.items[end].session_id, session) == 0;)
            end++;
        ok = index_session(m, c, i, end, e);
    }
    return ok;
}

static bool fill(struct exam_store *s, struct memory *m, const struct exam *x, size_t first,
                 size_t count, struct error *e)
{
    bool ok = store_begin(s->store, e);
    for (size_t i = first; ok && i < first + count; i++)
        ok = index_conversation(m, &x->conversations.items[i], e);
    return ok && store_commit(s->store, e);
}

/* ---- asking ---- */

static bool make_synthetic(struct exam_store *s, struct memory *m, struct error *e)
{
    struct vectors_lacking lacking;
    size_t count;
    bool ok;
    s->encoder = exam_encoder_new(s->exam, s->first, s->count);
    do {
        struct embeddings made = {.dimension = EXAM_DIMENSION};
        ok = m->ops->lacking(m, synthetic, SIZE_MAX, &lacking, e);
        count = ok ? lacking.contents.len : 0;
        for (size_t i = 0; i < count; i++) {
            float vector[EXAM_DIMENSION];
            exam_encoder_text(s->encoder, lacking.contents.items[i], vector);
            for (int k = 0; k < EXAM_DIMENSION; k++)
                vec_push(&made.values, vector[k]);
        }
        ok = ok && (count == 0 || m->ops->keep(m, synthetic, &lacking, &made, e));
        vectors_lacking_release(&lacking);
        embeddings_release(&made);
    } while (ok && count > 0);
    return ok;
}

static bool make_vectors(struct recall *r, struct error *e)
{
    int64_t left;
    int retry_ms;
    enum recall_work done;
    do
        done = recall_work(r, NULL, &left, &retry_ms, e);
    while (done == RECALL_WORKED);
    return done == RECALL_IDLE;
}

static bool configure_served(struct config *c, struct error *e)
{
    const char *model = getenv("RECALL_EMBEDDING_MODEL");
    return config_set(c, CONFIG_EMBEDDING_PROVIDER, "openai", e) &&
           config_set(c, CONFIG_EMBEDDING_BASE_URL, getenv("RECALL_EMBEDDING_URL"), e) &&
           (!model || config_set(c, CONFIG_EMBEDDING_MODEL, model, e));
}

static bool configure(struct config *c, enum memory_ranking ranking, enum exam_vectors vectors,
                      struct error *e)
{
    return config_set(c, CONFIG_MEMORY_RANKING, ranking_names[ranking], e) &&
           (vectors == EXAM_SERVED ? configure_served(c, e)
                                   : config_set(c, CONFIG_EMBEDDING_PROVIDER, "hashed", e));
}

static bool prepare(struct exam_store *s, enum memory_ranking ranking, enum exam_vectors vectors,
                    struct asker **out, struct error *e)
{
    struct asker *a = *out = &s->askers[vectors][ranking];
    if (a->config)
        return true;
    a->config = config_new();
    recall_init(&a->recall, a->config, s->store, NULL);
    return configure(a->config, ranking, vectors, e) &&
           (ranking == MEMORY_WORDS ||
            (vectors == EXAM_SYNTHETIC ? s->encoder || make_synthetic(s, a->recall.memory, e)
                                       : make_vectors(&a->recall, e)));
}

static bool search(struct exam_store *s, struct asker *a, const struct exam_way *way,
                   const struct exam_question *question, struct memory_hits *out, struct error *e)
{
    struct memory_query query = memory_query_for(a->config, question->text);
    float values[EXAM_DIMENSION];
    struct vector_query vector = {synthetic, EXAM_DIMENSION, values};
    query.limit = EXAM_MOST;
    query.rank = way->rank;
    if (way->vectors != EXAM_SYNTHETIC || way->ranking == MEMORY_WORDS)
        return recall_search(&a->recall, &query, NULL, out, e);
    exam_encoder_question(s->encoder, &way->mixture, question, values);
    query.ranking = way->ranking;
    query.vector = &vector;
    return a->recall.memory->ops->search(a->recall.memory, &query, out, e);
}

bool exam_store_ask(struct exam_store *s, const struct exam_way *way,
                    const struct exam_question *question, struct exam_found *out, struct error *e)
{
    struct asker *a;
    struct memory_hits hits;
    exam_found_clear(out);
    if (!prepare(s, way->ranking, way->vectors, &a, e) || !search(s, a, way, question, &hits, e))
        return false;
    bool ok = !hits.badge || err_set(e, ERR_AGENT_ERROR, "%s", hits.badge);
    for (size_t i = 0; i < hits.items.len; i++)
        vec_push(&out->ids, mem_strdup(hits.items.items[i].entry.id));
    memory_hits_release(&hits);
    return ok;
}

/* ---- life ---- */

bool exam_store_new(struct exam_store **out, const char *path, const struct exam *x, size_t first,
                    size_t count, struct error *e)
{
    struct exam_store *s = *out = mem_alloc(sizeof *s);
    struct asker *words;
    s->exam = x;
    s->first = first;
    s->count = count;
    if (store_open(path, STORE_READ_WRITE, &s->store, e) &&
        prepare(s, MEMORY_WORDS, EXAM_HASHED, &words, e) &&
        fill(s, words->recall.memory, x, first, count, e))
        return true;
    exam_store_free(s);
    *out = NULL;
    return false;
}

void exam_store_free(struct exam_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < EXAM_VECTORS * RANKINGS; i++) {
        struct asker *a = &s->askers[i / RANKINGS][i % RANKINGS];
        if (a->config) {
            recall_release(&a->recall);
            config_free(a->config);
        }
    }
    exam_encoder_free(s->encoder);
    store_close(s->store);
    free(s);
}
