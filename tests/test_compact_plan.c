/* What goes and what stays, mode by mode, and the messages that come of it. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/mode.h"
#include "compact/plan.h"
#include "compact/shorten.h"
#include "tests/conversation.h"
#include "tests/suite.h"
#include "tests/support.h"

struct place {
    struct conversation c;
    struct compact_settings s;
    int64_t threshold, fit;
};

static int setup(void **state)
{
    struct place *p = mem_alloc(sizeof *p);
    struct compact_warnings w;
    struct config *config = config_new();
    compact_settings_read(&p->s, config, &w);
    config_free(config);
    p->threshold = 100000;
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    conversation_release(&p->c);
    free(p);
    return 0;
}

static struct compact_input input_of(const struct place *p)
{
    struct compact_input in = conversation_input(&p->c, &p->s, p->threshold);
    in.fit = p->fit;
    return in;
}

static size_t say(struct place *p, enum role role, const char *text)
{
    return conversation_add(&p->c, role, text);
}

static void turn(struct place *p, const char *question, const char *answer)
{
    say(p, ROLE_USER, question);
    say(p, ROLE_ASSISTANT, answer);
}

/* A call and its result, "[id] (id)" in a sketch. */
static void work(struct place *p, const char *id, const char *result)
{
    say(p, ROLE_ASSISTANT, NULL);
    conversation_call(&p->c, id, "read_file", "{}");
    say(p, ROLE_TOOL, NULL);
    conversation_result(&p->c, id, result);
}

static void summary(struct place *p, const char *text)
{
    say(p, ROLE_USER, text);
    vec_last(&p->c.messages).summary = true;
}

static void runs_from(struct place *p, size_t question)
{
    p->c.open = question;
}

static char *repeated(const char *piece, size_t bytes)
{
    struct buf out = BUF_INIT;
    while (out.len + strlen(piece) <= bytes)
        buf_addstr(&out, piece);
    return support_keep(buf_take(&out));
}

/* The indices that go, as "0 1 4". */
static void assert_goes(const struct place *p, const struct compact_mode *mode,
                        const char *expected)
{
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    struct buf gone = BUF_INIT;
    bool any = compact_plan_make(mode, &in, &plan);
    for (size_t i = 0; i < plan.fates.len; i++)
        if (plan.fates.items[i] == FATE_GOES)
            buf_addf(&gone, "%s%zu", gone.len > 0 ? " " : "", i);
    assert_string_equal(gone.data, expected);
    assert_int_equal(plan.gone > 0, *expected != '\0');
    assert_int_equal(plan.fates.len, in.count);
    if (*expected)
        assert_true(any);
    buf_release(&gone);
    compact_plan_release(&plan);
}

static void assert_nothing_goes(const struct place *p, const struct compact_mode *mode)
{
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    assert_false(compact_plan_make(mode, &in, &plan));
    assert_int_equal(plan.gone, 0);
    for (size_t i = 0; i < plan.fates.len; i++)
        assert_int_equal(plan.fates.items[i], FATE_STAYS);
    compact_plan_release(&plan);
}

/* The history afterwards; "new" is the summary of a model. */
static void assert_becomes(const struct place *p, const struct compact_mode *mode,
                           const char *expected)
{
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    struct rebuild r;
    struct conversation after;
    assert_true(compact_plan_make(mode, &in, &plan));
    char *text = support_keep(plan.gone == 0 ? NULL
                              : mode->text   ? mode->text(&in, &plan)
                                             : mem_strdup("new"));
    compact_plan_rebuild(mode, &in, &plan, text, &r);
    conversation_rebuilt(&p->c, &r, &after);
    char *sketch = support_keep(conversation_sketch(&after));
    char *fault = conversation_fault(&after);
    assert_string_equal(sketch, expected);
    assert_null(fault);
    conversation_release(&after);
    rebuild_release(&r);
    compact_plan_release(&plan);
}

/* --- handoff -----------------------------------------------------------------------------------
 */

static void four_turns(struct place *p)
{
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    turn(p, "t3", "a3");
    turn(p, "t4", "a4");
}

FIXTURE(setup, teardown);

TEST(check_2_recent_turns_stay)
{
    struct place *p = *state;
    four_turns(p);
    p->s.recent_turns = 2;
    assert_goes(p, &mode_handoff, "0 1 2 3");
    assert_becomes(p, &mode_handoff, "S:new u:t3 a:a3 u:t4 a:a4");
}

