/* The MCP server as its clients see it: messages in, messages out, with an engine and a scripted
 * model. The loop runs on a thread of its own, the test is the client. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "memory/memory.h"
#include "serve/http_server.h"
#include "serve/http_service.h"
#include "serve/mcp.h"
#include "serve/server.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/http_client.h"
#include "tests/imported.h"
#include "tests/memory_store.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

enum { WAIT_MS = 10000 };

#define EVERYTHING (MCP_RUN | MCP_CORPORA | MCP_GRAPH)
#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientCapabilities':{}}"

/* --- the other side --------------------------------------------------------------------------- */

static struct side {
    struct server *server;
    struct mcp *mcp;
    struct mcp_connection *connection;
    struct http_service *http; /* NULL: lines alone */
    pthread_t loop;
    int fd, served;              /* the test's end, the server's */
    struct buf in;               /* of which the first messages have not been taken yet */
    VEC(struct json *) messages; /* that were taken while another was waited for */
    int id, status;
} t;

static void on_closed(void *context)
{
    (void)context;
    mcp_disconnect(t.connection);
    t.connection = NULL;
    server_unhold(t.server);
    server_stop(t.server); /* that of HTTP holds it, too */
}

static void *run_loop(void *context)
{
    *(int *)context = server_run(t.server);
    return NULL;
}

static void forget_messages(void)
{
    for (size_t i = 0; i < t.messages.len; i++)
        json_free(t.messages.items[i]);
    vec_release(&t.messages);
}

static enum mcp_guise guise; /* of the next server */

static void start_with(unsigned rights, bool persist, bool http)
{
    struct error e;
    struct engine_options options = surface_options(NULL, persist);
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    forget_messages();
    options.memory = true;
    options.serves = true;
    options.can_ask = true;
    options.tools = "full";
    t = (struct side){.fd = fds[0], .served = fds[1], .in = BUF_INIT};
    t.server = server_new(&options);
    t.mcp = mcp_new(t.server, rights, guise);
    server_hold(t.server);
    t.connection = mcp_connect(t.mcp, t.served, t.served, on_closed, NULL);
    if (http)
        http_give_token();
    if (http && !(t.http = http_service_new(t.server, t.mcp, "127.0.0.1:0", &e)))
        fail_msg("%s", e.text);
    assert_int_equal(pthread_create(&t.loop, NULL, run_loop, &t.status), 0);
}

static void start(unsigned rights, bool persist)
{
    start_with(rights, persist, false);
}

static void say(const char *bytes)
{
    size_t len = strlen(bytes);
    while (len > 0) {
        ssize_t n = write(t.fd, bytes, len);
        assert_true(n > 0);
        bytes += n;
        len -= (size_t)n;
    }
}

static struct json *take_line(void)
{
    char *end = memchr(t.in.data, '\n', t.in.len);
    if (!end)
        return NULL;
    size_t len = (size_t)(end - t.in.data);
    struct json *v = json_parse(t.in.data, len, NULL);
    assert_non_null(v);
    buf_consume(&t.in, len + 1);
    return v;
}

/* Reads available bytes, for at most this long. Returns false if none came. */
static bool read_some(int64_t ms)
{
    struct pollfd p = {.fd = t.fd, .events = POLLIN};
    char bytes[65536];
    ssize_t n = poll(&p, 1, ms < 0 ? 0 : (int)ms) > 0 ? read(t.fd, bytes, sizeof bytes) : 0;
    if (n > 0)
        buf_add(&t.in, bytes, (size_t)n);
    return n > 0;
}

/* The next message as it comes; the caller frees. Fails after ten seconds. */
static struct json *hear(void)
{
    int64_t until = clock_mono_ms() + WAIT_MS;
    struct json *v;
    while (!(v = take_line()))
        if (!read_some(until - clock_mono_ms()))
            fail_msg("nothing was answered");
    return v;
}

/* NULL: there is none any more. */
static struct json *hear_if_any(void)
{
    while (read_some(0))
        continue;
    return take_line();
}

/* All earlier requests are answered before the loop stops. */
static void stop(void)
{
    struct json *v;
    assert_int_equal(shutdown(t.fd, SHUT_WR), 0);
    assert_int_equal(pthread_join(t.loop, NULL), 0);
    assert_int_equal(t.status, 0);
    mcp_disconnect(t.connection);
    http_service_free(t.http);
    mcp_free(t.mcp);
    server_free(t.server);
    t.server = NULL;
    close(t.served);
    while ((v = hear_if_any()))
        vec_push(&t.messages, v);
    close(t.fd);
    buf_release(&t.in);
}

typedef bool wanted(const struct json *message, const void *what);

static bool answers(const struct json *message, const void *id)
{
    return json_get(message, "id") && json_get_int(message, "id", 0) == *(const int *)id &&
           !json_get(message, "method");
}

static bool tells(const struct json *message, const void *method)
{
    const char *said = json_get_string(message, "method");
    return said && strcmp(said, method) == 0;
}

/* The first that fits, also of those that were passed over; kept until the end of the test. */
static const struct json *await(wanted *fits, const void *what)
{
    for (size_t i = 0;; i++) {
        if (i == t.messages.len)
            vec_push(&t.messages, hear());
        if (fits(t.messages.items[i], what))
            return t.messages.items[i];
    }
}

static bool was_heard(wanted *fits, const void *what)
{
    for (size_t i = 0; i < t.messages.len; i++)
        if (fits(t.messages.items[i], what))
            return true;
    return false;
}

/* Sends a request, params with ' for "; its id. */
static int send_request(const char *method, const char *params)
{
    say(support_text("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}\n", ++t.id, method,
                     params ? ",\"params\":" : "", params ? support_json(params) : ""));
    return t.id;
}

static const struct json *request(const char *method, const char *params)
{
    int id = send_request(method, params);
    return await(answers, &id);
}

static const struct json *result_of(const struct json *answer)
{
    if (!json_get(answer, "result"))
        fail_msg("%s", support_keep(json_print(answer)));
    return json_get(answer, "result");
}

static const struct json *ask(const char *method, const char *params)
{
    return result_of(request(method, params));
}

static int64_t code_of(const struct json *answer)
{
    return json_get_int(json_get(answer, "error"), "code", 0);
}

static void notify(const char *method, const char *params)
{
    say(support_text("{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}\n", method,
                     support_json(params)));
}

