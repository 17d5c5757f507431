/* Compaction in the turn loop: its conditions, its costs, and the effects of its failures on a
 * turn. */
#include "base/clock.h"
#include "compact/mode.h"
#include "play.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define SUMMARY "What was said so far, in short."

static int count(enum event_type type)
{
    int n = 0;
    while (play_event(type, n))
        n++;
    return n;
}

static const char words[] =
    "word word word word word word word word word word word word word word word word word word "
    "word word word word word word word word word word word word word word word word word word "
    "word word word word word word word word word word word word word word word word word word";

/* Adds this number of complete turns of words. */
static void talk(int turns)
{
    const struct act answer = {.text = words};
    for (int i = 0; i < turns; i++)
        assert_true(play_run(&answer, 1, words, &(struct error){0}));
}

static int64_t tools_tokens(void)
{
    struct agent a = {.offer = play.offer,
                      .tools = &play.tools,
                      .policy = &play.policy,
                      .history = &play.history};
    return agent_request_estimate(&a) - play.history.estimate;
}

/* Compacts at the next call whose history has this number of tokens. */
static void compact_from(int64_t threshold)
{
    play.compacts = true;
    play.compact.auto_threshold = threshold;
    play.compact.recent_turns = 1;
}

/* The next call compacts. */
static void talk_to_threshold(int turns)
{
    talk(turns);
    compact_from(play.history.estimate);
}

static char *history_text(void)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < play.history.messages.len; i++) {
        AUTO(json_free_local)
        struct json *v = shape_to_json(&message_shape, &play.history.messages.items[i]);
        buf_addf(&out, "%s\n", support_keep(json_print(v)));
    }
    return support_keep(buf_take(&out));
}

/* --- when ------------------------------------------------------------------------------------ */

FIXTURE(play_setup, play_teardown);

TEST(it_happens_at_the_threshold)
{
    talk_to_threshold(3);
    PLAY({.text = SUMMARY}, {.text = "on we go"});
    assert_int_equal(play.summaries, 1);
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 1);
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 0)->compaction.trigger, "estimate");
    assert_non_null(strstr(play_event(EVENT_COMPACTION_COMPLETED, 0)->text, SUMMARY));
    /* summary, last turn, the question */
    assert_int_equal(play.last_message_count, 4);
    assert_true(play.history.messages.items[0].summary);
    assert_string_equal(play_last()->text, "on we go");
    assert_true(strstr(play.trail.data, "compaction_completed turn_started") != NULL);
    play_check_history();
}

TEST(what_the_server_counted_triggers)
{
    talk(2);
    compact_from(50000);
    PLAY({.text = "much", .input = 50000});
    PLAY({.text = SUMMARY}, {.text = "on we go"});
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 0)->compaction.trigger,
                        "input_tokens");
    assert_int_equal(play_event(EVENT_COMPACTION_STARTED, 0)->compaction.input_tokens, 50000);
}

static void write_big(void)
{
    char big[4001];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    support_write(support_path("big.txt"), big);
}

#define READ_BIG                                                                                   \
    {                                                                                              \
        .tool = "read_file", .args = "{\"path\":\"big.txt\"}", .stop = STOP_TOOL_USE               \
    }

/* Every message has a thousand tokens or more; the calls are in the first turn and in a later
 * one. */
TEST(a_turn_of_many_calls_compacts_on_its_way)
{
    for (int before = 0; before <= 2; before += 2) {
        write_big();
        talk(before);
        compact_from(3000);
        PLAY(READ_BIG, READ_BIG, READ_BIG, {.text = SUMMARY}, READ_BIG, READ_BIG, READ_BIG,
             {.text = SUMMARY}, READ_BIG, {.text = "done"});
        assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 2);
        for (int i = 0; i < 2; i++)
            assert_true(play_event(EVENT_COMPACTION_STARTED, i)->compaction.estimate < 5000);
        assert_true(play.history.estimate < 3000);
        assert_string_equal(play_last()->text, "done");
        play_check_history();
        play_teardown(NULL);
        play_setup(NULL);
    }
}

