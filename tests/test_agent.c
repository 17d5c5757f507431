/* The turn loop against a provider that plays a script: which events come, in which order, and what
 * the history is afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/mem.h"
#include "support.h"

/* One model call. A failure kind other than NONE fails it after `text` has streamed. */
struct act {
    const char *text;
    const char *tool, *args;
    enum stop_reason stop;
    enum failure_kind failure;
    int status;
    int64_t retry_after_ms;
    bool cancel_after; /* the user interrupts once the answer is there */
};

struct play {
    const struct act *acts;
    size_t act_count, at;
    size_t last_message_count; /* of the newest request */
    int64_t last_max_output;
    int wake[2];
    bool stop;
    enum event_type store_fails; /* at the first of these; RUN_STARTED: never */
    bool reads_on;               /* the script saw that its delta was taken */
    struct wakeup wakeup;
    struct config *config;
    struct history history;
    struct buf trail; /* names of the events, one a word */
    VEC(struct event *) events;
};

static struct play play;

static void press_escape(void)
{
    play.stop = true;
    assert_int_equal(write(play.wake[1], "x", 1), 1);
}

static void add_block(struct response *r, enum block_type type, const char *text, const char *name)
{
    struct block b = {.type = type, .text = mem_strdup(text), .name = mem_strdup(name)};
    if (type == BLOCK_TOOL_CALL)
        b.id = mem_printf("call_%zu", play.at);
    vec_push(&r->blocks, b);
}

static bool scripted(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *failure)
{
    assert_true(play.at < play.act_count);
    const struct act *act = &play.acts[play.at++];
    play.last_message_count = request->message_count;
    play.last_max_output = request->max_output;
    if (act->text) {
        play.reads_on = call->delta(call->context, BLOCK_TEXT, act->text, strlen(act->text));
        add_block(response, BLOCK_TEXT, act->text, NULL);
    }
    if (act->cancel_after)
        press_escape();
    if (act->failure != FAILURE_NONE) {
        failure->status = act->status;
        failure->content_seen = act->text != NULL;
        failure->retry_after_ms = act->retry_after_ms;
        return failure_set(failure, act->failure, "scripted failure");
    }
    if (act->tool)
        add_block(response, BLOCK_TOOL_CALL, act->args, act->tool);
    response->stop_reason = act->stop;
    response->usage = (struct usage){.input = 10, .output = 5, .cached = -1};
    return true;
}

static const struct provider provider = {.name = "scripted", .complete = scripted};

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

/* Drains, as the mailbox of the service does: nobody is woken twice. */
static bool go_on(void *context)
{
    char byte;
    struct pollfd waker = {.fd = play.wake[0], .events = POLLIN};
    (void)context;
    if (poll(&waker, 1, 0) > 0)
        assert_int_equal(read(play.wake[0], &byte, 1), 1);
    return !play.stop;
}

static int setup(void **state)
{
    (void)state;
    if (support_setup(NULL) != 0 || pipe(play.wake) != 0)
        return -1;
    play.wakeup = (struct wakeup){.fd = play.wake[0], .go_on = go_on};
    play.config = config_new();
    history_init(&play.history);
    buf_init(&play.trail, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(play.wake[0]);
    close(play.wake[1]);
    config_free(play.config);
    history_release(&play.history);
    buf_release(&play.trail);
    for (size_t i = 0; i < play.events.len; i++)
        event_free(play.events.items[i]);
    vec_release(&play.events);
    memset(&play, 0, sizeof play);
    return support_teardown(NULL);
}

static bool run(const struct act *acts, size_t count, const char *input, struct error *e)
{
    play.acts = acts;
    play.act_count = count;
    play.at = 0;
    struct agent a = {
        .config = play.config,
        .provider = &provider,
        .model = "m",
        .max_output = 99,
        .offer_tools = true,
        .root = support_dir(),
        .root_fd = open(support_dir(), O_RDONLY | O_DIRECTORY),
        .wakeup = &play.wakeup,
        .history = &play.history,
        .emit = emit,
    };
    bool ok = agent_run(&a, input, NULL, 0, e);
    close(a.root_fd);
    return ok;
}

#define RUN(...)                                                                                   \
    assert_true(run((const struct act[]){__VA_ARGS__},                                             \
                    sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act), "hello",       \
                    &(struct error){0}))

