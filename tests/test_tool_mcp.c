/* MCP servers in a conversation: the names of their tools, how they join the prompt, calls of them
 * in the real program, and that no process is left. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "agent/tool.h"
#include "agent/tool_mcp.h"
#include "base/clock.h"
#include "base/paths.h"
#include "tests/model_server.h"
#include "tests/program.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 20000 };

FIXTURE(support_setup, support_teardown);

/* The path of the scripted server. */
static char *scripted(void)
{
    const char *program = support_program();
    return support_text("%.*s/tests/mcp-server", (int)(strrchr(program, '/') - program), program);
}

static bool wait_until(bool (*holds)(void *context), void *context)
{
    return support_wait_until(holds, context, PATIENCE_MS * support_patience());
}

/* --- names ------------------------------------------------------------------------------------ */

static void named(const char *server, const char *tool, const char *name)
{
    auto_free char *made = tool_mcp_name(server, tool, false);
    assert_string_equal(made, name);
}

TEST(names_are_those_that_providers_take)
{
    named("git", "log", "mcp__git__log");
    named("my-git", "log.all/x", "mcp__my-git__log_all_x");
    named("a", "\xC3\xA9", "mcp__a____");
    const char *most = "mcp__server__this_is_exactly_as_long_as_a_name_may_be_for_them01";
    assert_int_equal(strlen(most), MCP_TOOL_NAME_MAX);
    named("server", most + strlen("mcp__server__"), most);
    auto_free char *one = tool_mcp_name("server", support_text("%s2", most), false);
    auto_free char *two = tool_mcp_name("server", support_text("%s3", most), false);
    assert_int_equal(strlen(one), MCP_TOOL_NAME_MAX);
    assert_string_not_equal(one, two);
    auto_free char *apart = tool_mcp_name("git", "log", true);
    assert_int_equal(strncmp(apart, "mcp__git__log_", strlen("mcp__git__log_")), 0);
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct tool_source *const sources[] = {&tool_source_builtin, &tool_source_mcp, NULL};
static struct tool_mcp *mcp;
static struct toolset tools;

static int mcp_setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    mcp = tool_mcp_new(support_dir(), NULL);
    const struct tool_host host = {.root_fd = -1, .mcp = mcp};
    toolset_init(&tools, sources, &host);
    return 0;
}

static int mcp_teardown(void **state)
{
    toolset_release(&tools);
    tool_mcp_free(mcp);
    return support_teardown(state);
}

FIXTURES(mcp, mcp_setup, mcp_teardown);

/* Begins with the servers of this text, with ' for ". */
static void begin(const char *text)
{
    struct mcp_servers servers;
    mcp_servers_read(support_dir(), support_json(text), &servers);
    tool_mcp_begin(mcp, &servers, &(struct http_reach){"", 5000}, 0);
    toolset_refresh(&tools);
}

static char *list(void)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (size_t i = 0; i < tools.tools.len; i++)
        buf_addf(&out, " %s", tools.tools.items[i].spec.name);
    return support_text("%s", out.data);
}

static bool call(const char *name, const char *args, struct buf *out)
{
    struct tool_call prepared;
    const struct wakeup none = {.fd = -1};
    const struct tool_context context = {
        .max_output = 1000, .deadline_ms = clock_mono_ms() + PATIENCE_MS, .wakeup = &none};
    assert_true(tool_call_prepare(&prepared, &tools, name, args, out));
    bool is_error = tool_call_run(&prepared, &context, out);
    tool_call_release(&prepared);
    return !is_error;
}

static bool is_ready(void *name)
{
    struct mcp_view view;
    mcp_client_view(tool_mcp_client(mcp, name), &view);
    bool ready = view.state != MCP_STARTING;
    mcp_view_release(&view);
    return ready;
}

