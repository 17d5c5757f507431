/* Programs that we start, and the descriptors that they do not inherit.
 *
 * A program runs apart from the terminal, in a session of its own; its output is read as it comes;
 * at the end it is gone with all that it started. A supervisor process between it and us sees to
 * that, however we end. Signals are at their defaults there, and no descriptor of ours is open but
 * those named here. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/wakeup.h"

struct sandbox;

struct child_command {
    const char *const *argv;  /* argv[0]: the path of the program; ends with NULL */
    const char *directory;    /* working directory, an absolute path that exists; NULL: ours */
    char *const *environment; /* NULL: ours */
    const char *input;        /* standard input; NULL: none. Written while its output is read */
    size_t input_len;
    /* Instead of `input`: the bytes that wait for its standard input now, which is not closed after
     * them; asked for before each wait. NULL: it is closed. wrote() follows with what was written
     * of them. */
    const char *(*output)(void *context, size_t *len);
    void (*wrote)(void *context, size_t len);
    int extra;           /* a descriptor that it gets as its number 3; 0: none */
    bool spares_daemons; /* processes that left its process group may live on, as the agent of a
                            password manager */
    bool spares_group;   /* with that: the group, too, once it ended by itself, as the process that
                            keeps a clipboard */
    bool with_errors;    /* standard error joins the output; else it is discarded */
    int64_t deadline_ms; /* clock_mono_ms() at which it is killed; callbacks may change it */
    const struct sandbox *sandbox; /* confines the program and all that it starts; NULL: nothing */
    const struct wakeup *wakeup;   /* NULL: none */
    /* Takes a piece of output, which is wiped afterwards; false: no more is wanted, and the child
     * is killed. NULL: output is dropped. */
    bool (*take)(void *context, const char *bytes, size_t len);
    /* As take(), for standard error. NULL: it is dropped, or joins the output. */
    bool (*take_errors)(void *context, const char *bytes, size_t len);
    /* Called while it runs, before each wait; returns after how many ms it is to be called again at
     * the latest. NULL: nobody wants to be. */
    int (*due)(void *context);
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
    bool left_some; /* processes could not be ended: not ours to kill, or stuck in a disk */
};

/* Returns when the program has ended and its output is read; grandchildren are killed then. At the
 * deadline the group gets SIGTERM and all get SIGKILL half a second later; on an interrupt they get
 * SIGKILL at once. Without Linux' subreapers only the process group can be ended. False when it
 * could not be started. The calling program ignores or blocks SIGPIPE. */
bool child_run(const struct child_command *c, struct child_result *out, struct error *e);

/* ---- descriptors ---- */

/* Raises the limit of open descriptors to `want`, or as far as the system allows. Before there is a
 * second thread. Programs that we start get the old limit: they may use select() or loop over all
 * descriptors. */
void descriptors_raise(size_t want);

/* As socket(), accept() and pipe(), with errno; closed on exec from the beginning where the system
 * can do that. Elsewhere a program that another thread starts at that moment inherits them. */
int descriptors_socket(int family, int type, int protocol);
int descriptors_accept(int fd, struct sockaddr *from, socklen_t *size);
bool descriptors_pipe(int ends[2]);

#endif
