/* The messages of a session, by numbers alone: the result of folding its events without
 * compactions. */
#include "base/entropy.h"
#include "chat/event.h"
#include "chat/history.h"
#include "store/event_log.h"
#include "store/sql.h"
#include "tests/kept.h"
#include "tests/record.h"
#include "tests/suite.h"

/* Two folds of the same events. */
struct folds {
    struct history history;
    struct log_messages messages;
};

static void assert_same(const struct folds *f)
{
    assert_int_equal(f->messages.items.len, f->history.messages.len);
    for (size_t i = 0; i < f->history.messages.len; i++) {
        const struct message *m = &f->history.messages.items[i];
        const struct log_message *l = &f->messages.items.items[i];
        assert_int_equal(l->seq, m->seq);
        assert_int_equal(l->turn, m->turn);
        assert_int_equal(l->role, m->role);
    }
    assert_int_equal(f->messages.turn_seq, f->history.turn_seq);
    assert_int_equal(f->messages.turns, f->history.turns);
}

static bool note_compaction(void *history, const struct event *ev)
{
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        history_pass_over(history, &ev->seq, 1);
    return true;
}

static bool fold_both(void *folds, const struct event *ev)
{
    struct folds *f = folds;
    bool text = ev->text && *ev->text;
    bool proof = ev->type == EVENT_REASONING_COMPLETE && ev->signature && *ev->signature;
    const struct log_event row = {.seq = ev->seq,
                                  .type = ev->type,
                                  .retries = ev->type == EVENT_TURN_STARTED ? ev->number : 0,
                                  .is_empty = !text && !proof,
                                  .between_turns = event_between_turns(ev)};
    history_apply(&f->history, ev);
    log_messages_apply(&f->messages, &row);
    assert_same(f);
    return true;
}

static void check_log(const char *id)
{
    struct folds f = {0};
    AUTO(log_messages_release) struct log_messages read = {0};
    history_init(&f.history);
    assert_ok(event_log_read(store, id, 0, note_compaction, &f.history, &e), e);
    assert_ok(event_log_read(store, id, 0, fold_both, &f, &e), e);
    assert_ok(event_log_messages(store, id, &read, &e), e);
    const struct log_messages *b = &f.messages;
    assert_int_equal(read.items.len, b->items.len);
    for (size_t i = 0; i < read.items.len; i++) {
        assert_int_equal(read.items.items[i].seq, b->items.items[i].seq);
        assert_int_equal(read.items.items[i].turn, b->items.items[i].turn);
        assert_int_equal(read.items.items[i].role, b->items.items[i].role);
        assert_int_equal(read.items.items[i].says, b->items.items[i].says);
        assert_true(log_messages_have(&read, read.items.items[i].seq));
    }
    assert_int_equal(read.turn_seq, b->turn_seq);
    int64_t open = f.history.turn_seq;
    assert_int_equal(history_drop_open_turn(&f.history), open > 0);
    assert_int_equal(log_messages_drop_open_turn(&f.messages), open);
    assert_same(&f);
    log_messages_release(&f.messages);
    history_release(&f.history);
}

FIXTURE(kept_setup, kept_teardown);

TEST(any_log_has_the_messages_of_its_fold)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 60; i++) {
        AUTO(record_release) struct record r = {0};
        record_begin(&r, store);
        for (size_t runs = 1 + (size_t)(entropy_unit() * 8); runs > 0; runs--)
            record_random_run(&r);
        check_log(r.info.id);
    }
}

/* The order of events in imports. */
TEST(answers_without_the_beginning_of_a_call)
{
    AUTO(record_release) struct record r = {0};
    record_begin(&r, store);
    record_add(&r, EVENT_TURN_STARTED, "What is in it?");
    record_add(&r, EVENT_TOOL_CALL_REQUESTED, "{}");
    record_add(&r, EVENT_TOOL_EXECUTION_COMPLETED, "A list.");
    record_add(&r, EVENT_TEXT_COMPLETE, "A list.");
    record_add(&r, EVENT_TURN_COMPLETED, "A list.");
    check_log(r.info.id);
}

TEST(a_damaged_payload_says_nothing)
{
    AUTO(record_release) struct record r = {0};
    AUTO(log_messages_release) struct log_messages read = {0};
    record_begin(&r, store);
    record_run(&r, "One?", "One.");
    assert_ok(store_exec(store, "UPDATE event SET payload = '{' WHERE type = 'run_started'", &e),
              e);
    assert_ok(event_log_messages(store, r.info.id, &read, &e), e);
    assert_int_equal(read.items.len, 2);
}
