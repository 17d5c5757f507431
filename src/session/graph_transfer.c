/* What is large: graph/export and graph/import. */
#include "session/graph_operations.h"
#include "session/graphs.h"
#include "session/memories_lines.h"

/* --- graph/export ----------------------------------------------------------------------------- */

static bool run_export(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    (void)params;
    return !c->graphs->graph.store ||
           graph_export(&c->graphs->graph, c->stream->write, c->stream->context, result, e);
}

const struct operation operation_graph_export = {
    .name = "graph/export",
    .summary = "Writes the graph, one JSON object a line, as server-memory does.",
    .authority = AUTHORITY_OWNER,
    .result = &graph_counts_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_GRAPH | NEED_STORE | NEED_STREAM,
    .run = run_export,
};

/* --- graph/import ----------------------------------------------------------------------------- */

/* A character of two bytes may be written as six ("\u00e4"). */
#define LINE_BYTES ((size_t)3 * GRAPH_ENTITY_BYTES + 65536)

enum { LINES_BETWEEN_TELLING = 200 };

static bool tell(const struct operation_stream *s, int64_t done, int64_t of)
{
    return !s->tell || s->tell(s->context, "entries", done, of);
}

static bool fault_at(const struct operation_stream *s, int64_t line, const struct error *cause,
                     struct error *e)
{
    return err_set(e, cause->code, "%s:%lld: %s", s->name, (long long)line, cause->text);
}

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
            return fault_at(s, lines->number, &cause, e);
        case LINES_FAILED:
            return err_set(e, cause.code, "%s: %s", s->name, cause.text);
        }
        if (!graph_import_line(in, lines->number, lines->line.data, lines->line.len, &cause))
            return fault_at(s, lines->number, &cause, e);
        if (lines->number % LINES_BETWEEN_TELLING == 0 && !tell(s, lines->number, 0))
            return err_set(e, ERR_INTERRUPTED, "stopped; nothing was imported");
    }
}

static bool go_on(void *stream, int64_t done, int64_t of)
{
    return tell(stream, done, of);
}

/* What was written before a fault is said: it stays. */
static bool end_import(struct graph_import *in, const struct operation_stream *s, struct error *e)
{
    struct error cause = {0};
    int64_t line = 0;
    if (graph_import_end(in, go_on, (void *)s, &line, &cause))
        return true;
    struct graph_counts added = graph_import_counts(in);
    struct error told = cause;
    if (added.entities + added.observations + added.relations > 0)
        err_set(&told, cause.code,
                "entities %lld, observations %lld, relations %lld were added, then: %s; the same "
                "text adds the rest",
                (long long)added.entities, (long long)added.observations,
                (long long)added.relations, cause.text);
    return line > 0 ? fault_at(s, line, &told, e)
                    : err_set(e, told.code, "%s: %s", s->name, told.text);
}

static bool run_import(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct memories_lines lines;
    struct graph_import *in = graph_import_begin(&c->graphs->graph);
    (void)params;
    memories_lines_init(&lines, c->stream->in, LINE_BYTES);
    bool ok = take_lines(in, &lines, c->stream, e) && end_import(in, c->stream, e);
    if (ok)
        *(struct graph_counts *)result = graph_import_counts(in);
    memories_lines_release(&lines);
    graph_import_free(in);
    return ok;
}

const struct operation operation_graph_import = {
    .name = "graph/import",
    .summary =
        "Adds the graph of a text, one JSON object a line, as server-memory writes it; a line that "
        "is wrong, and nothing is added.",
    .authority = AUTHORITY_OWNER,
    .result = &graph_counts_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_GRAPH | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_import,
};
