/* The worker that searches and changes semantic memory for the surface. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "index/words.h"
#include "memory/sqlite_private.h"
#include "session/capability.h"
#include "session/memory_desk.h"
#include "session/memory_operations.h"
#include "session/notice.h"
#include "store/store.h"
#include "tests/damage.h"
#include "tests/model_server.h"
#include "tests/suite.h"

enum { WAIT_MS = 20000 };

static struct config *config;
static char *path;
static struct place *place;
static struct mailbox *notices;
static struct memory_desk *desk;
static struct error e;
static uint64_t request; /* the last request */

static void free_notice(void *item)
{
    notice_free(item);
}

static void open_desk(void)
{
    desk = memory_desk_new(config, place, "/project", notices);
}

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("tiro.db");
    notices = mailbox_new(free_notice);
    place = place_new(path, PLACE_USUAL);
    open_desk();
    return 0;
}

static int tear_down(void **state)
{
    memory_desk_free(desk);
    place_free(place);
    mailbox_free(notices);
    request = 0;
    config_free(config);
    free(path);
    return support_teardown(state);
}

/* --- helpers ---------------------------------------------------------------------------------- */

static void set(enum config_key key, const char *value)
{
    assert_ok(config_set(config, key, value, &e), e);
}

static void use_endpoint(const char *url)
{
    set(CONFIG_EMBEDDING_PROVIDER, "openai");
    set(CONFIG_EMBEDDING_BASE_URL, url);
    set(CONFIG_EMBEDDING_API_KEY, "sk-test");
}

/* Imports on another connection. */
static void import_text(const char *text)
{
    const struct operation *o = &operation_memory_import;
    struct operation_context context;
    struct memory_import_result imported;
    char *name = support_path("in.jsonl");
    support_write(name, text);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    const struct operation_stream stream = {.in = file, .name = name, .wake_fd = -1};
    assert_true(operation_open(&context, o, config, path, "/project", &e));
    context.stream = &stream;
    assert_ok(operation_call(&context, o, NULL, &imported, &e), e);
    operation_close(&context);
    fclose(file);
}

static void add_entry(const char *id, const char *session, int day, const char *content)
{
    import_text(
        support_text("{\"id\":\"%s\",\"session_id\":\"%s\",\"role\":\"user\","
                     "\"created_at\":\"2026-03-%02d\",\"content\":\"%s\"}\n",
                     id, session, day, content));
}

static void add_entries(void)
{
    add_entry("river", "talk-1", 1, "the ryokan by the river in Kyoto, a ryokan for us");
    add_entry("hills", "talk-1", 3, "a ryokan in the hills, much too far away from anything");
    add_entry("hotel", "talk-2", 2, "a hotel near the station");
}

static void start(const struct operation *o, const void *params)
{
    struct operation_request *r = operation_request_new(o, params);
    r->id = ++request;
    memcpy(r->session, "talk-2", sizeof "talk-2");
    desk_start((struct desk *)desk, r);
}

static void look_for(const struct memory_search *search)
{
    start(&operation_memory_search, search);
}

static void search(const char *scope, const char *text)
{
    look_for(&(struct memory_search){.query = text, .scope = scope, .limit = 10, .typing = true});
}

static void show(const char *id)
{
    start(&operation_memory_read, &(struct memory_read_params){id});
}

static void edit(const char *id, const char *content)
{
    start(&operation_memory_edit, &(struct memory_edit_params){id, content});
}

static void pin(const char *id, bool pinned)
{
    start(&operation_memory_pin, &(struct memory_pin_params){id, pinned});
}

static void forget(const char *id)
{
    const char *ids[] = {id};
    start(&operation_memory_forget, &(struct memory_forget_params){{.items = ids, .len = 1}});
}

static struct notice *expect(enum notice_type type)
{
    struct notice *n = mailbox_wait(notices, WAIT_MS);
    if (!n || n->type != type)
        fail_msg("notice %d in place of %d: %s", n ? (int)n->type : -1, type,
                 n ? n->error.text : "nothing was told");
    return n;
}

