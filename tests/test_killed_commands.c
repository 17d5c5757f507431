/* tiro sessions import, delete, fork and rebuild, and the first start of all, killed with SIGKILL
 * while they write: what they do is done or not done, never half. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "store/sessions.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/support.h"
#include "tests/surface.h"

enum { DEADLINE_MS = 20000, KILLS = 12, TURNS = 400 };

static char *directory, *database, *journal, *pristine, *text;
static char session[UUID_LEN + 1];

/* A session of some megabytes, and the same as a text to import. */
static void make_session(void)
{
    struct store *store;
    struct error e = {0};
    struct record r;
    struct buf answer = BUF_INIT;
    for (int i = 0; i < 300; i++)
        buf_addf(&answer, "quincunx%d ", i);
    assert_true(store_open(database, STORE_READ_WRITE, &store, &e));
    record_begin(&r, store);
    assert_true(store_begin(store, &e));
    for (int i = 0; i < TURNS; i++)
        record_run(&r, "Is the quincunx square?", answer.data);
    assert_true(store_commit(store, &e));
    memcpy(session, r.info.id, sizeof session);
    record_release(&r);
    store_close(store);
    buf_release(&answer);
    damage_copy(database, pristine);
    expect(RUN("sessions", "export", "--format", "json", "-o", text, session), 0, "");
}

static int setup(void **state)
{
    if (support_setup(state) != 0 || chdir(support_dir()) != 0)
        return -1;
    directory = support_path(".local/share/tiro");
    database = support_path(".local/share/tiro/tiro.db");
    journal = support_path(".local/share/tiro/tiro.db-wal");
    pristine = support_path("pristine.db");
    text = support_path("session.json");
    entropy_seed(support_seed());
    return 0;
}

static int teardown(void **state)
{
    char *const paths[] = {directory, database, journal, pristine, text};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        free(paths[i]);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

/* Takes everything away but the database, which is as it was; NULL: nothing is left. */
static void restore(const char *from)
{
    char *command = mem_printf("rm -rf '%s' && mkdir -p '%s'", directory, directory);
    assert_int_equal(system(command), 0);
    free(command);
    if (from)
        damage_copy(from, database);
}

/* --- killing -----------------------------------------------------------------------------------
 */

/* A program that is killed once a file has reached a size, unless it is done before. */
struct victim {
    struct support_child child;
    const char *file;
    off_t goal, largest;
};

static bool has_ended(const struct victim *v)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)v->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

static bool is_due(void *context)
{
    struct victim *v = context;
    struct stat st;
    bool there = stat(v->file, &st) == 0;
    if (there && st.st_size > v->largest)
        v->largest = st.st_size;
    return (there && st.st_size >= v->goal) || has_ended(v);
}

/* Its exit status, and the largest size that the file was seen with. */
static int kill_at(const char *const *argv, const char *file, off_t goal, off_t *largest)
{
    struct victim v = {.file = file, .goal = goal};
    support_start(&v.child, argv);
    close(v.child.in);
    v.child.in = -1;
    assert_true(support_wait_until(is_due, &v, DEADLINE_MS));
    kill(v.child.pid, SIGKILL);
    int status = support_finish(&v.child, NULL);
    if (status != 0 && status != 128 + SIGKILL)
        fail_msg("status %d: %s", status, v.child.err_text.data);
    support_release(&v.child);
    if (largest)
        *largest = v.largest;
    return status;
}

/* Killed as soon as it has said something. */
static void kill_at_word(const char *const *argv)
{
    struct support_child c;
    support_start(&c, argv);
    close(c.in);
    c.in = -1;
    support_read_until(&c, "\n", DEADLINE_MS);
    kill(c.pid, SIGKILL);
    support_finish(&c, NULL);
    support_release(&c);
}

/* --- what is there -----------------------------------------------------------------------------
 */

struct contents {
    int64_t sessions, events, words;
};

static struct contents contents(void)
{
    assert_store_sound(database);
    return (struct contents){
        .sessions = damage_sql(database, "SELECT count(*) FROM session"),
        .events = damage_sql(database, "SELECT count(*) FROM event"),
        .words = damage_sql(database,
                            "SELECT count(*) FROM transcript WHERE transcript MATCH 'quincunx'"),
    };
}

