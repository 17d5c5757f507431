#include "provider/provider.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/paths.h"
#include "provider/outgoing.h"

#define OPENAI_DIALECT                                                                             \
    .has_network = true, .complete = openai_complete, .window = openai_window,                     \
    .models = openai_models

const struct provider provider_anthropic = {
    .name = "anthropic",
    .title = "Anthropic",
    .has_network = true,
    .searches_web = true,
    .usual_model = "claude-sonnet-5-5",
    .url_variable = "ANTHROPIC_BASE_URL",
    .key_variable = "ANTHROPIC_API_KEY",
    .token_variable = "ANTHROPIC_AUTH_TOKEN",
    .url = CONFIG_ANTHROPIC_BASE_URL,
    .model = CONFIG_ANTHROPIC_MODEL,
    .key = CONFIG_ANTHROPIC_API_KEY,
    .command = CONFIG_ANTHROPIC_API_KEY_COMMAND,
    .file_signs = {CONFIG_ANTHROPIC_API_KEY, CONFIG_ANTHROPIC_API_KEY_COMMAND, PROVIDER_NO_KEY},
    .variable_signs = {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
    /* platform.claude.com/docs/en/build-with-claude/vision, General limits: 8000 pixels, 2000 with
     * more than 20 images; 100 images with a window of 200k tokens, 600 with a larger one; 32 MB a
     * request. The limit of one image counts its base64: servers refused more than 5 MB until May
     * 2026, more than 10 MB since July, which are 7.5 MB of a file. */
    .images = {.bytes = (int64_t)10 * 1024 * 1024 / 4 * 3,
               .request = (int64_t)32 * 1024 * 1024,
               .count = 100,
               .side = 8000,
               .many = 20,
               .many_side = 2000},
    .complete = anthropic_complete,
    .window = anthropic_window,
    .models = anthropic_models,
};

const struct provider provider_openai = {
    OPENAI_DIALECT,
    .name = "openai",
    .title = "OpenAI",
    .searches_web = true,
    .usual_model = "gpt-4.1",
    .images = {.bytes = 20 * 1024 * 1024, .count = 500},
    .vendor_host = "api.openai.com",
    .url_variable = "OPENAI_BASE_URL",
    .key_variable = "OPENAI_API_KEY",
    .url = CONFIG_OPENAI_BASE_URL,
    .model = CONFIG_OPENAI_MODEL,
    .key = CONFIG_OPENAI_API_KEY,
    .command = CONFIG_OPENAI_API_KEY_COMMAND,
    .file_signs = {CONFIG_OPENAI_API_KEY, CONFIG_OPENAI_API_KEY_COMMAND, CONFIG_OPENAI_BASE_URL,
                   PROVIDER_NO_KEY},
    .variable_signs = {"OPENAI_API_KEY", "OPENAI_BASE_URL"},
};

const struct provider provider_ollama = {
    .name = "ollama",
    .title = "Ollama",
    .has_network = true,
    .usual_model = "llama3.2",
    .url_variable = "OLLAMA_HOST",
    .url = CONFIG_OLLAMA_HOST,
    .model = CONFIG_OLLAMA_MODEL,
    .key = PROVIDER_NO_KEY,
    .file_signs = {CONFIG_OLLAMA_HOST, CONFIG_OLLAMA_MODEL, PROVIDER_NO_KEY},
    .variable_signs = {"OLLAMA_HOST"},
    .complete = ollama_complete,
    .sees = ollama_sees,
    .window = ollama_window,
    .models = ollama_models,
};

const struct provider provider_offline = {
    .name = "offline", .complete = offline_complete, .models = offline_models};

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

/* --- models.ini and the user's [model NAME] sections ------------------------------------------ */

#define SECTION_PREFIX "model "

/* One field of the answer, with the score of the entry that it came from. */
struct field {
    const char *name;
    bool is_exact; /* a built-in one holds for the model itself alone */
    size_t score;  /* 0: no entry has it; odd: the user's has */
    double value;
    char text[64];
};

enum {
    WINDOW,
    MAX_OUTPUT,
    PRICE_IN,
    PRICE_OUT,
    PRICE_CACHED,
    PRICE_SEARCH,
    PRICE_DATE,
    EFFORT,
    IMAGES,
    FIELD_COUNT
};

struct search {
    const char *model;
    const char *bare; /* without a vendor's prefix */
    bool configured;  /* the entries are the user's, which win over equal built-in ones */
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
    if (strcmp(entry, "*") == 0)
        return model;
    if (len == 0 || strncasecmp(entry, model, len) != 0)
        return NULL;
    return model[len] && !strchr("-.:@", model[len]) ? NULL : model + len;
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
    /* "-20250514", "-2024-05-13", "-0613", "-latest", ":tag", "@date": the same model by another
     * name. "-mini", "-6" and ".9" are others, which cost something else. */
    bool same_model =
        rest && (*rest == '\0' || *rest == ':' || *rest == '@' || strcmp(rest, "-latest") == 0 ||
                 (*rest == '-' && strspn(rest + 1, "0123456789") >= 4));
    for (size_t i = 0; rest && i < FIELD_COUNT; i++) {
        struct field *f = &s->fields[i];
        if (strcmp(f->name, name) != 0 || score < f->score ||
            (f->is_exact && !s->configured && !same_model))
            continue;
        f->score = score;
        if (i == PRICE_DATE || i == EFFORT)
            snprintf(f->text, sizeof f->text, "%s", value);
        else
            config_value_real(value, &f->value);
    }
}

static struct model_facts search(const char *model, bool in_builtin, const struct config *config)
{
    const char *slash = strrchr(model, '/');
    struct search s = {
        .model = model,
        .bare = slash ? slash + 1 : model,
        .fields = {[WINDOW] = {.name = "window"},
                   [MAX_OUTPUT] = {.name = "max_output"},
                   [PRICE_IN] = {.name = "input_price", .is_exact = true, .value = -1},
                   [PRICE_OUT] = {.name = "output_price", .is_exact = true, .value = -1},
                   [PRICE_CACHED] = {.name = "cached_price", .is_exact = true, .value = -1},
                   [PRICE_SEARCH] = {.name = "search_price", .value = -1},
                   [PRICE_DATE] = {.name = "price_date"},
                   [EFFORT] = {.name = "effort", .is_exact = true},
                   [IMAGES] = {.name = "images", .value = -1}}};
    const struct field *date = &s.fields[PRICE_DATE], *input = &s.fields[PRICE_IN];
    if (in_builtin)
        config_visit(builtin, SECTION_PREFIX, visit, &s);
    s.configured = true;
    if (config)
        config_visit(config, SECTION_PREFIX, visit, &s);
    struct model_facts facts = {.window = (int64_t)s.fields[WINDOW].value,
                                .max_output = (int64_t)s.fields[MAX_OUTPUT].value,
                                .price = {.input = s.fields[PRICE_IN].value,
                                          .output = s.fields[PRICE_OUT].value,
                                          .cached = s.fields[PRICE_CACHED].value,
                                          .search = s.fields[PRICE_SEARCH].value}};
    double images = s.fields[IMAGES].value;
    facts.eyes = images > 0 ? EYES_SEE : images < 0 ? EYES_UNKNOWN : EYES_NONE;
    if (input->score > 0 && input->score % 2 == date->score % 2) /* the date is of this price */
        snprintf(facts.price_date, sizeof facts.price_date, "%.15s", date->text);
    snprintf(facts.effort, sizeof facts.effort, "%s", s.fields[EFFORT].text);
    return facts;
}

void models_efforts(const struct provider *p, const struct model_facts *facts, struct buf *out)
{
    for (const char *at = facts->effort; *(at += strspn(at, " "));) {
        size_t len = strcspn(at, " ");
        bool budget = *at >= '0' && *at <= '9';
        bool think = strncmp(at, "true", len) == 0 || strncmp(at, "false", len) == 0;
        if (!(budget && p != &provider_anthropic) && !(think && p != &provider_ollama))
            buf_addf(out, "%s%.*s", out->len > 0 ? " " : "", (int)len, at);
        at += len;
    }
}

struct model_facts models_find(const struct config *config, const char *model)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_builtin);
    return search(model, true, config);
}

struct price models_price(const struct config *config, const char *asked,
                          const struct price *asked_price, const char *answered)
{
    if (!answered || !*answered || strcasecmp(answered, asked) == 0)
        return *asked_price;
    const struct price found = models_find(config, answered).price;
    bool known = found.input >= 0 && found.output >= 0;
    return known ? found : search(asked, false, config).price;
}
