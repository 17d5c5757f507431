/* The command line through the real program. */
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/paths.h"
#include "config/permissions.h"
#include "session/capability.h"
#include "session/operation.h"
#include "tests/program.h"
#include "tests/screen.h"
#include "tests/steps.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 20000 };

/* --- words and options ----------------------------------------------------------------------- */

FIXTURE(support_setup, support_teardown);

TEST(test_version)
{
    struct result r = ended(0, RUN("--version"));
    assert_int_equal(strncmp(r.out, "tiro ", 5), 0);
    assert_string_equal(r.err, "");
}

TEST(test_help)
{
    static const char *const commands[] = {"chat", "run", "sessions", "config", "doctor", "help"};
    struct result overview = ended(0, RUN("--help"));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        assert_text(overview.out, commands[i]);
        struct result one = ended(0, RUN("help", commands[i]));
        struct result same = ended(0, RUN(commands[i], "--help"));
        assert_string_equal(one.out, same.out);
    }
}

TEST(test_usage)
{
    expect(RUN("sesions", "list"), 64,
           "tiro: USAGE: unknown command \"sesions\"; did you mean "
           "\"sessions\"?");
    expect(RUN("run", "--modle", "x", "hi"), 64, "unknown option --modle; did you mean --model?");
    expect(RUN("run", "--qqqqqqqqqq"), 64, "tiro: USAGE: unknown option --qqqqqqqqqq");
    expect(RUN("run", "--model"), 64, "option --model needs a value");
    expect(RUN("run", "--no-persist=1", "hi"), 64, "option --no-persist=1 takes no value");
    expect(RUN("run", "--provider", "opnai", "hi"), 64,
           "tiro: USAGE: --provider takes one of: anthropic openai ollama offline; not \"opnai\"");
    expect(RUN("run", "--tools", "all", "hi"), 64,
           "tiro: USAGE: --tools takes one of: none read full");
    expect(RUN("run", "--output-format", "jsno", "hi"), 64, "did you mean \"json\"?");
    expect(RUN("run"), 64, "nothing to send");
    expect(RUN("sessions", "shwo"), 64, "did you mean \"show\"?");
    expect(RUN("config", "chekc"), 64, "did you mean \"check\"?");
    expect(RUN("doctor", "now"), 64, "tiro: USAGE: ");
    expect(RUN("help", "rnu"), 64, "did you mean \"run\"?");
    expect(RUN("--frobnicate"), 64, "see tiro --help");
    expect(RUN("completion", "--frobnicate"), 64, "see tiro completion --help");
    expect(RUN("config", "check", "--frobnicate"), 64, "see tiro config check --help");
}

/* Runs "tiro WORDS" with these words more; `what` is a word of the error. */
static void refuses(const struct operation *o, const char *a, const char *b, const char *what)
{
    const char *verb = strchr(o->words, ' ') + 1;
    char *group = support_text("%.*s", (int)(verb - 1 - o->words), o->words);
    const char *const args[] = {group, verb, a, b, NULL};
    struct result r = program_run("", args);
    assert_text(r.err, "tiro: USAGE: ");
    expect(r, 64, what);
}

/* Each operation with words of the command line is a command as its row says, and refuses what does
 * not fit before anything is made. */
TEST(test_commands_of_the_operations)
{
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) {
        if (!o->words)
            continue;
        const char *verb = strchr(o->words, ' ') + 1, *operands = o->operands;
        char *group = support_text("%.*s", (int)(verb - 1 - o->words), o->words);
        char *help = program_output(RUN("help", group, verb));
        assert_text(help, support_text("Usage: tiro %s", o->words));
        assert_text(help, o->help);
        assert_text(help, operands);
        refuses(o, "--frobnicate", NULL, support_text("see tiro %s --help", o->words));
        if (*operands && *operands != '[')
            refuses(o, NULL, NULL, support_text("is missing; use: tiro %s", o->words));
        if (!strchr(operands, '.') && !strchr(operands, ' '))
            refuses(o, "one", "two", support_text("use: tiro %s", o->words));
        for (const struct shape_field *f = o->params ? o->params->fields : NULL; f && f->name;
             f++) {
            if (!f->option)
                continue;
            char *name = support_text("--%s", strstr(f->option, "--") + 2);
            assert_text(help, name);
            assert_text(help, f->option_help);
            name[strcspn(name, " ")] = '\0';
            if (f->type == SHAPE_COUNT || f->type == SHAPE_NUMBER || f->type == SHAPE_ENUM)
                refuses(o, name, "none?", "none?");
            else if (f->type == SHAPE_BOOLEAN)
                refuses(o, support_text("%s=1", name), NULL, "takes no value");
        }
    }
    assert_int_equal(access(support_path(".local/share/tiro"), F_OK), -1);
}

/* A call that asks for a missing ability gets a message; a call that switches it off gets none. */
TEST(test_abilities)
{
    const char *off = capability_compaction() ? "" : "tiro: SESSION_COMPACTION_DISABLED: ";
    const char *blank = capability_memory() ? "" : "tiro: MEMORY_DISABLED: ";
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    expect(RUN("run", "--memory", "hi"), capability_memory() ? 0 : 1, blank);
    expect(RUN("run", "--compaction", "hi"), capability_compaction() ? 0 : 1, off);
    expect(RUN("run", "--no-compaction", "--no-memory", "hi"), 0, "");
    unsetenv("TIRO_PROVIDER_NAME");
    expect(RUN("chat", "--read-only"), 64, "add --resume SESSION");
    expect(RUN("chat", "--read-only", "--resume"), 64, "not a terminal");
    expect(RUN("run", "--read-only", "hi"), 64, "unknown option --read-only");
}

