/* Errors as other programs get them: each code of base/err.h, provoked in the real program over
 * each protocol, as a table of rows. test_errors.c has the messages of the command line. */
#include <signal.h>

#include "serve/http_service.h"
#include "session/capability.h"
#include "tests/http_client.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_memory() && capability_compaction());

enum protocol { STDIO, HTTP, MCP, ACP, SHELL, PROTOCOLS };
static const char *const protocols[PROTOCOLS] = {"JSON-RPC", "HTTP", "MCP", "ACP", "command line"};

/* The request that causes the error: a method, a tool, a route, "rpc METHOD" over HTTP, words of a
 * command; with $S (the session), $W (its directory), $D (the test's directory). If no request can
 * cause it, `why` says so. */
struct cell {
    const char *ask, *with; /* HTTP, NULL without `why`: what JSON-RPC asks, over POST /rpc */
    bool loads;             /* ACP: the session first */
    int number;             /* ACP: where it has one of its own */
    const char *why;        /* `ask` is NULL */
};

#define NEVER(reason)                                                                              \
    {                                                                                              \
        .why = reason                                                                              \
    }
#define PROMPT "'prompt':[{'type':'text','text':'x'}]"
#define TURN                                                                                       \
    [STDIO] = {.ask = "turn/start", .with = "{'session_id':'$S','prompt':'x'}"},                   \
    [HTTP] = {.ask = "POST /sessions/$S/messages", .with = "{'prompt':'x'}"},                      \
    [MCP] = {.ask = "tiro_resume", .with = "{'session_id':'$S','prompt':'x'}"}
#define ACP_PROMPT(code)                                                                           \
    [ACP] = {.ask = "session/prompt",                                                              \
             .with = "{'sessionId':'$S'," PROMPT "}",                                              \
             .loads = true,                                                                        \
             .number = code}
#define NO_COMPACTING                                                                              \
    [MCP] = NEVER("no tool compacts"), [ACP] = NEVER(NO_CODE),                                     \
    [SHELL] = NEVER("no command compacts")
#define NO_CODE "what a person types there is answered with a text"
#define BY_KEY "a key or a signal does that, in the program itself"

static void hold_a_turn_here(void), hold_a_turn_elsewhere(void), say_hello_again(void),
    begin_another(void), begin_in_the_editor(void), refuse_the_request(void), ruin_the_store(void);

