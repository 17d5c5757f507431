/* Compaction as a surface sees it, in the engine with the scripted model. */
#include "base/json.h"
#include "compact/discard.h"
#include "index/transcripts.h"
#include "session/catalog.h"
#include "session/export.h"
#include "session/session_operations.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/imported.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

#define SUMMARY "a short summary"

/* A message that is worth compacting; the caller frees. */
static char *long_text(const char *name)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "This is message %s.", name);
    for (int i = 0; i < 60; i++)
        buf_addstr(&out, " It has many words.");
    return buf_take(&out);
}

static void talk(struct engine *s, int turns)
{
    for (int i = 1; i <= turns; i++) {
        char name[24];
        snprintf(name, sizeof name, "number %d", i);
        auto_free char *text = long_text(name);
        surface_ask(s, text);
    }
}

static struct engine *talked(int turns)
{
    struct engine *s = surface_open(NULL, true);
    talk(s, turns);
    return s;
}

/* Without compaction. */
static struct engine *open_without(void)
{
    struct engine_options options = surface_options(NULL, true);
    options.compaction = false;
    return engine_new(&options);
}

static struct engine *reopened(struct engine *s)
{
    engine_free(s);
    return surface_open("last", true);
}

static void queue_text(const char *text)
{
    QUEUE(surface_server(), .text = text);
}

static void queue_failure(void)
{
    QUEUE(surface_server(), .fault = REPLY_STATUS, .status = 400, .error_message = "broken");
}

/* From then on every turn except the first begins with a compaction. */
static void compact_always(void)
{
    surface_set(CONFIG_COMPACTION_AUTO_THRESHOLD, "100");
    surface_set(CONFIG_COMPACTION_MIN_TURNS, "0");
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
}

static void send_compact(struct engine *s, const char *mode, const char *focus, bool preview)
{
    surface_send_for(s, &operation_compaction_run, mode, focus, preview);
}

/* Compacts by hand, with the default mode; every turn is dropped. */
static const struct event *compact_now(struct engine *s)
{
    queue_text(SUMMARY);
    send_compact(s, NULL, NULL, false);
    const struct event *completed = surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event;
    surface_expect_idle(s);
    return completed;
}

static void take_back(struct engine *s)
{
    surface_send(s, &operation_compaction_undo, NULL);
    surface_expect_event(s, EVENT_COMPACTION_UNDONE);
}

/* The figures once all that is on its way has arrived. */
static struct meters final_meters(struct engine *s)
{
    struct meters m = {0};
    bool done = false;
    surface_send_for(s, &operation_session_label, NULL, "seen", 0);
    while (!done) {
        struct notice *n = surface_next(s);
        m = n->type == NOTICE_SESSION ? n->meters : m;
        done = n->type == NOTICE_ANSWER && operation_answers(n->answer, &operation_session_label);
    }
    return m;
}

static void refused(struct engine *s, const struct operation *o, const char *text,
                    enum err_code code)
{
    surface_send(s, o, text);
    surface_expect_error(s, code, NULL);
}

static struct notice *ask_context(struct engine *s)
{
    surface_send(s, &operation_context_read, NULL);
    return surface_expect_answer(s, &operation_context_read);
}

/* --- by itself -------------------------------------------------------------------------------- */

NEEDS(capability_compaction());
/* The graph's tools and its part of the request are left out of these tests. */
static int set_up(void **state)
{
    int result = surface_setup(state);
    surface_set(CONFIG_GRAPH_ENABLED, "false");
    return result;
}

FIXTURE(set_up, surface_teardown);

TEST(it_happens_by_itself)
{
    compact_always();
    AUTO(engine_free_local) struct engine *s = talked(1);
    queue_text(SUMMARY);
    surface_send(s, &operation_turn_start, "and now?");
    assert_string_equal(surface_expect_event(s, EVENT_COMPACTION_STARTED)->event->model,
                        "openai/scripted-model");
    assert_string_equal(surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->text, SUMMARY);
    struct notice *n = surface_expect(s, NOTICE_SESSION); /* before the answer */
    assert_int_equal(n->meters.compactions, 1);
    assert_int_equal(n->meters.threshold, 100);
    assert_true(n->meters.request.estimated); /* the count included messages that are gone */
    surface_expect_event(s, EVENT_TURN_COMPLETED);
    assert_no_text(surface_last_body(), "This is message number 1");
    assert_text(surface_last_body(), SUMMARY);
    assert_text(surface_last_body(), "and now?");
}

/* The switch and the default threshold leave a short talk alone. */
TEST(it_does_not_happen_where_it_need_not)
{
    struct engine *s = talked(3);
    engine_free(s);
    assert_int_equal(surface_requests(), 3);
    compact_always();
    s = open_without();
    talk(s, 3);
    assert_int_equal(final_meters(s).threshold, 0);
    engine_free(s);
    assert_int_equal(surface_requests(), 6);
}