TEST(test_chat_wants_a_terminal)
{
    struct result r = ended(64, program_run("", (const char *const[]){NULL}));
    assert_string_equal(r.out, "");
    assert_text(r.err, "tiro run");
    expect(RUN("--model", "m", "--resume"), 64, "not a terminal");
    expect(RUN("chat", "hello"), 64, "tiro run");
}

/* --- configuration --------------------------------------------------------------------------- */

TEST(test_config_check)
{
    expect(RUN("config", "check"), 0, "");
    write_config("[ui]\nthem = light\n[provider]\nmax_retries = many\n[keys]\nsned = C-s\n");
    expect(RUN("config", "check"), 1, "tiro.ini:2: ");
    expect(RUN("config", "check"), 1, "tiro: CONFIG_ERROR: ");
    expect(RUN("config", "check"), 1, "tiro.ini:4: ");
    expect(RUN("config", "check"), 1, "tiro.ini:6: ");

    struct result r = ended(1, RUN("config", "check", "--json"));
    struct json *v = parse_json(r.out);
    assert_int_equal(json_len(v), 3);
    assert_int_equal(json_get_int(json_at(v, 1), "line", 0), 4);
}

TEST(test_config_check_screen)
{
    write_config("[ui]\ntheme = nonesuch\n[keys]\nsend = no-such-key\n");
    expect(RUN("config", "check"), 1, "nonesuch");
    expect(RUN("config", "check"), 1, "tiro.ini:4: ");
    struct result r = ended(0, RUN("run", "--provider", "offline", "hello"));
    assert_null(strstr(r.err, "CONFIG_ERROR"));
}

TEST(test_config_show)
{
    write_config(
        "[anthropic]\napi_key = sk-very-secret\n[ui]\ntheme = light\n"
        "[model my-model]\nwindow = 4096\n");
    setenv("TIRO_PROVIDER_MAX_RETRIES", "7", 1);
    struct result r = ended(0, RUN("config", "show"));
    assert_says(r.out, "theme = light    ; file", "max_retries = 7    ; environment",
                "[model my-model]\nwindow = 4096", "!sk-very-secret");

    r = RUN("config", "show", "--json");
    assert_null(strstr(r.out, "sk-very-secret"));
    struct json *v = parse_json(r.out);
    assert_int_equal(json_type(v), JSON_ARRAY);
    unsetenv("TIRO_PROVIDER_MAX_RETRIES");

    r = RUN("config", "path");
    assert_string_equal(r.out, support_path(".config/tiro/tiro.ini\n"));
}

TEST(test_config_problem_in_run)
{
    write_config("[ui]\nthem = light\n");
    struct result r = ended(0, RUN("run", "--provider", "offline", "hello"));
    assert_text(r.err, "tiro: CONFIG_ERROR: ");
    assert_true(strlen(r.out) > 0);
}

/* For a value out of bounds the engine uses the nearest valid one, and says so. */
TEST(test_config_out_of_bounds)
{
    write_config("[compaction]\nthreshold_percent = 1.5\n");
    static const char text[] = "threshold_percent = 1.5: 0.95 is used";
    expect(RUN("config", "check"), 1, text);
    expect(RUN("run", "--provider", "offline", "hello"), 0, text);
    struct result r = ended(1, RUN("doctor"));
    assert_text(r.out, text);
}

/* --- run ------------------------------------------------------------------------------------- */

TEST(test_run_text)
{
    struct model_server *s = begin_server();
    model_server_queue(s, &(struct reply){.text = "Two words."});
    struct result r = ended(0, RUN("run", "--tools", "none", "say", "something"));
    assert_string_equal(r.out, "Two words.\n");
    assert_true(tells_use_alone(r.err));
    assert_text(model_server_body(s, 0), "say something");
    end_server(s);
}

TEST(test_run_input_joins)
{
    struct model_server *s = begin_server();
    char *file = support_path("notes.txt");
    support_write(file, "from a ``` file\n");

    (void)ended(0, RUN_WITH("piped text\n", "run", "explain:"));
    assert_text(model_server_body(s, 0), "explain:\\n\\npiped text\"");

    (void)ended(0, RUN_WITH("alone\n", "run", "-"));
    assert_text(model_server_body(s, 1), "\\n\\nalone\"");

    (void)ended(0, RUN("run", "-f", file, "and this"));
    assert_text(model_server_body(s, 2), "notes.txt:\\n````\\nfrom a ``` file\\n````\\n");
    assert_text(model_server_body(s, 2), "and this\"");

    (void)ended(0, RUN_WITH("of a pipe\n", "run", "-f", "/dev/stdin", "and this"));
    assert_text(model_server_body(s, 3), "/dev/stdin:\\n```\\nof a pipe\\n```\\n\\nand this\"");
    end_server(s);
}

TEST(test_run_takes_files_folders_and_images)
{
    struct model_server *s = begin_server();
    char *image = support_path("dot.png"), *lines = support_path("my notes.txt:2");
    struct error e;
    assert_true(paths_make_dir(support_path("plans"), &e));
    support_write(support_path("plans/first.md"), "");
    support_write(support_path("my notes.txt"), "one\ntwo\nthree\n");
    support_write(image, "\x89PNG\r\n\x1a\nrest");
    (void)ended(0, RUN("run", "-f", support_path("plans"), "-f", image, "-f", lines, "Look"));
    assert_text(model_server_body(s, 0), "plans:\\n```\\nfirst.md\\n```");
    assert_text(model_server_body(s, 0), "data:image/png;base64,");
    assert_text(model_server_body(s, 0), "my notes.txt (lines 2-2):\\n```\\ntwo\\n```");
    assert_text(model_server_body(s, 0), "Look\"");

    (void)ended(0, RUN("run", "-f", lines)); /* the message mentions it */
    assert_text(model_server_body(s, 1), "my notes.txt\\\":2\"");
    end_server(s);
}

