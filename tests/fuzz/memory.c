/* Readers of memory, the graph, documents, and pages of the database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/doclist.h"
#include "index/graph_file.h"
#include "index/transcripts.h"
#include "index/words_private.h"
#include "knowledge/directive.h"
#include "knowledge/graph.h"
#include "knowledge/learned_extract.h"
#include "memory/memory.h"
#include "session/claude_lines.h"
#include "session/health.h"
#include "session/memories.h"
#include "space/keys.h"
#include "space/keys_private.h"
#include "store/salvage.h"
#include "store/sessions.h"
#include "tests/chunk_check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/zip_file.h"

/* --- memory ----------------------------------------------------------------------------------- */

enum { MEMORY_LINE_BYTES = 65536, MOST_ENTRIES = 20, MEMORY_MOST_HITS = 5 };

/* One database in memory for all inputs; each input rolls its changes back. */
static struct memory *memory;
static struct store *held;

static void open_memory(void)
{
    struct error e = {0};
    if (memory)
        return;
    auto_free char *path = store_memory_path();
    FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &held, &e), &e);
    memory = memory_open(held, &(struct memory_settings){.language = "english"});
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

static void check_search_memory(const char *text, bool typing)
{
    static struct config *config;
    if (!config)
        config = config_new();
    struct memory_query query = memory_query_for(config, text);
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    struct error e = {0};
    query.limit = MEMORY_MOST_HITS;
    query.typing = typing;
    FUZZ_CHECK_ERROR(memory->ops->search(memory, &query, &hits, &e), &e);
    FUZZ_CHECK(hits.items.len <= MEMORY_MOST_HITS);
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
        check_search_memory(kept.content, false);
        memory_entry_release(&kept);
    }
}

/* A line of a transcript with a message has a role and a text. */
static void check_claude(const char *text, size_t len)
{
    struct claude_line line;
    AUTO(json_free_local) struct json *v = json_parse(text, len, NULL);
    claude_line_read(v, &line);
    if (line.kind != CLAUDE_NOTHING)
        FUZZ_CHECK(line.uuid && line.session);
    if (line.kind == CLAUDE_SAID)
        FUZZ_CHECK(line.text.len > 0 && utf8_valid(line.text.data, line.text.len));
    buf_release(&line.text);
}

