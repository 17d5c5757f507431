#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "chat/usage.h"
#include "session/catalog.h"
#include "session/conversation_private.h"
#include "session/projection.h"
#include "store/event_log.h"

/* --- notices --- */

/* Surfaces do not see provider/. */
static_assert((int)PROVIDER_BY_OPTION == (int)CHOICE_OPTION &&
                  (int)PROVIDER_BY_CONFIG == (int)CHOICE_CONFIG &&
                  (int)PROVIDER_BY_ENVIRONMENT == (int)CHOICE_ENVIRONMENT &&
                  (int)PROVIDER_ANSWERED == (int)CHOICE_ANSWERED &&
                  (int)PROVIDER_FALLBACK == (int)CHOICE_FALLBACK,
              "a reason is a choice's");

void tell(struct conversation *c, struct notice *n)
{
    notice_name_session(n, c->journal.info.id);
    mailbox_push(c->engine->notices, n);
}

void tell_fault(struct conversation *c, const struct error *e)
{
    struct notice *n = notice_new(NOTICE_ERROR);
    log_line(LOG_ERROR, "%s: %s", err_info(e->code)->name, e->text);
    n->error = *e;
    tell(c, n);
}

/* Tokens count whether they were measured or estimated. */
static struct budget_use conversation_spent(const struct conversation *c)
{
    const struct session_info *info = &c->journal.info;
    int64_t tokens = figure_sum(info->usage.input, info->usage.output);
    struct budget_use use = {{0}};
    use.used[BUDGET_TOKENS] = (double)figure_bounded(tokens, FIGURE_MAX);
    use.used[BUDGET_DURATION] = (double)info->run_ms / 1000;
    use.used[BUDGET_TOOL_CALLS] = (double)info->tool_calls;
    use.used[BUDGET_COST] = info->cost;
    return use;
}

/* The contents of a request; the provider may not be known yet. */
static struct agent contents(struct conversation *c)
{
    const char *system = c->journal.info.system;
    if (!system)
        system = config_string(c->config, CONFIG_CHAT_SYSTEM);
    if (!c->journal.info.system && !*system)
        system = embedded_text("prompts/system.md");
    return (struct agent){
        .provider = c->backend.choice.provider,
        .config = c->config,
        .system = mem_strdup(system),
        .instructions = &c->instructions,
        .skills = c->skills_told,
        .learned = c->learned,
        .graph_hint = c->graph_hint,
        .recalled = c->recalled,
        .offer = conversation_offer(c),
        .window = c->backend.facts.window,
        .tools = &c->tools,
        .policy = &c->policy,
        .hooks = &c->hooks,
        .history = &c->journal.history,
    };
}

void conversation_agent_release(struct agent *a)
{
    free((char *)a->system);
    free((char *)a->summary_label);
}

static struct meters current_meters(struct conversation *c)
{
    const struct journal *j = &c->journal;
    const struct history *h = &j->history;
    AUTO(conversation_agent_release) struct agent agent = contents(c);
    int64_t overhead = prompt_overhead(&agent);
    struct meters m = {
        .request = j->loaded ? request_size(&h->measure, h->estimate, overhead, h->last_input)
                             : request_size(&j->measure, j->estimate, overhead, j->last_input),
        .window = c->backend.facts.window,
        .threshold = conversation_threshold(c),
        .compactions = j->loaded ? (int)h->compaction.in_force.len : j->compactions,
        .suspended = conversation_suspended(c),
        .memory = c->engine->memory,
        .access = c->access,
        .tasks = (int)c->tasks,
        .total = j->info.usage,
        .cost = j->info.cost,
        .cost_partial = (j->loaded ? h->unpriced : j->unpriced) > 0};
    struct budget_use use = conversation_spent(c);
    enum budget_kind kind;
    if (budget_nearest(&c->budget, &use, &kind)) {
        m.budget = budget_kind_name(kind);
        m.budget_percent = budget_percent(&c->budget, &use, kind);
    }
    return m;
}