TEST_IF(capability_store(), stopped_after_failures_it_stays_so)
{
    compact_always();
    surface_set(CONFIG_COMPACTION_MAX_FAILURES, "2");
    struct engine *s = talked(1);
    for (int i = 0; i < 2; i++) {
        queue_failure();
        surface_send(s, &operation_turn_start, "on");
        surface_expect_event(s, EVENT_COMPACTION_FAILED);
        struct notice *n = surface_next(s); /* at once, not at the turn's end */
        assert_int_equal(n->type, NOTICE_SESSION);
        assert_int_equal(n->meters.suspended, i == 1);
        surface_expect_idle(s);
    }
    engine_free(s);
    size_t calls = surface_requests();
    s = surface_open("last", true);
    assert_true(surface_expect(s, NOTICE_SESSION)->meters.suspended);
    talk(s, 3);
    assert_int_equal(surface_requests(), calls + 3);
    assert_true(final_meters(s).suspended);
    compact_now(s);
    assert_false(final_meters(s).suspended);
    engine_free(s);
}

/* After a restart the breaker's state is known before the first turn. */
TEST_IF(capability_store(), stopped_by_hand_it_stays_so)
{
    surface_set(CONFIG_COMPACTION_MAX_FAILURES, "1");
    AUTO(engine_free_local) struct engine *s = talked(2);
    queue_failure();
    send_compact(s, NULL, NULL, false);
    surface_expect_event(s, EVENT_COMPACTION_FAILED);
    surface_expect_idle(s);
    s = reopened(s);
    assert_true(surface_expect(s, NOTICE_SESSION)->meters.suspended);
}

/* The window that the rejection tells is also that of the summary, which is folded into it. */
TEST(a_rejection_tells_the_summarys_window)
{
    AUTO(engine_free_local) struct engine *s = talked(40);
    size_t before = surface_requests();
    QUEUE(surface_server(), .fault = REPLY_STATUS, .status = 400,
          .error_message = "This model's maximum context length is 8000 tokens.");
    surface_send(s, &operation_turn_start, "and now?");
    assert_string_equal(
        surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->compaction.effective_mode,
        "handoff");
    surface_expect_idle(s);
    /* the question twice, the summary in two parts at least */
    assert_true(surface_requests() >= before + 4);
}

/* A compaction by hand before the first request of this process asks the server for the window. */
TEST_IF(capability_store(), by_hand_the_summary_is_folded_into_the_servers_window)
{
    struct engine *s = talked(40);
    engine_free(s);
    model_server_set_window(surface_server(), 8000);
    size_t before = surface_requests();
    s = surface_open("last", true);
    compact_now(s);
    assert_true(surface_requests() >= before + 2);
    engine_free(s);
}

/* The log has what micro-compaction cut away, also after a restart. */
TEST_IF(capability_store(), a_summary_reads_what_micro_compaction_cut)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    while (text.len < 20000)
        buf_addstr(&text, "A line of the file that is read.\n");
    buf_addstr(&text, "THE LAST LINE");
    auto_free char *path = support_path("long.txt");
    support_write(path, text.data);
    struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .tool_name = "read_file", .tool_args = "{\"path\":\"long.txt\"}");
    surface_ask(s, "read it");
    engine_free(s);
    surface_set(CONFIG_COMPACTION_AUTO_THRESHOLD, "4000");
    s = surface_open("last", true);
    surface_send(s, &operation_turn_start, "and now?");
    assert_string_equal(
        surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->compaction.stage, "micro");
    surface_expect_idle(s);
    assert_no_text(surface_last_body(), "THE LAST LINE");
    s = reopened(s);
    compact_now(s);
    assert_text(surface_last_body(), "THE LAST LINE");
    engine_free(s);
}

/* --- too many bytes --------------------------------------------------------------------------- */

/* A server that refuses larger requests, with the requests that it got. */
struct doorkeeper {
    size_t most, largest, refused, taken;
};

static void keep_the_door(void *context, const char *body, size_t len, struct reply *r)
{
    struct doorkeeper *d = context;
    (void)body;
    d->largest = len > d->largest ? len : d->largest;
    *r = (struct reply){.text = "An answer."};
    if (len <= d->most) {
        d->taken++;
        return;
    }
    d->refused++;
    r->fault = REPLY_STATUS;
    r->status = 413;
    r->error_type = "request_too_large";
}

/* The limit is unknown, and the summary's request must keep to it, too. */
TEST(a_request_with_too_many_bytes_is_compacted_for)
{
    struct doorkeeper door = {.most = SIZE_MAX};
    model_server_set_responder(surface_server(), keep_the_door, &door);
    struct engine *s = talked(20);
    door.most = door.largest * 4 / 5;
    surface_send(s, &operation_turn_start, "and now?");
    assert_string_equal(
        surface_expect_event(s, EVENT_COMPACTION_STARTED)->event->compaction.trigger, "overflow");
    assert_string_equal(
        surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->compaction.effective_mode,
        "handoff");
    assert_string_equal(surface_expect_event(s, EVENT_TURN_COMPLETED)->event->text, "An answer.");
    surface_expect_idle(s);
    engine_free(s);
    assert_int_equal(door.refused, 1);
    assert_true(door.taken >= 20 + 2 + 1); /* the summary in two parts at least */
}

/* With the limit configured, no request is refused: compaction begins at four fifths of it. */
TEST(max_request_bytes_is_never_exceeded)
{
    struct doorkeeper door = {.most = 20000};
    model_server_set_responder(surface_server(), keep_the_door, &door);
    surface_set(CONFIG_COMPACTION_REQUEST_BYTES, "20000");
    struct engine *s = talked(40);
    engine_free(s);
    assert_int_equal(door.refused, 0);
    assert_in_range(door.largest, 12000, 20000);
}

