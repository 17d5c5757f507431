/* Figures that the kernel has of a running program (Linux: /proc). */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* A field of /proc/PID/status in megabytes (10^6 bytes): "VmRSS", "VmHWM". Returns -1 if it is
 * unknown. */
double process_megabytes(pid_t pid, const char *field);

/* A mapped file, or "[heap]", "[stack]", "" for other memory, with its resident size over all
 * parts. */
struct process_mapping {
    char *name; /* without the directory */
    double megabytes;
};

/* Fills `out` with at most `most` mappings, largest first; returns their number. The caller frees
 * the names. */
size_t process_mappings(pid_t pid, struct process_mapping *out, size_t most);

/* Number of times that threads slept and were woken; -1 if unknown. */
long process_wakeups(pid_t pid);

/* Bytes written to files, pipes and terminals; -1 if unknown. */
long process_written(pid_t pid);

/* User and system time of all threads in seconds; -1 if unknown. */
double process_cpu(pid_t pid);

#endif
