/* The database: opening and its errors, sessions, the log of events. */
#include <sys/stat.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/steps.h"
#include "tests/suite.h"

static char *path;
static struct store *store;
static struct error e;

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("data/deep/tiro.db");
    e = (struct error){0};
    return store_open(path, STORE_READ_WRITE, &store, &e) ? 0 : -1;
}

static int tear_down(void **state)
{
    store_close(store);
    store = NULL;
    return support_teardown(state);
}

/* ---- opening ---- */

FIXTURE(set_up, tear_down);

TEST(test_makes_private_files)
{
    struct stat st;
    char *dir = support_path("data/deep");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(support_text("%s-wal", path), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void refuse(const char *file, enum store_mode mode, enum err_code code, const char *named)
{
    struct store *s;
    struct error fault = {0};
    assert_false(store_open(file, mode, &s, &fault));
    assert_null(s);
    assert_int_equal(fault.code, code);
    assert_non_null(strstr(fault.text, named));
    assert_non_null(strstr(fault.text, file));
}

TEST(test_stamps_its_file)
{
    assert_int_equal(damage_number(path, "PRAGMA user_version"), SCHEMA_VERSION);
    assert_int_equal(damage_number(path, "PRAGMA application_id"), 0x7469726f);
    struct store *again;
    assert_true(store_open(path, STORE_READ_WRITE, &again, &e));
    store_close(again);
}

TEST(test_newer_schema_is_refused_untouched)
{
    size_t before_len, after_len;
    store_close(store);
    store = NULL;
    damage_sql(path, "PRAGMA user_version = 999");
    char *before = support_keep(damage_read(path, &before_len));
    refuse(path, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "sessions export");
    refuse(path, STORE_READ_ONLY, ERR_SESSION_STORE_ERROR, "sessions export");
    char *after = support_keep(damage_read(path, &after_len));
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
}

TEST(test_foreign_database_is_refused)
{
    char *file = support_path("other.db");
    damage_sql(file, "CREATE TABLE recipe (name TEXT); PRAGMA user_version = 1");
    refuse(file, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "another program");
    assert_int_equal(damage_number(file, "SELECT count(*) FROM sqlite_schema"), 1);
    damage_sql(file, "PRAGMA application_id = 7");
    refuse(file, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "another program");
}

TEST(test_what_is_no_database_is_refused)
{
    char *file = support_path("letter.txt");
    support_write(file,
                  "Dear reader, this is not a database but a letter. It is long enough to be "
                  "taken for a page and says nothing at all about SQLite.\n");
    refuse(file, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "tiro doctor");
    refuse(file, STORE_READ_ONLY, ERR_SESSION_STORE_ERROR, "not a database");
    assert_int_equal(strncmp(support_read(file), "Dear reader", 11), 0);
}

static void put(const char *id, const char *title, int64_t updated_ms);

TEST(test_truncated_database_is_refused)
{
    put("01890a5d-ac96-774b-bcce-b302099a8057", "x", 1);
    store_close(store);
    store = NULL;
    size_t len;
    char *bytes = support_keep(damage_read(path, &len));
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, len / 3, f);
    fclose(f);
    refuse(path, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "tiro doctor");
}

TEST(test_read_only)
{
    char *nothing = support_path("nothing.db");
    refuse(nothing, STORE_READ_ONLY, ERR_SESSION_NOT_FOUND, "does not exist");
    support_write(nothing, "");
    refuse(nothing, STORE_READ_ONLY, ERR_SESSION_NOT_FOUND, "empty");

    struct store *reader;
    AUTO(session_list_release) struct session_list list = {0};
    put("01890a5d-ac96-774b-bcce-b302099a8057", "x", 1);
    assert_true(store_open(path, STORE_READ_ONLY, &reader, &e));
    struct session_filter all = {0};
    assert_true(sessions_list(reader, &all, &list, NULL, &e));
    assert_int_equal(list.items.len, 1);
    assert_error(sessions_set_draft(reader, "01890a5d-ac96-774b-bcce-b302099a8057", "d", &e), e,
                 ERR_SESSION_STORE_ERROR, "cannot be written");
    store_close(reader);
}

TEST(test_a_path_that_cannot_be)
{
    char *file = support_path("file");
    char *below = support_path("file/tiro.db");
    support_write(file, "");
    struct store *s;
    assert_error(store_open(below, STORE_READ_WRITE, &s, &e), e, ERR_SESSION_STORE_ERROR, file);
    refuse(below, STORE_READ_ONLY, ERR_SESSION_STORE_ERROR, "cannot open");
    refuse(support_path("data"), STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "cannot be opened");
}

TEST(test_default_path)
{
    char *wanted = support_path(".local/share/tiro/tiro.db");
    assert_string_equal(support_keep(store_default_path()), wanted);
}

/* ---- sessions ---- */

static const char ID_A[] = "01890a5d-ac96-774b-bcce-b302099a8057";
static const char ID_B[] = "01890a5d-ac97-7111-8000-0000deadbeef";
static const char ID_C[] = "01890a5d-ac98-7222-8000-00001234abcd";

static void put(const char *id, const char *title, int64_t updated_ms)
{
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    snprintf(info.id, sizeof info.id, "%s", id);
    free(info.title);
    info.title = mem_strdup(title);
    info.updated_ms = updated_ms;
    assert_true(sessions_put(store, &info, &e));
}

TEST(test_put_and_get)
{
    struct session_info back;
    AUTO(session_info_release)
    struct session_info info = {
        .title = mem_strdup("Größe"),
        .title_set = true,
        .directory = mem_strdup("/d"),
        .provider = mem_strdup("p"),
        .model = mem_strdup("m"),
        .system = mem_strdup("be brief"),
        .draft = mem_strdup("half"),
        .last_line = mem_strdup("line"),
        .labels = mem_strdup("blue red"),
        .parent = "01890a5d-ac97-7111-8000-0000deadbeef",
        .parent_seq = 21,
        .archived_ms = 22,
        .tool_calls = 23,
        .run_ms = 24,
        .cost = 0.125,
        .created_ms = 11,
        .updated_ms = 12,
        .messages = 13,
        .turns = 14,
        .last_seq = 15,
        .usage = {.input = 16, .output = 0, .cached = -1, .estimated = true}};
    memcpy(info.id, ID_A, sizeof ID_A);
    assert_true(sessions_put(store, &info, &e));
    assert_true(sessions_get(store, ID_A, &back, &e));
    AUTO(json_free_local) struct json *a = shape_to_json(&session_info_shape, &info);
    AUTO(json_free_local) struct json *b = shape_to_json(&session_info_shape, &back);
    assert_string_equal(support_keep(json_print(a)), support_keep(json_print(b)));
    assert_true(back.title_set);
    assert_int_equal(back.usage.cached, -1);
    assert_int_equal(back.usage.output, 0);
    session_info_release(&back);

    free(info.draft);
    free(info.labels);
    info.draft = info.labels = NULL;
    info.turns = 99;
    info.archived_ms = 0;
    info.parent[0] = '\0';
    info.cost = -1;
    assert_true(sessions_put(store, &info, &e));
    assert_true(sessions_get(store, ID_A, &back, &e));
    assert_null(back.draft);
    assert_null(back.labels);
    assert_int_equal(back.turns, 99);
    assert_int_equal(back.archived_ms, 0);
    assert_string_equal(back.parent, "");
    assert_true(back.cost < 0);
    assert_int_equal(damage_number(path,
                                   "SELECT count(*) FROM session WHERE archived_ms IS NULL"
                                   " AND parent IS NULL AND parent_seq IS NULL AND cost IS NULL"),
                     1);
    session_info_release(&back);

    assert_err(sessions_get(store, ID_B, &back, &e), e, ERR_SESSION_NOT_FOUND);
}

TEST(test_list_newest_first)
{
    struct session_list list;
    put(ID_A, "a", 100);
    put(ID_B, "b", 300);
    put(ID_C, "c", 200);
    assert_true(sessions_set_draft(store, ID_B, "draft", &e));
    assert_true(sessions_list(store, &(struct session_filter){0}, &list, NULL, &e));
    assert_int_equal(list.items.len, 3);
    assert_string_equal(list.items.items[0].id, ID_B);
    assert_null(list.items.items[0].draft);
    assert_string_equal(list.items.items[2].id, ID_A);
    session_list_release(&list);
    put(ID_A, "a", 400);
    assert_true(sessions_list(store, &(struct session_filter){.limit = 2}, &list, NULL, &e));
    assert_int_equal(list.items.len, 2);
    assert_string_equal(list.items.items[0].id, ID_A);
    session_list_release(&list);
}

/* Letters of the sessions that are listed, and how many there would be. */
static void check_list(const struct session_filter *filter, const char *wanted,
                       int64_t wanted_total)
{
    struct session_list list;
    int64_t total = -1;
    AUTO(buf_release) struct buf got = BUF_INIT;
    assert_true(sessions_list(store, filter, &list, &total, &e));
    for (size_t i = 0; i < list.items.len; i++)
        buf_addch(&got, strcmp(list.items.items[i].id, ID_A) == 0   ? 'a'
                        : strcmp(list.items.items[i].id, ID_B) == 0 ? 'b'
                                                                    : 'c');
    assert_string_equal(got.data, wanted);
    assert_int_equal(total, wanted_total);
    session_list_release(&list);
    assert_true(sessions_list(store, filter, &list, NULL, &e)); /* uncounted: the same */
    assert_int_equal(list.items.len, got.len);
    session_list_release(&list);
}

TEST(test_only_untitled_drafts_are_listed)
{
    AUTO(session_list_release) struct session_list list = {0};
    put(ID_A, "titled", 300);
    put(ID_B, "", 200);
    put(ID_C, "", 100);
    assert_true(sessions_set_draft(store, ID_A, "walnuts", &e));
    assert_true(sessions_set_draft(store, ID_B, "walnuts and figs", &e));
    assert_true(sessions_list(store, &(struct session_filter){0}, &list, NULL, &e));
    assert_null(list.items.items[0].draft);
    assert_string_equal(list.items.items[1].draft, "walnuts and figs");
    assert_null(list.items.items[2].draft);
    check_list(&(struct session_filter){.text = "WALNUT"}, "b", 1);
}

static void describe(const char *id, const char *directory, const char *model, const char *line,
                     const char *labels, int64_t archived_ms)
{
    AUTO(session_info_release) struct session_info info = {0};
    assert_true(sessions_get(store, id, &info, &e));
    free(info.directory);
    free(info.model);
    info.directory = mem_strdup(directory);
    info.model = mem_strdup(model);
    info.last_line = mem_strdup(line);
    info.labels = mem_strdup(labels);
    info.archived_ms = archived_ms;
    assert_true(sessions_put(store, &info, &e));
}

TEST(test_filters)
{
    put(ID_A, "Grüße", 100);
    put(ID_B, "Harvest", 300);
    put(ID_C, "50% _done_", 200);
    describe(ID_A, "/home/a", "fable", "Nothing", "blue red", 0);
    describe(ID_B, "/home/b", "opus", NULL, NULL, 7);
    describe(ID_C, "/home/a", "opus", "SCHLÜSSEL", "redder", 0);
    check_list(&(struct session_filter){0}, "bca", 3);
    check_list(&(struct session_filter){.text = ""}, "bca", 3);
    check_list(&(struct session_filter){.text = "GRÜSS"}, "", 0);
    check_list(&(struct session_filter){.text = "GRÜ"}, "a", 1);
    check_list(&(struct session_filter){.text = "schlü"}, "c", 1);
    check_list(&(struct session_filter){.text = "Opus"}, "bc", 2);
    check_list(&(struct session_filter){.text = "Opus", .limit = 1}, "b", 2);
    check_list(&(struct session_filter){.text = "home/A"}, "ca", 2);
    check_list(&(struct session_filter){.text = "blue"}, "a", 1);
    check_list(&(struct session_filter){.text = "%"}, "c", 1);
    check_list(&(struct session_filter){.text = "_d"}, "c", 1);
    check_list(&(struct session_filter){.label = "red"}, "a", 1);
    check_list(&(struct session_filter){.label = "Red"}, "", 0);
    check_list(&(struct session_filter){.directory = "/home/a"}, "ca", 2);
    check_list(&(struct session_filter){.directory = "/home"}, "", 0);
    check_list(&(struct session_filter){.project = "/home"}, "bca", 3);
    check_list(&(struct session_filter){.project = "/home/b"}, "b", 1);
    check_list(&(struct session_filter){.project = "/hom"}, "", 0);
    check_list(&(struct session_filter){.project = "/"}, "bca", 3);
    check_list(&(struct session_filter){.state = SESSION_LIVE}, "ca", 2);
    check_list(&(struct session_filter){.state = SESSION_ARCHIVED}, "b", 1);
    check_list(&(struct session_filter){.state = SESSION_LIVE,
                                        .directory = "/home/a",
                                        .text = "done",
                                        .label = "redder",
                                        .limit = 5},
               "c", 1);
    check_list(&(struct session_filter){.limit = 2}, "bc", 3);
    check_list(&(struct session_filter){.limit = 3}, "bca", 3);
}

/* ---- references ---- */

static void resolves(const char *reference, const char *id)
{
    char got[UUID_LEN + 1];
    assert_true(sessions_resolve(store, reference, got, &e));
    assert_string_equal(got, id);
}

static void resolves_to_error(const char *reference, enum err_code code, const char *named)
{
    char got[UUID_LEN + 1];
    e = (struct error){0};
    assert_error(sessions_resolve(store, reference, got, &e), e, code, named);
}

static void resolves_not(const char *reference, const char *named)
{
    resolves_to_error(reference, ERR_SESSION_NOT_FOUND, named);
}

static void resolves_to_several(const char *reference, const char *named)
{
    resolves_to_error(reference, ERR_SESSION_AMBIGUOUS, named);
}

TEST(test_resolve)
{
    resolves_not("last", "no session is saved");
    put(ID_A, "Grüße an Marcus", 100);
    put(ID_B, "beef", 300); /* also the end of its own id */
    put(ID_C, "deadbeef", 200);
    resolves(ID_A, ID_A);
    resolves("01890A5D-AC96-774B-BCCE-B302099A8057", ID_A);
    resolves("01890a5d-ac98", ID_C);
    resolves("abcd", ID_C);
    resolves("ABCD", ID_C);
    resolves("last", ID_B);
    resolves("~1", ID_B);
    resolves("~3", ID_A);
    resolves("grÜße AN marcus", ID_A);
    resolves("grüß", ID_A);
    resolves("an MAR", ID_A);
    resolves_not("mk", "no session");
    resolves_not("us", "no session"); /* too short for a part of a title */
    resolves("adbee", ID_C);
    resolves("deadbeef", ID_C); /* a title comes before a part of an id */
    resolves("beef", ID_B);
    resolves("0000deadbeef", ID_B);
    put(ID_A, "abcd", 500); /* also when it is met first */
    resolves("abcd", ID_A);
    resolves_not("~4", "fewer");
    resolves_not("~0", "~0");
    resolves("ef", ID_B);
    resolves("7", ID_A); /* as short as may be */
    resolves_to_several("0", "3 sessions");
    resolves_not("99", "99");
    resolves_not("Grüße", "tiro sessions list");
    resolves_not("", "no session");
    resolves_to_several("01890a5d", "3 sessions");
}

/* "last" is the last of every session in the store. */
TEST(test_archived_sessions_count)
{
    put(ID_A, "a", 100);
    put(ID_B, "b", 200);
    describe(ID_B, "/", "m", NULL, NULL, 5);
    resolves("last", ID_B);
    resolves("~2", ID_A);
    resolves("b", ID_B);
}

TEST(test_ambiguous_reference)
{
    char id[] = "01890a5d-ac96-774b-bcce-b302099a8000";
    for (int i = 0; i < 7; i++) {
        id[UUID_LEN - 1] = (char)('0' + i);
        put(id, "A title that is much too long to be shown whole", i);
    }
    resolves_to_several("0189", "7 sessions match \"0189\"");
    assert_says(e.text, "099a8006 A title that is much to", "099a8002", "!099a8001");
    resolves_to_several("a title that is much too long to be shown whole", "7 sessions");
    resolves("8003", "01890a5d-ac96-774b-bcce-b302099a8003");
}

static struct event *new_event(const char *id, int64_t seq, enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    memcpy(ev->session_id, id, UUID_LEN);
    ev->seq = seq;
    ev->wall_ms = 1000 + seq;
    if (text)
        ev->text = mem_strdup(text);
    return ev;
}

static void append(const char *id, int64_t seq, enum event_type type, const char *text)
{
    AUTO(event_free_local) struct event *ev = new_event(id, seq, type, text);
    assert_ok(event_log_fill(store, &ev, 1, &e), e);
}

TEST(test_draft)
{
    struct session_info info;
    put(ID_A, "a", 1);
    put(ID_B, "b", 1);
    append(ID_B, 1, EVENT_TURN_STARTED, "x");
    assert_true(sessions_set_draft(store, ID_A, "half a", &e));
    assert_true(sessions_get(store, ID_A, &info, &e));
    assert_string_equal(info.draft, "half a");
    session_info_release(&info);
    assert_true(sessions_set_draft(store, ID_B, "half b", &e));

    assert_true(sessions_set_draft(store, ID_B, NULL, &e));
    assert_true(sessions_get(store, ID_B, &info, &e)); /* it has an event */
    assert_null(info.draft);
    session_info_release(&info);
    assert_true(sessions_set_draft(store, ID_A, "", &e));
    assert_false(sessions_get(store, ID_A, &info, &e));
    assert_err(sessions_set_draft(store, ID_A, "back", &e), e, ERR_SESSION_NOT_FOUND);
    assert_true(sessions_set_draft(store, ID_A, NULL, &e));
}

static int64_t rows(void)
{
    return damage_number(
        path,
        "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM event)"
        " + (SELECT count(*) FROM snapshot) + (SELECT count(*) FROM snapshot_message)"
        " + (SELECT count(*) FROM projected)");
}

/* A session with a row in every table. */
static void fill(const char *id, const char *text)
{
    AUTO(history_release) struct history h = {0};
    put(id, text, 1);
    append(id, 1, EVENT_TURN_STARTED, text);
    assert_true(snapshot_resume(store, id, &h, &e));
    assert_true(snapshot_save(store, id, &h, &e));
    assert_true(projected_put(store, id, &(struct projected){.seq = 1}, &e));
}

TEST(test_delete)
{
    fill(ID_A, "stays");
    int64_t before = rows();
    fill(ID_B, "goes");
    assert_true(sessions_delete(store, ID_B, &e));
    assert_int_equal(rows(), before);
    AUTO(session_info_release) struct session_info info = {0};
    assert_true(sessions_get(store, ID_A, &info, &e));
    assert_err(sessions_delete(store, ID_B, &e), e, ERR_SESSION_NOT_FOUND);

    assert_true(store_begin(store, &e)); /* within a transaction: part of it */
    assert_true(sessions_delete(store, ID_A, &e));
    store_rollback(store);
    assert_int_equal(rows(), before);
}

/* Neither rows nor words of the index remain; the index keeps words in lower case and without the
 * prefix that they share with the word before. */
TEST(test_what_is_deleted_is_overwritten)
{
    for (int64_t seq = 1; seq < 30; seq++) {
        if (seq == 1)
            put(ID_A, "a", 1);
        append(ID_A, seq, EVENT_TURN_STARTED, "zebra quagga zorse okapi");
    }
    fill(ID_B, "Zyxomma-petiolatum");
    for (int64_t seq = 2; seq < 30; seq++)
        append(ID_B, seq, EVENT_TEXT_COMPLETE, "Zyxomma-petiolatum once more");
    for (int64_t seq = 30; seq < 60; seq++)
        append(ID_A, seq, EVENT_TURN_STARTED, "zebra quagga zorse okapi");
    store_close(store);
    assert_true(store_open(path, STORE_READ_WRITE, &store, &e));
    assert_true(damage_on_disk(path, "Zyxomma"));
    assert_true(damage_on_disk(path, "yxomma"));
    assert_true(damage_on_disk(path, "etiolatum"));
    assert_true(sessions_delete(store, ID_B, &e));
    assert_false(damage_on_disk(path, "Zyxomma"));
    assert_false(damage_on_disk(path, "yxomma"));
    assert_false(damage_on_disk(path, "etiolatum"));
    assert_true(damage_on_disk(path, "okapi"));
}

struct walk {
    struct buf letters;
    size_t stop_after;
};

static bool walk_on(void *context, const char *id)
{
    struct walk *w = context;
    buf_addch(&w->letters, strcmp(id, ID_A) == 0 ? 'a' : strcmp(id, ID_B) == 0 ? 'b' : 'c');
    assert_true(sessions_delete(store, id, &e)); /* a visited session may be changed */
    return w->letters.len != w->stop_after;
}

TEST(test_each)
{
    struct walk w = {.letters = BUF_INIT, .stop_after = 2};
    put(ID_B, "b", 300);
    put(ID_A, "a", 100);
    put(ID_C, "c", 200);
    assert_true(sessions_each(store, NULL, walk_on, &w, &e));
    assert_string_equal(w.letters.data, "ba"); /* in the order in which they were begun */
    assert_true(sessions_each(store, NULL, walk_on, &w, &e));
    assert_string_equal(w.letters.data, "bac");
    buf_release(&w.letters);
}

TEST(test_projected)
{
    struct projected p;
    put(ID_A, "a", 1);
    assert_true(projected_get(store, ID_A, &p, &e));
    assert_int_equal(p.seq + p.transcript_bytes + p.events_bytes, 0);
    p = (struct projected){.seq = 3, .transcript_bytes = 4, .events_bytes = 5000000000};
    assert_true(projected_put(store, ID_A, &p, &e));
    p.seq = 6;
    assert_true(projected_put(store, ID_A, &p, &e));
    p = (struct projected){0};
    assert_true(projected_get(store, ID_A, &p, &e));
    assert_int_equal(p.seq, 6);
    assert_int_equal(p.transcript_bytes, 4);
    assert_int_equal(p.events_bytes, 5000000000);
    assert_err(projected_put(store, ID_B, &p, &e), e, ERR_SESSION_NOT_FOUND);
    assert_true(projected_get(store, ID_B, &p, &e));
    assert_int_equal(p.seq, 0);
}

/* ---- the log ---- */

TEST(test_append_needs_the_session)
{
    AUTO(event_free_local) struct event *ev = new_event(ID_A, 1, EVENT_TURN_STARTED, "x");
    assert_error(event_log_fill(store, &ev, 1, &e), e, ERR_SESSION_STORE_ERROR, ID_A);
}

TEST(test_two_connections_one_number)
{
    struct store *other;
    put(ID_A, "a", 1);
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    AUTO(event_free_local) struct event *ev = new_event(ID_A, 1, EVENT_TURN_STARTED, "x");
    assert_true(event_log_fill(store, &ev, 1, &e));
    assert_error(event_log_fill(other, &ev, 1, &e), e, ERR_SESSION_STORE_ERROR, "another process");
    ev->seq = 2;
    assert_true(event_log_fill(other, &ev, 1, &e));
    store_close(other);
}

static bool third_time(void *count)
{
    return ++*(int *)count == 3;
}

TEST(test_locked)
{
    struct store *other;
    put(ID_A, "a", 1);
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    assert_true(store_begin(other, &e));
    store_set_patience(store, 50, 0, NULL, NULL);
    assert_error(sessions_set_draft(store, ID_A, "x", &e), e, ERR_SESSION_STORE_ERROR,
                 "locked by another process");
    int asked = 0;
    store_set_patience(store, 3600 * 1000, 0, third_time, &asked);
    assert_false(sessions_set_draft(store, ID_A, "x", &e));
    assert_int_equal(asked, 3);
    store_rollback(other);
    assert_true(sessions_set_draft(store, ID_A, "x", &e));
    store_close(other);
}

TEST(test_transactions)
{
    AUTO(session_info_release) struct session_info info = {0};
    store_rollback(store); /* none is open */
    assert_true(store_begin(store, &e));
    put(ID_A, "a", 1);
    store_rollback(store);
    assert_false(sessions_get(store, ID_A, &info, &e));
    assert_true(store_begin(store, &e));
    put(ID_A, "a", 1);
    assert_true(store_commit(store, &e));
    assert_true(sessions_get(store, ID_A, &info, &e));
}

TEST(test_last)
{
    int64_t seq = -1;
    put(ID_A, "a", 1);
    assert_true(event_log_last(store, ID_A, &seq, &e));
    assert_int_equal(seq, 0);
    append(ID_A, 3, EVENT_TURN_STARTED, "x");
    append(ID_A, 7, EVENT_CALL_STARTED, NULL);
    assert_true(event_log_last(store, ID_A, &seq, &e));
    assert_int_equal(seq, 7);
    assert_true(event_log_last(store, ID_B, &seq, &e));
    assert_int_equal(seq, 0);
}

static bool add_line(void *context, const struct event *ev)
{
    AUTO(event_free_local) struct event *copy = event_clone(ev);
    memset(copy->session_id, 0, sizeof copy->session_id);
    buf_addf(context, "%s\n", support_keep(event_to_line(copy)));
    return true;
}

static char *log_of(const char *id)
{
    struct buf out = BUF_INIT;
    assert_true(event_log_read(store, id, 0, add_line, &out, &e));
    return support_keep(buf_take(&out));
}

TEST(test_copy)
{
    put(ID_A, "a", 1);
    put(ID_B, "b", 1);
    put(ID_C, "c", 1);
    append(ID_A, 1, EVENT_TURN_STARTED, "größer?");
    append(ID_A, 2, EVENT_CALL_STARTED, NULL);
    append(ID_A, 5, EVENT_TEXT_DELTA, "ye");
    assert_true(event_log_copy(store, ID_A, 2, ID_C, &e));
    assert_true(event_log_copy(store, ID_A, 0, ID_B, &e));
    char *whole = log_of(ID_A);
    char *copy = log_of(ID_B);
    assert_string_equal(copy, whole);
    copy = log_of(ID_C);
    assert_int_equal(strncmp(copy, whole, strlen(copy)), 0);
    assert_says(copy, "!text_delta", "turn_started");

    assert_false(event_log_copy(store, ID_A, 0, ID_B, &e)); /* it has a log */
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_err(event_log_copy(store, ID_A, 0, "01890a5d-0000-7222-8000-00001234abcd", &e), e,
               ERR_SESSION_STORE_ERROR);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM event"), 8);
}

struct reading {
    int64_t last;
    int count, stop_after;
};

static bool visit(void *context, const struct event *ev)
{
    struct reading *r = context;
    assert_true(ev->seq > r->last);
    assert_string_equal(ev->session_id, ID_A);
    assert_int_equal(ev->wall_ms, 1000 + ev->seq);
    r->last = ev->seq;
    return ++r->count != r->stop_after;
}

/* ---- texts of messages ---- */

static void expect_said(int64_t seq, enum role role, const char *text)
{
    struct said said;
    assert_true(event_log_said(store, ID_A, seq, &said, &e));
    if (!text || !said.text) {
        assert_true(!text && !said.text);
        return;
    }
    assert_string_equal(support_keep(said.text), text);
    assert_int_equal(said.role, role);
    assert_true(said.wall_ms > 0);
}

static void append_result(int64_t seq, const char *text)
{
    AUTO(event_free_local)
    struct event *ev = new_event(ID_A, seq, EVENT_TOOL_EXECUTION_COMPLETED, text);
    ev->id = mem_strdup("c");
    ev->name = mem_strdup("read_file");
    assert_true(event_log_fill(store, &ev, 1, &e));
}

TEST(test_what_a_message_said)
{
    put(ID_A, "a", 1);
    append(ID_A, 1, EVENT_TURN_STARTED, "question");
    append(ID_A, 2, EVENT_CALL_STARTED, NULL);
    append(ID_A, 3, EVENT_TEXT_DELTA, "one and");
    append(ID_A, 4, EVENT_TEXT_COMPLETE, "one");
    append(ID_A, 5, EVENT_TEXT_COMPLETE, "");
    append(ID_A, 6, EVENT_TEXT_COMPLETE, "two");
    append_result(7, "a file");
    append_result(8, "another");
    append(ID_A, 9, EVENT_CALL_STARTED, NULL);
    append(ID_A, 10, EVENT_TEXT_COMPLETE, "three");
    append(ID_A, 11, EVENT_TURN_STARTED, "another question");
    append(ID_A, 12, EVENT_TEXT_COMPLETE, "four"); /* of an import: no call begins it */
    expect_said(1, ROLE_USER, "question");
    expect_said(2, ROLE_ASSISTANT, "one\n\ntwo");
    expect_said(7, ROLE_TOOL, "a file\n\nanother");
    expect_said(9, ROLE_ASSISTANT, "three");
    expect_said(12, ROLE_ASSISTANT, "four");
    expect_said(3, ROLE_ASSISTANT, NULL);  /* a delta begins no message */
    expect_said(13, ROLE_ASSISTANT, NULL); /* nor does a missing message */
}

TEST(test_read)
{
    put(ID_A, "a", 1);
    put(ID_B, "b", 1);
    for (int64_t seq = 1; seq <= 10; seq++) {
        append(ID_A, seq * 2, EVENT_TEXT_DELTA, "x");
        append(ID_B, seq, EVENT_TEXT_DELTA, "y");
    }
    struct reading all = {0}, some = {.stop_after = 3};
    assert_true(event_log_read(store, ID_A, 0, visit, &all, &e));
    assert_int_equal(all.count, 10);
    assert_true(event_log_read(store, ID_A, 6, visit, &some, &e));
    assert_int_equal(some.count, 3);
    assert_int_equal(some.last, 12);
    all = (struct reading){0};
    assert_true(event_log_read(store, ID_C, 0, visit, &all, &e));
    assert_int_equal(all.count, 0);
    append(ID_A, 21, EVENT_TEXT_COMPLETE, "xx");
    append(ID_A, 22, EVENT_TEXT_DELTA, "z");
    assert_true(event_log_read_whole(store, ID_A, 0, visit, &all, &e));
    assert_int_equal(all.count, 1);
    assert_int_equal(all.last, 21);
}

/* Numbers of a page, and "+" where more follow, "large" where that is why. */
static char *page(int64_t after, size_t limit, size_t bytes, bool strict)
{
    AUTO(event_list_release) struct event_list list = {0};
    struct buf out = BUF_INIT;
    int64_t large = 0;
    bool more;
    assert_true(
        event_log_page(store, ID_A, after, limit, bytes, &list, &more, strict ? &large : NULL, &e));
    for (size_t i = 0; i < list.items.len; i++)
        buf_addf(&out, "%d ", (int)list.items.items[i]->seq);
    buf_addf(&out, "%s", more ? "+" : "");
    if (large)
        buf_addf(&out, " large %d", (int)large);
    return support_keep(buf_take(&out));
}

static char *long_text(const char *piece, size_t times)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < times; i++)
        buf_addstr(&text, piece);
    return support_keep(buf_take(&text));
}

