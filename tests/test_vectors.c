#include <ctype.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "index/blend.h"
#include "index/hnsw.h"
#include "index/int8.h"
#include "index/vectors.h"
#include "memory/sqlite_private.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/suite.h"

enum { BUCKETS = 1024, MANY = 1000000 };

static char *path;
static struct store *store;
static struct corpus corpus;
static struct memory *memory;
static struct vectors *vectors;
static struct config *config;
static struct embedding_settings settings;

/* --- an embedder of our own: a bag of words in a few buckets ---------------------------------- */

static int buckets; /* of the fake model */
static void (*meanwhile)(void);

static void bag_of_words(const char *text, float *out)
{
    double square = 0;
    memset(out, 0, (size_t)buckets * sizeof *out);
    for (size_t at = 0; text[at];) {
        size_t len = 0;
        unsigned long sum = 5381;
        for (; isalnum((unsigned char)text[at + len]); len++)
            sum = sum * 33 + (unsigned char)text[at + len];
        if (len > 0)
            out[sum % (unsigned long)buckets] += 1;
        at += len > 0 ? len : 1;
    }
    for (int i = 0; i < buckets; i++)
        square += (double)(out[i] * out[i]);
    for (int i = 0; square > 0 && i < buckets; i++)
        out[i] = (float)(out[i] / sqrt(square));
}

static bool fake_embed(const struct embedding_settings *s, struct http *http,
                       const struct wakeup *wakeup, const char *const *texts, size_t count,
                       struct embeddings *out, struct failure *f)
{
    (void)s, (void)http;
    (void)wakeup, (void)f;
    out->dimension = buckets;
    vec_reserve(&out->values, count * (size_t)buckets);
    out->values.len = count * (size_t)buckets;
    for (size_t i = 0; i < count; i++)
        bag_of_words(texts[i], out->values.items + i * (size_t)buckets);
    if (meanwhile)
        meanwhile();
    return true;
}

static const struct embedder fake = {
    .name = "fake", .usual_model = "bag", .max_batch = 100, .max_bytes = 1000, .embed = fake_embed};

static void use_model(const char *model, int dimension)
{
    free(settings.model);
    settings.model = mem_strdup(model);
    buckets = dimension;
}

static const char *name(void)
{
    return support_keep(embedding_model_name(&settings));
}

/* --- the store -------------------------------------------------------------------------------- */

static struct memory *open_memory(struct store **s)
{
    struct error e;
    assert_ok(store_open(path, STORE_READ_WRITE, s, &e), e);
    return memory_open(*s, &(struct memory_settings){.language = "none"});
}

static int setup(void **state)
{
    support_setup(state);
    path = support_path("tiro.db");
    memory = open_memory(&store);
    corpus = memory_sqlite_corpus(store);
    config = config_new();
    settings = (struct embedding_settings){.embedder = &fake, .batch = 100, .config = config};
    use_model("bag", BUCKETS);
    vectors = vectors_new(MEMORY_TABLES, support_dir(), MANY);
    meanwhile = NULL;
    return 0;
}

static int teardown(void **state)
{
    /* The number of a model's vectors is right after any additions and removals. */
    assert_int_equal(damage_sql(path,
                                "SELECT count(*) FROM memory_model WHERE vectors <>"
                                " (SELECT count(*) FROM memory_vector WHERE model = number)"),
                     0);
    vectors_free(vectors);
    memory_close(memory);
    store_close(store);
    free(settings.model);
    config_free(config);
    return support_teardown(state);
}

#define ok(call)                                                                                   \
    do {                                                                                           \
        struct error e = {0};                                                                      \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, e.text);                                                     \
    } while (0)

static void add_of(const char *session, const char *id, const char *speaker, const char *text)
{
    AUTO(memory_entry_release)
    struct memory_entry entry = {.id = mem_strdup(id),
                                 .session_id = mem_strdup(session),
                                 .role = ROLE_USER,
                                 .speaker = mem_strdup(speaker),
                                 .created_ms = 1,
                                 .content = mem_strdup(text)};
    int stored;
    ok(memory->ops->index(memory, session, 0, &entry, 1, &stored, &e));
    assert_int_equal(stored, 1);
}

static void add(const char *session, const char *id, const char *text)
{
    add_of(session, id, NULL, text);
}

/* Random sentences of a few words out of fifty. */
static void add_random(const char *session, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        buf_addf(&text, "nr%d", i);
        for (int n = 0; n < 6; n++)
            buf_addf(&text, " w%d", (int)(entropy_unit() * 50));
        add(session, support_text("r%d", i), text.data);
    }
}

