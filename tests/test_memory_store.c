/* The contract of every store of semantic memory: the same tests run against each. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "memory/memory.h"
#include "tests/memory_store.h"
#include "tests/simple_store.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct store *store;
static struct memory *m;
static struct error e;

static int set_up_sqlite(void **state)
{
    support_setup(state);
    bool ok = store_open(support_path("tiro.db"), STORE_READ_WRITE, &store, &e);
    m = ok ? memory_open(store, NULL) : NULL;
    return ok ? 0 : -1;
}

static int set_up_simple(void **state)
{
    support_setup(state);
    m = memory_simple_new();
    return 0;
}

static int tear_down(void **state)
{
    memory_close(m);
    store_close(store);
    store = NULL;
    m = NULL;
    return support_teardown(state);
}

static void expect_contents(const char *session_id, const char *wanted)
{
    assert_string_equal(support_keep(memory_contents(m, session_id)), wanted);
}

static void expect_newest(const char *session_id, int64_t after, int limit, const char *wanted)
{
    assert_string_equal(support_keep(memory_newest(m, session_id, after, limit)), wanted);
}

static void expect_fault(bool ok, enum err_code code, const char *part)
{
    assert_false(ok);
    assert_int_equal(e.code, code);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" lacks \"%s\"", e.text, part);
}

static void say(const char *session_id, const char *id, const char *content, int64_t at)
{
    char *given = support_keep(memory_store_one(m, session_id, id, content, at));
    assert_non_null(given);
    if (id)
        assert_string_equal(given, id);
}

static void pass_over(const char *session_id, const char *id, const char *content, int64_t at)
{
    assert_null(memory_store_one(m, session_id, id, content, at));
}

static struct memory_entry get(const char *id)
{
    struct memory_entry entry;
    memory_check(m->ops->get(m, id, &entry, &e), &e);
    return entry;
}

static struct memory_query query_of(const char *text)
{
    return (struct memory_query){.text = text, .limit = 5, .rank = rank_settings_for(1.2, 0.75)};
}

static void expect_hits(const struct memory_query *query, const char *wanted)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    AUTO(buf_release) struct buf got = BUF_INIT;
    memory_check(m->ops->search(m, query, &hits, &e), &e);
    for (size_t i = 0; i < hits.items.len; i++)
        buf_addf(&got, "%s\n", hits.items.items[i].entry.content);
    assert_string_equal(got.data, wanted);
}

static void expect_found(const char *text, const char *wanted)
{
    struct memory_query query = query_of(text);
    expect_hits(&query, wanted);
}

/* ---- tests ---- */

/* Both stores must pass this test. */
#define STORE_TEST(f)                                                                              \
    static void f(void **state);                                                                   \
    __attribute__((constructor)) static void add_##f(void)                                         \
    {                                                                                              \
        suite_use(__FILE__, set_up_sqlite, tear_down);                                             \
        suite_add(__FILE__, "sqlite: " #f, f, NULL);                                               \
        suite_use(__FILE__, set_up_simple, tear_down);                                             \
        suite_add(__FILE__, "simple: " #f, f, NULL);                                               \
    }                                                                                              \
    static void f(__attribute__((unused)) void **state)

STORE_TEST(an_empty_one_has_nothing)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    assert_int_equal(memory_total(m), 0);
    expect_contents(NULL, "");
    expect_newest(NULL, 0, 10, "");
    expect_found("anything", "");
    expect_found("", "");
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.sessions, 0);
    assert_false(stats.language_stale);
    assert_string_equal(stats.language, "english");
}

STORE_TEST(all_of_an_entry_is_kept)
{
    int stored;
    AUTO(memory_entry_release)
    struct memory_entry given = {.id = mem_strdup("7"),
                                 .id_is_number = true,
                                 .turn = 3,
                                 .seq = 9,
                                 .role = ROLE_ASSISTANT,
                                 .speaker = mem_strdup("Zoë"),
                                 .created_ms = 1234567890123,
                                 .content = mem_strdup(" Straße 日本語 🙂\n"),
                                 .pinned = true,
                                 .edited = true};
    memory_check(m->ops->index(m, "s", 5, &given, 1, &stored, &e), &e);
    assert_int_equal(stored, 1);
    AUTO(memory_entry_release) struct memory_entry got = get("7");
    assert_string_equal(got.id, "7");
    assert_true(got.id_is_number);
    assert_string_equal(got.session_id, "s");
    assert_int_equal(got.turn, 3);
    assert_int_equal(got.seq, 9);
    assert_int_equal(got.role, ROLE_ASSISTANT);
    assert_string_equal(got.speaker, "Zoë");
    assert_int_equal(got.created_ms, 1234567890123);
    assert_string_equal(got.content, "Straße 日本語 🙂");
    assert_true(got.pinned && got.edited);
}

