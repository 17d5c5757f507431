/* Sessions enter semantic memory when they are left: the messages, the time, and the exceptions. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/paths.h"
#include "index/transcripts.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/catalog.h"
#include "session/lock.h"
#include "session/memory_sink.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/memory_store.h"
#include "tests/record.h"
#include "tests/suite.h"

#define path lore_path
#define memory lore_memory
#define e lore_error

static struct config *config;
static struct memory_sink sink;
static struct memory_follow following;
static struct record talk;

static void open_memory(void)
{
    lore_open();
    memory_sink_init(&sink, memory, config);
    following =
        (struct memory_follow){.sink = &sink, .store = lore_store, .directory = support_dir()};
}

static int set_up(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    config = config_new();
    open_memory();
    record_begin(&talk, lore_store);
    return 0;
}

static int tear_down(void **state)
{
    record_release(&talk);
    lore_close();
    config_free(config);
    return support_teardown(state);
}

static void set(enum config_key key, const char *value)
{
    memory_check(config_set(config, key, value, &e), &e);
    memory_sink_init(&sink, memory, config);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool index_some(void)
{
    bool more;
    memory_check(memory_sink_work(&sink, lore_store, &more, &e), &e);
    return more;
}

/* Everything that is due, as the desk does it; how many sessions it were. */
static int follow(void)
{
    int followed = 0;
    int64_t wait_ms;
    for (bool more = true; more; followed += more) {
        memory_check(memory_follow_next(&following, &more, &wait_ms, &e), &e);
        while (index_some())
            ;
    }
    return followed;
}

static int64_t wait_for_next(void)
{
    bool due;
    int64_t wait_ms;
    memory_check(memory_follow_wait(&following, &due, &wait_ms, &e), &e);
    return due ? 0 : wait_ms;
}

static void say(const char *question, const char *answer)
{
    record_run(&talk, question, answer);
}

static void expect(const char *contents)
{
    assert_string_equal(support_keep(memory_contents(memory, talk.info.id)), contents);
}

/* So many sessions are due (negative: any number), and these are the contents of this one then. */
static void follow_to(int sessions, const char *contents)
{
    int followed = follow();
    assert_true(sessions < 0 || followed == sessions);
    expect(contents);
}

static char *id_of(const char *content)
{
    AUTO(memory_entries_release) struct memory_entries list = {0};
    const struct memory_scope all = {.kind = MEMORY_SCOPE_ALL};
    char *id = NULL;
    lore_do(list, &all, 0, 1000, &list);
    for (size_t i = 0; i < list.items.len; i++)
        if (strcmp(list.items.items[i].content, content) == 0)
            id = mem_strdup(list.items.items[i].id);
    if (!id)
        fail_msg("memory has no \"%s\"", content);
    return support_keep(id);
}

static void forget(const char *content, struct memory_forgotten *out)
{
    const char *ids[] = {id_of(content)};
    lore_do(forget, ids, 1, out);
}

/* Drops this message as a compaction does. */
static void drop(int64_t completed, int64_t seq)
{
    const struct message message = {.role = ROLE_USER, .seq = seq, .turn = 1};
    const struct message *list = &message;
    int entries;
    const struct discard d = {
        .session_id = talk.info.id, .completed_seq = completed, .messages = &list, .count = 1};
    memory_check(sink.sink.index(&sink, lore_store, &d, &entries, &e), &e);
}

static enum memory_origin origin_of(const char *content)
{
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    lore_do(get, id_of(content), &entry);
    return entry.origin;
}

static void answer_with(const char *answer)
{
    record_add(&talk, EVENT_CALL_STARTED, NULL);
    record_add(&talk, EVENT_TEXT_COMPLETE, answer);
    record_add(&talk, EVENT_TURN_COMPLETED, answer);
    record_save(&talk);
}

/* Sends the newest question again. */
static void retry(const char *question, const char *answer)
{
    int64_t retried = talk.run_seq;
    struct event *ev = event_new(EVENT_TURN_STARTED);
    ev->text = mem_strdup(question);
    ev->number = retried;
    record_event(&talk, ev);
    answer_with(answer);
}

