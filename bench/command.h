/* Measures programs from start to exit. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include <stddef.h>

struct command_cost {
    double ms, megabytes; /* wall time; most resident memory */
};

/* The best of `runs` runs; the output is discarded. argv[0] is searched in PATH. An exit status
 * above 1 (1 is grep's "nothing found") ends the benchmark. */
struct command_cost command_run(const char *const *argv, int runs);

/* The cost of `tiro-bench VERB DIRECTORY COUNT`, run in a process of its own: the figures of a
 * child include the memory that its parent had used when it was started. */
void command_make(const char *verb, const char *directory, size_t count);

/* Like command_run() for a shell command. The line begins with "exec", so that the shell's own time
 * is not measured. */
struct command_cost command_shell(const char *line, int runs);

#endif
