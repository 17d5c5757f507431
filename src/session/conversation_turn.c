#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/session_tally.h"
#include "session/catalog.h"
#include "session/conversation_private.h"
#include "session/projection.h"

static const char *system_prompt(const struct conversation *w)
{
    const char *configured = config_string(w->config, CONFIG_CHAT_SYSTEM);
    if (w->journal.info.system)
        return w->journal.info.system;
    return *configured ? configured : embedded_text("prompts/system.md");
}

/* The message on its way is not the one that has been written since. */
static void keep_newer_draft(struct conversation *w)
{
    static const struct command saving = {.type = COMMAND_SAVE_DRAFT};
    struct error e = {0};
    if (w->newer_draft && !journal_save_draft(&w->journal, w->newer_draft, &e))
        tell_error(w, &saving, &e);
}

/* The status shows what these change before the turn has ended. */
static bool emit(void *context, struct event *ev, struct error *e)
{
    struct conversation *w = context;
    bool failed = ev->type == EVENT_COMPACTION_FAILED, begins = ev->type == EVENT_TURN_STARTED;
    if (ev->type == EVENT_CALL_COMPLETED)
        w->last_cached = ev->usage.cached;
    if (!journal_emit(&w->journal, ev, e))
        return false;
    w->failure_told = w->failure_told || failed;
    if (failed)
        tell_session(w, false);
    if (begins)
        keep_newer_draft(w);
    return true;
}

void tell_question(struct conversation *w)
{
    const struct question *q = &w->question;
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup(q->id);
    n->name = mem_strdup(q->call->tool->spec.name);
    n->detail = mem_strdup(tool_class_name(q->call->tool->class));
    n->args = mem_strdup(q->args);
    n->preview = mem_strdup(q->preview);
    n->guarded = mem_strdup(q->call->guarded);
    tell(w, n);
}

/* Until it is answered, the turn is interrupted or the program ends. */
static enum approval ask(void *context, const struct tool_call *call, const char *id,
                         const char *args, const char *preview)
{
    struct conversation *w = context;
    if (!w->engine->options.can_ask)
        return APPROVAL_ASK;
    w->question = (struct question){.id = id, .call = call, .args = args, .preview = preview};
    tell_question(w);
    while (!w->question.answered && !w->cancelled && !w->quit)
        conversation_handle(w, mailbox_wait(w->commands, -1));
    bool allowed = w->question.answered && w->question.answer != ANSWER_DENY;
    if (allowed && w->question.answer == ANSWER_SESSION && !call->guarded)
        approval_allow_session(&w->policy, call->tool);
    w->question = (struct question){0};
    return allowed ? APPROVAL_ALLOW : APPROVAL_DENY;
}

/* One that comes too late, or for another call, answers nothing. */
void do_answer(struct conversation *w, struct command *c)
{
    struct question *q = &w->question;
    if (!q->id || !c->name || strcmp(q->id, c->name) != 0 || c->number < ANSWER_ONCE ||
        c->number > ANSWER_DENY)
        return;
    q->answer = (enum approval_answer)c->number;
    q->answered = true;
}

/* What a request holds, without who is asked. */
static struct agent contents(struct conversation *w)
{
    return (struct agent){
        .config = w->config,
        .system = mem_printf("%s\nWorking directory: %s\n", system_prompt(w), w->engine->root),
        .offer = w->engine->options.tools,
        .window = w->backend.facts.window,
        .tools = &w->tools,
        .policy = &w->policy,
        .history = &w->journal.history,
    };
}

struct request_size conversation_request(struct conversation *w)
{
    const struct journal *j = &w->journal;
    struct agent agent = contents(w);
    int64_t overhead = prompt_overhead(&agent);
    conversation_agent_release(&agent);
    if (j->loaded)
        return request_size(&j->history.measure, j->history.estimate, overhead,
                            j->history.last_input);
    return request_size(&j->measure, j->estimate, overhead, j->last_input);
}

struct agent conversation_agent(struct conversation *w)
{
    const struct backend *b = &w->backend;
    struct agent agent = contents(w);
    agent.provider = b->choice.provider;
    agent.endpoint = &b->choice.endpoint;
    agent.http = b->http;
    agent.model = b->choice.model;
    agent.session_id = w->journal.info.id;
    agent.max_output = agent_max_output(config_integer(w->config, CONFIG_PROVIDER_MAX_OUTPUT),
                                        b->facts.max_output, b->facts.window);
    agent.wakeup = &w->wakeup;
    agent.deadline = &w->wakeup;
    agent.budget = &w->budget;
    agent.told = &w->prompt_told;
    agent.spent = conversation_spent(w);
    agent.price = b->facts.price;
    agent.emit = emit;
    agent.ask = ask;
    agent.context = w;
    conversation_equip(w, &agent);
    return agent;
}

