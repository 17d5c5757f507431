/* Properties of the SQLite store alone: provable deletion, scopes, foreign transactions, summaries
 * that quote, several connections at once. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "memory/memory.h"
#include "memory/summary_flags.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

#define m lore_memory
#define e lore_error
#define path lore_path
#define say lore_say
#define number lore_number
#define run lore_run
#define hits lore_hits

static const struct memory_scope everywhere = {.kind = MEMORY_SCOPE_ALL};

/* ---- deleting that can be proved ---- */

static bool in_index(const char *what)
{
    char *sql = support_text(
        "SELECT count(*) FROM memory_words_data"
        " WHERE instr(block, CAST('%s' AS BLOB))",
        what);
    return number(sql) > 0;
}

/* Enough for several segments and pages, around an entry whose words nothing else has. */
static void fill(void)
{
    for (int i = 0; i < 40; i++) {
        char *text = support_text("filler%d about wombat%d and badger%d", i, i * 7, i * 13);
        say("s", NULL, text, i);
        if (i == 20)
            say("s", "a", "the Zqxjkvwombats of Mqvnorth", 20);
    }
}

FIXTURE(lore_setup, lore_teardown);

TEST(nothing_of_a_forgotten_text_stays)
{
    fill();
    assert_true(damage_on_disk(path, "xjkvwombats") && damage_on_disk(path, "qvnorth"));
    assert_true(in_index("qxjkvwombat") && in_index("zqx") && in_index("qvnorth"));
    lore_forget("a");
    assert_false(in_index("qxjkvwomb") || in_index("zqx") || in_index("qvnorth"));
    assert_false(damage_on_disk(path, "xjkvwomb") || damage_on_disk(path, "qvnorth"));
    assert_int_equal(memory_total(m), 40);
    assert_int_equal(hits("wombat7", everywhere), 1);
}

TEST(nor_with_another_connection_open)
{
    struct store *other;
    fill();
    memory_check(store_open(path, STORE_READ_WRITE, &other, &e), &e);
    struct memory *of_other = memory_open(other, NULL);
    assert_int_equal(memory_total(of_other), 41);
    lore_forget("a");
    assert_false(damage_on_disk(path, "xjkvwomb") || damage_on_disk(path, "qvnorth"));
    assert_false(memory_has(of_other, "a"));
    memory_close(of_other);
    store_close(other);
}

static bool purge_some(struct memory *memory)
{
    bool more;
    memory_check(memory->ops->purge(memory, &more, &e), &e);
    return more;
}

/* A lazy memory is quick and leaves the rest to the next user, here another connection. */
TEST(a_lazy_one_leaves_the_rest_for_later)
{
    struct store *other;
    fill();
    m->lazy = true;
    lore_forget("a");
    assert_int_equal(hits("Zqxjkvwombats", everywhere), 0);
    assert_true(in_index("qxjkvwomb"));
    memory_check(store_open(path, STORE_READ_WRITE, &other, &e), &e);
    struct memory *later = memory_open(other, NULL);
    while (purge_some(later))
        assert_int_equal(hits("wombat7", everywhere), 1);
    assert_false(in_index("qxjkvwomb") || in_index("zqx") || in_index("qvnorth"));
    assert_false(damage_on_disk(path, "xjkvwomb") || damage_on_disk(path, "qvnorth"));
    assert_int_equal(hits("wombat7", everywhere), 1);
    say("s", "a", "the Zqxjkvwombats again", 20);
    lore_forget("a"); /* little is to be merged */
    while (purge_some(later))
        assert_int_equal(hits("wombat7", everywhere), 1);
    assert_false(in_index("qxjkvwomb") || in_index("zqx"));
    int before = sqlite3_total_changes(other->db);
    assert_false(purge_some(later)); /* all is done: it costs nothing */
    assert_int_equal(sqlite3_total_changes(other->db), before);
    memory_close(later);
    store_close(other);
}

TEST(nor_of_one_that_was_edited)
{
    fill();
    lore_do(edit, "a", "other words");
    assert_false(in_index("qxjkvwomb") || damage_on_disk(path, "xjkvwomb") ||
                 damage_on_disk(path, "qvnorth"));
}

