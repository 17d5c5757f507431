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

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

NEEDS(capability_store());
FIXTURE(scene_setup, scene_teardown);

TEST(continue_shows_the_same_conversation)
{
    queue((struct reply){.text = "The *first* answer.\n\n- with\n- a list\n"});
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "the first question", "a list");
    scene_exchange(s, "the second question", hello);
    char *before = mem_strdup(screen_row_text(s, 3));
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "The first answer.", WAIT_MS));
    assert_true(screen_wait_text(s, "the first question", WAIT_MS));
    assert_true(screen_wait_text(s, "the second question", WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_string_equal(screen_row_text(s, 3), before);
    free(before);
    scene_exchange(s, "the third question", "The third answer.");
    const char *body = model_server_body(scene_server(), 2);
    assert_non_null(strstr(body, "the first question"));
    assert_non_null(strstr(body, "The *first* answer."));
    assert_non_null(strstr(body, "the third question"));
}

static void open_sessions(struct screen *s)
{
    screen_key(s, SCREEN_F3);
    assert_true(screen_wait_row(s, 1, " Sessions / ", WAIT_MS));
    assert_true(screen_wait_text(s, "about gardening", WAIT_MS));
}

TEST(a_plain_start_is_a_new_session)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "an old question", hello);
    scene_leave(s);
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "a new one", hello);
    assert_null(strstr(screen_text(s), "an old question"));
    assert_null(strstr(model_server_body(scene_server(), 1), "an old question"));
}

TEST(a_draft_survives_leaving)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    screen_type(s, "not yet sent");
    assert_true(screen_wait_text(s, "> not yet sent", WAIT_MS));
    screen_signal(s, SIGTERM);
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "> not yet sent", WAIT_MS));
}

TEST(a_draft_survives_a_kill)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    screen_type(s, "typed before the kill");
    assert_true(scene_wait_draft(s, "typed before the kill"));
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "> typed before the kill", WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 1);
}

TEST(a_draft_that_was_never_sent_is_offered)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "a thought for later");
    assert_true(scene_wait_draft(s, "a thought for later"));
    struct screen *other = scene_open(24, 80, NULL); /* it is still being written there */
    assert_null(strstr(screen_text(other), "a thought for later"));
    screen_key(other, SCREEN_F3);
    assert_true(screen_wait_text(other, "Draft: a thought for later", WAIT_MS));
    assert_true(screen_wait_text(other, "Written, but not sent:", WAIT_MS));
    assert_null(strstr(screen_text(other), "Nothing was said"));
    screen_key(other, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(other, "Sessions", WAIT_MS));
    scene_leave(other);
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, NULL);
    assert_true(screen_wait_text(s, "> a thought for later", WAIT_MS));
    assert_true(screen_wait_text(s, "did not send it", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    scene_leave(s);
    s = scene_open(24, 80, NULL); /* once is enough */
    assert_null(strstr(screen_text(s), "a thought for later"));
    assert_null(strstr(screen_text(s), "did not send it"));
}

TEST(a_sent_draft_is_gone)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "soon sent");
    assert_true(scene_wait_draft(s, "soon sent"));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_null(strstr(screen_text(s), "> soon sent"));
}

TEST(a_turn_that_a_kill_cut_off_is_shown_as_such)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "an early question", hello);
    queue((struct reply){.fault = REPLY_STALL, .text = "half an answer"});
    scene_say(s, "the fatal question");
    assert_true(screen_wait_text(s, "half an answer", WAIT_MS));
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    model_server_release(scene_server());
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "the fatal question", WAIT_MS));
    assert_true(screen_wait_text(s, "interrupted; /retry", WAIT_MS));
    scene_say(s, "/retry");
    assert_true(model_server_wait(scene_server(), 3, WAIT_MS));
    assert_true(screen_wait_count(s, hello, 2, WAIT_MS));
    const char *body = model_server_body(scene_server(), 2);
    assert_non_null(strstr(body, "the fatal question"));
    assert_non_null(strstr(body, "an early question"));
    assert_null(strstr(body, "half an answer"));
}

