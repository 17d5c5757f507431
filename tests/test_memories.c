/* Operations on semantic memory from outside a conversation. */
#include <unistd.h>

#include "base/entropy.h"
#include "base/utf8.h"
#include "session/capability.h"
#include "session/memory_operations.h"
#include "tests/record.h"
#include "tests/suite.h"

enum { STEP = 8000 };

#define run_ok(...) assert_ok(run(__VA_ARGS__), e)
#define run_refused(code, ...) assert_err(run(__VA_ARGS__), e, code)

static struct config *config;
static char *path;
static struct operation_context opened;
static struct error e;

/* Opens the parts that this operation needs, and others that need no more. */
static void open_memories(const struct operation *o)
{
    operation_close(&opened);
    assert_ok(operation_open(&opened, o, config, path, support_dir(), &e), e);
}

static int set_up(void **state)
{
    support_setup(state);
    config = config_new();
    path = support_path("data/tiro.db");
    e = (struct error){0};
    if (capability_store() && capability_memory())
        open_memories(&operation_memory_edit);
    return 0;
}

static int tear_down(void **state)
{
    operation_close(&opened);
    opened = (struct operation_context){0};
    config_free(config);
    return support_teardown(state);
}

/* --- helpers ---------------------------------------------------------------------------------- */

static bool run(const struct operation *o, const void *params, void *result)
{
    return operation_call(&opened, o, params, result, &e);
}

/* `tell` NULL: nobody asks. */
static bool import_bytes(const char *text, size_t len,
                         bool (*tell)(void *context, const char *what, int64_t done, int64_t of),
                         void *context, int64_t *stored)
{
    struct memory_import_result imported;
    char *name = support_path("in.jsonl");
    FILE *file = fopen(name, "w+b");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    rewind(file);
    opened.stream = &(struct operation_stream){
        .in = file, .name = "in.jsonl", .tell = tell, .context = context, .wake_fd = -1};
    bool ok = run(&operation_memory_import, NULL, &imported);
    opened.stream = NULL;
    *stored = imported.stored;
    fclose(file);
    return ok;
}

/* The number of new entries. */
static int import_text(const char *text)
{
    int64_t stored;
    assert_ok(import_bytes(text, strlen(text), NULL, NULL, &stored), e);
    return (int)stored;
}

static void expect_refused(const char *text, const char *says, int64_t kept)
{
    int64_t stored;
    assert_err(import_bytes(text, strlen(text), NULL, NULL, &stored), e, ERR_USAGE);
    if (!strstr(e.text, says))
        fail_msg("\"%s\" does not say %s", e.text, says);
    assert_int_equal(stored, kept);
}

static bool add_piece(void *context, const char *bytes, size_t len, struct error *fault)
{
    (void)fault;
    buf_add(context, bytes, len);
    return true;
}

static char *exported(void)
{
    struct buf out = BUF_INIT;
    struct memory_export_result result;
    opened.stream = &(struct operation_stream){.write = add_piece, .context = &out, .wake_fd = -1};
    run_ok(&operation_memory_export, NULL, &result);
    opened.stream = NULL;
    int64_t lines = 0;
    for (size_t i = 0; i < out.len; i++)
        lines += out.data[i] == '\n';
    assert_int_equal(result.entries, lines);
    return support_keep(buf_take(&out));
}

static int count_entries(void)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    run_ok(&operation_memory_stats, NULL, &stats);
    return (int)stats.entries;
}

/* A line of an import; `id` and `content` are plain words. */
static void add_line(struct buf *out, const char *id, const char *session, int second,
                     const char *content)
{
    buf_addf(out,
             "{\"id\":\"%s\",\"session_id\":\"%s\",\"turn\":1,\"role\":\"user\","
             "\"created_at\":\"2026-03-09T00:%02d:%02d.000Z\",\"content\":\"%s\"}\n",
             id, session, second / 60 % 60, second % 60, content);
}

static void add_simple(const char *id, const char *session, const char *content)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_line(&text, id, session, 0, content);
    assert_int_equal(import_text(text.data), 1);
}

static bool search(const char *query, const char *scope, int limit, struct memory_found *out)
{
    const struct memory_search search = {.query = query, .scope = scope, .limit = limit};
    return run(&operation_memory_search, &search, out);
}

static bool list_entries(const char *scope, int limit, struct memory_entries *out)
{
    const struct memory_list_params params = {.scope = scope, .limit = limit};
    return run(&operation_memory_list, &params, out);
}

