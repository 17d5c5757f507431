/* mcp/list in a session: the state of its servers, and what turns them off, on and starts them
 * again. */
#include <unistd.h>

#include "base/paths.h"
#include "mcp/config.h"
#include "tests/model_server.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

static struct model_server *model;
static struct rpc_client client;
static char *session;

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    model = begin_server();
    return chdir(support_dir());
}

static int teardown(void **state)
{
    end_server(model);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

FIXTURE(setup, teardown);

static void configure(const char *path)
{
    const char *program = support_program();
    auto_free char *directory = paths_dir(PATHS_CONFIG);
    struct error e;
    assert_ok(paths_make_dir(directory, &e), e);
    support_write(path,
                  support_json(support_text(
                      "{'mcpServers':{'s':{'command':'%.*s/tests/mcp-server',"
                      "'args':['modern','file=%s']},'bad':{'command':'/nowhere/at/all'}}}",
                      (int)(strrchr(program, '/') - program), program, support_path("starts"))));
}

/* The servers after a command (NULL: none). */
static const struct json *list(const char *command)
{
    const char *params = command
                             ? support_text("{'session_id':'%s','command':'%s'}", session, command)
                             : support_text("{'session_id':'%s'}", session);
    return json_get(rpc_client_result(&client, "mcp/list", params), "servers");
}

struct wanted {
    const char *name, *state;
    int64_t tools;
};

static bool is_so(void *context)
{
    const struct wanted *w = context;
    const struct json *v = json_first(list(w->name));
    return strcmp(json_get_string(v, "state"), w->state) == 0 &&
           json_get_int(v, "tools", 0) == w->tools;
}

static void becomes(const char *name, const char *state, int64_t tools)
{
    struct wanted w = {name, state, tools};
    if (!support_wait_until(is_so, &w, RPC_CLIENT_MS))
        fail_msg("%s", support_keep(json_print(list(name))));
}

static void begin_session(void)
{
    RPC_START(&client, NULL);
    session = support_keep(mem_strdup(
        json_get_string(rpc_client_result(&client, "session/create", "{'tools':'full'}"), "id")));
}

static void take_turn(void)
{
    (void)rpc_client_result(&client, "turn/start",
                            support_text("{'session_id':'%s','prompt':'go'}", session));
}

static size_t starts(void)
{
    size_t count = 0;
    for (const char *p = support_read(support_path("starts")); *p; p++)
        count += *p == '\n';
    return count;
}

static bool has_started(void *count)
{
    return starts() == *(size_t *)count;
}

TEST(servers_of_a_session_are_seen_and_changed)
{
    auto_free char *path = mcp_config_path(NULL);
    configure(path);
    begin_session();
    becomes("s", "waits", 0);
    take_turn();
    becomes("s", "ready", 15);
    becomes("bad", "failed", 0);
    const char *about = json_get_string(json_first(list("s")), "about");
    assert_text(about, "scripted 1, protocol 2026-07-28");
    assert_text(about, "\n  echo  ");
    assert_text(json_get_string(json_first(list("bad")), "about"), "/nowhere/at/all");
    assert_text(model_server_body(model, 0), "mcp__s__echo");

    (void)list("off s echo");
    becomes("s", "ready", 14);
    assert_text(json_get_string(json_first(list("s")), "about"), " tokens  off\n");
    take_turn();
    assert_no_text(model_server_body(model, 1), "mcp__s__echo");
    assert_text(model_server_body(model, 1), "mcp__s__fail");

    (void)list("off s");
    becomes("s", "off", 0);
    take_turn();
    assert_no_text(model_server_body(model, 2), "mcp__s__");
    (void)list("on s");
    becomes("s", "ready", 14);

    size_t wanted = starts() + 1;
    (void)list("restart s");
    assert_true(support_wait_until(has_started, &wanted, RPC_CLIENT_MS));
    becomes("s", "ready", 14);

    /* Another definition is read, too. */
    support_write(path, "{\"mcpServers\":{\"bad\":{\"url\":\"http://127.0.0.1:1/\"}}}");
    (void)list("restart bad");
    becomes("bad", "failed", 0);
    assert_text(json_get_string(json_first(list("bad")), "about"), "http://127.0.0.1:1/");
    (void)rpc_client_error(&client, "mcp/list", "{'command':'kill bad'}", "USAGE");
    (void)rpc_client_error(&client, "mcp/list", "{'command':'off bad a b'}", "USAGE");
    assert_int_equal(rpc_client_end(&client), 0);
}
