/* The Model Context Protocol as bodies of POSTs: statuses, headers, sessions, and streams. */
#include "serve/mcp.h"
#include "serve/server.h"
#include "tests/suite.h"
#include "tests/surface.h"

#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientCapabilities':{}}"
#define REQUEST(method, params)                                                                    \
    "{'jsonrpc':'2.0','id':1,'method':'" method "','params':{" params "}}"
#define RUN(id, more)                                                                              \
    "{'jsonrpc':'2.0','id':" #id                                                                   \
    ",'method':'tools/call','params':{'name':'tiro_run',"                                          \
    "'arguments':{'prompt':'hello'}" more "}}"
#define PROGRESS                                                                                   \
    "'_meta':{'progressToken':1,'io.modelcontextprotocol/protocolVersion':'2026-07-28',"           \
    "'io.modelcontextprotocol/clientCapabilities':{}}"
#define INITIALIZE REQUEST("initialize", "'protocolVersion':'2025-06-18'")

#define BOTH .takes_json = true, .takes_events = true

/* --- a client --------------------------------------------------------------------------------- */

/* The response to one POST. */
struct got {
    int status; /* 0: nothing yet */
    char session[64];
    bool streamed, over;
    struct buf body; /* of a stream its events, a line each */
};

static struct server *server;
static struct mcp *mcp;
static bool runs; /* the loop; it ends with an answer */

static int setup(void **state)
{
    int status = surface_setup(state);
    struct engine_options options = surface_options(NULL, true);
    options.memory = true;
    options.serves = true;
    server = server_new(&options);
    mcp = mcp_new(server, MCP_RUN, MCP_AS_TIRO);
    server_hold(server);
    return status;
}

static int teardown(void **state)
{
    mcp_free(mcp);
    server_free(server);
    return surface_teardown(state);
}

static void run_loop(void)
{
    runs = true;
    assert_int_equal(server_run(server), 0);
    runs = false;
}

static void end_loop(void)
{
    if (runs)
        server_stop(server);
}

static void keep_session(struct got *g, const char *session)
{
    snprintf(g->session, sizeof g->session, "%s", session ? session : "");
}

static void on_answer(void *context, int status, const char *session, const char *json, size_t len)
{
    struct got *g = context;
    assert_false(g->over || g->streamed);
    g->status = status;
    g->over = true;
    keep_session(g, session);
    buf_add(&g->body, json ? json : "", len);
    end_loop();
}

static void on_begin(void *context, const char *session)
{
    struct got *g = context;
    assert_false(g->over || g->streamed);
    g->status = 200;
    g->streamed = true;
    keep_session(g, session);
}

static void on_event(void *context, const char *json, size_t len)
{
    struct got *g = context;
    assert_true(g->streamed && !g->over);
    assert_null(memchr(json, '\n', len));
    buf_add(&g->body, json, len);
    buf_addch(&g->body, '\n');
}

static void on_end(void *context)
{
    struct got *g = context;
    assert_true(g->streamed && !g->over);
    g->over = true;
    end_loop();
}

static const struct mcp_reply reply = {on_answer, on_begin, on_event, on_end};

static struct mcp_exchange *begin_post(struct got *g, const struct mcp_headers *headers,
                                       const char *body)
{
    const char *text = support_json(body);
    *g = (struct got){.body = BUF_INIT};
    return mcp_post(mcp, headers, text, strlen(text), &reply, g);
}

/* Posts and waits for the answer; at most once per test if the answer is not immediate. */
static struct got post(const struct mcp_headers *headers, const char *body)
{
    struct got g;
    if (begin_post(&g, headers, body))
        run_loop();
    assert_true(g.over);
    size_t len = g.body.len;
    g.body = (struct buf){.data = support_keep(buf_take(&g.body)), .len = len};
    return g;
}

static int64_t code_of(const struct got *g)
{
    AUTO(json_free_local) struct json *v = json_parse(g->body.data, g->body.len, NULL);
    return json_get_int(json_get(v, "error"), "code", 0);
}

FIXTURE(setup, teardown);
NEEDS(capability_store() && capability_memory());

/* --- statuses --------------------------------------------------------------------------------- */

#define OF_2026 .protocol_version = "2026-07-28"

