/* What tools want of a client of `tiro serve --acp`: files as it has them open, files that it
 * writes, commands in its terminals; and what it may answer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "tests/acp_client.h"
#include "tests/program.h"
#include "tests/suite.h"

FIXTURE(acp_set_up, acp_tear_down);

static const char *note(void)
{
    return support_path("note.txt");
}

/* --- files that it has open ------------------------------------------------------------------- */

#define READS "{'fs':{'readTextFile':true}}"
#define WRITES "{'fs':{'readTextFile':true,'writeTextFile':true}}"

static int ask_to_read(const char *capabilities, const char *args)
{
    begin_with(capabilities);
    support_write(note(), "on the disk\n");
    queue_tool("read_file", args);
    return prompt("Read it.");
}

TEST(what_the_client_has_open_is_read_as_it_stands_there)
{
    int id = ask_to_read(READS, "{'path':'note.txt','offset':2}");
    const struct json *asked = next_request("fs/read_text_file");
    assert_json(asked_for(asked), support_text("{'sessionId':'%s','path':'%s'}", session, note()));
    answer_with(asked, "{'content':'one\\nnot saved\\n'}");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "\"not saved\\n\"");
    end();
}

TEST(what_it_does_not_have_is_read_from_the_disk)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    refuse_with(next_request("fs/read_text_file"), -32002, "no such file");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "on the disk");
    end();
}

TEST(what_it_refuses_is_not_read)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    rpc_client_write(&client,
                     support_text("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,"
                                  "\"message\":\"Internal error\",\"data\":{\"details\":"
                                  "\"not \\u001b[31myours\"}}}\n",
                                  id_of(next_request("fs/read_text_file"))));
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: Internal error: not ");
    assert_no_text(last_body(), "on the disk");
    assert_no_text(last_body(), "\\u001b");
    end();
}

TEST(a_client_that_goes_away_gives_no_text)
{
    ask_to_read(READS, "{'path':'note.txt'}");
    next_request("fs/read_text_file");
    end();
    assert_text(last_body(), "note.txt: the editor has gone away");
}

TEST(a_client_without_files_is_not_asked)
{
    expect_stop(ask_to_read("{'fs':{'readTextFile':false}}", "{'path':'note.txt'}"), "end_turn");
    assert_text(last_body(), "on the disk");
    expect_no_request("fs/read_text_file");
    end();
}

/* It leads out of the directory: the client is not asked about that either. */
TEST(a_path_that_may_not_be_read_is_not_asked_about)
{
    expect_stop(ask_to_read(READS, "{'path':'../../etc/passwd'}"), "end_turn");
    expect_no_request("fs/read_text_file");
    end();
}

TEST(a_read_that_is_cancelled_is_withdrawn)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    const struct json *asked = next_request("fs/read_text_file");
    int64_t begun = clock_mono_ms();
    rpc_client_write(&client, CANCEL);
    expect_withdrawn(asked);
    expect_stop(id, "cancelled");
    assert_true(clock_mono_ms() - begun < 4000); /* less than the wait for a silent client */
    end();
}

/* A text with a NUL is no message at all. */
TEST(a_client_that_says_nothing_gives_no_text)
{
    write_config("[tools]\ntimeout = 1\n");
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    const struct json *asked = next_request("fs/read_text_file");
    answer_with(asked, "{'content':'a\\u0000b'}");
    expect_withdrawn(asked);
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor did not answer in time");
    assert_no_text(last_body(), "on the disk");
    end();
}

TEST(hostile_texts_are_no_files)
{
    static const char *const answers[] = {"null",  "[]", "{}", "{'content':7}", "{'content':null}",
                                          "'text'"};
    begin_with(READS);
    support_write(note(), "on the disk\n");
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        queue_tool("read_file", "{'path':'note.txt'}");
        int id = prompt("Read it.");
        answer_with(next_request("fs/read_text_file"), answers[i]);
        expect_stop(id, "end_turn");
        assert_text(last_body(), "note.txt: the editor's answer to fs/read_text_file does not fit");
        assert_no_text(last_body(), "on the disk");
    }
    end();
}

