/* One side of a JSON-RPC connection: its answers to any bytes, and its requests. */
#include "base/json_out.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "tests/suite.h"

/* A side that answers "echo" with its parameters, "fail" with an error and "later" on demand, and
 * records other requests. */
struct side {
    struct rpc_peer *peer;
    VEC(struct rpc_call *) later;
    struct buf told, answers;
    bool answers_cancelled;
};

static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    struct side *s = context;
    if (strcmp(method, "echo") == 0) {
        auto_free char *text = json_print(params);
        rpc_answer(call, text);
    } else if (strcmp(method, "fail") == 0) {
        struct error e;
        err_set(&e, ERR_SESSION_BUSY, "a turn runs; wait");
        rpc_fail_with(call, &e);
    } else if (strcmp(method, "later") == 0) {
        vec_push(&s->later, call);
    } else {
        rpc_fail(call, RPC_METHOD_NOT_FOUND, "no such method", NULL);
    }
}

static void on_notification(void *context, const char *method, const struct json *params)
{
    struct side *s = context;
    auto_free char *text = params ? json_print(params) : mem_strdup("");
    buf_addf(&s->told, "%s%s;", method, text);
}

static void on_cancelled(void *context, struct rpc_call *call)
{
    struct side *s = context;
    buf_addf(&s->told, "cancelled %s;", (const char *)call->kept);
    if (s->answers_cancelled)
        rpc_fail(call, -32800, "cancelled", NULL);
}

static void on_answered(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct side *s = context;
    auto_free char *text = result ? json_print(result) : NULL;
    assert_true(!result != !fault);
    if (result)
        buf_addf(&s->answers, "%s;", text);
    else
        buf_addf(&s->answers, "%d %s;", fault->code, fault->message);
}

static const struct rpc_handlers handlers = {on_request, on_notification, on_cancelled, false};

static void open_side(struct side *s, const struct rpc_handlers *h)
{
    *s = (struct side){.told = BUF_INIT, .answers = BUF_INIT};
    s->peer = rpc_peer_new(h, s);
}

static void close_side(struct side *s)
{
    rpc_peer_free(s->peer);
    vec_release(&s->later);
    buf_release(&s->told);
    buf_release(&s->answers);
}

static void feed(struct side *s, const char *text)
{
    struct error e = {0};
    assert_true(rpc_peer_feed(s->peer, text, strlen(text), &e));
}

/* All pending output, written; kept. */
static const char *output(struct side *s)
{
    size_t len;
    const char *bytes = rpc_peer_output(s->peer, &len);
    char *text = support_keep(mem_strndup(bytes, len));
    rpc_peer_wrote(s->peer, len);
    return text;
}

static struct side one; /* the side of a test */

static int set_up(void **state)
{
    (void)state;
    open_side(&one, &handlers);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_side(&one);
    return 0;
}

FIXTURE(set_up, tear_down);

#define MESSAGE(rest) "{\"jsonrpc\":\"2.0\"," rest "}\n"

