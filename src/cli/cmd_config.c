#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "config/edit.h"
#include "session/config_operations.h"
#include "ui/term/keymap.h"

/* --- cmd config ------------------------------------------------------------------------------- */

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, N_("print JSON"), .at = 0},
    {0},
};

static int show(const struct setup *setup, bool json)
{
    const struct operation *get = &operation_config_get;
    struct operation_context context = {.config = setup->config};
    struct config_rows rows;
    struct error e = {0};
    setup_print_problems(setup);
    if (!operation_call(&context, get, NULL, &rows, &e))
        return cli_fail(&e);
    if (json) {
        struct buf text = BUF_INIT;
        struct json_out out = {.buf = &text};
        shape_write_value(get->result, "keys", &rows, &out);
        output_json(json_out_tree(&text));
    } else {
        const char *section = NULL;
        for (size_t i = 0; i < rows.items.len; i++) {
            const struct config_row *row = &rows.items.items[i];
            if (!section || strcmp(section, row->section) != 0)
                printf("%s[%s]\n", section ? "\n" : "", row->section);
            section = row->section;
            if (!row->value) {
                printf("# %s =\n", row->name);
                continue;
            }
            AUTO(buf_release) struct buf clean = BUF_INIT;
            utf8_clean(&clean, row->value, strlen(row->value), UTF8_ONE_LINE);
            printf("%s = %s", row->name, clean.data);
            if (row->source)
                printf("    ; %s:%d", row->source, row->line);
            else if (row->origin != CONFIG_FROM_DEFAULT)
                printf("    ; %s", config_origin_name(row->origin));
            putchar('\n');
        }
    }
    shape_release(get->result, &rows);
    return 0;
}

static int path(const struct setup *setup, bool json)
{
    if (json)
        output_json(json_pack("{path:s}", setup->path));
    else
        puts(setup->path);
    return 0;
}

static int check(const struct setup *setup, bool json)
{
    size_t count = setup->problems.list.len;
    if (json)
        output_json(setup_problems_json(setup));
    else
        setup_print_problems(setup);
    if (!json && count == 0)
        printf(_("%s: no problem\n"), setup->path);
    return count == 0 ? 0 : err_info(ERR_CONFIG_ERROR)->exit_status;
}

/* A command, and the function that prints. */
struct config_verb {
    struct cli_command command;
    int (*run)(const struct setup *setup, bool json);
};

/* `self` is the first member of a struct config_verb. */
static int run_verb(const struct cli_command *self, int argc, char **argv)
{
    const struct config_verb *verb = (const struct config_verb *)self;
    struct setup setup;
    bool json = false;
    int status;
    if (!cli_parse(self, argc, argv, &json, &status))
        return status;
    setup_load(&setup);
    setup_check_screen(setup.config, setup.path, &setup.problems);
    status = verb->run(&setup, json);
    setup_release(&setup);
    return status;
}

/* clang-format off */
#define VERB(text, what)                                                                           \
    {.command = {.name = #text, .synopsis = "config " #text " [--json]", .help = what,             \
                 .options = options, .run = run_verb},                                             \
     .run = text}
/* clang-format on */

static const struct config_verb reading[] = {
    VERB(show, N_("list every key, its value and where it was set")),
    VERB(path, N_("print the path of the configuration file")),
    VERB(check, N_("check the configuration; exit status 1 if it has a problem")),
};

/* --- config change ---------------------------------------------------------------------------- */

struct change {
    const char *key;  /* as it was written: SECTION.KEY */
    const char *word; /* the value, or "-" for standard input */
    bool unset;
    struct buf value;
};

static const struct option change_options[] = {
    {"unset", 0, OPTION_FLAG, NULL, N_("remove the key from the file"),
     .at = offsetof(struct change, unset)},
    {0},
};

static bool take_word(void *context, const char *word, struct error *e)
{
    struct change *c = context;
    if (c->word)
        return err_set(e, ERR_USAGE, _("unexpected argument \"%.60s\"; put the value into quotes"),
                       word);
    *(c->key ? &c->word : &c->key) = word;
    return true;
}

static bool read_value(struct change *c, struct error *e)
{
    if (strcmp(c->word, "-") != 0) {
        buf_addstr(&c->value, c->word);
        return true;
    }
    if (!input_read(&c->value, e))
        return false;
    if (memchr(c->value.data, '\0', c->value.len))
        return err_set(e, ERR_USAGE, _("standard input is not text; send only the value"));
    while (c->value.len > 0 && strchr("\r\n", c->value.data[c->value.len - 1]))
        c->value.data[--c->value.len] = '\0';
    return true;
}