TEST(nor_of_a_session_that_was_deleted)
{
    say("s", NULL, "filler", 1);
    say("zqxsession", "a", "the Zqxjkvwombats of Mqvnorth", 20);
    say("zqxsession", "b", "and more", 21);
    run("INSERT INTO memory_flag SELECT number, 5, 'a' FROM memory_session WHERE id = "
        "'zqxsession'");
    lore_do(forget_session, "zqxsession");
    assert_false(damage_on_disk(path, "xjkvwomb") || damage_on_disk(path, "qvnorth") ||
                 damage_on_disk(path, "zqxsession"));
    assert_int_equal(number("SELECT count(*) FROM memory_flag"), 0);
    assert_int_equal(number("SELECT count(*) FROM memory_session"), 1);
}

TEST(its_vectors_go)
{
    static const char *const ids[] = {"a"};
    static const char vectors[] =
        "INSERT INTO memory_model (number, name, dimension, used, fitted)"
        " VALUES (1, 'x', 1, 0, 0);"
        "INSERT INTO memory_vector (model, key, stamp, scale, bytes)"
        " SELECT 1, key, 1, 1.0, x'01' FROM memory_entry;"
        "INSERT INTO memory_floats (model, key, floats)"
        " SELECT 1, key, x'01020304' FROM memory_entry";
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    say("s", "a", "one", 1);
    say("s", "b", "two", 2);
    run(vectors);
    lore_do(forget, ids, 1, &f);
    assert_int_equal(number("SELECT count(*) FROM memory_vector"), 1);
    assert_int_equal(number("SELECT count(*) FROM memory_floats"), 1);
    lore_do(edit, "b", "three");
    assert_int_equal(number("SELECT count(*) FROM memory_vector"), 0);
    assert_int_equal(number("SELECT count(*) FROM memory_floats"), 0);
    lore_do(restore, &f); /* made again in the background */
    assert_int_equal(number("SELECT count(*) FROM memory_vector"), 0);
}

/* ---- sessions that are here ---- */

static const char ID[] = "01890a5d-ac96-774b-bcce-b302099a8057";
static const char CHILD[] = "01890a5d-ac96-774b-bcce-b302099a8058";
static const char OTHER[] = "01890a5d-ac96-774b-bcce-b302099a8059";

static void begin_session(const char *id, const char *directory, const char *parent)
{
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    memcpy(info.id, id, sizeof ID);
    free(info.directory);
    info.directory = mem_strdup(directory);
    if (parent)
        memcpy(info.parent, parent, sizeof ID);
    memory_check(sessions_put(lore_store, &info, &e), &e);
}

TEST(what_a_snapshot_left_goes)
{
    begin_session(ID, "/p", NULL);
    run("INSERT INTO snapshot SELECT key, 9, '{\"messages\":1}' FROM session;"
        "INSERT INTO snapshot_message SELECT key, 0, 'stays' FROM session;"
        "INSERT INTO snapshot_message SELECT key, 1, 'the Zqxjkvwombats' FROM session;"
        "INSERT INTO snapshot_message SELECT key, 2, 'of Mqvnorth' FROM session");
    say(ID, "a", "the Zqxjkvwombats of Mqvnorth", 20);
    lore_forget("a");
    assert_int_equal(number("SELECT count(*) FROM snapshot_message"), 1);
    assert_int_equal(number("SELECT position FROM snapshot_message"), 0);
    assert_false(damage_on_disk(path, "xjkvwomb") || damage_on_disk(path, "qvnorth"));
    run("INSERT INTO snapshot_message SELECT key, 1, 'the Zqxjkvwombats' FROM session");
    say(ID, "a", "the Zqxjkvwombats once more", 30);
    lore_do(edit, "a", "nothing");
    assert_int_equal(number("SELECT count(*) FROM snapshot_message"), 1);
    assert_false(damage_on_disk(path, "xjkvwomb"));
}