/* Without compaction the turn ends with the reason, and no request is sent. */
TEST(a_body_past_the_maximum_is_not_sent)
{
    struct doorkeeper door = {.most = 20000};
    model_server_set_responder(surface_server(), keep_the_door, &door);
    surface_set(CONFIG_COMPACTION_REQUEST_BYTES, "20000");
    struct engine *s = open_without();
    auto_free char *text = mem_printf("%021000d", 7);
    surface_send(s, &operation_turn_start, text);
    assert_text(surface_expect_event(s, EVENT_TURN_FAILED)->event->text,
                "bytes, and may have 20000");
    surface_expect_idle(s);
    engine_free(s);
    assert_int_equal(door.largest, 0);
}

/* --- by hand ---------------------------------------------------------------------------------- */

TEST(by_hand_with_mode_and_focus)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    queue_text(SUMMARY);
    send_compact(s, "llm_replace", "the green door", false);
    assert_true(surface_expect(s, NOTICE_BUSY)->flag);
    assert_string_equal(surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->compaction.mode,
                        "llm_replace");
    surface_expect_idle(s);
    assert_text(surface_last_body(), "the green door");
    surface_ask(s, "next");
    assert_no_text(surface_last_body(), "This is message");
}

TEST(by_hand_without_a_model)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    send_compact(s, "deterministic", NULL, false);
    surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    surface_expect_idle(s);
    assert_int_equal(surface_requests(), 2);
}

TEST(by_hand_the_answer_says_what_was_done)
{
    const struct compaction_run_params params = {.mode = "structured"};
    surface_set(CONFIG_COMPACTION_PROTECT_HEAD, "0");
    surface_set(CONFIG_COMPACTION_PROTECT_TAIL, "1");
    surface_set(CONFIG_COMPACTION_TAIL_RATIO, "0.05");
    surface_set(CONFIG_COMPACTION_AUTO_THRESHOLD, "1000");
    AUTO(engine_free_local) struct engine *s = talked(3);
    queue_failure();
    struct operation_answer *a = surface_call(s, &operation_compaction_run, &params);
    const struct compaction_result *result = a->result;
    assert_int_equal(a->error.code, ERR_OK);
    assert_int_equal(result->fault.code, ERR_OK);
    assert_string_equal(result->completed->compaction.effective_mode, "recency_preserving");
    assert_text(result->completed->name, "broken");
}

TEST(what_cannot_be_done_by_hand_is_said)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    send_compact(s, NULL, NULL, false);
    struct notice *n = surface_expect_failure(s);
    assert_text(surface_error(n)->text, "nothing to compact");
    assert_true(operation_answers(n->answer, &operation_compaction_run));
    surface_expect_idle(s);
    send_compact(s, "no such mode", NULL, false);
    n = surface_expect_failure(s);
    assert_int_equal(surface_error(n)->code, ERR_USAGE);
    assert_text(surface_error(n)->text, "handoff");
    refused(s, &operation_compaction_undo, NULL, ERR_NOTHING_TO_UNDO);
    surface_send_for(s, &operation_compaction_pin, NULL, NULL, 0);
    surface_expect_error(s, ERR_USAGE, NULL);
}

/* A failure is reported once: as an event, if there is one. */
TEST(a_failure_by_hand_is_told_once)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    queue_failure();
    send_compact(s, NULL, NULL, false);
    assert_text(surface_expect_event(s, EVENT_COMPACTION_FAILED)->event->text, "broken");
    for (bool idle = false; !idle;) {
        struct notice *n = surface_next(s);
        assert_false(surface_failed(n));
        idle = n->type == NOTICE_BUSY && !n->flag;
    }
    surface_ask(s, "next");
    assert_text(surface_last_body(), "This is message number 1");
}

static const struct operation *const changes[] = {
    &operation_compaction_run, &operation_compaction_undo, &operation_compaction_pin};

TEST(switched_off_it_says_so)
{
    AUTO(engine_free_local) struct engine *s = open_without();
    talk(s, 1);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        refused(s, changes[i], NULL, ERR_SESSION_COMPACTION_DISABLED);
}

TEST_IF(capability_store(), a_session_that_is_read_is_not_changed)
{
    struct engine *s = talked(1);
    engine_free(s);
    struct engine_options options = surface_options("last", true);
    options.read_only = true;
    s = engine_new(&options);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        refused(s, changes[i], NULL, ERR_SESSION_NOT_FOUND);
    ask_context(s);
    engine_free(s);
}

/* --- requests during a compaction ------------------------------------------------------------- */

TEST(a_turn_refuses_it)
{
    AUTO(engine_free_local) struct engine *s = talked(1);
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "half");
    surface_send(s, &operation_turn_start, "go");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        refused(s, changes[i], NULL, ERR_SESSION_BUSY);
    struct notice *n = ask_context(s);
    assert_string_equal(surface_context(n)->parts.items[surface_context(n)->parts.len - 1].text,
                        "go");
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_idle(s);
}

