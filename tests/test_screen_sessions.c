/* Leaving and coming back: resume, drafts, crashes, the sessions screen. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";
static const char *const go_on[] = {"--continue", NULL};

NEEDS(capability_store());
FIXTURE(scene_setup, scene_teardown);

TEST(continue_shows_the_same_conversation)
{
    scene_queue(.text = "The *first* answer.\n\n- with\n- a list\n");
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "the first question", "a list");
    scene_exchange(s, "the second question", hello);
    char *before = mem_strdup(screen_row_text(s, 3));
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, "The first answer.", "the first question", "the second question", hello);
    assert_string_equal(screen_row_text(s, 3), before);
    free(before);
    scene_exchange(s, "the third question", "The third answer.");
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "the first question", "The *first* answer.", "the third question");
}

static void open_sessions(struct screen *s)
{
    act(s, "<f3>");
    assert_true(screen_wait_row(s, 1, " Sessions / ", WAIT_MS));
    see(s, "about gardening");
}

TEST(a_draft_survives_leaving)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "not yet sent", "> not yet sent");
    scene_end(s, SIGTERM);
    s = scene_open(24, 80, go_on);
    see(s, "> not yet sent");
}

TEST(a_draft_survives_a_kill)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "typed before the kill");
    assert_true(scene_wait_draft(s, "typed before the kill"));
    scene_end(s, SIGKILL);
    s = scene_open(24, 80, go_on);
    see(s, "> typed before the kill", hello);
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST(a_draft_that_was_never_sent_is_offered)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a thought for later");
    assert_true(scene_wait_draft(s, "a thought for later"));
    struct screen *other = scene_open(24, 80, NULL); /* it is still being written there */
    see(other, "!a thought for later");
    act(other, "<f3>", "Draft: a thought for later", "Written, but not sent:", "!Nothing was said");
    act(other, "<escape>", "!Sessions");
    scene_leave(other);
    scene_end(s, SIGKILL);
    s = scene_open(24, 80, NULL);
    see(s, "> a thought for later", "did not send it");
    act(s, "<enter>", hello);
    scene_leave(s);
    s = scene_open(24, 80, NULL); /* once is enough */
    see(s, "!a thought for later", "!did not send it");
}

TEST(a_sent_draft_is_gone)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "soon sent");
    assert_true(scene_wait_draft(s, "soon sent"));
    act(s, "<enter>", hello);
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, hello, "!> soon sent");
}

TEST(a_turn_that_a_kill_cut_off_is_shown_as_such)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "an early question", hello);
    scene_queue(.fault = REPLY_STALL, .text = "half an answer");
    act(s, "the fatal question<enter>", "half an answer");
    scene_end(s, SIGKILL);
    model_server_release(scene_server());
    s = scene_open(24, 80, go_on);
    see(s, "the fatal question", "interrupted; /retry");
    act(s, "/retry<enter>");
    assert_true(model_server_wait(scene_server(), 3, WAIT_MS));
    assert_true(screen_wait_count(s, hello, 2, WAIT_MS));
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "the fatal question", "an early question", "!half an answer");
}

/* --- the sessions screen --- */
/* Two sessions: the one about gardening was left for the one about astronomy. */
static struct screen *open_two(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange(s, "about gardening", "Roses need a pergola.");
    act(s, "/new<enter>", "!pergola");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "about astronomy", "Stars need none.");
    return s;
}

static void choose_gardening(struct screen *s)
{
    open_sessions(s);
    act(s, "garden", "\u203aabout gardening", "!\u203aabout astronomy");
}

TEST(the_sessions_screen_finds_and_resumes)
{
    setenv("TIRO_LEARNED_HISTORY", "false", 1); /* else the request tells of the other session */
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    see(s, "1 of 2", "Roses need a pergola."); /* the preview */
    act(s, "<enter>", "!Sessions", "Roses need a pergola.");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    const char *body = model_server_body(scene_server(), 2);
    assert_says(body, "about gardening", "!about astronomy");
}

TEST(the_sessions_screen_closes_without_a_choice)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "about gardening", hello);
    act(s, "kept", "> kept");
    assert_true(scene_wait_prompt(s));
    open_sessions(s);
    act(s, "only", " / only", "no matches");
    act(s, "<escape>", "!only");
    act(s, "<escape>", "!Sessions", hello);
    assert_true(scene_wait_prompt(s)); /* the caret is back, too */
    act(s, " and more", "> kept and more");
}

TEST(a_transcript_is_found_by_what_was_said)
{
    struct screen *s = open_two(24, 100);
    open_sessions(s);
    act(s, "pergola", "In the transcripts: 1 match", "1 of 2"); /* it is in a last line, too */
    act(s, "<down>", "\u203aRoses need a pergola.");
    act(s, "<enter>", "find: pergola", "about gardening", "Roses need a pergola.");
    act(s, "<escape>");
    assert_true(scene_wait_prompt(s));
}

