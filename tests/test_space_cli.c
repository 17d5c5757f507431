/* Two machines that share a folder, by the command line and by engines that run. */
#include <unistd.h>

#include "base/paths.h"
#include "tests/suite.h"

static char *out, *err;

/* Each machine is a home of its own. */
static int machine(const char *name, const char *const *args)
{
    char *home = support_path(name);
    setenv("HOME", home, 1);
    int status = support_run(args, NULL, &out, &err);
    support_keep(out);
    support_keep(err);
    return status;
}
#define A(...) assert_int_equal(machine("a", TEXTS(__VA_ARGS__)), 0)
#define B(...) assert_int_equal(machine("b", TEXTS(__VA_ARGS__)), 0)

static void expect(const char *words)
{
    if (!strstr(out, words))
        fail_msg("\"%s\" lacks \"%s\" (%s)", out, words, err);
}

static char *code_of(void)
{
    return support_text("%.*s", (int)strcspn(out, "\n"), out);
}

/* A project with a remote is the working directory; machine A shares it, B has joined. */
static int setup(void **state)
{
    support_setup(state);
    struct error e;
    assert_ok(paths_make_dir(support_path("proj/.git"), &e), e);
    support_write(support_path("proj/.git/config"),
                  "[remote \"origin\"]\n\turl = git@example.org:team/tool.git\n");
    assert_int_equal(chdir(support_path("proj")), 0);
    A("space", "init", support_text("folder:%s", support_path("team")), "team", "--person", "anna");
    A("space", "share");
    expect("The project is shared now with team; entries of memory that go there at once: 0");
    A("space", "invite", "bob");
    char *code = code_of();
    B("space", "join", code, "--person", "bob");
    return 0;
}

static int teardown(void **state)
{
    assert_int_equal(chdir("/"), 0);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

TEST(what_a_machine_says_is_found_on_the_other)
{
    A("run", "-p", "offline", "the harbour crane lifts forty tons");
    A("space", "sync");
    B("space", "sync");
    expect("changes     2");
    B("memory", "search", "crane");
    expect("anna (team)");
    expect("forty tons");
    B("memory", "search", "--from", "anna", "crane");
    expect("forty tons");
    B("memory", "search", "--from", "claude", "crane");
    assert_string_equal(out, "");
    B("run", "-p", "offline", "a question about this project");
    B("space", "sync");
    B("memory", "search", "--scope", "project", "crane");
    expect("forty tons");
    A("space", "share", "--off");
    expect("No longer shared with team; entries that are taken back: 2");
    A("space", "sync");
    B("space", "sync");
    B("memory", "search", "crane");
    assert_string_equal(out, "");
    A("memory", "search", "crane");
    expect("forty tons");
}

TEST(status_and_members_tell_what_is_there)
{
    A("space");
    expect("team  anna (owner)  0 entries, 0 of others  0 waiting");
    A("space", "members");
    expect("anna  owner");
    expect("bob   writer");
    A("space", "remove", "bob");
    assert_int_equal(machine("b", TEXTS("space", "sync")), 1);
    assert_non_null(strstr(err, "bob is no member of the space team; ask one of its owners"));
    B("space", "leave", "team");
    B("space");
    assert_string_equal(out, "");
    assert_int_equal(machine("b", TEXTS("space", "join", "tiro:x.y")), 64);
    assert_int_equal(machine("b", TEXTS("space", "init", "ftp://x", "team")), 64);
}

#ifdef HAVE_LIBSODIUM
enum { SEALS = true };
#else
enum { SEALS = false };
#endif

TEST_IF(SEALS, the_log_of_a_sealed_space_has_no_word)
{
    A("space", "leave", "team");
    A("space", "init", support_text("folder:%s", support_path("sealed")), "vault", "--person",
      "anna", "--sealed");
    A("run", "-p", "offline", "the harbour crane lifts forty tons");
    A("space", "share", "--dry-run");
    assert_non_null(strstr(err, "  the harbour crane lifts forty tons\n"));
    assert_int_equal(machine("a", TEXTS("space", "share")), 64);
    assert_non_null(strstr(err, "--yes shares without asking"));
    A("space", "share", "--yes");
    expect("The project is shared now with vault; entries of memory that go there at once: 2");
    A("space", "invite", "carl");
    char *code = code_of();
    assert_int_equal(machine("c", TEXTS("space", "join", code, "--person", "carl")), 0);
    A("space", "sync"); /* admits */
    assert_int_equal(machine("c", TEXTS("space", "sync")), 0);
    expect("changes     2");
    assert_int_equal(machine("c", TEXTS("memory", "search", "crane")), 0);
    expect("forty tons");
    struct support_child grep;
    support_start(&grep, TEXTS("/bin/grep", "-rlE", "crane|tool|offline", support_path("sealed")));
    assert_int_equal(support_finish(&grep, NULL), 1);
    support_release(&grep);
    A("space", "remove", "carl");
    A("run", "-p", "offline", "a word that carl never reads");
    A("space", "sync");
    assert_int_equal(machine("c", TEXTS("space", "sync")), 1);
    assert_int_equal(machine("c", TEXTS("memory", "search", "never")), 0);
    assert_string_equal(out, "");
}

TEST_IF(SEALS, a_person_has_two_machines_in_a_sealed_space)
{
    A("space", "leave", "team");
    A("space", "init", support_text("folder:%s", support_path("sealed")), "vault", "--person",
      "anna", "--sealed");
    A("space", "share", "vault");
    A("run", "-p", "offline", "the harbour crane lifts forty tons");
    A("space", "invite", "anna");
    char *code = code_of();
    assert_int_equal(machine("d", TEXTS("space", "join", code, "--person", "anna")), 0);
    A("space", "sync"); /* her first machine keeps its keys, and admits the second */
    assert_int_equal(machine("d", TEXTS("space", "sync")), 0);
    assert_int_equal(machine("d", TEXTS("memory", "search", "crane")), 0);
    expect("forty tons");
    A("space", "members");
    expect("anna  owner");
}

/* As after a restored backup, which has no keys: better nothing than plain text. */
TEST_IF(SEALS, without_its_keys_a_sealed_space_is_sent_nothing)
{
    A("space", "leave", "team");
    A("space", "init", support_text("folder:%s", support_path("sealed")), "vault", "--person",
      "anna", "--sealed");
    A("space", "share", "vault");
    A("run", "-p", "offline", "the harbour crane lifts forty tons");
    assert_int_equal(rename(support_path("a/.local/share/tiro/spaces"), support_path("kept")), 0);
    /* The carrier says that it never was sealed. */
    char *facts = support_read(support_path("sealed/space.json")),
         *epoch = strstr(facts, "\"epoch\"");
    assert_non_null(epoch);
    memcpy(epoch, "\"other\"", 7);
    support_write(support_path("sealed/space.json"), facts);
    assert_int_equal(machine("a", TEXTS("space", "sync")), 1);
    assert_non_null(strstr(err, "the keys of this space are not on this machine"));
    struct support_child grep;
    support_start(&grep, TEXTS("/bin/grep", "-rlE", "crane|tool|offline", support_path("sealed")));
    assert_int_equal(support_finish(&grep, NULL), 1);
    support_release(&grep);
}
