/* The terminal: its requests and modes, the effects of its answers, links, and characters and
 * locales that are not the usual ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>

#include "base/utf8.h"
#include "tests/conversation.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
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

static void answer_as(const char *terminal)
{
    screen_answers(*terminal == 'k' ? kitty : *terminal == 'l' ? light : silent);
}

/* How the rules of a theme begin on a terminal of 256 colours. */
static char *rule_of(const char *name)
{
    struct theme theme;
    struct error e;
    assert_true(theme_load(name, false, &theme, &e));
    struct look look = theme_resolve(theme.looks[STYLE_RULE], 256);
    assert_true(look.fg >= 16);
    return support_text("\033[38;5;%dm", (int)look.fg);
}

/* The program with another environment: NAME=VALUE, one a word. */
static void open_with(const char *environment)
{
    const char *argv[8] = {"/usr/bin/env"};
    char *words = support_text("%s", environment), *save = NULL;
    size_t count = 1;
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[count++] = w;
    argv[count] = support_program();
    (void)scene_run(24, 80, argv);
    play("=prompt");
}

/* "ANSWER|SHOWN": the answer to the next question, and what must be visible of it. */
static void next(const char *answer_and_shown)
{
    const char *shown = strchr(answer_and_shown, '|') + 1;
    play(support_text("=says %.*s", (int)(shown - answer_and_shown - 1), answer_and_shown),
         support_text("=ask next|%s", shown));
}

/* A tag, a selector of ideographs, an invisible sign, a selector that no emoji has, an override
 * and a control of eight bits. */
#define HIDDEN "\U000E0072\U000E0142\u2062\uFE01\u202E\xC2\x85"
#define HIDDEN_JSON "\\udb40\\udc72\\udb40\\udd42\\u2062\\ufe01\\u202e\\u0085"

