#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_line.h"

enum {
    STATUS_BROKEN_PIPE = 128 + SIGPIPE,
    STACK_LEAST_KB = 256 /* 'tiro run' crashes with a quarter of it */
};

static bool is(const char *word, const char *name, const char *letter)
{
    return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

static int dispatch(int argc, char **argv)
{
    struct error e = {0};
    if (!cli_take_profile(&argc, argv, &e))
        return cli_fail(&e);
    if (argc > 1 && is(argv[1], "--help", "-h")) {
        help_overview();
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-')
        return cmd_chat.run(&cmd_chat, argc, argv);

    const struct cli_command *command = cli_find(argv[1], &e);
    if (!command)
        return cli_fail(&e);
    return command->run(command, argc - 1, argv + 1);
}

/* Our threads set the size of their stacks; the first thread and those of libraries have this
 * limit. */
static bool has_stack(struct error *e)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY ||
        stack.rlim_cur >= STACK_LEAST_KB * 1024)
        return true;
    return err_set(e, ERR_AGENT_ERROR,
                   _("the stack limit is %lld KiB, but tiro needs %d KiB; raise it, for example "
                     "with ulimit -s 8192"),
                   (long long)(stack.rlim_cur / 1024), STACK_LEAST_KB);
}

/* Checks that all output was written. A closed pipe is not reported; a full disk is, also if a
 * write failed long before the end. */
static int finish(int status)
{
    struct error e = {0};
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP))))
        return STATUS_BROKEN_PIPE;
    if (errno != 0)
        err_set_errno(&e, ERR_FILE_ERROR, "%s", _("standard output cannot be written"));
    else
        err_set(&e, ERR_FILE_ERROR, "%s",
                _("standard output could not be written completely; is the disk full?"));
    return cli_fail(&e);
}

int main(int argc, char **argv)
{
    /* If standard input, output or error is closed, the next file that is opened (a database, a
     * log) would get its number. /dev/null takes that number: reads find nothing, writes fail. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            break;
    mem_return_large_blocks();

    /* Protects keys in memory: no core dump (a child can allow its own), and no other process of
     * the user can read our memory or environment. The leak detector of builds with sanitizers must
     * read it. */
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &core);
    }
#if defined __linux__ && !defined WITH_SANITIZERS
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif

    if (argc > 1 && is(argv[1], "--version", "-V")) {
        puts("tiro " PACKAGE_VERSION);
        return finish(0);
    }
    charset_start();
    const char *catalogues = getenv("TEXTDOMAINDIR"); /* as for gettext(1) */
    bindtextdomain("tiro", catalogues && *catalogues ? catalogues : LOCALEDIR);
    textdomain("tiro");
    /* A closed pipe and the limit of a file's size are errors of write(), like a full disk. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    struct error e = {0};
    if (!has_stack(&e))
        return finish(cli_fail(&e));
    return finish(dispatch(argc, argv));
}
