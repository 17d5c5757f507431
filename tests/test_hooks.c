/* Hooks of the user: what they get, what their answers do, and what they cannot do. */
#include "agent/hooks.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/play.h"
#include "tests/program.h"
#include "tests/suite.h"

FIXTURE(play_setup, play_teardown);

#define ANSWER                                                                                     \
    {                                                                                              \
        .text = "Hi.", .stop = STOP_END_TURN                                                       \
    }
#define WRITES "{'path':'note.txt','content':'x'}"

static void hook(enum config_key key, const char *command)
{
    assert_true(config_set(play.config, key, command, NULL));
}

/* A hook that keeps its input in the file. */
static void hook_keeps(enum config_key key, const char *name)
{
    hook(key, support_text("cat >> %s", support_path(name)));
}

static void told(int n, const char *text)
{
    const struct event *ev = play_event(EVENT_WARNING, n);
    if (!text) {
        assert_null(ev);
        return;
    }
    assert_non_null(ev);
    assert_string_equal(ev->name, "hook");
    assert_string_equal(ev->text, text);
}

static void kept(const char *name, const char *members)
{
    assert_json(parse_json(support_read(support_path(name))), members);
}

TEST(each_moment_is_told_to_its_hook)
{
    hook_keeps(CONFIG_HOOKS_SESSION_START, "start");
    hook_keeps(CONFIG_HOOKS_PROMPT, "prompt");
    hook_keeps(CONFIG_HOOKS_TOOL_ASK, "ask");
    hook_keeps(CONFIG_HOOKS_TOOL_DONE, "done");
    hook_keeps(CONFIG_HOOKS_TURN_END, "end");
    support_write(support_path("note.txt"), "forty-two");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    kept("start", support_text("{'hook_event_name':'SessionStart','source':'startup','cwd':'%s'}",
                               support_dir()));
    kept("prompt", "{'hook_event_name':'UserPromptSubmit','prompt':'hello'}");
    kept("ask",
         "{'hook_event_name':'PreToolUse','tool_name':'read_file',"
         "'tool_input':{'path':'note.txt'}}");
    kept("done",
         "{'hook_event_name':'PostToolUse','tool_name':'read_file',"
         "'tool_response':{'text':'forty-two','is_error':false}}");
    kept("end", "{'hook_event_name':'Stop','last_assistant_message':'Done.'}");
    hook(CONFIG_HOOKS_PROMPT, "true");
    PLAY(ANSWER);
    kept("start", "{'source':'startup'}"); /* once */
    told(0, NULL);
}

TEST(a_refused_message_leaves_nothing)
{
    struct error e = {0};
    const struct act answer = ANSWER;
    hook(CONFIG_HOOKS_PROMPT, "printf 'no\\033[31m secrets' >&2; echo '{'; exit 2");
    assert_false(play_run(&answer, 1, "hello", &e));
    assert_int_equal(e.code, ERR_FORBIDDEN);
    assert_non_null(strstr(e.text, "the hook prompt refused the message: no"));
    assert_non_null(strstr(e.text, " secrets"));
    assert_null(strchr(e.text, '\033'));
    assert_int_equal(play.events.len, 0);
    hook(CONFIG_HOOKS_PROMPT, "echo '{\"decision\":\"block\",\"reason\":\"not now\"}'");
    assert_false(play_run(&answer, 1, "hello", &e));
    assert_string_equal(e.text, "the hook prompt refused the message: not now");
    hook(CONFIG_HOOKS_PROMPT, "echo '{\"continue\":false,\"stopReason\":\"late\"}'");
    assert_false(play_run(&answer, 1, "hello", &e));
    assert_string_equal(e.text, "the hook prompt refused the message: late");
}

TEST(text_for_the_model)
{
    hook(CONFIG_HOOKS_SESSION_START, "echo 'The build is red.'");
    hook(CONFIG_HOOKS_TOOL_DONE,
         "echo '{\"systemMessage\":\"formatted\",\"hookSpecificOutput\":"
         "{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"line 3 is long\"}}'");
    support_write(support_path("note.txt"), "forty-two");
    play_gives("read_file", "{'path':'note.txt'}",
               "forty-two\n\n[A hook of the user adds:]\nline 3 is long");
    assert_non_null(strstr(play.system.data, "The build is red."));
    told(0, "hook tool_done: formatted");
    hook(CONFIG_HOOKS_PROMPT, "echo 'It is Monday.'");
    PLAY(ANSWER);
    assert_non_null(strstr(play.system.data, "The build is red."));
    assert_non_null(strstr(play.recalled.data, "It is Monday."));
    hook(CONFIG_HOOKS_PROMPT, "true");
    PLAY(ANSWER);
    assert_string_equal(play.recalled.data, "");
    told(1, NULL);
}

