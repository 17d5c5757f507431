/* Tool calls of a turn: the tools that are offered, that run, and that ask first, and the model's
 * message about those that do not run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "play.h"
#include "support.h"
#include "tests/suite.h"
#include "tests/support.h"

#define WRITE_NOTE                                                                                 \
    {                                                                                              \
        .tool = "write_file", .args = "{\"path\":\"note.txt\",\"content\":\"forty-two\\n\"}",      \
        .stop = STOP_TOOL_USE                                                                      \
    }
#define DONE                                                                                       \
    {                                                                                              \
        .text = "Done.", .stop = STOP_END_TURN                                                     \
    }

#define NOBODY                                                                                     \
    "not allowed: nobody could be asked; allow it with [tools] allow or --allow write_file"

static bool note_exists(void)
{
    char *path = support_path("note.txt");
    bool exists = access(path, F_OK) == 0;
    return exists;
}

/* The newest tool result, which went to the model. */
static const struct event *result(int n)
{
    const struct event *ev = play_event(EVENT_TOOL_EXECUTION_COMPLETED, n);
    assert_non_null(ev);
    return ev;
}

static void assert_refused(int n, const char *text)
{
    assert_true(result(n)->flag);
    assert_string_equal(result(n)->text, text);
    assert_false(note_exists());
    assert_int_equal(play_last()->type, EVENT_TURN_COMPLETED);
    assert_string_equal(play_last()->text, "Done.");
    play_check_history();
}

FIXTURE(play_setup, play_teardown);

TEST(tools_are_offered_by_level)
{
    static const struct {
        const char *offer;
        bool rootless, reads, writes, executes;
    } rows[] = {
        {"none", false, false, false, false},
        {"read", false, true, false, false},
        {"full", false, true, true, true},
        {"full", true, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play.offer = rows[i].offer;
        play.rootless = rows[i].rootless;
        PLAY(DONE);
        assert_int_equal(play_offered("read_file"), rows[i].reads);
        assert_int_equal(play_offered("list_directory"), rows[i].reads);
        assert_int_equal(play_offered("write_file"), rows[i].writes);
        assert_int_equal(play_offered("run_command"), rows[i].executes);
    }
}

TEST(what_is_denied_is_not_offered)
{
    play_policy(NULL, NULL, "execute read_file");
    PLAY(DONE);
    assert_false(play_offered("run_command"));
    assert_false(play_offered("read_file"));
    assert_true(play_offered("list_directory"));
    assert_true(play_offered("write_file"));
}

/* A model may call a tool that was never offered. */
TEST(what_is_not_offered_does_not_run)
{
    play.offer = "read";
    play_policy("write", "execute", NULL);
    PLAY(WRITE_NOTE, DONE);
    assert_refused(0, "not allowed: this tool is not offered here");
    assert_int_equal(play.questions, 0);
}

TEST(what_is_denied_does_not_run)
{
    play_policy(NULL, NULL, "write");
    PLAY(WRITE_NOTE, DONE);
    assert_refused(0, "not allowed: [tools] deny has this tool");
    assert_int_equal(play.questions, 0);
}

TEST(without_a_directory_nothing_runs)
{
    play.rootless = true;
    play_policy("write", "execute", NULL);
    PLAY(WRITE_NOTE, DONE);
    assert_refused(0, "write_file cannot be used now: the working directory cannot be opened");
}

TEST(what_is_allowed_runs_without_a_question)
{
    play_policy("write", "execute", NULL);
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 0);
    assert_false(result(0)->flag);
    assert_true(note_exists());
    play_check_history();
}

TEST(the_user_allows_a_call)
{
    play.answer = APPROVAL_ALLOW;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_string_equal(play.asked_id, result(0)->id);
    assert_string_equal(play.asked_name, "write_file");
    assert_string_equal(play.asked_args, "{\"path\":\"note.txt\",\"content\":\"forty-two\\n\"}");
    assert_non_null(strstr(play.asked_preview, "+forty-two"));
    assert_false(result(0)->flag);
    assert_true(note_exists());
    play_check_history();
}

TEST(the_user_declines_a_call_and_the_turn_goes_on)
{
    play.answer = APPROVAL_DENY;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_refused(0, "the user declined this call");
    assert_int_equal(play.last_message_count, 3);
}

