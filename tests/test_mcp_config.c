#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "mcp/config.h"
#include "tests/suite.h"

static struct mcp_servers servers; /* as mcp_servers_read() left them */

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    assert_int_equal(mkdir(support_path("app"), 0700), 0);
    servers = (struct mcp_servers){.items = NULL};
    struct error e;
    auto_free char *directory = paths_dir(PATHS_CONFIG);
    assert_ok(paths_make_dir(directory, &e), e);
    return 0;
}

static int teardown(void **state)
{
    mcp_servers_release(&servers);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

/* Texts have ' for ". */
static void put_project(const char *text)
{
    support_write(support_path("app/.mcp.json"), support_json(text));
}

static void put_user(const char *text)
{
    auto_free char *path = mcp_config_path(NULL);
    support_write(path, support_json(text));
}

static void read_all(const char *editor)
{
    mcp_servers_release(&servers);
    mcp_servers_read(support_path("app"), editor ? support_json(editor) : NULL, &servers);
}

/* The server at this place of the list. */
static const struct mcp_server *at(size_t i)
{
    assert_true(i < servers.len);
    return &servers.items[i];
}

static void expect_fault(size_t i, const char *name, const char *words)
{
    assert_string_equal(at(i)->name, name);
    if (!at(i)->fault || !strstr(at(i)->fault, words))
        fail_msg("%s: %s", name, at(i)->fault ? at(i)->fault : "no fault");
}

TEST(a_program_and_an_address_are_read)
{
    setenv("TOKEN", "abc", 1);
    put_project(
        "{'mcpServers': {"
        " 'files': {'command': 'npx', 'args': ['-y', 'a b', '${HOME}/x', '${NOT:-there}'],"
        "  'env': {'KEY': 'Bearer ${TOKEN}', 'SECRET': 's3'}, 'cwd': 'sub',"
        "  'timeout': 30000, 'enabled_tools': ['read'], 'unknown': {'a': 1}},"
        " 'web': {'type': 'http', 'url': 'https://u:pass@example.org/mcp',"
        "  'headers': {'X-Key': '${TOKEN}'}, 'timeout': 5}}}");
    read_all(NULL);
    assert_int_equal(servers.len, 2);
    assert_int_equal(servers.faults.len, 0);
    const struct mcp_server *files = at(0), *web = at(1);
    assert_null(files->fault);
    assert_string_equal(files->command, "npx");
    assert_string_equal(files->args.items[2], support_text("%s/x", support_dir()));
    assert_string_equal(files->args.items[3], "there");
    assert_string_equal(files->env.items[0].value, "Bearer abc");
    assert_string_equal(files->cwd, support_path("app/sub"));
    assert_int_equal(files->timeout_s, 30);
    assert_string_equal(files->origin, "project");
    assert_string_equal(files->shown,
                        "npx -y 'a b' ${HOME}/x ${NOT:-there}; in sub; "
                        "environment: KEY=Bearer ${TOKEN}, SECRET=s3");
    assert_non_null(strstr(files->definition, "Bearer ${TOKEN}"));
    assert_true(mcp_server_offers(files, "read"));
    assert_false(mcp_server_offers(files, "write"));
    assert_null(web->fault);
    assert_string_equal(web->url, "https://u:pass@example.org/mcp");
    assert_string_equal(web->headers.items[0].value, "abc");
    assert_int_equal(web->timeout_s, 5);
    assert_string_equal(web->shown, "https://****@example.org/mcp; headers: X-Key=${TOKEN}");
}

/* A value of a project can start a program. One of the user's file may be a key. */
TEST(values_of_a_foreign_environment_are_shown)
{
    AUTO(buf_release) struct buf value = BUF_INIT;
    while (value.len < 300)
        buf_addch(&value, 'v');
    put_project(
        support_text("{'mcpServers': {'a': {'command': 'x', 'env': {'LD_PRELOAD':"
                     " './x\\u001b.so', 'LONG': '%s'}, 'headers': {'K': 'key'}}}}",
                     value.data));
    read_all("{'b': {'command': 'x', 'env': {'KEY': 'secret'}}}");
    assert_string_equal(at(0)->shown, "x; environment: KEY");
    assert_string_equal(at(1)->shown, support_text("x; environment: LD_PRELOAD=./x␛.so, "
                                                   "LONG=%.200s…; headers: K",
                                                   value.data));
}

TEST(a_broken_server_is_listed_and_hides_no_other)
{
    put_project(
        "{'mcpServers': {"
        " 'missing': {'command': 'x', 'args': ['${NOT_SET_ANYWHERE}']},"
        " 'both': {'command': 'x', 'url': 'http://a'},"
        " 'neither': {},"
        " 'list': {'command': ['x']},"
        " 'text': 'x',"
        " 'old': {'type': 'sse', 'url': 'http://a'},"
        " 'odd': {'type': 'pigeon', 'command': 'x'},"
        " 'file': {'url': 'file:///etc/passwd'},"
        " 'smuggle': {'url': 'http://a', 'headers': {'A': 'b\\r\\nC: d'}},"
        " 'env': {'command': 'x', 'env': {'A=B': 'c'}},"
        " 'a b': {'command': 'x'},"
        " '\\u001b]0;x\\u0007': {'command': 'x'},"
        " 'good': {'command': 'x'}, 'good': {'command': 'y'}}}");
    read_all(NULL);
    expect_fault(0, "missing", "NOT_SET_ANYWHERE");
    expect_fault(1, "both", "either a command or a url");
    expect_fault(2, "neither", "either a command or a url");
    expect_fault(3, "list", "command");
    expect_fault(4, "text", "object");
    expect_fault(5, "old", "npx mcp-remote");
    expect_fault(6, "odd", "pigeon");
    expect_fault(7, "file", "http://");
    expect_fault(8, "smuggle", "header");
    expect_fault(9, "env", "=");
    expect_fault(10, "a b", "letters");
    assert_null(strchr(at(11)->name, '\033'));
    assert_non_null(at(11)->fault);
    assert_null(at(12)->fault);
    expect_fault(13, "good", "hidden");
    assert_string_equal(mcp_servers_find(&servers, "good")->command, "x");
}

TEST(the_user_comes_before_the_project_and_the_editor_before_both)
{
    put_user(
        "{'mcpServers': {'a': {'command': 'user'}, 'b': {'command': 'user'},"
        " 'c': {'disabled': true, 'disabled_tools': ['rm']}, 'elsewhere': {'disabled': true}}}");
    put_project(
        "{'mcpServers': {'b': {'command': 'project'},"
        " 'c': {'command': 'project', 'disabled_tools': ['mv']}}}");
    read_all(
        "[{'name': 'a', 'command': 'editor', 'args': [],"
        " 'env': [{'name': 'A', 'value': 'b'}]}]");
    assert_int_equal(servers.len, 5);
    assert_string_equal(at(0)->command, "editor");
    assert_string_equal(at(0)->env.items[0].value, "b");
    expect_fault(1, "a", "editor");
    assert_null(at(2)->fault);
    expect_fault(3, "b", "user");
    assert_null(at(4)->fault);
    assert_true(at(4)->disabled);
    assert_false(mcp_server_offers(at(4), "rm"));
    assert_false(mcp_server_offers(at(4), "mv"));
    assert_true(mcp_server_offers(at(4), "ls"));
}

TEST(a_file_that_is_no_file_or_no_json_is_a_fault)
{
    const char *path = support_path("app/.mcp.json");
    put_user("{'mcpServers': {'mine': {'command': 'x'}}}");

    support_write(support_path("secret"), support_json("{'mcpServers': {'s': {'command': 'x'}}}"));
    assert_int_equal(symlink("../secret", path), 0);
    read_all(NULL);
    assert_int_equal(servers.len, 1);
    assert_non_null(strstr(servers.faults.items[0], "symbolic link"));
    unlink(path);

    assert_int_equal(mkfifo(path, 0600), 0);
    read_all(NULL);
    assert_non_null(strstr(servers.faults.items[0], "not a regular file"));
    unlink(path);

    put_project("{}");
    assert_int_equal(truncate(path, (off_t)1 << 30), 0);
    read_all(NULL);
    assert_non_null(strstr(servers.faults.items[0], "too long"));
    unlink(path);

    char *deep = mem_alloc(500001);
    memset(deep, '[', 500000);
    support_write(path, deep);
    free(deep);
    read_all(NULL);
    assert_int_equal(servers.faults.len, 1);

    const char *const texts[] = {"",
                                 "[",
                                 "[]",
                                 "{'mcpServers': []}",
                                 "{'mcpServers': 1} x",
                                 "{'mcpServers': {'a\\u0000b': {'command': 'x'}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_project(texts[i]);
        read_all(NULL);
        assert_int_equal(servers.faults.len, 1);
        assert_string_equal(at(0)->name, "mine");
        assert_int_equal(servers.len, 1);
    }
    put_project("{}");
    read_all(NULL);
    assert_int_equal(servers.faults.len, 0);
}

TEST(too_many_servers_and_too_long_texts_are_left_out)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, "{'mcpServers': {");
    for (int i = 0; i < 100; i++)
        buf_addf(&text, "'s%d': {'command': 'x'},", i);
    buf_addstr(&text, "'last': {'command': 'x'}}}");
    put_project(text.data);
    read_all(NULL);
    assert_int_equal(servers.len, MCP_SERVERS);
    assert_int_equal(servers.faults.len, 1);

    setenv("BIG", "0123456789012345678901234567890123456789", 1);
    buf_clear(&text);
    buf_addstr(&text, "{'mcpServers': {'s': {'command': '");
    for (int i = 0; i < 9000; i++)
        buf_addstr(&text, "${BIG}");
    buf_addstr(&text, "'}}}");
    put_project(text.data);
    read_all(NULL);
    expect_fault(0, "s", "longer");
    buf_release(&text);
}