TEST(check_3_the_oldest_turn_always_goes)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    turn(p, "t3", "a3");
    p->s.recent_turns = 10;
    assert_goes(p, &mode_handoff, "0 1");
}

TEST(check_4_an_earlier_summary_goes_into_the_new_one)
{
    struct place *p = *state;
    summary(p, "old");
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    p->s.recent_turns = 1;
    assert_goes(p, &mode_handoff, "0 1 2");
    assert_becomes(p, &mode_handoff, "S:new u:t2 a:a2");
}

TEST(check_5_a_turn_too_large_is_summarised)
{
    struct place *p = *state;
    char *large = repeated("x", 200000);
    turn(p, "t1", "a1");
    say(p, ROLE_USER, "t2");
    work(p, "c", large);
    say(p, ROLE_ASSISTANT, "a2");
    assert_goes(p, &mode_handoff, "0 1 2 3 4 5");
}

TEST(what_is_kept_begins_behind_the_newest_large_turn)
{
    struct place *p = *state;
    char *large = repeated("x", 2000);
    p->threshold = 900;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    turn(p, "t3", large);
    turn(p, "t4", "a4");
    assert_goes(p, &mode_handoff, "0 1 2 3 4 5");
    p->threshold = 2000;
    assert_goes(p, &mode_handoff, "0 1");
}

TEST(a_turn_of_half_the_threshold_is_kept)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    int64_t tokens = p->c.estimates.items[2] + p->c.estimates.items[3];
    p->threshold = tokens * 2;
    assert_goes(p, &mode_handoff, "0 1");
    p->threshold = tokens * 2 - 1;
    assert_goes(p, &mode_handoff, "0 1 2 3");
}

TEST(kept_turns_leave_room_below_the_threshold)
{
    struct place *p = *state;
    four_turns(p);
    int64_t tokens = p->c.estimates.items[6] + p->c.estimates.items[7];
    p->threshold = tokens * 4; /* three of them are three quarters */
    assert_goes(p, &mode_handoff, "0 1");
    p->threshold = tokens * 4 - 1;
    assert_goes(p, &mode_handoff, "0 1 2 3");
}

/* Oldest first behind the gap, results with their call, then the head; never what is held. */
TEST(what_must_fit_lets_more_go)
{
    struct place *p = *state;
    four_turns(p);
    p->s.protect_head = 1;
    p->s.protect_tail_min = 7;
    assert_nothing_goes(p, &mode_recency_preserving);
    const int64_t *e = p->c.estimates.items;
    p->fit = e[0] + e[6] + e[7];
    assert_goes(p, &mode_recency_preserving, "1 2 3 4 5");
    p->fit = e[7];
    assert_goes(p, &mode_recency_preserving, "1 2 3 4 5 6 7");
    p->fit = 1;
    assert_goes(p, &mode_recency_preserving, "0 1 2 3 4 5 6 7");
}

TEST(budget_0_leaves_the_summary_alone)
{
    struct place *p = *state;
    four_turns(p);
    p->s.recent_turns = 0;
    assert_becomes(p, &mode_handoff, "S:new");
    runs_from(p, say(p, ROLE_USER, "now"));
    assert_becomes(p, &mode_handoff, "S:new u:now");
}

TEST(the_running_turn_is_kept_besides)
{
    struct place *p = *state;
    four_turns(p);
    p->s.recent_turns = 1;
    runs_from(p, say(p, ROLE_USER, "now"));
    size_t open = p->c.open;
    work(p, "c", "small");
    runs_from(p, open);
    assert_becomes(p, &mode_handoff, "S:new u:t4 a:a4 u:now a:[c] t:(c)");
}

TEST(running_work_too_large_is_summarised)
{
    struct place *p = *state;
    char *large = repeated("x", 2500);
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    size_t open = say(p, ROLE_USER, "now");
    work(p, "c", large);
    runs_from(p, open);
    p->threshold = 1000;
    assert_becomes(p, &mode_handoff, "S:new u:t2 a:a2 u:now");
}

TEST(running_work_goes_if_it_is_all_there_is)
{
    struct place *p = *state;
    size_t open = say(p, ROLE_USER, "now");
    runs_from(p, open);
    assert_nothing_goes(p, &mode_handoff);
    work(p, "c", "small");
    runs_from(p, open);
    assert_becomes(p, &mode_handoff, "u:now S:new");
}

