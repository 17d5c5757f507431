/* Nothing of a project runs before the user trusts it: the question, its answers, and surfaces that
 * cannot ask. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "config/permissions.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

#define ANSWERED "Hello from the scripted model."

static struct engine *engine;

static int tear_down(void **state)
{
    engine_free(engine);
    engine = NULL;
    return surface_teardown(state);
}

FIXTURE(surface_setup, tear_down);

/* A hook that adds a line to the file "ran" in the project. */
static void bring_hook(const char *event, const char *line)
{
    mkdir(support_path(".claude"), 0700);
    support_write(support_path(".claude/settings.json"),
                  support_json(support_text("{'hooks':{'%s':[{'hooks':[{'type':'command','command':"
                                            "'echo %s >> $CLAUDE_PROJECT_DIR/ran'}]}]}}",
                                            event, line)));
}

static const char *ran(void)
{
    bool there = access(support_path("ran"), F_OK) == 0;
    const char *text = there ? support_read(support_path("ran")) : "";
    unlink(support_path("ran"));
    return text;
}

static void open_engine(bool can_ask, bool trust)
{
    struct engine_options options = surface_options(NULL, true);
    options.can_ask = can_ask;
    options.trust = trust;
    engine_free(engine);
    engine = engine_new(&options);
}

/* Sends a message, whose turn must begin with the question, and answers that. Without a question:
 * ANSWER_DENY + 1. */
enum { UNASKED = ANSWER_DENY + 1 };
static void turn(int answer)
{
    surface_send(engine, &operation_turn_start, "Hello");
    for (;;) {
        struct notice *n = surface_next(engine);
        if (n->type == NOTICE_APPROVAL) {
            assert_true(answer != UNASKED);
            assert_string_equal(n->text, QUESTION_OF_TRUST);
            assert_string_equal(n->detail, QUESTION_OF_PROJECT);
            assert_null(n->grant);
            assert_string_equal(ran(), "");
            surface_send_for(engine, &operation_approval_decide, n->text, NULL, answer);
            answer = UNASKED;
        }
        if (n->type == NOTICE_EVENT && n->event->type == EVENT_TURN_STARTED)
            assert_int_equal(answer, UNASKED);
        if (n->type == NOTICE_EVENT && n->event->type == EVENT_TURN_COMPLETED)
            break;
    }
    surface_expect_idle(engine);
}

TEST(nothing_runs_before_the_answer)
{
    bring_hook("SessionStart", "evil");
    open_engine(true, false);
    surface_send(engine, &operation_turn_start, "Hello");
    struct notice *n = surface_expect(engine, NOTICE_APPROVAL);
    assert_string_equal(ran(), "");
    assert_int_equal(surface_requests(), 0);
    assert_non_null(strstr(n->preview, support_dir()));
    assert_non_null(
        strstr(n->preview, "hook SessionStart:\n    echo evil >> $CLAUDE_PROJECT_DIR/ran\n"));
    surface_send_for(engine, &operation_approval_decide, QUESTION_OF_TRUST, NULL, ANSWER_DENY);
    surface_expect_event(engine, EVENT_TURN_COMPLETED);
    surface_expect_idle(engine);
    assert_string_equal(ran(), "");
    turn(UNASKED); /* once a session */
    assert_string_equal(ran(), "");
    open_engine(true, false);
    turn(ANSWER_DENY);
}

TEST(trust_lasts_until_a_part_changes)
{
    bring_hook("UserPromptSubmit", "one");
    open_engine(true, false);
    turn(ANSWER_PROJECT);
    assert_string_equal(ran(), "one\n");
    bring_hook("UserPromptSubmit", "two");
    turn(UNASKED); /* the text that was shown runs, not the one of the file */
    assert_string_equal(ran(), "one\n");
    open_engine(true, false);
    turn(ANSWER_DENY);
    assert_string_equal(ran(), "");
    bring_hook("UserPromptSubmit", "one");
    open_engine(true, false);
    turn(UNASKED);
    assert_string_equal(ran(), "one\n");
}

TEST(trust_in_one_session_is_not_remembered)
{
    bring_hook("Stop", "end");
    open_engine(true, false);
    turn(ANSWER_ONCE);
    turn(UNASKED);
    assert_string_equal(ran(), "end\nend\n");
    open_engine(true, false);
    turn(ANSWER_SESSION);
    assert_string_equal(ran(), "end\n");
    open_engine(true, false);
    turn(ANSWER_DENY);
    assert_string_equal(ran(), "");
}

TEST(an_interrupt_answers_nothing)
{
    bring_hook("SessionStart", "evil");
    open_engine(true, false);
    surface_send(engine, &operation_turn_start, "Hello");
    surface_expect(engine, NOTICE_APPROVAL);
    surface_send(engine, &operation_turn_interrupt, NULL);
    surface_expect_error(engine, ERR_INTERRUPTED, "Hello");
    assert_int_equal(surface_requests(), 0);
    assert_string_equal(ran(), "");
    turn(ANSWER_PROJECT);
    assert_string_equal(ran(), "evil\n");
}

