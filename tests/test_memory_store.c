/* The contract of a store of semantic memory (memory/memory.h). */
#include "tests/memory_store.h"
#include "tests/program.h"
#include "tests/suite.h"

#define m lore_memory
#define e lore_error
#define say lore_say
#define expect_found lore_expect_found

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

static void pass_over(const char *session_id, const char *id, const char *content, int64_t at)
{
    assert_null(memory_store_one(m, session_id, id, content, at));
}

static struct memory_entry get(const char *id)
{
    struct memory_entry entry;
    lore_do(get, id, &entry);
    return entry;
}

static struct memory_stats stats_now(void)
{
    struct memory_stats stats;
    lore_do(stats, &stats);
    return stats;
}

static const char *const id_a = "a";

FIXTURE(lore_setup, lore_teardown);

TEST(an_empty_one_has_nothing)
{
    AUTO(memory_stats_release) struct memory_stats stats = stats_now();
    assert_int_equal(memory_total(m), 0);
    expect_contents(NULL, "");
    expect_newest(NULL, 0, 10, "");
    expect_found("anything", "");
    expect_found("", "");
    assert_true(stats.entries == 0 && stats.sessions == 0 && !stats.language_stale);
    assert_string_equal(stats.language, "auto");
}

/* Stores this entry, JSON with ' for ", which is then this one. */
static void expect_stored(const char *given, const char *stored)
{
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    int count;
    assert_ok(memory_entry_read(parse_json(support_json(given)), &entry, &e), e);
    lore_do(index, "s", 5, &entry, 1, &count);
    assert_int_equal(count, 1);
    AUTO(memory_entry_release) struct memory_entry got = get(entry.id);
    AUTO(json_free_local) struct json *v = shape_to_json(&memory_entry_shape, &got);
    assert_json(v, stored);
}

#define SAID "'session_id':'s','created_at':'2009-02-13T23:31:30.123Z','turn':3,'seq':9"

TEST(all_of_an_entry_is_kept)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    expect_stored("{" SAID
                  ",'id':7,'role':'assistant','speaker':'Zoë','pinned':true,"
                  "'edited':true,'content':' Straße 日本語 🙂\\n'}",
                  "{" SAID
                  ",'id':7,'role':'assistant','speaker':'Zoë','pinned':true,"
                  "'edited':true,'content':'Straße 日本語 🙂'}");
    for (size_t i = 0; i < 3; i++) {
        const char *line = support_text(
            "{'session_id':'s','created_at':'2009-02-13','turn':0,"
            "'role':'%s','id':'r%zu','content':'%s'}",
            roles[i], i, roles[i]);
        expect_stored(line, support_text("{'role':'%s','id':'r%zu'}", roles[i], i));
        AUTO(memory_entry_release) struct memory_entry got = get(support_text("r%zu", i));
        assert_null(got.speaker);
        assert_int_equal(got.seq, 0);
    }
}

TEST(ids_are_made_and_told)
{
    char *a = support_keep(memory_store_one(m, "s", NULL, "one", 1));
    char *b = support_keep(memory_store_one(m, "s", NULL, "two", 2));
    assert_string_not_equal(a, b);
    assert_true(memory_has(m, a) && memory_has(m, b));
    assert_false(memory_has(m, "unknown"));
}

TEST(what_is_empty_is_passed_over)
{
    pass_over("s", NULL, "", 1);
    pass_over("s", "x", " \n\t ", 1);
    assert_int_equal(memory_total(m), 0);
}

TEST(secrets_are_masked)
{
    say("s", "a", "the password=hunter2 is", 1);
    expect_contents("s", "the password=[secret] is\n");
    lore_do(edit, "a", "now password=hunter3");
    expect_contents("s", "now password=[secret]\n");
    expect_found("hunter2", "");
}

TEST(an_older_copy_gives_way)
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

TEST(a_pinned_copy_stays)
{
    say("s", "a", "the same", 10);
    lore_do(pin, "a", true);
    pass_over("s", "b", "the same", 20);
    lore_do(pin, "a", false);
    say("s", "b", "the same", 20);
    assert_false(memory_has(m, "a"));
}

TEST(what_is_known_adds_nothing)
{
    assert_int_equal(LORE_INDEX("s", 0, {.id = "a", .text = "one", .at = 1},
                                {.id = "b", .text = "two", .at = 2, .seq = 4}),
                     2);
    assert_int_equal(LORE_INDEX("s", 0, {.id = "a", .text = "one", .at = 1},
                                {.id = "b", .text = "two", .at = 2, .seq = 4}),
                     0);
    /* Known by its event and its text, whenever it was said. */
    assert_int_equal(LORE_INDEX("s", 0, {.text = "two", .at = 9, .seq = 4}), 0);
    expect_contents("s", "one\ntwo\n");
    assert_int_equal(LORE_INDEX("t", 0, {.text = "two", .at = 9, .seq = 4}), 1);
}

