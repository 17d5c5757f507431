#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4(), pipe2() and closefrom(), where they exist */
#endif
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "base/vec.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* --- descriptors ------------------------------------------------------------------------------ */

#if defined __linux__ || (defined __BSD_VISIBLE && __BSD_VISIBLE) || defined _NETBSD_SOURCE
#define HAS_EXTENSIONS 1 /* they are declared */
#else
#define HAS_EXTENSIONS 0
#endif

static struct rlimit former_limit;
static bool raised;

void descriptors_raise(size_t want)
{
    if (raised || getrlimit(RLIMIT_NOFILE, &former_limit) != 0 ||
        former_limit.rlim_cur == RLIM_INFINITY || former_limit.rlim_cur >= want)
        return;
    struct rlimit limit = former_limit;
    limit.rlim_cur =
        limit.rlim_max == RLIM_INFINITY || limit.rlim_max > want ? (rlim_t)want : limit.rlim_max;
    raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

#if !defined SOCK_CLOEXEC || !defined HAVE_ACCEPT4 || !defined HAVE_PIPE2 || !HAS_EXTENSIONS
static int close_on_exec(int fd)
{
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}
#endif

int descriptors_socket(int family, int type, int protocol)
{
#ifdef SOCK_CLOEXEC
    return socket(family, type | SOCK_CLOEXEC, protocol);
#else
    return close_on_exec(socket(family, type, protocol));
#endif
}

int descriptors_accept(int fd, struct sockaddr *from, socklen_t *size)
{
#if defined SOCK_CLOEXEC && defined HAVE_ACCEPT4 && HAS_EXTENSIONS
    return accept4(fd, from, size, SOCK_CLOEXEC);
#else
    return close_on_exec(accept(fd, from, size));
#endif
}

bool descriptors_pipe(int ends[2])
{
#if defined HAVE_PIPE2 && HAS_EXTENSIONS
    return pipe2(ends, O_CLOEXEC) == 0;
#else
    bool ok = pipe(ends) == 0;
    for (int i = 0; i < 2 && ok; i++)
        (void)close_on_exec(ends[i]);
    return ok;
#endif
}

/* --- the supervisor --------------------------------------------------------------------------- */

/* The process between us and a program: it starts the program, waits for its end and then ends
 * every process that the program left, on Linux also those in sessions of their own, elsewhere
 * those in the process group. It ends when its leash is closed, so that nothing outlives us if we
 * are killed. Each program has its own, so that we never wait for another's children.
 *
 * It is forked while other threads may hold any lock: it calls async-signal-safe functions only. */

extern char **environ;

enum { EXTRA_FD = 3 };

/* The numbers of its descriptors. Those in struct supervision are SUPERVISOR_FREE or above. */
enum {
    SUPERVISOR_LEASH = 4,
    SUPERVISOR_NEWS,
    SUPERVISOR_IN,
    SUPERVISOR_OUT,
    SUPERVISOR_ERRORS,
    SUPERVISOR_EXTRA,
    SUPERVISOR_SANDBOX,
    SUPERVISOR_FREE
};

struct supervision {
    int leash;                  /* a byte: SIGTERM to the group; closed: end all */
    int news;                   /* it writes supervisor_news there */
    int in, out, errors, extra; /* for the program; -1: none */
    int sandbox;                /* descriptor of its rules; -1: none */
    const struct child_command *command;
    const char *const *argv; /* may begin with the shell that changes the directory */
};

/* STARTED and then one of the last two, or NOT_STARTED alone. */
enum supervisor_event {
    SUPERVISOR_STARTED,     /* number: the process ID */
    SUPERVISOR_NOT_STARTED, /* errno */
    SUPERVISOR_EXITED,      /* the exit status */
    SUPERVISOR_SIGNALED     /* the signal */
};

struct supervisor_news {
    enum supervisor_event event;
    int number;
};

/* Its exit statuses; a leak checker in it may have another. */
enum { SUPERVISOR_ENDED_ALL, SUPERVISOR_LEFT_SOME = 90 };

/* The kernel's list of our children: "12 13 ". */
static const char children[] = "/proc/thread-self/children";

/* A pipe whose ends are above the numbers that the supervisor uses. */
static bool open_pipe(int *reader, int *writer)
{
    int fds[2];
    if (!descriptors_pipe(fds))
        return false;
    *reader = fcntl(fds[0], F_DUPFD_CLOEXEC, SUPERVISOR_FREE);
    *writer = fcntl(fds[1], F_DUPFD_CLOEXEC, SUPERVISOR_FREE);
    int cause = errno;
    close(fds[0]);
    close(fds[1]);
    errno = cause;
    return *reader >= 0 && *writer >= 0;
}

static void place(int from, int to)
{
    if (from < 0)
        close(to);
    else if (dup2(from, to) != to || fcntl(to, F_SETFD, FD_CLOEXEC) != 0)
        _exit(SUPERVISOR_ENDED_ALL);
}

/* Closes all but its own descriptors: it must not hold our files, locks and terminal. */
static void keep_only(const struct supervision *s)
{
    place(s->leash, SUPERVISOR_LEASH);
    place(s->news, SUPERVISOR_NEWS);
    place(s->in, SUPERVISOR_IN);
    place(s->out, SUPERVISOR_OUT);
    place(s->errors, SUPERVISOR_ERRORS);
    place(s->extra, SUPERVISOR_EXTRA);
    place(s->sandbox, SUPERVISOR_SANDBOX);
#ifdef HAVE_CLOSEFROM
    closefrom(SUPERVISOR_FREE);
#else
    enum { MOST = 65536 };
    long end = sysconf(_SC_OPEN_MAX);
    for (int fd = SUPERVISOR_FREE; fd < (end > 0 && end < MOST ? end : MOST); fd++)
        close(fd);
#endif
    for (int fd = STDIN_FILENO; fd < SUPERVISOR_LEASH; fd++)
        close(fd);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (open("/dev/null", O_RDWR) != fd)
            _exit(SUPERVISOR_ENDED_ALL);
}

static void tell(enum supervisor_event event, int number)
{
    const struct supervisor_news news = {event, number};
    while (write(SUPERVISOR_NEWS, &news, sizeof news) < 0 && errno == EINTR)
        continue;
}

/* Returns when the leash is closed: whether the program has ended by then, which was told. */
static bool watch(pid_t program)
{
    sigset_t waiting;
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
    for (bool ended = false;;) {
        /* Reaps orphans that ended. The program itself is not reaped, so that its number still
         * names its group and nothing else. */
        for (siginfo_t info = {0};
             !ended && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
             info.si_pid = 0) {
            ended = info.si_pid == program;
            if (ended)
                tell(info.si_code == CLD_EXITED ? SUPERVISOR_EXITED : SUPERVISOR_SIGNALED,
                     info.si_status);
            else
                waitpid(info.si_pid, NULL, 0);
        }
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

/* A killed process cannot start another one, and an orphan becomes our child: when there is no
 * child, there is nobody left. A process that starts another and ends can outrun one pass, but not
 * all of them. False when some did not end in time. */
static bool kill_all(pid_t program, bool spare_group)
{
    enum { PASSES = 2000, PAUSE_NS = 1000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!spare_group)
        kill(-program, SIGKILL);
    for (int pass = 0; pass < PASSES; pass++) {
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
                    kill(pid, SIGKILL); /* not reaped yet, so the number is still that child's */
                pid = 0;
            }
        if (fd >= 0)
            close(fd);
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0 || (pid < 0 && errno == EINTR))
            continue;
        if (pid < 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void ignore(int number)
{
    (void)number;
}

/* Becomes the program, in a process of the supervisor. Returns only when that fails, with errno. */
static void become(const struct supervision *s)
{
    const struct child_command *c = s->command;
    sigset_t none;
    sigemptyset(&none);
    /* Without a controlling terminal nothing can ask there for a password, or write over the
     * screen. */
    setsid();
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* fails for signals that always have the default */
    sigprocmask(SIG_SETMASK, &none, NULL);
    if ((s->in >= 0 && dup2(SUPERVISOR_IN, STDIN_FILENO) < 0) ||
        dup2(SUPERVISOR_OUT, STDOUT_FILENO) < 0 ||
        (s->errors >= 0 && dup2(SUPERVISOR_ERRORS, STDERR_FILENO) < 0) ||
        (c->with_errors && dup2(SUPERVISOR_OUT, STDERR_FILENO) < 0) ||
        (c->extra > 0 && dup2(SUPERVISOR_EXTRA, EXTRA_FD) < 0) ||
        (c->sandbox && !sandbox_enter(c->sandbox, SUPERVISOR_SANDBOX)))
        return;
    execve(s->argv[0], (char *const *)s->argv, c->environment ? c->environment : environ);
}

/* Returns 0, or the errno of what failed. */
static int start_program(const struct supervision *s, pid_t *program)
{
    int reader = -1, writer = -1, fault = 0;
    if (!open_pipe(&reader, &writer) || (*program = fork()) < 0)
        return errno;
    if (*program == 0) {
        become(s);
        fault = errno;
        (void)!write(writer, &fault, sizeof fault);
        _exit(SUPERVISOR_ENDED_ALL);
    }
    close(writer);
    while (read(reader, &fault, sizeof fault) < 0 && errno == EINTR)
        continue;
    close(reader);
    return fault;
}

/* Runs in the forked process, with all signals blocked. */
static _Noreturn void supervisor_run(const struct supervision *s)
{
    pid_t program = 0;
    keep_only(s);
    if (raised)
        (void)setrlimit(RLIMIT_NOFILE, &former_limit);
    struct sigaction wake = {.sa_handler = ignore}; /* SIGCHLD only interrupts pselect() */
    sigemptyset(&wake.sa_mask);
    sigaction(SIGCHLD, &wake, NULL);
    setsid();
#ifdef __linux__
    /* Adopt orphans; without the list of children they could not be found. */
    if (!s->command->spares_daemons && access(children, R_OK) == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    int fault = start_program(s, &program);
    for (int fd = SUPERVISOR_IN; fd < SUPERVISOR_FREE; fd++)
        close(fd);
    if (fault) {
        tell(SUPERVISOR_NOT_STARTED, fault);
        _exit(SUPERVISOR_ENDED_ALL);
    }
    tell(SUPERVISOR_STARTED, program);
    bool ended = watch(program);
    _exit(kill_all(program, ended && s->command->spares_group) ? SUPERVISOR_ENDED_ALL
                                                               : SUPERVISOR_LEFT_SOME);
}

/* --- the start -------------------------------------------------------------------------------- */

struct process {
    pid_t supervisor;  /* ours until finish() */
    pid_t program;     /* the supervisor's child; 0: not known yet */
    int in, out;       /* our ends of the program's pipes, not blocking; -1: none, or closed */
    int errors;        /* likewise, of its standard error */
    int news;          /* ready for hear() */
    int leash;         /* -1: closed */
    int64_t latest_ms; /* then: clock_mono_ms() at which no more is waited for */
};

enum { LONGEST_END_MS = 3000 };

/* The ends of the pipes; -1: not open. */
struct ends {
    int our_in, our_out, our_errors, our_leash, our_news;
    int child_in, child_out, child_errors, its_leash, its_news, extra, sandbox;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* These return 0 or an errno. */

static int start_supervisor(const struct child_command *c, const struct ends *ends,
                            const char *const *argv, pid_t *pid)
{
    const struct supervision s = {.leash = ends->its_leash,
                                  .news = ends->its_news,
                                  .in = ends->child_in,
                                  .out = ends->child_out,
                                  .errors = ends->child_errors,
                                  .extra = ends->extra,
                                  .sandbox = ends->sandbox,
                                  .command = c,
                                  .argv = argv};
    /* Our handlers must not run in the forked process. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = fork();
    if (*pid == 0)
        supervisor_run(&s);
    int fault = *pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fault;
}

static int start_in_directory(const struct child_command *c, const struct ends *ends, pid_t *pid)
{
    /* A shell changes the directory, since it sets PWD, too. */
    const char *const shell[] = {"/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh",
                                 c->directory};
    AUTO(vec_release_local) VEC(const char *) argv = {0};
    if (c->directory) {
        /* Checked here, so that the fault has a name: the shell could only tell a status. */
        if (c->directory[0] != '/') /* the directory was removed: it has no path */
            return ENOENT;
        if (access(c->directory, X_OK) != 0 || access(c->argv[0], X_OK) != 0)
            return errno;
        for (size_t i = 0; i < sizeof shell / sizeof *shell; i++)
            vec_push(&argv, shell[i]);
    }
    for (const char *const *arg = c->argv; *arg; arg++)
        vec_push(&argv, *arg);
    vec_push(&argv, NULL);
    return start_supervisor(c, ends, argv.items, pid);
}

/* Does not wait: whether the program itself starts is among the news. */
static bool start(const struct child_command *c, struct process *p, struct error *e)
{
    struct ends ends = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    bool open =
        open_pipe(&ends.our_out, &ends.child_out) && open_pipe(&ends.our_news, &ends.its_news) &&
        open_pipe(&ends.its_leash, &ends.our_leash) &&
        ((!c->input && !c->output) || open_pipe(&ends.child_in, &ends.our_in)) &&
        (!c->take_errors || open_pipe(&ends.our_errors, &ends.child_errors)) &&
        (c->extra <= 0 || (ends.extra = fcntl(c->extra, F_DUPFD_CLOEXEC, SUPERVISOR_FREE)) >= 0) &&
        (!c->sandbox ||
         (ends.sandbox = fcntl(c->sandbox->files, F_DUPFD_CLOEXEC, SUPERVISOR_FREE)) >= 0) &&
        fcntl(ends.our_out, F_SETFL, O_NONBLOCK) == 0 &&
        (ends.our_errors < 0 || fcntl(ends.our_errors, F_SETFL, O_NONBLOCK) == 0) &&
        (ends.our_in < 0 || fcntl(ends.our_in, F_SETFL, O_NONBLOCK) == 0);
    int fault = open ? 0 : errno;
    if (!fault)
        fault = start_in_directory(c, &ends, &p->supervisor);
    close_end(&ends.child_in);
    close_end(&ends.child_out);
    close_end(&ends.child_errors);
    close_end(&ends.its_leash);
    close_end(&ends.its_news);
    close_end(&ends.extra);
    close_end(&ends.sandbox);
    if (fault) {
        close_end(&ends.our_in);
        close_end(&ends.our_out);
        close_end(&ends.our_errors);
        close_end(&ends.our_leash);
        close_end(&ends.our_news);
        errno = fault;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", c->argv[0]);
    }
    p->program = 0;
    p->in = ends.our_in;
    p->out = ends.our_out;
    p->errors = ends.our_errors;
    p->news = ends.our_news;
    p->leash = ends.our_leash;
    return true;
}

/* --- while it runs ---------------------------------------------------------------------------- */

enum {
    CHUNK = 16 * 1024,
    GRACE_MS = 500,
    /* Read after the end at most: more than a pipe holds, less than an endless writer writes. */
    MAX_REST = 1024 * 1024
};

enum phase { RUNNING, ASKED_TO_END, KILLED };

struct run {
    const struct child_command *c;
    struct process process;
    const struct wakeup *wakeup; /* NULL once it said stop */
    int wake_fd;                 /* -1: nothing to poll */
    size_t fed;                  /* bytes of the input */
    enum phase phase;
    int64_t grace_end_ms; /* of ASKED_TO_END */
    bool dead;            /* the program, or given up */
    struct supervisor_news last;
    enum child_end end;
};

/* Reads the next news. False when there will be none any more. */
static bool hear(struct process *p, struct supervisor_news *news)
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

/* Sends SIGTERM to the group. The first reason is the one that is reported. */
static void end_softly(struct run *r, enum child_end why)
{
    if (r->phase != RUNNING)
        return;
    r->end = why;
    r->phase = ASKED_TO_END;
    r->grace_end_ms = clock_mono_ms() + GRACE_MS;
    while (write(r->process.leash, "", 1) < 0 && errno == EINTR)
        continue;
}

/* Lets the supervisor end all; does not wait. */
static void close_leash(struct process *p)
{
    if (p->leash >= 0)
        p->latest_ms = clock_mono_ms() + LONGEST_END_MS;
    close_end(&p->leash);
}

static void end_at_once(struct run *r, enum child_end why)
{
    if (r->phase == RUNNING)
        r->end = why;
    r->phase = KILLED;
    close_leash(&r->process);
}

/* Reads from the output or from the errors of the program. Returns how many bytes there were; 0
 * when there are none now. Closes the pipe at its end. */
static size_t read_output(struct run *r, int *from)
{
    char chunk[CHUNK];
    ssize_t n;
    do
        n = read(*from, chunk, sizeof chunk);
    while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        close_end(from);
    if (n <= 0)
        return 0;
    bool (*take)(void *, const char *, size_t) =
        from == &r->process.errors ? r->c->take_errors : r->c->take;
    if (take && !take(r->c->context, chunk, (size_t)n)) {
        close_end(from);
        end_softly(r, CHILD_REFUSED);
    }
    mem_wipe(chunk, (size_t)n); /* it may be a key */
    return (size_t)n;
}

static void wait_for_news(struct run *r)
{
    const int64_t ends[] = {[RUNNING] = r->c->deadline_ms,
                            [ASKED_TO_END] = r->grace_end_ms,
                            [KILLED] = r->process.latest_ms};
    int64_t ms = ends[r->phase] - clock_mono_ms();
    int timeout = wakeup_timeout(r->wakeup, ms > INT_MAX ? INT_MAX : ms > 0 ? (int)ms : 0);
    int due = r->c->due ? r->c->due(r->c->context) : timeout;
    timeout = due < timeout ? due : timeout;
    const char *bytes = r->c->input ? r->c->input + r->fed : NULL;
    size_t len = r->c->input_len - r->fed;
    if (r->c->output && r->process.in >= 0 && !(bytes = r->c->output(r->c->context, &len)))
        close_end(&r->process.in);
    struct pollfd p[] = {
        {.fd = r->process.out, .events = POLLIN},
        {.fd = bytes && (len > 0 || r->c->input) ? r->process.in : -1, .events = POLLOUT},
        {.fd = r->dead ? -1 : r->process.news, .events = POLLIN},
        {.fd = r->wake_fd, .events = POLLIN},
        {.fd = r->process.errors, .events = POLLIN}};
    bool news = poll(p, sizeof p / sizeof *p, timeout) > 0;
    /* First: what is called below may move the bytes that output() gave. */
    if (news && p[1].revents != 0) {
        ssize_t n = write(r->process.in, bytes, len);
        bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
        if (n > 0 && r->c->output)
            r->c->wrote(r->c->context, (size_t)n);
        else if (n > 0)
            r->fed += (size_t)n;
        if ((!r->c->output && r->fed == r->c->input_len) || (n < 0 && !later))
            close_end(&r->process.in); /* all of it, or the child wants no more */
    }
    if (news && p[3].revents != 0 && !(p[3].revents & POLLIN))
        r->wake_fd = -1; /* hung up: it would be ready for ever */
    if ((news && (p[3].revents & POLLIN)) || wakeup_late(r->wakeup))
        if (r->wakeup && !r->wakeup->go_on(r->wakeup->context)) {
            r->wakeup = NULL;
            r->wake_fd = -1;
            end_at_once(r, CHILD_STOPPED);
        }
    if (news && p[2].revents != 0)
        r->dead = !hear(&r->process, &r->last) || r->last.event != SUPERVISOR_STARTED;
    if (news && p[0].revents != 0)
        read_output(r, &r->process.out);
    if (news && p[4].revents != 0)
        read_output(r, &r->process.errors);
}

/* A program that is asked to end gets its time even when its first process ended at once: the
 * processes that it started still have the output. */
static bool over(const struct run *r)
{
    return r->dead && (r->phase != ASKED_TO_END || r->process.out < 0);
}

/* Ends all and waits for that, 3 seconds at most since the leash was closed; then the supervisor is
 * killed: the program may have stopped it. */
static bool finish(struct run *r, struct child_result *out, struct error *e)
{
    struct process *p = &r->process;
    struct supervisor_news news;
    close_leash(p);
    int64_t left = LONGEST_END_MS;
    struct pollfd ready = {.fd = p->news, .events = POLLIN};
    while (left > 0 && !(poll(&ready, 1, (int)left) > 0 && !hear(p, &news)))
        left = p->latest_ms - clock_mono_ms();
    if (left <= 0)
        kill(p->supervisor, SIGKILL);
    close(p->news);
    int status, fault = 0;
    while (fault == 0 && waitpid(p->supervisor, &status, 0) < 0)
        fault = errno == EINTR ? 0 : errno;
    bool killed = fault || !WIFEXITED(status);
    if (killed && p->program > 0)
        kill(-p->program, SIGKILL); /* as much as can be ended without the supervisor */
    bool left_some = !fault && (killed || WEXITSTATUS(status) == SUPERVISOR_LEFT_SOME);

    for (size_t rest = 0, n = 1; p->out >= 0 && n > 0 && rest < MAX_REST; rest += n)
        n = read_output(r, &p->out);
    for (size_t rest = 0, n = 1; p->errors >= 0 && n > 0 && rest < MAX_REST; rest += n)
        n = read_output(r, &p->errors);
    close_end(&p->in);
    close_end(&p->out);
    close_end(&p->errors);
    if (r->last.event == SUPERVISOR_NOT_STARTED) {
        errno = r->last.number;
        return err_set_errno(e, ERR_AGENT_ERROR, "cannot run %s", r->c->argv[0]);
    }
    bool exited = r->last.event == SUPERVISOR_EXITED;
    *out = (struct child_result){
        .end = r->end,
        .status = exited || r->last.event == SUPERVISOR_SIGNALED ? r->last.number : SIGKILL,
        .left_some = left_some};
    if (r->end == CHILD_EXITED && !exited)
        out->end = CHILD_SIGNALED;
    errno = fault;
    return !fault || err_set_errno(e, ERR_AGENT_ERROR, "cannot learn how a program ended");
}

bool child_run(const struct child_command *c, struct child_result *out, struct error *e)
{
    struct run r = {.c = c, .wakeup = c->wakeup, .wake_fd = c->wakeup ? c->wakeup->fd : -1};
    if (!start(c, &r.process, e))
        return false;
    while (!over(&r)) {
        wait_for_news(&r);
        int64_t now = clock_mono_ms();
        if (over(&r))
            break;
        if (r.phase == RUNNING && now >= c->deadline_ms)
            end_softly(&r, CHILD_LATE);
        else if (r.phase == ASKED_TO_END && now >= r.grace_end_ms)
            end_at_once(&r, r.end);
        else if (r.phase == KILLED && now >= r.process.latest_ms)
            r.dead = true;
    }
    return finish(&r, out, e);
}