TEST(test_run_bad_input)
{
    char *missing = support_path("missing");
    expect(RUN_WITH("\xff\xfe", "run", "-"), 64, "UTF-8");
    expect(RUN("run", "-f", missing, "x"), 1, "tiro: FILE_ERROR: ");
}

TEST(test_run_json)
{
    struct model_server *s = begin_server();
    model_server_queue(s,
                       &(struct reply){.text = "Answer.", .input_tokens = 120, .output_tokens = 7});
    model_server_queue(s, &(struct reply){.text = "Unmeasured.", .no_usage = true});

    struct result r = ended(0, RUN("run", "--output-format", "json", "one"));
    struct json *v = parse_json(r.out);
    assert_json(v,
                "{'result':'Answer.','stop_reason':'end_turn','provider':'openai','turns':1,"
                "'usage':{'input_tokens':120,'output_tokens':7},'model_calls':1,'tool_calls':0,"
                "'cost':null,'denied':[],'budget_warnings':[]}");
    assert_int_equal(strlen(json_get_string(v, "session_id")), 36);
    assert_null(json_get(v, "cost_partial"));
    assert_true(json_get_int(v, "duration_ms", -1) >= 0);

    r = RUN("run", "-o", "json", "two");
    const struct json *usage = json_get(parse_json(r.out), "usage");
    assert_true(json_type(usage) == JSON_NULL || json_get_bool(usage, "estimated", false));
    end_server(s);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static const struct reply read_call = {.tool_name = "list_directory",
                                       .tool_args = "{\"path\":\".\"}",
                                       .input_tokens = 1000,
                                       .output_tokens = 100};
static const struct reply after_call = {
    .text = "Empty.", .input_tokens = 2000, .output_tokens = 200, .cached_tokens = 900};

static void queue_two_calls(struct model_server *s)
{
    model_server_queue(s, &read_call);
    model_server_queue(s, &after_call);
}

/* Prices per million tokens: 2.50 USD input, 1.25 cached, 10 output. */
TEST_IF(capability_store(), test_run_tells_what_was_used)
{
    static const char line[] =
        "tiro: used: 3000 tokens in (900 cached), 300 tokens out, 2 model calls, 1 tool call, "
        "$0.0094, ";
    struct model_server *s = begin_server();
    queue_two_calls(s);
    struct result r = ended(0, RUN("run", "--model", "gpt-4o", "what is there?"));
    assert_string_equal(r.out, "Empty.\n");
    assert_text(r.err, line);
    assert_int_equal(count_lines(r.err), 1);

    queue_two_calls(s);
    r = RUN("run", "--quiet", "--model", "gpt-4o", "what is there?");
    assert_string_equal(r.out, "Empty.\n");
    assert_string_equal(r.err, "");

    queue_two_calls(s);
    r = RUN("run", "-c", "-o", "json", "--model", "gpt-4o", "and now?");
    struct json *v = parse_json(r.out);
    assert_string_equal(r.err, "");
    assert_json(v, "{'turns':2,'model_calls':2,'tool_calls':1,'usage':{'input_tokens':3000}}");
    assert_true(fabs(json_get_number(v, "cost", -1) - 0.009375) < 1e-9);
    end_server(s);
}

#define ANSWERED_BY(model)                                                                         \
    "data: {\"model\":\"" model                                                                    \
    "\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"},"                                \
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1000000,"                           \
    "\"completion_tokens\":0}}\n\ndata: [DONE]\n\n"

/* The answering model's price counts, whichever was requested: a router may choose another. */
TEST(test_run_prices_the_model_that_answered)
{
    static const struct {
        const char *body;
        double cost; /* negative: unknown */
    } answers[] = {{ANSWERED_BY("gpt-4o-2024-08-06"), 2.5},
                   {ANSWERED_BY("gpt-4o-mini"), 0.15},
                   {ANSWERED_BY("nobody-knows"), -1}};
    struct model_server *s = begin_server();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        model_server_queue(s, &(struct reply){.raw = answers[i].body});
        struct result r = RUN("run", "-o", "json", "--model", "gpt-4o", "go");
        struct json *v = parse_json(r.out);
        assert_true(fabs(json_get_number(v, "cost", -1) - answers[i].cost) < 1e-9);
    }
    end_server(s);
}

/* A turn that failed used something, too. */
TEST(test_run_tells_what_a_failure_used)
{
    const struct reply refused = {.fault = REPLY_STATUS, .status = 400, .error_message = "no more"};
    struct model_server *s = begin_server();
    model_server_queue(s, &read_call);
    model_server_queue(s, &refused);
    struct result r = ended(1, RUN("run", "go"));
    assert_says(r.err, "tiro: used: 1000 tokens in, 100 tokens out, 2 model calls, 1 tool call, ",
                "tiro: AGENT_ERROR: ");
    model_server_queue(s, &read_call);
    model_server_queue(s, &refused);
    r = RUN("run", "-o", "json", "go");
    assert_json(parse_json(r.out), "{'usage':{'input_tokens':1000}}");
    end_server(s);
}

TEST(test_run_stream_json)
{
    struct model_server *s = begin_server();
    model_server_queue(s, &(struct reply){.text = "Some streamed text.", .piece = 5});
    struct result r = ended(0, RUN("run", "-o", "stream-json", "go"));

    AUTO(buf_release) struct buf text = BUF_INIT;
    char *rest = r.out;
    int64_t last = 0;
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        struct json *v = parse_json(line);
        const char *type = json_get_string(v, "type");
        assert_true(json_get_int(v, "seq", 0) > last);
        last = json_get_int(v, "seq", 0);
        if (last == 1)
            assert_string_equal(type, "run_started");
        if (strcmp(type, "text_delta") == 0)
            buf_addstr(&text, json_get_string(v, "delta"));
        if (!*rest)
            assert_string_equal(type, "run_completed");
    }
    assert_string_equal(text.data, "Some streamed text.");
    end_server(s);
}

