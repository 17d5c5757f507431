/* Figures: bounds, sums and possible values of a server; everything that stores them reads as it
 * was written: usage, snapshots, entries of memory, listings. */
#include <float.h>
#include <math.h>

#include "base/json_out.h"
#include "chat/history.h"
#include "chat/memory.h"
#include "chat/session_info.h"
#include "chat/usage.h"
#include "tests/suite.h"

static const int64_t extremes[] = {INT64_MIN,
                                   INT64_MIN + 1,
                                   -1,
                                   0,
                                   1,
                                   INT32_MAX,
                                   FIGURE_MAX - 1,
                                   FIGURE_MAX,
                                   FIGURE_MAX + 1,
                                   999999999999999,
                                   1000000000000001,
                                   9000000000000000000,
                                   INT64_MAX};

enum { EXTREMES = sizeof extremes / sizeof *extremes };

static struct json *parse(const char *text)
{
    struct error e;
    struct json *v = json_parse(text, strlen(text), &e);
    if (!v)
        fail_msg("%s: %s", e.text, text);
    return v;
}

TEST(test_what_a_server_may_say)
{
    static const struct {
        const char *told;
        int64_t tokens;
    } cases[] = {
        {"0", 0},
        {"12", 12},
        {"12.0", 12},
        {"1000000000", FIGURE_TOKENS_MAX},
        {"1e9", FIGURE_TOKENS_MAX},
        {"1000000001", -7},
        {"9000000000000000000", -7},
        {"1e308", -7},
        {"1e999", -7},
        {"-1", -7},
        {"-1e999", -7},
        {"12.5", -7},
        {"\"12\"", -7},
        {"null", -7},
        {"[1]", -7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = support_text("{\"n\":%s}", cases[i].told);
        AUTO(json_free_local) struct json *v = parse(text);
        if (figure_tokens(v, "n", -7) != cases[i].tokens)
            fail_msg("%s gives %lld", text, (long long)figure_tokens(v, "n", -7));
    }
    assert_int_equal(figure_tokens(NULL, "n", -1), -1);
    assert_int_equal(figure_from(NAN, FIGURE_MAX), -1);
}

TEST(test_sums_saturate)
{
    for (size_t i = 0; i < EXTREMES; i++) {
        for (size_t k = 0; k < EXTREMES; k++) {
            int64_t a = extremes[i], b = extremes[k], sum = figure_sum(a, b);
            assert_int_equal(sum, figure_sum(b, a));
            assert_in_range(sum + 1, 0, FIGURE_MAX + 1);
            assert_int_equal(sum < 0, a < 0 && b < 0);
            assert_true(sum >= figure_known(a) && sum >= figure_known(b));
        }
    }
    assert_int_equal(figure_sum(2, 3), 5);
    assert_int_equal(figure_sum(-1, 0), 0);
}

TEST(test_shares)
{
    assert_int_equal(figure_share(1, 2, 100, 999), 50);
    assert_int_equal(figure_share(-1, 2, 100, 999), 0);
    assert_int_equal(figure_share(1, 0, 100, 999), 0);
    for (size_t i = 0; i < EXTREMES; i++)
        for (size_t k = 0; k < EXTREMES; k++)
            assert_in_range(figure_share(extremes[i], extremes[k], 100, 999), 0, 999);
}

static char *usage_text(const struct usage *u)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(&usage_shape, u, &o);
    return support_keep(buf_take(&text));
}

TEST(test_usage_reads_back)
{
    for (size_t i = 0; i < EXTREMES; i++) {
        struct usage u = {extremes[i], extremes[(i + 3) % EXTREMES], extremes[(i + 7) % EXTREMES],
                          extremes[i], false};
        char *text = usage_text(&u);
        AUTO(json_free_local) struct json *v = parse(text);
        struct usage back = USAGE_UNKNOWN;
        assert_true(shape_read(&usage_shape, v, &back, NULL));
        assert_int_equal(back.input, figure_known(u.input));
        assert_int_equal(back.output, figure_known(u.output));
        assert_int_equal(back.cached, figure_known(u.cached));
        assert_int_equal(back.searches, figure_bounded(u.searches, FIGURE_MAX));
        usage_add(&back, &u);
        usage_add(&back, &u);
        assert_true(back.input <= FIGURE_MAX && back.output <= FIGURE_MAX);
    }
}

TEST(test_snapshot_reads_back)
{
    for (size_t i = 0; i < EXTREMES; i++) {
        AUTO(history_release) struct history h = {0}, back = {0};
        struct error e;
        history_init(&h);
        h.last_input = h.estimate = extremes[i];
        h.usage = (struct usage){extremes[i], extremes[i], extremes[i], 0, false};
        char *text = support_keep(history_counters(&h));
        history_init(&back);
        if (!history_restore(&back, text, strlen(text), &e))
            fail_msg("%s: %s", e.text, text);
        assert_int_equal(back.last_input, figure_known(extremes[i]));
        assert_int_equal(back.usage.output, figure_known(extremes[i]));
    }
}

TEST(test_message_reads_back)
{
    for (size_t i = 0; i < EXTREMES; i++) {
        struct message m = {.role = ROLE_USER, .seq = extremes[i], .turn = (int)extremes[i]}, back;
        struct error e;
        AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, &m);
        assert_ok(message_from_json(v, &back, &e), e);
        assert_int_equal(back.seq, figure_bounded(m.seq, FIGURE_MAX));
        message_release(&back);
    }
}

TEST(test_memory_entry_reads_back)
{
    static char id[] = "e", session[] = "s", content[] = "c";
    for (size_t i = 0; i < EXTREMES; i++) {
        struct memory_entry m = {.id = id, .session_id = session, .content = content}, back;
        struct error e;
        m.role = ROLE_USER;
        m.turn = m.seq = m.created_ms = extremes[i];
        AUTO(json_free_local) struct json *v = shape_to_json(&memory_entry_shape, &m);
        if (!memory_entry_read(v, &back, &e))
            fail_msg("case %zu: %s", i, e.text);
        assert_int_equal(back.turn, figure_bounded(m.turn, FIGURE_MAX));
        assert_int_equal(back.seq, figure_bounded(m.seq, FIGURE_MAX));
        memory_entry_release(&back);
    }
}

/* A row of a listing is JSON for any sums. */
TEST(test_tally_stays_within_bounds)
{
    static const double costs[] = {NAN, INFINITY, -1, DBL_MAX, 1e18};
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    for (size_t i = 0; i < EXTREMES; i++) {
        struct event ev = {.type = EVENT_INTERRUPTED, .seq = 1};
        ev.number = extremes[i];
        ev.used = costs[i % (sizeof costs / sizeof *costs)];
        ev.usage = (struct usage){extremes[i], extremes[i], extremes[i], 0, false};
        session_tally(&info, &ev);
        assert_true(info.run_ms >= 0);
        assert_true(info.cost <= FIGURE_REAL_MAX);
    }
    AUTO(json_free_local) struct json *v = shape_to_json(&session_info_shape, &info);
    assert_int_equal(json_get_int(json_get(v, "usage"), "input_tokens", -1), FIGURE_MAX);
    info.cost = INFINITY; /* of a database that anybody may have written */
    json_free(shape_to_json(&session_info_shape, &info));
}
