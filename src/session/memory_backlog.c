/* memory/index: sessions from before memory followed them, which wait for the person's word. */
#include "session/memories.h"
#include "session/memory_follow.h"
#include "session/memory_operations.h"

static const char *const choice_words[] = {
    [MEMORY_INDEX_ALL] = "all", [MEMORY_INDEX_NONE] = "none"};
static const struct shape_names choices = {choice_words, 2, -1};

static const struct shape_field index_fields[] = {
    SHAPE_FIELD("sessions", ENUM, REQUIRED,
                SHAPE_AT(enum memory_index_choice, struct memory_index_params, sessions),
                .names = &choices,
                .help = "\"all\": index them, also those that were refused earlier; \"none\": do "
                        "not."),
    {0},
};
static const struct shape index_shape = {.name = "parameters",
                                         .size = sizeof(struct memory_index_params),
                                         .fields = index_fields,
                                         .closed = true};

static const struct shape_field indexed_fields[] = {
    SHAPE_FIELD("sessions", INTEGER, REQUIRED,
                SHAPE_AT(int64_t, struct memory_index_result, sessions),
                .help = "How many were indexed; in the background, how many wait; of \"none\", how "
                        "many stay out."),
    {0},
};
static const struct shape indexed_shape = {
    .name = "indexed", .size = sizeof(struct memory_index_result), .fields = indexed_fields};

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
    .name = "memory/index",
    .summary =
        "Says whether conversations from before come into memory; with a stream, at once, "
        "else in the background.",
    .authority = AUTHORITY_OWNER,
    .params = &index_shape,
    .result = &indexed_shape,
    .executor = OPERATION_MEMORY,
    .needs = NEED_MEMORY | NEED_STORE | NEED_WRITE,
    .run = run_index,
};
