/* A model that writes files and runs commands, and a user who is asked. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char *const full[] = {"--tools", "full", NULL};
static const char keys[] = "a allow once";
static const char more[] = "a allow, after the last page";

static void queue_command(const char *args)
{
    scene_queue(.tool_name = "run_command", .tool_args = args);
}

static bool exists(const char *name)
{
    char *path = support_path(name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* The model asks to make a file by a command, and says "All done." after that. */
static struct screen *open_asking(int rows, int cols)
{
    queue_command("{\"command\":\"touch made\"}");
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(rows, cols, full);
    act(s, "make it<enter>", "model wants to run a command (run", keys, "touch made");
    assert_false(exists("made"));
    assert_int_equal(model_server_requests(scene_server()), 1);
    return s;
}

#define DONE "All done.", IDLE, "!wants to"

FIXTURE(scene_setup, scene_teardown);

TEST(what_is_allowed_runs)
{
    struct screen *s = open_asking(24, 80);
    assert_true(screen_log_has(s, "\a"));
    act(s, "a", DONE);
    assert_true(exists("made"));
    queue_command("{\"command\":\"touch again\"}");
    queue_command("{\"command\":\"touch again third\"}");
    queue_command("{\"command\":\"touch -c again; touch other\"}");
    scene_queue(.tool_name = "write_file", .tool_args = "{\"path\":\"x\",\"content\":\"x\"}");
    act(s, "once more<enter>", "touch again", "s allow `touch again …` for this session");
    assert_false(exists("again"));                     /* once is once */
    act(s, "s", "touch other", keys, "!this session"); /* no simple command */
    assert_false(exists("other"));
    act(s, "d", "model wants to write (write_file)", keys, "s allow write_file for this session");
    assert_true(exists("again"));
    assert_true(exists("third"));
}

TEST(no_bell_rings_where_none_is_wanted)
{
    setenv("TIRO_UI_NOTIFY_AFTER", "0", 1);
    struct screen *s = open_asking(24, 80);
    assert_false(screen_log_has(s, "\a"));
    unsetenv("TIRO_UI_NOTIFY_AFTER");
}

/* Esc ends all of it: a waiting message is not sent afterwards. */
TEST(escape_gives_back_what_waited)
{
    scene_queue(.fault = REPLY_STALL, .text = "so", .tool_name = "run_command",
                .tool_args = "{\"command\":\"touch made\"}");
    struct screen *s = scene_open(24, 80, full);
    act(s, "make it<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "and then this<enter>", "waiting: and then this");
    model_server_release(scene_server());
    see(s, keys);
    act(s, "<escape>", "> and then this", "interrupted", IDLE);
    assert_int_equal(model_server_requests(scene_server()), 1);
    act(s, "<enter>", "Hello from the scripted model.");
    assert_false(exists("made"));
}

TEST(it_survives_any_size)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20}, {30, 41}, {2, 2}, {12, 60}};
    struct screen *s = open_asking(24, 80);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        if (sizes[i][0] < 10) {
            assert_true(screen_wait_gone(s, keys, WAIT_MS));
            act(s, "a"); /* an invisible question cannot be answered */
            continue;
        }
        see(s, "wants to", "touch made", i < 3 ? keys : "Tab goes to");
    }
    assert_false(exists("made"));
    see(s, "> aa");
    act(s, "<tab>", keys);
    act(s, "a", DONE);
    assert_true(exists("made"));
}

static void queue_lines(int count)
{
    struct buf args = BUF_INIT;
    buf_addstr(&args, "{\"command\":\"");
    for (int i = 1; i <= count; i++)
        buf_addf(&args, "echo the line %d;\\n", i);
    buf_addstr(&args, "touch made\"}");
    queue_command(args.data);
    buf_release(&args);
}