TEST(escape_goes_back_from_what_was_only_read)
{
    struct screen *s = open_two(24, 100);
    act(s, "half a thought");
    act(s, "<left*3>");
    choose_gardening(s);
    act(s, "<alt-v>", "read-only", "Roses need a pergola.", "Esc goes back");
    act(s, "<escape>", "!read-only", "!Roses need a pergola.", "> half a thought");
    act(s, "new ", "> half a thounew ght", "!Esc goes back"); /* where the caret was */
}

TEST(the_preview_is_where_there_is_room)
{
    struct screen *s = open_two(24, 80);
    choose_gardening(s);
    int list, preview, col;
    see(s, "  Roses need a pergola.");
    assert_true(screen_find(s, "\u203aabout gardening", &list, &col));
    assert_true(screen_find(s, "  Roses need a pergola.", &preview, &col));
    assert_true(preview > list);
    screen_resize(s, 24, 170);
    assert_true(screen_wait_row(s, 2, "\u2502 about gardening", WAIT_MS));
    screen_resize(s, 10, 40);
    see(s, "!  Roses", "\u203aabout gardening", "Enter resume");
    screen_resize(s, 9, 40);
    see(s, "tiro needs 40 x 10");
    screen_resize(s, 24, 80);
    see(s, "\u203aabout gardening");
    act(s, "<enter>", "!Sessions", "Roses need a pergola.");
}

TEST(another_session_is_renamed_and_labelled)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    act(s, "<alt-r>");
    assert_true(screen_wait_row(s, 1, " Title: about gardening", WAIT_MS));
    act(s, " and more<enter>", "Renamed.", "\u203aabout gardening and more");
    act(s, "<alt-t>green");
    assert_true(screen_wait_row(s, 1, " Labels: green", WAIT_MS));
    act(s, "<enter>", "#green");
    act(s, "<alt-t>");
    assert_true(screen_wait_row(s, 1, " Labels: green", WAIT_MS));
    act(s, " \0010123456789012345678901234567890123456789<enter>",
        "a label is a word");                                           /* a blank, and Ctrl-A */
    assert_true(screen_wait_row(s, 1, " Labels: 0123456789", WAIT_MS)); /* nothing is lost */
    act(s, "<escape>");
    assert_true(screen_wait_row(s, 0, "about astronomy", WAIT_MS));
}

TEST(a_session_is_archived_and_comes_back)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    act(s, "<alt-a>", "Archived.", "about gardening  archived");
    act(s, "<alt-a>", "Moved out of the archive.", "!archived");
    act(s, "<alt-a>", "about gardening  archived");
    act(s, "<f3>", "!Sessions");
    act(s, "<f3>", "about astronomy", "!gardening");
    act(s, "<alt-z>", "about gardening  archived");
    act(s, "<alt-z>", "!gardening");
    act(s, "garden", "\u203aabout gardening  archived");
    act(s, "<enter>", "!Sessions");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    open_sessions(s);
    see(s, "\u203aabout gardening", "!archived");
}

TEST(the_open_session_gives_way_when_it_is_archived)
{
    struct screen *s = open_two(24, 100);
    act(s, "its draft");
    open_sessions(s);
    see(s, "\u203aabout astronomy");
    act(s, "<alt-a>", "about astronomy  archived", "!> its draft"); /* stays with it */
    act(s, "<enter>", "> its draft", "Stars need none.");
}

TEST(deleting_is_asked_and_keeps_nothing)
{
    struct screen *s = open_two(24, 100);
    act(s, "not sent");
    open_sessions(s);
    see(s, "\u203aabout astronomy");
    act(s, "<alt-x>", "Delete \"about astronomy\" for good?");
    act(s, "n", "!Delete");
    act(s, "<alt-x>y", "Deleted.", "\u203aabout gardening", "!about astronomy");
    act(s, "<escape>", "> not sent", "!Stars need none."); /* a new session took its place */
}

TEST(a_session_is_exported_once)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    act(s, "<alt-e>");
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
    act(s, "<enter>", "Exported to about gardening.md.");
    char *path = support_path("about gardening.md"), *text = support_read(path);
    assert_non_null(strstr(text, "Roses need a pergola."));
    free(text);
    free(path);
    act(s, "<alt-e>");
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
    act(s, "<enter>", "A file could not be used.");
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
}

TEST(a_session_is_forked)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    act(s, "<alt-n>", "!Sessions", "Roses need a pergola.");
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    scene_sent(2, "about gardening");
    open_sessions(s);
    see(s, "4 messages");
    assert_true(screen_wait_count(s, "2 messages", 2, WAIT_MS));
}

TEST(a_title_cannot_speak_to_the_terminal)
{
    struct screen *s = scene_open(24, 100, NULL);
    screen_paste(s, "about gardening \033]0;owned\007\u6771\u4eac");
    act(s, "<enter>", hello);
    open_sessions(s);
    see(s, "\u6771\u4eac");
    act(s, "<alt-x>", "Delete \"about gardening");
    assert_false(screen_log_has(s, "\033]0;owned"));
}

TEST(a_session_is_open_only_once)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "mine", hello);
    struct screen *other = scene_start(24, 80, go_on);
    see(other, "The session is in use.", "another tiro");
    scene_exchange(s, "still mine", "So it is.");
}
