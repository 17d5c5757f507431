/* tiro serve --http: requests and answers, refusals, and the end of the server. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/http_request.h"
#include "serve/http_service.h"
#include "serve/server.h"
#include "session/capability.h"
#include "tests/http_client.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

NEEDS(HTTP_IS_SERVED);
FIXTURE(support_setup, http_teardown);

#define OFFLINE "--provider", "offline"

static const char json_body[] = "{'prompt':'hello'}";

/* --- requests and answers --------------------------------------------------------------------- */

TEST(what_the_server_knows_is_answered)
{
    SERVE(&tiro, OFFLINE, "--allow", "owner");
    const struct {
        const char *path, *has; /* with ' for " */
    } rows[] = {
        {"/health", "{'status':'ok'}"},
        {"/capabilities", capability_store() ? "{'store':true}" : "{'store':false}"},
        {"/models", "{'models':[{'name':'offline'}]}"},
        {"/sessions", "{'sessions':[],'total':0}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_answer a = GET(rows[i].path);
        assert_int_equal(a.status, 200);
        assert_text(a.head, "application/json");
        assert_json(http_json(&a), rows[i].has);
    }
    struct http_answer a = GET("/openapi.json");
    assert_json(http_json(&a),
                "{'openapi':'3.1.0','servers':[{'url':'/'}],'security':[{'token':[]}]}");
    a = GET("/config");
    assert_json(json_first(json_get(http_json(&a), "keys")),
                "{'section':'provider','name':'name','origin':'default'}");
}

TEST_IF(capability_store(), a_session_from_its_beginning_to_the_archive)
{
    SERVE(&tiro, OFFLINE);
    struct http_answer a = POST("/sessions", "{}");
    assert_int_equal(a.status, 201);
    char *id = support_text("%s", json_get_string(http_json(&a), "id"));
    assert_text(a.head, support_text("Location: /sessions/%s\r\n", id));

    a = POST(support_text("/sessions/%s/messages", id), json_body);
    assert_int_equal(a.status, 200);
    assert_json(http_json(&a), support_text("{'session_id':'%s','stop_reason':'end_turn'}", id));

    a = GET(support_text("/sessions/%s", id));
    assert_json(http_json(&a), support_text("{'id':'%s','turns':1,'title':'hello'}", id));
    a = GET(support_text("/sessions/%s/history?limit=1", id));
    assert_json(http_json(&a), "{'events':[{'type':'run_started','prompt':'hello'}],'more':true}");
    a = GET(support_text("/sessions/%s/history?after=1&limit=1", id));
    assert_json(http_json(&a), "{'events':[{'type':'turn_started'}]}");
    a = GET("/sessions?text=hello");
    assert_json(http_json(&a), "{'total':1}");
    a = GET("/memory?q=hello");
    assert_int_equal(a.status, capability_memory() ? 200 : 501);

    a = http_ask(tiro.port, "DELETE", support_text("/sessions/%s", id), NULL);
    assert_int_equal(a.status, 200);
    assert_json(http_json(&a), support_text("{'id':'%s'}", id));
    a = GET("/sessions?state=archived");
    assert_json(http_json(&a), "{'total':1}");
}

TEST(any_operation_is_called_as_json_rpc)
{
    SERVE(&tiro, OFFLINE);
    struct http_answer a = POST("/rpc", "{'jsonrpc':'2.0','id':7,'method':'engine/info'}");
    assert_int_equal(a.status, 200);
    assert_json(http_json(&a), "{'id':7,'result':{'name':'tiro'}}");

    a = POST("/rpc",
             "[{'jsonrpc':'2.0','id':'a','method':'engine/info'},"
             "{'jsonrpc':'2.0','id':'b','method':'nix'},"
             "{'jsonrpc':'2.0','method':'engine/info'},"
             "{'jsonrpc':'2.0','id':'c','method':'session/read','params':{'session_id':'x'}},"
             "{'jsonrpc':'2.0','id':'d','method':'session/read','params':{'nix':1}}]");
    assert_int_equal(a.status, 200);
    assert_int_equal(json_len(http_json(&a)), 4);
    assert_text(a.body, "-32601");
    assert_text(a.body, "{\"code\":\"SESSION_NOT_FOUND\"}");
    assert_text(a.body, "-32001");
    assert_text(a.body, "-32602");
    assert_text(a.body, "nix");

    a = POST("/rpc", "{'jsonrpc':'2.0','method':'engine/info'}");
    assert_int_equal(a.status, 202);
    assert_string_equal(a.body, "");
    a = POST("/rpc", "no json");
    assert_json(http_json(&a), "{'error':{'code':-32700}}");
    a = POST("/rpc", "{'jsonrpc':'2.0','id':1}");
    assert_json(http_json(&a), "{'error':{'code':-32600}}");
}

/* --- errors ----------------------------------------------------------------------------------- */

TEST(what_is_not_there_is_told)
{
    SERVE(&tiro, OFFLINE);
    http_expect_error(GET("/nix"), 404, "NOT_FOUND", NULL);
    struct http_answer a = http_ask(tiro.port, "PUT", "/sessions", NULL);
    http_expect_error(a, 405, "METHOD_NOT_ALLOWED", NULL);
    assert_text(a.head, "Allow: POST, GET, HEAD\r\n");
    http_expect_error(GET("/sessions?nix=1"), 400, "USAGE", "nix");
    http_expect_error(GET("/sessions?limit=x"), 400, "USAGE", "limit");
    http_expect_error(GET("/sessions/%FF"), 400, "BAD_REQUEST", NULL);
    http_expect_error(GET("/sessions/x/events?after=x"), 400, "USAGE", "after");
    http_expect_error(POST("/sessions", "[]"), 400, "USAGE", "object");
    http_expect_error(POST("/sessions", "{"), 400, "USAGE", NULL);
    http_expect_error(POST("/sessions", "{'nix':1}"), 400, "USAGE", "nix");
    http_expect_error(POST("/sessions/x/messages", "{'prompt':1}"), 400, "USAGE", "prompt");
    http_expect_error(POST("/sessions/x/messages", "{'prompt':'a','session_id':'y'}"), 400, "USAGE",
                      "session_id");
}

TEST_IF(capability_store(), a_session_that_is_not_there_has_no_events_and_is_not_deleted)
{
    SERVE(&tiro, OFFLINE);
    http_expect_error(GET("/sessions/x/events"), 404, "SESSION_NOT_FOUND", NULL);
    http_expect_error(http_ask(tiro.port, "DELETE", "/sessions/x", NULL), 404, "SESSION_NOT_FOUND",
                      NULL);
}

static void hold_turn(struct http_client *c, const char *id)
{
    http_client_open(c, tiro.port);
    http_client_send(c,
                     support_text("POST /sessions/%s/messages HTTP/1.1\r\n" HTTP_HOST
                                  "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n%s",
                                  id, support_json("{'prompt':'first'}")));
}

TEST(an_interrupted_turn_keeps_what_it_gave)
{
    struct model_server *model = begin_server();
    QUEUE(model, .text = "half of it", .fault = REPLY_STALL);
    struct http_client first;
    SERVE(&tiro, "--provider", "openai", "--model", "m");
    char *id = http_begin_session(tiro.port);
    struct http_stream events;
    events_open(&events, tiro.port, id, -1);
    hold_turn(&first, id);
    events_expect(&events, "text_delta");
    struct http_answer a = POST(support_text("/sessions/%s/interrupt", id), NULL);
    assert_int_equal(a.status, 200);
    a = http_client_answer(&first);
    assert_int_equal(a.status, 200);
    assert_json(http_json(&a), "{'stop_reason':'cancelled'}");
    events_expect(&events, "interrupted");
    events_close(&events);
    http_client_close(&first);
    assert_int_equal(served_stop(&tiro), 0);
    model_server_release(model);
    end_server(model);
}

TEST(a_failed_turn_has_the_status_of_its_error_and_its_result)
{
    struct model_server *model = begin_server();
    write_config("[budget]\nmax_tokens = 1\n");
    SERVE(&tiro, "--provider", "openai", "--model", "m");
    char *path = support_text("/sessions/%s/messages", http_begin_session(tiro.port));
    (void)POST(path, json_body);
    struct http_answer a = POST(path, json_body);
    http_expect_error(a, 402, "BUDGET_EXHAUSTED", NULL);
    assert_json(http_json(&a), "{'result':{'error':{'code':'BUDGET_EXHAUSTED'}}}");
    a = http_ask(
        tiro.port, "POST", "/rpc",
        support_text("{'jsonrpc':'2.0','id':1,'method':'turn/start','params':{'session_id':"
                     "'last','prompt':'more'}}"));
    assert_json(http_json(&a),
                "{'error':{'code':-32000,'data':{'code':'BUDGET_EXHAUSTED',"
                "'result':{'stop_reason':'other'}}}}");
    model_server_set_default(model, &(struct reply){.fault = REPLY_STATUS,
                                                    .status = 401,
                                                    .error_type = "invalid_api_key",
                                                    .error_message = "no"});
    write_config("");
    assert_int_equal(served_stop(&tiro), 0);
    SERVE(&tiro, "--provider", "openai", "--model", "m");
    path = support_text("/sessions/%s/messages", http_begin_session(tiro.port));
    http_expect_error(POST(path, json_body), 500, "AGENT_ERROR", NULL);
    assert_int_equal(served_stop(&tiro), 0);
    end_server(model);
}

TEST(what_is_switched_off_is_told)
{
    write_config(
        "[session]\npersist = false\n[compaction]\nenabled = false\n"
        "[memory]\nenabled = false\n");
    SERVE(&tiro, OFFLINE);
    char *id = http_begin_session(tiro.port);
    http_expect_error(http_ask(tiro.port, "DELETE", "/sessions/x", NULL), 404, "SESSION_NOT_FOUND",
                      NULL);
    struct http_answer a = POST(support_text("/sessions/%s/messages", id), json_body);
    assert_int_equal(a.status, 200);
}

/* --- how requests come ------------------------------------------------------------------------ */

/* Sends one raw request; returns the status, or 0 if the connection is closed. Bytes after a
 * refused request are not taken for another request. (libmicrohttpd 0.9.75 sends the head of its
 * own error for a malformed Content-Length twice.) */
static int raw_status(int port, const char *bytes, bool closes)
{
    struct http_client c;
    http_client_open(&c, port);
    http_client_send(&c, bytes);
    struct http_answer a = http_client_answer(&c);
    while (closes && http_client_read(&c, 10000))
        continue;
    assert_no_text(c.bytes.data, "200 OK");
    if (closes)
        http_client_expect_closed(&c);
    http_client_close(&c);
    return a.status;
}

#define POST_SESSIONS "POST /sessions HTTP/1.1\r\n" HTTP_HOST "Content-Type: application/json\r\n"
#define HIDDEN "GET /health HTTP/1.1\r\n" HTTP_HOST "\r\n"

TEST(a_request_that_hides_another_is_refused_and_its_connection_closed)
{
    static const struct {
        const char *bytes;
        int status;
    } rows[] = {
        {POST_SESSIONS "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n" HIDDEN,
         400},
        {POST_SESSIONS "Content-Length: 2\r\nContent-Length: 45\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: +2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: 2x\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: 2,2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: -1\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length: \r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length : 2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" HIDDEN, 501},
        {POST_SESSIONS "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" HIDDEN, 501},
        {POST_SESSIONS "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\nx\r\n" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n-1\r\n" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" HIDDEN, 413},
        {"POST /sessions HTTP/1.0\r\n" HTTP_HOST "Content-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
         400},
        {"GET /health HTTP/1.1\r\n" HTTP_HOST "X Y: z\r\n\r\n" HIDDEN, 400},
        /* folded lines */
        {POST_SESSIONS "Content-Length:\r\n 2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Content-Length:\r\n\t2\r\nX: y\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" HIDDEN, 400},
        {POST_SESSIONS "X: a\r\n Content-Length: 45\r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400},
        {"GET /health HTTP/1.1\r\n" HTTP_HOST "X: a\r\n b\r\n\r\n" HIDDEN, 400},
        {"GET /health HTTP/1.1\r\n " HTTP_HOST "\r\n" HIDDEN, 400},
        /* lines that end with LF alone */
        {"GET /health HTTP/1.1\n" HTTP_HOST "\r\n" HIDDEN, 400},
        {"GET /health HTTP/1.1\nHost: localhost\n\n" HIDDEN, 400},
        {POST_SESSIONS "X: a\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400},
        {POST_SESSIONS "X: a\rContent-Length: 45\r\nContent-Length: 2\r\n\r\n{}" HIDDEN, 400},
        {"GET /health HTTP/1.1\r\n" HTTP_HOST "nothing\r\n\r\n" HIDDEN, 400},
        {"GET /health HTTP/2.0\r\n" HTTP_HOST "\r\n" HIDDEN, 505},
        {"GET /health HTTP/0.9\r\n" HTTP_HOST "\r\n" HIDDEN, 505},
        {"GET /health\r\n" HTTP_HOST "\r\n" HIDDEN, 400},
        {"GET /he alth HTTP/1.1\r\n" HTTP_HOST "\r\n" HIDDEN, 400},
        {"GET http://evil.example/health HTTP/1.1\r\n" HTTP_HOST "\r\n" HIDDEN, 403},
        {"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n" HIDDEN, 403},
        {"GET /health HTTP/1.1\r\n" HTTP_HOST "Origin: http://evil.example\r\n\r\n" HIDDEN, 403},
        {POST_SESSIONS "Content-Length: 33554433\r\n\r\n", 413},
        {"POST /sessions HTTP/1.1\r\n" HTTP_HOST "Content-Length: 2\r\n\r\n{}" HIDDEN, 415},
        {"GET /sessions/x/events HTTP/1.1\r\n" HTTP_HOST "Accept: text/html\r\n\r\n", 406},
        {"GET /health HTTP/1.1\r\n" HTTP_HOST "Accept: text/html\r\n\r\n", 406},
    };
    SERVE(&tiro, OFFLINE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = raw_status(tiro.port, rows[i].bytes, true);
        if (status != rows[i].status)
            fail_msg("%s\n%d, not %d", rows[i].bytes, status, rows[i].status);
    }
    assert_int_equal(GET("/health").status, 200);
}

TEST(a_nul_in_the_head_is_refused)
{
    static const char first[] = POST_SESSIONS "Content-Length: 2\0005\r\n\r\n{}" HIDDEN,
                      second[] = POST_SESSIONS "X: a\0b\r\nContent-Length: 2\r\n\r\n{}" HIDDEN;
    struct http_client c;
    SERVE(&tiro, OFFLINE);
    for (int i = 0; i < 2; i++) {
        http_client_open(&c, tiro.port);
        http_client_send_bytes(&c, i ? second : first, i ? sizeof second - 1 : sizeof first - 1);
        http_expect_error(http_client_answer(&c), 400, "BAD_REQUEST", "NUL");
        http_client_expect_end(&c);
        http_client_close(&c);
    }
}

/* The lines of a chunked body are read as the library reads them; text after the body is no
 * request. */
TEST(nothing_behind_a_body_in_chunks_is_served)
{
    static const char *const bodies[] = {
        "2\r\n{}\r\n0\r\n\r\n",   "2;a=b\r\n{}\r\n0\r\n\r\n",
        "2;a\n{}\r\n0\r\n\r\n",   "2\n{}\n0\n\n",
        "02\r\n{}\r\n00\r\n\r\n", "2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n"};
    SERVE(&tiro, OFFLINE);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_int_equal(
            raw_status(tiro.port,
                       support_text(POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n%s" HIDDEN,
                                    bodies[i]),
                       true),
            201);
}

TEST(a_connection_is_kept_for_more_requests)
{
    struct http_client c;
    SERVE(&tiro, OFFLINE);
    http_client_open(&c, tiro.port);
    http_client_send(&c, HIDDEN HIDDEN POST_SESSIONS "Content-Length: 2\r\n\r\n{}" HIDDEN
                                                     "HEAD /health HTTP/1.1\r\n" HTTP_HOST "\r\n");
    assert_int_equal(http_client_answer(&c).status, 200);
    assert_int_equal(http_client_answer(&c).status, 200);
    assert_int_equal(http_client_answer(&c).status, 201);
    assert_int_equal(http_client_answer(&c).status, 200);
    assert_int_equal(http_client_head(&c).status, 200);
    http_client_send(&c, "GET /health HTTP/1.1\r\n" HTTP_HOST "Connection: close\r\n\r\n");
    assert_int_equal(http_client_answer(&c).status, 200);
    http_client_expect_end(&c);
    http_client_close(&c);

    http_client_open(&c, tiro.port);
    http_client_send(&c, "GET /health HTTP/1.0\r\n" HTTP_HOST "\r\n");
    assert_int_equal(http_client_answer(&c).status, 200);
    http_client_expect_end(&c);
    http_client_close(&c);

    http_client_open(&c, tiro.port);
    http_client_send(&c, POST_SESSIONS "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    while (!strstr(c.bytes.data, "\r\n\r\n"))
        assert_true(http_client_read(&c, 10000));
    assert_text(c.bytes.data, "HTTP/1.1 100");
    http_client_send(&c, "{}");
    assert_int_equal(http_client_answer(&c).status, 201);
    http_client_close(&c);
}

TEST(a_head_and_a_body_may_come_in_any_pieces)
{
    static const char request[] =
        POST_SESSIONS "Content-Length: 2\r\n\r\n{}" HIDDEN POST_SESSIONS
                      "Transfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    struct http_client c;
    uint64_t seed = support_seed();
    SERVE(&tiro, OFFLINE);
    http_client_open(&c, tiro.port);
    for (size_t at = 0; at < sizeof request - 1;) {
        size_t len = 1 + support_random(&seed) % 7, left = sizeof request - 1 - at;
        len = len < left ? len : left;
        http_client_send(&c, support_text("%.*s", (int)len, request + at));
        at += len;
    }
    assert_int_equal(http_client_answer(&c).status, 201);
    assert_int_equal(http_client_answer(&c).status, 200);
    assert_int_equal(http_client_answer(&c).status, 201);
    http_client_close(&c);
}

TEST(what_is_too_long_is_refused_and_takes_no_memory)
{
    struct http_client c;
    SERVE(&tiro, OFFLINE);
    char *field = support_keep(mem_alloc(40001));
    memset(field, 'x', 40000);
    assert_int_equal(raw_status(tiro.port,
                                support_text("GET /health HTTP/1.1\r\n" HTTP_HOST "X: %s"
                                             "\r\n\r\n",
                                             field),
                                false),
                     431);
    assert_int_equal(
        raw_status(tiro.port, support_text("GET /%s HTTP/1.1\r\n" HTTP_HOST "\r\n", field), false),
        414);
    AUTO(buf_release) struct buf many = BUF_INIT;
    for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
        buf_addf(&many, "X-%d: y\r\n", i);
    assert_int_equal(
        raw_status(tiro.port,
                   support_text("GET /health HTTP/1.1\r\n" HTTP_HOST "%s\r\n", many.data), true),
        431);
    http_client_open(&c, tiro.port);
    http_client_send(&c, POST_SESSIONS "Transfer-Encoding: chunked\r\n\r\n");
    char *megabyte = support_keep(mem_alloc(((size_t)1 << 20) + 1));
    memset(megabyte, ' ', (size_t)1 << 20);
    for (int i = 0; i < 33; i++) {
        http_client_send(&c, "100000\r\n");
        http_client_send(&c, megabyte);
        http_client_send(&c, "\r\n");
    }
    http_client_send(&c, "0\r\n\r\n");
    http_expect_error(http_client_answer(&c), 413, "CONTENT_TOO_LARGE", NULL);
    http_client_expect_end(&c);
    http_client_close(&c);
}

/* The library refuses the query without calling us; the memory that we had allocated must be freed
 * all the same. */
TEST(a_query_that_outgrows_the_library_leaves_nothing)
{
    AUTO(buf_release) struct buf request = BUF_INIT;
    buf_addstr(&request, "GET /sessions?");
    for (int i = 0; i < 2000; i++)
        buf_addf(&request, "a%d=b&", i);
    buf_addstr(&request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    SERVE(&tiro, NULL);
    for (int i = 0; i < 5; i++) {
        struct http_client c;
        http_client_open(&c, tiro.port);
        http_client_send(&c, request.data);
        assert_int_not_equal(http_client_answer(&c).status, 200);
        http_client_close(&c);
    }
    int64_t began = clock_mono_ms();
    assert_int_equal(served_stop(&tiro), 0);
    assert_true(clock_mono_ms() - began < SERVER_STOP_MS); /* nothing was to be waited for */
}

TEST(who_is_too_slow_is_cut_and_others_are_served_meanwhile)
{
    write_config("[serve]\ntimeout = 1\n");
    struct http_client head, dripping, body, idle;
    SERVE(&tiro, OFFLINE);
    http_client_open(&head, tiro.port);
    http_client_send(&head, "GET /health HT");
    http_client_open(&idle, tiro.port);
    http_client_open(&body, tiro.port);
    http_client_send(&body, POST_SESSIONS "Content-Length: 2\r\n\r\n{");
    http_client_open(&dripping, tiro.port);
    http_client_send(&dripping, "GET /health HTTP/1.1\r\n" HTTP_HOST "X: ");
    int64_t began = clock_mono_ms();
    while (!http_client_read(&dripping, 50) && clock_mono_ms() - began < 10000) {
        struct pollfd p = {.fd = dripping.fd, .events = POLLIN};
        if (poll(&p, 1, 0) > 0)
            break;
        http_client_send(&dripping, "y");
    }
    assert_true(clock_mono_ms() - began < 9000);
    assert_int_equal(GET("/health").status, 200);
    http_client_expect_end(&head);
    http_client_expect_end(&idle);
    http_client_expect_end(&body);
    http_client_close(&head);
    http_client_close(&idle);
    http_client_close(&body);
    http_client_close(&dripping);
}

/* --- authorisation ---------------------------------------------------------------------------- */

static const char secret[] = "0123456789-abcdefghij";

static int status_with(int port, const char *field)
{
    return raw_status(
        port, support_text("GET /health HTTP/1.1\r\nHost: localhost\r\n%s\r\n", field), false);
}

static void expect_token(int port)
{
    struct http_answer a = http_ask(port, "GET", "/health", NULL);
    http_expect_error(a, 401, "UNAUTHORIZED", NULL);
    assert_text(a.head, "WWW-Authenticate: Bearer");
    assert_int_equal(status_with(port, "Authorization: Bearer 0123456789-abcdefghix\r\n"), 401);
    assert_int_equal(status_with(port, "Authorization: Bearer 0123456789-abcdefghij\r\n"), 200);
}

/* Reads the server's output until it listens. */
static void start_alone(struct served *to)
{
    const char *const argv[] = {support_program(), "serve", "--http", "127.0.0.1:0", OFFLINE, NULL};
    *to = (struct served){0};
    support_start(&to->child, argv);
    to->port = served_port(&to->child);
}

TEST(without_a_key_of_the_configuration_the_server_makes_a_token)
{
    struct served other;
    struct stat st;
    char *file = http_token_file();
    start_alone(&tiro);
    char *token = support_keep(mem_strdup(support_read(file)));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(strspn(token, "0123456789abcdef"), 64);
    assert_text(tiro.child.err_text.data, file);
    token[64] = '\0';
    assert_no_text(tiro.child.err_text.data, token);
    assert_int_equal(status_with(tiro.port, ""), 401);
    assert_int_equal(status_with(tiro.port, "Authorization: Bearer \r\n"), 401);
    assert_int_equal(status_with(tiro.port, support_text("Authorization: Bearer %.63s\r\n", token)),
                     401);
    assert_int_equal(status_with(tiro.port, support_text("Authorization: Bearer %s\r\n", token)),
                     200);
    start_alone(&other); /* the next one has the same */
    assert_int_equal(status_with(other.port, support_text("Authorization: Bearer %s\r\n", token)),
                     200);
    assert_int_equal(served_stop(&other), 0);
}

TEST(a_token_that_others_can_have_put_there_is_refused)
{
    char *file = http_token_file(), *elsewhere = support_path("elsewhere");
    http_give_token();
    chmod(file, 0604);
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "chmod 600");
    chmod(file, 0600);
    assert_int_equal(rename(file, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, file), 0);
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "symbolic link");
    assert_int_equal(unlink(elsewhere), 0); /* nor is one made where it leads */
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "symbolic link");
    assert_int_equal(access(elsewhere, F_OK), -1);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "no regular file");
}

TEST(the_token_is_of_a_file_or_a_command)
{
    char *file = support_path("token");
    support_write(file, support_text("%s\n", secret));
    write_config(support_text("[serve]\ntoken_file = %s\n", file));
    SERVE(&tiro, OFFLINE);
    expect_token(tiro.port);
    assert_int_equal(served_stop(&tiro), 0);
    chmod(file, 0640);
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "chmod 600");
    chmod(file, 0600);
    support_write(file, "short\n");
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "too short");
    write_config("[serve]\ntoken_file = /nix\n");
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "/nix");
    write_config(support_text("[serve]\ntoken_command = echo %s\n", secret));
    SERVE(&tiro, OFFLINE);
    expect_token(tiro.port);
    assert_int_equal(served_stop(&tiro), 0);
    write_config("[serve]\ntoken_command = false\n");
    expect(RUN("serve", "--http", "127.0.0.1:0", OFFLINE), 1, "token");
}