static void forget(const char *id)
{
    ok(memory->ops->forget(memory, &id, 1, NULL, &e));
}

static struct vectors_counts count(void)
{
    struct vectors_counts stats;
    ok(vectors_count(&corpus, name(), &stats, &e));
    return stats;
}

/* False: none lacked a vector. */
static bool embed_some(int most)
{
    struct vectors_lacking lacking;
    struct embeddings made;
    struct failure f;
    ok(vectors_lacking(&corpus, name(), most, fake.max_bytes, &lacking, &e));
    bool some = lacking.texts.len > 0;
    if (some) {
        assert_true(embed_all(&settings, NULL, NULL, (const char *const *)lacking.texts.items,
                              lacking.texts.len, &made, &f));
        ok(vectors_keep(&corpus, name(), &lacking, &made, &e));
        embeddings_release(&made);
    }
    vectors_lacking_release(&lacking);
    return some;
}

static void embed(void)
{
    while (embed_some(16))
        continue;
    assert_int_equal(count().missing, 0);
    ok(vectors_fit(&corpus, name(), &e));
}

static void release_found(struct candidates *found)
{
    vec_release(&found->items);
}

static void free_vectors(struct vectors **v)
{
    vectors_free(*v);
}

/* --- searching ------------------------------------------------------------------------------- */

/* `field` takes the similarity of the question to all vectors; may be NULL. */
static struct candidates search_with(struct vectors *v, struct store *s, const char *text,
                                     const struct corpus_scope *scope, size_t limit,
                                     struct vectors_field *field)
{
    static const struct corpus_scope all = {.all = true};
    float values[4096];
    struct candidates out;
    bag_of_words(text, values);
    const struct vector_query query = {.model = name(), .dimension = buckets, .values = values};
    const struct corpus c = memory_sqlite_corpus(s);
    ok(vectors_search(v, &c, &query, scope ? scope : &all, limit, field, &out, &e));
    return out;
}

static struct candidates search_in(struct vectors *v, struct store *s, const char *text,
                                   const struct corpus_scope *scope, size_t limit)
{
    return search_with(v, s, text, scope, limit, NULL);
}

/* "a b c": ids of the hits, best first. */
static void assert_finds(const char *text, size_t limit, const char *expected)
{
    AUTO(release_found) struct candidates found = search_in(vectors, store, text, NULL, limit);
    AUTO(buf_release) struct buf ids = BUF_INIT;
    for (size_t i = 0; i < found.items.len; i++) {
        struct query q = sql_query(store, NULL, "SELECT id FROM memory_entry WHERE key = ?", "i",
                                   found.items.items[i].key);
        assert_true(query_next(&q));
        auto_free char *id = query_column_text(&q, 0);
        buf_addf(&ids, "%s%s", i > 0 ? " " : "", id);
        assert_true(query_end(&q));
    }
    assert_string_equal(ids.data, expected);
}

/* Vectors that are held in memory and updated equal freshly loaded ones. */
static void assert_same_as_fresh(const char *text)
{
    AUTO(free_vectors) struct vectors *fresh = vectors_new(MEMORY_TABLES, NULL, MANY);
    AUTO(release_found) struct candidates a = search_in(vectors, store, text, NULL, 200);
    AUTO(release_found) struct candidates b = search_in(fresh, store, text, NULL, 200);
    assert_int_equal(a.items.len, b.items.len);
    for (size_t i = 0; i < a.items.len; i++) {
        assert_int_equal(a.items.items[i].key, b.items.items[i].key);
        assert_true(a.items.items[i].rank == b.items.items[i].rank);
    }
}

FIXTURE(setup, teardown);

TEST(test_vectors_are_made_and_found)
{
    add("s", "a", "the ryokan by the river");
    add("s", "b", "quarterly revenue");
    add("t", "c", "river cruise");
    assert_int_equal(count().missing, 3);
    assert_int_equal(count().embedded, 0);
    assert_finds("river", 5, "");
    embed();
    assert_int_equal(count().embedded, 3);
    assert_int_equal(count().dimension, BUCKETS);
    assert_finds("river", 5, "c a");
    assert_finds("river", 1, "c");
    assert_finds("unheard", 5, "");
    AUTO(release_found)
    struct candidates exact = search_in(vectors, store, "quarterly revenue", NULL, 5);
    assert_true(fabs(exact.items.items[0].score - 1) < 1e-6);
    assert_true(exact.items.items[0].why.has_vector);
    assert_true(fabs(exact.items.items[0].why.cosine - 1) < 1e-6);
}

