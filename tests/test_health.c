/* The doctor's findings about a database: every state is a real one, and looking changes none. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/paths.h"
#include "memory/memory.h"
#include "session/health.h"
#include "store/health.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/suite.h"

static char *path;

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    return 0;
}

static int tear_down(void **state)
{
    return support_teardown(state);
}

static struct health found;

static void looked_at(const char *file, bool thorough, enum health_state state)
{
    char *before = support_keep(damage_tree(support_dir()));
    health_check(file, thorough, health_extensions, &found);
    assert_string_equal(before, support_keep(damage_tree(support_dir())));
    if (found.state != state)
        print_message("%s: %s\n", health_name(found.state), found.detail);
    assert_string_equal(health_name(found.state), health_name(state));
}

static void expect(enum health_state state)
{
    looked_at(path, false, state);
    looked_at(path, true, state);
}

static void expect_detail(enum health_state state, const char *detail)
{
    expect(state);
    assert_non_null(strstr(found.detail, detail));
}

/* --- well ------------------------------------------------------------------------------------ */

FIXTURE(set_up, tear_down);

TEST(test_good)
{
    damage_fill(path, 5, 20);
    looked_at(path, false, HEALTH_GOOD);
    assert_int_equal(found.sessions, 5);
    assert_int_equal(found.events, -1);
    looked_at(path, true, HEALTH_GOOD);
    assert_int_equal(found.sessions, 5);
    assert_int_equal(found.events, 100);
    assert_int_equal(found.entries, 0);
    assert_int_equal(found.bytes, damage_size(path));
    assert_string_equal(found.detail, "");
}

TEST(test_names_that_are_uris)
{
    char *odd = support_path("a?mode=rw&b#c%20d e.db");
    char *link = support_path("link.db");
    damage_fill(odd, 2, 5);
    looked_at(odd, true, HEALTH_GOOD);
    assert_int_equal(found.events, 10);
    assert_int_equal(symlink(odd, link), 0);
    looked_at(link, true, HEALTH_GOOD);
    assert_int_equal(found.events, 10);
}

/* Everything is still in the log, the file itself has nothing. */
TEST(test_log_of_a_dead_process)
{
    char *shm = support_text("%s-shm", path);
    damage_fill_and_die(path, 5, 20);
    expect(HEALTH_GOOD);
    assert_int_equal(found.sessions, 5);
    assert_int_equal(found.events, 100);
    unlink(shm);
    expect(HEALTH_GOOD);
    assert_int_equal(found.events, 100);
}

TEST(test_of_a_live_process)
{
    damage_fill(path, 3, 10);
    struct damage_holder h = damage_hold(path, damage_open);
    expect(HEALTH_GOOD);
    assert_int_equal(found.events, 30);
    damage_let_go(&h);

    damage_fill_and_die(path, 1, 10);
    h = damage_hold(path, damage_open);
    expect(HEALTH_GOOD);
    assert_int_equal(found.events, 40);
    damage_let_go(&h);

    /* A reader like others would note in the index how far it reads. */
    h = damage_hold(path, damage_stay);
    expect(HEALTH_GOOD);
    assert_int_equal(found.events, 50);
    damage_let_go(&h);
}

TEST(test_nothing_there)
{
    expect(HEALTH_MISSING);
    looked_at(support_path("not/made/yet/tiro.db"), true, HEALTH_MISSING);
    support_write(path, "");
    expect(HEALTH_EMPTY);
    assert_int_equal(damage_sql(path, "PRAGMA journal_mode = WAL"), 0);
    expect(HEALTH_EMPTY);
}

/* --- other versions, other programs ---------------------------------------------------------- */

TEST(test_versions)
{
    struct store *s;
    assert_true(store_open(path, STORE_READ_WRITE, &s, &(struct error){0}));
    store_close(s);
    expect(HEALTH_GOOD);
    damage_sql(path, "PRAGMA user_version = 99");
    expect_detail(HEALTH_NEWER, "99");
    damage_sql(path, "PRAGMA user_version = 0");
    expect_detail(HEALTH_DAMAGED, "marks"); /* our tables, and no mark of ours */
    damage_sql(path, "DROP TABLE event");
    expect(HEALTH_FOREIGN);
    damage_sql(path, "PRAGMA application_id = 7; PRAGMA user_version = 2");
    expect(HEALTH_FOREIGN);
}