static void start_stalled(struct engine *s)
{
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "half");
    send_compact(s, NULL, NULL, false);
    surface_expect_event(s, EVENT_COMPACTION_DELTA);
}

TEST(it_refuses_what_a_turn_refuses)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    start_stalled(s);
    refused(s, &operation_turn_start, "me first", ERR_SESSION_BUSY);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        refused(s, changes[i], NULL, ERR_SESSION_BUSY);
    refused(s, &operation_session_create, NULL, ERR_SESSION_BUSY);
    ask_context(s);
    surface_send_for(s, &operation_session_rename, NULL, "a name", 0);
    surface_expect_changed(s);
    surface_send(s, &operation_turn_interrupt, NULL);
    assert_string_equal(surface_expect_event(s, EVENT_COMPACTION_FAILED)->event->compaction.reason,
                        "cancelled");
    surface_expect_idle(s);
    surface_ask(s, "and on");
    assert_text(surface_last_body(), "This is message number 1");
}

TEST(leaving_ends_it)
{
    static const struct operation *const types[] = {&operation_session_archive,
                                                    &operation_session_delete};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
        talk(s, 2);
        start_stalled(s);
        surface_send(s, types[i], NULL);
        surface_expect_event(s, EVENT_COMPACTION_FAILED);
        surface_expect_changed(s);
        surface_ask(s, "a new one");
        assert_no_text(surface_last_body(), "This is message");
    }
}

TEST_IF(capability_store(), the_program_ends_meanwhile)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    start_stalled(s);
    s = reopened(s);
    surface_ask(s, "and on");
    assert_text(surface_last_body(), "This is message number 1");
    assert_no_text(surface_last_body(), "half");
}

/* --- the summary model ------------------------------------------------------------------------ */

TEST(another_model_is_really_asked)
{
    surface_set(CONFIG_COMPACTION_MODEL, "cheap-model");
    AUTO(engine_free_local) struct engine *s = talked(2);
    assert_string_equal(compact_now(s)->model, "openai/cheap-model");
    assert_text(surface_last_body(), "\"cheap-model\"");
    surface_ask(s, "next");
    assert_text(surface_last_body(), "\"scripted-model\"");
}

TEST(another_provider_is_really_asked)
{
    surface_set(CONFIG_COMPACTION_PROVIDER, "anthropic");
    surface_set(CONFIG_COMPACTION_MODEL, "claude-cheap");
    setenv("ANTHROPIC_API_KEY", "other-key", 1);
    setenv("ANTHROPIC_BASE_URL", model_server_url(surface_server()), 1);
    AUTO(engine_free_local) struct engine *s = talked(2);
    const struct event *ev = compact_now(s);
    assert_string_equal(ev->model, "anthropic/claude-cheap");
    assert_string_equal(ev->text, SUMMARY);
    assert_string_equal(model_server_header(surface_server(), 2, "x-api-key"), "other-key");
}

TEST(without_a_key_the_turn_goes_on)
{
    compact_always();
    surface_set(CONFIG_COMPACTION_PROVIDER, "anthropic");
    AUTO(engine_free_local) struct engine *s = talked(1);
    surface_send(s, &operation_turn_start, "go on");
    struct notice *n = surface_expect_event(s, EVENT_COMPACTION_FAILED);
    assert_text(n->event->text, "ANTHROPIC_API_KEY");
    assert_text(n->event->text, "summary_provider");
    surface_expect_event(s, EVENT_TURN_COMPLETED);
}

TEST(a_summariser_that_stalls_does_not_hold_the_turn)
{
    compact_always();
    surface_set(CONFIG_COMPACTION_SUMMARY_TIMEOUT, "1");
    AUTO(engine_free_local) struct engine *s = talked(1);
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "half a summ");
    surface_send(s, &operation_turn_start, "go on");
    assert_text(surface_expect_event(s, EVENT_COMPACTION_FAILED)->event->text, "summary_timeout");
    surface_expect_event(s, EVENT_TURN_COMPLETED);
}

/* /model changes what summaries fall back on. */
TEST(the_sessions_model_is_asked_where_no_other_is_named)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    surface_send(s, &operation_session_set_model, "another-model");
    compact_now(s);
    assert_text(surface_last_body(), "\"another-model\"");
}

/* --- drafts ----------------------------------------------------------------------------------- */

static struct engine *open_asking(void)
{
    struct engine_options options = surface_options(NULL, true);
    options.can_ask = true;
    return engine_new(&options);
}

static void answer_draft(struct engine *s, enum draft_answer reply, const char *text)
{
    surface_send_for(s, &operation_compaction_decide, NULL, text, reply);
}

TEST(a_draft_is_shown_changed_and_committed)
{
    AUTO(engine_free_local) struct engine *s = open_asking();
    talk(s, 2);
    answer_draft(s, DRAFT_REFUSE, NULL); /* nothing is asked yet */
    queue_text(SUMMARY);
    send_compact(s, NULL, NULL, true);
    struct notice *n = surface_expect(s, NOTICE_DRAFT);
    assert_string_equal(n->text, SUMMARY);
    assert_string_equal(n->name, "handoff");
    assert_string_equal(n->detail, "openai/scripted-model");
    assert_true(n->draft.tokens_after < n->draft.tokens_before);
    assert_int_equal(n->draft.messages_before, 4);
    answer_draft(s, DRAFT_COMMIT, " \n");
    surface_expect_error(s, ERR_USAGE, " \n");
    answer_draft(s, DRAFT_COMMIT, "my own words");
    n = surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    assert_string_equal(n->event->text, "my own words");
    assert_true(n->event->flag);
    surface_expect_idle(s);
}