void tell_session(struct conversation *c, bool opened)
{
    struct notice *n = notice_new(NOTICE_SESSION);
    session_info_release(&n->info);
    n->info = session_info_clone(&c->journal.info);
    n->meters = current_meters(c);
    n->read_only = c->journal.read_only;
    n->flag = opened;
    if (!opened) {
        tell(c, n);
        return;
    }
    engine_note_session(&c->seat, c->journal.info.id);
    notice_name_session(n, c->journal.info.id);
    engine_tell_front(&c->seat, n);
}

void tell_provider(struct conversation *c)
{
    const struct choice *choice = &c->backend.choice;
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup(choice->provider->name);
    n->model = mem_strdup(choice->model);
    n->detail = mem_strdup(choice->detail);
    n->reason = (enum provider_reason)choice->reason;
    n->name = mem_strdup(conversation_effort(c));
    AUTO(buf_release) struct buf efforts = BUF_INIT;
    models_efforts(choice->provider, &c->backend.facts, &efforts);
    n->args = efforts.len > 0 ? buf_take(&efforts) : NULL;
    if (choice->reason != CHOICE_FALLBACK)
        engine_note_backend(&c->seat, choice->provider->name, choice->model);
    n->meters = current_meters(c);
    tell(c, n);
}

void tell_busy(struct conversation *c, bool busy)
{
    struct notice *n = notice_new(NOTICE_BUSY);
    n->flag = busy;
    n->number = busy ? clock_mono_ms() - c->busy_since_ms : 0;
    tell(c, n);
}

void tell_page(struct conversation *c, struct event_list *tail, bool more)
{
    struct notice *n = notice_new(NOTICE_PAGE);
    n->flag = more;
    n->events.items = tail->items.items;
    n->events.len = tail->items.len;
    n->events.cap = tail->items.cap;
    tell(c, n);
}

void tell_all(struct conversation *c)
{
    tell_session(c, true);
    tell_busy(c, true);
    if (!c->engine->options.serves) {
        struct event_list tail = {0};
        struct error e;
        bool more = false;
        if (!journal_tail(&c->journal, &tail, &more, &e))
            log_line(LOG_ERROR, "session %s: %s", c->journal.info.id, e.text);
        tell_page(c, &tail, more);
    }
    tell_provider(c);
    if (c->question.id && !c->question.answered)
        tell_question(c);
    if (c->elicitation.server)
        tell_elicitation(c, false);
    if (c->review.draft && !c->review.answered)
        tell_draft(c);
}

/* --- turns --- */

#define INTERRUPTED_BEFORE "interrupted before anything was sent; send it again"

/* Keeps an event of the turn, and tells surfaces what they show before the turn has ended. */
static bool emit(void *context, struct event *ev, struct error *e)
{
    struct conversation *c = context;
    struct error fault = {0};
    bool failed = ev->type == EVENT_COMPACTION_FAILED, begins = ev->type == EVENT_TURN_STARTED;
    bool ran = ev->type == EVENT_TOOL_EXECUTION_COMPLETED; /* the journal takes the event */
    if (ev->type == EVENT_CALL_COMPLETED)
        c->last_cached = ev->usage.cached;
    struct directives found = {0};
    conversation_find_directives(c, ev, &found);
    if (c->turn) {
        /* The members of the turn's result that come from its events. */
        switch (ev->type) {
        case EVENT_TOOL_EXECUTION_COMPLETED:
            c->turn->tool_calls++;
            break;
        case EVENT_TEXT_COMPLETE:
            mem_replace(&c->turn->text, mem_strdup(ev->text));
            break;
        case EVENT_CALL_COMPLETED:
            usage_add(&c->turn->usage, &ev->usage);
            break;
        case EVENT_TURN_COMPLETED:
            mem_replace(&c->turn->text, mem_strdup(ev->text));
            c->turn->usage = ev->usage;
            c->turn->stop_reason = ev->stop_reason;
            break;
        case EVENT_INTERRUPTED:
            c->turn->stop_reason = STOP_CANCELLED;
            break;
        case EVENT_TURN_FAILED:
            c->turn->stop_reason = STOP_OTHER;
            err_set(&c->turn->fault, err_from_name(ev->name), "%s", ev->text);
            break;
        default:
            break;
        }
    }
    bool kept = journal_emit(&c->journal, ev, e);
    if (kept)
        conversation_learn(c, &found);
    directives_release(&found);
    if (!kept)
        return false;
    if (ran)
        conversation_tell_tasks(c);
    c->failure_told = c->failure_told || failed;
    if (failed)
        tell_session(c, false);
    /* The turn deletes the draft that was its message, not one that was written since. */
    if (begins && c->newer_draft && !journal_save_draft(&c->journal, c->newer_draft, &fault))
        tell_fault(c, &fault);
    return true;
}