static const struct {
    const char *input, *output; /* with ' for " */
} exchanges[] = {
    {"{'jsonrpc':'2.0','id':1,'method':'echo','params':{'a':[1,2]}}",
     "{'jsonrpc':'2.0','id':1,'result':{'a':[1,2]}}"},
    {"{'jsonrpc':'2.0','id':'x','method':'echo','params':[true]}",
     "{'jsonrpc':'2.0','id':'x','result':[true]}"},
    {"{'jsonrpc':'2.0','id':null,'method':'echo'}", "{'jsonrpc':'2.0','id':null,'result':null}"},
    {"{'jsonrpc':'2.0','id':2,'method':'echo','params':null}",
     "{'jsonrpc':'2.0','id':2,'result':null}"},
    {"{'jsonrpc':'2.0','id':3,'method':'fail'}",
     "{'jsonrpc':'2.0','id':3,'error':{'code':-32002,'message':'a turn runs; "
     "wait','data':{'code':'SESSION_BUSY'}}}"},
    {"{'jsonrpc':'2.0','id':4,'method':'none'}",
     "{'jsonrpc':'2.0','id':4,'error':{'code':-32601,'message':'no such method'}}"},
    /* half a surrogate pair is read as the replacement character */
    {"{'jsonrpc':'2.0','id':5,'method':'echo','params':['\\ud83d']}",
     "{'jsonrpc':'2.0','id':5,'result':['\xef\xbf\xbd']}"},
    {"{'jsonrpc':'2.0','id':6,'method':'echo','params':3}",
     "{'jsonrpc':'2.0','id':6,'error':{'code':-32600,'message':'\\'params\\' is no object; give "
     "one, or leave it out'}}"},
    {"{'id':7,'method':'echo'}",
     "{'jsonrpc':'2.0','id':7,'error':{'code':-32600,'message':'\\'jsonrpc\\' is not \\'2.0\\'; "
     "give it so'}}"},
    {"{'jsonrpc':'2.0','id':8}",
     "{'jsonrpc':'2.0','id':8,'error':{'code':-32600,'message':'\\'method\\' is no string; name a "
     "method'}}"},
    {"{'jsonrpc':'2.0','id':{},'method':'echo'}",
     "{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'\\'id\\' is no string and no "
     "number, or too long; give a short one'}}"},
    {"[]",
     "{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'the array is empty; give "
     "one with messages'}}"},
    {"[1]",
     "[{'jsonrpc':'2.0','id':null,'error':{'code':-32600,'message':'a message is an "
     "object; give {\\'jsonrpc\\':\\'2.0\\',\\'id\\':1,\\'method\\':\\'…\\'}'}}]"},
    {"[{'jsonrpc':'2.0','id':1,'method':'echo'},{'jsonrpc':'2.0','method':'hint'},{'jsonrpc':'2.0',"
     "'id':2,'method':'none'}]",
     "[{'jsonrpc':'2.0','id':1,'result':null},{'jsonrpc':'2.0','id':2,'error':{'code':-32601,"
     "'message':'no such method'}}]"},
    /* nothing is to be answered */
    {"[{'jsonrpc':'2.0','method':'hint'}]", ""},
    {"{'jsonrpc':'2.0','method':'hint','params':{'a':1}}", ""},
    {"{'jsonrpc':'2.0','id':99,'result':1}", ""},
    {"{'jsonrpc':'2.0','id':null,'error':{'code':-32700,'message':'what?'}}", ""},
    {"{'jsonrpc':'2.0','method':'$/cancel_request','params':{'id':77}}", ""},
    {" \t\r", ""},
    /* a request that cannot be read is answered under its id */
    {"{'jsonrpc':'2.0','id':9,'method':'echo','params':['\\u0000 \\\\u0000']}",
     "{'jsonrpc':'2.0','id':9,'error':{'code':-32700,'message':'the message has a NUL "
     "character'}}"},
    {"{'jsonrpc':'2.0','id':'x','method':'echo','params':['\xff']}",
     "{'jsonrpc':'2.0','id':'x','error':{'code':-32700,'message':'the message is not UTF-8'}}"},
    {"[{'jsonrpc':'2.0','id':1,'method':'echo'},{'jsonrpc':'2.0','id':2,'method':'\\u0000'}]",
     "[{'jsonrpc':'2.0','id':1,'error':{'code':-32700,'message':'the message has a NUL "
     "character'}},{'jsonrpc':'2.0','id':2,'error':{'code':-32700,'message':'the message has a NUL "
     "character'}}]"},
    {"{'jsonrpc':'2.0','id':9,'method':'echo','params':{'id':10,'x':[",
     "{'jsonrpc':'2.0','id':9,'error':{'code':-32700,'message':'not valid JSON near byte 62 of "
     "63'}}"},
};

TEST(messages_are_answered_as_the_specification_says)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
        const char *expected = exchanges[i].output;
        feed(&one, support_text("%s\n", support_json(exchanges[i].input)));
        assert_string_equal(output(&one),
                            *expected ? support_text("%s\n", support_json(expected)) : "");
    }
    assert_string_equal(one.told.data, "hint;hint;hint{\"a\":1};");
    assert_int_equal(rpc_peer_calls(one.peer), 0);
}

