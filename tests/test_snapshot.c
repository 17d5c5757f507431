/* Resuming: snapshot and events after it give what all events give. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/suite.h"
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

/* An event with a number or a name of its own. */
static void happen_with(struct history *live, enum event_type type, int64_t number,
                        const char *name)
{
    struct event *ev = event_new(type);
    memcpy(ev->session_id, ID, UUID_LEN);
    ev->seq = ++seq;
    ev->number = number;
    if (type != EVENT_COMPACTION_UNDONE)
        ev->text = mem_strdup("größer?");
    if (name)
        ev->name = mem_strdup(name);
    if (!event_log_append(store, ev, &e))
        fail_msg("%s", e.text);
    history_apply(live, ev);
    event_free(ev);
}

/* Mostly something new; now and then an earlier run once more, which takes back what followed. */
static void begin_run(struct history *live)
{
    double luck = entropy_unit();
    if (luck < 0.2 && live->last_turn_seq > 0)
        happen_with(live, EVENT_TURN_STARTED, live->last_turn_seq, NULL);
    else if (luck < 0.3 && live->messages.len > 0)
        happen_with(live, EVENT_TURN_STARTED,
                    live->messages.items[(size_t)(entropy_unit() * (double)live->messages.len)].seq,
                    NULL);
    else
        happen(live, EVENT_TURN_STARTED, "größer?");
}

static void run(struct history *live)
{
    begin_run(live);
    if (entropy_unit() < 0.1) {
        happen_with(live, EVENT_TURN_FAILED, 0, "AGENT_ERROR");
        return;
    }
    happen(live, EVENT_CALL_STARTED, NULL);
    if (entropy_unit() < 0.5) {
        happen(live, EVENT_TOOL_CALL_REQUESTED, "{\"path\":\"x\"}");
        if (entropy_unit() < 0.5)
            happen(live, EVENT_TOOL_EXECUTION_COMPLETED, "text");
        happen(live, EVENT_CALL_STARTED, NULL);
    }
    happen(live, EVENT_TEXT_DELTA, "ye");
    happen(live, EVENT_TEXT_COMPLETE, "yes");
    happen(live, EVENT_CALL_COMPLETED, NULL);
    if (entropy_unit() < 0.7)
        happen(live, EVENT_TURN_COMPLETED, "yes");
    else
        happen(live, EVENT_INTERRUPTED, NULL);
}

static void plain_run(struct history *live)
{
    happen(live, EVENT_TURN_STARTED, "größer?");
    happen(live, EVENT_CALL_STARTED, NULL);
    happen(live, EVENT_TEXT_COMPLETE, "yes");
    happen(live, EVENT_CALL_COMPLETED, NULL);
    happen(live, EVENT_TURN_COMPLETED, "yes");
}

static char *message_json(const struct message *m)
{
    struct json *v = shape_to_json(&message_shape, m);
    char *text = json_print(v);
    json_free(v);
    return support_keep(text);
}

static void check_same(const struct history *got, const struct history *wanted)
{
    char *left = support_keep(history_counters(got));
    char *right = support_keep(history_counters(wanted));
    assert_string_equal(left, right);
    assert_int_equal(got->messages.len, wanted->messages.len);
    for (size_t i = 0; i < wanted->messages.len; i++) {
        left = message_json(&got->messages.items[i]);
        right = message_json(&wanted->messages.items[i]);
        assert_string_equal(left, right);
    }
}

static void check_resume(const struct history *live)
{
    struct history h;
    if (!snapshot_resume(store, ID, &h, &e))
        fail_msg("%s", e.text);
    check_same(&h, live);
    history_release(&h);
}

static void save(struct history *live)
{
    if (!snapshot_save(store, ID, live, &e))
        fail_msg("%s", e.text);
    assert_int_equal(live->unsaved, live->messages.len);
}

/* The program may go on with what it resumed, and may die before it saves. */
static void resume_in_place(struct history *live)
{
    struct history h;
    assert_true(snapshot_resume(store, ID, &h, &e));
    check_same(&h, live);
    history_release(live);
    *live = h;
}

/* What a retry of long ago leaves behind the end goes 200 rows a save. */
static void save_and_count(struct history *live)
{
    int64_t before = damage_number(path, "SELECT count(*) FROM snapshot_message") - 200;
    int64_t count = (int64_t)live->messages.len;
    save(live);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"),
                     before > count ? before : count);
}