TEST(test_an_empty_store)
{
    assert_finds("anything", 5, "");
    embed();
    assert_finds("anything", 5, "");
}

TEST(test_a_speaker_is_found)
{
    add_of("s", "a", "Caroline", "hello");
    embed();
    assert_finds("Caroline", 5, "a");
}

TEST(test_missing_counts_down)
{
    entropy_seed(support_seed());
    add_random("s", 0, 40);
    for (int64_t expected = 30; expected >= 0; expected -= 10) {
        assert_true(embed_some(10));
        assert_int_equal(count().missing, expected);
    }
    assert_false(embed_some(10));
}

TEST(test_scope_is_exact)
{
    struct corpus_scope scope = {0};
    entropy_seed(support_seed());
    add_random("far", 0, 100);
    add("near", "a", "w1 w2 w3 nothing else of the kind");
    add_random("other", 100, 100);
    embed();
    struct candidates found = search_in(vectors, store, "nothing else", NULL, 1);
    vec_push(&scope.numbers, found.items.items[0].key >> 24);
    vec_release(&found.items);
    for (int named = 1; named >= 0; named--) {
        found = search_in(vectors, store, "w1 w2 w4", &scope, 50);
        assert_int_equal(found.items.len, named);
        vec_release(&found.items);
        vec_clear(&scope.numbers);
    }
    vec_release(&scope.numbers);
}

/* The order is that of the floats, of however many there are. */
TEST(test_the_order_is_that_of_floats)
{
    entropy_seed(support_seed());
    add_random("s", 0, 300);
    embed();
    for (int round = 0; round < 20; round++) {
        const char *text =
            support_text("w%d w%d w%d w%d", round, round * 7 % 50, round * 3 % 50, round * 11 % 50);
        AUTO(release_found) struct candidates found = search_in(vectors, store, text, NULL, 30);
        for (size_t i = 1; i < found.items.len; i++)
            assert_true(found.items.items[i].rank <= found.items.items[i - 1].rank);
    }
}

/* --- changes ---------------------------------------------------------------------------------- */

TEST(test_changes_are_followed)
{
    entropy_seed(support_seed());
    add_random("one", 0, 40);
    add_random("two", 40, 40);
    embed();
    for (int round = 0; round < 30; round++) {
        switch (round % 5) {
        case 0:
            add_random("one", 100 + round, 1);
            break;
        case 1:
            add_random("two", 200 + round * 3, 3);
            break;
        case 2:
            forget(support_text("r%d", round));
            break;
        case 3:
            ok(memory->ops->edit(memory, support_text("r%d", 40 + round),
                                 support_text("edited w%d w%d", round, round + 1), &e));
            break;
        default:
            add_random("three", 300 + round, 1);
            break;
        }
        if (round % 2)
            embed();
        assert_same_as_fresh("w1 w2 w3 w4 w5 w6 w7 w8 edited");
    }
}

TEST(test_what_is_forgotten_is_not_found)
{
    AUTO(memory_forgotten_release) struct memory_forgotten gone = {0};
    const char *id = "a";
    add("s", "a", "the ryokan by the river");
    add("s", "b", "a river");
    embed();
    assert_finds("river", 5, "b a");
    ok(memory->ops->forget(memory, &id, 1, &gone, &e));
    assert_finds("river", 5, "b");
    ok(memory->ops->restore(memory, &gone, &e));
    assert_int_equal(count().missing, 1);
    assert_finds("river", 5, "b");
    embed();
    assert_finds("river", 5, "b a");
}

TEST(test_an_edit_makes_the_vector_anew)
{
    add("s", "a", "the ryokan by the river");
    embed();
    assert_finds("mountain", 5, "");
    ok(memory->ops->edit(memory, "a", "on the mountain", &e));
    assert_int_equal(count().missing, 1);
    assert_finds("river", 5, "");
    embed();
    assert_finds("mountain", 5, "a");
}

/* After any removal of a row, another connection sees that its vectors changed. */
TEST(test_other_connections_see_it)
{
    struct store *other_store;
    struct memory *other = open_memory(&other_store);
    add("s", "a", "the ryokan by the river");
    add("s", "b", "a river");
    embed();
    assert_finds("river", 5, "b a");
    ok(store_exec(other_store,
                  "INSERT INTO memory_words (memory_words, rowid, words) "
                  "SELECT 'delete', key, '' FROM memory_entry WHERE 0;"
                  "DELETE FROM memory_entry WHERE id = 'b'",
                  &e));
    assert_finds("river", 5, "a");
    memory_close(other);
    store_close(other_store);
}