TEST(a_draft_is_refused)
{
    surface_set(CONFIG_COMPACTION_PREVIEW, "true");
    AUTO(engine_free_local) struct engine *s = open_asking();
    talk(s, 2);
    queue_text(SUMMARY);
    send_compact(s, NULL, NULL, false);
    surface_expect(s, NOTICE_DRAFT);
    answer_draft(s, DRAFT_REFUSE, NULL);
    assert_string_equal(surface_expect_event(s, EVENT_COMPACTION_FAILED)->event->compaction.reason,
                        "cancelled");
    surface_expect_idle(s);
    assert_int_equal(final_meters(s).compactions, 0);
}

TEST(a_draft_is_asked_for_again)
{
    AUTO(engine_free_local) struct engine *s = open_asking();
    talk(s, 2);
    queue_text(SUMMARY);
    queue_text("a better one");
    send_compact(s, NULL, NULL, true);
    surface_expect(s, NOTICE_DRAFT);
    answer_draft(s, DRAFT_AGAIN, "the green door");
    assert_string_equal(surface_expect(s, NOTICE_DRAFT)->text, "a better one");
    assert_text(surface_last_body(), "the green door");
    answer_draft(s, DRAFT_COMMIT, NULL);
    struct notice *n = surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    assert_string_equal(n->event->text, "a better one");
    assert_false(n->event->flag);
    surface_expect_idle(s);
}

TEST(who_cannot_be_asked_is_not)
{
    surface_set(CONFIG_COMPACTION_PREVIEW, "true");
    AUTO(engine_free_local) struct engine *s = talked(2);
    compact_now(s);
}

/* --- memory ----------------------------------------------------------------------------------- */

struct memory {
    bool refuses;
    int indexed, withdrawn;
    size_t messages;
};

static bool take(void *memory, struct store *store, const struct discard *d, int *entries,
                 struct error *e)
{
    struct memory *m = memory;
    (void)store;
    if (m->refuses)
        return err_set(e, ERR_SESSION_STORE_ERROR, "memory is full");
    m->indexed++;
    m->messages = d->count;
    *entries = (int)d->count;
    return true;
}

static bool give_back(void *memory, struct store *store, const char *id, int64_t seq,
                      struct error *e)
{
    struct memory *m = memory;
    (void)store, (void)id;
    (void)seq, (void)e;
    m->withdrawn++;
    return true;
}

TEST(what_goes_is_handed_to_memory)
{
    struct memory memory = {0};
    const struct discard_sink sink = {.index = take, .withdraw = give_back, .context = &memory};
    struct engine_options options = surface_options(NULL, true);
    options.sink = &sink;
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    struct engine *s = engine_new(&options);
    surface_send(s, &operation_session_create, NULL); /* the second session has it, too */
    talk(s, 2);
    queue_text(SUMMARY);
    send_compact(s, NULL, NULL, false);
    assert_int_equal(
        surface_expect_event(s, EVENT_COMPACTION_COMPLETED)->event->compaction.entries_indexed, 4);
    surface_expect_idle(s);
    take_back(s);
    engine_free(s);
    assert_int_equal(memory.indexed, 1);
    assert_int_equal(memory.messages, 4);
    assert_int_equal(memory.withdrawn, 1);
}

TEST(memory_refuses_and_the_turn_goes_on)
{
    struct memory memory = {.refuses = true};
    const struct discard_sink sink = {.index = take, .withdraw = give_back, .context = &memory};
    struct engine_options options = surface_options(NULL, true);
    options.sink = &sink;
    compact_always();
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    talk(s, 1);
    queue_text(SUMMARY);
    surface_send(s, &operation_turn_start, "go on");
    struct notice *n = surface_expect_event(s, EVENT_COMPACTION_FAILED);
    assert_string_equal(n->event->compaction.reason, "memory_indexing");
    assert_text(n->event->text, "memory is full");
    surface_expect_event(s, EVENT_TURN_COMPLETED);
    assert_text(surface_last_body(), "This is message number 1");
}

/* --- back, and pins --------------------------------------------------------------------------- */

TEST_IF(capability_store(), it_is_taken_back_after_a_restart)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    AUTO(engine_free_local) struct engine *s = talked(2);
    compact_now(s);
    surface_ask(s, "a later one");
    s = reopened(s);
    assert_int_equal(surface_expect(s, NOTICE_SESSION)->meters.compactions, 1);
    take_back(s);
    assert_int_equal(final_meters(s).compactions, 0);
    surface_ask(s, "next");
    assert_text(surface_last_body(), "This is message number 1");
    assert_text(surface_last_body(), "a later one");
    assert_no_text(surface_last_body(), SUMMARY);
}

