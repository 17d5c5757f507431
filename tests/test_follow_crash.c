/* The real program, killed with SIGKILL at any call while it adds finished sessions to memory:
 * after any number of kills, each message is there once. FOLLOW_ROUNDS sets the number of rounds;
 * TIRO_TEST_SEED repeats one. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "session/capability.h"
#include "session/health.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/kill_watch.h"
#include "tests/record.h"
#include "tests/suite.h"

enum { ROUNDS = 5, SESSIONS = 12, TURNS = 5, LONG_TURNS = 400, DEADLINE_MS = 30000, CALLS = 1500 };

static char *database;
static struct record talks[SESSIONS];
static int said; /* messages */

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static int setup(void **state)
{
    struct error e;
    if (support_setup(state) != 0 || chdir(support_dir()) != 0 ||
        !paths_make_dir(support_path(".local/share/tiro"), &e))
        return -1;
    database = support_path(".local/share/tiro/tiro.db");
    entropy_seed(support_seed());
    said = 0;
    return 0;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < SESSIONS; i++)
        record_release(&talks[i]);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

/* --- messages --------------------------------------------------------------------------------- */

static struct store *open_store(void)
{
    struct store *store;
    struct error e;
    assert_ok(store_open(database, STORE_READ_WRITE, &store, &e), e);
    return store;
}

/* Texts are all different: of the same one a session has but one entry. */
static void say(struct record *talk, int turns)
{
    for (int i = 0; i < turns; i++, said += 2)
        record_run(talk, support_text("question %d", said), support_text("answer %d", said));
    record_save(talk);
}

static void begin_talks(void)
{
    struct store *store = open_store();
    for (size_t i = 0; i < SESSIONS; i++) {
        record_begin(&talks[i], store);
        say(&talks[i], i == 0 ? LONG_TURNS : TURNS);
    }
    store_close(store);
}

static void go_on_talking(void)
{
    struct store *store = open_store();
    for (size_t i = 0; i < SESSIONS; i++) {
        talks[i].store = store;
        say(&talks[i], (int)below(TURNS));
    }
    store_close(store);
}

/* --- the program ------------------------------------------------------------------------------ */

static int64_t number(const char *sql)
{
    return damage_number(database, sql);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* While the program opens or closes it, nobody else can look into the database. */
static bool nothing_is_left(void)
{
    struct store *store;
    struct error e;
    int64_t left = -1;
    if (!store_open(database, STORE_READ_ONLY, &store, &e))
        return false;
    bool known = store_number(store,
                              "SELECT (SELECT count(*) FROM memory_followed WHERE due)"
                              " + (SELECT count(*) FROM memory_deferred)",
                              &left, &e);
    store_close(store);
    return known && left == 0;
}

static bool has_ended_or_done(void *child)
{
    return has_ended(((const struct support_child *)child)->pid) || nothing_is_left();
}

/* The program is hit at this call; 0: it runs until all entries are in memory. */
static struct kill_count run(long at)
{
    struct support_child child;
    struct kill_argv argv = {0};
    struct kill_watch *watch = kill_watch_new(at, SIGKILL);
    kill_watch_argv(watch, &argv);
    vec_push(&argv.items, support_program());
    static const char *const args[] = {"--plain", "--provider", "offline", NULL};
    for (size_t i = 0; i <= sizeof args / sizeof *args - 1; i++)
        vec_push(&argv.items, args[i]);
    support_start(&child, argv.items.items);
    vec_release(&argv.items);
    assert_true(support_wait_until(has_ended_or_done, &child, DEADLINE_MS));
    int status = support_finish(&child, NULL);
    struct kill_count count = kill_watch_end(watch);
    if (status != 0 && status != 128 + SIGKILL)
        fail_msg("status %d: %s", status, child.err_text.data);
    support_release(&child);
    return count;
}

/* --- invariants ------------------------------------------------------------------------------- */

static void check_nothing_twice(void)
{
    struct health health;
    health_check(database, true, health_extensions, &health);
    if (health.state != HEALTH_GOOD)
        fail_msg("%s", health.detail);
    assert_int_equal(number("SELECT count(*) - count(DISTINCT session || ' ' || seq)"
                            " FROM memory_entry"),
                     0);
}

FIXTURE(setup, teardown);

TEST_IF(capability_store() && capability_memory(), each_message_is_there_once)
{
    const char *given = getenv("FOLLOW_ROUNDS");
    size_t rounds = given ? strtoul(given, NULL, 10) : ROUNDS, killed = 0;
    long calls = CALLS; /* of the newest run that was not cut off */
    begin_talks();
    for (size_t i = 0; i < rounds; i++) {
        struct kill_count count = run(1 + (long)below((size_t)calls));
        killed += count.sent;
        if (!count.sent && count.exact)
            calls = count.calls;
        check_nothing_twice();
        go_on_talking();
    }
    print_message("killed in %zu of %zu rounds\n", killed, rounds);
    assert_true(killed > 0);
    run(0);
    check_nothing_twice();
    assert_int_equal(number("SELECT count(*) FROM memory_entry"), said);
    assert_int_equal(number("SELECT count(DISTINCT content) FROM memory_entry"), said);
}
