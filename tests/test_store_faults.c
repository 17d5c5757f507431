/* The disk fails at every single call, once or for good: the failure is reported, acknowledged data
 * is kept, each change is made entirely or not at all, and the program continues. */
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "base/vec.h"
#include "session/catalog.h"
#include "session/engine.h"
#include "session/export.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "tests/damage.h"
#include "tests/fault_vfs.h"
#include "tests/history_check.h"
#include "tests/imported.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/suite.h"
#include "tests/surface.h"

static const struct {
    const char *name;
    enum fault_point point;
    int result;
    bool stays; /* the connection continues with misread data; the file is sound */
} faults[] = {
    {"a failing write", FAULT_WRITE, SQLITE_IOERR_WRITE, false},
    {"a full disk", FAULT_WRITE, SQLITE_FULL, false},
    {"a failing sync", FAULT_SYNC, SQLITE_IOERR_FSYNC, false},
    {"a failing read", FAULT_READ, SQLITE_IOERR_READ, false},
    {"a short read", FAULT_READ, SQLITE_IOERR_SHORT_READ, true},
    {"a failing truncation", FAULT_TRUNCATE, SQLITE_IOERR_TRUNCATE, false},
    {"a failing open", FAULT_OPEN, SQLITE_CANTOPEN, false},
    {"a failing shared memory", FAULT_SHM_MAP, SQLITE_IOERR_SHMMAP, false},
};

#define EACH_FAULT(i) for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)

static char *database, *pristine;

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    fault_vfs_install();
    entropy_seed(support_seed());
    database = support_path("tiro.db");
    pristine = support_path("pristine.db");
    return 0;
}

static int teardown(void **state)
{
    fault_vfs_disarm();
    fault_vfs_remove();
    return support_teardown(state);
}

/* The distance to the next failing call: random in a sample. */
static long step(long stride)
{
    return 1 + (long)(entropy_unit() * (double)suite_sample(6 * (size_t)stride, 0));
}

static void remove_database(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        unlink(support_text("%s%s", database, endings[i]));
    }
}

/* The database as it was, without a journal. */
static void restore(void)
{
    remove_database();
    damage_copy(pristine, database);
}

/* --- operations on a store ------------------------------------------------------------------- */

#define PARENT_TITLE "The parent"

/* Two sessions, with a searchable word in every question. */
static void make_pristine(void)
{
    struct store *store;
    struct error e = {0};
    assert_ok(store_open(pristine, STORE_READ_WRITE, &store, &e), e);
    for (int i = 0; i < 2; i++) {
        AUTO(record_release) struct record r = {0};
        record_begin(&r, store);
        free(r.info.title);
        r.info.title = mem_strdup(i == 0 ? PARENT_TITLE : "Another");
        r.info.title_set = true;
        for (int turn = 0; turn < 4; turn++)
            record_run(&r, "Is the quincunx square?", "It has five points, so it is not.");
    }
    store_close(store);
}

static bool act_put(struct catalog *c, struct error *e)
{
    return catalog_rename(c, PARENT_TITLE, "A new title", NULL, e);
}

static bool act_archive(struct catalog *c, struct error *e)
{
    return catalog_archive(c, PARENT_TITLE, true, NULL, e);
}

static bool act_delete(struct catalog *c, struct error *e)
{
    return catalog_delete(c, PARENT_TITLE, NULL, e);
}

static bool act_fork(struct catalog *c, struct error *e)
{
    AUTO(session_info_release) struct session_info fork = {0};
    return catalog_fork(c, PARENT_TITLE, 0, &fork, e);
}

static bool act_import(struct catalog *c, struct error *e)
{
    static const char text[] =
        "[{\"role\":\"user\",\"content\":\"A quincunx?\"},"
        "{\"role\":\"assistant\",\"content\":\"Five points.\"},"
        "{\"role\":\"user\",\"content\":\"Sure?\"},"
        "{\"role\":\"assistant\",\"content\":\"Quite.\"}]";
    AUTO(session_info_release) struct session_info made = {0};
    return imported_text(c, text, strlen(text), "Imported", "/tmp", &made, e);
}