TEST(a_late_server_moves_no_tool)
{
    char *gate = support_path("gate"), *server = scripted();
    const char *before = list();
    begin(
        support_text("[{'name':'late','command':'%s','args':['modern','waits=%s'],'env':[]},"
                     "{'name':'soon','command':'%s','args':['modern'],'env':[]}]",
                     server, gate, server));
    const char *first = list();
    assert_int_equal(strncmp(first, before, strlen(before)), 0);
    assert_text(first, " mcp__soon__echo");
    assert_no_text(first, "mcp__late__");
    support_write(gate, "");
    char name[] = "late";
    assert_true(wait_until(is_ready, name));
    toolset_refresh(&tools);
    const char *then = list();
    assert_int_equal(strncmp(then, first, strlen(first)), 0);
    assert_text(then, " mcp__late__echo");
    assert_null(tool_mcp_faults(mcp));
}

TEST(results_are_bounded_and_clean)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    begin(support_text("[{'name':'s','command':'%s','args':['modern'],'env':[]}]", scripted()));
    assert_true(call("mcp__s__echo", "{\"text\":\"a \\u001b[31mtext\"}", &out));
    assert_string_equal(out.data, "a \xE2\x90\x9B[31mtext");
    buf_clear(&out);
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addstr(&args, "{\"text\":\"");
    for (int i = 0; i < 3000; i++)
        buf_addch(&args, 'x');
    buf_addstr(&args, "\"}");
    assert_true(call("mcp__s__echo", args.data, &out));
    assert_true(out.len <= 1100);
    assert_text(out.data, "bytes left out");
    buf_clear(&out);
    assert_false(call("mcp__s__fail", "{}", &out));
    assert_string_equal(out.data, "it failed");
}

/* The user sees the server's own words about a tool, and they decide nothing. */
TEST(each_call_is_asked_about)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    struct tool_call prepared;
    const struct tool_context context = {.max_output = 1000};
    begin(support_text("[{'name':'s','command':'%s','args':['modern'],'env':[]}]", scripted()));
    assert_true(tool_call_prepare(&prepared, &tools, "mcp__s__echo", "{\"text\":\"x\"}", &out));
    assert_int_equal(prepared.tool->class, TOOL_EXECUTE);
    assert_int_equal(prepared.tool->consent, CONSENT_BY_CLASS);
    assert_true(tool_call_preview(&prepared, &context, &out));
    assert_text(out.data, "echo of s: ");
    assert_text(out.data, "\"x\"");
    assert_text(out.data, "The server says of it: it only reads.");
    auto_free char *grant = tool_call_grant(&prepared);
    assert_string_equal(grant, "mcp__s__echo");
    tool_call_release(&prepared);
}

static bool is_offered(const char *name)
{
    const struct tool *tool = toolset_find(&tools, name);
    return tool && !(tool->idle && tool->idle(tool->self));
}

static const char *read_of(const char *server, const char *uri, bool ok)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const char *more = uri ? support_text(",\"uri\":\"%s\"", uri) : "";
    const char *args = support_text("{\"server\":\"%s\"%s}", server, more);
    assert_int_equal(call("mcp_read_resource", args, &out), ok);
    return support_text("%s", out.data);
}

static bool knows_resources(void *name)
{
    AUTO(mcp_offers_release) struct mcp_offers offers;
    mcp_client_offers(tool_mcp_client(mcp, name), &offers);
    return offers.resources.len == 3;
}