STORE_TEST(roles_are_kept)
{
    static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL};
    for (size_t i = 0; i < 3; i++) {
        int stored;
        struct memory_entry given = memory_said(NULL, role_name(roles[i]), 1);
        given.role = roles[i];
        memory_check(m->ops->index(m, "s", 0, &given, 1, &stored, &e), &e);
        AUTO(memory_entry_release) struct memory_entry got = get(given.id);
        assert_int_equal(got.role, roles[i]);
        assert_null(got.speaker);
        assert_int_equal(got.seq, 0);
        memory_entry_release(&given);
    }
}

STORE_TEST(ids_are_made_and_told)
{
    char *a = support_keep(memory_store_one(m, "s", NULL, "one", 1));
    char *b = support_keep(memory_store_one(m, "s", NULL, "two", 2));
    assert_string_not_equal(a, b);
    assert_true(memory_has(m, a) && memory_has(m, b));
    assert_false(memory_has(m, "unknown"));
}

STORE_TEST(what_is_empty_is_passed_over)
{
    pass_over("s", NULL, "", 1);
    pass_over("s", "x", " \n\t ", 1);
    assert_int_equal(memory_total(m), 0);
}

STORE_TEST(secrets_are_masked)
{
    say("s", "a", "the password=hunter2 is", 1);
    expect_contents("s", "the password=[secret] is\n");
    memory_check(m->ops->edit(m, "a", "now password=hunter3", &e), &e);
    expect_contents("s", "now password=[secret]\n");
    expect_found("hunter2", "");
}

STORE_TEST(an_older_copy_gives_way)
{
    say("s", "a", "the same", 10);
    say("s", "b", "other", 11);
    say("s", "c", "the  same", 12);
    expect_contents("s", "other\nthe  same\n");
    assert_false(memory_has(m, "a"));
    pass_over("s", "d", "the same", 12);
    pass_over("s", "d", "the same", 5);
    say("t", "e", "the same", 1); /* of another session */
    assert_int_equal(memory_total(m), 3);
}

STORE_TEST(a_pinned_copy_stays)
{
    say("s", "a", "the same", 10);
    memory_check(m->ops->pin(m, "a", true, &e), &e);
    pass_over("s", "b", "the same", 20);
    memory_check(m->ops->pin(m, "a", false, &e), &e);
    say("s", "b", "the same", 20);
    assert_false(memory_has(m, "a"));
}

