#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/corpora.h"
#include "knowledge/graph.h"
#include "session/claude_lines.h"
#include "session/graph_operations.h"
#include "session/memories.h"
#include "session/memory_operations.h"

/* The operations that take long or have a stream: export, import and reindex of memory and of the
 * graph. */

/* False: the caller wants to stop. */
static bool tell(const struct operation_stream *s, const char *what, int64_t done, int64_t of)
{
    return !s->tell || s->tell(s->context, what, done, of);
}

/* --- memory/export ---------------------------------------------------------------------------- */

enum { PIECE_BYTES = 65536 };

struct writer {
    const struct operation_stream *to;
    struct buf pending;
    int64_t written;
    struct error fault; /* that stopped it */
};

static bool flush(struct writer *w)
{
    bool ok = w->to->write(w->to->context, w->pending.data, w->pending.len, &w->fault);
    buf_clear(&w->pending);
    return ok;
}

static bool write_line(void *context, const struct memory_entry *entry)
{
    struct writer *w = context;
    struct json_out o = {.buf = &w->pending};
    struct memory_entry kept = *entry;
    kept.from = kept.author = NULL; /* told by the session and the space, not by the entry */
    shape_write(&memory_entry_shape, &kept, &o);
    buf_addch(&w->pending, '\n');
    w->written++;
    return w->pending.len < PIECE_BYTES || flush(w);
}

static bool run_export(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct memory_export_result *out = result;
    struct memories *m = c->memories;
    struct writer w = {.to = c->stream, .pending = BUF_INIT};
    (void)params;
    bool ok = !m->store || memories_ops(m)->each(m->recall.memory, write_line, &w, e);
    if (ok && (w.fault.code != ERR_OK || !flush(&w)))
        ok = err_set(e, w.fault.code, "%s", w.fault.text);
    buf_release(&w.pending);
    out->entries = w.written;
    return ok;
}

