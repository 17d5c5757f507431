#include "memory/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"

enum { ENDPOINT_MS = 5000, DEAD_MS = 30000 };

static const char none_configured[] = "words only: no embedding endpoint is configured";
static const char not_set_up[] = "words only: the embedding endpoint is not configured";
static const char no_answer[] = "words only: the embedding endpoint does not answer";

/* Why vectors are not used, or not of all entries: by whether somebody makes them meanwhile. */
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
    *r = (struct recall){.config = config, .patience_ms = ENDPOINT_MS};
    r->memory = memory_open(s, &settings);
    r->http = http_new();
}

void recall_release(struct recall *r)
{
    memory_close(r->memory);
    http_free(r->http);
    embedding_settings_release(&r->embedding);
    embeddings_release(&r->asked);
    free(r->asked_text);
    free(r->model);
    *r = (struct recall){0};
}

/* --- what is configured ---------------------------------------------------------------------- */

/* The key's command may have to be typed into, so it runs only for who needs vectors. */
static bool read_embedding(struct recall *r, const struct wakeup *wakeup)
{
    if (r->embedding_read)
        return r->embedding.embedder != NULL;
    if (!embedding_settings_read(r->config, environment_get, wakeup, &r->embedding,
                                 &r->embedding_fault)) {
        r->embedding_read = r->embedding_fault.code != ERR_INTERRUPTED;
        return false;
    }
    r->embedding_read = true;
    r->embedding_fault = (struct error){0};
    r->model = r->embedding.embedder ? embedding_model_name(&r->embedding) : NULL;
    return r->embedding.embedder != NULL;
}

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

/* A wakeup that also says stop when the endpoint has had its time. */
struct patience {
    const struct wakeup *outer; /* NULL: none */
    int64_t end_ms;
    bool stopped; /* by the outer one */
};

static bool patience_go_on(void *context)
{
    struct patience *p = context;
    if (p->outer && !p->outer->go_on(p->outer->context))
        p->stopped = true;
    return !p->stopped && clock_mono_ms() < p->end_ms;
}

static struct wakeup patience_wakeup(struct patience *p)
{
    int64_t end = p->end_ms;
    if (p->outer && p->outer->deadline_ms != 0 && p->outer->deadline_ms < end)
        end = p->outer->deadline_ms;
    return (struct wakeup){.fd = p->outer ? p->outer->fd : -1,
                           .go_on = patience_go_on,
                           .context = p,
                           .deadline_ms = end};
}

static bool has_asked(const struct recall *r, const char *text)
{
    return r->asked_text && strcmp(r->asked_text, text) == 0;
}

/* One try: a person or a model waits. False without the vector; *stopped: because of the wakeup. */
static bool ask_endpoint(struct recall *r, const char *text, const struct wakeup *wakeup,
                         bool *stopped)
{
    struct patience patience = {.outer = wakeup, .end_ms = clock_mono_ms() + r->patience_ms};
    struct wakeup both = patience_wakeup(&patience);
    struct failure f;
    *stopped = false;
    if (clock_mono_ms() < r->retry_ms)
        return false;
    free(r->asked_text);
    r->asked_text = NULL;
    embeddings_release(&r->asked);
    if (embed_once(&r->embedding, r->http, &both, &text, 1, &r->asked, &f)) {
        r->asked_text = mem_strdup(text);
        return true;
    }
    *stopped = patience.stopped;
    if (!patience.stopped)
        r->retry_ms = clock_mono_ms() + DEAD_MS;
    return false;
}

/* Whether all entries, or at least some where that is enough, have a vector; else the badge. */
static const char *missing_badge(const struct recall *r, const struct vectors_counts *have,
                                 enum memory_ranking ranking, bool *usable)
{
    *usable = have->embedded > 0 && (have->missing == 0 || ranking == MEMORY_VECTORS);
    if (have->embedded + have->missing == 0 || have->missing == 0)
        return NULL;
    return *usable ? lack_of(r)->some : lack_of(r)->all;
}

struct plan {
    enum memory_ranking ranking;
    const char *badge;
    struct vector_query vector;
};