TEST(a_giant_text_is_cut)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    answer_with(next_request("fs/read_text_file"), support_text("{'content':%s}", giant(20000000)));
    expect_stop(id, "end_turn");
    assert_true(strlen(last_body()) < 200000);
    assert_text(last_body(), "wwww");
    end();
}

/* --- files that it writes --------------------------------------------------------------------- */

static int ask_to_write(const char *path, const char *content)
{
    queue_tool("write_file", support_text("{'path':'%s','content':'%s'}", path, content));
    return prompt("Write it.");
}

static void give_text(const char *text)
{
    const struct json *asked = next_request("fs/read_text_file");
    assert_json(asked_for(asked), support_text("{'path':'%s'}", note()));
    answer_with(asked, support_text("{'content':'%s'}", text));
}

TEST(the_client_writes_what_was_compared_with_its_text)
{
    begin_with(WRITES);
    support_write(note(), "on the disk\n");
    int id = ask_to_write("note.txt", "new\\n");
    give_text("open\\nnot saved\\n");
    const struct json *permission = next_permission();
    assert_json(json_get(asked_for(permission), "toolCall"),
                "{'content':[{'type':'diff','oldText':'open\\nnot saved\\n','newText':'new\\n'}]}");
    expect_no_request("fs/write_text_file");
    allow(permission);
    give_text("open\\nnot saved\\n");
    const struct json *asked = next_request("fs/write_text_file");
    assert_json(asked_for(asked),
                support_text("{'sessionId':'%s','path':'%s','content':'new\\n'}", session, note()));
    answer_with(asked, "null");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "wrote 4 bytes, 1 line");
    assert_string_equal(support_read(note()), "on the disk\n");
    end();
}

TEST(a_new_file_is_written_by_the_client)
{
    begin_with(WRITES);
    int id = ask_to_write("sub/note.txt", "new\\n");
    refuse_with(next_request("fs/read_text_file"), -32002, "no such file");
    const struct json *permission = next_permission();
    const struct json *call = json_get(asked_for(permission), "toolCall");
    assert_json(call, "{'content':[{'type':'diff','newText':'new\\n'}]}");
    assert_no_text(support_keep(json_print(call)), "oldText\":\"");
    allow(permission);
    const struct json *asked = next_request("fs/write_text_file");
    assert_json(asked_for(asked), support_text("{'path':'%s'}", support_path("sub/note.txt")));
    answer_with(asked, "{}");
    expect_stop(id, "end_turn");
    assert_false(is_there(support_path("sub/note.txt")));
    end();
}

TEST(a_text_that_changed_meanwhile_is_not_replaced)
{
    static const char *const now[] = {"{'content':'other\\n'}", "{'content':7}"};
    begin_with(WRITES);
    support_write(note(), "on the disk\n");
    for (size_t i = 0; i < 2; i++) {
        int id = ask_to_write("note.txt", "new\\n");
        give_text("open\\n");
        allow(next_permission());
        answer_with(next_request("fs/read_text_file"), now[i]);
        expect_stop(id, "end_turn");
        expect_no_request("fs/write_text_file");
        assert_text(last_body(), i == 0 ? "changed in the editor since the user was asked"
                                        : "fs/read_text_file does not fit");
    }
    assert_string_equal(support_read(note()), "on the disk\n");
    end();
}

/* Saving does not change the text. */
TEST(a_file_that_is_saved_meanwhile_is_written)
{
    begin_with(WRITES);
    support_write(note(), "on the disk\n");
    int id = ask_to_write("note.txt", "new\\n");
    give_text("open\\n");
    const struct json *permission = next_permission();
    support_write(note(), "open\n");
    allow(permission);
    give_text("open\\n");
    answer_with(next_request("fs/write_text_file"), "{}");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "wrote 4 bytes");
    end();
}

