#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "session/config_operations.h"

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, N_("print JSON"), .at = 0},
    {0},
};

static void print_section(const char *section, char **last)
{
    if (*last && strcmp(*last, section) == 0)
        return;
    printf("%s[%s]\n", *last ? "\n" : "", section);
    free(*last);
    *last = mem_strdup(section);
}

static void print_key(const struct config_row *row)
{
    struct buf clean = BUF_INIT;
    if (!row->value) {
        printf("# %s =\n", row->name);
        return;
    }
    buf_addf(&clean, "%s = ", row->name);
    utf8_clean(&clean, row->value, strlen(row->value), UTF8_ONE_LINE);
    fputs(clean.data, stdout);
    if (row->source)
        printf("    ; %s:%d", row->source, row->line);
    else if (row->origin != CONFIG_FROM_DEFAULT)
        printf("    ; %s", config_origin_name(row->origin));
    putchar('\n');
    buf_release(&clean);
}

static void show_text(const struct config_rows *rows)
{
    char *section = NULL;
    for (size_t i = 0; i < rows->items.len; i++) {
        print_section(rows->items.items[i].section, &section);
        print_key(&rows->items.items[i]);
    }
    free(section);
}

static int show(const struct setup *setup, bool json)
{
    const struct operation *get = &operation_config_get;
    struct operation_context context = {.config = setup->config};
    struct config_rows rows = {0};
    struct error e = {0};
    setup_print_problems(setup);
    if (!operation_call(&context, get, NULL, &rows, &e))
        return cli_fail(&e);
    if (json)
        output_json(shape_value_to_json(get->result, "keys", &rows));
    else
        show_text(&rows);
    shape_release(get->result, &rows);
    return 0;
}

static int path(const struct setup *setup, bool json)
{
    if (!json) {
        puts(setup->path);
        return 0;
    }
    struct json *v = json_new_object();
    json_set_string(v, "path", setup->path);
    output_json(v);
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

/* A verb's row: what it is called with, and what looks at the configuration. */
struct config_verb {
    struct cli_command command;
    int (*run)(const struct setup *setup, bool json);
};

/* `self` begins the verb's row. */
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

static const struct config_verb verbs[] = {
    VERB(show, N_("list every key, its value and where it was set")),
    VERB(path, N_("print the path of the configuration file")),
    VERB(check, N_("check the configuration; exit status 1 if it has a problem")),
};

static const struct cli_command *verb_at(size_t index)
{
    size_t count = sizeof verbs / sizeof *verbs;
    if (index == count)
        return &config_change;
    return index < count ? &verbs[index].command : NULL;
}

const struct cli_command cmd_config = {
    .name = "config",
    .synopsis = "config [COMMAND] [OPTION]...",
    .help = N_("show the configuration, its path or its problems, or change it"),
    .details = N_("The default command is show. For details: tiro config COMMAND --help."),
    .verb = verb_at,
    .run = cli_run_verb,
};
