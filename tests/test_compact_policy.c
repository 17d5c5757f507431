/* When to compact: settings, the decision, the breaker, and what a compaction would free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compact/mode.h"
#include "compact/policy.h"
#include "config/keys.h"
#include "tests/conversation.h"
#include "tests/suite.h"
#include "tests/support.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void assert_real(double got, double expected)
{
    assert_true(fabs(got - expected) < 1e-9);
}

/* --- settings -------------------------------------------------------------------------------- */

/* The settings in the order of the table below; the mode and the preview apart. */
enum { SETTINGS = 13 };
static void list_settings(const struct compact_settings *s, double out[SETTINGS])
{
    const double list[SETTINGS] = {(double)s->auto_threshold,
                                   s->threshold_percent,
                                   s->recent_turns,
                                   (double)s->max_summary_tokens,
                                   s->min_turns,
                                   s->target_percent,
                                   (double)s->micro_bytes,
                                   s->protect_head,
                                   s->protect_tail_min,
                                   s->tail_ratio,
                                   (double)s->prune_chars,
                                   s->max_failures,
                                   (double)s->summary_ms / 1000};
    memcpy(out, list, sizeof list);
}

/* Defaults are those of the specification, and each key reaches its setting. */
TEST(each_key_reaches_its_setting)
{
    static const struct {
        enum config_key key;
        double usual;
        const char *value;
    } rows[SETTINGS] = {
        {CONFIG_COMPACTION_AUTO_THRESHOLD, 100000, "11"},
        {CONFIG_COMPACTION_PERCENT, 0.95, "0.5"},
        {CONFIG_COMPACTION_RECENT_TURNS, COMPACT_AUTO, "12"},
        {CONFIG_COMPACTION_SUMMARY_TOKENS, 4096, "1300"},
        {CONFIG_COMPACTION_MIN_TURNS, 3, "14"},
        {CONFIG_COMPACTION_TARGET, 0.5, "0.25"},
        {CONFIG_COMPACTION_MICRO_BYTES, 10000, "1500"},
        {CONFIG_COMPACTION_PROTECT_HEAD, 3, "16"},
        {CONFIG_COMPACTION_PROTECT_TAIL, 20, "17"},
        {CONFIG_COMPACTION_TAIL_RATIO, 0.2, "0.75"},
        {CONFIG_COMPACTION_PRUNE_CHARS, 200, "18"},
        {CONFIG_COMPACTION_MAX_FAILURES, 3, "19"},
        {CONFIG_COMPACTION_SUMMARY_TIMEOUT, 60, "20"},
    };
    struct compact_settings s = conversation_settings();
    struct compact_warnings w;
    AUTO(config_free_local) struct config *config = config_new();
    double got[SETTINGS];
    list_settings(&s, got);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_real(got[i], rows[i].usual);
        assert_true(config_set(config, rows[i].key, rows[i].value, NULL));
    }
    assert_true(s.mode == &mode_handoff && !s.preview);
    assert_true(config_set(config, CONFIG_COMPACTION_MODE, "structured", NULL));
    assert_true(config_set(config, CONFIG_COMPACTION_PREVIEW, "true", NULL));
    compact_settings_read(&s, config, &w);
    assert_int_equal(w.count, 0);
    list_settings(&s, got);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_real(got[i], strtod(rows[i].value, NULL));
    assert_true(s.mode == &mode_structured && s.preview);
}

