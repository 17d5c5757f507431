/* The terminal: its requests and modes, the effects of its answers, links, and characters and
 * locales that are not the usual ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/conversation.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/theme.h"

#define KITTY_ON "\033[>1u"
#define MODIFY_ON "\033[>4;1m"
#define SHIFT_ENTER "\033[13;2u"

static const struct screen_answer kitty[] = {
    {"\033[?u", "\033[?0u"},
    {"\033[>q", "\033P>|kitty(0.36.4)\033\\"},
    {"\033]11;?\033\\", "\033]11;rgb:0000/0000/0000\033\\"},
    {"\033]99;i=tiro:p=?;\033\\", "\033]99;i=tiro:p=?;a=focus:o=unfocused\033\\"},
    {NULL, NULL}};
static const struct screen_answer light[] = {
    {"\033]11;?\033\\", "\033]11;rgb:ffff/ffff/ffff\033\\"}, {NULL, NULL}};
static const struct screen_answer silent[] = {{"\033[c", NULL}, {NULL, NULL}};

static bool has_written(struct screen *s, void *bytes)
{
    return screen_log_has(s, bytes);
}

static bool wait_written(struct screen *s, const char *bytes)
{
    auto_free char *copy = mem_strdup(bytes);
    return screen_wait(s, has_written, copy, "bytes", WAIT_MS);
}

/* A row below the prompt's. */
static void assert_new_line(struct screen *s)
{
    act(s, "one");
    screen_type(s, SHIFT_ENTER);
    act(s, "two", "  two", "> one");
    assert_int_equal(model_server_requests(scene_server()), 0);
}

BEFORE_ALL(support_utf8);

FIXTURES(terminal, scene_setup, scene_teardown);

TEST(shift_enter_is_a_new_line)
{
    screen_answers(kitty);
    struct screen *s = scene_open(24, 80, NULL);
    assert_true(wait_written(s, KITTY_ON));
    assert_false(screen_log_has(s, MODIFY_ON));
    assert_new_line(s);
    screen_type(s, "\033[99;5u\033[100;5u"); /* Ctrl-C, Ctrl-D as kitty tells them */
    assert_true(screen_wait_exit(s, WAIT_MS));
    scene_assert_restored(s);
}

TEST(without_kitty_xterm_s_way_is_tried)
{
    struct screen *s = scene_open(24, 80, NULL);
    assert_true(wait_written(s, MODIFY_ON));
    assert_false(screen_log_has(s, KITTY_ON));
    screen_type(s, "one\033[27;2;13~two");
    see(s, "  two");
    act(s, "<ctrl-u><ctrl-c><ctrl-d>");
    assert_true(screen_wait_exit(s, WAIT_MS));
    scene_assert_restored(s);
}

static size_t first_written(struct screen *s, const char *bytes)
{
    size_t len;
    const char *log = screen_log(s, &len), *found = memmem(log, len, bytes, strlen(bytes));
    assert_non_null(found);
    return (size_t)(found - log);
}

TEST(a_terminal_that_answers_nothing_is_waited_for_by_nobody)
{
    screen_answers(silent);
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", "Hello.");
    assert_false(screen_log_has(s, KITTY_ON));
    assert_false(screen_log_has(s, MODIFY_ON));
    assert_true(first_written(s, "\033[?2026l") < first_written(s, "\033[?u")); /* a whole frame */
    scene_leave(s);
    scene_assert_restored(s);
}

/* Answers that arrive after the program's end do not become a line of the shell. */
TEST(answers_do_not_outlive_it)
{
    screen_answers(silent);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "<ctrl-d>");
    screen_type(s, "\033[?0u\033]11;rgb:0/0/0\033\\\033[?62;22c");
    assert_true(screen_wait_exit(s, WAIT_MS));
    scene_assert_restored(s);
    assert_int_equal(screen_unread(s), 0);
}

TEST(a_kill_or_a_crash_leaves_nothing)
{
    static const int signals[] = {SIGTERM, SIGSEGV};
    screen_answers(kitty);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct screen *s = scene_open(24, 80, NULL);
        assert_true(wait_written(s, KITTY_ON));
        scene_end(s, signals[i]);
        scene_assert_restored(s);
        assert_true(screen_log_has(s, "\033[<u"));
    }
}