static const struct row {
    enum err_code code;
    const char *config;    /* once the session is there */
    void (*before)(void);  /* … too, and before the server */
    void (*prepare)(void); /* once the server runs, and the session is loaded */
    const char *says;      /* the message has it */
    struct cell cells[PROTOCOLS];
} rows[] = {
    {ERR_SESSION_NOT_FOUND,
     .cells = {[STDIO] = {.ask = "turn/start", .with = "{'session_id':'nobody','prompt':'x'}"},
               [HTTP] = {.ask = "POST /sessions/nobody/messages", .with = "{'prompt':'x'}"},
               [MCP] = {.ask = "tiro_resume", .with = "{'session_id':'nobody','prompt':'x'}"},
               [ACP] = {.ask = "session/prompt",
                        .with = "{'sessionId':'01890a5d-ac96-774b-bcce-b302099a8057'," PROMPT "}",
                        .number = -32002},
               [SHELL] = {.ask = "run --resume nobody x"}}},
    {ERR_SESSION_AMBIGUOUS, .before = say_hello_again,
     .cells = {[STDIO] = {.ask = "session/read", .with = "{'session_id':'hello'}"},
               [HTTP] = {.ask = "GET /sessions/hello"},
               [MCP] = {.ask = "tiro_session_read", .with = "{'session_id':'hello'}"},
               [ACP] = NEVER("its sessions are named by whole ids"),
               [SHELL] = {.ask = "sessions show hello"}}},
    {ERR_SESSION_BUSY, .prepare = hold_a_turn_here,
     .cells =
         {TURN,
          ACP_PROMPT(-32600), [SHELL] = NEVER("a command is a process of its own: the next row")}},
    {ERR_SESSION_BUSY, .prepare = hold_a_turn_elsewhere,
     .cells = {TURN,
               [ACP] = {.ask = "session/load",
                        .with = "{'sessionId':'$S','cwd':'$W','mcpServers':[]}",
                        .number = -32600},
               [SHELL] = {.ask = "run --resume $S x"}}},
    {ERR_SESSION_PERSISTENCE_DISABLED, .config = "[session]\npersist = false\n",
     .cells = {[STDIO] = {.ask = "session/import", .with = "{'content':'{}'}"},
               [MCP] = NEVER("its tools search the store that is there, and none of them saves"),
               [ACP] = NEVER("what is not kept is not found there"),
               [SHELL] = {.ask = "sessions rebuild"}}},
    {ERR_SESSION_COMPACTION_DISABLED, .config = "[compaction]\nenabled = false\n",
     .cells = {[STDIO] = {.ask = "compaction/run", .with = "{'session_id':'$S'}"},
               [HTTP] = {.ask = "POST /sessions/$S/compact", .with = "{}"},
               [MCP] = NEVER("no tool compacts"),
               [ACP] = NEVER(NO_CODE),
               [SHELL] = NEVER("only a build without it refuses --compaction (test_errors.c)")}},
    {ERR_SESSION_NOT_RUNNING,
     .cells = {[STDIO] = {.ask = "turn/interrupt", .with = "{'session_id':'$S'}"},
               [HTTP] = {.ask = "POST /sessions/$S/interrupt"},
               [MCP] = NEVER("a call is cancelled by a notification, which nobody answers"),
               [ACP] = NEVER("session/cancel is a notification, which nobody answers"),
               [SHELL] = NEVER(BY_KEY)}},
    {ERR_SESSION_STORE_ERROR, .prepare = ruin_the_store,
     .cells = {[STDIO] = {.ask = "session/list", .with = "{}"},
               [HTTP] = {.ask = "GET /sessions"},
               [MCP] = {.ask = "tiro_sessions_search", .with = "{'query':'x'}"},
               [ACP] = {.ask = "session/list", .with = "{}", .number = -32603},
               [SHELL] = {.ask = "sessions list"}}},
    {ERR_AGENT_ERROR, .prepare = refuse_the_request, .says = "no such thing",
     .cells = {TURN, ACP_PROMPT(-32603), [SHELL] = {.ask = "run --resume $S x"}}},
    {ERR_CONFIG_ERROR, .says = "key",
     .cells = {[STDIO] = {.ask = "session/set_model",
                          .with = "{'session_id':'$S','provider':'anthropic'}"},
               [MCP] = {.ask = "tiro_run", .with = "{'prompt':'x','provider':'anthropic'}"},
               [ACP] = NEVER("the next row: it names no provider"),
               [SHELL] = {.ask = "run --provider anthropic x"}}},
    {ERR_CONFIG_ERROR, .config = "[provider]\nname = anthropic\n", .prepare = begin_in_the_editor,
     .says = "key",
     .cells = {[STDIO] = NEVER("the row before"),
               [HTTP] = NEVER("the row before"),
               [MCP] = NEVER("the row before"),
               [ACP] = {.ask = "session/prompt",
                        .with = "{'sessionId':'$S'," PROMPT "}",
                        .number = -32603},
               [SHELL] = NEVER("the row before")}},
    {ERR_FILE_ERROR,
     .cells = {[STDIO] = {.ask = "session/export",
                          .with = "{'session_id':'$S','path':'$D/no/such/file.md'}"},
               [MCP] = NEVER("no tool names a file of ours"),
               [ACP] = NEVER("no method names a file of ours"),
               [SHELL] = {.ask = "sessions export $S -o $D/no/such/file.md"}}},
    {ERR_MEMORY_NOT_FOUND, .cells = {[STDIO] = {.ask = "memory/read", .with = "{'id':'none'}"},
                                     [MCP] = {.ask = "tiro_memory_read", .with = "{'id':'none'}"},
                                     [ACP] = NEVER("memory is searched there, by no id"),
                                     [SHELL] = {.ask = "memory show none"}}},
    {ERR_MEMORY_DISABLED, .config = "[memory]\nenabled = false\n",
     .cells = {[STDIO] = {.ask = "memory/search", .with = "{'query':'x'}"},
               [HTTP] = {.ask = "GET /memory?q=x"},
               [MCP] = {.ask = "tiro_memory_search", .with = "{'query':'x'}"},
               [ACP] = NEVER(NO_CODE),
               [SHELL] = {.ask = "memory search x"}}},
    {ERR_NOTHING_TO_COMPACT, .prepare = begin_another,
     .cells = {[STDIO] = {.ask = "compaction/run", .with = "{'session_id':'$S'}"},
               [HTTP] = {.ask = "POST /sessions/$S/compact", .with = "{}"},
               NO_COMPACTING}},
    {ERR_TOO_SMALL_TO_COMPACT,
     .cells = {[STDIO] = {.ask = "compaction/run",
                          .with = "{'session_id':'$S','mode':'deterministic'}"},
               [HTTP] = {.ask = "POST /sessions/$S/compact", .with = "{'mode':'deterministic'}"},
               NO_COMPACTING}},
    {ERR_NOTHING_TO_UNDO,
     .cells = {[STDIO] = {.ask = "compaction/undo", .with = "{'session_id':'$S'}"}, NO_COMPACTING}},
    {ERR_MESSAGE_NOT_SENT,
     .cells = {[STDIO] = {.ask = "compaction/pin", .with = "{'session_id':'$S','seq':99999}"},
               [MCP] = NEVER("no tool pins"),
               [ACP] = NEVER(NO_CODE),
               [SHELL] = NEVER("no command pins messages")}},
    {ERR_EVENT_NOT_FOUND,
     .cells = {[STDIO] = {.ask = "session/history", .with = "{'session_id':'$S','after':99999}"},
               [HTTP] = {.ask = "GET /sessions/$S/history?after=99999"},
               [MCP] = {.ask = "tiro_session_read", .with = "{'session_id':'$S','after':99999}"},
               [ACP] = NEVER("no method names an event"),
               [SHELL] = NEVER("a page of a transcript is no command's")}},
    {ERR_FORBIDDEN,
     .cells = {[STDIO] = {.ask = "config/set", .with = "{'key':'tools.allow','value':'write'}"},
               [MCP] = {.ask = "tiro_run", .with = "{'prompt':'x','directory':'/'}"},
               [ACP] = NEVER("an editor names no key and no file"),
               [SHELL] = NEVER("it is the person's")}},
    {ERR_INTERRUPTED,
     .cells = {[STDIO] = NEVER("of a turn of which nothing was sent yet: test_engine_serves.c"),
               [HTTP] = NEVER("likewise"),
               [MCP] = NEVER("who cancels is not answered"),
               [ACP] = NEVER("a cancelled prompt is no error"),
               [SHELL] = NEVER("a signal does that (test_errors.c)")}},
    {ERR_BUDGET_EXHAUSTED, .config = "[budget]\nmax_tokens = 1\n",
     .cells = {TURN, ACP_PROMPT(-32603), [SHELL] = {.ask = "run --resume $S x"}}},
    {ERR_USAGE, .says = "limit",
     .cells = {[STDIO] = {.ask = "session/list", .with = "{'limit':'x'}"},
               [HTTP] = {.ask = "GET /sessions?limit=x"},
               [MCP] = {.ask = "tiro_sessions_search", .with = "{'query':'x','limit':'x'}"},
               [ACP] = NEVER("the next row: it has no such member"),
               [SHELL] = {.ask = "sessions list --limit x"}}},
    {ERR_USAGE, .says = "cwd",
     .cells = {[STDIO] = NEVER("the row before"),
               [HTTP] = NEVER("the row before"),
               [MCP] = NEVER("the row before"),
               [ACP] = {.ask = "session/new", .with = "{'cwd':1,'mcpServers':[]}"},
               [SHELL] = NEVER("the row before")}},
};

