/* The real program, one turn without a screen, with every provider. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sandbox.h"
#include "base/vec.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define KEY "sk-e2e-0123456789-must-not-leak"

enum { DEADLINE_MS = 20000 };

static const char hello[] = "Hello from the scripted model.";
static struct model_server *server;

/* The address of each provider, and the parts of its request. */
struct dialect {
    const char *name, *url_variable, *url_suffix, *key_variable, *key_header, *key_value;
};

static const struct dialect dialects[] = {
    {"anthropic", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY", "x-api-key", KEY},
    {"openai", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY", "authorization", "Bearer " KEY},
    {"ollama", "OLLAMA_HOST", "", NULL, NULL, NULL},
};

static int setup(void **state)
{
    if (support_setup(state) != 0)
        return -1;
    server = model_server_start();
    model_server_set_models(server, TEXTS("scripted-1"));
    if (chdir(support_dir()) != 0)
        return -1;
    return 0;
}

static int teardown(void **state)
{
    model_server_stop(server);
    if (chdir("/") != 0)
        return -1;
    return support_teardown(state);
}

static void use(const struct dialect *d)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        unsetenv(dialects[i].url_variable);
        if (dialects[i].key_variable != NULL)
            unsetenv(dialects[i].key_variable);
    }
    setenv(d->url_variable, support_text("%s%s", model_server_url(server), d->url_suffix), 1);
    if (d->key_variable != NULL)
        setenv(d->key_variable, KEY, 1);
}

static void queue(struct reply r)
{
    model_server_queue(server, &r);
}

#define TURN(...) RUN("run", __VA_ARGS__)

/* Whether the text stands in some file under the test's home. */
static bool home_holds(const char *text)
{
    return system(support_text("grep -rqaF -- '%s' '%s'", text, support_dir())) == 0;
}

FIXTURE(setup, teardown);

TEST(each_provider_answers)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        use(&dialects[i]);
        struct result o = TURN("what is your name?");
        if (o.status != 0)
            fail_msg("%s: exit %d: %s", dialects[i].name, o.status, o.err);
        assert_text(o.out, hello);
        size_t last = model_server_requests(server) - 1;
        assert_int_equal(last, i);
        assert_text(model_server_body(server, last), "what is your name?");
        if (dialects[i].key_header != NULL)
            assert_string_equal(model_server_header(server, last, dialects[i].key_header),
                                dialects[i].key_value);
    }
}

TEST(offline_needs_no_network)
{
    use(&dialects[0]);
    char *out = program_output(TURN("--provider", "offline", "is anybody there?"));
    assert_text(out, "offline");
    assert_int_equal(model_server_requests(server), 0);
    assert_string_equal(out, program_output(TURN("--provider", "offline", "is anybody there?")));
}

/* Names of the events, each line parsed, joined by blanks; numbers must rise. */
static char *event_names(const char *lines)
{
    struct buf names = BUF_INIT;
    int64_t seq = 0;
    while (*lines != '\0') {
        size_t len = strcspn(lines, "\n");
        struct json *v = parse_json(support_keep(mem_strndup(lines, len)));
        buf_addf(&names, "%s ", json_get_string(v, "type"));
        assert_true(json_get_int(v, "seq", 0) > seq);
        seq = json_get_int(v, "seq", 0);
        assert_non_null(json_get_string(v, "session_id"));
        lines += len + (lines[len] == '\n');
    }
    return support_keep(buf_take(&names));
}

TEST(stream_json_tells_every_event)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        use(&dialects[i]);
        queue((struct reply){.text = "one two three four", .piece = 4, .input_tokens = 1500});
        struct result o = ended(0, TURN("--output-format", "stream-json", "--model", "m",
                                        support_text("count for %s", dialects[i].name)));
        char *names = event_names(o.out);
        assert_true(strncmp(names, "run_started turn_started text_delta ", 36) == 0);
        assert_text(names, " text_complete turn_completed run_completed ");
    }
}

TEST(a_tool_call_goes_round)
{
    support_write(support_path("letter.txt"), "Dear Atticus,\nthe harvest was good.\n");
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        size_t before = model_server_requests(server);
        use(&dialects[i]);
        queue((struct reply){.tool_name = "list_directory", .tool_args = "{\"path\":\".\"}"});
        queue((struct reply){.tool_name = "read_file",
                             .tool_args = "{\"path\":\"letter.txt\"}",
                             .tool_id = "call_2"});
        queue((struct reply){.text = "The harvest was good."});
        struct result o = ended(0, TURN("--model", "m", "what does the letter say?"));
        assert_text(o.out, "The harvest was good.");
        assert_int_equal(model_server_requests(server), before + 3);
        assert_text(model_server_body(server, before + 1), "letter.txt");
        const char *last = model_server_body(server, before + 2);
        assert_says(last, "the harvest was good.\\n", "what does the letter say?");
        assert_text(last, i == 2 ? "tool_name" : "call_2");
    }
}

TEST(a_busy_server_is_asked_again)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        size_t before = model_server_requests(server);
        use(&dialects[i]);
        queue((struct reply){.fault = REPLY_STATUS,
                             .status = 429,
                             .error_type = "rate_limit_error",
                             .error_message = "slow down",
                             .retry_after = "0"});
        queue((struct reply){.fault = REPLY_STATUS, .status = 500, .retry_after = "0"});
        struct result o = ended(0, TURN("--model", "m", "--output-format", "stream-json", "hi"));
        assert_says(o.out, "\"retrying\"", "slow down");
        assert_text(o.out, hello);
        assert_int_equal(model_server_requests(server), before + 3);
        assert_string_equal(model_server_body(server, before),
                            model_server_body(server, before + 2));
    }
}

