/* Changes of histories of other agents, as they are noticed and read. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "import/watch.h"
#include "session/import_follow.h"
#include "store/sql.h"
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

enum { PATIENCE_MS = 10000 };

#define PLACE ".claude/projects/"

static struct error e;

static bool never_stops(void *context)
{
    (void)context;
    return true;
}
static const struct wakeup never = {.fd = -1, .go_on = never_stops};

static void write_line(const char *path, const char *session, int n)
{
    static const char form[] =
        "{'parentUuid':null,'cwd':'/w','sessionId':'%s','type':'user','uuid':'%s-%d','timestamp':"
        "'2026-03-01T10:00:00Z','message':{'role':'user','content':'question %d of %s'}}\n";
    char *place = support_path(path);
    auto_free char *folder = paths_parent(place);
    assert_ok(paths_make_dir(folder, &e), e);
    import_case_append(path, support_text(form, session, session, n, n, session));
}

static int64_t messages(void)
{
    int64_t out = -1;
    assert_ok(store_number(import_case_store, "SELECT count(*) FROM import_message", &out, &e), e);
    return out;
}

/* Scans what has changed. Returns whether that was everything. */
static bool scan_changes(struct import_watch *w)
{
    struct text_list changed;
    struct import_report report;
    assert_int_equal(import_watch_wait(w, &never, PATIENCE_MS * support_patience(), &changed),
                     IMPORT_CHANGED);
    bool all = changed.items.len == 0;
    const struct import_options o = {.watch = w, .changed = &changed};
    assert_ok(import_scan(import_case_store, NULL, &o, &report, &e), e);
    import_report_release(&report);
    vec_free_each(&changed.items);
    return all;
}

/* Watches the places as they are. */
static struct import_watch *watch(const struct import_watch_options *o)
{
    static const struct import_watch_options usual;
    struct import_watch *w = import_watch_new(o ? o : &usual);
    assert_true(scan_changes(w));
    return w;
}

/* Waits until so many messages were read. Returns whether everything was scanned. */
static bool read_messages(struct import_watch *w, int64_t count)
{
    bool all = false;
    for (int round = 0; messages() < count; round++) {
        assert_true(round < 1000);
        all = scan_changes(w) || all;
    }
    assert_int_equal(messages(), count);
    return all;
}

#ifdef HAVE_INOTIFY_INIT1

TEST(test_a_file_that_grows_or_comes_is_read)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    assert_int_equal(messages(), 1);
    write_line(PLACE "-w/a.jsonl", "a", 1);
    assert_false(read_messages(w, 2));
    write_line(PLACE "-w/b.jsonl", "b", 0);
    assert_false(read_messages(w, 3));
    import_watch_free(w);
}

TEST(test_new_folders_are_followed)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    write_line(PLACE "2026/11/29/b.jsonl", "b", 0);
    assert_false(read_messages(w, 2));
    write_line(PLACE "2026/11/29/b.jsonl", "b", 1);
    assert_false(read_messages(w, 3));
    write_line(PLACE "2026/11/30/c.jsonl", "c", 0);
    assert_false(read_messages(w, 4));
    import_watch_free(w);
}

/* Also with the folder itself: it is made again, or another one takes its place. */
TEST(test_what_is_moved_to_its_place_is_read)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    write_line("made/a.jsonl", "a", 0);
    write_line("made/a.jsonl", "a", 1);
    assert_int_equal(rename(support_path("made/a.jsonl"), support_path(PLACE "-w/a.jsonl")), 0);
    assert_false(read_messages(w, 2));
    assert_int_equal(rename(support_path(PLACE "-w"), support_path("away")), 0);
    write_line("made/b.jsonl", "b", 0);
    assert_int_equal(rename(support_path("made"), support_path(PLACE "-w")), 0);
    read_messages(w, 3);
    write_line(PLACE "-w/b.jsonl", "b", 1);
    read_messages(w, 4);
    import_watch_free(w);
}

TEST(test_an_agent_that_is_new_here_is_followed)
{
    struct import_watch *w = watch(NULL);
    write_line(PLACE "-w/a.jsonl", "a", 0);
    read_messages(w, 1);
    write_line(PLACE "-w/a.jsonl", "a", 1);
    read_messages(w, 2);
    import_watch_free(w);
}