static const struct {
    const char *body;
    struct mcp_headers headers;
    int status;
    int64_t code; /* 0: none */
} cases[] = {
    /* 2026-07-28 */
    {REQUEST("tools/list", META), {BOTH, OF_2026, .method = "tools/list"}, 200, 0},
    {REQUEST("server/discover", META), {BOTH, OF_2026, .method = "server/discover"}, 200, 0},
    {REQUEST("server/discover", ""), {BOTH, OF_2026, .method = "server/discover"}, 400, -32602},
    {REQUEST("tools/list", META), {BOTH, OF_2026}, 400, -32020},
    {REQUEST("tools/list", META), {BOTH, OF_2026, .method = "tools/call"}, 400, -32020},
    {REQUEST("tools/list", META), {BOTH, .method = "tools/list"}, 400, -32020},
    {REQUEST("ping", META), {BOTH, OF_2026, .method = "ping"}, 404, -32601},
    {REQUEST("initialize", META), {BOTH, OF_2026, .method = "initialize"}, 404, -32601},
    {REQUEST("no/such", META), {BOTH, OF_2026, .method = "no/such"}, 404, -32601},
    {REQUEST("tools/call", "'name':'x'," META),
     {BOTH, OF_2026, .method = "tools/call", .name = "x"},
     200,
     -32602},
    {"[" REQUEST("tools/list", META) "]", {BOTH, OF_2026, .method = "tools/list"}, 400, 0},
    {REQUEST("tools/list", META),
     {BOTH, OF_2026, .method = "tools/list", .session = "passed over"},
     200,
     0},
    /* before */
    {INITIALIZE, {BOTH}, 200, 0},
    {REQUEST("tools/list", ""), {BOTH}, 200, 0},
    {REQUEST("tools/list", ""), {BOTH, .protocol_version = "2025-11-25"}, 200, 0},
    {REQUEST("tools/list", ""), {BOTH, .protocol_version = "1999-01-01"}, 400, -32022},
    {REQUEST("no/such", ""), {BOTH, .protocol_version = "2025-11-25"}, 200, -32601},
    {REQUEST("resources/subscribe", "'uri':'tiro://session/x'"), {BOTH}, 200, -32601},
    {REQUEST("tools/list", ""), {BOTH, .session = "ended"}, 404, -32600},
    {"{'jsonrpc':'2.0','method':'notifications/initialized'}", {BOTH}, 202, 0},
    {"{'jsonrpc':'2.0','method':'notifications/initialized'}", {BOTH, .session = "ended"}, 404, 0},
    {"{'jsonrpc':'2.0','id':1,'result':{}}", {BOTH}, 202, 0},
    {"[" REQUEST("ping", "") "]", {BOTH}, 200, 0},
    {"[" REQUEST("ping", "") "]", {BOTH, .protocol_version = "2025-11-25"}, 400, 0},
    /* invalid messages, and a client that accepts no answer */
    {"{", {BOTH}, 400, -32700},
    {"", {BOTH}, 202, 0},
    {"7", {BOTH}, 400, -32600},
    {REQUEST("ping", ""), {.takes_json = true}, 200, 0},
    {REQUEST("ping", ""), {.takes_json = false}, 406, 0},
    {REQUEST("subscriptions/listen", "'notifications':{}," META),
     {.takes_json = true, OF_2026, .method = "subscriptions/listen"},
     406,
     -32600},
};

TEST(each_message_has_its_status)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct got g = post(&cases[i].headers, cases[i].body);
        if (g.status != cases[i].status || code_of(&g) != cases[i].code || g.streamed)
            fail_msg("case %zu: %d %s", i, g.status, g.body.data);
    }
}

TEST(a_body_may_have_line_breaks)
{
    struct got g = post(&(struct mcp_headers){BOTH},
                        "{\n  'jsonrpc': '2.0',\r\n  'id': 'a',\n  'method': 'ping'\n}\n");
    assert_int_equal(g.status, 200);
    assert_non_null(strstr(g.body.data, "\"id\":\"a\""));
}