TEST(test_pages_are_bounded_in_bytes)
{
    put(ID_A, "a", 1);
    for (int64_t seq = 1; seq <= 4; seq++)
        append(ID_A, seq, EVENT_TURN_STARTED, long_text("x", 1000));
    append(ID_A, 5, EVENT_TEXT_DELTA, long_text("y", 9000));
    append(ID_A, 6, EVENT_TEXT_COMPLETE, long_text("z", 9000));
    assert_string_equal(page(0, 9, 1 << 20, false), "1 2 3 4 5 6 ");
    assert_string_equal(page(0, 2, 1 << 20, false), "1 2 +");
    assert_string_equal(page(0, 9, 3500, false), "1 2 3 +");
    assert_string_equal(page(0, 9, 500, false), "1 +");
    assert_string_equal(page(0, 9, 500, true), "+ large 1");
    assert_string_equal(page(3, 9, 3500, true), "4 +"); /* the delta is taken whole */
    assert_string_equal(page(4, 9, 3500, true), "5 + large 6");
    assert_string_equal(page(5, 9, 3500, true), "+ large 6");
    assert_string_equal(page(5, 9, 3500, false), "6 ");
    assert_string_equal(page(6, 9, 3500, true), "");
}

/* The newest ones, too. */
TEST(test_the_tail_is_bounded_in_bytes)
{
    struct event_list list;
    bool more;
    put(ID_A, "a", 1);
    for (int64_t seq = 1; seq <= 9; seq++)
        append(ID_A, seq, EVENT_TEXT_COMPLETE, long_text("x", 1000));
    static const struct {
        size_t bytes, events;
    } rows[] = {{0, 9}, {1 << 20, 9}, {3500, 3}, {10, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(event_log_tail(store, ID_A, 0, 20, rows[i].bytes, &list, &more, &e));
        assert_int_equal(list.items.len, rows[i].events);
        assert_int_equal(vec_last(&list.items)->seq, 9);
        assert_int_equal(more, rows[i].events < 9);
        event_list_release(&list);
    }
}

TEST(test_an_event_comes_in_parts)
{
    struct event_part part;
    AUTO(buf_release) struct buf whole = BUF_INIT;
    put(ID_A, "a", 1);
    struct event *ev = new_event(ID_A, 1, EVENT_TURN_STARTED, long_text("a\n€𝄞", 5000));
    assert_true(event_log_fill(store, &ev, 1, &e));
    char *payload = support_keep(event_payload(ev));
    event_free(ev);
    for (size_t from = 0, parts = 1; parts == 1 || from > 0; parts++) {
        assert_true(event_log_part(store, ID_A, 1, from, 1000 + parts, &part, &e));
        assert_int_equal(part.type, EVENT_TURN_STARTED);
        assert_int_equal(part.wall_ms, 1001);
        assert_in_range(strlen(part.text), 1, 1000 + parts);
        uint32_t cp;
        for (size_t at = 0, used; part.text[at]; at += used) /* no character is cut */
            assert_true((used = utf8_decode(part.text + at, strlen(part.text + at), &cp)) > 0 &&
                        cp != 0xfffd);
        buf_addstr(&whole, part.text);
        free(part.text);
        from = part.next;
    }
    assert_string_equal(whole.data, payload);
    assert_false(event_log_part(store, ID_A, 1, whole.len, 1000, &part, &e));
    free(part.text);
    assert_false(event_log_part(store, ID_A, 2, 0, 1000, &part, &e));
    damage_sql(path,
               "UPDATE event SET payload = '{' || char(10) || '\"id: 7\"' || char(13) || '}'");
    assert_true(event_log_part(store, ID_A, 1, 0, 1000, &part, &e));
    assert_string_equal(part.text, "{ \"id: 7\" }"); /* a line stays one */
    free(part.text);
}

TEST(test_unknown_events_end_the_reading)
{
    struct reading r = {0};
    struct event_list list;
    bool more;
    put(ID_A, "a", 1);
    append(ID_A, 1, EVENT_TURN_STARTED, "x");
    damage_sql(path, "INSERT INTO event SELECT key, 2, 0, 'moon_rise', 1, '{}' FROM session");
    assert_false(event_log_read(store, ID_A, 0, visit, &r, &e));
    assert_int_equal(r.count, 1);
    assert_non_null(strstr(e.text, "moon_rise"));
    assert_false(event_log_tail(store, ID_A, 0, 10, 0, &list, &more, &e));
    assert_int_equal(list.items.len, 0);
    damage_sql(path, "UPDATE event SET type = 'warning', version = 9 WHERE seq = 2");
    r = (struct reading){0};
    assert_error(event_log_read(store, ID_A, 0, visit, &r, &e), e, ERR_SESSION_STORE_ERROR,
                 "version 9");
}

static void check_tail(int64_t before, int limit, const char *wanted)
{
    AUTO(event_list_release) struct event_list list = {0};
    bool more;
    AUTO(buf_release) struct buf got = BUF_INIT;
    assert_true(event_log_tail(store, ID_A, before, limit, 0, &list, &more, &e));
    for (size_t i = 0; i < list.items.len; i++)
        buf_addf(&got, "%lld ", (long long)list.items.items[i]->seq);
    buf_addstr(&got, more ? "more" : "end");
    assert_string_equal(got.data, wanted);
}

TEST(test_tail)
{
    static const enum event_type types[] = {
        EVENT_TURN_STARTED, EVENT_CALL_STARTED,  EVENT_REASONING_DELTA, EVENT_TEXT_DELTA, /* 4 */
        EVENT_TEXT_DELTA,   EVENT_TEXT_COMPLETE, EVENT_CALL_COMPLETED,  EVENT_TURN_COMPLETED,
        EVENT_TURN_STARTED, EVENT_CALL_STARTED,  EVENT_TEXT_DELTA,      EVENT_TEXT_DELTA, /* 12 */
        EVENT_TURN_STARTED, EVENT_CALL_STARTED,  EVENT_REASONING_DELTA, EVENT_REASONING_COMPLETE,
        EVENT_TEXT_DELTA,   EVENT_TEXT_COMPLETE, EVENT_TURN_COMPLETED};
    put(ID_A, "a", 1);
    check_tail(0, 5, "end");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool bare = types[i] == EVENT_CALL_STARTED || types[i] == EVENT_CALL_COMPLETED;
        append(ID_A, (int64_t)i + 1, types[i], bare ? NULL : "x");
    }
    check_tail(0, 100, "1 2 3 6 7 8 9 10 11 12 13 14 16 18 19 end");
    check_tail(0, 15, "1 2 3 6 7 8 9 10 11 12 13 14 16 18 19 end");
    check_tail(0, 14, "9 10 11 12 13 14 16 18 19 more");
    check_tail(0, 3, "16 18 19 more");
    check_tail(16, 3, "13 14 more"); /* 15 is superseded by 16, which is behind */
    check_tail(13, 1, "12 more");
    check_tail(13, 3, "10 11 12 more");
    check_tail(13, 4, "9 10 11 12 more");
    check_tail(9, 4, "3 6 7 8 more");
    check_tail(5, 9, "1 2 3 end");
    check_tail(1, 9, "end");
}

