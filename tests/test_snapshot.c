/* Resuming: snapshot and events after it give what all events give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "tests/support.h"

static const char ID[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static char *path;
static struct store *store;
static struct error e;
static int64_t seq;

static int set_up(void **state)
{
    struct session_info info;
    support_setup(state);
    path = support_path("tiro.db");
    if (!store_open(path, STORE_READ_WRITE, &store, &e))
        return -1;
    session_info_init(&info);
    memcpy(info.id, ID, sizeof ID);
    bool ok = sessions_put(store, &info, &e);
    session_info_release(&info);
    seq = 0;
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    store_close(store);
    free(path);
    return support_teardown(state);
}

/* Appends to the log and folds into `live`, as a running session does. */
static void happen(struct history *live, enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    memcpy(ev->session_id, ID, UUID_LEN);
    ev->seq = ++seq;
    if (text)
        ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    if (!event_log_append(store, ev, &e))
        fail_msg("%s", e.text);
    history_apply(live, ev);
    event_free(ev);
}

static void run(struct history *live)
{
    happen(live, EVENT_RUN_STARTED, "größer?");
    happen(live, EVENT_TURN_STARTED, NULL);
    if (entropy_unit() < 0.5) {
        happen(live, EVENT_TOOL_CALL_REQUESTED, "{\"path\":\"x\"}");
        if (entropy_unit() < 0.5)
            happen(live, EVENT_TOOL_EXECUTION_COMPLETED, "text");
        happen(live, EVENT_TURN_STARTED, NULL);
    }
    happen(live, EVENT_TEXT_DELTA, "ye");
    happen(live, EVENT_TEXT_COMPLETE, "yes");
    happen(live, EVENT_TURN_COMPLETED, NULL);
    if (entropy_unit() < 0.7)
        happen(live, EVENT_RUN_COMPLETED, "yes");
    else
        happen(live, EVENT_INTERRUPTED, NULL);
}

static void check_resume(const struct history *live)
{
    struct history h;
    if (!snapshot_resume(store, ID, &h, &e))
        fail_msg("%s", e.text);
    char *wanted = history_to_json(live);
    char *got = history_to_json(&h);
    assert_string_equal(got, wanted);
    assert_int_equal(h.estimate, live->estimate);
    free(wanted);
    free(got);
    history_release(&h);
}

static void meddle(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_with_and_without_a_snapshot(void **state)
{
    (void)state;
    struct history live;
    history_init(&live);
    entropy_seed(support_seed());
    check_resume(&live);
    for (int i = 0; i < 30; i++) {
        run(&live);
        if (entropy_unit() < 0.5)
            assert_true(snapshot_save(store, ID, &live, &e));
        check_resume(&live);
    }
    meddle("DELETE FROM snapshot");
    check_resume(&live);
    history_release(&live);
}

static void test_an_open_run_stays_open(void **state)
{
    (void)state;
    struct history live, h;
    history_init(&live);
    run(&live);
    happen(&live, EVENT_RUN_STARTED, "again");
    happen(&live, EVENT_TOOL_CALL_REQUESTED, "{}");
    assert_true(snapshot_save(store, ID, &live, &e));
    happen(&live, EVENT_TOOL_EXECUTION_COMPLETED, "text");
    check_resume(&live);
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_true(history_drop_open_run(&h));
    assert_string_equal(h.last_text, "again");
    history_release(&h);
    history_release(&live);
}

/* The snapshot is really read: a changed one shows. */
static void test_the_snapshot_is_used(void **state)
{
    (void)state;
    struct history live, h;
    history_init(&live);
    run(&live);
    assert_true(snapshot_save(store, ID, &live, &e));
    meddle("UPDATE snapshot SET history = replace(history, 'größer?', 'smaller?')");
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_string_equal(h.messages.items[0].blocks.items[0].text, "smaller?");
    history_release(&h);
    history_release(&live);
}

static void test_a_bad_snapshot_is_passed_over(void **state)
{
    (void)state;
    static const char *const damages[] = {
        "UPDATE snapshot SET history = substr(history, 1, length(history) - 5)",
        "UPDATE snapshot SET history = replace(history, '\"version\":1', '\"version\":7')",
        "UPDATE snapshot SET history = ''",
        /* It knows of events that the log does not have. */
        "UPDATE snapshot SET seq = 999, history = replace(history, 'größer?', 'smaller?')",
    };
    struct history live;
    history_init(&live);
    run(&live);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_true(snapshot_save(store, ID, &live, &e));
        meddle(damages[i]);
        check_resume(&live);
    }
    history_release(&live);
}

static void test_no_such_session(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    assert_false(snapshot_save(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e));
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_false(snapshot_resume(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e));
    assert_int_equal(e.code, ERR_SESSION_NOT_FOUND);
    assert_int_equal(h.messages.len, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_with_and_without_a_snapshot),
        TEST(test_an_open_run_stays_open),
        TEST(test_the_snapshot_is_used),
        TEST(test_a_bad_snapshot_is_passed_over),
        TEST(test_no_such_session),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
