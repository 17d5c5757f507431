#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "index/embedder.h"
#include "tests/model_server.h"
#include "tests/suite.h"

static struct model_server *server;
static struct http *http;
static struct config *config;
static struct embedding_settings settings;

static void configure(enum config_key key, const char *value)
{
    struct error e;
    assert_true(config_set(config, key, value, &e));
}

static int setup(void **state)
{
    support_setup(state);
    server = model_server_start();
    http = http_new();
    config = config_new();
    configure(CONFIG_PROVIDER_MAX_RETRIES, "0");
    return 0;
}

static int teardown(void **state)
{
    embedding_settings_release(&settings);
    config_free(config);
    http_free(http);
    model_server_stop(server);
    return support_teardown(state);
}

static bool read_settings(struct error *e)
{
    embedding_settings_release(&settings);
    return embedding_settings_read(config, getenv, NULL, &settings, e);
}

static void use(const char *provider)
{
    struct error e = {0};
    char *url = support_text("%s%s", model_server_url(server),
                             strcmp(provider, "openai") == 0 ? "/v1/" : "");
    configure(CONFIG_EMBEDDING_PROVIDER, provider);
    configure(CONFIG_EMBEDDING_BASE_URL, url);
    assert_ok(read_settings(&e), e);
}

static const char *const network[] = {"openai", "ollama"};

static const char *const words[] = {"one", "two", "three", "four"};

static bool embed(const char *const *texts, size_t count, struct embeddings *out, struct failure *f)
{
    return embed_all(&settings, http, NULL, texts, count, out, f);
}

/* So many of the words have no vectors now. */
static void assert_fails(size_t count, enum failure_kind kind, int status)
{
    struct embeddings v;
    struct failure f;
    assert_false(embed(words, count, &v, &f));
    assert_int_equal(f.kind, kind);
    assert_int_equal(f.status, status);
    assert_null(v.values.items);
}

static void assert_embeds(const char *const *texts, size_t count, struct embeddings *out)
{
    struct failure f;
    if (!embed(texts, count, out, &f))
        fail_msg("%s", f.text);
}

static double cosine(const struct embeddings *v, size_t a, size_t b)
{
    size_t n = (size_t)v->dimension;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v->values.items[a * n + i] * (double)v->values.items[b * n + i];
    return sum;
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) < 1e-5))
        fail_msg("%f is not %f", actual, expected);
}

/* --- hashed ---------------------------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(test_hashed_is_a_bag_of_folded_words)
{
    static const char *const texts[] = {"The ryokan, by the RIVER!", "river the by ryokan the",
                                        "quarterly revenue figures", "... !?"};
    AUTO(embeddings_release) struct embeddings v = {0};
    configure(CONFIG_EMBEDDING_PROVIDER, "builtin");
    assert_true(read_settings(NULL));
    assert_string_equal(settings.embedder->name, "hashed");
    assert_embeds(texts, 4, &v);
    assert_int_equal(v.dimension, 4096);
    assert_int_equal(v.values.len, 4 * 4096);
    assert_near(cosine(&v, 0, 0), 1);
    assert_near(cosine(&v, 0, 1), 1);
    assert_near(cosine(&v, 0, 2), 0);
    assert_near(cosine(&v, 3, 3), 0);
}

TEST(test_hashed_counts_words)
{
    static const char *const texts[] = {"river river bank", "river"};
    AUTO(embeddings_release) struct embeddings v = {0};
    configure(CONFIG_EMBEDDING_PROVIDER, "hashed");
    assert_true(read_settings(NULL));
    assert_embeds(texts, 2, &v);
    assert_near(cosine(&v, 0, 1), 2 / sqrt(5));
}

/* --- settings -------------------------------------------------------------------------------- */

TEST(test_none_is_configured)
{
    assert_true(read_settings(NULL));
    assert_null(settings.embedder);
}

