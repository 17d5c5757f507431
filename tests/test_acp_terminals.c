/* Commands of tools in the terminals of a client of `tiro serve --acp`. */
#include <signal.h>

#include "base/child.h"
#include "base/clock.h"
#include "tests/acp_client.h"
#include "tests/program.h"
#include "tests/suite.h"

FIXTURE(acp_set_up, acp_tear_down);

#define TERMINALS "{'terminal':true}"

static int ask_to_run(const char *args)
{
    queue_tool("run_command", args);
    return prompt("Run it.");
}

static const struct json *expect_terminal(const char *method)
{
    const struct json *asked = next_request(method);
    assert_json(asked_for(asked), support_text("{'sessionId':'%s','terminalId':'t1'}", session));
    return asked;
}

/* Answers with the terminal; returns the request that waits for its end. */
static const struct json *create(void)
{
    answer_with(next_request("terminal/create"), "{'terminalId':'t1'}");
    return expect_terminal("terminal/wait_for_exit");
}

static int begin_and_run(const char *args)
{
    begin_allowed(TERMINALS);
    return ask_to_run(args);
}

static void release(void)
{
    answer_with(expect_terminal("terminal/release"), "{}");
}

/* Answers with the output, after which the terminal is released. */
static void give_output(const char *result)
{
    answer_with(expect_terminal("terminal/output"), result);
    release();
}

TEST(a_command_runs_in_a_terminal_of_the_client)
{
    begin_with(TERMINALS);
    int id = ask_to_run("{'command':'make check'}");
    allow(next_permission());
    const struct json *asked = next_request("terminal/create");
    assert_json(asked_for(asked), support_text("{'sessionId':'%s','command':'/bin/sh','cwd':'%s'}",
                                               session, support_dir()));
    assert_true(json_get_int(asked_for(asked), "outputByteLimit", 0) > 1000);
    answer_with(asked, "{'terminalId':'t1'}");
    const struct json *wait = expect_terminal("terminal/wait_for_exit");
    assert_text(support_keep(json_print(client_told("tool_call"))), "make check");
    assert_json(next_update_with("content"), "{'content':[{'type':'content'}]}"); /* the question */
    assert_json(next_update_with("content"), "{'content':[{'type':'terminal','terminalId':'t1'}]}");
    answer_with(wait, "{'exitCode':0}");
    give_output("{'output':'built\\r\\n','truncated':false}");
    expect_stop(id, "end_turn");
    const struct json *last = next_update_with("rawOutput");
    assert_json(last, "{'status':'completed'}");
    assert_null(json_get(last, "content")); /* the terminal stays */
    assert_text(last_body(), "built\\n[exit status 0]");
}

static bool keep_output(void *context, const char *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

/* Runs the command as a client does: its own environment and the requested variables. */
static char *run_as_client(const struct json *params, const char *const *environment)
{
    VEC(const char *) argv = {0};
    VEC(char *) env = {0};
    struct buf output = BUF_INIT;
    struct child_result result;
    struct error e;
    vec_push(&argv, json_get_string(params, "command"));
    for (const struct json *a = json_first(json_get(params, "args")); a; a = json_next(a))
        vec_push(&argv, json_string(a));
    vec_push(&argv, NULL);
    for (; *environment; environment++)
        vec_push(&env, mem_strdup(*environment));
    for (const struct json *v = json_first(json_get(params, "env")); v; v = json_next(v))
        vec_push(&env,
                 mem_printf("%s=%s", json_get_string(v, "name"), json_get_string(v, "value")));
    vec_push(&env, NULL);
    const struct child_command command = {.argv = argv.items,
                                          .directory = json_get_string(params, "cwd"),
                                          .environment = env.items,
                                          .input = "typed\n",
                                          .input_len = 6,
                                          .with_errors = true,
                                          .deadline_ms = clock_mono_ms() + RPC_CLIENT_MS,
                                          .take = keep_output,
                                          .context = &output};
    assert_true(child_run(&command, &result, &e));
    vec_release(&argv);
    vec_free_each(&env);
    return support_keep(buf_take(&output));
}

TEST(what_the_client_has_in_its_environment_is_not_passed_on)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin",
                                              "HOME=/home/ada",
                                              "SECRET_KEY=sesame",
                                              "MINE_A=wanted",
                                              "LC_ALL=C",
                                              "https_proxy=http://ada:sesame@proxy/",
                                              "OPENAI_API_KEY=sesame",
                                              "ANTHROPIC_API_KEY=sesame",
                                              "TIRO_EMBEDDING_API_KEY=sesame",
                                              "TERM=xterm",
                                              NULL};
    write_config("[tools]\nenvironment = MINE_* TIRO_*, OPENAI_API_KEY ANTHROPIC_API_KEY\n");
    int id = begin_and_run("{'command':'env; pwd; cat; echo \\'$0\\' done'}");
    const struct json *asked = next_request("terminal/create");
    char *out = run_as_client(asked_for(asked), environment);
    assert_no_text(out, "sesame");
    assert_no_text(out, "TIRO");
    assert_text(out, "PATH=/usr/bin:/bin\n");
    assert_text(out, "HOME=/home/ada\n");
    assert_text(out, "MINE_A=wanted\n");
    assert_text(out, "TERM=dumb\n");
    assert_text(out, "PAGER=cat\n");
    assert_text(out, support_text("\n%s\n", support_dir()));
    assert_text(out, "done\n");
    assert_no_text(out, "typed"); /* the command has no input */
    assert_no_text(support_keep(json_print(asked_for(asked))), "scripted"); /* our own values */
    refuse_with(asked, -32603, "no more of them");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "the editor refused: no more of them");
}