TEST(test_no_database)
{
    unsigned char bytes[20000];
    entropy_seed(1);
    entropy_fill(bytes, sizeof bytes);
    damage_write(path, 0, bytes, sizeof bytes);
    expect(HEALTH_NO_DATABASE);
    damage_cut(path, 7);
    expect(HEALTH_NO_DATABASE);
}

TEST(test_beginning_destroyed)
{
    char zeros[DAMAGE_PAGE] = {0};
    damage_fill(path, 2, 20);
    damage_write(path, 0, zeros, sizeof zeros);
    expect(HEALTH_NO_DATABASE);
    assert_true(health_recoverable(found.state));
}

/* --- in the way ------------------------------------------------------------------------------ */

TEST(test_locked)
{
    static void (*const ways[])(const char *) = {damage_begin_write, damage_lock_exclusively};
    damage_fill(path, 2, 10);
    for (size_t i = 0; i < 2; i++) {
        struct damage_holder h = damage_hold(path, ways[i]);
        char *who = support_text("process %ld ", (long)h.pid);
        int64_t begin = clock_mono_ms();
        looked_at(path, false, HEALTH_LOCKED);
        assert_true(clock_mono_ms() - begin < 5000);
        assert_non_null(strstr(found.detail, who));
        damage_let_go(&h);
        expect(HEALTH_GOOD);
    }
}

static struct damage_holder brief;
static int asked;

/* The clock is asked each time before a lock is looked at again. */
static int64_t let_go_soon(void)
{
    if (++asked == 3)
        damage_let_go(&brief);
    return asked;
}

TEST(test_locked_for_a_moment)
{
    damage_fill(path, 2, 10);
    brief = damage_hold(path, damage_begin_write);
    asked = 0;
    clock_replace(NULL, let_go_soon);
    health_check(path, true, health_extensions, &found);
    clock_replace(NULL, NULL);
    assert_true(asked >= 3);
    assert_int_equal(found.state, HEALTH_GOOD);
    assert_int_equal(found.events, 20);
}

TEST(test_no_file)
{
    char *below = support_path("tiro.db/tiro.db");
    mkdir(path, 0700);
    expect_detail(HEALTH_UNREADABLE, "no regular file");
    rmdir(path);
    support_write(path, "");
    looked_at(below, false, HEALTH_UNREADABLE);
}

static int state_of(const char *file)
{
    health_check(file, true, health_extensions, &found);
    return (int)found.state * 16 + (int)(found.sessions + 1);
}

static void seen_by_nobody(enum health_state state, int sessions)
{
    char *before = support_keep(damage_tree(support_dir()));
    int seen = damage_as_nobody(support_dir(), state_of, path);
    assert_string_equal(before, support_keep(damage_tree(support_dir())));
    assert_string_equal(health_name((enum health_state)(seen / 16)), health_name(state));
    assert_int_equal(seen % 16 - 1, sessions);
}

TEST(test_no_rights)
{
    damage_fill(path, 3, 10);
    seen_by_nobody(HEALTH_GOOD, 3);
    chmod(path, 0400);
    seen_by_nobody(HEALTH_READ_ONLY, 3);
    chmod(path, 0000);
    seen_by_nobody(HEALTH_UNREADABLE, -1);
    chmod(path, 0600);
    chmod(support_dir(), 0500);
    seen_by_nobody(HEALTH_READ_ONLY, 3);
    chmod(support_dir(), 0700);
    unlink(path);
    chmod(support_dir(), 0500);
    seen_by_nobody(HEALTH_READ_ONLY, -1);
    chmod(support_dir(), 0700);
}

/* The index of the log cannot be made, and the log cannot be merged. */
TEST(test_log_without_rights)
{
    char *shm = support_text("%s-shm", path);
    char *wal = support_text("%s-wal", path);
    damage_fill_and_die(path, 4, 10);
    unlink(shm);
    chmod(path, 0400);
    chmod(wal, 0400);
    chmod(support_dir(), 0500);
    seen_by_nobody(HEALTH_READ_ONLY, 4);
    chmod(support_dir(), 0700);
}

/* --- damaged --------------------------------------------------------------------------------- */

TEST(test_truncated)
{
    damage_fill(path, 5, 20);
    size_t size = damage_size(path);
    damage_cut(path, size - 1);
    expect(HEALTH_TRUNCATED);
    damage_cut(path, size / 3);
    expect(HEALTH_TRUNCATED);
    damage_cut(path, 300);
    expect(HEALTH_TRUNCATED);
    damage_cut(path, 50);
    expect(HEALTH_TRUNCATED);
}