/* --- the sessions screen --- */
/* Two sessions: the one about gardening was left for the one about astronomy. */
static struct screen *open_two(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange(s, "about gardening", "Roses need a pergola.");
    scene_say(s, "/new");
    assert_true(screen_wait_gone(s, "pergola", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "about astronomy", "Stars need none.");
    return s;
}

/* The row of the list that is selected begins so. */
static void wait_selected(struct screen *s, const char *title)
{
    char *row = mem_printf("\u203a%s", title);
    assert_true(screen_wait_text(s, row, WAIT_MS));
    free(row);
}

static void alt(struct screen *s, char letter)
{
    screen_type(s, (char[]){'\033', letter, 0});
}

static void choose_gardening(struct screen *s)
{
    open_sessions(s);
    screen_type(s, "garden");
    wait_selected(s, "about gardening");
    assert_true(screen_wait_gone(s, "\u203aabout astronomy", WAIT_MS));
}

TEST(the_sessions_screen_finds_and_resumes)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    assert_true(screen_wait_text(s, "1 of 2", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS)); /* the preview */
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    const char *body = model_server_body(scene_server(), 2);
    assert_non_null(strstr(body, "about gardening"));
    assert_null(strstr(body, "about astronomy"));
}

TEST(the_sessions_screen_closes_without_a_choice)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "about gardening", hello);
    screen_type(s, "kept");
    assert_true(screen_wait_text(s, "> kept", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    open_sessions(s);
    screen_type(s, "only");
    assert_true(screen_wait_text(s, " / only", WAIT_MS));
    assert_true(screen_wait_text(s, "no matches", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "only", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_true(scene_wait_prompt(s)); /* the caret is back, too */
    screen_type(s, " and more");
    assert_true(screen_wait_text(s, "> kept and more", WAIT_MS));
}

TEST(a_transcript_is_found_by_what_was_said)
{
    struct screen *s = open_two(24, 100);
    open_sessions(s);
    screen_type(s, "pergola");
    assert_true(screen_wait_text(s, "In the transcripts: 1 match", WAIT_MS));
    assert_true(screen_wait_text(s, "1 of 2", WAIT_MS)); /* it is in a last line, too */
    screen_key(s, SCREEN_DOWN);
    wait_selected(s, "Roses need a pergola.");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "find: pergola", WAIT_MS));
    assert_true(screen_wait_text(s, "about gardening", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(scene_wait_prompt(s));
}

TEST(escape_goes_back_from_what_was_only_read)
{
    struct screen *s = open_two(24, 100);
    screen_type(s, "half a thought");
    for (int i = 0; i < 3; i++)
        screen_key(s, SCREEN_LEFT);
    choose_gardening(s);
    screen_type(s, "\033v");
    assert_true(screen_wait_text(s, "read-only", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
    assert_true(screen_wait_text(s, "Esc goes back", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "read-only", WAIT_MS));
    assert_true(screen_wait_gone(s, "Roses need a pergola.", WAIT_MS));
    assert_true(screen_wait_text(s, "> half a thought", WAIT_MS));
    screen_type(s, "new "); /* where the caret was */
    assert_true(screen_wait_text(s, "> half a thounew ght", WAIT_MS));
    assert_true(screen_wait_gone(s, "Esc goes back", WAIT_MS));
}

TEST(the_preview_is_where_there_is_room)
{
    struct screen *s = open_two(24, 80);
    choose_gardening(s);
    int list, preview, col;
    assert_true(screen_wait_text(s, "  Roses need a pergola.", WAIT_MS));
    assert_true(screen_find(s, "\u203aabout gardening", &list, &col));
    assert_true(screen_find(s, "  Roses need a pergola.", &preview, &col));
    assert_true(preview > list);
    screen_resize(s, 24, 170);
    assert_true(screen_wait_row(s, 2, "\u2502 about gardening", WAIT_MS));
    screen_resize(s, 10, 40);
    assert_true(screen_wait_gone(s, "  Roses", WAIT_MS));
    wait_selected(s, "about gardening");
    assert_true(screen_wait_text(s, "Enter resume", WAIT_MS));
    screen_resize(s, 9, 40);
    assert_true(screen_wait_text(s, "tiro needs 40 x 10", WAIT_MS));
    screen_resize(s, 24, 80);
    wait_selected(s, "about gardening");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
}

TEST(another_session_is_renamed_and_labelled)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    alt(s, 'r');
    assert_true(screen_wait_row(s, 1, " Title: about gardening", WAIT_MS));
    screen_type(s, " and more");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "Renamed.", WAIT_MS));
    wait_selected(s, "about gardening and more");
    alt(s, 't');
    screen_type(s, "green");
    assert_true(screen_wait_row(s, 1, " Labels: green", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "#green", WAIT_MS));
    alt(s, 't');
    assert_true(screen_wait_row(s, 1, " Labels: green", WAIT_MS));
    screen_type(s, " \001"); /* a blank, and Ctrl-A */
    screen_type(s, "0123456789012345678901234567890123456789");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "a label is a word", WAIT_MS));
    assert_true(screen_wait_row(s, 1, " Labels: 0123456789", WAIT_MS)); /* nothing is lost */
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_row(s, 0, "about astronomy", WAIT_MS));
}

