#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "knowledge/directive.h"
#include "knowledge/learned.h"
#include "knowledge/learned_extract.h"
#include "knowledge/memory_prompt.h"
#include "knowledge/project.h"
#include "knowledge/session_digest.h"
#include "session/capability.h"
#include "session/conversation_private.h"
#include "session/memory_follow.h"
#include "session/report.h"

/* The agent thread's part of learned memory: what a model is told of it, and what becomes of
 * directives in messages. */

static bool may(const struct conversation *c, enum memory_access access)
{
    return c->engine->learned && c->access >= access;
}

/* --- what the model is told ------------------------------------------------------------------- */

static enum learned_form form_of(const struct conversation *c)
{
    return strcmp(config_string(c->config, CONFIG_LEARNED_PROMPT), "catalog") == 0 ? LEARNED_CATALOG
                                                                                   : LEARNED_FULL;
}

static bool add_tool_usage(struct conversation *c, struct learned_items *out, struct error *e)
{
    if (!c->tool_usage_known && !session_digest_tools(c->lasting, c->project, &c->tool_usage, e))
        return false;
    c->tool_usage_known = true;
    for (size_t i = 0; i < c->tool_usage.items.len; i++) {
        struct learned_item item = {.id = NULL};
        shape_copy(&learned_item_shape, &item, &c->tool_usage.items.items[i]);
        vec_push(&out->items, item);
    }
    return true;
}

static void forget_tool_usage(struct conversation *c)
{
    learned_items_release(&c->tool_usage);
    c->tool_usage_known = false;
}

static bool list_active(struct conversation *c, struct learned_items *out)
{
    const struct learned_filter f = {.states = 1U << LEARNED_ACTIVE, .project = c->project};
    bool history = config_boolean(c->config, CONFIG_LEARNED_HISTORY);
    struct error e;
    if (learned_list(c->lasting, &f, out, &e) &&
        (!history || (add_tool_usage(c, out, &e) &&
                      session_digest_sessions(c->lasting, c->project, c->journal.info.id,
                                              DIGEST_SESSIONS, out, &e))))
        return true;
    learned_items_release(out);
    log_line(LOG_ERROR, "learned memory: %s", e.text);
    return false;
}

/* The first `told` of them. */
static void note_use(struct conversation *c, struct learned_items *items, size_t told)
{
    struct learned_items used = {.items = {.items = items->items.items, .len = told}};
    struct error e;
    if (!learned_note_use(c->store, &used, &e))
        log_line(LOG_ERROR, "learned memory: %s", e.text);
    c->learned_used = true;
}

/* After a turn: what a crash leaves out is made up for by the next one. */
void conversation_digest(struct conversation *c)
{
    struct error e;
    if (config_boolean(c->config, CONFIG_LEARNED_HISTORY) && may(c, MEMORY_ACCESS_WRITE) &&
        !session_digest_follow(c->store, c->journal.info.id, c->project, &e))
        log_line(LOG_ERROR, "digest of %s: %s", c->journal.info.id, e.text);
}

/* `begins`: a turn does, which is a use of what it is told. */
static void read_learned(struct conversation *c, bool begins)
{
    struct learned_items items = {0};
    size_t told = 0;
    free(c->learned);
    c->learned = NULL;
    if (!may(c, MEMORY_ACCESS_READ) || !list_active(c, &items))
        return;
    c->learned = learned_prompt(&items, form_of(c),
                                config_integer(c->config, CONFIG_LEARNED_MAX_PROMPT_TOKENS), &told);
    if (begins && !c->learned_used && told > 0 && c->lasting == c->store)
        note_use(c, &items, told);
    learned_items_release(&items);
}

void conversation_read_learned(struct conversation *c)
{
    read_learned(c, false);
}

void conversation_use_learned(struct conversation *c)
{
    read_learned(c, true);
}

/* --- what it asks ----------------------------------------------------------------------------- */

/* A word that is none of the names fits nothing. */
static unsigned mask_of(const char *word, const struct shape_names *names)
{
    for (int i = 0; word && i < names->count; i++)
        if (strcmp(word, names->words[i]) == 0)
            return 1U << (unsigned)i;
    return word ? 1U << (unsigned)names->count : 0;
}

static bool search(void *conversation, const struct tool_learned_query *query,
                   struct learned_items *out, struct error *e)
{
    const struct conversation *c = conversation;
    const struct learned_filter f = {.states = 1U << LEARNED_ACTIVE,
                                     .scopes = mask_of(query->scope, &learned_scope_names),
                                     .kinds = mask_of(query->kind, &learned_kind_names),
                                     .project = c->project,
                                     .session = query->session,
                                     .tag = query->tag,
                                     .query = query->query,
                                     .limit = query->limit};
    return learned_list(c->lasting, &f, out, e);
}

/* --- what a session may ----------------------------------------------------------------------- */

