/* Recovering a damaged database: only data on damaged pages is lost, and the damaged file is not
 * touched. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "memory/memory.h"
#include "session/health.h"
#include "session/lock.h"
#include "store/salvage.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/suite.h"

static char *path, *whole; /* the damaged file, and its original */
static struct damage_events all;
static struct recovery r;
static struct error e;
static const struct recovery_help help = {.index = damage_index, .extensions = health_extensions};

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    whole = support_path("whole.db");
    e = (struct error){0};
    return 0;
}

static int tear_down(void **state)
{
    damage_events_release(&all);
    recovery_release(&r);
    return support_teardown(state);
}

/* Replaces the C library's unlink(): fails once for a name with this ending. */
static const char *refused_once;

int unlink(const char *name)
{
    size_t len = strlen(name), end = refused_once ? strlen(refused_once) : 0;
    if (end > 0 && len > end && strcmp(name + len - end, refused_once) == 0) {
        refused_once = NULL;
        errno = EIO;
        return -1;
    }
    return unlinkat(AT_FDCWD, name, 0);
}

static void make(int sessions, int events)
{
    damage_fill(whole, sessions, events);
    all = damage_events(whole);
    assert_int_equal(all.items.len, sessions * events);
    damage_copy(whole, path);
}

/* --- recovered data -------------------------------------------------------------------------- */

