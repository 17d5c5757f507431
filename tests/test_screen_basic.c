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
    screen_type(s, "a wrod");
    assert_true(screen_wait_text(s, "> a wrod", WAIT_MS));
    screen_key(s, SCREEN_LEFT);
    screen_key(s, SCREEN_BACKSPACE);
    screen_key(s, SCREEN_BACKSPACE);
    screen_type(s, "or");
    assert_true(screen_wait_text(s, "> a word", WAIT_MS));
    assert_caret(s, start + 5);
    assert_int_equal(model_server_requests(scene_server()), 0);
}

TEST(wide_characters_take_two_columns)
{
    struct screen *s = scene_open(24, 80, NULL);
    int start = prompt_column(s);
    screen_type(s, "日本語e\xcc\x81");
    assert_true(screen_wait_text(s, "> 日本語e\xcc\x81", WAIT_MS));
    assert_caret(s, start + 7);
    screen_key(s, SCREEN_BACKSPACE);
    screen_key(s, SCREEN_BACKSPACE);
    assert_true(screen_wait_gone(s, "語", WAIT_MS));
    assert_caret(s, start + 4);
}

TEST(enter_sends_and_the_answer_comes)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "good morning", hello);
    assert_true(screen_wait_text(s, "you", WAIT_MS));
    assert_true(screen_wait_text(s, "tiro", WAIT_MS));
    assert_true(screen_wait_gone(s, "> good morning", WAIT_MS));
    assert_true(screen_wait_text(s, "good morning", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_non_null(strstr(model_server_body(scene_server(), 0), "good morning"));
    assert_string_equal(model_server_header(scene_server(), 0, "x-api-key"), SCENE_KEY);
    scene_leave(s);
    scene_assert_restored(s);
}

TEST(an_empty_message_is_not_sent)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_key(s, SCREEN_ENTER);
    scene_say(s, "   ");
    screen_ctrl(s, 'u');
    scene_exchange(s, "real", hello);
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST(ctrl_j_makes_a_new_line)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "first line\nsecond line");
    assert_true(screen_wait_text(s, "> first line", WAIT_MS));
    assert_true(screen_wait_text(s, "second line", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 0);
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_non_null(strstr(model_server_body(scene_server(), 0), "first line\\nsecond line"));
}

TEST(a_paste_of_many_lines_does_not_send)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_paste(s, "one\ntwo\nthree\nfour\n\033[31mfive\nlast of the paste\n");
    assert_true(screen_wait_text(s, "last of the paste", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 0);
    screen_type(s, "and typed");
    assert_true(screen_wait_text(s, "and typed", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 0);
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    const char *body = model_server_body(scene_server(), 0);
    assert_non_null(strstr(body, "one\\ntwo\\nthree\\nfour\\n"));
    assert_non_null(strstr(body, "last of the paste\\nand typed"));
    assert_null(strstr(body, "\\u001b"));
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
    assert_true(screen_wait_text(s, "paste ends here", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    const char *body = model_server_body(scene_server(), 0);
    assert_non_null(strstr(body, "paste line 0 of many\\npaste line 1 of many"));
    assert_non_null(strstr(body, "paste line 1777 of many\\npaste line 1778 of many"));
    assert_non_null(strstr(body, "paste line 2999 of many\\npaste ends here"));
    free(text);
}

TEST(up_brings_back_what_was_sent)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "to be recalled", hello);
    screen_type(s, "half");
    screen_key(s, SCREEN_UP);
    assert_true(screen_wait_text(s, "> to be recalled", WAIT_MS));
    screen_key(s, SCREEN_DOWN);
    assert_true(screen_wait_text(s, "> half", WAIT_MS));
}

TEST(help_opens_and_closes)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "kept");
    screen_key(s, SCREEN_F1);
    assert_true(screen_wait_text(s, "/rename TITLE", WAIT_MS));
    screen_key(s, SCREEN_PAGE_DOWN);
    assert_true(screen_wait_text(s, "/memory [QUERY]", WAIT_MS));
    screen_key(s, SCREEN_PAGE_DOWN);
    assert_true(screen_wait_text(s, "/quit", WAIT_MS));
    assert_true(screen_wait_text(s, "Ctrl-J, Alt-Enter", WAIT_MS));
    screen_type(s, "G");
    assert_true(screen_wait_text(s, "number of compactions", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "number of compactions", WAIT_MS));
    assert_true(screen_wait_text(s, "> kept", WAIT_MS));
}

TEST(a_mistyped_command_names_the_nearest)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/hepl");
    assert_true(screen_wait_text(s, "/help", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 0);
}

TEST(forty_by_ten_is_enough)
{
    struct screen *s = scene_open(10, 40, NULL);
    scene_exchange(s, "hi", hello);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    scene_leave(s);
    scene_assert_restored(s);
}

TEST(below_that_it_says_so_and_recovers)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    screen_type(s, "a draft");
    assert_true(screen_wait_text(s, "> a draft", WAIT_MS));
    static const int small[][2] = {{9, 40}, {10, 39}, {1, 1}, {2, 5}, {3, 120}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        screen_resize(s, small[i][0], small[i][1]);
        assert_true(screen_wait_gone(s, "> a draft", WAIT_MS));
    }
    screen_resize(s, 9, 40);
    assert_true(screen_wait_text(s, "40", WAIT_MS));
    screen_resize(s, 12, 60);
    assert_true(screen_wait_text(s, "> a draft", WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
}

TEST(starting_too_small_is_no_failure)
{
    struct screen *s = scene_start(5, 20, NULL);
    assert_true(screen_wait_text(s, "40", WAIT_MS));
    screen_resize(s, 24, 80);
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "hi", hello);
}

TEST(ctrl_c_clears_and_then_leaves)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "to be cleared");
    assert_true(screen_wait_text(s, "> to be cleared", WAIT_MS));
    screen_ctrl(s, 'c');
    assert_true(screen_wait_gone(s, "to be cleared", WAIT_MS));
    screen_ctrl(s, 'c');
    assert_true(screen_wait_text(s, "Ctrl-C again leaves", WAIT_MS));
    screen_type(s, "x"); /* somebody goes on */
    assert_true(screen_wait_gone(s, "Ctrl-C again leaves", WAIT_MS));
    screen_ctrl(s, 'c');
    assert_true(screen_wait_gone(s, "> x", WAIT_MS));
    assert_int_equal(screen_status(s), -1);
    screen_ctrl(s, 'c');
    assert_true(screen_wait_text(s, "Ctrl-C again leaves", WAIT_MS));
    /* No more than that: one more, when the terminal has its settings back, would make the kernel
     * drop what the program wrote last. */
    screen_ctrl(s, 'c');
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), 0);
    scene_assert_restored(s);
}

TEST(ctrl_d_does_not_leave_with_text)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "xyz");
    screen_key(s, SCREEN_HOME);
    screen_ctrl(s, 'd');
    assert_true(screen_wait_text(s, "> yz", WAIT_MS));
    screen_ctrl(s, 'd');
    screen_ctrl(s, 'd');
    assert_true(screen_wait_gone(s, "> z", WAIT_MS));
    assert_int_equal(screen_status(s), -1);
    scene_leave(s);
}

TEST(slash_quit_leaves)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/quit");
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), 0);
    scene_assert_restored(s);
}