void conversation_agent_release(struct agent *a)
{
    free((char *)a->system);
    free((char *)a->summary_label);
}

static bool run_turn(struct conversation *w, const char *input, const char *attachments,
                     int64_t retries, struct error *e)
{
    struct agent agent = conversation_agent(w);
    bool ok = agent_run(&agent, input, attachments, retries, e);
    w->backend.facts.window = agent.window;
    conversation_agent_release(&agent);
    return ok;
}

static void learn_window(struct conversation *w)
{
    w->doing = ASIDE;
    if (!w->quit && backend_ask_window(&w->backend))
        tell_provider(w);
}

/* Derived files are no reason to fail a turn. */
void conversation_project(struct conversation *w)
{
    struct error e;
    struct catalog catalog;
    catalog_borrow(&catalog, w->store, w->journal.directory, w->journal.info.id);
    if (!projection_update(&catalog, w->journal.info.id, &e))
        log_line(LOG_ERROR, "files of %s: %s", w->journal.info.id, e.text);
    catalog_release(&catalog);
}

bool conversation_is_live(const struct conversation *w, struct error *e)
{
    return !w->journal.read_only ||
           err_set(e, ERR_SESSION_NOT_FOUND,
                   "this session is read-only; resume it to continue, or fork it");
}

bool conversation_need_history(struct conversation *w, struct error *e)
{
    return w->journal.loaded || journal_load(&w->journal, e);
}

/* Key, model, window and history: what a turn stands on. */
static bool prepare(struct conversation *w, struct error *e)
{
    return conversation_is_live(w, e) && conversation_need_history(w, e) &&
           (w->backend.chosen || conversation_choose(w, e)) && backend_prepare(&w->backend, e) &&
           /* it may have asked the server for its window */
           (conversation_go_on(w) ||
            err_set(e, ERR_INTERRUPTED, "interrupted before anything was sent; send it again"));
}

static void announce(struct conversation *w, const char *input)
{
    conversation_note_backend(w);
    tell_provider(w);
    session_tally_name(&w->journal.info, input);
    tell_session(w, false);
}

static void start(struct conversation *w, const struct command *c, const char *input,
                  const char *attachments, int64_t retries)
{
    struct error e = {0};
    w->doing = TURN;
    w->busy_since_ms = clock_mono_ms();
    free(w->newer_draft);
    w->newer_draft = NULL;
    tell_busy(w, true);
    bool ready = prepare(w, &e);
    if (ready)
        announce(w, input);
    bool kept = ready && run_turn(w, input, attachments, retries, &e);
    if (!kept)
        tell_error(w, c, &e);
    if (ready && !kept) /* what could not be kept is not to be built upon */
        w->journal.loaded = journal_load(&w->journal, &(struct error){0});
    else if (kept)
        conversation_project(w);
    conversation_finish(w);
    tell_session(w, false);
    tell_busy(w, false);
    if (ready)
        learn_window(w);
    conversation_finish(w);
}

void do_start_turn(struct conversation *w, struct command *c)
{
    start(w, c, c->text ? c->text : "", c->attachments, 0);
}

static bool find_retry(struct conversation *w, struct error *e)
{
    return conversation_is_live(w, e) && conversation_need_history(w, e) &&
           (w->journal.history.last_text ||
            err_set(e, ERR_USAGE, "nothing to retry; send a message first"));
}

void do_retry(struct conversation *w, struct command *c)
{
    struct error e;
    if (!find_retry(w, &e)) {
        tell_error(w, c, &e);
        return;
    }
    char *text = mem_strdup(c->text ? c->text : w->journal.history.last_text);
    char *attachments = mem_strdup(w->journal.history.last_attachments);
    start(w, c, text, attachments, w->journal.history.last_turn_seq);
    free(attachments);
    free(text);
}

void do_interrupt(struct conversation *w, struct command *c)
{
    struct error e;
    struct command *waiting = conversation_take_waiting_turn(w);
    if (waiting) {
        err_set(&e, ERR_INTERRUPTED, "interrupted before anything was sent; send it again");
        tell_error(w, waiting, &e);
        conversation_drop(w, waiting);
    }
    if (w->doing != IDLE) {
        w->cancelled = true;
        return;
    }
    err_set(&e, ERR_SESSION_NOT_RUNNING, "no turn is running; send a message to begin one");
    tell_error(w, c, &e);
}
