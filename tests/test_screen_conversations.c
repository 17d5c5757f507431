/* Several conversations at a terminal: what goes on behind the one that is shown. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/catalog.h"
#include "tests/scene.h"
#include "tests/suite.h"

static const char next_key[] = "\033[15~"; /* F5 */

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static bool wait_text(struct screen *s, const char *text)
{
    return screen_wait_text(s, text, WAIT_MS);
}

/* A turn that has said "Half of it" and goes on when the server is released. */
static struct screen *open_running(int rows, int cols, const char *const *arguments)
{
    struct screen *s = scene_open(rows, cols, arguments);
    queue((struct reply){.fault = REPLY_STALL, .text = "Half of it"});
    scene_say(s, "Tell me all.");
    assert_true(wait_text(s, "Half of it"));
    return s;
}

static void begin_another(struct screen *s)
{
    scene_say(s, "/new");
    assert_true(wait_text(s, "1 working"));
    assert_true(screen_wait_gone(s, "Half of it", WAIT_MS));
}

NEEDS(capability_store());
FIXTURE(scene_setup, scene_teardown);

TEST(a_turn_goes_on_behind_a_new_session)
{
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    scene_exchange(s, "And you?", "I am fine.");
    assert_true(wait_text(s, "1 working"));
    model_server_release(scene_server());
    assert_true(wait_text(s, "\"Tell me all.\" is done; /sessions opens it."));
    assert_true(screen_wait_gone(s, "working", WAIT_MS));
    scene_exchange(s, "Still there?", "I am."); /* takes the note away */
    assert_true(screen_wait_gone(s, "is done", WAIT_MS));
    scene_say(s, "/resume Tell me all.");
    assert_true(wait_text(s, "Half of it"));
    scene_leave(s);
}

TEST(a_key_goes_to_what_works)
{
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    screen_type(s, next_key);
    assert_true(wait_text(s, "Half of it"));
    assert_true(wait_text(s, "(Esc stops)"));
    assert_true(screen_wait_gone(s, "1 working", WAIT_MS));
    assert_true(screen_wait_gone(s, "interrupted", WAIT_MS));
    model_server_release(scene_server());
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "Is that all?", "It is.");
    assert_true(wait_text(s, "Half of it"));
    screen_type(s, next_key);
    assert_true(wait_text(s, "No other conversation is working."));
    scene_leave(s);
}

TEST(the_list_leaves_it_running)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "An older talk", "Long ago.");
    scene_say(s, "/new");
    assert_true(screen_wait_gone(s, "Long ago.", WAIT_MS));
    queue((struct reply){.fault = REPLY_STALL, .text = "Half of it"});
    scene_say(s, "Tell me all.");
    assert_true(wait_text(s, "Half of it"));
    screen_key(s, SCREEN_F3);
    screen_type(s, "older");
    assert_true(wait_text(s, "Long ago."));
    screen_key(s, SCREEN_ENTER);
    assert_true(wait_text(s, "1 working"));
    screen_key(s, SCREEN_F3);
    screen_type(s, "Tell me");
    assert_true(wait_text(s, "Tell me all.  now"));
    screen_key(s, SCREEN_ENTER);
    assert_true(wait_text(s, "Half of it"));
    assert_true(screen_wait_gone(s, "1 working", WAIT_MS));
    assert_true(wait_text(s, "(Esc stops)"));
    scene_leave(s);
}

/* Rows and columns; the model asks for a tool after the person has gone on. */
static void answer_a_question(int rows, int cols)
{
    static const char *const full[] = {"--tools", "full", NULL};
    char *made = support_path("made");
    struct screen *s = scene_open(rows, cols, full);
    queue((struct reply){
        .hold = true, .tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}"});
    queue((struct reply){.text = "All done."});
    scene_say(s, "make it");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    scene_say(s, "/new");
    assert_true(wait_text(s, "1 working"));
    model_server_release(scene_server());
    assert_true(wait_text(s, "1 waits for you"));
    assert_true(wait_text(s, "F5"));
    assert_int_not_equal(access(made, F_OK), 0);
    screen_type(s, next_key);
    assert_true(wait_text(s, "touch made"));
    assert_true(wait_text(s, "a allow once"));
    assert_true(screen_wait_gone(s, "1 waits", WAIT_MS));
    screen_type(s, "a");
    assert_true(wait_text(s, "All done."));
    assert_true(scene_wait_idle(s));
    assert_int_equal(access(made, F_OK), 0);
    free(made);
    scene_leave(s);
}

TEST(a_question_waits)
{
    answer_a_question(24, 80);
}

TEST(so_it_does_on_a_small_screen)
{
    answer_a_question(12, 40);
}

/* From the question itself to the other conversation, and back. */
TEST(a_question_can_be_left)
{
    static const char *const full[] = {"--tools", "full", NULL};
    (void)state;
    struct screen *s = open_running(24, 80, full);
    begin_another(s);
    queue((struct reply){.tool_name = "run_command", .tool_args = "{\"command\":\"touch made\"}"});
    scene_say(s, "make it");
    assert_true(wait_text(s, "a allow once"));
    screen_type(s, next_key);
    assert_true(wait_text(s, "Half of it"));
    assert_true(wait_text(s, "1 waits for you"));
    screen_type(s, next_key);
    assert_true(wait_text(s, "a allow once"));
    assert_true(wait_text(s, "1 working"));
    screen_type(s, "d");
    assert_true(scene_wait_idle(s));
    screen_ctrl(s, 'd');
    assert_true(wait_text(s, "Leaving stops its turn"));
    scene_leave(s);
}

TEST(a_session_that_is_not_there_changes_nothing)
{
    struct screen *s = open_running(24, 80, NULL);
    scene_say(s, "/resume nonesuch");
    assert_true(wait_text(s, "nonesuch"));
    assert_true(wait_text(s, "(Esc stops)"));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(wait_text(s, "interrupted"));
    assert_true(scene_wait_idle(s));
    scene_leave(s);
}

/* A message that waits for the end of the turn is a draft of the session that is left. */
TEST(what_waits_stays_with_its_session)
{
    struct screen *s = open_running(24, 80, NULL);
    scene_say(s, "And then?");
    assert_true(wait_text(s, "And then?"));
    begin_another(s);
    assert_true(screen_wait_gone(s, "And then?", WAIT_MS));
    screen_type(s, next_key);
    assert_true(wait_text(s, "> And then?"));
}

TEST(leaving_is_asked_once)
{
    struct session_info info = {0};
    struct catalog catalog;
    struct error e;
    (void)state;
    struct screen *s = open_running(24, 80, NULL);
    begin_another(s);
    scene_say(s, "/quit");
    assert_true(wait_text(s, "1 other conversation goes on."));
    scene_say(s, "/quit");
    assert_true(screen_wait_exit(s, WAIT_MS));
    assert_true(catalog_open(&catalog, scene_store(), CATALOG_READ, &e));
    assert_true(catalog_find(&catalog, "Tell me all.", &info, &e));
    assert_true(info.last_seq > 0);
    session_info_release(&info);
    catalog_release(&catalog);
    s = scene_open(24, 80, (const char *const[]){"--resume=Tell me all.", NULL});
    assert_true(wait_text(s, "Half of it"));
    assert_true(wait_text(s, "interrupted"));
    scene_leave(s);
}