static void set_idle(int64_t ms)
{
    talk.info.updated_ms = clock_wall_ms() - ms;
    record_save(&talk);
}

static int lock = -1;

static void hold(void)
{
    memory_check(lock_take(support_dir(), talk.info.id, &lock, &e), &e);
    set_idle(0);
}

static void delete_session(const char *session)
{
    struct catalog catalog;
    char id[UUID_LEN + 1];
    catalog_borrow(&catalog, lore_store, support_dir(), "");
    memory_check(catalog_delete(&catalog, session, id, &e), &e);
    catalog_release(&catalog);
}

FIXTURE(set_up, tear_down);

/* --- which messages --------------------------------------------------------------------------- */

TEST(a_session_that_was_left_comes_in)
{
    say("Where is the key?", "Under the mat.");
    follow_to(1, "Where is the key?\nUnder the mat.\n");
    assert_int_equal(origin_of("Where is the key?"), MEMORY_LEFT);
    assert_int_equal(follow(), 0);
    say("And the other one?", "In the shed.");
    follow_to(1, "Where is the key?\nUnder the mat.\nAnd the other one?\nIn the shed.\n");
}

TEST(an_open_turn_comes_in_when_it_has_ended)
{
    say("One?", "One.");
    record_add(&talk, EVENT_TURN_STARTED, "Two?");
    record_save(&talk);
    follow_to(1, "One?\nOne.\n");
    answer_with("Two.");
    follow_to(1, "One?\nOne.\nTwo?\nTwo.\n");
}

TEST(what_was_retried_goes)
{
    say("One?", "One.");
    say("Two?", "Too bad.");
    say("Three?", "Pinned.");
    follow();
    lore_do(pin, id_of("Pinned."), true);
    retry("Three!", "Three.");
    follow_to(1, "One?\nOne.\nTwo?\nToo bad.\nPinned.\nThree!\nThree.\n");
}

/* The copy that a retried message had replaced is a message again. */
TEST(a_copy_comes_back_when_the_newer_one_was_retried)
{
    say("Yes.", "Good.");
    say("Yes.", "Fine.");
    follow_to(-1, "Good.\nYes.\nFine.\n");
    retry("No.", "Bad.");
    follow_to(-1, "Good.\nYes.\nNo.\nBad.\n");
}

TEST(tool_results_where_they_are_wanted)
{
    record_add(&talk, EVENT_TURN_STARTED, "Read it.");
    record_add(&talk, EVENT_CALL_STARTED, NULL);
    record_add(&talk, EVENT_TOOL_CALL_REQUESTED, "{}");
    record_add(&talk, EVENT_TOOL_EXECUTION_COMPLETED, "The file.");
    answer_with("I have.");
    follow_to(-1, "Read it.\nI have.\n");
    lore_run("UPDATE memory_followed SET seq = 0, due = 1");
    set(CONFIG_MEMORY_TOOL_RESULTS, "true");
    follow_to(-1, "Read it.\nI have.\nThe file.\n");
}

static void fork_of(struct record *fork, const struct record *parent)
{
    record_begin(fork, lore_store);
    memcpy(fork->info.parent, parent->info.id, sizeof fork->info.parent);
    fork->info.parent_seq = fork->info.last_seq = parent->info.last_seq;
    record_save(fork);
    memory_check(event_log_copy(lore_store, parent->info.id, 0, fork->info.id, &e), &e);
}

/* The sessions that the fork continues, with the last event of each. */
static void expect_line(const struct record *of, const struct record *const *parents, size_t count)
{
    struct session_line line;
    memory_check(sessions_line(lore_store, of->info.id, &line, &e), &e);
    assert_int_equal(line.items.len, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(line.items.items[i].id, parents[i]->info.id);
        assert_int_equal(line.items.items[i].last, parents[i]->info.last_seq);
    }
    vec_release(&line.items);
}