FIXTURE(set_up, tear_down);

/* What is saved bit by bit is what all events make, and leaves nothing behind. */
TEST(test_with_and_without_a_snapshot)
{
    struct history live;
    history_init(&live);
    entropy_seed(support_seed());
    check_resume(&live);
    for (int i = 0; i < 150; i++) {
        run(&live);
        if (entropy_unit() < 0.5)
            save_and_count(&live);
        if (entropy_unit() < 0.2)
            resume_in_place(&live);
        check_resume(&live);
    }
    save(&live);
    check_resume(&live);
    damage_sql(path, "DELETE FROM snapshot");
    check_resume(&live);
    history_release(&live);
}

TEST(test_a_turn_costs_what_it_added)
{
    struct history live;
    history_init(&live);
    assert_true(store_begin(store, &e));
    while (live.messages.len < 1000)
        plain_run(&live);
    assert_true(store_commit(store, &e));
    save(&live);
    happen(&live, EVENT_TURN_STARTED, "one more");
    happen(&live, EVENT_TEXT_COMPLETE, "yes");
    happen(&live, EVENT_TURN_COMPLETED, "yes");
    int before = sqlite3_total_changes(store->db);
    save(&live);
    assert_int_equal(sqlite3_total_changes(store->db) - before, 3); /* two messages, counters */
    before = sqlite3_total_changes(store->db);
    save(&live);
    assert_int_equal(sqlite3_total_changes(store->db) - before, 1);
    check_resume(&live);
    resume_in_place(&live);
    assert_int_equal(live.unsaved, live.messages.len);
    before = sqlite3_total_changes(store->db);
    save(&live);
    assert_int_equal(sqlite3_total_changes(store->db) - before, 1);
    history_release(&live);
}

/* Saved in a transaction that came to nothing: the caller says that nothing is saved. */
TEST(test_after_a_rollback)
{
    struct history live;
    history_init(&live);
    entropy_seed(support_seed());
    for (int i = 0; i < 5; i++)
        run(&live);
    save(&live);
    happen(&live, EVENT_TURN_STARTED, "kept");
    happen(&live, EVENT_TEXT_COMPLETE, "kept as well");
    assert_true(store_begin(store, &e));
    save(&live);
    store_rollback(store);
    live.unsaved = 0;
    save(&live);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"),
                     live.messages.len);
    check_resume(&live);
    history_release(&live);
}

TEST(test_drop)
{
    struct history live;
    history_init(&live);
    plain_run(&live);
    save(&live);
    damage_sql(path, "DELETE FROM snapshot; DELETE FROM snapshot_message");
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot"), 0);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"), 0);
    check_resume(&live);
    plain_run(&live);
    save(&live); /* all of it, although most was saved once */
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"),
                     live.messages.len);
    check_resume(&live);
    history_release(&live);
}

TEST(test_counters)
{
    struct snapshot_counters kept;
    struct history live;
    history_init(&live);
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, 0);
    assert_int_equal(kept.last_input, -1);
    plain_run(&live);
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    memcpy(ev->session_id, ID, UUID_LEN);
    happen(&live, EVENT_TURN_STARTED, "measured");
    ev->seq = ++seq;
    ev->usage = (struct usage){.input = 1234, .output = 5, .cached = -1};
    assert_true(event_log_append(store, ev, &e));
    history_apply(&live, ev);
    event_free(ev);
    save(&live);
    damage_sql(path, "DELETE FROM snapshot_message"); /* not looked at */
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, live.estimate);
    assert_true(kept.estimate > 0);
    assert_int_equal(kept.last_input, 1234);
    damage_sql(path, "UPDATE snapshot SET counters = 'x'");
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, 0);
    assert_int_equal(kept.last_input, -1);
    history_release(&live);
}

/* Drops all but the last message. */
static int64_t compact(struct history *live)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    memcpy(ev->session_id, ID, UUID_LEN);
    ev->seq = ++seq;
    ev->text = mem_strdup("S");
    ev->compaction.trigger = mem_strdup("manual");
    ev->compaction.history = mem_printf(
        "[{\"message\":{\"role\":\"user\",\"seq\":%lld,\"turn\":1,\"summary\":true,\"content\":"
        "[{\"type\":\"text\",\"text\":\"S\"}]}},[%zu,1]]",
        (long long)live->messages.items[0].seq, live->messages.len - 1);
    assert_true(event_log_append(store, ev, &e));
    history_apply(live, ev);
    event_free(ev);
    return seq;
}