/* The answer to the last request. */
static struct notice *expect_answer(void)
{
    struct notice *n = expect(NOTICE_ANSWER);
    assert_int_equal(n->answer->request->id, request);
    return n;
}

static void expect_error(enum err_code code)
{
    AUTO(notice_free_local) struct notice *n = expect_answer();
    const struct error *fault = &n->answer->error;
    if (fault->code != code)
        fail_msg("%s: %s", err_info(fault->code)->name, fault->text);
    assert_true(*fault->text);
    assert_null(n->answer->result);
}

static struct notice *expect_result(void)
{
    struct notice *n = expect_answer();
    assert_ok(n->answer->error.code == ERR_OK, n->answer->error);
    return n;
}

static void expect_done(void)
{
    notice_free(expect_result());
}

static struct memory_hits *hits_of(struct notice *n)
{
    return &((struct memory_found *)n->answer->result)->hits;
}

static void expect_hits(int64_t total, const char *want)
{
    AUTO(notice_free_local) struct notice *n = expect_result();
    AUTO(buf_release) struct buf ids = BUF_INIT;
    for (size_t i = 0; i < hits_of(n)->items.len; i++)
        buf_addf(&ids, "%s%s", i > 0 ? " " : "", hits_of(n)->items.items[i].entry.id);
    assert_string_equal(ids.data ? ids.data : "", want);
    assert_int_equal(((struct memory_found *)n->answer->result)->total, total);
}

static void finds(const char *scope, const char *text, int64_t total, const char *want)
{
    search(scope, text);
    expect_hits(total, want);
}

/* --- search ----------------------------------------------------------------------------------- */

NEEDS(capability_store() && capability_memory());
FIXTURE(set_up, tear_down);

TEST(test_search)
{
    add_entries();
    finds(NULL, "ryokan", 3, "river hills");
    search("all", "ryok"); /* the word is being typed */
    AUTO(notice_free_local) struct notice *n = expect_result();
    assert_int_equal(hits_of(n)->items.len, 2);
    const struct memory_hit *best = &hits_of(n)->items.items[0];
    assert_true(best->score > 0 && best->score <= 1);
    assert_true(best->marks.len > 0);
    look_for(&(struct memory_search){.query = "ryokan", .limit = 1});
    expect_hits(3, "river");
    finds(NULL, "nothing like it", 3, "");
}

/* Every desk has a memory, which may end with the program. */
TEST(test_search_where_sessions_are_not_kept)
{
    add_entries();
    set(CONFIG_SESSION_PERSIST, "false");
    finds(NULL, "ryokan", 3, "river hills");
}

TEST(test_search_by_date)
{
    add_entries();
    look_for(&(struct memory_search){.query = "ryokan", .limit = 9, .order = MEMORY_BY_DATE});
    expect_hits(3, "hills river");
}

TEST(test_browse)
{
    finds(NULL, "", 0, "");
    add_entries();
    finds(NULL, "", 3, "hills hotel river");
    finds(NULL, "  ", 3, "hills hotel river");
    look_for(&(struct memory_search){.query = "", .limit = 2});
    AUTO(notice_free_local) struct notice *n = expect_result();
    assert_int_equal(hits_of(n)->items.len, 2);
    assert_true(hits_of(n)->items.items[0].score == 0);
}

TEST(test_scopes)
{
    add_entries();
    finds("session", "", 1, "hotel");
    finds("session=talk-1", "", 2, "hills river");
    finds("session", "ryokan", 1, "");
    finds("project", "", 0, "");
    search("everywhere", "ryokan");
    expect_error(ERR_USAGE);
}

/* While another process writes, a change waits, and later requests wait for the change. */
static struct store *hold_store(void)
{
    struct store *other;
    assert_true(store_open(path, STORE_READ_WRITE, &other, &e));
    assert_true(store_begin(other, &e));
    return other;
}

static void let_go(struct store *other)
{
    store_rollback(other);
    store_close(other);
}