/* The fork between is deleted; its copies of the first session's messages are still there once. */
TEST(a_fork_of_a_fork_brings_what_is_its_own)
{
    struct record fork, last;
    say("One?", "One.");
    fork_of(&fork, &talk);
    record_run(&fork, "Two?", "Two.");
    record_save(&fork);
    fork_of(&last, &fork);
    record_run(&last, "Three?", "Three.");
    record_save(&last);
    expect_line(&last, (const struct record *[]){&fork, &talk}, 2);
    delete_session(fork.info.id);
    follow();
    assert_string_equal(support_keep(memory_contents(memory, NULL)),
                        "One?\nOne.\nTwo?\nTwo.\nThree?\nThree.\n");
    expect_line(&last, (const struct record *[]){&talk}, 1);
    record_release(&fork);
    record_release(&last);
}

TEST(a_fork_brings_what_is_its_own)
{
    AUTO(record_release) struct record fork = {0};
    say("One?", "One.");
    follow();
    fork_of(&fork, &talk);
    record_run(&fork, "Two?", "Two.");
    assert_int_equal(follow(), 1);
    assert_string_equal(support_keep(memory_contents(memory, NULL)), "One?\nOne.\nTwo?\nTwo.\n");
}

TEST(a_deleted_session_takes_all_with_it)
{
    AUTO(memory_forgotten_release) struct memory_forgotten gone = {0};
    say("One?", "One.");
    follow();
    forget("One?", &gone);
    delete_session(talk.info.id);
    expect("");
    assert_int_equal(lore_number("SELECT (SELECT count(*) FROM memory_followed)"
                                 " + (SELECT count(*) FROM memory_gone)"
                                 " + (SELECT count(*) FROM memory_deferred)"),
                     0);
}

/* --- compactions ------------------------------------------------------------------------------ */

TEST(what_a_compaction_drops_later_stays_one_entry)
{
    say("One?", "One.");
    follow();
    drop(90, 1);
    expect("One?\nOne.\n");
    lore_do(withdraw, talk.info.id, 90);
    expect("One?\nOne.\n");
    assert_int_equal(origin_of("One?"), MEMORY_LEFT);
}

TEST(what_a_compaction_dropped_before_stays_its_own)
{
    say("One?", "One.");
    drop(90, 1);
    follow_to(-1, "One?\nOne.\n");
    assert_int_equal(origin_of("One?"), MEMORY_DROPPED);
    assert_int_equal(origin_of("One."), MEMORY_LEFT);
    lore_do(withdraw, talk.info.id, 90);
    expect("One.\n");
    follow_to(1, "One.\nOne?\n"); /* it is in the history again */
    assert_int_equal(origin_of("One?"), MEMORY_LEFT);
}

/* Tells the sink of a rewind, or of its end, as the journal does. */
static void rewound(enum event_type type, int64_t number)
{
    struct event *ev = event_new(type);
    ev->number = number;
    record_event(&talk, ev);
    record_save(&talk);
    memory_check(
        sink.sink.rewound(&sink, lore_store, talk.info.id, type == EVENT_REWIND_UNDONE, &e), &e);
    while (index_some())
        ;
}

TEST(what_is_rewound_leaves_and_comes_back_once)
{
    say("one", "1");
    int64_t second = talk.info.last_seq + 1;
    say("two", "2");
    follow_to(1, "one\n1\ntwo\n2\n");
    rewound(EVENT_REWOUND, second);
    int64_t rewind = talk.info.last_seq;
    expect("one\n1\n"); /* at once: the conversation goes on without them */
    say("three", "3");
    follow_to(1, "one\n1\nthree\n3\n");
    rewound(EVENT_REWIND_UNDONE, rewind);
    expect("one\n1\nthree\n3\ntwo\n2\n");
    follow_to(-1, "one\n1\nthree\n3\ntwo\n2\n");
    rewound(EVENT_REWOUND, second);
    rewound(EVENT_REWIND_UNDONE, talk.info.last_seq);
    follow_to(-1, "one\n1\ntwo\n2\nthree\n3\n");
}