static void begin_legacy(void)
{
    ask("initialize",
        "{'protocolVersion':'2025-11-25','capabilities':{},"
        "'clientInfo':{'name':'test','version':'1'}}");
    notify("notifications/initialized", "{}");
}

static void start_legacy(unsigned rights)
{
    start(rights, true);
    begin_legacy();
}

/* --- tools and their calls -------------------------------------------------------------------- */

static int send_call(const char *name, const char *arguments)
{
    return send_request("tools/call",
                        support_text("{'name':'%s','arguments':%s}", name, arguments));
}

static const struct json *call(const char *name, const char *arguments)
{
    int id = send_call(name, arguments);
    return result_of(await(answers, &id));
}

static const char *text_of(const struct json *result)
{
    return json_get_string(json_first(json_get(result, "content")), "text");
}

static const struct json *succeed(const char *name, const char *arguments)
{
    const struct json *result = call(name, arguments);
    if (json_get_bool(result, "isError", false))
        fail_msg("%s: %s", name, text_of(result));
    assert_non_null(json_get(result, "structuredContent"));
    return json_get(result, "structuredContent");
}

/* The tool failed with this code and this text. */
static void assert_failure(const struct json *result, const char *code, const char *says)
{
    const char *text = text_of(result);
    assert_true(json_get_bool(result, "isError", false));
    assert_string_equal(json_get_string(json_get(result, "_meta"), "tiro/code"), code);
    if (strncmp(text, code, strlen(code)) != 0 || (says && !strstr(text, says)) ||
        strstr(text, "'tiro ")) /* a model that has tools and no shell reads it */
        fail_msg("%s", text);
}

static const char *run_prompt(const char *prompt)
{
    const struct json *turn = succeed("tiro_run", support_text("{'prompt':'%s'}", prompt));
    return json_get_string(turn, "session_id");
}

static bool is_interrupted(void *session)
{
    const char *read = support_text("{'session_id':'%s'}", (const char *)session);
    return strstr(text_of(call("tiro_session_read", read)), "interrupted");
}

static void await_interruption(const char *session)
{
    assert_true(support_wait_until(is_interrupted, (void *)(uintptr_t)session, WAIT_MS));
}

static int teardown(void **state)
{
    if (t.server)
        stop();
    forget_messages();
    guise = MCP_AS_TIRO;
    return surface_teardown(state);
}

FIXTURE(surface_setup, teardown);
NEEDS(capability_store() && capability_memory());

TEST(a_message_of_a_host_is_not_learned)
{
    surface_set(CONFIG_LEARNED_CAPTURE, "auto");
    start_legacy(EVERYTHING);
    (void)succeed("tiro_resume", support_text("{'session_id':'%s','prompt':'Always use tabs.'}",
                                              run_prompt("Always answer in French.")));
    assert_int_equal(damage_number(surface_store(), "SELECT count(*) FROM learned_item"), 0);
    assert_int_equal(damage_number(surface_store(),
                                   "SELECT count(*) FROM event WHERE type = 'run_started'"
                                   " AND json_extract(payload, '$.origin') = 'program'"),
                     2);
}

/* --- both eras -------------------------------------------------------------------------------- */

TEST(a_handshake_agrees_on_a_version)
{
    static const char *const agreed[][2] = {
        {"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"}, {"2025-03-26", "2025-03-26"},
        {"2024-11-05", "2024-11-05"}, {"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"}};
    for (size_t i = 0; i < sizeof agreed / sizeof *agreed; i++) {
        start(0, true);
        const struct json *r =
            ask("initialize", support_text("{'protocolVersion':'%s','capabilities':{},"
                                           "'clientInfo':{'name':'test','version':'1'}}",
                                           agreed[i][0]));
        assert_string_equal(json_get_string(r, "protocolVersion"), agreed[i][1]);
        assert_string_equal(json_get_string(json_get(r, "serverInfo"), "name"), "tiro");
        assert_non_null(json_get(json_get(r, "capabilities"), "tools"));
        assert_true(
            json_get_bool(json_get(json_get(r, "capabilities"), "resources"), "subscribe", false));
        assert_null(json_get(r, "resultType"));
        assert_int_equal(json_len(ask("ping", NULL)), 0);
        assert_int_equal(code_of(request("server/discover", "{}")), -32601);
        assert_int_equal(code_of(request("prompts/list", "{}")), -32601);
        stop();
    }
}

