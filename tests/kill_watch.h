/* Programs that get a signal at their n-th system call that changes or tells something: a launcher
 * in front of the program has the kernel report such calls (seccomp's user notification) to a
 * thread here, which counts them, those of its threads and children among them. Where the kernel
 * cannot, the signal comes after a time instead.
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

/* Becomes the watched program if the arguments say so; else it returns. */
void kill_watch_launch(char **argv);

/* The signal is sent before the n-th call is made, from 1; 0: never. */
struct kill_watch *kill_watch_new(long n, int signal_number);

/* Adds the launcher's arguments; the program with its own comes behind them. They are borrowed from
 * the watch. */
void kill_watch_argv(struct kill_watch *w, struct kill_argv *argv);

/* After the program's end: how many calls it came to, and whether the signal was sent. Frees. */
struct kill_count {
    long calls;
    bool sent;
    bool exact; /* calls were counted */
};
struct kill_count kill_watch_end(struct kill_watch *w);

#endif
