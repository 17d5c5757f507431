#include "session/memory_operations.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "session/memories.h"
#include "session/memory_sink.h"
#include "store/sessions.h"

struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project)
{
    struct memories *m = mem_alloc(sizeof *m);
    *m = (struct memories){.config = config,
                           .store = store,
                           .directory = mem_strdup(directory),
                           .project = mem_strdup(project)};
    if (store) {
        recall_init(&m->recall, config, store, directory);
        m->recall.alone = true;
    }
    return m;
}

void memories_free(struct memories *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->forgotten.len; i++)
        memory_forgotten_release(&m->forgotten.items[i]);
    vec_release(&m->forgotten);
    for (size_t i = 0; i < m->unlearned.len; i++)
        learned_items_release(&m->unlearned.items[i]);
    vec_release(&m->unlearned);
    if (m->store)
        recall_release(&m->recall);
    session_info_release(&m->named);
    free(m->directory);
    free(m->project);
    free(m);
}

/* --- the session that a row is for ------------------------------------------------------------ */

bool memories_work_in(struct memories *m, const char *reference, struct error *e)
{
    char id[UUID_LEN + 1];
    session_info_release(&m->named);
    m->named = (struct session_info){0};
    return !reference || !m->store ||
           (sessions_resolve(m->store, reference, id, e) &&
            sessions_get(m->store, id, &m->named, e));
}

const char *memories_session(const struct memories *m)
{
    return *m->named.id ? m->named.id : m->session;
}

/* An imported session has none. */
const char *memories_directory(const struct memories *m)
{
    return m->named.directory && *m->named.directory ? m->named.directory : m->project;
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* `text` is as in struct memory_search; NULL: as configured. A session is named by an id that
 * entries have, else by a reference to a saved session, whose id is written to `id`. The scope may
 * borrow from `id` and `text`. */
static bool find_scope(struct memories *m, const char *text, char id[UUID_LEN + 1],
                       struct memory_scope *out, struct error *e)
{
    const char *name = text ? text : config_string(m->config, CONFIG_MEMORY_SCOPE);
    int64_t count;
    if (!memory_scope_parse(name, out))
        return err_set(e, ERR_USAGE, "unknown scope \"%.60s\"; give all, project or session=ID",
                       name);
    if (out->kind == MEMORY_SCOPE_PROJECT)
        out->directory = memories_directory(m);
    if (out->kind != MEMORY_SCOPE_SESSION)
        return true;
    if (out->session_id && *out->session_id) {
        const char *reference = out->session_id;
        if (!m->store)
            return true;
        if (!memories_ops(m)->count(m->recall.memory, out, &count, e))
            return false;
        if (count > 0)
            return true;
        out->session_id = id;
        return sessions_resolve(m->store, reference, id, e);
    }
    out->session_id = memories_session(m);
    if (out->session_id)
        return true;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    return !text || err_set(e, ERR_USAGE, "no session is open here; give session=ID");
}

/* --- entries ---------------------------------------------------------------------------------- */

/* `reference`: the id of an entry or the beginning of it. The caller frees *id. */
static bool resolve_entry(struct memories *m, const char *reference, char **id, struct error *e)
{
    *id = NULL;
    if (!reference)
        return err_set(e, ERR_USAGE, "no entry is named; give its id");
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "memory is empty here, so \"%.40s\" was not found; compactions and tiro "
                       "memory import fill it",
                       reference);
    return memory_resolve(m->recall.memory, reference, id, e);
}

struct graphs *graphs_new(const struct config *config, struct store *store)
{
    struct graphs *g = mem_alloc(sizeof *g);
    *g = (struct graphs){
        .graph = {.store = store, .language = config_string(config, CONFIG_MEMORY_LANGUAGE)}};
    return g;
}

void graphs_free(struct graphs *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->gone.len; i++)
        graph_part_release(&g->gone.items[i]);
    vec_release(&g->gone);
    free(g);
}

