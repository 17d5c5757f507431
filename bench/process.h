/* What the kernel knows of a running program (Linux: /proc). */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <sys/types.h>

/* Of /proc/PID/status, in megabytes (10^6 bytes): "VmRSS", "VmHWM". -1 if it cannot be told. */
double process_megabytes(pid_t pid, const char *field);

/* How often its threads went to sleep and were woken; -1 if it cannot be told. */
long process_wakeups(pid_t pid);

/* Bytes that it has written to files, pipes and terminals; -1 if it cannot be told. */
long process_written(pid_t pid);

/* User and system time of all its threads, in seconds; -1 if it cannot be told. */
double process_cpu(pid_t pid);

#endif
