/* Figures that the kernel has of a running program (Linux: /proc). */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* A field of /proc/PID/status in megabytes (10^6 bytes): "VmRSS", "VmHWM". Returns -1 if it is
 * unknown. */
double process_megabytes(pid_t pid, const char *field);

/* A file that is mapped into it, or "[heap]", "[stack]", "" for other memory of its own, and how
 * much of it is resident, over all its parts. */
struct process_mapping {
    char *name; /* without the directory */
    double megabytes;
};

/* The largest, largest first, at most `most` of them; the result is how many. The caller frees the
 * names. */
size_t process_mappings(pid_t pid, struct process_mapping *out, size_t most);

/* How often its threads went to sleep and were woken; -1 if it cannot be told. */
long process_wakeups(pid_t pid);

/* Bytes that it has written to files, pipes and terminals; -1 if it cannot be told. */
long process_written(pid_t pid);

/* User and system time of all its threads, in seconds; -1 if it cannot be told. */
double process_cpu(pid_t pid);

#endif
