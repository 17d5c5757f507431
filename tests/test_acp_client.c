/* What tools want of a client of `tiro serve --acp`: files as it has them open; and what it may
 * answer. */
#include <string.h>

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

static const char *id_of(const struct json *request)
{
    return support_text("%lld", (long long)json_get_int(request, "id", -1));
}

static const struct json *params_of(const struct json *request)
{
    return json_get(request, "params");
}

static void expect_withdrawn(const struct json *request)
{
    const struct json *p = rpc_client_told(&client, "$/cancel_request", NULL);
    assert_string_equal(support_text("%lld", (long long)json_get_int(p, "requestId", -2)),
                        id_of(request));
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
        assert_text(last_body(), "on the disk");
    }
    end();
}

/* A JSON string of this many letters, with ' for ". */
static const char *giant(size_t len)
{
    char *text = mem_alloc(len + 3);
    memset(text, 'w', len + 2);
    text[0] = text[len + 1] = '\'';
    text[len + 2] = '\0';
    return support_keep(text);
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
