/* The program as a person sees it: typing, sending, failures, small terminals, and every way to
 * leave it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/tty.h"

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

FIXTURES(basic, scene_setup, scene_teardown);

TEST(typing_shows_at_the_caret)
{
    struct screen *s = scene_open(24, 80, NULL);
    int start = prompt_column(s);
    see(s, "> Message, or / for commands", capability_memory() ? "memory on ─" : "context");
    act(s, "a wrod", "> a wrod", "!Message, or");
    act(s, "<left><backspace*2>or", "> a word");
    assert_caret(s, start + 5);
    assert_int_equal(model_server_requests(scene_server()), 0);
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

/* --- failures --- */

static const char hostile[] =
    "before\033[31mred\033]0;owned\007\033]52;c;b3duZWQ=\007\033[?1049l"
    "\033P+q\033\\\2335m\302\2336m\r\b\b\x7f"
    "after\xe2\x80\xaegnp";

/* None of the sequences above may occur; a bell alone could also be the program's own. */
static void assert_harmless(struct screen *s)
{
    static const char *const never[] = {
        "\033[31mred", "\033]0;owned", "owned\007", "\033]52;c;b3duZWQ=",
        "\033P+q",     "\xc2\x9b",     "\2335m",    "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(screen_log_has(s, never[i]));
    assert_false(screen_log_has(s, "\033[?1049l"));
    assert_true(screen_alternate(s));
    assert_null(strstr(screen_title(s), "\033"));
}

TEST(an_answer_cannot_write_escape_sequences)
{
    scene_queue(.text = hostile, .reasoning = hostile);
    struct screen *s = scene_open(24, 120, NULL);
    act(s, "attack<enter>", "after", "before\u241b[31mred");
    assert_true(scene_wait_prompt(s));
    assert_harmless(s);
}

TEST(a_tool_result_cannot_either)
{
    support_write(support_path("evil.txt"), hostile);
    scene_queue(.tool_name = "read_file", .tool_args = "{\"path\":\"evil.txt\"}");
    scene_queue(.text = "I have read it.");
    struct screen *s = scene_open(24, 120, NULL);
    scene_ask(s, "read evil.txt", "I have read it.");
    see(s, "read_file");
    assert_int_equal(model_server_requests(scene_server()), 2);
    assert_harmless(s);
}

TEST(nor_an_error_message)
{
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_type = hostile,
                .error_message = hostile);
    struct screen *s = scene_open(24, 120, NULL);
    act(s, "refuse me<enter>", "400");
    assert_harmless(s);
    scene_exchange(s, "again", hello);
}

TEST(a_retry_is_counted_down)
{
    scene_queue(.fault = REPLY_STATUS, .status = 429, .error_type = "rate_limit_error",
                .error_message = "slow down", .retry_after = "1");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "hello?<enter>");
    assert_true(screen_wait_text(s, "1/3", WAIT_MS) || screen_wait_text(s, "1 of 3", 1));
    see(s, hello);
    assert_int_equal(model_server_requests(scene_server()), 2);
}

TEST(escape_ends_the_wait_for_a_retry)
{
    scene_queue(.fault = REPLY_STATUS, .status = 529, .error_type = "overloaded_error",
                .error_message = "overloaded", .retry_after = "600");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "hello?<enter>", "overloaded");
    act(s, "<escape>", "interrupted");
    scene_exchange(s, "again", hello);
    assert_int_equal(model_server_requests(scene_server()), 2);
}

TEST(a_refused_key_is_said_and_the_message_kept)
{
    scene_queue(.fault = REPLY_STATUS, .status = 401, .error_type = "authentication_error",
                .error_message = "invalid x-api-key");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "my long question<enter>", "invalid x-api-key", "my long question");
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_null(strstr(screen_text(s), SCENE_KEY));
    assert_false(screen_log_has(s, SCENE_KEY));
    act(s, "<ctrl-u>/retry<enter>", hello);
    scene_sent(1, "my long question");
}