/* Attempts are three model calls apart, however far the history is above the threshold. */
TEST(the_guard_counts_calls)
{
    bool asked[8];
    talk(1);
    compact_from(100);
    for (int i = 0; i < 8; i++) {
        int before = play.summaries;
        const struct act acts[] = {{.text = SUMMARY}, {.text = "on", .input = 1000}};
        bool due = i % 3 == 0;
        assert_true(play_run(due ? acts : acts + 1, due ? 2 : 1, "a question of some length",
                             &(struct error){0}));
        asked[i] = play.summaries > before;
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(asked[i], i % 3 == 0);
}

TEST(a_request_that_cannot_fit_passes_the_guard_once_a_turn)
{
    talk(6);
    compact_from(1000000);
    play.window = 480;
    play.compact.auto_threshold = play.history.estimate;
    PLAY({.text = SUMMARY}, {.text = "one"});
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 1);
    /* The guard holds, but the request, with tools and all, is longer than the window. */
    assert_true(agent_max_output(0, 0, 480, false) > 0);
    PLAY({.text = SUMMARY}, {.text = "two"});
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 1)->compaction.trigger, "request");
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 2);
}

/* Tools and the newest messages fit, all that was said before does not. */
static void begin_beyond_the_window(void)
{
    write_big();
    talk(6);
    compact_from(1000000);
    play.compact.max_summary_tokens = 64;
    play.window = tools_tokens() + 700;
    play.compact.auto_threshold = play.history.estimate;
}

/* However often the turn calls the model. */
TEST(without_making_room_the_guard_is_passed_once)
{
    begin_beyond_the_window();
    PLAY({.text = ""}, READ_BIG, {.text = ""}, READ_BIG, {.text = "done"});
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 2); /* by the threshold, and past the guard */
    assert_int_equal(count(EVENT_COMPACTION_FAILED), 2);
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 1)->compaction.trigger, "request");
    assert_string_equal(play_last()->text, "done");
}

/* Each tool result may fill the window anew, so the guard allows another compaction. */
TEST(while_it_makes_room_the_guard_is_passed_again)
{
    begin_beyond_the_window();
    PLAY({.text = SUMMARY}, READ_BIG, {.text = SUMMARY}, READ_BIG, {.text = SUMMARY},
         {.text = "done"});
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 3);
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 2)->compaction.trigger, "request");
    assert_string_equal(play_last()->text, "done");
}

/* A history that did become shorter is no room yet: or each call of a long turn would cost two. */
TEST(a_request_that_still_does_not_fit_is_sent_as_it_is)
{
    begin_beyond_the_window();
    /* An eighth of it is for the answer: the rest is less than the tools take. */
    play.window = tools_tokens() * 9 / 8;
    play.compact.max_summary_tokens = 4096;
    PLAY({.text = SUMMARY}, READ_BIG, {.text = SUMMARY}, READ_BIG, READ_BIG, {.text = "done"});
    /* by the threshold, and past the guard */
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 2);
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 2);
    assert_string_equal(play_last()->text, "done");
}

/* No tokens are spent and no messages dropped for a call that must fail, neither before nor after
 * its failure. */
TEST(a_message_beyond_the_window_costs_no_summary)
{
    talk(3);
    compact_from(1000000);
    play.window = tools_tokens() + 1500;
    char *before = history_text();
    char *huge = support_text("%08000d", 7);
    const struct act act = {.failure = FAILURE_OVERFLOW};
    assert_true(play_run(&act, 1, huge, &(struct error){0}));
    assert_string_equal(history_text(), before);
    assert_int_equal(play.summaries, 0);
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 0);
    assert_int_equal(play_last()->type, EVENT_TURN_FAILED);
    assert_non_null(strstr(play_event(EVENT_COMPACTION_FAILED, 0)->text, "shorten the message"));
}

/* --- compactions that would free too little -------------------------------------------------- */

TEST(what_frees_too_little_is_not_begun_and_said_once)
{
    talk(3);
    compact_from(play.history.estimate);
    play.compact.mode = compact_mode_find("structured");
    play.compact.protect_tail_min = 20;
    for (int i = 0; i < 3; i++)
        PLAY({.text = "on"});
    assert_int_equal(play.summaries, 0);
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 0);
    assert_int_equal(count(EVENT_COMPACTION_FAILED), 0);
    assert_int_equal(count(EVENT_WARNING), 1);
    assert_string_equal(play_event(EVENT_WARNING, 0)->name, WARNING_NOT_COMPACTED);
    assert_non_null(strstr(play_event(EVENT_WARNING, 0)->text, "[compaction] protect_tail_min"));
}