static void assert_none_raw(void)
{
    static const char *const never[] = {"\xF3\xA0", "\u2062", "\uFE01", "\u202E", "\xC2\x85"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (screen_log_has(scene(), never[i]))
            fail_msg("hidden character %zu is raw on the terminal:\n%s", i, screen_text(scene()));
    screen_forget_log(scene());
}

/* Compares the text within links, each link in brackets, without attributes and positions. */
static void is_linked(const char *wanted)
{
    static const char on[] = "\033]8;id=", off[] = "\033]8;;";
    AUTO(buf_release) struct buf out = BUF_INIT;
    size_t len;
    const char *log = screen_log(scene(), &len), *end = log + len;
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
    assert_string_equal(out.data, wanted);
}

static const struct step steps[] = {
    {"answers", .run = answer_as}, {"with", .run = open_with},           {"next", .run = next},
    {"linked", .run = is_linked},  {"veiled", .alone = assert_none_raw}, {.name = NULL}};

BEFORE_ALL(support_utf8);

SCENE(steps);

PLAY(shift_enter_is_a_new_line, "=answers kitty", "=open", "=writes " KITTY_ON,
     "=unwritten " MODIFY_ON, ":one" SHIFT_ENTER "two", "  two",
     "> one",                                 /* a row below the prompt's */
     "=requests 0", ":\033[99;5u\033[100;5u", /* Ctrl-C, Ctrl-D as kitty tells them */
     "=exit", "=restored");

PLAY(without_kitty_xterm_s_way_is_tried, "=open", "=writes " MODIFY_ON, "=unwritten " KITTY_ON,
     ":one\033[27;2;13~two", "  two", ":<ctrl-u><ctrl-c><ctrl-d>", "=exit", "=restored");

static size_t place_written(const char *bytes, bool last)
{
    size_t len, place = SIZE_MAX;
    const char *log = screen_log(scene(), &len);
    for (size_t i = 0; i + strlen(bytes) <= len && (last || place == SIZE_MAX); i++)
        if (memcmp(log + i, bytes, strlen(bytes)) == 0)
            place = i;
    assert_true(place < SIZE_MAX);
    return place;
}

TEST(a_terminal_that_answers_nothing_is_waited_for_by_nobody)
{
    play("=answers silent", "=open", "=exchange hi|Hello.", "=unwritten " KITTY_ON,
         "=unwritten " MODIFY_ON);
    /* a whole frame comes first */
    assert_true(place_written("\033[?2026l", false) < place_written("\033[?u", false));
    play("=leave", "=restored");
}

/* Answers that arrive after the program's end do not become a line of the shell. */
TEST(answers_do_not_outlive_it)
{
    play("=answers silent", "=open", ":<ctrl-d>", ":\033[?0u\033]11;rgb:0/0/0\033\\\033[?62;22c",
         "=exit", "=restored");
    assert_int_equal(screen_unread(scene()), 0);
}

TEST(a_kill_or_a_crash_leaves_nothing)
{
    static const int signals[] = {SIGTERM, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        play("=answers kitty", "=open", "=writes " KITTY_ON);
        scene_end(scene(), signals[i]);
        play("=restored", "=wrote \033[<u");
    }
}

TEST(the_theme_follows_the_background)
{
    char *dark = rule_of("dark"), *light_rule = rule_of("light");
    assert_string_not_equal(dark, light_rule);
    play("=answers light", "=open", support_text("=writes %s", light_rule), "=forget",
         ":\033]11;rgb:0000/0000/0000\033\\", support_text("=writes %s", dark), "=forget",
         ":\033[?997;2n", /* mode 2031: it has changed */
         "=writes \033]11;?\033\\", support_text("=writes %s", light_rule), "=leave", "=restored");
}

TEST(a_chosen_theme_stays)
{
    play("=env TIRO_UI_THEME=dark", "=answers light", "=open",
         "=writes " MODIFY_ON, /* so the background was told */
         "=exchange hi|Hello.", support_text("=unwritten %s", rule_of("light")), "=leave");
}

PLAY(a_tool_that_asks_calls_who_looks_elsewhere, "=answers kitty", "=open 24 80 --tools full",
     "=writes " KITTY_ON, "=holds run_command {\"command\":\"touch one\"}",
     "=calls run_command {\"command\":\"touch two\"}", "=says All is done.", ":do it<enter>",
     ":\033[O", "=wait 1", "=release",
     "=writes \033]99;i=tiro:p=body;do it: may run_command run?\033\\", "=forget", ":\033[I",
     "touch one", "a allow once", ":a", "touch two", "a allow once", ":a", "All is done.",
     "=unwritten \033]99");

PLAY(the_end_of_a_turn_calls_who_looks_elsewhere, "=env TIRO_UI_NOTIFY_AFTER=1", "=open",
     "=stalls as far as the", ":begin<enter>", ":\033[O", "as far as",
     "2 s", /* it has taken that long */
     "=release", "=writes \033]9;tiro: begin: the answer is complete\033\\\a");

PLAY(links_are_told, "=open", "=says See [the page](https://e.org/page) or [this](javascript:x).",
     "=ask where|See the page (https://e.org/page) or this (javascript:x).", "=forget", ":<ctrl-l>",
     "=writes ;https://e.org/page\033\\", ":typing draws no link again",
     "> typing draws no link again", "=unwritten ;javascript",
     "=linked [the page][https://e.org/page]", "See the page (https://e.org/page) or this",
     ":<ctrl-u>", "=leave");

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

/* curses has blanks in its place, which a link draws once more. */
TEST(an_emoji_in_a_link_stays)
{
#define FAMILY "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    play("=says See [a " FAMILY " here](https://e.org/family) and more.", "=open",
         "=ask who|and more.", "=forget", ":<ctrl-l>drawn", "> drawn");
    assert_true(place_written(FAMILY, true) > place_written("\033]8;;\033\\", true));
}

/* --- characters and locales --- */

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
    play("=open");
    for (size_t i = 0; i < sizeof graphemes / sizeof *graphemes; i++)
        play("=forget", support_text("=next <%s> number %zu.|number %zu.", graphemes[i], i, i),
             support_text("=wrote %s", graphemes[i]));
    play("=leave");
}

TEST(what_follows_a_grapheme_stands_where_it_should)
{
    int row, col;
    play("=open", "=next <\U0001F468\u200D\U0001F469\u200D\U0001F467> behind it|> behind it");
    assert_true(screen_find(scene(), "> behind it", &row, &col));
    assert_true(screen_cell_is(scene(), row, col - 7, '<')); /* as wcwidth() counts */
    assert_true(screen_cell_is(scene(), row, col - 6, 0x1F468));
    play("=leave");
}

/* curses takes the grapheme for blanks, and must not leave it where other text comes. */
TEST(a_grapheme_goes_with_its_row)
{
    play("=open 12 60", "=next - \U0001F44D\U0001F3FD one\n- two\n- end of it|end of it",
         "\U0001F44D", "=next first.|first.", "=next second.|second.", "=next third.|third.",
         "=next fourth.|fourth.", "!\U0001F44D");
    for (int i = 0; i < 40 && !strstr(screen_text(scene()), "one"); i++) {
        play(":<pageup>");
        (void)screen_pump(scene(), 50);
    }
    play("\U0001F44D\U0001F3FD one", "=count 1 \U0001F44D", "=leave");
}