static bool act_snapshot(struct catalog *c, struct error *e)
{
    struct session_info info;
    struct history h;
    if (!catalog_find(c, PARENT_TITLE, &info, e))
        return false;
    bool ok = snapshot_resume(c->store, info.id, &h, e);
    if (ok) {
        ok = snapshot_save(c->store, info.id, &h, e);
        history_release(&h);
    }
    session_info_release(&info);
    return ok;
}

static bool act_create(struct catalog *c, struct error *e)
{
    (void)c, (void)e;
    return true; /* opening did */
}

/* The content of a database as a text that differs if an operation is only partly there. One
 * connection reads all of it, since reading the schema takes longest. */
static char *digest(void)
{
    return damage_rows(
        database,
        "SELECT 'sessions', count(*) FROM session"
        " UNION ALL SELECT 'events', count(*) FROM event"
        " UNION ALL SELECT 'payloads', sum(length(payload)) FROM event"
        " UNION ALL SELECT 'titles', sum(length(title)) FROM session"
        " UNION ALL SELECT 'archived', count(*) FROM session WHERE archived_ms IS NOT NULL"
        " UNION ALL SELECT 'snapshots', count(*) FROM snapshot"
        " UNION ALL SELECT 'snapshot messages', count(*) FROM snapshot_message"
        " UNION ALL SELECT 'found', count(*) FROM transcript_words WHERE transcript_words MATCH "
        "'quincunx'"
        " UNION ALL SELECT 'version', user_version FROM pragma_user_version");
}

typedef bool act_on(struct catalog *c, struct error *e);

static bool act_once(act_on *act, struct error *e)
{
    AUTO(catalog_release) struct catalog c = {0};
    return catalog_open(&c, database, CATALOG_WRITE, e) && act(&c, e);
}

/* Runs the operation with the n-th call failing. Returns whether it made that many calls. */
static bool fails_well(act_on *act, size_t kind, long n, bool lasting, const char *before,
                       const char *after)
{
    struct error e = {0};
    restore();
    fault_vfs_arm(faults[kind].point, faults[kind].result, n, lasting);
    bool ok = act_once(act, &e);
    bool struck = fault_vfs_disarm();
    assert_true(ok || struck);
    if (!ok) {
        assert_string_equal(err_info(e.code)->name, "SESSION_STORE_ERROR");
        assert_non_null(strstr(e.text, "tiro.db"));
    }
    struct error reopening = {0};
    if (act == act_create) /* opening again is the next attempt */
        assert_ok(act_once(act, &reopening), reopening);
    char *now = support_keep(digest());
    if (strcmp(now, ok || act == act_create ? after : before) != 0)
        fail_msg("%s at call %ld (%s): %s, but there is\n%s", faults[kind].name, n,
                 lasting ? "for good" : "once", ok ? "done" : e.text, now);
    assert_store_sound(database);
    return struck;
}

static void each_call_may_fail(act_on *act)
{
    long calls = 0;
    struct error e = {0};
    restore();
    char *before = support_keep(act == act_create ? NULL : digest());
    assert_ok(act_once(act, &e), e);
    char *after = support_keep(digest());
    if (before)
        assert_string_not_equal(before, after);
    EACH_FAULT(kind)
    for (int lasting = 0; lasting < 2; lasting++)
        for (long n = 1; fails_well(act, kind, n, lasting, before, after);
             n += step(lasting ? 24 : 10))
            calls++;
    print_message("%ld calls failed\n", calls);
    assert_true(calls > (int)suite_sample(4, 20));
}

NEEDS(capability_store());
FIXTURE(setup, teardown);

TEST(each_operation_is_whole_or_not_there)
{
    static act_on *const acts[] = {act_put,  act_archive, act_delete,
                                   act_fork, act_import,  act_snapshot};
    make_pristine();
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        each_call_may_fail(acts[i]);
}

TEST(a_new_database_is_whole_or_not_there)
{
    support_write(pristine, "");
    each_call_may_fail(act_create);
}

/* --- a turn of the engine -------------------------------------------------------------------- */

