#include <pthread.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "tests/suite.h"

static int64_t fake_ms;

static int64_t fake_clock(void)
{
    return fake_ms;
}

TEST(the_form_is_version_7)
{
    fake_ms = 4102444800123; /* later than any test before */
    clock_replace(fake_clock, NULL);
    char id[UUID_LEN + 1];
    uuid_new(id);
    clock_replace(NULL, NULL);
    assert_true(uuid_valid(id));
    assert_memory_equal(id, "03bb2cc3-d87b-7", 15);
    assert_non_null(strchr("89ab", id[19]));
}

TEST(later_is_greater)
{
    clock_replace(fake_clock, NULL);
    char last[UUID_LEN + 1] = "";
    for (int i = 0; i < 20000; i++) {
        if (i % 9000 == 8999)
            fake_ms -= 3600000; /* the clock was set back */
        if (i % 7000 == 6999)
            fake_ms += 2;
        char id[UUID_LEN + 1];
        uuid_new(id);
        assert_true(uuid_valid(id));
        assert_true(strcmp(id, last) > 0);
        memcpy(last, id, sizeof id);
    }
    clock_replace(NULL, NULL);
}

enum { THREADS = 4, EACH = 2000 };
static char made[THREADS][EACH][UUID_LEN + 1];

static void *make_many(void *row)
{
    char(*ids)[UUID_LEN + 1] = row;
    for (int i = 0; i < EACH; i++)
        uuid_new(ids[i]);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(threads_never_make_the_same)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_many, made[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        for (int j = 1; j < EACH; j++)
            assert_true(strcmp(made[i][j - 1], made[i][j]) < 0);
    }
    qsort(made, (size_t)THREADS * EACH, sizeof made[0][0], compare);
    for (size_t i = 1; i < (size_t)THREADS * EACH; i++)
        assert_true(strcmp(made[(i - 1) / EACH][(i - 1) % EACH], made[i / EACH][i % EACH]) < 0);
}

TEST(other_texts_are_refused)
{
    static const char *const bad[] = {
        "",
        "0195c9f0-7c1d-7abc-8def-0123456789a",
        "0195c9f0-7c1d-7abc-8def-0123456789abc",
        "0195c9f0-7c1d-7abc-8def-0123456789aG",
        "0195c9f0-7c1d-7abc-8def-0123456789AB",
        "0195c9f0x7c1d-7abc-8def-0123456789ab",
        "0195c9f0-7c1d-7abc-8def-0123456-89ab",
    };
    assert_true(uuid_valid("0195c9f0-7c1d-7abc-8def-0123456789ab"));
    assert_false(uuid_valid(NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(uuid_valid(bad[i]));
}

TEST(random_numbers_spread)
{
    int low = 0;
    for (int i = 0; i < 1000; i++) {
        double u = entropy_unit();
        assert_true(u >= 0 && u < 1);
        low += u < 0.5;
    }
    assert_in_range(low, 350, 650);
    unsigned char a[64] = {0}, b[64] = {0};
    entropy_fill(a, sizeof a);
    entropy_fill(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

/* Runs last: a seed stays. */
TEST(a_seed_repeats)
{
    uint64_t seed = support_seed();
    unsigned char a[37], b[37];
    entropy_seed(seed);
    entropy_fill(a, sizeof a);
    entropy_seed(seed);
    entropy_fill(b, sizeof b);
    assert_memory_equal(a, b, sizeof a);
    entropy_seed(seed + 1);
    entropy_fill(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

TEST(times_are_written_in_utc)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1773065107123, "2026-03-09T14:05:07.123Z"},
        {951782400007, "2000-02-29T00:00:00.007Z"},
        {-5, "1969-12-31T23:59:59.995Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[25];
        rfc3339_format(cases[i].ms, text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(times_are_read_again)
{
    static const char *const bad[] = {
        "",
        "now",
        "2026-03-09",
        "2026-03-09T14:05:07Z",
        "2026-03-09T14:05:07.123",
        "2026-03-09T14:05:07.123Zx",
        "2026-03-09 14:05:07.123Z",
        "2026-02-29T00:00:00.000Z",
        "2100-02-29T00:00:00.000Z",
        "2026-04-31T00:00:00.000Z",
        "2026-00-09T00:00:00.000Z",
        "2026-13-09T00:00:00.000Z",
        "2026-03-00T00:00:00.000Z",
        "2026-03-09T24:00:00.000Z",
        "2026-03-09T14:60:00.000Z",
    };
    static const int64_t steps[] = {1, 999, 86399999, 31557600001, 253402300799999};
    int64_t ms;
    char text[25];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rfc3339_parse_exact(bad[i], &ms));
    for (int64_t day = 0; day < 366 * 140; day++) {
        rfc3339_format(day * 86400000 + 4711, text);
        assert_true(rfc3339_parse_exact(text, &ms));
        assert_int_equal(ms, day * 86400000 + 4711);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        rfc3339_format(steps[i], text);
        assert_true(rfc3339_parse_exact(text, &ms));
        assert_int_equal(ms, steps[i]);
    }
}

TEST(clocks_are_replaced_and_restored)
{
    fake_ms = 42;
    clock_replace(fake_clock, fake_clock);
    assert_int_equal(clock_wall_ms(), 42);
    assert_int_equal(clock_mono_ms(), 42);
    clock_replace(NULL, NULL);
    assert_true(clock_wall_ms() > 1700000000000);
    int64_t before = clock_mono_ms();
    assert_true(clock_mono_ms() >= before);
}
