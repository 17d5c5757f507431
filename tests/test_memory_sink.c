/* What compactions drop goes into semantic memory, and what does not; a database that refuses it
 * keeps the history; undoing takes it back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/memory.h"
#include "session/journal.h"
#include "session/memory_sink.h"
#include "session/notice.h"
#include "store/sql.h"
#include "tests/any_compaction.h"
#include "tests/damage.h"
#include "tests/memory_store.h"
#include "tests/suite.h"
#include "tests/support.h"

static char *path;
static struct config *config;
static struct store *store;
static struct memory *memory;
static struct memory_sink sink;
static struct mailbox *notices;
static struct journal j;
static struct error e;

static void free_notice(void *n)
{
    notice_free(n);
}

static int setup(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    config = config_new();
    memory_check(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    memory = memory_open(store, NULL);
    memory_sink_init(&sink, memory, config);
    notices = mailbox_new(free_notice);
    journal_init(&j, notices);
    j.store = store;
    j.directory = support_dir();
    j.sink = &sink.sink;
    journal_begin(&j, "/d");
    return 0;
}

static int teardown(void **state)
{
    journal_release(&j);
    mailbox_free(notices);
    memory_close(memory);
    store_close(store);
    config_free(config);
    return support_teardown(state);
}

static void emit(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    memory_check(journal_emit(&j, ev, &e), &e);
}

static void turn(const char *question, const char *answer)
{
    emit(EVENT_TURN_STARTED, question);
    emit(EVENT_CALL_STARTED, NULL);
    emit(EVENT_TEXT_COMPLETE, answer);
    emit(EVENT_CALL_COMPLETED, NULL);
    emit(EVENT_TURN_COMPLETED, answer);
}

static void turn_with_tool(const char *question, const char *answer)
{
    emit(EVENT_TURN_STARTED, question);
    emit(EVENT_CALL_STARTED, NULL);
    emit(EVENT_TOOL_CALL_REQUESTED, "{}");
    emit(EVENT_CALL_COMPLETED, NULL);
    emit(EVENT_TOOL_EXECUTION_COMPLETED, "contents of the file");
    emit(EVENT_CALL_STARTED, NULL);
    emit(EVENT_TEXT_COMPLETE, answer);
    emit(EVENT_CALL_COMPLETED, NULL);
    emit(EVENT_TURN_COMPLETED, answer);
}

/* Keeps all but the first messages. */
static enum commit_result compact(size_t gone)
{
    struct rebuild r = {0};
    const struct message *first = &j.history.messages.items[0];
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text("the summary"));
    rebuild_make(&r, m);
    rebuild_keep(&r, gone, j.history.messages.len - gone);
    struct event *ev = compaction_of(&j.history, &r, "the summary");
    rebuild_release(&r);
    emit(EVENT_COMPACTION_STARTED, NULL);
    enum commit_result result = journal_compact(&j, ev, &e);
    if (result != COMMIT_DONE)
        event_free(ev);
    return result;
}

static void expect_contents(const char *wanted)
{
    assert_string_equal(support_keep(memory_contents(memory, NULL)), wanted);
}

static bool note_entry(void *context, const struct memory_entry *entry)
{
    struct memory_entries *list = context;
    vec_push(&list->items, memory_entry_clone(entry));
    return true;
}

static struct memory_entries entries(void)
{
    struct memory_entries list = {0};
    memory_check(memory->ops->each(memory, note_entry, &list, &e), &e);
    return list;
}

FIXTURE(setup, teardown);

TEST(what_is_dropped_is_kept)
{
    turn("  one? ", "1 ");
    turn("two?", "2");
    turn("three?", "3");
    assert_int_equal(damage_sql(path, "UPDATE event SET at = 1000 + seq RETURNING 1"), 1);
    int64_t seq = j.history.messages.items[2].seq;
    assert_int_equal(compact(4), COMMIT_DONE);
    struct memory_entries list = entries();
    assert_int_equal(list.items.len, 4);
    const struct memory_entry *third = &list.items.items[2];
    assert_string_equal(third->session_id, j.info.id);
    assert_string_equal(third->content, "two?");
    assert_int_equal(third->turn, 2);
    assert_int_equal(third->seq, seq);
    assert_int_equal(third->created_ms, 1000 + seq);
    assert_int_equal(third->role, ROLE_USER);
    assert_null(third->speaker);
    assert_int_equal(list.items.items[1].role, ROLE_ASSISTANT);
    assert_int_equal(list.items.items[1].turn, 1);
    memory_entries_release(&list);
    expect_contents("one?\n1\ntwo?\n2\n");
    turn("four?", "4");
    assert_int_equal(compact(3), COMMIT_DONE); /* the summary is not taken */
    expect_contents("one?\n1\ntwo?\n2\nthree?\n3\n");
}

