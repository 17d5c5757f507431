/* Answers of a terminal: their meaning, and that wrong ones have no effect. */
#include <string.h>

#include "tests/suite.h"
#include "ui/term/probe.h"

TEST(test_the_end)
{
    struct probe p = {.pending = 1};
    assert_int_equal(probe_take(&p, "[?62;22"), PROBE_NOTHING);
    assert_int_equal(probe_take(&p, "[?62;22n"), PROBE_NOTHING);
    assert_int_equal(probe_take(&p, "[?62;22c"), PROBE_ENDED);
    assert_int_equal(p.pending, 0);
    assert_int_equal(probe_take(&p, "[?62;22c"), PROBE_NOTHING); /* nobody asked */
    assert_int_equal(p.pending, 0);
    assert_false(p.kitty_keyboard || p.osc99 || p.ground_known);
}

TEST(test_what_it_can)
{
    struct probe p = {0};
    assert_int_equal(probe_take(&p, "[?0u"), PROBE_NOTHING);
    assert_true(p.kitty_keyboard);
    assert_int_equal(probe_take(&p, "]99;i=tiro:p=?;a=focus"), PROBE_NOTHING);
    assert_true(p.osc99);
    assert_int_equal(probe_take(&p, "P>|kitty(0.36.0)"), PROBE_NOTHING);
    assert_true(probe_is(&p, "kitty"));
    assert_false(probe_is(&p, "foot"));
    char longer[200] = "P>|";
    memset(longer + 3, 'x', sizeof longer - 4);
    (void)probe_take(&p, longer);
    assert_int_equal(strlen(p.name), PROBE_NAME_MAX - 1);
}

TEST(test_background)
{
    static const struct {
        const char *answer;
        enum probe_news news;
        bool light;
    } cases[] = {{"]11;rgb:0000/0000/0000", PROBE_GROUND, false},
                 {"]11;rgb:ffff/ffff/ffff", PROBE_GROUND, true},
                 {"]11;rgb:ff/ff/ff", PROBE_GROUND, true},
                 {"]11;rgb:f/f/f", PROBE_GROUND, true},
                 {"]11;rgba:fdfd/f6f6/e3e3/ffff", PROBE_GROUND, true}, /* Solarized */
                 {"]11;rgb:0000/2b2b/3636", PROBE_GROUND, false},
                 {"]11;rgb:0000/ffff/0000", PROBE_GROUND, true}, /* green seems light, blue not */
                 {"]11;rgb:0000/0000/ffff", PROBE_GROUND, false},
                 {"]11;rgb:ffff/ffff", PROBE_NOTHING, false},
                 {"]11;rgb:fffff/ffff/ffff", PROBE_NOTHING, false},
                 {"]11;rgb:///", PROBE_NOTHING, false},
                 {"]11;white", PROBE_NOTHING, false},
                 {"]11;?", PROBE_NOTHING, false},
                 {"]10;rgb:ffff/ffff/ffff", PROBE_NOTHING, false},
                 {"[?997;1n", PROBE_GROUND, false},
                 {"[?997;2n", PROBE_GROUND, true},
                 {"[?997;3n", PROBE_NOTHING, false},
                 {"[?997;n", PROBE_NOTHING, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe p = {.pending = 1};
        if (probe_take(&p, cases[i].answer) != cases[i].news || p.light != cases[i].light ||
            p.ground_known != (cases[i].news == PROBE_GROUND))
            fail_msg("%s", cases[i].answer);
    }
}

/* The colour counts more than the word, and a new word is a reason to ask for the colour. */
TEST(test_background_changes)
{
    struct probe p = {.pending = 1};
    assert_int_equal(probe_take(&p, "[?997;2n"), PROBE_GROUND);
    assert_int_equal(probe_take(&p, "]11;rgb:0/0/0"), PROBE_GROUND);
    assert_false(p.light);
    assert_int_equal(probe_take(&p, "[?997;2n"), PROBE_NOTHING); /* the answer will tell */
    assert_int_equal(probe_take(&p, "[?62c"), PROBE_ENDED);
    assert_int_equal(probe_take(&p, "[?997;2n"), PROBE_ASK);
    assert_false(p.light);
    p.pending = 1;
    assert_int_equal(probe_take(&p, "]11;rgb:0/0/0"), PROBE_NOTHING); /* it is no other */
    assert_int_equal(probe_take(&p, "]11;rgb:f/f/f"), PROBE_GROUND);
    struct probe wordy = {0}; /* tells no colour */
    assert_int_equal(probe_take(&wordy, "[?997;2n"), PROBE_GROUND);
    assert_int_equal(probe_take(&wordy, "[?997;2n"), PROBE_NOTHING);
    assert_int_equal(probe_take(&wordy, "[?997;1n"), PROBE_GROUND);
}

TEST(test_focus)
{
    static const struct {
        const char *answer;
        bool reports;
    } cases[] = {{"[?0u", true},
                 {"P>|XTerm(379)", true},
                 {"P>|tmux 3.3a", false},
                 {"[?62c", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe p = {.pending = 1};
        (void)probe_take(&p, cases[i].answer);
        assert_int_equal(probe_reports_focus(&p), cases[i].reports);
    }
}
