/* Compactions in the record of a session: memory, history, row, log and snapshot change together or
 * not at all, after any failure and any death of the program, and can be undone. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/entropy.h"
#include "session/capability.h"
#include "session/journal.h"
#include "session/notice.h"
#include "store/snapshot.h"
#include "store/sql.h"
#include "tests/any_compaction.h"
#include "tests/damage.h"
#include "tests/fault_vfs.h"
#include "tests/history_check.h"
#include "tests/suite.h"

static char *path, *pristine;
static struct store *store;
static struct mailbox *notices;
static struct journal j;
static char id[UUID_LEN + 1];

static struct error fault;

/* --- a memory, which is a table of the same database ----------------------------------------- */

static struct {
    bool refuses, fails_to_withdraw;
    int dies; /* before (1) or after (2) its rows were written */
    int calls;
    VEC(int64_t) wanted; /* numbers of the messages that the next compaction hands over */
} memory;

static bool sink_index(void *context, struct store *s, const struct discard *d, int *entries,
                       struct error *e)
{
    assert_ptr_equal(context, &memory);
    assert_string_equal(d->session_id, id);
    assert_int_equal(d->completed_seq, (j.info.last_seq > j.told ? j.info.last_seq : j.told) + 1);
    assert_int_equal(d->count, memory.wanted.len);
    memory.calls++;
    if (memory.dies == 1)
        _exit(FAULT_DEATH_STATUS);
    for (size_t i = 0; i < d->count; i++) {
        const struct message *m = d->messages[i];
        assert_int_equal(m->seq, memory.wanted.items[i]);
        assert_true(!m->summary && m->blocks.len > 0);
        if (!store_exec(s,
                        support_text("INSERT INTO memory VALUES (%lld, %lld)",
                                     (long long)d->completed_seq, (long long)m->seq),
                        e))
            return false;
    }
    if (memory.dies == 2)
        _exit(FAULT_DEATH_STATUS);
    *entries = (int)d->count;
    return !memory.refuses || err_set(e, ERR_AGENT_ERROR, "the memory is full");
}

static bool sink_withdraw(void *context, struct store *s, const char *session_id, int64_t seq,
                          struct error *e)
{
    assert_ptr_equal(context, &memory);
    assert_string_equal(session_id, id);
    char *sql = support_text("DELETE FROM memory WHERE completed = %lld", (long long)seq);
    bool ok = store_exec(s, sql, e);
    return ok && (!memory.fails_to_withdraw || err_set(e, ERR_AGENT_ERROR, "the memory is gone"));
}

static const struct discard_sink sink = {sink_index, sink_withdraw, &memory, NULL};

/* --- the session ------------------------------------------------------------------------------ */

static void free_notice(void *n)
{
    notice_free(n);
}

static void open_journal(void)
{
    struct event_list tail;
    bool more;
    assert_ok(store_open(path, STORE_READ_WRITE, &store, &fault), fault);
    notices = mailbox_new(free_notice);
    journal_init(&j, notices);
    j.store = store;
    j.directory = support_dir();
    j.sink = &sink;
    if (!*id) {
        journal_begin(&j, "/d");
        memcpy(id, j.info.id, sizeof id);
        return;
    }
    assert_ok(journal_open(&j, id, JOURNAL_RESUME, &tail, &more, &fault), fault);
    event_list_release(&tail);
    assert_false(j.loaded);
}

static void close_journal(void)
{
    if (!store)
        return;
    journal_release(&j);
    mailbox_free(notices);
    store_close(store);
    store = NULL;
}

static void open_loaded(void)
{
    open_journal();
    assert_ok(journal_load(&j, &fault), fault);
}

static void restart(void)
{
    close_journal();
    open_loaded();
}

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    path = support_path("tiro.db");
    pristine = support_path("pristine.db");
    memset(id, 0, sizeof id);
    memset(&memory, 0, sizeof memory);
    open_journal();
    return store_exec(store, "CREATE TABLE memory (completed INTEGER, message INTEGER)", &fault)
               ? 0
               : -1;
}

static int teardown(void **state)
{
    close_journal();
    vec_release(&memory.wanted);
    return support_teardown(state);
}

static void emit(struct event *ev)
{
    assert_ok(journal_emit(&j, ev, &fault), fault);
}

static void say(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    if (type == EVENT_TURN_FAILED)
        ev->name = mem_strdup("AGENT_ERROR");
    if (type == EVENT_CALL_COMPLETED)
        ev->usage = (struct usage){
            .input = 100 + (int64_t)(entropy_unit() * 900), .output = 9, .cached = -1};
    emit(ev);
}

static void begin_run(const char *question, const char *answer)
{
    say(EVENT_TURN_STARTED, question);
    say(EVENT_CALL_STARTED, NULL);
    say(EVENT_TEXT_COMPLETE, answer);
}

static void plain_run(const char *question, const char *answer)
{
    begin_run(question, answer);
    say(EVENT_CALL_COMPLETED, NULL);
    say(EVENT_TURN_COMPLETED, answer);
}

static void two_runs(void)
{
    plain_run("one", "1");
    plain_run("two", "2");
}

static void start_compaction(void)
{
    struct event *ev = event_new(EVENT_COMPACTION_STARTED);
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.stage = mem_strdup("summary");
    ev->compaction.trigger = mem_strdup(j.history.running ? "estimate" : "manual");
    emit(ev);
}