TEST(a_session_is_archived_and_comes_back)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    alt(s, 'a');
    assert_true(screen_wait_text(s, "Archived.", WAIT_MS));
    assert_true(screen_wait_text(s, "about gardening  archived", WAIT_MS));
    alt(s, 'a');
    assert_true(screen_wait_text(s, "Moved out of the archive.", WAIT_MS));
    assert_true(screen_wait_gone(s, "archived", WAIT_MS));
    alt(s, 'a');
    assert_true(screen_wait_text(s, "about gardening  archived", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    open_sessions(s);
    wait_selected(s, "about gardening");
    assert_null(strstr(screen_text(s), "archived"));
}

TEST(the_open_session_gives_way_when_it_is_archived)
{
    struct screen *s = open_two(24, 100);
    screen_type(s, "its draft");
    open_sessions(s);
    wait_selected(s, "about astronomy");
    alt(s, 'a');
    assert_true(screen_wait_text(s, "about astronomy  archived", WAIT_MS));
    assert_true(screen_wait_gone(s, "> its draft", WAIT_MS)); /* stays with it */
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "> its draft", WAIT_MS));
    assert_true(screen_wait_text(s, "Stars need none.", WAIT_MS));
}

TEST(deleting_is_asked_and_keeps_nothing)
{
    struct screen *s = open_two(24, 100);
    screen_type(s, "not sent");
    open_sessions(s);
    wait_selected(s, "about astronomy");
    alt(s, 'x');
    assert_true(screen_wait_text(s, "Delete \"about astronomy\" for good?", WAIT_MS));
    screen_type(s, "n");
    assert_true(screen_wait_gone(s, "Delete", WAIT_MS));
    alt(s, 'x');
    screen_type(s, "y");
    assert_true(screen_wait_text(s, "Deleted.", WAIT_MS));
    wait_selected(s, "about gardening");
    assert_true(screen_wait_gone(s, "about astronomy", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "> not sent", WAIT_MS)); /* a new session took its place */
    assert_null(strstr(screen_text(s), "Stars need none."));
}

TEST(a_session_is_exported_once)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    alt(s, 'e');
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "Exported to about gardening.md.", WAIT_MS));
    char *path = support_path("about gardening.md"), *text = support_read(path);
    assert_non_null(strstr(text, "Roses need a pergola."));
    free(text);
    free(path);
    alt(s, 'e');
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "A file could not be used.", WAIT_MS));
    assert_true(screen_wait_row(s, 1, " Export to: about gardening.md", WAIT_MS));
}

