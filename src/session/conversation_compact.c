#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "compact/mode.h"
#include "compact/policy.h"
#include "config/compaction_modes.h"
#include "session/capability.h"
#include "session/conversation_private.h"

/* Surfaces do not see compact/. */
static_assert((int)REPLY_COMMIT == (int)DRAFT_COMMIT && (int)REPLY_REFUSE == (int)DRAFT_REFUSE &&
                  (int)REPLY_AGAIN == (int)DRAFT_AGAIN,
              "a reply is an answer");

void conversation_read_compaction(struct conversation *w)
{
    struct compact_warnings warnings = {.count = 0};
    compact_settings_read(&w->compact, w->config, &warnings);
    for (int i = 0; i < warnings.count; i++)
        log_line(LOG_ERROR, "%s", warnings.text[i]);
    w->journal.sink = w->engine->options.sink;
    w->last_cached = -1;
}

/* --- who writes summaries --- */

struct wish {
    const char *provider, *model; /* NULL: that provider's own */
};

static struct wish summary_wish(const struct conversation *w)
{
    const char *provider = config_string(w->config, CONFIG_COMPACTION_PROVIDER);
    const char *model = config_string(w->config, CONFIG_COMPACTION_MODEL);
    return (struct wish){.provider = *provider ? provider : w->backend.choice.provider->name,
                         .model = *model ? model : NULL};
}

static bool is_sessions(const struct conversation *w, const struct wish *wish)
{
    const struct choice *own = &w->backend.choice;
    return strcmp(wish->provider, own->provider->name) == 0 &&
           (!wish->model || strcmp(wish->model, own->model) == 0);
}

/* The connection to the session's own model is warm, and its key known. */
static struct backend *summary_backend(struct conversation *w, struct error *e)
{
    struct backend *other = &w->summary_backend;
    if (!w->backend.chosen && !conversation_choose(w, e))
        return NULL;
    const struct wish wish = summary_wish(w);
    if (is_sessions(w, &wish))
        return &w->backend;
    if (!other->http)
        backend_init(other, w->config, &w->wakeup);
    bool chosen = other->chosen && strcmp(other->choice.provider->name, wish.provider) == 0;
    return chosen || backend_choose(other, wish.provider, wish.model, e) ? other : NULL;
}

void conversation_forget_summariser(struct conversation *w)
{
    backend_release(&w->summary_backend);
    free(w->summariser_label);
    w->summariser_label = NULL;
}

static char *label_of(const struct backend *b)
{
    return mem_printf("%s/%s", b->choice.provider->name, b->choice.model);
}

static bool prepare_summariser(struct conversation *w, struct backend *b, struct error *e)
{
    struct error own = {0};
    if (backend_prepare(b, &own))
        return true;
    if (b == &w->backend)
        return err_set(e, own.code, "%s", own.text);
    return err_set(e, own.code, "for summaries ([compaction] summary_provider, summary_model): %s",
                   own.text);
}

static const struct summariser *find_summariser(void *conversation, struct error *e)
{
    struct conversation *w = conversation;
    struct backend *b = summary_backend(w, e);
    if (!b || !prepare_summariser(w, b, e))
        return NULL;
    free(w->summariser_label);
    w->summariser_label = label_of(b);
    w->summariser = (struct summariser){
        .provider = b->choice.provider,
        .model = b->choice.model,
        .label = w->summariser_label,
        .endpoint = &b->choice.endpoint,
        .http = b->http,
        .window = b->facts.window,
        .max_output = b->facts.max_output,
        .max_bytes = provider_max_request(w->config),
        .price = b->facts.price,
        .config = w->config,
    };
    return &w->summariser;
}

/* NULL: nobody could be chosen. The caller frees. */
static char *summary_label(struct conversation *w)
{
    const struct backend *b = summary_backend(w, &(struct error){0});
    return b ? label_of(b) : NULL;
}

/* --- when it happens --- */

struct compact_limits conversation_limits(const struct conversation *w)
{
    return (struct compact_limits){.window = w->backend.facts.window,
                                   .max_output = w->backend.facts.max_output,
                                   .max_bytes = provider_max_request(w->config)};
}

int64_t conversation_threshold(const struct conversation *w)
{
    const struct compact_limits limits = conversation_limits(w);
    return w->engine->compaction ? compact_threshold(&w->compact, &limits) : 0;
}

