#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/paths.h"
#include "compact/mode.h"
#include "compact/summary.h"
#include "provider/offline.h"
#include "provider/outgoing.h"
#include "tests/steps.h"
#include "tests/suite.h"

/* A conversation under construction. */
static struct {
    VEC(struct message) messages;
    VEC(struct tool_spec) tools;
    const char *session_id;
    struct request request;
} talk;

static struct {
    struct buf text;
    size_t pieces;
    size_t stop_after; /* 0: never */
    bool watched;
    int wake[2];
} stream;

static struct offline_plan plan;
static struct response response; /* of complete() */
static struct failure failure;

static int setup(void **state)
{
    (void)state;
    memset(&talk, 0, sizeof talk);
    memset(&stream, 0, sizeof stream);
    buf_init(&stream.text, 0);
    memset(&response, 0, sizeof response);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    offline_plan_release(&plan);
    response_release(&response);
    buf_release(&stream.text);
    for (size_t i = 0; i < talk.messages.len; i++)
        message_release(&talk.messages.items[i]);
    vec_release(&talk.messages);
    vec_release(&talk.tools);
    return 0;
}

static void restart(void)
{
    teardown(NULL);
    setup(NULL);
}

static void add(enum role role, struct block block)
{
    struct message m = {.role = role};
    for (size_t i = 0; i < talk.messages.len; i++)
        m.turn += talk.messages.items[i].role == ROLE_USER;
    m.turn += role == ROLE_USER;
    vec_push(&m.blocks, block);
    vec_push(&talk.messages, m);
}

static void say(enum role role, const char *text)
{
    add(role, block_text(text));
}

static void call(const char *id, const char *name, const char *args)
{
    add(ROLE_ASSISTANT, (struct block){.type = BLOCK_TOOL_CALL,
                                       .id = mem_strdup(id),
                                       .name = mem_strdup(name),
                                       .text = mem_strdup(args)});
}

static void result(const char *id, const char *name, const char *text, bool is_error)
{
    add(ROLE_TOOL, (struct block){.type = BLOCK_TOOL_RESULT,
                                  .id = mem_strdup(id),
                                  .name = mem_strdup(name),
                                  .text = mem_strdup(text),
                                  .is_error = is_error});
}

/* A call of memory_search and its result. */
static void recall(const char *id, const char *hits)
{
    call(id, "memory_search", "{\"query\":\"x\"}");
    result(id, "memory_search", hits, false);
}

static void offer(const char *name)
{
    struct tool_spec spec = {.name = name, .description = "d", .schema = "{}"};
    vec_push(&talk.tools, spec);
}

static const struct request *request(void)
{
    talk.request = (struct request){.model = "offline",
                                    .messages = talk.messages.items,
                                    .message_count = talk.messages.len,
                                    .tools = talk.tools.items,
                                    .tool_count = talk.tools.len,
                                    .max_output = 8192,
                                    .session_id = talk.session_id};
    return &talk.request;
}

static void make_plan(void)
{
    const char *manual = embedded_text("manual.md");
    assert_non_null(manual);
    offline_plan_release(&plan);
    plan = offline_plan_make(request(), manual);
}

static void ask(const char *text)
{
    say(ROLE_USER, text);
    make_plan();
}

/* A call and its result, and the plan after it. */
static void returns(const char *id, const char *name, const char *args, const char *text,
                    bool is_error)
{
    call(id, name, args);
    result(id, name, text, is_error);
    make_plan();
}

static void recalls(const char *id, const char *hits)
{
    returns(id, "memory_search", "{\"query\":\"x\"}", hits, false);
}

static void expect_answer(const char *part)
{
    assert_null(plan.tool);
    assert_non_null(plan.text);
    if (!strstr(plan.text, part))
        print_error("in place of “%s”:\n%s\n", part, plan.text);
    assert_non_null(strstr(plan.text, part));
    assert_non_null(strstr(plan.text, OFFLINE_MARK));
}