/* Fills in what can be had of vectors. False: the wakeup said stop, or the store has a fault. */
static bool plan_vectors(struct recall *r, const char *text, const struct wakeup *wakeup,
                         struct plan *plan, struct error *e)
{
    enum memory_ranking wanted = configured(r);
    struct vectors_counts have;
    bool usable, stopped;
    if (!read_embedding(r, wakeup)) {
        plan->badge = r->embedding_fault.code == ERR_OK ? none_configured : not_set_up;
        return true;
    }
    if (!r->memory->ops->count_vectors(r->memory, r->model, &have, e))
        return false;
    plan->badge = missing_badge(r, &have, wanted, &usable);
    if (!usable)
        return true;
    if (!has_asked(r, text) && !ask_endpoint(r, text, wakeup, &stopped)) {
        plan->badge = no_answer;
        return !stopped || err_set(e, ERR_INTERRUPTED, "the search was interrupted");
    }
    if (r->asked.dimension != have.dimension) {
        plan->badge = lack_of(r)->all;
        return r->alone || r->memory->ops->know_model(r->memory, r->model, r->asked.dimension, e);
    }
    plan->ranking = wanted;
    plan->vector = (struct vector_query){
        .model = r->model, .dimension = r->asked.dimension, .values = r->asked.values.items};
    return true;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

bool recall_search(struct recall *r, struct memory_query *query, const struct wakeup *wakeup,
                   struct memory_hits *out, struct error *e)
{
    struct plan plan = {.ranking = MEMORY_WORDS};
    *out = (struct memory_hits){0};
    query->min_score = config_real(r->config, CONFIG_MEMORY_MIN_SCORE);
    if (configured(r) != MEMORY_WORDS && !is_blank(query->text) &&
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

/* --- work that waits ------------------------------------------------------------------------- */

bool recall_know_model(struct recall *r, const struct wakeup *wakeup, struct error *e)
{
    struct vectors_counts have;
    bool stopped;
    if (configured(r) == MEMORY_WORDS || !read_embedding(r, wakeup))
        return true;
    if (!r->memory->ops->count_vectors(r->memory, r->model, &have, e))
        return false;
    if (have.embedded == 0 || have.missing > 0) /* what is made will tell it */
        return true;
    if (!ask_endpoint(r, "tiro", wakeup, &stopped)) {
        r->retry_ms = 0;
        return true;
    }
    return r->asked.dimension == have.dimension ||
           r->memory->ops->know_model(r->memory, r->model, r->asked.dimension, e);
}

bool recall_stats(struct recall *r, const struct wakeup *wakeup, struct memory_stats *out,
                  struct error *e)
{
    struct vectors_counts have;
    if (!r->memory->ops->stats(r->memory, out, e))
        return false;
    bool has_vectors = configured(r) != MEMORY_WORDS && read_embedding(r, wakeup);
    if (r->memory->ops->count_vectors(r->memory, has_vectors ? r->model : NULL, &have, e)) {
        out->embedded = have.embedded;
        out->missing = have.missing;
        out->stale = have.stale;
        out->dimension = have.dimension;
        out->model = has_vectors ? mem_strdup(r->model) : NULL;
        out->graph = has_vectors && out->graph;
        return true;
    }
    memory_stats_release(out);
    *out = (struct memory_stats){0};
    return false;
}

/* A fault that only a person can help against is not looked at again soon. */
static enum recall_work wait_for(struct recall *r, int *retry_ms)
{
    int64_t left = r->retry_ms - clock_mono_ms();
    *retry_ms = left > 0 ? (int)left : DEAD_MS;
    return RECALL_WAITS;
}

static enum recall_work wait_for_endpoint(struct recall *r, const struct failure *f, int *retry_ms,
                                          struct error *why)
{
    failure_error(f, why);
    if (f->kind == FAILURE_CANCELLED)
        return RECALL_WORKED;
    r->retry_ms = clock_mono_ms() + DEAD_MS;
    return wait_for(r, retry_ms);
}

static enum recall_work embed(struct recall *r, const struct vectors_lacking *lacking,
                              const struct wakeup *wakeup, int64_t *left, int *retry_ms,
                              struct error *why)
{
    struct embeddings made;
    struct failure f;
    if (!embed_all(&r->embedding, r->http, wakeup, (const char *const *)lacking->texts.items,
                   lacking->texts.len, &made, &f))
        return wait_for_endpoint(r, &f, retry_ms, why);
    bool ok = r->memory->ops->keep(r->memory, r->model, lacking, &made, why);
    embeddings_release(&made);
    *left -= ok ? (int64_t)lacking->texts.len : 0;
    return ok ? RECALL_WORKED : wait_for(r, retry_ms);
}

static enum recall_work embed_some(struct recall *r, const struct wakeup *wakeup, int64_t *left,
                                   int *retry_ms, struct error *why)
{
    struct vectors_lacking lacking;
    enum recall_work done = RECALL_IDLE;
    if (!r->memory->ops->lacking(r->memory, r->model, r->embedding.embedder->max_bytes, &lacking,
                                 why))
        done = wait_for(r, retry_ms);
    *left = lacking.missing;
    if (done == RECALL_IDLE && lacking.texts.len > 0)
        done = embed(r, &lacking, wakeup, left, retry_ms, why);
    vectors_lacking_release(&lacking);
    return done;
}

static enum recall_work tidy(struct recall *r, int64_t *left, int *retry_ms, struct error *why)
{
    if (!r->memory->ops->tidy_vectors(r->memory, r->model, left, why))
        return wait_for(r, retry_ms);
    return *left > 0 ? RECALL_WORKED : RECALL_IDLE;
}

enum recall_work recall_work(struct recall *r, const struct wakeup *wakeup, int64_t *left,
                             int *retry_ms, struct error *why)
{
    *left = 0;
    *retry_ms = 0;
    *why = (struct error){0};
    if (configured(r) == MEMORY_WORDS)
        return RECALL_IDLE;
    if (!read_embedding(r, wakeup)) {
        *why = r->embedding_fault;
        return why->code == ERR_OK ? RECALL_IDLE : wait_for(r, retry_ms);
    }
    if (clock_mono_ms() < r->retry_ms) {
        err_set(why, ERR_AGENT_ERROR,
                "the embedding endpoint did not answer; it is asked again "
                "soon");
        return wait_for(r, retry_ms);
    }
    enum recall_work done = embed_some(r, wakeup, left, retry_ms, why);
    return done == RECALL_IDLE ? tidy(r, left, retry_ms, why) : done;
}
