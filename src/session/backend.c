#include "session/backend.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "provider/http.h"

void backend_init(struct backend *b, const struct config *config, const struct wakeup *wakeup)
{
    *b = (struct backend){.config = config, .wakeup = wakeup, .http = http_new()};
}

void backend_release(struct backend *b)
{
    if (b->chosen)
        choice_release(&b->choice);
    http_free(b->http);
}

bool backend_choose(struct backend *b, const char *provider, const char *model, struct error *e)
{
    struct choice choice;
    if (!choose_provider(b->config, provider, model, environment_get, choose_ollama_answers, NULL,
                         &choice, e))
        return false;
    if (b->chosen)
        choice_release(&b->choice);
    b->choice = choice;
    b->chosen = true;
    b->keyed = b->facts_known = b->window_asked = false;
    b->facts = (struct model_facts){.price = {-1, -1, -1}};
    return true;
}

static struct provider_call quiet_call(const struct backend *b)
{
    return (struct provider_call){
        .http = b->http, .endpoint = &b->choice.endpoint, .config = b->config, .wakeup = b->wakeup};
}

static bool window_is_the_servers(const struct backend *b)
{
    return b->facts.window == 0 || strcmp(b->choice.provider->name, "ollama") == 0;
}

bool backend_find_key(struct backend *b, struct error *e)
{
    b->keyed = b->keyed || choose_key(b->config, environment_get, b->wakeup, &b->choice, e);
    return b->keyed;
}

bool backend_prepare(struct backend *b, struct error *e)
{
    if (!backend_find_key(b, e))
        return false;
    struct provider_call call = quiet_call(b);
    if (!*b->choice.model && !choose_model(&call, &b->choice, e))
        return false;
    if (!b->facts_known)
        b->facts = models_find(b->config, b->choice.model);
    b->facts_known = true;
    if (window_is_the_servers(b))
        backend_ask_window(b);
    return true;
}

bool backend_ask_window(struct backend *b)
{
    int64_t window = 0;
    if (b->window_asked || !b->choice.provider->window)
        return false;
    b->window_asked = true;
    struct provider_call call = quiet_call(b);
    if (!b->choice.provider->window(&call, b->choice.model, &window)) {
        b->window_asked = b->wakeup->go_on(b->wakeup->context); /* who was stopped asks again */
        return false;
    }
    if (window <= 0 || window == b->facts.window)
        return false;
    b->facts.window = window;
    return true;
}

bool backend_models(struct backend *b, struct provider_names *out, struct error *e)
{
    struct failure failure;
    failure_clear(&failure);
    if (!backend_find_key(b, e))
        return false;
    if (!b->choice.provider->models)
        return true;
    struct provider_call call = quiet_call(b);
    if (b->choice.provider->models(&call, out, &failure))
        return true;
    return failure_error(&failure, e);
}
