#include "session/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "index/embedder.h"
#include "session/capability.h"

static void add(struct report_result *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Without what must not be shown. */
static void add(struct report_result *r, const char *name, const char *format, ...)
{
    struct buf value = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&value, format, args);
    va_end(args);
    struct buf shown = BUF_INIT;
    url_add_masked(&shown, value.data);
    vec_push(&r->facts, (struct report_fact){.name = mem_strdup(name), .value = buf_take(&shown)});
    buf_release(&value);
}

static const char *reason_text(const struct choice *choice)
{
    switch (choice->reason) {
    case CHOICE_OPTION:
        return "asked for";
    case CHOICE_CONFIG:
        return "the configuration";
    case CHOICE_ENVIRONMENT:
        return "environment";
    case CHOICE_ANSWERED:
        return "it answers on its default port";
    case CHOICE_FALLBACK:
        return "nothing else is configured";
    }
    return "";
}

static void report_key(struct report_result *r, struct backend *b)
{
    if (!backend_find_key(b, &r->fault))
        add(r, "key", "none: %s", r->fault.text);
    else
        add(r, "key", "%s", b->choice.endpoint.key ? "found" : "none needed");
}

void report_backend(struct report_result *r, struct backend *b)
{
    const struct choice *choice = &b->choice;
    if (!b->chosen) {
        add(r, "provider", "none could be chosen");
        return;
    }
    add(r, "provider", "%s", choice->provider->name);
    add(r, "why", "%s%s%s", reason_text(choice), choice->detail ? ": " : "",
        choice->detail ? choice->detail : "");
    if (choice->endpoint.base_url)
        add(r, "url", "%s", choice->endpoint.base_url);
    add(r, "model", "%s", *choice->model ? choice->model : "the first that the server lists");
    report_key(r, b);
    if (b->facts.window > 0)
        add(r, "window", "%lld tokens", (long long)b->facts.window);
    else
        add(r, "window", "unknown until the first request");
}

void report_store(struct report_result *r, const char *path, bool opened)
{
    if (!path)
        add(r, "store", "off; conversations are not saved");
    else if (!opened)
        add(r, "store", "%s could not be opened", path);
    else
        add(r, "store", "%s, schema %d", path, store_schema_version());
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool report_whether(struct report_result *r, const struct config *config)
{
    struct error e;
    if (!capability_need_memory(config_boolean(config, CONFIG_MEMORY_ENABLED), &e)) {
        add(r, "memory", "off; %s", e.text);
        return false;
    }
    add(r, "memory", "on; scope %s, language %s", config_string(config, CONFIG_MEMORY_SCOPE),
        config_string(config, CONFIG_MEMORY_LANGUAGE));
    return true;
}

static void report_embedder(struct report_result *r, const struct embedding_settings *s)
{
    if (!s->embedder) {
        add(r, "vectors", "none; [embedding] provider is not set");
        return;
    }
    char *model = embedding_model_name(s);
    if (!s->embedder->has_network)
        add(r, "vectors", "%s, made here", model);
    else
        add(r, "vectors", "%s at %s, key %s", model, s->base_url, s->key ? "found" : "none");
    free(model);
}

static const char *ranking_of(const struct config *config, const struct embedding_settings *s)
{
    const char *set = config_string(config, CONFIG_MEMORY_RANKING);
    if (!s->embedder)
        return "words";
    if (strcmp(set, "auto") != 0)
        return set;
    return s->embedder->has_network ? "both" : "words";
}

void report_memory(struct report_result *r, const struct config *config,
                   const struct wakeup *wakeup)
{
    struct embedding_settings settings = {0};
    struct error e;
    if (!report_whether(r, config))
        return;
    if (embedding_settings_read(config, environment_get, wakeup, &settings, &e)) {
        report_embedder(r, &settings);
    } else {
        add(r, "vectors", "none: %s", e.text);
        if (r->fault.code == ERR_OK)
            r->fault = e;
    }
    add(r, "ranking", "%s", ranking_of(config, &settings));
    embedding_settings_release(&settings);
}

void report_learned(struct report_result *r, const struct learned_counts *counts)
{
    add(r, "learned", "%lld told to models, %lld wait for you, %lld replaced, %lld rejected",
        (long long)counts->active, (long long)counts->candidates, (long long)counts->superseded,
        (long long)counts->rejected);
}