void graphs_keep_gone(struct graphs *g, struct graph_part *gone)
{
    if (g->gone.len == GRAPHS_GONE) {
        graph_part_release(&g->gone.items[0]);
        g->gone.len--;
        memmove(g->gone.items, g->gone.items + 1, g->gone.len * sizeof *g->gone.items);
    }
    vec_push(&g->gone, *gone);
    *gone = (struct graph_part){0};
}

/* memory/index: sessions from before memory followed them, which wait for the user's decision. */

static const char *const choice_words[] = {
    [MEMORY_INDEX_ALL] = "all", [MEMORY_INDEX_NONE] = "none"};
static const struct shape_names choices = {choice_words, 2, -1};

/* --- at once, for a command ------------------------------------------------------------------- */

struct work {
    const struct operation_stream *stream;
    struct memory *memory;
    struct memory_sink sink;
    struct memory_follow follow;
    int64_t all, indexed;
};

static bool go_on(const struct work *w, int64_t left, struct error *e)
{
    const struct operation_stream *s = w->stream;
    return !s->tell || s->tell(s->context, "sessions", w->all - left, w->all) ||
           err_set(e, ERR_INTERRUPTED, "stopped; the rest is indexed by the next conversation");
}

/* *sessions: how many are to be indexed; then how many were. */
static bool index_now(const struct operation_context *c, int64_t *sessions, struct error *e)
{
    struct work w = {.stream = c->stream, .memory = c->memories->recall.memory, .all = *sessions};
    memory_sink_init(&w.sink, w.memory, c->config);
    w.follow = (struct memory_follow){
        .sink = &w.sink, .store = c->memories->store, .directory = c->memories->directory};
    bool ok = true, more = true;
    while (ok && more) {
        struct memory_backlog_count count;
        int64_t wait_ms;
        bool indexes = true;
        ok = memory_follow_next(&w.follow, &more, &wait_ms, e) &&
             w.memory->ops->backlog(w.memory, &count, e);
        w.indexed += ok && more;
        ok = ok && go_on(&w, count.sessions[BACKLOG_WANTED], e);
        while (ok && indexes)
            ok = memory_sink_work(&w.sink, w.follow.store, &indexes, e) &&
                 go_on(&w, count.sessions[BACKLOG_WANTED], e);
    }
    *sessions = w.indexed;
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static bool run_index(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct memory_index_params *p = params;
    struct memory_index_result *out = result;
    struct memories *m = c->memories;
    struct memory_backlog_count count;
    bool all = p->sessions == MEMORY_INDEX_ALL;
    if (!m->store)
        return true;
    if (all && !memory_follow_is_on(c->config))
        return err_set(e, ERR_USAGE,
                       "[memory] index is \"%s\"; sessions are indexed where it is \"sessions\"",
                       config_string(c->config, CONFIG_MEMORY_INDEX));
    if (!memories_ops(m)->backlog(m->recall.memory, &count, e) ||
        !memories_ops(m)->answer_backlog(m->recall.memory, all, e))
        return false;
    out->sessions = count.sessions[BACKLOG_UNASKED];
    if (all)
        out->sessions += count.sessions[BACKLOG_REFUSED] + count.sessions[BACKLOG_WANTED];
    return !all || !c->stream || index_now(c, &out->sessions, e);
}

const struct operation operation_memory_index = {
    OPERATION("memory/index", OWNER, MEMORY,
              "Says whether conversations from before come into memory; with a stream, at once, "
              "else in the background."),
    SLASH("index", "[none]", N_("index conversations that are not in memory yet")),
    COMMAND("memory index", "[all|none]", N_("index the conversations that are not in memory yet")),
    .details = N_("Conversations are indexed when they are left. Conversations from "
                  "before\ntiro did so wait for this command; none keeps them out of memory."),
    .params = PARAMETERS(
        memory_index_params,
        SHAPE_REQ_WORD(
            memory_index_params, sessions, choices,
            "\"all\": index them, also those that were refused earlier; \"none\": do not.")),
    .result = RESULT("indexed", memory_index_result,
                     SHAPE_REQ(memory_index_result, sessions,
                               "How many were indexed; in the background, how many wait; of "
                               "\"none\", how many stay out.")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_index,
};

enum { SEARCH_LIMIT = 5, SEARCH_MOST = 1000 };

static const char *const origin_words[] = {"any", [1 + MEMORY_IMPORTED] = "import",
                                           [1 + MEMORY_DROPPED] = "dropped",
                                           [1 + MEMORY_LEFT] = "session"};
const struct shape_names memory_filter_origins = {origin_words, 1 + MEMORY_ORIGINS, -1};

#define ID(S)                                                                                      \
    SHAPE_REQ(S, id, "Id of an entry, or the beginning of the id.", .least = 1,                    \
              .most = MEMORY_ID_BYTES)
#define SCOPE_HELP "\"all\", \"project\", \"session\" or \"session=ID\"; absent: as configured."
#define SESSION(S)                                                                                 \
    SHAPE_OPT_AS(SESSION_MEMBER, S, session,                                                       \
                 "Session to which the scopes \"project\" and \"session\" refer.", .least = 1)

/* --- memory/search ---------------------------------------------------------------------------- */

static const char *const order_words[] = {[MEMORY_BY_SCORE] = "score", [MEMORY_BY_DATE] = "date"};
static const struct shape_names orders = {order_words, 2, -1};

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
    if (utf8_is_blank(search->query)) {
        struct memory_entries list = {0};
        if (!memories_ops(m)->list(m->recall.memory, scope, 0, search->limit, &list, e))
            return false;
        for (size_t i = 0; i < list.items.len; i++)
            vec_push(&out->items, (struct memory_hit){.entry = list.items.items[i]});
        vec_release(&list.items);
        return true;
    }
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
    struct memory_search search = *(const struct memory_search *)params;
    struct memory_found *out = result;
    struct memories *m = c->memories;
    struct memory_scope scope;
    char id[UUID_LEN + 1];
    auto_free char *from = NULL;
    auto_free char *words = search.typing ? sessions_take_from(search.query, &from) : NULL;
    if (!memories_work_in(m, search.session, e) || !find_scope(m, search.scope, id, &scope, e))
        return false;
    search.query = words ? words : search.query;
    scope.filter = search.filter;
    scope.filter.from = from ? from : search.filter.from;
    if (!m->store || (look_up(m, &search, &scope, &out->hits, e) &&
                      memories_ops(m)->count(m->recall.memory, &scope, &out->total, e)))
        return true;
    memory_hits_release(&out->hits);
    return false;
}

const struct operation operation_memory_search = {
    OPERATION("memory/search", CLIENT, MEMORY, "Searches semantic memory."),
    SLASH("memory", "[QUERY|off|read|write]",
          N_("search earlier conversations, or set how this session may use memory")),
    COMMAND("memory search", "QUERY...", N_("search the entries, best match first")),
    .details = N_("\"Words in quotes\" must occur in that order; if no entry has them, the "
                  "other words of the query\n"
                  "are searched. After the first word, -word excludes entries that contain "
                  "this word."),
    .dashes = true,
    .params = PARAMETERS(
        memory_search,
        SHAPE_REQ(memory_search, query, "Text to search for; blank: the newest entries."),
        SHAPE_OPT(
            memory_search, scope, SCOPE_HELP,
            SHAPE_OPTION("--scope SCOPE", N_("all, project (sessions started in this directory) or "
                                             "session=ID (default: as configured)"))),
        SESSION(memory_search), MEMORY_FILTER(memory_search),
        SHAPE_OPT(memory_search, limit, "Hits.", .least = 1, .most = SEARCH_MOST,
                  .absent = SEARCH_LIMIT,
                  SHAPE_OPTION("--limit N", N_("at most N matches, up to 1000 (default: 5)"))),
        SHAPE_OPT_WORD(memory_search, order, orders, "Order of the hits.",
                       .absent = MEMORY_BY_SCORE),
        SHAPE_OPT(memory_search, typing, "The last word may be incomplete.")),
    .result =
        RESULT("hits", memory_found,
               SHAPE_REQ_LIST("hits", memory_found, hits.items, memory_hit_shape, "Best first."),
               SHAPE_FIELD("badge", OWN, OPTIONAL, 0, .codec = &badge, .there = has_badge,
                           .help = "Why memory could not be searched as configured, in English."),
               SHAPE_REQ(memory_found, total, "Number of entries in the scope.")),
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_search,
};

/* --- memory/list, memory/read, memory/around
 * ------------------------------------------------------ */

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_list_params *p = params;
    struct memories *m = c->memories;
    struct memory_scope scope;
    char id[UUID_LEN + 1];
    if (!memories_work_in(m, p->session, e) || !find_scope(m, p->scope, id, &scope, e))
        return false;
    scope.filter = p->filter;
    return !m->store || memories_ops(m)->list(m->recall.memory, &scope, 0,
                                              p->limit > 0 ? p->limit : INT_MAX, result, e);
}

