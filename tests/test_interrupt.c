/* A turn can be interrupted in every state; also the operations that are allowed while it runs.
 * Each of the states would last for ever, or for a minute at least. */
#include "session/session_operations.h"
#include "store/store.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* An engine that may run commands and be asked. */
static struct engine *open_full(const char *allow)
{
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    options.allow = allow;
    options.can_ask = true;
    return engine_new(&options);
}

static void until_request(struct engine *s)
{
    (void)s;
    assert_true(model_server_wait(surface_server(), 1, SURFACE_MS));
}

static void until_delta(struct engine *s)
{
    surface_expect_event(s, EVENT_TEXT_DELTA);
}

static void until_retrying(struct engine *s)
{
    surface_expect_event(s, EVENT_RETRYING);
}

static void until_tool(struct engine *s)
{
    surface_expect_event(s, EVENT_TOOL_CALL_REQUESTED);
    surface_expect_event(s, EVENT_CALL_COMPLETED);
}

static void until_question(struct engine *s)
{
    surface_expect(s, NOTICE_APPROVAL);
}

static void until_summary_request(struct engine *s)
{
    (void)s;
    assert_true(model_server_wait(surface_server(), 2, SURFACE_MS));
}

static void until_summary(struct engine *s)
{
    surface_expect_event(s, EVENT_COMPACTION_DELTA);
}

static void until_draft(struct engine *s)
{
    surface_expect(s, NOTICE_DRAFT);
}

static const struct {
    const char *name;
    const char *allow;
    struct reply reply;
    void (*until)(struct engine *s);
    bool compacts; /* it is the second turn, and a summary is asked for */
} states[] = {
    {"connecting", NULL, {.hold = true}, until_request, false},
    {"streaming", NULL, {.fault = REPLY_STALL, .text = "half an ans"}, until_delta, false},
    {"waiting for a retry",
     NULL,
     {.fault = REPLY_STATUS, .status = 529, .error_message = "overloaded", .retry_after = "60"},
     until_retrying,
     false},
    {"in a tool",
     "run_command",
     {.tool_name = "run_command", .tool_args = "{\"command\":\"sleep 100\"}"},
     until_tool,
     false},
    {"asking",
     NULL,
     {.tool_name = "run_command", .tool_args = "{\"command\":\"true\"}"},
     until_question,
     false},
    {"compacting: connecting", NULL, {.hold = true}, until_summary_request, true},
    {"compacting: streaming",
     NULL,
     {.fault = REPLY_STALL, .text = "half a summ"},
     until_summary,
     true},
    {"compacting: waiting for a retry",
     NULL,
     {.fault = REPLY_STATUS, .status = 529, .error_message = "overloaded", .retry_after = "60"},
     until_retrying,
     true},
    {"compacting: a draft is shown", NULL, {.text = "a draft"}, until_draft, true},
};

/* Long enough to be worth compacting at a hundred tokens. */
#define SENTENCE "This is a sentence of some forty letters. "
#define LONG_TEXT SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE SENTENCE

/* The states with a compaction come last; a build without compaction has none of them. */
static size_t count_states(void)
{
    size_t count = sizeof states / sizeof *states;
    while (!capability_compaction() && states[count - 1].compacts)
        count--;
    return count;
}

/* An engine for a state. */
static struct engine *open_for(size_t i)
{
    if (states[i].compacts) {
        config_set(surface_config(), CONFIG_COMPACTION_AUTO_THRESHOLD, "100", NULL);
        config_set(surface_config(), CONFIG_COMPACTION_PREVIEW, "true", NULL);
    }
    struct engine *s = open_full(states[i].allow);
    if (states[i].compacts)
        surface_ask(s, LONG_TEXT);
    return s;
}

static void begin(struct engine *s, size_t i)
{
    model_server_queue(surface_server(), &states[i].reply);
    surface_send(s, &operation_turn_start, "go");
    states[i].until(s);
}

FIXTURE(surface_setup, surface_teardown);

TEST(a_turn_is_interrupted_in_every_state)
{
    for (size_t i = 0; i < count_states(); i++) {
        print_message("%s\n", states[i].name);
        struct engine *s = open_for(i);
        begin(s, i);
        surface_send(s, &operation_turn_interrupt, NULL);
        surface_expect_event(s, EVENT_INTERRUPTED);
        surface_expect_idle(s);
        surface_ask(s, "and on");
        engine_free(s);
        surface_teardown(NULL);
        surface_setup(NULL);
    }
}

TEST(the_program_ends_in_every_state)
{
    for (size_t i = 0; i < count_states(); i++) {
        print_message("%s\n", states[i].name);
        struct engine *s = open_for(i);
        begin(s, i);
        engine_free(s);
        surface_teardown(NULL);
        surface_setup(NULL);
    }
}

/* Archiving interrupts the turn; the text so far stays, and the session accepts no more until it is
 * resumed. */
TEST_IF(capability_store(), archiving_ends_the_turn_in_every_state)
{
    for (size_t i = 0; i < count_states(); i++) {
        print_message("%s\n", states[i].name);
        struct engine *s = open_for(i);
        begin(s, i);
        surface_send(s, &operation_session_archive, NULL);
        surface_expect_event(s, EVENT_INTERRUPTED);
        struct notice *done = surface_expect_changed(s);
        struct notice *fresh = surface_expect(s, NOTICE_SESSION);
        assert_string_not_equal(fresh->info.id, surface_changed(done));
        surface_send(s, &operation_session_open, surface_changed(done));
        surface_expect(s, NOTICE_PAGE);
        surface_ask(s, "and on");
        engine_free(s);
        surface_teardown(NULL);
        surface_setup(NULL);
    }
}

