/* Programs that run to their end, measured. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include <stddef.h>

struct command_cost {
    double ms, megabytes; /* wall time; most resident memory */
};

/* The best of so many runs, whose output goes nowhere. argv[0] is looked for in PATH.
 * A command that ends with a status above 1 (grep's "nothing found") ends the benchmark. */
struct command_cost command_run(const char *const *argv, int runs);

/* What `tiro-bench VERB DIRECTORY COUNT` makes, made by another process: what children are said to
 * have used begins with what their parent had. */
void command_make(const char *verb, const char *directory, size_t count);

/* The same as command_run() for a line of the shell, which is not part of the time that is
 * measured: it is started with "exec". */
struct command_cost command_shell(const char *line, int runs);

#endif
