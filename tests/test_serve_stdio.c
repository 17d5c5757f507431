/* `tiro serve --stdio`: the notifications to a client and their order, errors, and the end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* prlimit() */
#endif
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/capability.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

static struct model_server *model;
static struct rpc_client client;
static const char *session; /* one that was created */

static int set_up(void **state)
{
    support_setup(state);
    model = begin_server();
    return 0;
}

static int tear_down(void **state)
{
    if (client.child.pid)
        assert_int_equal(rpc_client_end(&client), 0);
    end_server(model);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);

static const char *text_of(const struct json *v, const char *member)
{
    const char *text = json_get_string(v, member);
    if (!text)
        fail_msg("no %s: %s", member, support_keep(json_print(v)));
    return text;
}

static const char *create(struct rpc_client *c)
{
    return support_text("%s", text_of(rpc_client_result(c, "session/create", "{}"), "id"));
}

static void begin(void)
{
    RPC_START(&client, NULL);
    session = create(&client);
}

#define PARAMS(rest) support_text("{'session_id':'%s'" rest "}", session)

static void end(void)
{
    assert_int_equal(rpc_client_end(&client), 0);
}

/* Starts a turn whose answer never ends, and waits for its first text. */
static int start_endless(void)
{
    QUEUE(model, .fault = REPLY_STALL, .text = "so far");
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'go on'"));
    (void)rpc_client_told(&client, "session/event", "text_delta");
    return id;
}

static void stop_endless(int id)
{
    (void)rpc_client_result(&client, "turn/interrupt", PARAMS(""));
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_string_equal(text_of(result, "stop_reason"), "cancelled");
}

/* --- the beginning ---------------------------------------------------------------------------- */

TEST(nothing_is_answered_before_initialize)
{
    rpc_client_start_raw(&client, (const char *const[]){"--stdio", NULL});
    const struct json *error = json_get(rpc_client_call(&client, "engine/info", NULL), "error");
    assert_int_equal(json_get_int(error, "code", 0), -32600);
    assert_text(text_of(error, "message"), "initialize");
    const struct json *v = rpc_client_result(&client, "initialize", NULL);
    assert_string_equal(text_of(v, "contract_version"), "1.0");
    assert_true(json_get_bool(json_get(v, "capabilities"), "store", false) == capability_store());
    assert_true(json_len(json_get(v, "methods")) > 80);
    (void)rpc_client_result(&client, "engine/info", NULL);
}

TEST(a_method_that_there_is_not_is_said_to_be_none)
{
    begin();
    static const char *const none[] = {"session/sing", "tool/answer" /* ACP's own */};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const struct json *error = json_get(rpc_client_call(&client, none[i], NULL), "error");
        assert_int_equal(json_get_int(error, "code", 0), -32601);
    }
}

/* --- turns ------------------------------------------------------------------------------------ */

TEST(events_of_a_turn_come_before_its_answer_and_none_twice)
{
    begin();
    QUEUE(model, .text = "The lantern is blue.", .piece = 4);
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'which colour?'"));
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_string_equal(text_of(result, "text"), "The lantern is blue.");
    assert_string_equal(text_of(result, "stop_reason"), "end_turn");
    assert_string_equal(text_of(result, "session_id"), session);
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t last = 0;
    bool completed = false;
    for (size_t i = 0; i < client.waiting.len; i++) {
        const struct json *params = json_get(client.waiting.items[i], "params");
        const struct json *event = json_get(params, "event");
        if (!event)
            continue;
        assert_string_equal(text_of(params, "session_id"), session);
        assert_true(json_get_int(event, "seq", 0) > last);
        last = json_get_int(event, "seq", 0);
        if (strcmp(text_of(event, "type"), "text_delta") == 0)
            buf_addstr(&text, text_of(event, "delta"));
        completed = completed || strcmp(text_of(event, "type"), "run_completed") == 0;
    }
    assert_true(completed);
    assert_string_equal(text.data, "The lantern is blue.");
}

