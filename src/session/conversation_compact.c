#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "compact/mode.h"
#include "compact/policy.h"
#include "session/conversation_private.h"
#include "session/session_operations.h"
#include "store/event_log.h"

/* --- the summariser --- */

/* The session's own backend if it is the one that [compaction] names: its connection is open and
 * its key known. */
static struct backend *summary_backend(struct conversation *c, struct error *e)
{
    const struct choice *own = &c->backend.choice;
    struct backend *other = &c->summary_backend;
    if (!conversation_need_backend(c, e))
        return NULL;
    const char *provider = config_string(c->config, CONFIG_COMPACTION_PROVIDER);
    const char *model = config_string(c->config, CONFIG_COMPACTION_MODEL);
    if (!*provider)
        provider = own->provider->name;
    if (strcmp(provider, own->provider->name) == 0 && (!*model || strcmp(model, own->model) == 0))
        return &c->backend;
    if (!other->http)
        backend_init(other, c->config, &c->wakeup);
    bool chosen = other->chosen && strcmp(other->choice.provider->name, provider) == 0;
    return chosen || backend_choose(other, provider, *model ? model : NULL, e) ? other : NULL;
}

static const struct summariser *find_summariser(void *conversation, struct error *e)
{
    struct conversation *c = conversation;
    struct backend *b = summary_backend(c, e);
    struct error fault = {0};
    if (!b)
        return NULL;
    if (!backend_prepare(b, &fault)) {
        const char *who = b == &c->backend ? ""
                                           : "for summaries ([compaction] summary_provider, "
                                             "summary_model): ";
        err_set(e, fault.code, "%s%s", who, fault.text);
        return NULL;
    }
    mem_replace(&c->summariser_label,
                mem_printf("%s/%s", b->choice.provider->name, b->choice.model));
    c->summariser = (struct summariser){
        .provider = b->choice.provider,
        .model = b->choice.model,
        .label = c->summariser_label,
        .endpoint = &b->choice.endpoint,
        .http = b->http,
        .window = b->facts.window,
        .max_output = b->facts.max_output,
        .max_bytes = provider_max_request(c->config),
        .price = b->facts.price,
        .config = c->config,
    };
    return &c->summariser;
}

/* NULL: no model could be chosen. The caller frees. */
static char *summary_label(struct conversation *c)
{
    const struct backend *b = summary_backend(c, &(struct error){0});
    return b ? mem_printf("%s/%s", b->choice.provider->name, b->choice.model) : NULL;
}

/* --- titles --- */

enum { TITLE_TOKENS = 1024, TITLE_MS = 30000, TITLE_QUESTION = 2000, TITLE_ANSWER = 1000 };

/* NULL: the first exchange has no answer. */
static char *title_request(const struct history *h)
{
    const struct message *last = h->messages.len > 0 ? &vec_last(&h->messages) : NULL;
    struct message room;
    if (!last || last->role != ROLE_ASSISTANT || last->partial || !h->last_text)
        return NULL;
    const char *asked = attached_files_skip(h->last_text);
    auto_free char *answer = message_text(message_whole(h->source, last, &room));
    message_release(&room);
    struct buf out = BUF_INIT;
    buf_addstr(&out, "<user>\n");
    utf8_add_cut(&out, asked, strlen(asked), TITLE_QUESTION);
    buf_addstr(&out, "\n</user>\n<assistant>\n");
    utf8_add_cut(&out, answer, strlen(answer), TITLE_ANSWER);
    buf_addstr(&out, "\n</assistant>");
    return buf_take(&out);
}