static void expect_dropped(const struct event *ev)
{
    AUTO(rebuild_release) struct rebuild r = {0};
    struct index_list gone;
    assert_ok(rebuild_from_json(ev->compaction.history, j.history.messages.len, &r, &fault), fault);
    rebuild_dropped(&r, j.history.messages.len, &gone);
    vec_clear(&memory.wanted);
    for (size_t i = 0; i < gone.items.len; i++) {
        const struct message *m = &j.history.messages.items[gone.items.items[i]];
        if (!m->summary)
            vec_push(&memory.wanted, m->seq);
    }
    vec_release(&gone.items);
}

static void forget_notices(void)
{
    struct notice *n;
    while ((n = mailbox_pop(notices)))
        notice_free(n);
}

static struct event *next_shown(void)
{
    AUTO(notice_free_local) struct notice *n = mailbox_pop(notices);
    assert_non_null(n);
    struct event *ev = n->event;
    n->event = NULL;
    return ev;
}

static void commit(struct event *ev)
{
    expect_dropped(ev);
    forget_notices();
    assert_ok(journal_compact(&j, ev, &fault) == COMMIT_DONE, fault);
    /* The notice of memory follows the compaction directly; nothing is announced if no entry went
     * to memory. */
    bool indexes = memory.wanted.len > 0;
    AUTO(event_free_local) struct event *told = next_shown();
    assert_int_equal(told->type, EVENT_COMPACTION_COMPLETED);
    assert_int_equal(told->seq, j.info.last_seq - indexes);
    assert_int_equal(told->compaction.entries_indexed, memory.wanted.len);
    assert_non_null(told->compaction.dropped);
    if (indexes) {
        AUTO(event_free_local) struct event *indexed = next_shown();
        assert_int_equal(indexed->type, EVENT_MEMORY_INDEXED);
        assert_int_equal(indexed->seq, j.info.last_seq);
        assert_int_equal(indexed->number, told->seq);
        assert_int_equal(indexed->count, memory.wanted.len);
        assert_string_equal(indexed->session_id, id);
        assert_true(indexed->wall_ms > 0);
    }
    assert_null(mailbox_pop(notices));
}

/* The whole state of the history, with its unsaved part. Kept. */
static char *capture(void)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, support_keep(history_counters(&j.history)));
    for (size_t i = 0; i < j.history.messages.len; i++) {
        AUTO(json_free_local)
        struct json *v = shape_to_json(&message_shape, &j.history.messages.items[i]);
        buf_addf(&text, "\n%s", support_keep(json_print(v)));
    }
    return support_keep(buf_take(&text));
}

static bool apply(void *h, const struct event *ev)
{
    history_apply(h, ev);
    return true;
}

static int64_t count_rows(const char *where)
{
    return damage_sql(path, support_text("SELECT count(*) FROM memory %s", where));
}

static int64_t count_events(const char *type)
{
    return damage_sql(path, support_text("SELECT count(*) FROM event WHERE type = '%s'", type));
}

/* The log alone, and the snapshot with the events after it, make the journal's history. Every entry
 * of memory belongs to a compaction that holds. */
static void assert_sound(void)
{
    AUTO(history_release) struct history folded = {0}, resumed = {0};
    history_init(&folded);
    pass_over_undone(store, id, &folded);
    assert_ok(event_log_read(store, id, 0, apply, &folded, &fault), fault);
    assert_ok(snapshot_resume(store, id, &resumed, &fault), fault);
    assert_same_history(&folded, &resumed);
    if (!j.history.running) {
        history_drop_open_turn(&folded);
        history_drop_open_turn(&resumed);
    }
    assert_same_history(&folded, &j.history);
    int64_t estimate = 0;
    for (size_t i = 0; i < j.history.messages.len; i++)
        estimate += message_estimate_tokens(&j.history.messages.items[i]);
    assert_int_equal(j.history.estimate, estimate);
    if (j.history.running)
        assert_int_equal(j.history.messages.items[j.history.turn_first].seq, j.history.turn_seq);
    int64_t entries = 0;
    for (size_t i = 0; i < j.history.compaction.in_force.len; i++)
        entries += count_rows(support_text("WHERE completed = %lld",
                                           (long long)j.history.compaction.in_force.items[i]));
    assert_int_equal(entries, count_rows(""));
}

/* ... and does so after a restart. */
static void assert_sound_twice(void)
{
    assert_sound();
    restart();
    assert_sound();
}

/* --- one compaction --------------------------------------------------------------------------- */

/* A summary in the place of the first `gone` messages of so many. */
static struct rebuild summary_of(const struct message *first, size_t gone, size_t count,
                                 const char *summary)
{
    struct rebuild r = {0};
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text(summary));
    rebuild_make(&r, m);
    rebuild_keep(&r, gone, count - gone);
    return r;
}

/* Keeps all but the first `gone` messages. */
static struct event *drop_first(size_t gone, const char *summary)
{
    AUTO(rebuild_release) struct rebuild r = {0};
    const struct message *first = &j.history.messages.items[0];
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text(summary));
    rebuild_make(&r, m);
    rebuild_keep(&r, gone, j.history.messages.len - gone);
    return compaction_of(&j.history, &r, summary);
}

