/* Every row of the table of errors, provoked in the real program: standard error, the exit status,
 * and the output of `tiro run` for programs. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/scene.h"
#include "tests/suite.h"

enum { ARGS_MAX = 12 };

#define ARGS TEXTS

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

/* --- expectations ---------------------------------------------------------------------------- */

/* "what happened; what to do": neither is empty. */
static bool advises(const char *text)
{
    const char *parting = strstr(text, "; ");
    return parting && parting > text && strlen(parting) >= strlen("; go on");
}

static void assert_advises(const char *text)
{
    if (!advises(text))
        fail_msg("no \"what happened; what to do\": %s", text);
}

/* The line about tokens used, or the warning that the budget nears its end; either may come with
 * any error. */
static bool tells_use(const char *line)
{
    return strncmp(line, "tiro: used: ", 12) == 0 || strstr(line, " of [budget] ");
}

/* Each line reports this error. */
static void assert_said(const char *err, enum err_code code)
{
    char *prefix = support_text("tiro: %s: ", err_info(code)->name);
    char *text = support_keep(mem_strdup(err)), *rest = text;
    char *line = strtok_r(rest, "\n", &rest);
    size_t said = 0;
    for (; line; line = strtok_r(rest, "\n", &rest)) {
        if (tells_use(line))
            continue;
        said++;
        if (strncmp(line, prefix, strlen(prefix)) != 0)
            fail_msg("no \"%s\": %s", prefix, line);
        assert_advises(line + strlen(prefix));
    }
    if (said == 0)
        fail_msg("nothing is said of %s", err_info(code)->name);
}

static void assert_status(const struct result *r, int status)
{
    if (r->status != status)
        fail_msg("status %d in place of %d: %s%s", r->status, status, r->out, r->err);
}

/* The program without standard input ends with this error. */
static void fails(enum err_code code, const char *const *args)
{
    struct result r = program_run("", args);
    assert_status(&r, err_info(code)->exit_status);
    assert_said(r.err, code);
}

static void assert_code(const struct json *v, enum err_code code)
{
    const char *name = json_get_string(v, "code");
    assert_non_null(name);
    assert_string_equal(name, err_info(code)->name);
    assert_advises(json_get_string(v, "message"));
}

static struct json *last_line(const char *text)
{
    size_t len = strlen(text);
    assert_true(len > 0 && text[len - 1] == '\n');
    char *copy = support_keep(mem_strndup(text, len - 1));
    const char *newline = strrchr(copy, '\n');
    return parse_json(newline ? newline + 1 : copy);
}

static void text_tells(const char *out, enum err_code code)
{
    (void)code;
    assert_null(strstr(out, "tiro:"));
}

static void json_tells(const char *out, enum err_code code)
{
    struct json *v = parse_json(out);
    assert_code(json_get(v, "error"), code);
}

static void stream_tells(const char *out, enum err_code code)
{
    struct json *v = last_line(out);
    assert_string_equal(json_get_string(v, "type"), "run_failed");
    assert_code(v, code);
}

static const struct {
    const char *name;
    void (*tells)(const char *out, enum err_code code);
} formats[] = {{"text", text_tells}, {"json", json_tells}, {"stream-json", stream_tells}};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static void run_arguments(const char *format, const char *const *words, const char **args)
{
    size_t count = 0;
    args[count++] = "run";
    args[count++] = "--output-format";
    args[count++] = format;
    for (; *words; words++) {
        assert_true(count < ARGS_MAX);
        args[count++] = *words;
    }
    args[count] = NULL;
}

/* `tiro run` with these words fails so in each format. The model answers with `reply` unless it has
 * none of its own. */
static void turn_fails(enum err_code code, const struct reply *reply, const char *const *words)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const char *args[ARGS_MAX + 1];
        run_arguments(formats[i].name, words, args);
        if (reply)
            queue(*reply);
        struct result r = program_run("", args);
        assert_status(&r, err_info(code)->exit_status);
        assert_said(r.err, code);
        formats[i].tells(r.out, code);
    }
}

static bool is_said_with_advice(struct screen *s, void *context)
{
    int row, col;
    return screen_find(s, *(const char **)context, &row, &col) &&
           advises(screen_row_text(s, row + 1));
}