enum { REFUSAL_BYTES = 4096 /* longest reason of the user */ };

void tell_question(struct conversation *c)
{
    const struct question *q = &c->question;
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup(q->id);
    n->name = mem_strdup(q->call ? q->call->tool->spec.name : q->id);
    n->detail = mem_strdup(q->call ? tool_class_name(q->call->tool->class) : QUESTION_OF_PROJECT);
    n->args = mem_strdup(q->args);
    n->preview = mem_strdup(q->preview);
    if (q->call) {
        shape_copy(&change_shape, &n->change, &q->call->sight.change);
        n->guarded = mem_strdup(q->call->guarded);
        n->grant = tool_call_grant(q->call);
    }
    tell(c, n);
}

static void show_output(void *context, const struct tool_output *output)
{
    struct notice *n = notice_new(NOTICE_OUTPUT);
    n->text = mem_strdup(output->call);
    n->detail = mem_strdup(output->text);
    n->flag = output->anew;
    n->number = output->ran_ms;
    tell(context, n);
}

enum approval_answer conversation_ask(struct conversation *c, struct question question)
{
    c->question = question;
    tell_question(c);
    while (!c->question.answered && !c->cancelled && !c->quit)
        conversation_handle(c, mailbox_wait(c->seat.requests, -1));
    return c->question.answered ? c->question.answer : ANSWER_DENY;
}

static enum approval_verdict ask(void *context, struct tool_call *call, const char *id,
                                 const char *args, const char *preview)
{
    struct conversation *c = context;
    struct error e;
    if (!c->engine->options.can_ask || c->engine->options.nobody_allows)
        return APPROVAL_ASK;
    enum approval_answer answer = conversation_ask(
        c, (struct question){.id = id, .call = call, .args = args, .preview = preview});
    auto_free char *grant = tool_call_grant(call);
    bool always = answer == ANSWER_PROJECT && grant;
    bool kept = always && permissions_set(conversation_project_path(c), grant, true, &e) &&
                conversation_read_permissions(c, &e);
    if (always && !kept)
        tell_fault(c, &e);
    if (grant && (answer == ANSWER_SESSION || (always && !kept)))
        approval_allow_session(&c->policy, grant);
    call->refusal = c->question.reason;
    c->question = (struct question){0};
    return answer == ANSWER_DENY ? APPROVAL_DENY : APPROVAL_ALLOW;
}

bool converse_decide_approval(struct conversation *c, const void *params, void *result,
                              struct error *e)
{
    const struct approval_decide_params *p = params;
    struct question *q = &c->question;
    (void)result;
    if (!q->id || !p->call || strcmp(q->id, p->call) != 0)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "that tool call waits for no answer");
    q->answer = p->decision;
    q->answered = true;
    if (p->decision == ANSWER_DENY && p->reason && !utf8_is_blank(p->reason)) {
        AUTO(buf_release) struct buf reason = BUF_INIT;
        utf8_add_cut(&reason, p->reason, strlen(p->reason), REFUSAL_BYTES);
        mem_replace(&q->reason, buf_take(&reason));
    }
    return true;
}