static bool bare(enum event_type type)
{
    return type == EVENT_CALL_STARTED || type == EVENT_CALL_COMPLETED || type == EVENT_INTERRUPTED;
}

/* A simple version of the rule of event_log_tail(), over an array. */
static bool is_kept(const enum event_type *types, int64_t count, int64_t seq)
{
    enum event_type type = types[seq];
    if (type != EVENT_TEXT_DELTA && type != EVENT_REASONING_DELTA)
        return true;
    enum event_type whole =
        type == EVENT_TEXT_DELTA ? EVENT_TEXT_COMPLETE : EVENT_REASONING_COMPLETE;
    for (int64_t i = seq + 1; i <= count; i++) {
        if (types[i] == EVENT_CALL_STARTED || types[i] == EVENT_TURN_STARTED)
            return true;
        if (types[i] == whole)
            return false;
    }
    return true;
}

/* Pages from the end to the beginning hold every event that counts, each once. */
static void check_pages(const enum event_type *types, int64_t count, int limit)
{
    int64_t before = 0;
    int64_t expected = count; /* the next that a page must hold, going down */
    bool more = true;
    while (more) {
        AUTO(event_list_release) struct event_list list = {0};
        assert_true(event_log_tail(store, ID_A, before, limit, 0, &list, &more, &e));
        assert_true(list.items.len <= (size_t)limit);
        for (size_t i = list.items.len; i > 0; i--, expected--) {
            while (expected > 0 && !is_kept(types, count, expected))
                expected--;
            assert_int_equal(list.items.items[i - 1]->seq, expected);
            assert_true(i == 1 || list.items.items[i - 1]->type != EVENT_TURN_STARTED ||
                        list.items.items[0]->type == EVENT_TURN_STARTED);
        }
        assert_true(list.items.len > 0 || !more);
        before = list.items.len > 0 ? list.items.items[0]->seq : before;
    }
    while (expected > 0 && !is_kept(types, count, expected))
        expected--;
    assert_int_equal(expected, 0);
}

