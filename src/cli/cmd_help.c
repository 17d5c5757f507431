#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/help.h"

static bool take(void *context, int id, const char *value, struct error *e)
{
    const struct cli_command **about = context;
    (void)id;
    *about = *about && (*about)->verb ? cli_find_verb(*about, value, e) : cli_find(value, e);
    return *about != NULL;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    const struct cli_command *about = NULL;
    int status;
    if (!cli_parse(self, argc, argv, take, &about, &status))
        return status;
    if (about)
        help_command(about);
    else
        help_overview();
    return 0;
}

static const struct option options[] = {{0}};

static const struct cli_completion completions[] = {
    {.id = OPTION_WORD, .offer = OFFER_COMMANDS},
    {0},
};

const struct cli_command cmd_help = {
    .name = "help",
    .synopsis = "help [COMMAND [VERB]]",
    .help = N_("explain a command"),
    .options = options,
    .completions = completions,
    .run = run,
};
