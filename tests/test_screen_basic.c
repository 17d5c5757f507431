/* Typing, sending, pasting, small terminals, leaving: the program as a person sees it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";

static void assert_caret(struct screen *s, int col)
{
    int row, at;
    bool visible;
    screen_cursor(s, &row, &at, &visible);
    assert_true(visible);
    assert_int_equal(at, col);
}

static int prompt_column(struct screen *s)
{
    int row, col;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return col;
}

FIXTURE(scene_setup, scene_teardown);

TEST(typing_shows_at_the_caret)
{
    struct screen *s = scene_open(24, 80, NULL);
    int start = prompt_column(s);
    see(s, "> Message, or / for commands", "memory on ─");
    act(s, "a wrod", "> a wrod", "!Message, or");
    act(s, "<left><backspace*2>or", "> a word");
    assert_caret(s, start + 5);
    assert_int_equal(model_server_requests(scene_server()), 0);
}

TEST(wide_characters_take_two_columns)
{
    struct screen *s = scene_open(24, 80, NULL);
    int start = prompt_column(s);
    act(s, "日本語e\xcc\x81", "> 日本語e\xcc\x81");
    assert_caret(s, start + 7);
    act(s, "<backspace*2>", "!語");
    assert_caret(s, start + 4);
}

TEST(enter_sends_and_the_answer_comes)
{
    static const int sizes[][2] = {{40, 120}, {24, 80}, {10, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = scene_open(sizes[i][0], sizes[i][1], NULL);
        act(s, "<enter>   <enter><ctrl-u>"); /* nothing to send */
        scene_exchange(s, "good morning\nto all", hello);
        see(s, "you", "tiro", "!> good morning", "good morning");
        assert_int_equal(model_server_requests(scene_server()), i + 1);
        scene_sent(i, "good morning\\nto all");
        assert_string_equal(model_server_header(scene_server(), i, "x-api-key"), SCENE_KEY);
        scene_leave(s);
        scene_assert_restored(s);
    }
}

TEST(a_paste_of_many_lines_does_not_send)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_paste(s, "one\ntwo\nthree\nfour\n\033[31mfive\nlast of the paste\n");
    see(s, "last of the paste");
    assert_int_equal(model_server_requests(scene_server()), 0);
    act(s, "and typed", "and typed");
    assert_int_equal(model_server_requests(scene_server()), 0);
    act(s, "<enter>", hello);
    const char *body = model_server_body(scene_server(), 0);
    assert_says(body, "one\\ntwo\\nthree\\nfour\\n", "last of the paste\\nand typed", "!\\u001b");
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST(a_large_paste_keeps_every_byte)
{
    struct screen *s = scene_open(24, 80, NULL);
    enum { LINES = 3000 };
    char *text = malloc(LINES * 32 + 32), *at = text;
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "paste line %d of many\n", i);
    strcpy(at, "paste ends here");
    screen_paste(s, text);
    see(s, "paste ends here");
    act(s, "<enter>", hello);
    const char *body = model_server_body(scene_server(), 0);
    assert_says(body, "paste line 0 of many\\npaste line 1 of many",
                "paste line 1777 of many\\npaste line 1778 of many",
                "paste line 2999 of many\\npaste ends here");
    free(text);
}

TEST(up_brings_back_what_was_sent)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "to be recalled", hello);
    act(s, "half<up>", "> to be recalled");
    act(s, "<down>", "> half");
}

TEST(help_opens_and_closes)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "kept<f1>", "/rename TITLE");
    act(s, "<pagedown>", "/memory [QUERY|off|read|write]");
    act(s, "<pagedown>", "/quit");
    act(s, "<pagedown>", "Ctrl-J, Alt-Enter");
    act(s, "<ctrl-end>", "number of compactions");
    act(s, "<escape>", "!number of compactions", "> kept");
}

TEST(below_that_it_says_so_and_recovers)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "a draft", "> a draft");
    static const int small[][2] = {{9, 40}, {10, 39}, {1, 1}, {2, 5}, {3, 120}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        screen_resize(s, small[i][0], small[i][1]);
        see(s, "!> a draft");
    }
    screen_resize(s, 9, 40);
    see(s, "40");
    screen_resize(s, 12, 60);
    see(s, "> a draft", hello);
}

TEST(starting_too_small_is_no_failure)
{
    struct screen *s = scene_start(5, 20, NULL);
    see(s, "40");
    screen_resize(s, 24, 80);
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "hi", hello);
}

TEST(ctrl_c_clears_and_then_leaves)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "to be cleared", "> to be cleared");
    act(s, "<ctrl-c>", "!to be cleared");
    act(s, "<ctrl-c>", "Ctrl-C again leaves");
    act(s, "x", "!Ctrl-C again leaves"); /* somebody goes on */
    act(s, "<ctrl-c>", "!> x");
    assert_int_equal(screen_status(s), -1);
    act(s, "<ctrl-c>", "Ctrl-C again leaves");
    /* No more keys than that: another one, when the terminal has its settings back, would make the
     * kernel drop the program's last output. */
    act(s, "<ctrl-c>");
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), 0);
    scene_assert_restored(s);
}

TEST(ctrl_d_does_not_leave_with_text)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "xyz<home><ctrl-d>", "> yz");
    act(s, "<ctrl-d*2>", "!> z");
    assert_int_equal(screen_status(s), -1);
    scene_leave(s);
}