/* Starts `tiro run`, waits for the beginning of the answer, sends the signal. */
static struct result signalled(int signal_number)
{
    const char *const argv[] = {support_program(), "run", "--model", "m", "hi", NULL};
    struct support_child c;
    support_start(&c, argv);
    close(c.in);
    c.in = -1;
    assert_true(support_read_until(&c, "as far as it came", DEADLINE_MS));
    kill(c.pid, signal_number);
    struct result o = {.status = support_finish(&c, NULL)};
    o.out = support_keep(buf_take(&c.out_text));
    o.err = support_keep(buf_take(&c.err_text));
    support_release(&c);
    return o;
}

TEST_IF(capability_store(), a_signal_cuts_a_stalled_answer)
{
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        use(&dialects[i]);
        queue((struct reply){.fault = REPLY_STALL, .text = "as far as it came\n\n"});
        struct result o = signalled(signals[i % 2]);
        assert_int_equal(o.status, 128 + signals[i % 2]);
        model_server_release(server);
        o = ended(0, RUN_WITH("", "sessions", "show", "last"));
        assert_text(o.out, "as far as it came");
    }
}

TEST(without_persistence_nothing_is_kept)
{
    use(&dialects[0]);
    (void)ended(0, TURN("--no-persist", "a secret question"));
    assert_false(home_holds("a secret question"));
}

/* The environments of the command itself, of its supervisor and of tiro: each is let read, or not
 * at all. Root may read them, and finds no key there. */
#define LOOK                                                                                       \
    "p=$PPID; for i in 1 2; do (tr '\\\\0' ' ' </proc/$p/environ) 2>/dev/null || echo refused; "   \
    "p=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$p/status); done; env; echo core $(ulimit -S -c)"

TEST(children_see_no_keys)
{
    use(&dialects[0]);
    setenv("TIRO_OPENAI_API_KEY", KEY, 1);
    setenv("TIRO_EMBEDDING_API_KEY", KEY, 1);
    setenv("TIRO_OPENAI_BASE_URL", "https://me:" KEY "@127.0.0.1:1/", 1);
    setenv("TIRO_TOOLS_ENVIRONMENT", "MINE_* ANTHROPIC_API_KEY", 1);
    setenv("TIRO_TOOLS_SANDBOX", "off", 1); /* in it, the others' cannot be read at all */
    setenv("MINE_ONE", "wanted", 1);
    setenv("SOME_OTHER", "unwanted", 1);
    queue((struct reply){.tool_name = "run_command", .tool_args = "{\"command\":\"" LOOK "\"}"});
    queue((struct reply){.text = hello});
    struct result o =
        TURN("--provider", "anthropic", "--tools", "full", "--allow", "run_command", "look");
    assert_int_equal(o.status, 0);
    const char *seen = model_server_body(server, 1);
    assert_null(strstr(seen, KEY));
    assert_says(seen, "MINE_ONE=wanted\\n", "!SOME_OTHER=unwanted\\n", "core 0");
#if defined __linux__ && !defined WITH_SANITIZERS
    assert_text(seen, geteuid() == 0 ? "SOME_OTHER=unwanted " : "refused\\nrefused");
#endif
    unsetenv("SOME_OTHER");
    unsetenv("MINE_ONE");
}

/* The working directory leads to tiro's own files here, so nothing can be made in it. */
TEST_IF(!sandbox_kernel().lack, commands_are_confined)
{
    use(&dialects[0]);
    queue((struct reply){
        .tool_name = "run_command",
        .tool_args = "{\"command\":\"touch made || echo refused; cat .config/tiro/tiro.ini\"}"});
    queue((struct reply){.text = hello});
    (void)ended(0, TURN("--tools", "full", "--allow", "run_command", "make it"));
    assert_says(model_server_body(server, 1), "refused\\n", "the sandbox may have refused");
    assert_int_equal(access(support_path("made"), F_OK), -1);
}

/* The user's command for a key gets the environment that it needs, but no key of ours. */
TEST(the_key_command_gets_the_rest)
{
    use(&dialects[0]);
    unsetenv("ANTHROPIC_API_KEY");
    setenv("OPENAI_API_KEY", KEY, 1);
    setenv("SOME_OTHER", "wanted", 1);
    setenv("TIRO_ANTHROPIC_API_KEY_COMMAND", "echo \"k-${SOME_OTHER}-${OPENAI_API_KEY-none}\"", 1);
    queue((struct reply){.text = hello});
    (void)ended(0, TURN("--provider", "anthropic", "look"));
    assert_string_equal(model_server_header(server, 0, "x-api-key"), "k-wanted-none");
    unsetenv("SOME_OTHER");
}

TEST_IF(capability_store(), the_key_is_nowhere)
{
    setenv("TIRO_LOG_LEVEL", "debug", 1);
    for (size_t i = 0; i < 2; i++) {
        use(&dialects[i]);
        struct result o =
            TURN("--model", "m", "--output-format", "stream-json", "a question for the grep");
        assert_int_equal(o.status, 0);
        assert_null(strstr(o.out, KEY));
        assert_null(strstr(o.err, KEY));
        o = RUN_WITH("", "doctor");
        assert_null(strstr(o.out, KEY));
        assert_null(strstr(o.err, KEY));
        o = RUN_WITH("", "config", "show");
        assert_null(strstr(o.out, KEY));
    }
    assert_true(home_holds("a question for the grep"));
    assert_false(home_holds(KEY));
}

TEST_IF(capability_store(), what_is_kept_is_private)
{
    use(&dialects[0]);
    run_ok(TURN("hi"));
    char *path = support_path(".local/share/tiro/tiro.db");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    path = support_path(".local/share/tiro");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}
