/* The effect of the engine's notices on the screen's state, without a terminal and an engine. */
#include "base/clock.h"
#include "chat/context.h"
#include "session/session_operations.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "tests/told.h"
#include "ui/app/app.h"
#include "ui/app/notices.h"

#define told_to_person(...) seen_transcript_says(app.transcript, __VA_ARGS__)

static void ask(const char *id)
{
    struct notice *n = notice_new(NOTICE_APPROVAL);
    n->text = mem_strdup(id);
    n->name = mem_strdup("run_command");
    n->detail = mem_strdup("execute");
    n->preview = mem_strdup("true");
    notices_take(&app, n);
    assert_true(approval_open(&app.approval.view));
}

static void tell_busy(bool busy)
{
    struct notice *n = notice_new(NOTICE_BUSY);
    n->flag = busy;
    notices_take(&app, n);
}

/* The engine's answer to a request of the surface. */
static struct notice *answer(const struct operation *o, const void *params)
{
    const struct asked_request by = {.id = 7};
    struct operation_request *r = operation_request_new(o, params);
    struct notice *n = notice_new(NOTICE_ANSWER);
    r->id = by.id;
    n->answer = operation_answer_new(r);
    vec_push(&app.asked, by);
    return n;
}

static void fail_for(const struct operation *o, const void *params, enum err_code code,
                     const char *words)
{
    struct error e;
    struct notice *n = answer(o, params);
    err_set(&e, code, "%s", words);
    operation_answer_fail(n->answer, &e);
    notices_take(&app, n);
}

static void fail_with(const struct operation *o, enum err_code code)
{
    fail_for(o, NULL, code, "the engine's words");
}

static void tell_changed(const struct operation *o, const char *id)
{
    struct notice *n = answer(o, NULL);
    memcpy(((struct session_changed *)n->answer->result)->id, id, strlen(id) + 1);
    notices_take(&app, n);
}

FIXTURE(still_app_setup, still_app_teardown);

/* Any end of the tool call closes its question. */
TEST(questions_close)
{
    ask("1");
    struct event *other = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    other->id = mem_strdup("2");
    still_app_event(other);
    assert_true(approval_open(&app.approval.view));
    struct event *same = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    same->id = mem_strdup("1");
    still_app_event(same);
    assert_false(approval_open(&app.approval.view));
    static const enum event_type ends[] = {EVENT_TURN_COMPLETED, EVENT_TURN_FAILED,
                                           EVENT_INTERRUPTED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        ask("1");
        still_app_event(event_new(ends[i]));
        assert_false(approval_open(&app.approval.view));
    }
    ask("1");
    tell_busy(false);
    assert_false(approval_open(&app.approval.view));
    still_app_session("first", "one", false, true);
    ask("1");
    still_app_session("second", "two", false, true);
    assert_false(approval_open(&app.approval.view));
}

static int64_t clock_ms;

static int64_t now(void)
{
    return clock_ms;
}

static void draw_question(int64_t now_ms)
{
    clock_ms = now_ms;
    clock_replace(NULL, now);
    (void)view_draw(&app.approval.view, 80, 5);
    clock_replace(NULL, NULL);
}

/* The keys are drawn when they are due; no other timer wakes the program. */
TEST(a_question_wakes_the_program_once)
{
    ask("1");
    app.dirty = 0;
    app.urgent = false;
    assert_int_equal(app_timeout(&app, 5000), -1); /* not drawn yet: too small, say */
    draw_question(5000);
    assert_int_equal(app_timeout(&app, 5000), APPROVAL_PAUSE_MS);
    app_timers(&app, 5000 + APPROVAL_PAUSE_MS - 1);
    assert_int_equal(app.dirty, 0);
    app_timers(&app, 5000 + APPROVAL_PAUSE_MS);
    assert_true(app_frame_due(&app, 5000 + APPROVAL_PAUSE_MS));
    draw_question(5000 + APPROVAL_PAUSE_MS);
    app.dirty = 0;
    app.urgent = false;
    assert_int_equal(app_timeout(&app, 6000), -1);
}

