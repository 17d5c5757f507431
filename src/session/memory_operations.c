#include "session/memory_operations.h"

#include <stdlib.h>

enum { SEARCH_LIMIT = 5, SEARCH_MOST = 1000 };

#define ID(S)                                                                                      \
    SHAPE_FIELD("id", STRING, REQUIRED, SHAPE_AT_TEXT(S, id), .least = 1, .most = MEMORY_ID_BYTES, \
                .help = "An entry: its id or the beginning of it.")
#define SCOPE(S)                                                                                   \
    SHAPE_FIELD("scope", STRING, OPTIONAL, SHAPE_AT_TEXT(S, scope),                                \
                .help =                                                                            \
                    "\"all\", \"project\", \"session\" or \"session=ID\"; absent: as configured.")
#define PARAMS(T, rows)                                                                            \
    {                                                                                              \
        .name = "parameters", .size = sizeof(T), .fields = rows, .closed = true                    \
    }

/* --- memory/search ---------------------------------------------------------------------------- */

static const char *const order_words[] = {[MEMORY_BY_SCORE] = "score", [MEMORY_BY_DATE] = "date"};
static const struct shape_names orders = {order_words, 2, -1};

static const struct shape_field search_fields[] = {
    SHAPE_FIELD("query", STRING, REQUIRED, SHAPE_AT_TEXT(struct memory_search, query),
                .help = "What to recall; blank: the newest entries."),
    SCOPE(struct memory_search),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct memory_search, limit), .least = 1,
                .most = SEARCH_MOST, .absent = SEARCH_LIMIT, .help = "Hits."),
    SHAPE_FIELD("order", ENUM, OPTIONAL, SHAPE_AT(enum memory_order, struct memory_search, order),
                .names = &orders, .absent = MEMORY_BY_SCORE, .help = "Of the hits."),
    SHAPE_FIELD("typing", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct memory_search, typing),
                .help = "The last word may be the beginning of one."),
    {0},
};
static const struct shape search_shape = PARAMS(struct memory_search, search_fields);

/* A badge is static text (memory_hit.h). */
static bool has_badge(const void *found)
{
    return ((const struct memory_found *)found)->hits.badge;
}

static void write_badge(struct json_out *o, const void *found)
{
    json_out_string(o, ((const struct memory_found *)found)->hits.badge);
}

static const struct shape_codec badge = {
    .write = write_badge, .schema = "{\"type\":\"string\"}", .expected = "a string"};

static const struct shape_field found_fields[] = {
    SHAPE_FIELD("hits", LIST, REQUIRED, offsetof(struct memory_found, hits.items),
                .of = &memory_hit_shape, .help = "Best first."),
    SHAPE_FIELD("badge", OWN, OPTIONAL, 0, .codec = &badge, .there = has_badge,
                .help = "Why it was not searched as configured, English."),
    SHAPE_FIELD("total", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct memory_found, total),
                .help = "Entries of the scope."),
    {0},
};
static const struct shape found_shape = {
    .name = "hits", .size = sizeof(struct memory_found), .fields = found_fields};

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    return memories_search(c->memories, params, result, e);
}

const struct operation operation_memory_search = {
    .name = "memory/search",
    .summary = "Searches semantic memory.",
    .params = &search_shape,
    .result = &found_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_search,
};

/* --- memory/list, memory/read ----------------------------------------------------------------- */

static const struct shape_field list_fields[] = {
    SCOPE(struct memory_list_params),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct memory_list_params, limit),
                .help = "At most so many; 0: all."),
    {0},
};
static const struct shape list_shape = PARAMS(struct memory_list_params, list_fields);

static const struct shape_field entries_fields[] = {
    SHAPE_FIELD("entries", LIST, REQUIRED, offsetof(struct memory_entries, items),
                .of = &memory_entry_shape, .help = "Newest first."),
    {0},
};
static const struct shape entries_shape = {
    .name = "entries", .size = sizeof(struct memory_entries), .fields = entries_fields};

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_list_params *p = params;
    return memories_list(c->memories, p->scope, p->limit, result, e);
}

const struct operation operation_memory_list = {
    .name = "memory/list",
    .summary = "Lists the entries of memory, newest first.",
    .params = &list_shape,
    .result = &entries_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_list,
};

static const struct shape_field read_fields[] = {ID(struct memory_read_params), {0}};
static const struct shape read_shape = PARAMS(struct memory_read_params, read_fields);

static bool run_read(struct operation_context *c, const void *params, void *result, struct error *e)
{
    return memories_get(c->memories, ((const struct memory_read_params *)params)->id, result, e);
}

const struct operation operation_memory_read = {
    .name = "memory/read",
    .summary = "Gives an entry of memory in full.",
    .params = &read_shape,
    .result = &memory_entry_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_read,
};

/* --- changes ---------------------------------------------------------------------------------- */

static const struct shape_field edit_fields[] = {
    ID(struct memory_edit_params),
    SHAPE_FIELD("content", STRING, REQUIRED, SHAPE_AT_TEXT(struct memory_edit_params, content),
                .most = MEMORY_CONTENT_BYTES, .help = "The new text."),
    {0},
};
static const struct shape edit_shape = PARAMS(struct memory_edit_params, edit_fields);

static bool run_edit(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_edit_params *p = params;
    (void)result;
    return memories_edit(c->memories, p->id, p->content, e);
}

const struct operation operation_memory_edit = {
    .name = "memory/edit",
    .summary = "Changes the text of an entry.",
    .params = &edit_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_edit,
};