static const struct damage_event *original(const struct damage_event *ev)
{
    size_t low = 0;
    size_t high = all.items.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct damage_event *other = &all.items.items[middle];
        int order = strcmp(other->id, ev->id);
        if (order == 0)
            order = (other->seq > ev->seq) - (other->seq < ev->seq);
        if (order == 0)
            return other;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Each recovered event equals an original one, byte for byte. */
static void compare_events(const char *file)
{
    AUTO(damage_events_release) struct damage_events back = damage_events(file);
    assert_int_equal(back.items.len, r.events);
    for (size_t i = 0; i < back.items.len; i++) {
        const struct damage_event *was = original(&back.items.items[i]);
        assert_non_null(was);
        assert_string_equal(back.items.items[i].text, was->text);
        assert_int_equal(back.items.items[i].at, was->at);
    }
}

static struct health is_good(const char *file)
{
    struct health found;
    health_check(file, true, health_extensions, &found);
    assert_string_equal(health_name(found.state), "good");
    return found;
}

static void compare_sound(const char *file)
{
    struct health found = is_good(file);
    assert_int_equal(found.sessions, r.sessions);
    assert_int_equal(found.events, r.events);
}

/* The number that a query in the recovered database must give. */
#define HAS(number, sql) assert_int_equal(damage_sql(r.recovered, sql), number)

static void compare_bytes(const char *a, const char *b)
{
    size_t a_len, b_len;
    char *left = support_keep(damage_read(a, &a_len));
    char *right = support_keep(damage_read(b, &b_len));
    assert_int_equal(a_len, b_len);
    assert_memory_equal(left, right, a_len);
}

static char *tree_of(void)
{
    return support_keep(damage_tree(support_dir()));
}

/* Recovers `path`, which stays unchanged, and compares the result. */
static void recover(void)
{
    char *before = tree_of();
    recovery_release(&r);
    assert_ok(health_recover(path, &r, &help, &e), e);
    compare_bytes(path, r.copy);
    compare_sound(r.recovered);
    compare_events(r.recovered);
    char *recovered = support_keep(mem_strdup(r.recovered));
    char *kept = support_path("recovered.db");
    rename(recovered, kept);
    recovery_discard(&r);
    char *after_text = tree_of();
    char *line = strstr(after_text, "recovered.db ");
    memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
    assert_string_equal(before, after_text);
    rename(kept, recovered);
}

/* "20 sessions, 600 events, 5 entries, 0 lost", or some of these. */
__attribute__((format(printf, 1, 2))) static void counts(const char *format, ...)
{
    char text[128], kind[16];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int count, used;
    for (char *at = text; *at; at += used) {
        assert_int_equal(sscanf(at, "%d %15[a-z]%*[, ]%n", &count, kind, (used = 0, &used)), 2);
        int64_t got = strcmp(kind, "sessions") == 0  ? r.sessions
                      : strcmp(kind, "events") == 0  ? r.events
                      : strcmp(kind, "entries") == 0 ? r.entries
                                                     : r.lost;
        if (got != count)
            fail_msg("%s: %lld %s", text, (long long)got, kind);
        used = used ? used : (int)strlen(at);
    }
}

#define RECOVERS(...) (recover(), counts(__VA_ARGS__))

static void forget(void)
{
    recovery_discard(&r);
    recovery_release(&r);
}

static char *infos_of(const char *file)
{
    struct buf text = BUF_INIT;
    struct store *s;
    AUTO(session_list_release) struct session_list list = {0};
    assert_true(store_open(file, STORE_READ_ONLY, &s, &e));
    const struct session_filter every = {0};
    assert_true(sessions_list(s, &every, &list, NULL, &e));
    for (size_t i = 0; i < list.items.len; i++) {
        AUTO(session_info_release) struct session_info info = {0};
        assert_true(sessions_get(s, list.items.items[i].id, &info, &e));
        AUTO(json_free_local) struct json *v = shape_to_json(&session_info_shape, &info);
        buf_addf(&text, "%s\n", support_keep(json_print(v)));
    }
    store_close(s);
    return support_keep(buf_take(&text));
}

/* --- nothing is damaged ---------------------------------------------------------------------- */

FIXTURE(set_up, tear_down);

TEST(test_all_comes_back)
{
    make(20, 30);
    damage_sql(path,
               "UPDATE session SET labels = 'one two', archived_ms = 5, cost = 3,"
               " title_set = 1, title = 'By hand', system = 'Be brief.' WHERE key = 7");
    char *before = infos_of(path);
    RECOVERS("20 sessions, 600 events, 0 lost");
    /* Counts that come from the events are complete; the cost does not come from the events. */
    char *cost = strstr(before, ",\"cost\":3");
    memmove(cost, cost + 9, strlen(cost + 9) + 1);
    assert_string_equal(before, infos_of(r.recovered));
}

TEST(test_what_is_only_in_the_log)
{
    char *wal = support_path("tiro.db-wal");
    damage_fill_and_die(path, 5, 20);
    char *kept = support_path("kept-wal");
    damage_copy(wal, kept);
    size_t len = damage_size(path);
    for (int i = 0; i < 2; i++) {
        recovery_release(&r);
        assert_true(health_recover(path, &r, &help, &e));
        counts("5 sessions, 100 events, 0 lost");
        compare_sound(r.recovered);
        compare_bytes(kept, support_text("%s-wal", r.copy));
        compare_bytes(kept, wal);
        assert_int_equal(damage_size(path), i == 0 ? len : 0);
        damage_cut(path, 0); /* and again with nothing but the log */
    }
}

/* A damaged frame ends the log, as for SQLite: its transaction did not happen. */
TEST(test_log_that_was_torn)
{
    char *wal = support_path("tiro.db-wal");
    for (int torn = 0; torn < 2; torn++) {
        damage_fill(path, 3, 20);
        damage_fill_and_die(path, 1, 10);
        size_t len = damage_size(wal);
        if (torn)
            damage_cut(wal, len - 100);
        else
            damage_write(wal, len - 100, "x", 1);
        assert_true(health_recover(path, &r, &help, &e));
        counts("60 events, 3 sessions");
        forget();
        unlink(path);
        unlink(wal);
    }
}

TEST(test_columns_of_the_schema)
{
    static const struct {
        const char *found, *table;
    } rows[] = {{"session", "session"},
                {"event", "event"},
                {"setting", "session_setting"},
                {"entry", "memory_entry"},
                {"talk", "memory_session"},
                {"flag", "memory_flag"},
                {"deferred", "memory_deferred"},
                {"gone", "memory_gone"},
                {"followed", "memory_followed"},
                {"learned", "learned_item"},
                {"access", "learned_access"},
                {"graph_entry", "graph_entry"},
                {"graph_observation", "graph_observation"},
                {"graph_relation", "graph_relation"}};
    make(1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *sql =
            support_text("SELECT group_concat(name, ', ') = '%s' FROM pragma_table_info('%s')",
                         salvage_columns(health_extensions, rows[i].found), rows[i].table);
        if (damage_number(whole, sql) != 1)
            fail_msg("%s", sql);
    }
}

/* The progress of memory in each session is kept; if it is unknown, the user is asked. */
TEST(test_followed_sessions)
{
    make(4, 20);
    damage_sql(path,
               "UPDATE memory_followed SET seq = 20, due = 0;"
               "UPDATE memory_followed SET backlog = 4 WHERE session ="
               " (SELECT id FROM session WHERE key = 2);"
               "DELETE FROM memory_followed WHERE session ="
               " (SELECT id FROM session WHERE key = 3);"
               "INSERT INTO memory_session VALUES (7, 'talk', 9);"
               "INSERT INTO memory_gone VALUES (7, 12, 1, 5)");
    recover();
    static const char select[] =
        "SELECT group_concat(backlog || '/' || due || '/' || f.seq, ' ')"
        " FROM (SELECT * FROM session ORDER BY key) s"
        " JOIN memory_followed f ON f.session = s.id";
    assert_string_equal(support_keep(damage_rows(r.recovered, select)),
                        "0/0/20 4/0/20 1/0/21 0/0/20|\n");
    HAS(1,
        "SELECT session = 7 AND seq = 12 AND forgotten"
        " FROM memory_gone");
}

#define OF_KEY(key) "(SELECT id FROM session WHERE key = " key ")"

/* A setting that is no text is dropped; a session without settings gets the configured ones. */
TEST(test_settings)
{
    static const char select[] =
        "SELECT count(*), group_concat(name || '=' || value, ' ')"
        " FROM (SELECT * FROM session_setting JOIN session s ON"
        " s.id = session ORDER BY s.key, name)";
    make(4, 20);
    damage_sql(path, "INSERT INTO session_setting VALUES"
                     " (" OF_KEY("1") ", 'tools', 'none'),"
                     " (" OF_KEY("1") ", 'compaction', 'structured'),"
                     " (" OF_KEY("2") ", 'tools', 'full'),"
                     " (" OF_KEY("3") ", 'tools', CAST(x'41ff42' AS TEXT));"
                     "INSERT INTO session_setting VALUES"
                     " ('01890a5d-ac96-774b-bcce-b302099a8057', 'tools', 'full');"
                     "PRAGMA wal_checkpoint(TRUNCATE)");
    recover();
    assert_string_equal(support_keep(damage_rows(r.recovered, select)),
                        "3|compaction=structured tools=none tools=full|\n");
    counts("0 lost");
}

/* Deleted sessions do not come back, even where their pages were not wiped. */
TEST(test_deleted_stays_deleted)
{
    make(10, 40);
    damage_sql(path,
               "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;"
               "DELETE FROM event WHERE session BETWEEN 3 AND 6;"
               "DELETE FROM session WHERE key BETWEEN 3 AND 6;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_true(damage_sql(path, "PRAGMA freelist_count") > 10);
    RECOVERS("6 sessions, 240 events, 0 lost");
}

/* --- damage ---------------------------------------------------------------------------------- */

static size_t below(size_t end)
{
    return (size_t)(entropy_unit() * (double)end);
}

/* Events on other pages are all there; a page holds at most this many. */
static void expect_little_loss(size_t pages)
{
    int64_t missing = (int64_t)all.items.len - r.events;
    assert_true(missing >= 0);
    assert_true(missing <= (int64_t)(pages * DAMAGE_EVENTS_A_PAGE));
    if (pages == 1)
        assert_true(r.lost >= missing);
}

static void scramble(size_t page)
{
    unsigned char bytes[DAMAGE_PAGE];
    damage_copy(whole, path);
    entropy_fill(bytes, sizeof bytes);
    damage_write(path, page * DAMAGE_PAGE, bytes, sizeof bytes);
}

TEST(test_any_one_page)
{
    entropy_seed(support_seed());
    make(4, 20);
    size_t pages = damage_size(whole) / DAMAGE_PAGE, step = suite_sample(24, 1);
    for (size_t i = below(step); i < pages; i += step) {
        scramble(i);
        RECOVERS("4 sessions");
        expect_little_loss(1);
        forget();
    }
}

TEST(test_random_damage)
{
    entropy_seed(support_seed());
    make(50, 20);
    size_t pages = damage_size(whole) / DAMAGE_PAGE;
    for (size_t i = 0; i < suite_sample(3, 20); i++) {
        size_t count = 1 + below(8);
        damage_copy(whole, path);
        for (size_t k = 0; k < count; k++) {
            /* A page, or part of one, that holds something else. A part is long enough to hit a
             * text. */
            size_t page = below(pages);
            unsigned char bytes[DAMAGE_PAGE] = {0};
            size_t from = 0;
            size_t len = sizeof bytes;
            size_t kind = below(3);
            if (kind > 0)
                entropy_fill(bytes, sizeof bytes);
            if (kind == 2) {
                len = 128 + below(1024);
                from = below(sizeof bytes - len);
            }
            damage_write(path, page * DAMAGE_PAGE + from, bytes, len);
        }
        recover();
        expect_little_loss(count);
        forget();
    }
}

TEST(test_cut_off)
{
    make(20, 20);
    size_t pages = damage_size(whole) / DAMAGE_PAGE;
    for (size_t kept = pages - 1; kept > pages / 4; kept = kept * 3 / 4) {
        damage_copy(whole, path);
        damage_cut(path, kept * DAMAGE_PAGE + 100);
        recover();
        expect_little_loss(pages - kept);
        forget();
    }
}

static bool contains(const char *bytes, size_t len, const char *text)
{
    size_t text_len = strlen(text);
    for (size_t i = 0; i + text_len <= len; i++)
        if (memcmp(bytes + i, text, text_len) == 0)
            return true;
    return false;
}

/* Leaves of tables that have this text. */
static void wipe_pages_with(const char *text)
{
    size_t len;
    char zeros[DAMAGE_PAGE] = {0};
    char *bytes = support_keep(damage_read(path, &len));
    for (size_t at = 0; at + DAMAGE_PAGE <= len; at += DAMAGE_PAGE)
        if (bytes[at] == 13 && contains(bytes + at, DAMAGE_PAGE, text))
            damage_write(path, at, zeros, sizeof zeros);
}

TEST(test_sessions_without_their_rows)
{
    make(10, 20);
    wipe_pages_with("/home/someone/project");
    RECOVERS("10 sessions, 200 events, 10 lost");
    HAS(10,
        "SELECT count(*) FROM session WHERE title LIKE"
        " 'session % event 0:%' AND turns = 4 AND"
        " created_ms BETWEEN 1700000000000 AND updated_ms"
        " AND last_seq = 21");
}

/* The page that tells where the index begins is not needed for it. */
TEST(test_ids_without_the_schema)
{
    make(4, 20);
    wipe_pages_with("/home/someone/project");
    wipe_pages_with("sqlite_autoindex_session_1");
    RECOVERS("4 sessions, 80 events");
}

/* Sessions without events are still counted from the index. */
TEST(test_sessions_lost_are_counted)
{
    make(3, 0);
    wipe_pages_with("/home/someone/project");
    assert_true(health_recover(path, &r, &help, &e));
    counts("0 sessions, 3 lost");
}

TEST(test_title_that_is_no_text)
{
    make(3, 10);
    damage_sql(path,
               "UPDATE session SET title = CAST(x'41ff42' AS TEXT), title_set = 1 WHERE key = 2;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    RECOVERS("3 sessions");
    HAS(1, "SELECT count(*) FROM session WHERE hex(title) = '41EFBFBD42'");
}

TEST(test_rows_that_do_not_decode)
{
    make(3, 10);
    damage_sql(path,
               "UPDATE event SET payload = '{' WHERE session = 2 AND seq = 3;"
               "UPDATE event SET type = 'unheard_of' WHERE session = 3 AND seq = 1;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    RECOVERS("3 sessions, 28 events, 2 lost");
}

/* JSON goes on behind bytes that are no text: the event is not one that anybody wrote. */
TEST(test_text_that_is_none)
{
    size_t len;
    make(3, 10);
    char *bytes = support_keep(damage_read(path, &len));
    size_t at = 0;
    while (memcmp(bytes + at,
                  "gr\xc3\xb6\xc3\x9f"
                  "er 1-4-",
                  12) != 0)
        at++;
    damage_write(path, at + 2, "\xff", 1);
    RECOVERS("29 events, 1 lost");
}

/* Events without a session at all. */
TEST(test_orphans)
{
    make(3, 10);
    damage_events_release(&all);
    damage_sql(path,
               "PRAGMA foreign_keys = OFF; DELETE FROM session WHERE key = 2;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_true(health_recover(path, &r, &help, &e));
    counts("3 sessions, 30 events");
    compare_sound(r.recovered);
}

/* For any bytes: no crash, no endless loop, a sound database or an error. */
TEST(test_rubbish)
{
    uint64_t seed = support_seed();
    entropy_seed(seed);
    make(3, 8);
    size_t size = damage_size(whole);
    for (size_t i = 0; i < suite_sample(15, 150); i++) {
        struct health found;
        damage_copy(whole, path);
        for (size_t k = 1 + below(40); k > 0; k--) {
            unsigned char byte;
            entropy_fill(&byte, 1);
            damage_write(path, below(i % 2 ? size : 600), &byte, 1);
        }
        if (i % 5 == 0)
            damage_cut(path, below(size));
        health_check(path, true, health_extensions, &found);
        assert_ok(health_recover(path, &r, &help, &e), e);
        compare_sound(r.recovered);
        forget();
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

enum { TALKS = 30, ENTRIES = 12, MANY = 300 /* fill more than a page with their names */ };

static char *remembered; /* lines of damage_memory() */

static int tear_down_memory(void **state)
{
    free(remembered);
    remembered = NULL;
    return tear_down(state);
}

static void make_memory(int sessions, int talks, int entries)
{
    damage_fill(whole, sessions, 20);
    damage_fill_memory(whole, talks, entries);
    all = damage_events(whole);
    remembered = damage_memory(whole);
    damage_copy(whole, path);
}

static int64_t lines_of(const char *text)
{
    int64_t count = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* Each recovered entry equals an original one, with its words, and there are no other words. */
static void compare_memory(void)
{
    char *back = support_keep(damage_memory(r.recovered));
    assert_int_equal(lines_of(back), r.entries);
    for (char *line = back, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *one = support_keep(mem_strndup(line, (size_t)(end + 1 - line)));
        const char *was = strstr(remembered, one);
        assert_non_null(was);
        assert_true(was == remembered || was[-1] == '\n');
    }
    HAS(r.entries,
        "SELECT count(*) FROM memory_words_docsize WHERE id IN"
        " (SELECT key FROM memory_entry)");
    HAS(r.entries, "SELECT count(*) FROM memory_words_docsize");
}

FIXTURES(own, set_up, tear_down_memory);

TEST(test_memory_comes_back)
{
    make_memory(3, TALKS, ENTRIES);
    RECOVERS("%d entries, 0 lost", TALKS * ENTRIES);
    assert_string_equal(remembered, support_keep(damage_memory(r.recovered)));
    compare_memory();
    /* Numbers are not used again, including those of forgotten entries. */
    HAS(ENTRIES + 3, "SELECT min(next) FROM memory_session");
    HAS(1,
        "SELECT session = 1 AND compaction = 17 AND entry = 'GONE'"
        " FROM memory_flag");
    HAS(0, "SELECT count(*) FROM memory_vector");
    assert_int_equal(is_good(r.recovered).entries, TALKS * ENTRIES);
}

/* Entries have nearly the length of events. */
TEST(test_memory_any_one_page)
{
    entropy_seed(support_seed());
    make_memory(1, 2, ENTRIES);
    size_t pages = damage_size(whole) / DAMAGE_PAGE, step = suite_sample(24, 1);
    for (size_t i = below(step); i < pages; i += step) {
        scramble(i);
        RECOVERS("1 sessions");
        int64_t missing = 2 * ENTRIES - r.entries;
        assert_true(missing >= 0 && missing <= DAMAGE_EVENTS_A_PAGE);
        assert_true(r.lost >= missing);
        compare_memory();
        forget();
    }
}

/* Forgotten entries do not come back, even where their pages were not wiped. */
TEST(test_memory_stays_forgotten)
{
    make_memory(1, MANY, 2);
    damage_sql(path,
               "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;"
               "DELETE FROM memory_vector; DELETE FROM memory_words_docsize WHERE id >> 24 BETWEEN"
               " 3 AND 290; DELETE FROM memory_entry WHERE session BETWEEN 3 AND 290;"
               "DELETE FROM memory_session WHERE number BETWEEN 3 AND 290;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_true(damage_sql(path, "PRAGMA freelist_count") > 10);
    RECOVERS("%d entries, 0 lost", (MANY - 288) * 2);
    HAS(MANY - 288, "SELECT count(*) FROM memory_session");
    compare_memory();
}

static void wipe_root(const char *table)
{
    char zeros[DAMAGE_PAGE] = {0};
    int64_t page = damage_sql(
        whole, support_text("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table));
    damage_write(path, (size_t)(page - 1) * DAMAGE_PAGE, zeros, sizeof zeros);
}

/* The ids of sessions are in the index, too; without the index, entries of one session stay
 * together under a new id. */
TEST(test_memory_without_sessions)
{
    make_memory(1, 4, ENTRIES);
    wipe_root("memory_session");
    RECOVERS("%d entries, 0 lost", 4 * ENTRIES);
    compare_memory();
    HAS(ENTRIES, "SELECT min(next) FROM memory_session");
    forget();
    wipe_root("sqlite_autoindex_memory_session_1");
    assert_true(health_recover(path, &r, &help, &e));
    counts("%d entries, 4 lost", 4 * ENTRIES);
    HAS(4, "SELECT count(DISTINCT id) FROM memory_session");
}

/* Memory's numbers and names of sessions are not those of the sessions themselves. */
TEST(test_memory_names_no_session)
{
    make_memory(4, TALKS, ENTRIES);
    wipe_pages_with("/home/someone/project");
    RECOVERS("4 sessions, 4 lost, %d entries", TALKS * ENTRIES);
}

/* … nor when the beginning of an index is gone, and its other pages belong to none. */
TEST(test_memory_index_in_pieces)
{
    make_memory(1, MANY, 2);
    wipe_root("sqlite_autoindex_memory_entry_1");
    RECOVERS("%d entries, 1 sessions, 0 lost", MANY * 2);
}

/* The names on the first page are lost with it, all others are not. */
TEST(test_session_index_in_pieces)
{
    make(MANY, 1);
    wipe_root("sqlite_autoindex_session_1");
    wipe_pages_with("/home/someone/project");
    assert_true(health_recover(path, &r, &help, &e));
    counts("%d sessions", MANY);
    char *sql = support_text(
        "ATTACH '%s' AS w; SELECT count(*) FROM session WHERE id IN (SELECT id FROM w.session)",
        whole);
    assert_true(damage_sql(r.recovered, sql) > MANY - 20);
}

TEST(test_memory_that_makes_no_sense)
{
    make_memory(1, 3, ENTRIES);
    damage_sql(path,
               "PRAGMA foreign_keys = OFF;"
               "UPDATE memory_entry SET role = 'nobody' WHERE key = (1 << 24) + 3;"
               "UPDATE memory_entry SET session = 2 WHERE key = (1 << 24) + 4;"
               "UPDATE memory_entry SET content = '' WHERE key = (1 << 24) + 5;"
               "UPDATE memory_entry SET content = CAST(x'ff41' AS TEXT) WHERE key = (1 << 24) + 6;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    RECOVERS("%d entries, 4 lost", 3 * ENTRIES - 4);
    compare_memory();
}

/* Imports may bring letters of another century. */
TEST(test_memory_of_long_ago)
{
    make_memory(1, 3, ENTRIES);
    damage_sql(path,
               "UPDATE memory_entry SET created_ms = -created_ms - 86400000;"
               "PRAGMA wal_checkpoint(TRUNCATE)");
    free(remembered);
    remembered = damage_memory(path);
    RECOVERS("%d entries, 0 lost", 3 * ENTRIES);
    compare_memory();
}

/* Entries that only the index still has are counted as lost. */
TEST(test_memory_lost_is_counted)
{
    make_memory(1, 2, 2);
    wipe_pages_with("session 1 event 0: ");
    recover();
    assert_true(r.entries < 4);
    assert_int_equal(r.entries + r.lost, 4);
    counts("1 sessions");
}

TEST(test_memory_alone_is_rescued)
{
    make_memory(0, 5, ENTRIES);
    wipe_root("memory_session");
    assert_true(health_rescue(path, "german", &r, NULL, NULL, &e));
    counts("0 sessions, %d entries", 5 * ENTRIES);
    struct health found = is_good(path);
    assert_int_equal(found.entries, r.entries);
    assert_int_equal(damage_sql(path,
                                "SELECT sql LIKE '%tiro german%' FROM sqlite_schema"
                                " WHERE name = 'memory_words'"),
                     1);
}

/* A recovery that is stopped while memory is saved leaves nothing. */
static bool stop_in_memory(void *context, int64_t events)
{
    int *times = context;
    *times += events == 20;
    return *times < 4;
}

TEST(test_memory_stopped)
{
    int times = 0;
    make_memory(1, TALKS, ENTRIES);
    const struct recovery_help stopping = {.extensions = health_extensions,
                                           .progress = stop_in_memory,
                                           .index = damage_index,
                                           .context = &times};
    char *before = tree_of();
    assert_err(health_recover(path, &r, &stopping, &e), e, ERR_INTERRUPTED);
    assert_int_equal(times, 4);
    assert_string_equal(before, tree_of());
}

/* --- in the place of the damaged one --------------------------------------------------------- */

static bool stop(void *context, int64_t events)
{
    int64_t *last = context;
    assert_true(events >= *last);
    *last = events;
    return events < 128;
}

FIXTURES(own_2, set_up, tear_down);

TEST(test_stopped)
{
    int64_t last = 0;
    make(20, 20);
    char *before = tree_of();
    const struct recovery_help stopping = {
        .progress = stop, .context = &last, .extensions = health_extensions};
    assert_err(health_recover(path, &r, &stopping, &e), e, ERR_INTERRUPTED);
    assert_int_equal(last, 128);
    assert_null(r.copy);
    assert_string_equal(before, tree_of());
}

static void damage_middle(void)
{
    char zeros[DAMAGE_PAGE] = {0};
    damage_write(path, damage_size(path) / DAMAGE_PAGE / 2 * DAMAGE_PAGE, zeros, sizeof zeros);
}

TEST(test_rescue)
{
    char *wal = support_path("tiro.db-wal");
    char *shm = support_path("tiro.db-shm");
    make(10, 20);
    damage_middle();
    damage_copy(path, wal); /* rubbish that must not be played into the new one */
    damage_copy(path, shm);
    size_t len, copy_len;
    char *before = support_keep(damage_read(path, &len));
    assert_true(health_rescue(path, "english", &r, NULL, NULL, &e));
    struct health found = is_good(path);
    assert_int_equal(found.events, r.events);
    compare_events(path);
    assert_true(damage_number(path, "SELECT count(*) FROM transcript_words_docsize") > 0);
    expect_little_loss(1);
    char *copy = support_keep(damage_read(r.copy, &copy_len));
    assert_int_equal(copy_len, len);
    assert_memory_equal(copy, before, len);
    assert_int_not_equal(access(r.recovered, F_OK), 0);
    assert_int_not_equal(access(shm, F_OK), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* The rows of the damaged one do not stay in a file of their own. */
TEST(test_no_file_of_rows_is_left)
{
    make(2, 20);
    damage_middle();
    refused_once = "-rows";
    assert_true(health_recover(path, &r, &help, &e));
    assert_null(refused_once);
    assert_int_not_equal(access(support_keep(mem_printf("%s-rows", r.recovered)), F_OK), 0);
}

/* The log of the damaged one is not played into what takes its place. */
TEST(test_rescue_with_a_log)
{
    char *wal = support_path("tiro.db-wal");
    damage_fill(path, 10, 20);
    damage_fill_and_die(path, 3, 20);
    damage_middle();
    assert_true(health_rescue(path, "english", &r, NULL, NULL, &e));
    counts("13 sessions");
    assert_true(r.events >= 260 - DAMAGE_EVENTS_A_PAGE);
    assert_int_not_equal(access(wal, F_OK), 0);
    struct health found = is_good(path);
    assert_int_equal(found.events, r.events);
}

static void refused(enum err_code code, const char *why)
{
    char *before = tree_of();
    assert_error(health_rescue(path, "english", &r, NULL, NULL, &e), e, code, why);
    assert_null(r.copy);
    assert_string_equal(before, tree_of());
}

static void take_session(const char *directory)
{
    int fd;
    char *dir = support_keep(mem_strndup(directory, (size_t)(strrchr(directory, '/') - directory)));
    if (!lock_take(dir, "01890a5d-ac96-774b-bcce-b302099a8057", &fd, NULL))
        _exit(1);
}

TEST(test_rescue_is_refused)
{
    make(5, 20);
    struct damage_holder h = damage_hold(path, damage_open);
    damage_middle();
    refused(ERR_SESSION_BUSY, "open");
    damage_let_go(&h);
    h = damage_hold(path, take_session);
    refused(ERR_SESSION_BUSY, "a8057");
    damage_let_go(&h);
    assert_true(health_rescue(path, "english", &r, NULL, NULL, &e));
}

TEST(test_nothing_to_save)
{
    support_write(path, "Dear reader, this is a letter and no database.\n");
    refused(ERR_SESSION_NOT_FOUND, "stays");
    assert_string_equal(support_read(path), "Dear reader, this is a letter and no database.\n");
}

/* Another process opened it after it was copied. */
static bool let_in(void *context, int64_t events)
{
    struct damage_holder *h = context;
    if (events > 0 && h->pid == 0)
        *h = damage_hold(path, damage_open);
    return true;
}

TEST(test_opened_meanwhile)
{
    struct damage_holder h = {0};
    make(10, 20);
    damage_sql(path, "UPDATE event SET payload = '{' WHERE session = 2 AND seq = 3");
    assert_error(health_rescue(path, "english", &r, let_in, &h, &e), e, ERR_SESSION_BUSY, "open");
    damage_let_go(&h);
    assert_true(health_rescue(path, "english", &r, let_in, &(struct damage_holder){.pid = 1}, &e));
    counts("1 lost");
}

/* Another process wrote to it after it was copied. */
static bool meddle(void *context, int64_t events)
{
    if (events > 0 && !*(bool *)context) {
        *(bool *)context = true;
        damage_write(path, damage_size(path) - 1, "x", 1);
    }
    return true;
}

TEST(test_written_meanwhile)
{
    bool done = false;
    make(10, 20);
    damage_middle();
    assert_err(health_rescue(path, "english", &r, meddle, &done, &e), e, ERR_SESSION_BUSY);
    assert_true(done);
    assert_non_null(strstr(e.text, "written"));
}
