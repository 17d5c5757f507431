#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include "tests/kill_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "base/mem.h"
#include "tests/support.h"

#define LAUNCH "--watched"

enum { CALLS_A_MS = 20 }; /* without counting: calls per millisecond, to choose the signal's time */

struct kill_watch {
    long n;
    int signal_number;
    char *path; /* of the socket */
    int listener, stop[2];
    pthread_t thread;
    struct kill_count count;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "kill_watch: %s: %s\n", what, strerror(errno));
    exit(99);
}

static void set_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        give_up(path);
    }
    strcpy(address->sun_path, path);
}

/* --- reports of the kernel -------------------------------------------------------------------- */

#if defined __linux__ && defined SECCOMP_USER_NOTIF_FLAG_CONTINUE

#define AT_NUMBER offsetof(struct seccomp_data, nr)
#define AT_FLAGS offsetof(struct seccomp_data, args[2]) /* of openat(); the low half */

#define REPORT(call)                                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

/* A descriptor that the reports are read from; -1 where there are none. */
static int report_calls(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_NUMBER),
        REPORT(write),
        REPORT(writev),
        REPORT(pwrite64),
        REPORT(ftruncate),
        REPORT(fsync),
        REPORT(fdatasync),
        REPORT(unlinkat),
        REPORT(linkat),
        REPORT(mkdirat),
        REPORT(renameat2),
#ifdef SYS_unlink
        REPORT(unlink),
        REPORT(rmdir),
        REPORT(link),
        REPORT(mkdir),
        REPORT(rename),
#endif
#ifdef SYS_renameat
        REPORT(renameat),
#endif
        REPORT(flock),
        REPORT(sendto),
        REPORT(recvfrom),
        /* openat() that may make a file */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_FLAGS),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* Handles one report. The call of a program that gets the signal is not answered, so it is never
 * made. */
static void take_report(struct kill_watch *w, int reports, pid_t pid)
{
    struct seccomp_notif call;
    struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    memset(&call, 0, sizeof call);
    if (ioctl(reports, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
        return; /* its program is gone meanwhile */
    w->count.calls++;
    if (w->count.calls == w->n) {
        w->count.sent = kill(pid, w->signal_number) == 0;
        if (w->signal_number == SIGKILL)
            return;
    }
    answer.id = call.id;
    ioctl(reports, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* fails if its program is gone meanwhile */
}

/* Runs until the last reporting program is gone, or the test no longer needs the count. */
static void count_calls(struct kill_watch *w, int reports, pid_t pid)
{
    struct pollfd fds[] = {{.fd = reports, .events = POLLIN}, {.fd = w->stop[0], .events = POLLIN}};
    w->count.exact = true;
    while (!fds[1].revents && !(fds[0].revents & POLLHUP)) {
        if (poll(fds, 2, -1) > 0 && fds[0].revents & POLLIN)
            take_report(w, reports, pid);
    }
}

#else

static int report_calls(void)
{
    return -1;
}

static void count_calls(struct kill_watch *w, int reports, pid_t pid)
{
    (void)w, (void)reports, (void)pid;
}

#endif

static void wait_instead(struct kill_watch *w, pid_t pid)
{
    struct pollfd stop = {.fd = w->stop[0], .events = POLLIN};
    int ms = w->n > 0 ? (int)(w->n / CALLS_A_MS) : -1;
    if (poll(&stop, 1, ms) == 0)
        w->count.sent = kill(pid, w->signal_number) == 0;
}

/* --- the launcher ----------------------------------------------------------------------------- */

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
};

/* Sends the own number and the descriptor, -1: none; and waits until it was taken. */
static bool hand_over(int to, int reports)
{
    pid_t self = getpid();
    char taken;
    union control control = {{0}};
    struct iovec text = {.iov_base = &self, .iov_len = sizeof self};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    if (reports >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof reports);
        memcpy(CMSG_DATA(c), &reports, sizeof reports);
    }
    return sendmsg(to, &message, 0) == sizeof self && read(to, &taken, 1) == 1;
}

void kill_watch_launch(char **argv)
{
    struct sockaddr_un address;
    if (!argv[1] || strcmp(argv[1], LAUNCH) != 0)
        return;
    set_address(&address, argv[2]);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || connect(s, (const struct sockaddr *)&address, sizeof address) != 0)
        give_up(argv[2]);
    int reports = report_calls();
    if (!hand_over(s, reports))
        give_up("the watch is gone");
    close(s);
    execv(argv[3], argv + 3);
    give_up(argv[3]);
}

/* --- the thread ------------------------------------------------------------------------------- */

static int take_over(int from, pid_t *pid)
{
    int reports = -1;
    union control control = {{0}};
    struct iovec text = {.iov_base = pid, .iov_len = sizeof *pid};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof *pid)
        give_up("the launcher is gone");
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&reports, CMSG_DATA(c), sizeof reports);
    if (write(from, "", 1) != 1)
        give_up("the launcher is gone");
    return reports;
}

static void *watch(void *context)
{
    struct kill_watch *w = context;
    struct pollfd fds[] = {{.fd = w->listener, .events = POLLIN},
                           {.fd = w->stop[0], .events = POLLIN}};
    pid_t pid;
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        continue;
    if (!fds[0].revents)
        return NULL;
    int from = accept(w->listener, NULL, NULL);
    int reports = take_over(from, &pid);
    close(from);
    if (reports >= 0)
        count_calls(w, reports, pid);
    else
        wait_instead(w, pid);
    if (reports >= 0)
        close(reports);
    return NULL;
}

static void close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct kill_watch *kill_watch_new(long n, int signal_number)
{
    static unsigned number;
    struct sockaddr_un address;
    struct kill_watch *w = mem_alloc(sizeof *w);
    *w = (struct kill_watch){.n = n, .signal_number = signal_number};
    auto_free char *name = mem_printf("watch%u", number++);
    w->path = support_path(name);
    set_address(&address, w->path);
    w->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (w->listener < 0 ||
        bind(w->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(w->listener, 1) != 0 || pipe(w->stop) != 0)
        give_up(w->path);
    close_on_exec(w->listener);
    close_on_exec(w->stop[0]);
    close_on_exec(w->stop[1]);
    if (pthread_create(&w->thread, NULL, watch, w) != 0)
        give_up("a thread");
    return w;
}

void kill_watch_argv(struct kill_watch *w, struct kill_argv *argv)
{
    static char self[4096];
    if (!*self && readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        give_up("/proc/self/exe");
    vec_push(&argv->items, self);
    vec_push(&argv->items, LAUNCH);
    vec_push(&argv->items, w->path);
}

struct kill_count kill_watch_end(struct kill_watch *w)
{
    if (write(w->stop[1], "", 1) != 1)
        give_up("a pipe");
    pthread_join(w->thread, NULL);
    close(w->listener);
    close(w->stop[0]);
    close(w->stop[1]);
    unlink(w->path);
    struct kill_count count = w->count;
    free(w->path);
    free(w);
    return count;
}