TEST(a_lost_connection_keeps_the_partial_answer)
{
    scene_queue(.fault = REPLY_DISCONNECT, .text = "cut off in the");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "begin<enter>", "cut off in the", "/retry");
    assert_int_equal(model_server_requests(scene_server()), 1);
    scene_exchange(s, "again", hello);
}

/* --- signals --- */

static const char *const go_on[] = {"--continue", NULL};

/* Under a sanitizer the exit status of a crash is undefined, but the terminal must be restored. */
TEST(whatever_signal_ends_it_the_terminal_is_as_before)
{
    static const struct {
        int number;
        bool crash;
    } signals[] = {
        {SIGTERM, false}, {SIGINT, false}, {SIGHUP, false}, {SIGSEGV, true}, {SIGABRT, true}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct screen *s = scene_open(24, 80, NULL);
        assert_false(screen_settings_restored(s));
        scene_end(s, signals[i].number);
        if (signals[i].crash)
            assert_int_not_equal(screen_status(s), 0);
        else
            assert_int_equal(screen_status(s), 128 + signals[i].number);
        scene_assert_restored(s);
    }
}

TEST_IF(capability_store(), a_signal_while_it_streams_keeps_the_answer)
{
    scene_queue(.fault = REPLY_STALL, .text = "as far as it came");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "begin<enter>", "as far as it came");
    scene_end(s, SIGTERM);
    assert_int_equal(screen_status(s), 128 + SIGTERM);
    scene_assert_restored(s);
    model_server_release(scene_server());
    s = scene_open(24, 80, go_on);
    see(s, "as far as it came", "interrupted");
}

TEST_IF(capability_store(), a_lost_terminal_ends_it_and_keeps_the_draft)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "when the line went dead", "> when the line went dead");
    screen_hang_up(s);
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_int_equal(screen_status(s), 128 + SIGHUP);
    s = scene_open(24, 80, go_on);
    see(s, "> when the line went dead");
}

static bool is_at_shell(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    (void)context;
    screen_cursor(s, &row, &col, &visible);
    return !screen_alternate(s) && strcmp(screen_row_text(s, row), "shell$") == 0;
}

/* A shell with job control, so that there is somebody to go back to. */
TEST(ctrl_z_hands_the_terminal_back_and_fg_takes_it)
{
    if (access("/bin/bash", X_OK) != 0)
        skip();
    setenv("PS1", "shell$ ", 1);
    struct screen *s = scene_run(
        24, 80,
        (const char *const[]){"/bin/bash", "--norc", "--noprofile", "--noediting", "-i", NULL});
    unsetenv("PS1");
    assert_true(screen_wait(s, is_at_shell, NULL, "the shell", WAIT_MS));
    screen_type(s, support_program());
    act(s, "<enter>");
    assert_true(scene_wait_prompt(s));
    act(s, "a word", "> a word");
    act(s, "<ctrl-z>");
    assert_true(screen_wait(s, is_at_shell, NULL, "the shell", WAIT_MS));
    act(s, "echo back in the she''ll<enter>", "back in the shell");
    screen_resize(s, 20, 70);
    act(s, "fg<enter>");
    assert_true(scene_wait_prompt(s));
    see(s, "> a word");
    act(s, "<ctrl-u>");
    scene_exchange(s, "hi", hello);
    act(s, "<ctrl-d>");
    assert_true(screen_wait(s, is_at_shell, NULL, "the shell", WAIT_MS));
    scene_assert_restored(s);
}

FIXTURES(signalsplain, NULL, NULL);

/* Another thread may be half way through a frame. */
TEST(nothing_is_drawn_after_the_terminal_was_given_back)
{
    int ends[2], status;
    char read_back[32] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        tty_set_leave("left.");
        tty_puts("frame.");
        tty_emergency_release();
        tty_puts("frame.");
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(read(ends[0], read_back, sizeof read_back - 1) > 0);
    assert_string_equal(read_back, "frame.left.");
    close(ends[0]);
}
