/* Places of keys and of the program's own files: which they are, and that no tool reaches one
 * without a question about that very call. */
#include <unistd.h>

#include "agent/approval.h"
#include "agent/tool.h"
#include "base/paths.h"
#include "tests/play.h"
#include "tests/suite.h"
#include "tests/workplace.h"

FIXTURE(workplace_setup, workplace_teardown);

TEST(usual_places_are_known)
{
    static const char *const guarded[] = {
        "/home/u/.ssh",
        "/home/u/.ssh/config",
        "/home/u/.SSH/config",
        "/home/u/project/.gnupg/private-keys-v1.d/x",
        "/home/u/.aws/credentials",
        "/home/u/.kube/config",
        "/home/u/.docker/config.json",
        "/home/u/.config/gh/hosts.yml",
        "/home/u/.config/gh",
        "/home/u/.netrc",
        "/home/u/.git-credentials",
        "/home/u/.config/git/credentials",
        "/home/u/.npmrc",
        "/home/u/.pypirc",
        "/home/u/.bash_history",
        "/home/u/.python_history",
        "/p/.env",
        "/p/.ENV",
        "/p/.env.local",
        "/p/.envrc",
        "/p/id_rsa",
        "/p/id_ed25519.bak",
        "/p/certs/server.key",
        "/p/certs/server.PEM",
        "/.ssh",
    };
    static const char *const open[] = {
        "/",           "/home/u",         "/home/u/ssh/config", "/home/u/.sshx", "/p/x.ssh",
        "/p/env",      "/p/.environment", "/p/src/key.c",       "/p/history",    "/p/.docker/x",
        "/p/gh/hosts", "/p/.config/ghx",  "/p/config/gh",       "/p/monkey",     "/p/pem",
    };
    AUTO(guard_release) struct guard g = {0};
    guard_init(&g);
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++)
        if (!guard_covers(&g, guarded[i]))
            fail_msg("%s is not guarded", guarded[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (guard_covers(&g, open[i]))
            fail_msg("%s is guarded", open[i]);
    assert_true(guard_begins(&g, "/home/u/.ssh"));
    assert_false(guard_begins(&g, "/home/u/.ssh/config")); /* what leads to it was looked at */
}

/* Files are recognised by their real place, through any links. */
TEST(our_own_files_are_known)
{
    workplace_mkdir(".config");
    workplace_mkdir("dotfiles");
    workplace_put("dotfiles/tiro.ini", "");
    workplace_mkdir(".config/tiro");
    workplace_link("../../dotfiles/tiro.ini", ".config/tiro/tiro.ini");
    AUTO(guard_release) struct guard g = {0};
    guard_init(&g);
    char *home = support_keep(realpath(support_dir(), NULL));
    static const char *const guarded[] = {
        ".config/tiro",        ".config/tiro/themes/x",         "dotfiles/tiro.ini",
        ".local/share/tiro/x", ".local/share/tiro/tiro.db-wal", ".local/state/tiro/tiro.log",
    };
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        char *path = support_keep(paths_join(home, guarded[i]));
        if (!guard_covers(&g, path))
            fail_msg("%s is not guarded", path);
    }
    static const char *const open[] = {".config", ".config/tirox", "dotfiles", ".local/share"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        assert_false(guard_covers(&g, support_keep(paths_join(home, open[i]))));
    }
}

/* --- tools --- */

static const struct {
    const char *tool, *args;
} reaching[] = {
    {"read_file", "{\"path\":\"%s\"}"},
    {"list_directory", "{\"path\":\"%s\"}"},
    {"search_files", "{\"pattern\":\"secret\",\"path\":\"%s\"}"},
    {"write_file", "{\"path\":\"%s\",\"content\":\"mine\"}"},
};

static char *args_of(size_t tool, const char *path)
{
    struct buf out = BUF_INIT;
    const char *hole = strstr(reaching[tool].args, "%s");
    buf_add(&out, reaching[tool].args, (size_t)(hole - reaching[tool].args));
    buf_addstr(&out, path);
    buf_addstr(&out, hole + 2);
    return support_keep(buf_take(&out));
}

static void put_secrets(void)
{
    workplace_mkdir("work/.ssh");
    workplace_put("work/.ssh/id_rsa", "secret");
    workplace_put("work/.env", "secret");
    workplace_link(".env", "work/harmless");
    workplace_link(".ssh", "work/dir");
}