TEST(what_is_out_of_bounds_is_clamped_and_told)
{
    static const struct {
        const char *percent, *ratio;
        double used_percent, used_ratio;
        const char *warnings;
    } rows[] = {
        {"1.5", "0.9", 0.95, 0.80,
         "[compaction] threshold_percent = 1.5: 0.95 is used\n"
         "[compaction] tail_budget_ratio = 0.9: 0.80 is used\n"},
        {"0.05", "0.01", 0.10, 0.05,
         "[compaction] threshold_percent = 0.05: 0.10 is used\n"
         "[compaction] tail_budget_ratio = 0.01: 0.05 is used\n"},
        {"0.10", "0.05", 0.10, 0.05, ""},
        {"0.95", "0.80", 0.95, 0.80, ""},
        {"95", "0.5", 0.95, 0.5, "[compaction] threshold_percent = 95: 0.95 is used\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct compact_settings s;
        struct compact_warnings w;
        AUTO(config_free_local) struct config *config = config_new();
        AUTO(buf_release) struct buf told = BUF_INIT;
        assert_true(config_set(config, CONFIG_COMPACTION_PERCENT, rows[i].percent, NULL));
        assert_true(config_set(config, CONFIG_COMPACTION_TAIL_RATIO, rows[i].ratio, NULL));
        compact_settings_read(&s, config, &w);
        assert_real(s.threshold_percent, rows[i].used_percent);
        assert_real(s.tail_ratio, rows[i].used_ratio);
        for (int k = 0; k < w.count; k++)
            buf_addf(&told, "%s\n", w.text[k]);
        assert_string_equal(told.data, rows[i].warnings);
    }
}

/* --- thresholds ------------------------------------------------------------------------------ */

TEST(the_lower_threshold_holds)
{
    static const struct {
        int64_t window, max_output, effective, threshold;
    } rows[] = {
        {0, 0, 0, 100000},           /* unknown: the absolute one alone */
        {200000, 0, 195904, 100000}, /* 186108 would be more */
        {104096, 0, 100000, 95000},
        {104096, 8192, 100000, 95000}, /* the summary is shorter than the model's limit */
        {102000, 2000, 100000, 95000}, /* the model's limit is shorter */
        {32768, 0, 28672, 27238},      /* an eighth is as long as the summary */
        {8192, 0, 7168, 6809},         /* an eighth is shorter */
        {6144, 0, 5376, 5107},
        {4096, 0, 3584, 3404},
        {4096, 100, 3996, 3796},
        {256, 0, 224, 212},
    };
    struct compact_settings s = conversation_settings();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct compact_limits l = {.window = rows[i].window, .max_output = rows[i].max_output};
        assert_int_equal(compact_effective_window(&s, &l), rows[i].effective);
        assert_int_equal(compact_threshold(&s, &l), rows[i].threshold);
    }
}

/* --- the decision ---------------------------------------------------------------------------- */

#define NONE TRIGGER_NONE
#define INPUT TRIGGER_INPUT_TOKENS
#define ESTIMATE TRIGGER_ESTIMATE
#define REQUEST TRIGGER_REQUEST

enum { MICRO = 1, BYPASSED = 2, SUSPENDED = 4, COMPACTED = 8 };