/* The model has not seen the results of its newest calls yet. */
TEST(the_newest_rounds_of_running_work_are_kept)
{
    struct place *p = *state;
    char *result = repeated("x", 800); /* 240 tokens a round */
    turn(p, "t1", "a1");
    size_t open = say(p, ROLE_USER, "now");
    work(p, "a", result);
    work(p, "b", result);
    work(p, "c", result);
    runs_from(p, open);
    p->threshold = 1000;
    assert_goes(p, &mode_handoff, "0 1 3 4");
    p->threshold = 900;
    assert_goes(p, &mode_handoff, "0 1 3 4 5 6");
    p->threshold = 400;
    assert_goes(p, &mode_handoff, "0 1 3 4 5 6 7 8");
    p->threshold = 1500;
    assert_goes(p, &mode_handoff, "0 1");
}

TEST(without_other_turns_the_oldest_round_goes)
{
    struct place *p = *state;
    size_t open = say(p, ROLE_USER, "now");
    work(p, "a", "small");
    work(p, "b", "small");
    runs_from(p, open);
    assert_becomes(p, &mode_handoff, "u:now S:new a:[b] t:(b)");
    conversation_release(&p->c);
    open = say(p, ROLE_USER, "now");
    summary(p, "of rounds before");
    work(p, "c", "small");
    work(p, "d", "small");
    runs_from(p, open);
    assert_becomes(p, &mode_handoff, "u:now S:new a:[d] t:(d)");
}

TEST(results_that_nobody_has_seen_stay)
{
    struct place *p = *state;
    char *large = repeated("x", 2500);
    static const struct compact_mode *const modes[] = {&mode_deterministic, &mode_llm_replace};
    turn(p, "t1", "a1");
    size_t open = say(p, ROLE_USER, "now");
    work(p, "a", "small");
    work(p, "b", "small");
    runs_from(p, open);
    for (size_t i = 0; i < 2; i++)
        assert_goes(p, modes[i], "0 1 3 4");
    assert_becomes(p, &mode_llm_replace, "S:new u:now a:[b] t:(b)");
    p->threshold = 1000; /* they are most of it */
    work(p, "c", large);
    runs_from(p, open);
    for (size_t i = 0; i < 2; i++)
        assert_goes(p, modes[i], "0 1 3 4 5 6 7 8");
    p->threshold = 100000;
    say(p, ROLE_ASSISTANT, "seen");
    runs_from(p, open);
    for (size_t i = 0; i < 2; i++)
        assert_goes(p, modes[i], "0 1 3 4 5 6 7 8 9");
}

TEST(kept_turns_and_rounds_share_three_quarters)
{
    struct place *p = *state;
    char *result = repeated("x", 800);
    turn(p, "t1", "a1");
    turn(p, "t2", result);
    turn(p, "t3", result);
    size_t open = say(p, ROLE_USER, "now");
    work(p, "a", result);
    work(p, "b", result);
    runs_from(p, open);
    p->threshold = 1100; /* half of it is for rounds, three quarters for all */
    assert_goes(p, &mode_handoff, "0 1 2 3");
}

TEST(remains_of_a_turn_are_no_turn)
{
    struct place *p = *state;
    summary(p, "old");
    say(p, ROLE_USER, "pin");
    p->c.messages.items[1].pinned = true;
    turn(p, "t3", "a3");
    turn(p, "t4", "a4");
    p->s.recent_turns = 10;
    assert_becomes(p, &mode_handoff, "S:new u^:pin u:t4 a:a4");
}

TEST(a_summary_of_a_summary_alone_is_none)
{
    struct place *p = *state;
    for (const struct compact_mode *const *m = compact_modes; *m; m++)
        assert_nothing_goes(p, *m);
    summary(p, "old");
    say(p, ROLE_USER, "pin");
    p->c.messages.items[1].pinned = true;
    runs_from(p, say(p, ROLE_USER, "now"));
    for (const struct compact_mode *const *m = compact_modes; *m; m++)
        assert_nothing_goes(p, *m);
}

/* --- head, middle and tail ---------------------------------------------------------------------
 */

static void five_turns(struct place *p)
{
    four_turns(p);
    turn(p, "t5", "a5");
}

