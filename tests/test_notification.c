/* Notifications to an absent user: the bytes for each terminal, and the moment. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/probe.h"
#include "ui/term/term.h"

static char *written(const char *word, const struct probe *terminal, bool tmux, const char *text)
{
    struct buf out = BUF_INIT;
    notification_write(&out, notification_by_word(word), terminal, tmux, text);
    return support_keep(out.data ? buf_take(&out) : NULL);
}

BEFORE_ALL(support_utf8);

TEST(test_bytes)
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
    struct buf text = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addstr(&text, "京");
    char *got = written("osc9", &terminal, false, text.data);
    assert_true(strlen(got) < 400);
    assert_string_equal(got + strlen(got) - 5, "京\033\\");
    buf_release(&text);
}

TEST(test_when)
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
        struct config *config = config_new();
        assert_true(config_set(config, CONFIG_UI_NOTIFY_AFTER, cases[i].after, &e));
        assert_int_equal(notification_is_due(config, cases[i].focus, cases[i].took_ms), cases[i].due);
        assert_true(config_set(config, CONFIG_UI_NOTIFY, "off", &e));
        assert_false(notification_is_due(config, cases[i].focus, cases[i].took_ms));
        config_free(config);
    }
}

TEST(test_focus)
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