/* Reads the log again, as whoever undoes one does. */
static void undo(struct history *live, int64_t of)
{
    happen_with(live, EVENT_COMPACTION_UNDONE, of, NULL);
    history_release(live);
    assert_true(snapshot_resume(store, ID, live, &e));
}

TEST(test_a_compaction)
{
    struct history live;
    struct snapshot_counters kept;
    history_init(&live);
    plain_run(&live);
    plain_run(&live);
    save(&live);
    compact(&live);
    assert_int_equal(live.messages.len, 2);
    check_resume(&live); /* the snapshot and the compaction behind it */
    save(&live);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"), 2);
    check_resume(&live);
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.compactions, 1);
    assert_false(kept.suspended);
    plain_run(&live);
    save(&live);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"), 4);
    check_resume(&live);
    history_release(&live);
}

static void check_snapshot_is_read(const struct history *live)
{
    struct history h;
    damage_sql(
        path,
        "UPDATE snapshot_message SET message = replace(message, 'yes', 'YES') WHERE position = 1");
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_int_equal(h.messages.len, live->messages.len);
    assert_string_equal(h.messages.items[1].blocks.items[0].text, "YES");
    history_release(&h);
    damage_sql(
        path,
        "UPDATE snapshot_message SET message = replace(message, 'YES', 'yes') WHERE position = 1");
}

/* The rows of what went are taken away bit by bit, and never read. */
TEST(test_what_went_is_taken_away_bit_by_bit)
{
    struct history live;
    history_init(&live);
    for (int i = 0; i < 300; i++)
        plain_run(&live);
    save(&live);
    int64_t before = damage_number(path, "SELECT count(*) FROM snapshot_message");
    assert_int_equal(before, 600);
    compact(&live);
    for (int64_t rows = before; rows > (int64_t)live.messages.len; before = rows) {
        save(&live);
        check_snapshot_is_read(&live);
        rows = damage_number(path, "SELECT count(*) FROM snapshot_message");
        assert_true(rows < before);
        assert_true(before - rows <= 200);
        check_resume(&live);
        plain_run(&live);
        check_resume(&live);
    }
    save(&live);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"),
                     live.messages.len);
    history_release(&live);
}

/* A snapshot from when the compaction held is none to go on from. */
TEST(test_an_undone_compaction)
{
    struct history live;
    history_init(&live);
    plain_run(&live);
    plain_run(&live);
    int64_t first = compact(&live);
    plain_run(&live);
    save(&live);
    int64_t second = compact(&live);
    undo(&live, second);
    assert_int_equal(live.messages.len, 4);
    undo(&live, first);
    assert_int_equal(live.messages.len, 6);
    check_resume(&live);
    save(&live);
    check_resume(&live);
    plain_run(&live);
    check_resume(&live);
    history_release(&live);
}

/* Nobody who writes a log by hand can make it unreadable with those. */
TEST(test_undone_events_of_any_kind)
{
    struct history live;
    struct undone_list undone;
    static const char *const payloads[] = {"{}",
                                           "[]",
                                           "{\"of\":\"2\"}",
                                           "{\"of\":null}",
                                           "{\"of\":1e300}",
                                           "no json",
                                           "{\"of\":999999}"};
    history_init(&live);
    plain_run(&live);
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        char *sql = support_text(
            "INSERT INTO event SELECT key, %d, 1, 'compaction_undone', 1, '%s'"
            " FROM session",
            (int)(100 + i), payloads[i]);
        damage_sql(path, sql);
    }
    assert_true(event_log_undone(store, ID, &undone, &e));
    assert_int_equal(undone.items.len, 0);
    char *text;
    assert_true(event_log_summary(store, ID, &text, &e));
    assert_null(text);
    damage_sql(
        path,
        "INSERT INTO event SELECT key, 200, 1, 'compaction_completed', 1, 'no json' FROM session");
    damage_sql(path,
               "INSERT INTO event SELECT key, 201, 1, 'compaction_completed', 1, '{\"summary\":7}'"
               " FROM session");
    assert_true(event_log_summary(store, ID, &text, &e));
    assert_null(text);
    vec_release(&undone.items);
    history_release(&live);
}