NEEDS(capability_store());
FIXTURE(setup, teardown);

TEST(test_a_compaction)
{
    two_runs();
    plain_run("three", "3");
    int64_t input = j.info.usage.input;
    start_compaction();
    commit(drop_first(4, "[Context compacted] one, two"));
    assert_int_equal(j.history.messages.len, 3);
    assert_true(j.history.messages.items[0].summary);
    assert_int_equal(j.history.messages.items[0].seq, 1);
    assert_string_equal(j.history.messages.items[1].blocks.items[0].text, "three");
    assert_int_equal(j.history.last_input, -1);
    assert_int_equal(j.history.turns, 3);
    assert_int_equal(j.history.compaction.in_force.len, 1);
    assert_int_equal(j.history.compaction.last_attempt, 3);
    assert_int_equal(memory.calls, 1);
    assert_int_equal(count_rows(""), 4);
    assert_int_equal(
        damage_sql(path, "SELECT count(*) FROM event WHERE payload LIKE '%\"dropped\":[[1,10]]%'"),
        1);
    assert_int_equal(j.info.usage.input, input + 700);
    assert_true(j.info.cost > 0.24);
    assert_int_equal(j.info.messages, 6);
    assert_int_equal(j.info.turns, 3);
    assert_int_equal(damage_sql(path, "SELECT count(*) FROM snapshot_message"), 3);
    assert_int_equal(damage_sql(path, "SELECT turns FROM session"), 3);
    assert_sound_twice();
    assert_session_sound(store, id);
    plain_run("four", "4");
    assert_int_equal(j.history.messages.len, 5);
    assert_sound();
}

/* Memory is not called, and no notice mentions it. */
TEST(test_where_nothing_goes_nothing_is_indexed)
{
    two_runs();
    AUTO(rebuild_release) struct rebuild r = {0};
    struct message shorter = message_clone(&j.history.messages.items[1]);
    shorter.blocks.items[0].text[0] = '\0';
    rebuild_keep(&r, 0, 1);
    rebuild_rewrite(&r, 1, shorter);
    rebuild_keep(&r, 2, 2);
    commit(compaction_of(&j.history, &r, ""));
    assert_int_equal(memory.calls, 0);
    assert_sound_twice();
}

/* If no entry went to memory, or there is no memory, no notice is given. */
TEST(test_what_memory_took_is_told)
{
    two_runs();
    commit(drop_first(1, "s"));
    commit(drop_first(1, "only the summary goes"));
    assert_int_equal(memory.wanted.len, 0);
    assert_int_equal(count_events("memory_indexed"), 1);
    assert_int_equal(damage_sql(path,
                                "SELECT count(*) FROM event a JOIN event b"
                                " ON b.seq = a.seq + 1"
                                " WHERE a.type = 'compaction_completed'"
                                " AND b.type = 'memory_indexed'"),
                     1);
    assert_sound();
    j.sink = NULL;
    forget_notices();
    assert_int_equal(journal_compact(&j, drop_first(2, "s"), &fault), COMMIT_DONE);
    AUTO(event_free_local) struct event *told = next_shown();
    assert_null(mailbox_pop(notices));
    assert_int_equal(told->type, EVENT_COMPACTION_COMPLETED);
    assert_int_equal(told->seq, j.info.last_seq);
    assert_int_equal(count_events("memory_indexed"), 1);
    assert_int_equal(count_events("compaction_completed"), 3);
    assert_sound_twice();
}

/* Check 7 of the spec: history still holds the first message, no completed event. */
TEST(test_memory_refuses)
{
    two_runs();
    char *before = capture();
    AUTO(session_info_release) struct session_info row = session_info_clone(&j.info);
    AUTO(event_free_local) struct event *ev = drop_first(2, "s");
    expect_dropped(ev);
    forget_notices();
    memory.refuses = true;
    assert_int_equal(journal_compact(&j, ev, &fault), COMMIT_REFUSED_BY_MEMORY);
    assert_non_null(strstr(fault.text, "full"));
    assert_null(mailbox_pop(notices));
    assert_string_equal(capture(), before);
    assert_string_equal(j.history.messages.items[0].blocks.items[0].text, "one");
    assert_int_equal(j.info.last_seq, row.last_seq);
    assert_int_equal(j.info.usage.input, row.usage.input);
    assert_int_equal(count_rows(""), 0);
    assert_int_equal(count_events("compaction_completed"), 0);
    assert_int_equal(count_events("memory_indexed"), 0);
    assert_sound();
    memory.refuses = false;
    commit(drop_first(2, "s"));
    assert_sound();
}

TEST(test_one_that_does_not_fit)
{
    static const char *const texts[] = {"[[0,9]]", "x", "[[1,3]]", "[[0,2],[3,1]]",
                                        "[[0,1],{\"message\":{\"role\":\"user\",\"seq\":999,"
                                        "\"turn\":1,\"content\":[{\"type\":\"text\",\"text\":"
                                        "\"x\"}]}}]"};
    plain_run("one", "1");
    begin_run("two", "2");
    char *before = capture();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO(event_free_local) struct event *ev = drop_first(1, "s");
        free(ev->compaction.history);
        ev->compaction.history = mem_strdup(texts[i]);
        vec_clear(&memory.wanted);
        j.sink = NULL;
        if (journal_compact(&j, ev, &fault) != COMMIT_FAILED)
            fail_msg("taken: %s", texts[i]);
        assert_true(fault.text[0]);
        assert_string_equal(capture(), before);
    }
    j.sink = &sink;
    assert_sound();
}