static const struct {
    const char *what;
    int64_t window;
    int boundary, last_attempt;
    int64_t last_input, estimate, request; /* counters */
    int is; /* micro is useful, bypassed before, suspended, compacted in this turn */
    enum compact_trigger trigger;
    int does; /* micro alone, bypasses */
} rows[] = {
    {"exactly the threshold", 0, 1, -1, 100000, 0, 0, 0, INPUT, 0},
    {"one less", 0, 1, -1, 99999, 99999, 0, 0, NONE, 0},
    {"the estimate alone", 0, 1, -1, -1, 100000, 0, 0, ESTIMATE, 0},
    {"input is named first", 0, 1, -1, 100000, 100000, 0, 0, INPUT, 0},
    {"50k and 50k", 0, 9, -1, 50000, 50000, 0, 0, NONE, 0},
    {"nothing known", 0, 9, -1, -1, 0, 0, 0, NONE, 0},
    {"of the window", 104096, 1, -1, -1, 95000, 0, 0, ESTIMATE, 0},
    {"below that", 104096, 1, -1, -1, 94999, 0, 0, NONE, 0},
    {"boundary 0", 0, 0, -1, 200000, 200000, 0, 0, NONE, 0},
    {"boundary 0, micro", 0, 0, -1, 200000, 0, 0, MICRO, INPUT, MICRO},
    {"boundary 0, micro below", 0, 0, -1, 99999, 0, 0, MICRO, NONE, 0},
    {"boundary 0, micro tried", 0, 0, 0, 200000, 0, 0, MICRO, NONE, 0},
    {"boundary 1, micro is of the ladder", 0, 1, -1, 200000, 0, 0, MICRO, INPUT, 0},
    {"boundary 0, request", 1000, 0, -1, -1, 0, 1000, MICRO, REQUEST, BYPASSED},
    {"guarded", 0, 7, 5, 200000, 0, 0, 0, NONE, 0},
    {"guarded at the attempt", 0, 5, 5, 200000, 0, 0, 0, NONE, 0},
    {"no longer", 0, 8, 5, 200000, 0, 0, 0, INPUT, 0},
    {"after one at 0", 0, 3, 0, 200000, 0, 0, 0, INPUT, 0},
    {"soon after one at 0", 0, 2, 0, 200000, 0, 0, 0, NONE, 0},
    {"request passes the guard by", 1000, 6, 5, -1, 0, 1000, 0, REQUEST, BYPASSED},
    {"once", 1000, 6, 5, -1, 0, 1000, BYPASSED, NONE, 0},
    {"request that fits", 1000, 6, 5, -1, 0, 875, 0, NONE, 0},
    {"request that leaves no room for its answer", 1000, 6, 5, -1, 0, 876, 0, REQUEST, BYPASSED},
    {"request at its threshold", 1000, 9, 5, -1, 0, 831, 0, REQUEST, 0},
    {"request below its threshold", 1000, 9, 5, -1, 0, 830, 0, NONE, 0},
    {"request at its threshold, boundary 0", 1000, 0, -1, -1, 0, 831, 0, NONE, 0},
    {"request, window unknown", 0, 6, -1, -1, 0, 1000000, 0, NONE, 0},
    {"the threshold comes first", 1000, 6, -1, -1, 1000, 1000, 0, ESTIMATE, 0},
    {"the turn compacted", 1000, 9, 5, 900, 900, 875, COMPACTED, NONE, 0},
    {"the turn compacted, request", 1000, 9, 5, -1, 0, 876, COMPACTED, REQUEST, BYPASSED},
    {"suspended", 0, 9, -1, 200000, 0, 0, SUSPENDED, NONE, 0},
    {"suspended, request", 1000, 9, -1, -1, 0, 5000, SUSPENDED, NONE, 0},
    {"suspended, micro", 0, 0, -1, 200000, 0, 0, MICRO | SUSPENDED, NONE, 0},
};

TEST(the_decision_follows_the_table)
{
    struct compact_settings s = conversation_settings();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct compact_limits l = {.window = rows[i].window};
        const struct compact_counters c = {.boundary = rows[i].boundary,
                                           .last_attempt = rows[i].last_attempt,
                                           .last_input = rows[i].last_input,
                                           .estimate = rows[i].estimate,
                                           .request = rows[i].request,
                                           .micro_useful = rows[i].is & MICRO,
                                           .bypassed = rows[i].is & BYPASSED,
                                           .suspended = rows[i].is & SUSPENDED,
                                           .compacted = rows[i].is & COMPACTED};
        const struct compact_decision d = compact_decide(&s, &l, &c);
        int does = (d.micro_only ? MICRO : 0) | (d.bypasses ? BYPASSED : 0);
        if (d.trigger != rows[i].trigger || does != rows[i].does ||
            d.must_fit != (d.trigger != NONE && (d.trigger == REQUEST || c.request > 875)))
            fail_msg("%s: %s%s%s", rows[i].what, compact_trigger_name(d.trigger),
                     d.micro_only ? ", micro only" : "", d.bypasses ? ", bypasses" : "");
    }
}