/* A withdrawn request is not answered; if it changes something, it is carried out all the same. */
TEST(test_what_is_withdrawn)
{
    add_entries();
    finds(NULL, "station", 3, "hotel");
    struct store *other = hold_store();
    edit("river", "the ryokan by the sea");
    for (int i = 0; i < 4; i++) {
        search(NULL, "r");
        desk_withdraw((struct desk *)desk, request);
    }
    edit("hills", "a ryokan in the dunes");
    desk_withdraw((struct desk *)desk, request);
    search(NULL, "sea");
    let_go(other);
    for (int i = 0; i < 2; i++) { /* both changes */
        AUTO(notice_free_local) struct notice *n = expect(NOTICE_ANSWER);
        assert_ptr_equal(n->answer->request->operation, &operation_memory_edit);
        assert_int_equal(n->answer->error.code, ERR_OK);
    }
    expect_hits(3, "river");
    assert_null(mailbox_pop(notices));
    finds(NULL, "dunes", 3, "hills");
}

/* Follows the notices of work until none is left; returns their number. */
static int follow_work(int64_t entries)
{
    int count = 0;
    for (bool over = false; !over; count++) {
        AUTO(notice_free_local) struct notice *n = expect(NOTICE_MEMORY_STATE);
        over = !n->stats.embedding;
        assert_true(n->stats.pending <= entries);
        assert_int_equal(n->stats.entries, entries);
        if (over)
            assert_int_equal(n->stats.embedded, entries);
    }
    return count;
}

/* A search that waits for an endpoint gives way at once. */
TEST(test_withdrawing_ends_one_that_runs)
{
    struct model_server *server = model_server_start();
    const struct reply held = {.hold = true};
    add_entries();
    use_endpoint(support_text("%s/v1", model_server_url(server)));
    memory_desk_work(desk);
    follow_work(3);
    model_server_set_default(server, &held);
    size_t asked = model_server_requests(server);
    search(NULL, "ryokan");
    assert_true(model_server_wait(server, asked + 1, WAIT_MS));
    int64_t began = clock_mono_ms();
    desk_withdraw((struct desk *)desk, request);
    finds(NULL, "", 3, "hills hotel river");
    assert_true(clock_mono_ms() - began < 3000);
    search(NULL, "hotel");
    assert_true(model_server_wait(server, asked + 2, WAIT_MS));
    memory_desk_free(desk);
    desk = NULL;
    assert_true(clock_mono_ms() - began < 4000);
    assert_null(mailbox_pop(notices));
    model_server_stop(server);
}

/* --- changes ---------------------------------------------------------------------------------- */

TEST(test_what_is_not_there)
{
    static const struct {
        const char *id;
        enum err_code code;
    } rows[] = {{"nonesuch", ERR_MEMORY_NOT_FOUND}, {NULL, ERR_USAGE}};
    add_entries();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        show(rows[i].id);
        expect_error(rows[i].code);
        edit(rows[i].id, "text");
        expect_error(rows[i].code);
        pin(rows[i].id, true);
        expect_error(rows[i].code);
        forget(rows[i].id);
        expect_error(rows[i].code);
    }
    start(&operation_memory_restore, NULL);
    expect_error(ERR_MEMORY_NOT_FOUND);
}

static void expect_restored(const char *id)
{
    start(&operation_memory_restore, NULL);
    AUTO(notice_free_local) struct notice *n = expect_result();
    assert_string_equal(((struct memory_restore_result *)n->answer->result)->id, id);
}

TEST(test_forget_and_put_back)
{
    add_entries();
    forget("river");
    expect_done();
    forget("hotel");
    expect_done();
    finds(NULL, "", 1, "hills");
    forget("hotel");
    expect_error(ERR_MEMORY_NOT_FOUND);
    expect_restored("hotel");
    finds(NULL, "", 2, "hills hotel");
    expect_restored("river");
    finds(NULL, "ryokan river", 3, "river hills");
    start(&operation_memory_restore, NULL);
    expect_error(ERR_MEMORY_NOT_FOUND);
}

