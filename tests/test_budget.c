/* The budget: its arithmetic, and its effects on the turn loop. */
#include <limits.h>
#include <math.h>

#include "agent/budget.h"
#include "base/clock.h"
#include "chat/event.h"
#include "tests/play.h"
#include "tests/suite.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct budget limit_of(enum budget_kind kind, double limit)
{
    struct budget b = {.limit = {0}};
    b.limit[kind] = limit;
    return b;
}

static struct budget_use use_of(enum budget_kind kind, double used)
{
    struct budget_use use = {{0}};
    use.used[kind] = used;
    return use;
}

static void assert_limit(const struct budget *b, enum budget_kind kind, double expected)
{
    assert_true(fabs(b->limit[kind] - expected) <= 0);
}

TEST(limits_come_from_the_configuration)
{
    AUTO(config_free_local) struct config *config = config_new();
    struct budget b = {.warned = {[BUDGET_COST] = 95}};
    budget_read(&b, config);
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++)
        assert_true(b.limit[i] <= 0);
    assert_int_equal(b.warned[BUDGET_COST], 0);

    static const enum config_key keys[] = {CONFIG_BUDGET_TOKENS, CONFIG_BUDGET_DURATION,
                                           CONFIG_BUDGET_TURN_DURATION, CONFIG_BUDGET_TOOL_CALLS,
                                           CONFIG_BUDGET_COST};
    static const char *const values[] = {"1000000000000", "7200", "60", "3", "0.25"};
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_true(config_set(config, keys[i], values[i], NULL));
    budget_read(&b, config);
    assert_limit(&b, BUDGET_TOKENS, 1e12);
    assert_limit(&b, BUDGET_DURATION, 7200);
    assert_limit(&b, BUDGET_TURN_DURATION, 60);
    assert_limit(&b, BUDGET_TOOL_CALLS, 3);
    assert_limit(&b, BUDGET_COST, 0.25);
}

static const struct {
    enum budget_kind kind;
    double limit, used;
    int percent;
    bool allowed;
} percents[] = {
    {BUDGET_TOKENS, 0, 0, -1, true},
    {BUDGET_TOKENS, 0, 1e15, -1, true},
    {BUDGET_TOKENS, 1000, 0, 0, true},
    {BUDGET_TOKENS, 1000, 799, 79, true},
    {BUDGET_TOKENS, 1000, 800, 80, true},
    {BUDGET_TOKENS, 1000, 999, 99, true},
    {BUDGET_TOKENS, 1000, 1000, 100, false},
    {BUDGET_TOKENS, 1000, 1001, 100, false},
    {BUDGET_TOKENS, 1000, 2500, 250, false},
    {BUDGET_TOKENS, 1, 0, 0, true},
    {BUDGET_TOKENS, 1, 1, 100, false},
    {BUDGET_TOKENS, 1e12, 1e12 - 1, 99, true},
    {BUDGET_TOKENS, 1e12, 1e12, 100, false},
    {BUDGET_TOKENS, 1, 1e300, INT_MAX, false},
    {BUDGET_TOKENS, 1, INFINITY, INT_MAX, false},
    {BUDGET_TOKENS, 1, NAN, -1, true},
    {BUDGET_TOOL_CALLS, 3, 2, 66, true},
    {BUDGET_TOOL_CALLS, 3, 3, 100, false},
    {BUDGET_DURATION, 10, 9.999, 99, true},
    {BUDGET_DURATION, 10, 10, 100, false},
    {BUDGET_TURN_DURATION, 60, 57, 95, true},
    {BUDGET_COST, 0.1, 0.08, 80, true},
    {BUDGET_COST, 0.3, 0.1 + 0.2, 100, false},
    {BUDGET_COST, 1, 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1, 100, false},
    {BUDGET_COST, 1, -1, -1, true},
    {BUDGET_COST, 0, -1, -1, true},
};

TEST(percent_and_the_end)
{
    for (size_t i = 0; i < COUNT(percents); i++) {
        const struct budget b = limit_of(percents[i].kind, percents[i].limit);
        const struct budget_use use = use_of(percents[i].kind, percents[i].used);
        struct error e = {0};
        int percent = budget_percent(&b, &use, percents[i].kind);
        bool allowed = budget_allows(&b, &use, &e);
        if (percent != percents[i].percent || allowed != percents[i].allowed)
            fail_msg("row %zu: %d %%, %s", i, percent, allowed ? "allowed" : "used up");
        assert_int_equal(e.code, allowed ? ERR_OK : ERR_BUDGET_EXHAUSTED);
    }
}

TEST(the_end_says_which_limit_how_much_and_what_to_do)
{
    static const struct {
        enum budget_kind kind;
        double limit, used;
        const char *text;
    } rows[] = {
        {BUDGET_TOKENS, 1000, 1234,
         "[budget] max_tokens is used up: 1234 of 1000 tokens; raise the limit, or start a new "
         "session"},
        {BUDGET_DURATION, 60, 60.25,
         "[budget] max_duration is used up: 60.2 of 60.0 seconds; raise the limit, or start a new "
         "session"},
        {BUDGET_TURN_DURATION, 5, 5,
         "[budget] max_turn_duration is used up: 5.0 of 5.0 seconds; raise the limit, or go on "
         "with the "
         "next message"},
        {BUDGET_TOOL_CALLS, 3, 3,
         "[budget] max_tool_calls is used up: 3 of 3 tool calls; raise the limit, or start a new "
         "session"},
        {BUDGET_COST, 0.5, 0.5125,
         "[budget] max_cost is used up: 0.5125 of 0.5000 USD; raise the limit, or start a new "
         "session"},
    };
    assert_int_equal(COUNT(rows), BUDGET_KIND_COUNT);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct budget b = limit_of(rows[i].kind, rows[i].limit);
        const struct budget_use use = use_of(rows[i].kind, rows[i].used);
        struct error e = {0};
        assert_false(budget_allows(&b, &use, &e));
        assert_string_equal(e.text, rows[i].text);
    }
}