TEST(a_cancelled_request_ends_and_its_turn_goes_on)
{
    begin();
    int id = start_endless();
    rpc_client_write(&client, support_text("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\","
                                           "\"params\":{\"id\":%d}}\n",
                                           id));
    const struct json *error = json_get(rpc_client_answer(&client, id), "error");
    assert_int_equal(json_get_int(error, "code", 0), -32800);
    assert_text(text_of(error, "message"), "the turn goes on");
    (void)rpc_client_error(&client, "turn/start", PARAMS(",'prompt':'again'"), "SESSION_BUSY");
    model_server_release(model);
    (void)rpc_client_told(&client, "session/event", "run_completed");
}

TEST(a_request_that_waits_is_cancelled_in_whole)
{
    begin();
    int turn = start_endless();
    int id = rpc_client_ask(&client, "models/list", PARAMS(""));
    rpc_client_write(&client, support_text("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\","
                                           "\"params\":{\"id\":%d}}\n",
                                           id));
    const struct json *error = json_get(rpc_client_answer(&client, id), "error");
    assert_int_equal(json_get_int(error, "code", 0), -32800);
    assert_string_equal(text_of(error, "message"), "the request was cancelled");
    stop_endless(turn);
}

/* --- errors ----------------------------------------------------------------------------------- */

TEST(what_is_wrong_with_parameters_is_usage)
{
    begin();
    const struct json *e = rpc_client_error(&client, "session/list", "[1]", "USAGE");
    assert_int_equal(json_get_int(e, "code", 0), -32602);
    (void)rpc_client_error(&client, "events/subscribe", "{'session_id':'nobody'}",
                           "SESSION_NOT_FOUND");
}

TEST(what_is_switched_off_is_refused_by_name)
{
    RPC_START(&client, "--no-persist", "--no-compaction", "--no-memory");
    session = create(&client);
    const struct json *can = rpc_client_result(&client, "capabilities/get", "{}");
    assert_false(json_get_bool(can, "store", true));
    assert_false(json_get_bool(can, "compaction", true));
    assert_false(json_get_bool(can, "memory", true));
    if (capability_memory()) {
        assert_text(text_of(can, "memory_reason"), "turned off on the command line");
        assert_null(json_get(can, "graph_reason"));
    }
    (void)rpc_client_error(&client, "compaction/run", PARAMS(""), "SESSION_COMPACTION_DISABLED");
    (void)rpc_client_error(&client, "memory/search", "{'query':'x'}", "MEMORY_DISABLED");
    (void)rpc_client_error(&client, "session/import", "{'content':'{}'}",
                           "SESSION_PERSISTENCE_DISABLED");
}

TEST(a_budget_that_is_spent_ends_the_turn)
{
    write_config("[budget]\nmax_tokens = 10\n");
    begin();
    QUEUE(model, .text = "dear", .input_tokens = 900, .output_tokens = 900);
    (void)rpc_client_call(&client, "turn/start", PARAMS(",'prompt':'spend'"));
    const struct json *error = rpc_client_error(
        &client, "turn/start", PARAMS(",'prompt':'spend more'"), "BUDGET_EXHAUSTED");
    const struct json *result = json_get(json_get(error, "data"), "result");
    assert_string_equal(text_of(result, "session_id"), session);
}

/* --- subscriptions ---------------------------------------------------------------------------- */