/* --- forms of MCP servers --- */

void tell_elicitation(struct conversation *c, bool over)
{
    struct notice *n = notice_new(NOTICE_ELICITATION);
    n->number = c->elicitation.number;
    n->name = mem_strdup(c->elicitation.server);
    n->args = over ? NULL : mem_strdup(c->elicitation.params);
    n->flag = over;
    tell(c, n);
}

static char *elicit(void *context, const char *server, const struct json *params,
                    bool (*waits)(void *of), void *of)
{
    enum { LOOK_MS = 250 }; /* between two looks whether the server still waits */
    struct conversation *c = context;
    struct elicitation *q = &c->elicitation;
    struct error e;
    if (!form_read(&q->form, params, &e)) {
        log_line(LOG_ERROR, "MCP server %s asks for input: %s", server, e.text);
        form_release(&q->form);
        return mem_strdup("{\"action\":\"decline\"}");
    }
    q->number++;
    q->server = server;
    q->params = json_print(params);
    tell_elicitation(c, false);
    while (!q->answered && !c->cancelled && !c->quit && waits(of)) {
        struct operation_request *r = mailbox_wait(c->seat.requests, LOOK_MS);
        if (r)
            conversation_handle(c, r);
    }
    tell_elicitation(c, true);
    const char *const words[] = {[ELICITATION_ACCEPT] = "accept",
                                 [ELICITATION_DECLINE] = "decline",
                                 [ELICITATION_CANCEL] = "cancel"};
    struct buf result = BUF_INIT;
    json_out_pack(&(struct json_out){.buf = &result},
                  q->content ? "{action:s content:r}" : "{action:s}",
                  words[q->answered ? q->action : ELICITATION_CANCEL], q->content);
    form_release(&q->form);
    free(q->params);
    free(q->content);
    *q = (struct elicitation){.number = q->number};
    return buf_take(&result);
}

bool converse_decide_elicitation(struct conversation *c, const void *params, void *result,
                                 struct error *e)
{
    const struct elicitation_decide_params *p = params;
    struct elicitation *q = &c->elicitation;
    (void)result;
    if (!q->server || q->answered || q->number != p->number)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "that form waits for no answer");
    if (p->action == ELICITATION_ACCEPT && !q->form.url) {
        AUTO(json_free_local)
        struct json *content =
            p->content ? json_parse(p->content, strlen(p->content), e) : form_defaults(&q->form);
        if (!content || !form_check(&q->form, content, e))
            return false;
        q->content = json_print(content);
    }
    q->action = p->action;
    q->answered = true;
    return true;
}

struct agent conversation_agent(struct conversation *c)
{
    const struct backend *b = &c->backend;
    struct agent agent = contents(c);
    agent.endpoint = &b->choice.endpoint;
    agent.http = b->http;
    agent.model = b->choice.model;
    agent.eyes = &b->facts.eyes;
    agent.watched = c->engine->options.can_ask;
    agent.session_id = c->journal.info.id;
    agent.origin = c->origin;
    agent.effort = conversation_effort(c);
    agent.max_output = agent_max_output(config_integer(c->config, CONFIG_PROVIDER_MAX_OUTPUT),
                                        b->facts.max_output, b->facts.window, agent.effort != NULL);
    agent.wakeup = &c->wakeup;
    agent.deadline = &c->wakeup;
    agent.budget = &c->budget;
    agent.told = &c->prompt_told;
    agent.spent = conversation_spent(c);
    agent.price = b->facts.price;
    agent.emit = emit;
    /* The offline provider quotes what its own search finds. */
    if (c->engine->memory && b->choice.provider->has_network &&
        strcmp(config_string(c->config, CONFIG_MEMORY_RECALL), "auto") == 0)
        agent.recall = conversation_recall;
    agent.ask = ask;
    agent.show = show_output;
    agent.keep_images = conversation_keep_images;
    agent.elicit = c->engine->options.can_ask && !c->engine->options.nobody_allows ? elicit : NULL;
    agent.context = c;
    conversation_equip(c, &agent);
    return agent;
}