/* Indexes one without an id, said at event 4. */
static int index_event(int64_t compaction, const char *content)
{
    return LORE_INDEX("s", compaction, {.text = content, .at = 1, .seq = 4});
}

TEST(only_compactions_number_messages)
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
TEST(only_rows_that_are_more_count_as_new)
{
    assert_int_equal(LORE_INDEX("s", 7, {.text = "go on", .at = 1}, {.text = "go on", .at = 2}), 1);
    assert_int_equal(LORE_INDEX("s", 9, {.text = "go on", .at = 4}, {.text = "more", .at = 5}), 1);
    expect_contents("s", "go on\nmore\n");
    assert_int_equal(LORE_INDEX("s", 11, {.text = "enough", .at = 3}), 1);
}

/* Text that the user removed from an entry does not come back. */
TEST(an_edited_entry_is_known_by_its_event)
{
    say("s", "a", "other", 1);
    LORE_INDEX("s", 0, {.id = "b", .text = "my key is x", .at = 2, .seq = 4});
    lore_do(edit, "b", "my key");
    assert_int_equal(index_event(0, "my key is x"), 0);
    expect_contents("s", "other\nmy key\n");
}

TEST(talks_may_number_their_messages_anew)
{
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    assert_int_equal(LORE_INDEX("s", 0, {.id = "a", .text = "one", .at = 1, .seq = 4},
                                {.id = "b", .text = "two", .at = 2, .seq = 4}),
                     2);
    lore_do(forget, &id_a, 1, &f);
    lore_do(restore, &f);
    expect_contents("s", "one\ntwo\n");
}

/* The compaction was undone and made anew: a forgotten entry stays forgotten, and is restored
 * once. */
TEST(what_was_forgotten_comes_back_by_restoring_alone)
{
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    LORE_INDEX("s", 7, {.id = "a", .text = "one", .at = 1, .seq = 4});
    lore_do(forget, &id_a, 1, &f);
    assert_int_equal(index_event(9, "one"), 0);
    expect_contents("s", "");
    lore_do(restore, &f);
    assert_int_equal(index_event(9, "one"), 0);
    expect_contents("s", "one\n");
}

TEST(a_taken_id_is_refused_whole)
{
    int stored = 7;
    say("s", "a", "one", 1);
    struct memory_entry given[] = {memory_said("b", "two", 2), memory_said("a", "three", 3)};
    expect_fault(m->ops->index(m, "s", 0, given, 2, &stored, &e), ERR_USAGE, " a ");
    assert_int_equal(stored, 0);
    expect_contents(NULL, "one\n");
    expect_fault(m->ops->index(m, "t", 0, &given[1], 1, &stored, &e), ERR_USAGE, " a ");
    lore_do(edit, "a", "changed");
    lore_do(index, "s", 0, given, 2, &stored);
    assert_int_equal(stored, 1); /* the user's text holds */
    expect_contents(NULL, "changed\ntwo\n");
    memory_entry_release(&given[0]);
    memory_entry_release(&given[1]);
}

TEST(withdrawing_takes_back_one_compaction)
{
    LORE_INDEX("s", 7, {.id = "a", .text = "alpha", .at = 1}, {.id = "b", .text = "beta", .at = 2},
               {.id = "c", .text = "gamma", .at = 3});
    say("s", "d", "delta", 4);
    LORE_INDEX("s", 8, {.id = "f", .text = "epsilon", .at = 5});
    LORE_INDEX("t", 7, {.id = "g", .text = "zeta", .at = 5});
    lore_do(pin, "a", true);
    lore_do(edit, "b", "beta two");
    lore_do(withdraw, "s", 7);
    expect_contents("s", "alpha\nbeta two\ndelta\nepsilon\n");
    expect_contents("t", "zeta\n");
    expect_found("gamma", "");
    lore_do(withdraw, "nowhere", 7);
    assert_int_equal(LORE_INDEX("s", 9, {.id = "c", .text = "gamma", .at = 3}), 1);
}