#define MARK_6 "S:[Context compacted] 6 earlier messages were dropped: 3 user, 3 assistant, 0 tool."

TEST(check_8_a_mark_says_how_many_went)
{
    struct place *p = *state;
    five_turns(p);
    p->s.protect_head = p->s.protect_tail_min = 2;
    p->threshold = 1;
    assert_becomes(p, &mode_recency_preserving, "u:t1 a:a1 " MARK_6 " u:t5 a:a5");
}

TEST(check_9_structured_cuts_where_recency_does)
{
    struct place *p = *state;
    five_turns(p);
    p->s.protect_head = p->s.protect_tail_min = 2;
    p->threshold = 1;
    assert_goes(p, &mode_structured, "2 3 4 5 6 7");
    assert_becomes(p, &mode_structured, "u:t1 a:a1 S:new u:t5 a:a5");
    p->c.messages.items[2].summary = true;
    assert_goes(p, &mode_structured, "2 3 4 5 6 7");
}

TEST(the_tail_takes_what_its_budget_allows)
{
    struct place *p = *state;
    five_turns(p);
    p->s.protect_head = 1;
    p->s.protect_tail_min = 1;
    p->s.tail_ratio = 0.5;
    int64_t tokens = 0;
    for (size_t i = 6; i < 10; i++)
        tokens += p->c.estimates.items[i];
    p->threshold = tokens * 2;
    assert_goes(p, &mode_structured, "1 2 3 4 5");
    p->threshold--;
    assert_goes(p, &mode_structured, "1 2 3 4 5 6");
    p->s.protect_tail_min = 7; /* the floor holds whatever the budget */
    assert_goes(p, &mode_structured, "1 2");
    p->s.protect_tail_min = 0;
    p->threshold = 1;
    assert_goes(p, &mode_structured, "1 2 3 4 5 6 7 8"); /* never empty */
}

TEST(borders_do_not_part_calls_from_results)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    work(p, "c", "r");
    turn(p, "t2", "a2");
    say(p, ROLE_USER, "t3");
    work(p, "d", "r");
    p->threshold = 1;
    p->s.protect_head = 2;
    p->s.protect_tail_min = 1;
    assert_goes(p, &mode_structured, "3 4 5");
    assert_becomes(p, &mode_structured, "u:t1 a:[c] t:(c) S:new a:[d] t:(d)");
}

TEST(the_head_ends_before_an_earlier_summary)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    summary(p, "old");
    four_turns(p);
    p->threshold = 1;
    p->s.protect_head = 5;
    p->s.protect_tail_min = 2;
    assert_goes(p, &mode_structured, "2 3 4 5 6 7 8");
    assert_becomes(p, &mode_structured, "u:t1 a:a1 S:new u:t4 a:a4");
}

TEST(a_summary_that_went_leaves_no_two_answers_in_a_row)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    summary(p, "old");
    say(p, ROLE_ASSISTANT, "a9");
    turn(p, "t10", "a10");
    p->s.recent_turns = 9;
    assert_becomes(p, &mode_handoff, "S:new a:a9 u:t10 a:a10");
    p->threshold = 1;
    p->s.protect_head = 0;
    p->s.protect_tail_min = 5;
    assert_becomes(p, &mode_structured, "S:new a:a9 u:t10 a:a10");
}

TEST(marks_add_up)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    summary(p, "[Context compacted] 6 earlier messages were dropped: 3 user, 2 assistant, 1 tool.");
    five_turns(p);
    p->threshold = 1;
    p->s.protect_head = p->s.protect_tail_min = 2;
    assert_becomes(p, &mode_recency_preserving,
                   "u:t1 a:a1 S:[Context compacted] 14 earlier messages were dropped: 7 user, "
                   "6 assistant, 1 tool. u:t5 a:a5");
}

TEST(numbers_that_nobody_counted_are_not_added)
{
    struct place *p = *state;
    summary(p,
            "[Context compacted] 1 earlier message was dropped: 9999999999 user, 0 assistant, "
            "0 tool.");
    turn(p, "t1", "a1");
    p->threshold = 1;
    p->s.protect_tail_min = 1;
    p->s.protect_head = 0;
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    assert_true(compact_plan_make(&mode_recency_preserving, &in, &plan));
    char *text = support_keep(mode_recency_preserving.text(&in, &plan));
    static const char begin[] = "[Context compacted] 1 earlier message was dropped: 1 user, ";
    assert_memory_equal(text, begin, strlen(begin));
    compact_plan_release(&plan);
}

