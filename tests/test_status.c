/* The status line: its parts, the parts left out, and the order in which they go when it gets
 * narrow. */
#include "base/utf8.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "ui/app/screen.h"
#include "ui/text/format.h"
#include "ui/view/status.h"

static char line[1024];

/* The row as text, which stays valid until the next call. */
static const char *at_width(const struct status *s, int width)
{
    AUTO(rows_release) struct rows rows = {0};
    rows_init(&rows);
    status_row(s, width, &rows);
    assert_int_equal(rows.list.len, 1);
    size_t len = rows.list.items[0].len;
    assert_true(len < sizeof line);
    memcpy(line, rows.text.data + rows.list.items[0].text, len);
    line[len] = '\0';
    assert_true(utf8_width(line, len) <= (size_t)width);
    return line;
}

#define UNMEASURED .context = -1, .cost = -1, .rate = -1
#define FULL .context = 62000, .window = 100000, .cost = 0.42, .rate = -1
#define ESC .stop_key = "Esc"

BEFORE_ALL(support_utf8);

TEST(test_lines)
{
    static const struct {
        struct status s;
        int width;
        const char *line;
    } cases[] = {
        {{FULL}, 120, "context ▓▓▓▓▓▓░░░░ 62 % 62k/100k · $0.42"},
        {{FULL, .cost_estimated = true, .context_estimated = true},
         120,
         "context ▓▓▓▓▓▓░░░░ ~62 % 62k/100k · ~$0.42"},
        {{UNMEASURED}, 80, ""},
        {{.context = 500, .cost = -1, .rate = -1}, 80, "ctx 500"},
        {{FULL, .working = true, .leave_key = "Ctrl-C"}, 40, "Ctrl-C again leaves · working 0 s"},
        {{FULL, .working = true, .leave_key = "Ctrl-C"}, 20, "Ctrl-C again leaves"},
        {{FULL, .replacing = true, ESC}, 40, "changing your last message (Esc stops)"},
        {{FULL, .working = true, .back_key = "Esc"}, 30, "Esc goes back · working 0 s"},
        {{UNMEASURED, .importing = true, .import_percent = 40, ESC},
         80,
         "importing 40 % (Esc stops)"},
        {{UNMEASURED, .importing = true, .working = true, ESC},
         80,
         "working 0 s (Esc stops) · importing 0 %"},
        {{UNMEASURED, .working = true, .working_ms = 3999, ESC}, 80, "working 3 s (Esc stops)"},
        {{.context = -1,
          .cost = -1,
          .rate = 41.7,
          .working = true,
          .working_ms = 125000,
          .stop_key = ""},
         80,
         "working 2:05 · ~42 tokens/s"},
        {{UNMEASURED, .working = true, .asking = true, ESC}, 80, "waiting for you (Esc stops)"},
        {{UNMEASURED, .working = true, .compacting = true, .working_ms = 4200, ESC},
         80,
         "compacting 4 s (Esc stops)"},
        {{UNMEASURED, .working = true, .compacting = true, .asking = true, ESC},
         80,
         "waiting for you (Esc stops)"},
        {{UNMEASURED, .retry = 1, .retries = 3, .retry_ms = 3200,
          .retry_reason = "429: \033[31mslow\ndown"},
         80,
         "retry 1/3 in 4 s: 429: ␛[31mslow down"},
        {{UNMEASURED, .retry = 1, .retries = 3, .retry_ms = 3200, .working = true, ESC,
          .retry_reason = "the server is busy, and says so at some length"},
         60,
         "retry 1/3 in 4 s: the server is b… · working 0 s (Esc stops)"},
        {{UNMEASURED, .retry = 1, .retries = 3}, 80, "retry 1/3"},
        {{UNMEASURED, .budget_percent = 83}, 80, ""},
        {{UNMEASURED, .budget = true, .budget_percent = 83}, 80, "budget 83 %"},
        {{FULL, .truncated = true}, 40, "the server dropped the beginning!"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(at_width(&cases[i].s, cases[i].width), cases[i].line);
}

TEST(test_parts)
{
    static const struct {
        struct status s;
        int width;
        const char *look;
    } cases[] = {
        {{.context = 500, .cost = 0, .rate = -1}, 80, "!$"},
        {{FULL, .cost_partial = true}, 120, "$0.42+"}, /* some models have no known price */
        {{UNMEASURED, .cost_partial = true}, 120, "!+"},
        {{FULL, .unread = 12}, 120, "↓ 12 new · context"},
        {{FULL, .truncated = true}, 140, "the server dropped the beginning! · context"},
        {{FULL, .budget = true}, 120, "$0.42 · budget 0 %"},
        {{FULL, .budget = true}, 40, "budget 0 %"}, /* stays longer than most */
        {{FULL, .compactions = 2}, 120, "$0.42 · ⟳2"},
        {{FULL, .compactions = 2, .budget = true, .suspended = true},
         140,
         "⟳2 · compaction stopped · budget 0 %"},
        {{FULL, .compactions = 2, .budget = true, .suspended = true}, 40, "compaction stopped"},
        /* The figures are those of the threshold; the cells are those of the window, of a far
         * larger one only the beginning. */
        {{.context = 62000, .window = 110000, .threshold = 100000, .cost = 0.42, .rate = -1},
         120,
         "context ▓▓▓▓▓▓▓░░░│░ 62 % 62k/100k · $0.42"},
        {{.context = 62000, .window = 200000, .threshold = 100000},
         120,
         "context ▓▓▓▓▓▓░░░░│░ 62 % 62k/100k"},
        {{.context = 150000, .window = 200000, .threshold = 100000},
         120,
         "context ▓▓▓▓▓▓▓▓▓▓│▓ 150 % 150k/100k"},
        {{.context = 1, .window = 200000, .threshold = 100000},
         120,
         "context ▓░░░░░░░░░│░ 0 % 1/100k"},
        {{.context = 62000, .window = 200000}, 120, "context ▓▓▓░░░░░░░ 31 % 62k/200k"},
        {{.context = 62000, .window = 200000, .threshold = 100000, .suspended = true},
         120,
         "context ▓▓▓░░░░░░░ 31 % 62k/200k"},
        {{FULL, .tasks = 1}, 120, "1 task · context"},
        {{FULL, .tasks = 2, .budget = true}, 40, "2 tasks"},
        {{FULL, .background_key = "Ctrl-B"}, 120, "Ctrl-B: background · context"},
        {{FULL, .background_key = "Ctrl-B", .tasks = 1, .working = true}, 40, "!Ctrl-B"},
        {{.context = 62000, .threshold = 100000}, 120, "context ▓▓▓▓▓▓░░░░ 62 % 62k/100k"},
        {{.context = 62000, .window = 80000, .threshold = 100000}, 120, "62k/80k"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_says(at_width(&cases[i].s, cases[i].width), cases[i].look);
}

/* A narrower line shows a subset of a wider line's parts, the most important ones. */
TEST(test_narrow_lines_drop_parts_in_order)
{
    static const char *const order[] = {"memory on", "▓", "$0.42", "~42 tokens/s"};
    struct status s = {FULL};
    size_t gone = 0;
    s.memory = "write";
    s.rate = 42;
    for (int width = 120; width >= 17; width--) {
        const char *text = at_width(&s, width);
        while (gone < sizeof order / sizeof *order && !strstr(text, order[gone]))
            gone++;
        for (size_t i = gone; i < sizeof order / sizeof *order; i++)
            assert_non_null(strstr(text, order[i]));
        for (size_t i = 0; i < gone; i++)
            assert_null(strstr(text, order[i]));
        assert_non_null(strstr(text, gone > 1 ? "ctx " : "context "));
        assert_non_null(strstr(text, "62k/100k"));
    }
    assert_int_equal(gone, sizeof order / sizeof *order);
    at_width(&s, 1);
    at_width(&s, 0);
}

static enum style style_of_last_part(const struct status *s)
{
    AUTO(rows_release) struct rows rows;
    rows_init(&rows);
    status_row(s, 120, &rows);
    return (enum style)vec_last(&rows.spans).style;
}

TEST(test_budget_warns)
{
    struct status s = {FULL, .budget = true};
    for (; s.budget_percent <= 100; s.budget_percent++)
        assert_int_equal(style_of_last_part(&s) == STYLE_GAUGE_HIGH, s.budget_percent >= 80);
}

TEST(test_full_context_warns)
{
    for (int64_t context = 89000; context <= 250000; context += 1000) {
        AUTO(rows_release) struct rows rows = {0};
        struct status s = {FULL};
        bool warns = false;
        s.context = context;
        rows_init(&rows);
        status_row(&s, 120, &rows);
        for (size_t i = 0; i < rows.spans.len; i++)
            warns = warns || rows.spans.items[i].style == STYLE_GAUGE_HIGH;
        assert_int_equal(warns, (context * 100 + 50000) / 100000 >= 90);
        at_width(&s, 120);
    }
}

TEST(test_numbers)
{
    static const struct {
        int64_t n;
        const char *exact, *brief;
    } cases[] = {{0, "0", "0"},
                 {999, "999", "999"},
                 {1000, "1,000", "1.0k"},
                 {1204, "1,204", "1.2k"},
                 {61904, "61,904", "62k"},
                 {999499, "999,499", "999k"},
                 {999999, "999,999", "1.0M"},
                 {1234567, "1,234,567", "1.2M"},
                 {9876543210, "9,876,543,210", "9.9G"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        auto_free char *exact = format_exact(cases[i].n);
        assert_string_equal(exact, cases[i].exact);
        format_short(&out, cases[i].n);
        assert_string_equal(out.data, cases[i].brief);
    }
}

TEST(test_costs_and_durations)
{
    static const struct {
        double usd;
        const char *text;
    } costs[] = {{0, "$0.00"},        {0.42, "$0.42"},     {0.01, "$0.01"},
                 {0.0013, "$0.0013"}, {0.0001, "$0.0001"}, {0.000094, "<$0.0001"}};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        format_cost(&out, costs[i].usd);
        assert_string_equal(out.data, costs[i].text);
        buf_clear(&out);
        format_duration(&out, 999);
        buf_addch(&out, ' ');
        format_duration(&out, 4210);
        assert_string_equal(out.data, "999 ms 4.2 s");
    }
}

TEST(test_ages)
{
    static const struct {
        int64_t minutes;
        const char *text;
    } cases[] = {{0, "now"},  {5, "5 min"},   {59, "59 min"},
                 {60, "1 h"}, {1439, "23 h"}, {2880, "2 d"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        format_age(&out, 0, cases[i].minutes * 60000);
        assert_string_equal(out.data, cases[i].text);
    }
}

/* The parts of the screen never overlap and fill it, from the smallest size on. A review gets the
 * larger part. */
TEST(test_layout_fills_the_screen)
{
    for (int rows = SCREEN_MIN_ROWS; rows < 80; rows++)
        for (int wanted = 1; wanted < 90; wanted++)
            for (int i = 0; i < 4; i++) {
                bool waiting = i & 1, review = i & 2;
                int most = review ? rows * 2 / 3 : rows / 3;
                struct layout l = layout_make(rows, SCREEN_MIN_COLS, 0, wanted, review, waiting);
                assert_int_equal(l.body_top, 1);
                assert_true(l.body_rows >= 1);
                assert_int_equal(l.body_top + l.body_rows, l.status_row);
                assert_int_equal(l.waiting_row, waiting ? l.status_row + 1 : -1);
                assert_int_equal(l.editor_top, l.status_row + 1 + waiting);
                assert_int_equal(l.editor_top + l.editor_rows, rows);
                assert_int_equal(l.editor_rows, wanted < most ? wanted : most);
            }
    assert_false(layout_is_too_small(SCREEN_MIN_ROWS, SCREEN_MIN_COLS));
    assert_true(layout_is_too_small(SCREEN_MIN_ROWS - 1, 80));
    assert_true(layout_is_too_small(24, SCREEN_MIN_COLS - 1));
    assert_true(layout_is_too_small(1, 1));
    assert_int_equal(layout_make(1, 1, 0, 1, false, true).body_rows, 1);
}

TEST(test_a_pane_takes_its_columns)
{
    struct layout l = layout_make(24, 120, 48, 1, false, false);
    assert_int_equal(l.body_cols, 71);
    assert_int_equal(l.pane_cols, 48);
    assert_int_equal(layout_make(24, 120, 0, 1, false, false).body_cols, 120);
}

TEST(test_a_dropped_beginning_alarms)
{
    struct status s = {FULL, .truncated = true};
    AUTO(rows_release) struct rows rows;
    rows_init(&rows);
    status_row(&s, 120, &rows);
    assert_int_equal(rows.spans.items[0].style, STYLE_ERROR);
}
