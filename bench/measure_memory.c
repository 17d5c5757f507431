/* Growing semantic memory: searching, adding, opening, and its size, beside SQLite's own full-text
 * search and a graph over the vectors of hashed words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/paths.h"
#include "bench/chat.h"
#include "bench/command.h"
#include "bench/measures.h"
#include "bench/memory_probe.h"
#include "bench/memory_texts.h"
#include "bench/table.h"

enum {
    GRAPH_MOST = 10000, /* more would take gigabytes and many minutes */
    SCAN_COUNT = 100000,
    COMMAND_RUNS = 5
};

static const double SEARCH_MS = 10, SLOWEST_MS = 20, APPEND_MS = 20, OPEN_MS = 5, PEAK_MB = 60;
static const double IMPORTED_A_SECOND = 25000;

/* The parameters of the measurement at one size. */
struct round {
    size_t count;
    char *directory;
};

static double file_megabytes(const struct round *r, const char *name)
{
    struct stat st;
    char *path = paths_join(r->directory, name);
    double out = stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
    free(path);
    return out;
}

static struct probe_figures ask(const struct round *r, const char *what)
{
    struct probe_figures out;
    probe_ask(what, r->directory, r->count, &out);
    return out;
}

/* Prints one row: the figures of the other side, and the difference from ours. */
static void compare(const char *what, const struct probe_figures *theirs, double megabytes,
                    const struct probe_figures *ours)
{
    double p50 = probe_figure(theirs, "p50");
    table_note(what, "p50 %.2f ms (we: %.2f×), p99 %.2f ms (%.2f×), %.0f MB (%.2f×), %.0f MB kept",
               p50, probe_figure(ours, "p50") / p50, probe_figure(theirs, "p99"),
               probe_figure(ours, "p99") / probe_figure(theirs, "p99"), probe_figure(theirs, "rss"),
               probe_figure(ours, "rss") / probe_figure(theirs, "rss"), megabytes);
}

static void compare_plain(const struct round *r, const struct probe_figures *ours)
{
    struct probe_figures filled = ask(r, "plain-fill");
    struct probe_figures theirs = ask(r, "plain-search");
    struct probe_figures common = ask(r, "plain-search-common");
    compare("  for comparison: plain FTS5, ORDER BY rank", &theirs, file_megabytes(r, "plain.db"),
            ours);
    table_note("    four very common words", "p50 %.2f ms, p99 %.2f ms",
               probe_figure(&common, "p50"), probe_figure(&common, "p99"));
    table_note("    putting them in", "%.2f s", probe_figure(&filled, "all") / 1e3);
    vec_release(&filled.items);
    vec_release(&common.items);
    vec_release(&theirs.items);
}

static void compare_graph(const struct round *r, const struct probe_figures *ours)
{
    static const char what[] = "  for comparison: hnswlib, 4096 hashed";
    if (r->count > GRAPH_MOST) {
        table_note(what, "not done: %.1f GB of vectors alone", (double)r->count * 4096 * 4 / 1e9);
        return;
    }
    struct probe_figures theirs = ask(r, "graph");
    if (theirs.items.len < 3) {
        table_note(what, "this build has no hnswlib");
    } else {
        compare(what, &theirs, probe_figure(&theirs, "kept"), ours);
        table_note("    building it", "%.1f s", probe_figure(&theirs, "build") / 1e3);
    }
    vec_release(&theirs.items);
}

/* --- the program itself ---------------------------------------------------------------------- */

/* The turns as a file for `tiro memory import`. */
static void write_import(const struct round *r, const char *path)
{
    struct memory_texts *texts = memory_texts_new();
    struct buf text = BUF_INIT;
    FILE *out = fopen(path, "w");
    if (out == NULL)
        probe_fail(strerror(errno));
    for (size_t i = 0; i < r->count; i++) {
        memory_texts_turn(texts, i, &text);
        fprintf(out,
                "{\"id\": \"turn-%zu\", \"session_id\": \"talk-%zu\", \"turn\": %zu, \"role\": "
                "\"%s\", \"created_at\": \"2026-01-%02zuT%02zu:%02zu:00Z\", \"content\": \"%s\"}\n",
                i, i / MEMORY_TALK, i % MEMORY_TALK / 2 + 1, i % 2 == 0 ? "user" : "assistant",
                1 + i / 1440 % 28, i / 60 % 24, i % 60, text.data);
    }
    if (fclose(out) != 0)
        probe_fail(strerror(errno));
    buf_release(&text);
    memory_texts_free(texts);
}