TEST(an_address_is_checked_before_it_serves)
{
    expect(RUN("serve", "--http", "nix:0", OFFLINE), 64, "numeric");
    expect(RUN("serve", "--http", "127.0.0.1:x", OFFLINE), 64, "ADDRESS:PORT");
    SERVE(&tiro, OFFLINE);
    expect(RUN("serve", "--http", support_text("127.0.0.1:%d", tiro.port), OFFLINE), 1,
           "choose another");
}

TEST(a_proxy_of_this_machine_says_how_it_was_asked)
{
    write_config("[serve]\nhosts = tiro.lan tiro.example\norigins = https://page.example\n");
    SERVE(&tiro, OFFLINE);
    static const struct {
        const char *fields;
        int status;
    } rows[] = {
        {"Host: tiro.example\r\nOrigin: https://tiro.example\r\nX-Forwarded-Proto: https\r\n", 200},
        {"Host: tiro.example\r\nOrigin: https://tiro.example\r\n", 403},
        {"Host: localhost\r\nOrigin: https://page.example\r\n", 200},
        {"Host: tiro.lan\r\n", 200},
        {"Host: iro.lan\r\n", 403},
        {"Host: localhost\r\nOrigin: https://other.example\r\n", 403},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            raw_status(tiro.port,
                       support_text("GET /health HTTP/1.1\r\n%sAuthorization: Bearer " HTTP_TOKEN
                                    "\r\n\r\n",
                                    rows[i].fields),
                       false),
            rows[i].status);
}