void conversation_make_title(struct conversation *c)
{
    static const char marks[] = " \t\r\n\"'`*_#";
    struct event *ev = event_new(EVENT_SESSION_TITLED);
    struct error e = {0};
    conversation_step_aside(c);
    c->wakeup.deadline_ms = clock_mono_ms() + TITLE_MS;
    struct backend *b = summary_backend(c, &e);
    auto_free char *text = title_request(&c->journal.history);
    auto_free char *answer =
        text && b && b->choice.provider->has_network && backend_prepare(b, &e)
            ? backend_ask(b, embedded_text("prompts/title.md"), text, TITLE_TOKENS, ev, &e)
            : NULL;
    c->title_due = c->cancelled; /* a request came first: again after it */
    conversation_finish(c);
    if (answer) {
        const char *title = answer + strspn(answer, marks);
        size_t len = strcspn(title, "\r\n");
        while (len > 0 && strchr(marks, title[len - 1]))
            len--;
        ev->text = len > 0 ? mem_strndup(title, len) : NULL;
    }
    if (e.code != ERR_OK)
        log_line(LOG_INFO, "title of %s: %s", c->journal.info.id, e.text);
    if (!ev->text && !usage_known(&ev->usage))
        event_free(ev);
    else if (journal_emit(&c->journal, ev, &e))
        tell_session(c, false);
    else
        tell_fault(c, &e);
    store_give_back_memory(c->store); /* as after a turn: the answer may be long */
    mem_return_unused();
}

/* --- when it happens --- */

static struct compact_limits conversation_limits(const struct conversation *c)
{
    return (struct compact_limits){.window = c->backend.facts.window,
                                   .max_output = c->backend.facts.max_output,
                                   .max_bytes = provider_max_request(c->config)};
}

int64_t conversation_threshold(const struct conversation *c)
{
    const struct compact_limits limits = conversation_limits(c);
    return c->engine->compaction ? compact_threshold(&c->compact, &limits) : 0;
}

bool conversation_suspended(struct conversation *c)
{
    const struct compaction_state *state = &c->journal.history.compaction;
    if (!c->engine->compaction || !c->journal.loaded)
        return c->engine->compaction && c->journal.suspended;
    if (!state->suspended)
        return false;
    auto_free char *label = c->compact.mode->text ? NULL : summary_label(c);
    return compact_suspended(state, c->compact.mode->name, label ? label : "");
}

/* --- the user's decision on a draft --- */

void tell_draft(struct conversation *c)
{
    const struct draft *draft = c->review.draft;
    struct notice *n = notice_new(NOTICE_DRAFT);
    n->text = mem_strdup(draft->text);
    n->name = mem_strdup(draft->mode);
    n->detail = mem_strdup(draft->model);
    n->draft = (struct draft_figures){.tokens_before = draft->tokens_before,
                                      .tokens_after = draft->tokens_after,
                                      .messages_before = draft->messages_before,
                                      .messages_after = draft->messages_after};
    tell(c, n);
}

/* Waits until the draft is answered, the compaction is interrupted or the program ends. */
static struct draft_verdict review(void *conversation, const struct draft *draft)
{
    struct conversation *c = conversation;
    struct draft_verdict refused = {.answer = DRAFT_REFUSE};
    c->review = (struct review){.draft = draft};
    tell_draft(c);
    while (!c->review.answered && !c->cancelled && !c->quit)
        conversation_handle(c, mailbox_wait(c->seat.requests, -1));
    struct draft_verdict verdict = c->review.answered ? c->review.verdict : refused;
    c->review = (struct review){.draft = NULL};
    return verdict;
}

bool converse_decide_draft(struct conversation *c, const void *params, void *result,
                           struct error *e)
{
    const struct compaction_decide_params *p = params;
    struct review *r = &c->review;
    (void)result;
    if (!r->draft || r->answered)
        return err_set(e, ERR_SESSION_NOT_RUNNING,
                       "no draft waits for an answer; run a compaction");
    if (p->decision == DRAFT_COMMIT && p->text && utf8_is_blank(p->text))
        return err_set(e, ERR_USAGE,
                       "an empty summary cannot be accepted; write one or reject the draft");
    r->verdict = (struct draft_verdict){.answer = p->decision, .text = mem_strdup(p->text)};
    r->answered = true;
    return true;
}

/* --- functions of the agent --- */

static enum commit_result commit(void *conversation, struct event *completed, struct error *e)
{
    struct conversation *c = conversation;
    enum commit_result result = journal_compact(&c->journal, completed, e);
    if (result != COMMIT_DONE)
        return result;
    c->last_cached = -1;
    if (c->engine->memory)
        memory_desk_work(c->engine->desk);
    tell_session(c, false);
    return result;
}