static void run_sql(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* And reading it is no change. */
TEST(test_the_journal_of_a_database_is_noticed)
{
    sqlite3 *db;
    struct text_list changed;
    import_case_sql(
        ".config/io.datasette.llm/logs.db",
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE conversations (id TEXT, name TEXT, model TEXT);"
        "CREATE TABLE responses (id TEXT, conversation_id TEXT, model TEXT, prompt TEXT,"
        " response TEXT, datetime_utc TEXT, input_tokens INTEGER, output_tokens "
        "INTEGER);"
        "INSERT INTO conversations VALUES ('c', 'Tax', 'm');"
        "INSERT INTO responses VALUES ('r1', 'c', 'm', 'Where?', 'There.',"
        " '2026-03-01T10:00:00', 1, 1)");
    struct import_watch *w = watch(NULL);
    assert_false(read_messages(w, 2));
    assert_int_equal(sqlite3_open(support_path(".config/io.datasette.llm/logs.db"), &db),
                     SQLITE_OK);
    run_sql(db, "PRAGMA wal_autocheckpoint = 0");
    run_sql(db,
            "INSERT INTO responses VALUES ('r2', 'c', 'm', 'And the fee?', 'Here.',"
            " '2026-03-01T10:01:00', 1, 1)");
    assert_false(read_messages(w, 4));
    for (int i = 0; import_watch_wait(w, &never, 400, &changed) != IMPORT_QUIET; i++) {
        const struct import_options o = {.watch = w, .changed = &changed};
        struct import_report report;
        assert_true(i < 10);
        assert_ok(import_scan(import_case_store, NULL, &o, &report, &e), e);
        import_report_release(&report);
        vec_free_each(&changed.items);
    }
    sqlite3_close(db);
    import_watch_free(w);
}

/* --- following -------------------------------------------------------------------------------- */

/* Asked between two transactions of a scan: a talk goes on meanwhile. */
static bool writes_once(void *context)
{
    bool *wrote = context;
    if (*wrote || messages() < 100)
        return true;
    write_line(PLACE "-w/new.jsonl", "new", 1);
    *wrote = true;
    return true;
}

static bool has_new(void)
{
    int64_t count = 0;
    assert_ok(store_number(import_case_store,
                           "SELECT count(*) FROM session WHERE title = 'question 0 of new'"
                           " AND messages = 2",
                           &count, &e),
              e);
    return count == 1;
}

TEST(test_what_is_new_does_not_wait_for_a_long_scan)
{
    enum { FILES = 4, TURNS = 6000 };
    int fds[2];
    bool wrote = false, read = false;
    AUTO(buf_release) struct buf text = BUF_INIT;
    write_line(PLACE "-w/new.jsonl", "new", 0);
    for (int i = 0; i < FILES; i++) {
        buf_clear(&text);
        for (int n = 0; n < TURNS; n++)
            buf_addf(&text,
                     "{\"cwd\":\"/w\",\"sessionId\":\"old%d\",\"type\":\"user\",\"uuid\":"
                     "\"%d-%d\",\"timestamp\":\"2026-03-01T10:00:00Z\",\"message\":{\"role\":"
                     "\"user\",\"content\":\"old %d\"}}\n",
                     i, i, n, n);
        support_write(support_path(support_text(PLACE "-w/old%d.jsonl", i)), text.data);
    }
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "", 1), 1);
    const struct wakeup wakeup = {.fd = fds[0], .go_on = writes_once, .context = &wrote};
    struct config *config = config_new();
    struct operation_context c = {.config = config};
    catalog_borrow(&c.catalog, import_case_store, support_dir(), "");
    struct import_follow *f = import_follow_new(&c, &(struct import_params){0}, false, true, &e);
    assert_non_null(f);
    for (int i = 0; i < 1000 && !read; i++) {
        struct import_report report;
        if (import_follow_step(f, &wakeup, &report))
            import_report_release(&report);
        read = has_new();
    }
    assert_true(read);
    assert_true(messages() < FILES * TURNS);
    import_follow_free(f);
    operation_close(&c);
    config_free(config);
    close(fds[0]);
    close(fds[1]);
}

/* Notes of an agent beside its conversations are no change of these. */
TEST(test_other_files_are_passed_over)
{
    struct text_list changed;
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    support_write(support_path(PLACE "-w/notes.md"), "notes");
    write_line(PLACE "-w/a.jsonl", "a", 1);
    assert_int_equal(import_watch_wait(w, &never, PATIENCE_MS * support_patience(), &changed),
                     IMPORT_CHANGED);
    assert_int_equal(changed.items.len, 1);
    assert_string_equal(changed.items.items[0], support_path(PLACE "-w/a.jsonl"));
    vec_free_each(&changed.items);
    import_watch_free(w);
}

TEST(test_very_many_changes_are_a_change_of_everything)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    for (int i = 0; i < 300; i++)
        write_line(support_text(PLACE "-w/b%d.jsonl", i), support_text("b%d", i), 0);
    read_messages(w, 301);
    import_watch_free(w);
}

/* A second folder is one too many: it is looked at by time. */
TEST(test_folders_beyond_the_limit_are_polled)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(&(struct import_watch_options){.folders = 1, .poll_ms = 20});
    write_line(PLACE "-w/a.jsonl", "a", 1);
    write_line(PLACE "-x/b.jsonl", "b", 0);
    read_messages(w, 3);
    import_watch_free(w);
}

#endif

TEST(test_without_inotify_places_are_polled)
{
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(&(struct import_watch_options){.folders = -1, .poll_ms = 20});
    for (int i = 1; i < 4; i++) {
        write_line(support_text(PLACE "-%d/a.jsonl", i), "a", i);
        assert_true(read_messages(w, i + 1));
    }
    import_watch_free(w);
}

/* A scan that failed is done again, and of everything. */
TEST(test_after_a_failure_everything_is_scanned)
{
    struct text_list changed;
    write_line(PLACE "-w/a.jsonl", "a", 0);
    struct import_watch *w = watch(NULL);
    import_watch_again(w, 0);
    assert_int_equal(import_watch_wait(w, &never, PATIENCE_MS * support_patience(), &changed),
                     IMPORT_CHANGED);
    assert_int_equal(changed.items.len, 0);
    import_watch_free(w);
}

static bool stops(void *context)
{
    (void)context;
    return false;
}

TEST(test_a_wait_ends_when_it_is_to_stop)
{
    int fds[2];
    struct text_list changed;
    struct import_watch *w = watch(NULL);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "", 1), 1);
    const struct wakeup wakeup = {.fd = fds[0], .go_on = stops};
    assert_int_equal(import_watch_wait(w, &wakeup, -1, &changed), IMPORT_STOPPED);
    close(fds[0]);
    close(fds[1]);
    import_watch_free(w);
}
