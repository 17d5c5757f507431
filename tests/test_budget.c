/* Limits, percentages, warnings and remaining amounts: arithmetic over tables. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/budget.h"
#include "base/mem.h"
#include "chat/event.h"
#include "support.h"
#include "tests/suite.h"
#include "tests/support.h"

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
    struct config *config = config_new();
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
    config_free(config);
}

/* The names stand in events and messages: they are the keys. */
TEST(a_kind_is_named_as_its_key)
{
    static const enum config_key keys[] = {
        [BUDGET_TOKENS] = CONFIG_BUDGET_TOKENS,
        [BUDGET_DURATION] = CONFIG_BUDGET_DURATION,
        [BUDGET_TURN_DURATION] = CONFIG_BUDGET_TURN_DURATION,
        [BUDGET_TOOL_CALLS] = CONFIG_BUDGET_TOOL_CALLS,
        [BUDGET_COST] = CONFIG_BUDGET_COST,
    };
    assert_int_equal(COUNT(keys), BUDGET_KIND_COUNT);
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++)
        assert_string_equal(budget_kind_name(i), config_key_info(keys[i])->name);
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

TEST(each_warning_is_given_once)
{
    static const struct {
        double used;
        const char *expected;
    } steps[] = {
        {0, ""},   {79, ""}, {80, "max_tokens 80 "}, {80, ""}, {94, ""}, {95, "max_tokens 95 "},
        {100, ""}, {50, ""}, /* the warnings that were taken back */
        {99, ""},
    };
    struct budget b = limit_of(BUDGET_TOKENS, 100);
    for (size_t i = 0; i < COUNT(steps); i++) {
        const struct budget_use use = use_of(BUDGET_TOKENS, steps[i].used);
        assert_string_equal(warnings(&b, &use), steps[i].expected);
    }
}

TEST(what_was_passed_at_once_is_one_warning)
{
    static const double leaps[] = {95, 99, 100, 1e300};
    for (size_t i = 0; i < COUNT(leaps); i++) {
        struct budget b = limit_of(BUDGET_TOKENS, 100);
        const struct budget_use use = use_of(BUDGET_TOKENS, leaps[i]);
        assert_string_equal(warnings(&b, &use), "max_tokens 95 ");
        assert_string_equal(warnings(&b, &use), "");
    }
}

TEST(each_kind_warns_of_itself)
{
    struct budget b = {.limit = {100, 100, 100, 0, 100}};
    const struct budget_use use = {{85, 96, 80, 99, -1}};
    assert_string_equal(warnings(&b, &use), "max_tokens 80 max_duration 95 max_turn_duration 80 ");
}

TEST(a_new_turn_warns_of_its_own_duration_again)
{
    struct budget b = {.limit = {100, 100, 100, 0, 0}};
    const struct budget_use use = {{90, 90, 90, 0, 0}};
    assert_string_equal(warnings(&b, &use), "max_tokens 80 max_duration 80 max_turn_duration 80 ");
    struct history h;
    history_init(&h);
    budget_begin_turn(&b, &h);
    assert_string_equal(warnings(&b, &use), "max_turn_duration 80 ");
}

static void tell_budget(struct history *h, const char *kind, double limit, int percent)
{
    struct event *ev = event_new(EVENT_BUDGET_WARNING);
    ev->seq = h->applied_seq + 1;
    ev->name = mem_strdup(kind);
    ev->bound = limit;
    ev->count = percent;
    history_apply(h, ev);
    event_free(ev);
}

/* The warning counts whichever process gave it. A warning about another limit does not count. */
TEST(what_the_session_was_warned_of_is_not_told_again)
{
    struct budget b = {.limit = {100, 100, 100, 200, 0.5}};
    const struct budget_use use = {{90, 96, 90, 190, 0.45}};
    struct history h, again;
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
    history_release(&again);
    history_release(&h);
}

/* A log may say anything. */
TEST(of_many_kinds_some_are_remembered)
{
    struct history h;
    history_init(&h);
    for (int i = 0; i < 1000; i++) {
        char *kind = support_text("kind %d", i);
        tell_budget(&h, kind, 1, 80);
    }
    assert_int_equal(h.budgets.len, HISTORY_MAX_BUDGETS);
    history_release(&h);
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

/* A sleep until the limit finds it reached, in spite of rounding in the sums. */
TEST(when_the_time_has_passed_the_limit_is_reached)
{
    uint64_t seed = support_seed();
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double limit = (double)(1 + (seed >> 33) % 100000);
        double spent = (double)((seed >> 17) % (uint64_t)(limit * 1000)) / 1000;
        const struct budget b = limit_of(BUDGET_DURATION, limit);
        struct budget_use use = use_of(BUDGET_DURATION, spent);
        int64_t left = budget_time_left_ms(&b, &use);
        assert_true(left > 0);
        assert_true(budget_allows(&b, &use, NULL));
        use.used[BUDGET_DURATION] = spent + (double)left / 1000;
        assert_int_equal(budget_time_left_ms(&b, &use), 0);
        assert_false(budget_allows(&b, &use, NULL));
    }
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
