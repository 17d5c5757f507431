#include "base/paths.h"
#include "provider/provider.h"
#include "tests/suite.h"

static struct config *config;

static int setup(void **state)
{
    (void)state;
    config = config_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    config_free(config);
    return 0;
}

static void configure(const char *text)
{
    AUTO(config_problems_release) struct config_problems problems = {0};
    config_load_text(config, "test.ini", text, &problems);
    assert_int_equal(problems.list.len, 0);
}

static void assert_price(double actual, double expected)
{
    assert_true(actual - expected < 1e-9 && expected - actual < 1e-9);
}

FIXTURE(setup, teardown);

TEST(builtin_table_has_no_problems)
{
    AUTO(config_problems_release) struct config_problems problems = {0};
    const char *text = embedded_text("models.ini");
    assert_non_null(text);
    config_load_text(config, "models.ini", text, &problems);
    for (size_t i = 0; i < problems.list.len; i++)
        print_error("models.ini:%d: %s\n", problems.list.items[i].line,
                    problems.list.items[i].text);
    assert_int_equal(problems.list.len, 0);
}

TEST(knows_the_well_known)
{
    static const struct {
        const char *model;
        int64_t window;
        double input; /* -1: unknown */
    } rows[] = {{"offline", 100000, 0},
                {"claude-sonnet-4-5", 200000, 3},
                {"claude-sonnet-4-5-20250929", 200000, 3},
                {"claude-opus-4-20250514", 200000, 15},
                {"claude-3-5-haiku-latest", 200000, 0.80},
                {"gpt-4o", 128000, 2.5},
                {"gpt-4o-mini-2024-07-18", 128000, 0.15},
                {"gpt-4.1-nano", 1047576, 0.10},
                {"openai/gpt-5", 400000, 1.25},
                {"llama3.1:8b", 131072, -1},
                {"Qwen2.5-7B-Instruct", 32768, -1},
                {"hf.co/someone/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", 131072, -1},
                {"mistral-nemo:latest", 131072, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model_facts facts = models_find(config, rows[i].model);
        if (facts.window != rows[i].window)
            print_error("%s: window %lld\n", rows[i].model, (long long)facts.window);
        assert_int_equal(facts.window, rows[i].window);
        assert_price(facts.price.input, rows[i].input);
    }
    assert_price(models_find(config, "claude-opus-4-9").price.search, 10);
    assert_price(models_find(config, "gpt-5").price.search, 10);
}

TEST(leaves_the_unknown_unknown)
{
    static const char *const models[] = {"", "zzz", "gpt", "llama", "gpt-4omatic", "o", "/"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct model_facts facts = models_find(config, models[i]);
        assert_int_equal(facts.window, 0);
        assert_int_equal(facts.max_output, 0);
        assert_true(facts.price.input < 0 && facts.price.output < 0 && facts.price.cached < 0);
    }
}

TEST(prices_stay_with_their_version)
{
    static const char *const others[] = {"claude-opus-4-9", "gpt-5.9", "gpt-5-ultra",
                                         "gpt-4o-audio-preview", "o3-deep-research"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct model_facts facts = models_find(config, others[i]);
        assert_true(facts.window > 0);
        assert_true(facts.price.input < 0 && facts.price.output < 0 && facts.price.cached < 0);
    }
}

TEST(longest_entry_wins_and_the_rest_is_inherited)
{
    struct model_facts facts;
    configure(
        "[model acme]\nwindow = 1000\nmax_output = 100\ninput_price = 1\n"
        "[model acme-large]\nwindow = 2000\n"
        "[model acme-large-2]\ninput_price = 2.5\n"
        "[model corp/acme]\nwindow = 9000\n");
    facts = models_find(config, "acme-large-2:q4");
    assert_int_equal(facts.window, 2000);
    assert_int_equal(facts.max_output, 100);
    assert_price(facts.price.input, 2.5);
    assert_price(facts.price.output, -1);
    assert_int_equal(models_find(config, "acme@2026").window, 1000);
    assert_int_equal(models_find(config, "acmelarge").window, 0);
    assert_int_equal(models_find(config, "corp/acme").window, 9000);
    assert_int_equal(models_find(config, "other/acme").window, 1000);
}

TEST(configuration_comes_first)
{
    struct model_facts facts;
    configure("[model gpt-4o]\nwindow = 4096\noutput_price = 0.125\n");
    facts = models_find(config, "gpt-4o");
    assert_int_equal(facts.window, 4096);
    assert_int_equal(facts.max_output, 16384);
    assert_price(facts.price.input, 2.5);
    assert_price(facts.price.output, 0.125);
    assert_int_equal(models_find(config, "gpt-4o-mini").window, 128000);
}

static struct price price_when(const char *asked, const char *answered)
{
    const struct price asked_price = models_find(config, asked).price;
    return models_price(config, asked, &asked_price, answered);
}

TEST(efforts_are_words_of_the_provider)
{
    static const struct {
        const struct provider *provider;
        const char *model, *words;
    } rows[] = {{&provider_anthropic, "claude-opus-4-8", "low medium high xhigh max"},
                {&provider_anthropic, "claude-sonnet-4-5-20250929", "4096 16384 31744"},
                {&provider_openai, "claude-sonnet-4-5", ""},
                {&provider_openai, "gpt-5.1-2025-11-13", "none low medium high"},
                {&provider_openai, "gpt-5.1-ultra", ""},
                {&provider_openai, "gpt-4.1", ""},
                {&provider_openai, "openai/gpt-5-mini", "minimal low medium high"},
                {&provider_ollama, "gpt-oss:20b", "low medium high"},
                {&provider_ollama, "qwen3:8b", "false true"},
                {&provider_openai, "qwen3:8b", ""},
                {&provider_openai, "mine", "little much"},
                {&provider_offline, "offline", ""}};
    configure("[model mine]\neffort = little much\ninput_price = 1\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf words = BUF_INIT;
        const struct model_facts facts = models_find(config, rows[i].model);
        models_efforts(rows[i].provider, &facts, &words);
        assert_string_equal(words.data, rows[i].words);
    }
}

TEST(a_price_has_the_date_of_its_own_list)
{
    assert_string_equal(models_find(config, "gpt-5").price_date, "2026-11-21");
    assert_string_equal(models_find(config, "unheard-of").price_date, "");
    configure("[model gpt-5]\ninput_price = 1\n[model mine]\ninput_price = 1\nprice_date = May\n");
    assert_string_equal(models_find(config, "gpt-5").price_date, "");
    assert_string_equal(models_find(config, "mine").price_date, "May");
}

/* A router or a proxy may have another model answer than the one that was asked. */
TEST(the_model_that_answered_is_priced)
{
    configure("[model mine]\ninput_price = 7\noutput_price = 8\n");
    assert_price(price_when("gpt-4o", "gpt-4o-mini-2024-07-18").input, 0.15);
    assert_price(price_when("openrouter/auto", "openai/gpt-4o").input, 2.5);
    assert_price(price_when("GPT-4o", "gpt-4o").input, 2.5);
    assert_price(price_when("gpt-4o", NULL).input, 2.5);
    assert_price(price_when("gpt-4o", "").input, 2.5);
    assert_price(price_when("mine", "gpt-4o").input, 2.5);
    assert_price(price_when("mine", "some-file.gguf").output, 8);
    assert_price(price_when("gpt-4o", "some-file.gguf").input, -1);
    assert_price(price_when("some-alias", "some-file.gguf").output, -1);
}
