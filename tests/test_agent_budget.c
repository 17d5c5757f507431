/* Budgets in the turn loop: the end of a turn, its warnings, and a history that a provider
 * accepts. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "play.h"
#include "tests/suite.h"

/* A scripted call takes 10 tokens in and 5 out. */
#define ROUND                                                                                      \
    {                                                                                              \
        .tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE                              \
    }
#define DONE                                                                                       \
    {                                                                                              \
        .text = "Done.", .stop = STOP_END_TURN                                                     \
    }

static int count(enum event_type type)
{
    int n = 0;
    while (play_event(type, n))
        n++;
    return n;
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-9);
}

static void assert_used_up(const char *kind)
{
    const struct event *end = play_last();
    assert_int_equal(end->type, EVENT_TURN_FAILED);
    assert_string_equal(end->name, "BUDGET_EXHAUSTED");
    assert_non_null(strstr(end->text, kind));
    play_check_history();
}

FIXTURE(play_setup, play_teardown);

TEST(what_is_used_up_before_the_turn_ends_it)
{
    play.budget.limit[BUDGET_TOKENS] = 1000;
    play.spent.used[BUDGET_TOKENS] = 1000;
    PLAY(DONE);
    assert_string_equal(play.trail.data, "run_started run_failed");
    assert_used_up("max_tokens");
    assert_int_equal(play.at, 0);
    assert_false(usage_known(&play_last()->usage));
    assert_int_equal(play.history.messages.len, 0);
    assert_string_equal(play.history.last_text, "hello");
}

TEST(tokens_end_the_turn_before_the_next_call)
{
    play.budget.limit[BUDGET_TOKENS] = 130;
    play.spent.used[BUDGET_TOKENS] = 100;
    PLAY(ROUND, ROUND, DONE);
    assert_int_equal(play.at, 2);
    assert_used_up("max_tokens is used up: 130 of 130 tokens");
    assert_int_equal(count(EVENT_TOOL_EXECUTION_COMPLETED), 1);
    assert_int_equal(play.history.messages.len, 5); /* answered messages stay */
    const struct message *cut = &play.history.messages.items[4];
    assert_string_equal(cut->blocks.items[0].text, "Not executed: the turn was cut off.");
}

/* An answer that is complete when its budget ends is an answer. */
TEST(the_last_answer_is_no_failure)
{
    play.budget.limit[BUDGET_TOKENS] = 15;
    PLAY(DONE);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(count(EVENT_BUDGET_WARNING), 1);
}

TEST(a_call_that_nobody_counted_counts_nothing)
{
    play.budget.limit[BUDGET_TOKENS] = 1;
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE, .without_usage = true},
         {.text = "Done.", .stop = STOP_END_TURN, .without_usage = true});
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
}

TEST(an_answer_asks_for_no_more_tokens_than_are_left)
{
    play.budget.limit[BUDGET_TOKENS] = 200;
    play.spent.used[BUDGET_TOKENS] = 60;
    PLAY(DONE);
    assert_int_equal(play.last_max_output, 99);
    play.spent.used[BUDGET_TOKENS] = 130;
    PLAY(DONE);
    assert_int_equal(play.last_max_output, 70);
    PLAY(ROUND, DONE);
    assert_int_equal(play.last_max_output, 55);
    play.budget.limit[BUDGET_TOKENS] = 0;
    PLAY(DONE);
    assert_int_equal(play.last_max_output, 99);
}

TEST(tool_calls_end_the_turn_before_the_next_tool)
{
    play.budget.limit[BUDGET_TOOL_CALLS] = 5;
    play.spent.used[BUDGET_TOOL_CALLS] = 2;
    PLAY(ROUND, {.tool = "list_directory", .args = "{broken", .calls = 5, .stop = STOP_TOOL_USE},
         DONE);
    assert_int_equal(play.at, 2);
    assert_int_equal(count(EVENT_TOOL_EXECUTION_COMPLETED), 3); /* also those that did not run */
    assert_used_up("max_tool_calls is used up: 5 of 5 tool calls");
    const struct message *results = &vec_last(&play.history.messages);
    assert_int_equal(results->blocks.len, 5);
    assert_string_equal(results->blocks.items[2].text, "Not executed: the turn was cut off.");
}

TEST(what_the_user_interrupts_is_interrupted)
{
    play.budget.limit[BUDGET_TOOL_CALLS] = 1;
    play.budget.limit[BUDGET_TURN_DURATION] = 3600;
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE, .cancel_after = true});
    assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
    play_check_history();
}