TEST(listing_begins_with_the_newest)
{
    say("s", NULL, "b", 20);
    say("t", NULL, "c", 30);
    say("s", NULL, "a", 10);
    say("s", "x", "b2", 20);
    lore_do(pin, "x", true);
    expect_newest(NULL, 0, -1, "c\nb2\nb\na\n");
    expect_newest(NULL, 0, 2, "c\nb2\n");
    expect_newest(NULL, 2, 1, "b\n");
    expect_newest(NULL, 9, 5, "");
    expect_newest("s", 0, 10, "b2\nb\na\n");
    expect_newest("s", 1, 1, "b\n");
    expect_newest("nowhere", 0, 10, "");
    struct memory_scope scope = {.kind = MEMORY_SCOPE_SESSION, .session_id = "s"};
    int64_t count;
    lore_do(count, &scope, &count);
    assert_int_equal(count, 3);
    assert_int_equal(memory_total(m), 4);
    struct memory_scope project = {.kind = MEMORY_SCOPE_PROJECT, .directory = "/nowhere"};
    lore_do(count, &project, &count);
    assert_int_equal(count, 0);
}

static bool visit_two(void *context, const struct memory_entry *entry)
{
    int *count = context;
    assert_non_null(entry->id);
    return ++*count < 2;
}

TEST(each_keeps_sessions_together)
{
    int count = 0;
    say("s", NULL, "1", 5);
    say("t", NULL, "2", 1);
    say("s", NULL, "3", 4);
    say("t", NULL, "4", 2);
    expect_contents(NULL, "1\n3\n2\n4\n");
    lore_do(each, visit_two, &count);
    assert_int_equal(count, 2);
}

/* "content, pinned, edited" of the entry. */
static const char *entry_now(const char *id)
{
    AUTO(memory_entry_release) struct memory_entry got = get(id);
    return support_text("%s%s%s", got.content, got.pinned ? ", pinned" : "",
                        got.edited ? ", edited" : "");
}

TEST(an_edit_is_found_by_its_new_words)
{
    say("s", "a", "the wombat digs", 1);
    lore_do(edit, "a", " the badger digs\n");
    assert_string_equal(entry_now("a"), "the badger digs, edited");
    expect_found("wombat", "");
    expect_found("badger", "the badger digs\n");
    pass_over("s", NULL, "the badger digs", 1);
    say("s", NULL, "the wombat digs", 1);
    expect_fault(m->ops->edit(m, "a", " \n", &e), ERR_USAGE, "empty");
    expect_fault(m->ops->edit(m, "zz", "x", &e), ERR_MEMORY_NOT_FOUND, "zz");
    say("s", "b", "unchanged", 2);
    lore_do(edit, "b", "unchanged");
    assert_string_equal(entry_now("b"), "unchanged");
}

TEST(a_pin_goes_on_and_off)
{
    say("s", "a", "one", 1);
    lore_do(pin, "a", true);
    assert_string_equal(entry_now("a"), "one, pinned");
    lore_do(pin, "a", false);
    assert_string_equal(entry_now("a"), "one");
    expect_fault(m->ops->pin(m, "zz", true, &e), ERR_MEMORY_NOT_FOUND, "zz");
}

TEST(forgetting_is_all_or_none)
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
    lore_do(forget, right, 3, &f);
    assert_int_equal(f.items.len, 2);
    assert_int_equal(f.summaries.len, 0);
    assert_string_equal(f.items.items[0].entry.content, "wombat three");
    expect_contents(NULL, "wombat two\n");
    expect_found("wombat", "wombat two\n");
    memory_forgotten_release(&f);
    lore_do(forget, right, 0, &f);
    assert_int_equal(f.items.len, 0);
    static const char *const last[] = {"b"};
    lore_do(forget, last, 1, NULL);
    assert_int_equal(memory_total(m), 0);
    expect_found("wombat", "");
}

