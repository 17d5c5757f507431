#include "session/memories.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/memory_operations.h"
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

/* What a person means by a session: one that entries have, else one that is kept here. */
static bool resolve_session(struct memories *m, const char *reference, char id[UUID_LEN + 1],
                            struct memory_scope *scope, struct error *e)
{
    int64_t count;
    if (!m->store)
        return true;
    if (!memories_ops(m)->count(m->recall.memory, scope, &count, e))
        return false;
    if (count > 0)
        return true;
    scope->session_id = id;
    return sessions_resolve(m->store, reference, id, e);
}

bool memories_find_scope(struct memories *m, const char *text, char id[UUID_LEN + 1],
                         struct memory_scope *out, struct error *e)
{
    const char *name = text ? text : config_string(m->config, CONFIG_MEMORY_SCOPE);
    if (!memory_scope_parse(name, out))
        return err_set(e, ERR_USAGE, "unknown scope \"%.60s\"; give all, project or session=ID",
                       name);
    if (out->kind == MEMORY_SCOPE_PROJECT)
        out->directory = memories_directory(m);
    if (out->kind != MEMORY_SCOPE_SESSION)
        return true;
    if (out->session_id && *out->session_id)
        return resolve_session(m, out->session_id, id, out, e);
    out->session_id = memories_session(m);
    if (out->session_id)
        return true;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    return !text || err_set(e, ERR_USAGE, "no session is open here; give session=ID");
}

/* --- entries ---------------------------------------------------------------------------------- */

bool memories_resolve(struct memories *m, const char *reference, char **id, struct error *e)
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

/* memory/index: sessions from before memory followed them, which wait for the person's word. */

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

static bool count_left(const struct work *w, int64_t *left, struct error *e)
{
    struct memory_backlog_count count;
    bool ok = w->memory->ops->backlog(w->memory, &count, e);
    *left = count.sessions[BACKLOG_WANTED];
    return ok;
}

static bool index_one(struct work *w, bool *more, struct error *e)
{
    int64_t wait_ms, left = 0;
    bool ok = memory_follow_next(&w->follow, more, &wait_ms, e) && count_left(w, &left, e);
    w->indexed += ok && *more;
    ok = ok && go_on(w, left, e);
    for (bool indexes = true; indexes && ok;)
        ok = memory_sink_work(&w->sink, w->follow.store, &indexes, e) && go_on(w, left, e);
    return ok;
}

/* *sessions: how many are meant; then how many were indexed. */
static bool index_now(const struct operation_context *c, int64_t *sessions, struct error *e)
{
    struct work w = {.stream = c->stream, .memory = c->memories->recall.memory, .all = *sessions};
    memory_sink_init(&w.sink, w.memory, c->config);
    w.follow = (struct memory_follow){
        .sink = &w.sink, .store = c->memories->store, .directory = c->memories->directory};
    bool ok = true;
    for (bool more = true; more && ok;)
        ok = index_one(&w, &more, e);
    *sessions = w.indexed;
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static bool may_index(const struct config *config, struct error *e)
{
    return memory_follow_is_on(config) ||
           err_set(e, ERR_USAGE,
                   "[memory] index is \"%s\"; sessions are indexed where it is \"sessions\"",
                   config_string(config, CONFIG_MEMORY_INDEX));
}

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
    if ((all && !may_index(c->config, e)) ||
        !memories_ops(m)->backlog(m->recall.memory, &count, e) ||
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