/* The screen shows the sentence in the user's language, and below it the engine's message. */
static void screen_says(struct screen *s, const char *sentence)
{
    assert_true(screen_wait(s, is_said_with_advice, &sentence, sentence, WAIT_MS));
}

#define PROVOKE(code) static void provoke_##code(__attribute__((unused)) void **state)

/* --- the rows -------------------------------------------------------------------------------- */

PROVOKE(OK)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        struct result r = RUN("run", "-o", formats[i].name, "hello");
        assert_status(&r, err_info(ERR_OK)->exit_status);
        assert_true(tells_use_alone(r.err));
        assert_says(r.out, "Hello from the scripted model.", "!\"error\"", "!run_failed");
    }
    run_ok(RUN("config", "check"));
    run_ok(RUN("doctor"));
}

PROVOKE(SESSION_NOT_FOUND)
{
    fails(ERR_SESSION_NOT_FOUND, ARGS("sessions", "show", "nonesuch"));
    if (!capability_store())
        return;
    turn_fails(ERR_SESSION_NOT_FOUND, NULL, ARGS("--resume", "nonesuch", "hi"));
    run_ok(RUN("run", "hello"));
    turn_fails(ERR_SESSION_NOT_FOUND, NULL, ARGS("--resume", "nonesuch", "hi"));
    assert_int_equal(model_server_requests(scene_server()), 1);
}

PROVOKE(SESSION_AMBIGUOUS)
{
    if (!capability_store())
        return;
    run_ok(RUN("run", "hello"));
    run_ok(RUN("run", "hello"));
    fails(ERR_SESSION_AMBIGUOUS, ARGS("sessions", "show", "hello"));
    turn_fails(ERR_SESSION_AMBIGUOUS, NULL, ARGS("--resume", "hello", "hi"));
    assert_int_equal(model_server_requests(scene_server()), 2);
}

PROVOKE(SESSION_BUSY)
{
    queue((struct reply){.fault = REPLY_STALL, .text = "half an answer"});
    struct screen *s = scene_open(24, 100, NULL);
    scene_say(s, "go");
    assert_true(screen_wait_text(s, "half an answer", WAIT_MS));
    scene_say(s, "/model other");
    screen_says(s, "Not possible while a turn is running.");
}

PROVOKE(SESSION_PERSISTENCE_DISABLED)
{
    if (capability_store())
        setenv("TIRO_SESSION_PERSIST", "false", 1);
    else
        fails(ERR_SESSION_PERSISTENCE_DISABLED, ARGS("run", "--persist", "hi"));
    fails(ERR_SESSION_PERSISTENCE_DISABLED, ARGS("sessions", "rebuild"));
    fails(ERR_SESSION_PERSISTENCE_DISABLED, ARGS("sessions", "rename", "last", "x"));
    fails(ERR_SESSION_PERSISTENCE_DISABLED, ARGS("sessions", "import", "-"));
}

PROVOKE(SESSION_COMPACTION_DISABLED)
{
    if (!capability_compaction())
        fails(ERR_SESSION_COMPACTION_DISABLED, ARGS("run", "--compaction", "hi"));
    struct screen *s = scene_open(24, 110, ARGS("--no-compaction"));
    scene_say(s, "/compact");
    screen_says(s, "Conversations are not shortened here.");
}

PROVOKE(MEMORY_NOT_FOUND)
{
    if (!capability_memory() || !capability_store())
        skip();
    fails(ERR_MEMORY_NOT_FOUND, ARGS("memory", "show", "nothing"));
    fails(ERR_MEMORY_NOT_FOUND, ARGS("memory", "delete", "--yes", "nothing"));
}

PROVOKE(MEMORY_DISABLED)
{
    if (!capability_memory())
        fails(ERR_MEMORY_DISABLED, ARGS("run", "--memory", "hi"));
    if (!capability_store())
        return;
    setenv("TIRO_MEMORY_ENABLED", "false", 1);
    fails(ERR_MEMORY_DISABLED, ARGS("memory", "search", "x"));
}

PROVOKE(SESSION_NOT_RUNNING)
{
    struct screen *s = scene_open(24, 100, NULL);
    scene_say(s, "/stop");
    screen_says(s, "Nothing is running.");
}

/* A message without advice, since the user need not act. */
static void screen_tells(struct screen *s, const char *sentence)
{
    assert_true(screen_wait_text(s, sentence, WAIT_MS));
}