const struct operation operation_memory_list = {
    OPERATION("memory/list", CLIENT, MEMORY, "Lists the entries of memory, newest first."),
    COMMAND("memory list", "", N_("list the entries, newest first")),
    .details = N_("On a terminal, the newest 20 are shown unless --limit is given; "
                  "to a pipe or a file, and\n"
                  "with --json, all are written."),
    .params = PARAMETERS(
        memory_list_params, SHAPE_OPT(memory_list_params, scope, SCOPE_HELP),
        SESSION(memory_list_params), MEMORY_FILTER(memory_list_params),
        SHAPE_OPT(memory_list_params, limit, "Most entries to give; 0: all.",
                  SHAPE_OPTION("-n, --limit N",
                               N_("only the newest N (default: 20 on a terminal, else all)")))),
    .result = RESULT(
        "entries", memory_entries,
        SHAPE_REQ_LIST("entries", memory_entries, items, memory_entry_shape, "Newest first.")),
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_list,
};

static bool run_read(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_read_params *p = params;
    struct memories *m = c->memories;
    auto_free char *id = NULL;
    return resolve_entry(m, p->id, &id, e) && memories_ops(m)->get(m->recall.memory, id, result, e);
}

const struct operation operation_memory_read = {
    OPERATION("memory/read", CLIENT, MEMORY, "Gives an entry of memory in full."),
    COMMAND("memory show", "ID", N_("show an entry in full")),
    .details = NAMES_AN_ENTRY,
    .params = PARAMETERS(memory_read_params, ID(memory_read_params)),
    .result = &memory_entry_shape,
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
    if (!memory_place_check(place, e) || !find_scope(m, NULL, id, &around.scope, e))
        return false;
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "memory is empty here");
    if (!memory_around(m->recall.memory, &around, result, e))
        return false;
    memory_excerpt_fit(result, EXCERPT_BYTES);
    return true;
}