TEST(scopes_know_directories_and_forks)
{
    begin_session(ID, "/p", NULL);
    begin_session(CHILD, "/q", ID);
    begin_session(OTHER, "/p", NULL);
    say(ID, NULL, "wombat of the parent", 1);
    say(CHILD, NULL, "wombat of the child", 2);
    say(OTHER, NULL, "wombat of another", 3);
    say("imported", NULL, "wombat of an import", 4);
    struct memory_scope all = {.kind = MEMORY_SCOPE_ALL},
                        project = {.kind = MEMORY_SCOPE_PROJECT, .directory = "/p"},
                        child = {.kind = MEMORY_SCOPE_SESSION, .session_id = CHILD},
                        parent = {.kind = MEMORY_SCOPE_SESSION, .session_id = ID},
                        import = {.kind = MEMORY_SCOPE_SESSION, .session_id = "imported"},
                        nowhere = {.kind = MEMORY_SCOPE_SESSION};
    assert_int_equal(hits("wombat", all), 4);
    assert_int_equal(hits("wombat", project), 2);
    assert_int_equal(hits("wombat", child), 2);
    assert_int_equal(hits("wombat", parent), 1);
    assert_int_equal(hits("wombat", import), 1);
    assert_int_equal(hits("wombat", nowhere), 0);
    int64_t count;
    lore_do(count, &project, &count);
    assert_int_equal(count, 2);
    lore_do(count, &child, &count);
    assert_int_equal(count, 2);
    char *newest = support_keep(memory_newest(m, CHILD, 0, 10));
    assert_string_equal(newest, "wombat of the child\nwombat of the parent\n");
}