TEST(what_the_client_refuses_is_not_written)
{
    begin_with(WRITES);
    support_write(note(), "on the disk\n");
    int id = ask_to_write("note.txt", "new\\n");
    give_text("open\\n");
    allow(next_permission());
    give_text("open\\n");
    refuse_with(next_request("fs/write_text_file"), -32603, "locked \\u001b[31mhere");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: locked");
    assert_no_text(last_body(), "\\u001b");
    assert_string_equal(support_read(note()), "on the disk\n");
    end();
}

TEST(a_file_whose_text_it_refuses_is_not_written)
{
    begin_with(WRITES);
    support_write(note(), "on the disk\n");
    int id = ask_to_write("note.txt", "new\\n");
    refuse_with(next_request("fs/read_text_file"), -32603, "not yours");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: not yours");
    expect_no_request("session/request_permission");
    assert_string_equal(support_read(note()), "on the disk\n");
    end();
}

/* What it offers and does not know is offered no more, and the person is told. */
TEST(an_offer_that_does_not_hold_is_told_and_not_used_again)
{
    begin_with("{'fs':{'writeTextFile':true}}");
    int id = ask_to_write("note.txt", "new\\n");
    allow(next_permission());
    refuse_with(next_request("fs/write_text_file"), -32601, "Method not found");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: Method not found");
    assert_false(is_there(note()));
    assert_text(all_said("agent_message_chunk"), "The editor offers fs/write_text_file");
    id = ask_to_write("note.txt", "new\\n");
    allow(next_permission());
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "new\n");
    expect_no_request("fs/write_text_file");
    end();
}

/* It is on the disk that it is written, but what is open there is what is lost. */
TEST(a_client_that_reads_alone_is_compared_with_and_not_asked_to_write)
{
    begin_with(READS);
    support_write(note(), "on the disk\n");
    int id = ask_to_write("note.txt", "new\\n");
    give_text("open\\n");
    const struct json *permission = next_permission();
    assert_json(json_get(asked_for(permission), "toolCall"), "{'content':[{'oldText':'open\\n'}]}");
    allow(permission);
    give_text("open\\n");
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "new\n");
    expect_no_request("fs/write_text_file");
    end();
}

TEST(a_client_that_offers_nothing_is_asked_nothing)
{
    begin();
    int id = ask_to_write("note.txt", "new\\n");
    allow(next_permission());
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "new\n");
    queue_tool("run_command", "{'command':'echo run here'}");
    id = prompt("Run it.");
    allow(next_permission());
    expect_stop(id, "end_turn");
    assert_text(last_body(), "run here\\n[exit status 0]");
    expect_no_request("terminal/create");
    end();
}

TEST(a_path_that_may_not_be_written_is_not_asked_about)
{
    begin_with(WRITES);
    expect_stop(ask_to_write("../note.txt", "new\\n"), "end_turn");
    expect_stop(ask_to_write("/etc/passwd", "new\\n"), "end_turn");
    expect_no_request("fs/read_text_file");
    expect_no_request("fs/write_text_file");
    end();
}

TEST(a_write_that_is_cancelled_is_withdrawn)
{
    begin_allowed("{'fs':{'writeTextFile':true}}");
    int id = ask_to_write("note.txt", "new\\n");
    const struct json *asked = next_request("fs/write_text_file");
    rpc_client_write(&client, CANCEL);
    expect_withdrawn(asked);
    expect_stop(id, "cancelled");
    answer_with(asked, "{}");
    assert_string_equal(ask("Go on."), "Hello from the scripted model.");
    assert_text(last_body(), "whether it was written is not known");
    assert_false(is_there(note()));
    end();
}