TEST(who_takes_events_alone_gets_them)
{
    struct got g = post(&(struct mcp_headers){.takes_events = true}, REQUEST("ping", ""));
    assert_int_equal(g.status, 200);
    assert_true(g.streamed);
    assert_non_null(strstr(g.body.data, "\"result\":{}"));
}

/* --- sessions of the older era ---------------------------------------------------------------- */

TEST(initialize_begins_a_session_that_can_be_ended)
{
    struct got g = post(&(struct mcp_headers){BOTH}, INITIALIZE);
    const struct mcp_headers mine = {BOTH, .session = g.session};
    assert_int_equal(strlen(g.session), 36);
    assert_non_null(strstr(g.body.data, "\"protocolVersion\":\"2025-06-18\""));
    assert_non_null(strstr(g.body.data, "\"resources\":{}"));
    struct got other = post(&(struct mcp_headers){BOTH}, INITIALIZE);
    assert_string_not_equal(other.session, g.session);
    struct got listed = post(&mine, REQUEST("tools/list", ""));
    assert_int_equal(listed.status, 200);
    assert_string_equal(listed.session, "");
    assert_int_equal(post(&mine, "[" REQUEST("ping", "") "]").status,
                     400); /* agreed on 2025-06-18 */
    assert_int_equal(mcp_delete(mcp, NULL), 405);
    assert_int_equal(mcp_delete(mcp, "none"), 404);
    assert_int_equal(mcp_delete(mcp, g.session), 204);
    assert_int_equal(mcp_delete(mcp, g.session), 404);
    assert_int_equal(post(&mine, REQUEST("tools/list", "")).status, 404);
    assert_int_equal(post(&mine, INITIALIZE).status, 200);
}

TEST(sessions_that_were_away_longest_make_room)
{
    enum { MOST = 1024 };
    struct got first = post(&(struct mcp_headers){BOTH}, INITIALIZE);
    struct got second = post(&(struct mcp_headers){BOTH}, INITIALIZE);
    for (int i = 2; i < MOST; i++)
        assert_int_equal(post(&(struct mcp_headers){BOTH}, INITIALIZE).status, 200);
    assert_int_equal(
        post(&(struct mcp_headers){BOTH, .session = first.session}, REQUEST("ping", "")).status,
        200);
    post(&(struct mcp_headers){BOTH}, INITIALIZE);
    assert_int_equal(
        post(&(struct mcp_headers){BOTH, .session = first.session}, REQUEST("ping", "")).status,
        200);
    assert_int_equal(
        post(&(struct mcp_headers){BOTH, .session = second.session}, REQUEST("ping", "")).status,
        404);
}

/* --- slow requests ---------------------------------------------------------------------------- */

static const struct mcp_headers run_2026 = {BOTH, OF_2026, .method = "tools/call",
                                            .name = "tiro_run"};

TEST(an_answer_may_come_later)
{
    static const struct mcp_headers list = {BOTH, OF_2026, .method = "resources/list"};
    struct got g = post(&list, REQUEST("resources/list", META));
    assert_int_equal(g.status, 200);
    assert_false(g.streamed);
    assert_non_null(strstr(g.body.data, "\"resources\":[]"));
}

TEST(a_turn_is_answered_by_a_stream_that_shows_who_has_gone)
{
    struct got g = post(&run_2026, RUN(1, "," META));
    assert_true(g.streamed);
    assert_null(strstr(g.body.data, "notifications/"));
    assert_non_null(strstr(g.body.data, "Hello from the scripted model."));
}

TEST(progress_comes_before_as_a_stream)
{
    struct got g = post(&run_2026, RUN(1, "," PROGRESS));
    assert_true(g.streamed);
    const char *first = strstr(g.body.data, "notifications/progress");
    const char *last = strstr(g.body.data, "\"result\":");
    assert_true(first && last && first < last);
}

TEST(who_takes_no_events_gets_the_answer_alone)
{
    struct mcp_headers headers = run_2026;
    headers.takes_events = false;
    struct got g = post(&headers, RUN(1, "," PROGRESS));
    assert_false(g.streamed);
    assert_non_null(strstr(g.body.data, "Hello from the scripted model."));
}

/* --- going away ------------------------------------------------------------------------------- */

/* Looks again until the model has been asked; then does something, once. */
struct later {
    void (*then)(void *context);
    void *context;
};