/* How a theme's rules begin on a terminal of 256 colours. */
static char *rule_of(const char *name)
{
    struct theme theme;
    struct error e;
    assert_true(theme_load(name, &theme, &e));
    struct look look = theme_resolve(theme.looks[STYLE_RULE], 256);
    assert_true(look.fg >= 16);
    return mem_printf("\033[38;5;%dm", (int)look.fg);
}

TEST(the_theme_follows_the_background)
{
    screen_answers(light);
    struct screen *s = scene_open(24, 80, NULL);
    auto_free char *dark_rule = rule_of("dark"), *light_rule = rule_of("light");
    assert_string_not_equal(dark_rule, light_rule);
    assert_true(wait_written(s, light_rule));
    screen_forget_log(s);
    screen_type(s, "\033]11;rgb:0000/0000/0000\033\\");
    assert_true(wait_written(s, dark_rule));
    screen_forget_log(s);
    screen_type(s, "\033[?997;2n"); /* mode 2031: it has changed */
    assert_true(wait_written(s, "\033]11;?\033\\"));
    assert_true(wait_written(s, light_rule));
    scene_leave(s);
    scene_assert_restored(s);
}

TEST(a_chosen_theme_stays)
{
    setenv("TIRO_UI_THEME", "dark", 1);
    screen_answers(light);
    struct screen *s = scene_open(24, 80, NULL);
    assert_true(wait_written(s, MODIFY_ON)); /* so the background was told */
    scene_exchange(s, "hi", "Hello.");
    auto_free char *light_rule = rule_of("light");
    assert_false(screen_log_has(s, light_rule));
    scene_leave(s);
}

TEST(a_tool_that_asks_calls_who_looks_elsewhere)
{
    screen_answers(kitty);
    struct screen *s = scene_open(24, 80, (const char *const[]){"--tools", "full", NULL});
    assert_true(wait_written(s, KITTY_ON));
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch one\"}",
                .hold = true);
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch two\"}");
    scene_queue(.text = "All is done.");
    act(s, "do it<enter>");
    screen_type(s, "\033[O");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    model_server_release(scene_server());
    assert_true(wait_written(s, "\033]99;i=tiro:p=body;do it: may run_command run?\033\\"));
    screen_forget_log(s);
    act(s, "\033[I", "touch one", "a allow once");
    act(s, "a", "touch two", "a allow once");
    act(s, "a", "All is done.");
    assert_false(screen_log_has(s, "\033]99"));
}

TEST(the_end_of_a_turn_calls_who_looks_elsewhere)
{
    setenv("TIRO_UI_NOTIFY_AFTER", "1", 1);
    struct screen *s = scene_open(24, 80, NULL);
    scene_queue(.fault = REPLY_STALL, .text = "as far as the");
    act(s, "begin<enter>");
    act(s, "\033[O", "as far as", "2 s"); /* it has taken that long */
    model_server_release(scene_server());
    assert_true(wait_written(s, "\033]9;tiro: begin: the answer is complete\033\\\a"));
}

/* The text within links, each link in brackets, without attributes and positions. */
static char *linked_text(struct screen *s)
{
    static const char on[] = "\033]8;id=", off[] = "\033]8;;";
    struct buf out = BUF_INIT;
    size_t len;
    const char *log = screen_log(s, &len), *end = log + len;
    for (const char *p = log; (p = memmem(p, (size_t)(end - p), on, sizeof on - 1));) {
        p = memmem(p, (size_t)(end - p), "\033\\", 2);
        const char *stop = p ? memmem(p, (size_t)(end - p), off, sizeof off - 1) : NULL;
        assert_non_null(stop); /* no link is left open */
        buf_addch(&out, '[');
        for (p += 2; p < stop; p++)
            if (*p != '\033')
                buf_addch(&out, *p);
            else if (p[1] == '[')
                p += 2 + strcspn(p + 2, "mHGCDABdK");
            else
                p += 2; /* ESC ( B */
        buf_addch(&out, ']');
    }
    return buf_take(&out);
}

TEST(links_are_told)
{
    struct screen *s = scene_open(24, 80, NULL);
    model_server_queue(
        scene_server(),
        &(struct reply){.text = "See [the page](https://e.org/page) or [this](javascript:x)."});
    scene_ask(s, "where", "See the page (https://e.org/page) or this (javascript:x).");
    screen_forget_log(s);
    act(s, "<ctrl-l>");
    assert_true(wait_written(s, ";https://e.org/page\033\\"));
    act(s, "typing draws no link again", "> typing draws no link again");
    assert_false(screen_log_has(s, ";javascript"));
    auto_free char *linked = linked_text(s);
    assert_string_equal(linked, "[the page][https://e.org/page]");
    see(s, "See the page (https://e.org/page) or this");
    act(s, "<ctrl-u>");
    scene_leave(s);
}

