/* One measurement of semantic memory, of the graph of facts, or of a program to compare with. Each
 * runs in a process of its own, so that its memory can be measured. */
#ifndef BENCH_MEMORY_PROBE_H
#define BENCH_MEMORY_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct probe_figure {
    char name[32];
    double value;
};
struct probe_figures {
    VEC(struct probe_figure) items;
};

/* Runs `tiro-bench probe-memory WHAT DIRECTORY COUNT` and reads the figures that it prints. Ends
 * the program with a message on failure. */
void probe_ask(const char *what, const char *directory, size_t count, struct probe_figures *out);
double probe_figure(const struct probe_figures *f, const char *name); /* the figure must be there */

/* Like probe_ask(), in this process; prints "NAME NUMBER" lines on standard output. Returns false
 * if WHAT is unknown. */
bool probe_run(const char *what, const char *directory, size_t count);

/* For probes: prints a line; ends the program with a message. */
void probe_tell(const char *name, double value);
_Noreturn void probe_fail(const char *why);

/* Prints the times of `count` searches in milliseconds as lines "p50", "p99", and "rss", the most
 * memory in MB. */
struct probe_times {
    VEC(double) ms;
};
void probe_times_tell(struct probe_times *t);

/* memory_probe_plain.c */
enum { PROBE_COMMON = 100 /* questions of very common words */ };
void probe_plain_fill(const char *directory, size_t count);
void probe_plain_search(const char *directory, size_t count);
void probe_plain_search_common(const char *directory, size_t count);

/* facts_probe.c: with `count` entities */
enum { FACTS_OBSERVED = 5 /* observations that each has */ };
void probe_facts_fill(const char *directory, size_t count);
void probe_facts_search(const char *directory, size_t count);
void probe_facts_part(const char *directory, size_t count);
void probe_facts_plain_fill(const char *directory, size_t count);
void probe_facts_plain_search(const char *directory, size_t count);
void probe_facts_like(const char *directory, size_t count);

/* memory_probe_vectors.c */
void probe_graph(const char *directory, size_t count);
void probe_scan(const char *directory, size_t count);

#endif
