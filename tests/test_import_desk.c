/* Histories of other agents, read by an engine: beside its other requests, and stopped. */
#include "base/buf.h"
#include "base/paths.h"
#include "session/capability.h"
#include "session/import_operations.h"
#include "session/memory_operations.h"
#include "store/sql.h"
#include "tests/suite.h"
#include "tests/surface.h"

NEEDS(capability_store());
FIXTURE(surface_setup, surface_teardown);

static struct error e;

static void write_talk(const char *name, int turns)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    char *path = support_path(support_text(".claude/projects/-w/%s.jsonl", name));
    auto_free char *folder = paths_parent(path);
    for (int i = 0; i < turns; i++) {
        buf_addf(&text,
                 "{'parentUuid':null,'cwd':'/w','sessionId':'%s','type':'user','uuid':'%s-u%d',"
                 "'timestamp':'2026-03-01T10:00:00Z','message':{'role':'user','content':"
                 "'question %d'}}\n",
                 name, name, i, i);
        buf_addf(&text,
                 "{'parentUuid':'%s-u%d','cwd':'/w','sessionId':'%s','type':'assistant','uuid':"
                 "'%s-a%d','timestamp':'2026-03-01T10:00:01Z','message':{'id':'%s-m%d','role':"
                 "'assistant','model':'opus','content':[{'type':'text','text':'answer'}]}}\n",
                 name, i, name, name, i, name, i);
    }
    for (size_t i = 0; i < text.len; i++)
        text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
    assert_ok(paths_make_dir(folder, &e), e);
    support_write(path, text.data);
}

/* Has the only right to write the store, whose connections of the engine are open. */
static struct store *lock_store(struct engine *s)
{
    struct store *other;
    (void)surface_call(s, &operation_import_list, NULL);
    (void)surface_call(s, &operation_session_list, NULL);
    assert_ok(store_open(surface_store(), STORE_READ_WRITE, &other, &e), e);
    assert_ok(store_exec(other, "BEGIN IMMEDIATE", &e), e);
    return other;
}

static int64_t conversations(const struct operation_answer *a)
{
    const struct import_report *r = a->result;
    assert_int_equal(a->error.code, ERR_OK);
    return r->sources.items[0].conversations;
}

TEST(test_a_list_does_not_wait_for_an_import)
{
    struct engine *s = surface_open(NULL, true);
    struct store *other = lock_store(s);
    write_talk("a", 1);
    uint64_t id = engine_start(s, &operation_import_run, NULL);
    assert_int_equal(surface_call(s, &operation_session_list, NULL)->error.code, ERR_OK);
    assert_ok(store_exec(other, "COMMIT", &e), e);
    const struct notice *n = surface_expect_answer(s, &operation_import_run);
    assert_int_equal(n->answer->request->id, id);
    assert_int_equal(conversations(n->answer), 1);
    store_close(other);
    engine_free(s);
}

TEST(test_an_import_tells_how_far_it_is)
{
    struct engine *s = surface_open(NULL, true);
    write_talk("a", 2500);
    (void)engine_start(s, &operation_import_run, NULL);
    const struct notice *n = surface_expect(s, NOTICE_IMPORT_STATE);
    assert_int_equal(n->import.files, 0);
    assert_int_equal(n->import.of, 1);
    assert_string_equal(n->text, n->import.messages > 0 ? "Claude Code" : "");
    assert_int_equal(conversations(surface_expect_answer(s, &operation_import_run)->answer), 1);
    engine_free(s);
}

/* A withdrawn import is stopped, not done: the next one finds something to read. */
TEST(test_a_withdrawn_import_goes_on_with_the_next)
{
    struct engine *s = surface_open(NULL, true);
    struct store *other = lock_store(s);
    write_talk("a", 2500);
    uint64_t id = engine_start(s, &operation_import_run, NULL);
    engine_withdraw(s, id);
    assert_ok(store_exec(other, "COMMIT", &e), e);
    assert_int_equal(conversations(surface_call(s, &operation_import_run, NULL)), 1);
    const struct operation_answer *list = surface_call(s, &operation_import_list, NULL);
    const struct import_report *r = list->result;
    assert_int_equal(conversations(list), 1);
    assert_int_equal(r->sources.items[0].messages, 5000);
    store_close(other);
    engine_free(s);
}

