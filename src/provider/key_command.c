#include "provider/key_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 8192

extern char **environ;

struct first_line {
    char bytes[LINE_MAX_BYTES];
    size_t len;
    bool ended;    /* its newline came */
    bool too_long; /* it did not fit */
};

/* Through volatile, so that the compiler cannot leave it out. */
static void wipe(void *bytes, size_t len)
{
    volatile unsigned char *p = bytes;
    while (len-- > 0)
        *p++ = 0;
}

void key_free(char *key)
{
    if (key)
        wipe(key, strlen(key));
    free(key);
}

/* In a process group of its own, so that a timeout reaches what the command started. */
static bool set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &all) == 0 &&
           posix_spawnattr_setpgroup(attributes, 0) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP) == 0;
}

static bool set_files(posix_spawn_file_actions_t *files, int output)
{
    return posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO) == 0 &&
           posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
}

static int spawn_shell(const char *command, int output, pid_t *child)
{
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, mem_strdup(command), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int status = ENOMEM;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (set_files(&files, output) && set_attributes(&attributes))
        status = posix_spawn(child, "/bin/sh", &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(arguments[2]);
    return status;
}

static bool open_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static void take_bytes(struct first_line *line, const char *bytes, size_t len)
{
    const char *newline = memchr(bytes, '\n', len);
    size_t wanted = newline ? (size_t)(newline - bytes) : len;
    if (line->ended)
        return;
    if (wanted > sizeof line->bytes - line->len) {
        line->too_long = true;
        return;
    }
    memcpy(line->bytes + line->len, bytes, wanted);
    line->len += wanted;
    line->ended = newline != NULL;
}

/* How long the command may take. */
struct patience {
    int64_t deadline;
    const struct wakeup *wakeup;
    bool stopped; /* the wakeup said so */
};

static int remaining(const struct patience *p)
{
    int64_t left = p->deadline - clock_mono_ms();
    return left > 0 && !p->stopped ? (int)left : 0;
}

static void ask_wakeup(struct patience *p)
{
    p->stopped = p->stopped || !p->wakeup->go_on(p->wakeup->context);
}

/* Until the output ends. False when the patience is at its end. */
static bool read_output(int fd, struct patience *p, struct first_line *line)
{
    char chunk[1024];
    bool more = true;
    while (more && !line->too_long && !p->stopped) {
        struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
                                 {.fd = p->wakeup ? p->wakeup->fd : -1, .events = POLLIN}};
        int count = poll(ready, 2, remaining(p));
        if (count == 0)
            break;
        if (count < 0 && errno == EINTR)
            continue;
        if (ready[1].revents != 0) {
            ask_wakeup(p);
            continue;
        }
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            take_bytes(line, chunk, (size_t)n);
        more = n > 0 || (n < 0 && errno == EINTR);
    }
    wipe(chunk, sizeof chunk);
    return !more || line->too_long;
}

/* The child's status. One that closed its output and lives on is given its time; there
 * is nothing to poll for then but that. False: it had to be killed. */
static bool reap(pid_t child, struct patience *p, bool kill_now, int *status)
{
    bool in_time = !kill_now;
    pid_t got = 0;
    while (in_time && (got = waitpid(child, status, WNOHANG)) == 0) {
        if (remaining(p) == 0)
            in_time = false;
        else if (!p->wakeup)
            poll(NULL, 0, 10);
        else if (!wakeup_sleep(p->wakeup, 10))
            p->stopped = true;
    }
    if (in_time && got == child)
        return true;
    kill(-child, SIGKILL);
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        continue;
    return false;
}

static bool check(const struct first_line *line, int status, bool ended, bool stopped,
                  struct error *e)
{
    if (stopped)
        return err_set(e, ERR_INTERRUPTED, "api_key_command was interrupted");
    if (line->too_long)
        return err_set(e, ERR_CONFIG_ERROR,
                       "the first line of api_key_command's output is longer than 8 KiB");
    if (!ended)
        return err_set(e, ERR_CONFIG_ERROR,
                       "api_key_command did not end in time and was stopped; run it in a shell to "
                       "see what it waits for");
    if (WIFSIGNALED(status))
        return err_set(e, ERR_CONFIG_ERROR, "api_key_command was ended by signal %d",
                       WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return err_set(e, ERR_CONFIG_ERROR,
                       "api_key_command failed with exit status %d; run it in a shell to see why",
                       WEXITSTATUS(status));
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static char *trimmed(const struct first_line *line)
{
    size_t from = 0;
    size_t to = line->len;
    while (from < to && blank(line->bytes[from]))
        from++;
    while (to > from && blank(line->bytes[to - 1]))
        to--;
    return mem_strndup(line->bytes + from, to - from);
}

bool key_command_run(const char *command, int timeout_ms, const struct wakeup *wakeup, char **key,
                     struct error *e)
{
    struct first_line line = {.len = 0};
    struct patience patience = {.deadline = clock_mono_ms() + timeout_ms, .wakeup = wakeup};
    int ends[2], failure, status = 0;
    pid_t child;
    bool ok, ended;
    if (!open_pipe(ends))
        return err_set_errno(e, ERR_CONFIG_ERROR, "cannot run api_key_command");
    failure = spawn_shell(command, ends[1], &child);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        errno = failure;
        return err_set_errno(e, ERR_CONFIG_ERROR, "cannot run api_key_command");
    }
    ended = read_output(ends[0], &patience, &line);
    close(ends[0]);
    ended = reap(child, &patience, !ended || line.too_long, &status) && ended;
    ok = check(&line, status, ended, patience.stopped, e);
    if (ok) {
        *key = trimmed(&line);
        if (!**key) {
            ok = err_set(e, ERR_CONFIG_ERROR, "api_key_command printed nothing on its first line");
            key_free(*key);
            *key = NULL;
        }
    }
    wipe(&line, sizeof line);
    return ok;
}