TEST(a_pin_survives)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    AUTO(engine_free_local) struct engine *s = talked(1);
    surface_send(s, &operation_compaction_pin, NULL);
    assert_true(surface_expect_event(s, EVENT_MESSAGE_PINNED)->event->flag);
    struct notice *n = ask_context(s);
    assert_true(surface_context(n)->parts.items[2].pinned);
    assert_false(surface_context(n)->parts.items[3].pinned);
    refused(s, &operation_compaction_pin, NULL, ERR_USAGE); /* it is pinned already */
    surface_send(s, &operation_compaction_unpin, NULL);     /* the same one, no more; then again */
    surface_expect_event(s, EVENT_MESSAGE_PINNED);
    refused(s, &operation_compaction_unpin, NULL, ERR_USAGE); /* it is not */
    surface_send(s, &operation_compaction_pin, NULL);
    surface_expect_event(s, EVENT_MESSAGE_PINNED);
    talk(s, 2);
    compact_now(s);
    surface_ask(s, "next");
    assert_text(surface_last_body(), "This is message number 1.");
    assert_no_text(surface_last_body(), "This is message number 2.");
}

TEST(a_fork_is_made_as_before)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    AUTO(engine_free_local) struct engine *s = talked(2);
    compact_now(s);
    engine_start(s, &operation_session_fork,
                 &(struct session_fork_params){.session = "", .before_compaction = true});
    surface_expect(s, NOTICE_SESSION); /* the fork is open */
    surface_expect_changed(s);
    /* its last answer has a count, which is told when no request waits */
    assert_false(surface_expect(s, NOTICE_SESSION)->meters.request.estimated);
    surface_ask(s, "next");
    assert_text(surface_last_body(), "This is message number 1");
    assert_no_text(surface_last_body(), SUMMARY);
}

/* --- the next request ------------------------------------------------------------------------- */

/* A request's message as the test compares it. Two messages of one role are sent as one. */
struct sent {
    const struct json *message;
    const char *text;
};

static void check_sent(struct sent *at, const char *role, const char *text)
{
    if (!*at->text) {
        at->message = json_next(at->message);
        at->text = json_get_string(at->message, "content");
    } else {
        assert_int_equal(strncmp(at->text, "\n\n", 2), 0);
        at->text += 2;
    }
    assert_non_null(at->text);
    assert_string_equal(json_get_string(at->message, "role"), role);
    assert_int_equal(strncmp(at->text, text, strlen(text)), 0);
    at->text += strlen(text);
}

static void check_tools(const struct json *body, const char *text)
{
    const struct json *tools = json_get(body, "tools");
    assert_int_equal(json_len(tools), 3);
    for (const struct json *t = json_first(tools); t; t = json_next(t)) {
        const struct json *function = json_get(t, "function");
        assert_text(text, json_get_string(function, "name"));
        assert_text(text, json_get_string(function, "description"));
    }
}

TEST(its_parts_are_those_of_the_next_request)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "1");
    AUTO(engine_free_local) struct engine *s = talked(3);
    compact_now(s);
    const struct context *c = surface_context(ask_context(s));
    surface_ask(s, "the next");
    AUTO(json_free_local)
    struct json *body = json_parse(surface_last_body(), strlen(surface_last_body()), NULL);
    struct sent at = {.message = json_first(json_get(body, "messages"))};
    at.text = json_get_string(at.message, "content");
    assert_int_equal(c->parts.items[0].kind, CONTEXT_SYSTEM);
    assert_string_equal(c->parts.items[0].text, at.text);
    at.text = "";
    assert_int_equal(c->parts.items[1].kind, CONTEXT_TOOLS);
    check_tools(body, c->parts.items[1].text);
    assert_true(c->parts.items[1].tokens > c->parts.items[0].tokens);
    assert_int_equal(c->parts.items[2].kind, CONTEXT_SUMMARY);
    int64_t sum = c->parts.items[0].tokens + c->parts.items[1].tokens;
    for (size_t i = 2; i < c->parts.len; i++) {
        const struct context_part *part = &c->parts.items[i];
        check_sent(&at, role_name(part->role), part->text);
        assert_true(part->seq > 0);
        sum += part->tokens;
    }
    check_sent(&at, "user", "Surroundings of the conversation");
    assert_string_equal(strstr(at.text, "\n\nthe"), "\n\nthe next");
    assert_null(json_next(at.message));
    assert_int_equal(c->tokens, sum);
}

TEST(it_says_what_would_go)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "1");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    assert_int_equal(surface_context(ask_context(s))->tokens_after, -1);
    talk(s, 3);
    const struct context *c = surface_context(ask_context(s));
    assert_string_equal(c->mode, "handoff");
    assert_int_equal(c->threshold, 100000);
    assert_int_equal(c->parts.len, 8);
    int64_t stays = 0;
    for (size_t i = 0; i < c->parts.len; i++) {
        assert_int_equal(c->parts.items[i].goes, i >= 2 && i < 6);
        stays += c->parts.items[i].goes ? 0 : c->parts.items[i].tokens;
    }
    assert_int_equal(c->tokens_after, stays);
}