TEST(time_ends_an_answer_and_keeps_what_came)
{
    static const enum budget_kind times[] = {BUDGET_DURATION, BUDGET_TURN_DURATION};
    for (size_t i = 0; i < 2; i++) {
        play_stop_clock();
        memset(&play.budget, 0, sizeof play.budget);
        play.budget.limit[times[i]] = 10;
        play.spent.used[BUDGET_DURATION] = 4;
        PLAY({.text = "Half an ans", .to_the_end = true});
        assert_used_up(budget_kind_name(times[i]));
        assert_int_equal(play_last()->number, times[i] == BUDGET_DURATION ? 6000 : 10000);
        assert_true(play_last()->usage.estimated);
        assert_true(play_event(EVENT_TEXT_COMPLETE, (int)i)->flag);
        const struct message *answer = &vec_last(&play.history.messages);
        assert_true(answer->partial);
        assert_string_equal(answer->blocks.items[0].text, "Half an ans");
    }
}

/* No text came, so the message goes back to the user. */
TEST(time_ends_a_call_without_an_answer)
{
    play.budget.limit[BUDGET_TURN_DURATION] = 0.03;
    PLAY({.to_the_end = true});
    assert_string_equal(play.trail.data, "run_started turn_started run_failed");
    assert_used_up("max_turn_duration");
    assert_int_equal(play.history.messages.len, 0);
}

TEST(time_ends_the_wait_for_a_retry)
{
    play.budget.limit[BUDGET_TURN_DURATION] = 0.03;
    PLAY({.failure = FAILURE_STATUS, .status = 500, .retry_after_ms = 600000});
    assert_string_equal(play.trail.data, "run_started turn_started retrying run_failed");
    assert_used_up("max_turn_duration");
}

TEST(time_ends_a_tool)
{
    int64_t begun = clock_mono_ms();
    play.budget.limit[BUDGET_TURN_DURATION] = 0.3;
    play_policy("execute", "write", NULL);
    PLAY({.tool = "run_command",
          .args = "{\"command\":\"exec sleep 600\"}",
          .calls = 2,
          .stop = STOP_TOOL_USE});
    assert_true(clock_mono_ms() - begun < 60000);
    assert_int_equal(count(EVENT_TOOL_EXECUTION_COMPLETED), 1);
    assert_true(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0)->flag);
    assert_used_up("max_turn_duration");
}

TEST(a_deadline_that_cannot_be_set_ends_the_turn_later)
{
    play_stop_clock();
    play.timeless = true;
    play.budget.limit[BUDGET_TURN_DURATION] = 10;
    PLAY({.tool = "list_directory", .args = "{}", .stop = STOP_TOOL_USE, .takes_ms = 10000}, DONE);
    assert_int_equal(play.last_deadline_ms, 0);
    assert_int_equal(play.at, 1);
    assert_int_equal(count(EVENT_TOOL_EXECUTION_COMPLETED), 0);
    assert_used_up("max_turn_duration");
}

TEST(the_deadline_is_the_nearest_limit)
{
    static const struct {
        double session, turn;
        int64_t ms;
    } rows[] = {{0, 0, 0}, {10, 0, 6000}, {0, 8, 8000}, {10, 8, 6000}, {10, 5, 5000}};
    play.spent.used[BUDGET_DURATION] = 4;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_stop_clock();
        play.budget.limit[BUDGET_DURATION] = rows[i].session;
        play.budget.limit[BUDGET_TURN_DURATION] = rows[i].turn;
        PLAY(DONE);
        assert_int_equal(play.last_deadline_ms, rows[i].ms ? clock_mono_ms() + rows[i].ms : 0);
    }
}

TEST(while_the_user_thinks_no_time_passes)
{
    play_stop_clock();
    int64_t begun = clock_mono_ms();
    play.budget.limit[BUDGET_TURN_DURATION] = 10;
    play.budget.limit[BUDGET_DURATION] = 10;
    play.answer = APPROVAL_ALLOW;
    play.thinks_ms = 3600000;
    PLAY({.tool = "write_file",
          .args = "{\"path\":\"note.txt\",\"content\":\"\"}",
          .calls = 2,
          .stop = STOP_TOOL_USE,
          .takes_ms = 2000},
         {.text = "Done.", .stop = STOP_END_TURN, .takes_ms = 5000});
    assert_int_equal(play.questions, 2);
    assert_int_equal(play.deadline_while_asked_ms, 0);
    assert_int_equal(play.last_deadline_ms, begun + 10000 + 2 * 3600000);
    assert_int_equal(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 1)->number, 0);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(play_last()->number, 7000);
    assert_int_equal(count(EVENT_BUDGET_WARNING), 0);
}

TEST(each_warning_comes_once)
{
    play.budget.limit[BUDGET_TOKENS] = 75;
    PLAY(ROUND, ROUND, ROUND, ROUND, DONE);
    assert_string_equal(
        play.trail.data,
        "run_started turn_started tool_call_requested turn_completed tool_execution_completed "
        "turn_started tool_call_requested turn_completed tool_execution_completed "
        "turn_started tool_call_requested turn_completed tool_execution_completed "
        "turn_started tool_call_requested turn_completed budget_warning tool_execution_completed "
        "turn_started text_delta text_complete turn_completed budget_warning run_completed");
    const struct event *first = play_event(EVENT_BUDGET_WARNING, 0);
    assert_string_equal(first->name, "max_tokens");
    assert_int_equal(first->count, 80);
    assert_near(first->used, 60);
    assert_near(first->bound, 75);
    assert_int_equal(play_event(EVENT_BUDGET_WARNING, 1)->count, 100);
}

