/* doctor names the files beside the database that nothing refers to, and leaves them alone. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/paths.h"
#include "config/permissions.h"
#include "index/graph_file.h"
#include "session/capability.h"
#include "session/health.h"
#include "session/lock.h"
#include "store/sessions.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/suite.h"

static const char talk[] =
    "[{\"role\":\"user\",\"content\":\"Hello\"},{\"role\":\"assistant\",\"content\":\"Hi\"}]";
static const char GONE[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static struct error e;
static char *directory, *id; /* of the store, of its session */

/* A store with one session and its files. */
static int set_up(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    directory = support_path(".local/share/tiro");
    id = program_output(RUN_WITH(talk, "sessions", "import", "-"));
    id[strcspn(id, "\n")] = '\0';
    run_ok(RUN("sessions", "rebuild"));
    run_ok(RUN("sessions", "rename", "last", "Kept"));
    return 0;
}

static int tear_down(void **state)
{
    free(id);
    return support_teardown(state);
}

/* A path below the store's directory, which is there. The caller frees. */
static char *below(const char *folder, const char *name)
{
    char *parent = support_keep(paths_join(directory, folder));
    assert_true(paths_make_dir(parent, &e));
    char *path = *folder ? paths_join(parent, name) : paths_join(directory, name);
    return support_keep(path);
}

static void put(const char *folder, const char *name)
{
    char *path = below(folder, name);
    support_write(path, "x");
}

static void put_for_session(const char *session, const char *name)
{
    put(support_keep(paths_join("sessions", session)), name);
}

static void put_lock(const char *session)
{
    put("locks", support_text("%s.lock", session));
}

/* "kind path|…" as doctor tells, which changes nothing. */
static char *orphans(void)
{
    struct buf out = BUF_INIT;
    char *before = support_keep(damage_tree(directory));
    struct json *v = program_json(RUN("doctor", "--json"));
    assert_string_equal(before, support_keep(damage_tree(directory)));
    const struct json *list = json_get(json_get(v, "store"), "orphans");
    assert_int_equal(json_type(list), JSON_ARRAY);
    for (const struct json *o = json_first(list); o; o = json_next(o))
        buf_addf(&out, "%s %s|", json_get_string(o, "kind"), json_get_string(o, "path"));
    return support_keep(buf_take(&out));
}

static void expect_orphans(const char *wanted)
{
    assert_string_equal(orphans(), wanted);
}

NEEDS(capability_store());
FIXTURE(set_up, tear_down);

TEST(test_a_store_in_order_has_none)
{
    expect_orphans("");
}

/* Files that other parts keep in the same directory. */
TEST(test_permissions_and_plugins_are_ours)
{
    struct error fault = {0};
    assert_ok(permissions_set("/project", "write_file", true, &fault), fault);
    put("", "plugins.json");
    put("plugins", "data");
    expect_orphans("");
}

TEST(test_files_of_no_session)
{
    char *wanted = support_text("lock locks/%s.lock|session sessions/%s|", GONE, GONE);
    put_for_session(GONE, "transcript.md");
    put_lock(GONE);
    expect_orphans(wanted);
}

TEST(test_locks_of_work_are_nobodys_to_take_away)
{
    put_lock(LOCK_INGEST);
    put_lock(LOCK_VECTORS);
    expect_orphans("");
    put_lock("corpora-other");
    expect_orphans("unknown locks/corpora-other.lock|");
}

TEST(test_a_lock_that_is_held_belongs_to_its_holder)
{
    int lock;
    assert_true(lock_take(directory, GONE, &lock, &e));
    expect_orphans("");
    lock_drop(&lock);
}

TEST(test_files_that_are_still_to_be_removed)
{
    char *database = below("", "tiro.db");
    char *wanted = support_text("removal locks/%s.lock|removal sessions/%s|", id, id);
    struct store *store;
    assert_true(store_open(database, STORE_READ_WRITE, &store, &e));
    assert_true(sessions_delete(store, id, &e));
    store_close(store);
    expect_orphans(wanted);
}

TEST(test_what_a_kill_leaves)
{
    char *wanted = support_text(
        "temporary import.Ab3xYz|temporary sessions/%s/summary.txt.new|"
        "temporary sessions/%s/transcript.md.new|"
        "temporary tiro.db.recovered-20260309-140507|",
        id, id);
    put_for_session(id, "transcript.md.new");
    put_for_session(id, "summary.txt.new");
    put("", "import.Ab3xYz");
    put("", "tiro.db.recovered-20260309-140507");
    expect_orphans(wanted);
}

TEST(test_files_that_are_being_written)
{
    char *path = below("sessions", id);
    int dir = open(path, O_RDONLY | O_DIRECTORY);
    put_for_session(id, "transcript.md.new");
    assert_int_equal(flock(dir, LOCK_EX), 0);
    expect_orphans("");
    close(dir);
}

TEST(test_graphs_and_copies)
{
    char *database = below("", "tiro.db");
    char *known = support_keep(graph_file_path("", "memory", "hashed")),
         *damaged = support_keep(support_text("%s.damaged", known));
    char *lock = support_text("%s.lock", known), *begun = support_text("%s.Ab3xYz", known);
    char *wanted = support_text(
        "graph memory-other-01234567.hnsw|temporary %s|copy %s|"
        "copy tiro.db.damaged-20260309-140507|",
        begun, damaged);
    damage_sql(database,
               "INSERT INTO memory_model (number, name, dimension, used, fitted)"
               " VALUES (1, 'hashed', 8, 1, 0)");
    const char *const files[] = {known,
                                 damaged,
                                 lock,
                                 begun,
                                 "memory-other-01234567.hnsw",
                                 "tiro.db.damaged-20260309-140507"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put("", files[i]);
    char *found = orphans();
    for (char *at = wanted, *end; (end = strchr(at, '|')); at = end + 1) {
        assert_text(found, support_keep(mem_strndup(at, (size_t)(end + 1 - at))));
    }
    assert_int_equal(strlen(found), strlen(wanted));
}

TEST(test_what_is_not_ours)
{
    char *wanted = support_text(
        "unknown locks/x.lock|unknown note␛s.txt|unknown sessions/%s/mine|"
        "unknown sessions/readme|",
        id);
    put("", "note\033s.txt");
    put("sessions", "readme");
    put_for_session(id, "mine");
    put("locks", "x.lock");
    expect_orphans(wanted);
}

TEST(test_in_words)
{
    put_for_session(GONE, "transcript.md");
    for (int i = 10; i < 40; i++) {
        char name[24];
        snprintf(name, sizeof name, "left%d", i);
        put("", name);
    }
    struct result r = ended(0, RUN("doctor"));
    assert_text(r.out, "unused files beside it:\n    left10: not created by tiro");
    assert_text(r.out, "… and 11 more; --json lists them");
}