static char *found(const char *query, const char *scope, int limit)
{
    struct memory_found found;
    struct buf ids = BUF_INIT;
    if (!search(query, scope, limit, &found))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < found.hits.items.len; i++)
        buf_addf(&ids, "%s%s", i > 0 ? " " : "", found.hits.items.items[i].entry.id);
    memory_hits_release(&found.hits);
    return support_keep(buf_take(&ids));
}

static void expect_found(const char *query, const char *scope, const char *want)
{
    assert_string_equal(found(query, scope, 10), want);
}

/* --- opening ---------------------------------------------------------------------------------- */

NEEDS(capability_store() && capability_memory());
FIXTURE(set_up, tear_down);

TEST(test_nothing_is_there_yet)
{
    char *other = support_path("none/tiro.db");
    AUTO(memory_entries_release) struct memory_entries list = {0};
    struct memory_entry entry;
    operation_close(&opened);
    assert_true(operation_open(&opened, &operation_memory_read, config, other, "/", &e));
    expect_found("anything", NULL, "");
    expect_found("anything", "session=nobody", "");
    assert_true(list_entries(NULL, 0, &list));
    assert_int_equal(list.items.len, 0);
    assert_int_equal(count_entries(), 0);
    assert_string_equal(exported(), "");
    run_refused(ERR_MEMORY_NOT_FOUND, &operation_memory_read, &(struct memory_read_params){"x"},
                &entry);
    assert_int_equal(access(other, F_OK), -1);
}

/* --- import and export ------------------------------------------------------------------------ */

static const char shapes[] =
    "{\"id\":\"a1\",\"session_id\":\"talk one\",\"turn\":1,\"seq\":4,\"role\":\"user\","
    "\"speaker\":\"Jürgen\",\"created_at\":\"2026-03-09T14:05:07.123Z\","
    "\"content\":\"Größe \\\"zählt\\\"\\nund 漢字 🦊\",\"pinned\":true}\n"
    "{\"id\":17,\"session_id\":\"talk one\",\"turn\":2,\"seq\":9,\"role\":\"assistant\","
    "\"created_at\":\"2026-03-09T14:06:00.000Z\",\"content\":\"an answer\",\"edited\":true}\n"
    "{\"id\":\"t\",\"session_id\":\"talk two\",\"turn\":0,\"role\":\"tool\","
    "\"created_at\":\"1969-07-20T20:17:40.000Z\",\"content\":\"the eagle\"}\n";

TEST(test_what_is_imported_is_exported)
{
    assert_int_equal(import_text(shapes), 3);
    assert_string_equal(exported(), shapes);
    assert_int_equal(import_text(shapes), 0);
    assert_string_equal(exported(), shapes);
    open_memories(&operation_memory_read);
    assert_string_equal(exported(), shapes);
}

TEST(test_importing_again_adds_nothing)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 40; i++) /* without ids, and some texts come again */
        buf_addf(&text,
                 "{\"session_id\":\"s%d\",\"role\":\"user\","
                 "\"created_at\":\"2026-03-09T00:00:%02d\",\"content\":\"text number %d\"}\n",
                 i % 3, i, i % 11);
    assert_true(import_text(text.data) > 0);
    assert_int_equal(count_entries(), 33);
    char *before = exported();
    assert_int_equal(import_text(text.data), 0);
    assert_string_equal(exported(), before);
    assert_int_equal(import_text(before), 0);
}

TEST(test_sessions_may_be_interleaved)
{
    static const char *const sessions[] = {"zz", "mm", "aa"};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 300; i++)
        add_line(&text, support_text("e%04d", i), sessions[i % 3], i,
                 support_text("word%d of it", i));
    assert_int_equal(import_text(text.data), 300);
    /* Each session stands together, and each line behind the one before it. */
    const char *session = "";
    int seen = 0, last = -1, changes = 0;
    for (char *line = exported(); *line; line = strchr(line, '\n') + 1, seen++) {
        int number = atoi(strstr(line, "\"e") + 2);
        bool same = sessions[number % 3] == session;
        assert_true(!same || number > last);
        changes += !same;
        session = sessions[number % 3];
        last = number;
    }
    assert_int_equal(seen, 300);
    assert_int_equal(changes, 3);
}

#define LINE(content)                                                                              \
    "{\"session_id\":\"s\",\"role\":\"user\",\"created_at\":\"2026-03-09\",\"content\":\"" content \
    "\"}"