/* A conversation of one long message, whose next turn compacts it. */
static struct model_server *begin_long_talk(void)
{
    struct model_server *s = begin_server();
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "200", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "0", 1);
    setenv("TIRO_COMPACTION_MIN_TURNS_BETWEEN_COMPACTIONS", "0", 1);
    struct buf text = BUF_INIT;
    for (int i = 0; i < 200; i++)
        buf_addstr(&text, "word ");
    expect(RUN("run", text.data), 0, "");
    buf_release(&text);
    model_server_queue(
        s, &(struct reply){.text = "In short.", .input_tokens = 200, .output_tokens = 20});
    model_server_queue(
        s, &(struct reply){.text = "Answer.", .input_tokens = 250, .output_tokens = 10});
    return s;
}

static void end_long_talk(struct model_server *s)
{
    unsetenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD");
    unsetenv("TIRO_COMPACTION_RECENT_TURN_BUDGET");
    unsetenv("TIRO_COMPACTION_MIN_TURNS_BETWEEN_COMPACTIONS");
    end_server(s);
}

TEST_IF(capability_store() && capability_compaction(), test_run_compacts)
{
    struct model_server *s = begin_long_talk();
    struct result r = ended(0, RUN("run", "-c", "next"));
    assert_string_equal(r.out, "Answer.\n");
    assert_says(r.err, "tiro: compacted (summary + last turns): ",
                "tiro: another mode: [compaction] mode in tiro.ini\n");
    assert_int_equal(count_lines(r.err), 3); /* and a line of the tokens */
    model_server_queue(s, &(struct reply){.fault = REPLY_STATUS,
                                          .status = 400,
                                          .error_message = "no summaries today"});
    r = ended(0, RUN("run", "-c", "again"));
    assert_says(r.err, "could not be compacted: ", "no summaries today");
    assert_int_equal(count_lines(r.err), 2);
    end_long_talk(s);
}

TEST_IF(capability_store() && capability_compaction(), test_compacts_by_hand)
{
    struct model_server *s = begin_long_talk();
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "100000", 1);
    struct result r = ended(0, RUN("run", "-c", "--compact", "next"));
    assert_string_equal(r.out, "Answer.\n");
    assert_text(r.err, "tiro: compacted (summary + last turns): ");
    r = ended(0, RUN("run", "--compact", "of a new session"));
    assert_text(r.err, "nothing to compact");
    expect(RUN("sessions", "compact", "last", "shredded"), 64, "");
    assert_text(RUN("sessions", "compact", "last", "shredded").err, "handoff structured");
    model_server_queue(s, &(struct reply){.fault = REPLY_STATUS,
                                          .status = 400,
                                          .error_message = "no summaries today"});
    r = ended(1, RUN("sessions", "compact", "last"));
    assert_text(r.err, "no summaries today");
    assert_int_equal(count_lines(r.err), 1);
    r = ended(0, RUN("sessions", "compact", "--json", "~2", "llm_replace", "the", "names"));
    assert_text(r.out, "\"effective_mode\":\t\"llm_replace\"");
    assert_text(model_server_body(s, model_server_requests(s) - 1), "the names");
    end_long_talk(s);
}

/* The tokens of the summary are part of those of the run. */
TEST_IF(capability_store() && capability_compaction(), test_run_json_counts_summaries)
{
    struct model_server *s = begin_long_talk();
    struct result r = RUN("run", "-c", "-o", "json", "next");
    assert_json(parse_json(r.out),
                "{'usage':{'input_tokens':450,'output_tokens':30,'summaries':{'input_tokens':200}},"
                "'model_calls':1,'result':'Answer.'}");
    assert_string_equal(r.err, "");
    end_long_talk(s);
}

TEST_IF(capability_store() && capability_compaction(), test_run_streams_compactions)
{
    static const char *const types[] = {"\"compaction_started\"", "\"compaction_delta\"",
                                        "\"compaction_completed\""};
    struct model_server *s = begin_long_talk();
    struct result r = RUN("run", "-c", "-o", "stream-json", "next");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_text(r.out, types[i]);
    assert_text(r.out, ",\"hint\":\"another mode: [compaction] mode in tiro.ini\"}\n");
    end_long_talk(s);
}

TEST_IF(capability_store() && capability_compaction(), test_run_without_compaction)
{
    struct model_server *s = begin_long_talk();
    struct result r = RUN("run", "-c", "--no-compaction", "next");
    assert_string_equal(r.out, "In short.\n"); /* the first that the server has */
    assert_null(strstr(r.err, "compacted"));
    setenv("TIRO_COMPACTION_ENABLED", "false", 1);
    r = RUN("run", "-c", "next");
    assert_string_equal(r.out, "Answer.\n");
    r = RUN("run", "-c", "--compaction", "next");
    assert_text(r.err, "compacted");
    unsetenv("TIRO_COMPACTION_ENABLED");
    end_long_talk(s);
}

TEST(test_run_failure)
{
    struct model_server *s = begin_server();
    const struct reply refused = {.fault = REPLY_STATUS,
                                  .status = 400,
                                  .error_type = "invalid_request_error",
                                  .error_message = "no \x1b[31mthanks"};
    model_server_queue(s, &refused);
    struct result r = ended(1, RUN("run", "go"));
    assert_string_equal(r.out, "");
    assert_text(r.err, "tiro: AGENT_ERROR: ");
    assert_null(strchr(r.err, '\x1b'));

    model_server_queue(s, &refused);
    r = ended(1, RUN("run", "-o", "json", "go"));
    assert_json(parse_json(r.out), "{'error':{'code':'AGENT_ERROR'}}");
    end_server(s);
}

TEST_IF(capability_store(), test_run_labels)
{
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    expect(RUN("run", "--label", "work", "-l", "law urgent", "hello"), 0, "");
    assert_json(program_json(RUN("sessions", "--json")), "[{'labels':['law','urgent','work']}]");
    expect(RUN("run", "--label", "far-too-long-a-label-to-be-accepted-by-anybody", "hello"), 64,
           "tiro: USAGE: ");
}