TEST(a_mark_carries_what_a_summary_said)
{
    struct place *p = *state;
    summary(p, "[Context compacted]\n\nWe build a boat.");
    five_turns(p);
    p->threshold = 1;
    p->s.protect_head = 0;
    p->s.protect_tail_min = 9;
    assert_becomes(p, &mode_recency_preserving,
                   "S:[Context compacted] 1 earlier message was dropped: 1 user, 0 assistant, "
                   "0 tool.\n\n## Earlier highlights\n\nWe build a boat. a:a1 u:t2 a:a2 u:t3 a:a3 "
                   "u:t4 a:a4 u:t5 a:a5");
}

/* --- pruning and micro-compaction --------------------------------------------------------------
 */

/* The text of the only result in the message at `i` after a rebuild. */
static char *result_after(const struct place *p, const struct rebuild *r, size_t i)
{
    struct conversation after;
    conversation_rebuilt(&p->c, r, &after);
    assert_true(i < after.messages.len);
    const struct message *m = &after.messages.items[i];
    assert_int_equal(m->role, ROLE_TOOL);
    char *text = mem_strdup(m->blocks.items[0].text);
    conversation_release(&after);
    return support_keep(text);
}

static void assert_pruned(const struct place *p, size_t i, const char *expected)
{
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    struct rebuild r;
    assert_true(compact_plan_make(&mode_recency_preserving, &in, &plan));
    assert_int_equal(plan.gone, 0);
    compact_plan_rebuild(&mode_recency_preserving, &in, &plan, NULL, &r);
    char *text = result_after(p, &r, i);
    assert_string_equal(text, expected);
    rebuild_release(&r);
    compact_plan_release(&plan);
}

static void one_result(struct place *p, const char *result)
{
    say(p, ROLE_USER, "t1");
    work(p, "c", result);
    turn(p, "t2", "a2");
}

TEST(where_all_is_kept_results_are_pruned)
{
    struct place *p = *state;
    char *text = repeated("x", 201);
    one_result(p, text);
    assert_pruned(p, 2, "[tool result of 201 bytes left out]");
}

TEST(characters_count_not_bytes)
{
    struct place *p = *state;
    char *text = repeated("é", 400);
    one_result(p, text);
    assert_nothing_goes(p, &mode_recency_preserving);
    p->s.prune_chars = 199;
    assert_pruned(p, 2, "[tool result of 400 bytes left out]");
}

TEST(what_cannot_be_pruned_is_too_small)
{
    struct place *p = *state;
    char *text = repeated("x", 200);
    one_result(p, text);
    assert_nothing_goes(p, &mode_recency_preserving);
    assert_nothing_goes(p, &mode_structured);
    p->s.prune_chars = 0;
    conversation_release(&p->c);
    one_result(p, "[tool result of 2000 bytes left out]"); /* once is enough */
    assert_nothing_goes(p, &mode_recency_preserving);
}

TEST(the_newest_turn_is_not_pruned)
{
    struct place *p = *state;
    char *text = repeated("x", 20000);
    turn(p, "t1", "a1");
    size_t open = say(p, ROLE_USER, "t2");
    work(p, "c", text);
    assert_nothing_goes(p, &mode_recency_preserving);
    runs_from(p, open);
    assert_nothing_goes(p, &mode_recency_preserving);
    struct compact_input in = input_of(p);
    assert_false(compact_micro_useful(&in));
}

TEST(micro_keeps_the_first_bytes)
{
    struct place *p = *state;
    char *text = repeated("e\xCC\x81", 10002); /* three bytes a grapheme */
    one_result(p, text);
    struct compact_input in = input_of(p);
    struct rebuild r;
    assert_true(compact_micro_useful(&in));
    assert_true(compact_micro(&in, &r));
    assert_int_equal(rebuild_count(&r), in.count);
    assert_int_equal(rebuild_rewritten(&r), 1);
    char *shorter = result_after(p, &r, 2);
    assert_memory_equal(shorter, text, 999);
    assert_string_equal(shorter + 999, "\n[cut: the first 999 of 10002 bytes]");
    rebuild_release(&r);
}