/* --- taking it back --------------------------------------------------------------------------- */

static void uncompact(void)
{
    forget_notices();
    assert_ok(journal_uncompact(&j, &fault), fault);
    AUTO(event_free_local) struct event *told = next_shown();
    assert_int_equal(told->type, EVENT_COMPACTION_UNDONE);
}

static void assert_texts(const char *wanted)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = 0; i < j.history.messages.len; i++)
        buf_addf(&text, "%s%s", i > 0 ? " " : "", j.history.messages.items[i].blocks.items[0].text);
    assert_string_equal(text.data, wanted);
}

TEST(test_undone)
{
    assert_false(journal_uncompact(&j, &fault));
    two_runs();
    assert_err(journal_uncompact(&j, &fault), fault, ERR_NOTHING_TO_UNDO);
    commit(drop_first(2, "A"));
    plain_run("three", "3");
    commit(drop_first(3, "B"));
    plain_run("four", "4");
    assert_texts("B three 3 four 4");
    restart();
    uncompact();
    assert_texts("A two 2 three 3 four 4");
    assert_int_equal(j.history.last_input, -1);
    assert_sound();
    restart();
    assert_texts("A two 2 three 3 four 4");
    commit(drop_first(5, "C"));
    assert_texts("C four 4");
    uncompact();
    uncompact();
    assert_texts("one 1 two 2 three 3 four 4");
    assert_int_equal(count_rows(""), 0);
    assert_false(journal_uncompact(&j, &fault));
    assert_sound();
    restart();
    assert_texts("one 1 two 2 three 3 four 4");
    assert_session_sound(store, id);
    commit(drop_first(2, "D"));
    say(EVENT_TURN_STARTED, "five");
    assert_err(journal_uncompact(&j, &fault), fault, ERR_SESSION_BUSY);
    assert_int_equal(j.history.compaction.in_force.len, 1);
}

TEST(test_undone_without_being_loaded)
{
    two_runs();
    commit(drop_first(2, "A"));
    close_journal();
    open_journal();
    assert_int_equal(j.compactions, 1);
    uncompact();
    assert_texts("one 1 two 2");
    close_journal();
    open_journal();
    assert_int_equal(j.compactions, 0);
}

TEST(test_an_undo_that_fails)
{
    two_runs();
    commit(drop_first(2, "A"));
    char *before = capture();
    memory.fails_to_withdraw = true;
    assert_false(journal_uncompact(&j, &fault));
    assert_string_equal(capture(), before);
    assert_int_equal(count_rows(""), 2);
    memory.fails_to_withdraw = false;
    assert_sound();
    plain_run("three", "3");
    assert_sound();
    uncompact();
    assert_texts("one 1 two 2 three 3");
}

/* A compaction by hand behind a run that a crash cut off is made of the history without that run.
 */
TEST(test_behind_a_crash)
{
    two_runs();
    begin_run("three", "3");
    restart();
    assert_texts("one 1 two 2");
    start_compaction();
    commit(drop_first(2, "A"));
    assert_sound();
    restart();
    assert_texts("A two 2");
    assert_sound();
    say(EVENT_TURN_STARTED, "four");
    restart();
    uncompact();
    assert_texts("one 1 two 2");
    assert_sound();
    assert_session_sound(store, id);
}

/* --- pins ------------------------------------------------------------------------------------- */

TEST(test_pins)
{
    two_runs();
    int64_t answer = j.history.messages.items[1].seq;
    assert_ok(journal_pin(&j, answer, true, &fault), fault);
    assert_true(j.history.messages.items[1].pinned);
    assert_sound();
    int64_t last = j.info.last_seq;
    assert_ok(journal_pin(&j, answer, true, &fault), fault);
    assert_int_equal(j.info.last_seq, last);
    assert_false(journal_pin(&j, 3, true, &fault));
    assert_false(journal_pin(&j, 0, true, &fault));
    restart();
    assert_true(j.history.messages.items[1].pinned);
    plain_run("three", "3");
    assert_sound();
    assert_ok(journal_pin(&j, answer, false, &fault), fault);
    commit(drop_first(2, "A"));
    assert_false(journal_pin(&j, j.history.messages.items[0].seq, true, &fault));
    assert_int_equal(fault.code, ERR_MESSAGE_NOT_SENT);
    assert_sound_twice();
}

/* --- failures, streaming ---------------------------------------------------------------------- */

static void fail_compaction(int failures, bool suspended)
{
    struct event *ev = event_new(EVENT_COMPACTION_FAILED);
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.reason = mem_strdup("llm");
    ev->compaction.failures = failures;
    ev->compaction.suspended = suspended;
    ev->text = mem_strdup("no answer");
    ev->model = mem_strdup("p/m");
    ev->usage = (struct usage){.input = 11, .output = 1, .cached = -1};
    emit(ev);
}