/* A retry would end the same way, so none is offered. */
TEST(an_exhausted_budget_is_not_retried)
{
    struct event *ev = event_new(EVENT_TURN_FAILED);
    ev->name = mem_strdup("BUDGET_EXHAUSTED");
    ev->text = mem_strdup("max_tokens is reached");
    still_app_event(ev);
    told_to_person("The budget is used up.", "!/retry");
    ev = event_new(EVENT_TURN_FAILED);
    ev->name = mem_strdup("AGENT_ERROR");
    ev->text = mem_strdup("the server is away");
    still_app_event(ev);
    told_to_person("/retry sends the message again.");
}

TEST(only_a_stop_that_was_asked_for_complains)
{
    fail_with(&operation_turn_interrupt, ERR_SESSION_NOT_RUNNING); /* Esc after the end */
    told_to_person("!running");
    app.stop_asked = true;
    fail_with(&operation_turn_interrupt, ERR_SESSION_NOT_RUNNING);
    told_to_person("Nothing is running.");
    assert_false(app.stop_asked);
    app.stop_asked = true;
    tell_busy(false);
    assert_false(app.stop_asked);
}

TEST(reading_gives_the_text_back)
{
    still_app_session("first", "one", true, true);
    assert_true(app.read_only);
    app.activity.busy = true;
    fail_for(&operation_turn_start, &(struct turn_start_params){.text = "not sent"},
             ERR_SESSION_NOT_FOUND, "");
    assert_false(app.activity.busy);
    assert_string_equal(editor_text(app.editor), "not sent");
    told_to_person("This session is read-only.");
    app_save_draft(&app); /* would need an engine */
    still_app_session("first", "one", false, true);
    assert_false(app.read_only);
}

TEST(several_sessions_are_not_none)
{
    fail_for(&operation_session_open, NULL, ERR_SESSION_AMBIGUOUS,
             "2 sessions match \"x\"; name one: a, b");
    told_to_person("2 sessions match", "!no such session");
}

/* A session that goes takes its notices along; the next one shows the message about it. */
TEST(an_archived_session_is_spoken_of_in_the_next)
{
    still_app_session("first", "one", false, true);
    tell_changed(&operation_session_archive, "first");
    still_app_session("second", "", false, true);
    told_to_person("\"one\" is archived");
    still_app_session("third", "three", false, true);
    told_to_person("!archived");
    tell_changed(&operation_session_delete, "third");
    still_app_session("fourth", "", false, true);
    told_to_person("\"three\" is closed and was not saved.");
    tell_changed(&operation_session_archive, "another"); /* not the open one */
    still_app_session("fifth", "", false, true);
    told_to_person("!archived");
}

TEST(what_was_done_is_said)
{
    still_app_session("first", "one", false, true);
    notices_take(&app, answer(&operation_session_fork, NULL));
    told_to_person("This is a copy");
}

TEST(new_labels_are_said)
{
    still_app_session("first", "one", false, true);
    struct notice *n = notice_new(NOTICE_SESSION);
    session_info_release(&n->info);
    n->info = session_info_clone(&app.session);
    n->info.labels = mem_strdup("garden");
    notices_take(&app, n);
    told_to_person("Labels: garden");
    still_app_session("first", "one", false, false);
    told_to_person("no labels any more");
}

/* --- compactions --- */

static void tell_of(enum event_type type)
{
    still_app_event(event_new(type));
}

static void answered(int64_t input)
{
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    ev->usage = (struct usage){.input = input, .output = 10, .cached = -1};
    still_app_event(ev);
}

static void compacted(int64_t after)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    ev->compaction.tokens_before = 5000;
    ev->compaction.tokens_after = 200;
    ev->compaction.request_before = 6010;
    ev->compaction.request_after = after;
    still_app_event(ev);
}

static int64_t context(void)
{
    bool estimated;
    return app_context(&app, &estimated);
}

static void told_of_request(int64_t tokens)
{
    struct notice *n = answer(&operation_context_read, NULL);
    struct context *c = n->answer->result;
    c->tokens = tokens;
    c->estimated = true;
    notice_name_session(n, app.session.id);
    notices_take(&app, n);
}