bool conversation_suspended(struct conversation *w)
{
    const struct compaction_state *state = &w->journal.history.compaction;
    if (!w->engine->compaction || !w->journal.loaded)
        return w->engine->compaction && w->journal.suspended;
    if (!state->suspended)
        return false;
    char *label = w->compact.mode->text ? NULL : summary_label(w);
    bool suspended = compact_suspended(state, w->compact.mode->name, label ? label : "");
    free(label);
    return suspended;
}

/* --- the user's word on a draft --- */

void tell_draft(struct conversation *w)
{
    const struct draft *draft = w->review.draft;
    struct notice *n = notice_new(NOTICE_DRAFT);
    n->text = mem_strdup(draft->text);
    n->name = mem_strdup(draft->mode);
    n->detail = mem_strdup(draft->model);
    n->draft = (struct draft_figures){.tokens_before = draft->tokens_before,
                                      .tokens_after = draft->tokens_after,
                                      .messages_before = draft->messages_before,
                                      .messages_after = draft->messages_after};
    tell(w, n);
}

/* Until it is answered, the compaction is interrupted or the program ends. */
static struct draft_verdict review(void *conversation, const struct draft *draft)
{
    struct conversation *w = conversation;
    struct draft_verdict refused = {.answer = DRAFT_REFUSE};
    w->review = (struct review){.draft = draft};
    tell_draft(w);
    while (!w->review.answered && !w->cancelled && !w->quit)
        conversation_handle(w, mailbox_wait(w->commands, -1));
    struct draft_verdict verdict = w->review.answered ? w->review.verdict : refused;
    w->review = (struct review){.draft = NULL};
    return verdict;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* One that comes too late answers nothing. */
void do_draft(struct conversation *w, struct command *c)
{
    struct review *r = &w->review;
    struct error e;
    if (!r->draft || r->answered || c->number < REPLY_COMMIT || c->number > REPLY_AGAIN)
        return;
    if (c->number == REPLY_COMMIT && c->text && is_blank(c->text)) {
        err_set(&e, ERR_USAGE,
                "an empty summary cannot be accepted; write one or reject the draft");
        tell_error(w, c, &e);
        return;
    }
    r->verdict =
        (struct draft_verdict){.answer = (enum draft_answer)c->number, .text = mem_strdup(c->text)};
    r->answered = true;
}

/* --- the ladder's effects --- */

static enum commit_result commit(void *conversation, struct event *completed, struct error *e)
{
    struct conversation *w = conversation;
    enum commit_result result = journal_compact(&w->journal, completed, e);
    if (result != COMMIT_DONE)
        return result;
    w->last_cached = -1;
    conversation_note_indexed(w);
    tell_session(w, false);
    return result;
}

static char *tool_result(void *conversation, int64_t seq, const char *id)
{
    const struct conversation *w = conversation;
    struct error e = {0};
    char *text;
    if (!event_log_tool_result(w->store, w->journal.info.id, seq, id, &text, &e))
        log_line(LOG_ERROR, "result of a tool at event %lld: %s", (long long)seq, e.text);
    return text;
}

void conversation_equip(struct conversation *w, struct agent *a)
{
    if (!w->engine->compaction)
        return;
    a->compaction = &w->compact;
    a->model_output = w->backend.facts.max_output;
    a->commit = commit;
    a->review = w->engine->options.can_ask ? review : NULL;
    a->summariser = find_summariser;
    a->tool_result = tool_result;
    a->summary_label = summary_label(w);
}

/* --- commands --- */

static bool unknown_mode(const char *name, struct error *e)
{
    return err_set(e, ERR_USAGE, "unknown compaction mode \"%.64s\"; the modes are: %s", name,
                   config_key_info(CONFIG_COMPACTION_MODE)->choices);
}

static const struct compact_mode *find_mode(const struct conversation *w, const char *name,
                                            struct error *e)
{
    const struct compact_mode *mode = name && *name ? compact_mode_find(name) : w->compact.mode;
    if (!mode)
        unknown_mode(name, e);
    return mode;
}

static bool may_change(struct conversation *w, struct error *e)
{
    return capability_need_compaction(w->engine->compaction, e) && conversation_is_live(w, e);
}

static bool compact_now(struct conversation *w, const struct command *c, struct error *e)
{
    const struct compact_mode *mode = find_mode(w, c->name, e);
    if (!mode || !conversation_need_history(w, e) ||
        (!w->backend.chosen && !conversation_choose(w, e)))
        return false;
    const char *focus = c->text && !is_blank(c->text) ? c->text : NULL;
    struct agent agent = conversation_agent(w);
    bool ok = agent_compact(&agent, mode, focus, c->number == 1 || w->compact.preview, e);
    conversation_agent_release(&agent);
    return ok;
}

static bool keeps_ends(const char *mode)
{
    static const struct {
        const char *name;
        bool ends;
    } modes[] = {
#define X(id, name, keeps_ends, help) {name, keeps_ends},
        COMPACTION_MODES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, mode) == 0)
            return modes[i].ends;
    return false;
}

