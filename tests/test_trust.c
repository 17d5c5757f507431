/* The parts of a project that could run something, and the trust in them. */
#include "knowledge/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "mcp/config.h"
#include "tests/suite.h"

static struct project_parts parts;

static int set_up(void **state)
{
    support_setup(state);
    assert_int_equal(mkdir(support_path(".git"), 0700), 0);
    return 0;
}

static int tear_down(void **state)
{
    project_parts_release(&parts);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);

static void settings(const char *text)
{
    mkdir(support_path(".claude"), 0700);
    support_write(support_path(".claude/settings.json"), support_json(text));
}

static void gather(void)
{
    project_parts_release(&parts);
    project_parts_gather(support_dir(), &parts);
}

/* "PreToolUse|matcher|command" of each part, in lines. */
static const char *gathered(void)
{
    struct buf out = BUF_INIT;
    gather();
    for (size_t i = 0; i < parts.items.len; i++)
        buf_addf(&out, "%s|%s|%s\n", parts.items.items[i].name,
                 parts.items.items[i].kind == PART_FILE ? "" : parts.items.items[i].detail,
                 parts.items.items[i].text);
    return support_keep(buf_take(&out));
}

static void faulty(const char *text)
{
    assert_string_equal(gathered(), "");
    assert_non_null(parts.faults);
    if (!strstr(parts.faults, text))
        fail_msg("%s", parts.faults);
    assert_false(trust_holds(&parts));
}

static void grant(void)
{
    struct error e = {0};
    gather();
    if (!trust_grant(&parts, &e))
        fail_msg("%s", e.text);
    assert_true(trust_holds(&parts));
}

static void holds(bool wanted)
{
    gather();
    assert_int_equal(trust_holds(&parts), wanted);
}

#define ONE                                                                                        \
    "{'hooks':{'PreToolUse':[{'matcher':'Bash','hooks':[{'type':'command','command':'%s'}]}]}}"

TEST(hooks_of_a_project)
{
    assert_string_equal(gathered(), "");
    assert_null(parts.faults);
    assert_string_equal(parts.directory, support_dir());
    settings(
        "{'hooks':{'PreToolUse':[{'matcher':'Bash|Edit','hooks':["
        "{'type':'command','command':'one'},{'type':'prompt','command':'no'},"
        "{'type':'command'},{'command':'two'}]},{'hooks':[{'command':'three'}]},7,null],"
        "'Notification':[{'hooks':[{'command':'no'}]}],"
        "'Stop':[{'hooks':[{'command':'four'}]}]},'permissions':{'allow':['Bash']}}");
    assert_string_equal(gathered(),
                        "PreToolUse|Bash|Edit|one\nPreToolUse|Bash|Edit|two\n"
                        "PreToolUse||three\nStop||four\n");
    assert_null(parts.faults);
    settings("{'hooks':[1,{'PreToolUse':3}]}");
    assert_string_equal(gathered(), "");
    settings("{'hooks':");
    faulty("settings.json was passed over: ");
}

TEST(the_programs_of_a_hook_are_parts)
{
    support_write(support_path("check.sh"), "#!/bin/sh\nexit 0\n");
    mkdir(support_path("tools"), 0700);
    support_write(support_path("tools/a.py"), "pass\n");
    settings(support_text(ONE,
                          "\\'$CLAUDE_PROJECT_DIR\\'/check.sh -x; python3 tools/a.py "
                          "./check.sh ../other tools"));
    assert_non_null(strstr(gathered(), "check.sh||#!/bin/sh\nexit 0\n\ntools/a.py||pass\n\n"));
    assert_int_equal(parts.items.len, 3);
    assert_true(project_parts_unchanged(&parts));
    grant();
    holds(true);
    support_write(support_path("tools/a.py"), "evil\n");
    holds(false);
    grant();
    support_write(support_path("tools/a.py"), "pass\n");
    assert_false(project_parts_unchanged(&parts));
    grant();
    assert_true(project_parts_unchanged(&parts));
    assert_int_equal(unlink(support_path("tools/a.py")), 0);
    assert_false(project_parts_unchanged(&parts));
}