/* The links of results are opened with one tool, which comes behind what stands in the prompt. */
TEST(resources_are_read_where_a_server_has_them)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    char *gate = support_path("gate"), name[] = "r";
    begin(
        support_text("[{'name':'s','command':'%s','args':['modern'],'env':[]},"
                     "{'name':'r','command':'%s','args':['modern','resources','waits=%s'],"
                     "'env':[]}]",
                     scripted(), scripted(), gate));
    const char *before = list();
    assert_false(is_offered("mcp_read_resource"));
    support_write(gate, "");
    assert_true(wait_until(knows_resources, name));
    toolset_refresh(&tools);
    const char *then = list();
    assert_int_equal(strncmp(then, before, strlen(before)), 0);
    assert_true(is_offered("mcp_read_resource"));

    assert_true(call("mcp__r__mixed", "{}", &out));
    assert_text(out.data, "[link to a resource: file:///a (A)]");
    assert_text(read_of("r", "file:///a", true), "[resource file:///a]\nthe text of it\n");
    assert_string_equal(read_of("r", NULL, true),
                        "file:///a  A: First.\nfile:///b  B\n"
                        "file:///{name}  (fill in what is in braces)  Any");
    assert_text(read_of("r", "other:1", false), "Resource not found");
    assert_text(read_of("r", "file:///a\\nb", false), "this is no URI");
    assert_text(read_of("s", "file:///a", false), "there is no server \"s\" with resources");
    assert_text(read_of("none", "file:///a", false), "there is no server \"none\" with resources");

    struct tool_call prepared;
    buf_clear(&out);
    assert_true(tool_call_prepare(&prepared, &tools, "mcp_read_resource",
                                  "{\"server\":\"r\",\"uri\":\"file:///a\"}", &out));
    assert_int_equal(prepared.tool->class, TOOL_EXECUTE);
    assert_int_equal(prepared.tool->consent, CONSENT_BY_CLASS);
    auto_free char *grant = tool_call_grant(&prepared);
    assert_string_equal(grant, "mcp_read_resource r");
    tool_call_release(&prepared);
}

/* Tools past the room are searched, then offered behind those that were. */
TEST(tools_that_take_too_much_are_searched)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    tool_mcp_set_room(mcp, 300);
    begin(support_text("[{'name':'s','command':'%s','args':['modern','crowd'],'env':[]}]",
                       scripted()));
    assert_true(is_offered("tool_search"));
    assert_false(is_offered("mcp__s__echo"));
    assert_true(call("mcp__s__echo", "{\"text\":\"unseen\"}", &out)); /* it can be called */
    buf_clear(&out);
    assert_true(call("tool_search", "{\"query\":\"Crowd 17\"}", &out));
    assert_int_equal(strncmp(out.data, "mcp__s__crowd_17: Does crowd_17.\n", 33), 0);
    toolset_refresh(&tools);
    assert_true(is_offered("mcp__s__crowd_17"));
    assert_false(is_offered("mcp__s__echo"));
    const char *all = list();
    const char *search = strstr(all, " tool_search "), *found = strstr(all, "mcp__s__crowd_17 ");
    assert_true(search && found && search < found);
    buf_clear(&out);
    assert_true(call("tool_search", "{\"query\":\"nothing of the kind\"}", &out));
    assert_text(out.data, "no further tool has these words");
}

TEST(tools_that_fit_are_offered)
{
    tool_mcp_set_room(mcp, 3000);
    begin(support_text("[{'name':'s','command':'%s','args':['modern'],'env':[]}]", scripted()));
    assert_true(is_offered("mcp__s__echo"));
    assert_false(is_offered("tool_search"));
}

TEST(a_failed_server_has_no_tools_and_is_told)
{
    begin("[{'name':'no','command':'/no/such/program','args':[],'env':[]}]");
    char name[] = "no";
    assert_true(wait_until(is_ready, name));
    toolset_refresh(&tools);
    assert_no_text(list(), "mcp__");
    assert_text(tool_mcp_faults(mcp), "no: the command \"/no/such/program\" cannot be run");
    tool_mcp_end(mcp);
    toolset_refresh(&tools);
    assert_null(tool_mcp_faults(mcp));
}

/* --- the program ------------------------------------------------------------------------------ */

static struct model_server *model;

static int program_setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    model = begin_server();
    return chdir(support_dir());
}