STORE_TEST(what_is_known_adds_nothing)
{
    int stored;
    struct memory_entry given[] = {memory_said("a", "one", 1), memory_said(NULL, "two", 2)};
    given[1].seq = 4;
    memory_check(m->ops->index(m, "s", 0, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 2);
    memory_check(m->ops->index(m, "s", 0, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 0);
    free(given[1].id); /* known by its event and its text, whenever it was said */
    given[1].id = NULL;
    given[1].created_ms = 9;
    memory_check(m->ops->index(m, "s", 0, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 0);
    expect_contents("s", "one\ntwo\n");
    memory_check(m->ops->index(m, "t", 0, &given[1], 1, &stored, &e), &e);
    assert_int_equal(stored, 1);
    memory_entry_release(&given[0]);
    memory_entry_release(&given[1]);
}

/* Indexes one without an id, said at event 4. */
static int index_event(int64_t compaction, const char *content)
{
    int stored;
    AUTO(memory_entry_release) struct memory_entry given = memory_said(NULL, content, 1);
    given.seq = 4;
    memory_check(m->ops->index(m, "s", compaction, &given, 1, &stored, &e), &e);
    return stored;
}

STORE_TEST(only_compactions_number_messages)
{
    assert_int_equal(index_event(0, "an import"), 1);
    assert_int_equal(index_event(0, "its next talk"), 1);
    assert_int_equal(index_event(7, "what was dropped"), 1);
    assert_int_equal(index_event(9, "dropped again, masked otherwise"), 0);
    assert_int_equal(index_event(0, "a later import"), 1);
    expect_contents("s", "an import\nits next talk\nwhat was dropped\na later import\n");
    assert_int_equal(index_event(0, "its next talk"), 0);
    assert_int_equal(index_event(0, "what was dropped"), 0);
}

/* A text that was said again takes the place of its older copy, be that of this batch: no row more.
 */
STORE_TEST(only_rows_that_are_more_count_as_new)
{
    struct memory_entry given[] = {memory_said(NULL, "go on", 1), memory_said(NULL, "go on", 2),
                                   memory_said(NULL, "enough", 3)};
    int stored;
    memory_check(m->ops->index(m, "s", 7, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 1);
    struct memory_entry again[] = {memory_said(NULL, "go on", 4), memory_said(NULL, "more", 5)};
    memory_check(m->ops->index(m, "s", 9, again, 2, &stored, &e), &e);
    assert_int_equal(stored, 1);
    expect_contents("s", "go on\nmore\n");
    memory_check(m->ops->index(m, "s", 11, &given[2], 1, &stored, &e), &e);
    assert_int_equal(stored, 1);
    for (size_t i = 0; i < 3; i++)
        memory_entry_release(&given[i]);
    for (size_t i = 0; i < 2; i++)
        memory_entry_release(&again[i]);
}

/* Text that the user removed from an entry does not come back. */
STORE_TEST(an_edited_entry_is_known_by_its_event)
{
    say("s", "a", "other", 1);
    AUTO(memory_entry_release) struct memory_entry given = memory_said("b", "my key is x", 2);
    int stored;
    given.seq = 4;
    memory_check(m->ops->index(m, "s", 0, &given, 1, &stored, &e), &e);
    memory_check(m->ops->edit(m, "b", "my key", &e), &e);
    assert_int_equal(index_event(0, "my key is x"), 0);
    expect_contents("s", "other\nmy key\n");
}

STORE_TEST(talks_may_number_their_messages_anew)
{
    int stored;
    struct memory_entry given[] = {memory_said("a", "one", 1), memory_said("b", "two", 2)};
    given[0].seq = given[1].seq = 4;
    memory_check(m->ops->index(m, "s", 0, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 2);
    static const char *const ids[] = {"a"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    memory_check(m->ops->forget(m, ids, 1, &f, &e), &e);
    memory_check(m->ops->restore(m, &f, &e), &e);
    expect_contents("s", "one\ntwo\n");
    memory_entry_release(&given[0]);
    memory_entry_release(&given[1]);
}

/* The compaction was undone and made anew: a forgotten entry stays forgotten, and is restored
 * once. */
STORE_TEST(what_was_forgotten_comes_back_by_restoring_alone)
{
    static const char *const ids[] = {"a"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    int stored;
    AUTO(memory_entry_release)
    struct memory_entry first = memory_said("a", "one", 1), again = memory_said(NULL, "one", 1);
    first.seq = again.seq = 4;
    memory_check(m->ops->index(m, "s", 7, &first, 1, &stored, &e), &e);
    memory_check(m->ops->forget(m, ids, 1, &f, &e), &e);
    memory_check(m->ops->index(m, "s", 9, &again, 1, &stored, &e), &e);
    assert_int_equal(stored, 0);
    expect_contents("s", "");
    memory_check(m->ops->restore(m, &f, &e), &e);
    memory_check(m->ops->index(m, "s", 9, &again, 1, &stored, &e), &e);
    assert_int_equal(stored, 0);
    expect_contents("s", "one\n");
}

STORE_TEST(a_taken_id_is_refused_whole)
{
    int stored = 7;
    say("s", "a", "one", 1);
    struct memory_entry given[] = {memory_said("b", "two", 2), memory_said("a", "three", 3)};
    expect_fault(m->ops->index(m, "s", 0, given, 2, &stored, &e), ERR_USAGE, " a ");
    assert_int_equal(stored, 0);
    expect_contents(NULL, "one\n");
    expect_fault(m->ops->index(m, "t", 0, &given[1], 1, &stored, &e), ERR_USAGE, " a ");
    memory_check(m->ops->edit(m, "a", "changed", &e), &e);
    memory_check(m->ops->index(m, "s", 0, given, 2, &stored, &e), &e);
    assert_int_equal(stored, 1); /* the user's text holds */
    expect_contents(NULL, "changed\ntwo\n");
    memory_entry_release(&given[0]);
    memory_entry_release(&given[1]);
}

STORE_TEST(withdrawing_takes_back_one_compaction)
{
    int stored;
    struct memory_entry given[] = {memory_said("a", "alpha", 1), memory_said("b", "beta", 2),
                                   memory_said("c", "gamma", 3)};
    memory_check(m->ops->index(m, "s", 7, given, 3, &stored, &e), &e);
    say("s", "d", "delta", 4);
    AUTO(memory_entry_release)
    struct memory_entry later = memory_said("f", "epsilon", 5), there = memory_said("g", "zeta", 5);
    memory_check(m->ops->index(m, "s", 8, &later, 1, &stored, &e), &e);
    memory_check(m->ops->index(m, "t", 7, &there, 1, &stored, &e), &e);
    memory_check(m->ops->pin(m, "a", true, &e), &e);
    memory_check(m->ops->edit(m, "b", "beta two", &e), &e);
    memory_check(m->ops->withdraw(m, "s", 7, &e), &e);
    expect_contents("s", "alpha\nbeta two\ndelta\nepsilon\n");
    expect_contents("t", "zeta\n");
    expect_found("gamma", "");
    memory_check(m->ops->withdraw(m, "nowhere", 7, &e), &e);
    memory_check(m->ops->index(m, "s", 9, &given[2], 1, &stored, &e), &e);
    assert_int_equal(stored, 1);
    for (int i = 0; i < 3; i++)
        memory_entry_release(&given[i]);
}

STORE_TEST(listing_begins_with_the_newest)
{
    say("s", NULL, "b", 20);
    say("t", NULL, "c", 30);
    say("s", NULL, "a", 10);
    say("s", "x", "b2", 20);
    memory_check(m->ops->pin(m, "x", true, &e), &e);
    expect_newest(NULL, 0, -1, "c\nb2\nb\na\n");
    expect_newest(NULL, 0, 2, "c\nb2\n");
    expect_newest(NULL, 2, 1, "b\n");
    expect_newest(NULL, 9, 5, "");
    expect_newest("s", 0, 10, "b2\nb\na\n");
    expect_newest("s", 1, 1, "b\n");
    expect_newest("nowhere", 0, 10, "");
    struct memory_scope scope = {.kind = MEMORY_SCOPE_SESSION, .session_id = "s"};
    int64_t count;
    memory_check(m->ops->count(m, &scope, &count, &e), &e);
    assert_int_equal(count, 3);
    assert_int_equal(memory_total(m), 4);
    struct memory_scope project = {.kind = MEMORY_SCOPE_PROJECT, .directory = "/nowhere"};
    memory_check(m->ops->count(m, &project, &count, &e), &e);
    assert_int_equal(count, 0);
}

static bool visit_two(void *context, const struct memory_entry *entry)
{
    int *count = context;
    assert_non_null(entry->id);
    return ++*count < 2;
}

STORE_TEST(each_keeps_sessions_together)
{
    int count = 0;
    say("s", NULL, "1", 5);
    say("t", NULL, "2", 1);
    say("s", NULL, "3", 4);
    say("t", NULL, "4", 2);
    expect_contents(NULL, "1\n3\n2\n4\n");
    memory_check(m->ops->each(m, visit_two, &count, &e), &e);
    assert_int_equal(count, 2);
}

STORE_TEST(an_edit_is_found_by_its_new_words)
{
    say("s", "a", "the wombat digs", 1);
    memory_check(m->ops->edit(m, "a", " the badger digs\n", &e), &e);
    struct memory_entry got = get("a");
    assert_string_equal(got.content, "the badger digs");
    assert_true(got.edited);
    memory_entry_release(&got);
    expect_found("wombat", "");
    expect_found("badger", "the badger digs\n");
    pass_over("s", NULL, "the badger digs", 1);
    say("s", NULL, "the wombat digs", 1);
    expect_fault(m->ops->edit(m, "a", " \n", &e), ERR_USAGE, "empty");
    expect_fault(m->ops->edit(m, "zz", "x", &e), ERR_MEMORY_NOT_FOUND, "zz");
    say("s", "b", "unchanged", 2);
    memory_check(m->ops->edit(m, "b", "unchanged", &e), &e);
    got = get("b");
    assert_false(got.edited);
    memory_entry_release(&got);
}

STORE_TEST(a_pin_goes_on_and_off)
{
    say("s", "a", "one", 1);
    memory_check(m->ops->pin(m, "a", true, &e), &e);
    struct memory_entry got = get("a");
    assert_true(got.pinned && !got.edited);
    memory_entry_release(&got);
    memory_check(m->ops->pin(m, "a", false, &e), &e);
    got = get("a");
    assert_false(got.pinned);
    memory_entry_release(&got);
    expect_fault(m->ops->pin(m, "zz", true, &e), ERR_MEMORY_NOT_FOUND, "zz");
}

STORE_TEST(forgetting_is_all_or_none)
{
    static const char *const wrong[] = {"a", "zz", "b"}, *const right[] = {"c", "a", "c"};
    struct memory_forgotten f;
    say("s", "a", "wombat one", 1);
    say("s", "b", "wombat two", 2);
    say("t", "c", "wombat three", 3);
    expect_fault(m->ops->forget(m, wrong, 3, &f, &e), ERR_MEMORY_NOT_FOUND, "zz");
    assert_int_equal(f.items.len, 0);
    assert_int_equal(memory_total(m), 3);
    expect_fault(m->ops->forget(m, wrong, 3, NULL, &e), ERR_MEMORY_NOT_FOUND, "zz");
    memory_check(m->ops->forget(m, right, 3, &f, &e), &e);
    assert_int_equal(f.items.len, 2);
    assert_int_equal(f.summaries.len, 0);
    assert_string_equal(f.items.items[0].entry.content, "wombat three");
    expect_contents(NULL, "wombat two\n");
    expect_found("wombat", "wombat two\n");
    memory_forgotten_release(&f);
    memory_check(m->ops->forget(m, right, 0, &f, &e), &e);
    assert_int_equal(f.items.len, 0);
    static const char *const last[] = {"b"};
    memory_check(m->ops->forget(m, last, 1, NULL, &e), &e);
    assert_int_equal(memory_total(m), 0);
    expect_found("wombat", "");
}

STORE_TEST(restoring_puts_all_back)
{
    static const char *const ids[] = {"b", "a"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    int stored;
    struct memory_entry given[] = {memory_said("a", "alpha", 1), memory_said("b", "beta", 2),
                                   memory_said("c", "gamma", 3)};
    given[1].seq = 12;
    given[1].pinned = true;
    memory_check(m->ops->index(m, "s", 7, given, 3, &stored, &e), &e);
    memory_check(m->ops->forget(m, ids, 2, &f, &e), &e);
    expect_contents("s", "gamma\n");
    memory_check(m->ops->restore(m, &f, &e), &e);
    expect_contents("s", "alpha\nbeta\ngamma\n");
    expect_found("beta", "beta\n");
    AUTO(memory_entry_release) struct memory_entry got = get("b");
    assert_true(got.pinned);
    assert_int_equal(got.seq, 12);
    memory_check(m->ops->restore(m, &f, &e), &e); /* there again: passed over */
    assert_int_equal(memory_total(m), 3);
    memory_check(m->ops->withdraw(m, "s", 7, &e), &e);
    expect_contents("s", "beta\n");
    for (int i = 0; i < 3; i++)
        memory_entry_release(&given[i]);
}

STORE_TEST(what_cannot_come_back)
{
    static const char *const ids[] = {"a", "b"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    say("s", "a", "alpha", 1);
    say("t", "b", "beta", 1);
    memory_check(m->ops->forget(m, ids, 2, &f, &e), &e);
    say("t", "b", "gamma", 2);
    expect_fault(m->ops->restore(m, &f, &e), ERR_USAGE, " b ");
    expect_contents(NULL, "gamma\n");
    memory_check(m->ops->forget_session(m, "t", &e), &e);
    say("t", "c", "delta", 2);
    expect_fault(m->ops->restore(m, &f, &e), ERR_MEMORY_NOT_FOUND, "session t ");
    expect_contents(NULL, "delta\n");
}

STORE_TEST(places_are_not_used_again)
{
    static const char *const ids[] = {"b"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    say("s", "a", "alpha", 1);
    say("s", "b", "beta", 2);
    memory_check(m->ops->forget(m, ids, 1, &f, &e), &e);
    say("s", "c", "gamma", 3);
    memory_check(m->ops->restore(m, &f, &e), &e);
    expect_contents("s", "alpha\nbeta\ngamma\n");
}

STORE_TEST(a_deleted_session_leaves_nothing)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    say("s", "a", "wombat", 1);
    say("t", "b", "badger", 2);
    memory_check(m->ops->forget_session(m, "s", &e), &e);
    memory_check(m->ops->forget_session(m, "nowhere", &e), &e);
    expect_contents(NULL, "badger\n");
    expect_found("wombat", "");
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_int_equal(stats.sessions, 1);
    say("s", "a", "wombat", 1);
    expect_found("wombat", "wombat\n");
}

STORE_TEST(stats_count)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    say("s", "a", "alpha", 1);
    say("s", "b", "beta", 2);
    say("t", "c", "gamma", 3);
    memory_check(m->ops->pin(m, "c", true, &e), &e);
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_int_equal(stats.entries, 3);
    assert_int_equal(stats.sessions, 2);
    assert_int_equal(stats.pinned, 1);
    assert_int_equal(stats.flagged, 0);
    assert_true(stats.bytes >= 14);
}

static bool go_on(void *context, int64_t done, int64_t of)
{
    int64_t *last = context;
    assert_true(done <= of);
    *last = done;
    return true;
}

static bool stop(void *context, int64_t done, int64_t of)
{
    (void)context, (void)done, (void)of;
    return false;
}

STORE_TEST(reindexing_changes_the_language)
{
    struct memory_stats stats;
    int64_t done = 0;
    say("s", "a", "wombat", 1);
    say("s", "b", "badger", 2);
    memory_check(m->ops->reindex(m, "german", go_on, &done, &e), &e);
    assert_int_equal(done, 2);
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_string_equal(stats.language, "german");
    memory_stats_release(&stats);
    expect_found("wombat", "wombat\n");
    expect_fault(m->ops->reindex(m, "french", stop, NULL, &e), ERR_INTERRUPTED, "as before");
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_string_equal(stats.language, "german");
    memory_stats_release(&stats);
    expect_found("wombat", "wombat\n");
    memory_check(m->ops->reindex(m, NULL, NULL, NULL, &e), &e);
    memory_check(m->ops->stats(m, &stats, &e), &e);
    assert_string_equal(stats.language, "english");
    memory_stats_release(&stats);
}

/* ---- searching ---- */

STORE_TEST(the_same_text_scores_one)
{
    AUTO(memory_hits_release) struct memory_hits hits = {0};
    say("s", "a", "the wombat digs a burrow", 1);
    say("s", "b", "a badger digs as well", 2);
    struct memory_query query = query_of("the wombat digs a burrow");
    memory_check(m->ops->search(m, &query, &hits, &e), &e);
    assert_true(hits.items.len >= 1);
    assert_string_equal(hits.items.items[0].entry.id, "a");
    assert_true(hits.items.items[0].score == 1.0);
    for (size_t i = 1; i < hits.items.len; i++)
        assert_true(hits.items.items[i].score < 1.0);
}

STORE_TEST(what_has_no_word_of_it_is_not_found)
{
    say("s", "a", "the wombat digs", 1);
    say("s", "b", "badgers sleep", 2);
    expect_found("wombat", "the wombat digs\n");
    expect_found("zebra", "");
}

STORE_TEST(limits_and_scopes_hold)
{
    for (int i = 0; i < 30; i++) {
        char *text = support_text("wombat number%d", i);
        say(i < 28 ? "s" : "t", NULL, text, i);
    }
    static const int limits[] = {1, 3, 5, 20};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        AUTO(memory_hits_release) struct memory_hits hits = {0};
        struct memory_query query = query_of("wombat");
        query.limit = limits[i];
        memory_check(m->ops->search(m, &query, &hits, &e), &e);
        assert_int_equal(hits.items.len, limits[i]);
    }
    struct memory_query query = query_of("wombat");
    query.scope = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION, .session_id = "t"};
    expect_hits(&query, "wombat number29\nwombat number28\n");
    query.scope.session_id = "nowhere";
    expect_hits(&query, "");
}

STORE_TEST(every_script_is_found)
{
    say("s", NULL, "Die Straße führt über Köln.", 1);
    say("s", NULL, "私は京都へ行きました", 2);
    say("s", NULL, "party 🎉 tonight", 3);
    expect_found("Straße", "Die Straße führt über Köln.\n");
    expect_found("京都", "私は京都へ行きました\n");
    expect_found("🎉", "party 🎉 tonight\n");
}

STORE_TEST(pinned_entries_win_ties)
{
    say("s", "a", "wombat alpha", 5);
    say("t", "b", "wombat gamma", 5);
    memory_check(m->ops->pin(m, "a", true, &e), &e);
    expect_found("wombat", "wombat alpha\nwombat gamma\n");
    memory_check(m->ops->pin(m, "a", false, &e), &e);
    memory_check(m->ops->pin(m, "b", true, &e), &e);
    expect_found("wombat", "wombat gamma\nwombat alpha\n");
}

/* ---- names of entries ---- */

STORE_TEST(the_beginning_of_an_id_is_enough)
{
    char *id;
    say("s", "abc", "one", 1);
    say("s", "abd", "two", 2);
    say("s", "ab", "three", 3);
    say("s", "xyz", "four", 4);
    memory_check(memory_resolve(m, "x", &id, &e), &e);
    assert_string_equal(id, "xyz");
    free(id);
    memory_check(memory_resolve(m, "ab", &id, &e), &e); /* whole, though others begin so */
    assert_string_equal(id, "ab");
    free(id);
    expect_fault(memory_resolve(m, "a", &id, &e), ERR_MEMORY_NOT_FOUND, "ab, abc, abd");
    assert_null(id);
    expect_fault(memory_resolve(m, "q", &id, &e), ERR_MEMORY_NOT_FOUND, "no entry q");
    expect_fault(memory_resolve(m, "", &id, &e), ERR_MEMORY_NOT_FOUND, "no entry");
    for (int i = 0; i < 9; i++) {
        char *name = support_text("many%d", i), *text = mem_printf("text %d", i);
        say("s", name, text, 5);
        free(text);
    }
    expect_fault(memory_resolve(m, "many", &id, &e), ERR_MEMORY_NOT_FOUND, "many4, …");
}

/* ---- listeners ---- */

struct told {
    struct buf text; /* "forgotten ID content; …" */
    bool refuses;
};

static bool hear(void *context, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *fault)
{
    static const char *const names[] = {[MEMORY_FORGOTTEN] = "forgotten",
                                        [MEMORY_EDITED] = "edited",
                                        [MEMORY_RESTORED] = "restored",
                                        [MEMORY_SESSION_FORGOTTEN] = "session"};
    struct told *told = context;
    buf_addf(&told->text, "%s %s %s; ", names[what], entry->id ? entry->id : entry->session_id,
             entry->content ? entry->content : "");
    assert_int_equal(out != NULL, what == MEMORY_FORGOTTEN);
    return !told->refuses || err_set(fault, ERR_SESSION_STORE_ERROR, "no");
}

static void expect_told(struct told *told, const char *wanted)
{
    assert_string_equal(told->text.len > 0 ? told->text.data : "", wanted);
    buf_clear(&told->text);
}

STORE_TEST(who_listens_is_told)
{
    static const char *const ids[] = {"a", "c", "a"};
    struct told told = {.text = BUF_INIT};
    AUTO(memory_forgotten_release) struct memory_forgotten forgotten = {0};
    m->listener = (struct memory_listener){.hear = hear, .context = &told};
    free(memory_store_one(m, "s", "a", "the first", 1));
    free(memory_store_one(m, "s", "b", "the second", 2));
    free(memory_store_one(m, "t", "c", "the third", 3));
    memory_check(m->ops->edit(m, "b", "the second", &e), &e);
    expect_told(&told, "");
    memory_check(m->ops->edit(m, "b", "number two", &e), &e);
    expect_told(&told, "edited b the second; ");
    memory_check(m->ops->forget(m, ids, 2, &forgotten, &e), &e);
    expect_told(&told, "forgotten a the first; forgotten c the third; ");
    memory_check(m->ops->restore(m, &forgotten, &e), &e);
    expect_told(&told, "restored a the first; restored c the third; ");
    memory_check(m->ops->forget_session(m, "nobody", &e), &e);
    expect_told(&told, "");
    memory_check(m->ops->forget_session(m, "t", &e), &e);
    expect_told(&told, "session t ; ");
    told.refuses = true;
    assert_false(m->ops->forget(m, ids, 1, NULL, &e));
    assert_false(m->ops->edit(m, "b", "other", &e));
    assert_false(m->ops->forget_session(m, "s", &e));
    expect_contents("s", "the first\nnumber two\n");
    buf_release(&told.text);
}