TEST(micro_leaves_what_is_short_enough)
{
    struct place *p = *state;
    char *text = repeated("x", 10000);
    one_result(p, text);
    struct compact_input in = input_of(p);
    struct rebuild r;
    assert_false(compact_micro_useful(&in));
    assert_false(compact_micro(&in, &r));
    assert_int_equal(r.parts.len, 0);
}

TEST(micro_is_enough_at_the_target_and_below_the_threshold)
{
    struct place *p = *state;
    struct compact_input in = input_of(p);
    in.threshold = 1000;
    assert_true(compact_micro_enough(&in, 1600, 800));
    assert_false(compact_micro_enough(&in, 1600, 801));
    assert_true(compact_micro_enough(&in, 9000, 999));
    assert_false(compact_micro_enough(&in, 9000, 1000));
    assert_true(compact_micro_enough(&in, 0, 500));
    assert_false(compact_micro_enough(&in, 0, 501));
}

/* --- pins --------------------------------------------------------------------------------------
 */

TEST(pins_stay_behind_the_summary)
{
    struct place *p = *state;
    four_turns(p);
    p->c.messages.items[2].pinned = p->c.messages.items[5].pinned = true;
    p->s.recent_turns = 1;
    assert_becomes(p, &mode_handoff, "S:new u^:t2 a^:a3 u:t4 a:a4");
    assert_becomes(p, &mode_llm_replace, "S:new u^:t2 a^:a3");
}

TEST(a_pinned_answer_keeps_its_words)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    say(p, ROLE_ASSISTANT, "words");
    conversation_call(&p->c, "c", "read_file", "{}");
    p->c.messages.items[1].pinned = true;
    say(p, ROLE_TOOL, NULL);
    conversation_result(&p->c, "c", "r");
    turn(p, "t2", "a2");
    assert_becomes(p, &mode_handoff, "S:new a^:words u:t2 a:a2");
    p->s.protect_head = 2;
    p->s.protect_tail_min = 1;
    p->threshold = 1;
    assert_becomes(p, &mode_structured, "u:t1 a^:words,[c] t:(c) S:new a:a2");
}

TEST(pinned_calls_without_words_keep_their_results)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    work(p, "c", "r");
    p->c.messages.items[1].pinned = true;
    turn(p, "t2", "a2");
    assert_becomes(p, &mode_llm_replace, "S:new a^:[c] t:(c)");
}

TEST(a_summary_within_a_turn_begins_none)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    say(p, ROLE_USER, "t2");
    summary(p, "old");
    vec_last(&p->c.messages).turn--;
    say(p, ROLE_ASSISTANT, "a2");
    turn(p, "t3", "a3");
    p->s.recent_turns = 2;
    assert_becomes(p, &mode_handoff, "S:new u:t2 a:a2 u:t3 a:a3");
}

TEST(a_turn_without_its_question_is_one)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    summary(p, "old");
    say(p, ROLE_ASSISTANT, "a9");
    vec_last(&p->c.messages).turn = 9;
    turn(p, "t10", "a10");
    p->s.recent_turns = 2;
    assert_becomes(p, &mode_handoff, "S:new a:a9 u:t10 a:a10");
}

TEST(a_pin_may_stand_before_an_answer)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    vec_last(&p->c.messages).pinned = true;
    summary(p, "old");
    say(p, ROLE_ASSISTANT, "a9");
    turn(p, "t10", "a10");
    p->s.recent_turns = 9;
    assert_becomes(p, &mode_handoff, "S:new u:t2 a^:a2 a:a9 u:t10 a:a10");
}

TEST(a_mode_that_does_not_prune_has_nothing_to_do)
{
    struct place *p = *state;
    char *text = repeated("x", 2000);
    say(p, ROLE_USER, "t1");
    p->c.messages.items[0].pinned = true;
    work(p, "c", text);
    p->c.messages.items[1].pinned = true;
    runs_from(p, say(p, ROLE_USER, "now"));
    assert_nothing_goes(p, &mode_deterministic);
    assert_nothing_goes(p, &mode_handoff);
    assert_pruned(p, 2, "[tool result of 2000 bytes left out]");
}

TEST(a_pinned_answer_keeps_its_images)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    work(p, "c", "r");
    struct message *m = &p->c.messages.items[1];
    m->pinned = true;
    vec_push(&m->blocks, (struct block){.type = BLOCK_IMAGE, .text = mem_strdup("cat.png")});
    turn(p, "t2", "a2");
    assert_becomes(p, &mode_llm_replace, "S:new a^:<cat.png>");
}

