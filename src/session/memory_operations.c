#include "session/memory_operations.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/memories.h"

enum { SEARCH_LIMIT = 5, SEARCH_MOST = 1000 };

static const char *const origin_words[] = {"any", [1 + MEMORY_IMPORTED] = "import",
                                           [1 + MEMORY_DROPPED] = "dropped",
                                           [1 + MEMORY_LEFT] = "session"};
const struct shape_names memory_filter_origins = {origin_words, 1 + MEMORY_ORIGINS, -1};

#define ID(S)                                                                                      \
    SHAPE_FIELD("id", STRING, REQUIRED, SHAPE_AT_TEXT(S, id), .least = 1, .most = MEMORY_ID_BYTES, \
                .help = "An entry: its id or the beginning of it.")
#define SCOPE(S)                                                                                   \
    SHAPE_FIELD("scope", STRING, OPTIONAL, SHAPE_AT_TEXT(S, scope),                                \
                .help =                                                                            \
                    "\"all\", \"project\", \"session\" or \"session=ID\"; absent: as configured.")
#define SESSION(S)                                                                                 \
    SHAPE_FIELD(SESSION_MEMBER, STRING, OPTIONAL, SHAPE_AT_TEXT(S, session), .least = 1,           \
                .help = "The session whose scopes \"project\" and \"session\" are meant.")
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
    SESSION(struct memory_search),
    MEMORY_FILTER(struct memory_search),
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

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

static bool browse(struct memories *m, const struct memory_scope *scope, int limit,
                   struct memory_hits *out, struct error *e)
{
    struct memory_entries list = {0};
    if (!memories_ops(m)->list(m->recall.memory, scope, 0, limit, &list, e))
        return false;
    for (size_t i = 0; i < list.items.len; i++)
        vec_push(&out->items, (struct memory_hit){.entry = list.items.items[i]});
    vec_release(&list.items);
    return true;
}

/* Newest first. */
static int by_date(const void *left, const void *right)
{
    const struct memory_hit *a = left, *b = right;
    return (a->entry.created_ms < b->entry.created_ms) -
           (a->entry.created_ms > b->entry.created_ms);
}

static bool look_up(struct memories *m, const struct memory_search *search,
                    const struct memory_scope *scope, struct memory_hits *out, struct error *e)
{
    if (is_blank(search->query))
        return browse(m, scope, search->limit, out, e);
    struct memory_query q = memory_query_for(m->config, search->query);
    q.limit = search->limit;
    q.typing = search->typing;
    q.scope = *scope;
    if (!recall_search(&m->recall, &q, m->wakeup, out, e))
        return false;
    if (search->order == MEMORY_BY_DATE && out->items.len > 0)
        qsort(out->items.items, out->items.len, sizeof *out->items.items, by_date);
    return true;
}

static bool run_search(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct memory_search *search = params;
    struct memory_found *out = result;
    struct memories *m = c->memories;
    struct memory_scope scope;
    char id[UUID_LEN + 1];
    if (!memories_work_in(m, search->session, e) ||
        !memories_find_scope(m, search->scope, id, &scope, e))
        return false;
    scope.filter = search->filter;
    if (!m->store || (look_up(m, search, &scope, &out->hits, e) &&
                      memories_ops(m)->count(m->recall.memory, &scope, &out->total, e)))
        return true;
    memory_hits_release(&out->hits);
    return false;
}

const struct operation operation_memory_search = {
    .name = "memory/search",
    .summary = "Searches semantic memory.",
    .authority = AUTHORITY_CLIENT,
    .params = &search_shape,
    .result = &found_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_search,
};

/* --- memory/list, memory/read, memory/around
 * ------------------------------------------------------ */

static const struct shape_field list_fields[] = {
    SCOPE(struct memory_list_params),
    SESSION(struct memory_list_params),
    MEMORY_FILTER(struct memory_list_params),
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
    struct memories *m = c->memories;
    struct memory_scope scope;
    char id[UUID_LEN + 1];
    if (!memories_work_in(m, p->session, e) || !memories_find_scope(m, p->scope, id, &scope, e))
        return false;
    scope.filter = p->filter;
    return !m->store || memories_ops(m)->list(m->recall.memory, &scope, 0,
                                              p->limit > 0 ? p->limit : INT_MAX, result, e);
}

const struct operation operation_memory_list = {
    .name = "memory/list",
    .summary = "Lists the entries of memory, newest first.",
    .authority = AUTHORITY_CLIENT,
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
    const struct memory_read_params *p = params;
    struct memories *m = c->memories;
    char *id;
    bool ok =
        memories_resolve(m, p->id, &id, e) && memories_ops(m)->get(m->recall.memory, id, result, e);
    free(id);
    return ok;
}

const struct operation operation_memory_read = {
    .name = "memory/read",
    .summary = "Gives an entry of memory in full.",
    .authority = AUTHORITY_CLIENT,
    .params = &read_shape,
    .result = &memory_entry_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_read,
};

