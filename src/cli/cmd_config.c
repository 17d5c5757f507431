#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/url.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/config_change.h"
#include "cli/setup.h"

enum { CONFIG_JSON = 1 };

static const struct option options[] = {
    {CONFIG_JSON, "json", 0, OPTION_FLAG, NULL, N_("print JSON")},
    {0},
};

static void print_json(struct json *v)
{
    char *text = json_print_pretty(v);
    puts(text);
    free(text);
    json_free(v);
}

/* --- show --------------------------------------------------------------------------------------
 */

static const char *const origins[] = {
    [CONFIG_FROM_DEFAULT] = "default",
    [CONFIG_FROM_FILE] = "file",
    [CONFIG_FROM_ENVIRONMENT] = "environment",
    [CONFIG_FROM_COMMAND_LINE] = "command line",
};

/* A value as it is written into the file, but for secrets and passwords; NULL when unset. The
 * caller frees. */
static char *value_text(const struct config *c, enum config_key key)
{
    struct buf out = BUF_INIT;
    if (!config_is_set(c, key))
        return NULL;
    if (config_key_info(key)->type == CONFIG_SECRET)
        buf_addstr(&out, "****");
    else
        url_add_masked(&out, config_string(c, key));
    return buf_take(&out);
}

/* Keys of "model *" have no value of their own. */
static bool is_pattern(const struct config_key_info *info)
{
    return strchr(info->section, '*') != NULL;
}

static void print_section(const char *section, char **last)
{
    if (*last && strcmp(*last, section) == 0)
        return;
    printf("%s[%s]\n", *last ? "\n" : "", section);
    free(*last);
    *last = mem_strdup(section);
}

static void print_key(const struct config *c, enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    char *text = value_text(c, key);
    struct buf clean = BUF_INIT;
    if (text)
        utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    if (!text)
        printf("# %s =\n", info->name);
    else if (config_origin(c, key) == CONFIG_FROM_DEFAULT)
        printf("%s = %s\n", info->name, clean.data);
    else
        printf("%s = %s    ; %s\n", info->name, clean.data, origins[config_origin(c, key)]);
    buf_release(&clean);
    free(text);
}

static void print_open_key(void *context, const char *section, const char *name, const char *value,
                           const char *source, int line)
{
    struct buf clean = BUF_INIT;
    buf_addf(&clean, "%s = ", name);
    utf8_clean(&clean, value, strlen(value), UTF8_ONE_LINE);
    print_section(section, context);
    printf("%s    ; %s:%d\n", clean.data, source, line);
    buf_release(&clean);
}

static void show_text(const struct config *c)
{
    char *section = NULL;
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        const struct config_key_info *info = config_key_info((enum config_key)key);
        if (is_pattern(info))
            continue;
        print_section(info->section, &section);
        print_key(c, (enum config_key)key);
    }
    config_visit(c, "model ", print_open_key, &section);
    config_visit(c, "keys", print_open_key, &section);
    free(section);
}

static struct json *key_json(const struct config *c, enum config_key key)
{
    const struct config_key_info *info = config_key_info(key);
    char *text = value_text(c, key);
    struct json *v = json_new_object();
    json_set_string(v, "section", info->section);
    json_set_string(v, "name", info->name);
    json_set(v, "value", json_new_string(text));
    json_set_string(v, "origin", origins[config_origin(c, key)]);
    json_set_string(v, "help", info->help);
    free(text);
    return v;
}

static void add_open_key(void *context, const char *section, const char *name, const char *value,
                         const char *source, int line)
{
    struct json *v = json_new_object();
    json_set_string(v, "section", section);
    json_set_string(v, "name", name);
    json_set_string(v, "value", value);
    json_set_string(v, "origin", origins[CONFIG_FROM_FILE]);
    json_set_string(v, "source", source);
    json_set_int(v, "line", line);
    json_push(context, v);
}

static void show_json(const struct config *c)
{
    struct json *list = json_new_array();
    for (int key = 0; key < CONFIG_KEY_COUNT; key++)
        if (!is_pattern(config_key_info((enum config_key)key)))
            json_push(list, key_json(c, (enum config_key)key));
    config_visit(c, "model ", add_open_key, list);
    config_visit(c, "keys", add_open_key, list);
    print_json(list);
}

static int show(const struct setup *setup, bool json)
{
    setup_print_problems(setup);
    (json ? show_json : show_text)(setup->config);
    return 0;
}

/* --- path, check -------------------------------------------------------------------------------
 */

static int path(const struct setup *setup, bool json)
{
    if (!json) {
        puts(setup->path);
        return 0;
    }
    struct json *v = json_new_object();
    json_set_string(v, "path", setup->path);
    print_json(v);
    return 0;
}

static void check_json(const struct config_problems *problems)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < problems->list.len; i++) {
        const struct config_problem *p = &problems->list.items[i];
        struct json *v = json_new_object();
        json_set_string(v, "source", p->source);
        json_set_int(v, "line", p->line);
        json_set_string(v, "text", p->text);
        json_push(list, v);
    }
    print_json(list);
}

static int check(const struct setup *setup, bool json)
{
    size_t count = setup->problems.list.len;
    if (json)
        check_json(&setup->problems);
    else
        setup_print_problems(setup);
    if (!json && count == 0)
        printf(_("%s: no problem\n"), setup->path);
    return count == 0 ? 0 : err_info(ERR_CONFIG_ERROR)->exit_status;
}

/* --- the verbs ---------------------------------------------------------------------------------
 */

/* A verb's row: what it is called with, and what looks at the configuration. */
struct config_verb {
    struct cli_command command;
    int (*run)(const struct setup *setup, bool json);
};

static bool take(void *context, int id, const char *value, struct error *e)
{
    bool *json = context;
    if (id == OPTION_WORD)
        return err_set(e, ERR_USAGE, _("unexpected argument \"%.60s\"; see tiro help config"),
                       value);
    *json = true;
    return true;
}

/* `self` begins the verb's row. */
static int run_verb(const struct cli_command *self, int argc, char **argv)
{
    const struct config_verb *verb = (const struct config_verb *)self;
    struct setup setup;
    bool json = false;
    int status;
    if (!cli_parse(self, argc, argv, take, &json, &status))
        return status;
    setup_load(&setup);
    setup_check_screen(&setup);
    status = verb->run(&setup, json);
    setup_release(&setup);
    return status;
}

static const struct config_verb verbs[] = {
    {.command = {.name = "show",
                 .synopsis = "config show [--json]",
                 .help = N_("list every key, its value and where it was set"),
                 .options = options,
                 .run = run_verb},
     .run = show},
    {.command = {.name = "path",
                 .synopsis = "config path [--json]",
                 .help = N_("print the path of the configuration file"),
                 .options = options,
                 .run = run_verb},
     .run = path},
    {.command = {.name = "check",
                 .synopsis = "config check [--json]",
                 .help = N_("check the configuration; exit status 1 if it has a problem"),
                 .options = options,
                 .run = run_verb},
     .run = check},
};

static const struct cli_command *verb_at(size_t index)
{
    size_t count = sizeof verbs / sizeof *verbs;
    if (index == count)
        return &config_change;
    return index < count ? &verbs[index].command : NULL;
}

static const struct option no_options[] = {{0}};

const struct cli_command cmd_config = {
    .name = "config",
    .synopsis = "config [COMMAND] [OPTION]...",
    .help = N_("show the configuration, its path or its problems, or change it"),
    .details = N_("The default command is show. For details: tiro config COMMAND --help."),
    .options = no_options,
    .verb = verb_at,
    .run = cli_run_verb,
};