const struct operation operation_memory_around = {
    OPERATION("memory/around", CLIENT, MEMORY,
              "Gives an entry of memory with the entries before and after it in its conversation."),
    .params = &memory_place_shape,
    .result = &memory_excerpt_shape,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_around,
};

/* --- changes ---------------------------------------------------------------------------------- */

static bool run_edit(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_edit_params *p = params;
    struct memories *m = c->memories;
    auto_free char *id = NULL;
    (void)result;
    return resolve_entry(m, p->id, &id, e) &&
           memories_ops(m)->edit(m->recall.memory, id, p->content, e);
}

const struct operation operation_memory_edit = {
    OPERATION("memory/edit", OWNER, MEMORY, "Changes the text of an entry."),
    COMMAND("memory edit", "ID", N_("change the text of an entry")),
    .details = NAMES_AN_ENTRY,
    .params = PARAMETERS(
        memory_edit_params, ID(memory_edit_params),
        SHAPE_REQ(
            memory_edit_params, content, "The new text.", .most = MEMORY_CONTENT_BYTES,
            SHAPE_OPTION("--content TEXT", N_("the new text; without it, your editor opens, or "
                                              "standard input is read if it is not a terminal")))),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_edit,
};

static bool run_pin(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct memory_pin_params *p = params;
    struct memories *m = c->memories;
    auto_free char *id = NULL;
    (void)result;
    return resolve_entry(m, p->id, &id, e) &&
           memories_ops(m)->pin(m->recall.memory, id, p->pinned, e);
}

