/* Plugins: what a folder brings, and what of it is used. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "knowledge/skills.h"
#include "mcp/config.h"
#include "mcp/plugins.h"
#include "tests/program.h"
#include "tests/suite.h"

static struct plugin plugin;
static struct mcp_servers servers;
static char *folder; /* of the plugin, resolved */

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    assert_int_equal(mkdir(support_path("p"), 0700), 0);
    assert_int_equal(mkdir(support_path("app"), 0700), 0);
    folder = support_keep(realpath(support_path("p"), NULL));
    return 0;
}

static int teardown(void **state)
{
    plugin_release(&plugin);
    plugin = (struct plugin){.name = NULL};
    mcp_servers_release(&servers);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

/* Texts have ' for ". */
static void put(const char *name, const char *text)
{
    support_write(support_path(name), support_json(text));
}

static void look(void)
{
    struct error e;
    plugin_release(&plugin);
    assert_ok(plugin_look(support_path("p"), &plugin, &e), e);
}

static void refused(const char *words)
{
    struct error e;
    plugin_release(&plugin);
    assert_false(plugin_look(support_path("p"), &plugin, &e));
    if (!strstr(e.text, words))
        fail_msg("%s", e.text);
}

static void read_servers(void)
{
    mcp_servers_release(&servers);
    mcp_servers_read(support_path("app"), NULL, &servers);
}

TEST(a_folder_says_what_it_is)
{
    refused("no plugin.json");
    put("p/plugin.json",
        "{'name':'a.b-c1','version':'1.\\u001b[1m','description':'Does it.',"
        "'author':{},'$schema':'x','surprise':1,'more\\n':2}");
    look();
    assert_string_equal(plugin.name, "a.b-c1");
    assert_string_equal(plugin.directory, folder);
    assert_null(strchr(plugin.version, '\033'));
    assert_string_equal(plugin.description, "Does it.");
    assert_string_equal(plugin.unknown, "surprise, more ");
    assert_null(plugin.servers);
    put("p/mcp.json", "{'mcpServers':{'s':{'command':'x'}}}");
    look();
    assert_string_equal(plugin.servers, support_json("{'s':{'command':'x'}}"));
}

TEST(a_broken_folder_is_refused)
{
    static const char *const names[] = {"''", "'A'", "'..'", "'.x'", "'a/b'", "1", "null", "'a b'"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put("p/plugin.json", support_text("{'name':%s}", names[i]));
        refused("\"name\" does not fit");
    }
    put("p/plugin.json", "[]");
    refused("no object");
    put("p/plugin.json", "{'name':'a\\u0000'}");
    refused("NUL");
    put("p/plugin.json", "{'name':'a'}");
    assert_int_equal(truncate(support_path("p/plugin.json"), (off_t)1 << 30), 0);
    refused("too long");
    put("p/plugin.json", "{'name':'a'}");
    assert_int_equal(mkfifo(support_path("p/mcp.json"), 0600), 0);
    refused("not a regular file");
    unlink(support_path("p/mcp.json"));
    put("secret", "{'mcpServers':{'s':{'command':'x'}}}");
    assert_int_equal(symlink("../secret", support_path("p/mcp.json")), 0);
    refused("leads out of the plugin");
    unlink(support_path("p/mcp.json"));
    put("p/servers", "{'mcpServers':{'s':{'command':'x'}}}");
    assert_int_equal(symlink("servers", support_path("p/mcp.json")), 0);
    look(); /* a link within it is followed */
    assert_non_null(plugin.servers);
}

static void add(void)
{
    struct error e;
    look();
    assert_ok(plugins_add(&plugin, &e), e);
    read_servers();
}

TEST(its_servers_run_in_it_and_nowhere_else)
{
    auto_free char *data = NULL;
    assert_int_equal(mkdir(support_path("p/bin"), 0700), 0);
    put("p/bin/run", "");
    put("out", "");
    assert_int_equal(symlink("../../out", support_path("p/bin/link")), 0);
    put("p/plugin.json", "{'name':'a'}");
    put("p/mcp.json",
        "{'mcpServers':{'word':{'command':'node','args':['${PLUGIN_ROOT}/x','${PLUGIN_DATA}'],"
        "'cwd':'bin'},'file':{'command':'./bin/run','env':{'A':'b'}},"
        "'root':{'command':'${PLUGIN_ROOT}/bin/run'},'up':{'command':'../out'},"
        "'away':{'command':'/bin/sh'},'link':{'command':'./bin/link'},"
        "'gone':{'command':'./bin/gone'},'web':{'url':'https://x/${PLUGIN_ROOT}'}}}");
    add();
    data = plugin_data(&plugin);
    const struct mcp_server *word = mcp_servers_find(&servers, "word");
    assert_null(word->fault);
    assert_string_equal(word->origin, "plugin");
    assert_string_equal(word->command, "node");
    assert_string_equal(word->args.items[0], support_text("%s/x", folder));
    assert_string_equal(word->args.items[1], data);
    assert_string_equal(word->cwd, support_text("%s/bin", folder));
    assert_int_equal(access(data, W_OK), 0);
    const struct mcp_server *file = mcp_servers_find(&servers, "file");
    assert_string_equal(file->command, support_text("%s/bin/run", folder));
    assert_string_equal(file->cwd, support_path("app"));
    assert_string_equal(file->env.items[1].name, "PLUGIN_ROOT");
    assert_string_equal(file->env.items[2].value, data);
    assert_null(mcp_servers_find(&servers, "root")->fault);
    static const char *const outside[] = {"up", "away", "link", "gone"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_text(mcp_servers_find(&servers, outside[i])->fault, "no file of the plugin");
    assert_null(mcp_servers_find(&servers, "web")->fault);
}

TEST(what_was_shown_is_what_runs)
{
    struct error e;
    put("p/plugin.json", "{'name':'a'}");
    put("p/mcp.json", "{'mcpServers':{'s':{'command':'x'}}}");
    add();
    put("p/mcp.json", "{'mcpServers':{'s':{'command':'evil'},'t':{'command':'evil'}}}");
    read_servers();
    assert_int_equal(servers.len, 1);
    assert_string_equal(servers.items[0].command, "x");
    assert_ok(mcp_config_switch("s", NULL, false, &e), e);
    read_servers();
    assert_true(servers.items[0].disabled);
    put("app/.mcp.json", "{'mcpServers':{'s':{'command':'theirs'}}}");
    read_servers();
    assert_text(servers.items[1].fault, "hidden");
    assert_ok(plugins_remove("a", &e), e);
    assert_error(plugins_remove("a", &e), e, ERR_USAGE, "no plugin");
    read_servers();
    assert_int_equal(servers.len, 1);
    auto_free char *places = paths_dir(PATHS_DATA), *path = paths_join(places, "plugins.json");
    support_write(path, "{");
    read_servers();
    assert_int_equal(servers.faults.len, 1);
    assert_false(plugins_add(&plugin, &e));
    assert_string_equal(support_read(path), "{");
}

TEST(its_skills_are_found)
{
    AUTO(skills_release) struct skills skills = {.items = {0}};
    put("p/plugin.json", "{'name':'a'}");
    assert_int_equal(mkdir(support_path("p/skills"), 0700), 0);
    assert_int_equal(mkdir(support_path("p/skills/sail"), 0700), 0);
    put("p/skills/sail/SKILL.md", "---\nname: sail\ndescription: How to sail.\n---\nHoist.\n");
    assert_int_equal(mkdir(support_path("out"), 0700), 0);
    put("out/SKILL.md", "---\nname: out\ndescription: Elsewhere.\n---\nNo.\n");
    assert_int_equal(symlink("../../out", support_path("p/skills/out")), 0);
    add();
    skills_add_own(&skills, NULL, support_path("nothing"));
    assert_non_null(skills_find(&skills, "sail"));
    assert_null(skills_find(&skills, "out"));
}

/* A folder for Claude Code alone is read likewise; its hooks and agents are named and not used. */
TEST(a_plugin_of_claude_code_is_read)
{
    static const char *const folders[] = {".claude-plugin", "commands", "hooks", "skills",
                                          "skills/sail"};
    static const char *const servers_of[] = {
        "{'s':{'command':'node','args':['${CLAUDE_PLUGIN_ROOT}/x','${CLAUDE_PLUGIN_DATA}']}}",
        "{'mcpServers':{'s':{'command':'node','args':['${CLAUDE_PLUGIN_ROOT}/x','-']}}}"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(support_path(support_text("p/%s", folders[i])), 0700), 0);
    put("p/.claude-plugin/plugin.json",
        "{'name':'c','version':'1','commands':'./more','skills':['./s'],'hooks':{}}");
    put("p/hooks/hooks.json", "{'hooks':{'Stop':[]}}");
    put("p/commands/trim.md", "Trim the sail.\n");
    put("p/skills/sail/SKILL.md", "---\nname: sail\ndescription: How to sail.\n---\nHoist.\n");
    for (size_t i = 0; i < 2; i++) {
        put("p/.mcp.json", servers_of[i]);
        add();
        assert_true(plugin.claude);
        assert_string_equal(plugin.unknown, "commands, skills, hooks, hooks/hooks.json");
        const struct mcp_server *s = mcp_servers_find(&servers, "s");
        assert_null(s->fault);
        assert_string_equal(s->args.items[0], support_text("%s/x", folder));
        assert_string_equal(s->env.items[0].name, "CLAUDE_PLUGIN_ROOT");
    }
    AUTO(skills_release) struct skills skills = {.items = {0}};
    skills_add_own(&skills, NULL, support_path("nothing"));
    assert_non_null(skills_find(&skills, "sail"));
    assert_true(skills_find(&skills, "trim")->command);

    put("p/.claude-plugin/plugin.json", "{'name':'c','mcpServers':'./own.json'}");
    put("p/own.json", "{'mcpServers':{'own':{'command':'x'}}}");
    look();
    assert_string_equal(plugin.servers, support_json("{'own':{'command':'x'}}"));
    put("p/.claude-plugin/plugin.json", "{'name':'c','mcpServers':{'in':{'command':'x'}}}");
    look();
    assert_string_equal(plugin.servers, support_json("{'in':{'command':'x'}}"));
    put("p/.claude-plugin/plugin.json", "{'name':'c','mcpServers':'../own.json'}");
    put("own.json", "{}");
    refused("leads out of the plugin");

    put("p/plugin.json", "{'name':'both'}"); /* of Agent Plugins: that counts */
    look();
    assert_false(plugin.claude);
    assert_null(plugin.servers);
}

TEST(the_program_adds_what_it_has_shown)
{
    put("p/plugin.json", "{'name':'a','version':'2','description':'Sails.'}");
    put("p/mcp.json", "{'mcpServers':{'s':{'command':'x','args':['a b\\u001b[1m']}}}");
    expect(RUN("plugin"), 0, "No plugin was added");
    expect(RUN("plugin", "add", support_path("p")), 64, "--yes adds the plugin");
    expect(RUN("plugin"), 0, "No plugin was added");
    struct result r = ended(0, RUN("plugin", "add", "--yes", support_path("p")));
    assert_text(r.out, "a 2: Sails.\n");
    assert_text(r.out, "server s: x 'a b\xe2\x90\x9b[1m'\n");
    r = ended(0, RUN("plugin"));
    assert_string_equal(r.out, support_text("a  1 server, 0 skills  %s\n", folder));
    assert_text(ended(0, RUN("mcp")).out, "s  waits  (plugin)  x ");
    put("p/mcp.json", "{}");
    assert_text(ended(0, RUN("plugin")).out, "have changed");
    ended(0, RUN("plugin", "remove", "a"));
    expect(RUN("plugin", "remove", "a"), 64, "there is no plugin");
    expect(RUN("plugin", "add", support_path("app")), 64, "no plugin.json");
}
