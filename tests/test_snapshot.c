/* Resuming: snapshot and events after it give what all events give. */
#include <sqlite3.h>

#include "base/entropy.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/kept.h"
#include "tests/suite.h"

static const char ID[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static int64_t seq;
static struct history live;
static struct snapshot_rows live_rows; /* of `live` where old messages are left in them */

static int set_up(void **state)
{
    AUTO(session_info_release) struct session_info info = {0};
    history_init(&live);
    seq = 0;
    session_info_init(&info);
    memcpy(info.id, ID, sizeof ID);
    return kept_setup(state) == 0 && sessions_put(store, &info, &e) ? 0 : -1;
}

static int tear_down(void **state)
{
    history_release(&live);
    return kept_teardown(state);
}

/* Appends to the log and folds into `live`, as a running session does. Takes the event. */
static int64_t happens(struct event *happened)
{
    AUTO(event_free_local) struct event *ev = happened;
    memcpy(ev->session_id, ID, UUID_LEN);
    ev->seq = ++seq;
    assert_ok(event_log_fill(store, &ev, 1, &e), e);
    history_apply(&live, ev);
    return seq;
}

static void happen(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    happens(ev);
}

/* An event with a number or a name of its own. */
static void happen_with(enum event_type type, int64_t number, const char *name)
{
    struct event *ev = event_new(type);
    ev->number = number;
    ev->text = mem_strdup(type == EVENT_COMPACTION_UNDONE ? NULL : "größer?");
    ev->name = mem_strdup(name);
    happens(ev);
}

static void run(void)
{
    /* Mostly something new; now and then an earlier run once more, which takes back what followed.
     */
    double luck = entropy_unit();
    if (luck < 0.2 && live.last_turn_seq > 0)
        happen_with(EVENT_TURN_STARTED, live.last_turn_seq, NULL);
    else if (luck < 0.3 && live.messages.len > 0)
        happen_with(EVENT_TURN_STARTED,
                    live.messages.items[(size_t)(entropy_unit() * (double)live.messages.len)].seq,
                    NULL);
    else
        happen(EVENT_TURN_STARTED, "größer?");
    if (entropy_unit() < 0.1) {
        happen_with(EVENT_TURN_FAILED, 0, "AGENT_ERROR");
        return;
    }
    happen(EVENT_CALL_STARTED, NULL);
    if (entropy_unit() < 0.5) {
        happen(EVENT_TOOL_CALL_REQUESTED, "{\"path\":\"x\"}");
        if (entropy_unit() < 0.5)
            happen(EVENT_TOOL_EXECUTION_COMPLETED, "text");
        happen(EVENT_CALL_STARTED, NULL);
    }
    happen(EVENT_TEXT_DELTA, "ye");
    happen(EVENT_TEXT_COMPLETE, "yes");
    happen(EVENT_CALL_COMPLETED, NULL);
    if (entropy_unit() < 0.7)
        happen(EVENT_TURN_COMPLETED, "yes");
    else
        happen(EVENT_INTERRUPTED, NULL);
}

static void plain_run(void)
{
    happen(EVENT_TURN_STARTED, "größer?");
    happen(EVENT_CALL_STARTED, NULL);
    happen(EVENT_TEXT_COMPLETE, "yes");
    happen(EVENT_CALL_COMPLETED, NULL);
    happen(EVENT_TURN_COMPLETED, "yes");
}

static int64_t saved_rows(void)
{
    return damage_number(path, "SELECT count(*) FROM snapshot_message");
}

/* Whole, and with old messages left in the rows. */
static void check_resume(void)
{
    static const int64_t tokens[] = {0, 60, HISTORY_HELD};
    struct history h;
    assert_ok(snapshot_resume(store, ID, &h, &e), e);
    assert_same_history(&h, &live);
    history_release(&h);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct snapshot_rows from;
        snapshot_rows_init(&from, store, ID);
        assert_ok(snapshot_open(&from, tokens[i], &h, NULL, &e), e);
        assert_same_history(&h, &live);
        history_release(&h);
    }
}

static void save(void)
{
    assert_ok(snapshot_save(store, ID, &live, &e), e);
    assert_int_equal(live.unsaved, live.messages.len);
}