static void look(void *context)
{
    struct later *l = context;
    if (model_server_requests(surface_server()) > 0)
        l->then(l->context);
    else
        server_after(server, 2, look, l);
}

struct leaving {
    struct got waits, cancels;
    struct mcp_exchange *exchange;
    const struct mcp_headers *headers;
    bool late;
};

static void hang_up(void *context)
{
    struct leaving *l = context;
    mcp_hang_up(l->exchange);
}

static void hang_up_and_go_on(void *context)
{
    hang_up(context);
    model_server_release(surface_server());
}

static void on_notice(void *context, const struct notice *n)
{
    (void)context;
    if (n->type == NOTICE_BUSY && !n->flag)
        end_loop();
}

static void too_late(void *context)
{
    struct leaving *l = context;
    l->late = true;
    end_loop();
}

/* The last line of the model's answer in the one session; NULL if there is none. Kept. */
static const char *answered(void)
{
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 1);
    const char *line = list.items.items[0].last_line;
    line = line ? support_text("%s", line) : NULL;
    return line;
}

/* Leaves during a turn, and waits for its end. */
static void leave_during_turn(const struct mcp_headers *headers, const char *body,
                              void (*then)(void *context))
{
    struct leaving l = {.headers = headers};
    struct later later = {then, &l};
    model_server_queue(surface_server(), &(struct reply){.text = "a long answer", .hold = true});
    server_listen(server, on_notice, &l);
    l.exchange = begin_post(&l.waits, headers, body);
    assert_non_null(l.exchange);
    server_after(server, 0, look, &later);
    server_after(server, SURFACE_MS, too_late, &l);
    run_loop();
    assert_false(l.late);
    assert_false(l.waits.over);
    buf_release(&l.waits.body);
}

TEST(who_hangs_up_cancels_what_2026_07_28_asked_for)
{
    leave_during_turn(&run_2026, RUN(1, "," META), hang_up);
    assert_null(answered());
}

TEST(what_an_older_version_asked_for_goes_on)
{
    leave_during_turn(&(struct mcp_headers){BOTH}, RUN(1, ""), hang_up_and_go_on);
    assert_string_equal(answered(), "a long answer");
}

static void cancel(void *context)
{
    struct leaving *l = context;
    struct mcp_exchange *x = begin_post(&l->cancels, l->headers,
                                        "{'jsonrpc':'2.0','method':'notifications/cancelled',"
                                        "'params':{'requestId':7}}");
    assert_null(x);
}

TEST(a_message_of_the_same_session_cancels)
{
    struct got g = post(&(struct mcp_headers){BOTH}, INITIALIZE);
    const struct mcp_headers mine = {BOTH, .session = g.session};
    struct leaving l = {.headers = &mine};
    struct later later = {cancel, &l};
    model_server_queue(surface_server(), &(struct reply){.text = "a long answer", .hold = true});
    l.exchange = begin_post(&l.waits, &mine, RUN(7, ""));
    server_after(server, 0, look, &later);
    run_loop();
    assert_int_equal(l.cancels.status, 202);
    assert_int_equal(l.waits.status, 202);
    assert_int_equal(l.waits.body.len, 0);
}

static void hang_up_when_told(void *context)
{
    struct leaving *l = context;
    if (!l->waits.streamed) {
        server_after(server, 2, hang_up_when_told, l);
        return;
    }
    mcp_hang_up(l->exchange);
    end_loop();
}

TEST(who_listens_is_told_until_it_hangs_up)
{
    static const struct mcp_headers headers = {BOTH, OF_2026, .method = "subscriptions/listen"};
    struct leaving l = {.headers = &headers};
    l.exchange = begin_post(
        &l.waits, &headers,
        REQUEST("subscriptions/listen", "'notifications':{'resourcesListChanged':true}," META));
    assert_non_null(l.exchange);
    server_after(server, 0, hang_up_when_told, &l);
    run_loop();
    const char *told = l.waits.body.data;
    assert_non_null(strstr(told, "notifications/subscriptions/acknowledged"));
    assert_non_null(strstr(told, "\"io.modelcontextprotocol/subscriptionId\":1"));
    assert_false(l.waits.over);
    buf_release(&l.waits.body);
}
