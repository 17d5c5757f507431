/* Conditions for compacting a history: tables of counters, and [compaction] as numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "compact/mode.h"
#include "compact/policy.h"
#include "config/keys.h"
#include "tests/suite.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct compact_settings defaults(void)
{
    struct compact_settings s;
    struct compact_warnings w;
    struct config *config = config_new();
    compact_settings_read(&s, config, &w);
    assert_int_equal(w.count, 0);
    config_free(config);
    return s;
}

static void assert_real(double got, double expected)
{
    assert_true(fabs(got - expected) < 1e-9);
}

/* --- settings -------------------------------------------------------------------------------- */

TEST(the_defaults_are_those_of_the_specification)
{
    struct compact_settings s = defaults();
    assert_ptr_equal(s.mode, &mode_handoff);
    assert_int_equal(s.auto_threshold, 100000);
    assert_real(s.threshold_percent, 0.95);
    assert_int_equal(s.recent_turns, 4);
    assert_int_equal(s.max_summary_tokens, 4096);
    assert_int_equal(s.min_turns, 3);
    assert_real(s.target_percent, 0.5);
    assert_int_equal(s.micro_bytes, 10000);
    assert_int_equal(s.protect_head, 3);
    assert_int_equal(s.protect_tail_min, 20);
    assert_real(s.tail_ratio, 0.2);
    assert_int_equal(s.prune_chars, 200);
    assert_int_equal(s.summary_ms, 60000);
    assert_int_equal(s.max_failures, 3);
    assert_false(s.preview);
}

TEST(each_key_reaches_its_setting)
{
    static const struct {
        enum config_key key;
        const char *value;
    } rows[] = {
        {CONFIG_COMPACTION_MODE, "structured"},     {CONFIG_COMPACTION_AUTO_THRESHOLD, "11"},
        {CONFIG_COMPACTION_PERCENT, "0.5"},         {CONFIG_COMPACTION_RECENT_TURNS, "12"},
        {CONFIG_COMPACTION_SUMMARY_TOKENS, "1300"}, {CONFIG_COMPACTION_MIN_TURNS, "14"},
        {CONFIG_COMPACTION_TARGET, "0.25"},         {CONFIG_COMPACTION_MICRO_BYTES, "1500"},
        {CONFIG_COMPACTION_PROTECT_HEAD, "16"},     {CONFIG_COMPACTION_PROTECT_TAIL, "17"},
        {CONFIG_COMPACTION_TAIL_RATIO, "0.75"},     {CONFIG_COMPACTION_PRUNE_CHARS, "18"},
        {CONFIG_COMPACTION_MAX_FAILURES, "19"},     {CONFIG_COMPACTION_PREVIEW, "true"},
        {CONFIG_COMPACTION_SUMMARY_TIMEOUT, "20"},
    };
    struct compact_settings s;
    struct compact_warnings w;
    struct config *config = config_new();
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(config_set(config, rows[i].key, rows[i].value, NULL));
    compact_settings_read(&s, config, &w);
    config_free(config);
    assert_int_equal(w.count, 0);
    assert_ptr_equal(s.mode, &mode_structured);
    assert_int_equal(s.auto_threshold, 11);
    assert_real(s.threshold_percent, 0.5);
    assert_int_equal(s.recent_turns, 12);
    assert_int_equal(s.max_summary_tokens, 1300);
    assert_int_equal(s.min_turns, 14);
    assert_real(s.target_percent, 0.25);
    assert_int_equal(s.micro_bytes, 1500);
    assert_int_equal(s.protect_head, 16);
    assert_int_equal(s.protect_tail_min, 17);
    assert_real(s.tail_ratio, 0.75);
    assert_int_equal(s.prune_chars, 18);
    assert_int_equal(s.max_failures, 19);
    assert_int_equal(s.summary_ms, 20000);
    assert_true(s.preview);
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
        struct config *config = config_new();
        struct buf told = BUF_INIT;
        assert_true(config_set(config, CONFIG_COMPACTION_PERCENT, rows[i].percent, NULL));
        assert_true(config_set(config, CONFIG_COMPACTION_TAIL_RATIO, rows[i].ratio, NULL));
        compact_settings_read(&s, config, &w);
        assert_real(s.threshold_percent, rows[i].used_percent);
        assert_real(s.tail_ratio, rows[i].used_ratio);
        for (int k = 0; k < w.count; k++)
            buf_addf(&told, "%s\n", w.text[k]);
        assert_string_equal(told.data, rows[i].warnings);
        buf_release(&told);
        config_free(config);
    }
}