TEST(an_answer_may_have_what_the_window_has_left)
{
    PLAY({.text = "a"});
    int64_t most = play.last_max_output;
    play.window = tools_tokens() + play.history.estimate + most;
    PLAY({.text = "b"});
    assert_in_range(play.last_max_output, most - 30, most - 1); /* less the new message */
    play.window = tools_tokens() * 16;
    PLAY({.text = "c"});
    assert_int_equal(play.last_max_output, most);
}

/* --- overflow -------------------------------------------------------------------------------- */

TEST(an_overflow_is_compacted_for_and_called_again)
{
    talk(4);
    compact_from(1000000);
    PLAY({.failure = FAILURE_OVERFLOW, .window = 100000}, {.text = SUMMARY}, {.text = "fits"});
    assert_string_equal(play_event(EVENT_COMPACTION_STARTED, 0)->compaction.trigger, "overflow");
    assert_string_equal(play_last()->text, "fits");
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(play.window, 100000);
    play_check_history();
}

TEST(an_overflow_is_compacted_for_exactly_once)
{
    talk(4);
    compact_from(1000000);
    PLAY({.failure = FAILURE_OVERFLOW}, {.text = SUMMARY}, {.failure = FAILURE_OVERFLOW});
    assert_int_equal(play.at, 3);
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 1);
    assert_int_equal(play_last()->type, EVENT_TURN_FAILED);
    assert_non_null(strstr(play_last()->text, "scripted failure"));
}

/* Suspended or not, the summariser is asked once; if it fails, the mode's fallback or the extract
 * makes room, and the failure counts. */
TEST(an_overflow_is_rescued_without_a_summariser)
{
    static const struct {
        const char *mode, *effective;
    } rows[] = {{"handoff", "deterministic"},
                {"llm_replace", "deterministic"},
                {"structured", "recency_preserving"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        talk_to_threshold(8);
        play.compact.mode = compact_mode_find(rows[i].mode);
        play.compact.max_failures = 1;
        play.compact.protect_head = 1;
        play.compact.protect_tail_min = 2;
        PLAY({.failure = FAILURE_QUOTA}, {.text = words});
        assert_true(play.history.compaction.suspended);
        talk(8);
        PLAY({.failure = FAILURE_OVERFLOW}, {.failure = FAILURE_QUOTA}, {.text = "rescued"});
        assert_string_equal(play_last()->text, "rescued");
        int last = count(EVENT_COMPACTION_COMPLETED) - 1;
        const struct event *done = play_event(EVENT_COMPACTION_COMPLETED, last);
        assert_string_equal(done->compaction.effective_mode, rows[i].effective);
        assert_non_null(strstr(done->name, "scripted failure"));
        assert_true(play.history.compaction.suspended);
        play_check_history();
        play_teardown(NULL);
        play_setup(NULL);
    }
}

TEST(an_overflow_without_compaction_fails_the_turn)
{
    talk(4);
    PLAY({.failure = FAILURE_OVERFLOW});
    assert_int_equal(count(EVENT_COMPACTION_STARTED), 0);
    assert_int_equal(play_last()->type, EVENT_TURN_FAILED);
}

/* --- failures -------------------------------------------------------------------------------- */

TEST(check_6_a_failed_summary_costs_the_turn_nothing)
{
    talk_to_threshold(3);
    char *before = history_text();
    PLAY({.failure = FAILURE_QUOTA}, {.text = "all the same"});
    char *after = history_text();
    assert_int_equal(strncmp(after, before, strlen(before)), 0);
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 0);
    assert_string_equal(play_event(EVENT_COMPACTION_FAILED, 0)->compaction.reason, "llm");
    assert_string_equal(play_last()->text, "all the same");
    int calls = play.summaries;
    PLAY({.text = "no second try"});
    assert_int_equal(play.summaries, calls);
}

