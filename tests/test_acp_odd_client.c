/* A client of `tiro serve --acp` whose answers do not fit: lines that cannot be read, answers of
 * another shape or under another id, giant ones; and one that answers what tools want of it at
 * random: well, oddly, with an error, late or never. Each prompt ends, and each terminal is
 * released once. */
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "tests/acp_client.h"
#include "tests/conversation.h"
#include "tests/program.h"
#include "tests/suite.h"

FIXTURE(acp_set_up, acp_tear_down);

enum { TURNS = 25 };

struct terminal {
    char *id;
    int released;
};

static struct dice dice;
static VEC(struct terminal) terminals;
static VEC(const struct json *) late; /* creations that are answered later */

static void create_terminal(const struct json *request)
{
    struct terminal t = {.id = mem_printf("t%zu", terminals.len)};
    vec_push(&terminals, t);
    answer_with(request, support_text("{'terminalId':'%s'}", t.id));
}

static void answer_well(const struct json *request, const char *method)
{
    static const char *const answers[][2] = {
        {"session/request_permission", "{'outcome':{'outcome':'selected','optionId':'once'}}"},
        {"fs/read_text_file", "{'content':'open\\n'}"},
        {"fs/write_text_file", "null"},
        {"terminal/wait_for_exit", "{'exitCode':0}"},
        {"terminal/output", "{'output':'x','truncated':false}"},
        {"terminal/kill", "{}"},
        {"terminal/release", "{}"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i][0], method) == 0)
            answer_with(request, answers[i][1]);
    if (strcmp(method, "terminal/create") == 0)
        create_terminal(request);
}

static void answer_somehow(const struct json *request)
{
    static const char *const odd[] = {"null", "[]", "7", "{'content':7,'output':[],'exitCode':-1}",
                                      "{'terminalId':{},'signal':'','truncated':1}"};
    const char *method = text_of(request, "method");
    bool creates = strcmp(method, "terminal/create") == 0;
    if (strcmp(method, "terminal/release") == 0) {
        const char *id = text_of(asked_for(request), "terminalId");
        for (size_t i = 0; i < terminals.len; i++)
            if (strcmp(terminals.items[i].id, id) == 0)
                terminals.items[i].released++;
    }
    switch (dice_below(&dice, 8)) {
    case 0:
        answer_with(request, odd[dice_below(&dice, sizeof odd / sizeof *odd)]);
        break;
    case 1:
        refuse_with(request, -32603, "no");
        break;
    case 2:
        if (creates)
            vec_push(&late, request);
        if (strcmp(method, "session/request_permission") != 0)
            break; /* a question waits for ever */
        /* fall through */
    default:
        answer_well(request, method);
    }
}

/* Whether the prompt of this id has ended. */
static bool pump(int id)
{
    const struct json *v = rpc_client_next(&client);
    bool asks = json_get(v, "method") && json_get(v, "id");
    if (asks)
        answer_somehow(v);
    return !json_get(v, "method") && json_get_int(v, "id", -1) == id;
}

static bool all_released(void)
{
    for (size_t i = 0; i < terminals.len; i++)
        if (terminals.items[i].released == 0)
            return false;
    return true;
}

static void run_turn(void)
{
    static const char *const calls[][2] = {
        {"run_command", "{'command':'x','timeout':1}"},
        {"write_file", "{'path':'note.txt','content':'new\\n'}"},
        {"write_file", "{'path':'sub/new.txt','content':'new\\n'}"},
        {"read_file", "{'path':'note.txt'}"},
    };
    size_t i = dice_below(&dice, sizeof calls / sizeof *calls);
    queue_tool(calls[i][0], calls[i][1]);
    support_write(support_path("note.txt"), "on the disk\n");
    int id = prompt("Do it.");
    if (dice_one_in(&dice, 5))
        rpc_client_write(&client, CANCEL);
    while (!pump(id))
        continue;
    if (late.len > 0 && dice_one_in(&dice, 2)) {
        create_terminal(late.items[0]);
        vec_remove(&late, 0, 1);
    }
}

TEST(whatever_it_answers_each_prompt_ends)
{
    dice = (struct dice){support_seed()};
    write_config("[tools]\ntimeout = 1\n");
    begin_with("{'fs':{'readTextFile':true,'writeTextFile':true},'terminal':true}");
    for (int i = 0; i < TURNS; i++)
        run_turn();
    while (!all_released())
        pump(-1);
    end();
    for (size_t i = 0; i < terminals.len; i++) {
        assert_int_equal(terminals.items[i].released, 1);
        free(terminals.items[i].id);
    }
    vec_release(&terminals);
    vec_release(&late);
}

/* --- answers that do not fit ------------------------------------------------------------------ */

enum { AT_ONCE_MS = 2500 }; /* less than any tool waits for an answer */