TEST(test_random_logs_page_without_loss)
{
    static const enum event_type choice[] = {
        EVENT_TURN_STARTED,    EVENT_CALL_STARTED,    EVENT_TEXT_DELTA,    EVENT_TEXT_DELTA,
        EVENT_REASONING_DELTA, EVENT_REASONING_DELTA, EVENT_TEXT_COMPLETE, EVENT_REASONING_COMPLETE,
        EVENT_CALL_COMPLETED,  EVENT_TURN_COMPLETED};
    enum event_type types[61];
    put(ID_A, "a", 1);
    entropy_seed(support_seed());
    for (int round = 0; round < 60; round++) {
        int64_t count = (int64_t)(entropy_unit() * 61);
        assert_true(store_begin(store, &e));
        for (int64_t seq = 1; seq <= count; seq++) {
            types[seq] = choice[(size_t)(entropy_unit() * 10)];
            append(ID_A, seq, types[seq], bare(types[seq]) ? NULL : "x");
        }
        for (int limit = 1; limit < 70; limit = limit * 2 + 1)
            check_pages(types, count, limit);
        store_rollback(store);
    }
}

TEST(test_inputs)
{
    struct text_list texts;
    put(ID_A, "a", 1);
    put(ID_B, "b", 1);
    append(ID_A, 1, EVENT_TURN_STARTED, "first");
    append(ID_B, 2, EVENT_TURN_STARTED, "second");
    append(ID_A, 3, EVENT_TURN_STARTED, "third");
    append(ID_A, 4, EVENT_WARNING, "no input");
    append(ID_B, 5, EVENT_TURN_STARTED, "first");
    append(ID_B, 6, EVENT_TURN_STARTED, "");
    assert_true(event_log_inputs(store, 10, &texts, &e));
    assert_int_equal(texts.items.len, 3);
    assert_string_equal(texts.items.items[0], "first");
    assert_string_equal(texts.items.items[1], "third");
    assert_string_equal(texts.items.items[2], "second");
    vec_free_each(&texts.items);
    assert_true(event_log_inputs(store, 1, &texts, &e));
    assert_int_equal(texts.items.len, 1);
    vec_free_each(&texts.items);
}

