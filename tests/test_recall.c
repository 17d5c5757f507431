#include "base/clock.h"
#include "memory/recall.h"
#include "tests/model_server.h"
#include "tests/program.h"
#include "tests/suite.h"

static struct model_server *server;
static struct config *config;
static struct store *store;
static struct recall recall;
static struct memory_hits hits;

static void configure(enum config_key key, const char *value)
{
    struct error e;
    assert_true(config_set(config, key, value, &e));
}

static int setup(void **state)
{
    struct error e;
    char *path;
    support_setup(state);
    path = support_path("tiro.db");
    server = model_server_start();
    config = config_new();
    configure(CONFIG_PROVIDER_MAX_RETRIES, "0");
    assert_ok(store_open(path, STORE_READ_WRITE, &store, &e), e);
    recall_init(&recall, config, store, support_dir());
    return 0;
}

static int teardown(void **state)
{
    clock_replace(NULL, NULL);
    memory_hits_release(&hits);
    recall_release(&recall);
    store_close(store);
    config_free(config);
    model_server_stop(server);
    return support_teardown(state);
}

/* Begins as after a change of the settings. */
static void begin_anew(void)
{
    recall_release(&recall);
    recall_init(&recall, config, store, support_dir());
}

static void add(const char *id, const char *text)
{
    AUTO(memory_entry_release)
    struct memory_entry entry = {.id = mem_strdup(id),
                                 .session_id = mem_strdup("s"),
                                 .role = ROLE_USER,
                                 .created_ms = 1,
                                 .content = mem_strdup(text)};
    struct error e;
    int stored;
    assert_ok(recall.memory->ops->index(recall.memory, "s", 0, &entry, 1, &stored, &e), e);
}

static void add_some(void)
{
    add("ryokan", "we liked the ryokan by the river");
    add("revenue", "quarterly revenue rose");
}

static enum recall_work work(struct error *why)
{
    int64_t left;
    int retry_ms;
    return recall_work(&recall, NULL, &left, &retry_ms, why);
}

static void work_all(void)
{
    struct error why;
    enum recall_work done;
    while ((done = work(&why)) == RECALL_WORKED)
        ;
    if (done != RECALL_IDLE)
        fail_msg("%s", why.text);
}

/* An endpoint, and two entries without vectors. */
static void with_endpoint(void)
{
    configure(CONFIG_EMBEDDING_PROVIDER, "ollama");
    configure(CONFIG_EMBEDDING_BASE_URL, model_server_url(server));
    add_some();
}

/* ... and their vectors. */
static void with_vectors(void)
{
    with_endpoint();
    work_all();
}

static void search(const char *text)
{
    struct memory_query query = memory_query_for(config, text);
    struct error e = {0};
    memory_hits_release(&hits);
    assert_ok(recall_search(&recall, &query, NULL, &hits, &e), e);
    assert_null(query.vector);
}

enum { WORDS = 1, VECTOR = 2 };

/* NULL: no badge. */
static void expect_badge(const char *text, const char *badge)
{
    search(text);
    assert_string_equal(hits.badge ? hits.badge : "none", badge ? badge : "none");
}

/* The first hit, by which of the two, and the badge. */
static void finds(const char *text, const char *id, int by, const char *badge)
{
    expect_badge(text, badge);
    assert_true(hits.items.len > 0);
    const struct memory_hit *hit = &hits.items.items[0];
    assert_string_equal(hit->entry.id, id);
    assert_int_equal((hit->why.words > 0 ? WORDS : 0) | (hit->why.has_vector ? VECTOR : 0), by);
}

static void expect_requests(size_t count)
{
    assert_int_equal(model_server_requests(server), count);
}

static const char no_answer[] = "words only: the embedding endpoint does not answer";
static const char being_made[] = "words only: vectors are being computed";
static const char left_undone[] =
    "words only: entries lack vectors; tiro memory reindex computes them";

/* --- ranking ---------------------------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(test_rankings)
{
    static const struct {
        const char *ranking, *provider;
        enum memory_ranking expected;
    } cases[] = {
        {"auto", "", MEMORY_WORDS},
        {"auto", "hashed", MEMORY_WORDS},
        {"auto", "builtin", MEMORY_WORDS},
        {"auto", "openai", MEMORY_BOTH},
        {"auto", "ollama", MEMORY_BOTH},
        {"words", "openai", MEMORY_WORDS},
        {"vectors", "hashed", MEMORY_VECTORS},
        {"both", "hashed", MEMORY_BOTH},
        {"vectors", "", MEMORY_VECTORS},
        {"both", "", MEMORY_BOTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(recall_ranking(cases[i].ranking, cases[i].provider), cases[i].expected);
}

TEST(test_words_without_an_endpoint)
{
    struct error why;
    add_some();
    finds("river", "ryokan", WORDS, NULL);
    assert_int_equal(work(&why), RECALL_IDLE);
}

TEST(test_nothing_to_find)
{
    expect_badge("river", NULL);
    assert_int_equal(hits.items.len, 0);
    configure(CONFIG_EMBEDDING_PROVIDER, "ollama");
    configure(CONFIG_EMBEDDING_BASE_URL, model_server_url(server));
    begin_anew();
    expect_badge("river", NULL);
    assert_int_equal(hits.items.len, 0);
    expect_requests(0);
}

TEST(test_both_with_an_endpoint)
{
    with_endpoint();
    finds("river", "ryokan", WORDS, being_made);
    expect_requests(0);
    work_all();
    finds("river", "ryokan", WORDS | VECTOR, NULL);
    assert_int_equal(hits.items.len, 1); /* the other text has nothing in common with it */
    add("boat", "a boat");
    finds("river", "ryokan", WORDS, being_made);
}