TEST(test_failures_are_remembered)
{
    plain_run("one", "1");
    start_compaction();
    int64_t input = j.info.usage.input;
    fail_compaction(3, true);
    assert_int_equal(j.info.usage.input, input + 11);
    assert_int_equal(damage_sql(path, "SELECT input_tokens FROM session"), input + 11);
    assert_sound();
    restart();
    assert_int_equal(j.history.compaction.failures, 3);
    assert_true(j.history.compaction.suspended);
    assert_string_equal(j.history.compaction.failed_mode, "handoff");
    assert_string_equal(j.history.compaction.failed_model, "p/m");
    plain_run("two", "2");
    close_journal();
    open_journal();
    assert_true(j.suspended);
    assert_ok(journal_load(&j, &fault), fault);
    commit(drop_first(2, "A"));
    assert_false(j.history.compaction.suspended);
    assert_int_equal(j.history.compaction.failures, 0);
    assert_null(j.history.compaction.failed_mode);
    assert_sound();
}

static void stream(const char *text, int part, int of)
{
    struct event *ev = event_new(EVENT_COMPACTION_DELTA);
    ev->text = mem_strdup(text);
    ev->count = part;
    ev->limit = of;
    emit(ev);
}

static struct event_list tail;

/* The last events, at most so many, into `tail`; returns their number. */
static size_t read_tail(int64_t from, int most)
{
    bool more;
    event_list_release(&tail);
    assert_ok(event_log_tail(store, id, from, most, 0, &tail, &more, &fault), fault);
    return tail.items.len;
}

/* Parts of a summary are kept apart, and from what else streams. */
TEST(test_a_summary_streams)
{
    two_runs();
    start_compaction();
    int64_t first = j.info.last_seq;
    stream("a", 1, 2);
    stream("b", 1, 2);
    stream("c", 2, 2);
    struct event *text = event_new(EVENT_TEXT_DELTA);
    text->text = mem_strdup("x");
    emit(text);
    assert_int_equal(read_tail(0, 9), 8); /* run two, the beginning, two checkpoints */
    const struct event *ab = tail.items.items[6], *c = tail.items.items[7];
    assert_string_equal(support_text("%s %s", ab->text, c->text), "ab c");
    assert_true(ab->count == 1 && ab->limit == 2 && c->count == 2);
    assert_int_equal(ab->seq, first + 2);
    commit(drop_first(2, "A"));
    assert_int_equal(read_tail(0, 9), 8); /* superseded */
    assert_int_equal(read_tail(first + 3, 9), 6);
    start_compaction(); /* another one says nothing of the first */
    assert_int_equal(read_tail(first + 3, 9), 6);
    assert_sound();
}

/* The complete summary holds the streamed text, so no deltas are written after it. */
TEST(test_a_summary_that_is_whole_leaves_no_deltas)
{
    plain_run("one", "1");
    say(EVENT_TURN_STARTED, "two");
    start_compaction();
    stream("a", 0, 0);
    commit(drop_first(2, "A"));
    say(EVENT_TURN_COMPLETED, "2");
    assert_int_equal(count_events("compaction_delta"), 0);
    assert_sound();
}

/* Parts that the log holds, which must be of the summary that was cut off. */
static int deltas_from(int64_t from)
{
    int deltas = 0;
    for (size_t i = read_tail(from, 20); i > 0; i--)
        if (tail.items.items[i - 1]->type == EVENT_COMPACTION_DELTA) {
            assert_string_equal(tail.items.items[i - 1]->text, "lost");
            deltas++;
        }
    return deltas;
}

/* The part of a summary that a crash cut off stays, although a later summary is complete. */
TEST(test_a_summary_that_was_cut_off_stays)
{
    plain_run("one", "1");
    start_compaction();
    stream("lost", 1, 2);
    stream("half", 2, 2);
    restart();
    start_compaction();
    int64_t second = j.info.last_seq;
    stream("again", 1, 2);
    stream("more", 2, 2);
    commit(drop_first(1, "A"));
    assert_int_equal(deltas_from(0), 1);
    assert_int_equal(deltas_from(second), 1);
}

/* --- rewinds ---------------------------------------------------------------------------------- */

static void rewind_to(int64_t turn)
{
    struct event_turn found;
    assert_ok(event_log_nth_turn(store, id, turn, &found, &fault) &&
                  journal_rewind(&j, found.seq, &fault),
              fault);
    assert_sound_twice();
}

static void assert_counted(int turns)
{
    struct session_info row;
    assert_ok(sessions_get(store, id, &row, &fault), fault);
    assert_int_equal(row.turns, turns);
    assert_int_equal(row.messages, 2 * turns);
    assert_int_equal(j.info.turns, turns);
    session_info_release(&row);
}

static void unrewind(void)
{
    assert_ok(journal_unrewind(&j, &fault), fault);
    assert_sound_twice();
}