TEST(modes_have_the_names_of_the_configuration)
{
    static const char *const names[] = {
#define X(id, name, keeps_ends, help) name,
#define N_(text) text
        COMPACTION_MODES(X)
#undef N_
#undef X
    };
    struct buf choices = BUF_INIT;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_non_null(compact_modes[i]);
        assert_string_equal(compact_modes[i]->name, names[i]);
        assert_ptr_equal(compact_mode_find(names[i]), compact_modes[i]);
        buf_addf(&choices, "%s%s", i > 0 ? " " : "", names[i]);
    }
    assert_null(compact_modes[COUNT(names)]);
    assert_string_equal(config_key_info(CONFIG_COMPACTION_MODE)->choices, choices.data);
    assert_null(compact_mode_find("hand"));
    assert_null(compact_mode_find(NULL));
    assert_ptr_equal(mode_structured.fallback, &mode_recency_preserving);
    buf_release(&choices);
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
        {32768, 0, 28672, 27238}, /* an eighth is as long as the summary */
        {8192, 0, 7168, 6809},    /* an eighth is shorter */
        {6144, 0, 5376, 5107},
        {4096, 0, 3584, 3404},
        {4096, 100, 3996, 3796},
        {256, 0, 224, 212},
    };
    struct compact_settings s = defaults();
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

struct row {
    const char *what;
    int64_t window;
    struct compact_counters c;
    struct compact_decision expected;
};

static const struct row rows[] = {
    {"exactly the threshold",
     0,
     {.boundary = 1, .last_input = 100000, .last_attempt = -1},
     {.trigger = INPUT}},
    {"one less",
     0,
     {.boundary = 1, .last_input = 99999, .estimate = 99999, .last_attempt = -1},
     {.trigger = NONE}},
    {"the estimate alone",
     0,
     {.boundary = 1, .estimate = 100000, .last_attempt = -1, .last_input = -1},
     {.trigger = ESTIMATE}},
    {"input is named first",
     0,
     {.boundary = 1, .last_input = 100000, .estimate = 100000, .last_attempt = -1},
     {.trigger = INPUT}},
    {"50k and 50k",
     0,
     {.boundary = 9, .last_input = 50000, .estimate = 50000, .last_attempt = -1},
     {.trigger = NONE}},
    {"nothing known", 0, {.boundary = 9, .last_attempt = -1, .last_input = -1}, {.trigger = NONE}},
    {"of the window",
     104096,
     {.boundary = 1, .estimate = 95000, .last_attempt = -1, .last_input = -1},
     {.trigger = ESTIMATE}},
    {"below that",
     104096,
     {.boundary = 1, .estimate = 94999, .last_attempt = -1, .last_input = -1},
     {.trigger = NONE}},

    {"boundary 0",
     0,
     {.boundary = 0, .last_input = 200000, .estimate = 200000, .last_attempt = -1},
     {.trigger = NONE}},
    {"boundary 0, micro",
     0,
     {.boundary = 0, .last_input = 200000, .micro_useful = true, .last_attempt = -1},
     {.trigger = INPUT, .micro_only = true}},
    {"boundary 0, micro below",
     0,
     {.boundary = 0, .last_input = 99999, .micro_useful = true, .last_attempt = -1},
     {.trigger = NONE}},
    {"boundary 0, micro tried",
     0,
     {.boundary = 0, .last_attempt = 0, .last_input = 200000, .micro_useful = true},
     {.trigger = NONE}},
    {"boundary 1, micro is of the ladder",
     0,
     {.boundary = 1, .last_input = 200000, .micro_useful = true, .last_attempt = -1},
     {.trigger = INPUT}},
    {"boundary 0, request",
     1000,
     {.boundary = 0, .request = 1000, .micro_useful = true, .last_attempt = -1, .last_input = -1},
     {.trigger = REQUEST, .bypasses = true}},

    {"guarded", 0, {.boundary = 7, .last_attempt = 5, .last_input = 200000}, {.trigger = NONE}},
    {"guarded at the attempt",
     0,
     {.boundary = 5, .last_attempt = 5, .last_input = 200000},
     {.trigger = NONE}},
    {"no longer", 0, {.boundary = 8, .last_attempt = 5, .last_input = 200000}, {.trigger = INPUT}},
    {"after one at 0", 0, {.boundary = 3, .last_attempt = 0, .last_input = 200000}, {.trigger = INPUT}},
    {"soon after one at 0",
     0,
     {.boundary = 2, .last_attempt = 0, .last_input = 200000},
     {.trigger = NONE}},

    {"request passes the guard by",
     1000,
     {.boundary = 6, .last_attempt = 5, .request = 1000, .last_input = -1},
     {.trigger = REQUEST, .bypasses = true}},
    {"once",
     1000,
     {.boundary = 6, .last_attempt = 5, .request = 1000, .bypassed = true, .last_input = -1},
     {.trigger = NONE}},
    {"request that fits",
     1000,
     {.boundary = 6, .last_attempt = 5, .request = 875, .last_input = -1},
     {.trigger = NONE}},
    {"request that leaves no room for its answer",
     1000,
     {.boundary = 6, .last_attempt = 5, .request = 876, .last_input = -1},
     {.trigger = REQUEST, .bypasses = true}},
    {"request at its threshold",
     1000,
     {.boundary = 9, .last_attempt = 5, .request = 831, .last_input = -1},
     {.trigger = REQUEST}},
    {"request below its threshold",
     1000,
     {.boundary = 9, .last_attempt = 5, .request = 830, .last_input = -1},
     {.trigger = NONE}},
    {"request at its threshold, boundary 0",
     1000,
     {.boundary = 0, .last_attempt = -1, .request = 831, .last_input = -1},
     {.trigger = NONE}},
    {"request, window unknown",
     0,
     {.boundary = 6, .request = 1000000, .last_attempt = -1, .last_input = -1},
     {.trigger = NONE}},
    {"the threshold comes first",
     1000,
     {.boundary = 6, .estimate = 1000, .request = 1000, .last_attempt = -1, .last_input = -1},
     {.trigger = ESTIMATE}},

    {"suspended",
     0,
     {.boundary = 9, .last_input = 200000, .suspended = true, .last_attempt = -1},
     {.trigger = NONE}},
    {"suspended, request",
     1000,
     {.boundary = 9, .request = 5000, .suspended = true, .last_attempt = -1, .last_input = -1},
     {.trigger = NONE}},
    {"suspended, micro",
     0,
     {.boundary = 0, .last_input = 200000, .suspended = true, .micro_useful = true, .last_attempt = -1},
     {.trigger = NONE}},
};