/* In each row "link (ADDRESS)" leads to its address; no other text has a link. */
static void assert_links(struct screen *s)
{
    int rows, cols, seen = 0;
    screen_size(s, &rows, &cols);
    for (int row = 0; row < rows; row++) {
        auto_free char *text = mem_strdup(screen_row_text(s, row));
        char *link = strstr(text, "link (https"), *address = link ? link + 6 : NULL;
        char *end = address ? strchr(address, ')') : NULL;
        if (end)
            *end = '\0';
        for (int col = 0; col < cols; col++) {
            int first = end ? (int)utf8_width(text, (size_t)(link - text)) : cols;
            int place = first + 6;
            bool in = (col >= first && col < first + 4) ||
                      (end && col >= place && col < place + (int)strlen(address));
            if (strcmp(screen_link(s, row, col), in ? address : "") != 0)
                fail_msg("row %d, column %d leads to \"%s\": %s", row, col,
                         screen_link(s, row, col), text);
        }
        seen += end != NULL;
    }
    assert_true(seen > 0);
}

static void move_links_about(uint64_t seed)
{
    AUTO(buf_release) struct buf answer = BUF_INIT, typed = BUF_INIT, wanted = BUF_INIT;
    struct dice d = {seed};
    for (int i = 0; i < 60; i++)
        buf_addf(&answer,
                 dice_below(&d, 3) ? "- [link](https://e.org/%d) and more\n" : "- link %d\n",
                 (int)dice_below(&d, 40));
    buf_addstr(&answer, "- [link](https://e.org/last)\n\nThe end of it.");
    scene_queue(.text = answer.data);
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "list", "The end of it.");
    assert_links(s);
    for (int i = 0; i < 60; i++) {
        static const char *const moves[] = {"<pageup>",   "<pagedown>", "<ctrl-l>",
                                            "<wheel-up>", "<wheel-up>", "<wheel-down>"};
        act(s, moves[dice_below(&d, 6)]);
        if (typed.len == 20) {
            act(s, "<ctrl-u>");
            buf_clear(&typed);
        }
        buf_addch(&typed, (char)('a' + i % 26));
        screen_type(s, typed.data + typed.len - 1);
        buf_clear(&wanted);
        buf_addf(&wanted, "> %s", typed.data);
        see(s, wanted.data);
        assert_links(s);
    }
    screen_resize(s, 18, 70);
    assert_true(screen_wait_row(s, 17, "> ", WAIT_MS));
    assert_links(s);
}

/* However the text moves below them. With the first seed a row moves away from the place of an
 * equal-looking one. */
TEST(links_stay_with_their_text)
{
    move_links_about(117660978784021);
    move_links_about(support_seed());
}

static size_t last_written(struct screen *s, const char *bytes)
{
    size_t len, last = 0;
    const char *log = screen_log(s, &len);
    for (size_t i = 0; i + strlen(bytes) <= len; i++)
        if (memcmp(log + i, bytes, strlen(bytes)) == 0)
            last = i;
    assert_true(last > 0);
    return last;
}

/* curses has blanks in its place, which a link draws once more. */
TEST(an_emoji_in_a_link_stays)
{
    static const char family[] = "\U0001f469\u200d\U0001f469\u200d\U0001f467";
    AUTO(buf_release) struct buf answer = BUF_INIT;
    buf_addf(&answer, "See [a %s here](https://e.org/family) and more.", family);
    scene_queue(.text = answer.data);
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "who", "and more.");
    screen_forget_log(s);
    act(s, "<ctrl-l>drawn", "> drawn");
    assert_true(last_written(s, family) > last_written(s, "\033]8;;\033\\"));
}

/* --- characters and locales --- */

/* The program with another environment: NAME=VALUE, ending with NULL. */
static struct screen *open_with(const char *const *environment)
{
    const char *argv[8] = {"/usr/bin/env"};
    size_t count = 1;
    for (; *environment; environment++)
        argv[count++] = *environment;
    argv[count] = support_program();
    struct screen *s = scene_run(24, 80, argv);
    assert_true(scene_wait_prompt(s));
    return s;
}

#define OPEN_WITH(...) open_with((const char *const[]){__VA_ARGS__, NULL})