TEST(test_a_rewind)
{
    two_runs();
    plain_run("three", "3");
    assert_err(journal_rewind(&j, 2, &fault), fault, ERR_MESSAGE_NOT_SENT);
    rewind_to(2);
    assert_texts("one 1");
    assert_int_equal(j.history.turns, 1);
    assert_int_equal(j.history.last_input, -1);
    assert_null(j.history.last_text); /* there is nothing to send again */
    assert_counted(1);
    plain_run("other", "4");
    assert_counted(2);
    assert_int_equal(vec_last(&j.history.messages).turn, 2);
    rewind_to(0);
    rewind_to(0);
    assert_texts("");
    assert_int_equal(j.history.rewound.len, 3);
    plain_run("five", "5");
    unrewind();
    assert_texts("one 1 five 5");
    assert_counted(2);
    unrewind();
    assert_counted(3);
    assert_texts("one 1 other 4 five 5");
    unrewind();
    assert_texts("one 1 two 2 three 3 other 4 five 5");
    assert_int_equal(j.history.turns, 5);
    assert_counted(5);
    assert_err(journal_unrewind(&j, &fault), fault, ERR_NOTHING_TO_UNDO);
    assert_session_sound(store, id);
    say(EVENT_TURN_STARTED, "six");
    assert_err(journal_rewind(&j, 1, &fault), fault, ERR_SESSION_BUSY);
}

TEST(a_turn_that_failed_or_was_sent_again_has_one_number)
{
    plain_run("one", "1");
    say(EVENT_TURN_STARTED, "two");
    say(EVENT_TURN_FAILED, "no");
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup("two again");
    ev->number = j.history.last_turn_seq;
    emit(ev);
    say(EVENT_TURN_FAILED, "no");
    int64_t failed = j.info.last_seq - 1;
    plain_run("three", "3");
    struct event_turns turns;
    assert_ok(event_log_turns(store, id, &turns, &fault), fault);
    assert_int_equal(turns.items.len, 3);
    assert_int_equal(turns.items.items[1].seq, failed);
    assert_int_equal(turns.items.items[1].from, failed - 2);
    assert_int_equal(turns.items.items[0].last, failed - 3);
    assert_int_equal(turns.items.items[1].last, failed + 1);
    assert_int_equal(turns.items.items[2].last, 0);
    vec_release(&turns.items);
    rewind_to(2); /* the history has no such message; it goes on from there all the same */
    assert_texts("one 1");
}

TEST(test_a_rewind_undoes_compactions_that_dropped_its_message)
{
    two_runs();
    plain_run("three", "3");
    commit(drop_first(2, "A"));
    rewind_to(3); /* the compaction took none of what goes */
    assert_texts("A two 2");
    plain_run("four", "4");
    commit(drop_first(3, "B"));
    unrewind(); /* B was made of another history */
    assert_texts("A two 2 three 3 four 4");
    rewind_to(1);
    assert_texts("");
    assert_int_equal(j.history.compaction.in_force.len, 0);
    assert_int_equal(count_rows(""), 0);
    unrewind();
    assert_texts("one 1 two 2 three 3 four 4");
    assert_int_equal(count_events("compaction_undone"), 2);
}

/* --- any session ------------------------------------------------------------------------------ */

static bool maybe(double chance)
{
    return entropy_unit() < chance;
}

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static const char *any_text(void)
{
    static const char *const texts[] = {"yes",
                                        "größer – 漢字 👩‍👩‍👧",
                                        "two\nlines\n",
                                        "a \"quoted\" \\u0000",
                                        "\xff\xfe broken",
                                        ""};
    return texts[below(sizeof texts / sizeof *texts)];
}

static void any_commit(void)
{
    if (j.history.messages.len == 0)
        return;
    bool begun = maybe(0.9);
    if (begun)
        start_compaction();
    if (maybe(0.3))
        stream(any_text(), (int)below(3), 2);
    struct event *ev = any_compaction(&j.history, "[Context compacted] …");
    expect_dropped(ev);
    if (maybe(0.8) || memory.wanted.len == 0) {
        commit(ev);
        return;
    }
    char *before = capture();
    memory.refuses = true;
    assert_int_equal(journal_compact(&j, ev, &fault), COMMIT_REFUSED_BY_MEMORY);
    memory.refuses = false;
    assert_string_equal(capture(), before);
    event_free(ev);
    if (begun) /* a failure follows its beginning, which says whether a cut-off run is over */
        fail_compaction((int)below(4), maybe(0.3));
}

static void any_pin(void)
{
    if (j.history.messages.len == 0)
        return;
    const struct history *h = &j.history;
    size_t at = below(h->messages.len);
    const struct message *m = &h->messages.items[at];
    /* A pinned answer that outlived its question stands beside another answer: it stays pinned,
     * since assert_sound() wants a question between answers that are not pinned. */
    bool alone =
        m->role == ROLE_ASSISTANT && ((at > 0 && m[-1].role == ROLE_ASSISTANT) ||
                                      (at + 1 < h->messages.len && m[1].role == ROLE_ASSISTANT));
    bool pin = maybe(0.6) || alone;
    bool may = !m->summary && (m->role != ROLE_TOOL || !pin); /* a skill's result can be let go */
    assert_int_equal(journal_pin(&j, m->seq, pin, &fault), may);
}

/* Whether the model makes another call. */
static bool any_call(void)
{
    if (maybe(0.2))
        any_commit();
    say(EVENT_CALL_STARTED, NULL);
    if (maybe(0.7))
        say(EVENT_TEXT_COMPLETE, any_text());
    bool call = maybe(0.5);
    if (call)
        say(EVENT_TOOL_CALL_REQUESTED, "{}");
    say(EVENT_CALL_COMPLETED, NULL);
    if (call)
        say(EVENT_TOOL_EXECUTION_COMPLETED, "a result that is long enough to be shortened");
    return call;
}