/* The warning is given once per session, not once per turn. */
TEST(the_next_turn_does_not_warn_again)
{
    play.budget.limit[BUDGET_TOKENS] = 1000;
    play.spent.used[BUDGET_TOKENS] = 900;
    PLAY(DONE);
    assert_string_equal(play.trail.data,
                        "run_started budget_warning turn_started text_delta "
                        "text_complete turn_completed run_completed");
    assert_int_equal(play_event(EVENT_BUDGET_WARNING, 0)->count, 90);
    play.spent.used[BUDGET_TOKENS] = 915;
    PLAY(DONE);
    assert_int_equal(count(EVENT_BUDGET_WARNING), 1);
    play.spent.used[BUDGET_TOKENS] = 940;
    PLAY(DONE);
    assert_int_equal(count(EVENT_BUDGET_WARNING), 2);
}

TEST(every_turn_has_its_own_time)
{
    play_stop_clock();
    play.budget.limit[BUDGET_TURN_DURATION] = 10;
    for (int turn = 1; turn <= 3; turn++) {
        PLAY({.text = "Done.", .stop = STOP_END_TURN, .takes_ms = 9000});
        assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
        assert_int_equal(count(EVENT_BUDGET_WARNING), turn);
        assert_int_equal(play_event(EVENT_BUDGET_WARNING, turn - 1)->count, 90);
    }
}

TEST(tool_calls_warn_too)
{
    play.budget.limit[BUDGET_TOOL_CALLS] = 5;
    PLAY({.tool = "list_directory", .args = "{}", .calls = 5, .stop = STOP_TOOL_USE});
    assert_non_null(strstr(play.trail.data,
                           " tool_execution_completed budget_warning tool_execution_completed "
                           "budget_warning run_failed"));
    assert_string_equal(play_event(EVENT_BUDGET_WARNING, 0)->name, "max_tool_calls");
    assert_int_equal(play_event(EVENT_BUDGET_WARNING, 0)->count, 80);
    assert_int_equal(play_event(EVENT_BUDGET_WARNING, 1)->count, 100);
    assert_used_up("max_tool_calls");
}

/* 10 in and 5 out at these prices are 0.04 USD. */
#define PRICE ((struct price){.input = 2500, .output = 3000, .cached = -1})

TEST(cost_ends_the_turn)
{
    play.price = PRICE;
    play.budget.limit[BUDGET_COST] = 1.08;
    play.spent.used[BUDGET_COST] = 1;
    PLAY(ROUND, ROUND, DONE);
    assert_int_equal(play.at, 2);
    assert_used_up("max_cost is used up: 1.0800 of 1.0800 USD");
    assert_near(play_event(EVENT_CALL_COMPLETED, 0)->used, 0.04);
    assert_near(play_event(EVENT_CALL_COMPLETED, 1)->used, 0.04);
    assert_true(play_last()->used <= 0); /* turn_completed has it already */
}

/* The session's cost is unknown until a first call has one. */
TEST(a_first_cost_counts)
{
    play.price = PRICE;
    play.budget.limit[BUDGET_COST] = 0.04;
    PLAY(ROUND, DONE);
    assert_int_equal(play.at, 1);
    assert_used_up("max_cost");
}

TEST(an_unknown_cost_ends_nothing)
{
    play.budget.limit[BUDGET_COST] = 0.0001;
    PLAY(ROUND, DONE);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(count(EVENT_BUDGET_WARNING), 0);
    assert_true(play_event(EVENT_CALL_COMPLETED, 0)->used <= 0);
}

/* Changing to a model without prices gives nothing back. */
TEST(a_cost_that_is_known_counts_with_any_model)
{
    play.budget.limit[BUDGET_COST] = 1;
    play.spent.used[BUDGET_COST] = 1.5;
    PLAY(DONE);
    assert_string_equal(play.trail.data, "run_started run_failed");
    assert_used_up("max_cost");
}

TEST(what_was_cut_off_says_its_time_and_cost)
{
    play_stop_clock();
    play.price = (struct price){.input = 0, .output = 1000, .cached = -1};
    PLAY(ROUND, {.text = "Half an answer..",
                 .takes_ms = 1500,
                 .failure = FAILURE_CUT,
                 .retry_after_ms = -1});
    assert_int_equal(play_last()->type, EVENT_TURN_FAILED);
    assert_string_equal(play_last()->name, "AGENT_ERROR");
    assert_int_equal(play_last()->number, 1500);
    assert_int_equal(play_last()->usage.output, 4);
    play_check_history();
}
