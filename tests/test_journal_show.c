/* Events as notices: a surface that is slower than the model gets fewer and larger deltas, without
 * a gap in their numbers, and nothing is lost. */
#include "chat/event.h"
#include "session/capability.h"
#include "session/journal.h"
#include "session/notice.h"
#include "store/event_log.h"
#include "tests/suite.h"

enum { DELTAS = 20000, MOST = 1000 };

static struct store *store;
static struct mailbox *notices;
static struct journal j;

static void free_notice(void *n)
{
    notice_free(n);
}

static int set_up(void **state)
{
    struct error e = {0};
    if (support_setup(state) != 0)
        return -1;
    bool ok = store_open(support_path("tiro.db"), STORE_READ_WRITE, &store, &e);
    notices = mailbox_new(free_notice);
    journal_init(&j, notices);
    j.store = store;
    journal_begin(&j, "/");
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    journal_release(&j);
    mailbox_free(notices);
    store_close(store);
    return support_teardown(state);
}

static void emit(enum event_type type, const char *text)
{
    struct error e = {0};
    struct event *ev = event_new(type);
    ev->text = text ? mem_strdup(text) : NULL;
    if (!journal_emit(&j, ev, &e))
        fail_msg("%s", e.text);
}

static void emit_many(enum event_type type, const char *text)
{
    for (int i = 0; i < DELTAS; i++)
        emit(type, text);
}

/* Reads all waiting notices, whose numbers rise by one. Returns their number. */
static size_t read_all(int64_t *seq, struct buf *reasoning, struct buf *text)
{
    size_t count = 0;
    for (struct notice *n; (n = mailbox_pop(notices)); notice_free(n), count++) {
        assert_int_equal(n->event->seq, *seq + 1);
        *seq = n->event->seq;
        if (n->event->type == EVENT_REASONING_DELTA)
            buf_addstr(reasoning, n->event->text);
        else if (n->event->type == EVENT_TEXT_DELTA)
            buf_addstr(text, n->event->text);
    }
    return count;
}

NEEDS(capability_store());
FIXTURE(set_up, tear_down);

/* A checkpoint while deltas wait for the surface ends what joined them: no number is kept twice. */
TEST(test_a_slow_surface_meets_checkpoints)
{
    enum { LENGTH = 100 * 1024, PIECES = 10 };
    char *large = support_keep(mem_alloc(LENGTH + 1));
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t seq = 0;
    memset(large, 'x', LENGTH);
    emit(EVENT_TURN_STARTED, "q");
    emit_many(EVENT_TEXT_DELTA, "t");
    for (int i = 0; i < PIECES; i++)
        emit(EVENT_TEXT_DELTA, large);
    emit(EVENT_TURN_FAILED, "no more");
    read_all(&seq, NULL, &text);
    assert_int_equal(text.len, DELTAS + LENGTH * PIECES);
    assert_int_equal(j.info.last_seq, seq);
}

struct kept {
    struct buf text;
    int64_t after, last;
};

static bool add_kept(void *context, const struct event *ev)
{
    struct kept *kept = context;
    AUTO(event_free_local) struct event *rest = event_clone(ev);
    event_pieces_skip(rest, kept->after);
    if (event_is_delta(ev->type))
        buf_addstr(&kept->text, rest->text);
    kept->last = ev->seq;
    return true;
}

/* After any number that a client saw last, the log has the rest. */
TEST(test_the_log_goes_on_behind_any_piece)
{
    enum { SEEN = 40 };
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    int64_t seq = 0;
    size_t ends[SEEN + 1] = {0};
    emit(EVENT_TURN_STARTED, "q");
    for (int i = 2; i <= SEEN; i++)
        emit(EVENT_TEXT_DELTA, support_text("%d ", i));
    emit(EVENT_INTERRUPTED, NULL);
    for (struct notice *n; (n = mailbox_pop(notices)); notice_free(n)) {
        seq = n->event->seq;
        if (n->event->text && seq <= SEEN && seq > 1)
            buf_addstr(&text, n->event->text);
        if (seq <= SEEN)
            ends[seq] = text.len;
    }
    for (int64_t after = 0; after <= SEEN; after++) {
        struct kept kept = {.text = BUF_INIT, .after = after};
        assert_true(event_log_read(store, j.info.id, after, add_kept, &kept, &e));
        assert_string_equal(kept.text.data, text.data + ends[after]);
        assert_int_equal(kept.last, seq);
        buf_release(&kept.text);
    }
}

TEST(test_a_slow_surface_gets_fewer_deltas)
{
    AUTO(buf_release) struct buf text = BUF_INIT, reasoning = BUF_INIT;
    int64_t seq = 0;
    emit(EVENT_TURN_STARTED, "q");
    emit_many(EVENT_REASONING_DELTA, "r");
    emit_many(EVENT_TEXT_DELTA, "t");
    emit(EVENT_TEXT_COMPLETE, "all");
    assert_true(mailbox_count(notices, NULL) < MOST);
    read_all(&seq, &reasoning, &text);
    assert_int_equal(reasoning.len, DELTAS);
    assert_int_equal(text.len, DELTAS);
    assert_int_equal(j.info.last_seq, seq);
}

/* A surface that catches up gets all waiting text with the next delta, and then each delta at
 * once. */
TEST(test_a_surface_that_caught_up)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t seq = 0;
    emit(EVENT_TURN_STARTED, "q");
    emit_many(EVENT_TEXT_DELTA, "t");
    read_all(&seq, NULL, &text);
    assert_true(text.len < DELTAS);
    emit(EVENT_TEXT_DELTA, "!");
    assert_int_equal(read_all(&seq, NULL, &text), 1);
    assert_int_equal(text.len, DELTAS + 1);
    emit(EVENT_TEXT_DELTA, "?");
    emit(EVENT_TEXT_DELTA, "?");
    assert_int_equal(read_all(&seq, NULL, &text), 2);
}

/* The number of the next event after the session is opened by another process, whose row of the
 * session tells of no event that there is not. */
static int64_t number_after_opening(void)
{
    struct error e = {0};
    AUTO(event_list_release) struct event_list tail = {0};
    bool more;
    struct journal other;
    journal_init(&other, notices);
    other.store = store;
    if (!journal_open(&other, j.info.id, JOURNAL_RESUME, &tail, &more, &e))
        fail_msg("%s", e.text);
    AUTO(event_free_local) struct event *next = event_new(EVENT_TURN_STARTED);
    journal_stamp(&other, next);
    int64_t number = next->seq, last = 0;
    if (!journal_save_info(&other, &e) || !event_log_last(store, j.info.id, &last, &e))
        fail_msg("%s", e.text);
    assert_true(other.info.last_seq <= last);
    journal_release(&other);
    return number;
}

/* A killed process told pieces of an answer that the log lacks. */
TEST(test_numbers_that_were_told_are_not_given_again)
{
    emit(EVENT_TURN_STARTED, "q");
    emit_many(EVENT_TEXT_DELTA, "t");
    assert_true(number_after_opening() > j.info.last_seq);
    emit(EVENT_TURN_FAILED, "no more");
    assert_int_equal(number_after_opening(), j.info.last_seq + 1);
    emit(EVENT_COMPACTION_STARTED, NULL);
    emit_many(EVENT_COMPACTION_DELTA, "s");
    assert_true(number_after_opening() > j.info.last_seq);
}