/* --- work that waits -------------------------------------------------------------------------- */

TEST(test_state_without_vectors)
{
    add_entries();
    start(&operation_memory_stats, NULL);
    AUTO(notice_free_local) struct notice *n = expect_result();
    const struct memory_stats *stats = n->answer->result;
    assert_int_equal(stats->entries, 3);
    assert_false(stats->embedding);
    assert_null(stats->waits_for);
    memory_desk_work(desk); /* there is nothing to do */
    finds(NULL, "hotel", 3, "hotel");
    assert_null(mailbox_pop(notices));
}

static void add_many(int count)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < count; i++)
        buf_addf(&text,
                 "{\"id\":\"e%d\",\"session_id\":\"many\",\"role\":\"user\",\"created_at\":"
                 "\"2026-03-09\",\"content\":\"word%d among others\"}\n",
                 i, i);
    import_text(text.data);
}

TEST(test_work_is_told)
{
    set(CONFIG_EMBEDDING_PROVIDER, "hashed");
    set(CONFIG_MEMORY_RANKING, "vectors");
    add_many(400);
    int64_t began = clock_mono_ms();
    memory_desk_work(desk);
    int told = follow_work(400);
    assert_true(told >= 2);
    assert_true(told <= 3 + (clock_mono_ms() - began) / 250);
    search(NULL, "word77 among others");
    AUTO(notice_free_local) struct notice *n = expect_result();
    assert_string_equal(hits_of(n)->items.items[0].entry.id, "e77");
    assert_true(hits_of(n)->items.items[0].why.has_vector);
    edit("e77", "something else altogether"); /* lacks its vector now */
    expect_done();
    follow_work(400);
}

TEST(test_work_waits_for_the_endpoint)
{
    use_endpoint("http://127.0.0.1:1/v1");
    set(CONFIG_PROVIDER_MAX_RETRIES, "0");
    add_entries();
    memory_desk_work(desk);
    struct notice *n = expect(NOTICE_MEMORY_STATE);
    while (!n->stats.waits_for) {
        notice_free(n);
        n = expect(NOTICE_MEMORY_STATE);
    }
    assert_int_equal(n->stats.pending, 3);
    assert_int_equal(n->stats.missing, 3);
    notice_free(n);
    search(NULL, "hotel"); /* by words meanwhile */
    n = expect_result();
    assert_int_equal(hits_of(n)->items.len, 1);
    assert_non_null(hits_of(n)->badge);
    notice_free(n);
    start(&operation_memory_stats, NULL);
    n = expect_result();
    const struct memory_stats *stats = n->answer->result;
    assert_int_equal(stats->pending, 3);
    assert_true(stats->embedding && stats->waits_for && *stats->waits_for);
    notice_free(n);
}

/* --- the store -------------------------------------------------------------------------------- */

TEST(test_store_that_cannot_be_opened)
{
    const struct operation *o;
    struct store *first;
    assert_true(place_open(place, STORE_READ_WRITE, &first, &e));
    store_close(first);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    memory_desk_work(desk);
    for (size_t i = 0; (o = operation_at(i)); i++)
        if (o->executor == OPERATION_MEMORY) {
            start(o, NULL);
            expect_error(ERR_SESSION_STORE_ERROR);
        }
}

TEST(test_leaving_waits_for_nobody)
{
    add_entries();
    memory_desk_set_patience(desk, INT_MAX);
    finds(NULL, "hotel", 3, "hotel");
    struct store *other = hold_store();
    edit("river", "never written");
    edit("hills", "nor this");
    memory_desk_free(desk); /* the other one lets go afterwards only */
    open_desk();
    let_go(other);
    for (int i = 0; i < 2; i++) {
        AUTO(notice_free_local) struct notice *n = expect(NOTICE_ANSWER);
        assert_int_equal(n->answer->error.code, ERR_SESSION_STORE_ERROR);
    }
    finds(NULL, "written", 3, "");
}