/* The program may continue a session that it resumed, and may die before it saves. */
static void resume_in_place(void)
{
    struct history h;
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_same_history(&h, &live);
    history_release(&live);
    live = h;
}

static size_t count_left(const struct history *h)
{
    size_t left = 0;
    for (size_t i = 0; i < h->messages.len; i++)
        left += h->messages.items[i].row > 0;
    return left;
}

static bool fold(void *history, const struct event *ev)
{
    history_apply(history, ev);
    return true;
}

/* The history is defined by all events alone. */
static void check_log(void)
{
    struct undone_list undone;
    VEC(int64_t) completed = {0};
    AUTO(history_release) struct history h = {0};
    history_init(&h);
    assert_true(event_log_undone(store, ID, &undone, &e));
    for (size_t i = 0; i < undone.items.len; i++)
        vec_push(&completed, undone.items.items[i].of);
    history_pass_over(&h, completed.items, completed.len);
    assert_true(event_log_read(store, ID, 0, fold, &h, &e));
    assert_same_history(&h, &live);
    vec_release(&completed);
    vec_release(&undone.items);
}

FIXTURE(set_up, tear_down);

/* A history that is saved in steps equals the one that all events make, and leaves no stale
 * rows. */
TEST(test_with_and_without_a_snapshot)
{
    entropy_seed(support_seed());
    check_resume();
    for (int i = 0; i < (int)suite_sample(60, 150); i++) {
        run();
        if (entropy_unit() < 0.5) {
            /* The rest that an old retry leaves behind the end shrinks by 200 rows per save. */
            int64_t before = saved_rows() - 200;
            int64_t count = (int64_t)live.messages.len;
            save();
            assert_int_equal(saved_rows(), before > count ? before : count);
        }
        if (entropy_unit() < 0.2)
            resume_in_place();
        check_resume();
    }
    save();
    check_resume();
    damage_sql(path, "DELETE FROM snapshot");
    check_resume();
}

TEST(test_a_turn_costs_what_it_added)
{
    assert_true(store_begin(store, &e));
    while (live.messages.len < 1000)
        plain_run();
    assert_true(store_commit(store, &e));
    save();
    happen(EVENT_TURN_STARTED, "one more");
    happen(EVENT_TEXT_COMPLETE, "yes");
    happen(EVENT_TURN_COMPLETED, "yes");
    int before = sqlite3_total_changes(store->db);
    save();
    assert_int_equal(sqlite3_total_changes(store->db) - before, 3); /* two messages, counters */
    before = sqlite3_total_changes(store->db);
    save();
    assert_int_equal(sqlite3_total_changes(store->db) - before, 1);
    check_resume();
    resume_in_place();
    assert_int_equal(live.unsaved, live.messages.len);
    before = sqlite3_total_changes(store->db);
    save();
    assert_int_equal(sqlite3_total_changes(store->db) - before, 1);
}

/* Saved in a transaction that came to nothing: the caller says that nothing is saved. */
TEST(test_after_a_rollback)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 5; i++)
        run();
    save();
    happen(EVENT_TURN_STARTED, "kept");
    happen(EVENT_TEXT_COMPLETE, "kept as well");
    assert_true(store_begin(store, &e));
    save();
    store_rollback(store);
    live.unsaved = 0;
    save();
    assert_int_equal(saved_rows(), live.messages.len);
    check_resume();
}

TEST(test_drop)
{
    plain_run();
    save();
    damage_sql(path, "DELETE FROM snapshot; DELETE FROM snapshot_message");
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot"), 0);
    assert_int_equal(saved_rows(), 0);
    check_resume();
    plain_run();
    save(); /* all of it, although most was saved once */
    assert_int_equal(saved_rows(), live.messages.len);
    check_resume();
}

TEST(test_counters)
{
    struct snapshot_counters kept;
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, 0);
    assert_int_equal(kept.last_input, -1);
    plain_run();
    struct event *ev = event_new(EVENT_CALL_COMPLETED);
    happen(EVENT_TURN_STARTED, "measured");
    ev->usage = (struct usage){.input = 1234, .output = 5, .cached = -1};
    happens(ev);
    save();
    damage_sql(path, "DELETE FROM snapshot_message"); /* not looked at */
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, live.estimate);
    assert_true(kept.estimate > 0);
    assert_int_equal(kept.last_input, 1234);
    damage_sql(path, "UPDATE snapshot SET counters = 'x'");
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.estimate, 0);
    assert_int_equal(kept.last_input, -1);
}

