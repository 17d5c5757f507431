#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/process.h"
#include "bench/table.h"

enum { RUNS = 15 };

/* A program to compare with: when it shows `ready` it gets `key`, and shows `echo`. */
struct peer {
    const char *path;
    const char *argv[8];
    const char *ready, *key, *echo;
};

static const struct peer peers[] = {
    {"/bin/bash", {"/bin/bash", "--norc", "--noprofile", "-i"}, "bash", "q", " q"},
    {"/usr/bin/less", {"/usr/bin/less", "/etc/passwd"}, "root:", "/", "/"},
    {"/usr/bin/nano", {"/usr/bin/nano", "--ignorercfiles"}, "nano", "q", "q"},
    {"/usr/bin/vim", {"/usr/bin/vim", "-u", "NONE", "-i", "NONE", "-n"}, "VIM", ":", ":"},
};

struct figures {
    double ms[RUNS], megabytes;
};

static bool run_peer(const struct peer *p, struct figures *f)
{
    for (int i = 0; i < RUNS; i++) {
        double start = screen_clock();
        struct screen *s = screen_start(p->argv, chat_home(), CHAT_ROWS, CHAT_COLS);
        bool ok = screen_wait_text(s, p->ready, CHAT_DEADLINE_MS);
        screen_type(s, p->key);
        ok = ok && screen_wait_text(s, p->echo, CHAT_DEADLINE_MS);
        f->ms[i] = screen_clock() - start;
        f->megabytes = process_megabytes(screen_pid(s), "VmRSS");
        screen_free(s);
        if (!ok)
            return false;
    }
    return true;
}

static void compare(const struct peer *p, double our_ms, double our_megabytes)
{
    const char *name = strrchr(p->path, '/') + 1;
    char *measure = mem_printf("  for comparison: %s", name);
    struct figures f;
    if (access(p->path, X_OK) != 0) {
        table_note(measure, "(not installed)");
    } else if (!run_peer(p, &f)) {
        table_note(measure, "(did not answer)");
    } else {
        double ms = percentile(f.ms, RUNS, 50);
        table_note(measure, "%.1f ms (we: %.2f×), %.1f MB (we: %.2f×)", ms, our_ms / ms,
                   f.megabytes, our_megabytes / f.megabytes);
    }
    free(measure);
}

void measure_start(void)
{
    struct figures f;
    for (int i = 0; i < RUNS; i++) {
        struct chat c;
        chat_open(&c, NULL, NULL);
        chat_key_echo(&c);
        f.ms[i] = screen_clock() - c.started;
        chat_watch(&c, 300);
        f.megabytes = process_megabytes(screen_pid(c.screen), "VmRSS");
        chat_close(&c);
    }
    double ms = percentile(f.ms, RUNS, 50);
    table_row("start to first key echoed, median of 15", 20, ms, "ms", 1);
    table_row("resident memory, idle", 10, f.megabytes, "MB", 1);
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        compare(&peers[i], ms, f.megabytes);
}