TEST(a_filter_leaves_out_what_it_does_not_name)
{
    begin_session(ID, "/home/ada/garden", NULL);
    begin_session(OTHER, "/srv/garden", NULL);
    say(ID, NULL, "wombat of monday", 1000);
    say(ID, NULL, "wombat of tuesday", 2000);
    say(OTHER, NULL, "wombat of wednesday", 3000);
    run("UPDATE session SET imported = 'claude' WHERE directory = '/srv/garden'");
    const struct {
        struct memory_scope scope;
        int64_t count;
    } rows[] = {
        {{.filter = {.after_ms = 2000}}, 2},
        {{.filter = {.before_ms = 2000}}, 1},
        {{.filter = {.after_ms = 2000, .before_ms = 3000}}, 1},
        {{.filter = {.project = "garden"}}, 3},
        {{.filter = {.project = "arden"}}, 0},
        {{.filter = {.project = "/srv/garden"}}, 1},
        {{.filter = {.project = "garden", .before_ms = 3000, .origin = 1}}, 2},
        {{.filter = {.project = "garden", .origin = 2}}, 0},
        {{.kind = MEMORY_SCOPE_SESSION, .session_id = ID, .filter = {.project = "garden"}}, 2},
        {{.kind = MEMORY_SCOPE_SESSION, .session_id = ID, .filter = {.project = "/srv/garden"}}, 0},
        {{.filter = {.from = "claude"}}, 1},
        {{.filter = {.from = "cl", .project = "garden"}}, 1},
        {{.filter = {.from = "claude.ai"}}, 0},
        {{.filter = {.from = "tiro"}}, 2},
        {{.kind = MEMORY_SCOPE_SESSION, .session_id = ID, .filter = {.from = "claude"}}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(memory_entries_release) struct memory_entries list = {0};
        int64_t count;
        lore_do(count, &rows[i].scope, &count);
        lore_do(list, &rows[i].scope, 0, 100, &list);
        if ((int64_t)hits("wombat", rows[i].scope) != rows[i].count || count != rows[i].count ||
            list.items.len != (size_t)rows[i].count)
            fail_msg("row %zu: %lld hits, %lld counted", i,
                     (long long)hits("wombat", rows[i].scope), (long long)count);
    }
}

static void compaction(int64_t seq, const char *type, const char *payload)
{
    char *sql = support_text(
        "INSERT INTO event SELECT key, %lld, 0, '%s', 1, '%s' FROM session"
        " WHERE id = '%s'",
        (long long)seq, type, payload, ID);
    run(sql);
}

static bool is_flagged(int64_t seq)
{
    bool flagged;
    memory_check(summary_flagged(lore_store, ID, seq, &flagged, &e), &e);
    return flagged;
}

TEST(summaries_that_quote_are_flagged)
{
    static const char *const ids[] = {"a", "b"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    begin_session(ID, "/p", NULL);
    compaction(1, "run_started", "{\"prompt\":\"x\"}");
    compaction(2, "run_started", "{\"prompt\":\"x\",\"retries\":1}");
    compaction(3, "compaction_completed", "{\"summary\":\"They said the code is 4711, so.\"}");
    compaction(4, "compaction_completed", "{\"summary\":\"Nothing of it.\"}");
    compaction(5, "run_started", "{\"prompt\":\"x\"}");
    compaction(6, "compaction_completed",
               "{\"summary\":\"Again: the code\\nis 4711; a wombat digs\"}");
    compaction(7, "compaction_undone", "{\"of\":3}");
    compaction(8, "compaction_completed", "not JSON");
    say(ID, "a", "the code is 4711", 1);
    say(ID, "b", "a wombat digs", 2);
    say("elsewhere", "c", "the code is 4711", 1);
    lore_do(forget, ids, 2, &f);
    assert_int_equal(f.summaries.len, 2);
    assert_int_equal(f.summaries.items[0].completed_seq, 3);
    assert_int_equal(f.summaries.items[0].turn, 1);
    assert_string_equal(f.summaries.items[0].session_id, ID);
    assert_int_equal(f.summaries.items[1].completed_seq, 6);
    assert_int_equal(f.summaries.items[1].turn, 2);
    assert_true(is_flagged(3) && is_flagged(6));
    assert_false(is_flagged(4) || is_flagged(8));
    lore_do(stats, &stats);
    assert_int_equal(stats.flagged, 2);
    struct memory_forgotten first = f;
    first.items.len = 1;
    lore_do(restore, &first);
    assert_true(!is_flagged(3) && is_flagged(6)); /* the other one is still quoted there */
    lore_do(restore, &f);
    assert_false(is_flagged(3) || is_flagged(6));
}

/* ---- transactions, bounds, reopening ---- */

TEST(an_open_transaction_takes_it_back)
{
    say("s", "a", "one", 1);
    memory_check(store_begin(lore_store, &e), &e);
    say("s", "b", "two", 2);
    lore_do(edit, "a", "changed");
    store_rollback(lore_store);
    assert_string_equal(support_keep(memory_contents(m, NULL)), "one\n");
    assert_int_equal(hits("two", everywhere), 0);
    assert_int_equal(hits("one", everywhere), 1);
}

TEST(a_full_session_is_refused)
{
    int stored;
    say("s", "a", "one", 1);
    run("UPDATE memory_session SET next = (1 << 24) - 1");
    say("s", "b", "two", 2);
    AUTO(memory_entry_release) struct memory_entry given = memory_said("c", "three", 3);
    assert_err(m->ops->index(m, "s", 0, &given, 1, &stored, &e), e, ERR_SESSION_STORE_ERROR);
    assert_non_null(strstr(e.text, "memory is full"));
    lore_do(index, "t", 0, &given, 1, &stored);
    assert_int_equal(memory_total(m), 3);
}

TEST(a_new_index_is_of_the_configured_language)
{
    struct memory_stats stats;
    struct memory *german =
        memory_open(lore_store, &(struct memory_settings){.language = "german"});
    free(memory_store_one(german, "s", "a", "die Häuser", 1));
    memory_check(german->ops->stats(german, &stats, &e), &e);
    assert_string_equal(stats.language, "german");
    assert_false(stats.language_stale);
    memory_stats_release(&stats);
    memory_close(german);
    say("s", "b", "two", 2); /* with entries it keeps its own */
    lore_do(stats, &stats);
    assert_string_equal(stats.language, "german");
    assert_true(stats.language_stale);
    memory_stats_release(&stats);
    assert_int_equal(hits("Haus", everywhere), 1);
}

TEST(numbers_of_sessions_are_not_used_again)
{
    say("s", "a", "one", 1);
    say("t", "b", "two", 1);
    int64_t key = number("SELECT max(key) FROM memory_entry");
    lore_do(forget_session, "t");
    say("u", "c", "three", 1);
    assert_true(number("SELECT max(key) FROM memory_entry") > key);
}

static bool other_sees_the_old(void *context, int64_t done, int64_t of)
{
    (void)done, (void)of;
    struct memory *own = m;
    m = context;
    assert_int_equal(hits("wombat", everywhere), 1);
    m = own;
    return true;
}

TEST(reindexing_is_one_step_to_others)
{
    struct store *other;
    say("s", "a", "a wombat digs", 1);
    memory_check(store_open(path, STORE_READ_ONLY, &other, &e), &e);
    struct memory *of_other = memory_open(other, NULL);
    lore_do(reindex, "german", other_sees_the_old, of_other);
    memory_check(other_sees_the_old(of_other, 0, 0), &e);
    memory_close(of_other);
    store_close(other);
}

/* ---- many at once ---- */

enum { THREADS = 100, ROUNDS = 1 };

struct busy {
    int number;
    atomic_int *faults;
};

static void note(const struct busy *b, bool ok, const struct error *fault)
{
    if (ok)
        return;
    fprintf(stderr, "thread %d: %s\n", b->number, fault->text);
    atomic_fetch_add(b->faults, 1);
}

/* Adds three entries per round, looks, then edits one, pins one and forgets one. */
static void be_busy(const struct busy *b, struct memory *own)
{
    const struct memory_scope all = {.kind = MEMORY_SCOPE_ALL};
    const struct memory_query query = lore_query("wombat");
    struct error fault = {0};
    for (int round = 0; round < ROUNDS; round++) {
        AUTO(memory_entries_release) struct memory_entries given = {0}, list = {0};
        AUTO(memory_hits_release) struct memory_hits found = {0};
        int stored;
        for (int i = 0; i < 3; i++)
            vec_push(&given.items, memory_said(NULL,
                                               support_text("wombat of thread%d round%d entry%d",
                                                            b->number, round, i),
                                               round));
        const struct memory_entry *made = given.items.items;
        note(b, own->ops->index(own, "shared", 0, given.items.items, 3, &stored, &fault), &fault);
        note(b, stored == 3, &fault);
        note(b, own->ops->search(own, &query, &found, &fault) && found.items.len == 5, &fault);
        note(b, own->ops->list(own, &all, 0, 5, &list, &fault), &fault);
        const char *text = support_text("badger of thread%d round%d", b->number, round);
        const char *gone = made[2].id;
        note(b, own->ops->edit(own, made[0].id, text, &fault), &fault);
        note(b, own->ops->pin(own, made[1].id, true, &fault), &fault);
        note(b, own->ops->forget(own, &gone, 1, NULL, &fault), &fault);
    }
}

static void *busy_thread(void *context)
{
    const struct busy *b = context;
    struct store *own;
    struct error fault = {0};
    if (!store_open(path, STORE_READ_WRITE, &own, &fault)) {
        note(b, false, &fault);
        return NULL;
    }
    store_set_patience(own, 60000, 0, NULL, NULL);
    struct memory *memory = memory_open(own, NULL);
    be_busy(b, memory);
    memory_close(memory);
    store_close(own);
    return NULL;
}

TEST(many_threads_lose_nothing)
{
    pthread_t threads[THREADS];
    struct busy busy[THREADS];
    atomic_int faults = 0;
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    for (int i = 0; i < 5; i++) {
        say("before", NULL, support_text("wombat from before%d", i), 1);
    }
    for (int i = 0; i < THREADS; i++) {
        busy[i] = (struct busy){i, &faults};
        assert_int_equal(pthread_create(&threads[i], NULL, busy_thread, &busy[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(faults, 0);
    lore_do(stats, &stats);
    assert_int_equal(stats.entries, 5 + 2 * THREADS * ROUNDS);
    assert_int_equal(stats.pinned, THREADS * ROUNDS);
    assert_int_equal(stats.sessions, 2);
    assert_int_equal(number("SELECT count(*) FROM memory_words WHERE memory_words MATCH 'badger'"),
                     THREADS * ROUNDS);
    assert_int_equal(number("SELECT count(*) FROM memory_words WHERE memory_words MATCH 'wombat'"),
                     5 + THREADS * ROUNDS);
    run("INSERT INTO memory_words (memory_words) VALUES ('integrity-check'); PRAGMA "
        "foreign_key_check");
    assert_int_equal(damage_sql(path,
                                "SELECT count(*) FROM pragma_integrity_check"
                                " WHERE integrity_check <> 'ok'"),
                     0);
}