const struct operation operation_memory_export = {
    OPERATION("memory/export", OWNER, MEMORY, "Writes every entry, one JSON object a line."),
    COMMAND("memory export", "[FILE]",
            N_("export every entry to standard output or a file, one JSON object per line")),
    .result = RESULT("exported", memory_export_result,
                     SHAPE_REQ(memory_export_result, entries, "How many were written.")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_STREAM,
    .run = run_export,
    .content = CONTENT_OUT,
};

/* --- memory/import: a step -------------------------------------------------------------------- */

/* A character of two or four bytes may be written as six or twelve ("\u00e4"), three times as many.
 */
#define LINE_BYTES ((size_t)3 * MEMORY_CONTENT_BYTES + 65536)

/* Other writers wait for one step at most. */
enum { STEP_ENTRIES = 8000, STEP_BYTES = 8 * 1024 * 1024 };

/* Entries that were read for the next transaction. */
struct step {
    VEC(struct memory_entry) entries;
    VEC(int64_t) lines; /* where each stood */
    size_t bytes;
};

struct import {
    struct memories *m;
    struct memories_lines lines;
    const char *name;
    struct step step;
    int64_t stored;
    bool sniffed, claude; /* the first line was looked at; it is of a transcript of Claude Code */
    int64_t turns;        /* of that transcript, so far */
};

static void step_clear(struct step *s)
{
    for (size_t i = 0; i < s->entries.len; i++)
        memory_entry_release(&s->entries.items[i]);
    vec_clear(&s->entries);
    vec_clear(&s->lines);
    s->bytes = 0;
}

struct placed {
    struct memory_entry entry;
    int64_t line;
};

static int by_line(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

static int by_session(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    int order = strcmp(a->entry.session_id, b->entry.session_id);
    return order ? order : by_line(left, right);
}

static void step_sort(struct step *s, int (*compare)(const void *, const void *))
{
    VEC(struct placed) order = {0};
    for (size_t i = 0; i < s->entries.len; i++)
        vec_push(&order, (struct placed){s->entries.items[i], s->lines.items[i]});
    if (order.len > 0)
        qsort(order.items, order.len, sizeof *order.items, compare);
    for (size_t i = 0; i < order.len; i++) {
        s->entries.items[i] = order.items[i].entry;
        s->lines.items[i] = order.items[i].line;
    }
    vec_release(&order);
}

/* --- keeping it ------------------------------------------------------------------------------- */

static bool fault_at(const char *name, int64_t line, const struct error *cause, struct error *e)
{
    return err_set(e, cause->code, "%s:%lld: %s", name, (long long)line, cause->text);
}

static bool index_entries(const struct import *in, size_t first, size_t count, int64_t *stored,
                          struct error *e)
{
    struct memory_entry *entries = in->step.entries.items + first;
    int added = 0;
    /* A transcript grows and comes again: what was forgotten stays so. */
    if (!memories_ops(in->m)->index(in->m->recall.memory, entries->session_id,
                                    in->claude ? MEMORY_OF_SESSION : 0, entries, count, &added, e))
        return false;
    *stored += added;
    return true;
}

/* One call for the entries of each session. */
static bool index_sessions(struct import *in, int64_t *stored, struct error *e)
{
    step_sort(&in->step, by_session);
    const struct memory_entry *entries = in->step.entries.items;
    for (size_t i = 0, end; i < in->step.entries.len; i = end) {
        end = i + 1;
        while (end < in->step.entries.len &&
               strcmp(entries[end].session_id, entries[i].session_id) == 0)
            end++;
        if (!index_entries(in, i, end - i, stored, e))
            return false;
    }
    return true;
}

/* Indexes the entries one by one in the order of the file, up to the first that is refused, whose
 * line and reason are in `refused`. False with `e`: the store failed. */
static bool index_each(struct import *in, int64_t *stored, struct error *refused, struct error *e)
{
    step_sort(&in->step, by_line);
    for (size_t i = 0; i < in->step.entries.len; i++) {
        struct error cause = {0};
        if (index_entries(in, i, 1, stored, &cause))
            continue;
        if (cause.code != ERR_USAGE)
            return err_set(e, cause.code, "%s", cause.text);
        if (in->claude)
            continue;
        fault_at(in->name, in->step.lines.items[i], &cause, refused);
        return true;
    }
    return true;
}

/* Saves the step in one transaction. If an entry is refused, saves the entries before it in another
 * one. */
static bool keep_step(struct import *in, struct error *e)
{
    int64_t stored = 0;
    struct error cause = {0}, refused = {0};
    if (in->step.entries.len == 0)
        return true;
    if (!store_begin(in->m->store, e))
        return false;
    bool ok = index_sessions(in, &stored, &cause);
    if (!ok)
        store_rollback(in->m->store);
    if (!ok && cause.code == ERR_USAGE) {
        stored = 0;
        bool began = store_begin(in->m->store, &cause);
        ok = began && index_each(in, &stored, &refused, &cause);
        if (began && !ok)
            store_rollback(in->m->store);
    }
    if (!ok)
        err_set(e, cause.code, "%s", cause.text);
    else if ((ok = store_commit(in->m->store, e)))
        in->stored += stored;
    step_clear(&in->step);
    return ok && (refused.code == ERR_OK || err_set(e, refused.code, "%s", refused.text));
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Takes a line of Claude Code's transcript, if it is what somebody said and is not known. */
static void take_claude(struct import *in, const struct json *v)
{
    struct claude_line line;
    struct memory_entry known;
    struct error none;
    claude_line_read(v, &line);
    bool wanted =
        line.kind == CLAUDE_SAID &&
        (line.role != ROLE_TOOL || config_boolean(in->m->config, CONFIG_MEMORY_TOOL_RESULTS));
    in->turns += line.kind == CLAUDE_SAID && line.role == ROLE_USER;
    if (wanted && memories_ops(in->m)->get(in->m->recall.memory, line.uuid, &known, &none)) {
        memory_entry_release(&known);
        wanted = false;
    }
    if (wanted) {
        in->step.bytes += line.text.len;
        vec_push(&in->step.entries, ((struct memory_entry){.id = mem_strdup(line.uuid),
                                                           .session_id = mem_strdup(line.session),
                                                           .turn = in->turns,
                                                           .seq = in->lines.number,
                                                           .role = line.role,
                                                           .created_ms = line.ms,
                                                           .content = buf_take(&line.text)}));
        vec_push(&in->step.lines, in->lines.number);
    }
    buf_release(&line.text);
}

/* Reads until a step is full. *more: there may be further lines. */
static bool read_step(struct import *in, bool *more, struct error *e)
{
    struct error cause = {0};
    *more = true;
    while (in->step.entries.len < STEP_ENTRIES && in->step.bytes < STEP_BYTES) {
        struct memory_entry entry;
        struct json *v;
        bool ok;
        switch (memories_lines_next(&in->lines, &cause)) {
        case LINES_NEXT:
            v = json_parse_foreign(in->lines.line.data, in->lines.line.len, &cause);
            in->claude = in->claude || (v && !in->sniffed && claude_line_begins(v));
            in->sniffed = true;
            if (in->claude) {
                take_claude(in, v);
                json_free(v);
                break;
            }
            ok = v && memory_entry_read(v, &entry, &cause);
            json_free(v);
            cause.code = ERR_USAGE;
            if (!ok)
                return fault_at(in->name, in->lines.number, &cause, e);
            vec_push(&in->step.entries, entry);
            vec_push(&in->step.lines, in->lines.number);
            in->step.bytes += strlen(entry.content);
            break;
        case LINES_END:
            *more = false;
            return true;
        case LINES_BAD:
            if (in->claude) /* the rest of it is no line, either */
                break;
            return fault_at(in->name, in->lines.number, &cause, e);
        case LINES_FAILED:
            return err_set(e, cause.code, "%s: %s", in->name, cause.text);
        }
    }
    return true;
}

static bool run_import(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct memory_import_result *out = result;
    struct import in = {.m = c->memories, .name = c->stream->name};
    bool ok = true, more = true;
    (void)params;
    memories_lines_init(&in.lines, c->stream->in, LINE_BYTES);
    while (ok && more) {
        struct error fault = {0};
        bool whole = read_step(&in, &more, &fault);
        ok = keep_step(&in, e) && (whole || err_set(e, fault.code, "%s", fault.text));
        if (ok && !tell(c->stream, "entries", in.stored, 0) && more)
            ok = err_set(e, ERR_INTERRUPTED,
                         "stopped after line %lld; what was read is kept, and to import the "
                         "file again takes the rest",
                         (long long)in.lines.number);
    }
    out->lines = in.lines.number;
    out->stored = in.stored;
    step_clear(&in.step);
    vec_release(&in.step.entries);
    vec_release(&in.step.lines);
    memories_lines_release(&in.lines);
    return ok;
}

const struct operation operation_memory_import = {
    OPERATION("memory/import", OWNER, MEMORY,
              "Adds the entries of a text, one JSON object a line, or those of a transcript of "
              "Claude Code."),
    COMMAND("memory import", "FILE|-", N_("import entries, one JSON object per line")),
    .details =
        N_("A line is {\"id\", \"session_id\", \"turn\", \"seq\", \"role\", "
           "\"speaker\", \"created_at\",\n"
           "\"content\", \"pinned\", \"edited\"}; session_id, role, created_at and content are "
           "required.\n"
           "Entries of a session must be in its order. Entries that exist already are "
           "skipped; - is\n"
           "standard input. A transcript of Claude Code (~/.claude/projects/*/*.jsonl) is read, "
           "too."),
    .result = RESULT("imported", memory_import_result,
                     SHAPE_REQ(memory_import_result, lines, "Number of lines that were read."),
                     SHAPE_REQ(memory_import_result, stored, "Entries that were new.")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_import,
    .content = CONTENT_IN,
};

/* --- memory/reindex --------------------------------------------------------------------------- */

struct reindex {
    const struct operation_stream *stream;
    int64_t done, of; /* vectors */
    bool stopped;
};

static bool tell_words(void *reindex, int64_t done, int64_t of)
{
    struct reindex *r = reindex;
    r->stopped = r->stopped || !tell(r->stream, "words", done, of);
    return !r->stopped;
}

#define STOPPED "stopped; the vectors that were made are kept"

static bool vectors_go_on(void *reindex)
{
    struct reindex *r = reindex;
    r->stopped = r->stopped || !tell(r->stream, "vectors", r->done, r->of);
    return !r->stopped;
}

static bool make_vectors(struct memories *m, struct reindex *r, struct error *e)
{
    const struct wakeup wakeup = {.fd = r->stream->wake_fd, .go_on = vectors_go_on, .context = r};
    if (!recall_know_model(&m->recall, &wakeup, e))
        return r->stopped ? err_set(e, ERR_INTERRUPTED, STOPPED) : false;
    for (;;) {
        int64_t left = 0;
        int retry_ms = 0;
        switch (recall_work(&m->recall, &wakeup, &left, &retry_ms, e)) {
        case RECALL_IDLE:
            return true;
        case RECALL_WAITS:
            return r->stopped ? err_set(e, ERR_INTERRUPTED, STOPPED) : false;
        case RECALL_WORKED:
            break;
        }
        if (left > r->of - r->done) /* the graph of vectors is built after the vectors */
            r->of = left;
        r->done = r->of - left;
        if (!vectors_go_on(r))
            return err_set(e, ERR_INTERRUPTED, STOPPED);
    }
}

static bool run_reindex(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    struct memories *m = c->memories;
    struct reindex r = {.stream = c->stream};
    const char *language = config_string(m->config, CONFIG_MEMORY_LANGUAGE);
    const struct graph graph = {m->store, language};
    struct corpora corpora = {.store = m->store, .language = language};
    (void)params;
    (void)result;
    return !m->store ||
           (memories_ops(m)->reindex(m->recall.memory, language, tell_words, &r, e) &&
            graph_reindex(&graph, e) && corpora_reindex(&corpora, e) && make_vectors(m, &r, e));
}

const struct operation operation_memory_reindex = {
    OPERATION("memory/reindex", OWNER, MEMORY,
              "Makes the indexes of words anew, also the graph's and the corpora's, and the "
              "vectors that lack."),
    COMMAND("memory reindex", "",
            N_("rebuild the word index in the configured language, and compute missing vectors")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_reindex,
};

enum { CHUNK_BYTES = 65536 };

void memories_lines_init(struct memories_lines *l, FILE *in, size_t max)
{
    *l = (struct memories_lines){.in = in, .chunk = mem_alloc(CHUNK_BYTES)};
    buf_init(&l->line, max);
}

void memories_lines_release(struct memories_lines *l)
{
    buf_release(&l->line);
    free(l->chunk);
}

static enum lines_result read_line(struct memories_lines *l, struct error *e)
{
    bool any = false;
    buf_clear(&l->line);
    l->number++;
    for (;;) {
        if (l->at == l->len) {
            l->at = 0;
            l->len = fread(l->chunk, 1, CHUNK_BYTES, l->in);
            if (l->len == 0)
                break;
        }
        const char *begin = l->chunk + l->at;
        const char *newline = memchr(begin, '\n', l->len - l->at);
        size_t len = newline ? (size_t)(newline - begin) : l->len - l->at;
        any = true;
        if (!buf_try_add(&l->line, begin, len)) {
            err_set(e, ERR_USAGE, "the line is longer than %zu bytes; shorten it", l->line.max);
            return LINES_BAD;
        }
        l->at += len + (newline != NULL);
        if (newline)
            return LINES_NEXT;
    }
    if (ferror(l->in)) {
        err_set_errno(e, ERR_FILE_ERROR, "it cannot be read");
        return LINES_FAILED;
    }
    l->number -= !any;
    return any ? LINES_NEXT : LINES_END;
}

/* Replaces bytes that are no UTF-8 with U+FFFD. */
static void repair(struct buf *line)
{
    struct buf whole = BUF_INIT;
    for (size_t i = 0; i < line->len;) {
        uint32_t cp;
        char encoded[4];
        i += utf8_decode(line->data + i, line->len - i, &cp);
        buf_add(&whole, encoded, utf8_encode(cp, encoded));
    }
    whole.max = line->max;
    buf_release(line);
    *line = whole;
}

enum lines_result memories_lines_next(struct memories_lines *l, struct error *e)
{
    for (;;) {
        enum lines_result result = read_line(l, e);
        if (result != LINES_NEXT)
            return result;
        static const char mark[] = "\xef\xbb\xbf";
        if (l->number == 1 && strncmp(l->line.data, mark, 3) == 0)
            buf_consume(&l->line, 3);
        if (strspn(l->line.data, " \t\r") == l->line.len)
            continue;
        if (!utf8_valid(l->line.data, l->line.len))
            repair(&l->line);
        if (!json_find_nul(l->line.data, l->line.len))
            return LINES_NEXT;
        err_set(e, ERR_USAGE, "a NUL character; take it out");
        return LINES_BAD;
    }
}

/* --- graph/export ----------------------------------------------------------------------------- */

OPERATION_RUN(run_graph_export,
              !c->graphs->graph.store ||
                  graph_export(&c->graphs->graph, c->stream->write, c->stream->context, result, e))

const struct operation operation_graph_export = {
    OPERATION("graph/export", OWNER, MEMORY,
              "Writes the graph, one JSON object a line, as server-memory does."),
    COMMAND("graph export", "[FILE]",
            N_("export the graph in the format of server-memory, one JSON object per line")),
    .result = &graph_counts_shape,
    .needs = NEED_GRAPH | NEED_STORE | NEED_STREAM,
    .run = run_graph_export,
    .content = CONTENT_OUT,
};

/* --- graph/import ----------------------------------------------------------------------------- */

/* A character of two bytes may be written as six ("\u00e4"). */
#define GRAPH_LINE_BYTES ((size_t)3 * GRAPH_ENTITY_BYTES + 65536)

enum { LINES_BETWEEN_TELLING = 200 };

static bool take_lines(struct graph_import *in, struct memories_lines *lines,
                       const struct operation_stream *s, struct error *e)
{
    struct error cause = {0};
    for (;;) {
        switch (memories_lines_next(lines, &cause)) {
        case LINES_NEXT:
            break;
        case LINES_END:
            return true;
        case LINES_BAD:
            return fault_at(s->name, lines->number, &cause, e);
        case LINES_FAILED:
            return err_set(e, cause.code, "%s: %s", s->name, cause.text);
        }
        if (!graph_import_line(in, lines->number, lines->line.data, lines->line.len, &cause))
            return fault_at(s->name, lines->number, &cause, e);
        if (lines->number % LINES_BETWEEN_TELLING == 0 && !tell(s, "entries", lines->number, 0))
            return err_set(e, ERR_INTERRUPTED, "stopped; nothing was imported");
    }
}

static bool go_on(void *stream, int64_t done, int64_t of)
{
    return tell(stream, "entries", done, of);
}

/* Entities that were written before a fault stay; the error tells how many. */
static bool run_graph_import(struct operation_context *c, const void *params, void *result,
                             struct error *e)
{
    const struct operation_stream *s = c->stream;
    struct memories_lines lines;
    struct graph_import *in = graph_import_begin(&c->graphs->graph);
    int64_t line = 0;
    struct error fault = {0};
    (void)params;
    memories_lines_init(&lines, s->in, GRAPH_LINE_BYTES);
    bool ok = take_lines(in, &lines, s, e);
    if (ok && !(ok = graph_import_end(in, go_on, (void *)s, &line, &fault))) {
        struct graph_counts added = graph_import_counts(in);
        struct error told = fault;
        if (added.entities + added.observations + added.relations > 0)
            err_set(&told, fault.code,
                    "entities %lld, observations %lld, relations %lld were added, then: %s; the "
                    "same text adds the rest",
                    (long long)added.entities, (long long)added.observations,
                    (long long)added.relations, fault.text);
        (void)(line > 0 ? fault_at(s->name, line, &told, e)
                        : err_set(e, told.code, "%s: %s", s->name, told.text));
    }
    if (ok)
        *(struct graph_counts *)result = graph_import_counts(in);
    memories_lines_release(&lines);
    graph_import_free(in);
    return ok;
}

const struct operation operation_graph_import = {
    OPERATION("graph/import", OWNER, MEMORY,
              "Adds the graph of a text, one JSON object a line, as server-memory writes it; a "
              "line that is wrong, and nothing is added."),
    COMMAND("graph import", "FILE|-", N_("import a graph, one JSON object per line")),
    .details = N_(
        "A line is {\"type\":\"entity\", \"name\", \"entityType\", \"observations\"} "
        "or\n{\"type\":\"relation\", \"from\", \"to\", \"relationType\"}. Existing entities stay "
        "and\nget what is new; if a line is wrong, nothing is imported. - is standard input."),
    .result = &graph_counts_shape,
    .needs = NEED_GRAPH | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_graph_import,
    .content = CONTENT_IN,
};
