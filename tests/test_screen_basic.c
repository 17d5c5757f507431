/* The program as a person sees it: typing, sending, failures, small terminals, and every way to
 * leave it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "ui/term/tty.h"

#define HELLO "Hello from the scripted model."

FIXTURES(basic, scene_setup, scene_teardown);

TEST(typing_shows_at_the_caret)
{
    int row, start, at;
    bool visible;
    play("=open");
    screen_cursor(scene(), &row, &start, &visible);
    play("> Message, or / for commands", capability_memory() ? "memory on ─" : "context", ":a wrod",
         "> a wrod", "!Message, or", ":<left><backspace*2>or", "> a word", "=requests 0");
    screen_cursor(scene(), &row, &at, &visible);
    assert_true(visible);
    assert_int_equal(at, start + 5);
}

TEST(enter_sends_and_the_answer_comes)
{
    static const int sizes[][2] = {{40, 120}, {24, 80}, {10, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        (void)scene_open(sizes[i][0], sizes[i][1], NULL);
        play(":<enter>   <enter><ctrl-u>", /* nothing to send */
             "=exchange good morning\nto all|" HELLO, "you", "tiro", "!> good morning",
             "good morning");
        assert_int_equal(model_server_requests(scene_server()), i + 1);
        scene_sent(i, "good morning\\nto all");
        assert_string_equal(model_server_header(scene_server(), i, "x-api-key"), SCENE_KEY);
        play("=leave", "=restored");
    }
}

TEST(a_skill_is_a_command)
{
    struct error e;
    assert_true(paths_make_dir(support_path(".agents/skills/pdf"), &e));
    support_write(support_path(".agents/skills/pdf/SKILL.md"),
                  "---\nname: pdf\ndescription: Reads PDF files.\n---\nDo it with $ARGUMENTS.\n");
    play("=open", ":/pd", "Reads PDF files.", ":<tab>", "> /pdf", ":a form<enter>", HELLO,
         "/pdf a form", "pinned", "=sent 0 Do it with a form.|/pdf a form", ":/skills<enter>",
         "pdf  (ready, ");
}

TEST_IF(capability_store() && capability_memory(), an_empty_session_tells_what_there_is)
{
    setenv("XDG_STATE_HOME", support_path("state"), 1); /* no message was sent from there */
    support_write(support_path("AGENTS.md"), "Be brief.\n");
    play("=open", "F4        in use: AGENTS.md", "@ files, ! shell commands, F2 memory and inbox",
         "!continues", "=exchange Remember that lilies are white.|Noted.", "!! shell commands",
         ":/new<enter>", "F5        continues \"Remember that", "/learned  1 proposal in the inbox",
         ":<f5>", "Noted.", "=leave", "=open 10 40", "continues \"Remember that", "inbox",
         "in use: AGENTS", "> Message, or / for commands", "!@ files", ":<f5>", "Noted.", "=leave");
}

PLAY(a_paste_of_many_lines_does_not_send, "=open",
     "=paste one\ntwo\nthree\nfour\n\033[31mfive\nlast of the paste\n", "last of the paste",
     "=requests 0", ":and typed", "and typed", "=requests 0", ":<enter>", HELLO,
     "=sent 0 one\\ntwo\\nthree\\nfour\\n|last of the paste\\nand typed|!\\u001b", "=requests 1");

PLAY(a_command_of_the_persons_own, "=open", ":!echo $((40+2)) is it<enter>", "42 is it",
     "=requests 0", ":why?<enter>", HELLO, "=sent 0 which I ran]\\n42 is it|why?");

TEST(a_large_paste_keeps_every_byte)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "paste line %d of many\n", i);
    buf_addstr(&text, "paste ends here");
    play("=open");
    screen_paste(scene(), text.data);
    play("> [pasted 3001 lines]", ":<enter>", HELLO,
         "=sent 0 paste line 0 of many\\npaste line 1 of many|"
         "paste line 1777 of many\\npaste line 1778 of many|"
         "paste line 2999 of many\\npaste ends here");
}

PLAY(below_that_it_says_so_and_recovers, "=open", "=exchange hi|" HELLO, ":a draft", "> a draft",
     "=size 9 40", "!> a draft", "=size 10 39", "!> a draft", "=size 1 1", "!> a draft",
     "=size 2 5", "!> a draft", "=size 3 120", "!> a draft", "=size 9 40", "40", "=size 12 60",
     "> a draft", HELLO);

TEST(starting_too_small_is_no_failure)
{
    (void)scene_start(5, 20, NULL);
    play("40", "=size 24 80", "=prompt", "=exchange hi|" HELLO);
}