TEST(a_hook_that_asks_adds_to_the_result)
{
    hook(CONFIG_HOOKS_TOOL_ASK,
         "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"mind the "
         "tests\"}}'");
    support_write(support_path("note.txt"), "forty-two");
    play_gives("read_file", "{'path':'note.txt'}",
               "forty-two\n\n[A hook of the user adds:]\nmind the tests");
}

TEST(a_hook_refuses_a_call)
{
    hook(CONFIG_HOOKS_TOOL_ASK, "grep -q note.txt && { echo 'leave my notes' >&2; exit 2; }");
    play.answer = APPROVAL_ALLOW;
    play_refuses("write_file", WRITES,
                 "not allowed: a hook of the user refused this call: leave my notes");
    assert_true(play_event(EVENT_TOOL_EXECUTION_COMPLETED, 0)->denied);
    assert_int_equal(play.questions, 0);
    hook(CONFIG_HOOKS_TOOL_ASK,
         "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\","
         "\"permissionDecisionReason\":\"never\"}}'");
    play_refuses("write_file", WRITES, "refused this call: never");
}

TEST(a_hook_asks_and_allows)
{
    hook(CONFIG_HOOKS_TOOL_ASK, "echo '{\"decision\":\"allow\"}'");
    play_call("write_file", support_json(WRITES));
    assert_int_equal(play.questions, 0);
    assert_string_equal(support_read(support_path("note.txt")), "x");
    hook(CONFIG_HOOKS_TOOL_ASK, "echo '{\"decision\":\"ask\"}'");
    play.answer = APPROVAL_DENY;
    play_refuses("read_file", "{'path':'note.txt'}", "declined");
    assert_int_equal(play.questions, 1);
}

TEST(an_allow_spares_no_question_about_more_than_the_class)
{
    hook(CONFIG_HOOKS_TOOL_ASK, "echo '{\"decision\":\"allow\"}'");
    play.answer = APPROVAL_DENY;
    support_write(support_path(".env"), "KEY=1");
    play_refuses("read_file", "{'path':'.env'}", "declined");
    assert_int_equal(play.questions, 1);
    play_policy(NULL, "write_file", NULL);
    play_refuses("write_file", WRITES, "declined");
    assert_int_equal(play.questions, 2);
    play_policy(NULL, NULL, "write_file");
    play_refuses("write_file", WRITES, "[tools] deny");
    assert_int_equal(play.questions, 2);
    play_policy(NULL, "execute", "network");
    play.sandbox = true;
    play_refuses("run_command", "{'command':'true','access':'all'}", "declined");
    assert_int_equal(play.questions, 3);
}

TEST(a_hook_that_fails_is_told_once)
{
    hook(CONFIG_HOOKS_PROMPT, "echo 'no such thing' >&2; exit 1");
    PLAY(ANSWER);
    told(0, "hook prompt: it ended with status 1: no such thing");
    PLAY(ANSWER);
    told(1, NULL);
    hook(CONFIG_HOOKS_TURN_END, "echo '{not JSON'");
    PLAY(ANSWER);
    const struct event *ev = play_event(EVENT_WARNING, 1);
    assert_non_null(ev);
    assert_non_null(strstr(ev->text, "hook turn_end: its answer is not JSON"));
}

TEST(long_texts_of_a_hook_are_bounded)
{
    hook(CONFIG_HOOKS_SESSION_START, "yes | head -c 300000; yes | head -c 300000 >&2; exit 0");
    PLAY(ANSWER);
    assert_int_equal(strlen(play.hooks.start.context), 64 * 1024 - 1);
    hook(CONFIG_HOOKS_TURN_END, "yes | head -c 300000 >&2; exit 2");
    PLAY(ANSWER);
    const struct event *ev = play_event(EVENT_WARNING, 1); /* the first: the prompt was cut */
    assert_non_null(ev);
    assert_true(strlen(ev->text) > 1000 && strlen(ev->text) < 5000);
}

