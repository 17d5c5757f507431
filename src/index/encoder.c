#include "index/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"

void encoder_init(struct encoder *p, const struct config *config)
{
    *p = (struct encoder){.config = config, .http = http_new(), .patience_ms = ENCODER_PATIENCE_MS};
}

void encoder_release(struct encoder *p)
{
    http_free(p->http);
    embedding_settings_release(&p->embedding);
    embeddings_release(&p->asked);
    free(p->asked_text);
    free(p->model);
    *p = (struct encoder){0};
}

bool encoder_read(struct encoder *p, const struct wakeup *wakeup)
{
    if (p->read)
        return p->embedding.embedder != NULL;
    if (!embedding_settings_read(p->config, environment_get, wakeup, &p->embedding, &p->fault)) {
        p->read = p->fault.code != ERR_INTERRUPTED;
        return false;
    }
    p->read = true;
    p->fault = (struct error){0};
    p->model = p->embedding.embedder ? embedding_model_name(&p->embedding) : NULL;
    return p->embedding.embedder != NULL;
}

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

bool encoder_ask(struct encoder *p, const char *text, const struct wakeup *wakeup, bool *stopped)
{
    struct patience patience = {.outer = wakeup, .end_ms = clock_mono_ms() + p->patience_ms};
    struct wakeup both = patience_wakeup(&patience);
    struct failure f;
    *stopped = false;
    if (p->asked_text && strcmp(p->asked_text, text) == 0)
        return true;
    if (clock_mono_ms() < p->retry_ms)
        return false;
    free(p->asked_text);
    p->asked_text = NULL;
    embeddings_release(&p->asked);
    if (embed_once(&p->embedding, p->http, &both, &text, 1, &p->asked, &f)) {
        p->asked_text = mem_strdup(text);
        return true;
    }
    *stopped = patience.stopped;
    if (!patience.stopped)
        p->retry_ms = clock_mono_ms() + ENCODER_DEAD_MS;
    return false;
}
