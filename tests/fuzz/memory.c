/* Foreign entries of memory, and searches for their words: every line is an entry that survives
 * writing and reading, or an error; a stored entry is found by its id and exported unchanged; any
 * text is a query. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "memory/memory.h"
#include "session/memories.h"
#include "tests/fuzz/fuzz.h"

enum { LINE_BYTES = 65536, MOST_ENTRIES = 20, MOST_HITS = 5 };

/* One database in memory for all inputs; each input rolls its changes back. */
static struct memory *memory;
static struct store *store;

static void open_memory(void)
{
    struct error e = {0};
    if (memory)
        return;
    auto_free char *path = store_memory_path();
    FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    memory = memory_open(store, &(struct memory_settings){.language = "english"});
}

static char *written(const struct memory_entry *m)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    shape_write(&memory_entry_shape, m, &o);
    return buf_take(&out);
}

static bool read_entry(const char *text, size_t len, struct memory_entry *out)
{
    struct error e = {0};
    AUTO(json_free_local) struct json *v = json_parse(text, len, &e);
    bool ok = v && memory_entry_read(v, out, &e);
    if (!ok)
        fuzz_check_error(&e);
    return ok;
}

/* The marks are words of the text, one behind the other. */
static void check_hit(const struct memory_hit *h)
{
    size_t len = strlen(h->entry.content), end = 0;
    FUZZ_CHECK(h->score >= 0 && h->score <= 1);
    for (size_t i = 0; i < h->marks.len; i++) {
        const struct memory_span *mark = &h->marks.items[i];
        FUZZ_CHECK(mark->start >= end && mark->len > 0 && mark->len <= len - mark->start);
        end = mark->start + mark->len;
    }
    auto_free char *passage = memory_hit_passage(h);
    FUZZ_CHECK(utf8_valid(passage, strlen(passage)));
}

static void check_search(const char *text, bool typing)
{
    static struct config *config;
    if (!config)
        config = config_new();
    struct memory_query query = memory_query_for(config, text);
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    struct error e = {0};
    query.limit = MOST_HITS;
    query.typing = typing;
    FUZZ_CHECK_ERROR(memory->ops->search(memory, &query, &hits, &e), &e);
    FUZZ_CHECK(hits.items.len <= MOST_HITS);
    for (size_t i = 0; i < hits.items.len; i++)
        check_hit(&hits.items.items[i]);
}

static void check_stored(struct memory_entry *m)
{
    struct memory_entry kept;
    struct error e = {0};
    int stored;
    if (!memory->ops->index(memory, m->session_id, 0, m, 1, &stored, &e)) {
        fuzz_check_error(&e);
        return;
    }
    if (stored == 1) {
        FUZZ_CHECK_ERROR(memory->ops->get(memory, m->id, &kept, &e), &e);
        FUZZ_CHECK(*kept.content && utf8_valid(kept.content, strlen(kept.content)));
        check_search(kept.content, false);
        memory_entry_release(&kept);
    }
}

static void take_lines(FILE *in)
{
    struct memories_lines lines;
    struct error e = {0};
    enum lines_result result;
    memories_lines_init(&lines, in, LINE_BYTES);
    for (int i = 0; (result = memories_lines_next(&lines, &e)) == LINES_NEXT; i++) {
        struct memory_entry m;
        FUZZ_CHECK(utf8_valid(lines.line.data, lines.line.len));
        if (i >= MOST_ENTRIES || !read_entry(lines.line.data, lines.line.len, &m))
            continue;
        AUTO(memory_entry_release) struct memory_entry again = {0};
        auto_free char *text = written(&m);
        FUZZ_CHECK(read_entry(text, strlen(text), &again));
        auto_free char *text_again = written(&again);
        FUZZ_CHECK_SAME(text, text_again);
        check_stored(&m);
        memory_entry_release(&m);
    }
    if (result == LINES_BAD)
        fuzz_check_error(&e);
    FUZZ_CHECK(result != LINES_FAILED);
    memories_lines_release(&lines);
}

int fuzz_memory(const uint8_t *data, size_t size)
{
    struct error e = {0};
    auto_free char *text = fuzz_text(data, size);
    open_memory();
    FUZZ_CHECK_ERROR(store_begin(store, &e), &e);
    FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (in) {
        take_lines(in);
        fclose(in);
    }
    check_search(text, false);
    check_search(text, true);
    store_rollback(store);
    return 0;
}
