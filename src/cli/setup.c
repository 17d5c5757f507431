#include "cli/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/command_line.h"
#include "ui/ui.h"

extern char **environ;

static void add_problem(struct config_problems *problems, const char *source, int line, char *text)
{
    struct config_problem p = {.source = mem_strdup(source), .line = line, .text = text};
    vec_push(&problems->list, p);
}

/* [keys] is open to the configuration; the terminal knows the names. */
static void check_key(void *context, const char *section, const char *name, const char *value,
                      const char *source, int line)
{
    const char *const *actions = ui_action_names();
    size_t count = 0;
    (void)section;
    (void)value;
    for (; actions[count]; count++)
        if (strcmp(actions[count], name) == 0)
            return;
    const char *nearest = config_nearest(name, actions, count);
    char *text =
        nearest ? mem_printf("[keys] has no action \"%s\"; did you mean \"%s\"?", name, nearest)
                : mem_printf("[keys] has no action \"%s\"; F1 lists them", name);
    add_problem(context, source, line, text);
}

static void open_log(struct setup *s)
{
    static const struct {
        const char *name;
        enum log_level level;
    } levels[] = {{"error", LOG_ERROR}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};

    const char *wanted = config_string(s->config, CONFIG_LOG_LEVEL);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(levels[i].name, wanted) != 0)
            continue;
        struct error e = {0};
        char *dir = paths_state_dir();
        char *path = paths_join(dir, "tiro.log");
        if (!paths_make_dir(dir, &e) || !log_open(path, levels[i].level, &e))
            add_problem(&s->problems, path, 0, mem_strdup(e.text));
        free(path);
        free(dir);
    }
}

void setup_load(struct setup *s)
{
    *s = (struct setup){.config = config_new(), .path = paths_config_file()};
    config_load_file(s->config, s->path, &s->problems);
    config_load_environment(s->config, environ, &s->problems);
    config_visit(s->config, "keys", check_key, &s->problems);
    open_log(s);
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
        char *text = setup_problem_text(&s->problems.list.items[i]);
        err_set(&e, ERR_CONFIG_ERROR, "%s", text);
        cli_fail(&e);
        free(text);
    }
}