/* Deferred messages are rewound before they are indexed. */
TEST(what_is_rewound_is_not_indexed_later)
{
    say("one", "1");
    memory_check(memory_sink_follow(&sink, lore_store, talk.info.id, &e), &e);
    rewound(EVENT_REWOUND, 1);
    expect("");
}

TEST(off_indexes_nothing_and_what_is_there_is_withdrawn)
{
    say("One?", "One.");
    drop(90, 1);
    set(CONFIG_MEMORY_INDEX, "off");
    assert_false(memory_follow_is_on(config));
    drop(91, 2);
    expect("One?\n");
    memory_check(sink.sink.withdraw(&sink, lore_store, talk.info.id, 90, &e), &e);
    expect("");
    set(CONFIG_MEMORY_INDEX, "dropped");
    assert_false(memory_follow_is_on(config));
    set(CONFIG_MEMORY_INDEX, "sessions");
    assert_true(memory_follow_is_on(config));
}

/* --- actions of the user ---------------------------------------------------------------------- */

TEST(what_was_forgotten_does_not_come_again)
{
    AUTO(memory_forgotten_release) struct memory_forgotten gone = {0};
    say("My key is under the mat.", "Noted.");
    follow();
    forget("My key is under the mat.", &gone);
    lore_run("UPDATE memory_followed SET seq = 0, due = 1");
    follow_to(-1, "Noted.\n");
    drop(90, 1);
    expect("Noted.\n");
    lore_do(restore, &gone);
    expect("My key is under the mat.\nNoted.\n");
    lore_do(withdraw, talk.info.id, MEMORY_OF_SESSION);
    follow_to(-1, "My key is under the mat.\nNoted.\n");
}

/* Nor does a copy that it took the place of. */
TEST(nor_does_an_older_copy)
{
    AUTO(memory_forgotten_release) struct memory_forgotten gone = {0};
    say("My key is under the mat.", "Noted.");
    say("My key is under the mat.", "I know.");
    follow();
    forget("My key is under the mat.", &gone);
    lore_run("UPDATE memory_followed SET seq = 0, due = 1");
    follow_to(-1, "Noted.\nI know.\n");
}

TEST(what_was_edited_stays_as_it_is)
{
    say("My key is under the mat.", "Noted.");
    follow();
    lore_do(edit, id_of("My key is under the mat."), "There is a key.");
    lore_run("UPDATE memory_followed SET seq = 0, due = 1");
    follow();
    drop(90, 1);
    expect("There is a key.\nNoted.\n");
}

/* --- when ------------------------------------------------------------------------------------- */

TEST(a_session_that_is_open_waits_for_an_hour)
{
    say("One?", "One.");
    hold();
    assert_int_equal(follow(), 0);
    int64_t wait_ms = wait_for_next();
    assert_true(wait_ms > FOLLOW_IDLE_MS - 60000 && wait_ms <= FOLLOW_IDLE_MS + 1);
    set_idle(FOLLOW_IDLE_MS + 1000);
    assert_int_equal(wait_for_next(), 0);
    follow_to(1, "One?\nOne.\n");
    assert_int_equal(wait_for_next(), -1);
    lock_drop(&lock);
}

static int64_t wall_ms;

static int64_t replaced_clock(void)
{
    return wall_ms;
}

TEST(the_hour_is_over_to_the_millisecond)
{
    say("One?", "One.");
    hold();
    const int64_t idle_from = talk.info.updated_ms + FOLLOW_IDLE_MS;
    clock_replace(replaced_clock, NULL);
    for (int64_t left = FOLLOW_IDLE_MS; left > 0; left /= 2) {
        wall_ms = idle_from - left;
        assert_int_equal(follow(), 0);
        assert_int_equal(wait_for_next(), left + 1);
    }
    wall_ms = idle_from;
    follow_to(1, "One?\nOne.\n");
    assert_int_equal(wait_for_next(), -1);
    clock_replace(NULL, NULL);
    lock_drop(&lock);
}

