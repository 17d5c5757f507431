/* A turn on the screen: an answer that streams, a tool that asks, and other conversations behind
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";

/* Begins a turn whose answer stops after `text` until the server is released. */
static struct screen *open_stalled(const char *text)
{
    scene_queue(.fault = REPLY_STALL, .text = text);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "begin<enter>");
    return s;
}

FIXTURES(stream, scene_setup, scene_teardown);

TEST(one_message_can_wait_for_the_end)
{
    struct screen *s = open_stalled("streaming");
    see(s, "streaming");
    act(s, "sent when it ends<enter>", "sent when it ends");
    assert_int_equal(model_server_requests(scene_server()), 1);
    model_server_release(scene_server());
    assert_true(model_server_wait(scene_server(), 2, WAIT_MS));
    see(s, hello);
    scene_sent(1, "sent when it ends");
}

TEST(escape_cancels_and_keeps_what_came)
{
    struct screen *s = open_stalled("half of a thought");
    see(s, "half of a thought");
    act(s, "<escape>", "interrupted", "half of a thought");
    scene_exchange(s, "go on", hello);
    const char *body = model_server_body(scene_server(), 1);
    assert_says(body, "half of a thought", "go on");
}

/* A long answer of numbered lines, 8 bytes in a delta. */
static char *numbered_lines(int count)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= count; i++)
        buf_addf(&text, "%d. item number %d of the list\n", i, i);
    buf_addstr(&text, "\nthe very end\n");
    return buf_take(&text);
}

TEST(resizing_while_it_streams)
{
    static const int sizes[][2] = {{24, 100}, {10, 40}, {50, 200}, {5, 20},   {30, 41}, {24, 80},
                                   {11, 120}, {40, 40}, {2, 2},    {24, 132}, {20, 60}};
    auto_free char *text = numbered_lines(120);
    scene_queue(.text = text, .piece = 8, .interval_ms = 1);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a list, please<enter>", "item number");
    for (size_t round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            screen_resize(s, sizes[i][0], sizes[i][1]);
            (void)screen_pump(s, 20);
        }
    see(s, "the very end", "item number 120 of the list", IDLE);
    assert_int_equal(screen_status(s), -1);
    scene_assert_truthful(s);
}

/* Too quick for the program to see the size between: the terminal has forgotten its text anyway. */
TEST(resizing_there_and_back)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    for (int i = 0; i < 10; i++) {
        screen_resize(s, 10, 40);
        screen_resize(s, 24, 80);
        see(s, hello);
        scene_assert_truthful(s);
    }
}

/* A word on a full screen does not repaint it. */
TEST(a_key_sends_few_bytes)
{
    struct screen *s = scene_open(40, 120, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "a", "> a");
    size_t before = screen_bytes(s);
    act(s, "b", "> ab");
    assert_true(screen_bytes(s) - before < 200);
    assert_false(screen_pump(s, 300)); /* and then nothing moves */
}

/* --- approval --- */

static const char *const full[] = {"--tools", "full", NULL};
static const char keys[] = "a allow once";
static const char more[] = "a allow, after the last page";

static void queue_command(const char *args)
{
    scene_queue(.tool_name = "run_command", .tool_args = args);
}

