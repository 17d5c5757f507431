/* Answers of a terminal: their meaning, and that wrong ones have no effect. Notifications to an
 * absent user: the bytes for each terminal, and the moment. */
#include "tests/suite.h"
#include "ui/term/probe.h"

BEFORE_ALL(support_utf8);

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
    } cases[] = {
        {"[?0u", true}, {"P>|XTerm(379)", true}, {"P>|tmux 3.3a", false}, {"[?62c", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe p = {.pending = 1};
        (void)probe_take(&p, cases[i].answer);
        assert_int_equal(probe_reports_focus(&p), cases[i].reports);
    }
}

/* --- notifications --- */

static char *written(const char *word, const struct probe *terminal, bool tmux, const char *text)
{
    struct buf out = BUF_INIT;
    notification_write(&out, notification_by_word(word), terminal, tmux, text);
    return support_keep(out.data ? buf_take(&out) : NULL);
}

TEST(test_bytes_of_notifications)
{
    static const struct {
        const char *word, *name;
        bool osc99, tmux;
        const char *want;
    } cases[] = {
        {"auto", "", false, false, "\033]9;tiro: Kyoto: done\033\\\a"},
        {"auto", "WezTerm 2024", false, false, "\033]9;tiro: Kyoto: done\033\\"},
        {"auto", "foot(1.16)", false, false, "\033]777;notify;tiro;Kyoto: done\033\\"},
        {"auto", "unheard of", true, false,
         "\033]99;i=tiro:d=0:o=unfocused;tiro\033\\\033]99;i=tiro:p=body;Kyoto: done\033\\"},
        {"auto", "tmux 3.3a", false, true,
         "\033Ptmux;\033\033]9;tiro: Kyoto: done\033\033\\\033\\\a"},
        {"osc777", "tmux 3.3a", false, true,
         "\033Ptmux;\033\033]777;notify;tiro;Kyoto: done\033\033\\\033\\"},
        {"osc9", "kitty", true, false, "\033]9;tiro: Kyoto: done\033\\"},
        {"bell", "kitty", true, true, "\a"},
        {"off", "kitty", true, true, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe terminal = {.osc99 = cases[i].osc99};
        memcpy(terminal.name, cases[i].name, strlen(cases[i].name));
        char *got = written(cases[i].word, &terminal, cases[i].tmux, "Kyoto: done");
        assert_string_equal(got ? got : "", cases[i].want);
    }
}

TEST(test_long_texts_are_cut_between_characters)
{
    struct probe terminal = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addstr(&text, "京");
    char *got = written("osc9", &terminal, false, text.data);
    assert_true(strlen(got) < 400);
    assert_string_equal(got + strlen(got) - 5, "京\033\\");
}

TEST(test_when_to_notify)
{
    static const struct {
        const char *after;
        enum focus focus;
        int64_t took_ms;
        bool due;
    } cases[] = {{"20", FOCUS_ELSEWHERE, 20000, true}, {"20", FOCUS_ELSEWHERE, 19999, false},
                 {"20", FOCUS_UNKNOWN, 20000, true},   {"20", FOCUS_HERE, 20000, false},
                 {"20", FOCUS_HERE, INT64_MAX, false}, {"0", FOCUS_ELSEWHERE, INT64_MAX, false}};
    struct error e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(config_free_local) struct config *config = config_new();
        assert_true(config_set(config, CONFIG_UI_NOTIFY_AFTER, cases[i].after, &e));
        assert_int_equal(notification_is_due(config, cases[i].focus, cases[i].took_ms),
                         cases[i].due);
        assert_true(config_set(config, CONFIG_UI_NOTIFY, "off", &e));
        assert_false(notification_is_due(config, cases[i].focus, cases[i].took_ms));
    }
}

TEST(test_focus_of_keys)
{
    enum focus focus = FOCUS_UNKNOWN;
    const struct key in = {.code = K_FOCUS_IN}, out = {.code = K_FOCUS_OUT},
                     typed = {.code = K_CHAR, .cp = 'a'}, wheel = {.code = K_WHEEL_UP};
    assert_false(notification_saw(&focus, &typed)); /* nobody knows for how long */
    assert_int_equal(focus, FOCUS_UNKNOWN);
    assert_true(notification_saw(&focus, &out));
    assert_false(notification_saw(&focus, &wheel)); /* it comes without the keyboard */
    assert_int_equal(focus, FOCUS_ELSEWHERE);
    assert_false(notification_saw(&focus, &typed));
    assert_int_equal(focus, FOCUS_HERE);
    assert_true(notification_saw(&focus, &in));
    assert_int_equal(focus, FOCUS_HERE);
}