PLAY(ctrl_c_clears_and_then_leaves, "=open", ":to be cleared", "> to be cleared", ":<ctrl-c>",
     "!to be cleared", ":<ctrl-c>", "Ctrl-C again leaves", ":x",
     "!Ctrl-C again leaves", /* somebody goes on */
     ":<ctrl-c>", "!> x", "=status -1", ":<ctrl-c>", "Ctrl-C again leaves",
     /* No more keys than that: another one, when the terminal has its settings back, would make the
      * kernel drop the program's last output. */
     ":<ctrl-c>", "=exit", "=status 0", "=restored");

PLAY(ctrl_d_does_not_leave_with_text, "=open", ":xyz<home><ctrl-d>", "> yz", ":<ctrl-d*2>", "!> z",
     "=status -1", "=leave");

/* --- failures --- */

static const char hostile[] =
    "before\033[31mred\033]0;owned\007\033]52;c;b3duZWQ=\007\033[?1049l"
    "\033P+q\033\\\2335m\302\2336m\r\b\b\x7f"
    "after\xe2\x80\xaegnp";

/* None of the sequences above may occur; a bell alone could also be the program's own. */
static void assert_harmless(void)
{
    static const char *const never[] = {"\033[31mred",        "\033]0;owned", "owned\007",
                                        "\033]52;c;b3duZWQ=", "\033[?1049l",  "\033P+q",
                                        "\xc2\x9b",           "\2335m",       "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(screen_log_has(scene(), never[i]));
    assert_true(screen_alternate(scene()));
    assert_null(strstr(screen_title(scene()), "\033"));
}

/* Neither an answer, nor a tool's result, nor an error message. */
TEST(foreign_text_cannot_write_escape_sequences)
{
    support_write(support_path("evil.txt"), hostile);
    scene_queue(.text = hostile, .reasoning = hostile);
    play("=calls read_file {\"path\":\"evil.txt\"}", "=says I have read it.", "=open 24 120",
         ":attack<enter>", "after", "before\u241b[31mred", IDLE, "=ask read it|I have read it.",
         "evil.txt", "=requests 3");
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_type = hostile,
                .error_message = hostile);
    play(":refuse me<enter>", "400", "=exchange again|" HELLO);
    assert_harmless();
}

PLAY(a_retry_is_counted_down, "=refuses 429 rate_limit_error|slow down|1", "=open",
     ":hello?<enter>", "retry 1/3", HELLO, "=requests 2");
PLAY(escape_ends_the_wait_for_a_retry, "=refuses 529 overloaded_error|overloaded|600", "=open",
     ":hello?<enter>", "overloaded", ":<escape>", "interrupted", "=exchange again|" HELLO,
     "=requests 2");
PLAY(a_refused_key_is_said_and_the_message_kept,
     "=refuses 401 authentication_error|invalid x-api-key", "=open", ":my long question<enter>",
     "invalid x-api-key", "my long question", "=requests 1", "=unwritten " SCENE_KEY,
     ":<ctrl-u>/retry<enter>", HELLO, "=sent 1 my long question");

TEST(a_lost_connection_keeps_the_partial_answer)
{
    scene_queue(.fault = REPLY_DISCONNECT, .text = "cut off in the");
    play("=open", ":begin<enter>", "cut off in the", "/retry", "=requests 1",
         "=exchange again|" HELLO);
}

/* --- signals --- */

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
        play("=restored");
    }
}

PLAY_IF(capability_store(), a_signal_while_it_streams_keeps_the_answer, "=stalls as far as it came",
        "=open", ":begin<enter>", "as far as it came", "=kill 15", "=status 143", "=restored",
        "=release", "=open 24 80 --continue", "as far as it came", "interrupted");

TEST_IF(capability_store(), a_lost_terminal_ends_it_and_keeps_the_draft)
{
    play("=open", "=exchange hi|" HELLO, ":when the line went dead", "> when the line went dead");
    screen_hang_up(scene());
    play("=exit", "=status 129", "=open 24 80 --continue", "> when the line went dead");
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
    play(":<enter>", "=prompt", ":a word", "> a word", ":<ctrl-z>");
    assert_true(screen_wait(s, is_at_shell, NULL, "the shell", WAIT_MS));
    play(":echo back in the she''ll<enter>", "back in the shell", "=size 20 70", ":fg<enter>",
         "=prompt", "> a word", ":<ctrl-u>", "=exchange hi|" HELLO, ":<ctrl-d>");
    assert_true(screen_wait(s, is_at_shell, NULL, "the shell", WAIT_MS));
    play("=restored");
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