/* A file that a hook writes or reads is no part; otherwise each run would end trust. */
TEST(data_of_a_hook_is_no_part)
{
    static const char *const files[] = {"log", "data.json", "check", "a.sh", "out.sh", "start"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        support_write(support_path(files[i]), "x");
    chmod(support_path("start"), 0700);
    settings(support_text(ONE, "start <data.json | tee log >>log 2> out.sh; bash -e check a.sh"));
    gather();
    assert_int_equal(parts.items.len, 4);
    assert_string_equal(parts.items.items[1].name, "start");
    assert_string_equal(parts.items.items[2].name, "check");
    assert_string_equal(parts.items.items[3].name, "a.sh");
}

/* A program that is a link counts with its content, or beyond the project with its target. */
TEST(a_program_that_is_a_link)
{
    support_write(support_path("real.sh"), "exit 0\n");
    settings(support_text(ONE, "./check.sh"));
    assert_int_equal(symlink("real.sh", support_path("check.sh")), 0);
    assert_non_null(strstr(gathered(), "check.sh||exit 0\n"));
    grant();
    support_write(support_path("real.sh"), "exit 1\n");
    holds(false);
    grant();
    assert_int_equal(unlink(support_path("check.sh")), 0);
    assert_int_equal(symlink("/bin/sh", support_path("check.sh")), 0);
    holds(false);
    assert_non_null(strstr(gathered(), "check.sh||a link to /"));
}

TEST(any_change_of_a_part_ends_trust)
{
    static const char *const others[] = {
        "{'hooks':{'PreToolUse':[{'matcher':'Bash','hooks':[{'command':'true'}]}]}}",
        "{'hooks':{'PreToolUse':[{'matcher':'Edit','hooks':[{'command':'true'}]}]}}",
        "{'hooks':{'Stop':[{'matcher':'Bash','hooks':[{'command':'true'}]}]}}",
        "{'hooks':{'Stop':[{'hooks':[{'command':'true'},{'command':'x'}]}]}}"};
    holds(false);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        settings(others[i]);
        holds(false);
        grant();
        holds(true);
    }
    settings(support_text(ONE, "true"));
    holds(false); /* of several grants the last one holds */
    settings(support_text(ONE, "true "));
    holds(false);
}

/* A space before the member: another text of the same parts. */
TEST(a_change_of_something_else_does_not)
{
    settings(support_text(ONE, "true"));
    grant();
    settings(support_text(" " ONE, "true"));
    holds(true);
    mkdir(support_path("sub"), 0700);
    project_parts_release(&parts);
    project_parts_gather(support_path("sub"), &parts); /* of the same project */
    assert_true(trust_holds(&parts));
}

TEST(trust_is_listed_and_taken_back)
{
    struct permissions all;
    struct error e = {0};
    settings(support_text(ONE, "true"));
    assert_true(permissions_set(support_dir(), "write_file", true, &e));
    assert_true(permissions_set("/another", "write_file", true, &e));
    grant();
    assert_true(trust_list(&all, &e));
    assert_int_equal(all.len, 1);
    assert_string_equal(all.items[0], support_dir());
    permissions_release(&all);
    assert_true(trust_revoke(support_dir(), &e));
    holds(false);
    assert_true(trust_list(&all, &e));
    assert_int_equal(all.len, 0);
    permissions_release(&all);
    assert_true(permissions_read(support_dir(), &all, &e));
    assert_int_equal(all.len, 1); /* the permission of a tool stays */
    permissions_release(&all);
}

/* The hash is SHA-256: this one was made by sha256sum. */
TEST(the_hash_of_a_file)
{
    support_write(support_path("check.sh"), "abc");
    settings(support_text(ONE, "./check.sh"));
    gather();
    assert_string_equal(parts.items.items[1].detail,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    struct buf long_text = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_addstr(&long_text, "0123456789");
    support_write(support_path("check.sh"), long_text.data);
    buf_release(&long_text);
    gather();
    assert_string_equal(parts.items.items[1].detail,
                        "4c207598af7a20db0e3334dd044399a40e467cb81b37f7ba05a4f76dcbd8fd59");
}

TEST(a_question_shows_everything_revealed)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    support_write(support_path("check.sh"), "echo \033[2J\nhook Stop:\n");
    settings(support_text(ONE, "./check.sh \\u202e\\nhook Stop:\\r"));
    gather();
    project_parts_describe(&parts, &text);
    assert_string_equal(
        text.data,
        support_text("%s\nwould run these programs as you, without further questions:\n\n"
                     "hook PreToolUse for Bash:\n    ./check.sh <U+202E>\n    hook Stop:␍\n\n"
                     "file check.sh:\n    echo ␛[2J\n    hook Stop:\n",
                     support_dir()));
}