const struct operation operation_memory_pin = {
    OPERATION("memory/pin", OWNER, MEMORY,
              "Pins or unpins an entry. A pinned entry ranks above equal matches, and later copies "
              "do not replace it."),
    COMMAND("memory pin", "ID",
            N_("pin an entry: it ranks above equal matches, and later copies do not replace it")),
    .details = NAMES_AN_ENTRY,
    .params =
        PARAMETERS(memory_pin_params, ID(memory_pin_params),
                   SHAPE_REQ(memory_pin_params, pinned, "True: pin the entry; false: unpin it.")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_pin,
};

static bool run_forget(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct memory_forget_params *p = params;
    struct memory_forget_result *out = result;
    struct memories *m = c->memories;
    struct memory_forgotten gone = {0};
    struct text_list ids = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->ids.len; i++) {
        char *id;
        ok = resolve_entry(m, p->ids.items[i], &id, e);
        bool known = false; /* an entry may be named twice */
        for (size_t k = 0; ok && k < ids.items.len; k++)
            known = known || strcmp(ids.items.items[k], id) == 0;
        if (ok && !known)
            vec_push(&ids.items, id);
        else if (ok)
            free(id);
    }
    if (ok && ids.items.len > 0) {
        ok = memories_ops(m)->forget(m->recall.memory, (const char *const *)ids.items.items,
                                     ids.items.len, &gone, e);
        out->deleted = ok ? (int)gone.items.len : 0;
        out->summaries = ok ? (int)gone.summaries.len : 0;
        if (ok)
            vec_push(&m->forgotten, gone);
    }
    vec_free_each(&ids.items);
    return ok;
}

const struct operation operation_memory_forget = {
    OPERATION("memory/forget", OWNER, MEMORY,
              "Deletes entries for good; if one id is unknown, none is deleted."),
    SLASH("forget", "QUERY", N_("search memory and learned items; the key d forgets an entry")),
    .done = SAYS_DONE,
    COMMAND("memory delete", "ID...", N_("delete entries for good")),
    .details = ASKS_FOR_ALL,
    .params = PARAMETERS(memory_forget_params,
                         SHAPE_REQ_TEXTS(memory_forget_params, ids,
                                         "Ids of entries, or beginnings of ids.", .least = 1)),
    .result =
        RESULT("forgotten entries", memory_forget_result,
               SHAPE_REQ(memory_forget_result, deleted, "Entries."),
               SHAPE_REQ(memory_forget_result, summaries,
                         "Number of summaries that quote a deleted entry; they are flagged.")),
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_forget,
};

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
    OPERATION("memory/restore", OWNER, MEMORY,
              "Restores the entries that were last forgotten in this process."),
    .result = RESULT("restored", memory_restore_result,
                     SHAPE_REQ(memory_restore_result, id, "Id of the first restored entry."),
                     SHAPE_REQ(memory_restore_result, summaries,
                               "Number of flagged summaries that quote the restored entries.")),
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
    OPERATION("memory/stats", CLIENT, MEMORY, "Counts the contents of memory."),
    COMMAND("memory stats", "", N_("show the size of the memory")),
    .result = &memory_stats_shape,
    .needs = NEED_MEMORY | NEED_STORE,
    .run = run_stats,
};