TEST_IF(capability_store(), a_subscription_begins_with_what_the_log_has)
{
    begin();
    (void)rpc_client_result(&client, "turn/start", PARAMS(",'prompt':'one'"));
    end();
    RPC_START(&client, NULL);
    (void)rpc_client_result(&client, "events/subscribe", PARAMS(",'since':0"));
    assert_int_equal(
        json_get_int(json_get(rpc_client_told(&client, "session/event", NULL), "event"), "seq", 0),
        1);
    const struct json *over = rpc_client_told(&client, "session/event", "run_completed");
    int64_t last = json_get_int(json_get(over, "event"), "seq", 0);
    (void)rpc_client_result(&client, "turn/start", PARAMS(",'prompt':'two'"));
    const struct json *next = rpc_client_told(&client, "session/event", NULL);
    assert_int_equal(json_get_int(json_get(next, "event"), "seq", 0), last + 1);
    (void)rpc_client_result(&client, "events/unsubscribe", PARAMS(""));
    vec_clear(&client.waiting);
    (void)rpc_client_result(&client, "session/rename", PARAMS(",'title':'Two'"));
    assert_false(rpc_client_was_told(&client, "session/changed", NULL));
}

/* The deltas from the log's side and from the turn's side are one text. */
TEST_IF(capability_store(), who_comes_in_the_middle_of_an_answer_misses_nothing)
{
    begin();
    QUEUE(model, .fault = REPLY_STALL, .text = "one two three", .piece = 4);
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'count'"));
    AUTO(buf_release) struct buf text = BUF_INIT;
    while (text.len < strlen("one two three"))
        buf_addstr(&text, text_of(json_get(rpc_client_told(&client, "session/event", "text_delta"),
                                           "event"),
                                  "delta"));
    buf_clear(&text);
    (void)rpc_client_result(&client, "events/subscribe", PARAMS(",'since':0"));
    assert_int_equal(
        json_get_int(json_get(rpc_client_told(&client, "session/event", NULL), "event"), "seq", 0),
        1);
    model_server_release(model);
    (void)rpc_client_answer(&client, id);
    for (size_t i = 0; i < client.waiting.len; i++) {
        const struct json *event = json_get(json_get(client.waiting.items[i], "params"), "event");
        if (event && strcmp(text_of(event, "type"), "text_delta") == 0)
            buf_addstr(&text, text_of(event, "delta"));
    }
    assert_string_equal(text.data, "one two three");
}

static const char *delta_of(const struct json *told)
{
    return text_of(json_get(told, "event"), "delta");
}

/* The log has the deltas of a second joined. */
TEST_IF(capability_store(), who_goes_on_in_the_middle_of_a_joined_delta_gets_nothing_twice)
{
    static const char answer[] = "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0";
    AUTO(buf_release) struct buf rest = BUF_INIT;
    begin();
    QUEUE(model, .text = answer, .piece = 2, .interval_ms = 80);
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'count'"));
    const struct json *first = rpc_client_told(&client, "session/event", "text_delta");
    int64_t seen = json_get_int(json_get(first, "event"), "seq", 0);
    size_t had = strlen(delta_of(first));
    (void)rpc_client_answer(&client, id);
    end();
    RPC_START(&client, NULL);
    (void)rpc_client_result(&client, "events/subscribe",
                            support_text("{'session_id':'%s','since':%d}", session, (int)seen));
    const struct json *told = rpc_client_told(&client, "session/event", NULL);
    while (strcmp(text_of(json_get(told, "event"), "type"), "text_delta") == 0) {
        buf_addstr(&rest, delta_of(told));
        told = rpc_client_told(&client, "session/event", NULL);
    }
    assert_true(rest.len > 2);
    assert_memory_equal(rest.data, answer + had, rest.len);
}

TEST_IF(capability_store(), who_starts_a_turn_hears_of_it_by_whatever_name)
{
    begin();
    (void)rpc_client_result(&client, "turn/start", PARAMS(",'prompt':'one'"));
    (void)rpc_client_result(&client, "session/rename", PARAMS(",'title':'Lanterns'"));
    end();
    const char *const names[] = {session, "Lanterns", "last"};
    for (int i = 0; i < 3; i++) {
        RPC_START(&client, NULL);
        (void)rpc_client_result(&client, "turn/start",
                                support_text("{'session_id':'%s','prompt':'more'}", names[i]));
        assert_true(rpc_client_was_told(&client, "session/event", "run_started"));
        end();
    }
}