static void write_message(const char *id, const char *rest)
{
    rpc_client_write(&client, support_text("{\"jsonrpc\":\"2.0\",\"id\":%s%s}\n", id, rest));
}

static const char *written(void)
{
    return support_path("new.txt");
}

/* The prompt, which wants to write a file. */
static int ask_to_write(void)
{
    queue_tool("write_file", "{'path':'new.txt','content':'new\\n'}");
    return prompt("Write it.");
}

#define ALLOWS ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"once\"}}"

TEST(a_permission_whose_answer_does_not_fit_is_refused_at_once)
{
    static const char *const answers[] = {
        "",
        ",\"result\":null",
        ",\"result\":{}",
        ",\"result\":[]",
        ",\"result\":7",
        ",\"result\":{\"outcome\":{}}",
        ",\"result\":{\"outcome\":\"once\"}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\"}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":null}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":[\"once\"]}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"other\"}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"once\\u0000\"}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"once\",\"x\":"
        "\"\\u0000\"}}",
        ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"once\xff\"}}",
        ALLOWS ",\"x\":\"\xff\"",
        ALLOWS ",\"error\":{\"code\":1,\"message\":\"both\"}",
        ",\"error\":7",
    };
    begin();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int id = ask_to_write();
        const struct json *permission = next_permission();
        int64_t since_ms = clock_mono_ms();
        write_message(id_of(permission), answers[i]);
        expect_stop(id, "end_turn");
        if (clock_mono_ms() - since_ms > AT_ONCE_MS * support_patience() || is_there(written()))
            fail_msg("%s", answers[i]);
    }
}

TEST(an_answer_under_another_id_runs_nothing)
{
    begin();
    int id = ask_to_write();
    const struct json *permission = next_permission();
    const char *const own = id_of(permission);
    const char *const ids[] = {support_text("\"%s\"", own),
                               support_text("%s.5", own),
                               support_text("%d", 1 + atoi(own)),
                               "0",
                               "-1",
                               "null",
                               "[1]",
                               "{}",
                               "9e999",
                               support_text("1%s", own)};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        write_message(ids[i], ALLOWS);
    rpc_client_write(&client, "{\"jsonrpc\":\"2.0\"" ALLOWS "}\n");
    fails("no/method", "{}", -32601, NULL); /* all of them were read */
    assert_false(is_there(written()));
    write_message(own,
                  ",\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"reject\"}}");
    expect_stop(id, "end_turn");
    assert_false(is_there(written()));
}

static int ask_to_read(void)
{
    support_write(support_path("note.txt"), "on the disk\n");
    queue_tool("read_file", "{'path':'note.txt'}");
    return prompt("Read it.");
}

TEST(a_binary_line_ends_the_wait_for_the_text_that_it_gives)
{
    static const char *const contents[] = {"\\u0000\\u0001", "\x80\xff\xfe", "\x1b\x02"};
    begin_with("{'fs':{'readTextFile':true}}");
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        int id = ask_to_read();
        const char *asked = id_of(next_request("fs/read_text_file"));
        int64_t since_ms = clock_mono_ms();
        rpc_client_write(&client,
                         "\x7f"
                         "ELF\x02\x01\xff\xfe\n");
        write_message(asked, support_text(",\"result\":{\"content\":\"%s\"}", contents[i]));
        expect_stop(id, "end_turn");
        assert_true(clock_mono_ms() - since_ms < AT_ONCE_MS * support_patience());
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

enum { GIANT_BYTES = 30000000, MANY_VALUES = 290000, STAYS_BYTES = 20000000 };

/* The program's resident memory; 0 if this system does not tell. */
static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen(support_text("/proc/%d/statm", (int)client.child.pid), "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static bool is_small_again(void *before)
{
    return resident_bytes() < *(int64_t *)before + STAYS_BYTES;
}

TEST_IF(SUPPORT_TELLS_MEMORY, memory_of_giant_answers_is_given_back)
{
    AUTO(buf_release) struct buf values = BUF_INIT;
    begin_with("{'fs':{'readTextFile':true}}");
    expect_stop(prompt("Hello"), "end_turn");
    int64_t before = resident_bytes();
    int id = ask_to_read();
    answer_with(next_request("fs/read_text_file"),
                support_text("{'content':%s}", giant(GIANT_BYTES)));
    expect_stop(id, "end_turn");
    for (int i = 0; i < MANY_VALUES; i++)
        buf_addstr(&values, i > 0 ? ",1" : ",\"result\":[1");
    buf_addch(&values, ']');
    write_message("999", values.data);
    fails("no/method", "{}", -32601, NULL);
    if (!support_wait_until(is_small_again, &before, 5000))
        fail_msg("%lld KiB more than before", (long long)(resident_bytes() - before) / 1024);
}
