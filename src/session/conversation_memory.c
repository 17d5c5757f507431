#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "session/conversation_private.h"
#include "session/memory_follow.h"
#include "store/sessions.h"

/* The agent thread's part of semantic memory: what the model searches and what compactions fill.
 * The surface's part is the desk's. */

/* More hits than are asked for at once, where the request holds the best ones. */
enum { SEARCH_AT_MOST = 320 };

static bool is_in_history(const struct history *h, const struct memory_entry *entry)
{
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        if (m->seq == entry->seq && !m->summary)
            /* results of tools may have been shortened */
            return m->role != ROLE_TOOL || h->compaction.in_force.len == 0;
    }
    return false;
}

static bool is_inherited(const struct session_line *line, const struct memory_entry *entry)
{
    for (size_t i = 0; i < line->items.len; i++)
        if (strcmp(entry->session_id, line->items.items[i].id) == 0)
            return entry->seq <= line->items.items[i].last;
    return false;
}

/* Whether the next request has the message that it came from word for word. */
static bool is_held(const struct conversation *c, const struct session_line *line,
                    const struct memory_entry *entry)
{
    bool own = strcmp(entry->session_id, c->journal.info.id) == 0;
    bool inherited = !own && is_inherited(line, entry);
    return entry->origin != MEMORY_IMPORTED && !entry->edited && entry->seq > 0 &&
           (own || inherited) && is_in_history(&c->journal.history, entry);
}

static void pass_over_held(const struct conversation *c, const struct session_line *line, int limit,
                           struct memory_hits *hits)
{
    size_t kept = 0;
    for (size_t i = 0; i < hits->items.len; i++) {
        struct memory_hit *hit = &hits->items.items[i];
        if (kept < (size_t)limit && !is_held(c, line, &hit->entry))
            hits->items.items[kept++] = *hit;
        else
            memory_hit_release(hit);
    }
    hits->items.len = kept;
}

static bool search_besides(struct conversation *c, struct recall *recall,
                           const struct session_line *line, const char *query, int limit,
                           const struct memory_filter *filter, struct memory_hits *out,
                           struct error *e)
{
    struct memory_query q = memory_query_for(c->config, query);
    q.scope = recall_scope(recall, c->journal.info.id, c->root);
    q.scope.filter = *filter;
    for (q.limit = limit;; q.limit *= 4) {
        if (!recall_search(recall, &q, &c->wakeup, out, e))
            return false;
        bool all = out->items.len < (size_t)q.limit || q.limit >= SEARCH_AT_MOST;
        pass_over_held(c, line, limit, out);
        if (all || out->items.len == (size_t)limit)
            return true;
        memory_hits_release(out);
    }
}

/* Both stores score by the same measure. */
static bool add_earlier(struct conversation *c, const struct session_line *line, const char *query,
                        int limit, const struct memory_filter *filter, struct memory_hits *out,
                        struct error *e)
{
    struct memory_hits own = *out, earlier = {0};
    size_t i = 0, k = 0;
    *out = (struct memory_hits){.badge = own.badge};
    bool ok = search_besides(c, &c->earlier, line, query, limit, filter, &earlier, e);
    while (ok && out->items.len < (size_t)limit && i + k < own.items.len + earlier.items.len) {
        bool first =
            k == earlier.items.len ||
            (i < own.items.len && own.items.items[i].score >= earlier.items.items[k].score);
        vec_push(&out->items, first ? own.items.items[i++] : earlier.items.items[k++]);
    }
    while (i < own.items.len)
        memory_hit_release(&own.items.items[i++]);
    while (k < earlier.items.len)
        memory_hit_release(&earlier.items.items[k++]);
    vec_release(&own.items);
    vec_release(&earlier.items);
    return ok;
}

static bool search(void *conversation, const char *query, int limit,
                   const struct memory_filter *filter, struct memory_hits *out, struct error *e)
{
    struct conversation *c = conversation;
    struct session_line line;
    bool ok = sessions_line(c->store, c->journal.info.id, &line, e) &&
              search_besides(c, &c->recall, &line, query, limit, filter, out, e) &&
              (!c->earlier.memory || add_earlier(c, &line, query, limit, filter, out, e));
    vec_release(&line.items);
    return ok;
}

static bool read_around(void *conversation, const struct memory_place *place,
                        struct memory_excerpt *out, struct error *e)
{
    struct conversation *c = conversation;
    struct memory_around around = {.place = *place,
                                   .scope = recall_scope(&c->recall, c->journal.info.id, c->root)};
    return memory_around(c->recall.memory, &around, out, e) ||
           (c->earlier.memory && memory_around(c->earlier.memory, &around, out, e));
}