static const struct cli_command config_change;

static bool check_words(struct change *c, struct error *e)
{
    auto_free char *section = NULL, *name = NULL;
    if (!c->key || (!c->word && !c->unset))
        return err_set(e, ERR_USAGE, _("an argument is missing; use: tiro %s"),
                       config_change.synopsis);
    if (c->word && c->unset)
        return err_set(e, ERR_USAGE, _("--unset takes no value: \"%.60s\""), c->word);
    if (!config_edit_split(c->key, &section, &name, e))
        return false;

    /* Other users of the machine can read a secret on the command line. */
    enum config_key key = config_key_find(section, name);
    bool secret = key < CONFIG_KEY_COUNT && config_key_info(key)->type == CONFIG_SECRET;
    if (c->word && *c->word && strcmp(c->word, "-") != 0 && (secret || url_mask(NULL, c->word)))
        return err_set(e, ERR_USAGE,
                       _("%s is secret, and others can read a command line; give it on standard "
                         "input: tiro config set %s -"),
                       name, c->key);
    return c->unset || read_value(c, e);
}

static bool set(struct change *c, struct error *e)
{
    struct setup setup;
    struct config_set_result r;
    if (!check_words(c, e))
        return false;
    setup_load(&setup);
    struct operation_context context = {.config = setup.config, .check_screen = setup_check_screen};
    const struct config_set_params params = {.key = c->key,
                                             .value = c->unset ? NULL : c->value.data};
    bool ok = operation_call(&context, &operation_config_set, &params, &r, e);
    if (ok) {
        AUTO(buf_release) struct buf line = BUF_INIT;
        if (c->unset && !r.changed) {
            buf_addf(&line, _("%s: nothing to do, %s is not set"), r.path, c->key);
        } else if (c->unset) {
            buf_addf(&line, _("%s: %s removed"), r.path, c->key);
            if (r.fallback)
                buf_addf(&line, _(" (default: %s)"), r.fallback);
        } else {
            buf_addf(&line, r.changed ? "%s: %s = " : _("%s: nothing to do, %s = "), r.path,
                     c->key);
            utf8_clean(&line, r.value, strlen(r.value), UTF8_ONE_LINE);
        }
        puts(line.data);
        if (r.overridden && !c->unset)
            fprintf(stderr, _("tiro: an environment variable overrides %s in %s\n"), c->key,
                    r.path);
    }
    shape_release(operation_config_set.result, &r);
    setup_release(&setup);
    return ok;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct change c = {0};
    struct error e = {0};
    int status = 0;
    buf_init(&c.value, CONFIG_FILE_MAX);
    if (cli_parse(self, argc, argv, &c, &status) && !set(&c, &e))
        status = cli_fail(&e);
    buf_release(&c.value);
    return status;
}

/* All keys with a fixed name, separated by blanks. */
static char *all_keys(void)
{
    struct buf out = BUF_INIT;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key_info *info = config_key_info((enum config_key)i);
        if (!config_key_is_free(info))
            buf_addf(&out, "%s.%s ", info->section, info->name);
    }
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
        buf_addf(&out, "keys.%s ", action_info((enum action)i)->name);
    return buf_take(&out);
}

static const struct cli_command config_change = {
    .name = "set",
    .synopsis = "config set SECTION.KEY VALUE|-|--unset",
    .help = N_("change a key in the configuration file"),
    .details =
        N_("Examples: ui.theme light, keys.send ctrl-s, \"model NAME.window\" 32768. - reads the "
           "value\nfrom standard input, which an api_key requires. The rest of the file is kept."),
    .options = change_options,
    .most = CLI_MANY,
    .words = {OFFER_CHOICES, .choices = all_keys, .first = true},
    .word = take_word,
    .dashes = true,
    .run = run,
};

/* --- the command --- */

static const struct cli_command *const table[] = {
    &reading[0].command, &reading[1].command, &reading[2].command, &config_change, NULL,
};

static const struct cli_command *const *verbs(void)
{
    return table;
}

const struct cli_command cmd_config = {
    .name = "config",
    .synopsis = "config [COMMAND] [OPTION]...",
    .help = N_("show the configuration, its path or its problems, or change it"),
    .details = N_("The default command is show. For details: tiro config COMMAND --help."),
    .verbs = verbs,
    .run = cli_run_verb,
};