/* A tool that is called without the gate still reaches nothing. */
TEST(no_tool_reaches_one_unasked)
{
    static const char *const paths[] = {".env",        "harmless", "./.ssh/../.env", ".ssh",
                                        ".ssh/id_rsa", "dir",      "dir/id_rsa",     ".ssh/new/x"};
    put_secrets();
    for (size_t t = 0; t < sizeof reaching / sizeof *reaching; t++)
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            char *args = args_of(t, paths[i]);
            const char *out = workplace_call(reaching[t].tool, args, true);
            if (strstr(out, "secret"))
                fail_msg("%s %s: %s", reaching[t].tool, args, out);
        }
    char *path = support_path("work/.env"), *text = support_read(path);
    assert_string_equal(text, "secret");
}

TEST(what_was_asked_about_is_reached)
{
    AUTO(tool_call_release) struct tool_call call = {0};
    put_secrets();
    assert_true(
        tool_call_prepare(&call, &place.tools, "read_file", "{\"path\":\"harmless\"}", &place.out));
    assert_true(tool_call_is_guarded(&call));
    assert_string_equal(call.guarded + strlen(place.root), "/.env");
    assert_null(tool_call_grant(&call)); /* each time */
    call.asked = true;
    assert_false(tool_call_run(&call, &place.context, &place.out));
    assert_string_equal(place.out.data, "secret");
    /* The link leads elsewhere since: that was not asked about. */
    unlink(support_path("work/harmless"));
    workplace_link(".ssh/id_rsa", "work/harmless");
    buf_clear(&place.out);
    assert_true(tool_call_run(&call, &place.context, &place.out));
    assert_non_null(strstr(place.out.data, "was not asked"));
}

TEST(a_search_leaves_them_out_with_a_word)
{
    put_secrets();
    workplace_put("work/notes", "no secret\n");
    workplace_mkdir("work/sub");
    workplace_put("work/sub/server.key", "secret");
    const char *out = workplace_call("search_files", "{\"pattern\":\"secret\"}", false);
    assert_string_equal(out,
                        "notes:1: no secret\n[3 places left out, of keys or of tiro's own files; "
                        "the user is asked where the path names one]\n");
    out = workplace_call("search_files", "{\"pattern\":\"secret\",\"path\":\"sub/\"}", false);
    assert_non_null(strstr(out, "[1 place left out"));

    struct tool_call call; /* all below a place that was asked about is searched */
    assert_true(tool_call_prepare(&call, &place.tools, "search_files",
                                  "{\"pattern\":\"secret\",\"path\":\"dir\"}", &place.out));
    assert_true(tool_call_is_guarded(&call));
    call.asked = true;
    buf_clear(&place.out);
    assert_false(tool_call_run(&call, &place.context, &place.out));
    assert_string_equal(place.out.data, "dir/id_rsa:1: secret\n");
    tool_call_release(&call);
}

/* --- turns --- */

#define READ_ENV                                                                                   \
    {                                                                                              \
        .tool = "read_file", .args = "{\"path\":\".env\"}", .stop = STOP_TOOL_USE                  \
    }
#define DONE                                                                                       \
    {                                                                                              \
        .text = "Done.", .stop = STOP_END_TURN                                                     \
    }

static const char *result(int n)
{
    return play_event(EVENT_TOOL_EXECUTION_COMPLETED, n)->text;
}

static void put_env(void)
{
    support_write(support_path(".env"), "secret");
}

FIXTURES(play, play_setup, play_teardown);

TEST(it_asks_whatever_is_allowed)
{
    put_env();
    play_policy("read_file read write", "", NULL);
    play.answer = APPROVAL_ALLOW;
    play.for_session = true;
    PLAY(READ_ENV, READ_ENV, DONE);
    assert_int_equal(play.questions, 2); /* also when the tool was allowed for the session */
    assert_string_equal(result(0), "secret");
    assert_string_equal(result(1), "secret");
}

TEST(who_declines_keeps_it)
{
    put_env();
    play_policy("read", "", NULL);
    play.answer = APPROVAL_DENY;
    PLAY(READ_ENV, DONE);
    assert_int_equal(play.questions, 1);
    assert_string_equal(result(0), "the user declined this call");
}

TEST(without_anybody_the_answer_is_no)
{
    put_env();
    play_policy("read", "", NULL);
    play.absent = true;
    PLAY(READ_ENV, DONE);
    assert_non_null(strstr(result(0), "/.env is a place of keys or of tiro's own files"));
    assert_non_null(strstr(result(0), "nobody could be asked"));
    assert_null(strstr(result(0), "secret"));
}