static int code_of(const char *line)
{
    AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), NULL);
    assert_non_null(v);
    int code = (int)json_get_int(json_get(v, "error"), "code", 0);
    assert_true(json_get(v, "id") && json_type(json_get(v, "id")) == JSON_NULL);
    return code;
}

TEST(what_is_no_json_is_a_parse_error_and_passed_over)
{
    static const char *const texts[] = {"{", "nonsense", "{\"a\":1} 2", "\"\xff\"",
                                        "{\"jsonrpc\":\"2.0\",\"method\":\"a\\u0000b\"}"};
    AUTO(buf_release) struct buf deep = BUF_INIT;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        feed(&one, texts[i]);
        feed(&one, "\n");
        assert_int_equal(code_of(output(&one)), RPC_PARSE_ERROR);
    }
    for (int i = 0; i < 100000; i++)
        buf_addch(&deep, '[');
    buf_addch(&deep, '\n');
    feed(&one, deep.data);
    assert_int_equal(code_of(output(&one)), RPC_PARSE_ERROR);
    feed(&one, MESSAGE("\"id\":1,\"method\":\"echo\""));
    assert_string_equal(output(&one), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n");
}

TEST(a_message_that_comes_whole_may_have_line_breaks)
{
    static const char text[] =
        "{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1,\n \"method\": \"echo\","
        "\n \"params\": {}\n}\n";
    struct error e;
    assert_true(rpc_peer_take(one.peer, text, strlen(text), &e));
    assert_string_equal(output(&one), MESSAGE("\"id\":1,\"result\":{}"));
    assert_true(rpc_peer_take(one.peer, "\n \n", 3, &e));
    assert_string_equal(output(&one), "");
}

TEST(any_split_of_the_stream_is_alike)
{
    AUTO(buf_release) struct buf all = BUF_INIT, whole = BUF_INIT;
    struct side s;
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++)
        buf_addf(&all, "%s%s", support_json(exchanges[i].input), i % 2 ? "\r\n" : "\n");
    open_side(&s, &handlers);
    feed(&s, all.data);
    buf_addstr(&whole, output(&s));
    close_side(&s);
    for (size_t piece = 1; piece < 40; piece++) {
        struct error e;
        open_side(&s, &handlers);
        for (size_t at = 0; at < all.len; at += piece)
            assert_true(rpc_peer_feed(s.peer, all.data + at,
                                      all.len - at < piece ? all.len - at : piece, &e));
        assert_string_equal(output(&s), whole.data);
        close_side(&s);
    }
}

TEST(an_answer_may_come_later_and_a_batch_waits_for_its_last)
{
    feed(&one,
         "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"later\"},"
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"echo\"},"
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"later\"}]\n");
    assert_string_equal(output(&one), "");
    assert_int_equal(rpc_peer_calls(one.peer), 2);
    rpc_answer(one.later.items[1], "\"b\"");
    assert_string_equal(output(&one), "");
    rpc_answer(one.later.items[0], "\"a\"");
    assert_string_equal(output(&one),
                        "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null},"
                        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"b\"},"
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\"}]\n");
}

TEST(a_cancelled_call_is_still_to_be_answered)
{
    feed(&one,
         MESSAGE("\"id\":\"a\",\"method\":\"later\"") MESSAGE("\"id\":2,\"method\":\"later\""));
    one.later.items[0]->kept = (void *)(uintptr_t) "first";
    one.later.items[1]->kept = (void *)(uintptr_t) "second";
    feed(&one, MESSAGE("\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"a\"}"));
    assert_string_equal(one.told.data, "cancelled first;");
    assert_string_equal(output(&one), "");
    one.answers_cancelled = true;
    feed(&one, MESSAGE("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}"));
    assert_string_equal(one.told.data, "cancelled first;cancelled second;");
    assert_string_equal(output(&one),
                        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32800,"
                        "\"message\":\"cancelled\"}}\n");
    /* the first is never answered, and nothing is lost by that */
}

