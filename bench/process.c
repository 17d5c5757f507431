#include "bench/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/vec.h"

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

typedef VEC(struct process_mapping) mapping_list;

/* "address flags offset device inode PATH": begins a part of the mapping that has this name. */
static struct process_mapping *find_mapping(mapping_list *all, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    struct process_mapping fresh = {.name = mem_strdup(name)};
    vec_push(all, fresh);
    return &vec_last(all);
}

static int by_size(const void *a, const void *b)
{
    double x = ((const struct process_mapping *)a)->megabytes;
    double y = ((const struct process_mapping *)b)->megabytes;
    return (x < y) - (x > y);
}

static void read_mappings(FILE *smaps, mapping_list *all)
{
    char line[4096];
    struct process_mapping *current = NULL;
    while (fgets(line, sizeof line, smaps) != NULL) {
        unsigned long from, to;
        long kibibytes;
        int path = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &path) == 2 && path > 0)
            current = find_mapping(all, line + path);
        else if (current != NULL && sscanf(line, "Rss: %ld", &kibibytes) == 1)
            current->megabytes += (double)kibibytes * 1024 / 1e6;
    }
}

size_t process_mappings(pid_t pid, struct process_mapping *out, size_t most)
{
    mapping_list all = {0};
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/smaps", (long)pid);
    FILE *smaps = fopen(path, "r");
    if (smaps != NULL) {
        read_mappings(smaps, &all);
        fclose(smaps);
    }
    if (all.len > 0)
        qsort(all.items, all.len, sizeof *all.items, by_size);
    size_t count = 0;
    for (size_t i = 0; i < all.len; i++) {
        if (i < most)
            out[count++] = all.items[i];
        else
            free(all.items[i].name);
    }
    vec_release(&all);
    return count;
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
