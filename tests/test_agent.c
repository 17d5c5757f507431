/* The turn loop with a scripted provider: the events, their order, and the history afterwards. */
#include "tests/play.h"
#include "tests/suite.h"

FIXTURE(play_setup, play_teardown);

TEST(an_answer)
{
    PLAY({.text = "Hi.", .stop = STOP_END_TURN});
    assert_string_equal(play.trail.data,
                        "run_started turn_started text_delta text_complete "
                        "turn_completed run_completed");
    assert_string_equal(play_last()->text, "Hi.");
    assert_int_equal(play_last()->usage.input, 10);
    assert_int_equal(play_last()->count, 1);
    assert_int_equal(play.last_max_output, 99);
    assert_int_equal(play.history.messages.len, 2);
    assert_false(play.history.running);
}

TEST(tools_run_in_order_and_the_model_goes_on)
{
    support_write(support_path("note.txt"), "forty-two");
    PLAY({.text = "I look.",
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
    assert_int_equal(play_last()->usage.input, 30);
    assert_int_equal(play_last()->count, 3);
    assert_int_equal(play.last_message_count, 5);
    assert_int_equal(play.history.messages.len, 6);
}

TEST(failures_before_content_are_retried)
{
    PLAY({.failure = FAILURE_STATUS, .status = 529, .retry_after_ms = 1},
         {.failure = FAILURE_STATUS, .status = 429, .retry_after_ms = 1},
         {.text = "ok", .stop = STOP_END_TURN});
    assert_string_equal(play.trail.data,
                        "run_started turn_started retrying retrying text_delta text_complete "
                        "turn_completed run_completed");
    assert_int_equal(play.events.items[3]->count, 2);
    assert_int_equal(play.events.items[3]->limit, 3);
    assert_string_equal(play.events.items[3]->text, "scripted failure");
}

TEST(a_failure_takes_the_message_back)
{
    PLAY({.failure = FAILURE_STATUS, .status = 401, .retry_after_ms = -1});
    assert_string_equal(play.trail.data, "run_started turn_started run_failed");
    assert_string_equal(play_last()->name, "AGENT_ERROR");
    assert_string_equal(play_last()->text,
                        "scripted failure; check the API key and its access to "
                        "this model");
    assert_int_equal(play.history.messages.len, 0);
    assert_string_equal(play.history.last_text, "hello");
}

TEST(a_failure_after_content_keeps_it_and_is_not_retried)
{
    PLAY({.text = "Half an ans", .failure = FAILURE_CUT, .retry_after_ms = -1});
    assert_string_equal(play.trail.data,
                        "run_started turn_started text_delta text_complete run_failed");
    assert_true(play.events.items[3]->flag);
    assert_int_equal(play.history.messages.len, 2);
    assert_true(play.history.messages.items[1].partial);
    assert_true(play_last()->usage.estimated);
}

TEST(an_interrupt_while_waiting_for_a_retry)
{
    PLAY(
        {.failure = FAILURE_STATUS, .status = 500, .retry_after_ms = 600000, .cancel_after = true});
    assert_string_equal(play.trail.data, "run_started turn_started retrying interrupted");
}

TEST(an_interrupt_between_tools_answers_the_rest)
{
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE, .cancel_after = true});
    assert_string_equal(play.trail.data,
                        "run_started turn_started tool_call_requested "
                        "turn_completed tool_execution_completed interrupted");
    assert_false(usage_known(&play_last()->usage)); /* turn_completed has it already */
    assert_int_equal(play.history.messages.items[2].role, ROLE_TOOL);
}