TEST(every_session_can_be_subscribed)
{
    begin();
    (void)rpc_client_result(&client, "events/subscribe", NULL);
    (void)rpc_client_error(&client, "events/subscribe", "{'since':3}", "USAGE");
    (void)rpc_client_result(&client, "turn/start", PARAMS(",'prompt':'one'"));
    (void)rpc_client_told(&client, "session/event", "run_completed");
}

/* --- questions -------------------------------------------------------------------------------- */

static void queue_tool(void)
{
    QUEUE(model, .tool_name = "write_file", .tool_args = "{\"path\":\"a.txt\",\"content\":\"x\"}");
}

static void allow_once(const struct json *asked)
{
    (void)rpc_client_result(&client, "approval/decide",
                            support_text("{'session_id':'%s','call':'%s','decision':'once'}",
                                         session, text_of(asked, "call")));
}

TEST(a_tool_asks_the_client)
{
    assert_int_equal(chdir(support_dir()), 0);
    RPC_START(&client, "--tools", "full");
    session = create(&client);
    queue_tool();
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'write'"));
    const struct json *asked = rpc_client_told(&client, "approval/requested", NULL);
    assert_string_equal(text_of(asked, "tool"), "write_file");
    assert_text(text_of(asked, "preview"), "a.txt");
    allow_once(asked);
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_int_equal(json_get_int(result, "tool_calls", 0), 1);
    assert_string_equal(support_read(support_path("a.txt")), "x");
}

TEST(a_command_tells_its_output_while_it_runs)
{
    assert_int_equal(chdir(support_dir()), 0);
    RPC_START(&client, "--tools", "full");
    session = create(&client);
    QUEUE(model, .tool_name = "run_command",
          .tool_args = "{\"command\":\"echo here; until [ -e go ]; do sleep .01; done\"}");
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'where?'"));
    const struct json *asked = rpc_client_told(&client, "approval/requested", NULL);
    const char *call = support_keep(mem_strdup(text_of(asked, "call"))), *text = "";
    allow_once(asked);
    while (!strstr(text, "here\n")) {
        const struct json *told = rpc_client_told(&client, "tool/output", NULL);
        assert_string_equal(text_of(told, "call"), call);
        text = json_get_string(told, "text");
        text = text ? text : "";
    }
    support_write(support_path("go"), "");
    assert_non_null(json_get(rpc_client_answer(&client, id), "result"));
}

/* A server outlives the directory that it was started in. */
TEST(a_command_where_the_directory_is_gone_fails_alone)
{
    const char *gone = support_path("gone");
    assert_int_equal(mkdir(gone, 0700), 0);
    assert_int_equal(chdir(gone), 0);
    assert_int_equal(rmdir(gone), 0);
    RPC_START(&client, "--tools", "full");
    session = create(&client);
    QUEUE(model, .tool_name = "run_command", .tool_args = "{\"command\":\"echo here\"}");
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'where?'"));
    allow_once(rpc_client_told(&client, "approval/requested", NULL));
    const struct json *done = rpc_client_told(&client, "session/event", "tool_execution_completed");
    assert_true(json_get_bool(json_get(done, "event"), "is_error", false));
    assert_non_null(json_get(rpc_client_answer(&client, id), "result"));
}

/* --- system resources ------------------------------------------------------------------------- */

/* Many sessions need many files; a tool's command gets the original limit. */
TEST(the_limit_of_files_is_raised_for_the_server_alone)
{
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    if (before.rlim_max < 1024)
        skip();
    assert_int_equal(chdir(support_dir()), 0);
    struct rlimit limit = before;
    limit.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &limit);
    RPC_START(&client, "--tools", "full");
    setrlimit(RLIMIT_NOFILE, &before);
    session = create(&client);
    struct rlimit now;
    assert_int_equal(prlimit(client.child.pid, RLIMIT_NOFILE, NULL, &now), 0);
    assert_true(now.rlim_cur >= 1024);
    QUEUE(model, .tool_name = "run_command", .tool_args = "{\"command\":\"ulimit -Sn\"}");
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'how many?'"));
    allow_once(rpc_client_told(&client, "approval/requested", NULL));
    (void)rpc_client_answer(&client, id);
    const struct json *done = rpc_client_told(&client, "session/event", "tool_execution_completed");
    assert_text(text_of(json_get(done, "event"), "content"), "256");
}

