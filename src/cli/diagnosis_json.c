#include "cli/diagnosis.h"

static struct json *config_json(const struct diagnosis *d)
{
    struct json *v = json_new_object();
    json_set_string(v, "path", d->setup.path);
    json_set_bool(v, "exists", d->config_exists);
    json_set(v, "problems", setup_problems_json(&d->setup));
    return v;
}

static struct json *service_json(const struct diagnosis *d)
{
    struct json *v = json_new_object();
    for (size_t i = 0; i < d->service.len; i++)
        json_set_string(v, d->service.items[i].name, d->service.items[i].value);
    if (d->service_fault.code != ERR_OK) {
        struct json *fault = json_new_object();
        json_set_string(fault, "code", err_info(d->service_fault.code)->name);
        json_set_string(fault, "text", d->service_fault.text);
        json_set(v, "error", fault);
    }
    return v;
}

static void set_known(struct json *v, const char *name, int64_t n)
{
    if (n >= 0)
        json_set_int(v, name, n);
}

static struct json *orphans_json(const struct orphans *orphans)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < orphans->items.len; i++) {
        struct json *v = json_new_object();
        json_set_string(v, "path", orphans->items.items[i].path);
        json_set_string(v, "kind", orphan_word(orphans->items.items[i].kind));
        json_push(list, v);
    }
    return list;
}

static struct json *store_json(const struct diagnosis *d)
{
    struct json *v = json_new_object();
    json_set_bool(v, "built", d->built);
    json_set_bool(v, "kept", d->kept);
    if (!d->built)
        return v;
    const struct health *found = &d->store.found;
    json_set_string(v, "path", d->store.path);
    json_set_string(v, "state", d->store.name);
    json_set_string(v, "detail", *found->detail ? found->detail : NULL);
    json_set_bool(v, "thorough", d->thorough);
    json_set_bool(v, "well", diagnosis_store_well(d));
    json_set_bool(v, "recoverable", d->store.recoverable);
    set_known(v, "sessions", found->sessions);
    set_known(v, "events", found->events);
    set_known(v, "bytes", found->bytes);
    set_known(v, "entries", found->entries);
    set_known(v, "vectors", found->vectors);
    set_known(v, "learned", found->learned);
    set_known(v, "waiting", found->waiting);
    set_known(v, "graph_entities", found->graph_entities);
    set_known(v, "graph_observations", found->graph_observations);
    set_known(v, "graph_relations", found->graph_relations);
    set_known(v, "corpora", found->corpora);
    set_known(v, "documents", found->documents);
    set_known(v, "passages", found->passages);
    set_known(v, "unreadable", found->unreadable);
    if (*found->language)
        json_set_string(v, "language", found->language);
    json_set(v, "orphans", orphans_json(&d->orphans));
    return v;
}

static struct json *recovery_json(const struct recovery *r)
{
    struct json *v = json_new_object();
    json_set_int(v, "sessions", r->sessions);
    json_set_int(v, "events", r->events);
    json_set_int(v, "entries", r->entries);
    json_set_int(v, "learned", r->learned);
    json_set_int(v, "facts", r->facts);
    json_set_int(v, "lost", r->lost);
    json_set_string(v, "copy", r->copy);
    return v;
}

struct json *diagnosis_to_json(const struct diagnosis *d)
{
    struct json *v = json_new_object();
    struct json *terminal = json_new_object();
    struct json *locale = json_new_object();
    json_set_string(terminal, "term", d->term);
    json_set_bool(terminal, "output", d->to_terminal);
    json_set_string(locale, "codeset", d->codeset);
    json_set_bool(locale, "utf8", d->utf8);
    json_set_string(v, "version", d->engine.version);
    json_set_bool(v, "well", diagnosis_well(d));
    json_set(v, "configuration", config_json(d));
    json_set(v, "service", service_json(d));
    json_set(v, "store", store_json(d));
    if (d->recovery.copy)
        json_set(v, "recovery", recovery_json(&d->recovery));
    json_set(v, "terminal", terminal);
    json_set(v, "locale", locale);
    return v;
}