static bool has_deferred(struct conversation *c)
{
    const struct memory_ops *ops = c->recall.memory->ops;
    bool has = false;
    return ops->has_deferred(c->recall.memory, NULL, &has, &(struct error){0}) && has;
}

/* Imports may have left entries without vectors, a program that was killed messages to be indexed.
 * Without either no thread is started. */
static void catch_up(struct conversation *c)
{
    if (*config_string(c->config, CONFIG_EMBEDDING_PROVIDER) || has_deferred(c))
        memory_desk_work(c->engine->desk);
}

/* For what is made of a whole session once it is left. */
static void session_left(void *conversation, const char *session_id)
{
    struct conversation *c = conversation;
    c->idle_at_ms = 0;
    if (c->engine->memory)
        memory_desk_left(c->engine->desk, session_id);
}

void conversation_open_memory(struct conversation *c)
{
    c->journal.left = session_left;
    c->journal.left_context = c;
    if (!c->engine->memory)
        return;
    recall_init(&c->recall, c->config, c->store, c->journal.directory);
    if (c->lasting != c->store) {
        recall_init(&c->earlier, c->config, c->lasting, place_directory(c->engine->lasting));
        c->earlier.alone = true;
    }
    c->tool_memory = (struct tool_memory){.search = search, .read = read_around, .context = c};
    memory_sink_init(&c->memory_sink, c->recall.memory, c->config);
    if (!c->journal.sink)
        c->journal.sink = &c->memory_sink.sink;
    catch_up(c);
}

void conversation_close_memory(struct conversation *c)
{
    if (c->recall.memory)
        recall_release(&c->recall);
    if (c->earlier.memory)
        recall_release(&c->earlier);
    c->recall = c->earlier = (struct recall){.memory = NULL};
}

void conversation_note_indexed(struct conversation *c)
{
    if (c->engine->memory)
        memory_desk_work(c->engine->desk);
}

void conversation_note_said(struct conversation *c)
{
    bool follows = c->engine->memory && c->journal.stored && memory_follow_is_on(c->config);
    c->idle_at_ms = follows ? clock_mono_ms() + FOLLOW_IDLE_MS : 0;
}

int conversation_idle_wait(const struct conversation *c)
{
    int64_t left = c->idle_at_ms - clock_mono_ms();
    return c->idle_at_ms == 0 ? -1 : left > 0 ? (int)left : 0;
}

/* The desk looks again when the session has been idle for long enough by its row. */
void conversation_note_idle(struct conversation *c)
{
    if (conversation_idle_wait(c) != 0)
        return;
    c->idle_at_ms = 0;
    memory_desk_follow(c->engine->desk);
}

static void offer_backlog(struct conversation *c)
{
    struct memory_backlog_count count;
    struct error e;
    if (!c->recall.memory->ops->backlog(c->recall.memory, &count, &e) ||
        count.sessions[BACKLOG_UNASKED] == 0)
        return;
    struct notice *n = notice_new(NOTICE_MEMORY_OFFER);
    n->number = count.sessions[BACKLOG_UNASKED];
    tell(c, n);
}

/* Without a session to follow no thread is started. */
void conversation_look_back(struct conversation *c)
{
    const struct memory_follow f = {
        .sink = &c->memory_sink, .store = c->store, .directory = c->journal.directory};
    struct error e;
    bool due = false;
    int64_t wait_ms;
    if (!c->engine->memory || !memory_follow_is_on(c->config))
        return;
    if (!memory_follow_wait(&f, &due, &wait_ms, &e))
        log_line(LOG_ERROR, "sessions that were left: %s", e.text);
    if (due)
        memory_desk_follow(c->engine->desk);
    offer_backlog(c);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* A fact comes from what the user said last. */
static struct graph_by graph_by_turn(void *conversation)
{
    struct conversation *c = conversation;
    return (struct graph_by){c->journal.info.id, c->journal.history.turn_seq};
}

static void graph_deleted(void *conversation, struct graph_part *gone)
{
    struct conversation *c = conversation;
    memory_desk_keep_gone(c->engine->desk, gone);
}

void conversation_know_graph(struct conversation *c)
{
    if (!c->engine->graph)
        return;
    c->tool_graph =
        (struct tool_graph){.graph = {.language = config_string(c->config, CONFIG_MEMORY_LANGUAGE)},
                            .by = graph_by_turn,
                            .deleted = graph_deleted,
                            .context = c};
    const char *capture = config_string(c->config, CONFIG_LEARNED_CAPTURE);
    c->tool_graph.capture = strcmp(capture, "auto") == 0  ? GRAPH_CAPTURE_AUTO
                            : strcmp(capture, "off") == 0 ? GRAPH_CAPTURE_OFF
                                                          : GRAPH_CAPTURE_ASK;
}