TEST(a_client_that_says_nothing_does_not_keep_a_write)
{
    write_config("[tools]\ntimeout = 1\n");
    begin_allowed("{'fs':{'writeTextFile':true}}");
    int id = ask_to_write("note.txt", "new\\n");
    const struct json *asked = next_request("fs/write_text_file");
    expect_withdrawn(asked);
    expect_stop(id, "end_turn");
    assert_text(last_body(), "the editor did not answer in time");
    assert_false(is_there(note()));
    end();
}

TEST(a_client_that_goes_away_has_not_written)
{
    begin_allowed("{'fs':{'writeTextFile':true}}");
    ask_to_write("note.txt", "new\\n");
    next_request("fs/write_text_file");
    end();
    assert_false(is_there(note()));
    assert_text(last_body(), "the editor has gone away");
}

/* --- its terminals ---------------------------------------------------------------------------- */

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

/* Gives the terminal; what waits for its end. */
static const struct json *create(void)
{
    answer_with(next_request("terminal/create"), "{'terminalId':'t1'}");
    return expect_terminal("terminal/wait_for_exit");
}

static void release(void)
{
    answer_with(expect_terminal("terminal/release"), "{}");
}

static const struct json *next_update_with(const char *member)
{
    const struct json *u = told("tool_call_update");
    while (!json_get(u, member))
        u = told("tool_call_update");
    return u;
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
    assert_text(support_keep(json_print(told("tool_call"))), "make check");
    assert_json(next_update_with("content"), "{'content':[{'type':'content'}]}"); /* the question */
    assert_json(next_update_with("content"), "{'content':[{'type':'terminal','terminalId':'t1'}]}");
    answer_with(wait, "{'exitCode':0}");
    answer_with(expect_terminal("terminal/output"), "{'output':'built\\r\\n','truncated':false}");
    release();
    expect_stop(id, "end_turn");
    const struct json *last = next_update_with("rawOutput");
    assert_json(last, "{'status':'completed'}");
    assert_null(json_get(last, "content")); /* the terminal stays */
    assert_text(last_body(), "built\\n[exit status 0]");
    end();
}

static bool keep_output(void *context, const char *bytes, size_t len)
{
    buf_add(context, bytes, len);
    return true;
}

/* As a client does it: its own environment and what is asked for. */
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
    static const char *const environment[] = {
        "PATH=/usr/bin:/bin", "HOME=/home/ada",
        "SECRET_KEY=sesame",  "MINE_A=wanted",
        "LC_ALL=C",           "https_proxy=http://ada:sesame@proxy/",
        "TERM=xterm",         NULL};
    write_config("[tools]\nenvironment = MINE_*\n");
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'env; pwd; cat; echo \\'$0\\' done'}");
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
    assert_no_text(support_keep(json_print(asked_for(asked))), "scripted"); /* our own values */
    refuse_with(asked, -32603, "no more of them");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "the editor refused: no more of them");
    end();
}