TEST(tool_results_only_where_it_is_set)
{
    turn_with_tool("read it", "I have");
    turn("more", "yes, more");
    assert_int_equal(compact(4), COMMIT_DONE);
    expect_contents("read it\nI have\n");
    assert_true(config_set(config, CONFIG_MEMORY_TOOL_RESULTS, "true", &e));
    memory_sink_init(&sink, memory, config);
    turn_with_tool("read another", "I have that");
    turn("and more", "enough");
    assert_int_equal(compact(7), COMMIT_DONE);
    expect_contents(
        "read it\nI have\nmore\nyes, more\nread another\ncontents of the file\n"
        "I have that\n");
}

/* A result that an earlier compaction cut short is remembered as the tool gave it. */
TEST(shortened_results_are_kept_whole)
{
    assert_true(config_set(config, CONFIG_MEMORY_TOOL_RESULTS, "true", &e));
    memory_sink_init(&sink, memory, config);
    turn_with_tool("read it", "I have");
    turn("more", "yes, more");
    struct block *result = &j.history.messages.items[2].blocks.items[0];
    assert_int_equal(result->type, BLOCK_TOOL_RESULT);
    free(result->text);
    result->text = mem_strdup("[tool result of 20 bytes left out]");
    assert_int_equal(compact(4), COMMIT_DONE);
    expect_contents("read it\ncontents of the file\nI have\n");
}

TEST(a_message_without_a_time_is_of_now)
{
    int entries_indexed;
    struct message m = {.role = ROLE_USER};
    vec_push(&m.blocks, block_text("said somewhere"));
    const struct message *messages[] = {&m};
    const struct discard d = {
        .session_id = "elsewhere", .completed_seq = 5, .messages = messages, .count = 1};
    memory_check(sink.sink.index(sink.sink.context, store, &d, &entries_indexed, &e), &e);
    assert_int_equal(entries_indexed, 1);
    struct memory_entries list = entries();
    assert_true(list.items.items[0].created_ms > 1500000000000);
    memory_entries_release(&list);
    message_release(&m);
}

/* The database refuses the second entry. */
TEST(a_refusal_keeps_the_history)
{
    turn("one?", "1");
    turn("two?", "2");
    memory_check(store_exec(store,
                            "CREATE TRIGGER refuse BEFORE INSERT ON memory_entry"
                            " WHEN NEW.content = '1' BEGIN SELECT raise(ABORT, 'full'); END",
                            &e),
                 &e);
    assert_int_equal(compact(2), COMMIT_REFUSED_BY_MEMORY);
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_int_equal(j.history.messages.len, 4);
    expect_contents("");
    assert_int_equal(damage_sql(path,
                                "SELECT count(*) FROM event"
                                " WHERE type = 'compaction_completed'"),
                     0);
    assert_int_equal(damage_sql(path, "SELECT count(*) FROM memory_session"), 0);
    memory_check(store_exec(store, "DROP TRIGGER refuse", &e), &e);
    assert_int_equal(compact(2), COMMIT_DONE);
    expect_contents("one?\n1\n");
}

TEST(undoing_takes_it_back)
{
    turn("one?", "1");
    turn("two?", "2");
    turn("three?", "3");
    assert_int_equal(compact(2), COMMIT_DONE);
    assert_int_equal(compact(3), COMMIT_DONE);
    expect_contents("one?\n1\ntwo?\n2\n");
    memory_check(journal_uncompact(&j, &e), &e);
    expect_contents("one?\n1\n");
    assert_int_equal(compact(3), COMMIT_DONE);
    expect_contents("one?\n1\ntwo?\n2\n");
}