TEST(a_request_that_says_its_version_needs_no_handshake)
{
    start(0, true);
    const struct json *r = ask("server/discover", "{" META "}");
    assert_string_equal(json_get_string(r, "resultType"), "complete");
    assert_string_equal(json_string(json_first(json_get(r, "supportedVersions"))), "2026-07-28");
    assert_int_equal(json_len(json_get(r, "supportedVersions")), 5);
    assert_non_null(json_get(json_get(r, "_meta"), "io.modelcontextprotocol/serverInfo"));
    r = ask("tools/list", "{" META "}");
    assert_string_equal(json_get_string(r, "cacheScope"), "private");
    assert_true(json_get_int(r, "ttlMs", -1) >= 0);
    static const char *const gone[] = {"initialize", "ping", "logging/setLevel",
                                       "resources/subscribe", "resources/unsubscribe"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_int_equal(code_of(request(gone[i], "{" META "}")), -32601);
}

TEST(both_eras_are_spoken_over_one_connection)
{
    start(0, true);
    assert_int_equal(code_of(request("tools/list", "{}")), -32602);
    assert_non_null(json_get(ask("tools/list", "{" META "}"), "resultType"));
    begin_legacy();
    assert_null(json_get(ask("tools/list", "{}"), "resultType"));
    assert_non_null(json_get(ask("tools/list", "{" META "}"), "resultType"));
}

TEST(arrays_of_messages_are_of_the_versions_that_have_them)
{
    static const char two[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"tools/list\"}]\n";
    static const struct {
        const char *version;
        int64_t code;
    } cases[] = {{"2025-03-26", 0}, {"2025-06-18", -32600}};
    for (size_t i = 0; i < 2; i++) {
        start(0, true);
        ask("initialize", support_text("{'protocolVersion':'%s'}", cases[i].version));
        say(two);
        AUTO(json_free_local) struct json *both = hear();
        assert_int_equal(json_len(both), 2);
        assert_int_equal(code_of(json_at(both, 0)), cases[i].code);
        assert_int_equal(code_of(json_at(both, 1)), cases[i].code);
        stop();
    }
}

/* --- tools ------------------------------------------------------------------------------------ */

static const struct json *listed(const char *name)
{
    const struct json *tools = json_get(ask("tools/list", NULL), "tools");
    for (const struct json *tool = json_first(tools); tool; tool = json_next(tool))
        if (strcmp(json_get_string(tool, "name"), name) == 0)
            return tool;
    return NULL;
}

TEST_IF(capability_compaction(), what_writes_or_runs_a_model_is_there_where_it_was_allowed)
{
    static const char *const reading[] = {
        "tiro_memory_search",    "tiro_memory_read", "tiro_sessions_search",
        "tiro_session_read",     "tiro_read",        "tiro_capabilities",
        "tiro_rag_search",       "tiro_rag_corpora", "tiro_memory_search_nodes",
        "tiro_memory_open_nodes"};
    static const struct {
        const char *name;
        enum mcp_right right;
        bool destroys;
    } writing[] = {{"tiro_run", MCP_RUN, true},
                   {"tiro_resume", MCP_RUN, true},
                   {"tiro_compact", MCP_RUN, true},
                   {"tiro_interrupt", MCP_RUN, false},
                   {"tiro_archive", MCP_RUN, false},
                   {"tiro_rag_ingest", MCP_CORPORA, true},
                   {"tiro_memory_create_entities", MCP_GRAPH, false},
                   {"tiro_memory_delete_relations", MCP_GRAPH, true}};
    for (unsigned rights = 0; rights <= EVERYTHING; rights++) {
        start(rights, true);
        begin_legacy();
        for (size_t i = 0; i < sizeof reading / sizeof *reading; i++) {
            const struct json *hints = json_get(listed(reading[i]), "annotations");
            assert_true(json_get_bool(hints, "readOnlyHint", false));
            assert_false(json_get_bool(hints, "openWorldHint", true));
        }
        for (size_t i = 0; i < sizeof writing / sizeof *writing; i++) {
            bool allowed = writing[i].right & rights;
            const struct json *tool = listed(writing[i].name);
            assert_int_equal(tool != NULL, allowed);
            int id = send_call(writing[i].name, "{}");
            if (!allowed) {
                const struct json *refused = await(answers, &id);
                assert_int_equal(code_of(refused), -32602);
                assert_text(json_get_string(json_get(refused, "error"), "message"),
                            mcp_right_word(writing[i].right));
                continue;
            }
            const struct json *hints = json_get(tool, "annotations");
            assert_false(json_get_bool(hints, "readOnlyHint", true));
            assert_int_equal(json_get_bool(hints, "destructiveHint", !writing[i].destroys),
                             writing[i].destroys);
        }
        stop();
    }
}

/* Bytes of a token of such JSON are 4.2. */
enum { TOKEN_BYTES = 4, MEMORY_TOKENS = 1200 };

TEST(a_host_that_wants_memory_gets_few_and_short_tools)
{
    guise = MCP_AS_MEMORY;
    start_legacy(EVERYTHING);
    const struct json *tools = json_get(ask("tools/list", NULL), "tools");
    auto_free char *text = json_print(tools);
    assert_int_equal(json_len(tools), 4);
    assert_true(strlen(text) / TOKEN_BYTES <= MEMORY_TOKENS);
    for (const struct json *tool = json_first(tools); tool; tool = json_next(tool))
        assert_memory_equal(json_get_string(tool, "description"), "Use it ", 7);
    succeed("tiro_memory_search", "{'query':'a'}");
    assert_int_equal(code_of(request("tools/call", "{'name':'tiro_run'}")), -32602);
}

/* As its README has them; tests/counterparts compares results with the program itself. */
TEST(server_memory_can_be_replaced)
{
    static const char *const names[] = {
        "create_entities", "create_relations",    "add_observations",
        "delete_entities", "delete_observations", "delete_relations",
        "read_graph",      "search_nodes",        "open_nodes"};
    guise = MCP_AS_SERVER_MEMORY;
    start_legacy(0);
    const struct json *tools = json_get(ask("tools/list", NULL), "tools");
    assert_int_equal(json_len(tools), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(json_get_string(json_at(tools, i), "name"), names[i]);
    assert_int_equal(code_of(request("tools/call", "{'name':'tiro_memory_search'}")), -32602);

    assert_string_equal(text_of(call("create_entities",
                                     "{'entities':[{'name':'Ada','entityType':'person',"
                                     "'observations':['writes','reads']}]}")),
                        support_json("[{'name':'Ada','entityType':'person',"
                                     "'observations':['writes','reads']}]"));
    assert_string_equal(
        text_of(call("create_relations",
                     "{'relations':[{'from':'Ada','to':'Rome','relationType':'visits'}]}")),
        support_json("[{'from':'Ada','to':'Rome','relationType':'visits'}]"));
    assert_string_equal(text_of(call("add_observations",
                                     "{'observations':[{'entityName':'Ada',"
                                     "'contents':['writes','sings']}]}")),
                        support_json("[{'entityName':'Ada','addedObservations':['sings']}]"));
    assert_failure(
        call("add_observations", "{'observations':[{'entityName':'X','contents':['y']}]}"),
        "MEMORY_NOT_FOUND", NULL);
    assert_string_equal(text_of(call("delete_observations",
                                     "{'deletions':[{'entityName':'Ada',"
                                     "'observations':['reads','x']}]}")),
                        "Observations deleted successfully");
    const char *all = support_json(
        "{'entities':[{'name':'Ada','entityType':'person','observations':['writes','sings']},"
        "{'name':'Rome','entityType':'unknown','observations':[]}],"
        "'relations':[{'from':'Ada','to':'Rome','relationType':'visits'}]}");
    assert_string_equal(text_of(call("read_graph", "{}")), all);
    assert_string_equal(text_of(call("search_nodes", "{'query':''}")), all);
    assert_string_equal(text_of(call("open_nodes", "{'names':['Ada','Rome','X']}")), all);
    const struct json *found = succeed("search_nodes", "{'query':'SING'}");
    assert_int_equal(json_len(json_get(found, "entities")), 1);
    assert_int_equal(json_len(json_get(found, "relations")), 1);
    assert_true(json_get_bool(succeed("delete_entities", "{'entityNames':['Rome','X']}"), "success",
                              false));
    assert_int_equal(json_len(json_get(succeed("read_graph", "{}"), "relations")), 0);
}

#define GRAPH_URI "memory://knowledge-graph"

static const char *graph_text(void)
{
    const struct json *read = ask("resources/read", "{'uri':'" GRAPH_URI "'}");
    return json_get_string(json_first(json_get(read, "contents")), "text");
}

TEST(the_graph_is_the_resource_of_server_memory)
{
    guise = MCP_AS_SERVER_MEMORY;
    start_legacy(0);
    const struct json *listed = json_get(ask("resources/list", NULL), "resources");
    assert_int_equal(json_len(listed), 1);
    assert_string_equal(json_get_string(json_first(listed), "uri"), GRAPH_URI);
    assert_int_equal(json_len(json_get(ask("resources/templates/list", NULL), "resourceTemplates")),
                     0);
    assert_string_equal(graph_text(), "{\"entities\":[],\"relations\":[]}");
    assert_int_equal(code_of(request("resources/read", "{'uri':'tiro://session/last'}")), -32002);
    assert_int_equal(code_of(request("resources/subscribe", "{'uri':'file:///x'}")), -32002);
    ask("resources/subscribe", "{'uri':'" GRAPH_URI "'}");
    succeed("read_graph", "{}");
    assert_false(was_heard(tells, "notifications/resources/updated"));
    succeed("create_entities",
            "{'entities':[{'name':'Ada','entityType':'person',"
            "'observations':['writes']}]}");
    const struct json *told = await(tells, "notifications/resources/updated");
    assert_string_equal(json_get_string(json_get(told, "params"), "uri"), GRAPH_URI);
    assert_string_equal(graph_text(),
                        support_json("{'entities':[{'name':'Ada','entityType':'person',"
                                     "'observations':['writes']}],'relations':[]}"));
    ask("resources/unsubscribe", "{'uri':'" GRAPH_URI "'}");
    forget_messages();
    succeed("delete_entities", "{'entityNames':['Ada']}");
    assert_string_equal(graph_text(), "{\"entities\":[],\"relations\":[]}");
    assert_false(was_heard(tells, "notifications/resources/updated"));
}

TEST(words_say_what_is_allowed)
{
    AUTO(buf_release) struct buf words = BUF_INIT;
    assert_int_equal(mcp_take_rights(&words), 0);
    buf_addstr(&words, "run_command,run, graph read runs");
    assert_int_equal(mcp_take_rights(&words), MCP_RUN | MCP_GRAPH);
    assert_string_equal(words.data, "run_command,,  read runs");
    assert_int_equal(mcp_take_rights(&words), 0);
}

static const char *help_of(const struct json *schema, const char *member)
{
    return json_get_string(json_get(json_get(schema, "properties"), member), "description");
}

/* Other agents get the same descriptions of our tools as a model. */
TEST(memory_is_read_as_models_read_it)
{
    const char *text = tool_memory_read.spec.schema;
    AUTO(json_free_local) struct json *told = json_parse(text, strlen(text), NULL);
    struct memory *memory;
    struct store *store;
    struct error e;
    start_legacy(0);
    memory_check(store_open(surface_store(), STORE_READ_WRITE, &store, &e), &e);
    memory = memory_open(store, NULL);
    for (int i = 1; i <= 5; i++)
        free(memory_store_one(memory, "talk", support_text("m%d", i), support_text("text %d", i),
                              1000 * i));
    const struct json *schema = json_get(listed("tiro_memory_read"), "inputSchema");
    const struct json *members = json_get(told, "properties");
    assert_int_equal(json_len(json_get(schema, "properties")), json_len(members));
    for (const struct json *m = json_first(members); m; m = json_next(m))
        assert_string_equal(help_of(schema, json_name(m)), help_of(told, json_name(m)));
    const struct json *x = succeed("tiro_memory_read", "{'id':'m3','before':1,'after':500}");
    const struct json *entries = json_get(x, "entries");
    assert_string_equal(json_get_string(x, "session_id"), "talk");
    assert_int_equal(json_get_int(x, "asked", -1), 1);
    assert_int_equal(json_len(entries), 4);
    assert_string_equal(json_get_string(json_at(entries, 0), "content"), "text 2");
    assert_string_equal(json_get_string(json_at(entries, 3), "speaker"), "user");
    x = succeed("tiro_memory_search", "{'query':'text','before':'1970-01-01T00:00:03Z'}");
    assert_int_equal(json_len(json_get(x, "results")), 2);
    x = json_first(json_get(x, "results"));
    assert_string_equal(json_get_string(x, "speaker"), "user");
    assert_memory_equal(json_get_string(x, "created_at"), "1970-01-01T00:00:0", 18);
    stop();
    memory_close(memory);
    store_close(store);
}

TEST(arguments_that_do_not_fit_are_named)
{
    static const struct {
        const char *tool, *arguments, *says;
    } cases[] = {
        {"tiro_memory_search", "{}", "\"query\""},
        {"tiro_memory_search", "{'query':7}", "\"query\""},
        {"tiro_memory_search", "{'query':'a','scope':'all'}", "\"scope\""},
        {"tiro_session_read", "{'session_id':'a','limit':0}", "\"limit\""},
        {"tiro_session_read", "{'session_id':''}", "\"session_id\""},
        {"tiro_rag_corpora", "{'corpus_id':'a'}", "\"corpus_id\""},
        {"tiro_run", "{'prompt':['a']}", "\"prompt\""},
        {"tiro_memory_create_entities", "{'entities':[{'name':'a'}]}", "entity_type"},
    };
    start_legacy(EVERYTHING);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_failure(call(cases[i].tool, cases[i].arguments), "USAGE", cases[i].says);
    assert_int_equal(code_of(request("tools/call", "{'name':'tiro_run','arguments':[1]}")), -32602);
    assert_int_equal(code_of(request("tools/call", "{'name':'no_such_tool'}")), -32602);
    assert_int_equal(code_of(request("tools/call", "{'name':7}")), -32602);
    assert_int_equal(code_of(request("tools/call", NULL)), -32602);
    assert_int_equal(code_of(request("tools/list", "{'cursor':'x'}")), -32602);
}

TEST(a_prompt_runs_and_its_progress_is_told_before)
{
    start_legacy(MCP_RUN);
    int id = send_request("tools/call",
                          "{'name':'tiro_run','arguments':{'prompt':'hello'},"
                          "'_meta':{'progressToken':'mine'}}");
    const struct json *progress = json_get(await(tells, "notifications/progress"), "params");
    assert_string_equal(json_get_string(progress, "progressToken"), "mine");
    assert_int_equal(json_get_int(progress, "progress", 0), 1);
    assert_false(was_heard(answers, &id));
    const struct json *turn = json_get(result_of(await(answers, &id)), "structuredContent");
    assert_string_equal(json_get_string(turn, "text"), "Hello from the scripted model.");
    const char *session = json_get_string(turn, "session_id");
    turn = succeed("tiro_resume", support_text("{'session_id':'%s','prompt':'again'}", session));
    assert_int_equal(json_get_int(turn, "turns", 0), 2);
    assert_string_equal(json_get_string(turn, "session_id"), session);
}

TEST_IF(capability_compaction(), a_session_is_compacted_by_hand)
{
    start_legacy(MCP_RUN);
    char filler[3000] = {0};
    memset(filler, 'w', sizeof filler - 1);
    const struct json *turn = succeed("tiro_run", support_text("{'prompt':'%s'}", filler));
    const char *session = json_get_string(turn, "session_id");
    assert_failure(
        call("tiro_compact", support_text("{'session_id':'%s','mode':'shredded'}", session)),
        "USAGE", "handoff");
    const struct json *done =
        succeed("tiro_compact", support_text("{'session_id':'%s','focus':'the lantern'}", session));
    done = json_get(done, "completed");
    assert_string_equal(json_get_string(done, "effective_mode"), "handoff");
    assert_string_equal(json_get_string(done, "summary"), "Hello from the scripted model.");
    assert_text(surface_body(surface_requests() - 1), "the lantern");
    assert_failure(call("tiro_compact",
                        support_text("{'session_id':'%s','mode':'recency_preserving'}", session)),
                   "TOO_SMALL_TO_COMPACT", NULL);
}

TEST(a_session_is_begun_as_it_is_asked_for)
{
    start_legacy(MCP_RUN);
    assert_int_equal(mkdir(support_path("work"), 0700), 0);
    const struct json *turn = succeed(
        "tiro_run", support_text("{'prompt':'hello','labels':'mine other','system':'Be brief.',"
                                 "'tools':'none','directory':'%s'}",
                                 support_path("work")));
    const struct json *page =
        succeed("tiro_session_read",
                support_text("{'session_id':'%s'}", json_get_string(turn, "session_id")));
    const struct json *session = json_get(page, "session");
    assert_string_equal(json_get_string(session, "directory"), support_path("work"));
    assert_int_equal(json_len(json_get(session, "labels")), 2);
    assert_text(surface_body(0), "Be brief.");
    assert_no_text(surface_body(0), "\"tools\"");
    assert_failure(call("tiro_run", "{'prompt':'a','tools':'some'}"), "USAGE", "\"tools\"");
    assert_failure(call("tiro_run", "{'prompt':'a','directory':'not/absolute'}"), "USAGE", NULL);
}

TEST(what_was_said_is_found_and_read)
{
    start_legacy(MCP_RUN);
    const char *session = run_prompt("the walrus sleeps");
    const struct json *found = succeed("tiro_sessions_search", "{'query':'walrus'}");
    const struct json *match = json_first(json_get(found, "matches"));
    assert_string_equal(json_get_string(match, "session_id"), session);
    const struct json *page =
        call("tiro_session_read", support_text("{'session_id':'%s'}", session));
    assert_text(text_of(page), "the walrus sleeps");
    page = json_get(page, "structuredContent");
    assert_text(json_get_string(page, "transcript"), "the walrus sleeps");
    assert_string_equal(json_get_string(json_get(page, "session"), "id"), session);
    assert_int_equal(json_get_int(page, "first", 0), 1);
    page = succeed("tiro_session_read", support_text("{'session_id':'%s','limit':1}", session));
    assert_int_equal(json_get_int(page, "last", 0), 1);
    assert_true(json_get_bool(page, "more", false));
}

TEST(documents_and_facts_are_kept_and_found)
{
    start_legacy(EVERYTHING);
    succeed("tiro_rag_ingest",
            "{'corpus_id':'sea','filename':'tides.md',"
            "'text':'# Tides\\n\\nThe moon pulls the water.\\n'}");
    assert_text(text_of(call("tiro_rag_corpora", "{}")), "sea");
    assert_text(text_of(call("tiro_rag_search", "{'query':'moon'}")), "tides.md");
    assert_failure(call("tiro_rag_search", "{'corpus_id':'land','query':'moon'}"),
                   "MEMORY_NOT_FOUND", "tiro_rag_corpora lists the corpora");
    succeed("tiro_memory_create_entities",
            "{'entities':[{'name':'Alice','entity_type':'person','observations':['likes tea']}]}");
    succeed("tiro_memory_add_observations",
            "{'observations':[{'entity_name':'Alice','contents':['has a cat']}]}");
    assert_text(text_of(call("tiro_memory_search_nodes", "{'query':'cat'}")), "Alice");
    succeed("tiro_memory_delete_entities", "{'entity_names':['Alice']}");
    const struct json *left = succeed("tiro_memory_open_nodes", "{'names':['Alice']}");
    assert_int_equal(json_len(json_get(left, "entities")), 0);
}

TEST(a_tool_that_would_ask_is_denied)
{
    start_legacy(MCP_RUN);
    QUEUE(surface_server(), .tool_name = "run_command",
          .tool_args = "{\"command\":\"touch made\"}");
    QUEUE(surface_server(), .text = "It was not allowed.");
    const struct json *turn = succeed("tiro_run", "{'prompt':'touch a file'}");
    assert_string_equal(json_get_string(turn, "text"), "It was not allowed.");
    assert_text(surface_body(1), "declined this call");
    assert_int_not_equal(access(support_path("made"), F_OK), 0);
}

/* --- failures --------------------------------------------------------------------------------- */

TEST(failures_are_results_that_name_their_code)
{
    start_legacy(MCP_RUN);
    assert_failure(call("tiro_session_read", "{'session_id':'nowhere'}"), "SESSION_NOT_FOUND",
                   "no session matches \"nowhere\"; tiro_sessions_search finds");
    assert_failure(call("tiro_memory_read", "{'id':'none'}"), "MEMORY_NOT_FOUND",
                   "tiro_memory_search finds");
    assert_failure(call("tiro_memory_read", "{'session_id':'none'}"), "USAGE", "\"turn\"");
    QUEUE(surface_server(), .fault = REPLY_STATUS, .status = 400,
          .error_type = "invalid_request_error", .error_message = "no such thing");
    const struct json *failed = call("tiro_run", "{'prompt':'refused'}");
    assert_failure(failed, "AGENT_ERROR", "no such thing");
    assert_non_null(json_get_string(json_get(failed, "structuredContent"), "session_id"));
}

TEST(what_is_switched_off_says_so)
{
    surface_set(CONFIG_MEMORY_ENABLED, "false");
    start_legacy(0);
    assert_null(listed("tiro_memory_search"));
    assert_failure(call("tiro_memory_search", "{'query':'a'}"), "MEMORY_DISABLED", NULL);
    const struct json *can = succeed("tiro_capabilities", "{}");
    assert_false(json_get_bool(can, "memory", true));
    assert_text(json_get_string(can, "memory_reason"), "command line"); /* as surface_set() sets */
    assert_text(json_get_string(can, "learned_reason"), "command line");
    assert_true(json_get_bool(can, "graph", false));
    assert_null(json_get(can, "graph_reason"));
    stop();
    surface_set(CONFIG_MEMORY_ENABLED, "true");
    surface_set(CONFIG_SESSION_PERSIST, "false");
    start(0, false);
    begin_legacy();
    assert_non_null(listed("tiro_memory_search")); /* data that was kept before can be read */
    succeed("tiro_memory_search", "{'query':'a'}");
}

/* A message alone would not: here the tool's name says so. */
TEST(what_was_put_away_is_resumed)
{
    start_legacy(MCP_RUN);
    const char *session = support_text("%s", run_prompt("first"));
    stop();
    damage_sql(surface_store(), "UPDATE session SET archived_ms = 5");
    start_legacy(MCP_RUN);
    succeed("tiro_resume", support_text("{'session_id':'%s','prompt':'second'}", session));
    stop();
    assert_int_equal(
        damage_number(surface_store(), "SELECT coalesce(archived_ms, 0) = 0 FROM session"), 1);
}

/* --- cancelling ------------------------------------------------------------------------------- */

TEST(a_cancelled_turn_is_interrupted_and_not_answered)
{
    start_legacy(MCP_RUN);
    const char *session = run_prompt("first");
    QUEUE(surface_server(), .text = "never", .hold = true);
    int waits =
        send_call("tiro_resume", support_text("{'session_id':'%s','prompt':'second'}", session));
    assert_true(model_server_wait(surface_server(), 2, WAIT_MS));
    const char *cancel = support_text("{'requestId':%d,'reason':'test'}", waits);
    succeed("tiro_sessions_search", "{'query':'first'}"); /* no call waits for another */
    assert_false(was_heard(answers, &waits));
    notify("notifications/cancelled", cancel);
    notify("notifications/cancelled", cancel); /* it may be too late for that */
    await_interruption(session);
    model_server_release(surface_server());
    succeed("tiro_resume", support_text("{'session_id':'%s','prompt':'third'}", session));
    stop();
    assert_false(was_heard(answers, &waits));
}

TEST(a_turn_is_interrupted_and_its_session_archived)
{
    start_legacy(MCP_RUN);
    const char *session = run_prompt("first");
    const char *named = support_text("{'session_id':'%s'}", session);
    QUEUE(surface_server(), .text = "never", .hold = true);
    int waits =
        send_call("tiro_resume", support_text("{'session_id':'%s','prompt':'second'}", session));
    assert_true(model_server_wait(surface_server(), 2, WAIT_MS));
    assert_false(json_get_bool(call("tiro_interrupt", named), "isError", false));
    const struct json *turn = json_get(result_of(await(answers, &waits)), "structuredContent");
    assert_string_equal(json_get_string(turn, "stop_reason"), "cancelled");
    model_server_release(surface_server());
    assert_failure(call("tiro_interrupt", named), "SESSION_NOT_RUNNING", NULL);
    const struct json *read = succeed("tiro_read", named);
    assert_int_equal(json_get_int(read, "turns", 0), 2);
    assert_null(json_get(read, "archived"));
    succeed("tiro_archive", named);
    assert_non_null(json_get(succeed("tiro_read", named), "archived"));
}

/* --- resources -------------------------------------------------------------------------------- */

TEST(a_session_is_a_resource)
{
    start_legacy(MCP_RUN);
    const char *session = run_prompt("the walrus sleeps");
    const char *uri = support_text("tiro://session/%s", session);
    const struct json *all = json_get(ask("resources/list", NULL), "resources");
    assert_int_equal(json_len(all), 1);
    assert_string_equal(json_get_string(json_first(all), "uri"), uri);
    assert_string_equal(json_get_string(json_first(all), "title"), "the walrus sleeps");
    const struct json *templates = ask("resources/templates/list", NULL);
    assert_int_equal(json_len(json_get(templates, "resourceTemplates")), 2);
    const struct json *text =
        json_first(json_get(ask("resources/read", support_text("{'uri':'%s'}", uri)), "contents"));
    assert_string_equal(json_get_string(text, "mimeType"), "text/markdown");
    assert_text(json_get_string(text, "text"), "the walrus sleeps");
    text = json_first(
        json_get(ask("resources/read", support_text("{'uri':'%s.json'}", uri)), "contents"));
    assert_string_equal(json_get_string(text, "mimeType"), "application/json");
    const char *json = json_get_string(text, "text");
    AUTO(json_free_local) struct json *whole = json_parse(json, strlen(json), NULL);
    assert_string_equal(json_get_string(json_get(whole, "session"), "id"), session);
    assert_true(json_len(json_get(whole, "events")) > 2);
    text = json_first(json_get(
        ask("resources/read", "{'uri':'tiro://session/the%20walrus%20sleeps'}"), "contents"));
    assert_non_null(text);
}

TEST(what_is_no_resource_is_not_found)
{
    static const char *const uris[] = {"tiro://session/nowhere", "file:///etc/passwd", ""};
    start_legacy(0);
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        const struct json *legacy =
            request("resources/read", support_text("{'uri':'%s'}", uris[i]));
        const struct json *modern =
            request("resources/read", support_text("{'uri':'%s'," META "}", uris[i]));
        assert_int_equal(code_of(legacy), -32002);
        assert_int_equal(code_of(modern), -32602);
        assert_string_equal(json_get_string(json_get(json_get(modern, "error"), "data"), "uri"),
                            uris[i]);
    }
    assert_int_equal(code_of(request("resources/read", "{}")), -32602);
    assert_int_equal(code_of(request("resources/list", "{'cursor':'1; --'}")), -32602);
    assert_int_equal(code_of(request("resources/list", "{'cursor':7}")), -32602);
}

static void import_sessions(int count)
{
    AUTO(catalog_release) struct catalog catalog = {0};
    struct error e = {0};
    assert_true(catalog_open(&catalog, surface_store(), CATALOG_WRITE, &e));
    for (int i = 0; i < count; i++) {
        AUTO(session_info_release) struct session_info info = {0};
        const char *json = "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
        if (!imported_text(&catalog, json, strlen(json), NULL, support_dir(), &info, &e))
            fail_msg("%s", e.text);
    }
}

TEST(resources_come_in_pages_each_once)
{
    enum { SESSIONS = 230 };
    VEC(const char *) seen = {0};
    const char *cursor = NULL;
    int pages = 0;
    import_sessions(SESSIONS);
    start_legacy(0);
    do {
        const struct json *page =
            ask("resources/list", cursor ? support_text("{'cursor':'%s'}", cursor) : NULL);
        const struct json *all = json_get(page, "resources");
        for (const struct json *r = json_first(all); r; r = json_next(r))
            vec_push(&seen, json_get_string(r, "uri"));
        cursor = json_get_string(page, "nextCursor");
        pages++;
    } while (cursor);
    assert_int_equal(pages, 3);
    assert_int_equal(seen.len, SESSIONS);
    vec_sort(&seen, vec_text_order);
    for (size_t i = 1; i < seen.len; i++)
        assert_string_not_equal(seen.items[i - 1], seen.items[i]);
    vec_release(&seen);
}

/* --- changes ---------------------------------------------------------------------------------- */

TEST(who_subscribed_hears_of_changes)
{
    start_legacy(MCP_RUN);
    const char *session = run_prompt("first");
    const char *uri = support_text("{'uri':'tiro://session/%s'}", session);
    assert_int_equal(code_of(request("resources/subscribe", "{'uri':'file:///x'}")), -32602);
    ask("resources/subscribe", uri);
    ask("resources/subscribe", uri);
    succeed("tiro_resume", support_text("{'session_id':'%s','prompt':'second'}", session));
    const struct json *told = await(tells, "notifications/resources/updated");
    assert_string_equal(json_get_string(json_get(told, "params"), "uri"),
                        support_text("tiro://session/%s", session));
    assert_null(json_get(json_get(told, "params"), "_meta"));
    ask("resources/unsubscribe", uri);
    assert_int_equal(code_of(request("resources/unsubscribe", uri)), -32602);
}

TEST(who_listens_hears_what_was_asked_for_alone)
{
    start(MCP_RUN, true);
    const char *session = json_get_string(
        json_get(ask("tools/call", "{'name':'tiro_run','arguments':{'prompt':'a'}," META "}"),
                 "structuredContent"),
        "session_id");
    int listening = send_request(
        "subscriptions/listen",
        support_text("{'notifications':{'toolsListChanged':true,'resourcesListChanged':true,"
                     "'resourceSubscriptions':['tiro://session/%s','file:///x']}," META "}",
                     session));
    AUTO(json_free_local) struct json *first = hear();
    assert_true(tells(first, "notifications/subscriptions/acknowledged"));
    const struct json *agreed = json_get(json_get(first, "params"), "notifications");
    assert_int_equal(json_len(agreed), 2);
    assert_int_equal(json_len(json_get(agreed, "resourceSubscriptions")), 1);
    ask("tools/call", "{'name':'tiro_run','arguments':{'prompt':'b'}," META "}");
    const struct json *told = await(tells, "notifications/resources/list_changed");
    const struct json *meta = json_get(json_get(told, "params"), "_meta");
    assert_int_equal(json_get_int(meta, "io.modelcontextprotocol/subscriptionId", 0), listening);
    assert_false(was_heard(tells, "notifications/resources/updated"));
}

TEST(who_listens_no_longer_is_left_alone)
{
    start(MCP_RUN, true);
    int listening = send_request("subscriptions/listen",
                                 "{'notifications':{'resourcesListChanged':true}," META "}");
    await(tells, "notifications/subscriptions/acknowledged");
    notify("notifications/cancelled", support_text("{'requestId':%d}", listening));
    ask("server/discover", "{" META "}");
    assert_false(was_heard(answers, &listening));
    assert_int_equal(code_of(request("subscriptions/listen", "{" META "}")), -32602);
}

/* --- foreign bytes ---------------------------------------------------------------------------- */

TEST(nothing_that_a_client_says_ends_the_server)
{
    static const char *const lines[] = {
        "",
        "{",
        "null",
        "[]",
        "[1,2]",
        "{}",
        "\xff\xfe",
        "{'jsonrpc':'1.0','id':1,'method':'ping'}",
        "{'jsonrpc':'2.0','id':{},'method':'ping'}",
        "{'jsonrpc':'2.0','id':null,'method':'x'}",
        "{'jsonrpc':'2.0','method':'tools/call'}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled'}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':[]}}",
        "{'jsonrpc':'2.0','id':9,'method':'tools/call','params':[]}",
        "{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'name':[],'_meta':7}}",
        "{'jsonrpc':'2.0','id':9,'method':'initialize','params':{'protocolVersion':{}}}",
        "{'jsonrpc':'2.0','id':9,'method':'resources/read','params':{'uri':['x']}}",
        ("{'jsonrpc':'2.0','id':9,'method':'subscriptions/listen','params':{'notifications':{"
         "'resourceSubscriptions':[1,[],{}]}," META "}}"),
        ("{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'name':'tiro_sessions_search',"
         "'arguments':{'query':'\\u0000'},'_meta':{'progressToken':{}}}}"),
        "{'jsonrpc':'2.0','id':1,'result':{}}",
    };
    start_legacy(0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        say(support_text("%s\n", support_json(lines[i])));
    AUTO(buf_release) struct buf deep = BUF_INIT;
    for (int i = 0; i < 100000; i++)
        buf_addch(&deep, '[');
    buf_addch(&deep, '\n');
    say(deep.data);
    t.id = 100;
    ask("ping", NULL);
    succeed("tiro_sessions_search", "{'query':'\\\"; drop table \\u001b[2J'}");
}

/* --- HTTP ------------------------------------------------------------------------------------- */

static void send_http(struct http_client *c, const char *method, const char *fields,
                      const char *body)
{
    const char *json = support_json(body);
    http_client_open(c, atoi(strrchr(t.http->urls, ':') + 1));
    http_client_send(c, support_text("%s /mcp HTTP/1.1\r\n" HTTP_HOST "Connection: close\r\n"
                                     "Content-Type: application/json\r\n%sContent-Length: %zu\r\n"
                                     "\r\n%s",
                                     method, fields, strlen(json), json));
}

static const char *http(const char *method, const char *fields, const char *body)
{
    struct http_client c;
    send_http(&c, method, fields, body);
    while (http_client_read(&c, WAIT_MS))
        continue;
    const char *reply = support_text("%s", c.bytes.data);
    http_client_close(&c);
    return reply;
}

#define OF_2026 "MCP-Protocol-Version: 2026-07-28\r\n"
#define HTTP_MESSAGE(method, params)                                                               \
    "{'jsonrpc':'2.0','id':1,'method':'" method "','params':{" params "}}"

TEST_IF(HTTP_IS_SERVED, messages_come_as_bodies_of_posts)
{
    start_with(0, true, true);
    const char *begun =
        http("POST", "", HTTP_MESSAGE("initialize", "'protocolVersion':'2025-11-25'"));
    const char *session = strstr(begun, "Mcp-Session-Id: ");
    assert_text(begun, "HTTP/1.1 200 ");
    assert_non_null(session);
    const char *mine = support_text("%.*s\r\n", (int)strcspn(session, "\r"), session);
    assert_text(http("POST", mine, HTTP_MESSAGE("ping", "")), "\"result\":{}");
    assert_text(http("POST", mine, "{'jsonrpc':'2.0','method':'notifications/initialized'}"),
                "HTTP/1.1 202 ");
    assert_text(http("DELETE", mine, ""), "HTTP/1.1 204 ");
    assert_text(http("POST", mine, HTTP_MESSAGE("ping", "")), "HTTP/1.1 404 ");
    assert_text(http("GET", "", ""), "HTTP/1.1 405 ");
    assert_text(http("POST", "Origin: http://evil.example\r\n", "{}"), "HTTP/1.1 403 ");
    assert_text(
        http("POST", OF_2026 "Mcp-Method: tools/list  \r\n", HTTP_MESSAGE("tools/list", META)),
        "tiro_memory_search");
    assert_text(http("POST", OF_2026 "Mcp-Method: x\r\n", HTTP_MESSAGE("tools/list", META)),
                "\"code\":-32020");
}

TEST_IF(HTTP_IS_SERVED, a_client_that_closes_its_stream_interrupts_the_turn)
{
    start_with(MCP_RUN, true, true);
    begin_legacy();
    const char *session = run_prompt("first");
    QUEUE(surface_server(), .text = "never", .hold = true);
    struct http_client c;
    send_http(&c, "POST",
              OF_2026
              "Mcp-Method: tools/call\r\nMcp-Name: tiro_resume\r\n"
              "Accept: application/json, text/event-stream\r\n",
              support_text(HTTP_MESSAGE("tools/call",
                                        "'name':'tiro_resume','arguments':{"
                                        "'session_id':'%s','prompt':'second'},"
                                        "'_meta':{'progressToken':1,%s"),
                           session, strchr(META, '{') + 1));
    while (!strstr(c.bytes.data, "notifications/progress"))
        assert_true(http_client_read(&c, WAIT_MS));
    assert_true(model_server_wait(surface_server(), 2, WAIT_MS));
    http_client_close(&c);
    await_interruption(session);
}

/* --- the program ------------------------------------------------------------------------------ */

TEST(the_program_answers_all_that_it_was_asked_and_ends)
{
    static const char *const args[] = {"serve", "--mcp", "--allow", "run", "-p", "offline", NULL};
    const char *input = support_json(
        "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" META
        "}}\n"
        "{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{'notifications':{}," META
        "}}\n"
        "{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'tiro_run',"
        "'arguments':{'prompt':'hello'}," META "}}\n");
    auto_free char *out = NULL, *err = NULL;
    assert_int_equal(support_run(args, input, &out, &err), 0);
    assert_string_equal(err, "");
    int answered = 0;
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        AUTO(json_free_local) struct json *v = json_parse(line, strlen(line), NULL);
        assert_non_null(v);
        answered += json_get(v, "result") != NULL;
    }
    assert_int_equal(answered, 3);
}

TEST(one_protocol_is_spoken_on_standard_output)
{
    static const char *const args[] = {"serve", "--mcp", "--stdio", NULL};
    auto_free char *err = NULL;
    assert_int_equal(support_run(args, "", NULL, &err), 64);
    assert_text(err, "--mcp");
}

/* Each word of --allow has an effect, or the program rejects it and does not start. */
TEST(words_that_allow_nothing_are_refused)
{
    static const struct {
        const char *const args[6];
        int status;
        const char *says;
    } cases[] = {
        {{"serve", "--mcp", "--allow", "bogus"}, 1, "\"bogus\""},
        {{"serve", "--mcp", "--allow", "run,graphs"}, 1, "run corpora graph"},
        {{"serve", "--acp", "--allow", "writ_file"}, 1, "write_file"},
        {{"serve", "--stdio", "--allow", "read,run"}, 64, "--mcp or --http: run corpora graph"},
        {{"serve", "--mcp", "--allow", "run graph,read", "--allow=run_command"}, 0, ""},
        {{"serve", "--stdio", "--allow", "execute"}, 0, ""},
        {{"serve", "--mcp", "--as", "mem0"}, 64, "memory server-memory; not \"mem0\""},
        {{"serve", "--stdio", "--as", "memory"}, 64, "--as needs --mcp"},
        {{"serve", "--mcp", "--as=server-memory"}, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_free char *err = NULL;
        assert_int_equal(support_run((const char *const *)cases[i].args, "", NULL, &err),
                         cases[i].status);
        assert_text(err, cases[i].says);
        assert_int_equal(*err == '\0', cases[i].status == 0);
    }
}