TEST(one_that_was_left_or_archived_does_not)
{
    say("One?", "One.");
    hold();
    talk.info.archived_ms = clock_wall_ms();
    record_save(&talk);
    assert_int_equal(follow(), 1);
    talk.info.archived_ms = 0;
    say("Two?", "Two.");
    set_idle(0);
    assert_int_equal(follow(), 0);
    lock_drop(&lock);
    follow_to(1, "One?\nOne.\nTwo?\nTwo.\n");
}

TEST(a_program_that_ends_looks_at_its_own_alone)
{
    bool more;
    say("One?", "One.");
    set_idle(5000);
    memory_check(memory_follow_since(&following, clock_wall_ms() - 1000, &more, &e), &e);
    assert_false(more);
    memory_check(memory_follow_since(&following, clock_wall_ms() - 10000, &more, &e), &e);
    assert_true(more);
}

/* --- sessions from before --------------------------------------------------------------------- */

static struct memory_backlog_count backlog(void)
{
    struct memory_backlog_count count;
    lore_do(backlog, &count);
    return count;
}

/* Makes the database look recovered: the progress of memory in each session is unknown. */
static void go_back(void)
{
    lore_close();
    damage_sql(path,
               "INSERT OR REPLACE INTO memory_followed"
               " SELECT id, last_seq, 0, 1 FROM session WHERE last_seq > 0");
    open_memory();
    talk.store = lore_store;
}

TEST(sessions_from_before_wait_for_the_word)
{
    say("One?", "One.");
    go_back();
    assert_int_equal(backlog().sessions[BACKLOG_UNASKED], 1);
    assert_int_equal(follow(), 0);
    say("Two?", "Two.");
    follow_to(1, "Two?\nTwo.\n"); /* later messages count from now */
    lore_do(answer_backlog, false);
    assert_int_equal(backlog().sessions[BACKLOG_REFUSED], 1);
    assert_int_equal(follow(), 0);
    lore_do(answer_backlog, true);
    assert_int_equal(backlog().sessions[BACKLOG_WANTED], 1);
    follow_to(1, "Two?\nTwo.\nOne?\nOne.\n");
    assert_int_equal(backlog().sessions[BACKLOG_WANTED], 0);
    assert_int_equal(backlog().sessions[BACKLOG_DONE], 0);
}

TEST(the_backlog_counts_what_is_done)
{
    AUTO(record_release) struct record other = {0};
    bool more;
    int64_t wait_ms;
    say("One?", "One.");
    record_begin(&other, lore_store);
    record_run(&other, "Two?", "Two.");
    go_back();
    lore_do(answer_backlog, true);
    memory_check(memory_follow_next(&following, &more, &wait_ms, &e), &e);
    assert_int_equal(backlog().sessions[BACKLOG_WANTED], 1);
    assert_int_equal(backlog().sessions[BACKLOG_DONE], 1);
    follow();
    assert_int_equal(backlog().sessions[BACKLOG_DONE], 0);
}

TEST(a_new_database_has_none)
{
    say("One?", "One.");
    assert_int_equal(backlog().sessions[BACKLOG_UNASKED], 0);
}

/* --- how they came ---------------------------------------------------------------------------- */

static int64_t count_of(int origin)
{
    const struct memory_scope scope = {.kind = MEMORY_SCOPE_ALL, .filter.origin = origin};
    AUTO(memory_entries_release) struct memory_entries list = {0};
    int64_t count;
    lore_do(count, &scope, &count);
    lore_do(list, &scope, 0, 100, &list);
    assert_int_equal(list.items.len, count);
    for (size_t i = 0; i < list.items.len; i++)
        assert_int_equal(list.items.items[i].origin, origin - 1);
    return count;
}

TEST(entries_are_counted_listed_and_found_by_how_they_came)
{
    struct memory_hits hits;
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    say("The key is red.", "The key it is.");
    drop(90, 1);
    follow();
    free(memory_store_one(memory, "import", "i1", "A key, a key, a key.", 5));
    for (int origin = 1; origin <= MEMORY_ORIGINS; origin++) {
        struct memory_query q = memory_query_for(config, "key");
        q.limit = 1;
        q.scope.filter.origin = origin;
        assert_int_equal(count_of(origin), 1);
        lore_do(search, &q, &hits);
        assert_int_equal(hits.items.len, 1);
        assert_int_equal(hits.items.items[0].entry.origin, origin - 1);
        memory_hits_release(&hits);
    }
    lore_do(stats, &stats);
    assert_int_equal(stats.entries, 3);
    assert_int_equal(stats.dropped, 1);
    assert_int_equal(stats.left, 1);
}

