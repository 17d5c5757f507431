/* The files of a deleted session are removed, even if the deleting program died in between or could
 * not remove them. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "session/catalog.h"
#include "session/export.h"
#include "session/lock.h"
#include "session/projection.h"
#include "tests/damage.h"
#include "tests/fault_vfs.h"
#include "tests/imported.h"
#include "tests/record.h"
#include "tests/suite.h"
#include "tests/surface.h"

static char id[UUID_LEN + 1];
static char *path, *files, *lock_path;
static struct error e;

static bool exists(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0;
}

static void open_catalog(struct catalog *c)
{
    assert_ok(catalog_open(c, path, CATALOG_WRITE, &e), e);
}

/* A session with its files, as one that was talked and left. */
static int set_up(void **state)
{
    struct catalog c;
    struct record r;
    int lock;
    if (support_setup(state) != 0)
        return -1;
    path = support_path("tiro.db");
    open_catalog(&c);
    record_begin(&r, c.store);
    record_run(&r, "Where is the treasure?", "Below the quincunx.");
    memcpy(id, r.info.id, sizeof id);
    assert_true(projection_write(&c, id, false, &e));
    assert_true(lock_take(c.directory, id, &lock, &e));
    lock_drop(&lock);
    files = projection_directory(&c, id);
    lock_path = mem_printf("%s/locks/%s.lock", c.directory, id);
    record_release(&r);
    catalog_release(&c);
    return 0;
}

static int tear_down(void **state)
{
    free(lock_path);
    free(files);
    return support_teardown(state);
}

static int64_t noted(void)
{
    return damage_number(path, "SELECT count(*) FROM removal");
}

static bool is_kept(void)
{
    return damage_number(path, "SELECT count(*) FROM session") == 1;
}

/* The state that a kill leaves between the deleting transaction and the removal of the files. */
static void delete_record(void)
{
    struct catalog c;
    open_catalog(&c);
    assert_true(sessions_delete(c.store, id, &e));
    catalog_release(&c);
    assert_true(exists(files) && exists(lock_path));
    assert_int_equal(noted(), 1);
}

static void finish(void)
{
    AUTO(catalog_release) struct catalog c = {0};
    open_catalog(&c);
    removal_finish_some(&c, 10);
}

static char *file_of(const char *name)
{
    return support_text("%s/%s", files, name);
}

/* --- the next process finishes it ------------------------------------------------------------- */

NEEDS(capability_store());
FIXTURE(set_up, tear_down);

TEST(test_a_delete_leaves_nothing)
{
    struct catalog c;
    open_catalog(&c);
    assert_true(catalog_delete(&c, id, NULL, &e));
    catalog_release(&c);
    assert_false(exists(files) || exists(lock_path));
    assert_int_equal(noted(), 0);
}

/* The data directory is the user's to place. */
static void link_data_directory(void)
{
    mkdir(support_path(".local"), 0700);
    mkdir(support_path(".local/share"), 0700);
    assert_int_equal(symlink("../..", support_path(".local/share/tiro")), 0);
}

TEST(test_the_next_command_finishes)
{
    const char *const args[] = {"sessions", "rename", "last", "x", NULL};
    delete_record();
    link_data_directory();
    assert_int_equal(support_run(args, NULL, NULL, NULL), 1);
    assert_false(exists(files) || exists(lock_path));
    assert_int_equal(noted(), 0);
}

static bool files_are_gone(void *context)
{
    (void)context;
    return !exists(files) && !exists(lock_path);
}

TEST(test_a_conversation_finishes)
{
    AUTO(config_free_local) struct config *config = config_new();
    struct engine_options options = {.config = config, .store_path = path, .persist = true};
    delete_record();
    struct engine *s = engine_new(&options);
    assert_true(support_wait_until(files_are_gone, NULL, SURFACE_MS));
    engine_free(s);
    assert_int_equal(noted(), 0);
}

/* The program ends before it was ever idle. */
TEST(test_a_single_turn_finishes)
{
    const char *const args[] = {"run", "--provider", "offline", "hello", NULL};
    delete_record();
    link_data_directory();
    assert_int_equal(support_run(args, NULL, NULL, NULL), 0);
    assert_false(exists(files) || exists(lock_path));
    assert_int_equal(noted(), 0);
}

/* Deletes in a process of its own, which dies at the n-th call of this kind. */
static int delete_apart(enum fault_point point, long n)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct catalog c;
        fault_vfs_install();
        if (!catalog_open(&c, path, CATALOG_WRITE, &e))
            _exit(2);
        fault_vfs_arm(point, FAULT_DEATH, n, false);
        bool ok = catalog_delete(&c, id, NULL, &e);
        catalog_release(&c);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(test_death_at_any_call_leaves_no_files)
{
    static const enum fault_point points[] = {FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE};
    int between = 0;
    entropy_seed(support_seed());
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        for (long n = 1, status = FAULT_DEATH_STATUS; status == FAULT_DEATH_STATUS;
             n += 1 + (long)(entropy_unit() * (double)suite_sample(4, 0))) {
            void *none = NULL;
            status = delete_apart(points[i], n);
            assert_true(status == FAULT_DEATH_STATUS || status == 0);
            bool kept = is_kept();
            between += !kept && exists(files);
            finish();
            assert_int_equal(exists(files), kept);
            assert_int_equal(exists(lock_path), kept);
            assert_int_equal(noted(), 0);
            tear_down(&none);
            assert_int_equal(set_up(&none), 0);
        }
    assert_true(between > 0);
}

/* --- files that cannot be removed ------------------------------------------------------------- */