/* The answer of the user is for the change that was shown; it is kept with the result. */
TEST(an_edit_is_kept_with_its_result)
{
    static const char edits[] =
        "{\"path\":\"note.txt\",\"edits\":[{\"old_text\":\"two\",\"new_text\":\"2\"}]}";
    support_write(support_path("note.txt"), "forty-two\n");
    play.offer = "full";
    play.answer = APPROVAL_ALLOW;
    PLAY({.tool = "edit_file", .args = edits, .stop = STOP_TOOL_USE},
         {.tool = "read_file", .args = "{\"path\":\"note.txt\"}", .stop = STOP_TOOL_USE},
         {.tool = "edit_file", .args = edits, .stop = STOP_TOOL_USE},
         {.text = "42", .stop = STOP_END_TURN});
    assert_int_equal(play.questions, 1); /* the first had not read it */
    assert_string_equal(play.asked_preview,
                        "--- note.txt\n+++ note.txt\n@@ -1 +1 @@\n-forty-two\n+forty-2\n");
    assert_string_equal(support_read(support_path("note.txt")), "forty-2\n");
    assert_null(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0)->change.after);
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 2);
    assert_string_equal(ev->change.before, "forty-two\n");
    assert_string_equal(ev->change.after, "forty-2\n");
    play_policy("write", NULL, NULL); /* nobody is asked */
    PLAY({.tool = "write_file",
          .args = "{\"path\":\"note.txt\",\"content\":\"all\\n\"}",
          .stop = STOP_TOOL_USE},
         {.text = "42", .stop = STOP_END_TURN});
    ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, 3);
    assert_string_equal(ev->change.before, "forty-2\n");
    assert_string_equal(ev->change.after, "all\n");
}

static void expect_stopped(enum stop_reason reason, const char *part)
{
    const struct event *warning = play_event(EVENT_WARNING, 0);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(play_last()->stop_reason, reason);
    assert_non_null(warning);
    assert_string_equal(warning->name, stop_reason_names.words[reason]);
    assert_non_null(strstr(warning->text, part));
    assert_non_null(strstr(warning->text, "send a message to continue"));
    play_check_history();
}

#define LISTS                                                                                      \
    {                                                                                              \
        .tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE                              \
    }
#define READS(path)                                                                                \
    {                                                                                              \
        .tool = "read_file", .args = "{\"path\":\"" path "\"}", .stop = STOP_TOOL_USE              \
    }
#define ENDS                                                                                       \
    {                                                                                              \
        .text = "done", .stop = STOP_END_TURN                                                      \
    }

TEST(the_calls_of_a_turn_have_a_limit)
{
    struct act acts[201];
    for (size_t i = 0; i < 201; i++)
        acts[i] = (struct act)LISTS;
    assert_true(play_run(acts, 201, "hello", &(struct error){0}));
    assert_int_equal(play.at, 201);
    assert_non_null(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 199));
    assert_null(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 200));
    expect_stopped(STOP_MAX_CALLS, "after 200 calls ([tools] max_calls)");
}

/* As many as the limit are no reason to stop, nor are those of the turn before. */
TEST(a_turn_may_have_all_its_calls)
{
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_CALLS, "3", &(struct error){0}));
    for (int i = 0; i < 2; i++) {
        PLAY({.tool = "list_directory", .args = "{}", .calls = 3, .stop = STOP_TOOL_USE}, ENDS);
        assert_int_equal(play_last()->stop_reason, STOP_END_TURN);
    }
    PLAY({.tool = "list_directory", .args = "{}", .calls = 4, .stop = STOP_TOOL_USE}, ENDS);
    assert_int_equal(play.at, 1);
    expect_stopped(STOP_MAX_CALLS, "after 3 calls");
}

TEST(pauses_are_calls)
{
    struct act acts[5];
    for (size_t i = 0; i < 5; i++)
        acts[i] = (struct act){.text = "wait", .stop = STOP_PAUSE};
    assert_true(config_set(play.config, CONFIG_TOOLS_MAX_CALLS, "3", &(struct error){0}));
    assert_true(play_run(acts, 5, "hello", &(struct error){0}));
    assert_int_equal(play.at, 4);
    expect_stopped(STOP_MAX_CALLS, "after 3 calls");
}

TEST(the_same_failing_call_ends_the_turn)
{
    PLAY(READS("none"), READS("other"), READS("none"), READS("none"), ENDS);
    assert_int_equal(play.at, 4);
    expect_stopped(STOP_REPEATED,
                   "read_file failed 3 times with the same arguments, "
                   "{\"path\":\"none\"}");
}

