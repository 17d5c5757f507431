/* Compactions hand the dropped messages to semantic memory, with exceptions; a database that
 * refuses them leaves the history unchanged; undoing removes them from memory. */
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/journal.h"
#include "session/memory_sink.h"
#include "session/notice.h"
#include "store/sql.h"
#include "tests/any_compaction.h"
#include "tests/damage.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

#define path lore_path
#define memory lore_memory
#define e lore_error

static struct config *config;
static struct memory_sink sink;
static struct mailbox *notices;
static struct journal j;

static void free_notice(void *n)
{
    notice_free(n);
}

static int setup(void **state)
{
    lore_setup(state);
    config = config_new();
    memory_sink_init(&sink, memory, config);
    notices = mailbox_new(free_notice);
    journal_init(&j, notices);
    j.store = lore_store;
    j.directory = support_dir();
    j.sink = &sink.sink;
    journal_begin(&j, "/d");
    return 0;
}

static int teardown(void **state)
{
    journal_release(&j);
    mailbox_free(notices);
    config_free(config);
    return lore_teardown(state);
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

/* A turn, with a call of a tool and its result. */
static void turn_with(const char *question, const char *result, const char *answer)
{
    emit(EVENT_TURN_STARTED, question);
    if (result) {
        emit(EVENT_CALL_STARTED, NULL);
        emit(EVENT_TOOL_CALL_REQUESTED, "{}");
        emit(EVENT_CALL_COMPLETED, NULL);
        emit(EVENT_TOOL_EXECUTION_COMPLETED, result);
    }
    emit(EVENT_CALL_STARTED, NULL);
    emit(EVENT_TEXT_COMPLETE, answer);
    emit(EVENT_CALL_COMPLETED, NULL);
    emit(EVENT_TURN_COMPLETED, answer);
}

static void turn(const char *question, const char *answer)
{
    turn_with(question, NULL, answer);
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

static void let(enum memory_access access)
{
    memory_check(learned_access_write(lore_store, j.info.id, access, &e), &e);
    sink.closed = access != MEMORY_ACCESS_WRITE;
}

static void expect_contents(const char *wanted)
{
    assert_string_equal(support_keep(memory_contents(memory, NULL)), wanted);
}

static bool note_entry(void *context, const struct memory_entry *entry)
{
    struct memory_entries *list = context;
    struct memory_entry copy = *entry;
    shape_copy(&memory_entry_shape, &copy, entry);
    copy.id = mem_strdup(entry->id);
    vec_push(&list->items, copy);
    return true;
}

static struct memory_entries entries(void)
{
    struct memory_entries list = {0};
    lore_do(each, note_entry, &list);
    return list;
}

/* --- large amounts ---------------------------------------------------------------------------- */

enum { MANY_TURNS = 700 };

static void many_turns(int count)
{
    for (int i = 0; i < count; i++)
        turn(support_text("question %d", i), support_text("answer %d", i));
}

static int64_t deferred(void)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    lore_do(stats, &stats);
    return stats.deferred;
}

static bool work(void)
{
    bool more;
    memory_check(memory_sink_work(&sink, lore_store, &more, &e), &e);
    return more;
}

/* Checks the entries from this one on, in the order of the conversation. */
static void expect_talk(size_t from, size_t to)
{
    AUTO(memory_entries_release) struct memory_entries list = entries();
    assert_int_equal(list.items.len, to);
    for (size_t i = from; i < to; i++) {
        const struct memory_entry *entry = &list.items.items[i];
        assert_string_equal(entry->content,
                            support_text("%s %zu", i % 2 ? "answer" : "question", i / 2));
        assert_int_equal(entry->turn, i / 2 + 1);
        assert_int_equal(entry->role, i % 2 ? ROLE_ASSISTANT : ROLE_USER);
        assert_true(entry->seq > 0 && entry->created_ms > 1500000000000);
    }
}

/* The database refuses an entry with this content. */
static void refuse(const char *content)
{
    lore_run(
        support_text("CREATE TRIGGER refuse BEFORE INSERT ON memory_entry WHEN NEW.content ="
                     " '%s' BEGIN SELECT raise(ABORT, 'full'); END",
                     content));
}

/* Everything that waits is indexed. */
static void work_all(void)
{
    while (work())
        ;
    assert_int_equal(deferred(), 0);
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
    AUTO(memory_entries_release) struct memory_entries list = entries();
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
    expect_contents("one?\n1\ntwo?\n2\n");
    turn("four?", "4");
    assert_int_equal(compact(3), COMMIT_DONE); /* the summary is not taken */
    expect_contents("one?\n1\ntwo?\n2\nthree?\n3\n");
}

TEST(what_was_said_while_memory_was_not_written_stays_out)
{
    turn("one?", "1");
    let(MEMORY_ACCESS_OFF);
    turn("two?", "2");
    let(MEMORY_ACCESS_READ);
    turn("three?", "3");
    let(MEMORY_ACCESS_WRITE);
    turn("four?", "4");
    turn("five?", "5");
    assert_int_equal(compact(8), COMMIT_DONE);
    expect_contents("one?\n1\nfour?\n4\n");
    work_all();
    expect_contents("one?\n1\nfour?\n4\n");
}

TEST(tool_results_only_where_it_is_set)
{
    turn_with("read it", "contents of the file", "I have");
    turn("more", "yes, more");
    assert_int_equal(compact(4), COMMIT_DONE);
    expect_contents("read it\nI have\n");
    assert_true(config_set(config, CONFIG_MEMORY_TOOL_RESULTS, "true", &e));
    memory_sink_init(&sink, memory, config);
    turn_with("read another", "contents of the file", "I have that");
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
    turn_with("read it", "contents of the file", "I have");
    turn("more", "yes, more");
    struct block *result = &j.history.messages.items[2].blocks.items[0];
    assert_int_equal(result->type, BLOCK_TOOL_RESULT);
    free(result->text);
    result->text = mem_strdup("[tool result of 20 bytes left out]");
    assert_int_equal(compact(4), COMMIT_DONE);
    expect_contents("read it\ncontents of the file\nI have\n");
}

TEST(what_the_log_does_not_have_is_no_entry)
{
    turn("one?", "1");
    turn("two?", "2");
    char *sql = support_text("DELETE FROM event WHERE seq = %lld RETURNING 1",
                             (long long)j.history.messages.items[0].seq);
    assert_int_equal(damage_sql(path, sql), 1);
    assert_int_equal(compact(2), COMMIT_DONE);
    expect_contents("1\n");
}

/* The database refuses the second entry. */
TEST(a_refusal_keeps_the_history)
{
    turn("one?", "1");
    turn("two?", "2");
    refuse("1");
    assert_int_equal(compact(2), COMMIT_REFUSED_BY_MEMORY);
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_int_equal(j.history.messages.len, 4);
    expect_contents("");
    assert_int_equal(lore_number("SELECT count(*) FROM event"
                                 " WHERE type = 'compaction_completed'"),
                     0);
    assert_int_equal(lore_number("SELECT count(*) FROM memory_session"), 0);
    lore_run("DROP TRIGGER refuse");
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

TEST(much_is_indexed_later_and_in_order)
{
    many_turns(MANY_TURNS);
    assert_int_equal(compact(1300), COMMIT_DONE);
    assert_int_equal(memory_total(memory), 500);
    assert_int_equal(deferred(), 800);
    work_all();
    expect_talk(0, 1300);
    assert_int_equal(lore_number("SELECT count(DISTINCT compaction) FROM memory_entry"), 1);
}

TEST(a_later_compaction_comes_behind_what_waits)
{
    many_turns(MANY_TURNS);
    assert_int_equal(compact(1300), COMMIT_DONE);
    assert_true(work());
    assert_int_equal(memory_total(memory), 500 + 500);
    assert_int_equal(compact(51), COMMIT_DONE); /* the summary goes, too */
    assert_int_equal(memory_total(memory), 500 + 500);
    assert_int_equal(deferred(), 300 + 50);
    work_all();
    expect_talk(0, 1350);
}

TEST(undoing_takes_what_waits_back)
{
    many_turns(MANY_TURNS);
    assert_int_equal(compact(1300), COMMIT_DONE);
    assert_true(work());
    memory_check(journal_uncompact(&j, &e), &e);
    assert_int_equal(deferred(), 0);
    assert_int_equal(memory_total(memory), 0);
    assert_false(work());
}

TEST(a_deleted_session_has_nothing_that_waits)
{
    many_turns(MANY_TURNS / 2);
    assert_int_equal(compact(650), COMMIT_DONE);
    lore_do(forget_session, j.info.id);
    assert_int_equal(deferred(), 0);
    assert_false(work());
    assert_int_equal(memory_total(memory), 0);
}

/* The texts are so large that few fill the transaction. */
TEST(few_large_messages_are_much)
{
    char *large = support_keep(mem_alloc(600 * 1024 + 1));
    memset(large, 'x', 600 * 1024);
    for (int i = 0; i < 4; i++)
        turn(support_text("%d %s", i, large), "ok");
    assert_int_equal(compact(6), COMMIT_DONE);
    assert_int_equal(deferred(), 3); /* the second question filled it */
    work_all();
    assert_int_equal(memory_total(memory), 4); /* "ok" once */
}

TEST(what_fails_later_waits_on)
{
    many_turns(MANY_TURNS / 2);
    assert_int_equal(compact(600), COMMIT_DONE);
    refuse("answer 299");
    bool more;
    assert_false(memory_sink_work(&sink, lore_store, &more, &e));
    assert_int_equal(e.code, ERR_SESSION_STORE_ERROR);
    assert_int_equal(deferred(), 100);
    assert_int_equal(memory_total(memory), 500);
    lore_run("DROP TRIGGER refuse");
    work_all();
    expect_talk(0, 600);
}