TEST(test_defaults)
{
    char *name;
    setenv("OPENAI_API_KEY", "sk-of-the-chat", 1);
    configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    assert_true(read_settings(NULL));
    assert_string_equal(settings.base_url, "https://api.openai.com/v1");
    assert_string_equal(settings.key, "sk-of-the-chat");
    assert_int_equal(settings.batch, 64);
    name = support_keep(embedding_model_name(&settings));
    assert_string_equal(name, "openai/text-embedding-3-small");
    configure(CONFIG_EMBEDDING_DIMENSIONS, "256");
    assert_true(read_settings(NULL));
    name = support_keep(embedding_model_name(&settings));
    assert_string_equal(name, "openai/text-embedding-3-small@256");
    configure(CONFIG_EMBEDDING_DIMENSIONS, "0");
    configure(CONFIG_EMBEDDING_PROVIDER, "ollama");
    setenv("OLLAMA_HOST", "gpu.example:1234", 1);
    assert_true(read_settings(NULL));
    assert_string_equal(settings.base_url, "http://gpu.example:1234");
    assert_string_equal(settings.model, "nomic-embed-text");
    assert_null(settings.key);
}

TEST(test_own_key_and_its_absence)
{
    struct error e = {0};
    configure(CONFIG_EMBEDDING_PROVIDER, "openai");
    assert_err(read_settings(&e), e, ERR_CONFIG_ERROR);
    assert_non_null(strstr(e.text, "OPENAI_API_KEY"));
    configure(CONFIG_EMBEDDING_API_KEY_COMMAND, "echo from-a-command");
    assert_true(read_settings(&e));
    assert_string_equal(settings.key, "from-a-command");
    configure(CONFIG_EMBEDDING_API_KEY_COMMAND, "");
    configure(CONFIG_EMBEDDING_API_KEY, "sk-own");
    setenv("OPENAI_API_KEY", "sk-of-the-chat", 1);
    assert_true(read_settings(&e));
    assert_string_equal(settings.key, "sk-own");
}

/* --- the wire -------------------------------------------------------------------------------- */

TEST(test_vectors_come_in_the_order_of_the_texts)
{
    static const char *const texts[] = {"alpha alpha beta", "gamma", "beta", "alpha alpha beta"};
    for (size_t i = 0; i < 2; i++) {
        AUTO(embeddings_release) struct embeddings v = {0};
        use(network[i]);
        assert_embeds(texts, 4, &v);
        assert_int_equal(v.dimension, 32);
        for (size_t n = 0; n < 4; n++)
            assert_near(cosine(&v, n, n), 1);
        assert_near(cosine(&v, 0, 3), 1);
        assert_near(cosine(&v, 0, 2), 1 / sqrt(5));
        assert_near(cosine(&v, 1, 2), 0);
    }
}

TEST(test_requests)
{
    static const char *const models[] = {"text-embedding-3-small", "nomic-embed-text"};
    configure(CONFIG_EMBEDDING_API_KEY, "sk-own");
    for (size_t i = 0; i < 2; i++) {
        AUTO(embeddings_release) struct embeddings v = {0};
        use(network[i]);
        assert_embeds(words, 2, &v);
        const char *body = model_server_body(server, i);
        AUTO(json_free_local) struct json *request = json_parse(body, strlen(body), NULL);
        assert_string_equal(json_get_string(request, "model"), models[i]);
        assert_int_equal(json_len(json_get(request, "input")), 2);
        assert_string_equal(json_string(json_at(json_get(request, "input"), 1)), "two");
        assert_null(json_get(request, "dimensions"));
    }
    assert_string_equal(model_server_header(server, 0, "authorization"), "Bearer sk-own");
}

TEST(test_dimensions_and_model_are_asked_for)
{
    AUTO(embeddings_release) struct embeddings v = {0};
    configure(CONFIG_EMBEDDING_DIMENSIONS, "32");
    configure(CONFIG_EMBEDDING_MODEL, "my-model");
    use("openai");
    assert_embeds(words, 1, &v);
    assert_non_null(strstr(model_server_body(server, 0), "\"dimensions\":32"));
    assert_non_null(strstr(model_server_body(server, 0), "\"model\":\"my-model\""));
}

