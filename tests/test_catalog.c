/* Operations on kept sessions from outside a conversation. */
#include <sys/stat.h>
#include <unistd.h>

#include "chat/history.h"
#include "config/config.h"
#include "index/transcripts.h"
#include "session/capability.h"
#include "session/catalog.h"
#include "session/lock.h"
#include "session/operation.h"
#include "session/projection.h"
#include "session/session_operations.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "tests/any_compaction.h"
#include "tests/damage.h"
#include "tests/kept.h"
#include "tests/record.h"
#include "tests/suite.h"

static struct record record; /* a session of two runs */

static int set_up(void **state)
{
    if (kept_setup(state) != 0)
        return -1;
    record_begin(&record, catalog.store);
    record_run(&record, "What is a monad?", "A burrito.");
    record_run(&record, "Really?", "No.");
    return 0;
}

static int tear_down(void **state)
{
    record_release(&record);
    return kept_teardown(state);
}

static bool exists(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0;
}

static struct session_info find(const char *id)
{
    struct session_info info;
    assert_ok(catalog_find(&catalog, id, &info, &e), e);
    return info;
}

static bool ignore(void *context, const struct event *ev)
{
    (void)ev;
    ++*(int *)context;
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void need_store(void)
{
    if (!capability_store())
        skip();
}

static void check_empty(struct catalog *c)
{
    struct session_list list;
    struct session_filter filter = {0};
    struct session_info info;
    struct search_hits hits;
    int64_t total = 7;
    bool more = true;
    int count = 0;
    assert_true(catalog_list(c, &filter, &list, &total, &e));
    assert_int_equal(list.items.len, 0);
    assert_int_equal(total, 0);
    assert_true(catalog_search(c, "word", NULL, 5, &hits, &more, &e));
    assert_int_equal(hits.items.len, 0);
    assert_false(more);
    assert_err(catalog_find(c, "last", &info, &e), e, ERR_SESSION_NOT_FOUND);
    assert_err(catalog_read(c, "last", 0, NULL, ignore, &count, &e), e, ERR_SESSION_NOT_FOUND);
    assert_err(catalog_delete(c, "last", NULL, &e), e, ERR_SESSION_NOT_FOUND);
    assert_err(catalog_fork(c, "last", 0, &info, &e), e, ERR_SESSION_NOT_FOUND);
}

FIXTURE(set_up, tear_down);

TEST(test_where_nothing_is_kept)
{
    need_store();
    struct catalog c;
    char *nothing = support_path("nowhere/tiro.db");
    char *folder = support_path("nowhere");
    assert_true(catalog_open(&c, nothing, CATALOG_READ, &e));
    check_empty(&c);
    catalog_release(&c);
    assert_false(exists(folder)); /* looking makes nothing */
    char *empty = support_path("empty.db");
    support_write(empty, "");
    assert_true(catalog_open(&c, empty, CATALOG_READ, &e));
    check_empty(&c);
    catalog_release(&c);
    assert_true(catalog_open(&c, nothing, CATALOG_WRITE, &e));
    catalog_release(&c);
    assert_true(exists(nothing));
}

TEST(test_faults_of_the_store_come_through)
{
    need_store();
    struct catalog c;
    char *file = support_path("letter");
    char *below = support_path("letter/tiro.db");
    support_write(file, "Dear reader, this is no database, but it is long enough to be one.\n");
    static const enum catalog_access accesses[] = {CATALOG_READ, CATALOG_WRITE};
    for (size_t i = 0; i < 2; i++) {
        assert_err(catalog_open(&c, file, accesses[i], &e), e, ERR_SESSION_STORE_ERROR);
        assert_err(catalog_open(&c, below, accesses[i], &e), e, ERR_SESSION_STORE_ERROR);
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

static size_t found_burritos(const char *session)
{
    AUTO(search_hits_release) struct search_hits hits = {0};
    bool more;
    assert_true(catalog_search(&catalog, "burrito", session, 5, &hits, &more, &e));
    return hits.items.len;
}

TEST(test_read)
{
    struct session_info info;
    struct search_hits hits;
    bool more;
    int count = 0;
    assert_true(catalog_read(&catalog, "last", 0, &info, ignore, &count, &e));
    assert_string_equal(info.id, record.info.id);
    assert_string_equal(info.title, "What is a monad?");
    assert_int_equal(count, 10);
    session_info_release(&info);
    count = 0;
    assert_true(catalog_read(&catalog, record.info.id, 7, NULL, ignore, &count, &e));
    assert_int_equal(count, 3);
    assert_int_equal(found_burritos(NULL), 1);
    assert_int_equal(found_burritos("what is a monad?"), 1);
    assert_err(catalog_search(&catalog, "burrito", "who", 5, &hits, &more, &e), e,
               ERR_SESSION_NOT_FOUND);
}

/* A crash, or a turn that runs: the log is ahead of the row. */
TEST(test_what_the_row_does_not_know_yet)
{
    record_add(&record, EVENT_TURN_STARTED, "More?");
    record_add(&record, EVENT_TEXT_COMPLETE, "Much more.");
    AUTO(session_info_release) struct session_info info = find("last");
    assert_int_equal(info.turns, 3);
    assert_int_equal(info.messages, 6);
    assert_int_equal(info.last_seq, 12);
    assert_string_equal(info.last_line, "Much more.");
}

/* --- changing --------------------------------------------------------------------------------- */

static void rename_to(const char *title, const char *wanted, bool by_hand)
{
    char id[UUID_LEN + 1];
    assert_ok(catalog_rename(&catalog, record.info.id, title, id, &e), e);
    assert_string_equal(id, record.info.id);
    AUTO(session_info_release) struct session_info info = find(id);
    assert_string_equal(info.title, wanted);
    assert_int_equal(info.title_set, by_hand);
    assert_int_equal(info.updated_ms, record.info.updated_ms); /* its place in lists stays */
}

TEST(test_rename)
{
    rename_to("  Food \n and more", "Food", true);
    rename_to("\x1b[31mred\x1b[0m", "␛[31mred␛[0m", true);
    rename_to("", "What is a monad?", false);
    rename_to("Food", "Food", true);
    rename_to(" \n\t", "What is a monad?", false);
    damage_sql(path, "UPDATE event SET payload = '{\"prompt\":\" \"}' WHERE seq = 1");
    rename_to("", "Really?", false); /* the first with a text */
    assert_true(catalog_rename(&catalog, "last", "x", NULL, &e));
    AUTO(record_release) struct record draft = {0};
    record_begin(&draft, catalog.store);
    assert_true(catalog_rename(&catalog, draft.info.id, "", NULL, &e));
    AUTO(session_info_release) struct session_info info = find(draft.info.id);
    assert_string_equal(info.title, "");
}

static void labels_are(const char *labels)
{
    AUTO(session_info_release) struct session_info info = find("last");
    assert_string_equal(info.labels, labels);
}

TEST(test_label)
{
    assert_true(catalog_label(&catalog, "last", "work urgent", NULL, &e));
    assert_true(catalog_label(&catalog, "last", "-urgent +food", NULL, &e));
    labels_are("food work");
    assert_err(catalog_label(&catalog, "last", "good b\001d", NULL, &e), e, ERR_USAGE);
    labels_are("food work");
    assert_true(catalog_label(&catalog, "last", "trip, law,-work", NULL, &e));
    labels_are("food law trip");
}

static int64_t archived_ms(void)
{
    AUTO(session_info_release) struct session_info info = find("last");
    return info.archived_ms;
}

TEST(test_archive)
{
    AUTO(history_release) struct history h = {0};
    history_init(&h);
    assert_true(snapshot_save(catalog.store, record.info.id, &h, &e));
    assert_true(catalog_archive(&catalog, "last", true, NULL, &e));
    assert_true(archived_ms() > 0);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM snapshot"), 1); /* is kept */
    damage_sql(path, "UPDATE session SET archived_ms = 5");
    assert_true(catalog_archive(&catalog, "last", true, NULL, &e));
    assert_int_equal(archived_ms(), 5); /* it was then that it was archived */
    assert_true(catalog_archive(&catalog, "last", false, NULL, &e));
    assert_int_equal(archived_ms(), 0);
    assert_true(catalog_archive(&catalog, "last", false, NULL, &e));
}

TEST(test_delete)
{
    AUTO(record_release) struct record other = {0};
    char id[UUID_LEN + 1];
    record_begin(&other, catalog.store);
    record_run(&other, "Stay!", "Yes.");
    assert_true(projection_write(&catalog, record.info.id, false, &e));
    char *files = support_keep(projection_directory(&catalog, record.info.id));
    char *lock = support_text("%s/locks/%s.lock", catalog.directory, record.info.id);
    assert_true(exists(files));
    assert_ok(catalog_delete(&catalog, record.info.id, id, &e), e);
    assert_string_equal(id, record.info.id);
    assert_false(exists(files));
    assert_false(exists(lock));
    assert_int_equal(damage_number(path, "SELECT count(*) FROM session"), 1);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM event"), 5);
    assert_err(catalog_delete(&catalog, record.info.id, id, &e), e, ERR_SESSION_NOT_FOUND);
}

/* The deleted text is neither in a row nor, without its first letters, a word of the index. */
TEST(test_what_is_deleted_is_gone_from_the_disk)
{
    AUTO(record_release) struct record other = {0};
    record_begin(&other, catalog.store);
    record_run(&other, "Where is the zqxjkvwombat?", "Gone.");
    store_settle(store);
    assert_true(damage_on_disk(path, "xjkvwomb"));
    assert_true(catalog_delete(&catalog, other.info.id, NULL, &e));
    assert_false(damage_on_disk(path, "xjkvwomb"));
}

/* A kill came before the words were purged; the next writer purges them. */
TEST_IF(capability_store(), test_a_deletion_that_was_cut_off_is_brought_to_its_end)
{
    AUTO(record_release) struct record other = {0};
    struct operation_context context;
    AUTO(config_free_local) struct config *config = config_new();
    record_begin(&other, catalog.store);
    record_run(&other, "Where is the zqxjkvwombat?", "Gone.");
    assert_true(transcripts_delete(catalog.store, other.info.id, &e));
    store_settle(store);
    assert_true(damage_on_disk(path, "xjkvwomb"));
    assert_true(operation_open(&context, &operation_session_delete, config, path, NULL, &e));
    operation_close(&context);
    assert_false(damage_on_disk(path, "xjkvwomb"));
}

/* Foreign files are kept and named. */
TEST(test_delete_beside_other_files)
{
    assert_true(projection_write(&catalog, record.info.id, false, &e));
    char *files = support_keep(projection_directory(&catalog, record.info.id));
    char *notes = support_text("%s/notes.txt", files);
    char *transcript = support_text("%s/transcript.md", files);
    support_write(notes, "mine");
    assert_error(catalog_delete(&catalog, record.info.id, NULL, &e), e, ERR_FILE_ERROR,
                 "is deleted, but");
    assert_true(exists(notes));
    assert_false(exists(transcript));
    assert_int_equal(damage_number(path, "SELECT count(*) FROM session"), 0);
}

enum { RENAME, LABEL, ARCHIVE, DELETE, CHANGES };

static bool change(int what)
{
    switch (what) {
    case RENAME:
        return catalog_rename(&catalog, "last", "x", NULL, &e);
    case LABEL:
        return catalog_label(&catalog, "last", "x", NULL, &e);
    case ARCHIVE:
        return catalog_archive(&catalog, "last", true, NULL, &e);
    default:
        return catalog_delete(&catalog, "last", NULL, &e);
    }
}

TEST(test_locks)
{
    int lock, count = 0;
    assert_true(lock_take(catalog.directory, record.info.id, &lock, &e));
    for (int i = 0; i < CHANGES; i++) {
        assert_error(change(i), e, ERR_SESSION_BUSY, record.info.id + UUID_LEN - 8);
    }
    struct session_info info = find("last");
    assert_string_equal(info.title, "What is a monad?");
    session_info_release(&info);
    assert_true(catalog_read(&catalog, "last", 0, NULL, ignore, &count, &e));

    struct catalog own = catalog;
    catalog_borrow(&catalog, own.store, own.directory, record.info.id); /* we have it ourselves */
    for (int i = 0; i < CHANGES; i++)
        assert_true(change(i));
    catalog_release(&catalog);
    catalog = own;
    lock_drop(&lock);
}

TEST(test_locks_are_given_back)
{
    int lock;
    for (int i = 0; i < DELETE; i++) {
        assert_true(change(i));
        assert_true(lock_take(catalog.directory, record.info.id, &lock, &e));
        lock_drop(&lock);
    }
    assert_false(catalog_label(&catalog, "last", "b\001d", NULL, &e));
    assert_true(lock_take(catalog.directory, record.info.id, &lock, &e));
    lock_drop(&lock);
}

/* The lock file of a session that never came to be goes; one that is held stays, and so do those of
 * sessions that there are and files of other names. */
TEST(test_abandoned_locks_are_swept)
{
    static const char abandoned[] = "01890a5d-ac96-774b-bcce-b302099a8057",
                      held[] = "01890a5d-ac96-774b-bcce-b302099a8058";
    int own, other, lock;
    assert_true(lock_take(catalog.directory, record.info.id, &own, &e));
    assert_true(lock_take(catalog.directory, abandoned, &lock, &e));
    assert_true(lock_take(catalog.directory, held, &other, &e));
    lock_drop(&own);
    lock_drop(&lock);
    const char *const names[] = {record.info.id, abandoned, held, "of-the-user"};
    char *paths[4];
    for (size_t i = 0; i < 4; i++)
        paths[i] = mem_printf("%s/locks/%s.lock", catalog.directory, names[i]);
    support_write(paths[3], "");
    removal_sweep_locks(&catalog);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(access(paths[i], F_OK), i == 1 ? -1 : 0);
        free(paths[i]);
    }
    lock_drop(&other);
}

TEST(test_in_memory)
{
    struct store *memory;
    AUTO(record_release) struct record r = {0};
    AUTO(catalog_release) struct catalog c = {0};
    AUTO(session_info_release) struct session_info fork = {0};
    assert_true(store_open(support_keep(store_memory_path()), STORE_READ_WRITE, &memory, &e));
    record_begin(&r, memory);
    record_run(&r, "Hi", "Hello");
    catalog_borrow(&c, memory, NULL, "");
    assert_null(projection_directory(&c, r.info.id));
    assert_true(projection_write(&c, r.info.id, false, &e));
    assert_true(catalog_rename(&c, "last", "x", NULL, &e));
    assert_true(catalog_fork(&c, r.info.id, 0, &fork, &e));
    assert_true(catalog_archive(&c, r.info.id, true, NULL, &e));
    AUTO(session_info_release) struct session_info info = {0};
    assert_err(catalog_find(&c, r.info.id, &info, &e), e, ERR_SESSION_NOT_FOUND);
    assert_true(catalog_find(&c, fork.id, &info, &e));
    store_close(memory);
}

/* --- forking ---------------------------------------------------------------------------------- */

/* The lines of a log without its id. */
static char *lines_of(const char *id)
{
    char *lines = record_lines(catalog.store, id);
    for (char *at = lines; (at = strstr(at, id)); at += UUID_LEN)
        memset(at, 'i', UUID_LEN);
    return support_keep(lines);
}

static struct session_info fork_at(const char *reference, int64_t at)
{
    struct session_info fork;
    assert_ok(catalog_fork(&catalog, reference, at, &fork, &e), e);
    return fork;
}

TEST(test_fork)
{
    int lock;
    record.info.system = mem_strdup("Be brief.");
    record.info.labels = mem_strdup("food work");
    record_save(&record);
    char *before = lines_of(record.info.id);
    assert_true(lock_take(catalog.directory, record.info.id, &lock, &e)); /* it is in use */
    AUTO(session_info_release) struct session_info fork = fork_at("last", 0);
    lock_drop(&lock);
    char *after = lines_of(record.info.id);
    char *copy = lines_of(fork.id);
    assert_string_equal(after, before);
    assert_string_equal(copy, before);
    AUTO(session_info_release) struct session_info kept = find(fork.id);
    assert_string_equal(kept.title, "What is a monad? (fork)");
    assert_true(kept.title_set); /* no message says that */
    assert_string_equal(kept.parent, record.info.id);
    assert_int_equal(kept.parent_seq, 10);
    assert_string_equal(kept.directory, record.info.directory);
    assert_string_equal(kept.provider, "openai");
    assert_string_equal(kept.model, "m-1");
    assert_string_equal(kept.system, "Be brief.");
    assert_string_equal(kept.labels, "food work");
    assert_string_equal(kept.last_line, "No.");
    assert_int_equal(kept.turns, 2);
    assert_int_equal(kept.messages, 4);
    assert_int_equal(kept.last_seq, 10);
    assert_null(kept.draft);
    assert_true(kept.created_ms > record.info.created_ms);
    assert_int_equal(kept.updated_ms, kept.created_ms);
    assert_int_equal(kept.archived_ms, 0);
    assert_int_equal(found_burritos(fork.id), 1); /* the copy is found, too */
}

static void fork_is_titled(const char *reference, const char *title)
{
    AUTO(session_info_release)
    struct session_info fork = fork_at(reference, 0), kept = find(fork.id);
    assert_string_equal(kept.title, title);
}

TEST(test_forks_have_titles_of_their_own)
{
    const char *origin = record.info.id;
    fork_is_titled(origin, "What is a monad? (fork)");
    fork_is_titled(origin, "What is a monad? (fork 2)");
    fork_is_titled("What is a monad? (fork)", "What is a monad? (fork 3)");
    fork_is_titled("What is a monad? (fork 3)", "What is a monad? (fork 4)");
    rename_to("Monads (forked)", "Monads (forked)", true);
    fork_is_titled(origin, "Monads (forked) (fork)");
    rename_to("(fork)", "(fork)", true);
    fork_is_titled(origin, "(fork) (fork)");
}

TEST(test_fork_at_a_question)
{
    struct session_info fork = fork_at("last", 6);
    struct session_info kept = find(fork.id);
    assert_int_equal(kept.last_seq, 5);
    assert_int_equal(kept.parent_seq, 5);
    assert_string_equal(kept.draft, "Really?");
    assert_string_equal(kept.last_line, "A burrito.");
    session_info_release(&kept);
    session_info_release(&fork);

    fork = fork_at(record.info.id, 1);
    kept = find(fork.id);
    assert_int_equal(kept.last_seq, 0);
    assert_string_equal(kept.draft, "What is a monad?");
    assert_string_equal(kept.title, ""); /* what will be sent names it */
    session_info_release(&kept);
    session_info_release(&fork);
}

TEST(test_fork_within_a_run)
{
    AUTO(history_release) struct history h = {0};
    record_add(&record, EVENT_TURN_STARTED, "Read x.");
    record_add(&record, EVENT_CALL_STARTED, NULL);
    record_add(&record, EVENT_TOOL_CALL_REQUESTED, "{\"path\":\"x\"}");
    record_add(&record, EVENT_CALL_COMPLETED, NULL);
    AUTO(session_info_release) struct session_info fork = fork_at("last", 13);
    assert_int_equal(fork.parent_seq, 14);
    assert_int_equal(fork.last_seq, 15); /* the run is closed */
    assert_true(snapshot_resume(catalog.store, fork.id, &h, &e));
    assert_false(h.running);
    assert_int_equal(h.messages.len, 7); /* the call got a result */
    assert_int_equal(h.messages.items[6].role, ROLE_TOOL);

    AUTO(session_info_release) struct session_info again = fork_at(fork.id, 0);
    assert_string_equal(again.parent, fork.id);
    assert_int_equal(again.last_seq, 15);
    char *first = lines_of(fork.id);
    assert_string_equal(first, lines_of(again.id));
}

/* An answer is whole with what the provider searched for it. */
TEST(test_fork_behind_an_answer_with_a_search)
{
    record_add(&record, EVENT_TURN_STARTED, "Find x.");
    record_add(&record, EVENT_CALL_STARTED, NULL);
    record_add(&record, EVENT_TOOL_CALL_REQUESTED, "{\"query\":\"x\"}");
    struct event *ev = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup("c1");
    ev->text = mem_strdup("X · https://x.example");
    ev->signature = mem_strdup("null");
    record_event(&record, ev);
    record_add(&record, EVENT_TEXT_COMPLETE, "X.");
    record_add(&record, EVENT_CALL_COMPLETED, NULL);
    record_add(&record, EVENT_TURN_COMPLETED, "X.");
    AUTO(session_info_release) struct session_info fork = fork_at("last", 13);
    assert_true(fork.parent_seq >= 16);
}

TEST(test_forks_that_cannot_be)
{
    AUTO(session_info_release) struct session_info fork = {0};
    AUTO(record_release) struct record draft = {0};
    static const int64_t places[] = {11, -1};
    for (size_t i = 0; i < 2; i++)
        assert_err(catalog_fork(&catalog, "last", places[i], &fork, &e), e, ERR_USAGE);
    assert_err(catalog_fork(&catalog, "none", 0, &fork, &e), e, ERR_SESSION_NOT_FOUND);
    record_begin(&draft, catalog.store);
    assert_err(catalog_fork(&catalog, draft.info.id, 0, &fork, &e), e, ERR_USAGE);
    draft.info.draft = mem_strdup("not sent");
    record_save(&draft);
    fork = fork_at(draft.info.id, 0);
    assert_string_equal(fork.draft, "not sent");
}

static void compact(const char *trigger)
{
    AUTO(history_release) struct history h = {0};
    assert_true(snapshot_resume(catalog.store, record.info.id, &h, &e));
    struct event *ev = any_compaction(&h, "[Context compacted] …");
    free(ev->compaction.trigger);
    ev->compaction.trigger = mem_strdup(trigger);
    free(ev->compaction.history);
    ev->compaction.history = mem_printf(
        "[{\"message\":{\"role\":\"user\",\"seq\":1,\"turn\":1,\"summary\":true,\"content\":"
        "[{\"type\":\"text\",\"text\":\"S\"}]}},[%zu,1]]",
        h.messages.len - 1);
    record_event(&record, ev);
}

static void undo_compaction(int64_t of)
{
    struct event *ev = event_new(EVENT_COMPACTION_UNDONE);
    ev->number = of;
    record_event(&record, ev);
}

static void assert_messages(const char *id, size_t count)
{
    AUTO(history_release) struct history h = {0};
    assert_true(snapshot_resume(catalog.store, id, &h, &e));
    assert_int_equal(h.messages.len, count);
}

TEST(test_fork_before_a_compaction)
{
    struct session_info fork;
    compact("manual");
    int64_t first = record.info.last_seq;
    record_run(&record, "And now?", "Now.");
    record_add(&record, EVENT_TURN_STARTED, "Go on.");
    compact("estimate");
    int64_t second = record.info.last_seq;
    record_add(&record, EVENT_TEXT_COMPLETE, "Yes.");
    record_add(&record, EVENT_TURN_COMPLETED, "Yes.");
    record_save(&record);
    assert_messages(record.info.id, 3);
    fork = fork_at("last", CATALOG_BEFORE_COMPACTION);
    assert_int_equal(fork.parent_seq, first + 5);
    assert_string_equal(fork.draft, "Go on.");
    assert_messages(fork.id, 4); /* the first one holds in it */
    session_info_release(&fork);

    undo_compaction(second);
    fork = fork_at(record.info.id, CATALOG_BEFORE_COMPACTION);
    assert_int_equal(fork.parent_seq, first - 1);
    assert_null(fork.draft);
    assert_messages(fork.id, 4);
    session_info_release(&fork);

    undo_compaction(first);
    assert_error(catalog_fork(&catalog, record.info.id, CATALOG_BEFORE_COMPACTION, &fork, &e), e,
                 ERR_USAGE, "was never compacted");
    fork = fork_at(record.info.id, 0); /* undone ones are undone in the copy as well */
    assert_messages(fork.id, 8);
    session_info_release(&fork);
}

TEST(test_a_fork_that_fails_leaves_nothing)
{
    AUTO(session_info_release) struct session_info fork = {0};
    record_add(&record, EVENT_TURN_STARTED, "Read x.");
    record_add(&record, EVENT_TEXT_COMPLETE, "Half");
    damage_sql(path,
               "CREATE TRIGGER full BEFORE INSERT ON event WHEN NEW.type = 'run_completed'"
               " AND NEW.seq = 13 BEGIN SELECT RAISE(ABORT, 'full'); END");
    assert_false(catalog_fork(&catalog, "last", 0, &fork, &e));
    assert_int_equal(damage_number(path, "SELECT count(*) FROM session"), 1);
    assert_int_equal(damage_number(path, "SELECT count(*) FROM event"), 12);
    damage_sql(path, "DROP TRIGGER full");
    fork = fork_at("last", 0);
    assert_int_equal(fork.last_seq, 13);
}