PROVOKE(NOTHING_TO_COMPACT)
{
    if (!capability_compaction())
        skip();
    struct screen *s = scene_open(24, 100, NULL);
    scene_say(s, "/compact");
    screen_tells(s, "There is nothing to compact yet.");
}

PROVOKE(TOO_SMALL_TO_COMPACT)
{
    if (!capability_compaction())
        skip();
    struct screen *s = scene_open(24, 100, NULL);
    scene_exchange(s, "hi", "Hello from the scripted model.");
    scene_say(s, "/compact structured");
    screen_tells(s, "Nothing to compact: structured keeps everything");
}

PROVOKE(NOTHING_TO_UNDO)
{
    if (!capability_compaction())
        skip();
    struct screen *s = scene_open(24, 100, NULL);
    scene_say(s, "/uncompact");
    screen_tells(s, "There is no compaction to undo.");
}

PROVOKE(MESSAGE_NOT_SENT)
{
    if (!capability_compaction())
        skip();
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    struct screen *s = scene_open(24, 100, NULL);
    scene_exchange_long(s, "the first", "first end");
    scene_exchange_long(s, "the second", "second end");
    queue((struct reply){.text = "A summary."});
    scene_say(s, "/compact");
    screen_tells(s, "compacted");
    scene_say(s, "/pin 1");
    screen_tells(s, "There is no message of yours of that number in what the model is sent.");
}

/* Anything but zero. */
static char *random_text(size_t len)
{
    uint64_t seed = support_seed();
    char *text = mem_alloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(1 + support_random(&seed) % 255);
    return support_keep(text);
}

PROVOKE(SESSION_STORE_ERROR)
{
    char *bytes = random_text(8192);
    struct error e;
    assert_true(paths_make_dir(support_path(".local/share/tiro"), &e));
    support_write(scene_store(), bytes);
    if (capability_store()) {
        fails(ERR_SESSION_STORE_ERROR, ARGS("sessions", "list"));
        fails(ERR_SESSION_STORE_ERROR, ARGS("sessions", "show"));
        turn_fails(ERR_SESSION_STORE_ERROR, NULL, ARGS("hi"));
        assert_int_equal(model_server_requests(scene_server()), 0);
    } else {
        run_ok(RUN("run", "hi")); /* a missing part cannot fail */
    }
    assert_string_equal(support_read(scene_store()), bytes);
}

static void provoke_AGENT_ERROR(void **state)
{
    static const int statuses[] = {401, 429, 529};
    (void)state;
    setenv("TIRO_PROVIDER_MAX_RETRIES", "0", 1);
    char *lengthy = random_text(2000);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        turn_fails(ERR_AGENT_ERROR,
                   &(struct reply){.fault = REPLY_STATUS,
                                   .status = statuses[i],
                                   .error_type = "api_error",
                                   .error_message = i % 2 ? "no" : lengthy},
                   ARGS("--no-compaction", "hi"));
    static const enum reply_fault faults[] = {REPLY_ERROR_EVENT, REPLY_DISCONNECT, REPLY_EMPTY};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        turn_fails(ERR_AGENT_ERROR, &(struct reply){.fault = faults[i], .text = "half "},
                   ARGS("hi"));
    setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1", 1);
    turn_fails(ERR_AGENT_ERROR, NULL, ARGS("hi"));
    setenv("ANTHROPIC_BASE_URL", "no-such-protocol://127.0.0.1", 1);
    turn_fails(ERR_AGENT_ERROR, NULL, ARGS("hi"));
}

static void provoke_CONFIG_ERROR(void **state)
{
    static const char *const bad[] = {
        "[ui]\nthem = light\n",
        "[provider\n",
        "[provider]\nname = gemini\n",
        "[provider]\nmax_retries = 5000\n",
        "[ui]\ntheme = nonesuch\n",
        "[keys]\nsned = ctrl-s\n",
        "[keys]\nsend = ctrl-t\nnewline = ctrl-t\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_config(bad[i]);
        fails(ERR_CONFIG_ERROR, ARGS("config", "check"));
    }
    write_config("");
    setenv("TIRO_UI_THEEM", "light", 1);
    setenv("TIRO_QQQQQQQQQQQQQQQQ", "1", 1);
    fails(ERR_CONFIG_ERROR, ARGS("config", "check"));
    unsetenv("TIRO_UI_THEEM");
    unsetenv("TIRO_QQQQQQQQQQQQQQQQ");
    turn_fails(ERR_CONFIG_ERROR, NULL, ARGS("--allow", "writ_file", "hi"));
    turn_fails(ERR_CONFIG_ERROR, NULL, ARGS("--allow", "qqqqqqqqqq", "hi"));
    turn_fails(ERR_CONFIG_ERROR, NULL, ARGS("--provider", "openai", "hi")); /* no key */
    unsetenv("ANTHROPIC_API_KEY");
    static const char *const commands[] = {"true", "no-such-program"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        write_config(support_text("[anthropic]\napi_key_command = %s\n", commands[i]));
        turn_fails(ERR_CONFIG_ERROR, NULL, ARGS("--provider", "anthropic", "hi"));
    }
}