TEST(a_commands_end_is_told_as_it_was)
{
    static const struct {
        const char *exit, *output, *result;
        bool failed;
    } rows[] = {
        {"{'exitCode':2}", "{'output':'x','truncated':false}", "x\\n[exit status 2]", true},
        {"{'exitCode':null,'signal':'SIGSEGV'}", "{'output':'','truncated':false}",
         "[ended by signal SIGSEGV]", true},
        {"{'exitCode':0}", "{'output':'end','truncated':true}",
         "[… the beginning was left out …]\\nend\\n[exit status 0]", false},
        {"{}", "{'output':'x','truncated':false,'exitStatus':{'exitCode':0}}",
         "x\\n[exit status 0]", false},
        {"{}", "{'output':'x','truncated':false}", "[exit status unknown]", true},
        {"{'exitCode':-1}", "{'output':'x','truncated':'no'}", "[exit status unknown]", true},
        {"{'exitCode':1e99}", "{'output':'x'}", "[exit status unknown]", true},
        {"{'exitCode':'0'}", "{'output':'x'}", "[exit status unknown]", true},
        {"{'signal':7}", "{'output':'x'}", "[exit status unknown]", true},
        {"null", "{'output':'x'}", "[exit status unknown]", true},
        {"{'exitCode':0}", "{'output':7}", "did not tell what the command printed", true},
        {"{'exitCode':0}", "null", "did not tell what the command printed", true},
        {"{'signal':'\\u001b[31m\\nSIGKILLSIGKILLSIGKILLSIGKILLSIGKILLSIGKILLSIGKILL'}",
         "{'output':'\\u001b[31mred'}", "red\\n[ended by signal", true},
    };
    begin_allowed(TERMINALS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int id = ask_to_run("{'command':'x'}");
        answer_with(create(), rows[i].exit);
        answer_with(expect_terminal("terminal/output"), rows[i].output);
        release();
        expect_stop(id, "end_turn");
        assert_text(last_body(), rows[i].result);
        assert_no_text(last_body(), "\\u001b");
        assert_string_equal(text_of(next_update_with("rawOutput"), "status"),
                            rows[i].failed ? "failed" : "completed");
    }
    end();
}

TEST(giant_output_is_cut)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    answer_with(create(), "{'exitCode':0}");
    answer_with(expect_terminal("terminal/output"),
                support_text("{'truncated':false,'output':%s}", giant(20000000)));
    release();
    expect_stop(id, "end_turn");
    assert_text(last_body(), "bytes left out");
    assert_text(last_body(), "[exit status 0]");
    assert_true(strlen(last_body()) < 200000);
    end();
}

TEST(a_terminal_that_is_none_is_an_error)
{
    static const char *const answers[] = {"null", "{}", "{'terminalId':7}", "{'terminalId':''}"};
    begin_allowed(TERMINALS);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int id = ask_to_run("{'command':'x'}");
        answer_with(next_request("terminal/create"), answers[i]);
        expect_stop(id, "end_turn");
        assert_text(last_body(), "the editor's answer to terminal/create does not fit");
    }
    expect_no_request("terminal/release");
    end();
}

TEST(a_client_without_terminals_after_all_is_told_of)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'echo here'}");
    refuse_with(next_request("terminal/create"), -32601, "Method not found");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "the editor refused: Method not found");
    assert_text(all_said("agent_message_chunk"), "The editor offers terminal/create");
    expect_stop(ask_to_run("{'command':'echo here'}"), "end_turn");
    assert_text(last_body(), "here\\n[exit status 0]");
    end();
}

/* It is killed, what it has printed is kept, and the terminal is released. */
static void end_killed(const struct json *wait, bool answers)
{
    expect_withdrawn(wait);
    const struct json *kill = expect_terminal("terminal/kill");
    if (!answers) {
        next_request("terminal/release");
        return;
    }
    answer_with(kill, "{}");
    answer_with(expect_terminal("terminal/output"),
                "{'output':'half of it','truncated':false,'exitStatus':{'signal':'SIGKILL'}}");
    release();
}

TEST(a_command_that_takes_too_long_is_killed)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x','timeout':1}");
    end_killed(create(), true);
    expect_stop(id, "end_turn");
    assert_text(last_body(), "half of it\\n[timed out after 1 s and was ended]");
    end();
}

TEST(a_cancelled_command_is_killed)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    const struct json *wait = create();
    rpc_client_write(&client, CANCEL);
    end_killed(wait, true);
    expect_stop(id, "cancelled");
    ask("Go on.");
    assert_text(last_body(), "half of it\\n[interrupted]");
    end();
}

TEST(a_terminal_is_released_even_if_its_client_does_not_answer)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    const struct json *wait = create();
    rpc_client_write(&client, CANCEL);
    end_killed(wait, false);
    expect_stop(id, "cancelled");
    ask("Go on.");
    assert_text(last_body(), "[the editor did not end the command in time]\\n[interrupted]");
    end();
}