TEST(test_an_import_reads_the_chosen_sources)
{
    write_talk("a", 1);
    surface_set(CONFIG_IMPORT_SOURCES, "codex, pi");
    struct engine *s = surface_open(NULL, true);
    assert_int_equal(conversations(surface_call(s, &operation_import_run, NULL)), 0);
    engine_free(s);
    surface_set(CONFIG_IMPORT_SOURCES, "ask");
    s = surface_open(NULL, true);
    assert_int_equal(conversations(surface_call(s, &operation_import_run, NULL)), 1);
    engine_free(s);
}

/* --- following -------------------------------------------------------------------------------- */

struct remembered {
    struct store *store;
    int64_t messages;
};

static bool are_remembered(void *context)
{
    struct remembered *r = context;
    int64_t count = 0;
    assert_ok(store_number(r->store, "SELECT count(*) FROM memory_entry", &count, &e), e);
    return count >= r->messages;
}

/* Waits until so many messages are in memory. */
static void expect_remembered(int64_t messages)
{
    struct remembered r = {.messages = messages};
    assert_ok(store_open(surface_store(), STORE_READ_ONLY, &r.store, &e), e);
    assert_true(support_wait_until(are_remembered, &r, SURFACE_MS));
    store_close(r.store);
}

TEST(test_chosen_agents_are_followed)
{
    write_talk("a", 1);
    surface_set(CONFIG_IMPORT_SOURCES, "claude");
    struct engine *s = surface_open(NULL, true);
    (void)surface_call(s, &operation_session_list, NULL);
    expect_remembered(2);
    write_talk("a", 2);
    expect_remembered(3); /* the second answer has the words of the first */
    assert_int_equal(surface_call(s, &operation_import_list, NULL)->error.code, ERR_OK);
    write_talk("a", 3);
    expect_remembered(4);
    engine_free(s);
}

TEST(test_a_server_follows_without_a_conversation)
{
    write_talk("a", 1);
    surface_set(CONFIG_IMPORT_SOURCES, "all");
    struct engine_options o = surface_options(NULL, true);
    o.serves = true;
    struct engine *s = engine_new(&o);
    (void)surface_call(s, &operation_session_list, NULL);
    expect_remembered(2);
    engine_free(s);
}

TEST(test_the_answer_to_the_offer_is_followed)
{
    const struct import_params p = {.from = "all"};
    struct engine *s = surface_open(NULL, true);
    write_talk("a", 1);
    assert_int_equal(conversations(surface_call(s, &operation_import_run, &p)), 1);
    write_talk("a", 2);
    expect_remembered(3);
    engine_free(s);
}

TEST(test_nobody_is_followed_who_was_not_chosen)
{
    struct remembered r = {0};
    write_talk("a", 1);
    struct engine *s = surface_open(NULL, true);
    assert_int_equal(surface_call(s, &operation_import_list, NULL)->error.code, ERR_OK);
    assert_int_equal(surface_call(s, &operation_import_list, NULL)->error.code, ERR_OK);
    engine_free(s);
    assert_ok(store_open(surface_store(), STORE_READ_ONLY, &r.store, &e), e);
    int64_t count = -1;
    assert_ok(store_number(r.store, "SELECT count(*) FROM import_message", &count, &e), e);
    assert_int_equal(count, 0);
    store_close(r.store);
}

struct wanted {
    struct engine *engine;
    const char *query;
    const struct memory_found *found;
};

static bool is_found(void *context)
{
    struct wanted *w = context;
    const struct memory_search search = {.query = w->query, .limit = 5, .typing = true};
    const struct operation_answer *a = surface_call(w->engine, &operation_memory_search, &search);
    w->found = a->result;
    return a->error.code == ERR_OK && w->found->hits.items.len > 0;
}

TEST_IF(capability_memory(), memory_finds_what_was_imported_and_says_from_whom)
{
    struct engine_options o = surface_options(NULL, true);
    o.memory = true;
    struct engine *s = engine_new(&o);
    struct wanted w = {s, "from:claude question", NULL};
    write_talk("a", 1);
    assert_int_equal(conversations(surface_call(s, &operation_import_run, NULL)), 1);
    assert_true(support_wait_until(is_found, &w, SURFACE_MS));
    assert_string_equal(w.found->hits.items.items[0].entry.from, "claude");
    assert_int_equal(w.found->total, 2);
    w.query = "from:tiro question";
    assert_false(is_found(&w));
    w.query = "from:claude"; /* the newest */
    assert_true(is_found(&w));
    assert_int_equal(w.found->hits.items.len, 2);
    engine_free(s);
}