TEST(bytes_trigger_at_four_fifths_of_their_limit)
{
    static const struct {
        int64_t max_bytes, request; /* tokens, of four bytes each */
        int boundary, last_attempt;
        enum compact_trigger trigger;
    } cases[] = {
        {10000, 1999, 5, -1, TRIGGER_NONE},    {10000, 2000, 5, -1, TRIGGER_REQUEST},
        {10000, 2500, 5, -1, TRIGGER_REQUEST}, {10000, 2501, 5, -1, TRIGGER_REQUEST},
        {10000, 2000, 0, -1, TRIGGER_NONE},    {10000, 2000, 5, 4, TRIGGER_NONE},
        {10000, 2501, 5, 4, TRIGGER_REQUEST}, /* past the guard */
        {0, 2501, 5, -1, TRIGGER_NONE},
    };
    const struct compact_settings s = conversation_settings();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct compact_limits l = {.max_bytes = cases[i].max_bytes};
        const struct compact_counters c = {.boundary = cases[i].boundary,
                                           .last_attempt = cases[i].last_attempt,
                                           .last_input = -1,
                                           .request = cases[i].request};
        const struct compact_decision d = compact_decide(&s, &l, &c);
        if (d.trigger != cases[i].trigger || d.must_fit != (d.trigger == TRIGGER_REQUEST))
            fail_msg("case %zu: %s", i, compact_trigger_name(d.trigger));
    }
}

/* --- the breaker ----------------------------------------------------------------------------- */

static struct compaction_state failed_state(int failures, bool suspended, char *mode, char *model)
{
    return (struct compaction_state){.last_attempt = 1,
                                     .failures = failures,
                                     .suspended = suspended,
                                     .failed_mode = mode,
                                     .failed_model = model};
}

TEST(the_breaker_is_open_for_its_mode_and_model)
{
    char mode[] = "handoff", model[] = "openai/gpt";
    struct compaction_state st = failed_state(3, true, mode, model);
    assert_true(compact_suspended(&st, "handoff", "openai/gpt"));
    assert_false(compact_suspended(&st, "structured", "openai/gpt"));
    assert_false(compact_suspended(&st, "handoff", "openai/other"));
    assert_false(compact_suspended(&st, "handoff", ""));
    st.suspended = false;
    assert_false(compact_suspended(&st, "handoff", "openai/gpt"));
    st = failed_state(3, true, mode, NULL);
    assert_true(compact_suspended(&st, "handoff", ""));
}

/* A local server's model is known only after a request, and not after a restart. */
TEST(the_breaker_knows_a_model_without_its_name)
{
    char mode[] = "handoff", named[] = "ollama/llama3", nameless[] = "ollama/";
    struct compaction_state st = failed_state(3, true, mode, named);
    assert_true(compact_suspended(&st, "handoff", "ollama/"));
    assert_false(compact_suspended(&st, "handoff", "openai/"));
    assert_false(compact_suspended(&st, "handoff", "ollama/llama"));
    st = failed_state(3, true, mode, nameless);
    assert_true(compact_suspended(&st, "handoff", "ollama/llama3"));
    assert_false(compact_suspended(&st, "handoff", "openai/gpt"));
}