TEST(a_session_is_opened_to_read)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    alt(s, 'v');
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(screen_wait_row(s, 0, "read-only", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
    open_sessions(s);
    screen_type(s, "garden");
    assert_true(screen_wait_gone(s, "about astronomy", WAIT_MS));
    screen_key(s, SCREEN_ENTER); /* and then is live */
    assert_true(screen_wait_gone(s, "read-only", WAIT_MS));
}

TEST(a_session_is_forked)
{
    struct screen *s = open_two(24, 100);
    choose_gardening(s);
    alt(s, 'n');
    assert_true(screen_wait_gone(s, "Sessions", WAIT_MS));
    assert_true(screen_wait_text(s, "Roses need a pergola.", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    scene_exchange(s, "roses?", "Of roses.");
    assert_non_null(strstr(model_server_body(scene_server(), 2), "about gardening"));
    open_sessions(s);
    assert_true(screen_wait_text(s, "4 messages", WAIT_MS));
    assert_true(screen_wait_count(s, "2 messages", 2, WAIT_MS));
}

TEST(a_turn_goes_on_beneath)
{
    struct screen *s = open_two(24, 100);
    queue((struct reply){.fault = REPLY_STALL, .text = "half an answer"});
    scene_say(s, "a long one");
    assert_true(screen_wait_text(s, "half an answer", WAIT_MS));
    choose_gardening(s);
    assert_true(screen_wait_text(s, "Esc stops", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "half an answer", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    model_server_release(scene_server());
}

TEST(help_is_shown_over_the_sessions)
{
    struct screen *s = open_two(24, 100);
    open_sessions(s);
    screen_key(s, SCREEN_F1);
    assert_true(screen_wait_row(s, 1, " Help", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_row(s, 1, " Sessions / ", WAIT_MS));
    screen_type(s, "astro");
    assert_true(screen_wait_text(s, "1 of 2", WAIT_MS));
}

TEST(a_title_cannot_speak_to_the_terminal)
{
    struct screen *s = scene_open(24, 100, NULL);
    screen_paste(s, "about gardening \033]0;owned\007\u6771\u4eac");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    open_sessions(s);
    assert_true(screen_wait_text(s, "\u6771\u4eac", WAIT_MS));
    alt(s, 'x');
    assert_true(screen_wait_text(s, "Delete \"about gardening", WAIT_MS));
    assert_false(screen_log_has(s, "\033]0;owned"));
}

TEST(rename_gives_a_title_to_resume_by)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "something", hello);
    scene_say(s, "/rename Kyoto in November");
    assert_true(screen_wait_text(s, "Kyoto in November", WAIT_MS));
    scene_leave(s);
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "another", hello);
    scene_leave(s);
    s = scene_open(24, 80, (const char *const[]){"--resume", "kyoto in november", NULL});
    assert_true(screen_wait_text(s, "something", WAIT_MS));
    assert_true(screen_wait_text(s, "Kyoto in November", WAIT_MS));
    assert_null(strstr(screen_text(s), "another"));
}

TEST(the_model_cannot_set_the_terminals_title)
{
    struct screen *s = scene_open(24, 80, NULL);
    screen_paste(s, "a \033]0;owned\007 title");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_false(screen_log_has(s, "\033]0;owned"));
    assert_string_not_equal(screen_title(s), "owned");
}

TEST(a_session_is_open_only_once)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "mine", hello);
    struct screen *other = scene_start(24, 80, go_on);
    assert_true(screen_wait_text(other, "The session is in use.", WAIT_MS));
    assert_true(screen_wait_text(other, "another tiro", WAIT_MS));
    scene_exchange(s, "still mine", "So it is.");
}
