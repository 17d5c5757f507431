#include "bench/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

/* The number after "FIELD:" of a status file; -1 without one. */
static long status_number(const char *path, const char *field)
{
    char line[256];
    long number = -1;
    size_t len = strlen(field);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, len) == 0 && line[len] == ':')
            number = strtol(line + len + 1, NULL, 10);
    fclose(file);
    return number;
}

double process_megabytes(pid_t pid, const char *field)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    long kibibytes = status_number(path, field);
    return kibibytes < 0 ? -1 : (double)kibibytes * 1024 / 1e6;
}

long process_wakeups(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    long sum = tasks == NULL ? -1 : 0;
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] == '.')
            continue;
        char *status = mem_printf("%s/%s/status", path, task->d_name);
        long switches = status_number(status, "voluntary_ctxt_switches");
        sum += switches < 0 ? 0 : switches;
        free(status);
    }
    if (tasks != NULL)
        closedir(tasks);
    return sum;
}

long process_written(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/io", (long)pid);
    return status_number(path, "wchar");
}

double process_cpu(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}
