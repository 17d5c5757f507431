#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID, pipe2(), where they exist */
#endif
#include "base/child_start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

extern char **environ;

enum { EXTRA_FD = 3, LONGEST_END_MS = 3000 };

/* Without a terminal nothing can ask there for a password, or write over the screen. */
#ifdef POSIX_SPAWN_SETSID
enum { GROUP_FLAG = POSIX_SPAWN_SETSID };
#else
enum { GROUP_FLAG = POSIX_SPAWN_SETPGROUP };
#endif

/* posix_spawn() knows no directory everywhere; a shell does, and sets PWD, too. */
static const char change_directory[] = "cd \"$1\" && shift && exec \"$@\"";

/* -1: not open. */
struct ends {
    int child_in, our_in;
    int child_out, our_out;
    int its_leash, our_leash;
    int its_news, our_news;
    int extra;
};

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_theirs(const struct ends *ends)
{
    close_if_open(ends->child_in);
    close_if_open(ends->child_out);
    close_if_open(ends->its_leash);
    close_if_open(ends->its_news);
    close_if_open(ends->extra);
}

static void close_ours(const struct ends *ends)
{
    close_if_open(ends->our_in);
    close_if_open(ends->our_out);
    close_if_open(ends->our_leash);
    close_if_open(ends->our_news);
}

/* No other thread's child inherits its ends; without pipe2() one that is started at that very
 * moment does. */
static bool open_private_pipe(int fds[2])
{
#if defined __linux__ || (defined __BSD_VISIBLE && __BSD_VISIBLE) || defined _NETBSD_SOURCE
    return pipe2(fds, O_CLOEXEC) == 0;
#else
    return pipe(fds) == 0;
#endif
}

/* A pipe whose ends are above the numbers that the supervisor gives. */
static bool open_pipe(int *reader, int *writer)
{
    int fds[2];
    if (!open_private_pipe(fds))
        return false;
    *reader = fcntl(fds[0], F_DUPFD_CLOEXEC, SUPERVISOR_FREE);
    *writer = fcntl(fds[1], F_DUPFD_CLOEXEC, SUPERVISOR_FREE);
    int cause = errno;
    close(fds[0]);
    close(fds[1]);
    errno = cause;
    return *reader >= 0 && *writer >= 0;
}

static bool set_nonblocking(int fd)
{
    return fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_extra(const struct child_command *c, struct ends *ends)
{
    if (c->extra > 0)
        ends->extra = fcntl(c->extra, F_DUPFD_CLOEXEC, SUPERVISOR_FREE);
    return c->extra <= 0 || ends->extra >= 0;
}

static bool open_ends(const struct child_command *c, struct ends *ends)
{
    return open_pipe(&ends->our_out, &ends->child_out) &&
           open_pipe(&ends->our_news, &ends->its_news) &&
           open_pipe(&ends->its_leash, &ends->our_leash) &&
           (!c->input || open_pipe(&ends->child_in, &ends->our_in)) && open_extra(c, ends) &&
           set_nonblocking(ends->our_out) && set_nonblocking(ends->our_in);
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int fault = posix_spawnattr_setsigmask(attributes, &none);
    if (!fault)
        fault = posix_spawnattr_setsigdefault(attributes, &all);
    if (!fault)
        fault = posix_spawnattr_setpgroup(attributes, 0);
    if (!fault)
        fault = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF | GROUP_FLAG);
    return fault;
}

static int set_files(posix_spawn_file_actions_t *files, const struct child_command *c)
{
    int fault =
        c->input ? posix_spawn_file_actions_adddup2(files, SUPERVISOR_IN, STDIN_FILENO)
                 : posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!fault)
        fault = posix_spawn_file_actions_adddup2(files, SUPERVISOR_OUT, STDOUT_FILENO);
    if (!fault)
        fault =
            c->with_errors
                ? posix_spawn_file_actions_adddup2(files, SUPERVISOR_OUT, STDERR_FILENO)
                : posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!fault && c->extra > 0)
        fault = posix_spawn_file_actions_adddup2(files, SUPERVISOR_EXTRA, EXTRA_FD);
    return fault;
}