TEST(test_a_failure_is_told_and_tried_again)
{
    struct catalog c;
    char *notes = file_of("notes.txt");
    char *transcript = file_of("transcript.md");
    support_write(notes, "mine");
    open_catalog(&c);
    assert_err(catalog_delete(&c, id, NULL, &e), e, ERR_FILE_ERROR);
    assert_non_null(strstr(e.text, "tried again later"));
    assert_non_null(strstr(e.text, id));
    catalog_release(&c);
    assert_true(exists(notes));
    assert_false(exists(transcript));
    assert_int_equal(noted(), 1);
    finish();
    assert_true(exists(notes));
    assert_int_equal(noted(), 1);
    unlink(notes);
    finish();
    assert_false(exists(files));
    assert_int_equal(noted(), 0);
}

TEST(test_one_that_fails_keeps_no_other)
{
    AUTO(catalog_release) struct catalog c = {0};
    AUTO(record_release) struct record r = {0};
    char *notes = file_of("notes.txt");
    support_write(notes, "mine");
    delete_record();
    open_catalog(&c);
    record_begin(&r, c.store);
    record_run(&r, "And the map?", "With it.");
    assert_true(projection_write(&c, r.info.id, false, &e));
    char *other = support_keep(projection_directory(&c, r.info.id));
    assert_true(sessions_delete(c.store, r.info.id, &e));
    for (int i = 0; i < 200 && exists(other); i++)
        removal_finish_some(&c, 1);
    assert_false(exists(other));
    assert_true(exists(notes));
}

TEST(test_one_that_is_open_waits)
{
    int lock;
    delete_record();
    assert_true(lock_take(support_dir(), id, &lock, &e));
    finish();
    assert_true(exists(files));
    assert_int_equal(noted(), 1);
    lock_drop(&lock);
    finish();
    assert_false(exists(files) || exists(lock_path));
}

/* --- nothing else goes ------------------------------------------------------------------------ */

TEST(test_a_link_leads_nowhere)
{
    char *elsewhere = support_path("elsewhere");
    char *precious = support_path("elsewhere/transcript.md");
    delete_record();
    assert_int_equal(rename(files, elsewhere), 0);
    assert_int_equal(symlink("../elsewhere", files), 0);
    finish();
    assert_true(exists(precious));
    assert_int_equal(noted(), 1);
}

TEST(test_locks_that_are_a_link_stay)
{
    char *locks = support_path("locks");
    char *elsewhere = support_path("elsewhere");
    char *precious = support_path(support_text("elsewhere/%s.lock", id));
    delete_record();
    assert_int_equal(rename(locks, elsewhere), 0);
    assert_int_equal(symlink("elsewhere", locks), 0);
    finish();
    assert_true(exists(precious));
}

TEST(test_what_is_no_id_is_no_path)
{
    struct catalog c;
    char *precious = support_path("transcript.md");
    support_write(precious, "mine");
    damage_sql(path, "INSERT INTO removal VALUES ('..'), ('../sessions'), ('/'), ('')");
    finish();
    open_catalog(&c);
    assert_false(removal_finish(&c, "..", &e));
    catalog_release(&c);
    assert_true(exists(precious));
    assert_true(exists(files));
}

static bool gather(void *context, const char *bytes, size_t len, struct error *fault)
{
    (void)fault;
    buf_add(context, bytes, len);
    return true;
}

/* The import does not get the id whose files are being removed. */
TEST(test_an_import_keeps_away)
{
    AUTO(catalog_release) struct catalog c = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(session_info_release) struct session_info info = {0};
    open_catalog(&c);
    assert_true(export_session(&c, id, EXPORT_JSON, gather, &text, &e));
    assert_true(sessions_delete(c.store, id, &e));
    assert_true(imported_text(&c, text.data, text.len, NULL, NULL, &info, &e));
    assert_string_not_equal(info.id, id);
    assert_true(projection_write(&c, info.id, false, &e));
    char *its = support_keep(projection_directory(&c, info.id));
    removal_finish_some(&c, 10);
    assert_false(exists(files));
    assert_true(exists(its));
}

/* A draft that was taken back and written again, while the note of its end was there. */
TEST(test_a_session_that_comes_back_keeps_its_files)
{
    struct catalog c;
    AUTO(session_info_release) struct session_info info = {0};
    open_catalog(&c);
    assert_true(sessions_get(c.store, id, &info, &e));
    assert_true(sessions_delete(c.store, id, &e));
    assert_true(sessions_put(c.store, &info, &e));
    removal_finish_some(&c, 10);
    catalog_release(&c);
    assert_int_equal(noted(), 0);
    assert_true(exists(files) && exists(lock_path));
}

TEST(test_files_of_a_dropped_draft_go)
{
    struct catalog c;
    damage_sql(path, "UPDATE session SET draft = 'half a'; DELETE FROM event");
    open_catalog(&c);
    assert_true(sessions_set_draft(c.store, id, NULL, &e));
    catalog_release(&c);
    assert_false(is_kept());
    finish();
    assert_false(exists(files) || exists(lock_path));
}

/* --- the lock --------------------------------------------------------------------------------- */

/* The lock's file was removed while it was held, so the next caller gets a lock of its own. */
TEST(test_a_lock_that_was_taken_away_is_none)
{
    int first, second, third;
    assert_true(lock_take(support_dir(), id, &first, &e));
    assert_true(lock_remove(support_dir(), id, &e));
    assert_true(lock_take(support_dir(), id, &second, &e));
    assert_err(lock_take(support_dir(), id, &third, &e), e, ERR_SESSION_BUSY);
    lock_drop(&first);
    assert_false(lock_take(support_dir(), id, &third, &e));
    lock_drop(&second);
}
