#include "play.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "compact/mode.h"
#include "tests/suite.h"

struct play play;

static int64_t stage_ms;

static int64_t stage_clock(void)
{
    return stage_ms;
}

void play_stop_clock(void)
{
    stage_ms = 1000000;
    clock_replace(NULL, stage_clock);
}

void play_press_escape(void)
{
    play.stop = true;
    assert_int_equal(write(play.wake[1], "x", 1), 1);
}

static void add_block(struct response *r, enum block_type type, const char *text, const char *name)
{
    struct block b = {.type = type, .text = mem_strdup(text), .name = mem_strdup(name)};
    if (type == BLOCK_TOOL_CALL)
        b.id = mem_printf("call_%zu_%zu", play.at, r->blocks.len);
    vec_push(&r->blocks, b);
}

static void note_request(const struct provider_call *call, const struct request *request)
{
    play.last_message_count = request->message_count;
    play.last_max_output = request->max_output;
    play.last_deadline_ms = call->wakeup->deadline_ms;
    buf_clear(&play.offered);
    buf_clear(&play.recalled);
    buf_addstr(&play.recalled, request->recalled ? request->recalled : "");
    buf_clear(&play.system);
    buf_addstr(&play.system, request->system ? request->system : "(none)");
    for (size_t i = 0; i < request->tool_count; i++)
        buf_addf(&play.offered, " %s", request->tools[i].name);
}

/* Sleeps as http.c does, until something wakes it or the deadline comes. */
static bool stream_to_the_end(const struct provider_call *call, struct failure *failure)
{
    assert_true(call->wakeup->deadline_ms != 0);
    stage_ms = call->wakeup->deadline_ms;
    assert_false(wakeup_sleep(call->wakeup, -1));
    return failure_set(failure, FAILURE_CANCELLED, "interrupted");
}

static bool fail_call(const struct act *act, struct failure *failure)
{
    failure->status = act->status;
    failure->content_seen = act->text != NULL;
    failure->retry_after_ms = act->retry_after_ms;
    failure->window = act->window;
    return failure_set(failure, act->failure, "scripted failure");
}

static bool scripted(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *failure)
{
    assert_true(play.at < play.act_count);
    const struct act *act = &play.acts[play.at++];
    note_request(call, request);
    if (act->reasoning)
        call->delta(call->context, BLOCK_REASONING, act->reasoning, strlen(act->reasoning));
    if (act->text) {
        play.reads_on = call->delta(call->context, BLOCK_TEXT, act->text, strlen(act->text));
        add_block(response, BLOCK_TEXT, act->text, NULL);
    }
    stage_ms += act->takes_ms;
    if (act->cancel_after)
        play_press_escape();
    if (act->to_the_end)
        return stream_to_the_end(call, failure);
    if (act->failure != FAILURE_NONE)
        return fail_call(act, failure);
    for (int i = 0; act->tool && (i < act->calls || i == 0); i++)
        add_block(response, BLOCK_TOOL_CALL, act->args, act->tool);
    response->stop_reason = act->stop;
    response->calls_refused = act->refused;
    response->prompt_truncated = act->truncated;
    if (!act->without_usage)
        response->usage =
            (struct usage){.input = act->input ? act->input : 10, .output = 5, .cached = -1};
    return true;
}

static const struct provider provider = {.name = "scripted", .complete = scripted};

static bool scripted_summary(const struct provider_call *call, const struct request *request,
                             struct response *response, struct failure *failure)
{
    play.summaries++;
    buf_clear(&play.summary_request);
    for (size_t i = 0; i < request->message_count; i++) {
        auto_free char *text = message_text(&request->messages[i]);
        buf_addf(&play.summary_request, "%s\n", text);
    }
    return scripted(call, request, response, failure);
}

static const struct provider summary_provider = {.name = "scribe", .complete = scripted_summary};

static const struct summariser *find_summariser(void *context, struct error *e)
{
    static struct summariser s;
    (void)context;
    s = (struct summariser){.provider = &summary_provider,
                            .model = "scribe",
                            .label = play.label,
                            .window = play.summary_window,
                            .price = play.summary_price};
    if (play.label)
        return &s;
    err_set(e, ERR_CONFIG_ERROR, "no key for the scribe; set SCRIBE_KEY");
    return NULL;
}

/* The history's part of the journal's commit. */
static enum commit_result commit(void *context, struct event *ev, struct error *e)
{
    struct history_backup backup;
    (void)context;
    play.commits++;
    if (play.commit_result != COMMIT_DONE) {
        err_set(e, ERR_SESSION_STORE_ERROR, "not kept");
        return play.commit_result;
    }
    ev->seq = (int64_t)play.events.len + 1;
    if (!history_compact(&play.history, ev, &backup, e))
        return COMMIT_FAILED;
    history_settle(&backup);
    buf_addf(&play.trail, " %s", event_name(ev->type));
    vec_push(&play.events, ev);
    return COMMIT_DONE;
}

