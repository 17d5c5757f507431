#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "cli/command_line.h"

enum { HELP_COLUMN = 28 };

/* "  left      help", the help on a line of its own when the left part is too wide. */
static void print_row(const char *left, const char *help)
{
    size_t width = utf8_width(left, strlen(left)) + 2;
    if (width + 2 > HELP_COLUMN)
        printf("  %s\n%*s%s\n", left, HELP_COLUMN, "", help);
    else
        printf("  %s%*s%s\n", left, HELP_COLUMN - (int)width, "", help);
}

static void print_option(const struct option *o)
{
    struct buf left = BUF_INIT;
    if (o->letter)
        buf_addf(&left, "-%c, ", o->letter);
    buf_addf(&left, "--%s", o->name);
    if (o->value)
        buf_addf(&left, o->kind == OPTION_MAYBE ? " [%s]" : " %s", o->value);
    print_row(left.data, _(o->help));
    buf_release(&left);
}

static void print_verbs(const struct cli_command *command)
{
    const struct cli_command *verb;
    printf("\n%s\n", _("Commands:"));
    for (size_t i = 0; (verb = command->verb(i)); i++)
        print_row(verb->name, _(verb->help));
}

static void print_commands(void)
{
    printf("%s\n", _("Commands:"));
    for (size_t i = 0; cli_commands[i]; i++)
        print_row(cli_commands[i]->name, _(cli_commands[i]->help));
}

void help_command(const struct cli_command *command)
{
    printf(_("Usage: tiro %s\n"), command->synopsis);
    printf("\n%s\n", _(command->help));
    if (command->details)
        printf("\n%s\n", _(command->details));
    if (command->verb)
        print_verbs(command);
    printf("\n%s\n", _("Options:"));
    for (const struct option *o = command->options; o && o->name; o++)
        print_option(o);
    print_option(&cli_help_option);
}

static void print_examples(void)
{
    printf("\n%s\n", _("Examples:"));
    print_row("tiro -c", _("continue the newest session of this project"));
    print_row("tiro -r kyoto -m gpt-4.1",
              _("open the session with \"kyoto\" in its title, with another model"));
    print_row("git diff | tiro run 'review this'", _("one answer, for scripts"));
}

void help_overview(void)
{
    printf("%s\n", _("Usage: tiro [COMMAND] [OPTION]..."));
    printf("\n%s\n\n",
           _("Chat with a language model in the terminal. The default command is chat."));
    print_commands();
    printf("\n%s\n", _("Options:"));
    for (const struct option *o = cmd_chat.options; o->name; o++)
        if (o->letter && strchr("crm", o->letter))
            print_option(o);
    print_row("-h, --help", _("print this help; for one command: tiro help COMMAND"));
    print_row("-V, --version", _("print the version"));
    print_examples();
}

static bool take_word(void *context, const char *word, struct error *e)
{
    const struct cli_command **about = context;
    *about = *about && (*about)->verb ? cli_find_verb(*about, word, e) : cli_find(word, e);
    return *about != NULL;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    const struct cli_command *about = NULL;
    int status;
    if (!cli_parse(self, argc, argv, &about, &status))
        return status;
    if (about)
        help_command(about);
    else
        help_overview();
    return 0;
}

const struct cli_command cmd_help = {
    .name = "help",
    .synopsis = "help [COMMAND [VERB]]",
    .help = N_("explain a command"),
    .most = CLI_MANY,
    .words = {.what = OFFER_COMMANDS},
    .word = take_word,
    .run = run,
};