static bool exists(const char *name)
{
    return access(support_path(name), F_OK) == 0;
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

static void queue_lines(int count)
{
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addstr(&args, "{\"command\":\"");
    for (int i = 1; i <= count; i++)
        buf_addf(&args, "echo the line %d;\\n", i);
    buf_addstr(&args, "touch made\"}");
    queue_command(args.data);
}

/* The end of a long command is not on the screen, so allowing waits for it. */
TEST(what_was_not_read_is_not_allowed)
{
    queue_lines(120);
    scene_queue(.text = "All done.");
    struct screen *s = scene_open(10, 40, full);
    act(s, "make it<enter>", more);
    act(s, "as<pagedown*2>", "!echo the line 1;", more);
    assert_false(exists("made"));
    act(s, "G", keys, "touch made");
    screen_resize(s, 10, 41);
    see(s, more);
    act(s, "aG", keys);
    assert_false(exists("made"));
    act(s, "a", DONE);
    assert_true(exists("made"));
}

/* Reading asks nothing, but where keys are. */
TEST(a_place_of_keys_is_asked_about)
{
    static const char args[] = "{\"path\":\".env\"}";
    support_write(support_path(".env"), "NAME=hidden");
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

/* --- several conversations --- */

static const char next_key[] = "\033[15~"; /* F5 */

/* A turn that has said "Half of it" and goes on when the server is released. */
static struct screen *open_running(int rows, int cols, const char *const *arguments)
{
    struct screen *s = scene_open(rows, cols, arguments);
    scene_queue(.fault = REPLY_STALL, .text = "Half of it");
    act(s, "Tell me all.<enter>", "Half of it");
    return s;
}

static void begin_another(struct screen *s)
{
    act(s, "/new<enter>", "1 working", "!Half of it");
}

TEST_IF(capability_store(), a_turn_goes_on_behind_a_new_session)
{
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    scene_exchange(s, "And you?", "I am fine.");
    see(s, "1 working");
    model_server_release(scene_server());
    see(s, "\"Tell me all.\" is done; /sessions opens it.", "!working");
    scene_exchange(s, "Still there?", "I am."); /* takes the note away */
    see(s, "!is done");
    act(s, "/resume Tell me all.<enter>", "Half of it");
    scene_leave(s);
}

TEST_IF(capability_store(), a_key_goes_to_what_works)
{
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    screen_type(s, next_key);
    see(s, "Half of it", "(Esc stops)", "!1 working", "!interrupted");
    model_server_release(scene_server());
    see(s, IDLE);
    scene_exchange(s, "Is that all?", "It is.");
    see(s, "Half of it");
    screen_type(s, next_key);
    see(s, "No other conversation is working.");
    scene_leave(s);
}

TEST_IF(capability_store(), the_key_goes_back_to_the_conversation_left)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "Where to sleep?", "In the ryokan.");
    act(s, "/new<enter>", "!ryokan");
    screen_type(s, next_key);
    see(s, "In the ryokan.");
    screen_type(s, next_key); /* nothing was said in the other */
    see(s, "No other conversation is working.");
    act(s, "/new<enter>", "!ryokan");
    scene_exchange(s, "And to eat?", "By the river.");
    for (int i = 0; i < 2; i++) {
        screen_type(s, next_key);
        see(s, "In the ryokan.", "!By the river.");
        screen_type(s, next_key);
        see(s, "By the river.", "!In the ryokan.");
    }
    scene_leave(s);
}

TEST_IF(capability_store(), the_list_leaves_it_running)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "An older talk", "Long ago.");
    act(s, "/new<enter>", "!Long ago.");
    scene_queue(.fault = REPLY_STALL, .text = "Half of it");
    act(s, "Tell me all.<enter>", "Half of it");
    act(s, "<f3>older", "Long ago.");
    act(s, "<enter>", "1 working");
    act(s, "<f3>Tell me", "Tell me all.  working  now");
    act(s, "<enter>", "Half of it", "!1 working", "(Esc stops)");
    scene_leave(s);
}

/* The model asks for a tool after the person has gone on. */
TEST_IF(capability_store(), a_question_waits)
{
    struct screen *s = scene_open(12, 40, full);
    scene_queue(.hold = true, .tool_name = "run_command",
                .tool_args = "{\"command\":\"touch made\"}");
    scene_queue(.text = "All done.");
    act(s, "make it<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "/new<enter>", "1 working");
    model_server_release(scene_server());
    see(s, "1 waits for you", "F5");
    assert_false(exists("made"));
    screen_type(s, next_key);
    see(s, "touch made", keys, "!1 waits");
    act(s, "a", DONE);
    assert_true(exists("made"));
    scene_leave(s);
}

/* A message that waits for the end of the turn is a draft of the session that is left. */
TEST_IF(capability_store(), what_waits_stays_with_its_session)
{
    struct screen *s = open_running(24, 80, NULL);
    act(s, "And then?<enter>", "And then?");
    begin_another(s);
    see(s, "!And then?");
    screen_type(s, next_key);
    see(s, "> And then?");
}

TEST_IF(capability_store(), leaving_is_asked_once)
{
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    act(s, "/quit<enter>", "1 other conversation goes on.");
    act(s, "/quit<enter>");
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, (const char *const[]){"--resume=Tell me all.", NULL});
    see(s, "Half of it", "interrupted");
    scene_leave(s);
}