/* The files as they would stand there if the program had died now. */
static char *copy_files(void)
{
    static const char *const ends[] = {"", "-wal"};
    char *copy = support_path("copy.db");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len;
        char *from = support_text("%s%s", path, ends[i]);
        char *to = support_text("%s%s", copy, ends[i]);
        char *bytes = support_keep(damage_read(from, &len));
        FILE *f = fopen(to, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, len, f), len);
        fclose(f);
    }
    return copy;
}

/* Acknowledged events survive a program that ends without closing the store. */
TEST(test_survives_without_closing)
{
    put(ID_A, "a", 1);
    append(ID_A, 1, EVENT_TURN_STARTED, "kept");
    assert_true(store_begin(store, &e));
    append(ID_A, 2, EVENT_TURN_STARTED, "not committed");
    char *copy = copy_files();
    store_rollback(store);
    struct store *after;
    struct text_list texts;
    assert_true(store_open(copy, STORE_READ_WRITE, &after, &e));
    assert_true(event_log_inputs(after, 9, &texts, &e));
    assert_int_equal(texts.items.len, 1);
    assert_string_equal(texts.items.items[0], "kept");
    vec_free_each(&texts.items);
    store_close(after);
}

/* A newer program died and left work in its log: that is folded in by nobody but itself. */
TEST(test_a_newer_program_s_log_is_untouched)
{
    size_t before_len, after_len;
    damage_sql(path, "PRAGMA user_version = 999");
    char *copy = copy_files();
    char *wal = support_text("%s-wal", copy);
    char *before = support_keep(damage_read(copy, &before_len));
    refuse(copy, STORE_READ_WRITE, ERR_SESSION_STORE_ERROR, "sessions export");
    char *after = support_keep(damage_read(copy, &after_len));
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    after = support_keep(damage_read(wal, &after_len));
    assert_true(after_len > 0);
}

