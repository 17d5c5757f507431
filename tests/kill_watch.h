/* Programs that get a signal at their n-th system call of a kind that changes or sends data. A
 * launcher in front of the program has the kernel report such calls (seccomp's user notification)
 * to a thread of the test, which counts those of all threads and children. Where the kernel does
 * not support this, the signal is sent after a time instead.
 *
 * The test program is its own launcher: its main() begins with kill_watch_launch(). */
#ifndef TESTS_KILL_WATCH_H
#define TESTS_KILL_WATCH_H

#include <stdbool.h>

#include "base/vec.h"

struct kill_watch;

/* The argument vector of execv(); ends with NULL. */
struct kill_argv {
    VEC(const char *) items;
};

/* Becomes the watched program if the arguments say so; otherwise returns. */
void kill_watch_launch(char **argv);

/* Sends the signal before the n-th call is made, counted from 1; 0: never. */
struct kill_watch *kill_watch_new(long n, int signal_number);

/* Adds the launcher's arguments; the caller appends the program with its arguments. Borrowed from
 * the watch. */
void kill_watch_argv(struct kill_watch *w, struct kill_argv *argv);

/* The number of calls, and whether the signal was sent. Call it after the program's end; frees the
 * watch. */
struct kill_count {
    long calls;
    bool sent;
    bool exact; /* calls were counted */
};
struct kill_count kill_watch_end(struct kill_watch *w);

#endif