TEST(a_cancelled_call_may_be_dropped_also_out_of_a_batch)
{
    feed(&one, MESSAGE("\"id\":\"a\",\"method\":\"later\""));
    assert_string_equal(one.later.items[0]->id, "\"a\"");
    assert_false(one.later.items[0]->batch);
    rpc_drop(one.later.items[0]);
    assert_string_equal(output(&one), "");
    assert_int_equal(rpc_peer_calls(one.peer), 0);
    vec_clear(&one.later);
    feed(&one, support_json("[{'jsonrpc':'2.0','id':1,'method':'later'},"
                            "{'jsonrpc':'2.0','id':2,'method':'later'}]"));
    feed(&one, "\n");
    assert_true(one.later.items[0]->batch);
    rpc_drop(one.later.items[0]);
    assert_string_equal(output(&one), "");
    rpc_answer(one.later.items[1], "{}");
    assert_string_equal(output(&one), "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]\n");
}

TEST(cancelling_what_does_not_wait_here_is_told_as_it_is)
{
    feed(&one, MESSAGE("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}"));
    assert_string_equal(one.told.data, "notifications/cancelled{\"requestId\":7};");
}

TEST(two_sides_ask_one_another)
{
    struct side a, b;
    open_side(&a, &handlers);
    open_side(&b, &handlers);
    assert_int_equal(rpc_ask(a.peer, "echo", "{\"n\":1}", on_answered, &a), 1);
    assert_int_equal(rpc_ask(a.peer, "fail", NULL, on_answered, &a), 2);
    assert_int_equal(rpc_ask(a.peer, "later", NULL, on_answered, &a), 3);
    assert_true(rpc_notify(a.peer, "hint", "[1]"));
    feed(&b, output(&a));
    assert_string_equal(b.told.data, "hint[1];");
    feed(&a, output(&b));
    assert_string_equal(a.answers.data, "{\"n\":1};-32002 a turn runs; wait;");
    feed(&a, MESSAGE("\"id\":1,\"result\":\"again\"")); /* was answered: nobody waits */
    feed(&a, MESSAGE("\"id\":3,\"result\":7,\"error\":null"));
    assert_string_equal(a.answers.data, "{\"n\":1};-32002 a turn runs; wait;7;");
    close_side(&a);
    close_side(&b);
}

/* A malformed answer fails the request at once, but only if it names the request's number. */
TEST(an_answer_that_does_not_fit_ends_the_wait)
{
    static const struct {
        const char *rest;
        bool ends;
    } answers[] = {
        {"\"id\":1", true},
        {"\"id\":1,\"result\":\"\\u0000\"", true},
        {"\"id\":1,\"result\":\"\\\\u0000\\u0000\\u0000\"", true},
        {"\"id\":1,\"result\":\"\xff\"", true},
        {"\"id\":1,\"error\":7", true},
        {"\"id\":1,\"result\":{\"id\":2,\"method\":[", true},
        {"\"result\":\"\\\\\\\"}\\u0000\",\"id\": 1", true},
        {"\"id\":2,\"result\":{\"id\":1},\"x\":\"\\u0000\"", false},
        {"\"id\":1,\"method\":\"\\u0000\"", false},
        {"\"id\":1.5,\"result\":7", false},
        {"\"id\":\"1\",\"result\":7", false},
        {"\"id\":2,\"result\":7", false},
        {"\"id\":[1],\"result\":7", false},
        {"\"id\":9e99,\"result\":\"\\u0000\"", false},
        {"\"result\":7", false},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct side s;
        open_side(&s, &handlers);
        (void)rpc_ask(s.peer, "later", NULL, on_answered, &s);
        feed(&s, support_text("{\"jsonrpc\":\"2.0\",%s}\n", answers[i].rest));
        assert_int_equal(s.answers.len > 0, answers[i].ends);
        if (answers[i].ends)
            assert_non_null(strstr(s.answers.data, "-32"));
        close_side(&s);
    }
}

TEST(a_raw_nul_in_an_answer_ends_the_wait)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\0\"}\n";
    struct error e;
    (void)rpc_ask(one.peer, "later", NULL, on_answered, &one);
    (void)output(&one);
    assert_true(rpc_peer_feed(one.peer, text, sizeof text - 1, &e));
    assert_string_equal(one.answers.data, "-32700 the answer cannot be read;");
    assert_string_equal(output(&one), "");
}

