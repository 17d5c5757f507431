/* tiro corpus: what its commands print and refuse, in the real program. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "session/capability.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct {
    char *out, *err;
    int status;
} r;

static int set_up(void **state)
{
    support_setup(state);
    r.out = r.err = NULL;
    return 0;
}

static int tear_down(void **state)
{
    free(r.out);
    free(r.err);
    return support_teardown(state);
}

static void run_with(const char *const *args)
{
    free(r.out);
    free(r.err);
    r.status = support_run(args, NULL, &r.out, &r.err);
}
#define CORPUS(...) run_with((const char *const[]){"corpus", __VA_ARGS__, NULL})
#define SAYS(text) assert_non_null(strstr(r.out, text))
#define WARNS(text) assert_non_null(strstr(r.err, text))

static void notes(void)
{
    mkdir(support_path("notes"), 0700);
    support_write(support_path("notes/kyoto.md"), "# Travel\n\nThe ryokan is booked for May.\n");
    support_write(support_path("notes/garden.txt"), "Basil wants sun.\n");
    CORPUS("add", "notes", support_path("notes"));
    assert_string_equal(r.out, "2 files: 2 new\n");
    assert_int_equal(r.status, 0);
}

FIXTURE(set_up, tear_down);
NEEDS(capability_store() && capability_corpora());

TEST(without_a_corpus_it_says_what_makes_one)
{
    CORPUS("list");
    assert_int_equal(r.status, 0);
    WARNS("tiro corpus add");
}

TEST(what_was_added_is_listed_shown_and_found)
{
    notes();
    CORPUS("list");
    SAYS("notes  2 documents  2 passages");
    CORPUS("show", "notes");
    SAYS("kyoto.md");
    CORPUS("show", "notes", "2");
    SAYS("kyoto.md:1  Travel\n# Travel\n\nThe ryokan is booked for May.\n");
    CORPUS("search", "ryokan", "booked");
    SAYS("[1] ");
    SAYS("kyoto.md:1");
    CORPUS("search", "--in", "notes", "--filter", "*.txt", "--weight", "1", "-n", "1", "basil");
    SAYS("garden.txt:1");
    CORPUS("search", "zeppelin");
    assert_string_equal(r.out, "");
    WARNS("nothing found in 2 passages");
    CORPUS("stats");
    SAYS("passages");
}

TEST(json_is_what_the_operations_give)
{
    static const char *const commands[][5] = {{"list", "--json"},
                                              {"show", "--json", "notes"},
                                              {"search", "--json", "ryokan"},
                                              {"stats", "--json"},
                                              {"update", "--json"}};
    notes();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *args[7] = {"corpus"};
        for (int k = 0; k < 5; k++)
            args[k + 1] = commands[i][k];
        run_with(args);
        assert_int_equal(r.status, 0);
        AUTO(json_free_local) struct json *v = json_parse(r.out, strlen(r.out), NULL);
        assert_non_null(v);
    }
}

TEST(an_update_reads_what_has_changed)
{
    notes();
    support_write(support_path("notes/garden.txt"), "Carrots want sand.\n");
    support_write(support_path("notes/new.txt"), "A lantern.\n");
    CORPUS("update");
    assert_string_equal(r.out, "3 files: 1 new, 1 changed, 1 unchanged\n");
    CORPUS("update", "notes");
    assert_string_equal(r.out, "3 files: 3 unchanged\n");
}

TEST(what_is_unreadable_is_told_and_listed)
{
    notes();
    support_write(support_path("notes/empty.txt"), " \n");
    CORPUS("update");
    SAYS("1 unreadable");
    WARNS("--failed");
    CORPUS("show", "--failed", "notes");
    SAYS("empty.txt");
}

TEST(removal_asks_and_leaves_the_files)
{
    notes();
    CORPUS("remove", "notes");
    assert_int_equal(r.status, 64);
    WARNS("--yes");
    CORPUS("remove", "-y", "notes", support_path("notes/kyoto.md"));
    assert_string_equal(r.out, "1 document removed\n");
    CORPUS("remove", "-y", "notes");
    assert_string_equal(r.out, "1 document removed\n");
    struct stat st;
    assert_int_equal(stat(support_path("notes/kyoto.md"), &st), 0);
    CORPUS("remove", "-y", "notes");
    assert_int_equal(r.status, 1);
}

TEST(what_is_wrong_is_said)
{
    CORPUS("add", "x", "/nowhere/at/all");
    assert_int_equal(r.status, 1);
    WARNS("/nowhere/at/all");
    CORPUS("add", "a b", support_dir());
    assert_int_equal(r.status, 64);
    CORPUS("search", "--weight", "2", "x");
    assert_int_equal(r.status, 64);
    WARNS("0 to 1");
    CORPUS("show", "x");
    assert_int_equal(r.status, 1);
    CORPUS("show", "x", "y");
    assert_int_equal(r.status, 64);
}

static bool is_begun(void *path)
{
    return access(path, F_OK) == 0;
}

TEST(an_interrupt_stops_a_loader)
{
    char *begun = support_path("begun"), *file = support_path("a.slow");
    const char *const argv[] = {support_program(), "corpus", "add", "slow", file, NULL};
    struct support_child c;
    support_write(file, "text");
    mkdir(support_path(".config"), 0700);
    mkdir(support_path(".config/tiro"), 0700);
    support_write(support_path(".config/tiro/tiro.ini"),
                  support_text("[corpus]\nloader.slow = : >'%s'; sleep 1000\n", begun));
    support_start(&c, argv);
    assert_true(support_wait_until(is_begun, begun, 10000));
    kill(c.pid, SIGINT);
    assert_int_equal(support_finish(&c, NULL), 1);
    assert_non_null(strstr(c.err_text.data, "INTERRUPTED: stopped; "));
    support_release(&c);
}

TEST(doctor_counts_corpora_and_what_could_not_be_read)
{
    mkdir(support_path("notes"), 0700);
    support_write(support_path("notes/a.docx"), "no archive");
    support_write(support_path("notes/b.txt"), "Basil wants sun.\n");
    CORPUS("add", "notes", support_path("notes"));
    run_with((const char *const[]){"doctor", NULL});
    SAYS(", 1 corpus of 1 document with 1 passage (1 file could not be read)\n");
    run_with((const char *const[]){"doctor", "--json", NULL});
    SAYS("\"unreadable\":\t1");
}