/* Each call gets a question of its own. */
TEST(two_calls_are_two_questions)
{
    struct act twice = WRITE_NOTE;
    twice.calls = 2;
    play.answer = APPROVAL_DENY;
    PLAY(twice, DONE);
    assert_int_equal(play.questions, 2);
    assert_refused(1, "the user declined this call");
}

/* The user sees a warning, and the model a note after the last result. */
TEST(refused_calls_are_told)
{
    struct act twice = {
        .tool = "list_directory", .args = "{}", .calls = 2, .refused = true, .stop = STOP_TOOL_USE};
    PLAY(twice, DONE);
    assert_string_equal(play_event(EVENT_WARNING, 0)->name, "calls_refused");
    assert_null(strstr(result(0)->text, "refused"));
    assert_non_null(strstr(result(1)->text, "an answer may have 128 tool calls"));
    assert_false(result(1)->flag);
    play_check_history();
}

TEST(allowed_for_the_session_is_asked_once)
{
    struct act twice = WRITE_NOTE;
    twice.calls = 2;
    play.answer = APPROVAL_ALLOW;
    play.for_session = true;
    PLAY(twice, WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_false(result(2)->flag);
}

TEST(nobody_can_be_asked)
{
    play.answer = APPROVAL_ASK;
    PLAY(WRITE_NOTE, DONE);
    assert_int_equal(play.questions, 1);
    assert_refused(0, NOBODY);
}

TEST(there_is_no_way_to_ask)
{
    play.absent = true;
    PLAY(WRITE_NOTE, DONE);
    assert_refused(0, NOBODY);
}

/* A call that cannot succeed asks for no approval. */
TEST(what_the_preview_refuses_is_not_asked)
{
    play.answer = APPROVAL_ALLOW;
    PLAY({.tool = "write_file",
          .args = "{\"path\":\"../note.txt\",\"content\":\"\"}",
          .stop = STOP_TOOL_USE},
         DONE);
    assert_int_equal(play.questions, 0);
    assert_true(result(0)->flag);
    assert_true(*result(0)->text != '\0');
    assert_string_equal(play_last()->text, "Done.");
}

TEST(bad_arguments_are_not_asked)
{
    play.answer = APPROVAL_ALLOW;
    PLAY({.tool = "write_file", .args = "{\"path\":7}", .stop = STOP_TOOL_USE},
         {.tool = "no_such_tool", .args = "{}", .stop = STOP_TOOL_USE}, DONE);
    assert_int_equal(play.questions, 0);
    assert_true(result(0)->flag);
    assert_true(result(1)->flag);
    assert_non_null(strstr(result(1)->text, "no_such_tool"));
    assert_string_equal(play_last()->text, "Done.");
}

/* An interrupt runs no tool, whatever the answer to the question is. */
TEST(an_interrupt_while_asked_runs_nothing)
{
    static const enum approval_verdict answers[] = {APPROVAL_DENY, APPROVAL_ALLOW};
    struct act twice = WRITE_NOTE;
    twice.calls = 2;
    play.escapes = true;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        play.answer = answers[i];
        play.stop = false;
        PLAY(twice);
        assert_int_equal(play.questions, i + 1);
        assert_int_equal(play_last()->type, EVENT_INTERRUPTED);
        assert_null(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0));
        assert_false(note_exists());
        play_check_history();
    }
    const struct message *results = &vec_last(&play.history.messages);
    assert_string_equal(results->blocks.items[0].text, "Not executed: the turn was cut off.");
}

TEST(a_tool_has_its_own_time)
{
    assert_true(config_set(play.config, CONFIG_TOOLS_COMMAND_TIMEOUT, "1", NULL));
    play_policy("execute", "write", NULL);
    PLAY({.tool = "run_command", .args = "{\"command\":\"sleep 600\"}", .stop = STOP_TOOL_USE},
         DONE);
    assert_true(result(0)->flag);
    assert_in_range(result(0)->number, 900, 60000);
    assert_string_equal(play_last()->text, "Done.");
}

TEST(waiting_for_the_user_is_not_the_tools_time)
{
    play_stop_clock();
    play.answer = APPROVAL_ALLOW;
    play.thinks_ms = 3600000;
    PLAY(WRITE_NOTE, DONE);
    assert_false(result(0)->flag); /* its deadline began after the answer */
    assert_int_equal(result(0)->number, 0);
    assert_int_equal(play_last()->number, 0);
}