void conversation_project(struct conversation *c)
{
    struct catalog catalog;
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    projection_follow(&catalog, c->journal.info.id);
    catalog_release(&catalog);
}

bool conversation_is_live(const struct conversation *c, struct error *e)
{
    return !c->journal.read_only ||
           err_set(e, ERR_SESSION_NOT_FOUND,
                   "this session is read-only; resume it to continue, or fork it");
}

bool conversation_need_history(struct conversation *c, struct error *e)
{
    const struct journal *j = &c->journal;
    return (j->loaded && !j->rows.source.failed) || journal_load(&c->journal, e);
}

/* The attachments of a message, with the surroundings if no message that the model sees tells them
 * as they are now: in the first, after a compaction, on another day; and with the files that were
 * given an earlier content since. The one that is sent again (`retries`) goes. The caller frees;
 * NULL: none. */
static char *with_surroundings(const struct conversation *c, const char *attachments,
                               int64_t retries)
{
    const struct history *h = &c->journal.history;
    const char *all = attachments ? attachments : "[]";
    AUTO(json_free_local) struct json *old = json_parse(all, strlen(all), NULL);
    AUTO(json_free_local) struct json *blocks = json_new_array();
    auto_free char *now = prompt_surroundings(c->root);
    auto_free char *restored = conversation_restored_files(c, retries);
    size_t len = strlen(now);
    bool told = !restored && h->surroundings && strncmp(h->surroundings, now, len) == 0 &&
                (!h->surroundings[len] || h->surroundings[len] == '\n') &&
                h->surroundings_seq != retries && history_find(h, h->surroundings_seq);
    for (const struct json *v = json_first(old); v; v = json_next(v)) {
        const char *name = json_get_string(v, "name");
        if (!name || strcmp(name, MESSAGE_SURROUNDINGS) != 0)
            json_push(blocks, json_clone(v));
    }
    if (restored)
        mem_replace(&now, mem_printf("%s\n\n%s", now, restored));
    /* The offline provider would quote them. */
    if (!told && c->backend.choice.provider->has_network)
        json_push(blocks, json_pack("{type:'text' name:s text:s}", MESSAGE_SURROUNDINGS, now));
    return json_first(blocks) ? json_print(blocks) : NULL;
}

/* Sets the parts of the prompt and the tools before a turn of the model. */
static bool prepare(struct conversation *c, const char *input, struct error *e)
{
    static const char *const graph_words[] = {"graph", "Graph", "grafo", "Grafo", "memory_create_"};
    struct error fault;
    if (!backend_prepare(&c->backend, e))
        return false;
    conversation_trust_project(c, true);
    if (!conversation_go_on(c)) /* backend_prepare() may have asked the server for the window */
        return err_set(e, ERR_INTERRUPTED, INTERRUPTED_BEFORE);
    /* The tools of an empty graph are offered once the user writes of it, in any language. */
    for (size_t i = 0; i < sizeof graph_words / sizeof *graph_words; i++)
        c->graph_named = c->graph_named || strstr(input, graph_words[i]);
    conversation_read_prompt(c);
    conversation_read_learned(c, true);
    if (!conversation_read_permissions(c, &fault)) /* then tools ask */
        tell_fault(c, &fault);
    conversation_start_servers(c);
    return true;
}