PROVOKE(FILE_ERROR)
{
    char *missing = support_path("missing"), *binary = support_path("binary"), deep[300];
    memset(deep, 'd', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    support_write(binary, "\xff\xfe");
    const char *const names[] = {missing, binary, deep, "missing/deeper"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fails(ERR_FILE_ERROR, ARGS("run", "-f", names[i], "hi"));
    if (capability_store()) {
        run_ok(RUN("run", "hello"));
        fails(ERR_FILE_ERROR, ARGS("sessions", "export", "last", "-o", binary));
        fails(ERR_FILE_ERROR, ARGS("sessions", "export", "last", "-o", "missing/deeper"));
        fails(ERR_FILE_ERROR, ARGS("sessions", "import", missing));
        fails(ERR_FILE_ERROR, ARGS("sessions", "import", binary));
    }
}

/* 128 + the signal says it all on the way out; the formats for programs name the error. */
static void assert_stopped(struct support_child *c, size_t format, bool began)
{
    kill(c->pid, SIGINT);
    assert_int_equal(support_finish(c, NULL), 128 + SIGINT);
    assert_string_equal(c->err_text.data, "");
    const char *out = c->out_text.data;
    if (strcmp(formats[format].name, "stream-json") == 0 && began) {
        AUTO(json_free_local) struct json *v = last_line(out);
        assert_string_equal(json_get_string(v, "type"), "interrupted");
    } else {
        formats[format].tells(out, ERR_INTERRUPTED);
    }
    support_release(c);
}

/* The terminal and the command line may do all: other programs alone meet it. */
PROVOKE(FORBIDDEN)
{
    struct rpc_client c;
    RPC_START(&c, NULL);
    const struct json *answer =
        rpc_client_call(&c, "config/set", "{'key':'tools.allow','value':'write'}");
    rpc_client_is_error(answer, "FORBIDDEN");
    assert_advises(json_get_string(json_get(answer, "error"), "message"));
    assert_int_equal(rpc_client_end(&c), 0);
}

PROVOKE(EVENT_NOT_FOUND)
{
    struct rpc_client c;
    RPC_START(&c, NULL);
    char *session =
        mem_strdup(json_get_string(rpc_client_result(&c, "session/create", "{}"), "id"));
    const struct json *answer =
        rpc_client_call(&c, "session/history",
                        support_text("{'session_id':'%s','after':1}", support_keep(session)));
    rpc_client_is_error(answer, "EVENT_NOT_FOUND");
    assert_advises(json_get_string(json_get(answer, "error"), "message"));
    assert_int_equal(rpc_client_end(&c), 0);
}

static bool is_there(void *path)
{
    return access(path, F_OK) == 0;
}

/* A password manager waits for its user. */
static void so_is_one_before_anything_was_sent(void)
{
    char *path = support_path("asked");
    write_config(support_text("[anthropic]\napi_key_command = touch %s && sleep 100\n", path));
    unsetenv("ANTHROPIC_API_KEY");
    struct support_child c;
    support_start(&c, ARGS(support_program(), "run", "-p", "anthropic", "-o", "json", "go"));
    close(c.in);
    c.in = -1;
    assert_true(support_wait_until(is_there, path, WAIT_MS));
    assert_stopped(&c, 1, false);
}

PROVOKE(INTERRUPTED)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        bool whole = strcmp(formats[i].name, "json") == 0;
        size_t before = model_server_requests(scene_server());
        struct support_child c;
        queue((struct reply){.fault = REPLY_STALL, .text = "half an answer"});
        support_start(&c, ARGS(support_program(), "run", "--output-format", formats[i].name, "go"));
        close(c.in);
        c.in = -1;
        if (whole)
            assert_true(model_server_wait(scene_server(), before + 1, WAIT_MS));
        else
            assert_true(support_read_until(&c, "half an answer", WAIT_MS));
        assert_stopped(&c, i, true);
        model_server_release(scene_server());
    }
    so_is_one_before_anything_was_sent();
}

