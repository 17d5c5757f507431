#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* closefrom(), where it exists */
#endif
#include "ui/term/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/paths.h"

static struct termios saved;
static volatile sig_atomic_t have_saved;
static char leave[TTY_LEAVE_MAX];
static volatile sig_atomic_t leave_len;

bool tty_save(void)
{
    have_saved = tcgetattr(STDIN_FILENO, &saved) == 0;
    return have_saved;
}

void tty_restore(void)
{
    if (have_saved)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

void tty_set_leave(const char *bytes)
{
    leave_len = 0; /* first, so that a signal in between finds nothing half written */
    if (!bytes)
        return;
    size_t len = strlen(bytes);
    if (len > sizeof leave)
        len = sizeof leave;
    memcpy(leave, bytes, len);
    leave_len = (sig_atomic_t)len;
}

static bool write_to(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            if (poll(&p, 1, 1000) == 0)
                return false; /* a terminal that takes nothing for a second is gone */
        } else if (n < 0 && errno != EINTR) {
            return false; /* the reader sees the hang-up */
        }
    }
    return true;
}

void tty_emergency_release(void)
{
    int kept = errno;
    if (leave_len > 0) {
        /* Output of other threads goes to /dev/null from here on. The terminal is written by a
         * descriptor of our own, or by standard output if no descriptor can be had. */
        int terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (terminal < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
            terminal = STDOUT_FILENO;
        write_to(terminal, leave, (size_t)leave_len);
        tty_restore();
        leave_len = 0;
    }
    errno = kept;
}

bool tty_write(const char *bytes, size_t len)
{
    return write_to(STDOUT_FILENO, bytes, len);
}

void tty_puts(const char *s)
{
    tty_write(s, strlen(s));
}

long tty_read(char *bytes, size_t size, int timeout_ms)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&p, 1, timeout_ms) <= 0)
        return -1;
    ssize_t n = read(STDIN_FILENO, bytes, size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return -1;
    return n < 0 ? 0 : (long)n;
}

/* --- signals --- */

static const int caught[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT};
static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
enum { CAUGHT = sizeof caught / sizeof *caught, FATAL = sizeof fatal / sizeof *fatal };

static int pipe_fds[2] = {-1, -1};
static struct sigaction old_caught[CAUGHT], old_fatal[FATAL], old_pipe;
static void (*rescue_terminal)(void);

/* A fault may be a stack overflow: its handler needs a stack of its own. */
static _Alignas(16) char alternate_stack[64 * 1024];

static void on_caught(int number)
{
    int kept = errno;
    char byte = (char)number;
    ssize_t n = write(pipe_fds[1], &byte, 1); /* a full pipe has as many signals waiting */
    (void)n;
    errno = kept;
}

/* SA_RESETHAND put the default back, so that the signal kills when this returns. */
static void on_fatal(int number)
{
    if (rescue_terminal)
        rescue_terminal();
    raise(number);
}

bool signals_init(void (*rescue)(void), struct error *e)
{
    if (!descriptors_pipe(pipe_fds))
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot open a pipe");
    for (int i = 0; i < 2; i++)
        fcntl(pipe_fds[i], F_SETFL, O_NONBLOCK);
    rescue_terminal = rescue;
    die_set_hook(rescue);
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, NULL);

    struct sigaction action = {.sa_handler = on_caught, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, &old_caught[i]);
    action.sa_handler = on_fatal;
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &action, &old_fatal[i]);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, &old_pipe);
    return true;
}

void signals_release(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &old_caught[i], NULL);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &old_fatal[i], NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
    die_set_hook(NULL);
    for (int i = 0; i < 2; i++) {
        close(pipe_fds[i]);
        pipe_fds[i] = -1;
    }
}

int signals_fd(void)
{
    return pipe_fds[0];
}

int signals_next(void)
{
    char byte;
    return read(pipe_fds[0], &byte, 1) == 1 ? byte : 0;
}

void signals_stop(void)
{
    static const int both[2] = {SIGTSTP, SIGCONT};
    struct sigaction by_default = {.sa_handler = SIG_DFL}, ours[2];
    sigemptyset(&by_default.sa_mask);
    for (int i = 0; i < 2; i++)
        sigaction(both[i], &by_default, &ours[i]);
    kill(0, SIGTSTP); /* the whole job, as the terminal's own Ctrl-Z */
    for (int i = 0; i < 2; i++)
        sigaction(both[i], &ours[i], NULL);
}

/* --- external editor --- */

bool external_editor_open(const char *path, int64_t line, struct error *e)
{
    static const int ours[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                               SIGTSTP, SIGCONT, SIGPIPE, SIGXFSZ};
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    const char *command = visual && *visual ? visual : editor && *editor ? editor : "vi";
    auto_free char *at = line > 0 ? mem_printf("+%lld", (long long)line) : NULL;
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            signal(ours[i], SIG_DFL);
#ifdef HAVE_CLOSEFROM
        closefrom(STDERR_FILENO + 1); /* a library may have opened one without close on exec */
#endif
        char *shell = mem_printf(at ? "%s \"$1\" \"$2\"" : "%s \"$1\"", command);
        execl("/bin/sh", "sh", "-c", shell, "sh", at ? at : path, at ? path : NULL, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return err_set_errno(e, ERR_FILE_ERROR, _("cannot start \"%.60s\""), command);
    /* the terminal's Ctrl-C is the editor's while it runs */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = -1;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(e, ERR_FILE_ERROR,
                   _("the editor \"%.60s\" failed; the text is unchanged (set VISUAL or EDITOR to "
                     "use another)"),
                   command);
}

bool external_editor_run(const char *text, struct buf *out, struct error *e)
{
    const char *dir = getenv("TMPDIR");
    auto_free char *path = mem_printf("%s/tiro-XXXXXX.md", dir && *dir ? dir : "/tmp");
    int fd = mkstemps(path, 3); /* by .md the editor knows the language */
    if (fd < 0)
        return err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    bool ok =
        paths_write_all(fd, text, strlen(text)) || err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    if (close(fd) != 0 && ok)
        ok = err_set_errno(e, ERR_FILE_ERROR, "%s", path);
    ok = ok && external_editor_open(path, 0, e) && paths_read_file(path, PATHS_FILE, out, e);
    unlink(path);
    return ok;
}