TEST(test_lines_of_all_kinds)
{
    static const char text[] = "\xef\xbb\xbf" LINE("one") "\r\n\n  \t\r\n" LINE(
        "two \xff\xc3 x") "\n" LINE("") "\n" LINE("   ") "\n" LINE("three");
    assert_int_equal(import_text(text), 3);
    char *all = exported();
    assert_non_null(strstr(all, "\"one\""));
    assert_non_null(strstr(all, "\"two \xef\xbf\xbd\xef\xbf\xbd x\""));
    assert_non_null(strstr(all, "\"three\""));
    AUTO(memory_entries_release) struct memory_entries list = {0};
    assert_true(list_entries("all", 0, &list));
    for (size_t i = 0; i < list.items.len; i++)
        assert_true(utf8_valid(list.items.items[i].content, strlen(list.items.items[i].content)));
    assert_int_equal(import_text("\xef\xbb\xbf\n"), 0);
    assert_int_equal(import_text(""), 0);
    assert_int_equal(import_text("\n\n"), 0);
}

TEST(test_wrong_lines_are_named)
{
    expect_refused(LINE("alpha") "\n\n" LINE("beta") "\nnonsense\n" LINE("gamma") "\n",
                   "in.jsonl:4: ", 2);
    assert_int_equal(count_entries(), 2);
    expect_refused("{\"session_id\":\"s\"}\n", "in.jsonl:1: \"role\"", 0);
    expect_refused(LINE("delta") "\n" LINE("nul \\u0000 here"), "in.jsonl:2: ", 1);
    expect_refused("[1]\n", "in.jsonl:1: ", 0);
    expect_refused(LINE("one") LINE("two") "\n", "in.jsonl:1: ", 0);
    int64_t stored;
    static const char nul[] = LINE("epsilon") "\n\0\n";
    assert_false(import_bytes(nul, sizeof nul - 1, NULL, NULL, &stored));
    assert_non_null(strstr(e.text, "in.jsonl:2: "));
    assert_int_equal(count_entries(), 4);
}

TEST(test_lines_that_are_too_long)
{
    const size_t most = MEMORY_CONTENT_BYTES;
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t extra = 0; extra < 2; extra++) {
        char *content = support_keep(mem_alloc(most + extra + 1));
        memset(content, 'x', most + extra);
        buf_clear(&text);
        buf_addf(&text, LINE("first%zu") "\n", extra);
        buf_addf(&text, LINE("%s") "\n", content);
        if (extra == 0)
            assert_int_equal(import_text(text.data), 2);
        else
            expect_refused(text.data, "in.jsonl:2: \"content\"", 1);
    }
    buf_clear(&text);
    buf_addstr(&text, LINE("second") "\n");
    char *blank = support_keep(mem_alloc(7 * most + 1));
    memset(blank, 'y', 7 * most);
    buf_addstr(&text, blank);
    expect_refused(text.data, "in.jsonl:2: the line is longer", 1);
}

/* An id that another text has is found by the store, in the midst of a step. */
TEST(test_ids_that_are_taken)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_simple("taken", "s", "what was there");
    add_line(&text, "a", "zz", 1, "first");
    add_line(&text, "b", "mm", 2, "second");
    add_line(&text, "taken", "zz", 3, "something else");
    add_line(&text, "c", "aa", 4, "never read");
    expect_refused(text.data, "in.jsonl:3: ", 2);
    char *all = exported();
    assert_non_null(strstr(all, "\"first\""));
    assert_non_null(strstr(all, "\"second\""));
    assert_non_null(strstr(all, "\"what was there\""));
    assert_null(strstr(all, "something else"));
    assert_null(strstr(all, "never read"));
}

/* --- steps ------------------------------------------------------------------------------------ */

struct steps {
    int count, stop_at;
    int64_t stored[8];
    bool write_between;
};

static bool note_step(void *context, const char *what, int64_t stored, int64_t of)
{
    struct steps *s = context;
    assert_true(s->count < 8);
    assert_true(strcmp(what, "entries") == 0 && of == 0);
    s->stored[s->count++] = stored;
    if (s->write_between) {
        struct operation_context other;
        const struct memory_pin_params params = {.id = "e0001", .pinned = s->count % 2};
        assert_true(operation_open(&other, &operation_memory_pin, config, path, "/", &e));
        assert_ok(operation_call(&other, &operation_memory_pin, &params, NULL, &e), e);
        operation_close(&other);
    }
    return s->count != s->stop_at;
}