/* --- the place -------------------------------------------------------------------------------- */

static struct model_server *model;
static char *session, *place;
static struct rpc_client server, holder, other; /* that is asked; that holds a turn; its program */
static struct served http;
static bool holds, has_other;

static const char *filled_in(const char *text)
{
    struct buf out = BUF_INIT;
    for (const char *at = text; at && *at; at++) {
        if (*at != '$')
            buf_addch(&out, *at);
        else
            buf_addstr(&out, *++at == 'S' ? session : *at == 'W' ? place : support_dir());
    }
    return text ? support_keep(buf_take(&out)) : NULL;
}

static void say_hello_again(void)
{
    run_ok(RUN("run", "hello, again"));
}

static void ruin_the_store(void)
{
    support_write(support_path(".local/share/tiro/tiro.db"), "This is no database.");
    remove(support_path(".local/share/tiro/tiro.db-wal"));
}

static void refuse_the_request(void)
{
    QUEUE(model, .fault = REPLY_STATUS, .status = 400, .error_type = "invalid_request_error",
          .error_message = "no such thing");
}

static void begin_another(void)
{
    const struct json *made = rpc_client_result(&holder, "session/create", "{}");
    session = support_text("%s", json_get_string(made, "id"));
}

static void begin_in_the_editor(void)
{
    const struct json *made =
        rpc_client_result(&server, "session/new", filled_in("{'cwd':'$W','mcpServers':[]}"));
    session = support_text("%s", json_get_string(made, "sessionId"));
}

