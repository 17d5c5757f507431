/* What tools want of a client of `tiro serve --acp`: files as it has them open. */
#include "tests/acp_client.h"
#include "tests/program.h"
#include "tests/suite.h"

FIXTURE(acp_set_up, acp_tear_down);

static const char *note(void)
{
    return support_path("note.txt");
}

static const struct json *params_of(const struct json *request)
{
    return json_get(request, "params");
}

static void expect_no_request(const char *method)
{
    assert_false(rpc_client_was_told(&client, method, NULL));
}

/* --- files that it has open ------------------------------------------------------------------- */

#define READS "{'fs':{'readTextFile':true}}"

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
    assert_json(params_of(asked), support_text("{'sessionId':'%s','path':'%s'}", session, note()));
    answer_with(asked, "{'content':'one\\nnot saved\\n'}");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "\"not saved\\n\"");
    end();
}

TEST(what_it_does_not_give_is_read_from_the_disk)
{
    int id = ask_to_read(READS, "{'path':'note.txt'}");
    refuse_with(next_request("fs/read_text_file"), -32002, "no");
    expect_stop(id, "end_turn");
    assert_text(last_body(), "on the disk");
    end();
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