TEST(the_nearest_limit_is_the_one_most_used)
{
    struct budget b = {.limit = {0}};
    struct budget_use use = {{50, 50, 50, 50, 50}};
    enum budget_kind kind = BUDGET_KIND_COUNT;
    assert_false(budget_nearest(&b, &use, &kind));

    b.limit[BUDGET_TOKENS] = 1000;
    b.limit[BUDGET_TOOL_CALLS] = 60;
    b.limit[BUDGET_COST] = 55;
    assert_true(budget_nearest(&b, &use, &kind));
    assert_int_equal(kind, BUDGET_COST);

    use.used[BUDGET_COST] = -1;
    assert_true(budget_nearest(&b, &use, &kind));
    assert_int_equal(kind, BUDGET_TOOL_CALLS);

    use = use_of(BUDGET_COST, -1);
    assert_true(budget_nearest(&b, &use, &kind)); /* nothing used: still a limit to show */
    assert_int_equal(kind, BUDGET_TOKENS);

    b = limit_of(BUDGET_COST, 1);
    assert_false(budget_nearest(&b, &use, &kind));
}

/* All warnings that are due, in the form "max_tokens 80 ". */
static const char *warnings(struct budget *b, const struct budget_use *use)
{
    static char text[256];
    enum budget_kind kind;
    int percent;
    size_t len = 0;
    text[0] = '\0';
    for (int n = 0; budget_next_warning(b, use, &kind, &percent); n++) {
        assert_true(n < 2 * BUDGET_KIND_COUNT);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s %d ", budget_kind_name(kind),
                                percent);
    }
    return text;
}

static void tell_budget(struct history *h, const char *kind, double limit, int percent)
{
    AUTO(event_free_local) struct event *ev = event_new(EVENT_BUDGET_WARNING);
    ev->seq = h->applied_seq + 1;
    ev->name = mem_strdup(kind);
    ev->bound = limit;
    ev->count = percent;
    history_apply(h, ev);
}

/* The warning counts whichever process gave it. A warning about another limit does not count. */
TEST(what_the_session_was_warned_of_is_not_told_again)
{
    struct budget b = {.limit = {100, 100, 100, 200, 0.5}};
    const struct budget_use use = {{90, 96, 90, 190, 0.45}};
    AUTO(history_release) struct history h = {0}, again = {0};
    struct error e;
    history_init(&h);
    tell_budget(&h, "max_tokens", 100, 95);
    tell_budget(&h, "max_tokens", 100, 80); /* the highest counts */
    tell_budget(&h, "max_duration", 100, 84);
    tell_budget(&h, "max_turn_duration", 100, 90); /* of another turn */
    tell_budget(&h, "max_tool_calls", 100, 99);    /* of another limit */
    tell_budget(&h, "max_cost", 0.5, 80);
    char *counters = support_keep(history_counters(&h));
    history_init(&again);
    assert_true(history_restore(&again, counters, strlen(counters), &e));
    budget_begin_turn(&b, &again);
    assert_string_equal(warnings(&b, &use),
                        "max_duration 95 max_turn_duration 80 max_tool_calls 95 ");
}

/* A log may say anything. */
TEST(of_many_kinds_some_are_remembered)
{
    AUTO(history_release) struct history h = {0};
    history_init(&h);
    for (int i = 0; i < 1000; i++) {
        tell_budget(&h, support_text("kind %d", i), 1, 80);
    }
    assert_int_equal(h.budgets.len, HISTORY_MAX_BUDGETS);
}

TEST(time_that_is_left)
{
    static const struct {
        double session, turn, session_used, turn_used;
        int64_t left;
    } rows[] = {
        {0, 0, 100, 100, -1},
        {10, 0, 4, 4, 6000},
        {0, 3, 4, 1, 2000},
        {10, 3, 4, 1, 2000},
        {10, 30, 8.5, 1, 1500},
        {10, 3, 10, 0, 0},
        {10, 3, 4, 3.5, 0},
        {10, 0, 1e300, 0, 0},
        {10, 0, -1, 0, -1},
        {0, 1, 0, 0.9995, 1},
        {1e12, 0, 0, 0, 1000000000000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct budget b = {
            .limit = {[BUDGET_DURATION] = rows[i].session, [BUDGET_TURN_DURATION] = rows[i].turn}};
        const struct budget_use use = {
            {[BUDGET_DURATION] = rows[i].session_used, [BUDGET_TURN_DURATION] = rows[i].turn_used}};
        assert_int_equal(budget_time_left_ms(&b, &use), rows[i].left);
    }
    const struct budget endless = limit_of(BUDGET_DURATION, 1e300);
    assert_int_equal(budget_time_left_ms(&endless, &(struct budget_use){{0}}), -1);
}

TEST(tokens_that_are_left)
{
    static const struct {
        double limit, used;
        int64_t left;
    } rows[] = {
        {0, 0, -1},       {0, 1e18, -1},  {1000, 0, 1000},         {1000, 999, 1}, {1000, 1000, 0},
        {1000, 1e300, 0}, {1000, -1, -1}, {1e12, 1, 999999999999}, {1e300, 0, -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct budget b = limit_of(BUDGET_TOKENS, rows[i].limit);
        const struct budget_use use = use_of(BUDGET_TOKENS, rows[i].used);
        assert_int_equal(budget_tokens_left(&b, &use), rows[i].left);
    }
}

/* --- in the turn loop --- */

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

FIXTURES(turns, play_setup, play_teardown);

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