static const struct event *last_event(void)
{
    return vec_last(&play.events);
}

static void an_answer(void **state)
{
    (void)state;
    RUN({.text = "Hi.", .stop = STOP_END_TURN});
    assert_string_equal(play.trail.data,
                        "run_started turn_started text_delta text_complete "
                        "turn_completed run_completed");
    assert_string_equal(last_event()->text, "Hi.");
    assert_int_equal(last_event()->usage.input, 10);
    assert_int_equal(last_event()->count, 1);
    assert_int_equal(play.last_max_output, 99);
    assert_int_equal(play.history.messages.len, 2);
    assert_false(play.history.running);
}

static void tools_run_in_order_and_the_model_goes_on(void **state)
{
    (void)state;
    char *path = support_path("note.txt");
    support_write(path, "forty-two");
    free(path);
    RUN({.text = "I look.",
         .tool = "read_file",
         .args = "{\"path\":\"note.txt\"}",
         .stop = STOP_TOOL_USE},
        {.tool = "read_file", .args = "{broken", .stop = STOP_TOOL_USE},
        {.text = "42", .stop = STOP_END_TURN});
    assert_string_equal(
        play.trail.data,
        "run_started turn_started text_delta text_complete tool_call_requested turn_completed "
        "tool_execution_completed turn_started tool_call_requested turn_completed "
        "tool_execution_completed turn_started text_delta text_complete turn_completed "
        "run_completed");
    assert_string_equal(play.events.items[6]->text, "forty-two");
    assert_false(play.events.items[6]->flag);
    assert_true(play.events.items[10]->flag);
    assert_int_equal(last_event()->usage.input, 30);
    assert_int_equal(last_event()->count, 3);
    assert_int_equal(play.last_message_count, 5);
    assert_int_equal(play.history.messages.len, 6);
}

static void failures_before_content_are_retried(void **state)
{
    (void)state;
    RUN({.failure = FAILURE_STATUS, .status = 529, .retry_after_ms = 1},
        {.failure = FAILURE_STATUS, .status = 429, .retry_after_ms = 1},
        {.text = "ok", .stop = STOP_END_TURN});
    assert_string_equal(play.trail.data,
                        "run_started turn_started retrying retrying text_delta text_complete "
                        "turn_completed run_completed");
    assert_int_equal(play.events.items[3]->count, 2);
    assert_int_equal(play.events.items[3]->limit, 3);
    assert_string_equal(play.events.items[3]->text, "scripted failure");
}

static void a_failure_takes_the_message_back(void **state)
{
    (void)state;
    RUN({.failure = FAILURE_STATUS, .status = 401, .retry_after_ms = -1});
    assert_string_equal(play.trail.data, "run_started turn_started run_failed");
    assert_string_equal(last_event()->name, "AGENT_ERROR");
    assert_string_equal(last_event()->text, "scripted failure");
    assert_int_equal(play.history.messages.len, 0);
    assert_string_equal(play.history.last_text, "hello");
}

static void a_failure_after_content_keeps_it_and_is_not_retried(void **state)
{
    (void)state;
    RUN({.text = "Half an ans", .failure = FAILURE_CUT, .retry_after_ms = -1});
    assert_string_equal(play.trail.data,
                        "run_started turn_started text_delta text_complete run_failed");
    assert_true(play.events.items[3]->flag);
    assert_int_equal(play.history.messages.len, 2);
    assert_true(play.history.messages.items[1].partial);
    assert_true(last_event()->usage.estimated);
}

static void an_interrupt_while_waiting_for_a_retry(void **state)
{
    (void)state;
    RUN({.failure = FAILURE_STATUS, .status = 500, .retry_after_ms = 600000, .cancel_after = true});
    assert_string_equal(play.trail.data, "run_started turn_started retrying interrupted");
}