/* Keeps a range, behind a summary of all before it, or not. */
static int64_t compact_around(size_t first, size_t count, bool summary)
{
    struct event *ev = event_new(EVENT_COMPACTION_COMPLETED);
    char *head = support_text(
        "{\"message\":{\"role\":\"user\",\"seq\":%lld,\"turn\":1,\"summary\":true,"
        "\"content\":[{\"type\":\"text\",\"text\":\"S\"}]}},",
        (long long)live.messages.items[0].seq);
    ev->text = mem_strdup("S");
    ev->compaction.trigger = mem_strdup("manual");
    ev->compaction.history = mem_printf("[%s[%zu,%zu]]", summary ? head : "", first, count);
    return happens(ev);
}

/* Drops all but the last message. */
static int64_t compact(void)
{
    return compact_around(live.messages.len - 1, 1, true);
}

/* Reads the log again, as every undo does. */
static void undo(int64_t of)
{
    happen_with(EVENT_COMPACTION_UNDONE, of, NULL);
    history_release(&live);
    assert_true(snapshot_resume(store, ID, &live, &e));
}

TEST(test_a_compaction)
{
    struct snapshot_counters kept;
    plain_run();
    plain_run();
    save();
    compact();
    assert_int_equal(live.messages.len, 2);
    check_resume(); /* the snapshot and the compaction after it */
    save();
    assert_int_equal(saved_rows(), 2);
    check_resume();
    assert_true(snapshot_counters(store, ID, &kept, &e));
    assert_int_equal(kept.compactions, 1);
    assert_false(kept.suspended);
    plain_run();
    save();
    assert_int_equal(saved_rows(), 4);
    check_resume();
}

static void compact_somehow(void)
{
    size_t count = live.messages.len;
    size_t border = (size_t)(entropy_unit() * (double)count); /* between two turns */
    while (border > 0 && live.messages.items[border].role != ROLE_USER)
        border--;
    if (border > 0 && entropy_unit() < 0.5)
        compact_around(border, count - border, true);
    else if (border > 0)
        compact_around(0, border, false); /* nothing moves, the end goes */
}

static void pin_something(void)
{
    struct event *ev = event_new(EVENT_MESSAGE_PINNED);
    size_t i = (size_t)(entropy_unit() * (double)live.messages.len);
    ev->number = live.messages.len > 0 ? live.messages.items[i].seq : 1;
    ev->flag = entropy_unit() < 0.7;
    happens(ev);
}

static void undo_the_last(void)
{
    if (live.compaction.in_force.len == 0)
        return;
    undo(vec_last(&live.compaction.in_force));
    live.source = &live_rows.source;
}

/* A history that leaves its old messages in the rows is at any time the one that the log makes. */
TEST(test_old_messages_stay_in_their_rows)
{
    size_t left = 0, compacted = 0;
    entropy_seed(support_seed());
    snapshot_rows_init(&live_rows, store, ID);
    live.source = &live_rows.source;
    for (int i = 0; i < 150; i++) {
        double luck = entropy_unit();
        run();
        size_t in_force = live.compaction.in_force.len;
        for (int k = 0; k < 3 && i % 10 == 9; k++)
            plain_run();
        if (luck < 0.2 || i % 10 == 9)
            compact_somehow();
        else if (luck < 0.3)
            pin_something();
        else if (luck < 0.33)
            undo_the_last();
        if (entropy_unit() < 0.6) {
            /* Saves as the journal does. */
            save();
            live.source = &live_rows.source;
            history_shed(&live, (int64_t)(entropy_unit() * 400));
        }
        if (entropy_unit() < 0.2) {
            struct history h;
            struct snapshot_rows from;
            snapshot_rows_init(&from, store, ID);
            assert_ok(snapshot_open(&from, (int64_t)(entropy_unit() * 400), &h, NULL, &e), e);
            assert_same_history(&h, &live);
            history_release(&live);
            live = h;
            live_rows = from;
            live.source = &live_rows.source;
        }
        check_log();
        check_resume();
        left += count_left(&live);
        compacted += live.compaction.in_force.len > in_force;
    }
    assert_false(live_rows.source.failed);
    assert_true(left > 100);
    assert_true(compacted > 0);
}