static char *many_lines(int count)
{
    struct buf text = BUF_INIT;
    for (int i = 0; i < count; i++)
        add_line(&text, support_text("e%04d", i), "long", i, support_text("word%d of it", i));
    return support_keep(buf_take(&text));
}

TEST(test_steps_are_kept)
{
    char *text = many_lines(2 * STEP + 500);
    struct steps steps = {.stop_at = 1, .write_between = true};
    int64_t stored;
    assert_err(import_bytes(text, strlen(text), note_step, &steps, &stored), e, ERR_INTERRUPTED);
    assert_int_equal(stored, STEP);
    assert_int_equal(count_entries(), STEP);

    steps = (struct steps){.stop_at = 3, .write_between = true}; /* the end is no stop */
    assert_true(import_bytes(text, strlen(text), note_step, &steps, &stored));
    assert_int_equal(stored, STEP + 500);
    assert_int_equal(steps.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(steps.stored[i], i == 2 ? STEP + 500 : i * STEP);
    assert_int_equal(count_entries(), 2 * STEP + 500);
}

/* --- searching -------------------------------------------------------------------------------- */

TEST(test_search_in_scopes)
{
    add_simple("r1", "talk-1", "we liked the ryokan by the river");
    add_simple("r2", "talk-2", "another ryokan in the hills");
    add_simple("h1", "talk-2", "a hotel near the station");
    char *both = found("ryokan", NULL, 10);
    assert_true(strcmp(both, "r1 r2") == 0 || strcmp(both, "r2 r1") == 0);
    expect_found("ryokan river", "all", "r1 r2");
    assert_string_equal(found("ryokan river", "all", 1), "r1");
    expect_found("ryokan", "session=talk-2", "r2");
    expect_found("ryokan -hills", "all", "r1");
    expect_found("ryo", "all", ""); /* nobody types here */
    expect_found("nowhere", "all", "");
    expect_found("ryokan", "project", "");
    assert_true(config_set(config, CONFIG_MEMORY_SCOPE, "session", &e));
    expect_found("station", NULL, "h1");
    assert_true(config_set(config, CONFIG_MEMORY_SCOPE, "project", &e));
    expect_found("station", NULL, "");
}

TEST(test_sessions_by_reference)
{
    struct store *store;
    struct record r;
    AUTO(buf_release) struct buf text = BUF_INIT;
    assert_true(store_open(path, STORE_READ_WRITE, &store, &e));
    record_begin(&r, store);
    free(r.info.title);
    r.info.title = mem_strdup("Kyoto in spring");
    free(r.info.directory);
    r.info.directory = mem_strdup(support_dir());
    record_save(&r);
    add_line(&text, "k", r.info.id, 1, "cherry blossoms");
    assert_int_equal(import_text(text.data), 1);
    add_simple("o", "elsewhere", "cherry cake");
    expect_found("cherry", "session=kyoto IN spring", "k");
    expect_found("cherry", "session=last", "k");
    expect_found("cherry", "session=elsewhere", "o");
    expect_found("cherry", "project", "k");
    struct memory_found none;
    assert_err(search("cherry", "session=nobody", 5, &none), e, ERR_SESSION_NOT_FOUND);
    record_release(&r);
    store_close(store);
}

TEST(test_scopes_that_are_none)
{
    static const char *const bad[] = {"", "everything", "session", "session=", "all "};
    struct memory_found none;
    struct memory_entries list;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (search("x", bad[i], 5, &none))
            fail_msg("taken: \"%s\"", bad[i]);
        assert_int_equal(e.code, ERR_USAGE);
        assert_int_equal(none.hits.items.len, 0);
        assert_false(list_entries(bad[i], 5, &list));
        assert_int_equal(e.code, ERR_USAGE);
    }
}

TEST(test_list_newest_first)
{
    static const struct {
        const char *scope;
        int limit;
        size_t count, at;
        const char *id; /* there */
    } rows[] = {{"session=long", 0, 50, 0, "e0049"},
                {"session=long", 0, 50, 49, "e0000"},
                {"all", 3, 3, 2, "e0047"},
                {NULL, 0, 51, 0, "e0049"}};
    assert_int_equal(import_text(many_lines(50)), 50);
    add_simple("other", "s", "of another session");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(memory_entries_release) struct memory_entries list = {0};
        assert_true(list_entries(rows[i].scope, rows[i].limit, &list));
        assert_int_equal(list.items.len, rows[i].count);
        assert_string_equal(list.items.items[rows[i].at].id, rows[i].id);
    }
}