static bool start(struct conversation *c, const char *input, const char *attachments,
                  int64_t retries, struct turn_result *out, struct error *e)
{
    bool commands = c->origin == INPUT_COMMAND;
    mem_replace(&c->newer_draft, NULL);
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e) ||
        !conversation_need_backend(c, e) || (!commands && !prepare(c, input, e)))
        return false;
    auto_free char *checked = mem_strdup(attachments);
    if (!conversation_check_images(c, &checked, e))
        return false;
    struct agent agent = conversation_agent(c);
    if (!commands && !hooks_admit(&agent, input, e)) {
        conversation_agent_release(&agent);
        return false;
    }
    out->usage = USAGE_UNKNOWN;
    c->turn = out;
    c->prepared = true;
    conversation_note_backend(c);
    tell_provider(c);
    session_tally_name(&c->journal.info, input);
    tell_session(c, false);

    auto_free char *attached = commands ? NULL : with_surroundings(c, checked, retries);
    bool kept = commands ? agent_run_command(&agent, input, e)
                         : agent_take_turn(&agent, input, attached, retries, e);
    mem_replace(&c->recalled, NULL);
    c->backend.facts.window = agent.window;
    conversation_agent_release(&agent);
    if (kept) {
        /* A program that runs one turn and ends would only interrupt the call. */
        bool stays = c->engine->options.can_ask || c->engine->options.serves;
        c->title_due = stays && !c->journal.info.title_set && c->journal.history.rewound.len == 0 &&
                       (c->journal.info.turns == 1 || c->title_due) &&
                       strcmp(config_string(c->config, CONFIG_SESSION_TITLES), "model") == 0;
        conversation_project(c);
        conversation_digest(c);
    } else { /* the history in memory may have events that were not kept */
        c->journal.loaded = journal_load(&c->journal, &(struct error){0});
    }
    c->turn = NULL;
    /* Free memory while the user reads: pages of the database come back from the system's cache. */
    store_give_back_memory(c->store);
    mem_return_unused();
    memcpy(out->session_id, c->journal.info.id, sizeof out->session_id);
    out->turns = c->journal.info.turns;
    return kept;
}

bool converse_start_turn(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct turn_start_params *p = params;
    auto_free char *images = NULL;
    c->origin = p->origin;
    if (p->origin == INPUT_COMMAND)
        return start(c, p->text ? p->text : "", NULL, 0, result, e);
    return conversation_place_images(c, p->attachments, &images, e) &&
           conversation_attach(c, &p->attach, p->text ? p->text : "", NULL, &images, e) &&
           conversation_add_skills(c, p->text, &p->attach, false, &images, e) &&
           start(c, p->text ? p->text : "", images, 0, result, e);
}

bool converse_retry(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct turn_retry_params *p = params;
    const struct history *h = &c->journal.history;
    struct said said;
    if (!conversation_is_live(c, e) || !conversation_need_history(c, e))
        return false;
    if (!h->last_text)
        return err_set(e, ERR_USAGE, "nothing to retry; send a message first");
    if (!event_log_said(c->store, c->journal.info.id, h->last_turn_seq, &said, e))
        return false;
    bool command = said.origin == INPUT_COMMAND;
    c->origin = p->text ? p->origin : said.origin; /* the same words have the same origin */
    free(said.text);
    if (command)
        return err_set(e, ERR_USAGE, "the last message is a command that you ran; send a new one");
    auto_free char *text = mem_strdup(p->text ? p->text : h->last_text);
    auto_free char *attachments = mem_strdup(h->last_attachments);
    return (!p->text || (conversation_attach(c, &p->attach, text, h->last_text, &attachments, e) &&
                         conversation_add_skills(c, text, &p->attach, true, &attachments, e))) &&
           start(c, text, attachments, h->last_turn_seq, result, e);
}

bool converse_interrupt(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct error interrupted;
    size_t waiting = conversation_waiting_turn(c);
    (void)params, (void)result;
    if (waiting < c->seat.deferred.len) {
        struct operation_request *r = c->seat.deferred.items[waiting];
        vec_remove(&c->seat.deferred, waiting, 1);
        err_set(&interrupted, ERR_INTERRUPTED, INTERRUPTED_BEFORE);
        conversation_refuse(c, r, &interrupted);
    }
    if (c->doing == IDLE)
        return err_set(e, ERR_SESSION_NOT_RUNNING,
                       "no turn is running; send a message to begin one");
    c->cancelled = true;
    return true;
}

/* --- commands in the background --- */