static char *tool_result(void *conversation, int64_t seq, const char *id)
{
    const struct conversation *c = conversation;
    struct error e = {0};
    char *text;
    if (!event_log_tool_result(c->store, c->journal.info.id, seq, id, &text, &e))
        log_line(LOG_ERROR, "result of a tool at event %lld: %s", (long long)seq, e.text);
    return text;
}

void conversation_equip(struct conversation *c, struct agent *a)
{
    if (!c->engine->compaction)
        return;
    a->compaction = &c->compact;
    a->model_output = c->backend.facts.max_output;
    a->commit = commit;
    a->review = c->engine->options.can_ask ? review : NULL;
    a->summariser = find_summariser;
    a->tool_result = tool_result;
    a->summary_label = summary_label(c);
}

/* --- operations --- */

const struct compact_mode *conversation_find_mode(const struct conversation *c, const char *name,
                                                  struct error *e)
{
    if (!name)
        name = config_string(c->config, CONFIG_COMPACTION_MODE);
    const struct compact_mode *mode = compact_mode_find(name);
    if (!mode)
        err_set(e, ERR_USAGE, "unknown compaction mode \"%.64s\"; the modes are: %s", name,
                config_key_info(CONFIG_COMPACTION_MODE)->choices);
    return mode;
}

bool converse_compact(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct compaction_run_params *p = params;
    struct compaction_result *r = result;
    struct error fault = {0};
    c->failure_told = false;
    const struct compact_mode *mode =
        p->mode && *p->mode ? conversation_find_mode(c, p->mode, &fault) : c->compact.mode;
    bool ok = mode && conversation_is_live(c, &fault) && conversation_need_history(c, &fault) &&
              conversation_need_backend(c, &fault);
    if (ok) {
        if (!mode->text) /* asks the server for the window; if that fails, so does the summary */
            (void)backend_prepare(&c->backend, &(struct error){0});
        conversation_trust_project(c, false);
        AUTO(conversation_agent_release) struct agent agent = conversation_agent(c);
        ok = agent_compact(&agent, mode, utf8_is_blank(p->focus) ? NULL : p->focus,
                           p->preview || c->compact.preview, &fault);
    }
    if (ok) {
        int64_t seq = vec_last(&c->journal.history.compaction.in_force);
        conversation_project(c);
        if (!compaction_find(c->store, c->journal.info.id, seq, &r->completed, &fault))
            log_line(LOG_ERROR, "the compaction was done, but not read again: %s", fault.text);
        return true;
    }
    if (fault.code == ERR_SESSION_STORE_ERROR) /* history and log may differ now */
        c->journal.loaded = journal_load(&c->journal, &(struct error){0});
    *(c->failure_told ? &r->fault : e) = fault;
    return c->failure_told;
}

/* Tells the surfaces and the session's files that the history has changed. */
static void tell_change(struct conversation *c)
{
    c->last_cached = -1;
    conversation_project(c);
    tell_session(c, false);
}

bool converse_undo(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params, (void)result;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        !journal_uncompact(&c->journal, e))
        return false;
    tell_change(c);
    return true;
}

/* --- rewinds: the conversation goes on from before a message of the user --- */

bool converse_rewind(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct session_rewind_params *p = params;
    struct session_rewound *out = result;
    struct said said = {0};
    struct event_turn turn = {.seq = p->seq};
    const char *session = c->journal.info.id;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        (p->seq == 0 && !event_log_nth_turn(c->store, session, p->turn, &turn, e)) ||
        !event_log_said(c->store, session, turn.seq, &said, e))
        return false;
    out->seq = turn.seq;
    out->text = said.text ? said.text : mem_strdup("");
    if (!journal_rewind(&c->journal, turn.seq, e))
        return false;
    tell_change(c);
    return true;
}

bool converse_unrewind(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)params, (void)result;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        !journal_unrewind(&c->journal, e))
        return false;
    tell_change(c);
    return true;
}