/* Links are drawn once more behind the frame. */
PLAY(a_grapheme_can_be_a_link, "=open",
     "=next see [\U0001F44D\U0001F3FD so](http://x.org/a) there.|there.",
     "see \U0001F44D\U0001F3FD so", ":/help<enter>", "!\U0001F44D", ":<escape>",
     "see \U0001F44D\U0001F3FD so", "=leave");

/* Alone in its row it is nothing but blanks for curses. */
PLAY(a_grapheme_goes_where_nothing_takes_its_place, "=open",
     "=next first.|first.", /* so that nothing new stands there after /new */
     "=next second.|second.", "=next \U0001F44D\U0001F3FD|\U0001F44D\U0001F3FD", ":/new<enter>",
     "!\U0001F44D", "=leave");

PLAY(what_the_locale_lacks_is_transliterated, "=with LC_ALL=C LANG=C", "LC_ALL=C.UTF-8",
     "=next für Köln, 5 € → ‘straße’ 日本.|fur Koln, 5 EUR -> 'strasse' ??.", ":Köln", "> Koln",
     ":<backspace*3>n", "> Kn", ":\u00fc<enter>", "Hello from", "=sent 1 Kn\u00fc");

PLAY(german_has_its_own_transliteration, "=with LC_ALL=C LANG=de_DE",
     "=next für Köln, im Café|fuer Koeln, im Cafe");

PLAY(a_locale_that_is_not_installed_is_told, "=with LC_ALL=xx_XX.UTF-8",
     "\"xx_XX.UTF-8\" is not installed", "=exchange hello|für Köln \u2192", "für Köln \u2192",
     "=leave");

PLAY(an_unknown_terminal_is_taken_for_xterm, "=with TERM=no-such-terminal",
     "\"no-such-terminal\" (TERM) is unknown", "=exchange hello|it works.", "=leave", "=restored",
     "=with -u TERM", "TERM is not set", "=leave", "=restored");

/* Each kind of content on the screen contains hidden text, which must show as marks. */
TEST_IF(capability_store() && capability_memory(), test_hidden_text_shows_as_marks_everywhere)
{
    static const char name[] = "note" HIDDEN ".md";
    char *path = support_path(name);
    support_write(path, "# Passage" HIDDEN "\n\nblossoms" HIDDEN "\n");
    run_ok(RUN("corpus", "add", "docs", path));
    run_ok(RUN("graph", "add", "Ada" HIDDEN, "--type", "person" HIDDEN, "observed" HIDDEN));
    run_ok(RUN("learned", "add", "learned" HIDDEN));
    play("=open 30 120 --tools full");
    scene_queue(.text = "reasoned" HIDDEN " **bold" HIDDEN "** `code" HIDDEN "` [link" HIDDEN
                        "](http://x/" HIDDEN ")\n\n```c" HIDDEN "\nint x" HIDDEN ";\n```\n",
                .tool_name = "run_command", .tool_args = "{\"command\":\"echo " HIDDEN "\"}");
    play(":words" HIDDEN, "=says # answered" HIDDEN "\n\n|a" HIDDEN "|b|\n|-|-|\n|c|d|\n",
         ":<enter>", "a allow once", ":a", "answered", IDLE, "=veiled");
    static const char *const contents[][3] = {
        {"<ctrl-o>", "echo"},
        {"/rename title" HIDDEN "<enter>", "tiro ─ title"},
        {"@note<tab>", ".md", "<ctrl-u>"},
        {"<ctrl-r>words", "words", "<enter><ctrl-u>"},
        {"<ctrl-f>answered" HIDDEN, "answered", "<ctrl-c>"},
        {"<ctrl-p>" HIDDEN, "", "<ctrl-c>"},
        {"<f2>words" HIDDEN, "Memory"},
        {"<f6>", "learned"},
        {"<f6>", "Ada"},
        {"<f6>", "docs"},
        {"<enter><enter>", "note", "<f2>"},
        {"<f3>", "title", "<f3>"},
        {"<f4>", "Context  ~", "<down><enter><end><enter><f4>"},
        {"/learned<enter>", "learned", "<f2>"},
        {"/resume <tab>", "title", "<ctrl-c>"},
        {"<alt-l>", "words", "<escape>"},
    };
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        play(support_text(":%s", contents[i][0]), contents[i][1]);
        if (contents[i][2])
            play(support_text(":%s", contents[i][2]), "=prompt");
        play("=veiled");
    }
    assert_text(program_output(RUN("sessions", "show", "--json")), "reasoned" HIDDEN_JSON);
    assert_text(program_output(RUN("sessions", "list", "--json")), "answered" HIDDEN_JSON);
}