TEST(failures_are_counted)
{
    char mode[] = "handoff", model[] = "m";
    static const struct {
        int failures;
        bool suspended;
        const char *mode, *model, *reason;
        bool called;
        int expected;
        bool stops;
    } table[] = {
        {0, false, "handoff", "m", "llm", true, 1, false},
        {1, false, "handoff", "m", "empty_summary", true, 2, false},
        {2, false, "handoff", "m", "llm", true, 3, true},
        {3, true, "handoff", "m", "llm", true, 4, true},
        {2, false, "handoff", "m", "store", false, 3, true},
        {2, false, "handoff", "m", "memory_indexing", false, 3, true},
        {2, false, "handoff", "m", "cancelled", true, 2, false},
        {3, true, "handoff", "m", "cancelled", true, 3, true},
        {2, false, "handoff", "m", "too_small", false, 2, false},
        {2, false, "handoff", "m", "too_small", true, 3, true},
        {2, false, "structured", "m", "llm", true, 1, false},
        {2, false, "handoff", "n", "llm", true, 1, false},
        {3, true, "structured", "m", "cancelled", true, 0, false},
    };
    struct compact_settings s = conversation_settings();
    for (size_t i = 0; i < COUNT(table); i++) {
        struct compaction_state st =
            failed_state(table[i].failures, table[i].suspended, mode, model);
        struct compact_failure_count n = compact_count_failure(
            &s, &st, table[i].mode, table[i].model, table[i].reason, table[i].called);
        if (n.failures != table[i].expected || n.suspended != table[i].stops)
            fail_msg("row %zu: %d%s", i, n.failures, n.suspended ? ", suspended" : "");
    }
    struct compaction_state never = {.last_attempt = -1};
    assert_int_equal(compact_count_failure(&s, &never, "handoff", "m", "llm", true).failures, 1);
}

/* --- the prospect --- */

static struct place {
    struct conversation c;
    struct compact_settings s;
    struct compact_limits limits;
} p;

static int setup(void **state)
{
    (void)state;
    p = (struct place){.s = conversation_settings()};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    conversation_release(&p.c);
    return 0;
}

/* --- worth or not ---------------------------------------------------------------------------- */

FIXTURES(prospect, setup, teardown);

TEST(the_table_holds)
{
    enum { HISTORY = 1, OF_REQUEST = 2 };
    static const struct {
        const char *what;
        int64_t window, before, after, overhead;
        int purpose;
        bool expected;
    } cases[] = {
        {"a tenth below", 0, 100000, 90000, 0, HISTORY, true},
        {"less", 0, 100000, 90001, 0, HISTORY, false},
        {"a third, but not below", 0, 150000, 99000, 0, HISTORY, false},
        {"the server counted more", 0, 500, 450, 0, HISTORY, true},
        {"less than a tenth of it", 0, 500, 451, 0, HISTORY, false},
        {"nothing", 0, 100000, 100000, 0, HISTORY, false},
        {"a wide window", 1000000, 195007, 191505, 0, HISTORY, false},
        /* A window of 1,000 has 875 for requests, and their threshold is 831. */
        {"a request", 1000, 490, 248, 500, OF_REQUEST, true},
        {"less of it", 1000, 490, 249, 500, OF_REQUEST, false},
        {"from beyond the window", 1000, 500, 499, 500, OF_REQUEST, true},
        {"still beyond it", 1000, 600, 500, 500, OF_REQUEST, false},
        {"for the history although the request is beyond", 1000, 900, 500, 500,
         HISTORY | OF_REQUEST, true},
        {"for the request although the history stays long", 1000, 900, 740, 1, HISTORY | OF_REQUEST,
         true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct compact_limits l = {.window = cases[i].window};
        const struct compact_prospect prospect = {.before = cases[i].before,
                                                  .after = cases[i].after,
                                                  .overhead = cases[i].overhead,
                                                  .for_history = cases[i].purpose & HISTORY,
                                                  .for_request = cases[i].purpose & OF_REQUEST};
        if (compact_is_worth(&p.s, &l, &prospect) != cases[i].expected)
            fail_msg("%s", cases[i].what);
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
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    int64_t tokens = tokens_from(0);
    if (compact_plan_make(mode, &in, &plan))
        tokens = compact_tokens_after(mode, &in, &plan);
    return tokens;
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
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    AUTO(rebuild_release) struct rebuild r = {0};
    talk(12, 400);
    in = input();
    assert_true(compact_plan_make(&mode_deterministic, &in, &plan));
    char *text = support_keep(mode_deterministic.text(&in, &plan));
    compact_plan_rebuild(&mode_deterministic, &in, &plan, text, &r);
    assert_int_equal(compact_tokens_after(&mode_deterministic, &in, &plan),
                     rebuild_estimate(&r, in.estimates));
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