TEST(what_cannot_be_kept_is_not_compacted)
{
    static const struct {
        enum commit_result result;
        const char *reason;
    } rows[] = {{COMMIT_REFUSED_BY_MEMORY, "memory_indexing"}, {COMMIT_FAILED, "store"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        talk_to_threshold(3);
        play.commit_result = rows[i].result;
        char *before = history_text();
        PLAY({.text = SUMMARY}, {.text = "all the same"});
        char *after = history_text();
        assert_int_equal(strncmp(after, before, strlen(before)), 0);
        assert_string_equal(play_event(EVENT_COMPACTION_FAILED, 0)->compaction.reason,
                            rows[i].reason);
        assert_string_equal(play_last()->text, "all the same");
        play_teardown(NULL);
        play_setup(NULL);
    }
}

/* However long it goes on: three attempts, three turns apart, and that is all. */
TEST(a_broken_summariser_is_called_three_times)
{
    talk_to_threshold(3);
    int calls = 0;
    for (int i = 0; i < 100; i++) {
        const struct act acts[] = {{.failure = FAILURE_QUOTA}, {.text = "x"}};
        int before = play.summaries;
        bool due = i == 0 || i == 3 || i == 6;
        assert_true(play_run(due ? acts : acts + 1, due ? 2 : 1, "and on", &(struct error){0}));
        calls += play.summaries - before;
    }
    assert_int_equal(calls, 3);
    assert_int_equal(count(EVENT_COMPACTION_FAILED), 3);
    assert_true(play_event(EVENT_COMPACTION_FAILED, 2)->compaction.suspended);
    assert_true(play.history.compaction.suspended);
}

/* --- tokens and costs ------------------------------------------------------------------------ */

TEST(a_summary_counts_for_the_budget)
{
    talk_to_threshold(3);
    play.budget.limit[BUDGET_TOKENS] = 1000;
    PLAY({.text = SUMMARY, .input = 995}, {.text = "never"});
    assert_int_equal(play.at, 1);
    assert_int_equal(play_last()->type, EVENT_TURN_FAILED);
    assert_string_equal(play_last()->name, "BUDGET_EXHAUSTED");
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 1);
}

TEST(a_summary_is_warned_of)
{
    talk_to_threshold(3);
    play.budget.limit[BUDGET_TOKENS] = 1000;
    PLAY({.text = SUMMARY, .input = 850}, {.text = "on"});
    assert_int_equal(play_event(EVENT_BUDGET_WARNING, 0)->count, 85);
    /* Little room is left for the answer. */
    assert_int_equal(play.last_max_output, 99);
}

/* The run's usage includes all calls, and names the share of the summaries. */
TEST(a_summary_is_a_share_of_the_runs_usage)
{
    talk_to_threshold(3);
    PLAY({.text = SUMMARY, .input = 777}, {.text = "on"});
    assert_int_equal(play_last()->usage.input, 787);
    assert_int_equal(play_last()->summaries.input, 777);
    assert_int_equal(play_last()->summaries.output, 5);
    assert_int_equal(play_event(EVENT_CALL_COMPLETED, 3)->usage.input, 10);
    assert_int_equal(play_event(EVENT_COMPACTION_COMPLETED, 0)->usage.input, 777);
    assert_int_equal(play_last()->count, 1);
}

TEST(the_rest_of_the_budget_bounds_the_summary)
{
    struct error e = {0};
    const struct act good = {.text = SUMMARY};
    talk(3);
    compact_from(1000000);
    play.spent.used[BUDGET_TOKENS] = 0;
    play.budget.limit[BUDGET_TOKENS] = 70;
    assert_true(play_compact(&good, 1, NULL, NULL, &e));
    assert_int_equal(play.last_max_output, 70);
}

TEST(what_the_summariser_thinks_is_not_shown)
{
    talk_to_threshold(3);
    PLAY({.reasoning = "let me think", .text = SUMMARY}, {.text = "on"});
    for (int i = 0; play_event(EVENT_COMPACTION_DELTA, i); i++)
        assert_null(strstr(play_event(EVENT_COMPACTION_DELTA, i)->text, "think"));
    assert_int_equal(count(EVENT_REASONING_DELTA), 0);
    assert_true(count(EVENT_COMPACTION_DELTA) > 0);
}

/* --- a stop ---------------------------------------------------------------------------------- */

TEST(escape_ends_compaction_and_turn)
{
    talk_to_threshold(3);
    char *before = history_text();
    PLAY({.text = "half a summ", .cancel_after = true, .failure = FAILURE_CANCELLED});
    char *after = history_text();
    assert_int_equal(strncmp(after, before, strlen(before)), 0);
    assert_string_equal(play_event(EVENT_COMPACTION_FAILED, 0)->compaction.reason, "cancelled");
    assert_int_equal(play.history.compaction.failures, 0);
    assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
}