TEST(a_terminal_that_comes_too_late_is_released)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    const struct json *asked = next_request("terminal/create");
    rpc_client_write(&client, CANCEL);
    expect_stop(id, "cancelled");
    answer_with(asked, "{'terminalId':'t1'}");
    release();
    expect_no_request("terminal/wait_for_exit");
    ask("Go on.");
    assert_text(last_body(), "[the editor had not begun it]\\n[interrupted]");
    end();
}

TEST(a_command_whose_end_is_not_told_is_killed)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    refuse_with(create(), -32603, "lost it");
    answer_with(expect_terminal("terminal/kill"), "{}");
    answer_with(expect_terminal("terminal/output"), "{'output':'x','truncated':false}");
    release();
    expect_stop(id, "end_turn");
    assert_text(last_body(), "x\\n[exit status unknown]");
    end();
}

TEST(a_closed_session_ends_its_command)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    const struct json *wait = create();
    int closing = rpc_client_ask(&client, "session/close", PARAMS(""));
    expect_stop(id, "cancelled");
    end_killed(wait, true);
    assert_non_null(json_get(rpc_client_answer(&client, closing), "result"));
    end();
}

TEST(a_client_that_goes_away_ends_its_command)
{
    begin_allowed(TERMINALS);
    ask_to_run("{'command':'x'}");
    create();
    end();
    assert_text(last_body(), "the editor has gone away");
}

TEST(a_signal_releases_the_terminal)
{
    begin_allowed(TERMINALS);
    int id = ask_to_run("{'command':'x'}");
    create();
    assert_int_equal(kill(client.child.pid, SIGTERM), 0);
    next_request("terminal/release");
    expect_stop(id, "cancelled");
    end();
}

/* Each session has its own, also where both run at once. */
TEST(two_sessions_have_terminals_of_their_own)
{
    begin_allowed(TERMINALS);
    const char *first = session;
    int one = ask_to_run("{'command':'one'}");
    const struct json *first_wait = create();
    session = new_session();
    int two = ask_to_run("{'command':'two'}");
    answer_with(create(), "{'exitCode':0}");
    answer_with(expect_terminal("terminal/output"), "{'output':'of two','truncated':false}");
    release();
    expect_stop(two, "end_turn");
    assert_text(last_body(), "of two");
    session = first;
    answer_with(first_wait, "{'exitCode':0}");
    answer_with(expect_terminal("terminal/output"), "{'output':'of one','truncated':false}");
    release();
    expect_stop(one, "end_turn");
    assert_text(last_body(), "of one");
    end();
}

/* --- other surfaces beside it ------------------------------------------------------------------
 */

static void write_by(struct rpc_client *other, const char *content)
{
    queue_tool("write_file", support_text("{'path':'note.txt','content':'%s'}", content));
    int64_t begun = clock_mono_ms();
    rpc_client_result(other, "turn/start",
                      support_text("{'session':'%s','text':'Write it.'}", session));
    assert_true(clock_mono_ms() - begun <
                10000); /* less than a tool waits for who does not answer */
    assert_string_equal(support_read(note()), content);
}

/* A session that the client does not have is not its to write, also when it has gone. */
TEST(tools_of_another_surface_do_their_own)
{
    struct rpc_client other;
    const char *path = support_path("socket");
    START("--tools", "full", "--allow", "write", "--socket", path);
    initialize(WRITES);
    rpc_client_connect(&other, path);
    const struct json *made = rpc_client_result(&other, "session/create",
                                                support_text("{'directory':'%s'}", support_dir()));
    session = support_text("%s", text_of(made, "id"));
    write_by(&other, "one");
    close(client.child.in);
    client.child.in = -1;
    write_by(&other, "two");
    write_by(&other, "three");
    assert_int_equal(kill(client.child.pid, SIGTERM), 0);
    end();
    rpc_client_end(&other);
}