TEST(what_came_without_pairs_leaves_with_them)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    say(p, ROLE_USER, "t2");
    say(p, ROLE_ASSISTANT, NULL);
    conversation_call(&p->c, "c", "read_file", "{}");
    assert_becomes(p, &mode_handoff, "S:new u:t2 a:[c] t:(c)");
}

/* Without a text nothing stands for what went, unless an answer would come first. */
static void assert_without_text(const struct place *p, const char *expected)
{
    struct compact_input in = input_of(p);
    struct compact_plan plan;
    struct rebuild r;
    struct conversation after;
    assert_true(compact_plan_make(&mode_structured, &in, &plan));
    compact_plan_rebuild(&mode_structured, &in, &plan, NULL, &r);
    conversation_rebuilt(&p->c, &r, &after);
    char *sketch = support_keep(conversation_sketch(&after));
    assert_string_equal(sketch, expected);
    conversation_release(&after);
    rebuild_release(&r);
    compact_plan_release(&plan);
}

TEST(the_user_comes_first_without_a_text_too)
{
    struct place *p = *state;
    turn(p, "t1", "a1");
    turn(p, "t2", "a2");
    p->threshold = 1;
    p->s.protect_tail_min = 1;
    p->s.protect_head = 2;
    assert_without_text(p, "u:t1 a:a1 a:a2");
    p->s.protect_head = 0;
    assert_without_text(p, "S:[Context compacted] a:a2");
}

/* --- pairs -------------------------------------------------------------------------------------
 */

static char *repaired(const struct place *p)
{
    struct rebuild r = {.parts = {0}};
    struct conversation after;
    rebuild_keep(&r, 0, p->c.messages.len);
    compact_repair_pairs(p->c.messages.items, &r);
    conversation_rebuilt(&p->c, &r, &after);
    char *fault = conversation_fault(&after);
    char *sketch = conversation_sketch(&after);
    assert_null(fault);
    conversation_release(&after);
    rebuild_release(&r);
    return support_keep(sketch);
}

static void assert_repaired(const struct place *p, const char *expected)
{
    char *sketch = repaired(p);
    assert_string_equal(sketch, expected);
}

TEST(what_is_paired_is_left_alone)
{
    struct place *p = *state;
    struct rebuild r = {.parts = {0}};
    say(p, ROLE_USER, "t1");
    work(p, "c", "r");
    turn(p, "t2", "a2");
    rebuild_keep(&r, 0, 5);
    compact_repair_pairs(p->c.messages.items, &r);
    assert_int_equal(r.parts.len, 1);
    assert_int_equal(r.parts.items[0].count, 5);
    rebuild_release(&r);
}

TEST(calls_without_results_get_one)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    say(p, ROLE_ASSISTANT, NULL);
    conversation_call(&p->c, "c", "f", "{}");
    conversation_call(&p->c, "d", "f", "{}");
    assert_repaired(p, "u:t1 a:[c],[d] t:(c),(d)");
    turn(p, "t2", "a2");
    assert_repaired(p, "u:t1 a:[c],[d] t:(c),(d) u:t2 a:a2");
}

TEST(some_results_are_completed)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    say(p, ROLE_ASSISTANT, NULL);
    conversation_call(&p->c, "c", "f", "{}");
    conversation_call(&p->c, "c", "f", "{}");
    conversation_call(&p->c, "d", "f", "{}");
    say(p, ROLE_TOOL, NULL);
    conversation_result(&p->c, "c", "r");
    conversation_result(&p->c, "gone", "r");
    assert_repaired(p, "u:t1 a:[c],[c],[d] t:(c),(c),(d)");
}

TEST(results_without_calls_are_removed)
{
    struct place *p = *state;
    say(p, ROLE_USER, "t1");
    say(p, ROLE_TOOL, NULL);
    conversation_result(&p->c, "c", "r");
    say(p, ROLE_ASSISTANT, "a1");
    say(p, ROLE_TOOL, NULL);
    conversation_result(&p->c, "c", "r");
    work(p, "d", "r");
    conversation_result(&p->c, "d", "twice");
    assert_repaired(p, "u:t1 a:a1 a:[d] t:(d)");
}