static bool same(struct contents a, struct contents b)
{
    return a.sessions == b.sessions && a.events == b.events && a.words == b.words;
}

/* The command undisturbed, then killed when its journal has reached any size. */
static void assert_all_or_nothing(const char *const *argv, int sessions_after)
{
    off_t largest = 0;
    size_t killed = 0, undone = 0;
    restore(pristine);
    struct contents before = contents();
    assert_int_equal(kill_at(argv, journal, INT64_MAX, &largest), 0);
    struct contents after = contents();
    assert_int_equal(after.sessions, sessions_after);
    for (int i = 0; i < KILLS; i++) {
        restore(pristine);
        off_t goal = (off_t)(entropy_unit() * (double)largest);
        int status = kill_at(argv, journal, i == 0 ? 0 : i < 4 ? largest : goal, NULL);
        struct contents now = contents();
        assert_true(same(now, after) || (status != 0 && same(now, before)));
        killed += status != 0;
        undone += same(now, before);
    }
    restore(pristine);
    kill_at_word(argv);
    assert_true(same(contents(), after));
    print_message("%s: %zu of %d killed, %zu undone, journal of %lld bytes\n", argv[2], killed,
                  KILLS, undone, (long long)largest);
    assert_true(killed > 0 && undone > 0);
}

static void a_killed_command_is_done_or_not(void **state)
{
    (void)state;
    make_session();
    const char *program = support_program();
    assert_all_or_nothing((const char *const[]){program, "sessions", "import", text, NULL}, 2);
    assert_all_or_nothing((const char *const[]){program, "sessions", "fork", session, NULL}, 2);
    assert_all_or_nothing(
        (const char *const[]){program, "sessions", "delete", "--yes", session, NULL}, 0);
}

static void a_killed_rebuild_is_made_good_by_the_next(void **state)
{
    (void)state;
    make_session();
    char *events = mem_printf("%s/sessions/%s/events.jsonl", directory, session);
    char *growing = mem_printf("%s.new", events);
    const char *const argv[] = {support_program(), "sessions", "rebuild", session, NULL};
    off_t largest = 0;
    restore(pristine);
    assert_int_equal(kill_at(argv, growing, INT64_MAX, &largest), 0);
    char *whole = support_read(events);
    for (int i = 0; i < KILLS; i++) {
        restore(pristine);
        kill_at(argv, growing, (off_t)(entropy_unit() * (double)largest), NULL);
        if (access(events, F_OK) == 0) { /* it appears whole */
            char *now = support_read(events);
            assert_string_equal(now, whole);
            free(now);
        }
        expect(RUN("sessions", "rebuild", session), 0, "");
        char *now = support_read(events);
        assert_string_equal(now, whole);
        free(now);
        assert_int_equal(access(growing, F_OK), -1);
    }
    free(whole);
    free(growing);
    free(events);
}

static void a_killed_first_start_is_made_good_by_the_next(void **state)
{
    (void)state;
    struct model_server *server = begin_server();
    const char *const argv[] = {support_program(), "run", "hello", NULL};
    off_t largest = 0;
    restore(NULL);
    assert_int_equal(kill_at(argv, journal, INT64_MAX, &largest), 0);
    for (int i = 0; i < KILLS; i++) {
        restore(NULL);
        bool early = i % 2 == 0;
        kill_at(argv, early ? database : journal, (off_t)(entropy_unit() * (double)largest / 2),
                NULL);
        expect(RUN("run", "hello again"), 0, "");
        assert_true(assert_store_sound(database) >= 1);
    }
    end_server(server);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        support_stored(a_killed_command_is_done_or_not, setup, teardown),
        support_stored(a_killed_rebuild_is_made_good_by_the_next, setup, teardown),
        support_stored(a_killed_first_start_is_made_good_by_the_next, setup, teardown),
    };
    return cmocka_run_group_tests_name("killed_commands", all, NULL, NULL);
}
