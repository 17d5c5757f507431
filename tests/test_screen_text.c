/* Characters and terminals that are not as the usual ones: graphemes of many characters, locales
 * without UTF-8, a TERM that nobody knows. */
#include <stdio.h>
#include <string.h>

#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

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

FIXTURE(scene_setup, scene_teardown);

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

TEST(a_known_terminal_needs_no_note)
{
    struct screen *s = scene_open(24, 80, NULL);
    see(s, "!TERM", "!locale");
    scene_leave(s);
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
