#include "cli/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/command_line.h"
#include "session/config_operations.h"
#include "session/engine.h"
#include "ui/term/keymap.h"
#include "ui/term/theme.h"

extern char **environ;

static void add_problem(struct config_problems *problems, const char *source, int line,
                        const char *text)
{
    vec_push(&problems->list, (struct config_problem){.source = mem_strdup(source),
                                                      .line = line,
                                                      .text = mem_strdup(text)});
}

void setup_load(struct setup *s)
{
    static const struct {
        const char *name;
        enum log_level level;
    } levels[] = {{"error", LOG_ERROR}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};

    *s = (struct setup){.config = config_new(), .path = paths_config_file()};
    if (paths_profile()) {
        auto_free char *dir = paths_dir(PATHS_CONFIG), *below = paths_join(dir, "tiro.ini");
        config_load_file(s->config, below, &s->problems);
    }
    config_load_file(s->config, s->path, &s->problems);
    config_load_environment(s->config, environ, &s->problems);
    engine_hide_keys();
    config_check(s->config, s->path, &s->problems);
    const char *wanted = config_string(s->config, CONFIG_LOG_LEVEL);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(levels[i].name, wanted) != 0)
            continue;
        struct error e = {0};
        auto_free char *dir = paths_dir(PATHS_STATE);
        auto_free char *path = paths_join(dir, "tiro.log");
        if (!paths_make_dir(dir, &e) || !log_open(path, levels[i].level, &e))
            add_problem(&s->problems, path, 0, e.text);
    }
}

struct key_check {
    struct keymap keymap;
    struct config_problems *problems;
};

static void check_key(void *context, const char *section, const char *name, const char *value,
                      const char *source, int line)
{
    struct key_check *check = context;
    struct error e = {0};
    if (strcmp(section, "keys") == 0 && !keymap_bind(&check->keymap, name, value, &e))
        add_problem(check->problems, source, line, e.text);
}

void setup_check_screen(const struct config *config, const char *path,
                        struct config_problems *problems)
{
    struct key_check check = {.problems = problems};
    struct theme ignored;
    struct error e = {0};
    keymap_init(&check.keymap);
    config_visit(config, "keys", check_key, &check);
    keymap_release(&check.keymap);
    if (!theme_load(config_string(config, CONFIG_UI_THEME), false, &ignored, &e)) {
        bool from_file = config_origin(config, CONFIG_UI_THEME) == CONFIG_FROM_FILE;
        add_problem(problems, from_file ? path : "TIRO_UI_THEME", 0, e.text);
    }
}

void setup_release(struct setup *s)
{
    log_close();
    config_free(s->config);
    config_problems_release(&s->problems);
    free(s->path);
}

char *setup_problem_text(const struct config_problem *p)
{
    if (p->line > 0)
        return mem_printf("%s:%d: %s", p->source, p->line, p->text);
    return mem_printf("%s: %s", p->source, p->text);
}

void setup_print_problems(const struct setup *s)
{
    for (size_t i = 0; i < s->problems.list.len; i++) {
        struct error e = {0};
        auto_free char *text = setup_problem_text(&s->problems.list.items[i]);
        err_set(&e, ERR_CONFIG_ERROR, "%s", text);
        cli_fail(&e);
    }
}

struct json *setup_problems_json(const struct setup *s)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < s->problems.list.len; i++) {
        const struct config_problem *p = &s->problems.list.items[i];
        json_push(list, json_pack("{source:s line:i text:s}", p->source, p->line, p->text));
    }
    return list;
}
