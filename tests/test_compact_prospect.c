/* Whether a compaction is worthwhile, and which setting prevents it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compact/mode.h"
#include "tests/conversation.h"
#include "tests/suite.h"
#include "tests/support.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct place {
    struct conversation c;
    struct compact_settings s;
    struct compact_limits limits;
} p;

static int setup(void **state)
{
    (void)state;
    struct compact_warnings w;
    struct config *config = config_new();
    p = (struct place){.limits = {.window = 0}};
    compact_settings_read(&p.s, config, &w);
    config_free(config);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    conversation_release(&p.c);
    return 0;
}

/* --- worth or not ---------------------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(the_table_holds)
{
    static const struct {
        const char *what;
        int64_t window;
        struct compact_prospect p;
        bool expected;
    } rows[] = {
        {"a tenth below", 0, {.before = 100000, .after = 90000, .for_history = true}, true},
        {"less", 0, {.before = 100000, .after = 90001, .for_history = true}, false},
        {"a third, but not below",
         0,
         {.before = 150000, .after = 99000, .for_history = true},
         false},
        {"the server counted more", 0, {.before = 500, .after = 450, .for_history = true}, true},
        {"less than a tenth of it", 0, {.before = 500, .after = 451, .for_history = true}, false},
        {"nothing", 0, {.before = 100000, .after = 100000, .for_history = true}, false},
        {"a wide window", 1000000, {.before = 195007, .after = 191505, .for_history = true}, false},
        /* A window of 1,000 has 875 for requests, and their threshold is 831. */
        {"a request",
         1000,
         {.before = 490, .after = 248, .overhead = 500, .for_request = true},
         true},
        {"less of it",
         1000,
         {.before = 490, .after = 249, .overhead = 500, .for_request = true},
         false},
        {"from beyond the window",
         1000,
         {.before = 500, .after = 499, .overhead = 500, .for_request = true},
         true},
        {"still beyond it",
         1000,
         {.before = 600, .after = 500, .overhead = 500, .for_request = true},
         false},
        {"for the history although the request is beyond",
         1000,
         {.before = 900, .after = 500, .overhead = 500, .for_history = true, .for_request = true},
         true},
        {"for the request although the history stays long",
         1000,
         {.before = 900, .after = 740, .overhead = 1, .for_history = true, .for_request = true},
         true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct compact_limits l = {.window = rows[i].window};
        if (compact_is_worth(&p.s, &l, &rows[i].p) != rows[i].expected)
            fail_msg("%s", rows[i].what);
    }
}

/* --- the remaining history ------------------------------------------------------------------- */

static char *words(size_t bytes)
{
    char *text = mem_alloc(bytes + 1);
    memset(text, 'w', bytes);
    text[bytes] = '\0';
    return support_keep(text);
}

/* Adds this number of turns with messages of this number of bytes. */
static void talk(int turns, size_t bytes)
{
    char *text = words(bytes);
    for (int i = 0; i < turns; i++) {
        conversation_add(&p.c, ROLE_USER, text);
        conversation_add(&p.c, ROLE_ASSISTANT, text);
    }
}

static struct compact_input input(void)
{
    return conversation_input(&p.c, &p.s, compact_threshold(&p.s, &p.limits));
}

static int64_t tokens_from(size_t first)
{
    int64_t tokens = 0;
    for (size_t i = first; i < p.c.estimates.len; i++)
        tokens += p.c.estimates.items[i];
    return tokens;
}

static int64_t foreseen(const struct compact_mode *mode)
{
    struct compact_input in = input();
    struct compact_plan plan;
    int64_t tokens = tokens_from(0);
    if (compact_plan_make(mode, &in, &plan))
        tokens = compact_tokens_after(mode, &in, &plan);
    compact_plan_release(&plan);
    return tokens;
}

TEST(a_wide_window_keeps_no_wider_tail)
{
    p.limits.window = 1000000;
    p.s.protect_tail_min = 2;
    p.s.protect_head = 0;
    talk(30, 8000);
    int64_t after = foreseen(&mode_structured);
    assert_true(after > 15000);
    assert_true(after <= 20000 + 30); /* a fifth of 100,000, and a mark */
    assert_true(foreseen(&mode_recency_preserving) <= 20000 + 100);
}

TEST(a_new_summary_counts_as_the_one_before)
{
    p.s.recent_turns = 1;
    talk(3, 400);
    int64_t last_turn = tokens_from(4);
    assert_in_range(foreseen(&mode_handoff), last_turn + 10, last_turn + 30);
    char *text = words(4000);
    conversation_release(&p.c);
    conversation_add(&p.c, ROLE_USER, text);
    vec_last(&p.c.messages).summary = true;
    talk(3, 400);
    conversation_weigh(&p.c);
    last_turn = tokens_from(5);
    assert_in_range(foreseen(&mode_handoff), last_turn + 1000, last_turn + 1040);
}

TEST(what_the_program_writes_is_counted_as_it_is)
{
    struct compact_input in;
    struct compact_plan plan;
    struct rebuild r;
    talk(12, 400);
    in = input();
    assert_true(compact_plan_make(&mode_deterministic, &in, &plan));
    char *text = support_keep(mode_deterministic.text(&in, &plan));
    compact_plan_rebuild(&mode_deterministic, &in, &plan, text, &r);
    assert_int_equal(compact_tokens_after(&mode_deterministic, &in, &plan),
                     rebuild_estimate(&r, in.estimates));
    rebuild_release(&r);
    compact_plan_release(&plan);
}

/* --- the key that helps ---------------------------------------------------------------------- */

static void assert_obstacle(const struct compact_mode *mode, bool for_request, const char *expected)
{
    struct compact_input in = input();
    const struct compact_prospect as_it_is = {.before = tokens_from(0),
                                              .after = tokens_from(0),
                                              .for_history = !for_request,
                                              .for_request = for_request};
    char *text = support_keep(compact_why_not_worth(mode, &in, &p.limits, &as_it_is));
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in \"%s\"", expected, text);
    assert_true(strlen(text) < sizeof((struct error *)0)->text);
}

TEST(the_key_is_named_that_helps)
{
    talk(12, 20000); /* 120,000 tokens */
    assert_obstacle(&mode_structured, false, "lower [compaction] protect_tail_min");
    p.s.protect_tail_min = 2;
    p.s.tail_ratio = 0.8;
    p.s.protect_head = 4;
    assert_obstacle(&mode_recency_preserving, false, "lower [compaction] tail_budget_ratio");
    p.s.tail_ratio = 0.05;
    p.s.protect_head = 20;
    assert_obstacle(&mode_structured, false, "lower [compaction] protect_head,");
    p.s.protect_tail_min = 20;
    assert_obstacle(&mode_structured, false,
                    "lower [compaction] protect_head and protect_tail_min");
}

TEST(what_has_to_stay_wants_another_threshold_or_model)
{
    talk(12, 20000);
    for (size_t i = 0; i < p.c.messages.len; i++)
        p.c.messages.items[i].pinned = true;
    assert_obstacle(&mode_handoff, false, "raise [compaction] auto_compact_threshold");
    p.limits.window = 100000;
    assert_obstacle(&mode_handoff, false, "larger window");
    p.limits.window = 130000;
    assert_obstacle(&mode_handoff, false, "raise [compaction] auto_compact_threshold");
    assert_obstacle(&mode_handoff, true, "larger window");
}
