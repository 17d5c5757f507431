#include "memory/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

static const char none_configured[] = "words only: no embedding endpoint is configured";
static const char not_set_up[] = "words only: the embedding endpoint is not configured";
static const char no_answer[] = "words only: the embedding endpoint does not answer";

/* Why vectors are not used, or only some of them: whether somebody computes them meanwhile. */
struct lack {
    const char *all, *some;
};
static const struct lack being_made = {"words only: vectors are being computed",
                                       "vectors are being computed: some entries cannot be found "
                                       "yet"};
static const struct lack left_undone = {
    "words only: entries lack vectors; tiro memory reindex computes them",
    "entries without a vector are not found; tiro memory reindex computes them"};

static const struct lack *lack_of(const struct recall *r)
{
    return r->alone ? &left_undone : &being_made;
}

void recall_init(struct recall *r, const struct config *config, struct store *s,
                 const char *directory)
{
    const struct memory_settings settings = {
        .language = config_string(config, CONFIG_MEMORY_LANGUAGE),
        .graph_directory = directory,
        .graph_from = config_integer(config, CONFIG_MEMORY_HNSW_FROM),
    };
    *r = (struct recall){.config = config};
    r->memory = memory_open(s, &settings);
    encoder_init(&r->encoder, config);
}

void recall_release(struct recall *r)
{
    memory_close(r->memory);
    encoder_release(&r->encoder);
    *r = (struct recall){0};
}

/* --- configuration --------------------------------------------------------------------------- */

enum memory_ranking recall_ranking(const char *ranking, const char *provider)
{
    static const struct {
        const char *name;
        enum memory_ranking ranking;
    } names[] = {{"words", MEMORY_WORDS}, {"vectors", MEMORY_VECTORS}, {"both", MEMORY_BOTH}};
    const struct embedder *embedder = embedder_find(provider);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, ranking) == 0)
            return names[i].ranking;
    return embedder && embedder->has_network ? MEMORY_BOTH : MEMORY_WORDS;
}

static enum memory_ranking configured(const struct recall *r)
{
    return recall_ranking(config_string(r->config, CONFIG_MEMORY_RANKING),
                          config_string(r->config, CONFIG_EMBEDDING_PROVIDER));
}

struct memory_scope recall_scope(const struct recall *r, const char *session_id,
                                 const char *directory)
{
    struct memory_scope scope = {.kind = MEMORY_SCOPE_ALL};
    const char *name = config_string(r->config, CONFIG_MEMORY_SCOPE);
    if (strcmp(name, "project") == 0)
        scope = (struct memory_scope){.kind = MEMORY_SCOPE_PROJECT, .directory = directory};
    else if (strcmp(name, "session") == 0)
        scope = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION, .session_id = session_id};
    return scope;
}

/* --- the question's vector ------------------------------------------------------------------- */

struct plan {
    enum memory_ranking ranking;
    const char *badge;
    struct vector_query vector;
};

/* Fills in what vectors allow. False: the wakeup stopped it, or the store has a fault. */
static bool plan_vectors(struct recall *r, const char *text, const struct wakeup *wakeup,
                         struct plan *plan, struct error *e)
{
    enum memory_ranking wanted = configured(r);
    struct vectors_counts have;
    bool stopped;
    if (!encoder_read(&r->encoder, wakeup)) {
        plan->badge = r->encoder.fault.code == ERR_OK ? none_configured : not_set_up;
        return true;
    }
    if (!r->memory->ops->count_vectors(r->memory, r->encoder.model, &have, e))
        return false;
    /* MEMORY_VECTORS searches also when some entries have no vector. */
    bool usable = have.embedded > 0 && (have.missing == 0 || wanted == MEMORY_VECTORS);
    if (have.missing > 0)
        plan->badge = usable ? lack_of(r)->some : lack_of(r)->all;
    if (!usable)
        return true;
    if (!encoder_ask(&r->encoder, text, wakeup, &stopped)) {
        plan->badge = no_answer;
        return !stopped || err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    }
    if (r->encoder.asked.dimension != have.dimension) {
        plan->badge = lack_of(r)->all;
        return r->alone || r->memory->ops->know_model(r->memory, r->encoder.model,
                                                      r->encoder.asked.dimension, e);
    }
    plan->ranking = wanted;
    plan->vector = (struct vector_query){.model = r->encoder.model,
                                         .dimension = r->encoder.asked.dimension,
                                         .values = r->encoder.asked.values.items};
    return true;
}