/* --- changing --------------------------------------------------------------------------------- */

static void expect_entry(const char *reference, const char *content, bool pinned)
{
    AUTO(memory_entry_release) struct memory_entry entry = {0};
    if (!run(&operation_memory_read, &(struct memory_read_params){reference}, &entry))
        fail_msg("%s", e.text);
    assert_string_equal(entry.content, content);
    assert_int_equal(entry.pinned, pinned);
}

TEST(test_one_entry)
{
    struct memory_entry entry;
    add_simple("abc1", "s", "the first text");
    add_simple("abc2", "s", "the second text");
    add_simple("abc", "s", "the third text");
    expect_entry("abc", "the third text", false);
    expect_entry("abc1", "the first text", false);
    run_refused(ERR_MEMORY_NOT_FOUND, &operation_memory_read, &(struct memory_read_params){"ab"},
                &entry);
    assert_non_null(strstr(e.text, "abc1"));
    run_refused(ERR_MEMORY_NOT_FOUND, &operation_memory_read,
                &(struct memory_read_params){"nonesuch"}, &entry);
    assert_null(entry.content);

    run_ok(&operation_memory_pin, &(struct memory_pin_params){"abc1", true}, NULL);
    expect_entry("abc1", "the first text", true);
    run_ok(&operation_memory_pin, &(struct memory_pin_params){"abc1", false}, NULL);
    run_ok(&operation_memory_edit, &(struct memory_edit_params){"abc1", "quite another thing"},
           NULL);
    expect_entry("abc1", "quite another thing", false);
    expect_found("quite another", "all", "abc1");
    run_refused(ERR_USAGE, &operation_memory_edit, &(struct memory_edit_params){"abc1", "  \n"},
                NULL);
    run_refused(ERR_MEMORY_NOT_FOUND, &operation_memory_edit,
                &(struct memory_edit_params){"nonesuch", "x"}, NULL);
    run_refused(ERR_MEMORY_NOT_FOUND, &operation_memory_pin,
                &(struct memory_pin_params){"nonesuch", true}, NULL);
}

/* Ids in their order, the one that was asked for in brackets. */
static void expect_around(struct memory_place place, const char *want)
{
    struct memory_excerpt x = {0};
    AUTO(buf_release) struct buf ids = BUF_INIT;
    if (!run(&operation_memory_around, &place, &x))
        fail_msg("%s", e.text);
    for (int i = 0; i < (int)x.entries.items.len; i++)
        buf_addf(&ids, i == x.asked ? "[%s] " : "%s ", x.entries.items.items[i].id);
    assert_string_equal(ids.data, want);
    memory_excerpt_release(&x);
}

static void expect_nothing_around(struct memory_place place, enum err_code code, const char *says)
{
    struct memory_excerpt x = {0};
    run_refused(code, &operation_memory_around, &place, &x);
    assert_non_null(strstr(e.text, says));
    assert_int_equal(x.entries.items.len, 0);
}

TEST(test_an_entry_with_those_around_it)
{
    expect_nothing_around((struct memory_place){.id = "e0"}, ERR_MEMORY_NOT_FOUND, "");
    assert_int_equal(import_text(many_lines(6)), 6);
    add_simple("other", "s", "of another session");
    expect_around((struct memory_place){.id = "e0003", .before = 2, .after = 1},
                  "e0001 e0002 [e0003] e0004 ");
    expect_around((struct memory_place){.id = "oth", .before = 2, .after = 2}, "[other] ");
    expect_around((struct memory_place){.session_id = "s", .turn = 1}, "[other] ");
    expect_nothing_around((struct memory_place){.id = "e000"}, ERR_MEMORY_NOT_FOUND, "e0001");
    expect_nothing_around((struct memory_place){.session_id = "s", .turn = -1}, ERR_USAGE,
                          "give \"id\"");
    assert_true(config_set(config, CONFIG_MEMORY_SCOPE, "project", &e));
    expect_nothing_around((struct memory_place){.id = "e0003"}, ERR_MEMORY_NOT_FOUND,
                          "may not be read here");
}

static bool forget(struct memory_forget_result *out, const char *one, const char *two,
                   const char *three)
{
    const char *ids[] = {one, two, three};
    const struct memory_forget_params params = {.ids = {.items = ids, .len = 3}};
    return run(&operation_memory_forget, &params, out);
}