TEST(esc_ends_a_hook)
{
    struct error e = {0};
    const struct act answer = ANSWER;
    hook(CONFIG_HOOKS_PROMPT, "sleep 600");
    play_press_escape();
    assert_false(play_run(&answer, 1, "hello", &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_int_equal(play.events.len, 0);
}

TEST(a_compaction_has_hooks)
{
    static const struct act talk = {.text = "word word word word word word word word word word"};
    const struct act summary = {.text = "What was said so far, in short."};
    struct error e = {0};
    for (int i = 0; i < 3; i++)
        assert_true(play_run(&talk, 1, talk.text, &e));
    play.compacts = true;
    play.compact.recent_turns = 1;
    hook(CONFIG_HOOKS_PRE_COMPACT, "echo 'I still need it' >&2; exit 2");
    assert_false(play_compact(&summary, 1, "llm_replace", "the door", &e));
    assert_string_equal(e.text, "the hook pre_compact refused the compaction: I still need it");
    assert_null(play_event(EVENT_COMPACTION_STARTED, 0));
    hook_keeps(CONFIG_HOOKS_PRE_COMPACT, "pre");
    hook_keeps(CONFIG_HOOKS_POST_COMPACT, "post");
    assert_true(play_compact(&summary, 1, "llm_replace", "the door", &e));
    kept("pre",
         "{'hook_event_name':'PreCompact','trigger':'manual',"
         "'custom_instructions':'the door'}");
    kept("post", "{'hook_event_name':'PostCompact','trigger':'manual'}");
    assert_text(support_read(support_path("post")), "What was said so far, in short.");
}

/* --- hooks of a project ----------------------------------------------------------------------- */

static struct project_parts parts;

static int project_setup(void **state)
{
    int status = play_setup(state);
    mkdir(support_path(".git"), 0700);
    mkdir(support_path(".claude"), 0700);
    return status;
}

static int project_teardown(void **state)
{
    project_parts_release(&parts);
    return play_teardown(state);
}

FIXTURES(project, project_setup, project_teardown);

/* Trusts a project with these hooks (JSON with ' for "). */
static void project_hooks(const char *hooks)
{
    support_write(support_path(".claude/settings.json"),
                  support_json(support_text("{'hooks':{%s}}", hooks)));
    project_parts_release(&parts);
    project_parts_gather(support_dir(), &parts);
    assert_null(parts.faults);
    play.hooks.project = &parts;
}

/* The lines that hooks wrote into the file "ran", which is emptied. */
static const char *ran(void)
{
    const char *text =
        access(support_path("ran"), F_OK) == 0 ? support_read(support_path("ran")) : "";
    unlink(support_path("ran"));
    return text;
}

TEST(hooks_of_a_project_come_after_the_users)
{
    hook(CONFIG_HOOKS_PROMPT, "echo mine >> ran; echo 'First.'");
    project_hooks(
        "'UserPromptSubmit':[{'matcher':'never','hooks':[{'command':'echo one >> ran; "
        "echo Second.'},{'command':'echo two >> ran'}]},{'hooks':[{'command':'echo three "
        ">> ran; echo Third.'}]}],'SessionStart':[{'matcher':'resume','hooks':["
        "{'command':'echo no >> ran'}]},{'matcher':'startup|resume','hooks':[{'command':"
        "'echo start >> ran'}]}],'Stop':[{'hooks':[{'command':'echo stop >> ran'}]}]");
    PLAY(ANSWER);
    assert_string_equal(ran(), "start\nmine\none\ntwo\nthree\nstop\n");
    assert_non_null(strstr(play.recalled.data, "First.\nSecond.\nThird."));
    play.hooks.project = NULL;
    PLAY(ANSWER);
    assert_string_equal(ran(), "mine\n");
}

TEST(a_matcher_chooses_tools_by_both_names)
{
    support_write(support_path("note.txt"), "forty-two");
    project_hooks(
        "'PreToolUse':[{'matcher':'Read','hooks':[{'command':'echo Read >> ran'}]},"
        "{'matcher':'read_file','hooks':[{'command':'echo read_file >> ran'}]},"
        "{'matcher':'Edit|R.*d','hooks':[{'command':'echo R.*d >> ran'}]},"
        "{'matcher':'*','hooks':[{'command':'echo star >> ran'}]},"
        "{'matcher':'','hooks':[{'command':'echo empty >> ran'}]},"
        "{'matcher':'Rea','hooks':[{'command':'echo Rea >> ran'}]},"
        "{'matcher':'Bash|Edit','hooks':[{'command':'echo Bash >> ran'}]}]");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    assert_string_equal(ran(), "Read\nread_file\nR.*d\nstar\nempty\n");
    told(0, NULL);
    project_hooks("'PreToolUse':[{'matcher':'(','hooks':[{'command':'echo no >> ran'}]}]");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    assert_string_equal(ran(), "");
    assert_non_null(strstr(play_event(EVENT_WARNING, 0)->text,
                           "hook tool_ask: the matcher of a hook is not usable: "));
}

/* A hook of the user gets the names of tiro, one of a project those of Claude Code. */
TEST(a_hook_of_a_project_knows_its_format)
{
    mkdir(support_path("sub"), 0700);
    support_write(support_path("sub/note.txt"), "forty-two");
    hook_keeps(CONFIG_HOOKS_TOOL_DONE, "mine");
    project_hooks(
        "'PostToolUse':[{'matcher':'Read','hooks':[{'type':'command','command':"
        "'cat >> $CLAUDE_PROJECT_DIR/input; pwd > ran; echo $CLAUDE_PROJECT_DIR >> ran'"
        "}]}]");
    play_gives("read_file", "{'path':'sub/note.txt'}", "forty-two");
    const char *path = support_path("sub/note.txt");
    kept("mine", "{'tool_name':'read_file'}");
    kept("input", support_text("{'hook_event_name':'PostToolUse','tool_name':'Read','tool_input':"
                               "{'path':'sub/note.txt','file_path':'%s'}}",
                               path));
    assert_string_equal(ran(), support_text("%s\n%s\n", support_dir(), support_dir()));
}

TEST(the_strictest_hook_counts)
{
    hook(CONFIG_HOOKS_TOOL_ASK, "echo '{\"decision\":\"allow\"}'");
    project_hooks(
        "'PreToolUse':[{'hooks':[{'command':'echo one >> ran; echo only reading >&2; "
        "exit 2'},{'command':'echo two >> ran'}]}]");
    play_refuses("write_file", WRITES, "a hook of the user refused this call: only reading");
    assert_string_equal(ran(), "one\n");
    hook(CONFIG_HOOKS_TOOL_ASK, "exit 2");
    play_refuses("write_file", WRITES, "it gave no reason");
    assert_string_equal(ran(), "");
    hook(CONFIG_HOOKS_TOOL_ASK, "echo '{\"decision\":\"ask\"}'");
    project_hooks(
        "'PreToolUse':[{'hooks':[{'command':'echo \\'{\\\\\\'decision\\\\\\':"
        "\\\\\\'allow\\\\\\'}\\''}]}]");
    play.answer = APPROVAL_DENY;
    play_refuses("write_file", WRITES, "declined");
    assert_int_equal(play.questions, 1);
}

/* Its text was asked about, its program is read by the shell: a change must not run. */
TEST(a_changed_program_ends_the_hooks_of_a_project)
{
    support_write(support_path("check.sh"), "echo good >> ran\n");
    support_write(support_path("note.txt"), "forty-two");
    project_hooks("'PreToolUse':[{'hooks':[{'command':'sh ./check.sh'}]}]");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    assert_string_equal(ran(), "good\n");
    support_write(support_path("check.sh"), "echo evil >> ran\n");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    assert_string_equal(ran(), "");
    assert_null(play.hooks.project);
    told(0,
         "a program of the project's hooks has changed, and they run no more; the next message "
         "asks about them");
    play_gives("read_file", "{'path':'note.txt'}", "forty-two");
    assert_string_equal(ran(), "");
    told(1, NULL);
}

FIXTURES(program, support_setup, support_teardown);

TEST(the_program_does_not_send_a_refused_message)
{
    write_config("[provider]\nname = offline\n[hooks]\nprompt = echo not today >&2; exit 2\n");
    expect(RUN("run", "What is tiro?"), 1, "the hook prompt refused the message: not today");
    write_config("[provider]\nname = offline\n[hooks]\nturn_end = echo bye >&2; exit 2\n");
    expect(RUN("run", "What is tiro?"), 0, "hook turn_end: bye");
}