bool converse_background(struct conversation *c, const void *params, void *result, struct error *e)
{
    struct tasks *t = &c->tools.host.tasks;
    (void)params, (void)result;
    if (c->wanted.waits)
        return err_set(e, ERR_USAGE,
                       "the editor runs this command; it cannot go on in the background");
    if (!t->front)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "no command is running");
    t->aside = tasks_have_room(t, e);
    return t->aside;
}

void conversation_tell_tasks(struct conversation *c)
{
    struct tasks *t = &c->tools.host.tasks;
    size_t running = tasks_running(t);
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        if (!task_is_over(task) || task->announced)
            continue;
        task->announced = true;
        struct notice *n = notice_new(NOTICE_TASKS);
        n->number = task->number;
        n->text = mem_strdup(task->command);
        n->limit = task->result.end == CHILD_EXITED ? task->result.status : -task->result.status;
        n->meters.tasks = (int)running;
        tell(c, n);
    }
    if (running == c->tasks && c->tasks_ended == 0)
        return;
    struct notice *n = notice_new(NOTICE_TASKS);
    n->flag = c->tasks_ended > 0;
    n->number = (int64_t)c->tasks_ended;
    n->meters.tasks = (int)running;
    c->tasks = running;
    c->tasks_ended = 0;
    tell(c, n);
}

void conversation_end_tasks(struct conversation *c)
{
    c->tasks_ended += tasks_end(&c->tools.host.tasks);
    c->tasks = 0;
}

/* --- tasks of the surface for tools: it reads and writes files that it has open, and runs
 * commands. Tools run one after another, so one task waits at a time --- */

enum {
    TEXT_MS = 5000, /* the longest wait for a text */
    END_MS = 3000,  /* … and for the output of a command that was told to end */
    REASON_BYTES = 500
};

static void forget_answer(struct wanted *w)
{
    shape_release(&surface_answer_shape, &w->answer);
    w->waits = w->answered = false;
}

static struct notice *want(struct conversation *c, enum notice_type type)
{
    struct notice *n = notice_new(type);
    forget_answer(&c->wanted);
    c->wanted.waits = true;
    n->number = ++c->wanted.number;
    return n;
}

/* The task is over; a command still sends the output so far. */
static void tell_enough(struct conversation *c)
{
    struct notice *n = notice_new(NOTICE_ENOUGH);
    n->number = c->wanted.number;
    tell(c, n);
}

/* True if the surface answered before `until_ms`. An interruption also ends the wait, unless the
 * surface was `told` that the task is over. */
static bool await_answer(struct conversation *c, int64_t until_ms, bool told)
{
    while (c->wanted.waits && (told || conversation_go_on(c))) {
        int64_t left = until_ms - clock_mono_ms();
        if (left <= 0 || !c->wanted.waits)
            break;
        int ms = left < INT_MAX ? (int)left : INT_MAX;
        struct operation_request *r =
            mailbox_wait(c->seat.requests, told ? ms : wakeup_timeout(&c->wakeup, ms));
        if (r)
            conversation_handle(c, r);
    }
    return c->wanted.answered;
}

/* Cleans the surface's text, which is foreign. */
static void add_reason(const struct conversation *c, struct buf *out)
{
    struct buf clean = BUF_INIT;
    const char *text = c->wanted.answer.text ? c->wanted.answer.text : "";
    utf8_clean(&clean, text, strnlen(text, 4 * REASON_BYTES), UTF8_ONE_LINE);
    utf8_add_cut(out, clean.data, clean.len, REASON_BYTES);
    buf_release(&clean);
}

/* The outcome of a task that was not answered. */
static enum surface_outcome fail_silent(struct conversation *c, const char *what, struct buf *out)
{
    bool stopped = !conversation_go_on(c);
    c->wanted.waits = false;
    tell_enough(c);
    buf_addf(out, "%s; %s", stopped ? "interrupted" : "the editor did not answer in time", what);
    return SURFACE_FAILED;
}