/* The log has all pages that the file lacks, except one. */
TEST(test_truncated_before_its_log)
{
    damage_fill(path, 5, 20);
    size_t size = damage_size(path);
    damage_fill_and_die(path, 1, 3);
    expect(HEALTH_GOOD);
    damage_cut(path, size / 2);
    expect(HEALTH_TRUNCATED);
    damage_cut(path, 0);
    expect_detail(HEALTH_TRUNCATED, "log");
}

TEST(test_damaged)
{
    unsigned char bytes[DAMAGE_PAGE];
    damage_fill(path, 5, 20);
    entropy_seed(2);
    entropy_fill(bytes, sizeof bytes);
    size_t pages = damage_size(path) / DAMAGE_PAGE;
    damage_write(path, pages / 2 * DAMAGE_PAGE, bytes, sizeof bytes);
    expect(HEALTH_DAMAGED);
    assert_true(strlen(found.detail) > 0);
}

TEST(test_inconsistent)
{
    static const char *const ways[] = {
        "UPDATE event SET payload = '{\"prompt\":' WHERE seq = 1",
        "UPDATE event SET type = 'never_heard_of' WHERE seq = 1",
        "UPDATE event SET version = 77 WHERE seq = 2",
        "PRAGMA foreign_keys = OFF; DELETE FROM session WHERE key = 2",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        damage_fill(path, 3, 10);
        looked_at(path, true, HEALTH_GOOD);
        damage_sql(path, ways[i]);
        looked_at(path, true, HEALTH_INCONSISTENT);
        assert_int_equal(found.events, i == 3 ? -1 : 30);
        unlink(path);
    }
    damage_fill(path, 1, 1);
    damage_sql(path, "ALTER TABLE event RENAME TO happened");
    expect(HEALTH_INCONSISTENT);
}

TEST(test_memory)
{
    damage_fill(path, 2, 10);
    damage_fill_memory(path, 3, 5);
    for (int thorough = 0; thorough < 2; thorough++) {
        looked_at(path, thorough, HEALTH_GOOD);
        assert_int_equal(found.entries, 15);
        assert_int_equal(found.vectors, 15);
        assert_string_equal(found.language, "auto");
    }
}

TEST(test_inconsistent_memory)
{
    static const struct {
        const char *sql, *detail;
    } ways[] = {
        {"PRAGMA foreign_keys = OFF; DELETE FROM memory_session WHERE number = 2",
         "memory: 5 entries belong to no session"},
        {"UPDATE memory_entry SET session = 3 WHERE key = (1 << 24) + 2", "1 entries stand at"},
        {"UPDATE memory_session SET next = 4 WHERE number = 1", "1 entries stand at"},
        {"UPDATE memory_entry SET role = 'nobody' WHERE session = 2", "5 entries make no sense"},
        {"UPDATE memory_entry SET content = '' WHERE key = (3 << 24)", "1 entries make no sense"},
        {"DELETE FROM memory_words_docsize WHERE id >> 24 = 3", "5 entries are not in its index"},
        {"INSERT INTO memory_words_docsize SELECT 7, sz FROM memory_words_docsize LIMIT 1",
         "1 rows of its index"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        damage_fill_memory(path, 3, 5);
        looked_at(path, true, HEALTH_GOOD);
        damage_sql(path, ways[i].sql);
        looked_at(path, false, HEALTH_GOOD);
        looked_at(path, true, HEALTH_INCONSISTENT);
        assert_non_null(strstr(found.detail, ways[i].detail));
        unlink(path);
    }
    damage_fill_memory(path, 1, 1);
    damage_sql(path, "DROP TABLE memory_floats; ALTER TABLE memory_entry RENAME TO forgotten");
    expect(HEALTH_INCONSISTENT);
}

/* A file without WAL whose writer died shows why it looks odd. */
TEST(test_journal_of_a_dead_process)
{
    char *journal = support_text("%s-journal", path);
    damage_fill(path, 3, 10);
    damage_cut(path, damage_size(path) - DAMAGE_PAGE);
    support_write(journal, "not played back");
    expect_detail(HEALTH_TRUNCATED, "undoes");
}

/* --------------------------------------------------------------------------------------------- */
