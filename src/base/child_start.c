#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID, pipe2() and …addclosefrom_np(), where they exist */
#endif
#include "base/child_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

extern char **environ;

enum { EXTRA_FD = 3, FIRST_FREE_FD = 4 };

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
    int watcher, ended;
};

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_ends(const struct ends *ends)
{
    close_if_open(ends->child_in);
    close_if_open(ends->our_in);
    close_if_open(ends->child_out);
    close_if_open(ends->our_out);
    close_if_open(ends->watcher);
    close_if_open(ends->ended);
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

/* A pipe whose ends are above the numbers that the child's own files get. */
static bool open_pipe(int *reader, int *writer)
{
    int fds[2];
    if (!open_private_pipe(fds))
        return false;
    *reader = fcntl(fds[0], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    *writer = fcntl(fds[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
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

static bool open_ends(const struct child_command *c, struct ends *ends)
{
    return open_pipe(&ends->our_out, &ends->child_out) && open_pipe(&ends->ended, &ends->watcher) &&
           (!c->input || open_pipe(&ends->child_in, &ends->our_in)) &&
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

/* The extra descriptor comes last: its number may be one that the others are made from. */
static int set_files(posix_spawn_file_actions_t *files, const struct child_command *c,
                     const struct ends *ends, int extra)
{
    int fault =
        ends->child_in >= 0
            ? posix_spawn_file_actions_adddup2(files, ends->child_in, STDIN_FILENO)
            : posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!fault)
        fault = posix_spawn_file_actions_adddup2(files, ends->child_out, STDOUT_FILENO);
    if (!fault)
        fault =
            c->with_errors
                ? posix_spawn_file_actions_adddup2(files, ends->child_out, STDERR_FILENO)
                : posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!fault && extra >= 0)
        fault = posix_spawn_file_actions_adddup2(files, extra, EXTRA_FD);
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
    /* What a library opened, such as libcurl's own pipes, may not close on exec. */
    if (!fault)
        fault =
            posix_spawn_file_actions_addclosefrom_np(files, extra >= 0 ? FIRST_FREE_FD : EXTRA_FD);
#endif
    return fault;
}

static int spawn_with(const struct child_command *c, const struct ends *ends, int extra,
                      const char *const *argv, pid_t *pid)
{
    char *const *environment = c->environment ? c->environment : environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int fault = posix_spawn_file_actions_init(&files);
    if (fault)
        return fault;
    fault = posix_spawnattr_init(&attributes);
    if (!fault) {
        fault = set_attributes(&attributes);
        if (!fault)
            fault = set_files(&files, c, ends, extra);
        if (!fault)
            fault =
                posix_spawn(pid, argv[0], &files, &attributes, (char *const *)argv, environment);
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

static int spawn(const struct child_command *c, const struct ends *ends, pid_t *pid)
{
    VEC(const char *) argv = {0};
    int extra = -1, fault = 0;
    if (c->directory) {
        const char *const shell[] = {"/bin/sh", "-c", change_directory, "sh", c->directory};
        for (size_t i = 0; i < sizeof shell / sizeof *shell; i++)
            vec_push(&argv, shell[i]);
        fault = check_directory(c);
    }
    for (const char *const *arg = c->argv; *arg; arg++)
        vec_push(&argv, *arg);
    vec_push(&argv, NULL);
    if (!fault && c->extra > 0) {
        extra = fcntl(c->extra, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        fault = extra < 0 ? errno : 0;
    }
    if (!fault)
        fault = spawn_with(c, ends, extra, argv.items, pid);
    close_if_open(extra);
    vec_release(&argv);
    return fault;
}

/* Does not reap it: until then the number is no other's, and the group can be killed. The byte
 * counts, not the end of the pipe, which a process that was started meanwhile may have inherited.
 */
static void *watch(void *arg)
{
    struct child_process *p = arg;
    siginfo_t info;
    while (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    ssize_t told = write(p->watcher_end, "", 1);
    close(p->watcher_end);
    return told == 1 ? NULL : p;
}

/* With all signals blocked: they are other threads'. */
static int start_watcher(struct child_process *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fault = pthread_create(&p->watcher, NULL, watch, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fault;
}

static int wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static void give_up(pid_t pid)
{
    int status;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    wait_for(pid, &status);
}

bool child_start(const struct child_command *c, struct child_process *p, struct error *e)
{
    struct ends ends = {-1, -1, -1, -1, -1, -1};
    int fault = open_ends(c, &ends) ? 0 : errno;
    if (!fault)
        fault = spawn(c, &ends, &p->pid);
    if (!fault) {
        p->watcher_end = ends.watcher;
        fault = start_watcher(p);
        if (fault)
            give_up(p->pid);
    }
    if (fault) {
        close_ends(&ends);
        errno = fault;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", c->argv[0]);
    }
    close_if_open(ends.child_in);
    close(ends.child_out);
    p->in = ends.our_in;
    p->out = ends.our_out;
    p->ended = ends.ended;
    return true;
}

bool child_reap(struct child_process *p, int *status, struct error *e)
{
    pthread_join(p->watcher, NULL);
    close_if_open(p->in);
    close_if_open(p->out);
    close(p->ended);
    int fault = wait_for(p->pid, status);
    if (fault) {
        errno = fault;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot learn how a program ended");
    }
    return true;
}