static void expect_call(const char *tool, const char *args)
{
    assert_null(plan.text);
    assert_non_null(plan.tool);
    assert_string_equal(plan.tool, tool);
    assert_string_equal(plan.args, args);
}

/* --- the manual ------------------------------------------------------------------------------ */

FIXTURE(setup, teardown);

/* The section that is quoted first. */
TEST(answers_about_itself)
{
    static const char *const rows[][2] = {
        {"What is tiro?", "What tiro is"},
        {"what exactly is this program tiro", "What tiro is"},
        {"who was Cicero?", "Who Tiro was: the name"},
        {"How do I connect a model?", "How to connect a model"},
        {"how do I share memory with my team?",
         "How to share memory with another machine or with a team"},
        {"What can a command reach in the sandbox?", "The sandbox: what a command can reach"},
        {"Can a server run in the background?", "How to let a command run in the background"},
        {"how can I use claude with anthropic?", "How to connect Anthropic (Claude)"},
        {"connecting openai", "How to connect OpenAI (GPT)"},
        {"Does it run with llama.cpp?", "How to connect a compatible server"},
        {"How do I set up Ollama?", "How to connect Ollama"},
        {"where is my api key kept", "Where an API key, password or secret is kept"},
        {"How do I change the model?", "Choosing or changing the model"},
        {"How do I begin a new line?", "How to write a message, begin a new line and send"},
        {"How do I search what I said to Claude Code?", "How to import and search what was said"},
        {"How do I search what Codex was told?", "How to import and search what was said"},
        {"Which keys are there?", "Keys and shortcuts"},
        {"which slash commands exist", "Slash commands of a chat"},
        {"how do I quit?", "How to stop an answer, quit, exit or leave"},
        {"how do I copy an answer?", "How to copy an answer"},
        {"Can I edit a message that I sent?", "How to edit or repeat a message"},
        {"what does the status line show?", "The status line: tokens, cost, gauge"},
        {"What does it cost?", "The status line: tokens, cost, gauge"},
        {"Can I change the theme?", "Themes, colours and looks"},
        {"Does it work with a screen reader?", "Screen readers and simple terminals"},
        {"how do I use it in a script?", "Scripts and pipes"},
        {"What is a session?", "What a session is"},
        {"resume an earlier session", "How to resume or continue an earlier session"},
        {"what does F3 do?", "The list of sessions (F3)"},
        {"how do I fork a session?", "How to fork, copy or branch a session"},
        {"How do I rename a session?", "How to rename, label, archive or delete a session"},
        {"how do I export a conversation?", "How to export or import a conversation"},
        {"What is compaction?", "What a compaction is"},
        {"When is compaction automatic?", "When compaction is automatic"},
        {"how do I undo a compaction?", "How to undo a compaction: /uncompact"},
        {"how do I pin a message?", "How to keep (pin) a message in every compaction"},
        {"what is F4?", "What the model is sent: the context screen (F4)"},
        {"which modes of compaction are there?", "Modes of compaction"},
        {"what is memory?", "What memory is"},
        {"what is F2?", "The memory pane (F2)"},
        {"how do I turn memory off?", "How to turn memory off"},
        {"How do I forget an entry of memory?", "How to forget or delete an entry of memory"},
        {"what goes into AGENTS.md?", "Instructions of a project: AGENTS.md"},
        {"what is the graph?", "What the graph is"},
        {"what is a corpus?", "What a corpus is"},
        {"How do I open a citation?", "Citations: where an answer comes from"},
        {"how do I allow a tool?", "How to allow or decline a tool that asks"},
        {"Where are the permissions of this project?", "Permissions: commands that you allow"},
        {"How do I add a plugin?", "How to add a plugin: skills and servers in one folder"},
        {"How do I add an MCP server?", "How to add MCP servers: tools of other programs"},
        {"What is a skill?", "Skills: instructions for a kind of task"},
        {"How do I run a hook before a tool call?", "Hooks: commands that run"},
        {"When do programs of a project run?", "Trust: when do programs of a project run?"},
        {"why did the turn stop after a failing call?", "When tiro stops a turn"},
        {"how do I limit the money it takes?", "Limits of tokens, time and money (budget)"},
        {"How do I connect my editor?", "How to connect an editor, an agent or a script"},
        {"How do I give Codex the memory of tiro?", "How to give Claude Code, Codex and other"},
        {"How do I send a file with my message?", "How to send a file, a folder or an image"},
        {"Where is my data stored?", "Where data, files and settings are stored"},
        {"where does the configuration live?", "Configuration and settings"},
        {"does the model remember earlier sessions?", "What a model remembers of earlier sessions"},
        {"is my data sent anywhere?", "Privacy: what leaves this machine"},
        {"what leaves this machine?", "Privacy: what leaves this machine"},
        {"what is auto_compact_threshold?", "[compaction] auto_compact_threshold"},
        {"what does tiro sessions rebuild do?", "tiro sessions rebuild"},
        {"Who are you?", "What tiro is"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        restart();
        ask(rows[i][0]);
        const char *source = strstr(plan.text, "> — *tiro's manual, “");
        source = source ? source + strlen("> — *tiro's manual, “") : "nothing";
        if (strncmp(source, rows[i][1], strlen(rows[i][1])) == 0)
            continue;
        print_error("%s: %.*s\n", rows[i][0], (int)strcspn(source, "*\n"), source);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

TEST(every_section_is_found_by_its_title)
{
    AUTO(passages_release) struct passages passages = {0};
    passages_add_manual(&passages, embedded_text("manual.md"));
    assert_true(passages.items.len > 200);
    for (size_t i = 0; i < passages.items.len; i++) {
        AUTO(ranking_release) struct ranking ranking = {0};
        if (passages.items.items[i].weight < 1) /* a page of reference */
            continue;
        passages_rank(&passages, passages.items.items[i].title, &ranking);
        assert_true(ranking.hits.len > 0);
        assert_string_equal(ranking.hits.items[0].passage->title, passages.items.items[i].title);
        assert_true(strlen(passages.items.items[i].text) > 40);
        assert_true(strlen(passages.items.items[i].text) < 1600);
    }
}

TEST(says_when_it_finds_nothing)
{
    static const char *const questions[] = {"What is the capital of France?", "write me a poem",
                                            "東京の天気は？", "xyzzy", "42"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        ask(questions[i]);
        expect_answer("I found nothing");
        expect_answer("*How do I connect a model?*");
        assert_ptr_equal(strchr(plan.text, '\n') + 1, plan.text + strlen(plan.text)); /* a line */
    }
}

TEST(is_polite)
{
    ask("Hello!");
    expect_answer("Hello! There is no model here");
    ask("  thank   you. ");
    expect_answer("You are welcome.");
    ask("hi there, what is tiro?");
    expect_answer("“What tiro is”");
}

/* --- tools ----------------------------------------------------------------------------------- */

TEST(reads_a_file_that_is_named)
{
    offer("read_file");
    offer("list_directory");
    ask("Please read `src/README.md`, will you?");
    expect_call("read_file", "{\"path\":\"src/README.md\"}");
    returns("offline_1", "read_file", "{\"path\":\"src/README.md\"}",
            "# Title\n```c\nint x;\n```\n", false);
    expect_answer("````\n# Title\n```c\nint x;\n```\n````\n\n— *src/README.md*, whole");
}

TEST(tells_a_failed_call)
{
    offer("read_file");
    ask("read nothing.txt");
    returns("offline_1", "read_file", "{\"path\":\"nothing.txt\"}",
            "nothing.txt: No such file or directory", true);
    expect_answer("`nothing.txt` cannot be shown: nothing.txt: No such file");
}

TEST(cuts_a_long_file)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addf(&text, "line %d\n", i);
    offer("read_file");
    say(ROLE_USER, "show long.txt");
    returns("offline_1", "read_file", "{\"path\":\"long.txt\"}", text.data, false);
    expect_answer("line 59\n```\n\n— *long.txt*, the first");
    assert_true(strlen(plan.text) < 5000);
}

TEST(finds_paths_in_questions)
{
    static const struct {
        const char *text, *tool, *path;
    } rows[] = {
        {"read README.md", "read_file", "README.md"},
        {"What is in src/?", "list_directory", "src/"},
        {"what's in ./src/base", "list_directory", "./src/base"},
        {"List the files", "list_directory", "."},
        {"what does \"main.c\" do?", "read_file", "main.c"},
        {"Explain the Makefile.", "read_file", "Makefile"},
        {"show me a/b.unknown", "read_file", "a/b.unknown"},
        {"@notes/plan.txt says what?", "read_file", "notes/plan.txt"},
        {"yes and/or no", NULL, NULL},
        {"see https://example.com/a.md", NULL, NULL},
        {"e.g. this", NULL, NULL},
        {"What is tiro?", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_free char *path = NULL;
        const char *tool = offline_find_path(rows[i].text, &path);
        assert_true((tool != NULL) == (rows[i].tool != NULL));
        if (tool) {
            assert_string_equal(tool, rows[i].tool);
            assert_string_equal(path, rows[i].path);
        }
    }
}

TEST(searches_memory_first)
{
    offer("memory_search");
    ask("Which ryokan did we like?");
    expect_call("memory_search", "{\"query\":\"Which ryokan did we like?\",\"limit\":5}");
    recalls("offline_1",
            "[{\"content\":\"We liked the ryokan by the river.\",\"score\":0.9,"
            "\"session_id\":\"s-1\",\"turn\":4}]");
    expect_answer("> We liked the ryokan by the river.\n>\n> — *memory: session s-1, turn 4*");
    /* A new question is a new turn. */
    ask("And what is tiro?");
    expect_call("memory_search", "{\"query\":\"And what is tiro?\",\"limit\":5}");
    recalls("offline_2", "[]");
    expect_answer("“What tiro is”");
    assert_null(strstr(plan.text, "ryokan"));
}

TEST(searches_memory_for_questions_alone)
{
    static const struct {
        const char *text;
        bool asks;
    } rows[] = {
        {"Where did we want to sleep", true},
        {"The ryokan was the one by the river, wasn't it?", true},
        {"wo wollten wir schlafen", true},
        {"東京の天気は？", true},
        {"Hello!", false},
        {"Thanks", false},
        {"We liked the ryokan by the river.", false},
        {"Whatever. However it was.", false},
        {"read README.md", false},
        {"What did README.md say?", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        restart();
        offer("memory_search");
        offer("read_file");
        ask(rows[i].text);
        bool asked = plan.tool && strcmp(plan.tool, "memory_search") == 0;
        if (asked != rows[i].asks)
            print_error("“%s”\n", rows[i].text);
        assert_int_equal(asked, rows[i].asks);
    }
}

TEST(searches_the_corpora_that_were_named_last)
{
    static const char found[] =
        "[{\"n\":3,\"content\":\"The boiler runs at 1.5 bar.\",\"score\":0.9,"
        "\"file\":\"boiler.md\",\"chunk\":0,\"line\":7,\"document\":1}]";
    offer("rag_search");
    say(ROLE_USER, "@corpus:old is there.");
    say(ROLE_USER, "Look into @corpus:house and @corpus:garden.");
    say(ROLE_ASSISTANT, "I will; @corpus:mine, too.");
    ask("What pressure has the boiler?");
    expect_call("rag_search",
                "{\"corpus_id\":\"house\",\"query\":\"What pressure has the boiler?\"}");
    returns("offline_1", "rag_search", plan.args, found, false);
    expect_call("rag_search",
                "{\"corpus_id\":\"garden\",\"query\":\"What pressure has the boiler?\"}");
    returns("offline_2", "rag_search", plan.args, "{\"results\":[],\"searched\":4,\"documents\":1}",
            false);
    expect_answer("> The boiler runs at 1.5 bar.\n>\n> — *[3] boiler.md, line 7*");
    assert_null(strstr(plan.text, "searched"));
}

TEST(says_that_named_corpora_have_nothing)
{
    offer("rag_search");
    say(ROLE_USER, "Where is the zeppelin? @corpus:house");
    say(ROLE_ASSISTANT, "In the shed.");
    ask("@corpus:house. Who is in the zeppelin? @corpus:house");
    expect_call("rag_search", "{\"corpus_id\":\"house\",\"query\":\". Who is in the zeppelin?\"}");
    returns("offline_1", "rag_search", plan.args, "{\"results\":[],\"searched\":4,\"documents\":1}",
            false);
    expect_answer("in this conversation, in the corpora that you named or tiro's manual");
}

/* A word that looks like a file name may be an ordinary name. */
TEST(searches_memory_where_no_file_is)
{
    offer("memory_search");
    offer("read_file");
    ask("Which version of Node.js did we choose?");
    expect_call("read_file", "{\"path\":\"Node.js\"}");
    returns("offline_1", "read_file", plan.args, "Node.js: No such file or directory", true);
    expect_call("memory_search",
                "{\"query\":\"Which version of Node.js did we choose?\",\"limit\":5}");
    recalls("offline_2",
            "[{\"content\":\"Node.js version 22 it is.\",\"score\":0.8,"
            "\"session_id\":\"s-1\",\"turn\":1}]");
    expect_answer("> Node.js version 22 it is.");
}

TEST(a_file_that_is_shown_is_answer_enough)
{
    offer("memory_search");
    offer("read_file");
    ask("What did README.md say?");
    expect_call("read_file", "{\"path\":\"README.md\"}");
    returns("offline_1", "read_file", plan.args, "hello", false);
    expect_answer("```\nhello\n```");
}

TEST(names_this_conversation)
{
    offer("memory_search");
    say(ROLE_USER, "Which ryokan did we like?");
    recall("offline_1",
           "[{\"content\":\"The ryokan by the river.\",\"score\":0.9,"
           "\"session_id\":\"s-1\",\"turn\":4},"
           "{\"content\":\"The ryokan on the hill.\",\"score\":0.9,"
           "\"session_id\":\"s-2\",\"turn\":0}]");
    talk.session_id = "s-1";
    make_plan();
    expect_answer("> The ryokan by the river.\n>\n> — *memory: this conversation, turn 4*");
    expect_answer("> The ryokan on the hill.\n>\n> — *memory: session s-2*");
}

TEST(ranks_what_was_found_with_the_rest)
{
    offer("memory_search");
    say(ROLE_USER, "The ryokan had a garden.");
    say(ROLE_USER, "Which ryokan by the river did we book in Kyoto?");
    recalls("offline_1",
            "[{\"content\":\"A train to Osaka.\",\"score\":0.4,"
            "\"session_id\":\"s-1\",\"turn\":1},"
            "{\"content\":\"Which ryokan by the river did we book?\",\"score\":0.95,"
            "\"session_id\":\"s-1\",\"turn\":2},"
            "{\"content\":\"We booked the ryokan by the river in Kyoto.\",\"score\":0.9,"
            "\"session_id\":\"s-1\",\"turn\":3}]");
    expect_answer("> We booked the ryokan by the river in Kyoto.\n>\n> — *memory: session s-1");
    assert_says(plan.text, "!Osaka", "!turn 2*", "!garden");
}

/* Words say less than a good score; a bad one is nothing. */
TEST(quotes_what_says_it_otherwise)
{
    offer("memory_search");
    say(ROLE_USER, "Where did we want to sleep?");
    recalls("offline_1",
            "[{\"content\":\"The ryokan by the river.\",\"score\":0.85,"
            "\"session_id\":\"s-1\",\"turn\":1},"
            "{\"content\":\"A train to Osaka.\",\"score\":0.3,"
            "\"session_id\":\"s-1\",\"turn\":2}]");
    expect_answer("> The ryokan by the river.");
    assert_says(plan.text, "!Osaka", "!found nothing");
}

TEST(prefers_what_was_said_to_a_summary)
{
    offer("memory_search");
    say(ROLE_USER, "We booked the ryokan in Kyoto. [a summary]");
    vec_last(&talk.messages).summary = true;
    say(ROLE_USER, "Which ryokan did we book in Kyoto?");
    recalls("offline_1",
            "[{\"content\":\"We booked it, the ryokan in Kyoto, with a large garden "
            "and breakfast from eight to ten every morning but Monday.\","
            "\"score\":0.7,\"session_id\":\"s-1\",\"turn\":1}]");
    expect_answer("> We booked it, the ryokan in Kyoto, with");
    assert_null(strstr(plan.text, "[a summary]"));
    /* A summary is better than no answer. */
    vec_last(&talk.messages).blocks.items[0].text[0] = 'x';
    make_plan();
    expect_answer("[a summary]");
}

TEST(says_that_memory_has_nothing)
{
    offer("memory_search");
    say(ROLE_USER, "Which zeppelin did we charter?");
    recalls("offline_1", "[]");
    expect_answer("I found nothing");
    expect_answer("in this conversation, in memory or tiro's manual");
    restart();
    offer("memory_search");
    say(ROLE_USER, "Which zeppelin did we charter?");
    returns("offline_1", "memory_search", "{}", "the memory could not be searched: disk", true);
    expect_answer("The search failed: the memory could not be searched: disk");
}

/* --- summaries ------------------------------------------------------------------------------- */

TEST(extracts_for_a_compaction)
{
    char *first;
    for (int i = 0; i < 10; i++) {
        say(ROLE_USER, support_text("request %d\nmore", i));
        say(ROLE_ASSISTANT, i == 9 ? "the last answer" : "an answer");
    }
    ask("You are performing a CONTEXT COMPACTION. Your job is to create a handoff summary.");
    expect_answer("20 messages: 10 user, 10 assistant, 0 tool.");
    expect_answer("- request 9 more\n");
    expect_answer("the last answer");
    expect_answer("- (12 messages omitted)\n");
    assert_null(strstr(plan.text, "CONTEXT COMPACTION"));
    first = support_keep(mem_strdup(plan.text));
    make_plan();
    assert_string_equal(plan.text, first);
}

/* Each prompt reaches the extract; results of tools are no requests, and what stays is left out. */
TEST(extracts_for_every_prompt_of_a_compaction)
{
    for (size_t i = 0; compact_modes[i]; i++) {
        if (!compact_modes[i]->prompt)
            continue;
        restart();
        say(ROLE_USER, "Read the log");
        say(ROLE_ASSISTANT, "[called read_file {}]");
        say(ROLE_USER, "[result of read_file: wind from the west]");
        say(ROLE_ASSISTANT, "From the west.");
        say(ROLE_USER, "Set sail");
        say(ROLE_ASSISTANT, "The sails are set.");
        say(ROLE_USER, SUMMARY_STAYS "\n\nuser: Kept");
        ask(embedded_text(compact_modes[i]->prompt));
        expect_answer("6 messages: 2 user, 3 assistant, 1 tool.");
        assert_says(plan.text, "## Last requests\n\n- Read the log\n- Set sail\n", "!Kept",
                    "- tool: [result of read_file: wind from the west]", "The sails are set.");
    }
}

TEST(summarises_only_without_tools)
{
    say(ROLE_USER, "alpha");
    ask("Please summarise this");
    expect_answer("Extract, made without a model");
    offer("read_file");
    make_plan();
    assert_null(strstr(plan.text, "Extract, made"));
}

/* --- the provider ---------------------------------------------------------------------------- */

static bool on_delta(void *context, enum block_type type, const char *text, size_t len)
{
    (void)context;
    assert_int_equal(type, BLOCK_TEXT);
    buf_add(&stream.text, text, len);
    stream.pieces++;
    if (stream.pieces == stream.stop_after)
        assert_int_equal(write(stream.wake[1], "x", 1), 1);
    return true;
}

static bool go_on(void *context)
{
    char byte;
    (void)context;
    assert_int_equal(read(stream.wake[0], &byte, 1), 1);
    return false;
}

static bool complete(void)
{
    struct wakeup wakeup = {.go_on = go_on};
    struct provider_call provider_call = {
        .wakeup = &wakeup, .delta = on_delta, .watched = stream.watched};
    bool ok;
    assert_int_equal(pipe(stream.wake), 0);
    wakeup.fd = stream.wake[0];
    buf_clear(&stream.text);
    stream.pieces = 0;
    response_release(&response);
    response_init(&response);
    failure_clear(&failure);
    ok = provider_offline.complete(&provider_call, request(), &response, &failure);
    close(stream.wake[0]);
    close(stream.wake[1]);
    return ok;
}

TEST(streams_and_reports_usage)
{
    int64_t start = clock_mono_ms();
    say(ROLE_USER, "What is tiro?");
    assert_true(complete());
    assert_true(clock_mono_ms() - start < 5000);
    assert_int_equal(response.stop_reason, STOP_END_TURN);
    assert_int_equal(response.blocks.len, 1);
    assert_int_equal(response.blocks.items[0].type, BLOCK_TEXT);
    assert_string_equal(response.blocks.items[0].text, stream.text.data);
    assert_true(stream.pieces > 20);
    assert_true(response.usage.estimated);
    assert_true(response.usage.input > 0);
    assert_int_equal(response.usage.output, (stream.text.len + 3) / 4);
    assert_string_equal(response.model, "offline");
}

/* The number of pauses in the answer to a question. */
static long pauses(bool watched)
{
    struct rusage before, after;
    stream.watched = watched;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_true(complete());
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    return after.ru_nvcsw - before.ru_nvcsw;
}

/* Text comes at reading speed for a person, and at once for a script. */
TEST(takes_its_time_where_it_is_watched)
{
    say(ROLE_USER, "What is tiro?");
    assert_true(pauses(true) >= 20);
    assert_true(pauses(false) < 10);
}

TEST(stops_at_once_and_keeps_what_came)
{
    stream.stop_after = 5;
    say(ROLE_USER, "What is tiro?");
    assert_false(complete());
    assert_int_equal(failure.kind, FAILURE_CANCELLED);
    assert_true(failure.content_seen);
    assert_int_equal(stream.pieces, 5);
    assert_int_equal(response.blocks.len, 1);
    assert_string_equal(response.blocks.items[0].text, stream.text.data);
}

TEST(gives_calls_ids_of_their_own)
{
    offer("read_file");
    say(ROLE_USER, "read a.md");
    call("offline_1", "read_file", "{\"path\":\"a.md\"}");
    result("offline_1", "read_file", "a", false);
    say(ROLE_USER, "read b.md");
    assert_true(complete());
    assert_int_equal(response.stop_reason, STOP_TOOL_USE);
    assert_int_equal(response.blocks.len, 1);
    assert_int_equal(response.blocks.items[0].type, BLOCK_TOOL_CALL);
    assert_string_equal(response.blocks.items[0].id, "offline_2");
    assert_string_equal(response.blocks.items[0].text, "{\"path\":\"b.md\"}");
    assert_int_equal(stream.pieces, 0);
}

TEST(obeys_the_output_limit)
{
    struct request *r;
    struct provider_call provider_call = {0};
    say(ROLE_USER, "What is tiro?");
    r = (struct request *)(uintptr_t)request();
    r->max_output = 10;
    response_init(&response);
    failure_clear(&failure);
    assert_true(provider_offline.complete(&provider_call, r, &response, &failure));
    assert_int_equal(response.stop_reason, STOP_MAX_TOKENS);
    assert_true(strlen(response.blocks.items[0].text) <= 40);
}

TEST(lists_itself)
{
    AUTO(provider_names_release) struct provider_names names = {0};
    assert_true(provider_offline.models(NULL, &names, &failure));
    assert_int_equal(names.names.len, 1);
    assert_string_equal(names.names.items[0], "offline");
}