/* --- several programs, and their death -------------------------------------------------------- */

enum { MANY = 300 };

static void many(void)
{
    memory_check(store_begin(lore_store, &e), &e);
    for (int i = 0; i < MANY; i++)
        say(support_text("question %d", i), support_text("answer %d", i));
    memory_check(store_commit(lore_store, &e), &e);
}

static void expect_many(void)
{
    assert_int_equal(damage_sql(path, "SELECT count(*) FROM memory_entry"), 2 * MANY);
    assert_int_equal(damage_sql(path, "SELECT count(DISTINCT seq) FROM memory_entry"), 2 * MANY);
    assert_int_equal(damage_sql(path, "SELECT count(*) FROM memory_deferred"), 0);
}

/* Killed between two steps, or within one. */
static void follow_and_die(int steps)
{
    pid_t child = fork();
    if (child == 0) {
        bool more;
        int64_t wait_ms;
        open_memory();
        memory_check(memory_follow_next(&following, &more, &wait_ms, &e), &e);
        for (int i = 0; i < steps; i++)
            index_some();
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

TEST(what_a_killed_program_began_is_finished_by_the_next)
{
    many();
    record_release(&talk);
    lore_close();
    for (int steps = 0; steps < 3; steps++)
        follow_and_die(steps);
    open_memory();
    record_begin(&talk, lore_store);
    follow();
    while (index_some())
        ;
    expect_many();
}

TEST(two_programs_follow_the_same)
{
    pid_t children[2];
    many();
    record_release(&talk);
    lore_close();
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            open_memory();
            store_set_patience(lore_store, 20000, 0, NULL, NULL);
            follow();
            _exit(0);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    open_memory();
    record_begin(&talk, lore_store);
    while (index_some())
        ;
    expect_many();
}

/* --- permissions of a session ----------------------------------------------------------------- */

static void let(enum memory_access access)
{
    memory_check(memory_sink_follow(&sink, lore_store, talk.info.id, &e), &e);
    memory_check(learned_access_write(lore_store, talk.info.id, access, &e), &e);
}

TEST(a_fork_knows_what_was_said_while_memory_was_off)
{
    struct catalog catalog;
    AUTO(session_info_release) struct session_info fork = {0};
    struct learned_locked locked;
    enum memory_access access;
    say("one?", "1");
    let(MEMORY_ACCESS_OFF);
    say("two?", "2");
    const int64_t since = talk.run_seq - 1;
    catalog_borrow(&catalog, lore_store, support_dir(), "");
    memory_check(catalog_fork(&catalog, talk.info.id, 0, &fork, &e), &e);
    catalog_release(&catalog);
    memory_check(learned_locked_read(lore_store, fork.id, &locked, &e), &e);
    for (int64_t seq = 1; seq <= fork.parent_seq; seq++)
        assert_int_equal(learned_locked_has(&locked, seq), seq > since);
    assert_false(learned_locked_has(&locked, fork.parent_seq + 1));
    learned_locked_release(&locked);
    memory_check(learned_access_read(lore_store, fork.id, &access, &e), &e);
    assert_int_equal(access, MEMORY_ACCESS_WRITE);
}

TEST(what_is_said_while_memory_is_not_written_stays_out)
{
    say("one?", "1");
    let(MEMORY_ACCESS_READ);
    say("two?", "2");
    follow_to(1, "one?\n1\n");
    let(MEMORY_ACCESS_OFF);
    say("three?", "3");
    let(MEMORY_ACCESS_WRITE);
    say("four?", "4");
    follow_to(1, "one?\n1\nfour?\n4\n");
}
