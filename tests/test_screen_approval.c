/* A model that wants to write files and run commands, and a person who is asked. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char *const full[] = {"--tools", "full", NULL};
static const char keys[] = "a allow once";
static const char more[] = "a can allow after the last page";

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static void queue_command(const char *args)
{
    queue((struct reply){.tool_name = "run_command", .tool_args = args});
}

static const char *request(size_t index)
{
    return model_server_body(scene_server(), index);
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
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(rows, cols, full);
    scene_say(s, "make it");
    assert_true(screen_wait_text(s, "run_command (execute) wants to run", WAIT_MS));
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_true(screen_wait_text(s, "touch made", WAIT_MS));
    assert_false(exists("made"));
    assert_int_equal(model_server_requests(scene_server()), 1);
    return s;
}

static void assert_done(struct screen *s)
{
    assert_true(screen_wait_text(s, "All done.", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_true(screen_wait_gone(s, "wants to run", WAIT_MS));
}

FIXTURE(scene_setup, scene_teardown);

TEST(what_is_allowed_runs)
{
    struct screen *s = open_asking(24, 80);
    assert_true(screen_log_has(s, "\a"));
    screen_type(s, "a");
    assert_done(s);
    assert_true(exists("made"));
    queue_command("{\"command\":\"touch again\"}");
    scene_say(s, "once more");
    assert_true(screen_wait_text(s, "touch again", WAIT_MS)); /* once is once */
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_false(exists("again"));
}

TEST(no_bell_rings_where_none_is_wanted)
{
    setenv("TIRO_UI_NOTIFY_AFTER", "0", 1);
    struct screen *s = open_asking(24, 80);
    assert_false(screen_log_has(s, "\a"));
    unsetenv("TIRO_UI_NOTIFY_AFTER");
}

TEST(allowed_for_the_session_asks_no_more)
{
    queue_command("{\"command\":\"touch first\"}");
    queue_command("{\"command\":\"touch second\"}");
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "make them");
    assert_true(screen_wait_text(s, "for this session", WAIT_MS));
    screen_type(s, "s");
    assert_done(s);
    assert_true(exists("first"));
    assert_true(exists("second"));
    queue((struct reply){.tool_name = "write_file",
                         .tool_args = "{\"path\":\"third\",\"content\":\"x\"}"});
    scene_say(s, "another tool");
    assert_true(screen_wait_text(s, "write_file (write) wants to run", WAIT_MS));
}

TEST(what_is_declined_does_not_run)
{
    struct screen *s = open_asking(24, 80);
    screen_type(s, "d");
    assert_done(s);
    assert_false(exists("made"));
    assert_non_null(strstr(request(1), "declined"));
    assert_true(screen_wait_text(s, "✗ the user declined this call", WAIT_MS));
}

TEST(escape_stops_the_turn)
{
    struct screen *s = open_asking(24, 80);
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    assert_true(screen_wait_gone(s, "wants to run", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_false(exists("made"));
    assert_int_equal(model_server_requests(scene_server()), 1);
    scene_ask(s, "go on", "All done.");
    assert_false(exists("made"));
}

/* Stopping is the end of it: what waited is not sent behind it. */
TEST(escape_gives_back_what_waited)
{
    queue((struct reply){.fault = REPLY_STALL,
                         .text = "so",
                         .tool_name = "run_command",
                         .tool_args = "{\"command\":\"touch made\"}"});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "make it");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    scene_say(s, "and then this");
    assert_true(screen_wait_text(s, "waiting: and then this", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "> and then this", WAIT_MS));
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST(it_survives_any_size)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20}, {30, 41}, {2, 2}, {12, 60}};
    struct screen *s = open_asking(24, 80);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        if (sizes[i][0] < 10) {
            assert_true(screen_wait_gone(s, keys, WAIT_MS));
            screen_type(s, "a"); /* nobody answers what cannot be seen */
            continue;
        }
        assert_true(screen_wait_text(s, "wants to run", WAIT_MS));
        assert_true(screen_wait_text(s, "touch made", WAIT_MS));
        assert_true(screen_wait_text(s, keys, WAIT_MS));
    }
    assert_false(exists("made"));
    assert_true(screen_wait_text(s, "> aa", WAIT_MS));
    screen_type(s, "a");
    assert_done(s);
    assert_true(exists("made"));
}