TEST(it_knows_what_is_cached)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .text = "x", .input_tokens = 500, .output_tokens = 1,
          .cached_tokens = 400);
    surface_ask(s, "one");
    struct notice *n = ask_context(s);
    assert_int_equal(surface_context(n)->cached, 400);
    assert_int_equal(surface_context(n)->last_input, 500);
    talk(s, 1);
    QUEUE(surface_server(), .text = "x", .input_tokens = 500, .output_tokens = 1,
          .cached_tokens = 400);
    surface_ask(s, "one more");
    compact_now(s);
    n = ask_context(s);
    assert_int_equal(surface_context(n)->cached, -1);
    assert_int_equal(surface_context(n)->last_input, -1);
    surface_send(s, &operation_session_create, NULL);
    assert_int_equal(surface_context(ask_context(s))->cached, -1);
}

TEST_IF(capability_store(), it_is_known_of_a_session_that_was_only_opened)
{
    AUTO(engine_free_local) struct engine *s = talked(2);
    s = reopened(s);
    assert_int_equal(surface_context(ask_context(s))->parts.len, 6);
}

/* --- dropped messages ------------------------------------------------------------------------- */

static struct operation_answer *read_ledger(struct engine *s, int64_t seq, int place, int limit)
{
    const struct compaction_ledger_params params = {
        .session = "last", .seq = seq, .place = place, .limit = limit};
    return surface_call(s, &operation_compaction_ledger, &params);
}

static void expect_refused(struct engine *s, int64_t seq, enum err_code code)
{
    struct operation_answer *a = read_ledger(s, seq, 0, 100);
    assert_null(a->result);
    assert_int_equal(a->error.code, code);
}

TEST(what_went_can_be_read_by_pages)
{
    static const enum event_type types[] = {EVENT_TURN_STARTED, EVENT_CALL_STARTED,
                                            EVENT_TEXT_COMPLETE};
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "1");
    AUTO(engine_free_local) struct engine *s = talked(4);
    int64_t seq = compact_now(s)->seq;
    for (int page = 0; page < 3; page++) {
        const struct compaction_ledger *ledger = read_ledger(s, seq, page * 3, 3)->result;
        assert_int_equal(ledger->completed->seq, seq);
        assert_string_equal(ledger->completed->text, SUMMARY);
        assert_int_equal(ledger->events.items.len, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(ledger->events.items.items[i]->type, types[i]);
        auto_free char *begins = mem_printf("This is message number %d.", page + 1);
        assert_int_equal(strncmp(ledger->events.items.items[0]->text, begins, strlen(begins)), 0);
        assert_int_equal(ledger->more, page < 2);
    }
    struct operation_answer *whole = read_ledger(s, seq, 0, 100);
    assert_int_equal(((struct compaction_ledger *)whole->result)->events.items.len, 9);
    expect_refused(s, 1, ERR_USAGE);
}

/* A log may have been imported. */
static int64_t append_completed(const char *dropped)
{
    struct store *store;
    AUTO(session_list_release) struct session_list list = {0};
    struct error e = {0};
    int64_t last;
    surface_list(&list);
    const char *id = list.items.items[0].id;
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &store, &e));
    assert_true(event_log_last(store, id, &last, &e));
    AUTO(event_free_local) struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    memcpy(ev->session_id, id, sizeof ev->session_id);
    ev->seq = last + 1;
    ev->text = mem_strdup("");
    ev->compaction.dropped = mem_strdup(dropped);
    assert_true(transcripts_append(store, ev, &e));
    store_close(store);
    return last + 1;
}

TEST_IF(capability_store(), ranges_that_make_no_sense_are_refused)
{
    static const char *const texts[] = {
        "[[5,2]]",   "[[0,3]]",     "[[-1,3]]", "[[1,4],[3,6]]",   "[[1,9007199254740993]]",
        "[[1,500]]", "[[1e300,2]]", "[1,2]",    "[[\"a\",\"b\"]]", "{}",
        "[[1.5]]",   "[null]"};
    struct engine *s = talked(2);
    engine_free(s);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        print_message("%s\n", texts[i]);
        int64_t seq = append_completed(texts[i]);
        s = surface_open("last", true);
        surface_expect(s, NOTICE_SESSION);
        expect_refused(s, seq, ERR_SESSION_STORE_ERROR);
        engine_free(s);
    }
}

/* --- away and back ---------------------------------------------------------------------------- */

static bool gather(void *context, const char *bytes, size_t len, struct error *e)
{
    (void)e;
    buf_add(context, bytes, len);
    return true;
}

/* Imports the newest session, whose id is in `id`, again. */
static void import_again(char id[UUID_LEN + 1], char copy[UUID_LEN + 1])
{
    struct store *store;
    struct catalog catalog;
    struct session_info info;
    struct error e = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &store, &e));
    catalog_borrow(&catalog, store, support_dir(), "");
    assert_true(catalog_find(&catalog, "last", &info, &e));
    memcpy(id, info.id, sizeof info.id);
    session_info_release(&info);
    assert_true(export_session(&catalog, id, EXPORT_JSONL, gather, &text, &e));
    assert_ok(imported_text(&catalog, text.data, text.len, NULL, NULL, &info, &e), e);
    memcpy(copy, info.id, sizeof info.id);
    assert_string_not_equal(id, copy);
    session_info_release(&info);
    catalog_release(&catalog);
    store_close(store);
}

static void undo_one(const char *id)
{
    AUTO(engine_free_local) struct engine *s = surface_open(id, true);
    take_back(s);
}