/* With all signals blocked: it has handlers of ours, until it has others. */
static int fork_supervisor(const struct supervision *s, pid_t *pid)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = fork();
    int fault = errno;
    if (*pid == 0)
        supervisor_run(s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return *pid < 0 ? fault : 0;
}

static int start_with(const struct child_command *c, const struct ends *ends,
                      const char *const *argv, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int fault = posix_spawn_file_actions_init(&files);
    if (fault)
        return fault;
    fault = posix_spawnattr_init(&attributes);
    if (!fault) {
        const struct supervision s = {.leash = ends->its_leash,
                                      .news = ends->its_news,
                                      .in = ends->child_in,
                                      .out = ends->child_out,
                                      .extra = ends->extra,
                                      .spares_daemons = c->spares_daemons,
                                      .spares_group = c->spares_group,
                                      .argv = argv,
                                      .environment = c->environment ? c->environment : environ,
                                      .files = &files,
                                      .attributes = &attributes};
        fault = set_attributes(&attributes);
        if (!fault)
            fault = set_files(&files, c);
        if (!fault)
            fault = fork_supervisor(&s, pid);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return fault;
}

/* Here already, so that the fault has a name: the shell could only tell a status. */
static int check_directory(const struct child_command *c)
{
    return access(c->directory, X_OK) == 0 && access(c->argv[0], X_OK) == 0 ? 0 : errno;
}

static int start_supervisor(const struct child_command *c, const struct ends *ends, pid_t *pid)
{
    VEC(const char *) argv = {0};
    int fault = 0;
    if (c->directory) {
        const char *const shell[] = {"/bin/sh", "-c", change_directory, "sh", c->directory};
        for (size_t i = 0; i < sizeof shell / sizeof *shell; i++)
            vec_push(&argv, shell[i]);
        fault = check_directory(c);
    }
    for (const char *const *arg = c->argv; *arg; arg++)
        vec_push(&argv, *arg);
    vec_push(&argv, NULL);
    if (!fault)
        fault = start_with(c, ends, argv.items, pid);
    vec_release(&argv);
    return fault;
}

bool child_start(const struct child_command *c, struct child_process *p, struct error *e)
{
    struct ends ends = {-1, -1, -1, -1, -1, -1, -1, -1, -1};
    int fault = open_ends(c, &ends) ? 0 : errno;
    if (!fault)
        fault = start_supervisor(c, &ends, &p->supervisor);
    close_theirs(&ends);
    if (fault) {
        close_ours(&ends);
        errno = fault;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", c->argv[0]);
    }
    p->program = 0;
    p->in = ends.our_in;
    p->out = ends.our_out;
    p->news = ends.our_news;
    p->leash = ends.our_leash;
    return true;
}

void child_ask_to_end(const struct child_process *p)
{
    while (write(p->leash, "", 1) < 0 && errno == EINTR)
        continue;
}

void child_end_all(struct child_process *p)
{
    if (p->leash < 0)
        return;
    close(p->leash);
    p->leash = -1;
    p->latest_ms = clock_mono_ms() + LONGEST_END_MS;
}

bool child_hear(struct child_process *p, struct supervisor_news *news)
{
    ssize_t n;
    do
        n = read(p->news, news, sizeof *news);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *news)
        return false;
    if (news->event == SUPERVISOR_STARTED)
        p->program = news->number;
    return true;
}

/* The program may have stopped its supervisor. */
static void await_supervisor(struct child_process *p)
{
    struct pollfd ready = {.fd = p->news, .events = POLLIN};
    struct supervisor_news news;
    for (int64_t left = LONGEST_END_MS; left > 0; left = p->latest_ms - clock_mono_ms())
        if (poll(&ready, 1, (int)left) > 0 && !child_hear(p, &news))
            return;
    kill(p->supervisor, SIGKILL);
}

static int wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

bool child_reap(struct child_process *p, bool *left_some, struct error *e)
{
    int status;
    child_end_all(p);
    await_supervisor(p);
    close(p->news);
    int fault = wait_for(p->supervisor, &status);
    bool killed = fault || !WIFEXITED(status);
    if (killed && p->program > 0)
        kill(-p->program, SIGKILL); /* what can be ended without it */
    *left_some = killed || WEXITSTATUS(status) == SUPERVISOR_LEFT_SOME;
    if (fault) {
        errno = fault;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot learn how a program ended");
    }
    return true;
}
