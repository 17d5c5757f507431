/* Leaving and coming back: resume, drafts, crashes, the list of sessions. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/scene.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";
static const char *const go_on[] = {"--continue", NULL};

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static void continue_shows_the_same_conversation(void **state)
{
    (void)state;
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

static void a_plain_start_is_a_new_session(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "an old question", hello);
    scene_leave(s);
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "a new one", hello);
    assert_null(strstr(screen_text(s), "an old question"));
    assert_null(strstr(model_server_body(scene_server(), 1), "an old question"));
}

static void a_draft_survives_leaving(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    screen_type(s, "not yet sent");
    assert_true(screen_wait_text(s, "> not yet sent", WAIT_MS));
    screen_signal(s, SIGTERM);
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, go_on);
    assert_true(screen_wait_text(s, "> not yet sent", WAIT_MS));
}

static void a_draft_survives_a_kill(void **state)
{
    (void)state;
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

static void a_sent_draft_is_gone(void **state)
{
    (void)state;
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

static void a_turn_that_a_kill_cut_off_is_shown_as_such(void **state)
{
    (void)state;
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
    assert_true(screen_wait_text(s, "cut off", WAIT_MS));
    scene_say(s, "/retry");
    assert_true(model_server_wait(scene_server(), 3, WAIT_MS));
    assert_true(screen_wait_count(s, hello, 2, WAIT_MS));
    const char *body = model_server_body(scene_server(), 2);
    assert_non_null(strstr(body, "the fatal question"));
    assert_non_null(strstr(body, "an early question"));
    assert_null(strstr(body, "half an answer"));
}

static void the_picker_finds_and_resumes(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 100, NULL);
    scene_exchange(s, "about gardening", hello);
    scene_say(s, "/new");
    assert_true(screen_wait_gone(s, hello, WAIT_MS));
    scene_exchange(s, "about astronomy", "Of stars.");
    screen_key(s, SCREEN_F3);
    assert_true(screen_wait_text(s, "about gardening", WAIT_MS));
    assert_true(screen_wait_count(s, "about astronomy", 2, WAIT_MS)); /* the title and the list */
    screen_type(s, "about gard");
    assert_true(screen_wait_count(s, "about astronomy", 1, WAIT_MS));
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_gone(s, "about astronomy", WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    scene_exchange(s, "roses?", "Of roses.");
    const char *body = model_server_body(scene_server(), 2);
    assert_non_null(strstr(body, "about gardening"));
    assert_null(strstr(body, "about astronomy"));
}

static void the_picker_closes_without_a_choice(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "the only one", hello);
    screen_type(s, "kept");
    assert_true(screen_wait_text(s, "> kept", WAIT_MS));
    assert_true(scene_wait_prompt(s));
    screen_key(s, SCREEN_F3);
    assert_true(screen_wait_gone(s, "scripted model", WAIT_MS));
    screen_type(s, "only");
    assert_true(screen_wait_text(s, "/ only", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_true(scene_wait_prompt(s)); /* the caret is back, too */
    screen_type(s, " and more");
    assert_true(screen_wait_text(s, "> kept and more", WAIT_MS));
}

static void rename_gives_a_title_to_resume_by(void **state)
{
    (void)state;
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

static void the_model_cannot_set_the_terminals_title(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    screen_paste(s, "a \033]0;owned\007 title");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_false(screen_log_has(s, "\033]0;owned"));
    assert_string_not_equal(screen_title(s), "owned");
}

static void a_session_is_open_only_once(void **state)
{
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "mine", hello);
    struct screen *other = scene_start(24, 80, go_on);
    assert_true(screen_wait_text(other, "another tiro", WAIT_MS));
    scene_exchange(s, "still mine", "So it is.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(continue_shows_the_same_conversation),
        scene_test(a_plain_start_is_a_new_session),
        scene_test(a_draft_survives_leaving),
        scene_test(a_draft_survives_a_kill),
        scene_test(a_sent_draft_is_gone),
        scene_test(a_turn_that_a_kill_cut_off_is_shown_as_such),
        scene_test(the_picker_finds_and_resumes),
        scene_test(the_picker_closes_without_a_choice),
        scene_test(rename_gives_a_title_to_resume_by),
        scene_test(the_model_cannot_set_the_terminals_title),
        scene_test(a_session_is_open_only_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
