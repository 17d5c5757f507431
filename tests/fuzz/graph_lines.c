/* The graph of facts out of somebody's file: a text that is taken is exported, read again as the
 * same, and adds nothing a second time; one that is not says why, and nothing of it is kept. Any
 * text is a query. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/graph.h"
#include "session/memories.h"
#include "tests/fuzz/fuzz.h"

enum { LINE_BYTES = 65536, MOST_LINES = 40, MOST_FOUND = 5 };

/* One database in memory for all inputs; each input rolls its changes back. */
static struct graph graph = {.language = "english"};

static void open_graph(void)
{
    struct error e = {0};
    if (graph.store)
        return;
    auto_free char *path = store_memory_path();
    FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &graph.store, &e), &e);
}

static void begin(void)
{
    struct error e = {0};
    FUZZ_CHECK_ERROR(store_begin(graph.store, &e), &e);
}

static bool take_lines(struct graph_import *in, FILE *file)
{
    struct memories_lines lines;
    struct error e = {0};
    enum lines_result result;
    bool ok = true;
    memories_lines_init(&lines, file, LINE_BYTES);
    while ((result = memories_lines_next(&lines, &e)) == LINES_NEXT && lines.number <= MOST_LINES &&
           ok)
        ok = graph_import_line(in, lines.number, lines.line.data, lines.line.len, &e);
    FUZZ_CHECK(result != LINES_FAILED);
    if (result == LINES_BAD || !ok)
        fuzz_check_error(&e);
    memories_lines_release(&lines);
    return ok && result != LINES_BAD;
}

static bool import(const void *data, size_t size, struct graph_counts *added)
{
    struct graph_import *in = graph_import_begin(&graph);
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    struct error e = {0};
    int64_t line = 0;
    bool taken = !file || take_lines(in, file);
    bool ok = taken && graph_import_end(in, NULL, NULL, &line, &e);
    if (taken && !ok)
        fuzz_check_error(&e);
    *added = graph_import_counts(in);
    if (!ok)
        FUZZ_CHECK(added->entities + added->observations + added->relations == 0);
    graph_import_free(in);
    if (file)
        fclose(file);
    return ok;
}

static bool keep_line(void *out, const char *line, size_t len, struct error *e)
{
    (void)e;
    FUZZ_CHECK(len > 0 && line[len - 1] == '\n' && memchr(line, '\n', len) == line + len - 1);
    buf_add(out, line, len);
    return true;
}

static char *exported(struct graph_counts *counts)
{
    struct buf out = BUF_INIT;
    struct error e = {0};
    FUZZ_CHECK_ERROR(graph_export(&graph, keep_line, &out, counts, &e), &e);
    return buf_take(&out);
}

static void check_search(const char *text, bool brief)
{
    const struct graph_search search = {
        .query = text, .limit = MOST_FOUND, .typing = brief, .brief = brief};
    AUTO(graph_part_release) struct graph_part found = {0};
    struct error e = {0};
    FUZZ_CHECK_ERROR(graph_search(&graph, &search, &found, &e), &e);
    FUZZ_CHECK(found.entities.len <= MOST_FOUND);
}

/* The first entity is found by its name. */
static void check_named(void)
{
    struct graph_part list, found;
    struct error e = {0};
    FUZZ_CHECK_ERROR(graph_list(&graph, NULL, 1, &list, &e), &e);
    if (list.entities.len > 0) {
        const char *name = list.entities.items[0].name;
        struct graph_names names = {0};
        vec_push(&names.names, name);
        FUZZ_CHECK_ERROR(graph_open(&graph, &names, &found, &e), &e);
        FUZZ_CHECK(found.entities.len == 1 && found.unknown.len == 0);
        FUZZ_CHECK_SAME(found.entities.items[0].name, name);
        check_search(name, false);
        vec_release(&names.names);
        graph_part_release(&found);
    }
    graph_part_release(&list);
}

static void check_again(const char *lines, const struct graph_counts *first)
{
    struct graph_counts added, counts;
    begin();
    FUZZ_CHECK(import(lines, strlen(lines), &added));
    FUZZ_CHECK(added.entities == first->entities && added.observations == first->observations &&
               added.relations == first->relations);
    auto_free char *again = exported(&counts);
    FUZZ_CHECK_SAME(lines, again);
    FUZZ_CHECK(import(lines, strlen(lines), &added));
    FUZZ_CHECK(added.entities + added.observations + added.relations == 0);
    store_rollback(graph.store);
}

int fuzz_graph_lines(const uint8_t *data, size_t size)
{
    struct graph_counts added, counts;
    auto_free char *text = fuzz_text(data, size), *lines = NULL;
    open_graph();
    begin();
    if (import(data, size, &added)) {
        lines = exported(&counts);
        FUZZ_CHECK(added.entities == counts.entities && added.relations == counts.relations &&
                   added.observations == counts.observations);
        check_named();
    }
    check_search(text, false);
    check_search(text, true);
    store_rollback(graph.store);
    if (lines)
        check_again(lines, &counts);
    return 0;
}