static const struct shape_field pin_fields[] = {
    ID(struct memory_pin_params),
    SHAPE_FIELD("pinned", BOOLEAN, REQUIRED, SHAPE_AT(bool, struct memory_pin_params, pinned),
                .help = "False: no more."),
    {0},
};
static const struct shape pin_shape = PARAMS(struct memory_pin_params, pin_fields);

static bool run_pin(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_pin_params *p = params;
    (void)result;
    return memories_pin(c->memories, p->id, p->pinned, e);
}

const struct operation operation_memory_pin = {
    .name = "memory/pin",
    .summary = "Pins an entry: it wins ties, and no copy replaces it; or unpins it.",
    .params = &pin_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_pin,
};

static const struct shape_field forget_fields[] = {
    SHAPE_FIELD("ids", STRINGS, REQUIRED, offsetof(struct memory_forget_params, ids), .least = 1,
                .help = "Entries: their ids or the beginnings of them."),
    {0},
};
static const struct shape forget_shape = PARAMS(struct memory_forget_params, forget_fields);

static const struct shape_field forgotten_fields[] = {
    SHAPE_FIELD("deleted", COUNT, REQUIRED, SHAPE_AT(int, struct memory_forget_result, deleted),
                .help = "Entries."),
    SHAPE_FIELD("summaries", COUNT, REQUIRED, SHAPE_AT(int, struct memory_forget_result, summaries),
                .help = "Summaries that quote what went, and are flagged."),
    {0},
};
static const struct shape forgotten_shape = {
    .name = "forgotten", .size = sizeof(struct memory_forget_result), .fields = forgotten_fields};

static bool run_forget(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct memory_forget_params *p = params;
    struct memory_forget_result *out = result;
    return memories_forget(c->memories, p->ids.items, p->ids.len, &out->deleted, &out->summaries,
                           e);
}

const struct operation operation_memory_forget = {
    .name = "memory/forget",
    .summary = "Deletes entries for good: all that are named, or none.",
    .params = &forget_shape,
    .result = &forgotten_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_forget,
};

static const struct shape_field restored_fields[] = {
    SHAPE_FIELD("id", STRING, REQUIRED, SHAPE_AT_TEXT(struct memory_restore_result, id),
                .help = "The first entry that was put back."),
    SHAPE_FIELD("summaries", COUNT, REQUIRED,
                SHAPE_AT(int, struct memory_restore_result, summaries),
                .help = "Summaries that quote it, and were flagged."),
    {0},
};
static const struct shape restored_shape = {
    .name = "restored", .size = sizeof(struct memory_restore_result), .fields = restored_fields};

static bool run_restore(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    struct memory_restore_result *out = result;
    (void)params;
    return memories_restore(c->memories, &out->id, &out->summaries, e);
}

const struct operation operation_memory_restore = {
    .name = "memory/restore",
    .summary = "Puts back what was last forgotten here.",
    .result = &restored_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_restore,
};

/* --- the whole of it -------------------------------------------------------------------------- */

static bool run_stats(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    (void)params;
    return memories_stats(c->memories, result, e);
}

const struct operation operation_memory_stats = {
    .name = "memory/stats",
    .summary = "Tells how much there is in memory.",
    .result = &memory_stats_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_stats,
};

static const struct shape_field exported_fields[] = {
    SHAPE_FIELD("entries", INTEGER, REQUIRED,
                SHAPE_AT(int64_t, struct memory_export_result, entries),
                .help = "How many were written."),
    {0},
};
static const struct shape exported_shape = {
    .name = "exported", .size = sizeof(struct memory_export_result), .fields = exported_fields};

static bool run_export(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct memory_export_result *out = result;
    (void)params;
    return memories_export(c->memories, c->stream->write, c->stream->context, &out->entries, e);
}

const struct operation operation_memory_export = {
    .name = "memory/export",
    .summary = "Writes every entry, one JSON object a line.",
    .result = &exported_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_STREAM,
    .run = run_export,
};

static const struct shape_field imported_fields[] = {
    SHAPE_FIELD("lines", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct memory_import_result, lines),
                .help = "That were read."),
    SHAPE_FIELD("stored", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct memory_import_result, stored),
                .help = "Entries that were new."),
    {0},
};
static const struct shape imported_shape = {
    .name = "imported", .size = sizeof(struct memory_import_result), .fields = imported_fields};

static bool tell_entries(void *stream, int64_t lines, int64_t stored)
{
    const struct operation_stream *s = stream;
    (void)lines;
    return !s->tell || s->tell(s->context, "entries", stored, 0);
}

static bool run_import(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct operation_stream *s = c->stream;
    const struct import_progress progress = {.tell = tell_entries, .context = (void *)(uintptr_t)s};
    struct memory_import_result *out = result;
    (void)params;
    return memories_import(c->memories, s->in, s->name, &progress, &out->lines, &out->stored, e);
}

const struct operation operation_memory_import = {
    .name = "memory/import",
    .summary = "Adds the entries of a text, one JSON object a line.",
    .result = &imported_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_import,
};

static bool tell_work(void *stream, int what, int64_t done, int64_t of)
{
    const struct operation_stream *s = stream;
    return !s->tell || s->tell(s->context, what == 0 ? "words" : "vectors", done, of);
}

static bool run_reindex(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct operation_stream *s = c->stream;
    (void)params;
    (void)result;
    return memories_reindex(c->memories, tell_work, s->wake_fd, (void *)(uintptr_t)s, e);
}

const struct operation operation_memory_reindex = {
    .name = "memory/reindex",
    .summary = "Makes the index of words anew, and the vectors that lack.",
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE | NEED_STREAM,
    .run = run_reindex,
};