TEST(the_smallest_screen_will_do)
{
    struct screen *s = open_asking(10, 40);
    assert_true(screen_wait_text(s, "for this session", WAIT_MS));
    assert_true(screen_wait_text(s, "d decline", WAIT_MS));
    screen_type(s, "a");
    assert_done(s);
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

TEST(a_long_text_scrolls)
{
    queue_lines(60);
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "much of it");
    assert_true(screen_wait_text(s, more, WAIT_MS));
    assert_true(screen_wait_text(s, "echo the line 1;", WAIT_MS));
    assert_true(screen_wait_gone(s, "echo the line 60;", WAIT_MS));
    for (int i = 0; i < 6; i++)
        screen_key(s, SCREEN_PAGE_DOWN);
    assert_true(screen_wait_text(s, "echo the line 60;", WAIT_MS));
    screen_type(s, "kkkkkkkkgj");
    assert_true(screen_wait_gone(s, "echo the line 1;", WAIT_MS));
    assert_true(screen_wait_text(s, "echo the line 2;", WAIT_MS));
    screen_key(s, SCREEN_UP);
    assert_true(screen_wait_text(s, "echo the line 1;", WAIT_MS));
    assert_true(screen_wait_text(s, keys, WAIT_MS));
}

/* The end of a long command is not on the screen, so allowing waits for it. */
TEST(what_was_not_read_is_not_allowed)
{
    static const int sizes[][2] = {{40, 120}, {24, 80}, {10, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        queue_lines(120);
        queue((struct reply){.text = "All done."});
        struct screen *s = scene_open(sizes[i][0], sizes[i][1], full);
        scene_say(s, "make it");
        assert_true(screen_wait_text(s, more, WAIT_MS));
        screen_type(s, "as");
        screen_key(s, SCREEN_PAGE_DOWN);
        screen_key(s, SCREEN_PAGE_DOWN); /* a directory above it may take two rows of three */
        assert_true(screen_wait_gone(s, "echo the line 1;", WAIT_MS));
        assert_true(screen_wait_text(s, more, WAIT_MS));
        assert_false(exists("made"));
        screen_type(s, "G");
        assert_true(screen_wait_text(s, keys, WAIT_MS));
        assert_true(screen_wait_text(s, "touch made", WAIT_MS));
        screen_resize(s, sizes[i][0], sizes[i][1] + 1); /* read at another size */
        assert_true(screen_wait_text(s, more, WAIT_MS));
        screen_type(s, "a");
        screen_type(s, "G");
        assert_true(screen_wait_text(s, keys, WAIT_MS));
        assert_false(exists("made"));
        screen_type(s, "a");
        assert_done(s);
        assert_true(exists("made"));
        char *path = support_path("made");
        unlink(path);
        free(path);
        scene_leave(s);
    }
}

TEST(nothing_hides_in_a_command)
{
    static const int sizes[][2] = {{40, 120}, {24, 80}, {10, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        queue_command(
            "{\"command\":\"echo \\u200bhi"
            "\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\ntouch m\\udb40\\udc41\"}");
        queue((struct reply){.text = "All done."});
        struct screen *s = scene_open(sizes[i][0], sizes[i][1], full);
        scene_say(s, "hide it");
        assert_true(screen_wait_text(s, "d decline", WAIT_MS));
        screen_type(s, "G");
        assert_true(screen_wait_text(s, "─── 15 empty lines ─", WAIT_MS));
        assert_true(screen_wait_text(s, "touch m<U+E0041>", WAIT_MS));
        assert_true(screen_wait_text(s, keys, WAIT_MS));
        screen_type(s, "d");
        assert_done(s);
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
    queue((struct reply){.tool_name = "read_file", .tool_args = args});
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "read it");
    assert_true(screen_wait_text(s, "! keys or tiro's own files: /", WAIT_MS));
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_true(screen_wait_gone(s, "for this session", WAIT_MS));
    screen_type(s, "a");
    assert_done(s);
    assert_non_null(strstr(request(1), "NAME=hidden"));
    queue((struct reply){.tool_name = "read_file", .tool_args = args});
    queue((struct reply){.text = "Then not."});
    scene_say(s, "once more");
    assert_true(screen_wait_text(s, keys, WAIT_MS)); /* once is once */
    screen_type(s, "d");
    assert_true(screen_wait_text(s, "Then not.", WAIT_MS));
    assert_non_null(strstr(request(3), "declined"));
}

TEST(a_file_shows_what_changes_in_it)
{
    char *path = support_path("notes");
    support_write(path, "first\n日本語のノート\nlast\n");
    queue((struct reply){.tool_name = "write_file",
                         .tool_args = "{\"path\":\"notes\",\"content\":"
                                      "\"first\\n日本語の新しいノート🙂\\nlast\\n\"}"});
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "change it");
    assert_true(screen_wait_text(s, "write_file (write) wants to run", WAIT_MS));
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_true(screen_wait_text(s, "-日本語のノート", WAIT_MS));
    assert_true(screen_wait_text(s, "+日本語の新しいノート🙂", WAIT_MS));
    screen_resize(s, 13, 41);
    assert_true(screen_wait_text(s, "1-6/7", WAIT_MS));
    assert_true(screen_wait_text(s, "+日本語の新しいノート🙂", WAIT_MS));
    assert_true(screen_wait_text(s, more, WAIT_MS));
    screen_type(s, " ");
    assert_true(screen_wait_text(s, "2-7/7", WAIT_MS));
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    screen_type(s, "a");
    assert_true(screen_wait_text(s, "All done.", WAIT_MS));
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
    scene_say(s, "do harm");
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_true(screen_wait_text(s, "␛]0;owned␇␛[2J␛[31m", WAIT_MS));
    assert_true(screen_wait_text(s, " rm -rf ", WAIT_MS));
    assert_false(screen_log_has(s, "\033]0;owned"));
    assert_false(screen_log_has(s, "\033[2J\033[31m"));
    assert_false(screen_log_has(s, "\xe2\x80\xae"));
    assert_string_not_equal(screen_title(s), "owned");
}

/* Whoever is writing is not asked in the middle of a word. */
TEST(typing_answers_nothing)
{
    queue((struct reply){
        .tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}", .hold = true});
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "make it");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    screen_type(s, "was");
    assert_true(screen_wait_text(s, "> was", WAIT_MS));
    model_server_release(scene_server());
    struct buf typed = BUF_INIT;
    buf_addstr(&typed, "> was");
    for (int after = 0; after < 5 && model_server_requests(scene_server()) == 1;
         after += strstr(screen_text(s), "wants to run") != NULL) {
        screen_type(s, "wasd"); /* in one piece: "w" alone is no answer, and begins a word */
        buf_addstr(&typed, "wasd");
        (void)screen_pump(s, 20);
        if (typed.len > 60) { /* one row */
            screen_ctrl(s, 'u');
            screen_type(s, "was"); /* the end of an empty row cannot be seen */
            buf_splice(&typed, 2, typed.len - 2, "was", 3);
        }
    }
    assert_true(screen_wait_text(s, typed.data, WAIT_MS));
    assert_true(screen_wait_text(s, "wants to run", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_false(exists("made"));
    assert_true(screen_wait_text(s, keys, WAIT_MS)); /* when the person pauses */
    screen_type(s, "d");
    assert_done(s);
    assert_false(exists("made"));
    assert_true(screen_wait_text(s, typed.data, WAIT_MS)); /* and the draft is whole */
    buf_release(&typed);
}

/* What is open waits behind the question, and comes back. */
TEST(other_lists_come_back)
{
    queue((struct reply){
        .tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}", .hold = true});
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "make it");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    screen_key(s, SCREEN_F1);
    assert_true(screen_wait_text(s, "Help", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    assert_true(screen_wait_gone(s, "Help", WAIT_MS));
    screen_type(s, "x"); /* goes nowhere: the list behind is not seen */
    screen_type(s, "a");
    assert_true(screen_wait_gone(s, "wants to run", WAIT_MS));
    assert_true(screen_wait_text(s, "Help", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_done(s);
    assert_true(exists("made"));
}

TEST(finding_goes_on_behind_it)
{
    queue((struct reply){
        .tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}", .hold = true});
    queue((struct reply){.text = "All done."});
    struct screen *s = scene_open(24, 80, full);
    scene_say(s, "make it");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    screen_ctrl(s, 'f');
    assert_true(screen_wait_text(s, "find:", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, keys, WAIT_MS));
    screen_type(s, "a");
    assert_true(screen_wait_text(s, "All done.", WAIT_MS));
    screen_type(s, "make");
    assert_true(screen_wait_text(s, "find: make", WAIT_MS));
    assert_true(exists("made"));
}