/* Each operation works at once or fails with SESSION_BUSY; none waits for the turn in silence. */
TEST(what_may_come_during_a_turn)
{
    static const struct {
        const struct operation *type;
        const char *text;
        bool at_once;
    } rows[] = {
        {&operation_turn_start, "x", false},           {&operation_turn_retry, NULL, false},
        {&operation_session_create, NULL, false},      {&operation_session_open, "last", false},
        {&operation_session_fork, NULL, false},        {&operation_session_set_model, "m", false},
        {&operation_session_set_system, "m", false},   {&operation_compaction_run, NULL, false},
        {&operation_compaction_undo, NULL, false},     {&operation_compaction_pin, NULL, false},
        {&operation_compaction_unpin, NULL, false},    {&operation_context_read, NULL, true},
        {&operation_session_set_draft, "draft", true}, {&operation_session_rename, "a name", true},
        {&operation_session_label, "work", true}};
    static const struct session_search_params search = {.query = "go", .limit = 9};
    static const struct session_history_params page = {.session = "last", .limit = 9};
    static const struct {
        const struct operation *operation;
        const void *params;
    } reads[] = {{&operation_session_list, NULL},
                 {&operation_session_search, &search},
                 {&operation_session_inputs, NULL},
                 {&operation_session_history, &page}};
    AUTO(engine_free_local) struct engine *s = open_full(NULL);
    begin(s, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t id = surface_send(s, rows[i].type, rows[i].text);
        struct notice *n = surface_expect(s, NOTICE_ANSWER);
        assert_int_equal(n->answer->request->id, id);
        bool lacks = (rows[i].type->needs & NEED_COMPACTION) && !capability_compaction();
        assert_int_equal(surface_error(n)->code, lacks             ? ERR_SESSION_COMPACTION_DISABLED
                                                 : rows[i].at_once ? ERR_OK
                                                                   : ERR_SESSION_BUSY);
    }
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        assert_int_equal(surface_call(s, reads[i].operation, reads[i].params)->error.code, ERR_OK);
    }
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_idle(s);
}

/* The tool runs only if the answer allows it. */
TEST(answers_decide)
{
    static const struct {
        enum approval_answer answer;
        bool runs, asks_again;
    } rows[] = {
        {ANSWER_ONCE, true, true}, {ANSWER_SESSION, true, false}, {ANSWER_DENY, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct engine *s = open_full(NULL);
        const struct reply call = {.tool_name = "run_command",
                                   .tool_args = "{\"command\":\"echo executed\"}"};
        model_server_queue(surface_server(), &call);
        surface_send(s, &operation_turn_start, "go");
        struct notice *question = surface_expect(s, NOTICE_APPROVAL);
        assert_string_equal(question->name, "run_command");
        assert_string_equal(question->detail, "execute");
        assert_non_null(strstr(question->preview, "echo executed"));
        surface_send_for(s, &operation_approval_decide, "of another call", NULL, ANSWER_ONCE);
        surface_send_for(s, &operation_approval_decide, question->text, NULL, rows[i].answer);
        struct notice *result = surface_expect_event(s, EVENT_TOOL_EXECUTION_COMPLETED);
        assert_int_equal(result->event->flag, !rows[i].runs);
        assert_int_equal(strstr(result->event->text, "executed") != NULL, rows[i].runs);
        surface_expect_idle(s);
        model_server_queue(surface_server(), &call);
        surface_send(s, &operation_turn_start, "again");
        surface_expect_event(s, EVENT_CALL_COMPLETED);
        result = surface_next(s);
        assert_int_equal(result->type == NOTICE_APPROVAL, rows[i].asks_again);
        engine_free(s);
        surface_teardown(NULL);
        surface_setup(NULL);
    }
}

/* Another process writes, and a turn cannot begin: an interrupt gives the message back, and the
 * message is sent when the other process is done. */
TEST_IF(capability_store(), waiting_for_the_store_can_be_stopped)
{
    struct store *other;
    struct error e = {0};
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "one");
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &other, &e));
    assert_true(store_begin(other, &e));
    surface_send(s, &operation_turn_start, "two");
    surface_expect(s, NOTICE_BUSY);
    surface_expect(s, NOTICE_SESSION); /* now it writes */
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_error(s, ERR_SESSION_STORE_ERROR, "two");
    surface_expect_idle(s);
    surface_send(s, &operation_turn_start, "three");
    surface_expect(s, NOTICE_BUSY);
    store_rollback(other);
    store_close(other);
    surface_expect_event(s, EVENT_TURN_COMPLETED);
}

/* Without a user the answer is no. */
TEST(without_somebody_to_ask_the_answer_is_no)
{
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    model_server_queue(surface_server(),
                       &(struct reply){.tool_name = "run_command",
                                       .tool_args = "{\"command\":\"echo executed\"}"});
    surface_send(s, &operation_turn_start, "go");
    struct notice *result = surface_expect_event(s, EVENT_TOOL_EXECUTION_COMPLETED);
    assert_true(result->event->flag);
    assert_null(strstr(result->event->text, "executed"));
    surface_expect_idle(s);
}