/* A save writes new messages, and not those in the rows. */
TEST(test_what_is_in_the_rows_is_not_written_again)
{
    snapshot_rows_init(&live_rows, store, ID);
    for (int i = 0; i < 100; i++)
        plain_run();
    live.source = &live_rows.source;
    save();
    history_shed(&live, 0);
    assert_int_equal(count_left(&live), 200);
    plain_run();
    live.unsaved = 0; /* a transaction was rolled back */
    int before = sqlite3_total_changes(store->db);
    save();
    assert_int_equal(sqlite3_total_changes(store->db) - before, 3);
    check_resume();
    check_log();
}

/* Messages of a running turn and unsaved messages stay in memory. */
TEST(test_what_stays_in_memory)
{
    snapshot_rows_init(&live_rows, store, ID);
    live.source = &live_rows.source;
    plain_run();
    save();
    happen(EVENT_TURN_STARTED, "and now?");
    happen(EVENT_TEXT_COMPLETE, "this");
    history_shed(&live, 0);
    assert_int_equal(count_left(&live), 2);
    save();
    history_shed(&live, 0);
    assert_int_equal(count_left(&live), 2);
    happen(EVENT_TURN_COMPLETED, "this");
    history_shed(&live, 0);
    assert_int_equal(count_left(&live), 4);
    check_resume();
}

/* No part of a long text is held in memory then. */
static bool is_long(struct snapshot_rows *rows)
{
    AUTO(history_release) struct history h = {0};
    bool out = false;
    assert_true(snapshot_open(rows, 0, &h, &out, &e));
    assert_int_equal(h.messages.len, out ? 0 : live.messages.len);
    return out;
}

/* A long log without a snapshot gets one while it is read, and is left there; or nothing of it is
 * kept. */
TEST(test_a_log_is_saved_while_it_is_read)
{
    static char text[3 << 20];
    AUTO(history_release) struct history h = {0};
    struct snapshot_rows from;
    assert_true(store_begin(store, &e));
    for (int i = 0; i < 1200; i++)
        plain_run();
    memset(text, 'x', sizeof text - 1);
    happen(EVENT_TURN_STARTED, text);
    happen(EVENT_TURN_COMPLETED, NULL);
    compact_around(2, live.messages.len - 2, true);
    happen(EVENT_TURN_STARTED, "cut off");
    assert_true(store_commit(store, &e));
    snapshot_rows_init(&from, store, ID);
    assert_true(is_long(&from));

    damage_sql(path,
               "CREATE TRIGGER full BEFORE INSERT ON snapshot_message"
               " WHEN new.position = 2200 BEGIN SELECT RAISE(ABORT, 'no room'); END");
    assert_err(snapshot_catch_up(&from, 0, &h, &e), e, ERR_SESSION_STORE_ERROR);
    assert_int_equal(h.messages.len, 0);
    assert_int_equal(saved_rows(), 0);
    damage_sql(path, "DROP TRIGGER full");

    assert_true(snapshot_catch_up(&from, 0, &h, &e));
    assert_same_history(&h, &live);
    assert_true(count_left(&h) + 3 >= h.messages.len); /* a summary, a message that waits */
    assert_int_equal(saved_rows(), h.messages.len);
    assert_false(is_long(&from));
    check_resume();
    check_log();
}