TEST(a_call_that_is_declined_again_and_again_ends_the_turn)
{
    play.answer = APPROVAL_DENY;
    play.offer = "full";
#define RUNS {.tool = "run_command", .args = "{\"command\":\"true\"}", .stop = STOP_TOOL_USE}
    PLAY(RUNS, RUNS, RUNS, ENDS);
    assert_int_equal(play.questions, 3);
    expect_stopped(STOP_REPEATED, "run_command failed 3 times");
}

/* Something has changed when a call succeeds; and in one answer the model does not know yet. */
TEST(failures_between_successes_end_no_turn)
{
    PLAY(READS("none"), READS("none"), LISTS, READS("none"), READS("none"), ENDS);
    assert_int_equal(play.at, 6);
    assert_string_equal(play_last()->text, "done");
    PLAY({.tool = "read_file", .args = "{}", .calls = 5, .stop = STOP_TOOL_USE}, ENDS);
    assert_string_equal(play_last()->text, "done");
    assert_null(play_event(EVENT_WARNING, 0));
}

TEST(a_pause_is_taken_up)
{
    PLAY({.text = "wait", .stop = STOP_PAUSE}, {.text = "done", .stop = STOP_END_TURN});
    assert_int_equal(play.at, 2);
    assert_string_equal(play_last()->text, "done");
}

TEST(a_record_that_fails_ends_the_run)
{
    struct error e = {0};
    const struct act act = {.text = "Hi.", .stop = STOP_END_TURN};
    play.store_fails = EVENT_TEXT_COMPLETE;
    assert_err(play_run(&act, 1, "hello", &e), e, ERR_SESSION_STORE_ERROR);
    assert_string_equal(play.trail.data, "run_started turn_started text_delta");
    assert_true(play.reads_on);
}

/* The rest of an answer that cannot be stored is not awaited, nor is the call repeated. */
TEST(a_record_that_fails_amid_an_answer_stops_it)
{
    struct error e = {0};
    const struct act act = {
        .text = "Hi.", .failure = FAILURE_STATUS, .status = 500, .retry_after_ms = 600000};
    play.store_fails = EVENT_TEXT_DELTA;
    assert_err(play_run(&act, 1, "hello", &e), e, ERR_SESSION_STORE_ERROR);
    assert_false(play.reads_on);
    assert_string_equal(play.trail.data, "run_started turn_started");
}

/* The tool that is woken takes the waking with it. */
TEST(an_interrupt_that_a_tool_saw_ends_the_turn)
{
    support_write(support_path("note.txt"), "forty-two");
    PLAY({.tool = "read_file",
          .args = "{\"path\":\"note.txt\"}",
          .stop = STOP_TOOL_USE,
          .cancel_after = true});
    assert_string_equal(play.trail.data,
                        "run_started turn_started tool_call_requested "
                        "turn_completed tool_execution_completed interrupted");
    assert_string_equal(play.events.items[4]->text, "interrupted");
}

FIXTURES(plain, NULL, NULL);

TEST(output_limits)
{
    assert_int_equal(agent_max_output(500, 64000, 200000, true), 500);
    assert_int_equal(agent_max_output(0, 64000, 200000, false), 8192);
    assert_int_equal(agent_max_output(0, 64000, 200000, true), 32768);
    assert_int_equal(agent_max_output(0, 4000, 200000, true), 4000);
    assert_int_equal(agent_max_output(0, 0, 0, false), 4096);
    assert_int_equal(agent_max_output(0, 0, 4096, false), 1024);
    assert_int_equal(agent_max_output(0, 0, 2, false), 1);
    assert_int_equal(agent_answer_room(2048, 8192, 6144), 2048);
    assert_int_equal(agent_answer_room(2048, 8192, 6145), 2047);
    assert_int_equal(agent_answer_room(2048, 8192, 9000), 513);
    assert_int_equal(agent_answer_room(2048, 0, 9000), 2048);
    assert_int_equal(agent_answer_room(1, 2, 9), 1);
}