TEST(who_no_longer_waits_says_so)
{
    static const struct rpc_handlers mcp = {.cancels_as_mcp = true};
    const struct rpc_handlers *const both[] = {&handlers, &mcp};
    for (int i = 0; i < 2; i++) {
        struct side s;
        open_side(&s, both[i]);
        int64_t id = rpc_ask(s.peer, "x", NULL, on_answered, &s);
        (void)output(&s);
        rpc_withdraw(s.peer, id);
        assert_string_equal(
            output(&s),
            i == 0
                ? MESSAGE("\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}")
                : MESSAGE("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
        rpc_withdraw(s.peer, id);
        feed(&s, MESSAGE("\"id\":1,\"result\":7"));
        assert_string_equal(output(&s), "");
        assert_string_equal(s.answers.data, "");
        close_side(&s);
    }
}

TEST(what_was_asked_fails_when_the_peer_goes)
{
    rpc_ask(one.peer, "x", NULL, on_answered, &one);
    rpc_peer_free(one.peer);
    one.peer = NULL;
    assert_string_equal(one.answers.data, "-32603 the other side has gone;");
}

static char *text_of(size_t len)
{
    char *text = mem_alloc(len + 3);
    memset(text, 'x', len + 2);
    text[0] = text[len + 1] = '"';
    return text;
}

TEST(a_slow_reader_loses_notifications_and_grows_nothing)
{
    auto_free char *long_text = text_of(1 << 20);
    size_t len, told = 0;
    while (rpc_notify(one.peer, "hint", long_text))
        told++;
    assert_in_range(told, 7, 8);
    (void)rpc_peer_output(one.peer, &len);
    assert_true(len <= RPC_OUTPUT_MAX + 100 * told);
    assert_int_equal(rpc_ask(one.peer, "x", long_text, on_answered, &one), 0);
    feed(&one, MESSAGE("\"id\":1,\"method\":\"later\""));
    rpc_answer(one.later.items[0], long_text);
    (void)rpc_peer_output(one.peer, &len);
    assert_true(len > RPC_OUTPUT_MAX); /* nothing more should be read */
    (void)output(&one);
    assert_true(rpc_notify(one.peer, "hint", long_text));
}

TEST(answers_that_nobody_reads_become_errors)
{
    auto_free char *long_text = text_of(RPC_MESSAGE_MAX - 4096),
                   *too_long = text_of(RPC_MESSAGE_MAX);
    for (int i = 0; i < 4; i++)
        feed(&one, MESSAGE("\"id\":1,\"method\":\"later\""));
    rpc_answer(one.later.items[0], too_long);
    assert_non_null(strstr(output(&one), "\"code\":-32603"));
    for (int i = 1; i < 4; i++)
        rpc_answer(one.later.items[i], long_text);
    size_t len;
    const char *end = rpc_peer_output(one.peer, &len);
    assert_true(len < RPC_ANSWERS_MAX);
    assert_non_null(strstr(end + len - 200, "\"code\":-32603"));
}

TEST(requests_that_wait_are_bounded)
{
    for (int i = 0; i < RPC_CALLS_MAX; i++)
        feed(&one, MESSAGE("\"id\":1,\"method\":\"later\""));
    assert_string_equal(output(&one), "");
    feed(&one, MESSAGE("\"id\":7,\"method\":\"later\""));
    assert_string_equal(
        output(&one),
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"too "
        "many requests wait; wait for their answers\"}}\n");
    assert_int_equal(rpc_peer_calls(one.peer), RPC_CALLS_MAX);
}

TEST(a_message_that_is_too_long_ends_the_connection)
{
    struct error e = {0};
    auto_free char *piece = text_of(1 << 20);
    size_t fed = 0;
    while (rpc_peer_feed(one.peer, piece, strlen(piece), &e))
        fed += strlen(piece);
    assert_true(fed <= RPC_MESSAGE_MAX && fed > RPC_MESSAGE_MAX - 2 * strlen(piece));
    assert_non_null(strstr(e.text, "33554432 bytes"));
    assert_int_equal(code_of(output(&one)), RPC_INVALID_REQUEST);
}