/* Whether the run ended; otherwise the program died in it. */
static bool any_run(void)
{
    static const enum event_type ends[] = {EVENT_TURN_COMPLETED, EVENT_TURN_COMPLETED,
                                           EVENT_TURN_FAILED, EVENT_INTERRUPTED};
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_printf("%s?", any_text());
    if (maybe(0.2))
        ev->number = j.history.last_turn_seq;
    emit(ev);
    for (size_t i = below(4); i > 0 && any_call(); i--)
        ;
    if (maybe(0.15))
        any_commit();
    if (maybe(0.1))
        return false;
    enum event_type end = ends[below(sizeof ends / sizeof *ends)];
    say(end, end == EVENT_INTERRUPTED ? NULL : "end");
    return true;
}

/* The messages before this number, in their form of the history. Kept. */
static char *messages_before(int64_t seq)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < j.history.messages.len && j.history.messages.items[i].seq < seq; i++) {
        AUTO(json_free_local)
        struct json *v = shape_to_json(&message_shape, &j.history.messages.items[i]);
        buf_addf(&text, "%s\n", support_keep(json_print(v)));
    }
    return support_keep(buf_take(&text));
}

/* After a rewind the history is what came before the message, as if the rest had not been said.
 */
static void any_rewind(void)
{
    struct event_turns turns;
    assert_ok(event_log_turns(store, id, &turns, &fault), fault);
    size_t compactions = j.history.compaction.in_force.len;
    if (turns.items.len > 0 && maybe(0.6)) {
        size_t at = below(turns.items.len);
        int64_t seq = turns.items.items[at].seq;
        struct event_turn found;
        char *before = messages_before(seq);
        assert_ok(event_log_nth_turn(store, id, (int64_t)at + 1, &found, &fault), fault);
        assert_int_equal(found.seq, seq);
        assert_ok(journal_rewind(&j, seq, &fault), fault);
        assert_int_equal(vec_last(&j.history.rewound), j.info.last_seq);
        assert_true(j.history.messages.len == 0 || vec_last(&j.history.messages).seq < seq);
        if (j.history.compaction.in_force.len == compactions)
            assert_string_equal(messages_before(INT64_MAX), before);
        assert_err(journal_rewind(&j, seq, &fault), fault, ERR_MESSAGE_NOT_SENT);
        assert_int_equal(event_log_nth_turn(store, id, 0, &found, &fault), at > 0);
    } else if (j.history.rewound.len > 0) {
        assert_ok(journal_unrewind(&j, &fault), fault);
    } else {
        assert_err(journal_unrewind(&j, &fault), fault, ERR_NOTHING_TO_UNDO);
    }
    vec_release(&turns.items);
}

static void any_step(void)
{
    size_t luck = below(23);
    if (luck < 9) {
        if (!any_run()) {
            if (maybe(0.5))
                assert_sound();
            restart();
        }
    } else if (luck < 12) {
        any_commit();
    } else if (luck < 14) {
        if (j.history.compaction.in_force.len > 0)
            uncompact();
    } else if (luck < 17) {
        any_pin();
    } else if (luck >= 20) {
        any_rewind();
    } else if (luck < 18) {
        assert_ok(
            !j.stored ||
                store_exec(store, "DELETE FROM snapshot_message; DELETE FROM snapshot", &fault),
            fault);
        j.history.unsaved = 0;
    } else {
        restart();
    }
}

TEST(test_any_session)
{
    entropy_seed(support_seed());
    plain_run("first", "1");
    for (int i = 0; i < (int)suite_sample(130, 400); i++) {
        any_step();
        forget_notices();
        if (maybe(0.4))
            assert_sound();
        if (i % 60 == 59) { /* another session, so that each stays short */
            assert_session_sound(store, id);
            close_journal();
            memset(id, 0, sizeof id);
            open_journal();
            assert_ok(store_exec(store, "DELETE FROM memory", &fault), fault);
            plain_run("first", "1");
        }
    }
    assert_sound();
    assert_session_sound(store, id);
}

/* --- disks that fail, programs that die ------------------------------------------------------- */

static void restore(void)
{
    close_journal();
    unlink(support_text("%s-wal", path));
    unlink(support_text("%s-shm", path));
    damage_copy(pristine, path);
}

/* A session with a compaction, and one more that could be. */
static void make_pristine(void)
{
    for (int i = 0; i < 6; i++)
        plain_run("How big is the harvest?", "It is bigger than the last one was.");
    commit(drop_first(3, "A"));
    plain_run("two", "2");
    close_journal();
    damage_copy(path, pristine);
}

static bool compact_once(void)
{
    struct event *ev = drop_first(5, "B");
    expect_dropped(ev);
    bool ok = journal_compact(&j, ev, &fault) == COMMIT_DONE;
    if (!ok)
        event_free(ev);
    return ok;
}

static bool undo_once(void)
{
    return journal_uncompact(&j, &fault);
}

static bool (*const acts[])(void) = {compact_once, undo_once};

enum { ACTS = sizeof acts / sizeof *acts };

