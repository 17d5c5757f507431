/* A program started by ours: apart from the terminal, in a session of its own, with its output read
 * as it comes, and sure to be gone at the end, with all that it started. It does not outlive us
 * either, however we end: between it and us stands a supervisor (supervisor.h). Signals are at
 * their defaults there, and no descriptor of ours is open but those named here. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/wakeup.h"

struct child_command {
    const char *const *argv;  /* argv[0]: the path of the program; ends with NULL */
    const char *directory;    /* to start in, an absolute path, else it is not there; NULL: ours */
    char *const *environment; /* NULL: ours */
    const char *input;        /* what it reads; NULL: nothing. Written while its output is read */
    size_t input_len;
    int extra;           /* a descriptor that it gets as its number 3; 0: none */
    bool spares_daemons; /* what left its process group may stay: an agent of a password manager */
    bool spares_group; /* with that: and the rest, once it ended by itself: a clipboard's keeper */
    bool with_errors;  /* its standard error joins the output; else nobody reads it */
    int64_t deadline_ms;         /* clock_mono_ms() at which it is killed */
    const struct wakeup *wakeup; /* NULL: none */
    /* Takes a piece of output, which is wiped afterwards; false: no more is wanted, and the child
     * is killed. */
    bool (*take)(void *context, const char *bytes, size_t len);
    void *context;
};

enum child_end {
    CHILD_EXITED,   /* status: as exit() had it */
    CHILD_SIGNALED, /* status: number of the signal */
    CHILD_LATE,     /* the deadline came; killed */
    CHILD_STOPPED,  /* the wakeup said so; killed */
    CHILD_REFUSED,  /* take() did; killed */
};

struct child_result {
    enum child_end end;
    int status;
    bool left_some; /* what it started could not be ended: not ours to kill, or stuck in a disk */
};

/* Until the program has ended and its output is read: what a grandchild still writes after that is
 * not waited for, and the grandchild is killed. Where there is a deadline, that is SIGTERM to the
 * group, and SIGKILL to all half a second later; an interrupt gets SIGKILL at once. Without Linux'
 * subreapers only the process group can be ended. False when it could not be
 * started. The caller's program ignores or blocks SIGPIPE. */
bool child_run(const struct child_command *c, struct child_result *out, struct error *e);

/* The descriptors of this process: how many there may be, and those that no program which it runs
 * inherits. A raised limit is its own: programs that it runs get the limit as it was, which they
 * may be made for (select(), loops over all). */

/* To `want`, or as far as the system allows. Before there is a second thread. */
void descriptors_raise(size_t want);

/* How many there may be. */
size_t descriptors_limit(void);

/* In a child that fork() made: as it was before. Safe there. */
void descriptors_lower(void);

/* As socket(), accept() and pipe(), with errno. Descriptors are closed on exec from the beginning
 * where the system can do that; elsewhere a program that another thread starts at that very moment
 * inherits them. */
int descriptors_socket(int family, int type, int protocol);
int descriptors_accept(int fd, struct sockaddr *from, socklen_t *size);
bool descriptors_pipe(int ends[2]);

#endif
