/* The program dies while semantic memory is changed, at any write and any sync: each change is made
 * entirely or not at all, the index has the words of exactly the existing entries, and forgotten
 * text leaves no trace. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "config/config.h"
#include "memory/memory.h"
#include "session/capability.h"
#include "session/health.h"
#include "session/memory_operations.h"
#include "store/health.h"
#include "store/language.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/fault_vfs.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

enum { ENTRIES = 24, BROUGHT = 8, LINES = 2500, STEP = 1000, IMPORT_DEATHS = 10, STRIDE = 9 };

#define SECRET "zqxjkvwombat"

static char *path, *pristine, *lines;
static struct error e;

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    pristine = support_path("pristine.db");
    lines = support_path("lines.jsonl");
    entropy_seed(support_seed());
    e = (struct error){0};
    return 0;
}

/* Calls `act` with the memory of this database. */
static void with_memory(const char *database, void (*act)(struct store *s, struct memory *m))
{
    struct store *s;
    memory_check(store_open(database, STORE_READ_WRITE, &s, &e), &e);
    struct memory *m = memory_open(s, NULL);
    act(s, m);
    memory_close(m);
    store_close(s);
}

/* --- the state -------------------------------------------------------------------------------- */

static void add_many(struct memory *m, const char *session_id, int64_t compaction, int count)
{
    int stored;
    auto_free struct memory_entry *entries = mem_alloc((size_t)count * sizeof *entries);
    for (int i = 0; i < count; i++) {
        char *id = support_text("%s-%lld-%d", session_id, (long long)compaction, i);
        char *text = support_text("quincunx %d of %s lies behind burrow %lld%s", i, session_id,
                                  (long long)compaction, i == 3 ? ", said the " SECRET : "");
        entries[i] = memory_said(id, text, 1000 * (int64_t)i);
    }
    memory_check(m->ops->index(m, session_id, compaction, entries, (size_t)count, &stored, &e), &e);
    assert_int_equal(stored, count);
    for (int i = 0; i < count; i++)
        memory_entry_release(&entries[i]);
}

static void fill_pristine(struct store *s, struct memory *m)
{
    add_many(m, "one", 0, ENTRIES);
    add_many(m, "two", 17, BROUGHT);
    add_many(m, "two", 0, ENTRIES);
    memory_check(store_exec(s,
                            "INSERT INTO memory_model (number, name, dimension, used, fitted)"
                            " VALUES (1, 'some/model', 3, 1, 0);"
                            "INSERT INTO memory_vector (model, key, stamp, scale, bytes)"
                            " SELECT 1, key, 1, 0.5, x'010203' FROM memory_entry;"
                            "INSERT INTO memory_floats (model, key, floats)"
                            " SELECT 1, key, x'0102030405060708090a0b0c' FROM memory_entry",
                            &e),
                 &e);
}

static void make_pristine(void)
{
    with_memory(pristine, fill_pristine);
}

static void restore(void)
{
    static const char *const endings[] = {"-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        unlink(support_text("%s%s", path, endings[i]));
    if (access(pristine, F_OK) == 0)
        damage_copy(pristine, path);
    else
        unlink(path);
}

/* Everything that memory is. */
static char *capture(void)
{
    char *entries = support_keep(damage_memory(path));
    char *rest = support_keep(damage_rows(
        path,
        "SELECT (SELECT count(*) FROM memory_vector), (SELECT count(*) FROM memory_floats),"
        " (SELECT count(*) FROM memory_session), sql LIKE '%tiro german%'"
        " FROM sqlite_schema WHERE name = 'memory_words'"));
    return support_text("%s%s", entries, rest);
}

static int64_t found(struct memory *m, const char *text)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    struct memory_query query = {
        .text = text, .limit = 10000, .rank = rank_settings_for(1.2, 0.75)};
    memory_check(m->ops->search(m, &query, &hits, &e), &e);
    return (int64_t)hits.items.len;
}

static void assert_index(struct store *s, struct memory *m)
{
    memory_check(
        store_exec(s, "INSERT INTO memory_words (memory_words) VALUES ('integrity-check')", &e),
        &e);
    assert_int_equal(found(m, "quincunx"), memory_total(m));
    assert_int_equal(found(m, SECRET), damage_sql(path,
                                                  "SELECT count(*) FROM memory_entry"
                                                  " WHERE content LIKE '%" SECRET "%'"));
}

