/* Several conversations at a terminal: events behind the one in front. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"

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

NEEDS(capability_store());
FIXTURE(scene_setup, scene_teardown);

TEST(a_turn_goes_on_behind_a_new_session)
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

TEST(a_key_goes_to_what_works)
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

TEST(the_key_goes_back_to_the_conversation_left)
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

TEST(the_list_leaves_it_running)
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
TEST(a_question_waits)
{
    static const int sizes[][2] = {{24, 80}, {12, 40}};
    static const char *const full[] = {"--tools", "full", NULL};
    char *made = support_path("made");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = scene_open(sizes[i][0], sizes[i][1], full);
        scene_queue(.hold = true, .tool_name = "run_command",
                    .tool_args = "{\"command\":\"touch made\"}");
        scene_queue(.text = "All done.");
        act(s, "make it<enter>");
        assert_true(model_server_wait(scene_server(), 2 * i + 1, WAIT_MS));
        act(s, "/new<enter>", "1 working");
        model_server_release(scene_server());
        see(s, "1 waits for you", "F5");
        assert_int_not_equal(access(made, F_OK), 0);
        screen_type(s, next_key);
        see(s, "touch made", "a allow once", "!1 waits");
        act(s, "a", "All done.", IDLE);
        assert_int_equal(access(made, F_OK), 0);
        unlink(made);
        scene_leave(s);
    }
    free(made);
}

/* The user switches from the question itself to the other conversation, and back. */
TEST(a_question_can_be_left)
{
    static const char *const full[] = {"--tools", "full", NULL};
    (void)state;
    struct screen *s = open_running(24, 80, full);
    begin_another(s);
    scene_queue(.tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}");
    act(s, "make it<enter>", "a allow once");
    screen_type(s, next_key);
    see(s, "Half of it", "1 waits for you");
    screen_type(s, next_key);
    see(s, "a allow once", "1 working");
    act(s, "d", IDLE);
    act(s, "<ctrl-d>", "Leaving stops its turn");
    scene_leave(s);
}

/* A message that waits for the end of the turn is a draft of the session that is left. */
TEST(what_waits_stays_with_its_session)
{
    struct screen *s = open_running(24, 80, NULL);
    act(s, "And then?<enter>", "And then?");
    begin_another(s);
    see(s, "!And then?");
    screen_type(s, next_key);
    see(s, "> And then?");
}

TEST(leaving_is_asked_once)
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