static enum surface_outcome conclude(struct conversation *c, struct buf *out)
{
    enum surface_outcome outcome = c->wanted.answer.outcome;
    if (outcome == SURFACE_FAILED)
        add_reason(c, out);
    forget_answer(&c->wanted); /* it may have 30 MB */
    return outcome;
}

/* --- files ------------------------------------------------------------------------------------ */

static enum surface_outcome read_text(void *context, const struct tool_context *tool,
                                      const char *path, struct buf *out)
{
    struct conversation *c = context;
    struct notice *n = want(c, NOTICE_READ);
    int64_t until_ms = clock_mono_ms() + TEXT_MS;
    n->detail = mem_strdup(path);
    tell(c, n);
    if (!await_answer(c, until_ms < tool->deadline_ms ? until_ms : tool->deadline_ms, false))
        return fail_silent(c, "its text is not known", out);
    const char *text = c->wanted.answer.text;
    if (c->wanted.answer.outcome == SURFACE_DID)
        buf_addstr(out, text ? text : "");
    return conclude(c, out);
}

static enum surface_outcome write_text(void *context, const struct tool_context *tool,
                                       const char *path, const char *content, struct buf *out)
{
    struct conversation *c = context;
    struct notice *n = want(c, NOTICE_WRITE);
    n->detail = mem_strdup(path);
    n->text = mem_strdup(content);
    tell(c, n);
    if (!await_answer(c, tool->deadline_ms, false))
        return fail_silent(c, "whether it was written is not known, so read it again", out);
    return conclude(c, out);
}

/* --- commands --------------------------------------------------------------------------------- */

static enum surface_outcome run_command(void *context, const struct tool_context *tool,
                                        const struct surface_command *command,
                                        struct surface_run *run, struct buf *out)
{
    struct conversation *c = context;
    (void)tool; /* its deadline is not before the command's */
    struct notice *n = want(c, NOTICE_RUN);
    n->text = mem_strdup(command->text);
    n->args = mem_strdup(command->first);
    n->detail = mem_strdup(command->directory);
    n->limit = (int64_t)command->max_output;
    tell(c, n);
    bool ended = await_answer(c, command->deadline_ms, false);
    run->end = ended ? SURFACE_ENDED : conversation_go_on(c) ? SURFACE_LATE : SURFACE_INTERRUPTED;
    if (!ended) {
        /* Wait a moment for the output so far. */
        tell_enough(c);
        await_answer(c, clock_mono_ms() + END_MS, true);
        c->wanted.waits = false;
    }
    const struct surface_answer_params *answer = &c->wanted.answer;
    if (c->wanted.answered && answer->outcome == SURFACE_DID) {
        buf_addstr(&run->output, answer->text ? answer->text : "");
        run->truncated = answer->truncated;
        run->status = answer->exit_status;
        run->signal = mem_strdup(answer->signal);
    } else if (!ended) { /* a reason in place of the output */
        buf_addch(&run->output, '[');
        if (c->wanted.answered)
            add_reason(c, &run->output);
        else
            buf_addstr(&run->output, "the editor says nothing of it");
        buf_addstr(&run->output, "]\n");
    }
    if (ended)
        return conclude(c, out);
    forget_answer(&c->wanted);
    return SURFACE_DID;
}

/* --- for the conversation --------------------------------------------------------------------- */

void conversation_know_surface(struct conversation *c)
{
    c->tool_surface = (struct tool_surface){
        .read = read_text, .write = write_text, .run = run_command, .context = c};
}

bool converse_answer_tool(struct conversation *c, const void *params, void *result, struct error *e)
{
    const struct surface_answer_params *p = params;
    struct wanted *w = &c->wanted;
    (void)result;
    if (!w->waits || p->number != w->number)
        return err_set(e, ERR_SESSION_NOT_RUNNING, "no tool waits for that answer");
    forget_answer(w);
    shape_copy(&surface_answer_shape, &w->answer, p);
    w->answered = true;
    return true;
}