/* The end of a long command is not on the screen, so allowing waits for it. */
TEST(what_was_not_read_is_not_allowed)
{
    static const int sizes[][2] = {{40, 120}, {24, 80}, {10, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        queue_lines(120);
        scene_queue(.text = "All done.");
        struct screen *s = scene_open(sizes[i][0], sizes[i][1], full);
        act(s, "make it<enter>", more);
        act(s, "as<pagedown*2>", "!echo the line 1;",
            more); /* a directory above it may take two rows of three */
        assert_false(exists("made"));
        act(s, "G", keys, "touch made");
        screen_resize(s, sizes[i][0], sizes[i][1] + 1); /* read at another size */
        see(s, more);
        act(s, "aG", keys);
        assert_false(exists("made"));
        act(s, "a", DONE);
        assert_true(exists("made"));
        char *path = support_path("made");
        unlink(path);
        free(path);
        scene_leave(s);
    }
}

/* Reading asks nothing, but where keys are. */
TEST(a_place_of_keys_is_asked_about)
{
    static const char args[] = "{\"path\":\".env\"}";
    char *path = support_path(".env");
    support_write(path, "NAME=hidden");
    free(path);
    scene_queue(.tool_name = "read_file", .tool_args = args);
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(24, 80, full);
    act(s, "read it<enter>");
    assert_true(screen_wait_text(s, "! keys or tiro's own files: /", WAIT_MS));
    see(s, keys, "!for this session");
    act(s, "a", DONE);
    scene_sent(1, "NAME=hidden");
    scene_queue(.tool_name = "read_file", .tool_args = args);
    scene_queue(.text = "Then not.");
    act(s, "once more<enter>", keys); /* once is once */
    act(s, "d", "Then not.");
    scene_sent(3, "declined");
}

TEST(a_file_shows_what_changes_in_it)
{
    char *path = support_path("notes");
    support_write(path, "first\n日本語のノート\nlast\n");
    scene_queue(.tool_name = "write_file",
                .tool_args =
                    "{\"path\":\"notes\",\"content\":"
                    "\"first\\n日本語の新しいノート🙂\\nlast\\n\"}");
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(24, 80, full);
    act(s, "change it<enter>", "model wants to write (write_file)", keys, "-日本語のノート",
        "+日本語の新しいノート🙂");
    act(s, "a", "All done.", "write_file “notes” → +1 -1", "!-日本語のノート");
    act(s, "<ctrl-o>", "    -日本語のノート", "    +日本語の新しいノート🙂", "!content");
    char *text = support_read(path);
    assert_string_equal(text, "first\n日本語の新しいノート🙂\nlast\n");
    free(text);
    free(path);
}

TEST(a_command_cannot_write_to_the_terminal)
{
    queue_command(
        "{\"command\":\"echo \\u001b]0;owned\\u0007\\u001b[2J\\u001b[31m\\u009b2J"
        "\\r\\nrm -rf \\u202etxt\"}");
    struct screen *s = scene_open(24, 80, full);
    act(s, "do harm<enter>", keys, "␛]0;owned␇␛[2J␛[31m", " rm -rf ");
    assert_false(screen_log_has(s, "\033]0;owned"));
    assert_false(screen_log_has(s, "\033[2J\033[31m"));
    assert_false(screen_log_has(s, "\xe2\x80\xae"));
    assert_string_not_equal(screen_title(s), "owned");
}

/* A user who is typing is not interrupted by a question. */
TEST(typing_answers_nothing)
{
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}",
                .hold = true);
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(24, 80, full);
    act(s, "make it<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "was", "> was");
    model_server_release(scene_server());
    struct buf typed = BUF_INIT;
    buf_addstr(&typed, "> was");
    for (int after = 0; after < 5 && model_server_requests(scene_server()) == 1;
         after += strstr(screen_text(s), "wants to") != NULL) {
        act(s, "wasd"); /* in one piece: "w" alone is no answer, and begins a word */
        buf_addstr(&typed, "wasd");
        (void)screen_pump(s, 20);
        if (typed.len > 60) {      /* one row */
            act(s, "<ctrl-u>was"); /* the end of an empty row cannot be seen */
            buf_splice(&typed, 2, typed.len - 2, "was", 3);
        }
    }
    see(s, typed.data, "wants to");
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_false(exists("made"));
    see(s, "Tab goes to the question"); /* when the person pauses */
    buf_addstr(&typed, " and also");
    act(s, " and also", typed.data, "Tab goes to the question");
    act(s, "<tab>", keys);
    assert_false(exists("made"));
    act(s, "d", DONE);
    assert_false(exists("made"));
    see(s, typed.data); /* and the draft is whole */
    buf_release(&typed);
}

/* Open lists wait behind the question, and come back. */
TEST(other_lists_come_back)
{
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}",
                .hold = true);
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(24, 80, full);
    act(s, "make it<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "<f1>", "Help");
    model_server_release(scene_server());
    see(s, "Tab goes to the question", "!Help");
    act(s, "xa<tab>", keys);
    assert_false(exists("made"));
    act(s, "a", "!wants to", "Help"); /* goes nowhere: the list behind is not seen */
    act(s, "<escape>", DONE);
    assert_true(exists("made"));
}