TEST(a_summary_that_takes_too_long_is_given_up)
{
    play_stop_clock();
    talk_to_threshold(3);
    play.compact.summary_ms = 20000;
    int64_t begun_ms = clock_mono_ms();
    char *before = history_text();
    PLAY({.text = "half a summ", .to_the_end = true}, {.text = "on we go"});
    char *after = history_text();
    assert_int_equal(strncmp(after, before, strlen(before)), 0);
    assert_int_equal(clock_mono_ms() - begun_ms, 20000);
    assert_string_equal(play_event(EVENT_COMPACTION_FAILED, 0)->compaction.reason, "llm");
    assert_says(play_event(EVENT_COMPACTION_FAILED, 0)->text, "within 20 s", "summary_timeout");
    assert_int_equal(play.history.compaction.failures, 1);
    assert_string_equal(play_last()->text, "on we go");
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
}

/* The calls of one turn do not wait each for itself; the next turn tries again. */
TEST(a_turn_waits_for_summaries_only_so_long)
{
    const struct act stall = {.text = "half a summ", .to_the_end = true};
    write_big();
    play_stop_clock();
    talk_to_threshold(3);
    play.compact.min_turns = 0;
    play.compact.summary_ms = 20000;
    PLAY({.text = SUMMARY, .takes_ms = 15000}, READ_BIG, {.text = SUMMARY, .takes_ms = 15000},
         READ_BIG, stall, READ_BIG, READ_BIG, {.text = "on we go"});
    assert_int_equal(count(EVENT_COMPACTION_COMPLETED), 2);
    assert_int_equal(count(EVENT_COMPACTION_FAILED), 1);
    PLAY(stall, {.text = "on we go"});
    assert_int_equal(count(EVENT_COMPACTION_FAILED), 2);
    assert_int_equal(play.history.compaction.failures, 2);
}

TEST(by_hand_a_summary_may_take_its_time)
{
    struct error e = {0};
    const struct act good = {.text = SUMMARY, .takes_ms = 600000};
    play_stop_clock();
    talk(3);
    compact_from(1000000);
    play.compact.summary_ms = 20000;
    assert_true(play_compact(&good, 1, NULL, NULL, &e));
    assert_int_equal(play.last_deadline_ms, 0);
}

/* --- by hand --------------------------------------------------------------------------------- */

TEST(by_hand_with_mode_and_focus)
{
    struct error e = {0};
    const struct act good = {.text = SUMMARY};
    talk(3);
    compact_from(1000000);
    assert_true(play_compact(&good, 1, "llm_replace", "the green door", &e));
    assert_string_equal(play_last()->compaction.mode, "llm_replace");
    assert_string_equal(play_last()->compaction.trigger, "manual");
    assert_non_null(strstr(play.summary_request.data, "the green door"));
    assert_int_equal(play.history.messages.len, 1);
}

/* --- drafts ---------------------------------------------------------------------------------- */

TEST(a_draft_is_committed_as_it_was_changed)
{
    static const struct said says[] = {{.answer = DRAFT_COMMIT, .text = "my own words"}};
    play_stop_clock();
    talk_to_threshold(3);
    play.compact.preview = true;
    play.verdicts = says;
    play.verdict_count = 1;
    play.thinks_ms = 60000;
    play.budget.limit[BUDGET_TURN_DURATION] = 5;
    PLAY({.text = SUMMARY}, {.text = "on"});
    assert_string_equal(play.draft.data, SUMMARY);
    assert_string_equal(play_event(EVENT_COMPACTION_COMPLETED, 0)->text, "my own words");
    assert_true(play_event(EVENT_COMPACTION_COMPLETED, 0)->flag);
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(play.deadline_while_asked_ms, 0);
    assert_int_equal(play_last()->number, 0);
}

TEST(a_refused_draft_does_not_stop_the_turn)
{
    static const struct said says[] = {{.answer = DRAFT_REFUSE}};
    talk_to_threshold(3);
    play.compact.preview = true;
    play.verdicts = says;
    play.verdict_count = 1;
    PLAY({.text = SUMMARY}, {.text = "on"});
    assert_string_equal(play_event(EVENT_COMPACTION_FAILED, 0)->compaction.reason, "cancelled");
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_int_equal(play.commits, 0);
}

/* --- the prompt that a server cut ------------------------------------------------------------ */

TEST(a_cut_prompt_is_warned_of)
{
    PLAY({.text = "what?", .truncated = true});
    assert_string_equal(play_event(EVENT_WARNING, 0)->name, "prompt_truncated");
}
