/* Vectors for passages that lack them, in steps. */
#include "base/clock.h"
#include "knowledge/corpora_private.h"

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