TEST(restoring_puts_all_back)
{
    static const char *const ids[] = {"b", "a"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    LORE_INDEX("s", 7, {.id = "a", .text = "alpha", .at = 1},
               {.id = "b", .text = "beta", .at = 2, .seq = 12, .pinned = true},
               {.id = "c", .text = "gamma", .at = 3});
    lore_do(forget, ids, 2, &f);
    expect_contents("s", "gamma\n");
    lore_do(restore, &f);
    expect_contents("s", "alpha\nbeta\ngamma\n");
    expect_found("beta", "beta\n");
    AUTO(memory_entry_release) struct memory_entry got = get("b");
    assert_true(got.pinned);
    assert_int_equal(got.seq, 12);
    lore_do(restore, &f); /* there again: passed over */
    assert_int_equal(memory_total(m), 3);
    lore_do(withdraw, "s", 7);
    expect_contents("s", "beta\n");
}

TEST(what_cannot_come_back)
{
    static const char *const ids[] = {"a", "b"};
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    say("s", "a", "alpha", 1);
    say("t", "b", "beta", 1);
    lore_do(forget, ids, 2, &f);
    say("t", "b", "gamma", 2);
    expect_fault(m->ops->restore(m, &f, &e), ERR_USAGE, " b ");
    expect_contents(NULL, "gamma\n");
    lore_do(forget_session, "t");
    say("t", "c", "delta", 2);
    expect_fault(m->ops->restore(m, &f, &e), ERR_MEMORY_NOT_FOUND, "session t ");
    expect_contents(NULL, "delta\n");
}

TEST(places_are_not_used_again)
{
    AUTO(memory_forgotten_release) struct memory_forgotten f = {0};
    say("s", "z", "alpha", 1);
    say("s", "a", "beta", 2);
    lore_do(forget, &id_a, 1, &f);
    say("s", "c", "gamma", 3);
    lore_do(restore, &f);
    expect_contents("s", "alpha\nbeta\ngamma\n");
}

TEST(a_deleted_session_leaves_nothing)
{
    say("s", "a", "wombat", 1);
    say("t", "b", "badger", 2);
    lore_do(forget_session, "s");
    lore_do(forget_session, "nowhere");
    expect_contents(NULL, "badger\n");
    expect_found("wombat", "");
    AUTO(memory_stats_release) struct memory_stats stats = stats_now();
    assert_int_equal(stats.sessions, 1);
    say("s", "a", "wombat", 1);
    expect_found("wombat", "wombat\n");
}

TEST(stats_count)
{
    say("s", "a", "alpha", 1);
    say("s", "b", "beta", 2);
    say("t", "c", "gamma", 3);
    lore_do(pin, "c", true);
    AUTO(memory_stats_release) struct memory_stats stats = stats_now();
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

static void expect_language(const char *language)
{
    AUTO(memory_stats_release) struct memory_stats stats = stats_now();
    assert_string_equal(stats.language, language);
}

TEST(reindexing_changes_the_language)
{
    int64_t done = 0;
    say("s", "a", "wombat", 1);
    say("s", "b", "badger", 2);
    lore_do(reindex, "german", go_on, &done);
    assert_int_equal(done, 2);
    expect_language("german");
    expect_found("wombat", "wombat\n");
    expect_fault(m->ops->reindex(m, "french", stop, NULL, &e), ERR_INTERRUPTED, "as before");
    expect_language("german");
    expect_found("wombat", "wombat\n");
    lore_do(reindex, NULL, NULL, NULL);
    expect_language("auto");
}

/* ---- names of entries ---- */

TEST(the_beginning_of_an_id_is_enough)
{
    static const char *const given[][3] = {
        {"x", "xyz", NULL},          {"ab", "ab", NULL}, /* whole, though others begin so */
        {"a", NULL, "ab, abc, abd"}, {"q", NULL, "no entry q"},
        {"", NULL, "no entry"},      {"many", NULL, "many4, …"}};
    say("s", "abc", "one", 1);
    say("s", "abd", "two", 2);
    say("s", "ab", "three", 3);
    say("s", "xyz", "four", 4);
    for (int i = 0; i < 9; i++)
        say("s", support_text("many%d", i), support_text("text %d", i), 5);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        auto_free char *id = NULL;
        bool ok = memory_resolve(m, given[i][0], &id, &e);
        if (given[i][1])
            assert_string_equal(id, given[i][1]);
        else
            expect_fault(ok || id, ERR_MEMORY_NOT_FOUND, given[i][2]);
    }
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

TEST(who_listens_is_told)
{
    static const char *const ids[] = {"a", "c", "a"};
    struct told told = {.text = BUF_INIT};
    AUTO(memory_forgotten_release) struct memory_forgotten forgotten = {0};
    m->listener = (struct memory_listener){.hear = hear, .context = &told};
    say("s", "a", "the first", 1);
    say("s", "b", "the second", 2);
    say("t", "c", "the third", 3);
    lore_do(edit, "b", "the second");
    expect_told(&told, "");
    lore_do(edit, "b", "number two");
    expect_told(&told, "edited b the second; ");
    lore_do(forget, ids, 2, &forgotten);
    expect_told(&told, "forgotten a the first; forgotten c the third; ");
    lore_do(restore, &forgotten);
    expect_told(&told, "restored a the first; restored c the third; ");
    lore_do(forget_session, "nobody");
    expect_told(&told, "");
    lore_do(forget_session, "t");
    expect_told(&told, "session t ; ");
    told.refuses = true;
    assert_false(m->ops->forget(m, ids, 1, NULL, &e));
    assert_false(m->ops->edit(m, "b", "other", &e));
    assert_false(m->ops->forget_session(m, "s", &e));
    expect_contents("s", "the first\nnumber two\n");
    buf_release(&told.text);
}
