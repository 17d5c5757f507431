/* Every request to `tiro serve --stdio` gets one answer: each method of the contract with
 * parameters that are valid, missing, of another type, long or unreadable, many at once.
 * RANDOM_CALLS sets the number; TIRO_TEST_SEED repeats a run. */
#include "base/clock.h"
#include "base/vec.h"
#include "serve/contract.h"
#include "session/capability.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"
#include "tests/conversation.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

static struct model_server *model;

static int set_up(void **state)
{
    support_setup(state);
    model = begin_server();
    return 0;
}

static int tear_down(void **state)
{
    end_server(model);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);
NEEDS(capability_store());

enum { CALLS = 300, A_PROGRAM = 150, AT_ONCE = 30, SESSIONS = 12, LONG = 70000 };

struct open_call {
    int id;
    const struct operation *operation;
    char *line;
};

static struct dice dice;
static struct rpc_client client;
static VEC(struct open_call) open_calls; /* without an answer yet */
static VEC(const char *) sessions;

/* --- requests --------------------------------------------------------------------------------- */

static void add_repeated(struct buf *out, const char *text, size_t bytes)
{
    buf_addch(out, '"');
    for (size_t len = 0; len < bytes; len += strlen(text))
        buf_addstr(out, text);
    buf_addch(out, '"');
}

static void add_any_value(struct buf *out)
{
    static const char *const values[] = {
        "{}",          "[]",          "null",     "true",
        "false",       "-1",          "0",        "1e300",
        "1.5",         "\"\"",        "\"x\"",    "[1]",
        "{\"a\":1}",   "\"~1\"",      "\"last\"", "\"\\u202e\\u0001\"",
        "\"\\u0000\"", "\"\\ud800\"", "\"\xff\"", "\"\xf0\x9f\x98\x80\""};
    static const char *const repeated[] = {"y", "\xc3\xa9", "\\u0001", "\\\\u0000", "\\u0000"};
    if (dice_one_in(&dice, 4))
        add_repeated(out, repeated[dice_below(&dice, 5)], dice_below(&dice, 2) ? 300 : LONG);
    else
        buf_addstr(out, values[dice_below(&dice, sizeof values / sizeof *values)]);
}

/* A value as the schema of the member wants it, if that is simple. */
static void add_right_value(struct buf *out, const char *name, const struct json *schema)
{
    const struct json *words = json_get(schema, "enum");
    const char *type = json_get_string(schema, "type");
    if (strcmp(name, "session_id") == 0) {
        buf_addf(out, "\"%s\"",
                 dice_one_in(&dice, 5) ? "last" : sessions.items[dice_below(&dice, sessions.len)]);
    } else if (json_first(words)) {
        const struct json *word = json_first(words);
        for (size_t i = dice_below(&dice, 4); i > 0 && json_next(word); i--)
            word = json_next(word);
        auto_free char *text = json_print(word);
        buf_addstr(out, text);
    } else if (strstr(name, "path") || strstr(name, "directory")) {
        buf_addf(out, "\"%s\"", support_dir());
    } else if (type && (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)) {
        buf_addf(out, "%zu", dice_below(&dice, 4));
    } else if (type && strcmp(type, "boolean") == 0) {
        buf_addstr(out, dice_below(&dice, 2) ? "true" : "false");
    } else {
        buf_addstr(out, type && strcmp(type, "array") == 0 ? "[]" : "\"hello\"");
    }
}

static void add_params(struct buf *out, const struct operation *o)
{
    AUTO(json_free_local) struct json *schema = contract_schema(o, false);
    bool first = true;
    buf_addch(out, '{');
    for (const struct json *m = json_first(json_get(schema, "properties")); m; m = json_next(m)) {
        size_t kind = strcmp(json_name(m), "session_id") == 0 ? 3 + dice_below(&dice, 7)
                                                              : dice_below(&dice, 10);
        if (kind < 3)
            continue;
        buf_addf(out, "%s\"%s\":", first ? "" : ",", json_name(m));
        first = false;
        if (kind < 5)
            add_any_value(out);
        else
            add_right_value(out, json_name(m), m);
    }
    buf_addch(out, '}');
}

