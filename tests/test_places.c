/* The positions of words in a text: encoding, the best passage, proximity. */
#include <math.h>

#include "index/rank.h"
#include "tests/suite.h"

static const double weights[PLACE_TERMS] = {2, 3, 0.5};

static struct occurrences places_of(const char *text)
{
    struct occurrences p = {0};
    for (uint32_t at = 0; text[at]; at++)
        if (text[at] >= 'a')
            vec_push(&p.items, ((struct occurrence){at, (uint32_t)(text[at] - 'a')}));
    return p;
}

/* The proximity in a text that has one word per character; the question's words are letters. */
static double proximity(const char *text)
{
    struct occurrences p = places_of(text);
    const struct place_worth worth = {weights, 1.2, 1.2};
    double out = places_proximity(&p, 3, &worth);
    vec_release(&p.items);
    return out;
}

static double saturated(double n)
{
    return n * 2.2 / (n + 1.2);
}

TEST(proximity_is_that_of_bm25tp)
{
    const struct {
        const char *text;
        double worth;
    } rows[] = {
        {"", 0},
        {"a", 0},
        {"a.a", 0}, /* the same word is no pair */
        {"ab", saturated(3) + saturated(2)},
        {"a.b", saturated(3.0 / 4) + saturated(2.0 / 4)},
        {"b...a", saturated(3.0 / 16) + saturated(2.0 / 16)},
        {"a.b.a", saturated(3.0 / 4 * 2) + saturated(2.0 / 4 * 2)},
        {"acb", saturated(0.5) + saturated(0.5) + 0.5 * saturated(5)}, /* side by side alone */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fabs(proximity(rows[i].text) - rows[i].worth) > 1e-9)
            fail_msg("%s: %f, not %f", rows[i].text, proximity(rows[i].text), rows[i].worth);
}

TEST(proximity_has_its_most)
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        most += places_proximity_most(weights[i], 1.2);
    char *text = support_keep(mem_alloc(3001));
    for (int i = 0; i < 3000; i++)
        text[i] = "abc"[i % 3];
    assert_true(proximity(text) < most && proximity(text) > most * 0.99);
}

/* Places apart by steps of every size that a byte more begins with. */
TEST(packed_places_are_read_again)
{
    static const uint32_t steps[] = {0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152, 1u << 30};
    enum { COUNT = sizeof steps / sizeof *steps };
    struct place_bytes bytes = {0};
    struct occurrences p = {0};
    uint32_t at = 0;
    vec_push(&bytes.bytes, 0xff);
    for (size_t i = 0; i < COUNT; i++)
        places_pack(&bytes, steps[i]);
    places_unpack(bytes.bytes.items + 1, COUNT, 7, &p);
    assert_int_equal(p.items.len, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        at += steps[i];
        assert_int_equal(p.items.items[i].at, at);
        assert_int_equal(p.items.items[i].term, 7);
    }
    vec_release(&p.items);
    vec_release(&bytes.bytes);
}

static struct passage best_of(const char *text)
{
    struct occurrences p = places_of(text);
    const struct place_worth worth = {weights, 1.2, 1.2};
    struct passage out = places_passage(&p, &worth);
    vec_release(&p.items);
    return out;
}

TEST(the_best_passage_is_the_one_with_the_most)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addstr(&text, "a");
    for (int i = 0; i < 2 * PASSAGE_WORDS; i++)
        buf_addch(&text, '.');
    buf_addstr(&text, "aaaa");
    for (int i = 0; i < PASSAGE_WORDS; i++)
        buf_addch(&text, '.');
    buf_addstr(&text, "ab");
    for (int i = 0; i < PASSAGE_WORDS - 3; i++)
        buf_addch(&text, '.');
    buf_addstr(&text, "b.a");
    struct passage p = best_of(text.data);
    assert_int_equal(p.first, 5); /* to the b that is just near enough */
    assert_int_equal(p.end, 8);
    assert_true(fabs(p.worth - 2 * saturated(1) - 3 * saturated(2)) < 1e-9);
}

TEST(a_passage_of_nothing)
{
    struct passage p = best_of("");
    assert_true(p.worth == 0 && p.first == 0 && p.end == 0);
    p = best_of("...c");
    assert_true(p.first == 0 && p.end == 1 && fabs(p.worth - 0.5 * saturated(1)) < 1e-9);
}
