/* The real program with databases that it cannot use: it says so within its time, harms nothing,
 * and a chat goes on in memory. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

static char *directory;

static int setup(void **state)
{
    int result = scene_setup(state);
    directory = support_path(".local/share/tiro");
    return result;
}

static int teardown(void **state)
{
    return scene_teardown(state);
}

static void make_store(void)
{
    expect(RUN("run", "remember the quincunx"), 0, "");
}

/* --- files that cannot be opened ------------------------------------------------------------- */

static void no_database(void)
{
    char *junk = support_keep(mem_alloc(3 * DAMAGE_PAGE + 1));
    memset(junk, 'x', 3 * DAMAGE_PAGE);
    support_write(scene_store(), junk);
}

static void broken_header(void)
{
    damage_write(scene_store(), 0, "broken", 6);
}

static void truncated(void)
{
    damage_cut(scene_store(), DAMAGE_PAGE + DAMAGE_PAGE / 2);
}

static void broken_schema(void)
{
    char zeros[DAMAGE_PAGE - 100] = {0};
    damage_write(scene_store(), 100, zeros, sizeof zeros);
}

static void of_another_program(void)
{
    damage_sql(scene_store(), "PRAGMA application_id = 42");
}

static void newer(void)
{
    damage_sql(scene_store(), "PRAGMA user_version = 99");
}

static const struct {
    const char *name;
    void (*damage)(void);
} damages[] = {
    {"no database", no_database},      {"a broken header", broken_header},
    {"a truncated file", truncated},   {"a broken schema", broken_schema},
    {"another's", of_another_program}, {"a newer one", newer},
};

static void assert_untouched(const char *name, const char *before, size_t len)
{
    size_t now_len;
    char *now = support_keep(damage_read(scene_store(), &now_len));
    if (now_len != len || memcmp(now, before, len) != 0)
        fail_msg("%s: the file was changed", name);
}

static void assert_refused(struct result r, const char *name)
{
    if (r.status != 1 || !strstr(r.err, "tiro: SESSION_STORE_ERROR: "))
        fail_msg("%s: status %d: %s%s", name, r.status, r.out, r.err);
    assert_text(r.err, "tiro.db");
}

/* Every command that needs the store fails, even a message, since its author may rely on its being
 * kept. */
static void each_verb_says_so(const char *name)
{
    assert_refused(RUN("sessions", "list"), name);
    assert_refused(RUN("sessions", "show", "last"), name);
    assert_refused(RUN("sessions", "delete", "--yes", "last"), name);
    assert_refused(RUN("run", "--resume", "last", "still there?"), name);
    assert_refused(RUN("run", "still there?"), name);
}

NEEDS(capability_store());
FIXTURE(setup, teardown);

TEST(an_unusable_file_is_told_and_left_alone)
{
    make_store();
    char *good = support_path("good.db");
    damage_copy(scene_store(), good);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damage_copy(good, scene_store());
        damages[i].damage();
        size_t len;
        char *before = support_keep(damage_read(scene_store(), &len));
        each_verb_says_so(damages[i].name);
        assert_untouched(damages[i].name, before, len);
    }
}

/* --- files that may not be written ----------------------------------------------------------- */

enum { OUT_OF_REACH = 77 }; /* a tree in a home that is closed to others */

static int run_as_nobody(const char *path)
{
    (void)path;
    if (access(support_program(), X_OK) != 0)
        return OUT_OF_REACH;
    struct result r = RUN("run", "still there?");
    bool ok = r.status == 1 && strstr(r.err, "SESSION_STORE_ERROR") && strstr(r.err, "rights");
    if (!ok)
        fprintf(stderr, "status %d: %s%s", r.status, r.out, r.err);
    r = RUN("sessions", "list");
    ok = ok && r.status == 0 && strstr(r.out, "quincunx");
    if (!ok)
        fprintf(stderr, "status %d: %s%s", r.status, r.out, r.err);
    return ok ? 0 : 1;
}

TEST(a_read_only_file_can_be_read)
{
    make_store();
    char *before = support_keep(damage_tree(directory));
    assert_int_equal(chmod(scene_store(), 0400), 0);
    /* Other users can reach the directory. */
    static const char *const names[] = {".", ".local", ".local/share"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(chmod(support_path(names[i]), 0755), 0);
    }
    int status = damage_as_nobody(directory, run_as_nobody, NULL);
    if (status == OUT_OF_REACH) {
        skip();
    }
    assert_int_equal(status, 0);
    size_t len = strcspn(before, "\n");
    assert_memory_equal(support_keep(damage_tree(directory)), before, len);
}

/* --- a file that somebody else has ----------------------------------------------------------- */

/* One wait in total, not one for each attempt. */
enum { PATIENCE_MS = 5000, MOST_MS = 2 * PATIENCE_MS - 1000 };

/* A run reads its input to the end before it looks at the store. */
static void start(struct support_child *child, const char *const *argv)
{
    support_start(child, argv);
    close(child->in);
    child->in = -1;
}

#define START(child, ...) start(child, (const char *const[]){support_program(), __VA_ARGS__, NULL})

TEST(a_locked_file_is_told_in_time)
{
    struct support_child children[4];
    make_store();
    char *other = support_path("other/tiro/tiro.db");
    assert_int_equal(mkdir(support_path("other"), 0700), 0);
    assert_int_equal(mkdir(support_path("other/tiro"), 0700), 0);
    damage_copy(scene_store(), other);
    struct damage_holder writer = damage_hold(scene_store(), damage_begin_write);
    struct damage_holder owner = damage_hold(other, damage_lock_exclusively);
    START(&children[0], "run", "--resume", "last", "still there?");
    expect(RUN("sessions", "list"), 0, ""); /* a writer stops no reader */
    setenv("XDG_DATA_HOME", support_path("other"), 1);
    START(&children[1], "run", "still there?");
    START(&children[2], "run", "--resume", "last", "still there?");
    START(&children[3], "sessions", "list");
    unsetenv("XDG_DATA_HOME");
    /* Commands that wait for a locked store, all at once. */
    int64_t begin = clock_mono_ms();
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(support_finish(&children[i], NULL), 1);
        assert_text(children[i].err_text.data, "is locked by another process");
        support_release(&children[i]);
    }
    assert_in_range(clock_mono_ms() - begin, PATIENCE_MS - 500, MOST_MS);
    assert_int_equal(model_server_requests(scene_server()), 1); /* nothing was sent */
    damage_let_go(&owner);
    damage_let_go(&writer);
    expect(RUN("run", "--resume", "last", "and now?"), 0, "");
    assert_int_equal(assert_store_sound(scene_store()), 1);
}

/* --- a chat ---------------------------------------------------------------------------------- */

TEST(a_chat_goes_on_in_memory)
{
    make_store();
    broken_header();
    size_t len;
    char *before = support_keep(damage_read(scene_store(), &len));
    struct screen *s = scene_open(24, 100, TEXTS("chat", "--resume", "last"));
    assert_true(screen_wait_text(s, "is not a database", WAIT_MS));
    scene_exchange(s, "still there?", "Yes, I am.");
    scene_leave(s);
    assert_untouched("a chat", before, len);
}