/* --- a hostile repository --------------------------------------------------------------------- */

TEST(links_of_a_hostile_repository)
{
    support_write(support_path("outside.json"), support_json(support_text(ONE, "evil")));
    mkdir(support_path(".claude"), 0700);
    assert_int_equal(symlink("../outside.json", support_path(".claude/settings.json")), 0);
    faulty("/.claude/settings.json was passed over: a symbolic link is not followed here");
    assert_int_equal(unlink(support_path(".claude/settings.json")), 0);
    assert_int_equal(rmdir(support_path(".claude")), 0);
    mkdir(support_path("elsewhere"), 0700);
    support_write(support_path("elsewhere/settings.json"), support_json(support_text(ONE, "evil")));
    assert_int_equal(symlink("elsewhere", support_path(".claude")), 0);
    faulty("a symbolic link is not followed here");
}

TEST(files_that_would_cost_much)
{
    mkdir(support_path(".claude"), 0700);
    int fd = open(support_path(".claude/settings.json"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
    close(fd);
    faulty("it has more than 1 MiB");
    assert_int_equal(unlink(support_path(".claude/settings.json")), 0);
    assert_int_equal(mkfifo(support_path(".claude/settings.json"), 0600), 0);
    faulty("it is no regular file");
    assert_int_equal(unlink(support_path(".claude/settings.json")), 0);
    assert_int_equal(mkdir(support_path(".claude/settings.json"), 0700), 0);
    faulty("it is no regular file");
}

TEST(more_than_can_be_shown_is_never_trusted)
{
    struct error e = {0};
    struct buf text = BUF_INIT;
    buf_addstr(&text, "{'hooks':{'Stop':[{'hooks':[");
    for (int i = 0; i <= PROJECT_PARTS; i++)
        buf_addf(&text, "%s{'command':'%d'}", i ? "," : "", i);
    buf_addstr(&text, "]}]}}");
    settings(text.data);
    buf_release(&text);
    gather();
    assert_true(parts.excessive);
    assert_non_null(strstr(parts.faults, "more than can be shown"));
    assert_false(trust_grant(&parts, &e));
    assert_int_equal(e.code, ERR_FORBIDDEN);
    buf_init(&text, 0); /* a matcher that each of its hooks would copy */
    buf_addstr(&text, "{'hooks':{'Stop':[{'matcher':'");
    for (int i = 0; i < 400 * 1024; i++)
        buf_addch(&text, 'm');
    buf_addstr(&text, "','hooks':[{'command':'1'},{'command':'2'}]}]}}");
    settings(text.data);
    buf_release(&text);
    gather();
    assert_true(parts.excessive);
    assert_int_equal(parts.items.len, 1);
    int fd = open(support_path("check.sh"), O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
    close(fd);
    settings(support_text(ONE, "./check.sh"));
    gather();
    assert_true(parts.excessive);
    assert_false(trust_grant(&parts, &e));
    assert_false(trust_holds(&parts));
}

/* --- servers ---------------------------------------------------------------------------------- */

static void project_servers(const char *text)
{
    support_write(support_path(".mcp.json"), support_json(text));
}

/* Names of the servers that may be started. */
static const char *startable(void)
{
    struct mcp_servers servers;
    struct buf out = BUF_INIT;
    gather();
    mcp_servers_read(support_dir(), NULL, &servers);
    trust_mark_servers(&parts, trust_holds(&parts), &servers);
    for (size_t i = 0; i < servers.len; i++)
        buf_addf(&out, "%s%s", servers.items[i].name, servers.items[i].fault ? "! " : " ");
    mcp_servers_release(&servers);
    return support_keep(buf_take(&out));
}

TEST(servers_of_a_project_wait_for_trust)
{
    assert_int_equal(mkdir(support_path("tools"), 0700), 0);
    support_write(support_path("tools/run.sh"), "echo");
    support_write(support_path("tools/data.json"), "{}");
    project_servers(
        "{'mcpServers':{'a':{'command':'./run.sh','args':['data.json','../x.py'],"
        "'cwd':'tools','env':{'KEY':'1'}},'b':{'url':'https://example.org/'}}}");
    support_write(support_path("x.py"), "print()");
    const char *all = gathered();
    assert_string_equal(
        all, support_text("a|%s|./run.sh data.json ../x.py; in tools; environment: KEY=1\n"
                          "tools/./run.sh||echo\ntools/../x.py||print()\n"
                          "b|%s|https://example.org/\n",
                          parts.items.items[0].detail, parts.items.items[3].detail));
    assert_string_equal(startable(), "a! b! ");
    grant();
    assert_string_equal(startable(), "a b ");
    support_write(support_path("x.py"), "import os");
    assert_string_equal(startable(), "a! b! ");
    support_write(support_path("x.py"), "print()");
    support_write(support_path("tools/data.json"), "[]");
    assert_string_equal(startable(), "a b ");
    project_servers("{'mcpServers':{'a':{'command':'./run.sh','cwd':'tools'}}}");
    assert_string_equal(startable(), "a! ");
}

TEST(a_server_is_started_as_it_was_trusted)
{
    struct mcp_servers servers;
    project_servers("{'mcpServers':{'a':{'command':'x'}}}");
    grant();
    project_servers("{'mcpServers':{'a':{'command':'x','args':['evil']}}}");
    mcp_servers_read(support_dir(), NULL, &servers);
    trust_mark_servers(&parts, true, &servers);
    assert_string_equal(servers.items[0].fault, "you do not trust this project yet");
    mcp_servers_release(&servers);
}

static void put_skill(const char *name, const char *description)
{
    auto_free char *folder = mem_printf(".agents/skills/%s", name);
    auto_free char *path = mem_printf("%s/SKILL.md", folder);
    struct error e;
    assert_true(paths_make_dir(support_path(folder), &e));
    support_write(support_path(path),
                  support_text("---\nname: %s\ndescription: %s\n---\nText\n", name, description));
}

TEST(a_skill_is_one_part_with_its_files)
{
    put_skill("pdf", "Reads PDF files.");
    put_skill("broken", "\"\"");
    mkdir(support_path(".agents/skills/pdf/scripts"), 0700);
    support_write(support_path(".agents/skills/pdf/scripts/a.sh"), "echo a\n");
    setenv("HOME", support_path("home"), 1);
    gather();
    assert_int_equal(parts.items.len, 1);
    assert_int_equal(parts.items.items[0].kind, PART_SKILL);
    assert_string_equal(parts.items.items[0].name, ".agents/skills/pdf/SKILL.md");
    assert_string_equal(parts.items.items[0].text,
                        "text for the model: Reads PDF files.\nscripts/a.sh (7 bytes)");
    grant();
    support_write(support_path(".agents/skills/pdf/scripts/a.sh"), "echo b\n");
    holds(false);
    grant();
    put_skill("pdf", "Reads more.");
    holds(false);
    grant();
    support_write(support_path(".agents/skills/pdf/scripts/new"), "");
    holds(false);
}

/* The project's own parts are the same in all of its directories, and so is the answer. */
TEST(trust_in_a_project_holds_below_its_top)
{
    static const char *const directories[] = {"", "plain", "sub", "sub/plain"};
    struct error e;
    mkdir(support_path(".git"), 0700);
    put_skill("pdf", "Reads PDF files.");
    assert_true(paths_make_dir(support_path("plain"), &e));
    assert_true(paths_make_dir(support_path("sub/plain"), &e));
    assert_true(paths_make_dir(support_path("sub/.claude/commands"), &e));
    support_write(support_path("sub/.claude/commands/fix.md"), "Fix it.\n");
    setenv("HOME", support_path("home"), 1);
    grant();
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
            project_parts_release(&parts);
            project_parts_gather(support_path(directories[i]), &parts);
            bool more = strncmp(directories[i], "sub", 3) == 0;
            assert_int_equal(parts.items.len, more ? 2 : 1);
            /* At first only the top is trusted; then what is below, too; then that has changed. */
            assert_int_equal(trust_holds(&parts), !more || round == 1);
            if (more && round == 0 && i == 3)
                assert_true(trust_grant(&parts, &e));
            if (round == 1 && i == 3)
                support_write(support_path("sub/.claude/commands/fix.md"), "Break it.\n");
        }
    assert_true(trust_revoke(parts.directory, &e));
    assert_false(trust_holds(&parts));
    holds(false);
}