bool recall_search(struct recall *r, struct memory_query *query, const struct wakeup *wakeup,
                   struct memory_hits *out, struct error *e)
{
    struct plan plan = {.ranking = MEMORY_WORDS};
    *out = (struct memory_hits){0};
    query->min_score = config_real(r->config, CONFIG_MEMORY_MIN_SCORE);
    if (configured(r) != MEMORY_WORDS && query->text[strspn(query->text, " \t\r\n")] &&
        !plan_vectors(r, query->text, wakeup, &plan, e))
        return false;
    query->ranking = plan.ranking;
    query->vector = plan.ranking == MEMORY_WORDS ? NULL : &plan.vector;
    bool ok = r->memory->ops->search(r->memory, query, out, e);
    query->vector = NULL;
    if (ok)
        out->badge = plan.badge;
    return ok;
}

/* --- background work ------------------------------------------------------------------------- */

bool recall_know_model(struct recall *r, const struct wakeup *wakeup, struct error *e)
{
    struct vectors_counts have;
    bool stopped;
    if (configured(r) == MEMORY_WORDS || !encoder_read(&r->encoder, wakeup))
        return true;
    if (!r->memory->ops->count_vectors(r->memory, r->encoder.model, &have, e))
        return false;
    if (have.embedded == 0 || have.missing > 0) /* what is made will tell it */
        return true;
    if (!encoder_ask(&r->encoder, "tiro", wakeup, &stopped)) {
        r->encoder.retry_ms = 0;
        return true;
    }
    return r->encoder.asked.dimension == have.dimension ||
           r->memory->ops->know_model(r->memory, r->encoder.model, r->encoder.asked.dimension, e);
}

bool recall_stats(struct recall *r, const struct wakeup *wakeup, struct memory_stats *out,
                  struct error *e)
{
    struct vectors_counts have;
    if (!r->memory->ops->stats(r->memory, out, e))
        return false;
    bool has_vectors = configured(r) != MEMORY_WORDS && encoder_read(&r->encoder, wakeup);
    if (r->memory->ops->count_vectors(r->memory, has_vectors ? r->encoder.model : NULL, &have, e)) {
        out->embedded = have.embedded;
        out->missing = have.missing;
        out->stale = have.stale;
        out->dimension = have.dimension;
        out->model = has_vectors ? mem_strdup(r->encoder.model) : NULL;
        out->graph = has_vectors && out->graph;
        return true;
    }
    memory_stats_release(out);
    *out = (struct memory_stats){0};
    return false;
}

/* A fault that only a person can mend is not tried again soon. */
static enum recall_work wait_for(struct recall *r, int *retry_ms)
{
    int64_t left = r->encoder.retry_ms - clock_mono_ms();
    *retry_ms = left > 0 ? (int)left : ENCODER_DEAD_MS;
    return RECALL_WAITS;
}

enum recall_work recall_work(struct recall *r, const struct wakeup *wakeup, int64_t *left,
                             int *retry_ms, struct error *why)
{
    *left = 0;
    *retry_ms = 0;
    *why = (struct error){0};
    if (configured(r) == MEMORY_WORDS)
        return RECALL_IDLE;
    if (!encoder_read(&r->encoder, wakeup)) {
        *why = r->encoder.fault;
        return why->code == ERR_OK ? RECALL_IDLE : wait_for(r, retry_ms);
    }
    if (clock_mono_ms() < r->encoder.retry_ms) {
        err_set(why, ERR_AGENT_ERROR,
                "the embedding endpoint did not answer; it is asked again "
                "soon");
        return wait_for(r, retry_ms);
    }

    struct memory *m = r->memory;
    struct vectors_lacking lacking;
    struct embeddings made;
    struct failure f;
    bool ok = m->ops->lacking(m, r->encoder.model, r->encoder.embedding.embedder->max_bytes,
                              &lacking, why);
    size_t count = ok ? lacking.texts.len : 0;
    *left = lacking.missing;
    if (count > 0 && !embed_all(&r->encoder.embedding, r->encoder.http, wakeup,
                                (const char *const *)lacking.texts.items, count, &made, &f)) {
        vectors_lacking_release(&lacking);
        failure_error(&f, why);
        if (f.kind == FAILURE_CANCELLED)
            return RECALL_WORKED;
        r->encoder.retry_ms = clock_mono_ms() + ENCODER_DEAD_MS;
        return wait_for(r, retry_ms);
    }
    if (count > 0) {
        ok = m->ops->keep(m, r->encoder.model, &lacking, &made, why);
        embeddings_release(&made);
        *left -= ok ? (int64_t)count : 0;
    }
    vectors_lacking_release(&lacking);
    if (ok && count == 0)
        ok = m->ops->tidy_vectors(m, r->encoder.model, left, why);
    if (!ok)
        return wait_for(r, retry_ms);
    return count > 0 || *left > 0 ? RECALL_WORKED : RECALL_IDLE;
}
