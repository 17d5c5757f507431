/* A scan of other agents' histories that is killed before one of its calls: the next scan makes of
 * it what one scan without a death makes. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "store/store.h"
#include "tests/history_check.h"
#include "tests/import_case.h"
#include "tests/kill_campaign.h"
#include "tests/kill_private.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/zip_file.h"

/* More than a transaction takes. */
enum { LONG_TURNS = 2000 };

#define PLACE ".claude/projects/-w/"
#define DATA ".local/share/tiro"

static void write_turn(struct buf *out, const char *session, const char *parent, int n)
{
    buf_addstr(
        out,
        support_json(support_text(
            "{'parentUuid':%s,'cwd':'/w','sessionId':'%s','type':'user','uuid':'%s-u%d',"
            "'timestamp':'2026-03-01T10:00:00Z','message':{'role':'user','content':'question %d "
            "of %s'}}\n"
            "{'parentUuid':'%s-u%d','cwd':'/w','sessionId':'%s','type':'assistant','uuid':'%s-a%d',"
            "'timestamp':'2026-03-01T10:00:01Z','message':{'id':'%s-m%d','role':'assistant',"
            "'model':'opus','content':[{'type':'text','text':'answer %d of %s'}]}}\n",
            parent, session, session, n, n, session, session, n, session, session, n, session, n, n,
            session)));
}

static void write_turns(const char *path, const char *session, int from, int to)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (int i = from; i < to; i++)
        write_turn(&out, session, i > 0 ? support_text("'%s-a%d'", session, i - 1) : "null", i);
    if (from == 0)
        import_case_write(path, out.data);
    else
        import_case_append(path, out.data);
}

static void shell(const char *command)
{
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* A store that knows three conversations, one of which was deleted, and files that changed since.
 */
static void prepare(void)
{
    write_turns(PLACE "a.jsonl", "a", 0, 4);
    write_turns(PLACE "b.jsonl", "b", 0, 4);
    write_turns(PLACE "c.jsonl", "c", 0, 4);
    run_ok(RUN("import"));
    run_ok(RUN("sessions", "delete", "--yes", "question 0 of b"));
    write_turns(PLACE "b.jsonl", "b", 4, 6);
    write_turns(PLACE "c.jsonl", "c", 4, 6);
    write_turns(PLACE "d.jsonl", "d", 0, LONG_TURNS);
    AUTO(buf_release) struct buf back = BUF_INIT;
    write_turn(&back, "a", "'a-a1'", 9); /* the person went back there */
    FILE *f = fopen(support_path(PLACE "a.jsonl"), "ab");
    assert_non_null(f);
    fputs(back.data, f);
    assert_int_equal(fclose(f), 0);
#ifdef HAVE_LIBARCHIVE
    struct zip_file zip = {.bytes = BUF_INIT, .directory = BUF_INIT};
    AUTO(buf_release) struct buf member = BUF_INIT;
    write_turn(&member, "e", "null", 0);
    zip_add(&zip, "e.jsonl", member.data, member.len, false);
    zip_write(&zip, support_path(PLACE "e.zip"));
#endif
    assert_int_equal(mkdir(support_path("tmp"), 0700), 0);
    setenv("TMPDIR", support_path("tmp"), 1);
    shell(support_text("cp -a '%s' '%s'", support_path(DATA), support_path("kept")));
}

static const char *sessions_text(void)
{
    struct error e;
    assert_ok(store_open(support_path(DATA "/tiro.db"), STORE_READ_ONLY, &import_case_store, &e),
              e);
    const char *text = import_case_text();
    store_close(import_case_store);
    import_case_store = NULL;
    return text;
}

/* Names alone: a store that was closed has no journal. */
static const char *names_of_files(void)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    char piece[4096];
    FILE *p = popen(support_text("cd '%s' && find " DATA " tmp | sort", support_dir()), "r");
    assert_non_null(p);
    while (fgets(piece, sizeof piece, p))
        buf_addstr(&out, piece);
    assert_int_equal(pclose(p), 0);
    return support_text("%s", out.data);
}

/* Scans the places and the zip file; the n-th call is its last. Returns the number of calls. */
static struct kill_count scan(long n)
{
    AUTO(support_release) struct support_child child = {0};
    struct kill_argv argv = {0};
    struct kill_watch *w = kill_watch_new(n, SIGKILL);
    kill_watch_argv(w, &argv);
    vec_push(&argv.items, support_program());
    vec_push(&argv.items, "import");
    vec_push(&argv.items, support_path(PLACE));
    vec_push(&argv.items, NULL);
    support_start(&child, argv.items.items);
    int status = support_finish(&child, "");
    struct kill_count count = kill_watch_end(w);
    vec_release(&argv.items);
    if (status != 0 && !(n > 0 && status == 128 + SIGKILL))
        fail_msg("status %d: %s%s", status, child.err_text.data, child.out_text.data);
    return count;
}

static void restore(void)
{
    shell(support_text("rm -rf '%s' && cp -a '%s' '%s'", support_path(DATA), support_path("kept"),
                       support_path(DATA)));
}

void kill_import(size_t trials)
{
    entropy_seed(support_seed());
    prepare();
    struct kill_count whole = scan(0);
    const char *expected = sessions_text(), *names = names_of_files();
    long calls = whole.exact ? whole.calls : 2000, step = calls / (long)trials, killed = 0;
    assert_non_null(strstr(expected, "question 9 of a"));
    assert_null(strstr(expected, "question 3 of a"));
    assert_null(strstr(expected, " of b"));
    for (long n = 1 + (long)kill_below((size_t)(step > 1 ? step : 1)); n <= calls;
         n += step > 1 ? step : 1) {
        restore();
        killed += scan(n).sent;
        assert_store_sound(support_path(DATA "/tiro.db"));
        scan(0);
        if (strcmp(sessions_text(), expected) != 0)
            fail_msg("killed at call %ld of %ld, and then:\n%s", n, calls, sessions_text());
        const char *there = names_of_files();
        if (strcmp(there, names) != 0)
            fail_msg("killed at call %ld of %ld, and there is:\n%s", n, calls, there);
    }
    print_message("import: %ld of %ld calls were the last\n", killed, calls);
    assert_true(killed > 0);
}