static const struct operation *any_operation(void)
{
    static const char *const often[] = {"turn/start",   "turn/retry",    "compaction/run",
                                        "session/fork", "session/close", "session/open"};
    size_t count = 0;
    while (operation_at(count))
        count++;
    return dice_one_in(&dice, 3) ? operation_find(often[dice_below(&dice, 6)])
                                 : operation_at(dice_below(&dice, count));
}

static void send_call(const struct operation *o, const char *params)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":", ++client.asked,
             o->name);
    if (params)
        buf_addstr(&line, params);
    else if (dice_one_in(&dice, 20))
        add_any_value(&line);
    else
        add_params(&line, o);
    buf_addstr(&line, "}\n");
    rpc_client_write(&client, line.data);
    vec_push(&open_calls, ((struct open_call){client.asked, o, buf_take(&line)}));
}

/* --- answers ---------------------------------------------------------------------------------- */

static void note_session(const char *id)
{
    if (id)
        vec_push(&sessions, id);
    if (sessions.len > SESSIONS)
        vec_remove(&sessions, 0, 1);
}

static void take_message(void)
{
    const struct json *v = rpc_client_next(&client);
    size_t i = 0;
    if (json_get(v, "method")) {
        if (strcmp(json_get_string(v, "method"), "draft/requested") == 0)
            note_session(json_get_string(json_get(v, "params"), "session_id"));
        return;
    }
    while (i < open_calls.len && open_calls.items[i].id != json_get_int(v, "id", -1))
        i++;
    if (i == open_calls.len)
        fail_msg("nobody asked for that, or it was answered: %s", support_keep(json_print(v)));
    if (!json_get(v, "result") == !json_get(v, "error"))
        fail_msg("neither a result nor an error: %s", support_keep(json_print(v)));
    struct open_call call = open_calls.items[i];
    vec_remove(&open_calls, i, 1);
    if (call.operation == &operation_session_create || call.operation == &operation_session_fork)
        note_session(json_get_string(json_get(v, "result"), "id"));
    free(call.line);
}

static bool is_open(int id)
{
    for (size_t i = 0; i < open_calls.len; i++)
        if (open_calls.items[i].id == id)
            return true;
    return false;
}

/* A draft waits for a word on it until its session is closed. */
static void take_answers(void)
{
    int64_t until_ms = clock_mono_ms() + (int64_t)RPC_CLIENT_MS * support_patience();
    while (open_calls.len > 0) {
        if (clock_mono_ms() > until_ms)
            fail_msg("not answered: %.2000s", open_calls.items[0].line);
        for (size_t i = 0; i < sessions.len; i++)
            send_call(&operation_session_close,
                      support_text("{\"session_id\":\"%s\"}", sessions.items[i]));
        int last = client.asked;
        while (is_open(last))
            take_message();
    }
}

static void run_program(size_t calls)
{
    RPC_START(&client, NULL);
    send_call(&operation_session_create, "{}");
    while (open_calls.len > 0)
        take_message();
    while (calls > 0) {
        size_t burst = 1 + dice_below(&dice, AT_ONCE);
        burst = burst < calls ? burst : calls;
        for (size_t i = 0; i < burst; i++)
            send_call(any_operation(), NULL);
        take_answers();
        calls -= burst;
    }
    assert_int_equal(rpc_client_end(&client), 0);
    vec_clear(&sessions);
}

TEST(every_request_is_answered_once)
{
    const char *given = getenv("RANDOM_CALLS");
    size_t calls = given ? strtoul(given, NULL, 10) : CALLS;
    dice = (struct dice){support_seed()};
    for (size_t done = 0; done < calls; done += A_PROGRAM)
        run_program(calls - done < A_PROGRAM ? calls - done : A_PROGRAM);
    vec_release(&sessions);
    vec_release(&open_calls);
}