/* Checks by our own functions, by FTS5's, and by searching. */
static void assert_sound(void)
{
    struct health health;
    health_check(path, true, health_extensions, &health);
    if (health.state != HEALTH_GOOD)
        fail_msg("%s: %s", health_name(health.state), health.detail);
    with_memory(path, assert_index);
}

/* --- dying ------------------------------------------------------------------------------------ */

typedef bool (*change)(struct memory *m);

/* Acts in a process of its own, which dies at the n-th call; 0: never. */
static int act_apart(change act, enum fault_point point, long n)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store *s;
        fault_vfs_install();
        if (!store_open(path, STORE_READ_WRITE, &s, &e))
            _exit(2);
        struct memory *m = memory_open(s, NULL);
        if (n > 0)
            fault_vfs_arm(point, FAULT_DEATH, n, false);
        _exit(act(m) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

struct tally {
    int deaths, before, after;
};

/* The distance to the next failing call: random in a sample. */
static long step(void)
{
    return 1 + (long)(entropy_unit() * (double)suite_sample((size_t)3 * STRIDE, 0));
}

static void die_everywhere(change act, enum fault_point point, const char *before,
                           const char *after, struct tally *t)
{
    int status = FAULT_DEATH_STATUS;
    for (long n = 1; status == FAULT_DEATH_STATUS; n += step()) {
        assert_true(n < 2000);
        restore();
        status = act_apart(act, point, n);
        assert_true(status == FAULT_DEATH_STATUS || status == 0);
        assert_sound();
        char *now = capture();
        bool happened = strcmp(now, after) == 0;
        if (!happened)
            assert_string_equal(now, before);
        assert_true(happened || status != 0);
        /* The store was closed in order since: its journal is in the file. */
        char *journal = support_text("%s-wal", path);
        if (damage_sql(path, "SELECT count(*) FROM memory_entry WHERE content LIKE '%" SECRET
                             "%'") == 0) {
            assert_false(damage_on_disk(path, SECRET));
            assert_int_not_equal(access(journal, F_OK), 0);
        }
        t->deaths += status != 0;
        t->after += happened;
        t->before += !happened;
    }
}

static void assert_all_or_nothing(const char *name, change act)
{
    static const enum fault_point points[] = {FAULT_WRITE, FAULT_SYNC};
    struct tally t = {0};
    restore();
    char *before = capture();
    assert_int_equal(act_apart(act, FAULT_WRITE, 0), 0);
    char *after = capture();
    assert_string_not_equal(before, after);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        die_everywhere(act, points[i], before, after, &t);
    print_message("%s: %d deaths, %d undone\n", name, t.deaths, t.before);
    assert_true(t.deaths > 0 && t.before > 0 && t.after > 0);
}

/* --- causes of death -------------------------------------------------------------------------- */

static bool index_more(struct memory *m)
{
    add_many(m, "three", 40, BROUGHT);
    return true;
}

static bool withdraw(struct memory *m)
{
    return m->ops->withdraw(m, "two", 17, &e);
}

static bool edit(struct memory *m)
{
    return m->ops->edit(m, "one-0-3", "a quincunx that says nothing", &e);
}

static bool forget(struct memory *m)
{
    static const char *const ids[] = {"one-0-3", "two-17-3", "two-0-3", "one-0-7"};
    return m->ops->forget(m, ids, sizeof ids / sizeof *ids, NULL, &e);
}

static bool forget_session(struct memory *m)
{
    return m->ops->forget_session(m, "two", &e);
}

static bool reindex(struct memory *m)
{
    return m->ops->reindex(m, "german", NULL, NULL, &e);
}

NEEDS(capability_store() && capability_memory());
FIXTURE(set_up, support_teardown);

TEST(test_each_change_is_whole)
{
    make_pristine();
    assert_all_or_nothing("index", index_more);
    assert_all_or_nothing("withdraw", withdraw);
    assert_all_or_nothing("edit", edit);
    assert_all_or_nothing("forget", forget);
    assert_all_or_nothing("forget a session", forget_session);
    assert_all_or_nothing("reindex", reindex);
}

/* --- an index that is made anew in steps ------------------------------------------------------ */

static bool is_left(void)
{
    return damage_sql(
               path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'memory_words_next%'") > 0;
}

/* Other processes continue, forget an entry that is in both, and then finish the change. */
static void go_on_after_death(struct store *s, struct memory *m)
{
    static const char *const ids[] = {"large1-0-3"};
    bool more = true;
    (void)s;
    memory_check(m->ops->forget(m, ids, 1, NULL, &e), &e);
    add_many(m, "large7", 40, BROUGHT);
    while (more)
        memory_check(m->ops->tidy(m, &more, &e), &e);
}

/* `made`: the index's final note of its structure. */
static void dies_and_goes_on(change act, const char *made)
{
    int deaths = 0, halves = 0;
    restore();
    int64_t count = damage_sql(path, "SELECT count(*) FROM memory_entry");
    long n = 1;
    for (int status = FAULT_DEATH_STATUS; status != 0; n += 1 + (long)(entropy_unit() * 40)) {
        restore();
        status = act_apart(act, FAULT_WRITE, n);
        assert_true(status == FAULT_DEATH_STATUS || status == 0);
        deaths += status != 0;
        assert_sound();
        bool half = is_left();
        halves += half;
        with_memory(path, go_on_after_death);
        assert_sound();
        assert_false(is_left());
        assert_false(damage_on_disk(path, "of large1 lies behind burrow 0, said"));
        assert_int_equal(damage_sql(path, "SELECT count(*) FROM memory_entry"),
                         count - 1 + BROUGHT);
        if (half)
            assert_int_equal(
                damage_sql(path, support_text("SELECT sql LIKE '%%%s%%' FROM sqlite_schema"
                                              " WHERE name = 'memory_words'",
                                              made)),
                1);
    }
    print_message("%d deaths, %d of them half way\n", deaths, halves);
    assert_true(deaths > 2 && halves > 1);
}

static void fill_much(struct store *s, struct memory *m)
{
    memory_check(store_begin(s, &e), &e);
    for (int i = 0; i < LINES / BROUGHT; i++)
        add_many(m, support_text("large%d", i), 0, BROUGHT);
    memory_check(store_commit(s, &e), &e);
}

TEST(test_a_reindex_goes_on_after_death)
{
    with_memory(pristine, fill_much);
    dies_and_goes_on(reindex, "tiro german");
}

/* --- an import, whose steps are whole --------------------------------------------------------- */

static void write_lines(void)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < LINES; i++)
        buf_addf(&text,
                 "{\"id\":\"e%d\",\"session_id\":\"s%d\",\"turn\":1,\"role\":\"user\","
                 "\"created_at\":\"2024-05-07T10:00:00Z\",\"content\":\"quincunx number %d\"}\n",
                 i, i / 600, i);
    support_write(lines, text.data);
}