static bool set_pin(struct conversation *c, const struct compaction_pin_params *p, bool wanted,
                    struct error *e)
{
    struct event_turn turn = {0};
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        (p->turn != 0 && !event_log_nth_turn(c->store, c->journal.info.id, p->turn, &turn, e)))
        return false;
    int64_t seq = p->turn != 0 ? turn.seq : p->seq;
    const struct history *h = &c->journal.history;
    for (size_t i = h->messages.len; i > 0 && seq <= 0; i--)
        if (h->messages.items[i - 1].role == ROLE_USER && !h->messages.items[i - 1].summary)
            seq = h->messages.items[i - 1].seq;
    if (seq <= 0)
        return err_set(e, ERR_USAGE, "there is no message to pin yet; send one first");
    size_t at = 0;
    while (at < h->messages.len && h->messages.items[at].seq != seq)
        at++;
    if (at < h->messages.len && h->messages.items[at].pinned == wanted)
        return err_set(e, ERR_USAGE,
                       wanted ? "that message is pinned already" : "that message is not pinned");
    if (!journal_pin(&c->journal, seq, wanted, e))
        return false;
    conversation_project(c);
    tell_session(c, false);
    return true;
}

bool converse_pin(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)result;
    return set_pin(c, params, true, e);
}

bool converse_unpin(struct conversation *c, const void *params, void *result, struct error *e)
{
    (void)result;
    return set_pin(c, params, false, e);
}

/* Scales the estimates of the parts so that their sum is exactly what the meters show. */
static void fit_to_request(struct context *out, struct request_size size)
{
    const int64_t request = size.tokens;
    const int64_t estimate = out->tokens;
    int64_t seen = 0, given = 0;
    for (size_t i = 0; i < out->parts.len; i++) {
        struct context_part *p = &out->parts.items[i];
        seen += p->tokens;
        p->tokens = request_resized(request, estimate, seen) - given;
        given += p->tokens;
    }
    if (out->tokens_after >= 0)
        out->tokens_after = request_resized(request, estimate, out->tokens_after);
    out->tokens = request;
    out->estimated = size.estimated;
}

bool converse_context(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct context *out = result;
    (void)params;
    if (c->doing == IDLE) {
        toolset_refresh(&c->tools);
        conversation_read_prompt(c);
        conversation_read_learned(c, false);
    }
    if (!conversation_need_backend(c, e) || !conversation_need_history(c, e))
        return false;
    AUTO(conversation_agent_release) struct agent agent = conversation_agent(c);
    out->last_input = c->journal.history.last_input;
    out->cached = c->last_cached;
    out->sent = c->journal.info.usage.input;
    out->received = c->journal.info.usage.output;
    out->effort = mem_strdup(conversation_effort(c));
    out->window = c->backend.facts.window;
    out->threshold = conversation_threshold(c);
    out->mode = c->engine->compaction ? mem_strdup(c->compact.mode->name) : NULL;
    prompt_assemble(out, &agent);
    prompt_describe(out, &agent);

    /* The parts of a request outside the history have the same size after a compaction. */
    const struct history *h = &c->journal.history;
    const struct compact_mode *mode = c->compact.mode;
    const struct compact_limits limits = conversation_limits(c);
    const struct compact_input in = compact_input_of(h, &c->compact, &limits);
    struct compact_plan plan = {0};
    struct rebuild rebuild = {0};
    if (c->engine->compaction && compact_plan_make(mode, &in, &plan)) {
        compact_plan_rebuild(mode, &in, &plan, NULL, &rebuild);
        out->tokens_after = out->tokens - h->estimate + rebuild_estimate(&rebuild, in.estimates);
        rebuild_release(&rebuild);
    }
    struct context_part *messages = out->parts.items + out->parts.len - h->messages.len;
    for (size_t i = 0; i < plan.fates.len; i++)
        messages[i].goes = plan.fates.items[i] == FATE_GOES;
    compact_plan_release(&plan);
    fit_to_request(out, agent_request_size(&agent));
    return true;
}
