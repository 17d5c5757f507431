#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "cli/command_line.h"
#include "cli/help.h"

enum { STATUS_BROKEN_PIPE = 128 + SIGPIPE };

static bool is(const char *word, const char *name, const char *letter)
{
    return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc > 1 && is(argv[1], "--help", "-h")) {
        help_overview();
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-')
        return cmd_chat.run(&cmd_chat, argc, argv);

    struct error e = {0};
    const struct cli_command *command = cli_find(argv[1], &e);
    if (!command)
        return cli_fail(&e);
    return command->run(command, argc - 1, argv + 1);
}

/* What was printed must have arrived: a reader that went away is no fault worth words, a full disk
 * is. */
static int finish(int status)
{
    struct error e = {0};
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE || errno == 0)
        return STATUS_BROKEN_PIPE;
    err_set_errno(&e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
    return cli_fail(&e);
}

int main(int argc, char **argv)
{
    if (argc > 1 && is(argv[1], "--version", "-V")) {
        puts("tiro " PACKAGE_VERSION);
        return finish(0);
    }
    setlocale(LC_ALL, "");
    bindtextdomain("tiro", LOCALEDIR);
    textdomain("tiro");
    signal(SIGPIPE, SIG_IGN);
    return finish(dispatch(argc, argv));
}