TEST(text_that_is_no_variable_stays)
{
    put_project(
        "{'mcpServers': {'s': {'command': '$HOME', 'args': ['${', '${}', '${A', '${A B}', "
        "'$', '${NOT_A:-}', 'x${HOME:-y}${', '${NOT_A:-${HOME}}']}}}");
    read_all(NULL);
    const char *const wanted[] = {"${", "${}", "${A", "${A B}", "$", "", NULL, "${HOME}"};
    assert_null(at(0)->fault);
    assert_string_equal(at(0)->command, "$HOME");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_string_equal(at(0)->args.items[i],
                            wanted[i] ? wanted[i] : support_text("x%s${", support_dir()));
}

TEST(files_of_other_programs_are_named)
{
    assert_int_equal(mkdir(support_path("app/.vscode"), 0700), 0);
    support_write(support_path("app/.vscode/mcp.json"), "{}");
    read_all(NULL);
    assert_int_equal(servers.unread.len, 1);
    assert_string_equal(servers.unread.items[0], support_path("app/.vscode/mcp.json"));
}

static struct json *tree(const char *text)
{
    const char *json = support_json(text);
    return json_parse(json, strlen(json), NULL);
}

TEST(a_server_is_added_removed_and_turned_off)
{
    struct error e;
    auto_free char *path = mcp_config_path(NULL);
    put_user("{'other': 1, 'mcpServers': {'a': {'command': 'x', 'mine': [1]}}}");
    assert_ok(mcp_config_add(NULL, "b", tree("{'command': 'y'}"), &e), e);
    assert_error(mcp_config_add(NULL, "b", tree("{'command': 'y'}"), &e), e, ERR_USAGE, "remove");
    assert_false(mcp_config_add(NULL, "c d", tree("{'command': 'y'}"), &e));
    assert_false(mcp_config_add(NULL, "e", tree("{'url': 'ftp://y'}"), &e));
    assert_ok(mcp_config_switch("a", NULL, false, &e), e);
    assert_ok(mcp_config_switch("a", "rm", false, &e), e);
    assert_ok(mcp_config_switch("a", "mv", false, &e), e);
    assert_ok(mcp_config_switch("a", "rm", true, &e), e);
    assert_string_equal(support_read(path),
                        support_json("{\n\t'other':\t1,\n\t'mcpServers':\t{\n"
                                     "\t\t'a':\t{\n\t\t\t'command':\t'x',\n"
                                     "\t\t\t'mine':\t[1],\n\t\t\t'disabled':\ttrue,\n"
                                     "\t\t\t'disabled_tools':\t['mv']\n\t\t},\n"
                                     "\t\t'b':\t{\n\t\t\t'command':\t'y'\n\t\t}\n\t}\n}\n"));
    assert_ok(mcp_config_remove(NULL, "a", &e), e);
    assert_error(mcp_config_remove(NULL, "a", &e), e, ERR_USAGE, "no server");
    read_all(NULL);
    assert_int_equal(servers.len, 1);
    assert_string_equal(at(0)->name, "b");

    put_project("{'mcpServers': {'theirs': {'command': 'x'}}}");
    assert_ok(mcp_config_switch("theirs", NULL, false, &e), e);
    read_all(NULL);
    assert_true(mcp_servers_find(&servers, "theirs")->disabled);
    assert_ok(mcp_config_switch("theirs", NULL, true, &e), e);
    read_all(NULL);
    assert_false(mcp_servers_find(&servers, "theirs")->disabled);
    assert_ok(mcp_config_add(support_path("app"), "new", tree("{'url': 'http://a'}"), &e), e);
    read_all(NULL);
    assert_string_equal(mcp_servers_find(&servers, "new")->origin, "project");
}

TEST(a_broken_file_is_not_written_over)
{
    struct error e;
    auto_free char *path = mcp_config_path(NULL);
    put_user("{'mcpServers': {,}}");
    assert_false(mcp_config_add(NULL, "b", tree("{'command': 'y'}"), &e));
    assert_false(mcp_config_switch("b", NULL, false, &e));
    assert_string_equal(support_read(path), support_json("{'mcpServers': {,}}"));
}