static void hold_a_turn(void)
{
    size_t before = model_server_requests(model);
    QUEUE(model, .text = "at last", .hold = true);
    rpc_client_ask(&holder, "turn/start", filled_in("{'session_id':'$S','prompt':'hold'}"));
    assert_true(model_server_wait(model, before + 1, RPC_CLIENT_MS));
    holds = true;
}

static void hold_a_turn_here(void)
{
    hold_a_turn();
}

static void hold_a_turn_elsewhere(void)
{
    rpc_client_end(&holder);
    rpc_client_start_raw(&other, (const char *const[]){"--socket", support_path("other"), NULL});
    rpc_client_connect(&holder, support_path("other"));
    has_other = true;
    hold_a_turn();
}

/* --- asking ----------------------------------------------------------------------------------- */

static const char *where; /* "CODE over PROTOCOL" */

#define SOCKET "--socket", support_path("here")

static void start_http(const struct row *r)
{
    (void)r;
    served_start(&http, (const char *const[]){SOCKET, "--allow", "owner", NULL});
}

static void start_stdio(const struct row *r)
{
    (void)r;
    rpc_client_start(&server, (const char *const[]){SOCKET, NULL});
}

static void start_mcp(const struct row *r)
{
    (void)r;
    rpc_client_start_raw(&server, (const char *const[]){"--mcp", "--allow", "run", SOCKET, NULL});
    (void)rpc_client_result(&server, "initialize",
                            "{'protocolVersion':'2025-11-25','capabilities':{},"
                            "'clientInfo':{'name':'test','version':'1'}}");
    rpc_client_write(&server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

static void start_acp(const struct row *r)
{
    rpc_client_start_raw(&server, (const char *const[]){"--acp", SOCKET, NULL});
    (void)rpc_client_result(&server, "initialize", "{'protocolVersion':1,'clientCapabilities':{}}");
    if (r->cells[ACP].loads)
        (void)rpc_client_result(&server, "session/load",
                                filled_in("{'sessionId':'$S','cwd':'$W','mcpServers':[]}"));
}

static void expect_fault(const struct json *error, int number, const struct row *r)
{
    const char *code = json_get_string(json_get(error, "data"), "code");
    const char *message = json_get_string(error, "message");
    bool right = json_get_int(error, "code", 0) == number && code && message &&
                 strcmp(code, err_info(r->code)->name) == 0 && strchr(message, ';') &&
                 (!r->says || strstr(message, r->says));
    if (!right)
        fail_msg("%s: %s", where, error ? support_keep(json_print(error)) : "no error");
}

static void ask_stdio(const struct row *r, const struct cell *c)
{
    const struct json *a = rpc_client_call(&server, c->ask, filled_in(c->with));
    expect_fault(json_get(a, "error"), err_info(r->code)->rpc, r);
}

static void ask_acp(const struct row *r, const struct cell *c)
{
    const struct json *a = rpc_client_call(&server, c->ask, filled_in(c->with));
    expect_fault(json_get(a, "error"), c->number ? c->number : err_info(r->code)->rpc, r);
}

static void ask_mcp(const struct row *r, const struct cell *c)
{
    const char *call = support_text("{'name':'%s','arguments':%s}", c->ask, filled_in(c->with));
    const struct json *result = rpc_client_result(&server, "tools/call", call);
    const char *code = json_get_string(json_get(result, "_meta"), "tiro/code");
    const char *text = json_get_string(json_at(json_get(result, "content"), 0), "text");
    bool right = json_get_bool(result, "isError", false) && code && text &&
                 strcmp(code, err_info(r->code)->name) == 0 && strchr(text, ';') &&
                 (!r->says || strstr(text, r->says));
    if (!right)
        fail_msg("%s: %s", where, support_keep(json_print(result)));
}

static void ask_http(const struct row *r, const struct cell *c)
{
    if (!c->ask) {
        c = &r->cells[STDIO];
        struct http_answer a =
            http_ask(http.port, "POST", "/rpc",
                     support_text("{'jsonrpc':'2.0','id':1,'method':'%s','params':%s}", c->ask,
                                  filled_in(c->with)));
        expect_fault(json_get(http_json(&a), "error"), err_info(r->code)->rpc, r);
        return;
    }
    char *route = support_text("%s", filled_in(c->ask)), *path = strchr(route, ' ');
    *path++ = '\0';
    http_expect_error(http_ask(http.port, route, path, filled_in(c->with)), err_info(r->code)->rest,
                      err_info(r->code)->name, r->says);
}

static void ask_shell(const struct row *r, const struct cell *c)
{
    const char *words[12] = {NULL};
    size_t count = 0;
    char *copy = support_text("%s", filled_in(c->ask)), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    struct result said = program_run("", words);
    bool right = said.status == err_info(r->code)->exit_status &&
                 strstr(said.err, support_text("tiro: %s: ", err_info(r->code)->name)) &&
                 (!r->says || strstr(said.err, r->says));
    if (!right)
        fail_msg("%s: %d: %s", where, said.status, said.err);
}

static const struct way {
    void (*start)(const struct row *r);
    void (*ask)(const struct row *r, const struct cell *c);
} ways[PROTOCOLS] = {
    [STDIO] = {start_stdio, ask_stdio}, [HTTP] = {start_http, ask_http},
    [MCP] = {start_mcp, ask_mcp},       [ACP] = {start_acp, ask_acp},
    [SHELL] = {start_stdio, ask_shell},
};

/* --- the rows --------------------------------------------------------------------------------- */

static void begin_place(const struct row *r)
{
    support_setup(NULL);
    model = begin_server();
    holds = has_other = false;
    /* An extract has it twice, and would be longer. */
    run_ok(RUN("run",
               "hello, the lantern of Kyoto is blue, that of Nara is red, the one of Osaka is "
               "green, and nobody knows the one of Kobe, nor who has made them all"));
    const struct json *list = program_json(RUN("sessions", "list", "--json"));
    session = support_text("%s", json_get_string(json_at(list, 0), "id"));
    place = support_text("%s", json_get_string(json_at(list, 0), "directory"));
    if (r->config)
        write_config(r->config);
    if (r->before)
        r->before();
}

static void end_program(struct rpc_client *c)
{
    assert_int_equal(rpc_client_stop(c, SIGTERM), 0);
    rpc_client_end(c);
}

static void end_place(enum protocol p)
{
    if (holds)
        model_server_release(model);
    rpc_client_end(&holder);
    if (has_other)
        end_program(&other);
    if (p == HTTP)
        assert_int_equal(served_stop(&http), 0);
    else
        end_program(&server);
    end_server(model);
    support_teardown(NULL);
}

/* Rows that change nothing share a place, so that few programs are started. */
static void provoke_all(enum protocol p)
{
    for (int alone = 0; alone < 2; alone++) {
        bool there = false;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const struct row *r = &rows[i];
            if ((r->config || r->before || r->prepare) != alone)
                continue;
            where = support_text("%s over %s", err_info(r->code)->name, protocols[p]);
            const struct cell *c = &r->cells[p];
            bool by_rpc = p == HTTP && !c->why && r->cells[STDIO].ask;
            if (!c->ask && !by_rpc) {
                if (!c->why)
                    fail_msg("%s: neither asked for nor said why", where);
                continue;
            }
            if (!there) {
                begin_place(r);
                ways[p].start(r);
                rpc_client_connect(&holder, support_path("here"));
                if (r->prepare)
                    r->prepare();
            }
            ways[p].ask(r, &r->cells[p]);
            there = !alone;
            if (alone)
                end_place(p);
        }
        if (there)
            end_place(p);
    }
}

TEST(each_error_over_json_rpc)
{
    provoke_all(STDIO);
}

TEST_IF(HTTP_IS_SERVED, each_error_over_http)
{
    provoke_all(HTTP);
}

TEST(each_error_as_a_result_of_a_tool)
{
    provoke_all(MCP);
}

TEST(each_error_in_an_editor)
{
    provoke_all(ACP);
}

TEST(each_error_of_a_command)
{
    provoke_all(SHELL);
}

TEST(each_code_has_a_row)
{
#define X(name, rpc, rest, status) ERR_##name,
    static const enum err_code codes[] = {ERR_TABLE(X)};
#undef X
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
        bool has = codes[k] == ERR_OK;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            has = has || rows[i].code == codes[k];
        if (!has)
            fail_msg("%s has no row", err_info(codes[k])->name);
    }
}