TEST(test_an_open_run_stays_open)
{
    struct history live, h;
    history_init(&live);
    plain_run(&live);
    happen(&live, EVENT_TURN_STARTED, "again");
    happen(&live, EVENT_TOOL_CALL_REQUESTED, "{}");
    save(&live);
    happen(&live, EVENT_TOOL_EXECUTION_COMPLETED, "text");
    check_resume(&live);
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_true(history_drop_open_turn(&h));
    assert_string_equal(h.last_text, "again");
    history_release(&h);
    history_release(&live);
}

/* The snapshot is really read: a changed one shows. */
TEST(test_the_snapshot_is_used)
{
    struct history live, h;
    history_init(&live);
    plain_run(&live);
    save(&live);
    damage_sql(path,
               "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')");
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_string_equal(h.messages.items[0].blocks.items[0].text, "smaller?");
    history_release(&h);
    history_release(&live);
}

TEST(test_a_bad_snapshot_is_passed_over)
{
    static const char *const damages[] = {
        "UPDATE snapshot SET counters = substr(counters, 1, length(counters) - 5)",
        "UPDATE snapshot SET counters = replace(counters, '\"version\":2', '\"version\":7')",
        "UPDATE snapshot SET counters = ''",
        "UPDATE snapshot SET counters = replace(counters, '\"applied_seq\":', '\"applied_seq\":1')",
        "DELETE FROM snapshot_message WHERE position = 1",
        "DELETE FROM snapshot_message",
        "DELETE FROM snapshot_message WHERE position = (SELECT max(position) FROM "
        "snapshot_message)",
        "UPDATE snapshot_message SET message = '{\"role\":' WHERE position = 1",
        "UPDATE snapshot_message SET message = '{\"role\":\"x\"}' WHERE position = 0",
        /* It knows of events that the log does not have. */
        "UPDATE snapshot SET seq = 999;"
        "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')",
    };
    struct history live, h;
    history_init(&live);
    plain_run(&live);
    plain_run(&live);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        live.unsaved = 0;
        save(&live);
        damage_sql(path, damages[i]);
        resume_in_place(&live);
        save(&live); /* sound again, although the session only went on */
        assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot_message"),
                         live.messages.len);
        damage_sql(path,
                   "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')");
        assert_true(snapshot_resume(store, ID, &h, &e));
        assert_string_equal(h.messages.items[0].blocks.items[0].text, "smaller?");
        history_release(&h);
    }
    history_release(&live);
}

/* --- another process, between two looks of ours ----------------------------------------------- */

static struct store *other;
static int looks, meddles_at;
static struct history theirs;

static int meddle_between(unsigned what, void *context, void *statement, void *sql)
{
    (void)what;
    (void)context;
    (void)statement;
    if (strncmp(sql, "SELECT", 6) != 0 || ++looks != meddles_at)
        return 0;
    struct store *ours = store;
    store = other;
    plain_run(&theirs);
    save(&theirs);
    store = ours;
    return 0;
}

/* What it finds is what was there before or after, never a bit of both. */
TEST(test_somebody_writes_meanwhile)
{
    struct history h;
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    history_init(&theirs);
    plain_run(&theirs);
    save(&theirs);
    bool met = true;
    for (meddles_at = 1; met; meddles_at++) {
        size_t before = theirs.messages.len;
        looks = 0;
        sqlite3_trace_v2(store->db, SQLITE_TRACE_STMT, meddle_between, NULL);
        assert_true(snapshot_resume(store, ID, &h, &e));
        sqlite3_trace_v2(store->db, 0, NULL, NULL);
        met = theirs.messages.len > before;
        assert_true(h.messages.len == before || h.messages.len == theirs.messages.len);
        assert_int_equal(h.unsaved, h.messages.len); /* the snapshot was whole, too */
        history_release(&h);
    }
    assert_true(meddles_at > 4);
    history_release(&theirs);
    store_close(other);
}

TEST(test_no_such_session)
{
    struct history h;
    history_init(&h);
    assert_false(snapshot_save(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e));
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_false(snapshot_resume(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e));
    assert_int_equal(e.code, ERR_SESSION_NOT_FOUND);
    assert_int_equal(h.messages.len, 0);
}