static void set_access(struct conversation *c, enum memory_access access)
{
    c->access = access;
    c->tool_memory.off = access == MEMORY_ACCESS_OFF;
    c->tool_graph.access = access == MEMORY_ACCESS_OFF    ? GRAPH_SHUT
                           : access == MEMORY_ACCESS_READ ? GRAPH_READS
                                                          : GRAPH_WRITES;
    c->tool_learned = (struct tool_learned){.search = search,
                                            .context = c,
                                            .told = form_of(c) == LEARNED_FULL,
                                            .off = access == MEMORY_ACCESS_OFF};
    c->memory_sink.closed = access != MEMORY_ACCESS_WRITE;
    conversation_read_learned(c);
}

void conversation_open_learned(struct conversation *c)
{
    enum memory_access access = MEMORY_ACCESS_WRITE;
    struct error e;
    if (!c->project)
        c->project = project_of(c->root);
    c->learned_used = false;
    forget_tool_usage(c);
    if (*c->journal.info.id && !learned_access_read(c->store, c->journal.info.id, &access, &e))
        log_line(LOG_ERROR, "learned memory: %s", e.text);
    set_access(c, access);
}

void conversation_close_learned(struct conversation *c)
{
    free(c->learned);
    free(c->project);
    c->learned = c->project = NULL;
    forget_tool_usage(c);
}

/* What was said until now is treated as the session was let until now. */
static bool follow(struct conversation *c, struct error *e)
{
    return !c->engine->memory || !c->journal.stored || !memory_follow_is_on(c->config) ||
           memory_sink_follow(&c->memory_sink, c->store, c->journal.info.id, e);
}

bool run_set_memory(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_memory_params *p = params;
    (void)result;
    if ((!c->engine->graph && !capability_need_memory(c->engine->memory, e)) || !follow(c, e) ||
        !learned_access_write(c->store, c->journal.info.id, p->access, e))
        return false;
    set_access(c, p->access);
    tell_session(c, false);
    return true;
}

/* --- what is typed ---------------------------------------------------------------------------- */

static bool tell_noted(struct conversation *c, const struct learned_item *item, struct error *e)
{
    struct event *ev = event_new(EVENT_LEARNED_NOTED);
    ev->id = mem_strdup(item->id);
    ev->name = mem_strdup(learned_kind_word(item->kind));
    ev->text = mem_strdup(item->text);
    ev->flag = item->state == LEARNED_ACTIVE;
    return journal_emit(&c->journal, ev, e);
}

static bool tell_shown(struct conversation *c, const char *text, struct error *e)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup("learned_shown");
    ev->text = mem_printf(
        "not noted, since this session showed it before: \"%s\"; /remember "
        "keeps it",
        text);
    return journal_emit(&c->journal, ev, e);
}

static bool note(struct conversation *c, const struct directive *d, int64_t seq, struct error *e)
{
    bool at_once = strcmp(config_string(c->config, CONFIG_LEARNED_CAPTURE), "auto") == 0;
    struct learned_item kept, item = {.kind = d->kind,
                                      .scope = learned_scope_of(d->kind),
                                      .state = at_once ? LEARNED_ACTIVE : LEARNED_CANDIDATE,
                                      .origin = LEARNED_TYPED,
                                      .text = d->text,
                                      .session_id = c->journal.info.id,
                                      .seq = seq};
    enum learned_added how;
    bool own;
    if (item.scope == LEARNED_PROJECT)
        item.project = c->project;
    if (!own_words(c->store, c->journal.info.id, seq, d->text, &own, e))
        return false;
    if (!own)
        return tell_shown(c, d->text, e);
    if (!learned_add(c->store, &item, &kept, &how, e))
        return false;
    bool ok = how != LEARNED_IS_NEW || tell_noted(c, &kept, e);
    learned_item_release(&kept);
    return ok;
}

/* That it cannot be kept is no reason to end the turn. */
void conversation_learn(struct conversation *c, const struct directives *found)
{
    struct error e = {0};
    int64_t seq = c->journal.history.last_turn_seq;
    bool ok = true;
    for (size_t i = 0; ok && i < found->items.len; i++)
        ok = note(c, &found->items.items[i], seq, &e);
    if (!ok)
        tell_fault(c, &e);
}

void conversation_find_directives(const struct conversation *c, const struct event *ev,
                                  struct directives *out)
{
    bool off = c->lasting != c->store ||
               strcmp(config_string(c->config, CONFIG_LEARNED_CAPTURE), "off") == 0;
    if (ev->type == EVENT_TURN_STARTED && ev->origin == INPUT_TYPED && ev->text && !off &&
        may(c, MEMORY_ACCESS_WRITE))
        directives_read(ev->text, out);
}

void conversation_report_learned(const struct conversation *c, struct report_result *out)
{
    struct learned_counts counts;
    struct error e;
    if (!c->engine->learned)
        return;
    if (learned_count(c->lasting, c->project, &counts, &e))
        report_learned(out, &counts);
    else
        log_line(LOG_ERROR, "learned memory: %s", e.text);
}