/* In another project, or where no session exists, there is nothing to continue. */
TEST_IF(capability_store(), test_continue_takes_the_newest_of_the_project)
{
    static const char *const places[] = {"one", "one/.git", "one/below", "two"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_int_equal(mkdir(support_path(places[i]), 0700), 0);
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    assert_int_equal(chdir(support_path("two")), 0);
    expect(RUN("run", "-c", "and now?"), 1, "no session of this project is saved");
    assert_int_equal(chdir(support_path("one/below")), 0);
    run_ok(RUN("run", "the first"));
    assert_int_equal(chdir(support_path("two")), 0);
    expect(RUN("run", "-c", "and now?"), 1,
           support_text("no session of this project is saved (%s)", support_path("two")));
    run_ok(RUN("run", "the second"));
    assert_int_equal(chdir(support_path("one")), 0);
    run_ok(RUN("run", "--continue", "and now?"));
    assert_json(program_json(RUN("sessions", "--json")),
                "[{'title':'the first','turns':2},{'title':'the second','turns':1}]");
    run_ok(RUN("run", "-r", "last", "the last of all"));
    run_ok(RUN("run", "-r", "SECON", "by a part of its title"));
    assert_json(program_json(RUN("sessions", "--json")),
                "[{'title':'the second','turns':2},{'title':'the first','turns':3}]");
    assert_int_equal(chdir("/"), 0);
}

/* Without a user a tool that would ask does not run, unless it was allowed beforehand. */
TEST(test_run_asks_nothing)
{
    const struct reply call = {.tool_name = "write_file",
                               .tool_args = "{\"path\":\"made.txt\",\"content\":\"text\\n\"}"};
    struct model_server *s = begin_server();
    char *path = support_path("made.txt");
    assert_int_equal(chdir(support_dir()), 0);

    model_server_queue(s, &call);
    expect(RUN("run", "--tools", "full", "write"), 3,
           "tiro: the tool write_file was refused: not allowed: nobody could be asked; ");
    assert_text(model_server_body(s, 1), "not allowed");
    assert_int_equal(access(path, F_OK), -1);

    model_server_queue(s, &call);
    struct result r = ended(3, RUN("run", "-o", "json", "--tools", "full", "write"));
    assert_text(r.err, "tiro: the tool write_file was refused: ");
    struct json *v = parse_json(r.out);
    assert_json(v, "{'denied':[{'name':'write_file','args':{'path':'made.txt'}}]}");
    const struct json *denied = json_first(json_get(v, "denied"));
    assert_text(json_get_string(denied, "reason"), "nobody could be asked");
    assert_null(json_get(v, "error"));

    model_server_queue(s, &call);
    r = ended(3, RUN("run", "-o", "stream-json", "--tools", "full", "write"));
    assert_text(r.out, "\"denied\":true");

    model_server_queue(s, &call);
    expect(
        RUN("run", "--tools", "full", "--allow", "run_command", "--allow", "write_file", "write"),
        0, "");
    assert_string_equal(support_read(path), "text\n");
    expect(RUN("run", "--tools", "full", "--allow", "writ_file", "write"), 1, "write_file");
    assert_int_equal(chdir("/"), 0);
    end_server(s);
}

/* A command is allowed by its beginning, and the refusal of another says how to allow it. */
TEST(test_run_allows_commands)
{
    struct model_server *s = begin_server();
    assert_int_equal(chdir(support_dir()), 0);
    const struct reply ls = {.tool_name = "run_command", .tool_args = "{\"command\":\"ls -a .\"}"},
                       touch = {.tool_name = "run_command",
                                .tool_args = "{\"command\":\"touch made\"}"},
                       both = {.tool_name = "run_command",
                               .tool_args = "{\"command\":\"ls; touch made\"}"};
    model_server_queue(s, &ls);
    expect(RUN("run", "--tools", "full", "--allow", "git status, ls", "go"), 0, "");
    model_server_queue(s, &both);
    expect(RUN("run", "--tools", "full", "--allow", "ls", "go"), 3, "nobody could be asked");
    model_server_queue(s, &touch);
    expect(RUN("run", "--tools", "full", "--allow", "ls", "go"), 3,
           "or only `touch made` with --allow '`touch made`'");
    assert_int_equal(access("made", F_OK), -1);
    setenv("TIRO_TOOLS_SANDBOX", "off", 1); /* it works beside tiro's own files */
    model_server_queue(s, &touch);
    expect(RUN("run", "--tools", "full", "--allow", "`touch made`", "go"), 0, "");
    unsetenv("TIRO_TOOLS_SANDBOX");
    assert_int_equal(access("made", F_OK), 0);
    expect(RUN("run", "--tools", "full", "--allow", "git", "go"), 1, "name a sub-command");
    const struct reply stays = {.tool_name = "run_command",
                                .tool_args = "{\"command\":\"sleep 600\",\"background\":true}"};
    model_server_queue(s, &stays);
    expect(RUN("run", "-q", "--tools", "full", "--allow", "sleep", "go"), 0,
           "tiro: 1 command in the background was ended.\n");
    assert_int_equal(chdir("/"), 0);
    end_server(s);
}

/* The shell knows the project alone. */
TEST(test_permissions)
{
    struct error e;
    assert_int_equal(chdir(support_dir()), 0);
    auto_free char *here = getcwd(NULL, 0);
    expect(RUN("permissions"), 0, "Nothing is allowed beyond the configuration.");
    assert_true(permissions_set(here, "`git status …`", true, &e));
    assert_true(permissions_set(here, "write_file", true, &e));
    assert_true(permissions_set("/elsewhere", "edit_file", true, &e));
    struct result r = ended(0, RUN("permissions"));
    assert_string_equal(r.out, "1  `git status …`  (project)\n2  write_file  (project)\n");
    r = ended(0, RUN("permissions", "list", "--revoke", "git status"));
    assert_string_equal(r.out, "1  write_file  (project)\n");
    expect(RUN("permissions", "list", "--revoke", "edit_file"), 64, "is not among the permissions");
    struct json *v = parse_json(ended(0, RUN("permissions", "list", "--json")).out);
    assert_json(v, "{'permissions':[{'number':1,'text':'write_file','scope':'project'}]}");
    assert_int_equal(chdir("/"), 0);
}

TEST(test_skills)
{
    struct error e;
    expect(RUN("skills"), 0, "There are no skills.");
    assert_true(paths_make_dir(support_path(".claude/skills/pdf"), &e));
    support_write(
        support_path(".claude/skills/pdf/SKILL.md"),
        "---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Bash\n---\nDo it.\n");
    struct result r = ended(0, RUN("skills"));
    assert_int_equal(strncmp(r.out, "pdf  (ready, 2 tokens)  ", 24), 0);
    assert_non_null(strstr(r.out, "/.claude/skills  names the tools Bash"));
    struct json *v = parse_json(ended(0, RUN("skills", "list", "--json")).out);
    assert_json(v, "{'skills':[{'name':'pdf','allowed_tools':'Bash','state':'ready'}]}");
}

/* A faulty call does not count as a refusal. */
TEST(test_run_faulty_calls_are_not_refused)
{
    static const struct reply calls[] = {
        {.tool_name = "no_such_tool", .tool_args = "{}"},
        {.tool_name = "read_file", .tool_args = "{\"path\":7}"},
        {.tool_name = "read_file", .tool_args = "{\"path\":\"missing.txt\"}"}};
    struct model_server *s = begin_server();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        model_server_queue(s, &calls[i]);
        struct result r = ended(0, RUN("run", "-o", "json", "go"));
        assert_text(r.out, "\"denied\":[]");
    }
    end_server(s);
}