TEST(a_commands_end_is_told_as_it_was)
{
    static const struct {
        const char *exit, *output, *result;
        bool failed;
    } rows[] = {
        {"{'exitCode':2}", "{'output':'x','truncated':false}", "x\n[exit status 2]", true},
        {"{'exitCode':null,'signal':'SIGSEGV'}", "{'output':'','truncated':false}",
         "[ended by signal SIGSEGV]", true},
        {"{'exitCode':0}", "{'output':'end','truncated':true}",
         "[… the beginning was left out …]\nend\n[exit status 0]", false},
        {"{}", "{'output':'x','truncated':false,'exitStatus':{'exitCode':0}}", "x\n[exit status 0]",
         false},
        {"{}", "{'output':'x','truncated':false}", "[exit status unknown]", true},
        {"{'exitCode':-1}", "{'output':'x','truncated':'no'}", "[exit status unknown]", true},
        {"{'exitCode':1e99}", "{'output':'x'}", "[exit status unknown]", true},
        {"{'exitCode':4294967296}", "{'output':'x'}", "[exit status unknown]", true},
        {"{'exitCode':'0'}", "{'output':'x'}", "[exit status unknown]", true},
        {"{'signal':7}", "{'output':'x'}", "[exit status unknown]", true},
        {"null", "{'output':'x'}", "[exit status unknown]", true},
        {"{'exitCode':0}", "{'output':7}", "did not tell what the command printed", true},
        {"{'exitCode':0}", "null", "did not tell what the command printed", true},
        {"{'signal':'\\u001b[31m\\nSIGKILLSIGKILLSIGKILLSIGKILLSIGKILLSIGKILLSIGKILL'}",
         "{'output':'\\u001b[31mred'}", "red\n[ended by signal", true},
    };
    begin_allowed(TERMINALS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int id = ask_to_run("{'command':'x'}");
        answer_with(create(), rows[i].exit);
        give_output(rows[i].output);
        expect_stop(id, "end_turn");
        const struct json *told_end = next_update_with("rawOutput");
        assert_text(text_of(told_end, "rawOutput"), rows[i].result);
        assert_no_text(text_of(told_end, "rawOutput"), "\033");
        assert_string_equal(text_of(told_end, "status"), rows[i].failed ? "failed" : "completed");
    }
}

TEST(giant_output_is_cut)
{
    int id = begin_and_run("{'command':'x'}");
    answer_with(create(), "{'exitCode':0}");
    give_output(support_text("{'truncated':false,'output':%s}", giant(20000000)));
    expect_stop(id, "end_turn");
    assert_text(last_body(), "bytes left out");
    assert_text(last_body(), "[exit status 0]");
    assert_true(strlen(last_body()) < 200000);
}

TEST(a_terminal_that_is_none_is_an_error)
{
    static const char *const answers[] = {"null", "{}", "{'terminalId':7}", "{'terminalId':''}"};
    begin_allowed(TERMINALS);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int id = ask_to_run("{'command':'x'}");
        answer_with(next_request("terminal/create"), answers[i]);
        expect_stop(id, "end_turn");
        assert_text(text_of(next_update_with("rawOutput"), "rawOutput"),
                    "the editor's answer to terminal/create does not fit");
    }
    expect_no_request("terminal/release");
}