/* Exchanges a question for an answer, and checks the text that must be visible. */
static void exchange(struct screen *s, const char *answer, const char *shown)
{
    scene_queue(.text = answer);
    scene_ask(s, "next", shown);
}

static const char *const graphemes[] = {
    "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466", /* a family */
    "\U0001F1EF\U0001F1F5",                                       /* a flag */
    "\U0001F44D\U0001F3FD",                                       /* a skin tone */
    "\u2764\uFE0F",                                               /* the look of an emoji */
    "1\uFE0F\u20E3",                                              /* a keycap */
    "Z\u0301\u0302\u0303\u0304\u0305\u0306",                      /* many marks */
};

TEST(graphemes_reach_the_terminal_whole)
{
    struct screen *s = scene_open(24, 80, NULL);
    for (size_t i = 0; i < sizeof graphemes / sizeof *graphemes; i++) {
        char answer[128], shown[32];
        snprintf(shown, sizeof shown, "number %zu.", i);
        snprintf(answer, sizeof answer, "<%s> %s", graphemes[i], shown);
        screen_forget_log(s);
        exchange(s, answer, shown);
        if (!screen_log_has(s, graphemes[i]))
            fail_msg("grapheme %zu did not arrive as it is", i);
    }
    scene_leave(s);
}

TEST(what_follows_a_grapheme_stands_where_it_should)
{
    struct screen *s = scene_open(24, 80, NULL);
    int row, col;
    exchange(s, "<\U0001F468\u200D\U0001F469\u200D\U0001F467> behind it", "> behind it");
    assert_true(screen_find(s, "> behind it", &row, &col));
    assert_true(screen_cell_is(s, row, col - 7, '<')); /* as wcwidth() counts, for any terminal */
    assert_true(screen_cell_is(s, row, col - 6, 0x1F468));
    scene_leave(s);
}

/* curses takes the grapheme for blanks, and must not leave it where other text comes. */
TEST(a_grapheme_goes_with_its_row)
{
    struct screen *s = scene_open(12, 60, NULL);
    exchange(s, "- \U0001F44D\U0001F3FD one\n- two\n- end of it", "end of it");
    see(s, "\U0001F44D");
    static const char *const answers[] = {"first.", "second.", "third.", "fourth."};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        exchange(s, answers[i], answers[i]);
    see(s, "!\U0001F44D");
    for (int i = 0; i < 40 && !strstr(screen_text(s), "one"); i++) {
        act(s, "<pageup>");
        (void)screen_pump(s, 50);
    }
    see(s, "\U0001F44D\U0001F3FD one");
    assert_true(screen_wait_count(s, "\U0001F44D", 1, WAIT_MS));
    scene_leave(s);
}

/* Links are drawn once more behind the frame. */
TEST(a_grapheme_can_be_a_link)
{
    struct screen *s = scene_open(24, 80, NULL);
    exchange(s, "see [\U0001F44D\U0001F3FD so](http://x.org/a) there.", "there.");
    see(s, "see \U0001F44D\U0001F3FD so");
    act(s, "/help<enter>", "!\U0001F44D");
    act(s, "<escape>", "see \U0001F44D\U0001F3FD so");
    scene_leave(s);
}

/* Alone in its row it is nothing but blanks for curses. */
TEST(a_grapheme_goes_where_nothing_takes_its_place)
{
    struct screen *s = scene_open(24, 80, NULL);
    exchange(s, "first.", "first."); /* so that nothing new stands there after /new */
    exchange(s, "second.", "second.");
    exchange(s, "\U0001F44D\U0001F3FD", "\U0001F44D\U0001F3FD");
    act(s, "/new<enter>", "!\U0001F44D");
    scene_leave(s);
}

TEST(what_the_locale_lacks_is_transliterated)
{
    struct screen *s = OPEN_WITH("LC_ALL=C", "LANG=C");
    see(s, "LC_ALL=C.UTF-8");
    exchange(s, "für Köln, 5 € → ‘straße’ 日本|", "fur Koln, 5 EUR -> 'strasse' ??|");
    act(s, "Köln", "> Koln");
    act(s, "<backspace*3>n", "> Kn");
    act(s, "\u00fc<enter>", "Hello from");
    scene_sent(1, "Kn\u00fc");
}

TEST(german_has_its_own_transliteration)
{
    struct screen *s = OPEN_WITH("LC_ALL=C", "LANG=de_DE");
    exchange(s, "für Köln, im Café", "fuer Koeln, im Cafe");
}