/* The gauge, the card and F4 show the whole next request, as the engine estimates it. */
TEST(the_gauge_follows_the_request)
{
    bool estimated;
    answered(6000);
    assert_int_equal(app_context(&app, &estimated), 6010);
    assert_false(estimated);
    compacted(1800);
    assert_int_equal(app_context(&app, &estimated), 1800);
    assert_true(estimated);
    still_app_event(EV(TOOL_EXECUTION_COMPLETED, 0, "forty bytes of what a tool found, in all"));
    assert_int_equal(context(), 1810);
    told_of_request(1815);
    assert_int_equal(context(), 1815);
    answered(1900);
    assert_int_equal(context(), 1910);
    told_of_request(4000);
    assert_int_equal(context(), 4000);
}

TEST(a_summary_that_streams_is_no_context)
{
    answered(6000);
    tell_of(EVENT_COMPACTION_STARTED);
    still_app_event(EV(COMPACTION_DELTA, 0, "forty bytes of a summary that streams in"));
    assert_int_equal(context(), 6010);
    assert_true(app.activity.streaming_ms > 0);
    tell_of(EVENT_COMPACTION_FAILED);
    assert_int_equal(context(), 6010);
    assert_int_equal(app.activity.streaming_ms, 0);
}

TEST(the_card_counts_seconds_while_it_runs)
{
    static const enum event_type ends[] = {EVENT_COMPACTION_COMPLETED, EVENT_COMPACTION_FAILED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        tell_busy(true);
        tell_of(EVENT_COMPACTION_STARTED);
        assert_true(app.activity.compacting_ms > 0);
        app.dirty = 0;
        app.tick_at = 0;
        app_timers(&app, app.activity.compacting_ms + 3001);
        assert_true(app.dirty & DIRTY_BODY);
        told_to_person(" 3 s   Esc cancels");
        tell_of(ends[i]);
        assert_int_equal(app.activity.compacting_ms, 0);
        told_to_person("!Esc cancels");
    }
    tell_of(EVENT_COMPACTION_STARTED);
    tell_busy(false);
    assert_int_equal(app.activity.compacting_ms, 0);
}

static void warn_of_truncation(void)
{
    struct event *ev = event_new(EVENT_WARNING);
    ev->name = mem_strdup("prompt_truncated");
    still_app_event(ev);
}

/* One model call, with or without its warning. */
static void call(bool truncated)
{
    tell_of(EVENT_CALL_STARTED);
    answered(100);
    if (truncated)
        warn_of_truncation();
}

TEST(a_dropped_beginning_alarms_until_it_is_over)
{
    call(true);
    tell_of(EVENT_TURN_COMPLETED);
    assert_true(app.truncated);
    told_to_person("/compact shortens what is sent");
    transcript_clear(app.transcript);
    call(true);
    tell_of(EVENT_TURN_COMPLETED);
    assert_true(app.truncated);
    told_to_person("!/compact shortens what is sent"); /* once is enough */
    call(false);
    assert_true(app.truncated); /* a warning may follow */
    tell_of(EVENT_TURN_COMPLETED);
    assert_false(app.truncated);
    call(true);
    call(false);
    tell_of(EVENT_CALL_STARTED);
    assert_false(app.truncated);
    warn_of_truncation();
    compacted(10);
    assert_false(app.truncated);
    warn_of_truncation();
    still_app_session("b", "other", false, true);
    still_app_session("c", "another", false, true);
    assert_false(app.truncated);
}

TEST(compactions_that_cannot_be_say_why)
{
    fail_with(&operation_compaction_run, ERR_AGENT_ERROR);
    told_to_person("Nothing was shortened.\n  the engine's words");
    fail_with(&operation_compaction_undo, ERR_USAGE);
    told_to_person("Nothing was undone.");
    fail_with(&operation_compaction_pin, ERR_USAGE);
    told_to_person("No pin was changed.");
    fail_with(&operation_compaction_run, ERR_SESSION_COMPACTION_DISABLED);
    told_to_person("Conversations are not shortened here.");
    transcript_clear(app.transcript);
    fail_with(&operation_compaction_run, ERR_INTERRUPTED);
    told_to_person("!Stopped");
    tell_busy(true);
    fail_with(&operation_compaction_run, ERR_SESSION_BUSY);
    told_to_person("while a turn is running", "the engine's words");
    transcript_clear(app.transcript);
    tell_of(EVENT_COMPACTION_STARTED);
    fail_with(&operation_compaction_pin, ERR_SESSION_BUSY);
    told_to_person("while a compaction is running", "!the engine's words");
}