static void forget_the_other(void)
{
    struct store *other_store;
    struct memory *other = open_memory(&other_store);
    const char *id = "b";
    ok(other->ops->forget(other, &id, 1, NULL, &e));
    ok(other->ops->edit(other, "c", "the text of later", &e));
    memory_close(other);
    store_close(other_store);
    meanwhile = NULL;
}

/* The text may change between the request for a vector and its storage. */
TEST(test_changed_while_it_was_embedded)
{
    add("s", "a", "stays as it is");
    add("s", "b", "goes away");
    add("s", "c", "the text of before");
    meanwhile = forget_the_other;
    assert_true(embed_some(16));
    assert_int_equal(count().missing, 1);
    assert_finds("before", 5, "");
    embed();
    assert_finds("later", 5, "c");
    assert_int_equal(count().embedded, 2);
}

/* --- models ---------------------------------------------------------------------------------- */

static void drop_stale(void)
{
    for (bool more = true; more;)
        ok(vectors_drop_stale(&corpus, name(), &more, &e));
}

static int64_t rows_of(const char *sql)
{
    int64_t n;
    assert_true(store_number(store, sql, &n, NULL));
    return n;
}

static void embed_by_the_other(void)
{
    struct store *other_store, *own = store;
    meanwhile = NULL;
    memory_close(open_memory(&other_store));
    store = other_store;
    embed();
    store = own;
    store_close(other_store);
}

TEST(test_two_embed_the_same)
{
    add("s", "a", "the ryokan by the river");
    add("s", "b", "a river");
    meanwhile = embed_by_the_other;
    embed();
    assert_int_equal(rows_of("SELECT count(*) FROM memory_vector"), 2);
    assert_int_equal(rows_of("SELECT vectors FROM memory_model"), 2);
    assert_finds("river", 5, "b a");
}

TEST(test_another_model_is_stale)
{
    add("s", "a", "the ryokan by the river");
    embed();
    use_model("other", 32);
    assert_finds("river", 5, "");
    assert_int_equal(count().missing, 1);
    assert_int_equal(count().stale, 1);
    drop_stale(); /* of a model that is not there: nothing */
    assert_int_equal(count().stale, 1);
    embed();
    assert_finds("river", 5, "a");
    assert_int_equal(count().stale, 1);
    drop_stale();
    assert_int_equal(count().stale, 0);
    assert_int_equal(count().embedded, 1);
    assert_int_equal(rows_of("SELECT count(*) FROM memory_floats"), 1);
    assert_int_equal(rows_of("SELECT count(*) FROM memory_model  "), 1);
    assert_finds("river", 5, "a");
}

/* The server gives other vectors under the same name. */
TEST(test_another_dimension)
{
    add("s", "a", "the ryokan by the river");
    embed();
    buckets = 32;
    ok(vectors_know_model(&corpus, "fake/bag", 32, &e));
    assert_int_equal(count().missing, 1);
    assert_finds("river", 5, "");
    embed();
    assert_finds("river", 5, "a");
    buckets = BUCKETS;
    ok(vectors_know_model(&corpus, "fake/bag", BUCKETS, &e));
    assert_int_equal(count().missing, 0);
    add("s", "b", "river");
    buckets = 32; /* and back, told by the answers alone */
    embed();
    assert_int_equal(count().dimension, 32);
    assert_finds("river", 5, "b a");
    drop_stale();
    assert_finds("river", 5, "b a");
    assert_int_equal(rows_of("SELECT count(*) FROM memory_vector  "), 2);
}

/* --- scores ---------------------------------------------------------------------------------- */