static char *keys_of_ends(const struct config *config)
{
    static const enum config_key keys[] = {CONFIG_COMPACTION_PROTECT_HEAD,
                                           CONFIG_COMPACTION_PROTECT_TAIL,
                                           CONFIG_COMPACTION_TAIL_RATIO};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        buf_addf(&out, "%s%s = %s", i > 0 ? ", " : "", config_key_info(keys[i])->name,
                 config_string(config, keys[i]));
    return buf_take(&out);
}

static void tell_not_compacted(struct conversation *w, const struct command *c,
                               const struct error *e)
{
    const char *mode = c->name && *c->name ? c->name : w->compact.mode->name;
    struct notice *n = error_notice(c, e);
    n->name = mem_strdup(mode);
    n->detail = keeps_ends(mode) ? keys_of_ends(w->config) : NULL;
    tell(w, n);
}

/* What could not be kept is not to be built upon. */
static void end_compaction(struct conversation *w, const struct command *c, bool ok,
                           const struct error *e)
{
    if (ok)
        conversation_project(w);
    else if (e->code == ERR_SESSION_STORE_ERROR)
        w->journal.loaded = journal_load(&w->journal, &(struct error){0});
    if (!ok && !w->failure_told)
        tell_not_compacted(w, c, e);
    conversation_finish(w);
    tell_session(w, false);
    tell_busy(w, false);
}

void do_compact(struct conversation *w, struct command *c)
{
    struct error e = {0};
    if (!may_change(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    w->doing = COMPACTION;
    w->busy_since_ms = clock_mono_ms();
    w->failure_told = false;
    tell_busy(w, true);
    bool ok = compact_now(w, c, &e);
    end_compaction(w, c, ok, &e);
}

void do_uncompact(struct conversation *w, struct command *c)
{
    struct error e = {0};
    if (!may_change(w, &e) || !conversation_need_history(w, &e) ||
        !journal_uncompact(&w->journal, &e)) {
        tell_error(w, c, &e);
        return;
    }
    w->last_cached = -1;
    conversation_project(w);
    tell_session(w, false);
}

/* 0: there is none. */
static int64_t newest_message(const struct history *h)
{
    for (size_t i = h->messages.len; i > 0; i--) {
        const struct message *m = &h->messages.items[i - 1];
        if (m->role == ROLE_USER && !m->summary)
            return m->seq;
    }
    return 0;
}

static bool has_pin(const struct history *h, int64_t seq, bool pinned)
{
    for (size_t i = 0; i < h->messages.len; i++)
        if (h->messages.items[i].seq == seq)
            return h->messages.items[i].pinned == pinned;
    return false;
}

static bool pin(struct conversation *w, const struct command *c, struct error *e)
{
    bool wanted = c->limit == 1;
    if (!may_change(w, e) || !conversation_need_history(w, e))
        return false;
    int64_t seq = c->number > 0 ? c->number : newest_message(&w->journal.history);
    if (seq == 0)
        return err_set(e, ERR_USAGE, "there is no message to pin yet; send one first");
    if (has_pin(&w->journal.history, seq, wanted))
        return err_set(e, ERR_USAGE,
                       wanted ? "that message is pinned already" : "that message is not pinned");
    return journal_pin(&w->journal, seq, wanted, e);
}

void do_pin(struct conversation *w, struct command *c)
{
    struct error e = {0};
    if (pin(w, c, &e))
        tell_session(w, false);
    else
        tell_error(w, c, &e);
}