static void assert_same_sessions(const char *id, const char *copy)
{
    struct store *store;
    AUTO(history_release) struct history a = {0}, b = {0};
    struct error e = {0};
    assert_true(store_open(surface_store(), STORE_READ_ONLY, &store, &e));
    assert_true(snapshot_resume(store, id, &a, &e));
    assert_true(snapshot_resume(store, copy, &b, &e));
    assert_same_history(&a, &b);
    assert_same_compactions(&a, &b);
    store_close(store);
}

/* A session with one undone compaction and two that hold. */
TEST_IF(capability_store(), an_imported_one_can_be_taken_back_too)
{
    char id[UUID_LEN + 1], copy[UUID_LEN + 1];
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "0");
    struct engine *s = surface_open(NULL, true);
    for (int i = 0; i < 3; i++) {
        talk(s, 2);
        compact_now(s);
        if (i == 0) {
            take_back(s);
        }
    }
    engine_free(s);
    import_again(id, copy);
    for (int i = 0; i < 2; i++) {
        assert_same_sessions(id, copy);
        undo_one(id);
        undo_one(copy);
    }
    assert_same_sessions(id, copy);
    s = surface_open(copy, true);
    surface_ask(s, "next");
    assert_text(surface_last_body(), "This is message number 1");
    assert_no_text(surface_last_body(), SUMMARY);
    engine_free(s);
    assert_int_equal(assert_store_sound(surface_store()), 2);
}

/* --- a history that is longer than its part in memory ----------------------------------------- */

enum { LONG_TURNS = 24, ANSWER_BYTES = 60000 };

static struct engine *open_at_length(void)
{
    surface_set(CONFIG_COMPACTION_AUTO_THRESHOLD, "100000000");
    model_server_set_window(surface_server(), 4000000);
    return surface_open(NULL, true);
}

/* 360,000 tokens, nearly thrice as many as are held. */
static void talk_at_length(struct engine *s)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    while (answer.len < ANSWER_BYTES)
        buf_addstr(&answer, "It is a long story, and it is told to its end. ");
    for (int i = 1; i <= LONG_TURNS; i++) {
        char question[40];
        snprintf(question, sizeof question, "question %d?", i);
        queue_text(answer.data);
        surface_ask(s, question);
    }
}

static size_t count_in(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

static void assert_all_is_sent(int turns)
{
    const char *body = surface_last_body();
    assert_int_equal(count_in(body, "question "), turns);
    assert_int_equal(count_in(body, "it is told to its end. \""),
                     turns > LONG_TURNS ? LONG_TURNS : turns - 1);
    assert_text(body, "question 1?");
}

TEST_IF(capability_store(), a_long_history_is_sent_whole)
{
    AUTO(engine_free_local) struct engine *s = open_at_length();
    talk_at_length(s);
    assert_all_is_sent(LONG_TURNS);
    s = reopened(s);
    surface_ask(s, "question 25?");
    assert_all_is_sent(LONG_TURNS + 1);
    const struct context *context = surface_context(ask_context(s));
    size_t texts = 0;
    for (size_t i = 0; i < context->parts.len; i++)
        texts += context->parts.items[i].kind == CONTEXT_MESSAGE &&
                 *context->parts.items[i].text != '\0';
    assert_int_equal(texts, 2 * (LONG_TURNS + 1));
}

/* Dropped messages are summarised, and come back from the log when the compaction is undone. */
TEST_IF(capability_store(), a_long_history_is_compacted_and_taken_back)
{
    surface_set(CONFIG_COMPACTION_RECENT_TURNS, "2");
    AUTO(engine_free_local) struct engine *s = open_at_length();
    talk_at_length(s);
    s = reopened(s);
    compact_now(s);
    assert_int_equal(count_in(surface_last_body(), "question "), LONG_TURNS);
    surface_ask(s, "question 25?");
    assert_int_equal(count_in(surface_last_body(), "question "), 3);
    assert_text(surface_last_body(), SUMMARY);
    take_back(s);
    surface_ask(s, "question 26?");
    assert_int_equal(count_in(surface_last_body(), "question "), LONG_TURNS + 2);
    assert_no_text(surface_last_body(), SUMMARY);
}

/* A row that is damaged before the session is opened is made anew of the log. One that is damaged
 * later ends a turn, and nothing is sent without it; the next one has it again. */
TEST_IF(capability_store(), a_long_history_with_a_damaged_row)
{
    static const char damage[] =
        "UPDATE snapshot_message SET message = '{' WHERE position IN (0, 3)";
    struct engine *s = open_at_length();
    talk_at_length(s);
    engine_free(s);
    damage_sql(surface_store(), damage);
    s = surface_open("last", true);
    surface_ask(s, "question 25?");
    assert_all_is_sent(LONG_TURNS + 1);
    damage_sql(surface_store(), damage);
    size_t requests = surface_requests();
    surface_send(s, &operation_turn_start, "question lost?");
    assert_text(surface_expect_event(s, EVENT_TURN_FAILED)->event->text,
                "is not where it was kept; try again");
    surface_expect_idle(s);
    assert_int_equal(surface_requests(), requests);
    surface_ask(s, "question 26?");
    assert_all_is_sent(LONG_TURNS + 2);
    engine_free(s);
}