static int program_teardown(void **state)
{
    end_server(model);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

FIXTURES(program, program_setup, program_teardown);

static void write_servers(const char *path, const char *words)
{
    support_write(path, support_json(support_text(
                            "{'mcpServers':{'s':{'command':'%s','args':['modern','file=%s'%s]}}}",
                            scripted(), support_path("starts"), words)));
}

/* In the user's own file. */
static void configure(const char *words)
{
    auto_free char *path = mcp_config_path(NULL);
    auto_free char *directory = paths_dir(PATHS_CONFIG);
    struct error e;
    assert_ok(paths_make_dir(directory, &e), e);
    write_servers(path, words);
}

static pid_t started(void)
{
    auto_free char *text = support_read(support_path("starts"));
    return (pid_t)atol(text);
}

static bool is_gone(void *pid)
{
    return kill(*(pid_t *)pid, 0) != 0 && errno == ESRCH;
}

TEST(the_program_calls_a_tool_of_a_server)
{
    configure("");
    QUEUE(model, .tool_name = "mcp__s__echo", .tool_args = "{\"text\":\"four words of text\"}");
    expect(RUN("run", "--tools", "full", "--allow", "mcp__s__echo", "go"), 0, "");
    const char *first = model_server_body(model, 0), *second = model_server_body(model, 1);
    assert_text(first, "mcp__s__echo");
    assert_text(second, "four words of text");
    /* The second request begins with the first one, up to its end marks. */
    const char *at = strstr(first, "\"messages\"");
    assert_non_null(at);
    assert_int_equal(strncmp(first, second, (size_t)(at - first)), 0);
    pid_t pid = started();
    assert_true(is_gone(&pid));
}

/* An image of a result is kept with the session, and goes to a model that sees. */
TEST(the_model_sees_the_images_of_a_server)
{
    static const char png[] = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAA=";
    configure("");
    for (int sees = 0; sees < 2; sees++) {
        write_config(sees ? "[model scripted-model]\nimages = 1\n" : "");
        QUEUE(model, .tool_name = "mcp__s__mixed", .tool_args = "{}");
        expect(RUN("run", "--tools", "full", "--allow", "mcp__s__mixed", "go"), 0, "");
        const char *body = model_server_body(model, (size_t)sees * 2 + 1);
        assert_text(body, "[image 64×48 png 29 B]");
        assert_int_equal(strstr(body, png) != NULL, sees);
    }
    auto_free char *exported = program_output(RUN("sessions", "export", "last"));
    assert_text(exported, "> ![image 64×48 png 29 B](</");
}

TEST(without_a_grant_the_program_asks)
{
    configure("");
    QUEUE(model, .tool_name = "mcp__s__echo", .tool_args = "{}");
    expect(RUN("run", "--tools", "full", "go"), 3, "nobody could be asked");
}

TEST(without_tools_nothing_starts)
{
    configure("");
    expect(RUN("run", "--tools", "none", "go"), 0, "");
    expect(RUN("run", "--help"), 0, "");
    assert_int_equal(access(support_path("starts"), F_OK), -1);
}

/* A repository's servers do not start before the user trusts it. */
TEST(a_project_that_is_not_trusted_starts_nothing)
{
    write_servers(support_path(".mcp.json"), "");
    expect(RUN("run", "--tools", "full", "go"), 0, "this was not started: server s");
    assert_no_text(model_server_body(model, 0), "mcp__");
    assert_int_equal(access(support_path("starts"), F_OK), -1);
    expect(RUN("run", "--tools", "full", "--trust", "go"), 0, "");
    assert_text(model_server_body(model, 1), "mcp__s__echo");
    assert_int_equal(access(support_path("starts"), F_OK), 0);
}

/* Neither an interrupt nor a death of the program leaves a process. */
TEST(nothing_is_left_of_a_program_that_ends)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    configure(",'stays'");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct support_child child;
        (void)unlink(support_path("starts"));
        QUEUE(model, .tool_name = "mcp__s__hang", .tool_args = "{}");
        support_start(&child, TEXTS(support_program(), "run", "-o", "stream-json", "--tools",
                                    "full", "--allow", "mcp__s__hang", "go"));
        close(child.in); /* it would wait for more of the message */
        child.in = -1;
        assert_true(support_read_until(&child, "mcp__s__hang", PATIENCE_MS));
        pid_t pid = started();
        assert_false(is_gone(&pid));
        assert_int_equal(kill(child.pid, signals[i]), 0);
        (void)support_finish(&child, NULL);
        support_release(&child);
        assert_true(wait_until(is_gone, &pid));
    }
}