static void an_interrupt_between_tools_answers_the_rest(void **state)
{
    (void)state;
    RUN({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE, .cancel_after = true});
    assert_string_equal(play.trail.data,
                        "run_started turn_started tool_call_requested "
                        "turn_completed tool_execution_completed interrupted");
    assert_false(usage_known(&last_event()->usage)); /* turn_completed has it already */
    assert_int_equal(play.history.messages.items[2].role, ROLE_TOOL);
}

static void the_rounds_have_an_end(void **state)
{
    (void)state;
    struct act acts[AGENT_MAX_ROUNDS];
    for (size_t i = 0; i < AGENT_MAX_ROUNDS; i++)
        acts[i] = (struct act){.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE};
    assert_true(run(acts, AGENT_MAX_ROUNDS, "hello", &(struct error){0}));
    assert_int_equal(play.at, AGENT_MAX_ROUNDS);
    assert_int_equal(last_event()->type, EVENT_RUN_COMPLETED);
    assert_string_equal(play.events.items[play.events.len - 2]->name, "max_rounds");
}

static void a_pause_is_taken_up(void **state)
{
    (void)state;
    RUN({.text = "wait", .stop = STOP_PAUSE}, {.text = "done", .stop = STOP_END_TURN});
    assert_int_equal(play.at, 2);
    assert_string_equal(last_event()->text, "done");
}

static void a_record_that_fails_ends_the_run(void **state)
{
    (void)state;
    struct error e = {0};
    const struct act act = {.text = "Hi.", .stop = STOP_END_TURN};
    play.store_fails = EVENT_TEXT_COMPLETE;
    assert_false(run(&act, 1, "hello", &e));
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_string_equal(play.trail.data, "run_started turn_started text_delta");
    assert_true(play.reads_on);
}

/* Nobody waits for the rest of an answer that is not shown, nor tries it again. */
static void a_record_that_fails_amid_an_answer_stops_it(void **state)
{
    (void)state;
    struct error e = {0};
    const struct act act = {
        .text = "Hi.", .failure = FAILURE_STATUS, .status = 500, .retry_after_ms = 600000};
    play.store_fails = EVENT_TEXT_DELTA;
    assert_false(run(&act, 1, "hello", &e));
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_false(play.reads_on);
    assert_string_equal(play.trail.data, "run_started turn_started");
}

/* The tool that is woken takes the waking with it. */
static void an_interrupt_that_a_tool_saw_ends_the_turn(void **state)
{
    (void)state;
    char *path = support_path("note.txt");
    support_write(path, "forty-two");
    free(path);
    RUN({.tool = "read_file",
         .args = "{\"path\":\"note.txt\"}",
         .stop = STOP_TOOL_USE,
         .cancel_after = true});
    assert_string_equal(play.trail.data,
                        "run_started turn_started tool_call_requested "
                        "turn_completed tool_execution_completed interrupted");
    assert_string_equal(play.events.items[4]->text, "interrupted");
}

static void output_limits(void **state)
{
    (void)state;
    assert_int_equal(agent_max_output(500, 64000, 200000), 500);
    assert_int_equal(agent_max_output(0, 64000, 200000), 8192);
    assert_int_equal(agent_max_output(0, 4000, 200000), 4000);
    assert_int_equal(agent_max_output(0, 0, 0), 4096);
    assert_int_equal(agent_max_output(0, 0, 4096), 1024);
    assert_int_equal(agent_max_output(0, 0, 2), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest all[] = {
        TEST(an_answer),
        TEST(tools_run_in_order_and_the_model_goes_on),
        TEST(failures_before_content_are_retried),
        TEST(a_failure_takes_the_message_back),
        TEST(a_failure_after_content_keeps_it_and_is_not_retried),
        TEST(an_interrupt_while_waiting_for_a_retry),
        TEST(an_interrupt_between_tools_answers_the_rest),
        TEST(the_rounds_have_an_end),
        TEST(a_pause_is_taken_up),
        TEST(a_record_that_fails_ends_the_run),
        TEST(a_record_that_fails_amid_an_answer_stops_it),
        TEST(an_interrupt_that_a_tool_saw_ends_the_turn),
        cmocka_unit_test(output_limits),
    };
    return cmocka_run_group_tests_name("agent", all, NULL, NULL);
}