/* The histories before and after an act, and how many entries memory has. */
static struct {
    char *before, *after;
    int64_t rows_before, rows_after;
} known;

static void learn(bool (*act)(void))
{
    restore();
    open_loaded();
    known.before = capture();
    known.rows_before = count_rows("");
    assert_ok(act(), fault);
    known.after = capture();
    known.rows_after = count_rows("");
    assert_string_not_equal(known.before, known.after);
    assert_int_not_equal(known.rows_before, known.rows_after);
    close_journal();
}

/* Whether the operation happened, which it did entirely or not at all. */
static bool assert_before_or_after(void)
{
    open_loaded();
    char *now = capture();
    bool happened = strcmp(now, known.after) == 0;
    if (!happened)
        assert_string_equal(now, known.before);
    assert_int_equal(count_rows(""), happened ? known.rows_after : known.rows_before);
    assert_sound();
    assert_session_sound(store, id);
    plain_run("and on", "it goes");
    assert_sound();
    return happened;
}

/* Acts in a process of its own, which may die of the fault. */
static int act_apart(bool (*act)(void), enum fault_point point, long n)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fault_vfs_install();
        open_loaded();
        if (n > 0)
            fault_vfs_arm(point, FAULT_DEATH, n, false);
        _exit(act() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(test_death_at_every_step)
{
    static const enum fault_point points[] = {FAULT_WRITE, FAULT_SYNC};
    make_pristine();
    for (size_t a = 0; a < ACTS; a++) {
        bool before = false, after = false;
        learn(acts[a]);
        for (size_t i = 0; i < sizeof points / sizeof *points; i++)
            for (long n = 1, status = FAULT_DEATH_STATUS; status == FAULT_DEATH_STATUS; n++) {
                assert_true(n < 500);
                restore();
                status = act_apart(acts[a], points[i], n);
                assert_true(status == FAULT_DEATH_STATUS || status == 0);
                bool happened = assert_before_or_after();
                after = after || happened;
                before = before || !happened;
                assert_true(status != 0 || happened);
            }
        assert_true(before && after);
    }
}

TEST(test_death_in_memory)
{
    make_pristine();
    learn(compact_once);
    for (memory.dies = 1; memory.dies <= 2; memory.dies++) {
        int dies = memory.dies;
        restore();
        assert_int_equal(act_apart(compact_once, FAULT_WRITE, 0), FAULT_DEATH_STATUS);
        memory.dies = 0;
        assert_false(assert_before_or_after());
        memory.dies = dies;
    }
    memory.dies = 0;
}

/* The disk refuses, the program lives. */
static void refuse_everywhere(bool (*act)(void), enum fault_point point, int result)
{
    bool failed = true;
    for (long n = 1; failed; n++) {
        assert_true(n < 500);
        restore();
        open_loaded();
        AUTO(session_info_release) struct session_info row = session_info_clone(&j.info);
        fault_vfs_arm(point, result, n, true);
        failed = !act();
        fault_vfs_disarm();
        assert_string_equal(capture(), failed ? known.before : known.after);
        if (failed)
            assert_int_equal(j.info.last_seq, row.last_seq);
        assert_int_equal(count_rows(""), failed ? known.rows_before : known.rows_after);
        assert_sound();
        plain_run("and on", "it goes");
        assert_sound();
    }
}

TEST(test_a_disk_that_refuses)
{
    make_pristine();
    fault_vfs_install();
    for (size_t a = 0; a < ACTS; a++) {
        learn(acts[a]);
        refuse_everywhere(acts[a], FAULT_WRITE, SQLITE_FULL);
        refuse_everywhere(acts[a], FAULT_SYNC, SQLITE_IOERR_FSYNC);
    }
    close_journal();
    fault_vfs_remove();
}

/* --- size ------------------------------------------------------------------------------------- */

/* Kept messages are moved, not copied, since there may be thousands. */
TEST(test_what_stays_is_moved)
{
    AUTO(history_release) struct history h = {0};
    const char *text = support_text("%0400d", 7);
    history_init(&h);
    for (int i = 0; i < 10000; i++) {
        struct message m = {
            .role = i % 2 ? ROLE_ASSISTANT : ROLE_USER, .seq = i + 1, .turn = i / 2 + 1};
        vec_push(&m.blocks, block_text(text));
        vec_push(&h.estimates, message_estimate_tokens(&m));
        h.estimate += vec_last(&h.estimates);
        vec_push(&h.messages, m);
    }
    h.turns = 5000;
    h.unsaved = h.messages.len;
    const char *kept = h.messages.items[9000].blocks.items[0].text;
    AUTO(rebuild_release)
    struct rebuild r = summary_of(&h.messages.items[0], 5000, 10000, "s");
    AUTO(event_free_local) struct event *ev = compaction_of(&h, &r, "s");
    ev->seq = 20000;
    for (int i = 0; i < 5; i++) {
        struct history_backup b;
        assert_ok(history_compact(&h, ev, &b, &fault), fault);
        assert_int_equal(h.messages.len, 5001);
        assert_ptr_equal(h.messages.items[4001].blocks.items[0].text, kept);
        assert_int_equal(h.unsaved, 0);
        history_revert(&h, &b);
        assert_int_equal(h.messages.len, 10000);
        assert_int_equal(h.unsaved, 10000);
    }
}