/* Clients rely on notified events being kept. */
TEST_IF(capability_store(), a_store_that_cannot_be_opened_ends_the_start)
{
    char *file = support_keep(store_default_path());
    begin();
    end();
    support_write(file, "this is no database, however long it may be read");
    expect(RUN("serve", "--stdio"), err_info(ERR_SESSION_STORE_ERROR)->exit_status, "--no-persist");
    assert_text(support_read(file), "this is no database");
    RPC_START(&client, "--no-persist");
    (void)rpc_client_result(&client, "engine/info", NULL);
}

/* --- the end ---------------------------------------------------------------------------------- */

TEST(what_was_asked_before_the_end_of_input_is_answered)
{
    begin();
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'hello'"));
    close(client.child.in);
    client.child.in = -1;
    assert_non_null(json_get(rpc_client_answer(&client, id), "result"));
}

TEST(a_question_that_nobody_can_answer_any_more_interrupts_the_turn)
{
    assert_int_equal(chdir(support_dir()), 0);
    RPC_START(&client, "--tools", "full");
    session = create(&client);
    queue_tool();
    int id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'write'"));
    (void)rpc_client_told(&client, "approval/requested", NULL);
    close(client.child.in);
    client.child.in = -1;
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_string_equal(text_of(result, "stop_reason"), "cancelled");
}

static const char *kept_events(void)
{
    return support_keep(program_output(RUN("sessions", "export", "--format", "jsonl", session)));
}

TEST_IF(capability_store(), a_signal_keeps_what_came_and_answers_who_waits)
{
    begin();
    int id = start_endless();
    kill(client.child.pid, SIGTERM);
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_string_equal(text_of(result, "stop_reason"), "cancelled");
    assert_string_equal(text_of(result, "text"), "so far");
    end();
    assert_text(kept_events(), "so far");
    assert_text(kept_events(), "\"type\":\"interrupted\"");
}

TEST_IF(capability_store(), a_client_that_reads_no_more_ends_the_program)
{
    begin();
    (void)start_endless();
    close(client.child.out);
    client.child.out = -1;
    end();
    assert_text(kept_events(), "\"type\":\"interrupted\"");
}

/* --- bounds ----------------------------------------------------------------------------------- */

static bool turns_are_over(void *context)
{
    return damage_number(support_path(".local/share/tiro/tiro.db"),
                         "SELECT count(*) FROM event WHERE type = 'run_completed'") ==
           *(const int *)context;
}

/* The client reads nothing until all turns are over. */
TEST_IF(capability_store() && capability_compaction(), a_slow_reader_is_told_how_much_it_missed)
{
    enum { BYTES = 2 * 1024 * 1024, TURNS = 3 };
    char *text = support_keep(malloc(BYTES + 1));
    int id = 0;
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    begin();
    for (int i = 1; i <= TURNS; i++) {
        QUEUE(model, .text = text, .piece = 65536);
        id = rpc_client_ask(&client, "turn/start", PARAMS(",'prompt':'much'"));
        assert_true(support_wait_until(turns_are_over, &i, RPC_CLIENT_MS));
    }
    const struct json *missed = rpc_client_told(&client, "session/event", "stream_truncated");
    assert_true(json_get_int(json_get(missed, "event"), "dropped", 0) > 0);
    const struct json *result = json_get(rpc_client_answer(&client, id), "result");
    assert_int_equal(strlen(text_of(result, "text")), BYTES);
}