TEST(test_forget_all_or_none)
{
    struct memory_forget_result gone;
    add_simple("one", "s", "the first text");
    add_simple("two", "s", "the second text");
    add_simple("three", "s", "the third text");
    assert_err(forget(&gone, "one", "nonesuch", "two"), e, ERR_MEMORY_NOT_FOUND);
    assert_int_equal(gone.deleted, 0);
    assert_int_equal(count_entries(), 3);
    assert_true(forget(&gone, "one", "two", "on")); /* one is meant twice */
    assert_int_equal(gone.deleted, 2);
    assert_int_equal(gone.summaries, 0);
    expect_found("text", "all", "three");
    assert_true(
        run(&operation_memory_forget, &(struct memory_forget_params){.ids = {.len = 0}}, &gone));
    assert_int_equal(gone.deleted, 0);
}

/* --- reindex ---------------------------------------------------------------------------------- */

struct told {
    int words, vectors;
    int64_t done, of;
    bool stop;
};

static bool note_work(void *context, const char *what, int64_t done, int64_t of)
{
    struct told *t = context;
    t->words += strcmp(what, "words") == 0;
    t->vectors += strcmp(what, "vectors") == 0;
    t->done = done;
    t->of = of;
    return !t->stop;
}

static bool reindex(struct told *told)
{
    opened.stream = &(struct operation_stream){.tell = note_work, .context = told, .wake_fd = -1};
    bool ok = run(&operation_memory_reindex, NULL, NULL);
    opened.stream = NULL;
    return ok;
}

static void expect_language(const char *language, bool stale)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    run_ok(&operation_memory_stats, NULL, &stats);
    assert_string_equal(stats.language, language);
    assert_int_equal(stats.language_stale, stale);
}

TEST(test_reindex_in_another_language)
{
    struct told told = {0};
    assert_true(config_set(config, CONFIG_MEMORY_LANGUAGE, "english", &e));
    open_memories(&operation_memory_edit);
    add_simple("h", "s", "viele alte Häuser am Fluss");
    expect_language("english", false);
    assert_true(config_set(config, CONFIG_MEMORY_LANGUAGE, "german", &e));
    open_memories(&operation_memory_edit);
    expect_language("english", true);
    expect_found("Haus", "all", "");
    told.stop = true;
    assert_err(reindex(&told), e, ERR_INTERRUPTED);
    expect_language("english", true);
    told = (struct told){0};
    assert_true(reindex(&told));
    assert_true(told.words > 0);
    assert_int_equal(told.vectors, 0);
    expect_language("german", false);
    expect_found("Haus", "all", "h");
}

TEST(test_reindex_makes_vectors)
{
    struct told told = {0};
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    assert_int_equal(import_text(many_lines(200)), 200);
    assert_true(config_set(config, CONFIG_EMBEDDING_PROVIDER, "hashed", &e));
    assert_true(config_set(config, CONFIG_MEMORY_RANKING, "vectors", &e));
    open_memories(&operation_memory_edit);
    assert_ok(reindex(&told), e);
    assert_true(told.vectors > 0);
    assert_int_equal(told.done, told.of);
    run_ok(&operation_memory_stats, NULL, &stats);
    assert_int_equal(stats.embedded, 200);
    assert_int_equal(stats.missing, 0);
    assert_string_equal(found("word77 of it", "all", 1), "e0077");
}

/* --- any import ------------------------------------------------------------------------------- */

static size_t pick(size_t count)
{
    return (size_t)(entropy_unit() * (double)count);
}

/* For any lines: all entries before the first faulty line are kept, and no others. */
TEST(test_any_import)
{
    static const char *const wrong[] = {
        "{", "null", "{}", LINE("\\u0000"), LINE("\\ud800"), "\x01", LINE("x") "}"};
    entropy_seed(support_seed());
    int expected = 0;
    for (int round = 0; round < 30; round++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        size_t count = pick(60), bad = pick(80);
        for (size_t i = 0; i < count; i++) {
            const char *id = support_text("r%d-%zu", round, i);
            if (i == bad)
                buf_addf(&text, "%s\n", wrong[pick(sizeof wrong / sizeof *wrong)]);
            else
                add_line(&text, id, support_text("s%zu", pick(5)), (int)i, id);
        }
        if (bad < count)
            expect_refused(text.data, support_text("in.jsonl:%zu: ", bad + 1), (int64_t)bad);
        else
            assert_int_equal(import_text(text.data), count);
        expected += (int)(bad < count ? bad : count);
        assert_int_equal(count_entries(), expected);
    }
}