TEST(test_calibration)
{
    struct calibration none = {0}, c, read;
    double cosines[4001];
    assert_true(calibration_score(&none, -0.5) == 0);
    assert_true(fabs(calibration_score(&none, 0.25) - 0.25) < 1e-12);
    assert_true(calibration_score(&none, 1) == 1);
    for (int i = 0; i < 4001; i++)
        cosines[i] = 0.2 + 0.2 * ((i * 7919) % 4001) / 4000.0;
    c = calibration_fit(cosines, 4001);
    assert_int_equal(c.count, 3);
    assert_true(fabs(calibration_score(&c, 0.3)) < 1e-6);
    assert_true(calibration_score(&c, 0.29) == 0);
    assert_true(fabs(calibration_score(&c, 0.4) - 0.7) < 0.01);
    assert_true(calibration_score(&c, 0.39) < 0.7);
    assert_true(calibration_score(&c, 1) == 1);
    assert_true(calibration_score(&c, 1.5) == 1);
    double last = 0;
    for (double x = -1; x <= 1; x += 0.01) {
        assert_true(calibration_score(&c, x) >= last);
        last = calibration_score(&c, x);
    }
    assert_true(calibration_parse(support_keep(calibration_print(&c)), &read));
    assert_int_equal(read.count, 3);
    assert_true(fabs(calibration_score(&read, 0.35) - calibration_score(&c, 0.35)) < 1e-9);
    cosines[0] = 0.5;
    c = calibration_fit(cosines, 1);
    assert_int_equal(c.count, 2);
    assert_true(fabs(calibration_score(&c, 0.75) - 0.5) < 1e-9);
    assert_int_equal(calibration_fit(cosines, 0).count, 0);
}

TEST(test_broken_calibrations)
{
    static const char *const texts[] = {NULL,
                                        "",
                                        "{}",
                                        "[]",
                                        "[1,2]",
                                        "[{\"cosine\":0,\"score\":0}]",
                                        "[{\"cosine\":0,\"score\":0},{\"cosine\":0,\"score\":1}]",
                                        "[{\"cosine\":0,\"score\":1},{\"cosine\":1,\"score\":0}]",
                                        "[{\"cosine\":0,\"score\":0},{\"cosine\":1,\"score\":2}]"};
    struct calibration c;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(calibration_parse(texts[i], &c));
        assert_int_equal(c.count, 0);
    }
}

TEST(test_scores_are_fitted_to_the_model)
{
    entropy_seed(support_seed());
    add_random("s", 0, 20);
    embed();
    assert_int_equal(rows_of("SELECT fitted FROM memory_model"), 0);
    add_random("s", 20, 60);
    embed();
    assert_int_equal(rows_of("SELECT fitted FROM memory_model"), 80);
    assert_int_equal(rows_of("SELECT knots IS NOT NULL FROM memory_model"), 1);
    add_random("s", 100, 20);
    embed();
    assert_int_equal(rows_of("SELECT fitted FROM memory_model"), 80);
    add_random("s", 200, 300);
    embed();
    assert_int_equal(rows_of("SELECT fitted FROM memory_model"), 400);
}

/* --- the graph ------------------------------------------------------------------------------- */

static bool graph_step(struct vectors *v, struct store *s, int step, int64_t *left)
{
    bool ok;
    const struct corpus c = memory_sqlite_corpus(s);
    ok(ok = vectors_graph_step(v, &c, name(), step, left, &e));
    return ok && *left > 0;
}

static void finish_graph(struct vectors *v)
{
    int64_t left;
    while (graph_step(v, store, 50, &left))
        ;
}

static bool uses_graph(struct vectors *v)
{
    AUTO(release_found)
    struct candidates found = search_in(v, store, "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9", NULL, 5);
    assert_int_equal(found.items.len, 5);
    return vectors_has_graph(v);
}

/* The graph's file; NULL: there is none. */
static char *graph_path(const char *suffix)
{
    AUTO(buf_release) struct buf command = BUF_INIT;
    char line[4096] = "";
    buf_addf(&command, "ls -d %s/memory-fake_bag-*.hnsw%s 2>/dev/null", support_dir(), suffix);
    FILE *ls = popen(command.data, "r");
    bool there = ls && fgets(line, sizeof line, ls);
    if (ls)
        pclose(ls);
    line[strcspn(line, "\n")] = '\0';
    return there ? mem_strdup(line) : NULL;
}

static bool file_holds(const char *file, const void *bytes, size_t len)
{
    FILE *in = fopen(file, "rb");
    struct stat st;
    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &st), 0);
    char *all = support_keep(mem_alloc((size_t)st.st_size + 1));
    assert_int_equal(fread(all, 1, (size_t)st.st_size, in), st.st_size);
    fclose(in);
    bool found = false;
    for (size_t i = 0; !found && i + len <= (size_t)st.st_size; i++)
        found = memcmp(all + i, bytes, len) == 0;
    return found;
}

static void with_graph(int entries)
{
    entropy_seed(support_seed());
    add_random("s", 0, entries);
    embed();
    vectors_free(vectors);
    vectors = vectors_new(MEMORY_TABLES, support_dir(), 100);
}