/* Another process changes the rows: no message is made from unreadable rows. */
TEST(test_rows_that_are_not_there_any_more)
{
    static const char *const damages[] = {
        "DELETE FROM snapshot_message WHERE position = 1",
        "UPDATE snapshot_message SET message = '{\"role\":' WHERE position = 1",
        "UPDATE snapshot_message SET message = replace(message, '\"seq\":', '\"seq\":1')",
        "UPDATE snapshot_message SET message = replace(message, 'assistant', 'user')",
        "UPDATE snapshot_message SET message = substr(message, 1, length(message) - 4)",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct history h;
        struct message room;
        snapshot_rows_init(&live_rows, store, ID);
        plain_run();
        plain_run();
        save();
        assert_true(snapshot_open(&live_rows, 0, &h, NULL, &e));
        damage_sql(path, damages[i]);
        assert_ptr_equal(message_whole(h.source, &h.messages.items[1], &room),
                         &h.messages.items[1]);
        message_release(&room);
        assert_true(live_rows.source.failed);
        assert_int_equal(live_rows.source.fault.code, ERR_SESSION_STORE_ERROR);
        history_release(&h);
        assert_true(snapshot_open(&live_rows, 0, &h, NULL, &e)); /* of the log, or of other rows */
        assert_false(live_rows.source.failed);
        for (size_t k = 0; k < h.messages.len; k++) {
            message_whole(h.source, &h.messages.items[k], &room);
            message_release(&room);
        }
        assert_false(live_rows.source.failed);
        history_release(&h);
        live.unsaved = 0;
    }
}

/* Messages that stay in the rows are read up to their content. */
TEST(test_old_messages_are_not_parsed)
{
    AUTO(history_release) struct history h = {0};
    snapshot_rows_init(&live_rows, store, ID);
    for (int i = 0; i < 4; i++)
        plain_run();
    compact();
    for (int i = 0; i < 4; i++)
        plain_run();
    struct event *pin = event_new(EVENT_MESSAGE_PINNED);
    pin->number = vec_last(&live.messages).seq;
    pin->flag = true;
    happens(pin);
    plain_run();
    save();
    damage_sql(path,
               "UPDATE snapshot_message SET message = replace(message, '\"text\":\"yes',"
               " '\"text\":yes') WHERE message NOT LIKE '%pinned%'");
    assert_true(snapshot_open(&live_rows, 0, &h, NULL, &e));
    assert_int_equal(h.messages.len, live.messages.len);
    for (size_t i = 0; i < h.messages.len; i++) {
        const struct message *m = &h.messages.items[i];
        bool held = m->summary || m->pinned;
        assert_int_equal(m->row, held ? 0 : (int)i + 1);
        assert_int_equal(m->blocks.len, held ? live.messages.items[i].blocks.len : 0);
    }
}

/* The rows of dropped messages are removed in steps, and never read. */
TEST(test_what_went_is_taken_away_bit_by_bit)
{
    for (int i = 0; i < 300; i++)
        plain_run();
    save();
    int64_t before = saved_rows();
    assert_int_equal(before, 600);
    compact();
    for (int64_t rows = before; rows > (int64_t)live.messages.len; before = rows) {
        save();
        AUTO(history_release) struct history h = {0};
        damage_sql(path,
                   "UPDATE snapshot_message SET message = replace(message, 'yes', 'YES') WHERE "
                   "position = 1");
        assert_true(snapshot_resume(store, ID, &h, &e));
        assert_int_equal(h.messages.len, live.messages.len);
        assert_string_equal(h.messages.items[1].blocks.items[0].text, "YES");
        damage_sql(path,
                   "UPDATE snapshot_message SET message = replace(message, 'YES', 'yes') WHERE "
                   "position = 1");
        rows = saved_rows();
        assert_true(rows < before);
        assert_true(before - rows <= 200);
        check_resume();
        plain_run();
        check_resume();
    }
    save();
    assert_int_equal(saved_rows(), live.messages.len);
}

/* A snapshot from when the compaction held is none to go on from. */
TEST(test_an_undone_compaction)
{
    plain_run();
    plain_run();
    int64_t first = compact();
    plain_run();
    save();
    int64_t second = compact();
    undo(second);
    assert_int_equal(live.messages.len, 4);
    undo(first);
    assert_int_equal(live.messages.len, 6);
    check_resume();
    save();
    check_resume();
    plain_run();
    check_resume();
}

/* A hand-written log with such events stays readable. */
TEST(test_undone_events_of_any_kind)
{
    struct undone_list undone;
    static const char *const payloads[] = {"{}",
                                           "[]",
                                           "{\"of\":\"2\"}",
                                           "{\"of\":null}",
                                           "{\"of\":1e300}",
                                           "no json",
                                           "{\"of\":999999}"};
    plain_run();
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
}

