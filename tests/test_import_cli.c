/* `tiro import` through the real program. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_memory());
FIXTURE(support_setup, support_teardown);

enum { PATIENCE_MS = 20000 };

static struct error e;

static void write_turn(int n)
{
    static const char form[] =
        "{'parentUuid':null,'cwd':'/w','sessionId':'a','type':'user','uuid':'u%d','timestamp':"
        "'2026-03-01T10:00:00Z','message':{'role':'user','content':'question %d'}}\n"
        "{'parentUuid':'u%d','cwd':'/w','sessionId':'a','type':'assistant','uuid':'a%d',"
        "'timestamp':'2026-03-01T10:00:01Z','message':{'id':'m%d','role':'assistant','model':"
        "'opus','content':[{'type':'text','text':'answer kiwi%d'}]}}\n";
    char *path = support_path(".claude/projects/-w/a.jsonl");
    auto_free char *folder = paths_parent(path);
    assert_ok(paths_make_dir(folder, &e), e);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    fputs(support_json(support_text(form, n, n, n, n, n, n)), f);
    assert_int_equal(fclose(f), 0);
}

static bool is_found(void *word)
{
    return strstr(RUN("memory", "search", (const char *)word).out, word);
}

static void expect_word(const char *word)
{
    assert_true(support_wait_until(is_found, (void *)word, PATIENCE_MS * support_patience()));
}

static struct support_child start_watch(void)
{
    struct support_child c;
    support_start(&c, TEXTS(getenv("TIRO"), "import", "--watch"));
    return c;
}

/* One of two dies at any time; the other takes over. */
TEST(test_watch_reads_what_comes_and_nothing_twice)
{
    write_turn(1);
    struct support_child first = start_watch();
    expect_word("kiwi1");
    write_turn(2);
    expect_word("kiwi2");
    struct support_child second = start_watch();
    assert_true(support_read_until(&second, "Claude Code", PATIENCE_MS));
    assert_int_equal(kill(first.pid, SIGKILL), 0);
    assert_int_equal(support_finish(&first, NULL), 128 + SIGKILL);
    write_turn(3);
    expect_word("kiwi3");
    assert_int_equal(kill(second.pid, SIGTERM), 0);
    assert_int_equal(support_finish(&second, NULL), 0);
    assert_string_equal(second.err_text.data, "");
    const struct json *list = program_json(RUN("sessions", "list", "--json"));
    assert_int_equal(json_len(list), 1);
    assert_json(json_at(list, 0), "{'messages':6,'imported':'claude'}");
    support_release(&first);
    support_release(&second);
}

TEST(test_watch_stores_what_it_reads)
{
    expect(RUN("import", "--watch", "--dry-run"), 64, "--dry-run");
    expect(RUN("import", "--watch", "--json"), 64, "--json");
}
