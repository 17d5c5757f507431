#include "provider/provider.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/paths.h"
#include "provider/outgoing.h"

const struct provider *const providers[] = {&provider_anthropic, &provider_openai, &provider_ollama,
                                            &provider_offline, NULL};

const struct provider *provider_find(const char *name)
{
    for (size_t i = 0; providers[i]; i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}

int64_t provider_max_request(const struct config *config)
{
    int64_t configured = config_integer(config, CONFIG_COMPACTION_REQUEST_BYTES);
    return configured > 0 ? configured : PROVIDER_MAX_REQUEST;
}

void response_init(struct response *r)
{
    *r = (struct response){.stop_reason = STOP_OTHER, .usage = USAGE_UNKNOWN};
}

void response_release(struct response *r)
{
    for (size_t i = 0; i < r->blocks.len; i++)
        block_release(&r->blocks.items[i]);
    vec_release(&r->blocks);
    free(r->model);
    response_init(r);
}

void provider_names_release(struct provider_names *n)
{
    vec_free_each(&n->names);
}

/* --- models --- */

#define SECTION_PREFIX "model "

/* One field of the answer, with how good the entry is that it came from. */
struct field {
    const char *name;
    bool is_price;
    size_t score; /* 0: no entry has it */
    double value;
};

enum { WINDOW, MAX_OUTPUT, PRICE_IN, PRICE_OUT, PRICE_CACHED, FIELD_COUNT };

struct search {
    const char *model;
    const char *bare; /* without a vendor's prefix */
    bool configured;  /* the entries are the user's: of two equal ones, theirs wins */
    struct field fields[FIELD_COUNT];
};

static struct config *builtin;

static void load_builtin(void)
{
    struct config_problems problems = {0};
    const char *text = embedded_text("models.ini");
    builtin = config_new();
    if (text)
        config_load_text(builtin, "models.ini", text, &problems);
    config_problems_release(&problems);
}

/* The rest of `model` behind `entry`, or NULL when the entry does not fit. */
static const char *fit(const char *entry, const char *model)
{
    size_t len = strlen(entry);
    if (len == 0 || strncasecmp(entry, model, len) != 0)
        return NULL;
    if (model[len] && !strchr("-.:@", model[len]))
        return NULL;
    return model + len;
}

/* "-20250514", "-2024-05-13", "-0613", "-latest", ":tag", "@date": the same model by another name.
 * "-mini", "-6" and ".9" are others, which cost something else. */
static bool same_model(const char *rest)
{
    if (*rest == '\0' || *rest == ':' || *rest == '@')
        return true;
    return strcmp(rest, "-latest") == 0 || (*rest == '-' && strspn(rest + 1, "0123456789") >= 4);
}

static void visit(void *context, const char *section, const char *name, const char *value,
                  const char *source, int line)
{
    struct search *s = context;
    const char *entry = section + strlen(SECTION_PREFIX);
    const char *rest = fit(entry, s->model);
    size_t score = 2 * strlen(entry) + (s->configured ? 1 : 0);
    (void)source;
    (void)line;
    if (!rest)
        rest = fit(entry, s->bare);
    if (!rest)
        return;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        struct field *f = &s->fields[i];
        if (strcmp(f->name, name) != 0 || score < f->score)
            continue;
        if (f->is_price && !s->configured && !same_model(rest))
            continue;
        f->score = score;
        config_value_real(value, &f->value);
    }
}

static double price_of(const struct field *f)
{
    return f->score > 0 ? f->value : -1;
}

static struct price prices(const struct search *s)
{
    return (struct price){.input = price_of(&s->fields[PRICE_IN]),
                          .output = price_of(&s->fields[PRICE_OUT]),
                          .cached = price_of(&s->fields[PRICE_CACHED])};
}

static struct search search_for(const char *model)
{
    const char *slash = strrchr(model, '/');
    return (struct search){.model = model,
                           .bare = slash ? slash + 1 : model,
                           .fields = {[WINDOW] = {.name = "window"},
                                      [MAX_OUTPUT] = {.name = "max_output"},
                                      [PRICE_IN] = {.name = "input_price", .is_price = true},
                                      [PRICE_OUT] = {.name = "output_price", .is_price = true},
                                      [PRICE_CACHED] = {.name = "cached_price", .is_price = true}}};
}

static void search_configured(struct search *s, const struct config *config)
{
    s->configured = true;
    if (config)
        config_visit(config, SECTION_PREFIX, visit, s);
}

struct model_facts models_find(const struct config *config, const char *model)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct search s = search_for(model);
    pthread_once(&once, load_builtin);
    config_visit(builtin, SECTION_PREFIX, visit, &s);
    search_configured(&s, config);
    return (struct model_facts){.window = (int64_t)s.fields[WINDOW].value,
                                .max_output = (int64_t)s.fields[MAX_OUTPUT].value,
                                .price = prices(&s)};
}

static bool is_known(const struct price *p)
{
    return p->input >= 0 && p->output >= 0;
}

struct price models_price(const struct config *config, const char *asked,
                          const struct price *asked_price, const char *answered)
{
    if (!answered || !*answered || strcasecmp(answered, asked) == 0)
        return *asked_price;
    const struct price found = models_find(config, answered).price;
    if (is_known(&found))
        return found;
    struct search own = search_for(asked);
    search_configured(&own, config);
    return prices(&own);
}