/* Neighbours of an excerpt give way before it takes more. */
enum { EXCERPT_BYTES = 8 * 1024 * 1024 };

static bool run_around(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct memory_place *place = params;
    struct memories *m = c->memories;
    struct memory_around around = {.place = *place};
    char id[UUID_LEN + 1];
    if (!memory_place_check(place, e) || !memories_find_scope(m, NULL, id, &around.scope, e))
        return false;
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "memory is empty here");
    if (!memory_around(m->recall.memory, &around, result, e))
        return false;
    memory_excerpt_fit(result, EXCERPT_BYTES);
    return true;
}

const struct operation operation_memory_around = {
    .name = "memory/around",
    .summary = "Gives an entry of memory with those before and after it in its conversation.",
    .authority = AUTHORITY_CLIENT,
    .params = &memory_place_shape,
    .result = &memory_excerpt_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_around,
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
    struct memories *m = c->memories;
    char *id;
    (void)result;
    bool ok = memories_resolve(m, p->id, &id, e) &&
              memories_ops(m)->edit(m->recall.memory, id, p->content, e);
    free(id);
    return ok;
}

const struct operation operation_memory_edit = {
    .name = "memory/edit",
    .summary = "Changes the text of an entry.",
    .authority = AUTHORITY_OWNER,
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
    struct memories *m = c->memories;
    char *id;
    (void)result;
    bool ok = memories_resolve(m, p->id, &id, e) &&
              memories_ops(m)->pin(m->recall.memory, id, p->pinned, e);
    free(id);
    return ok;
}

const struct operation operation_memory_pin = {
    .name = "memory/pin",
    .summary = "Pins an entry: it wins ties, and no copy replaces it; or unpins it.",
    .authority = AUTHORITY_OWNER,
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
static const struct shape forgotten_shape = {.name = "forgotten entries",
                                             .size = sizeof(struct memory_forget_result),
                                             .fields = forgotten_fields};

struct ids {
    VEC(char *) items;
};

static void ids_add(struct ids *ids, char *id)
{
    bool there = false;
    for (size_t i = 0; i < ids->items.len && !there; i++)
        there = strcmp(ids->items.items[i], id) == 0;
    if (there)
        free(id);
    else
        vec_push(&ids->items, id);
}

static void ids_release(struct ids *ids)
{
    for (size_t i = 0; i < ids->items.len; i++)
        free(ids->items.items[i]);
    vec_release(&ids->items);
}

/* All that are named are found, or nothing is done. */
static bool resolve_all(struct memories *m, const struct memory_forget_params *p, struct ids *out,
                        struct error *e)
{
    for (size_t i = 0; i < p->ids.len; i++) {
        char *id;
        if (!memories_resolve(m, p->ids.items[i], &id, e))
            return false;
        ids_add(out, id);
    }
    return true;
}

static bool forget(struct memories *m, const struct ids *ids, struct memory_forget_result *out,
                   struct error *e)
{
    struct memory_forgotten gone = {0};
    if (ids->items.len == 0)
        return true;
    if (!memories_ops(m)->forget(m->recall.memory, (const char *const *)ids->items.items,
                                 ids->items.len, &gone, e))
        return false;
    out->deleted = (int)gone.items.len;
    out->summaries = (int)gone.summaries.len;
    vec_push(&m->forgotten, gone);
    return true;
}

static bool run_forget(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct ids ids = {0};
    bool ok = resolve_all(c->memories, params, &ids, e) && forget(c->memories, &ids, result, e);
    ids_release(&ids);
    return ok;
}

const struct operation operation_memory_forget = {
    .name = "memory/forget",
    .summary = "Deletes entries for good: all that are named, or none.",
    .authority = AUTHORITY_OWNER,
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
    struct memories *m = c->memories;
    (void)params;
    if (m->forgotten.len == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "there is no forgotten entry to restore");
    struct memory_forgotten *last = &vec_last(&m->forgotten);
    if (!memories_ops(m)->restore(m->recall.memory, last, e))
        return false;
    out->id = mem_strdup(last->items.len > 0 ? last->items.items[0].entry.id : NULL);
    out->summaries = (int)last->summaries.len;
    memory_forgotten_release(last);
    m->forgotten.len--;
    return true;
}

const struct operation operation_memory_restore = {
    .name = "memory/restore",
    .summary = "Puts back what was last forgotten here.",
    .authority = AUTHORITY_OWNER,
    .result = &restored_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_restore,
};

/* --- memory/stats -------------------------------------------------------------------------- */

static bool run_stats(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    struct memories *m = c->memories;
    (void)params;
    return !m->store || recall_stats(&m->recall, m->wakeup, result, e);
}

const struct operation operation_memory_stats = {
    .name = "memory/stats",
    .summary = "Tells how much there is in memory.",
    .authority = AUTHORITY_CLIENT,
    .result = &memory_stats_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_stats,
};