TEST(a_client_without_terminals_after_all_is_told_of)
{
    int id = begin_and_run("{'command':'echo here'}");
    refuse_with(next_request("terminal/create"), -32601, "Method not found");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "the editor refused: Method not found");
    assert_text(all_said("agent_message_chunk"), "The editor offers terminal/create");
    expect_stop(ask_to_run("{'command':'echo here'}"), "end_turn");
    assert_text(last_body(), "here\\n[exit status 0]");
}

/* The command is killed, its output is kept, and the terminal is released. */
static void end_killed(const struct json *wait, bool answers)
{
    expect_withdrawn(wait);
    const struct json *kill = expect_terminal("terminal/kill");
    if (!answers) {
        next_request("terminal/release");
        return;
    }
    answer_with(kill, "{}");
    give_output("{'output':'half of it','truncated':false,'exitStatus':{'signal':'SIGKILL'}}");
}

TEST(a_command_that_takes_too_long_is_killed)
{
    int id = begin_and_run("{'command':'x','timeout':1}");
    end_killed(create(), true);
    expect_stop(id, "end_turn");
    assert_text(last_body(), "half of it\\n[timed out after 1 s and was ended]");
}

TEST(a_cancelled_command_is_killed)
{
    int id = begin_and_run("{'command':'x'}");
    const struct json *wait = create();
    rpc_client_write(&client, CANCEL);
    end_killed(wait, true);
    expect_stop(id, "cancelled");
    ask("Go on.");
    assert_text(last_body(), "half of it\\n[interrupted]");
}

TEST(a_terminal_is_released_even_if_its_client_does_not_answer)
{
    int id = begin_and_run("{'command':'x'}");
    const struct json *wait = create();
    rpc_client_write(&client, CANCEL);
    end_killed(wait, false);
    expect_stop(id, "cancelled");
    ask("Go on.");
    assert_text(last_body(), "[the editor did not end the command in time]\\n[interrupted]");
}

TEST(a_terminal_that_comes_too_late_is_released)
{
    int id = begin_and_run("{'command':'x'}");
    const struct json *asked = next_request("terminal/create");
    rpc_client_write(&client, CANCEL);
    expect_stop(id, "cancelled");
    answer_with(asked, "{'terminalId':'t1'}");
    release();
    expect_no_request("terminal/wait_for_exit");
    ask("Go on.");
    assert_text(last_body(), "[the editor had not begun it]\\n[interrupted]");
}

TEST(a_command_whose_end_is_not_told_is_killed)
{
    int id = begin_and_run("{'command':'x'}");
    refuse_with(create(), -32603, "lost it");
    answer_with(expect_terminal("terminal/kill"), "{}");
    give_output("{'output':'x','truncated':false}");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "x\\n[exit status unknown]");
}

TEST(a_closed_session_ends_its_command)
{
    int id = begin_and_run("{'command':'x'}");
    const struct json *wait = create();
    int closing = rpc_client_ask(&client, "session/close", PARAMS(""));
    expect_stop(id, "cancelled");
    end_killed(wait, true);
    assert_non_null(json_get(rpc_client_answer(&client, closing), "result"));
}

TEST(a_client_that_goes_away_ends_its_command)
{
    begin_and_run("{'command':'x'}");
    create();
    end();
    assert_text(last_body(), "the editor has gone away");
}

TEST(a_signal_releases_the_terminal)
{
    int id = begin_and_run("{'command':'x'}");
    create();
    assert_int_equal(kill(client.child.pid, SIGTERM), 0);
    next_request("terminal/release");
    expect_no_request("terminal/kill"); /* whose answer would not be read any more */
    expect_stop(id, "cancelled");
}

/* Each session has its own terminal, even when both run at once. */
TEST(two_sessions_have_terminals_of_their_own)
{
    begin_allowed(TERMINALS);
    const char *first = session;
    int one = ask_to_run("{'command':'one'}");
    const struct json *first_wait = create();
    session = new_session();
    int two = ask_to_run("{'command':'two'}");
    answer_with(create(), "{'exitCode':0}");
    give_output("{'output':'of two','truncated':false}");
    expect_stop(two, "end_turn");
    assert_text(last_body(), "of two");
    session = first;
    answer_with(first_wait, "{'exitCode':0}");
    give_output("{'output':'of one','truncated':false}");
    expect_stop(one, "end_turn");
    assert_text(last_body(), "of one");
}