TEST(test_batches)
{
    const char *texts[10];
    for (int i = 0; i < 10; i++)
        texts[i] = support_text("word%d", i);
    configure(CONFIG_EMBEDDING_BATCH, "4");
    for (size_t p = 0; p < 2; p++) {
        AUTO(embeddings_release) struct embeddings v = {0};
        use(network[p]);
        assert_embeds(texts, 10, &v);
        assert_int_equal(v.values.len, 320);
        assert_int_equal(model_server_requests(server), 3 * (p + 1));
    }
}

TEST(test_long_text_is_cut_at_a_character)
{
    size_t len = 300000;
    char *text = support_keep(mem_alloc(len + 2));
    const char *texts[] = {text};
    AUTO(embeddings_release) struct embeddings v = {0};
    text[0] = 'x';
    for (size_t i = 1; i < len; i += 3)
        memcpy(text + i, "\xe3\x81\x82", 3);
    text[len - 2] = '\0';
    use("openai");
    assert_embeds(texts, 1, &v);
    const char *body = model_server_body(server, 0);
    AUTO(json_free_local) struct json *request = json_parse(body, strlen(body), NULL);
    const char *sent = json_string(json_at(json_get(request, "input"), 0));
    assert_true(strlen(sent) <= 24000 && strlen(sent) > 23990);
    assert_int_equal(strlen(sent) % 3, 1);
}

/* --- faults ---------------------------------------------------------------------------------- */

#define FIRST "{'data':[{'index':0,'embedding':[1]},"

TEST(test_hostile_answers)
{
    static const struct {
        const char *provider, *raw;
    } cases[] = {
        {"openai", "{'data':[]}"},
        {"openai", "{'data':[{'index':0,'embedding':[1,2]}]}"},
        {"openai", FIRST "{'index':0,'embedding':[1]}]}"},
        {"openai", FIRST "{'index':2,'embedding':[1]}]}"},
        {"openai", FIRST "{'index':-1,'embedding':[1]}]}"},
        {"openai", FIRST "{'index':1,'embedding':[1,2]}]}"},
        {"openai", "{'data':[{'index':0,'embedding':[]},{'index':1,'embedding':[]}]}"},
        {"openai", FIRST "{'index':1,'embedding':['x']}]}"},
        {"openai", FIRST "{'index':1,'embedding':[1e999]}]}"},
        {"openai", FIRST "{'index':1,'embedding':[1e200]}]}"},
        {"openai", FIRST "{'index':1}]}"},
        {"openai", "{'data':{'0':[1],'1':[1]}}"},
        {"openai", "[]"},
        {"openai", "null"},
        {"ollama", "{'embeddings':[[1]]}"},
        {"ollama", "{'embeddings':[[1],[1,2]]}"},
        {"ollama", "{'embeddings':[[1],null]}"},
        {"ollama", "{'embeddings':[[1],[null]]}"},
        {"ollama", "{'embeddings':[[],[]]}"},
        {"ollama", "{'embedding':[1]}"},
        {"ollama", "<html>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct embeddings v;
        struct failure f;
        use(cases[i].provider);
        model_server_queue(server, &(struct reply){.raw = support_json(cases[i].raw)});
        if (embed(words, 2, &v, &f))
            fail_msg("%s was accepted", cases[i].raw);
        assert_int_equal(f.kind, FAILURE_PROTOCOL);
        assert_non_null(strstr(f.text, cases[i].provider));
        assert_null(v.values.items);
    }
}

TEST(test_too_many_dimensions)
{
    AUTO(embeddings_release) struct embeddings v = {0};
    use("ollama");
    model_server_queue(server, &(struct reply){.dimension = 65537});
    assert_fails(1, FAILURE_PROTOCOL, 0);
    model_server_queue(server, &(struct reply){.dimension = 65536});
    assert_embeds(words, 1, &v);
    assert_int_equal(v.dimension, 65536);
}

TEST(test_zero_and_huge_vectors)
{
    AUTO(embeddings_release) struct embeddings v = {0};
    use("ollama");
    model_server_queue(server, &(struct reply){.raw = "{\"embeddings\":[[0,0],[3e38,3e38]]}"});
    assert_embeds(words, 2, &v);
    assert_near(cosine(&v, 0, 0), 0);
    assert_near(cosine(&v, 1, 1), 1);
}

TEST(test_batches_of_different_dimensions)
{
    configure(CONFIG_EMBEDDING_BATCH, "1");
    use("ollama");
    model_server_queue(server, &(struct reply){.dimension = 8});
    model_server_queue(server, &(struct reply){.dimension = 9});
    assert_fails(2, FAILURE_PROTOCOL, 0);
}

TEST(test_faults_of_the_server)
{
    static const struct {
        struct reply reply;
        enum failure_kind kind;
    } cases[] = {
        {{.fault = REPLY_STATUS, .status = 401}, FAILURE_STATUS},
        {{.fault = REPLY_STATUS, .status = 429}, FAILURE_STATUS},
        {{.fault = REPLY_STATUS, .status = 500}, FAILURE_STATUS},
        {{.fault = REPLY_MALFORMED_JSON}, FAILURE_PROTOCOL},
        {{.fault = REPLY_WRONG_TYPE}, FAILURE_PROTOCOL},
        {{.fault = REPLY_EMPTY}, FAILURE_PROTOCOL},
        {{.fault = REPLY_DISCONNECT}, FAILURE_CONNECT},
    };
    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            use(network[p]);
            model_server_queue(server, &cases[i].reply);
            assert_fails(2, cases[i].kind, cases[i].reply.status);
        }
    }
}

