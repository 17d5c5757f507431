/* The size of the next request: counted, estimated, and after changes of the history. */
#include "chat/usage.h"
#include "tests/suite.h"

static void assert_size(struct request_size size, int64_t tokens, bool estimated)
{
    assert_int_equal(size.tokens, tokens);
    assert_int_equal(size.estimated, estimated);
}

TEST(nothing_was_counted)
{
    const struct request_measure none = REQUEST_UNMEASURED;
    assert_size(request_size(&none, 0, 1150, -1), 1150, true);
    assert_size(request_size(&none, 200, 1150, -1), 1350, true);
    assert_size(request_size(&none, 200, 1150, 1800), 1800, true);
}

TEST(the_provider_counted)
{
    struct usage u = {.input = 1755, .output = 200, .cached = -1};
    const struct request_measure m = request_measured(&u, 194);
    assert_size(request_size(&m, 194, 1150, 1755), 1955, false);
    assert_size(request_size(&m, 244, 1150, 1755), 2005, true);
    u.output = -1;
    assert_true(request_measured(&u, 194).estimated);
    u = (struct usage){.input = 10, .output = 2, .cached = -1, .estimated = true};
    assert_true(request_measured(&u, 194).estimated);
    u.input = -1;
    assert_int_equal(request_measured(&u, 194).tokens, -1);
}

/* A message that was taken back reduces the count by its own share, not more. */
TEST(a_shorter_history_is_a_part_of_it)
{
    const struct request_measure m = {.tokens = 3000, .history = 1000};
    assert_size(request_size(&m, 250, 500, 2900), 1500, true);
    assert_size(request_size(&m, 0, 0, 2900), 0, true);
}

TEST(sizes_scale)
{
    assert_int_equal(request_resized(1955, 1344, 1344), 1955);
    assert_int_equal(request_resized(2000, 1000, 250), 500);
    assert_int_equal(request_resized(2000, 0, 250), 250);
    assert_int_equal(request_resized(0, 0, 0), 0);
    assert_true(request_resized(INT64_C(1) << 53, 1, INT64_C(1) << 53) > 0);
}

TEST(it_reads_back)
{
    static const struct request_measure all[] = {
        {.tokens = 1955, .history = 194}, {.tokens = 7, .estimated = true}, {.tokens = -1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct error e;
        struct request_measure back;
        AUTO(json_free_local) struct json *v = shape_to_json(&request_measure_shape, &all[i]);
        assert_true(shape_read(&request_measure_shape, v, &back, &e));
        assert_int_equal(back.tokens, all[i].tokens);
        assert_int_equal(back.history, all[i].history);
        assert_int_equal(back.estimated, all[i].estimated);
    }
}