static void with_finished_graph(int entries)
{
    with_graph(entries);
    finish_graph(vectors);
}

/* … and one more, which is to be forgotten. */
static void with_secret(void)
{
    with_graph(150);
    add("s", "secret", "uranium plutonium caesium thorium radium");
    embed();
    finish_graph(vectors);
}

TEST_IF(hnsw_available(), test_a_graph_is_made_in_steps)
{
    int64_t left;
    struct stat st;
    with_graph(200);
    assert_false(uses_graph(vectors));
    assert_true(graph_step(vectors, store, 50, &left));
    assert_int_equal(left, 150);
    assert_false(uses_graph(vectors));
    assert_same_as_fresh("w1 w2 w3");
    finish_graph(vectors);
    assert_true(uses_graph(vectors));
    assert_int_equal(stat(support_keep(graph_path("")), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST_IF(hnsw_available(), test_a_graph_finds_what_the_scan_finds)
{
    with_finished_graph(300);
    AUTO(free_vectors) struct vectors *scan = vectors_new(MEMORY_TABLES, NULL, MANY);
    for (int round = 0; round < 20; round++) {
        const char *text = support_text("nr%d w%d w%d", round, round, round * 7 % 50);
        AUTO(release_found) struct candidates a = search_in(vectors, store, text, NULL, 10);
        AUTO(release_found) struct candidates b = search_in(scan, store, text, NULL, 10);
        assert_true(vectors_has_graph(vectors));
        assert_false(vectors_has_graph(scan));
        assert_int_equal(a.items.len, 10);
        assert_true(fabs(a.items.items[0].rank - b.items.items[0].rank) < 1e-9);
    }
}

static const struct candidate *find_key(const struct candidates *c, int64_t key)
{
    for (size_t i = 0; i < c->items.len; i++)
        if (c->items.items[i].key == key)
            return &c->items.items[i];
    return NULL;
}

static void assert_same_ranks(const struct candidates *graph, const struct candidates *scan,
                              const struct candidates *also)
{
    for (size_t i = 0; i < also->items.len; i++) {
        const struct candidate *a = find_key(graph, also->items.items[i].key);
        const struct candidate *b = find_key(scan, also->items.items[i].key);
        assert_true(a && b && fabs(a->rank - b->rank) < 0.02);
    }
}

/* A graph with more entries than it samples, nearly a quarter of which are deleted. */
TEST_IF(hnsw_available(), test_a_graph_tells_how_a_question_stands)
{
    struct candidates also = {0};
    with_finished_graph(1600);
    const char *gone[380];
    for (int i = 0; i < 380; i++)
        gone[i] = support_text("r%d", 100 + i);
    ok(memory->ops->forget(memory, gone, 380, NULL, &e));
    finish_graph(vectors);
    AUTO(free_vectors) struct vectors *scan = vectors_new(MEMORY_TABLES, NULL, MANY);
    AUTO(release_found) struct candidates some = search_in(scan, store, "w1 w2 w3 w4", NULL, 20);
    for (size_t i = 0; i < some.items.len; i++)
        vec_push(&also.items, some.items.items[i]);
    for (int round = 0; round < 20; round++) {
        const char *text = support_text("w%d w%d w%d", round, round + 9, round * 7 % 50);
        struct vectors_field a = {.previous = 0.5, .also = &also}, b = a;
        AUTO(release_found)
        struct candidates graph = search_with(vectors, store, text, NULL, 10, &a),
                          exact = search_with(scan, store, text, NULL, 10, &b);
        assert_true(vectors_has_graph(vectors));
        assert_int_equal(a.count, b.count);
        assert_true(fabs(a.mean - b.mean) < 0.15 * b.deviation);
        assert_true(fabs(a.deviation - b.deviation) < 0.15 * b.deviation);
        assert_same_ranks(&graph, &exact, &also);
        vec_release(&exact.items);
    }
    vec_release(&also.items);
}

/* Whether vectors that are loaded now have a graph, which needs so many entries. */
static bool loads_graph(int64_t least)
{
    AUTO(free_vectors) struct vectors *second = vectors_new(MEMORY_TABLES, support_dir(), least);
    bool uses = uses_graph(second);
    return uses;
}

TEST_IF(hnsw_available(), test_a_graph_is_loaded_not_made)
{
    with_finished_graph(150);
    assert_true(loads_graph(100));
    assert_false(loads_graph(151)); /* where there are too few for it */
}

TEST_IF(hnsw_available(), test_a_graph_catches_up)
{
    with_finished_graph(150);
    AUTO(free_vectors) struct vectors *second = vectors_new(MEMORY_TABLES, support_dir(), 100);
    assert_true(uses_graph(second));
    add_random("t", 500, 20);
    embed();
    assert_false(uses_graph(vectors));
    assert_same_as_fresh("w1 w2 nr510");
    finish_graph(vectors);
    assert_true(uses_graph(vectors));
    assert_finds("nr510", 1, "r510");
    assert_true(vectors_has_graph(vectors));
    assert_true(uses_graph(second)); /* reads the newer file */
}

TEST_IF(hnsw_available(), test_scoped_searches_pass_the_graph_by)
{
    struct corpus_scope scope = {0};
    with_finished_graph(150);
    AUTO(release_found) struct candidates found = search_in(vectors, store, "w1", &scope, 5);
    assert_false(vectors_has_graph(vectors));
    assert_int_equal(found.items.len, 0);
}

TEST_IF(hnsw_available(), test_a_damaged_graph_is_set_aside)
{
    with_finished_graph(150);
    char *file = support_keep(graph_path(""));
    FILE *out = fopen(file, "r+b");
    fseek(out, 5000, SEEK_SET);
    fputc('!' ^ fgetc(out), out);
    fseek(out, 5001, SEEK_SET);
    fputs("damage", out);
    fclose(out);
    AUTO(free_vectors) struct vectors *second = vectors_new(MEMORY_TABLES, support_dir(), 100);
    assert_false(uses_graph(second));
    assert_int_equal(access(file, F_OK), -1);
    assert_non_null(support_keep(graph_path(".damaged")));
    finish_graph(second);
    assert_true(uses_graph(second));
}

TEST_IF(hnsw_available(), test_a_truncated_graph_is_set_aside)
{
    with_finished_graph(120);
    char *file = support_keep(graph_path(""));
    for (off_t len = 0; len < 2000; len += 700) {
        AUTO(free_vectors) struct vectors *second = vectors_new(MEMORY_TABLES, support_dir(), 100);
        assert_int_equal(truncate(file, len), 0);
        assert_false(uses_graph(second));
        finish_graph(second);
        assert_true(uses_graph(second));
    }
}

TEST_IF(hnsw_available(), test_one_makes_the_graph)
{
    int64_t left;
    with_graph(200);
    AUTO(free_vectors) struct vectors *second = vectors_new(MEMORY_TABLES, support_dir(), 100);
    assert_true(graph_step(vectors, store, 10, &left));
    assert_false(graph_step(second, store, 10, &left));
    assert_int_equal(left, 0);
    finish_graph(vectors);
    assert_true(uses_graph(second));
}

/* The first one dies in the midst. */
TEST_IF(hnsw_available(), test_a_half_made_graph_is_gone_on_with)
{
    int64_t left;
    with_graph(200);
    assert_true(graph_step(vectors, store, 150, &left));
    vectors_free(vectors);
    vectors = vectors_new(MEMORY_TABLES, support_dir(), 100);
    assert_false(uses_graph(vectors));
    finish_graph(vectors);
    assert_true(uses_graph(vectors));
}

static void bytes_of(const char *id, int8_t *bytes)
{
    struct query q = sql_query(store, NULL,
                               "SELECT bytes FROM memory_vector JOIN memory_entry USING (key) "
                               "WHERE id = ?",
                               "t", id);
    assert_true(query_next(&q));
    memcpy(bytes, sqlite3_column_blob(q.handle, 0), BUCKETS);
    query_end(&q);
}

TEST_IF(hnsw_available(), test_a_forgotten_vector_leaves_the_file)
{
    int8_t gone[BUCKETS], stays[BUCKETS];
    with_graph(200);
    add("s", "secret", "uranium plutonium caesium thorium radium");
    add("s", "other", "apples pears quinces plums medlars");
    embed();
    finish_graph(vectors);
    bytes_of("secret", gone);
    bytes_of("other", stays);
    char *file = support_keep(graph_path(""));
    assert_true(file_holds(file, gone, BUCKETS));
    forget("secret"); /* by a connection without vectors */
    assert_false(file_holds(file, gone, BUCKETS));
    assert_true(file_holds(file, stays, BUCKETS));
    finish_graph(vectors); /* writes before the commit are not relied on */
    assert_true(uses_graph(vectors));
    assert_finds("apples pears", 1, "other");
    assert_finds("uranium plutonium", 1, "");
    add_random("t", 700, 5); /* these wait, that must not */
    embed();
    ok(store_exec(store,
                  "DELETE FROM memory_vector WHERE key = (SELECT key FROM memory_entry "
                  "WHERE id = 'other')",
                  &e));
    ok(vectors_graph_purge(vectors, &corpus, &e));
    assert_false(file_holds(file, stays, BUCKETS));
}

TEST_IF(hnsw_available(), test_a_lazy_memory_purges_the_file_later)
{
    int8_t gone[BUCKETS];
    with_secret();
    bytes_of("secret", gone);
    char *file = support_keep(graph_path(""));
    memory->lazy = true;
    forget("secret");
    assert_true(file_holds(file, gone, BUCKETS));
    assert_finds("uranium plutonium", 1, "");
    for (bool more = true; more;)
        ok(memory->ops->purge(memory, &more, &e));
    assert_false(file_holds(file, gone, BUCKETS));
}

TEST_IF(hnsw_available(), test_a_forgotten_vector_leaves_a_damaged_file)
{
    with_secret();
    assert_int_equal(truncate(support_keep(graph_path("")), 5000), 0);
    forget("secret");
    assert_null(graph_path(""));
    assert_null(graph_path(".damaged"));
}

/* Deleting may be undone until it is committed. */
TEST_IF(hnsw_available(), test_a_purge_that_is_rolled_back)
{
    with_graph(150);
    add("s", "kept", "uranium plutonium");
    embed();
    finish_graph(vectors);
    ok(store_begin(store, &e));
    forget("kept");
    ok(vectors_graph_purge(vectors, &corpus, &e));
    store_rollback(store);
    assert_finds("uranium plutonium", 1, "kept");
    add_random("t", 900, 1); /* the version equals that within the transaction */
    embed();
    assert_finds("uranium plutonium", 1, "kept");
    finish_graph(vectors);
    assert_true(uses_graph(vectors));
    assert_finds("uranium plutonium", 1, "kept");
}

TEST_IF(hnsw_available(), test_a_graph_follows_changes_that_are_not_its_own)
{
    with_finished_graph(150);
    ok(store_exec(store, "UPDATE memory_version SET vectors = vectors + 1", &e));
    finish_graph(vectors);
    assert_true(loads_graph(100));
}

/* --- two at once --- */

struct other {
    struct store *store;
    struct memory *memory;
    bool done;
};

/* Forgets between the comparison with the store and that with the file. */
static bool forget_now(void *context)
{
    struct other *o = context;
    const char *id = "secret";
    if (o->done)
        return false;
    ok(o->memory->ops->forget(o->memory, &id, 1, NULL, &e));
    ok(store_commit(o->store, &e));
    o->done = true;
    return false;
}

TEST_IF(hnsw_available(), test_no_graph_is_written_over_a_newer_one)
{
    int8_t gone[BUCKETS];
    int64_t left;
    struct other other = {.done = false};
    with_secret();
    bytes_of("secret", gone);
    add_random("t", 700, 5); /* the graph has to be written again */
    embed();
    other.memory = open_memory(&other.store);
    ok(store_begin(other.store, &e));
    store_set_patience(store, 60000, 0, forget_now, &other);
    assert_true(graph_step(vectors, store, 100, &left));
    assert_true(other.done);
    assert_null(graph_path(""));
    finish_graph(vectors);
    char *file = support_keep(graph_path(""));
    assert_non_null(file);
    assert_false(file_holds(file, gone, BUCKETS));
    assert_true(uses_graph(vectors));
    assert_finds("uranium plutonium", 1, "");
    memory_close(other.memory);
    store_close(other.store);
}

TEST_IF(hnsw_available(), test_what_a_dead_one_had_begun_is_removed)
{
    with_secret();
    char *file = support_keep(graph_path("")), *begun = support_text("%s.tiro-Ab12cd", file);
    support_write(begun, "uranium");
    forget("secret");
    assert_int_equal(access(begun, F_OK), -1);
    assert_int_equal(access(file, F_OK), 0);
}

TEST_IF(hnsw_available(), test_a_graph_with_many_gaps_is_made_anew)
{
    with_finished_graph(200);
    for (int i = 0; i < 90; i++)
        forget(support_text("r%d", i));
    finish_graph(vectors);
    assert_true(uses_graph(vectors));
    assert_same_as_fresh("w1 w2");
    for (int i = 90; i < 150; i++)
        forget(support_text("r%d", i));
    finish_graph(vectors); /* too few now */
    assert_null(graph_path(""));
    assert_false(uses_graph(vectors));
}