TEST(test_retries)
{
    struct embeddings v;
    struct failure f;
    configure(CONFIG_PROVIDER_MAX_RETRIES, "3");
    use("openai");
    const struct reply busy = {.fault = REPLY_STATUS, .status = 429, .retry_after = "0"};
    model_server_queue(server, &busy);
    model_server_queue(server, &busy);
    assert_embeds(words, 1, &v);
    embeddings_release(&v);
    assert_int_equal(model_server_requests(server), 3);
    for (int i = 0; i < 5; i++)
        model_server_queue(server, &busy);
    assert_fails(1, FAILURE_STATUS, 429);
    assert_int_equal(model_server_requests(server), 7);
    assert_false(embed_once(&settings, http, NULL, words, 1, settings.embedder->max_bytes, &v, &f));
    assert_int_equal(model_server_requests(server), 8);
}

/* A batch that the model rejects as too large is sent in parts; a single text that is too long is
 * cut. */
TEST(test_less_is_asked_for)
{
    const struct reply long_one = {
        .fault = REPLY_STATUS,
        .status = 400,
        .raw =
            "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens, "
            "however you requested 9000 tokens\",\"type\":\"invalid_request_error\","
            "\"code\":\"context_length_exceeded\"}}"};
    struct embeddings v;
    use("openai");
    model_server_queue(server, &long_one); /* 4 words */
    model_server_queue(server, &long_one); /* 2 */
    model_server_queue(server, &long_one); /* 1, whole */
    assert_embeds(words, 4, &v);
    assert_int_equal(v.values.len, 4 * 32);
    embeddings_release(&v);
    model_server_set_default(server, &long_one);
    assert_fails(4, FAILURE_OVERFLOW, 400);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

TEST(test_it_can_be_stopped)
{
    for (size_t p = 0; p < 2; p++) {
        struct embeddings v;
        struct failure f;
        int64_t begun = clock_mono_ms();
        const struct wakeup late = {.fd = -1, .go_on = never, .deadline_ms = begun + 50};
        use(network[p]);
        model_server_queue(server, &(struct reply){.fault = REPLY_STALL});
        assert_false(embed_all(&settings, http, &late, words, 1, &v, &f));
        assert_int_equal(f.kind, FAILURE_CANCELLED);
        assert_true(clock_mono_ms() - begun < 5000);
    }
}

TEST(test_nobody_listens)
{
    configure(CONFIG_EMBEDDING_PROVIDER, "ollama");
    configure(CONFIG_EMBEDDING_BASE_URL, "http://127.0.0.1:1");
    assert_true(read_settings(NULL));
    assert_fails(1, FAILURE_CONNECT, 0);
}
