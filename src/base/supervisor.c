#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* closefrom(), where it exists */
#endif
#include "base/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/descriptors.h"

/* A process that starts another and ends is faster than one look now and then, but not always. */
enum { PASSES = 2000, PAUSE_NS = 1000000 };

/* The kernel's list of our children: "12 13 ". */
static const char children[] = "/proc/thread-self/children";

/* --- its own place --------------------------------------------------------------------------- */

static void place(int from, int to)
{
    if (from < 0)
        close(to);
    else if (dup2(from, to) != to || fcntl(to, F_SETFD, FD_CLOEXEC) != 0)
        _exit(SUPERVISOR_ENDED_ALL);
}

static void close_from(int first)
{
#ifdef HAVE_CLOSEFROM
    closefrom(first);
#else
    enum { MOST = 65536 };
    long end = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (end > 0 && end < MOST ? end : MOST); fd++)
        close(fd);
#endif
}

/* What was ours to hold, files, locks and the terminal, is not held here. */
static void keep_only(const struct supervision *s)
{
    place(s->leash, SUPERVISOR_LEASH);
    place(s->news, SUPERVISOR_NEWS);
    place(s->in, SUPERVISOR_IN);
    place(s->out, SUPERVISOR_OUT);
    place(s->extra, SUPERVISOR_EXTRA);
    close_from(SUPERVISOR_FREE);
    for (int fd = STDIN_FILENO; fd < SUPERVISOR_LEASH; fd++)
        close(fd);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (open("/dev/null", O_RDWR) != fd)
            _exit(SUPERVISOR_ENDED_ALL);
}

static void ignore(int number)
{
    (void)number;
}

/* SIGCHLD alone is let in, and only while it waits. */
static void settle(void)
{
    struct sigaction wake = {.sa_handler = ignore};
    sigemptyset(&wake.sa_mask);
    sigaction(SIGCHLD, &wake, NULL);
    setsid();
}

/* From now on what loses its parent becomes our child; without the list it could not be found. */
static void adopt_orphans(void)
{
#ifdef __linux__
    if (access(children, R_OK) == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

/* --- the program ----------------------------------------------------------------------------- */

static void tell(enum supervisor_event event, int number)
{
    const struct supervisor_news news = {event, number};
    while (write(SUPERVISOR_NEWS, &news, sizeof news) < 0 && errno == EINTR)
        continue;
}

/* Reaps the orphans that ended. The program itself is not reaped: so its number stays that of its
 * group, and no other's. */
static bool tell_end(pid_t program)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return false;
        if (info.si_pid == program) {
            tell(info.si_code == CLD_EXITED ? SUPERVISOR_EXITED : SUPERVISOR_SIGNALED,
                 info.si_status);
            return true;
        }
        waitpid(info.si_pid, NULL, 0);
    }
}

/* Until the leash is let go. Returns whether the program has ended by then. */
static bool watch(pid_t program)
{
    sigset_t waiting;
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
    for (bool ended = false;;) {
        ended = ended || tell_end(program);
        fd_set leash;
        FD_ZERO(&leash);
        FD_SET(SUPERVISOR_LEASH, &leash);
        if (pselect(SUPERVISOR_LEASH + 1, &leash, NULL, NULL, NULL, &waiting) < 0)
            continue;
        char order;
        if (read(SUPERVISOR_LEASH, &order, 1) != 1)
            return ended;
        kill(-program, SIGTERM);
    }
}

/* --- the end of all -------------------------------------------------------------------------- */

/* Ours until we reap them, so no number is another's. */
static void kill_children(void)
{
    char text[4096];
    ssize_t n;
    pid_t pid = 0;
    int fd = open(children, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = 10 * pid + (text[i] - '0');
                continue;
            }
            if (pid > 0)
                kill(pid, SIGKILL);
            pid = 0;
        }
    if (fd >= 0)
        close(fd);
}

static bool reap_all(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0 || (pid < 0 && errno == EINTR))
        continue;
    return pid < 0;
}

/* Who is killed while it starts another one fails at that, and who loses its parent becomes our
 * child; so without a child there is nobody left. False when some would not go in time. */
static bool end_all(pid_t program, bool spare_group)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!spare_group)
        kill(-program, SIGKILL);
    for (int pass = 0; pass < PASSES; pass++) {
        kill_children();
        if (reap_all())
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

_Noreturn void supervisor_run(const struct supervision *s)
{
    pid_t program = 0;
    keep_only(s);
    descriptors_lower();
    settle();
    if (!s->spares_daemons)
        adopt_orphans();
    int fault = posix_spawn(&program, s->argv[0], s->files, s->attributes, (char *const *)s->argv,
                            s->environment);
    close(SUPERVISOR_IN);
    close(SUPERVISOR_OUT);
    close(SUPERVISOR_EXTRA);
    if (fault) {
        tell(SUPERVISOR_NOT_STARTED, fault);
        _exit(SUPERVISOR_ENDED_ALL);
    }
    tell(SUPERVISOR_STARTED, program);
    bool ended = watch(program);
    _exit(end_all(program, ended && s->spares_group) ? SUPERVISOR_ENDED_ALL : SUPERVISOR_LEFT_SOME);
}