static struct draft_verdict review(void *context, const struct draft *draft)
{
    struct draft_verdict refused = {.answer = DRAFT_REFUSE};
    (void)context;
    buf_clear(&play.draft);
    buf_addstr(&play.draft, draft->text);
    play.deadline_while_asked_ms = play.wakeup.deadline_ms;
    stage_ms += play.thinks_ms;
    if (play.escapes)
        play_press_escape();
    if (play.drafts >= play.verdict_count)
        return refused;
    const struct said *said = &play.verdicts[play.drafts++];
    return (struct draft_verdict){.answer = said->answer, .text = mem_strdup(said->text)};
}

static bool emit(void *context, struct event *ev, struct error *e)
{
    (void)context;
    if (play.store_fails && ev->type == play.store_fails) {
        event_free(ev);
        return err_set(e, ERR_SESSION_STORE_ERROR, "disk full");
    }
    ev->seq = (int64_t)play.events.len + 1;
    history_apply(&play.history, ev);
    buf_addf(&play.trail, "%s%s", play.trail.len ? " " : "", event_name(ev->type));
    vec_push(&play.events, ev);
    return true;
}

static void keep(char **where, const char *text)
{
    free(*where);
    *where = mem_strdup(text);
}

static enum approval_verdict ask(void *context, struct tool_call *call, const char *id,
                                 const char *args, const char *preview)
{
    (void)context;
    play.questions++;
    keep(&play.asked_id, id);
    keep(&play.asked_name, call->tool->spec.name);
    keep(&play.asked_args, args);
    keep(&play.asked_preview, preview);
    play.deadline_while_asked_ms = play.wakeup.deadline_ms;
    stage_ms += play.thinks_ms;
    if (play.escapes)
        play_press_escape();
    auto_free char *grant = tool_call_grant(call);
    if (play.for_session && grant)
        approval_allow_session(&play.policy, grant);
    return play.answer;
}

/* Drains, as the mailbox of the engine does: nobody is woken twice. */
static bool go_on(void *context)
{
    char byte;
    struct pollfd waker = {.fd = play.wake[0], .events = POLLIN};
    (void)context;
    if (poll(&waker, 1, 0) > 0)
        assert_int_equal(read(play.wake[0], &byte, 1), 1);
    return !play.stop && !wakeup_late(&play.wakeup);
}

struct toolset *play_tools(void)
{
    const struct tool_host host = {.root_fd = play.rootless ? -1 : play.root_fd,
                                   .root = support_dir(),
                                   .sandbox = play.sandbox,
                                   .memory = play.memory,
                                   .graph = play.graph,
                                   .corpora = play.corpora};
    toolset_release(&play.tools);
    toolset_init(&play.tools, play.sources, &host);
    return &play.tools;
}

int play_setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* as child_run() demands: a hook need not read its input */
    if (support_setup(NULL) != 0 || pipe(play.wake) != 0)
        return -1;
    play.wakeup = (struct wakeup){.fd = play.wake[0], .go_on = go_on};
    play.config = config_new();
    play.offer = "full";
    play.spent.used[BUDGET_COST] = -1;
    play.price = play.summary_price = (struct price){-1, -1, -1, -1};
    play.label = "scribe/scribe";
    struct compact_warnings warnings;
    compact_settings_read(&play.compact, play.config, &warnings);
    buf_init(&play.summary_request, 0);
    buf_init(&play.draft, 0);
    history_init(&play.history);
    buf_init(&play.trail, 0);
    buf_init(&play.offered, 0);
    buf_init(&play.system, 0);
    buf_init(&play.recalled, 0);
    play.sources = tool_sources;
    play.root_fd = open(support_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return approval_policy_read(&play.policy, play.config, play_tools(), NULL, NULL) ? 0 : -1;
}

int play_teardown(void **state)
{
    (void)state;
    clock_replace(NULL, NULL);
    close(play.wake[0]);
    close(play.wake[1]);
    close(play.root_fd);
    toolset_release(&play.tools);
    prompt_told_release(&play.told);
    hooks_release(&play.hooks);
    config_free(play.config);
    history_release(&play.history);
    approval_policy_release(&play.policy);
    buf_release(&play.trail);
    buf_release(&play.offered);
    buf_release(&play.system);
    buf_release(&play.recalled);
    buf_release(&play.summary_request);
    buf_release(&play.draft);
    for (size_t i = 0; i < play.events.len; i++)
        event_free(play.events.items[i]);
    vec_release(&play.events);
    free(play.asked_id);
    free(play.asked_name);
    free(play.asked_args);
    free(play.asked_preview);
    memset(&play, 0, sizeof play);
    return support_teardown(NULL);
}