/* --- how it begins and ends ------------------------------------------------------------------- */

TEST(the_end_keeps_what_a_turn_gave_and_answers_it)
{
    struct model_server *model = begin_server();
    QUEUE(model, .text = "half of it", .fault = REPLY_STALL);
    struct http_client turn, idle;
    struct http_stream events;
    SERVE(&tiro, "--provider", "openai", "--model", "m");
    char *id = http_begin_session(tiro.port);
    http_client_open(&idle, tiro.port);
    events_open(&events, tiro.port, id, 0);
    hold_turn(&turn, id);
    events_expect(&events, "text_delta");
    assert_int_equal(served_stop(&tiro), 0);
    struct http_answer a = http_client_answer(&turn);
    assert_int_equal(a.status, 200);
    assert_json(http_json(&a), "{'stop_reason':'cancelled'}");
    events_expect(&events, "done");
    assert_text(events.data, "shutdown");
    assert_false(events_next(&events, 10000));
    events_close(&events);
    http_client_expect_end(&idle);
    http_client_close(&idle);
    http_client_close(&turn);
    model_server_release(model);
    if (capability_store())
        assert_text(program_output(RUN("sessions", "show", "--json", id)), "\"interrupted\"");
    end_server(model);
}

/* Any HTTP client can answer a turn's questions, so the end of standard input ends no question. */
TEST(the_end_of_input_leaves_questions_to_others)
{
    http_give_token();
    struct model_server *model = begin_server();
    struct rpc_client client;
    assert_int_equal(chdir(support_dir()), 0);
    QUEUE(model, .tool_name = "write_file", .tool_args = "{\"path\":\"a.txt\",\"content\":\"x\"}");
    RPC_START(&client, "--http", "127.0.0.1:0", "--tools", "full", "--allow", "owner");
    int port = served_port(&client.child);
    const char *id = support_text(
        "%s", json_get_string(rpc_client_result(&client, "session/create", "{}"), "id"));
    int turn = rpc_client_ask(&client, "turn/start",
                              support_text("{'session_id':'%s','prompt':'write'}", id));
    const char *call = support_text(
        "%s", json_get_string(rpc_client_told(&client, "approval/requested", NULL), "call"));
    close(client.child.in);
    client.child.in = -1;
    struct http_answer a = http_ask(
        port, "POST", "/rpc",
        support_text(
            "{'jsonrpc':'2.0','id':1,'method':'approval/decide','params':{'session_id':'%s',"
            "'call':'%s','decision':'once'}}",
            id, call));
    assert_no_text(a.body, "\"error\"");
    const struct json *result = json_get(rpc_client_answer(&client, turn), "result");
    assert_string_equal(json_get_string(result, "stop_reason"), "end_turn");
    assert_string_equal(support_read(support_path("a.txt")), "x");
    kill(client.child.pid, SIGTERM);
    assert_int_equal(rpc_client_end(&client), 0);
    end_server(model);
}

TEST(a_socket_of_the_service_manager_is_served)
{
    int status;
    struct http_client c;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    http_give_token();
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd, 3);
        setenv("LISTEN_PID", support_text("%d", (int)getpid()), 1);
        setenv("LISTEN_FDS", "1", 1);
        execl(support_program(), "tiro", "serve", "--http", "127.0.0.1:1", OFFLINE, (char *)NULL);
        _exit(127);
    }
    http_client_open(&c, ntohs(at.sin_port)); /* it waits in the socket's queue */
    http_client_send(&c, HIDDEN);
    assert_int_equal(http_client_answer(&c).status, 200);
    http_client_close(&c);
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
}