TEST(the_decision_follows_the_table)
{
    struct compact_settings s = defaults();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct compact_limits l = {.window = rows[i].window};
        struct compact_decision d = compact_decide(&s, &l, &rows[i].c);
        if (d.trigger != rows[i].expected.trigger || d.micro_only != rows[i].expected.micro_only ||
            d.bypasses != rows[i].expected.bypasses ||
            d.must_fit != (d.trigger != NONE && (d.trigger == REQUEST || rows[i].c.request > 875)))
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
        {10000, 1999, 5, -1, TRIGGER_NONE},
        {10000, 2000, 5, -1, TRIGGER_REQUEST},
        {10000, 2500, 5, -1, TRIGGER_REQUEST},
        {10000, 2501, 5, -1, TRIGGER_REQUEST},
        {10000, 2000, 0, -1, TRIGGER_NONE},
        {10000, 2000, 5, 4, TRIGGER_NONE},
        {10000, 2501, 5, 4, TRIGGER_REQUEST}, /* past the guard */
        {0, 2501, 5, -1, TRIGGER_NONE},
    };
    const struct compact_settings s = defaults();
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

TEST(check_1_boundary_0_makes_no_summary_boundary_1_compacts)
{
    struct compact_settings s = defaults();
    struct compact_limits l = {.window = 0};
    struct compact_counters c = {.boundary = 0, .last_input = 200000, .last_attempt = -1};
    assert_int_equal(compact_decide(&s, &l, &c).trigger, TRIGGER_NONE);
    c.boundary = 1;
    assert_int_equal(compact_decide(&s, &l, &c).trigger, TRIGGER_INPUT_TOKENS);
}

TEST(no_turns_between_is_no_guard)
{
    struct compact_settings s = defaults();
    struct compact_limits l = {.window = 0};
    struct compact_counters c = {.boundary = 5, .last_attempt = 5, .last_input = 200000};
    s.min_turns = 0;
    assert_int_equal(compact_decide(&s, &l, &c).trigger, TRIGGER_INPUT_TOKENS);
}

TEST(triggers_have_the_names_of_the_events)
{
    assert_string_equal(compact_trigger_name(TRIGGER_INPUT_TOKENS), "input_tokens");
    assert_string_equal(compact_trigger_name(TRIGGER_ESTIMATE), "estimate");
    assert_string_equal(compact_trigger_name(TRIGGER_REQUEST), "request");
    assert_string_equal(compact_trigger_name(TRIGGER_OVERFLOW), "overflow");
    assert_string_equal(compact_trigger_name(TRIGGER_MANUAL), "manual");
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
    struct compact_settings s = defaults();
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