void play_policy(const char *allow, const char *ask_first, const char *deny)
{
    const struct {
        enum config_key key;
        const char *value;
    } values[] = {
        {CONFIG_TOOLS_ALLOW, allow}, {CONFIG_TOOLS_ASK, ask_first}, {CONFIG_TOOLS_DENY, deny}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].value)
            assert_true(config_set(play.config, values[i].key, values[i].value, NULL));
    approval_policy_release(&play.policy);
    assert_true(approval_policy_read(&play.policy, play.config, &play.tools, NULL, NULL));
}

static void equip(struct agent *a)
{
    if (!play.compacts)
        return;
    a->compaction = &play.compact;
    a->model_output = play.model_output;
    a->commit = commit;
    a->review = play.absent ? NULL : review;
    a->summariser = find_summariser;
    a->summary_label = "scribe/scribe";
}

static struct agent make_agent(const struct act *acts, size_t count)
{
    play.acts = acts;
    play.act_count = count;
    play.at = 0;
    struct agent a = {
        .config = play.config,
        .provider = &provider,
        .model = "m",
        .system = play.prompt,
        .window = play.window,
        .max_output = 99,
        .tools = play_tools(),
        .offer = play.offer,
        .wakeup = &play.wakeup,
        .deadline = play.timeless ? NULL : &play.wakeup,
        .policy = &play.policy,
        .hooks = &play.hooks,
        .budget = &play.budget,
        .told = &play.told,
        .spent = play.spent,
        .price = play.price,
        .history = &play.history,
        .emit = emit,
        .ask = play.absent ? NULL : ask,
    };
    equip(&a);
    return a;
}

static void end_agent(const struct agent *a)
{
    assert_int_equal(play.wakeup.deadline_ms, 0);
    play.window = a->window;
}

bool play_run(const struct act *acts, size_t count, const char *input, struct error *e)
{
    struct agent a = make_agent(acts, count);
    bool ok = hooks_admit(&a, input, e) && agent_take_turn(&a, input, NULL, 0, e);
    end_agent(&a);
    return ok;
}

const struct event *play_call(const char *tool, const char *args)
{
    int before = 0;
    while (play_event(EVENT_TOOL_EXECUTION_COMPLETED, before))
        before++;
    PLAY({.tool = tool, .args = support_json(args), .stop = STOP_TOOL_USE},
         {.text = "Done.", .stop = STOP_END_TURN});
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, before);
    assert_non_null(ev);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    return ev;
}

void play_gives(const char *tool, const char *args, const char *text)
{
    const struct event *ev = play_call(tool, args);
    assert_string_equal(ev->text, support_json(text));
    assert_false(ev->flag);
}

void play_refuses(const char *tool, const char *args, const char *part)
{
    const struct event *ev = play_call(tool, args);
    if (!ev->flag || !strstr(ev->text, support_json(part)))
        fail_msg("%s(%s): %s", tool, args, ev->text);
}

bool play_compact(const struct act *acts, size_t count, const char *mode, const char *focus,
                  struct error *e)
{
    struct agent a = make_agent(acts, count);
    const struct compact_mode *how = mode ? compact_mode_find(mode) : play.compact.mode;
    assert_non_null(how);
    bool ok = agent_compact(&a, how, focus, play.compact.preview, e);
    end_agent(&a);
    return ok;
}

bool play_offered(const char *tool)
{
    size_t len = strlen(tool);
    for (const char *at = play.offered.data; (at = strstr(at, tool)); at += len)
        if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

const struct event *play_last(void)
{
    return vec_last(&play.events);
}

const struct event *play_event(enum event_type type, int n)
{
    for (size_t i = 0; i < play.events.len; i++)
        if (play.events.items[i]->type == type && n-- == 0)
            return play.events.items[i];
    return NULL;
}

static void check_results(const struct message *answer, const struct message *results)
{
    size_t at = 0;
    for (size_t i = 0; i < answer->blocks.len; i++) {
        const struct block *call = &answer->blocks.items[i];
        if (call->type != BLOCK_TOOL_CALL)
            continue;
        assert_non_null(results);
        assert_int_equal(results->role, ROLE_TOOL);
        assert_true(at < results->blocks.len);
        assert_int_equal(results->blocks.items[at].type, BLOCK_TOOL_RESULT);
        assert_string_equal(results->blocks.items[at++].id, call->id);
    }
    assert_true(at == 0 || at == results->blocks.len);
}

void play_check_history(void)
{
    assert_false(play.history.running);
    for (size_t i = 0; i < play.history.messages.len; i++) {
        const struct message *m = &play.history.messages.items[i];
        bool last = i + 1 == play.history.messages.len;
        if (m->role == ROLE_ASSISTANT)
            check_results(m, last ? NULL : m + 1);
    }
}