TEST(test_what_was_forgotten_is_gone_at_the_end)
{
    add_entries();
    add_entry("odd", "talk-2", 4, "the zqxjkvwombat of old");
    assert_true(damage_on_disk(path, "qxjkvwomb"));
    forget("odd");
    memory_desk_free(desk);
    open_desk();
    assert_false(damage_on_disk(path, "qxjkvwomb"));
}

/* The program was killed before it was gone: the next one sees to it, without being asked. */
TEST(test_what_was_left_is_purged)
{
    static const char *const ids[] = {"odd"};
    bool waits = true;
    add_entries();
    add_entry("odd", "talk-2", 4, "the zqxjkvwombat of old");
    struct store *s;
    assert_true(store_open(path, STORE_READ_WRITE, &s, &e));
    const struct corpus c = memory_sqlite_corpus(s);
    struct memory *m = memory_open(s, NULL);
    m->lazy = true;
    assert_true(m->ops->forget(m, ids, 1, NULL, &e));
    finds(NULL, "hotel", 3, "hotel");
    int64_t end = clock_mono_ms() + WAIT_MS;
    while (waits && clock_mono_ms() < end)
        assert_true(words_purge_waits(&c, &waits, &e));
    assert_false(waits);
    memory_close(m);
    store_close(s);
}

enum { FEW_PARTS = 8 };

static int64_t parts(void)
{
    return damage_sql(path, "SELECT count(DISTINCT segid) FROM memory_words_idx");
}

static bool has_few_parts(void *none)
{
    (void)none;
    return parts() <= FEW_PARTS;
}

/* A compaction adds a part to the index of words; the desk merges the parts. The desk begins with
 * its first request: until then no thread merges. */
TEST(test_an_index_is_kept_quick)
{
    for (int i = 0; i == 0 || (parts() <= FEW_PARTS && i < 100); i++)
        add_entry(support_text("e%d", i), "talk-1", i % 28 + 1,
                  support_text("inn %d by the sea", i));
    assert_true(parts() > FEW_PARTS);
    search(NULL, "hotel");
    assert_true(support_wait_until(has_few_parts, NULL, WAIT_MS));
    notice_free(expect_result());
}

TEST(test_leaving_waits_for_no_key)
{
    set(CONFIG_EMBEDDING_PROVIDER, "openai");
    set(CONFIG_EMBEDDING_API_KEY_COMMAND, "sleep 600");
    add_entries();
    start(&operation_memory_stats, NULL);
    int64_t began = clock_mono_ms();
    memory_desk_free(desk);
    open_desk();
    assert_true(clock_mono_ms() - began < 25000); /* the command is ended after 30,000 */
}

TEST(test_never_asked)
{
    memory_desk_free(desk);
    memory_desk_free(NULL);
    desk = NULL;
    struct stat st;
    assert_int_equal(stat(path, &st), -1);
}

/* All requests are answered in order, however many come at once. */
TEST(test_much_at_once)
{
    enum { ROUNDS = 60 };
    uint64_t answered = 0;
    add_many(50);
    for (int i = 0; i < ROUNDS; i++) {
        const char *text = support_text("word%d changed", i);
        search(NULL, text);
        edit(support_text("e%d", i % 50), text);
        search(NULL, "");
        memory_desk_work(desk);
    }
    while (answered < request) {
        AUTO(notice_free_local) struct notice *n = expect(NOTICE_ANSWER);
        assert_int_equal(n->answer->request->id, ++answered);
        assert_int_equal(n->answer->error.code, ERR_OK);
    }
}

/* Another process writes for longer than a test waits for an answer. */
TEST(test_a_search_waits_for_no_chore)
{
    add_entries();
    damage_sql(path, "INSERT INTO memory_deferred VALUES ('talk-1', 9, 1, '[[1,1]]') RETURNING 1");
    memory_desk_set_patience(desk, 10 * WAIT_MS);
    struct store *other = hold_store();
    for (int i = 0; i < 20; i++) {
        finds(NULL, "ryokan", 3, "river hills");
    }
    let_go(other);
}