static void take_lines_memory(FILE *in)
{
    struct memories_lines lines;
    struct error e = {0};
    enum lines_result result;
    memories_lines_init(&lines, in, MEMORY_LINE_BYTES);
    for (int i = 0; (result = memories_lines_next(&lines, &e)) == LINES_NEXT; i++) {
        struct memory_entry m;
        FUZZ_CHECK(utf8_valid(lines.line.data, lines.line.len));
        check_claude(lines.line.data, lines.line.len);
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

/* Foreign entries of memory, lines of transcripts, and searches for their words: every line is an
 * entry that survives writing and reading, or an error; a stored entry is found by its id and
 * exported unchanged; any text is a query. */
int fuzz_memory(const uint8_t *data, size_t size)
{
    struct error e = {0};
    auto_free char *text = fuzz_text(data, size);
    open_memory();
    FUZZ_CHECK_ERROR(store_begin(held, &e), &e);
    FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (in) {
        take_lines_memory(in);
        fclose(in);
    }
    check_search_memory(text, false);
    check_search_memory(text, true);
    store_rollback(held);
    return 0;
}

/* --- graph ------------------------------------------------------------------------------------ */

enum { DIMENSION = 4, GRAPH_MOST_HITS = 8 };

static void check_search_graph(struct hnsw *h)
{
    int8_t bytes[INT8_LANES] = {127, -3, 0, 5};
    struct hnsw_hit hits[GRAPH_MOST_HITS];
    size_t found = hnsw_search(h, bytes, 0.1f, GRAPH_MOST_HITS, hits);
    FUZZ_CHECK(found <= GRAPH_MOST_HITS && found <= hnsw_count(h));
    for (size_t i = 0; i < found; i++)
        FUZZ_CHECK(hits[i].element < hnsw_count(h));
}

static bool take(void *context, const void *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

static void check_graph(const void *bytes, size_t len)
{
    AUTO(buf_release) struct buf written = BUF_INIT, again = BUF_INIT;
    struct hnsw *h = hnsw_read(DIMENSION, bytes, len);
    if (!h)
        return;
    check_search_graph(h);
    FUZZ_CHECK(hnsw_write(h, take, &written));
    struct hnsw *copy = hnsw_read(DIMENSION, written.data, written.len);
    FUZZ_CHECK(copy && hnsw_count(copy) == hnsw_count(h) && hnsw_write(copy, take, &again));
    FUZZ_CHECK(written.len == again.len && memcmp(written.data, again.data, again.len) == 0);
    hnsw_free(copy);
    hnsw_free(h);
}

static void check_file(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("memory-m.hnsw", data, size);
    struct graph_content content = {.model = "m", .dimension = DIMENSION};
    if (graph_file_read(path, &content)) {
        FUZZ_CHECK(hnsw_count(content.hnsw) == content.of.items.len);
        check_search_graph(content.hnsw);
        hnsw_free(content.hnsw);
        vec_release(&content.of.items);
    } else {
        FUZZ_CHECK(!content.hnsw && !content.of.items.items);
    }
    graph_file_remove(path);
}

/* The checksum as graph_file.c computes it. */
static uint64_t checksum(const char *bytes, size_t len)
{
    uint64_t sum = 1;
    for (size_t at = 0; at < len; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, len - at < sizeof word ? len - at : sizeof word);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* The bytes of a vector graph. Any bytes can be loaded and searched, and a saved graph loads equal.
 * The bytes are also loaded as a file, once unchanged and once with a matching checksum. */
int fuzz_graph(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf summed = BUF_INIT;
    buf_add(&summed, data, size);
    uint64_t sum = checksum(summed.data, summed.len);
    buf_add(&summed, &sum, sizeof sum);
    check_graph(data, size);
    check_file(data, size);
    check_file((const uint8_t *)summed.data, summed.len);
    return 0;
}

/* --- graph_lines ------------------------------------------------------------------------------ */

enum { GRAPH_LINES_LINE_BYTES = 65536, MOST_LINES = 40, MOST_FOUND = 5 };

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

static bool take_lines_graph_lines(struct graph_import *in, FILE *file)
{
    AUTO(memories_lines_release) struct memories_lines lines = {0};
    struct error e = {0};
    enum lines_result result;
    bool ok = true;
    memories_lines_init(&lines, file, GRAPH_LINES_LINE_BYTES);
    while ((result = memories_lines_next(&lines, &e)) == LINES_NEXT && lines.number <= MOST_LINES &&
           ok)
        ok = graph_import_line(in, lines.number, lines.line.data, lines.line.len, &e);
    FUZZ_CHECK(result != LINES_FAILED);
    if (result == LINES_BAD || !ok)
        fuzz_check_error(&e);
    return ok && result != LINES_BAD;
}

static bool import(const void *data, size_t size, struct graph_counts *added)
{
    struct graph_import *in = graph_import_begin(&graph);
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    struct error e = {0};
    int64_t line = 0;
    bool taken = !file || take_lines_graph_lines(in, file);
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

static void check_search_graph_lines(const char *text, bool brief)
{
    const struct graph_search search = {
        .query = text, .limit = MOST_FOUND, .typing = brief, .brief = brief};
    AUTO(graph_part_release) struct graph_part found = {0};
    struct error e = {0};
    FUZZ_CHECK_ERROR(graph_search(&graph, &search, &found, &e), &e);
    FUZZ_CHECK(found.entities.len <= MOST_FOUND);
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

/* The graph of facts out of somebody's file: a text that is taken is exported, read again as the
 * same, and adds nothing a second time; one that is not says why, and nothing of it is kept. Any
 * text is a query. */
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
        /* The first entity is found by its name. */
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
            check_search_graph_lines(name, false);
            vec_release(&names.names);
            graph_part_release(&found);
        }
        graph_part_release(&list);
    }
    check_search_graph_lines(text, false);
    check_search_graph_lines(text, true);
    store_rollback(graph.store);
    if (lines)
        check_again(lines, &counts);
    return 0;
}

/* --- learned ---------------------------------------------------------------------------------- */

static void check_directives(const char *text)
{
    AUTO(directives_release) struct directives found = {0};
    directives_read(text, &found);
    FUZZ_CHECK(found.items.len <= DIRECTIVES_MOST);
    for (size_t i = 0; i < found.items.len; i++) {
        size_t len = strlen(found.items.items[i].text);
        FUZZ_CHECK(len > 0 && len <= LEARNED_TEXT_BYTES);
        FUZZ_CHECK(utf8_valid(found.items.items[i].text, len));
    }
}

static void check_proposals(const char *text)
{
    AUTO(typed_messages_release) struct typed_messages typed = {0};
    AUTO(proposals_release) struct proposals found = {0};
    struct error e;
    FUZZ_CHECK(typed_messages_add(&typed, 3, "We deploy on Fridays."));
    bool ok = extraction_read(text, &typed, &found, &e);
    FUZZ_CHECK(ok || found.items.len == 0);
    FUZZ_CHECK(found.items.len <= 2 * (size_t)EXTRACTION_PROPOSALS);
    for (size_t i = 0; i < found.items.len; i++) {
        const struct proposal *p = &found.items.items[i];
        FUZZ_CHECK(p->seq == 3 && *p->text && strlen(p->text) <= LEARNED_TEXT_BYTES);
        FUZZ_CHECK(p->kind <= LEARNED_ENTITY);
    }
}

static char *write_entity(const struct entity_text *t)
{
    return entity_text_write(t->name, t->type, (const char *const *)t->observations.items,
                             t->observations.len);
}

static void check_entity(const char *text)
{
    struct entity_text once, twice;
    struct error e;
    if (!entity_text_read(text, &once, &e))
        return;
    auto_free char *line = write_entity(&once);
    FUZZ_CHECK(entity_text_read(line, &twice, &e));
    auto_free char *again = write_entity(&twice);
    FUZZ_CHECK(strcmp(line, again) == 0);
    FUZZ_CHECK(once.observations.len == twice.observations.len);
    entity_text_release(&once);
    entity_text_release(&twice);
}

/* Learning from texts: sentences lie within their message, directives and accepted proposals of a
 * model are bounded, and an entity that was read is written as it reads. */
int fuzz_learned(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_strndup((const char *)data, strnlen((const char *)data, size));
    struct sentences sentences = {0};
    const char *end = text + strlen(text), *before = text;
    sentences_read(text, &sentences);
    for (size_t i = 0; i < sentences.items.len; i++) {
        const struct sentence *s = &sentences.items.items[i];
        FUZZ_CHECK(s->len > 0 && s->text >= before && s->text + s->len <= end);
        before = s->text + s->len;
    }
    vec_release(&sentences.items);
    check_directives(text);
    check_proposals(text);
    check_entity(text);
    return 0;
}

/* --- search ----------------------------------------------------------------------------------- */

enum { SEARCH_MOST_HITS = 5 };

static const char id[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static void say(struct store *store, int64_t seq, const char *text)
{
    struct error e = {0};
    AUTO(event_free_local) struct event *ev = event_new(EVENT_TURN_STARTED);
    memcpy(ev->session_id, id, sizeof id);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    FUZZ_CHECK_ERROR(transcripts_append(store, ev, &e), &e);
}

/* Makes a store with a few texts to find. */
static struct store *make_store_search(void)
{
    struct store *store;
    AUTO(session_info_release) struct session_info info = {0};
    struct error e = {0};
    auto_free char *path = store_memory_path();
    FUZZ_CHECK_ERROR(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    session_info_init(&info);
    memcpy(info.id, id, sizeof id);
    FUZZ_CHECK_ERROR(sessions_put(store, &info, &e), &e);
    say(store, 1, "Where is the café in Zürich? It's the 1st AND only one NEAR the lake.");
    say(store, 2, "日本語 \033[31m\xe2\x80\xae tabs\tand \"quotes\" * (or) not");
    return store;
}

static void check_sessions(const char *text)
{
    static struct store *store;
    AUTO(search_hits_release) struct search_hits hits = {0};
    struct error e = {0};
    bool more;
    if (!store)
        store = make_store_search();
    FUZZ_CHECK_ERROR(transcripts_search(store, text, NULL, SEARCH_MOST_HITS, &hits, &more, &e), &e);
    FUZZ_CHECK(hits.items.len <= SEARCH_MOST_HITS);
    for (size_t i = 0; i < hits.items.len; i++) {
        const char *snippet = hits.items.items[i].snippet;
        FUZZ_CHECK(fuzz_is_clean(snippet, strlen(snippet), false));
    }
}

static void check_query(struct language *l, const char *text, bool typing)
{
    AUTO(words_query_release) struct words_query q = {0};
    words_query_parse(l, text, typing, &q);
    FUZZ_CHECK(q.phrases.len <= QUERY_PHRASES);
    for (size_t i = 0; i < q.terms.len; i++) {
        const struct query_term *t = &q.terms.items[i];
        FUZZ_CHECK(t->raw && t->word && utf8_valid(t->word, strlen(t->word)));
        FUZZ_CHECK(query_term_meets(t, t->word, t->word));
    }
    if (words_query_loosen(&q))
        FUZZ_CHECK(!words_query_loosen(&q));
}

/* Search queries: any text is a valid query, in memory and in sessions, and the hits are shown
 * clean. */
int fuzz_search(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"english", "german", "french", "turkish", "auto", "none"};
    static struct language *languages[sizeof names / sizeof *names];
    auto_free char *text = fuzz_text(data, size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!languages[i])
            languages[i] = language_new(names[i]);
        if (languages[i]) {
            check_query(languages[i], text, false);
            check_query(languages[i], text, true);
        }
    }
    check_sessions(text);
    return 0;
}

/* --- doclist ---------------------------------------------------------------------------------- */

static void check_list(const struct postings *list, const struct place_bytes *bytes)
{
    struct occurrences places = {0};
    for (size_t i = 0; i < list->items.len; i++) {
        const struct posting *p = &list->items.items[i];
        FUZZ_CHECK(i == 0 || p->key > list->items.items[i - 1].key);
        vec_clear(&places.items);
        places_unpack(bytes->bytes.items + p->places, p->count, 0, &places);
        FUZZ_CHECK(places.items.len == p->count);
    }
    vec_release(&places.items);
}

static void read_pages(struct doclist *d, const uint8_t *data, size_t size)
{
    enum doclist_step step = DOCLIST_MORE;
    for (const uint8_t *end = data + size; step == DOCLIST_MORE && data < end;) {
        const uint8_t *mark = memchr(data, 0xff, (size_t)(end - data));
        size_t len = (size_t)((mark ? mark : end) - data);
        step = doclist_read(d, data, len);
        data += len + 1;
    }
    if (step == DOCLIST_DAMAGED || d->left > 0)
        return;
    if (d->runs)
        doclist_join(d->out, d->runs, d->places);
    check_list(d->out, d->places);
}

/* A page of the index of words: for any bytes, the result is in order and lies within the page. The
 * first byte is the length of the word after it; the rest are pages, the first of them up to a
 * mark. */
int fuzz_doclist(const uint8_t *data, size_t size)
{
    struct postings list = {0};
    struct place_bytes places = {0};
    struct doclist_parts parts;
    int64_t entries, words;
    if (doclist_parts_read(data, size, &parts))
        for (size_t i = 0; i < parts.items.len; i++)
            FUZZ_CHECK(parts.items.items[i].first > 0 &&
                       parts.items.items[i].first <= parts.items.items[i].last);
    vec_release(&parts.items);
    if (doclist_totals_read(data, size, &entries, &words))
        FUZZ_CHECK(entries >= 0 && words >= 0);
    size_t word_len = size > 0 ? data[0] & 0x7f : 0;
    if (size < 1 || size - 1 < word_len)
        return -1;
    AUTO(doclist_runs_release) struct doclist_runs runs = {0};
    struct doclist d = {.word = (const char *)data + 1,
                        .word_len = word_len,
                        .runs = data[0] & 0x80 ? &runs : NULL,
                        .out = &list,
                        .places = &places,
                        .key = -1,
                        .at = BUF_INIT};
    read_pages(&d, data + 1 + word_len, size - 1 - word_len);
    buf_release(&d.at);
    vec_release(&list.items);
    vec_release(&places.bytes);
    return 0;
}

/* --- document --------------------------------------------------------------------------------- */

#define CONTAINER "<container><rootfiles><rootfile full-path=\"c\"/></rootfiles></container>"

/* `member`: the part of a package that the input is; NULL: the input is the whole file. */
static const struct kind {
    const char *name, *member;
} kinds[] = {
    {"a.txt", NULL},
    {"a.md", NULL},
    {"a.html", NULL},
    {"a.c", NULL},
    {"a.py", NULL},
    {"a.docx", NULL},
    {"a.odt", NULL},
    {"a.epub", NULL},
    {"a.docx", "word/document.xml"},
    {"a.docx", "word/styles.xml"},
    {"a.odt", "content.xml"},
    {"a.epub", "c"},
    {"a.epub", "META-INF/container.xml"},
};

static const char *write_package(const struct kind *kind, const char *bytes, size_t len)
{
    struct zip_file z = {0};
    const char *path = fuzz_file(kind->name, (const uint8_t *)bytes, len);
    if (!kind->member)
        return path;
    if (strcmp(kind->member, "c") == 0)
        zip_add(&z, "META-INF/container.xml", CONTAINER, strlen(CONTAINER), false);
    zip_add(&z, kind->member, bytes, len, false);
    if (strcmp(kind->member, "word/styles.xml") == 0)
        zip_add(&z, "word/document.xml", "<p/>", 4, false);
    zip_add(&z, "1.html", "<h1>One</h1>", 12, false);
    zip_write(&z, path);
    return path;
}

static void check(const struct loaded_document *d, size_t most, const char *source, size_t len)
{
    AUTO(chunks_release) struct chunks c = {0};
    chunks_make(&c, d, most);
    const char *fault =
        chunks_fault(&c, d, most, d->offsets == DOCUMENT_OFFSETS_BYTES ? source : NULL, len);
    if (fault)
        fuzz_fail(__FILE__, __LINE__, fault, NULL, NULL);
    FUZZ_CHECK(!d->title || fuzz_is_clean(d->title, strlen(d->title), false));
}

/* Documents and their passages. The first byte chooses the format; the rest is the text, the zip
 * file or the XML member of one. */
int fuzz_document(const uint8_t *data, size_t size)
{
    enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 40 };
    static struct document_options options;
    struct dice dice = fuzz_dice(data, size);
    struct loaded_document d;
    struct error e = {0};
    if (size == 0)
        return -1;
    const struct kind *kind = &kinds[*data % KINDS];
    const char *text = (const char *)data + 1;
    options.limits = document_limits;
    enum document_outcome outcome =
        strstr(kind->name, ".docx") || strstr(kind->name, ".odt") || strstr(kind->name, ".epub")
            ? document_load_file(&d, write_package(kind, text, size - 1), &options, &e)
            : document_load_text(&d, kind->name, text, size - 1, &options, &e);
    if (outcome != DOCUMENT_LOADED) {
        fuzz_check_error(&e);
        return 0;
    }
    check(&d, 1 + dice_below(&dice, MOST), text, size - 1);
    check(&d, CHUNK_CHARACTERS, text, size - 1);
    loaded_document_release(&d);
    return 0;
}

/* --- pages ------------------------------------------------------------------------------------ */

static struct store *make_store_pages(void)
{
    struct store *store;
    auto_free char *path = store_memory_path();
    FUZZ_CHECK(store_open(path, STORE_READ_WRITE, &store, NULL));
    FUZZ_CHECK(salvage_register(store, NULL));
    return store;
}

/* Every row must satisfy its constraints. */
static void check_rows(struct store *s)
{
    static const char *const faults[] = {
        "SELECT 1 FROM found.session WHERE NOT whole OR NOT is_uuid(id)",
        "SELECT 1 FROM found.session WHERE plain(cleaned(title)) IS NOT cleaned(title)",
        "SELECT 1 FROM found.id WHERE NOT is_uuid(id)",
        "SELECT 1 FROM found.event WHERE session IS NULL OR coalesce(seq, 0) < 1",
        "SELECT 1 FROM found.event WHERE whole AND typeof(type) || typeof(payload) <> 'texttext'",
        "SELECT 1 FROM found.entry WHERE whole AND (content IS NULL OR role IS NULL)",
        "SELECT 1 FROM found.talk WHERE plain(id) IS NULL",
        "SELECT 1 FROM found.graph_entry WHERE whole AND (name IS NULL OR type IS NULL)",
        "SELECT 1 FROM found.graph_observation WHERE whole AND (content IS NULL OR entity IS NULL)",
        "SELECT 1 FROM found.graph_relation WHERE whole AND type || source || target IS NULL",
        "SELECT 1 FROM found.learned WHERE whole AND (id IS NULL OR text IS NULL)",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct query q = sql_query(s, NULL, faults[i], "");
        FUZZ_CHECK(!query_next(&q));
        FUZZ_CHECK(query_end(&q));
    }
}

/* The start of the log, or the end of the data if there is none. */
static size_t find_wal(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n=wal=\n";
    for (size_t i = 0; i + sizeof mark - 1 <= size; i++)
        if (memcmp(data + i, mark, sizeof mark - 1) == 0)
            return i;
    return size;
}

/* A damaged database: for any pages, all rows that are read are sound. The input is the file and,
 * after a line "=wal=", its write-ahead log. */
int fuzz_pages(const uint8_t *data, size_t size)
{
    size_t end = find_wal(data, size), wal = end + strlen("\n=wal=\n");
    auto_free char *log = mem_strdup(
        fuzz_file("tiro.db-wal", wal < size ? data + wal : data, wal < size ? size - wal : 0));
    static struct store *store;
    struct error e = {0};
    if (!store)
        store = make_store_pages();
    if (end == size)
        unlink(log);
    FUZZ_CHECK(store_exec(store, "ATTACH ':memory:' AS found; BEGIN", NULL));
    if (salvage_read(store, fuzz_file("tiro.db", data, end), health_extensions, &e))
        check_rows(store);
    else
        fuzz_check_error(&e);
    FUZZ_CHECK(store_exec(store, "ROLLBACK; DETACH found", NULL));
    return 0;
}

/* --- invitation, key_ring --------------------------------------------------------------------- */

/* A code that is read may be shown, and is written as a code that means the same. */
int fuzz_invitation(const uint8_t *data, size_t size)
{
    auto_free char *text = fuzz_text(data, size);
    struct space_invitation read, again;
    struct error e = {0};
    if (!space_invitation_read(text, &read, &e)) {
        fuzz_check_error(&e);
        return 0;
    }
    FUZZ_CHECK(fuzz_is_clean(read.name, strlen(read.name), false));
    FUZZ_CHECK(fuzz_is_clean(read.url, strlen(read.url), false));
    auto_free char *code = space_invitation_write(&read);
    if (space_invitation_read(code, &again, &e)) { /* a URL of nothing but a password is refused */
        FUZZ_CHECK_SAME(again.name, read.name);
        FUZZ_CHECK(again.role == read.role && !again.owner == !read.owner);
        auto_free char *third = space_invitation_write(&again);
        FUZZ_CHECK_SAME(third, code);
        space_invitation_release(&again);
    }
    space_invitation_release(&read);
    return 0;
}

#ifdef HAVE_LIBSODIUM

/* Whoever sealed these bytes had no key of the ring. */
static void check_line(const struct key_ring *r, struct fuzz_input *in)
{
    struct space_line line = {.entry = fuzz_string(in),
                              .version = fuzz_number(in),
                              .kind = (enum space_kind)fuzz_below(in, SPACE_KINDS),
                              .owner = fuzz_string(in),
                              .key = BUF_INIT,
                              .body = BUF_INIT};
    size_t len = fuzz_below(in, 200);
    len = len < in->left ? len : in->left;
    buf_add(&line.key, in->at, len);
    buf_add(&line.body, in->at + len, in->left - len);
    enum line_opened opened = key_ring_open_line(r, &line);
    FUZZ_CHECK(opened == LINE_FORGED || opened == LINE_LOCKED || opened == LINE_ERASED);
    FUZZ_CHECK(line.body.len == in->left - len);
    space_line_release(&line);
}

int fuzz_key_ring(const uint8_t *data, size_t size)
{
    static struct key_ring r;
    struct fuzz_input in = {data, size};
    static const unsigned char keys[] =
        "k\0\0\0\0\0\0\0\1this key is known to everybody..o"
        "this is the public key of no one";
    auto_free char *ready = key_words("");
    if (!ready)
        return -1;
    FUZZ_CHECK(ring_read_records(&r, true, keys, sizeof keys - 1));
    switch (fuzz_below(&in, 4)) {
    case 0:
    case 1: {
        bool given = fuzz_bool(&in);
        if (ring_read_records(&r, given, in.at, in.left)) {
            FUZZ_CHECK(r.count[RING_OWNERS] > 0 && r.epoch >= 0);
            FUZZ_CHECK(!given || r.count[RING_SEED] + r.count[RING_INVITED] == 0);
        }
        break;
    }
    case 2: { /* members as a carrier may have them */
        auto_free char *text = fuzz_text(in.at, in.left);
        auto_free char *words = key_words(text);
        struct space_member m = {.person = text, .public_key = text, .wrapped_key = text};
        FUZZ_CHECK(!words || fuzz_is_clean(words, strlen(words), true));
        FUZZ_CHECK(!key_ring_vouches(&r, &m));
        FUZZ_CHECK(!ring_take(&r, text, text, strlen(text)));
        break;
    }
    default:
        check_line(&r, &in);
    }
    return 0;
}

#else

int fuzz_key_ring(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return -1;
}

#endif
