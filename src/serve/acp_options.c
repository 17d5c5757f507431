#include "serve/acp_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "config/keys.h"

/* A value of an option. */
struct choice {
    const char *value, *name, *help; /* help NULL: none */
};

#define X(id, word, keeps_ends, help) {word, word, help},
static const struct choice compaction_choices[] = {COMPACTION_MODES(X){NULL, NULL, NULL}};
#undef X

static const struct choice tool_choices[] = {
    {"none", N_("No tools"), N_("the model can only talk")},
    {"read", N_("Reading"), N_("the model can look at files and search, and change nothing")},
    {"full", N_("All tools"),
     N_("the model can also write files and run commands, and asks first")},
    {NULL, NULL, NULL}};

static const struct row {
    const char *id, *category, *name, *help;
    const struct choice *choices; /* ends with an empty one; NULL: those of the session */
} rows[] = {
    [ACP_OPTION_MODEL] = {"model", "model", N_("Model"), N_("what the session talks to"), NULL},
    [ACP_OPTION_COMPACTION] = {"compaction", "_compaction", N_("Compaction"),
                               N_("how the conversation is shortened when it is too long"),
                               compaction_choices},
    [ACP_OPTION_TOOLS] = {"tools", "mode", N_("Tools"), N_("what the model may use"), tool_choices},
};

void acp_options_release(struct acp_options *o)
{
    free(o->provider);
    free(o->model);
    vec_free_each(&o->models);
    vec_free_each(&o->providers);
    free(o->compaction);
    free(o->tools);
    *o = (struct acp_options){0};
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_choice(struct json_out *o, const char *key, const struct choice *c)
{
    json_out_open(o, '{');
    json_out_member(o, key, c->value);
    json_out_member(o, "name", _(c->name));
    json_out_member(o, "description", c->help ? _(c->help) : NULL);
    json_out_close(o, '}');
}

static void write_choices(struct json_out *o, const char *key, const struct choice *choices)
{
    json_out_open(o, '[');
    for (; choices->value; choices++)
        write_choice(o, key, choices);
    json_out_close(o, ']');
}

static char *model_value(const char *provider, const char *model)
{
    return model && *model ? mem_printf("%s/%s", provider, model) : mem_strdup(provider);
}

static void write_model(struct json_out *o, const char *provider, const char *model)
{
    char *value = model_value(provider, model);
    json_out_open(o, '{');
    json_out_member(o, "value", value);
    json_out_member(o, "name", value);
    json_out_close(o, '}');
    free(value);
}

static bool lists(const struct acp_options *now, const char *model)
{
    for (size_t i = 0; i < now->models.len; i++)
        if (strcmp(now->models.items[i], model) == 0)
            return true;
    return false;
}

/* The present one is among them, whether or not its server lists it. */
static void write_models(const struct acp_options *now, struct json_out *o)
{
    const char *model = now->model ? now->model : "";
    json_out_open(o, '[');
    if (!lists(now, model))
        write_model(o, now->provider, model);
    for (size_t i = 0; i < now->models.len; i++)
        write_model(o, now->provider, now->models.items[i]);
    for (size_t i = 0; i < now->providers.len; i++)
        if (strcmp(now->providers.items[i], now->provider) != 0)
            write_model(o, now->providers.items[i], NULL);
    json_out_close(o, ']');
}

static char *current_value(const struct acp_options *now, enum acp_option option)
{
    switch (option) {
    case ACP_OPTION_MODEL:
        return now->provider ? model_value(now->provider, now->model) : NULL;
    case ACP_OPTION_COMPACTION:
        return mem_strdup(now->compaction);
    case ACP_OPTION_TOOLS:
        return mem_strdup(now->tools);
    case ACP_OPTION_UNKNOWN:
        break;
    }
    return NULL;
}

static void write_option(const struct acp_options *now, enum acp_option option, struct json_out *o)
{
    const struct row *row = &rows[option];
    char *value = current_value(now, option);
    if (!value)
        return;
    json_out_open(o, '{');
    json_out_member(o, "id", row->id);
    json_out_member(o, "name", _(row->name));
    json_out_member(o, "description", _(row->help));
    json_out_member(o, "category", row->category);
    json_out_member(o, "type", "select");
    json_out_member(o, "currentValue", value);
    json_out_name(o, "options");
    if (row->choices)
        write_choices(o, "value", row->choices);
    else
        write_models(now, o);
    json_out_close(o, '}');
    free(value);
}

void acp_options_write(const struct acp_options *now, struct json_out *o)
{
    json_out_open(o, '[');
    for (int i = 0; i < ACP_OPTION_UNKNOWN; i++)
        write_option(now, (enum acp_option)i, o);
    json_out_close(o, ']');
}

void acp_options_write_modes(const struct acp_options *now, struct json_out *o)
{
    json_out_open(o, '{');
    json_out_member(o, "currentModeId", now->tools);
    json_out_name(o, "availableModes");
    write_choices(o, "id", tool_choices);
    json_out_close(o, '}');
}

/* --- reading ---------------------------------------------------------------------------------- */

enum acp_option acp_option_find(const char *id)
{
    int i = 0;
    while (i < ACP_OPTION_UNKNOWN && strcmp(rows[i].id, id) != 0)
        i++;
    return (enum acp_option)i;
}

bool acp_option_takes(enum acp_option option, const char *value)
{
    const struct choice *c = rows[option].choices;
    while (c && c->value && strcmp(c->value, value) != 0)
        c++;
    return c ? c->value != NULL : *value != '\0';
}

static bool is_provider(const struct acp_options *now, const char *word, size_t len)
{
    const char *present = now->provider ? now->provider : "";
    if (strlen(present) == len && strncmp(present, word, len) == 0)
        return true;
    for (size_t i = 0; i < now->providers.len; i++)
        if (strlen(now->providers.items[i]) == len &&
            strncmp(now->providers.items[i], word, len) == 0)
            return true;
    return false;
}

void acp_options_split_model(const struct acp_options *now, const char *value, char **provider,
                             char **model)
{
    size_t len = strcspn(value, "/");
    bool named = is_provider(now, value, len);
    const char *rest = named ? value + len + (value[len] == '/') : value;
    *provider = named ? mem_strndup(value, len) : NULL;
    *model = *rest ? mem_strdup(rest) : NULL;
}

static void choose_model(struct acp_options *now, const char *value)
{
    char *provider, *model;
    acp_options_split_model(now, value, &provider, &model);
    if (provider) {
        free(now->provider);
        now->provider = provider;
    }
    free(now->model);
    now->model = model;
}

void acp_options_choose(struct acp_options *now, enum acp_option option, const char *value)
{
    char **const texts[] = {
        [ACP_OPTION_COMPACTION] = &now->compaction, [ACP_OPTION_TOOLS] = &now->tools};
    if (option == ACP_OPTION_MODEL) {
        choose_model(now, value);
        return;
    }
    free(*texts[option]);
    *texts[option] = mem_strdup(value);
}