/* The message has one sentence if no advice is needed. */
TEST(what_is_no_fault_is_one_sentence)
{
    static const struct {
        const struct operation *operation;
        enum err_code code;
        const char *sentence;
    } cases[] = {
        {&operation_compaction_run, ERR_NOTHING_TO_COMPACT, "There is nothing to compact yet."},
        {&operation_compaction_run, ERR_TOO_SMALL_TO_COMPACT,
         "Nothing to compact: only summaries and pinned messages are left"},
        {&operation_compaction_undo, ERR_NOTHING_TO_UNDO, "There is no compaction to undo."},
        {&operation_compaction_pin, ERR_MESSAGE_NOT_SENT,
         "The message is no longer sent to the model"},
        {&operation_session_unrewind, ERR_NOTHING_TO_UNDO, "The conversation was not rewound."},
        {&operation_session_rewind, ERR_MESSAGE_NOT_SENT, "There is no message of yours with that"},
        {&operation_session_fork, ERR_MESSAGE_NOT_SENT, "There is no message of yours with that"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        transcript_clear(app.transcript);
        fail_with(cases[i].operation, cases[i].code);
        told_to_person(cases[i].sentence, "!Nothing was", "!engine's words");
    }
}

TEST(what_keeps_everything_says_by_which_keys)
{
    fail_for(&operation_compaction_run, &(struct compaction_run_params){.mode = "structured"},
             ERR_TOO_SMALL_TO_COMPACT, "all stays");
    told_to_person("structured keeps everything", "protect_tail_min = 20", "/compact handoff",
                   "!all stays");
}

/* While a draft waits for the person nothing flows. */
TEST(a_draft_stops_the_rate)
{
    tell_busy(true);
    tell_of(EVENT_COMPACTION_STARTED);
    still_app_event(EV(COMPACTION_DELTA, 0, "half a summary"));
    assert_true(app.activity.streamed > 0);
    struct notice *n = notice_new(NOTICE_DRAFT);
    n->text = mem_strdup("a summary");
    n->name = mem_strdup("handoff");
    notices_take(&app, n);
    assert_int_equal(app.activity.streamed, 0);
    assert_int_equal(app.activity.streaming_ms, 0);
}

TEST(a_provider_brings_its_threshold)
{
    struct notice *n = notice_new(NOTICE_PROVIDER);
    n->provider = mem_strdup("openai");
    n->meters.window = 1000;
    n->meters.threshold = 700;
    n->meters.suspended = true;
    notices_take(&app, n);
    assert_int_equal(app.meters.threshold, 700);
    assert_true(app.meters.suspended);
}

static void tell_elsewhere(enum notice_type type, bool flag)
{
    struct notice *n = notice_new(type);
    notice_name_session(n, "other");
    n->flag = flag;
    n->name = mem_strdup("run_command");
    if (type == NOTICE_EVENT)
        n->event = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    notices_take(&app, n);
}

TEST(what_goes_on_elsewhere_is_known)
{
    static const struct {
        enum notice_type type;
        bool flag, works, waits;
    } rows[] = {{NOTICE_BUSY, true, true, false},
                {NOTICE_APPROVAL, false, true, true},
                {NOTICE_EVENT, false, true, false},
                {NOTICE_BUSY, false, false, false}};
    still_app_session("shown", "one", false, true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool waits;
        app.dirty = 0;
        tell_elsewhere(rows[i].type, rows[i].flag);
        assert_int_equal(app.host.works(&app, "other", &waits), rows[i].works);
        assert_int_equal(waits, rows[i].waits);
        assert_true(app.dirty & DIRTY_TITLE);
        assert_false(app.host.works(&app, "shown", &waits));
    }
}