TEST(test_words_in_spite_of_an_endpoint)
{
    with_endpoint();
    configure(CONFIG_MEMORY_RANKING, "words");
    work_all();
    finds("river", "ryokan", WORDS, NULL);
    expect_requests(0);
}

TEST(test_vectors_alone)
{
    with_endpoint();
    configure(CONFIG_MEMORY_RANKING, "vectors");
    finds("river", "ryokan", WORDS, being_made);
    work_all();
    finds("river", "ryokan", VECTOR, NULL);
    add("boat", "a boat on the river");
    finds("river", "ryokan", VECTOR,
          "vectors are being computed: some entries cannot be found yet");
}

TEST(test_hashed_when_asked_for)
{
    configure(CONFIG_EMBEDDING_PROVIDER, "builtin");
    configure(CONFIG_MEMORY_RANKING, "vectors");
    add_some();
    work_all();
    finds("RIVER!", "ryokan", VECTOR, NULL);
    search("quarterly revenue rose");
    assert_true(hits.items.items[0].score > 0.9999);
    search("unheard of");
    assert_int_equal(hits.items.len, 0);
}

TEST(test_vectors_without_an_endpoint)
{
    struct error why;
    configure(CONFIG_MEMORY_RANKING, "vectors");
    add_some();
    finds("river", "ryokan", WORDS, "words only: no embedding endpoint is configured");
    assert_int_equal(work(&why), RECALL_IDLE);
}

TEST(test_an_endpoint_without_a_key)
{
    struct error why;
    configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    add_some();
    finds("river", "ryokan", WORDS, "words only: the embedding endpoint is not configured");
    assert_int_equal(work(&why), RECALL_WAITS);
    assert_non_null(strstr(why.text, "OPENAI_API_KEY"));
}

TEST(test_worse_hits_are_left_out)
{
    configure(CONFIG_MEMORY_MIN_SCORE, "0.99");
    add_some();
    search("river boats and their captains");
    assert_int_equal(hits.items.len, 0);
    search("quarterly revenue rose");
    assert_int_equal(hits.items.len, 1);
}

/* --- the endpoint ---------------------------------------------------------------------------- */

static int64_t now_ms;

static int64_t our_clock(void)
{
    return now_ms;
}

TEST(test_a_dead_endpoint_is_left_alone_for_a_while)
{
    const struct reply down = {.fault = REPLY_STATUS, .status = 500};
    with_vectors();
    size_t asked = model_server_requests(server);
    now_ms = clock_mono_ms();
    clock_replace(NULL, our_clock);
    model_server_queue(server, &down);
    finds("river", "ryokan", WORDS, no_answer);
    expect_requests(asked + 1);
    now_ms += 29000;
    expect_badge("river", no_answer);
    expect_requests(asked + 1);
    now_ms += 2000;
    finds("river", "ryokan", WORDS | VECTOR, NULL);
    expect_requests(asked + 2);
}

TEST(test_the_same_question_is_asked_once)
{
    with_vectors();
    size_t asked = model_server_requests(server);
    search("river");
    search("river");
    expect_requests(asked + 1);
    search("  ");
    expect_requests(asked + 1);
    finds("revenue", "revenue", WORDS | VECTOR, NULL);
    expect_requests(asked + 2);
}

TEST(test_a_silent_endpoint_has_its_time)
{
    with_vectors();
    assert_int_equal(recall.encoder.patience_ms, 5000);
    recall.encoder.patience_ms = 50;
    model_server_queue(server, &(struct reply){.hold = true});
    int64_t begun = clock_mono_ms();
    finds("river", "ryokan", WORDS, no_answer);
    assert_true(clock_mono_ms() - begun < 4000);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

TEST(test_it_can_be_stopped)
{
    struct memory_query query = memory_query_for(config, "river");
    struct error e = {0};
    with_vectors();
    const struct wakeup stop = {.fd = -1, .go_on = never, .deadline_ms = clock_mono_ms() + 300};
    model_server_queue(server, &(struct reply){.hold = true});
    assert_err(recall_search(&recall, &query, &stop, &hits, &e), e, ERR_INTERRUPTED);
    assert_int_equal(hits.items.len, 0);
    expect_badge("river", NULL);
}

TEST(test_hostile_answers_leave_words)
{
    static const char *const raws[] = {"{\"embeddings\":[]}", "no json", "{\"embeddings\":[[]]}",
                                       "{\"embeddings\":[[1e999]]}"};
    with_vectors();
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        begin_anew();
        model_server_queue(server, &(struct reply){.raw = raws[i]});
        finds("river", "ryokan", WORDS, no_answer);
    }
}

