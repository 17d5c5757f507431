/* A client of `tiro serve --acp` that answers what tools want of it at random: well, oddly, with an
 * error, late or never. Each prompt ends, and each terminal is released once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

static void queue_some_tool(void)
{
    static const char *const calls[][2] = {
        {"run_command", "{'command':'x','timeout':1}"},
        {"write_file", "{'path':'note.txt','content':'new\\n'}"},
        {"write_file", "{'path':'sub/new.txt','content':'new\\n'}"},
        {"read_file", "{'path':'note.txt'}"},
    };
    size_t i = dice_below(&dice, sizeof calls / sizeof *calls);
    queue_tool(calls[i][0], calls[i][1]);
}

static void create_terminal(const struct json *request)
{
    struct terminal t = {.id = mem_printf("t%zu", terminals.len)};
    vec_push(&terminals, t);
    answer_with(request, support_text("{'terminalId':'%s'}", t.id));
}

static void release(const struct json *request)
{
    const char *id = text_of(asked_for(request), "terminalId");
    for (size_t i = 0; i < terminals.len; i++)
        if (strcmp(terminals.items[i].id, id) == 0)
            terminals.items[i].released++;
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
    if (strcmp(method, "terminal/release") == 0)
        release(request);
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
    queue_some_tool();
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