/* ---- memory ---- */

static int compiled_bytes(void)
{
    int now = 0, most;
    assert_int_equal(sqlite3_db_status(store->db, SQLITE_DBSTATUS_STMT_USED, &now, &most, 0),
                     SQLITE_OK);
    return now;
}

/* An idle connection holds little memory, and works on when it is used again. */
TEST(a_connection_that_rests_gives_memory_back)
{
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    uuid_new(info.id);
    assert_true(sessions_put(store, &info, &e));
    for (int i = 0; i < 3; i++) {
        AUTO(session_info_release) struct session_info found = {0};
        assert_true(sessions_get(store, info.id, &found, &e));
        int compiled = compiled_bytes(); /* FTS5 keeps its own */
        store_rest(store);
        assert_true(compiled_bytes() < compiled);
    }
}

/* ---- deleted content ---- */

static void run_sql(const char *sql)
{
    if (!store_exec(store, sql, &e))
        fail_msg("%s: %s", e.text, sql);
}

/* Rows of any size, written in turns, make SQLite move cells between pages all the time. */
TEST(deleted_content_leaves_nothing_in_unused_bytes)
{
    enum { TALKS = 60, DELETED = 40, ROWS = 1200 };
    run_sql(
        "CREATE TABLE talk (number INTEGER, part INTEGER, text TEXT, PRIMARY KEY (number, part))"
        " WITHOUT ROWID; CREATE INDEX talk_text ON talk (text)");
    unsigned seed = 7;
    for (int i = 0; i < ROWS; i++) {
        seed = seed * 1103515245U + 12345U;
        int talk = (int)(seed >> 16) % TALKS;
        run_sql(
            support_text("INSERT INTO talk SELECT %d, count(*), 'quillscrub' || count(*) ||"
                         " hex(zeroblob(%d)) || 'quillscrub' FROM talk WHERE number = %d",
                         talk, (int)(seed >> 20) % 700, talk));
        if (i % 100 == 0)
            run_sql("PRAGMA wal_checkpoint");
    }
    run_sql(
        support_text("DELETE FROM talk WHERE number < %d; UPDATE talk SET text = part", DELETED));
    run_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    int64_t whole;
    assert_true(store_number(store,
                             "SELECT count(*) FROM pragma_integrity_check"
                             " WHERE integrity_check <> 'ok'",
                             &whole, &e));
    assert_int_equal(whole, 0);
    AUTO(buf_release) struct buf file = BUF_INIT;
    assert_true(paths_read_file(path, PATHS_FILE, &file, &e));
    size_t marks = 0;
    for (size_t i = 0; i + strlen("quillscrub") <= file.len; i++)
        marks += memcmp(file.data + i, "quillscrub", strlen("quillscrub")) == 0;
    assert_int_equal(marks, 0);
}