/* The server has another model under that name now. */
TEST(test_another_dimension)
{
    with_vectors();
    model_server_set_default(server, &(struct reply){.dimension = 48});
    finds("river", "ryokan", WORDS, being_made);
    work_all();
    finds("river", "ryokan", WORDS | VECTOR, NULL);
}

/* A command computes no vectors, and a search writes nothing. */
TEST(test_alone)
{
    struct error e = {0};
    with_endpoint();
    recall.alone = true;
    expect_badge("river", left_undone);
    assert_true(recall_know_model(&recall, NULL, &e));
    expect_requests(0);
    work_all();
    expect_badge("river", NULL);
    model_server_set_default(server, &(struct reply){.dimension = 48});
    expect_badge("quarterly", left_undone);
    work_all();
    expect_badge("quarterly", left_undone);
    assert_true(recall_know_model(&recall, NULL, &e));
    work_all();
    expect_badge("quarterly", NULL);
    configure(CONFIG_MEMORY_RANKING, "vectors");
    add("boat", "a boat on the river");
    expect_badge("river",
                 "entries without a vector are not found; tiro memory reindex computes them");
}

TEST(test_a_dead_endpoint_does_not_keep_from_other_work)
{
    const struct reply down = {.fault = REPLY_STATUS, .status = 500};
    struct error e = {0}, why;
    with_vectors();
    model_server_queue(server, &down);
    assert_true(recall_know_model(&recall, NULL, &e));
    assert_int_equal(work(&why), RECALL_IDLE);
}

static void expect_stats(const char *members)
{
    AUTO(memory_stats_release) struct memory_stats stats = {0};
    struct error e;
    assert_ok(recall_stats(&recall, NULL, &stats, &e), e);
    AUTO(json_free_local) struct json *v = shape_to_json(&memory_stats_shape, &stats);
    assert_json(v, members);
}

TEST(test_another_model)
{
    with_vectors();
    configure(CONFIG_EMBEDDING_MODEL, "better");
    begin_anew();
    expect_badge("river", being_made);
    expect_stats("{'model':'ollama/better','missing':2,'stale':2}");
    work_all();
    finds("river", "ryokan", WORDS | VECTOR, NULL);
    expect_stats("{'entries':2,'embedded':2,'stale':0,'dimension':32}");
}

TEST(test_work_waits_for_the_endpoint)
{
    int64_t left = 0;
    int retry_ms = 0;
    struct error why;
    with_endpoint();
    now_ms = clock_mono_ms();
    clock_replace(NULL, our_clock);
    model_server_queue(server, &(struct reply){.fault = REPLY_STATUS, .status = 500});
    assert_int_equal(recall_work(&recall, NULL, &left, &retry_ms, &why), RECALL_WAITS);
    assert_int_equal(retry_ms, 30000);
    assert_int_equal(left, 2);
    assert_non_null(strstr(why.text, "ollama"));
    now_ms += 10000;
    assert_int_equal(recall_work(&recall, NULL, &left, &retry_ms, &why), RECALL_WAITS);
    assert_int_equal(retry_ms, 20000);
    expect_requests(1);
    now_ms += 21000;
    assert_int_equal(recall_work(&recall, NULL, &left, &retry_ms, &why), RECALL_WORKED);
    assert_int_equal(left, 0);
    assert_int_equal(recall_work(&recall, NULL, &left, &retry_ms, &why), RECALL_IDLE);
}

/* --- scope ------------------------------------------------------------------------------------ */

TEST(test_scopes)
{
    struct memory_scope scope;
    assert_int_equal(recall_scope(&recall, "id", "/dir").kind, MEMORY_SCOPE_ALL);
    configure(CONFIG_MEMORY_SCOPE, "project");
    scope = recall_scope(&recall, "id", "/dir");
    assert_int_equal(scope.kind, MEMORY_SCOPE_PROJECT);
    assert_string_equal(scope.directory, "/dir");
    configure(CONFIG_MEMORY_SCOPE, "session");
    scope = recall_scope(&recall, "id", "/dir");
    assert_int_equal(scope.kind, MEMORY_SCOPE_SESSION);
    assert_string_equal(scope.session_id, "id");
}