/* The first call is free, the second is not made. */
PROVOKE(BUDGET_EXHAUSTED)
{
    setenv("TIRO_BUDGET_MAX_TOKENS", "1", 1);
    turn_fails(ERR_BUDGET_EXHAUSTED,
               &(struct reply){.tool_name = "list_directory", .tool_args = "{\"path\":\".\"}"},
               ARGS("--tools", "read", "look"));
    assert_int_equal(model_server_requests(scene_server()), FORMAT_COUNT);
}

static void provoke_USAGE(void **state)
{
    static const char *const misuses[][5] = {
        {"sesions"},
        {"run"},
        {"run", "--modle", "x", "hi"},
        {"run", "--model"},
        {"run", "--no-persist=1", "hi"},
        {"run", "--provider", "opnai", "hi"},
        {"run", "--label", "far-too-long-a-label-to-be-accepted-by-anybody", "hi"},
        {"chat", "hello"},
        {"chat"},
        {"sessions", "show", "one", "two"},
        {"sessions", "list", "--limit", "none"},
        {"sessions", "list", "--archived", "--live"},
        {"doctor", "now"},
        {"help", "rnu"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++)
        fails(ERR_USAGE, misuses[i]);
    struct result r = program_run("\xff", ARGS("run", "-"));
    assert_status(&r, err_info(ERR_USAGE)->exit_status);
    assert_said(r.err, ERR_USAGE);
}

/* --- the table itself ------------------------------------------------------------------------ */

/* As published for programs that call this one: the values must never change. */
static const struct {
    const char *name;
    int rpc, rest, exit_status;
} published[] = {
    {"OK", 0, 200, 0},
    {"SESSION_NOT_FOUND", -32001, 404, 1},
    {"SESSION_AMBIGUOUS", -32008, 409, 1},
    {"SESSION_BUSY", -32002, 409, 1},
    {"SESSION_PERSISTENCE_DISABLED", -32003, 501, 1},
    {"SESSION_COMPACTION_DISABLED", -32004, 501, 1},
    {"SESSION_NOT_RUNNING", -32005, 409, 1},
    {"SESSION_STORE_ERROR", -32000, 500, 1},
    {"AGENT_ERROR", -32000, 500, 1},
    {"MEMORY_NOT_FOUND", -32006, 404, 1},
    {"MEMORY_DISABLED", -32007, 501, 1},
    {"NOTHING_TO_COMPACT", -32009, 409, 1},
    {"TOO_SMALL_TO_COMPACT", -32010, 409, 1},
    {"NOTHING_TO_UNDO", -32011, 409, 1},
    {"MESSAGE_NOT_SENT", -32012, 409, 1},
    {"FORBIDDEN", -32013, 403, 1},
    {"EVENT_NOT_FOUND", -32014, 410, 1},
    {"CONFIG_ERROR", -32000, 500, 1},
    {"FILE_ERROR", -32000, 500, 1},
    {"INTERRUPTED", -32000, 409, 1},
    {"BUDGET_EXHAUSTED", -32000, 402, 2},
    {"USAGE", -32602, 400, 64},
};

#define X(name, rpc, rest, status) +1
enum { ROW_COUNT = 0 ERR_TABLE(X) };
#undef X

TEST(numbers_are_the_published_ones)
{
    assert_int_equal(sizeof published / sizeof *published, ROW_COUNT);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct err_info *info = err_info(err_from_name(published[i].name));
        assert_string_equal(info->name, published[i].name);
        assert_int_equal(info->rpc, published[i].rpc);
        assert_int_equal(info->rest, published[i].rest);
        assert_int_equal(info->exit_status, published[i].exit_status);
    }
}

/* A test for each row of the table of errors. */
__attribute__((constructor)) static void add_provocations(void)
{
    suite_use(__FILE__, scene_setup, scene_teardown);
#define X(name, rpc, rest, status) suite_add(__FILE__, #name, provoke_##name, NULL);
    ERR_TABLE(X)
#undef X
}