/* A program of a hook is another one on the disk: it does not run, and the next message asks. */
TEST(a_changed_program_asks_again)
{
    mkdir(support_path(".claude"), 0700);
    support_write(support_path(".claude/settings.json"),
                  support_json("{'hooks':{'UserPromptSubmit':[{'hooks':[{'command':"
                               "'sh ./line.sh >> ran'}]}]}}"));
    support_write(support_path("line.sh"), "echo good\n");
    open_engine(true, false);
    turn(ANSWER_PROJECT);
    assert_string_equal(ran(), "good\n");
    support_write(support_path("line.sh"), "echo evil\n");
    turn(UNASKED);
    assert_string_equal(ran(), "");
    turn(ANSWER_DENY);
    assert_string_equal(ran(), "");
    turn(UNASKED);
    assert_string_equal(ran(), "");
}

TEST(trust_is_taken_back_in_a_session)
{
    bring_hook("UserPromptSubmit", "line");
    open_engine(true, false);
    turn(ANSWER_PROJECT);
    assert_string_equal(ran(), "line\n");
    const struct permission_list_params none = {.revoke = NULL}, back = {.revoke = "1"};
    const struct permission_list *list =
        surface_call(engine, &operation_permission_list, &none)->result;
    assert_int_equal(list->items.len, 1);
    assert_string_equal(list->items.items[0].text, support_dir());
    assert_int_equal(list->items.items[0].scope, PERMISSION_DIRECTORY);
    list = surface_call(engine, &operation_permission_list, &back)->result;
    assert_int_equal(list->items.len, 0);
    turn(ANSWER_DENY);
    assert_string_equal(ran(), "");
}

/* --- surfaces that cannot ask ----------------------------------------------------------------- */

TEST(who_cannot_be_asked_trusts_nothing)
{
    bring_hook("UserPromptSubmit", "evil");
    open_engine(false, false);
    surface_send(engine, &operation_turn_start, "Hello");
    const struct notice *n = surface_expect_event(engine, EVENT_WARNING);
    assert_non_null(strstr(n->event->text,
                           "the project is not trusted, and this was not started: "
                           "hook UserPromptSubmit; "));
    surface_expect_idle(engine);
    assert_string_equal(ran(), "");
    open_engine(false, true);
    turn(UNASKED);
    assert_string_equal(ran(), "evil\n");
    open_engine(false, false);
    turn(UNASKED); /* the option counted for its engine */
    assert_string_equal(ran(), "");
}

TEST(what_is_passed_over_is_told_once)
{
    mkdir(support_path(".claude"), 0700);
    assert_int_equal(mkfifo(support_path(".claude/settings.json"), 0600), 0);
    open_engine(true, false);
    surface_send(engine, &operation_turn_start, "Hello");
    const struct notice *n = surface_expect_event(engine, EVENT_WARNING);
    assert_non_null(strstr(n->event->text, "settings.json was passed over: it is no regular file"));
    surface_expect_idle(engine);
    surface_send(engine, &operation_turn_start, "Hello");
    while ((n = surface_next(engine))->type != NOTICE_BUSY || n->flag)
        assert_false(n->type == NOTICE_EVENT && n->event->type == EVENT_WARNING);
}

FIXTURES(program, support_setup, support_teardown);

TEST(the_program_trusts_for_one_run)
{
    write_config("[provider]\nname = offline\n");
    assert_int_equal(chdir(support_dir()), 0);
    bring_hook("UserPromptSubmit", "line");
    expect(RUN("run", "What is tiro?"), 0,
           "the project is not trusted, and this was not started: hook UserPromptSubmit");
    assert_string_equal(ran(), "");
    expect(RUN("run", "--trust", "What is tiro?"), 0, "");
    assert_string_equal(ran(), "line\n");
    expect(RUN("run", "What is tiro?"), 0, "was not started");
    assert_string_equal(ran(), "");
    expect(RUN("permissions"), 0, "Nothing is allowed");
    assert_int_equal(chdir("/"), 0);
}

TEST(the_program_lists_and_forgets_trusted_directories)
{
    struct error e;
    assert_true(permissions_set("/somewhere", "trust sha256:00", true, &e));
    assert_true(permissions_set("/somewhere", "write_file", true, &e));
    assert_string_equal(program_output(RUN("permissions")), "1  /somewhere  (trusted)\n");
    expect(RUN("permissions", "list", "--revoke", "/somewhere"), 0, "Nothing is allowed");
    expect(RUN("permissions"), 0, "Nothing is allowed");
}
