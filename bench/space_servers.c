/* Servers for more and more people (doc/scale.md), simulated with the costs of this one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/measures.h"
#include "bench/memory_probe.h"
#include "bench/table.h"
#include "space/carrier.h"

enum {
    REPEAT = 200,
    PUSH_ENTRIES = 20,
    PULL_BYTES = 4 << 20,
    CORES = 2,
    TEAM = 10, /* people with a space */
    SAID_A_DAY = 200,
    HOUR_DAY = 8,
    DAYS = 250,
    SIMULATED_S = 120,
    MOST_TEAMS = 10000
};

struct costs {
    double push_ms, look_ms, row_ms; /* of PUSH_ENTRIES, of a look that finds nothing, of a row */
    double line_bytes;               /* on its way */
};

static struct error cause;

static void must(bool ok)
{
    if (!ok)
        probe_fail(cause.text);
}

static double since(int64_t began_ms)
{
    return (double)(clock_mono_ms() - began_ms);
}

static void pull(struct carrier *c, struct buf *cursor, double *rows, double *bytes)
{
    int64_t skipped = 0;
    for (bool more = true; more;) {
        struct space_lines lines;
        must(c->ops->pull(c, cursor, PULL_BYTES, &lines, &more, &skipped, &cause));
        *rows += (double)lines.items.len;
        *bytes += (double)lines.bytes;
        space_lines_release(&lines);
    }
}

/* Round trips: upper bounds of what the server computes. */
static struct costs costs_of(struct carrier *c, const char *person)
{
    AUTO(buf_release) struct buf cursor = BUF_INIT;
    double rows = 0, bytes = 0;
    int64_t began = clock_mono_ms();
    pull(c, &cursor, &rows, &bytes);
    struct costs out = {.row_ms = since(began) / rows, .line_bytes = bytes / rows};
    char entry[64], body[512];
    memset(body, 'x', sizeof body);
    const size_t len = out.line_bytes < sizeof body ? (size_t)out.line_bytes : sizeof body;
    began = clock_mono_ms();
    for (int i = 0; i < REPEAT; i++) {
        struct space_line lines[PUSH_ENTRIES];
        snprintf(entry, sizeof entry, "pushed-to-measure-a-server-%d", i);
        for (int k = 0; k < PUSH_ENTRIES; k++)
            lines[k] = (struct space_line){.entry = entry,
                                           .version = k + 1,
                                           .owner = (char *)(uintptr_t)person,
                                           .at_ms = 1,
                                           .key = BUF_INIT,
                                           .body = {.data = body, .len = len}};
        must(c->ops->push(c, lines, PUSH_ENTRIES, &cause));
    }
    out.push_ms = since(began) / REPEAT;
    pull(c, &cursor, &rows, &bytes);
    began = clock_mono_ms();
    for (int i = 0; i < REPEAT; i++)
        pull(c, &cursor, &rows, &bytes);
    out.look_ms = since(began) / REPEAT;
    return out;
}

static double chance(void) /* in (0, 1) */
{
    static uint64_t dice = 88172645463325252U;
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return ((double)(dice >> 11) + 0.5) / 9007199254740992.0;
}

/* A busy time of a server: people push what they say in HOUR_DAY hours of a day, and look each
 * `look_s` seconds. A push holds the head of its space. */
static void simulate(const struct costs *k, size_t people, double look_s)
{
    static double head_free[MOST_TEAMS];
    double free_at[CORES] = {0}, now = 0, busy = 0;
    const double pushes = (double)people * SAID_A_DAY / PUSH_ENTRIES / (HOUR_DAY * 3600.0);
    const double all = pushes + (double)people / look_s;
    const size_t teams = (people + TEAM - 1) / TEAM;
    VEC(double) waits = {0};
    memset(head_free, 0, sizeof head_free);
    while (now < SIMULATED_S && waits.len < 1000000) {
        now -= log(chance()) / all;
        const bool push = chance() < pushes / all;
        double *core = free_at[0] <= free_at[1] ? &free_at[0] : &free_at[1];
        double start = *core > now ? *core : now;
        /* The other members fetch the rows of a push with the next of their looks. */
        const double rows_ms = (TEAM - 1) * PUSH_ENTRIES * k->row_ms;
        const double cost = (push ? k->push_ms + rows_ms : k->look_ms) / 1e3;
        if (push) {
            double *head = &head_free[(size_t)(chance() * (double)teams) % MOST_TEAMS];
            start = *head > start ? *head : start;
            *head = start + cost;
        }
        *core = start + cost;
        busy += cost;
        vec_push(&waits, (*core - now) * 1e3);
    }
    const double load = busy / now / CORES;
    const double year = (double)people * SAID_A_DAY * DAYS * k->line_bytes / 1e9;
    char title[100], speed[60];
    snprintf(title, sizeof title, "  %zu people, a look each %g s", people, look_s);
    if (load < 0.9)
        snprintf(speed, sizeof speed, "load %.1f %%, p99 %.1f ms", load * 100,
                 percentile(waits.items, waits.len, 99));
    else
        snprintf(speed, sizeof speed, "%.0f servers", ceil(load / 0.5));
    table_note(title, "%s; %.1f GB a year, %.1f GB a month go out", speed, year,
               year / 12 * (TEAM - 1));
    vec_release(&waits);
}

void measure_servers(struct carrier *c, const char *person)
{
    static const size_t sizes[] = {10, 1000, 100000};
    const struct costs k = costs_of(c, person);
    table_note("  a push of 20, an empty look, a row", "%.2f, %.2f, %.4f ms", k.push_ms, k.look_ms,
               k.row_ms);
    table_note("  bytes of an entry on its way", "%.0f", k.line_bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        simulate(&k, sizes[i], 0.5);
        simulate(&k, sizes[i], 30);
    }
}
