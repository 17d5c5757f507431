/* Requests of tools to a client of `tiro serve --acp`: reading files as the client has them open,
 * writing files; and the client's possible answers. */
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
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
}

TEST(what_it_does_not_have_is_read_from_the_disk)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    refuse_with(next_request("fs/read_text_file"), -32002, "no such file");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "on the disk");
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
}

/* The path leads out of the directory, so the client is not asked about it either. */
TEST(a_path_that_may_not_be_read_is_not_asked_about)
{
    expect_stop(ask_to_read(READS, "{'path':'../../etc/passwd'}"), "end_turn");
    expect_no_request("fs/read_text_file");
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
}

/* A text with a NUL is no message at all. */
TEST(a_client_that_says_nothing_gives_no_text)
{
    write_config("[tools]\ntimeout = 1\n");
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    const struct json *asked = next_request("fs/read_text_file");
    expect_withdrawn(asked);
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor did not answer in time");
    assert_no_text(last_body(), "on the disk");
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
        assert_string_equal(text_of(next_update_with("rawOutput"), "rawOutput"),
                            "note.txt: the editor's answer to fs/read_text_file does not fit");
    }
}

TEST(a_giant_text_is_cut)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    answer_with(next_request("fs/read_text_file"), support_text("{'content':%s}", giant(4000000)));
    expect_stop(id, "end_turn");
    assert_true(strlen(last_body()) < 200000);
    assert_text(last_body(), "wwww");
}

/* --- files that it writes --------------------------------------------------------------------- */

static int ask_to_write(const char *path, const char *content)
{
    queue_tool("write_file", support_text("{'path':'%s','content':'%s'}", path, content));
    return prompt("Write it.");
}

/* The file exists, with another text. */
static int ask_to_change(const char *capabilities)
{
    begin_with(capabilities);
    support_write(note(), "on the disk\n");
    return ask_to_write("note.txt", "new\\n");
}

static void give_text(const char *text)
{
    const struct json *asked = next_request("fs/read_text_file");
    assert_json(asked_for(asked), support_text("{'path':'%s'}", note()));
    answer_with(asked, support_text("{'content':'%s'}", text));
}

TEST(the_client_writes_what_was_compared_with_its_text)
{
    int id = ask_to_change(WRITES);
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
}

static int ask_to_edit(const char *from, const char *to)
{
    queue_tool(
        "edit_file",
        support_text("{'path':'note.txt','edits':[{'old_text':'%s','new_text':'%s'}]}", from, to));
    return prompt("Edit it.");
}

/* The text that counts is that of the client, when it is read and when it is changed. */
TEST(an_edit_is_of_the_text_that_the_client_has)
{
    int id = ask_to_read(WRITES, "{'path':'note.txt'}");
    give_text("open\\r\\nnot saved\\r\\n");
    expect_stop(id, "end_turn");
    id = ask_to_edit("open\\nnot", "open, not");
    give_text("open\\r\\nnot saved\\r\\n");
    const struct json *permission = next_permission();
    assert_json(json_get(asked_for(permission), "toolCall"),
                "{'kind':'edit','content':[{'type':'diff','newText':'open, not saved␍\n'}]}");
    allow(permission);
    give_text("open\\r\\nnot saved\\r\\n");
    const struct json *asked = next_request("fs/write_text_file");
    assert_json(asked_for(asked), "{'content':'open, not saved\\r\\n'}");
    answer_with(asked, "null");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "replaced 1 text");
    id = ask_to_edit("saved", "lost"); /* of what it wrote; the user has typed since */
    give_text("open, not saved, by me\\r\\n");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt changed since it was read; nothing was written");
    assert_string_equal(support_read(note()), "on the disk\n");
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
}

/* Saving does not change the text. */
TEST(a_file_that_is_saved_meanwhile_is_written)
{
    int id = ask_to_change(WRITES);
    give_text("open\\n");
    const struct json *permission = next_permission();
    support_write(note(), "open\n");
    allow(permission);
    give_text("open\\n");
    answer_with(next_request("fs/write_text_file"), "{}");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "wrote 4 bytes");
}

TEST(what_the_client_refuses_is_not_written)
{
    int id = ask_to_change(WRITES);
    give_text("open\\n");
    allow(next_permission());
    give_text("open\\n");
    refuse_with(next_request("fs/write_text_file"), -32603, "locked \\u001b[31mhere");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: locked");
    assert_no_text(last_body(), "\\u001b");
    assert_string_equal(support_read(note()), "on the disk\n");
}

TEST(a_file_whose_text_it_refuses_is_not_written)
{
    int id = ask_to_change(WRITES);
    refuse_with(next_request("fs/read_text_file"), -32603, "not yours");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "note.txt: the editor refused: not yours");
    expect_no_request("session/request_permission");
    assert_string_equal(support_read(note()), "on the disk\n");
}

/* A capability that the client offers but does not implement is no longer used, and the person is
 * told. */
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
}

/* The file is written on disk, but the preview compares with the text that the client has open. */
TEST(a_client_that_reads_alone_is_compared_with_and_not_asked_to_write)
{
    int id = ask_to_change(READS);
    give_text("open\\n");
    const struct json *permission = next_permission();
    assert_json(json_get(asked_for(permission), "toolCall"), "{'content':[{'oldText':'open\\n'}]}");
    allow(permission);
    give_text("open\\n");
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "new\n");
    expect_no_request("fs/write_text_file");
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
}

TEST(a_path_that_may_not_be_written_is_not_asked_about)
{
    begin_with(WRITES);
    expect_stop(ask_to_write("../note.txt", "new\\n"), "end_turn");
    expect_stop(ask_to_write("/etc/passwd", "new\\n"), "end_turn");
    expect_no_request("fs/read_text_file");
    expect_no_request("fs/write_text_file");
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

/* --- other surfaces beside it ----------------------------------------------------------------- */

static void write_by(struct rpc_client *other, const char *content)
{
    queue_tool("write_file", support_text("{'path':'note.txt','content':'%s'}", content));
    int64_t begun = clock_mono_ms();
    rpc_client_result(other, "turn/start",
                      support_text("{'session_id':'%s','prompt':'Write it.'}", session));
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
