#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/completion.h"

static const struct shell {
    const char *name;
    void (*write)(struct buf *out);
} shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

enum { SHELL_COUNT = sizeof shells / sizeof *shells };

static bool find_shell(const char *name, const struct shell **out, struct error *e)
{
    const char *names[SHELL_COUNT];
    for (size_t i = 0; i < SHELL_COUNT; i++) {
        names[i] = shells[i].name;
        if (strcmp(names[i], name) == 0)
            *out = &shells[i];
    }
    return *out || cli_unknown(_("shell"), name, names, SHELL_COUNT, e);
}

static bool take(void *context, int id, const char *value, struct error *e)
{
    const struct shell **shell = context;
    (void)id;
    if (*shell)
        return err_set(e, ERR_USAGE, _("unexpected argument \"%.60s\""), value);
    return find_shell(value, shell, e);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    const struct shell *shell = NULL;
    struct error e = {0};
    struct buf out = BUF_INIT;
    int status;
    if (!cli_parse(self, argc, argv, take, &shell, &status))
        return status;
    if (!shell) {
        err_set(&e, ERR_USAGE, _("an argument is missing; use: tiro %s"), self->synopsis);
        return cli_fail(&e);
    }
    shell->write(&out);
    fwrite(out.data, 1, out.len, stdout);
    buf_release(&out);
    return 0;
}

static const struct option options[] = {{0}};

static char *names(void)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < SHELL_COUNT; i++)
        buf_addf(&out, "%s ", shells[i].name);
    return buf_take(&out);
}

static const struct cli_completion completions[] = {
    {.id = OPTION_WORD, .offer = OFFER_CHOICES, .choices = names, .first = true},
    {0},
};

const struct cli_command cmd_completion = {
    .name = "completion",
    .synopsis = "completion bash|zsh|fish",
    .help = N_("print a script that lets the shell complete tiro's commands"),
    .details = N_("bash   source <(tiro completion bash)      in ~/.bashrc\n"
                  "zsh    source <(tiro completion zsh)       in ~/.zshrc, after compinit\n"
                  "fish   tiro completion fish | source       in config.fish\n"
                  "An installed tiro needs none of these lines."),
    .options = options,
    .completions = completions,
    .run = run,
};