static void measure_program(const struct round *r)
{
    struct memory_texts *texts = memory_texts_new();
    struct buf question = BUF_INIT;
    char *file = paths_join(chat_home(), "turns.jsonl");
    char *import = mem_printf("exec \"$TIRO\" memory import '%s'", file);
    write_import(r, file);
    struct command_cost imported = command_shell(import, 1);
    memory_texts_question(texts, r->count / 2, &question, NULL);
    char *search = mem_printf("exec \"$TIRO\" memory search --json '%s'", question.data);
    struct command_cost found = command_shell(search, COMMAND_RUNS);
    table_row("  tiro memory import", (double)r->count / IMPORTED_A_SECOND, imported.ms / 1e3, "s",
              1);
    table_note("    its peak memory", "%.0f MB", imported.megabytes);
    table_note("  tiro memory search, start to end", "%.1f ms", found.ms);
    table_row("    its peak memory", PEAK_MB, found.megabytes, "MB", 1);
    remove(file);
    free(file);
    free(import);
    free(search);
    buf_release(&question);
    memory_texts_free(texts);
}

/* --------------------------------------------------------------------------------------------- */

static void measure_store(const struct round *r, struct probe_figures *searched)
{
    struct probe_figures filled = ask(r, "fill");
    double megabytes = file_megabytes(r, "tiro.db");
    struct probe_figures opened = ask(r, "open");
    *searched = ask(r, "search");
    struct probe_figures common = ask(r, "search-common");
    struct probe_figures added = ask(r, "append");
    struct probe_figures at_once = ask(r, "append-at-once");
    char *title = mem_printf("memory of %zu entries: a search, p50", r->count);
    table_row(title, SEARCH_MS, probe_figure(searched, "p50"), "ms", 2);
    table_row("  p99", SLOWEST_MS, probe_figure(searched, "p99"), "ms", 2);
    table_row("  four very common words, p99", SLOWEST_MS, probe_figure(&common, "p99"), "ms", 2);
    table_note("    p50, and the processor's share of p50 and p99", "%.2f ms, %.2f ms, %.2f ms",
               probe_figure(&common, "p50"), probe_figure(&common, "cpu50"),
               probe_figure(&common, "cpu99"));
    table_row("  a compaction's 100 entries added, p50", APPEND_MS, probe_figure(&added, "p50"),
              "ms", 2);
    table_note("    p99, and the processor's share", "%.2f ms, %.2f ms",
               probe_figure(&added, "p99"), probe_figure(&added, "cpu"));
    table_note("    one after the other without a rest, p50, p99", "%.2f ms, %.2f ms",
               probe_figure(&at_once, "p50"), probe_figure(&at_once, "p99"));
    table_row("  opened, p50", OPEN_MS, probe_figure(&opened, "p50"), "ms", 2);
    table_row("  peak memory, opened and searched 400 times", PEAK_MB,
              probe_figure(searched, "rss"), "MB", 1);
    table_note("  the file", "%.1f MB", megabytes);
    table_note("  putting them in", "%.2f s", probe_figure(&filled, "all") / 1e3);
    free(title);
    vec_release(&filled.items);
    vec_release(&opened.items);
    vec_release(&common.items);
    vec_release(&added.items);
    vec_release(&at_once.items);
}

static void measure_size(size_t count)
{
    chat_new_home();
    struct round r = {count, mem_printf("%s/memory", chat_home())};
    struct probe_figures searched;
    if (mkdir(r.directory, 0700) != 0)
        probe_fail(strerror(errno));
    measure_store(&r, &searched);
    measure_program(&r);
    compare_plain(&r, &searched);
    compare_graph(&r, &searched);
    vec_release(&searched.items);
    free(r.directory);
}

static void measure_scan(void)
{
    struct probe_figures figures;
    probe_ask("scan", chat_home(), SCAN_COUNT, &figures);
    if (figures.items.len >= 3) {
        table_note("vectors: 100,000 × 768, all of them scanned, p50", "%.2f ms",
                   probe_figure(&figures, "p50"));
        table_note("  p99", "%.2f ms", probe_figure(&figures, "p99"));
        table_note("  peak memory", "%.0f MB", probe_figure(&figures, "rss"));
    }
    vec_release(&figures.items);
}

void measure_memory(void)
{
    static const size_t sizes[] = {1000, 10000, 100000};
    const char *wanted = getenv("MEMORY_ENTRIES");
    if (wanted != NULL) {
        size_t count = strtoul(wanted, NULL, 10);
        if (count == 0)
            probe_fail("MEMORY_ENTRIES must be a number of entries");
        measure_size(count);
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure_size(sizes[i]);
    measure_scan();
}