static bool import(struct memory *m)
{
    (void)m;
    const struct operation *o = &operation_memory_import;
    struct operation_context context;
    struct config *config = config_new();
    struct memory_import_result imported;
    FILE *in = fopen(lines, "r");
    const struct operation_stream stream = {.in = in, .name = "lines.jsonl", .wake_fd = -1};
    bool ok = in && operation_open(&context, o, config, path, support_dir(), &e);
    context.stream = &stream;
    ok = ok && operation_call(&context, o, NULL, &imported, &e);
    if (in)
        fclose(in);
    config_free(config);
    return ok;
}

TEST(test_each_step_of_an_import_is_whole)
{
    int deaths = 0;
    make_pristine();
    write_lines();
    restore();
    int64_t base = damage_sql(path, "SELECT count(*) FROM memory_entry");
    long n = 1;
    for (int i = 0; i < IMPORT_DEATHS; i++, n += 1 + (long)(entropy_unit() * 150)) {
        restore();
        int status = act_apart(import, FAULT_WRITE, n);
        assert_true(status == FAULT_DEATH_STATUS || status == 0);
        deaths += status != 0;
        assert_sound();
        int64_t added = damage_sql(path, "SELECT count(*) FROM memory_entry") - base;
        assert_true(added % STEP == 0 || added == LINES);
    }
    assert_true(deaths > 0);
    assert_int_equal(act_apart(import, FAULT_WRITE, 0), 0);
    assert_sound();
    assert_int_equal(damage_sql(path, "SELECT count(*) FROM memory_entry"), base + LINES);
}