struct seen {
    VEC(char *) lines; /* events but deltas, as they were shown */
    bool completed, refused;
    struct error error;
    char *given_back;
};

static void seen_release(struct seen *s)
{
    vec_free_each(&s->lines);
    free(s->given_back);
}

static void see_event(struct seen *s, const struct event *ev)
{
    if (ev->type == EVENT_TEXT_DELTA || ev->type == EVENT_REASONING_DELTA)
        return;
    vec_push(&s->lines, event_to_line(ev));
    s->completed = s->completed || ev->type == EVENT_TURN_COMPLETED;
}

static void see(struct seen *s, const struct notice *n)
{
    if (n->type == NOTICE_EVENT)
        see_event(s, n->event);
    if (surface_failed(n) && !s->refused) {
        s->refused = true;
        s->error = *surface_error(n);
        s->given_back = mem_strdup(n->answer ? surface_text(n) : NULL);
    }
}

/* Sends the message and watches until the turn is over. */
static struct seen turn(struct engine *engine, const char *text)
{
    struct seen s = {0};
    bool over = false;
    surface_send(engine, &operation_turn_start, text);
    while (!over) {
        struct notice *n = surface_next(engine);
        see(&s, n);
        over = n->type == NOTICE_BUSY && !n->flag;
    }
    return s;
}

static void assert_lines_kept(const char *id, const struct seen *s)
{
    struct store *store;
    struct error e = {0};
    assert_ok(store_open(database, STORE_READ_ONLY, &store, &e), e);
    for (size_t i = 0; i < s->lines.len; i++) {
        struct json *v = parse_json(s->lines.items[i]);
        assert_string_equal(json_get_string(v, "session_id"), id);
        if (!log_has_line(store, id, json_get_int(v, "seq", 0), s->lines.items[i]))
            fail_msg("shown, but not in the log: %s", s->lines.items[i]);
    }
    store_close(store);
}

/* Waits until the session is open and its model known; `seen` gets an error on the way. */
static struct engine *open_service(struct config *config, const char *resume, struct seen *seen,
                                   char *id)
{
    const struct engine_options options = {.config = config,
                                           .directory = support_dir(),
                                           .store_path = database,
                                           .provider = "openai",
                                           .model = "scripted-model",
                                           .persist = true,
                                           .resume = resume};
    struct engine *s = engine_new(&options);
    for (bool ready = false; !ready;) {
        struct notice *n = surface_next(s);
        see(seen, n);
        if (n->type == NOTICE_SESSION)
            memcpy(id, n->info.id, sizeof n->info.id);
        ready = n->type == NOTICE_PROVIDER;
    }
    return s;
}

/* The error is an error of the store, and names the text that was not sent. */
static void assert_told(const struct seen *s, const char *text)
{
    assert_true(s->completed || s->refused);
    if (!s->refused)
        return;
    assert_string_equal(err_info(s->error.code)->name, "SESSION_STORE_ERROR");
    assert_string_equal(s->given_back, text);
}

/* After the fault, the same engine continues: no request contains the lost turn. */
static void assert_goes_on(struct engine *engine, struct model_server *server,
                           const struct seen *lost, const char *id)
{
    struct seen s = turn(engine, "and now?");
    if (!s.completed)
        fail_msg("the next turn: %s", s.error.text);
    const char *body = model_server_body(server, model_server_requests(server) - 1);
    assert_non_null(strstr(body, "and now?"));
    assert_int_equal(!!strstr(body, "what is here?"), !lost->refused);
    assert_lines_kept(id, &s);
    seen_release(&s);
}

