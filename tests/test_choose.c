#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/vec.h"
#include "provider/choose.h"
#include "provider/http.h"
#include "tests/steps.h"
#include "tests/suite.h"

static struct config *config;
static struct choice choice;
static struct error fault;

/* "NAME=VALUE|NAME=VALUE" */
static const char *variables;

static char *fake_getenv(const char *name)
{
    size_t len = strlen(name);
    for (const char *at = variables; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return support_text("%.*s", (int)strcspn(at + len + 1, "|"), at + len + 1);
    return NULL;
}

static int probes;
static char probed[64];

static bool answers(void *context, const char *base_url)
{
    probes++;
    strncpy(probed, base_url, sizeof probed - 1);
    return *(const bool *)context;
}

static int setup(void **state)
{
    (void)state;
    config = config_new();
    variables = "";
    probes = 0;
    fault = (struct error){.code = ERR_OK};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    choice_release(&choice);
    config_free(config);
    return 0;
}

static void configure(const char *text)
{
    AUTO(config_problems_release) struct config_problems problems = {0};
    config_load_text(config, "test.ini", text, &problems);
    assert_int_equal(problems.list.len, 0);
}

static bool choose(const char *provider, const char *model, bool ollama)
{
    choice_release(&choice);
    return choose_provider(config, provider, model, fake_getenv, answers, &ollama, &choice, &fault);
}

/* --- the order, model and address ------------------------------------------------------------- */

FIXTURE(setup, teardown);

TEST(each_choice_has_its_reason)
{
#define NAMED "[provider]\nname = ollama\n"
#define GENERAL "[provider]\nname = anthropic\nmodel = claude-x\n"
#define OWN "[ollama]\nmodel = own\n"
#define MODELS OWN "[provider]\nmodel = general\n"
#define KEY "[openai]\nbase_url = http://localhost:8080/v1/\n"
#define HOSTS "[anthropic]\nbase_url = https://a.example\n[ollama]\nhost = b.example\n"
#define PLACES "ANTHROPIC_BASE_URL=http://127.0.0.1:1/|OLLAMA_HOST=c.example:7"
#define ONE "OLLAMA_HOST=box"
#define TWO ONE "|OPENAI_BASE_URL=http://o/v1/"
#define THREE TWO "|OPENAI_API_KEY=k"
#define FOUR THREE "|ANTHROPIC_AUTH_TOKEN=t"
    static const struct {
        const char *config, *variables, *asked, *model;
        bool ollama; /* it answers */
        const char *provider;
        enum choice_reason reason;
        const char *detail, *chosen, *url; /* the last two NULL: not looked at */
    } rows[] = {
        {"", "", NULL, NULL, false, "offline", CHOICE_FALLBACK, NULL, "offline", NULL},
        {"", "", NULL, NULL, true, "ollama", CHOICE_ANSWERED, NULL, "", "http://127.0.0.1:11434"},
        {"", ONE, NULL, NULL, true, "ollama", CHOICE_ENVIRONMENT, "OLLAMA_HOST", NULL, NULL},
        {"", TWO, NULL, NULL, true, "openai", CHOICE_ENVIRONMENT, "OPENAI_BASE_URL", NULL, NULL},
        {"", THREE, NULL, NULL, true, "openai", CHOICE_ENVIRONMENT, "OPENAI_API_KEY", NULL, NULL},
        {"", FOUR, NULL, NULL, true, "anthropic", CHOICE_ENVIRONMENT, "ANTHROPIC_AUTH_TOKEN", NULL,
         NULL},
        {"", FOUR "|ANTHROPIC_API_KEY=a", NULL, NULL, true, "anthropic", CHOICE_ENVIRONMENT,
         "ANTHROPIC_API_KEY", NULL, NULL},
        {"", "ANTHROPIC_API_KEY=|OPENAI_API_KEY=", NULL, NULL, false, "offline", CHOICE_FALLBACK,
         NULL, NULL, NULL},
        {NAMED, "ANTHROPIC_API_KEY=a", NULL, NULL, false, "ollama", CHOICE_CONFIG, NULL, NULL,
         NULL},
        /* a section with a key is a wish */
        {KEY, "", NULL, NULL, true, "openai", CHOICE_CONFIG, NULL, NULL,
         "http://localhost:8080/v1"},
        {KEY "[anthropic]\napi_key_command = echo k\n", "", NULL, NULL, true, "anthropic",
         CHOICE_CONFIG, NULL, NULL, NULL},
        {NAMED, "", "offline", "gpt-4o", true, "offline", CHOICE_OPTION, NULL, "offline", NULL},
        {OWN, "", "ollama", NULL, false, "ollama", CHOICE_OPTION, NULL, "own", NULL},
        {MODELS, "", "ollama", NULL, false, "ollama", CHOICE_OPTION, NULL, "general", NULL},
        {MODELS, "", "ollama", "given", false, "ollama", CHOICE_OPTION, NULL, "given", NULL},
        /* the general model belongs to the named provider */
        {GENERAL, "", NULL, NULL, false, "anthropic", CHOICE_CONFIG, NULL, "claude-x", NULL},
        {GENERAL, "", "ollama", NULL, false, "ollama", CHOICE_OPTION, NULL, "", NULL},
        {HOSTS, "", "anthropic", NULL, false, "anthropic", CHOICE_OPTION, NULL, NULL,
         "https://a.example"},
        {HOSTS, "", "ollama", NULL, false, "ollama", CHOICE_OPTION, NULL, NULL,
         "http://b.example:11434"},
        {HOSTS, PLACES, "anthropic", NULL, false, "anthropic", CHOICE_OPTION, NULL, NULL,
         "http://127.0.0.1:1"},
        {HOSTS, PLACES, "ollama", NULL, false, "ollama", CHOICE_OPTION, NULL, NULL,
         "http://c.example:7"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        teardown(state);
        choice = (struct choice){0};
        setup(state);
        configure(rows[i].config);
        variables = rows[i].variables;
        assert_true(choose(rows[i].asked, rows[i].model, rows[i].ollama));
        const char *detail = choice.detail, *url = choice.endpoint.base_url;
        if (strcmp(choice.provider->name, rows[i].provider) != 0 ||
            choice.reason != rows[i].reason || !detail != !rows[i].detail ||
            (detail && strcmp(detail, rows[i].detail) != 0) ||
            (rows[i].chosen && strcmp(choice.model, rows[i].chosen) != 0) ||
            (rows[i].url && strcmp(url, rows[i].url) != 0))
            fail_msg("row %zu: %s, %s, model %s, %s", i, choice.provider->name,
                     detail ? detail : "-", choice.model, url ? url : "-");
        assert_int_equal(!url, strcmp(rows[i].provider, "offline") == 0);
        /* Ollama is asked where nothing else tells. */
        bool asked = rows[i].reason == CHOICE_FALLBACK || rows[i].reason == CHOICE_ANSWERED;
        assert_int_equal(probes, asked);
        assert_true(!asked || strcmp(probed, "http://127.0.0.1:11434") == 0);
    }
}

TEST(an_unknown_provider_is_refused)
{
    assert_error(choose("antropic", NULL, true), fault, ERR_USAGE, "did you mean \"anthropic\"");
    assert_false(choose("xyz", NULL, true));
    assert_non_null(strstr(fault.text, "offline"));
    assert_true(choose("anthropic", NULL, false));
    assert_string_equal(choice.model, config_string(config, CONFIG_ANTHROPIC_MODEL));
}

TEST(completes_ollama_addresses)
{
    static const char *const rows[][2] = {
        {"", "http://127.0.0.1:11434"},        {"box", "http://box:11434"},
        {"box:1234", "http://box:1234"},       {":1234", "http://127.0.0.1:1234"},
        {"0.0.0.0", "http://127.0.0.1:11434"}, {"0.0.0.0:5", "http://127.0.0.1:5"},
        {"http://box", "http://box:80"},       {"https://box", "https://box:443"},
        {"https://box:9/", "https://box:9"},   {"box/ollama/", "http://box:11434/ollama"},
        {"::1", "http://[::1]:11434"},         {"[::1]:77", "http://[::1]:77"},
        {"[::]", "http://[::1]:11434"},        {"http://127.0.0.1:11434", "http://127.0.0.1:11434"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(support_keep(choose_ollama_url(rows[i][0])), rows[i][1]);
    }
}

TEST(tells_hosts_apart)
{
    static const struct {
        const char *url, *host, *port;
        bool loopback;
    } rows[] = {{"http://127.0.0.1:80/v1", "127.0.0.1", "80", true},
                {"http://127.9.9.9", "127.9.9.9", "", true},
                {"http://127.0.0.1.evil.example/v1", "127.0.0.1.evil.example", "", false},
                {"https://user:word@api.openai.com:443/v1", "api.openai.com", "443", false},
                {"http://localhost:8080?x=@127.0.0.1", "localhost", "8080", true},
                {"http://evil.example/@127.0.0.1", "evil.example", "", false},
                {"http://[::1]:5/", "::1", "5", true},
                {"http://[fe80::1]", "fe80::1", "", false},
                {"http://[::1", "::1", "", true},
                {"", "", "", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char port[6];
        char *host = support_keep(host_of_url(rows[i].url, port));
        assert_string_equal(host, rows[i].host);
        assert_string_equal(port, rows[i].port);
        assert_int_equal(host_is_loopback(host), rows[i].loopback);
    }
}

/* --- whether one answers --------------------------------------------------------------------- */

static int listen_anywhere(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

TEST(sees_who_listens)
{
    unsigned port;
    int fd = listen_anywhere(&port);
    char *url = support_text("http://127.0.0.1:%u", port);
    char *by_name = support_text("http://localhost:%u/x", port);
    int64_t start;
    assert_true(choose_ollama_answers(NULL, url));
    assert_true(choose_ollama_answers(NULL, by_name));
    close(fd);
    start = clock_mono_ms();
    assert_false(choose_ollama_answers(NULL, url));
    assert_false(choose_ollama_answers(NULL, "http://192.0.2.1:11434"));
    assert_false(choose_ollama_answers(NULL, "http://ollama.example:11434"));
    assert_true(clock_mono_ms() - start < 1000);
}

/* --- keys ------------------------------------------------------------------------------------ */

static bool key_for(const char *provider)
{
    assert_true(choose(provider, NULL, false));
    return choose_key(config, fake_getenv, NULL, &choice, &fault);
}

TEST(key_from_the_environment_first)
{
    configure("[anthropic]\napi_key_command = echo from-command\napi_key = from-file\n");
    variables = "ANTHROPIC_API_KEY=from-env|ANTHROPIC_AUTH_TOKEN=t";
    assert_true(key_for("anthropic"));
    assert_string_equal(choice.endpoint.key, "from-env");
    assert_false(choice.endpoint.bearer);
    variables = "ANTHROPIC_AUTH_TOKEN=t";
    assert_true(choose_key(config, fake_getenv, NULL, &choice, &fault));
    assert_string_equal(choice.endpoint.key, "t");
    assert_true(choice.endpoint.bearer);
    variables = "";
    assert_true(choose_key(config, fake_getenv, NULL, &choice, &fault));
    assert_string_equal(choice.endpoint.key, "from-command");
    assert_false(choice.endpoint.bearer);
}

TEST(key_from_the_file_last)
{
    configure("[openai]\napi_key = from-file\n");
    assert_true(key_for("openai"));
    assert_string_equal(choice.endpoint.key, "from-file");
}

TEST(says_what_to_set_when_there_is_no_key)
{
    assert_error(key_for("anthropic"), fault, ERR_CONFIG_ERROR, "ANTHROPIC_API_KEY");
    assert_false(key_for("openai"));
    assert_non_null(strstr(fault.text, "OPENAI_API_KEY"));
    assert_true(key_for("ollama"));
    assert_true(key_for("offline"));
}

static void assert_key_state(const char *provider, enum key_state wanted, const char *variable)
{
    const char *wants;
    assert_int_equal(choose_key_state(config, fake_getenv, provider, &wants), wanted);
    if (variable)
        assert_string_equal(wants, variable);
    else
        assert_null(wants);
}

TEST(knows_where_a_key_is_without_asking_for_it)
{
    assert_key_state("anthropic", KEY_MISSING, "ANTHROPIC_API_KEY");
    assert_key_state("openai", KEY_MISSING, "OPENAI_API_KEY");
    assert_key_state("ollama", KEY_READY, NULL);
    assert_key_state("offline", KEY_READY, NULL);
    configure("[anthropic]\napi_key_command = exit 1\n");
    assert_key_state("anthropic", KEY_BY_COMMAND, NULL);
    configure("[openai]\napi_key = from-file\n");
    assert_key_state("openai", KEY_READY, NULL);
    variables = "ANTHROPIC_AUTH_TOKEN=t";
    assert_key_state("anthropic", KEY_READY, NULL);
}

TEST(names_of_models_are_looked_up_as_people_give_them)
{
    static const char *const names[] = {"claude-sonnet-4-5-20250929", "gpt-4.1", "gpt-5-2025-08-07",
                                        "llama3.2:latest", "models/gemini-2.5-pro"};
    static const struct {
        const char *name;
        bool listed;
    } cases[] = {{"gpt-4.1", true},
                 {"claude-sonnet-4-5", true},
                 {"gpt-5", true},
                 {"claude-sonnet-4-5-latest", true},
                 {"llama3.2", true},
                 {"gemini-2.5-pro", true},
                 {"gpt-4", false},
                 {"gpt", false},
                 {"claude-sonnet-4", false},
                 {"claude-sonnet-4-5-2025092", false},
                 {"llama3", false},
                 {"gpt-4.1-latest", false},
                 {"models", false},
                 {"pro", false}};
    AUTO(provider_names_release) struct provider_names known = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        vec_push(&known.names, mem_strdup(names[i]));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (model_name_is_listed(cases[i].name, &known) != cases[i].listed)
            fail_msg("%s", cases[i].name);
}

TEST(compatible_and_local_servers_need_no_key)
{
    variables =
        "OPENAI_BASE_URL=http://gpu.example:8000/v1|ANTHROPIC_BASE_URL=http://localhost:4000";
    assert_true(key_for("openai"));
    assert_null(choice.endpoint.key);
    assert_true(key_for("anthropic"));
    assert_null(choice.endpoint.key);
    variables = "ANTHROPIC_BASE_URL=http://proxy.example";
    assert_false(key_for("anthropic"));
}

TEST(refuses_a_key_that_would_break_a_header)
{
    variables = "OPENAI_API_KEY=secret\r\nx-evil: 1";
    assert_false(key_for("openai"));
    assert_null(choice.endpoint.key);
    assert_says(fault.text, "!secret", "OPENAI_API_KEY");
}

TEST(command_gives_its_first_line)
{
    static const char *const commands[] = {"printf 'k-1\\nsecond\\n'", "printf '  k-1\\r\\n'",
                                           "printf k-1; cat", "printf k-1; echo noise >&2",
                                           "sleep 60 & echo k-1"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *key = NULL;
        assert_true(key_command_run("api_key_command", commands[i], 20000, NULL, &key, &fault));
        assert_string_equal(key, "k-1");
        key_command_free(key);
    }
}

TEST(command_fails_without_telling_its_output)
{
    static const struct {
        const char *command, *text;
    } rows[] = {{"echo secret; exit 3", "exit status 3"},
                {"echo secret; kill -9 $$", "signal 9"},
                {"/nonexistent/secret", "exit status 127"},
                {"true", "nothing"},
                {"echo; echo secret", "nothing"},
                {"printf 'sec\\0ret'", "NUL"},
                {"head -c 20000 /dev/zero | tr '\\0' s", "8 KiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *key = NULL;
        assert_false(
            key_command_run("api_key_command", rows[i].command, 20000, NULL, &key, &fault));
        assert_null(key);
        assert_int_equal(fault.code, ERR_CONFIG_ERROR);
        assert_says(fault.text, rows[i].text, "!secret");
    }
}

TEST(command_is_stopped_in_time)
{
    static const char *const commands[] = {"sleep 60", "echo k; exec >&-; sleep 60"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *key = NULL;
        int64_t start = clock_mono_ms();
        assert_false(key_command_run("api_key_command", commands[i], 100, NULL, &key, &fault));
        assert_true(clock_mono_ms() - start < 10000);
        assert_null(key);
        assert_non_null(strstr(fault.text, "in time"));
    }
}

static bool stop(void *context)
{
    (void)context;
    return false;
}

TEST(command_is_stopped_by_the_wakeup)
{
    static const char *const commands[] = {"sleep 60", "exec >&-; sleep 60"};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    const struct wakeup wakeup = {.fd = ends[0], .go_on = stop};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *key = NULL;
        int64_t start = clock_mono_ms();
        assert_false(key_command_run("api_key_command", commands[i], 60000, &wakeup, &key, &fault));
        assert_true(clock_mono_ms() - start < 10000);
        assert_int_equal(fault.code, ERR_INTERRUPTED);
    }
    close(ends[0]);
    close(ends[1]);
}

/* --- a model --------------------------------------------------------------------------------- */

static const char *const *listed;

static bool list_models(const struct provider_call *call, struct provider_names *out,
                        struct failure *failure)
{
    (void)call;
    if (!listed)
        return failure_set(failure, FAILURE_CONNECT, "no connection");
    for (size_t i = 0; listed[i]; i++)
        vec_push(&out->names, mem_strdup(listed[i]));
    return true;
}

static const struct provider lister = {
    .name = "lister", .usual_model = "usual", .models = list_models};
static const struct provider mute = {.name = "mute"};

static bool pick(const struct provider *provider, const char *const *names)
{
    struct provider_call call = {.config = config};
    choice_release(&choice);
    choice.provider = provider;
    choice.model = mem_strdup("");
    listed = names;
    return choose_model(&call, &choice, &fault);
}

TEST(picks_a_model_of_the_servers)
{
    assert_true(pick(&lister, TEXTS("nomic-embed-text", "qwen3:8b", "x")));
    assert_string_equal(choice.model, "qwen3:8b");
    assert_true(pick(&lister, TEXTS("babbage-002", "gpt-4.1")));
    assert_string_equal(choice.model, "gpt-4.1");
    assert_false(pick(&mute, NULL));
    assert_non_null(strstr(fault.text, "--model"));
}

TEST(asks_for_the_usual_model_where_none_is_listed)
{
    assert_true(pick(&lister, TEXTS("nomic-embed-text")));
    assert_string_equal(choice.model, "usual");
    assert_true(pick(&lister, NULL));
    assert_string_equal(choice.model, "usual");
}

TEST(keeps_a_model_that_is_named)
{
    struct provider_call call = {.config = config};
    choice.provider = &mute;
    choice.model = mem_strdup("named");
    assert_true(choose_model(&call, &choice, &fault));
    assert_string_equal(choice.model, "named");
}