TEST(test_run_that_is_stopped)
{
    const struct reply failing = {.tool_name = "read_file",
                                  .tool_args = "{\"path\":\"missing.txt\"}"};
    const struct reply lists = {.tool_name = "list_directory", .tool_args = "{}"};
    struct model_server *s = begin_server();
    for (int i = 0; i < 3; i++)
        model_server_queue(s, &failing);
    expect(RUN("run", "go"), 2,
           "tiro: warning: the turn was stopped: read_file failed 3 times with the same arguments");
    for (int i = 0; i < 3; i++)
        model_server_queue(s, &failing);
    struct result r = ended(2, RUN("run", "-o", "json", "go"));
    assert_json(parse_json(r.out), "{'stop_reason':'repeated_call','tool_calls':3}");
    assert_text(r.err, "tiro: warning: the turn was stopped: read_file failed");
    setenv("TIRO_TOOLS_MAX_CALLS", "1", 1);
    model_server_queue(s, &lists);
    model_server_queue(s, &lists);
    r = ended(2, RUN("run", "-o", "json", "go"));
    assert_json(parse_json(r.out), "{'stop_reason':'max_calls','tool_calls':1}");
    end_server(s);
}

TEST_IF(capability_store(), test_run_budget)
{
    const struct reply big = {.text = "Big.", .input_tokens = 900, .output_tokens = 60};
    struct model_server *s = begin_server();
    setenv("TIRO_BUDGET_MAX_TOKENS", "1000", 1);
    model_server_queue(s, &big);
    model_server_queue(s, &big);
    expect(RUN("run", "first"), 0, "tiro: 96 % of [budget] max_tokens is used: 960 of 1000");
    expect(RUN("run", "--continue", "second"), 0, "");
    expect(RUN("run", "--continue", "third"), 2, "tiro: BUDGET_EXHAUSTED: ");
    assert_int_equal(model_server_requests(s), 2);

    struct result r = ended(2, RUN("run", "-o", "json", "--continue", "third"));
    assert_json(parse_json(r.out), "{'error':{'code':'BUDGET_EXHAUSTED'}}");

    model_server_queue(s, &big);
    r = ended(0, RUN("run", "-o", "json", "anew"));
    assert_json(parse_json(r.out),
                "{'budget_warnings':"
                "[{'kind':'max_tokens','used':960,'limit':1000,'percent':96}]}");

    model_server_queue(s, &big);
    struct screen *screen = AT_TERMINAL(10, 78, "run", "anew");
    assert_true(screen_find(screen, "96 % of [budget] max_tokens", &(int){0}, &(int){0}));
    screen_free(screen);
    end_server(s);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* A session is warned once, however many processes go on with it. */
TEST_IF(capability_store(), test_run_budget_warns_once_a_session)
{
    const struct reply some = {.text = "Some.", .input_tokens = 840, .output_tokens = 10};
    const struct reply more = {.text = "More.", .input_tokens = 20, .output_tokens = 10};
    static const size_t warnings[] = {1, 0, 0};
    struct model_server *s = begin_server();
    setenv("TIRO_BUDGET_MAX_TOKENS", "1000", 1);
    model_server_queue(s, &some);
    for (size_t i = 0; i < 3; i++) {
        struct result r = i == 0 ? RUN("run", "-o", "stream-json", "go")
                                 : RUN("run", "--continue", "-o", "stream-json", "on");
        assert_int_equal(r.status, 0);
        assert_int_equal(count_of(r.out, "\"type\":\"budget_warning\""), warnings[i]);
        model_server_queue(s, &more);
    }
    end_server(s);
}

static void interrupt_with(int number)
{
    struct model_server *s = begin_server();
    const char *const argv[] = {support_program(), "run", "go", NULL};
    AUTO(support_release) struct support_child c = {0};
    model_server_queue(s, &(struct reply){.fault = REPLY_STALL, .text = "The beginning of"});
    support_start(&c, argv);
    close(c.in);
    c.in = -1;
    assert_true(support_read_until(&c, "The beginning of", PATIENCE_MS));
    kill(c.pid, number);
    assert_int_equal(support_finish(&c, NULL), 128 + number);
    assert_string_equal(c.out_text.data, "The beginning of\n");
    assert_string_equal(c.err_text.data, "");
    model_server_release(s);
    end_server(s);

    struct result r = RUN("sessions", "show");
    assert_says(r.out, "The beginning of", "interrupted");
}

TEST_IF(capability_store(), test_run_interrupted)
{
    interrupt_with(SIGINT);
    interrupt_with(SIGTERM);
}

TEST_IF(capability_store(), test_run_broken_pipe)
{
    struct model_server *s = begin_server();
    const char *const argv[] = {support_program(), "run", "go", NULL};
    AUTO(support_release) struct support_child c = {0};
    model_server_queue(s, &(struct reply){.text = "nobody reads this", .hold = true});
    support_start(&c, argv);
    close(c.in);
    c.in = -1;
    assert_true(model_server_wait(s, 1, PATIENCE_MS));
    close(c.out);
    c.out = -1;
    model_server_release(s);
    assert_int_equal(support_finish(&c, NULL), 128 + SIGPIPE);
    assert_string_equal(c.err_text.data, "");
    end_server(s);

    /* The program ended in order, and kept the text that had arrived. */
    struct result r = RUN("sessions", "show");
    assert_text(r.out, "nobody reads");
}

/* The number of files of the last session that differ from those of a rebuild. */
static int files_behind(const char *when)
{
    static const char *const names[] = {"transcript.md", "events.jsonl"};
    const char *paths[2], *found[2];
    int behind = 0;
    struct json *list = program_json(RUN("sessions", "--json"));
    const char *id = json_get_string(json_first(list), "id");
    for (int i = 0; i < 2; i++) {
        paths[i] = support_path(support_text(".local/share/tiro/sessions/%s/%s", id, names[i]));
        found[i] = access(paths[i], R_OK) == 0 ? support_read(paths[i]) : "";
    }
    run_ok(RUN("sessions", "rebuild", id));
    for (int i = 0; i < 2; i++)
        if (strcmp(found[i], support_read(paths[i])) != 0) {
            print_error("after %s: %s is behind\n", when, names[i]);
            behind++;
        }
    return behind;
}

TEST_IF(capability_store(), test_derived_files_follow_each_change)
{
    static const char *const plain[] = {"--plain", "-r", "last", NULL};
    struct model_server *s = begin_server();
    AUTO(support_release) struct support_child c = {0};
    run_ok(RUN("run", "the first"));
    int behind = files_behind("a turn");
    (void)program_run("/pin\n", plain);
    behind += files_behind("pin");
    (void)program_run("/unpin\n", plain);
    behind += files_behind("unpin");
    run_ok(RUN("sessions", "fork", "last"));
    behind += files_behind("fork");
    (void)program_run("/fork\n", plain);
    behind += files_behind("/fork");
    char *log = support_path("log.jsonl");
    run_ok(RUN("sessions", "export", "last", "-o", log));
    run_ok(RUN("sessions", "import", log));
    behind += files_behind("import");

    model_server_queue(s, &(struct reply){.text = "half of it", .fault = REPLY_STALL});
    support_start(&c, TEXTS(support_program(), "run", "-o", "stream-json", "-r", "last", "go"));
    close(c.in); /* the rest of the prompt */
    c.in = -1;
    assert_true(support_read_until(&c, "text_delta", PATIENCE_MS));
    kill(c.pid, SIGKILL);
    assert_int_equal(support_finish(&c, NULL), 128 + SIGKILL);
    (void)program_run("", plain);
    behind += files_behind("a turn that was killed");
    assert_int_equal(behind, 0);
    end_server(s);
}

/* Runs the program through a shell, which changes its descriptors. */
static struct result run_in_shell(const char *command)
{
    const char *const argv[] = {"/bin/sh", "-c", command, "sh", support_program(), NULL};
    AUTO(support_release) struct support_child c = {0};
    struct result r;
    support_start(&c, argv);
    close(c.in);
    c.in = -1;
    r.status = support_finish(&c, NULL);
    r.out = support_keep(mem_strdup(c.out_text.data));
    r.err = support_keep(mem_strdup(c.err_text.data));
    return r;
}

TEST(test_output_does_not_arrive)
{
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    if (access("/dev/full", W_OK) == 0) {
        expect(run_in_shell("\"$1\" run hello >/dev/full"), 1, "tiro: FILE_ERROR: ");
        expect(run_in_shell("\"$1\" config show >/dev/full"), 1, "tiro: FILE_ERROR: ");
    }
    expect(run_in_shell("\"$1\" run hello >&-"), 1, "tiro: FILE_ERROR: ");
    expect(run_in_shell("\"$1\" run hello <&-"), 0, "");
    expect(run_in_shell("\"$1\" run hello 2>&-"), 0, "");
}

TEST(test_a_small_stack_is_told)
{
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    expect(run_in_shell("ulimit -s 64; \"$1\" run hello"), 1,
           "tiro: AGENT_ERROR: the stack limit is 64 KiB, but tiro needs 256 KiB; ");
#ifndef WITH_SANITIZERS
    expect(run_in_shell("ulimit -s 256; \"$1\" run hello"), 0, "");
#endif
}

TEST(test_run_cleans_for_a_terminal)
{
    struct model_server *s = begin_server();
    const char *const argv[] = {support_program(), "run", "go", NULL};
    model_server_queue(s, &(struct reply){.text = "safe \x1b]0;title\x07 end"});
    struct screen *screen = screen_start(argv, support_dir(), 10, 60);
    assert_true(screen_wait_text(screen, "end", PATIENCE_MS));
    assert_true(screen_wait_exit(screen, PATIENCE_MS));
    assert_int_equal(screen_status(screen), 0);
    assert_false(screen_log_has(screen, "\x1b]0;title"));
    screen_free(screen);
    end_server(s);
}

/* --- sessions -------------------------------------------------------------------------------- */

TEST_IF(capability_store(), test_sessions)
{
    struct model_server *s = begin_server();
    model_server_queue(s, &(struct reply){.text = "forgotten answer"});
    expect(RUN("run", "--no-persist", "not saved"), 0, "");
    expect(RUN("run", "the first question"), 0, "");
    expect(RUN("run", "--continue", "the second question"), 0, "");
    assert_text(model_server_body(s, 2), "the first question");
    end_server(s);
    assert_json(program_json(RUN("sessions", "list", "--json")),
                "[{'title':'the first question'}]");
    expect(RUN("run", "--resume", "no-such-session", "hi"), 1, "tiro: SESSION_NOT_FOUND: ");
}

/* --- MCP servers ------------------------------------------------------------------------------ */

TEST(test_mcp)
{
    assert_int_equal(chdir(support_dir()), 0);
    expect(RUN("mcp"), 0, "There is no MCP server");
    ended(0,
          RUN("mcp", "add", "files", "-e", "A=b", "--env", "H=${HOME}", "--", "npx", "-y", "a b"));
    ended(0, RUN("mcp", "add", "web", "--url", "https://example.org/", "--header", "X-Key: a:b"));
    ended(0, RUN("mcp", "add", "shared", "--project", "./run"));
    expect(RUN("mcp", "add", "web", "--url", "https://example.org/mcp"), 64, "remove it first");
    expect(RUN("mcp", "add", "a b", "x"), 64, "no name");
    expect(RUN("mcp", "add", "c"), 64, "either a command or a url");
    expect(RUN("mcp", "add", "c", "-e", "=x", "x"), 64, "no \"=\" after a name");
    expect(RUN("mcp", "add", "c", "npx", "-y"), 64, "unknown option -y");
    struct result r = ended(0, RUN("mcp"));
    assert_string_equal(r.out,
                        "files  waits  (user)  npx -y 'a b'; environment: A, H=${HOME}\n"
                        "web  waits  (user)  https://example.org/; headers: X-Key\n"
                        "shared  unusable  (project)  you do not trust this project yet\n");
    r = ended(0, RUN("mcp", "list", "web", "--json"));
    assert_json(parse_json(r.out),
                "{'servers':[{'name':'web','state':'waits','origin':'user','transport':'http'}]}");
    assert_text(support_read(support_path(".mcp.json")), "\"./run\"");
    ended(0, RUN("mcp", "remove", "--project", "shared"));
    ended(0, RUN("mcp", "remove", "files"));
    expect(RUN("mcp", "remove", "files"), 64, "no server");
    expect(RUN("mcp", "list", "files"), 64, "there is no server");
    assert_text(ended(0, RUN("mcp", "off", "web", "crawl")).out, "; tools that are off: crawl\n");
    assert_text(ended(0, RUN("mcp", "off", "web")).out, "web  off  (user)  ");
    assert_json(parse_json(ended(0, RUN("mcp", "on", "web", "--json")).out),
                "{'servers':[{'name':'web','state':'waits'}]}");
    assert_no_text(ended(0, RUN("mcp", "on", "web", "crawl")).out, "that are off");
    expect(RUN("mcp", "off", "nothing"), 64, "there is no server");
    expect(RUN("mcp", "off"), 64, "NAME");
    support_write(support_path(".mcp.json"), "{");
    r = ended(0, RUN("mcp"));
    assert_text(r.out, "web  waits");
    assert_text(r.out, "configuration  unusable  ");
    assert_int_equal(chdir("/"), 0);
}

TEST(a_server_is_tested)
{
    const char *program = support_program();
    const char *server =
        support_text("%.*s/tests/mcp-server", (int)(strrchr(program, '/') - program), program);
    assert_int_equal(chdir(support_dir()), 0);
    ended(0, RUN("mcp", "add", "good", "--", server, "modern", "prompts", "resources"));
    ended(0, RUN("mcp", "add", "bad", "--", "/bin/sh", "-c", "echo 'no key: \033[1m' >&2; exit 7"));
    struct result r = ended(0, RUN("mcp", "test", "good"));
    assert_text(r.out, "good  ready  (user)  ");
    assert_text(r.out, "\n  scripted 1, protocol 2026-07-28\n  echo  ");
    assert_text(r.out, " tokens\n");
    assert_text(r.out, "\n  15 tools, about ");
    assert_text(r.out, "\n  /good:greet who [style]  Greets a person.\n");
    assert_text(r.out, "\n  resource file:///a  A\n");
    assert_text(r.out, "\n  template file:///{name}  Any\n");
    r = ended(1, RUN("mcp", "test", "bad"));
    assert_text(r.out, "bad  failed  (user)  ");
    assert_text(r.out, "\n  error output:\nno key: \xe2\x90\x9b[1m\n");
    assert_text(r.err, "the server is not ready");
    r = ended(0, RUN("mcp", "test", "good", "--json"));
    assert_json(parse_json(r.out), "{'servers':[{'name':'good','state':'ready','tools':15}]}");
    expect(RUN("mcp", "test", "nothing"), 64, "there is no server");
    support_write(support_path(".mcp.json"),
                  "{\"mcpServers\":{\"theirs\":{\"command\":\"/bin/touch\",\"args\":[\"ran\"]}}}");
    expect(RUN("mcp", "test", "theirs"), 64, "you do not trust this project");
    assert_int_not_equal(access(support_path("ran"), F_OK), 0);
    assert_int_equal(chdir("/"), 0);
}