/* Runs a turn with the n-th call failing. Returns whether it made that many calls. */
static bool turn_fails_well(struct config *config, size_t kind, long n, bool lasting,
                            const char *resume)
{
    char id[UUID_LEN + 1];
    struct model_server *server = begin_server();
    restore();
    struct seen opening = {0};
    struct engine *engine = open_service(config, resume, &opening, id);
    assert_false(opening.refused);
    model_server_queue(server, &(struct reply){.text = "I look.",
                                               .tool_name = "list_directory",
                                               .tool_args = "{\"path\":\".\"}",
                                               .tool_id = "call_1"});
    model_server_queue(server, &(struct reply){.text = "There are files.", .reasoning = "Hm."});
    fault_vfs_arm(faults[kind].point, faults[kind].result, n, lasting);
    struct seen s = turn(engine, "what is here?");
    bool struck = fault_vfs_disarm();
    assert_true(s.completed || struck);
    assert_told(&s, "what is here?");
    if (!faults[kind].stays)
        assert_goes_on(engine, server, &s, id);
    engine_free(engine);
    assert_lines_kept(id, &s);
    assert_store_sound(database);
    seen_release(&s);
    end_server(server);
    return struck;
}

static void each_call_of_a_turn_may_fail(const char *resume, long stride)
{
    AUTO(config_free_local) struct config *config = config_new();
    long calls = 0;
    EACH_FAULT(kind)
    for (int lasting = 0; lasting < 2; lasting++)
        for (long n = step(stride); turn_fails_well(config, kind, n, lasting, resume);
             n += step(lasting ? 4 * stride : stride))
            calls++;
    print_message("%ld calls failed\n", calls);
    assert_true(calls > (int)suite_sample(4, 20));
}

TEST(a_turn_loses_nothing_that_was_shown)
{
    make_pristine();
    each_call_of_a_turn_may_fail(NULL, 6);
}

TEST(a_turn_of_a_resumed_session_loses_nothing)
{
    make_pristine();
    each_call_of_a_turn_may_fail(PARENT_TITLE, 10);
}

/* Lets the n-th call fail while a session is opened. The failure is reported, and a conversation is
 * still possible. */
static bool opening_fails_well(struct config *config, size_t kind, long n, bool lasting)
{
    char id[UUID_LEN + 1];
    struct model_server *server = begin_server();
    struct seen opening = {0};
    restore();
    fault_vfs_arm(faults[kind].point, faults[kind].result, n, lasting);
    struct engine *engine = open_service(config, PARENT_TITLE, &opening, id);
    bool struck = fault_vfs_disarm();
    assert_true(struck || !opening.refused);
    if (opening.refused)
        assert_string_equal(err_info(opening.error.code)->name, "SESSION_STORE_ERROR");
    struct seen s = turn(engine, "what is here?");
    assert_true(s.completed || faults[kind].stays);
    engine_free(engine);
    size_t sessions = assert_store_sound(database);
    assert_in_range(sessions, 2, opening.refused ? 3 : 2);
    seen_release(&s);
    seen_release(&opening);
    end_server(server);
    return struck;
}

TEST(what_cannot_be_opened_is_told)
{
    AUTO(config_free_local) struct config *config = config_new();
    long calls = 0;
    make_pristine();
    EACH_FAULT(kind)
    for (int lasting = 0; lasting < 2; lasting++)
        for (long n = 1; opening_fails_well(config, kind, n, lasting); n += step(2))
            calls++;
    assert_true(calls > (int)suite_sample(4, 20));
}

/* Opens a new database in a process of its own, which ends at the n-th such call. Its status. */
static int open_and_die(enum fault_point point, long n)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store *store;
        struct error e = {0};
        fault_vfs_arm(point, FAULT_DEATH, n, false);
        bool ok = store_open(database, STORE_READ_WRITE, &store, &e);
        store_close(ok ? store : NULL);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Unfinished work of a program that died is no error for a reader. */
TEST(a_reader_comes_in_after_a_death)
{
    static const enum fault_point points[] = {FAULT_OPEN, FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        int status = FAULT_DEATH_STATUS;
        for (long n = 1; status == FAULT_DEATH_STATUS; n += step(4)) {
            remove_database();
            status = open_and_die(points[i], n);
            assert_true(status == FAULT_DEATH_STATUS || status == 0);
            struct store *store;
            struct error e = {0};
            bool ok = store_open(database, STORE_READ_ONLY, &store, &e);
            if (!ok && e.code != ERR_SESSION_NOT_FOUND)
                fail_msg("%s", e.text);
            store_close(store);
        }
    }
}
