/* The graph of facts: searches by words and by parts of words, beside SQLite's own full-text search
 * and its LIKE. GRAPH_ENTITIES=1000 measures another number of entities. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/memory_probe.h"
#include "bench/table.h"
#include "chat/knowledge.h"

static const double WORDS_MS = 10, PEAK_MB = 60;

static struct probe_figures ask(const char *what, const char *directory, size_t count)
{
    struct probe_figures out;
    probe_ask(what, directory, count, &out);
    return out;
}

static void compare(const char *what, const struct probe_figures *theirs,
                    const struct probe_figures *ours)
{
    double p50 = probe_figure(theirs, "p50"), p99 = probe_figure(theirs, "p99");
    table_note(what, "p50 %.2f ms (we: %.2f×), p99 %.2f ms (%.2f×)", p50,
               probe_figure(ours, "p50") / p50, p99, probe_figure(ours, "p99") / p99);
}

static void measure_words(const char *directory, size_t count)
{
    struct probe_figures ours = ask("facts-search", directory, count);
    struct probe_figures filled = ask("facts-plain-fill", directory, count);
    struct probe_figures theirs = ask("facts-plain-search", directory, count);
    table_row("  words of an observation, p50", WORDS_MS, probe_figure(&ours, "p50"), "ms", 2);
    table_note("    p99", "%.2f ms", probe_figure(&ours, "p99"));
    table_row("    peak memory", PEAK_MB, probe_figure(&ours, "rss"), "MB", 1);
    compare("    for comparison: plain FTS5, ORDER BY rank", &theirs, &ours);
    table_note("      putting them in", "%.1f s", probe_figure(&filled, "all") / 1e3);
    vec_release(&ours.items);
    vec_release(&filled.items);
    vec_release(&theirs.items);
}

static void measure_parts(const char *directory, size_t count)
{
    struct probe_figures ours = ask("facts-part", directory, count);
    struct probe_figures theirs = ask("facts-like", directory, count);
    table_note("  a part of a word, p50, p99", "%.2f ms, %.2f ms", probe_figure(&ours, "p50"),
               probe_figure(&ours, "p99"));
    table_note("    one that is nowhere", "%.2f ms (LIKE: %.2f ms)", probe_figure(&ours, "nowhere"),
               probe_figure(&theirs, "nowhere"));
    compare("    for comparison: LIKE over the observations", &theirs, &ours);
    vec_release(&ours.items);
    vec_release(&theirs.items);
}

void measure_facts(void)
{
    const char *wanted = getenv("GRAPH_ENTITIES");
    size_t count = wanted ? strtoul(wanted, NULL, 10) : GRAPH_ENTITIES;
    if (count == 0 || count > GRAPH_ENTITIES)
        probe_fail("GRAPH_ENTITIES must be a number of entities, 100000 at most");
    chat_new_home();
    char *directory = mem_printf("%s/facts", chat_home());
    if (mkdir(directory, 0700) != 0)
        probe_fail(strerror(errno));
    struct probe_figures filled = ask("facts-fill", directory, count);
    char *title = mem_printf("graph of %zu entities, %zu observations: putting them in", count,
                             count * FACTS_OBSERVED);
    table_note(title, "%.1f s", probe_figure(&filled, "all") / 1e3);
    measure_words(directory, count);
    measure_parts(directory, count);
    vec_release(&filled.items);
    free(title);
    free(directory);
}