TEST(test_an_open_run_stays_open)
{
    AUTO(history_release) struct history h = {0};
    plain_run();
    happen(EVENT_TURN_STARTED, "again");
    happen(EVENT_TOOL_CALL_REQUESTED, "{}");
    save();
    happen(EVENT_TOOL_EXECUTION_COMPLETED, "text");
    check_resume();
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_true(history_drop_open_turn(&h));
    assert_string_equal(h.last_text, "again");
}

/* The snapshot is really read: a changed one shows. */
TEST(test_the_snapshot_is_used)
{
    AUTO(history_release) struct history h = {0};
    plain_run();
    save();
    damage_sql(path,
               "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')");
    assert_true(snapshot_resume(store, ID, &h, &e));
    assert_string_equal(h.messages.items[0].blocks.items[0].text, "smaller?");
}

TEST(test_a_bad_snapshot_is_passed_over)
{
    static const char *const damages[] = {
        "UPDATE snapshot SET counters = substr(counters, 1, length(counters) - 5)",
        "UPDATE snapshot SET counters = replace(counters, '\"version\":1', '\"version\":7')",
        "UPDATE snapshot SET counters = ''",
        "UPDATE snapshot SET counters = replace(counters, '\"applied_seq\":', '\"applied_seq\":1')",
        "DELETE FROM snapshot_message WHERE position = 1",
        "DELETE FROM snapshot_message",
        "DELETE FROM snapshot_message WHERE position = (SELECT max(position) FROM "
        "snapshot_message)",
        "UPDATE snapshot_message SET message = '{\"role\":' WHERE position = 1",
        "UPDATE snapshot_message SET message = '{\"role\":\"x\"}' WHERE position = 0",
        /* The snapshot counts events that the log does not have. */
        "UPDATE snapshot SET seq = 999;"
        "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')",
    };
    struct history h;
    plain_run();
    plain_run();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        live.unsaved = 0;
        save();
        damage_sql(path, damages[i]);
        resume_in_place();
        save(); /* sound again, although the session only went on */
        assert_int_equal(saved_rows(), live.messages.len);
        damage_sql(path,
                   "UPDATE snapshot_message SET message = replace(message, 'größer?', 'smaller?')");
        assert_true(snapshot_resume(store, ID, &h, &e));
        assert_string_equal(h.messages.items[0].blocks.items[0].text, "smaller?");
        history_release(&h);
    }
}

/* --- another process, between two looks of ours ----------------------------------------------- */

static struct store *other;
static int looks, meddles_at;

static int meddle_between(unsigned what, void *context, void *statement, void *sql)
{
    (void)what, (void)context, (void)statement;
    if (strncmp(sql, "SELECT", 6) != 0 || ++looks != meddles_at)
        return 0;
    struct store *ours = store;
    store = other;
    plain_run();
    save();
    store = ours;
    return 0;
}

/* A reader finds the state before or after a write, never a mixture. */
TEST(test_somebody_writes_meanwhile)
{
    struct history h;
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    plain_run();
    save();
    bool met = true;
    for (meddles_at = 1; met; meddles_at++) {
        size_t before = live.messages.len;
        looks = 0;
        sqlite3_trace_v2(store->db, SQLITE_TRACE_STMT, meddle_between, NULL);
        assert_true(snapshot_resume(store, ID, &h, &e));
        sqlite3_trace_v2(store->db, 0, NULL, NULL);
        met = live.messages.len > before;
        assert_true(h.messages.len == before || h.messages.len == live.messages.len);
        assert_int_equal(h.unsaved, h.messages.len); /* the snapshot was whole, too */
        history_release(&h);
    }
    assert_true(meddles_at > 4);
    store_close(other);
}

TEST(test_no_such_session)
{
    struct history h;
    history_init(&h);
    assert_err(snapshot_save(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e), e,
               ERR_SESSION_STORE_ERROR);
    assert_err(snapshot_resume(store, "01890a5d-0000-774b-bcce-b302099a8057", &h, &e), e,
               ERR_SESSION_NOT_FOUND);
    assert_int_equal(h.messages.len, 0);
}
