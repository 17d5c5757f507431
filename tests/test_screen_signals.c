/* However the program ends or stops, the terminal is as it was before. */
#include <signal.h>
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
static const char *const go_on[] = {"--continue", NULL};

FIXTURE(scene_setup, scene_teardown);

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

TEST(without_a_terminal_it_says_what_to_use)
{
    char *out, *err;
    int status = support_run((const char *const[]){NULL}, "", &out, &err);
    assert_int_not_equal(status, 0);
    assert_non_null(strstr(err, "tiro run"));
    assert_null(strchr(out, '\033'));
    free(out);
    free(err);
}

FIXTURES(plain, NULL, NULL);

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