TEST(a_locale_that_is_not_installed_is_told)
{
    struct screen *s = OPEN_WITH("LC_ALL=xx_XX.UTF-8");
    see(s, "\"xx_XX.UTF-8\" is not installed");
    scene_exchange(s, "hello", "für Köln \u2192");
    see(s, "für Köln \u2192");
    scene_leave(s);
}

TEST(an_unknown_terminal_is_taken_for_xterm)
{
    struct screen *s = OPEN_WITH("TERM=no-such-terminal");
    see(s, "\"no-such-terminal\" (TERM) is unknown");
    scene_exchange(s, "hello", "it works.");
    scene_leave(s);
    scene_assert_restored(s);
    s = OPEN_WITH("-u", "TERM");
    see(s, "TERM is not set");
    scene_leave(s);
    scene_assert_restored(s);
}

/* A tag, a selector of ideographs, an invisible sign, a selector that no emoji has, an override
 * and a control of eight bits. */
#define HIDDEN "\U000E0072\U000E0142\u2062\uFE01\u202E\xC2\x85"
#define HIDDEN_JSON "\\udb40\\udc72\\udb40\\udd42\\u2062\\ufe01\\u202e\\u0085"

static void assert_none_raw(struct screen *s)
{
    static const char *const never[] = {"\xF3\xA0", "\u2062", "\uFE01", "\u202E", "\xC2\x85"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (screen_log_has(s, never[i]))
            fail_msg("hidden character %zu is raw on the terminal:\n%s", i, screen_text(s));
    screen_forget_log(s);
}

/* Each kind of content on the screen contains hidden text, which must show as marks. */
TEST_IF(capability_store() && capability_memory(), test_hidden_text_shows_as_marks_everywhere)
{
    static const char name[] = "note" HIDDEN ".md";
    char *path = support_path(name);
    support_write(path, "# Passage" HIDDEN "\n\nblossoms" HIDDEN "\n");
    run_ok(RUN("corpus", "add", "docs", path));
    run_ok(RUN("graph", "add", "Ada" HIDDEN, "--type", "person" HIDDEN, "observed" HIDDEN));
    run_ok(RUN("learned", "add", "learned" HIDDEN));
    struct screen *s = scene_open(30, 120, (const char *const[]){"--tools", "full", NULL});
    scene_queue(.text = "reasoned" HIDDEN " **bold" HIDDEN "** `code" HIDDEN "` [link" HIDDEN
                        "](http://x/" HIDDEN ")\n\n```c" HIDDEN "\nint x" HIDDEN ";\n```\n",
                .tool_name = "run_command", .tool_args = "{\"command\":\"echo " HIDDEN "\"}");
    act(s, "words" HIDDEN);
    scene_queue(.text = "# answered" HIDDEN "\n\n|a" HIDDEN "|b|\n|-|-|\n|c|d|\n");
    act(s, "<enter>", "a allow once");
    act(s, "a", "answered", IDLE);
    assert_none_raw(s);
    static const char *const steps[][3] = {
        {"<ctrl-o>", "echo"},
        {"/rename title" HIDDEN "<enter>", "tiro ─ title"},
        {"@note<tab>", ".md", "<ctrl-u>"},
        {"<ctrl-r>words", "words", "<enter><ctrl-u>"},
        {"<ctrl-f>answered" HIDDEN, "answered", "<ctrl-c>"},
        {"<ctrl-p>" HIDDEN, "", "<ctrl-c>"},
        {"<f2>words" HIDDEN, "Memory"},
        {"\033[17~", "learned"},
        {"\033[17~", "Ada"},
        {"\033[17~", "docs"},
        {"<enter><enter>", "note", "<f2>"},
        {"<f3>", "title", "<f3>"},
        {"<f4>", "Context  ~", "<down><enter><end><enter><f4>"},
        {"/learned<enter>", "learned", "<f2>"},
        {"/resume <tab>", "title", "<ctrl-c>"},
        {"<alt-l>", "words", "<escape>"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        act(s, steps[i][0], steps[i][1]);
        if (steps[i][2]) {
            act(s, steps[i][2], "");
            assert_true(scene_wait_prompt(s));
        }
        assert_none_raw(s);
    }
    assert_text(program_output(RUN("sessions", "show", "--json")), "reasoned" HIDDEN_JSON);
    assert_text(program_output(RUN("sessions", "list", "--json")), "answered" HIDDEN_JSON);
}
