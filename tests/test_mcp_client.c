/* The client of MCP servers against a scripted one (mcp_server_main.c), over standard input and
 * output: both eras, and what a server may do wrong. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "mcp/client.h"
#include "tests/raw_server.h"
#include "tests/suite.h"

enum { SOON_MS = 10000 };

static struct mcp_server server;
static struct mcp_client *client;
static struct mcp_view view;
static struct mcp_outcome outcome;
static struct mcp_offers offers;
static struct error fault;
static struct buf lines; /* of progress */

static unsigned elicits; /* 0: there is no person */
static struct http_reach net;

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    buf_init(&lines, 0);
    elicits = 0;
    net = (struct http_reach){"", 5000};
    int failed = support_setup(state);
    server = (struct mcp_server){.name = support_text("scripted"), .origin = "user"};
    return failed;
}

static void end(void)
{
    mcp_client_free(client);
    client = NULL;
    vec_release(&server.args);
    vec_release(&server.env);
    server.disabled_tools.len = 0;
    vec_release(&server.disabled_tools);
}

static int teardown(void **state)
{
    end();
    mcp_view_release(&view);
    mcp_offers_release(&offers);
    mcp_outcome_release(&outcome);
    buf_release(&lines);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

static char *starts(void)
{
    return support_path("starts");
}

/* Starts the scripted server with these words, and a file of its starts. */
static void start(const char *const *words)
{
    const char *program = support_program();
    const char *slash = strrchr(program, '/');
    server.command = support_text("%.*s/tests/mcp-server", (int)(slash - program), program);
    for (; *words; words++)
        vec_push(&server.args, support_text("%s", *words));
    vec_push(&server.args, support_text("file=%s", starts()));
    client = mcp_client_new(&server, support_dir(), &net, elicits);
}
#define START(...) start(TEXTS(__VA_ARGS__))

static void look(void)
{
    mcp_view_release(&view);
    mcp_client_view(client, &view);
}

static void ready(void)
{
    assert_true(mcp_client_wait(client, clock_mono_ms() + SOON_MS * support_patience(), NULL));
    look();
    if (view.state != MCP_READY)
        fail_msg("%s: %s (%s)", mcp_state_name(view.state), view.error, view.log);
}

static void keep_line(void *context, const char *line)
{
    (void)context;
    buf_addf(&lines, "%s;", line);
}

static bool call_within(const char *tool, const char *text, int64_t ms)
{
    AUTO(json_free_local) struct json *args = json_new_object();
    json_set_string(args, "text", text);
    mcp_outcome_release(&outcome);
    return mcp_client_call(client, MCP_CALL_TOOL, tool, args, clock_mono_ms() + ms, NULL, keep_line,
                           NULL, &outcome, &fault);
}

static const char *call(const char *tool)
{
    assert_ok(call_within(tool, "some words", (int64_t)SOON_MS * support_patience()), fault);
    return outcome.text;
}

static void call_fails(const char *tool, const char *words)
{
    assert_error(call_within(tool, NULL, (int64_t)SOON_MS * support_patience()), fault,
                 ERR_AGENT_ERROR, words);
}

static int count_starts(void)
{
    int count = 0;
    auto_free char *text = support_read(starts());
    for (const char *p = text; *p; p++)
        count += *p == '\n';
    return count;
}

/* Whether the newest process that was started is gone. */
static bool is_gone(void *pid)
{
    return kill(*(pid_t *)pid, 0) != 0 && errno == ESRCH;
}

static pid_t newest(void)
{
    auto_free char *text = support_read(starts());
    size_t at = strlen(text) - 1;
    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    return (pid_t)atol(text + at);
}

static bool has_tool(const char *name)
{
    for (size_t i = 0; i < view.tools.len; i++)
        if (strcmp(view.tools.items[i].name, name) == 0)
            return true;
    return false;
}

/* --- eras ------------------------------------------------------------------------------------- */

TEST(a_modern_server_needs_no_handshake)
{
    START("modern");
    ready();
    assert_string_equal(view.protocol, "2026-07-28");
    assert_string_equal(view.name, "scripted");
    assert_true(has_tool("echo"));
    assert_true(view.tools.items[0].reads_only);
    assert_string_equal(view.tools.items[0].title, "Echo");
    assert_string_equal(view.tools.items[0].description, "Does echo.");
    assert_string_equal(call("echo"), "some words");
    assert_false(outcome.is_error);
    assert_string_equal(call("ask"), "decline");
}

static char *give_answer(void *context, const struct json *params, bool (*waits)(void *of),
                         void *of)
{
    assert_true(waits(of));
    buf_addf(&lines, "%s;", json_get_string(params, "mode"));
    return mem_strdup(support_json(context));
}

static const char *call_asks(const char *text, const char *person)
{
    const struct mcp_asker asker = {give_answer, support_text("%s", person)};
    buf_clear(&lines);
    mcp_client_set_asker(client, person ? &asker : NULL);
    if (!call_within("ask", text, (int64_t)SOON_MS * support_patience()))
        return fault.text;
    return outcome.text;
}

TEST(a_person_is_asked_in_the_course_of_a_call)
{
    static const char *const eras[] = {"modern", "legacy"};
    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
        elicits = MCP_ELICITS_FORMS | MCP_ELICITS_PAGES;
        START(eras[i]);
        ready();
        assert_string_equal(call_asks("form", "{'action':'accept','content':{'name':'Ann'}}"),
                            support_json("{'action':'accept','content':{'name':'Ann'}}"));
        assert_string_equal(lines.data, "form;");
        assert_string_equal(call_asks("page", "{'action':'decline'}"),
                            support_json("{'action':'decline'}"));
        assert_string_equal(lines.data, "url;");
        assert_string_equal(call_asks("form", NULL), support_json("{'action':'cancel'}"));
        end();
    }
}

TEST(a_call_that_needs_a_page_is_sent_again_once_it_was_opened)
{
    elicits = MCP_ELICITS_FORMS | MCP_ELICITS_PAGES;
    START("legacy");
    ready();
    assert_string_equal(call_asks("needs", "{'action':'accept'}"), "opened");
    assert_string_equal(lines.data, "url;");
    end();
    START("legacy");
    ready();
    assert_non_null(strstr(call_asks("needs", "{'action':'decline'}"), "did not open the page"));
}

TEST(a_server_that_does_not_know_the_probe_is_initialized)
{
    START("legacy");
    ready();
    assert_string_equal(view.protocol, "2025-06-18");
    assert_string_equal(call("echo"), "some words");
    assert_string_equal(call("ask"), "decline");
    assert_int_equal(count_starts(), 1);
}

TEST(a_server_that_dies_of_the_probe_gets_a_fresh_process)
{
    START("legacy", "dies");
    ready();
    assert_string_equal(call("echo"), "some words");
    assert_int_equal(count_starts(), 2);
    /* The same command line is not probed again. */
    mcp_client_restart(client);
    assert_string_equal(call("echo"), "some words");
    assert_int_equal(count_starts(), 3);
}

TEST(a_server_that_keeps_silent_about_the_probe_gets_a_fresh_process)
{
    START("legacy", "silent");
    ready();
    assert_string_equal(view.protocol, "2025-06-18");
    assert_int_equal(count_starts(), 2);
}

static char *eras(void)
{
    return support_path(".local/state/tiro/mcp-eras");
}

/* The next start, which another process may do, does not wait; another command line is asked. */
TEST(the_era_of_a_command_is_remembered)
{
    for (int again = 0; again < 2; again++) {
        START("legacy", "silent");
        ready();
        assert_int_equal(count_starts(), 2 + again);
        end();
    }
    auto_free char *kept = support_read(eras());
    assert_non_null(strstr(kept, " legacy\n"));
    assert_null(strstr(kept, "mcp-server"));
    START("legacy", "silent", "other");
    ready();
    assert_int_equal(count_starts(), 5);
}

/* A remembered era of a program that has changed since is wrong, and costs no server. */
TEST(a_wrong_memory_of_an_era_is_mended)
{
    static const char *const words[] = {"modern", "legacy"};
    for (size_t i = 0; i < 2; i++) {
        START(words[i]);
        ready();
        end();
        auto_free char *kept = support_read(eras());
        memcpy(strstr(kept, words[i]), words[1 - i], strlen(words[i]));
        support_write(eras(), kept);
        START(words[i]);
        ready();
        end();
        auto_free char *mended = support_read(eras());
        assert_int_equal(strncmp(strchr(mended, ' ') + 1, words[i], strlen(words[i])), 0);
    }
}

/* --- the list --------------------------------------------------------------------------------- */

TEST(the_list_comes_in_pages)
{
    START("pages");
    ready();
    assert_true(has_tool("echo"));
    assert_true(has_tool("refuse"));
}

TEST(the_list_is_bounded)
{
    START("crowd");
    ready();
    assert_int_equal(view.tools.len, MCP_TOOLS_MAX);
    assert_int_equal(view.left_out, 15 + 500 - MCP_TOOLS_MAX);
}

static bool has_grown(void *context)
{
    (void)context;
    look();
    return has_tool("grown");
}

TEST(a_changed_list_is_read_again)
{
    static const char *const eras[] = {"legacy", "modern"};
    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
        START(eras[i]);
        ready();
        uint64_t version = view.version;
        assert_string_equal(call("grow"), "grown");
        assert_true(support_wait_until(has_grown, NULL, SOON_MS));
        assert_true(mcp_client_version(client) > version);
        end();
    }
}

TEST(the_configuration_leaves_tools_out)
{
    vec_push(&server.disabled_tools, support_text("fail"));
    START("both");
    ready();
    for (size_t i = 0; i < view.tools.len; i++)
        assert_int_equal(view.tools.items[i].off, strcmp(view.tools.items[i].name, "fail") == 0);
}

/* --- calls ------------------------------------------------------------------------------------ */

TEST(results_become_text)
{
    START("both");
    ready();
    assert_string_equal(call("mixed"),
                        "first\n[image: image/png, 6 bytes, not shown]\n[image 64×48 png 29 B]\n"
                        "[link to a resource: file:///a (A)]\n"
                        "[resource file:///b]\ninner");
    auto_free char *images = json_print(outcome.images);
    assert_string_equal(images, "[{\"data\":\"iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAA=\"}]");
    assert_ok(call_within("mixed", "picture", (int64_t)SOON_MS * support_patience()), fault);
    assert_string_equal(outcome.text, "[image 64×48 png 29 B]");
    assert_string_equal(call("fail"), "it failed");
    assert_true(outcome.is_error);
    call_fails("refuse", "no such text (-32602)");
}

TEST(progress_is_told)
{
    START("both");
    ready();
    assert_string_equal(call("progress"), "done");
    assert_string_equal(lines.data, "step (1 of 2);step (2 of 2);");
}

TEST(the_environment_is_short)
{
    vec_push(&server.env, (struct mcp_pair){support_text("GIVEN"), support_text("x")});
    setenv("SECRET_OF_TEST", "x", 1);
    START("both");
    ready();
    const char *names = call("environment");
    unsetenv("SECRET_OF_TEST");
    assert_non_null(strstr(names, "PATH "));
    assert_non_null(strstr(names, "GIVEN "));
    assert_null(strstr(names, "SECRET_OF_TEST"));
    assert_null(strstr(names, "TERM "));
}

/* --- what a server may do wrong --------------------------------------------------------------- */

TEST(lines_that_are_no_message_are_passed_over)
{
    START("both");
    ready();
    assert_string_equal(call("junk"), "after the junk");
    assert_string_equal(call("twice"), "one");
    assert_string_equal(call("echo"), "some words");
    look();
    assert_non_null(strstr(view.log, "Welcome to the server!"));
}

TEST(a_death_costs_the_call_alone)
{
    START("both");
    ready();
    pid_t first = newest();
    call_fails("die", "it exited with status 3: a fatal fault");
    look();
    assert_int_equal(view.state, MCP_ENDED);
    assert_true(has_tool("echo"));
    assert_string_equal(call("echo"), "some words");
    assert_int_equal(count_starts(), 2);
    assert_true(newest() != first);
}

TEST(who_dies_too_often_is_given_up)
{
    START("both");
    ready();
    for (int i = 0; i < 4; i++)
        call_fails("die", "it exited with status 3");
    look();
    assert_int_equal(view.state, MCP_FAILED);
    assert_int_equal(view.tools.len, 0);
    call_fails("echo", "it exited with status 3");
    mcp_client_restart(client);
    assert_string_equal(call("echo"), "some words");
}

TEST(a_flood_costs_the_call_alone)
{
    START("both");
    ready();
    call_fails("flood", "it sends without end");
    assert_string_equal(call("echo"), "some words");
}

TEST(a_message_without_end_costs_the_call_alone)
{
    START("both");
    ready();
    call_fails("huge", "more than 32 MiB");
    assert_string_equal(call("echo"), "some words");
}

TEST(a_call_that_hangs_is_cancelled)
{
    START("both");
    ready();
    assert_error(call_within("hang", NULL, 200), fault, ERR_AGENT_ERROR, "did not answer in time");
    assert_string_equal(call("echo"), "some words");
    assert_int_equal(count_starts(), 1);
}

static bool stop(void *context)
{
    (void)context;
    return false;
}

TEST(a_call_is_interrupted)
{
    START("both");
    ready();
    const struct wakeup soon = {.fd = -1, .go_on = stop, .deadline_ms = clock_mono_ms() + 100};
    assert_err(mcp_client_call(client, MCP_CALL_TOOL, "hang", NULL, clock_mono_ms() + 60000, &soon,
                               NULL, NULL, &outcome, &fault),
               fault, ERR_INTERRUPTED);
    assert_string_equal(call("echo"), "some words");
}

TEST(a_program_that_is_not_there_is_told)
{
    server.command = support_text("no-such-program-here");
    client = mcp_client_new(&server, support_dir(), &net, 0);
    assert_true(mcp_client_wait(client, clock_mono_ms() + SOON_MS, NULL));
    look();
    assert_int_equal(view.state, MCP_FAILED);
    assert_non_null(strstr(view.error, "\"no-such-program-here\" cannot be run"));
}

/* --- prompts and resources -------------------------------------------------------------------- */

static void know_offers(void)
{
    ready();
    assert_true(
        mcp_client_wait_offers(client, clock_mono_ms() + SOON_MS * support_patience(), NULL));
    mcp_offers_release(&offers);
    mcp_client_offers(client, &offers);
}

static const char *get(enum mcp_ask what, const char *name)
{
    AUTO(json_free_local) struct json *args = json_new_object();
    json_set_string(args, "who", "Ada");
    mcp_outcome_release(&outcome);
    assert_ok(mcp_client_call(client, what, name, args,
                              clock_mono_ms() + SOON_MS * support_patience(), NULL, NULL, NULL,
                              &outcome, &fault),
              fault);
    return outcome.text;
}

static void offers_are_listed(void)
{
    know_offers();
    assert_true(view.has_resources);
    assert_int_equal(offers.left_out, 0);
    assert_int_equal(offers.prompts.len, 2);
    const struct mcp_prompt_info *p = &offers.prompts.items[0];
    assert_string_equal(p->name, "greet");
    assert_string_equal(p->description, "Greets a person.");
    assert_int_equal(p->arguments.len, 2);
    assert_string_equal(p->arguments.items[1].name, "who");
    assert_true(p->arguments.items[1].required && !p->arguments.items[0].required);
    assert_int_equal(offers.resources.len, 3);
    assert_string_equal(offers.resources.items[1].uri, "file:///b");
    assert_string_equal(offers.resources.items[2].uri, "file:///{name}");
    assert_true(offers.resources.items[2].is_template);
    assert_string_equal(get(MCP_GET_PROMPT, "greet"),
                        "{\"who\":\"Ada\"}\n[assistant]\n[resource file:///b]\ninner\n"
                        "[image: image/png, 3 bytes, not shown]");
    assert_string_equal(get(MCP_READ_RESOURCE, "file:///a"),
                        "[resource file:///a]\nthe text of it\n[resource file:///c]\n"
                        "[data: unknown type, 3 bytes, not shown]");
    assert_error(mcp_client_call(client, MCP_READ_RESOURCE, "secret:1", NULL,
                                 clock_mono_ms() + SOON_MS, NULL, NULL, NULL, &outcome, &fault),
                 fault, ERR_AGENT_ERROR,
                 "the server refused the call: Resource not found (-32002)");
}

TEST(prompts_and_resources_are_listed_in_pages)
{
    START("modern", "prompts", "resources", "pages");
    offers_are_listed();
}

TEST(prompts_and_resources_of_the_older_era)
{
    START("legacy", "prompts", "resources");
    offers_are_listed();
}

static bool prompts_have_grown(void *unused)
{
    (void)unused;
    mcp_offers_release(&offers);
    mcp_client_offers(client, &offers);
    return offers.prompts.len == 3;
}

TEST(a_changed_list_of_prompts_is_read_again)
{
    START("both", "prompts");
    know_offers();
    assert_false(view.has_resources);
    assert_int_equal(offers.prompts.len, 2);
    (void)call("grow");
    assert_true(support_wait_until(prompts_have_grown, NULL, SOON_MS));
}

/* Lists that never come, or are refused, do not keep the tools. */
TEST(a_server_without_its_lists_has_its_tools)
{
    START("both", "prompts", "mute");
    ready();
    assert_string_equal(call("echo"), "some words");
    assert_false(mcp_client_wait_offers(client, clock_mono_ms() + 50, NULL));
    end();
    START("both", "resources");
    know_offers();
    assert_int_equal(offers.prompts.len, 0);
    assert_int_equal(offers.resources.len, 3);
}

/* --- the end ---------------------------------------------------------------------------------- */

TEST(nothing_is_left)
{
    START("both");
    ready();
    pid_t first = newest(), orphan = (pid_t)atol(call("orphan"));
    int64_t begun = clock_mono_ms();
    end();
    assert_true(clock_mono_ms() - begun < 2000); /* it ends with its input */
    assert_true(is_gone(&first));
    assert_true(is_gone(&orphan));
}

TEST(a_server_that_stays_is_killed)
{
    START("stays");
    ready();
    pid_t first = newest();
    end();
    assert_true(is_gone(&first));
}

TEST(a_client_that_is_not_ready_ends_at_once)
{
    START("silent-start");
    assert_false(mcp_client_wait(client, clock_mono_ms() + 50, NULL));
    end();
}

/* --- HTTP ------------------------------------------------------------------------------------- */

static struct raw_server *web;

static int web_teardown(void **state)
{
    int failed = teardown(state);
    raw_server_stop(web);
    return failed;
}

FIXTURES(web, setup, web_teardown);

#define JSON "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#define EVENTS "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define ACCEPTED "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"

/* A reply with this body, with ' for ". */
static const char *with_length(const char *head, const char *text)
{
    const char *body = support_json(text);
    return support_text("%sContent-Length: %zu\r\n\r\n%s", head, strlen(body), body);
}

static const char *answer_to(int id, const char *result)
{
    return with_length(JSON, support_text("{'jsonrpc':'2.0','id':%d,'result':%s}", id, result));
}

#define TOOLS "{'tools':[{'name':'echo','inputSchema':{'type':'object'}}]}"
#define RESULT(text) "{'content':[{'type':'text','text':'" text "'}]}"

static void reach(const struct raw_reply *replies, size_t count)
{
    web = raw_server_start(replies, count);
    server.url = support_text("%s/mcp", raw_server_url(web));
    client = mcp_client_new(&server, support_dir(), &net, 0);
}
#define REACH(...)                                                                                 \
    reach((const struct raw_reply[]){__VA_ARGS__},                                                 \
          sizeof((const struct raw_reply[]){__VA_ARGS__}) / sizeof(struct raw_reply))

static void heard(const char *text)
{
    const char *all = raw_server_state(web).heard;
    if (!strstr(all, text))
        fail_msg("not heard: %s in\n%s", text, all);
}

static bool has_asked(void *requests)
{
    return raw_server_state(web).requests >= *(size_t *)requests;
}

TEST(a_modern_server_is_reached_by_http)
{
    struct mcp_pair key = {support_text("Authorization"), support_text("Bearer k")};
    server.headers = (struct mcp_pairs){&key, 1, 1};
    REACH(
        {.begin = answer_to(1, "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}}}")},
        {.begin =
             answer_to(2,
                       "{'tools':[{'name':'bad','inputSchema':{'type':'object','properties':{'a':"
                       "{'type':'number','x-mcp-header':'A'}}}},"
                       "{'name':'echo','inputSchema':{'type':'object','properties':{'text':"
                       "{'type':'string','x-mcp-header':'Text'}}}}]}")},
        {.begin = answer_to(3, RESULT("by http"))});
    ready();
    assert_string_equal(view.protocol, "2026-07-28");
    assert_false(has_tool("bad"));
    assert_string_equal(call("echo"), "by http");
    heard("POST /mcp HTTP/1.1\r\n");
    heard("Authorization: Bearer k\r\n");
    heard("MCP-Protocol-Version: 2026-07-28\r\n");
    heard("Mcp-Method: server/discover\r\n");
    heard("Mcp-Method: tools/call\r\nMcp-Name: echo\r\nMcp-Param-Text: some words\r\n");
    heard("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"");
    server.headers = (struct mcp_pairs){NULL, 0, 0};
}

TEST(an_older_server_has_a_session_and_streams)
{
    REACH({.begin = with_length(
               "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n",
               "{'jsonrpc':'2.0','id':1,'error':{'code':-32600,'message':'no session'}}")},
          {.begin = with_length(
               JSON "Mcp-Session-Id: s-1\r\n",
               "{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-06-18',"
               "'capabilities':{'tools':{}},'serverInfo':{'name':'old','version':'1'}}}")},
          {.begin = ACCEPTED},
          {.begin = support_text(EVENTS "event: message\ndata: %s\n\n",
                                 support_json("{'jsonrpc':'2.0','id':3,'result':" TOOLS "}")),
           .close = true},
          {.begin = support_text(
               EVENTS "data: %s\n\ndata: %s\n\ndata: %s\n\n",
               support_json("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                            "{'progressToken':1,'progress':1,'message':'half'}}"),
               support_json("{'jsonrpc':'2.0','id':'p','method':'ping'}"),
               support_json("{'jsonrpc':'2.0','id':4,'result':" RESULT("at last") "}")),
           .close = true},
          {.begin = ACCEPTED}, {.begin = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
    ready();
    assert_string_equal(view.protocol, "2025-06-18");
    assert_string_equal(view.name, "old");
    assert_string_equal(call("echo"), "at last");
    assert_string_equal(lines.data, "half (1);");
    heard("Mcp-Session-Id: s-1\r\nMCP-Protocol-Version: 2025-06-18\r\n");
    heard("\"id\":\"p\",\"result\":{}");
    end();
    heard("DELETE /mcp HTTP/1.1\r\n");
}

/* The answer to a call comes in a second stream. */
TEST(a_stream_that_breaks_off_is_read_on)
{
    REACH({.begin = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"},
          {.begin = answer_to(2, "{'protocolVersion':'2025-11-25','capabilities':{'tools':{}}}")},
          {.begin = ACCEPTED}, {.begin = answer_to(3, TOOLS)},
          {.begin = EVENTS "id: first\nretry: 150\ndata: \n\nid: cut off\n", .close = true},
          {.begin = EVENTS ": nothing yet\n\n", .close = true},
          {.begin = support_text(
               EVENTS "id: 2\ndata: %s\n\n",
               support_json("{'jsonrpc':'2.0','id':4,'result':" RESULT("in the end") "}")),
           .close = true});
    ready();
    int64_t begun_ms = clock_mono_ms();
    assert_string_equal(call("echo"), "in the end");
    assert_true(clock_mono_ms() - begun_ms >= 290);
    assert_int_equal(raw_server_state(web).requests, 7);
    heard("GET /mcp HTTP/1.1\r\n");
    heard("Last-Event-ID: first\r\n");
    assert_null(strstr(raw_server_state(web).heard, "Last-Event-ID: cut off"));
}

#define MORE_TOOLS                                                                                 \
    "{'tools':[{'name':'echo','inputSchema':{'type':'object'}},"                                   \
    "{'name':'grown','inputSchema':{'type':'object'}}]}"
#define CHANGED                                                                                    \
    "retry: 60000\ndata: "                                                                         \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"

TEST(an_older_server_tells_changes_in_a_stream_of_its_own)
{
    REACH({.begin = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"},
          {.begin = answer_to(2,
                              "{'protocolVersion':'2025-11-25',"
                              "'capabilities':{'tools':{'listChanged':true}}}")},
          {.begin = ACCEPTED}, {.begin = answer_to(3, TOOLS)},
          {.begin = EVENTS CHANGED, .close = true}, {.begin = answer_to(4, MORE_TOOLS)});
    ready();
    assert_true(support_wait_until(has_grown, NULL, SOON_MS));
    heard("GET /mcp HTTP/1.1\r\n");
}

TEST(a_newer_server_tells_changes_to_a_listener)
{
    REACH({.begin = answer_to(1,
                              "{'supportedVersions':['2026-07-28'],"
                              "'capabilities':{'tools':{'listChanged':true}}}")},
          {.begin = answer_to(2, TOOLS)}, {.begin = EVENTS CHANGED, .close = true},
          {.begin = answer_to(4, MORE_TOOLS)});
    ready();
    assert_true(support_wait_until(has_grown, NULL, SOON_MS));
    heard("Mcp-Method: subscriptions/listen\r\n");
    heard("\"toolsListChanged\":true");
}

/* It is asked once, and its tools go on. */
TEST(a_server_need_not_tell_changes)
{
    REACH({.begin = answer_to(1,
                              "{'supportedVersions':['2026-07-28'],"
                              "'capabilities':{'tools':{'listChanged':true}}}")},
          {.begin = answer_to(2, TOOLS)},
          {.begin = "HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
           .close = true},
          {.begin = answer_to(4, RESULT("well"))});
    ready();
    assert_true(support_wait_until(has_asked, &(size_t){3}, SOON_MS));
    assert_string_equal(call("echo"), "well");
}

TEST(a_server_that_wants_a_login_is_explained)
{
    REACH({.begin = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"});
    assert_true(mcp_client_wait(client, clock_mono_ms() + SOON_MS, NULL));
    look();
    assert_int_equal(view.state, MCP_FAILED);
    assert_non_null(strstr(view.error, support_text("'npx mcp-remote %s'", server.url)));
}

/* [provider] ca_file holds for servers of tools, too. */
TEST(certificates_are_those_of_the_configuration)
{
    web = raw_server_start(&(struct raw_reply){.begin = ""}, 1);
    server.url = support_text("https%s/mcp", strchr(raw_server_url(web), ':'));
    net.ca_file = support_path("none.pem");
    client = mcp_client_new(&server, support_dir(), &net, 0);
    assert_true(mcp_client_wait(client, clock_mono_ms() + SOON_MS * support_patience(), NULL));
    look();
    assert_int_equal(view.state, MCP_FAILED);
    assert_non_null(strstr(view.error, "none.pem"));
    assert_non_null(strstr(view.error, "[provider] ca_file"));
}

/* And so does the proxy of the environment. */
TEST(a_server_is_reached_through_the_proxy)
{
    const struct raw_reply reply = {
        .begin = answer_to(1, "{'supportedVersions':['2026-07-28'],'capabilities':{}}")};
    web = raw_server_start(&reply, 1);
    setenv("http_proxy", raw_server_url(web), 1);
    server.url = support_text("http://tools.invalid/mcp");
    client = mcp_client_new(&server, support_dir(), &net, 0);
    ready();
    end();
    unsetenv("http_proxy");
    heard("POST http://tools.invalid/mcp HTTP/1.1\r\n");
}

TEST(the_headers_command_gives_a_bearer)
{
    server.headers_command = support_text("echo 'Authorization: Bearer of-command'");
    REACH({.begin = answer_to(1, "{'supportedVersions':['2026-07-28'],'capabilities':{}}")});
    ready();
    heard("Authorization: Bearer of-command\r\n");
    server.headers_command = NULL;
}

/* A stream that ends early, one that never does, and a server that is gone. */
TEST(a_broken_answer_costs_the_call_alone)
{
    REACH(
        {.begin = answer_to(1, "{'supportedVersions':['2026-07-28'],'capabilities':{'tools':{}}}")},
        {.begin = answer_to(2, TOOLS)}, {.begin = EVENTS ": nothing\n\n", .close = true},
        {.begin = EVENTS, .again = ": still there\n\n", .pause_ms = 10},
        {.begin = "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"},
        {.begin = answer_to(6, RESULT("well again"))});
    ready();
    call_fails("echo", "the answer ended before the result");
    assert_error(call_within("echo", NULL, 300), fault, ERR_AGENT_ERROR, "did not answer in time");
    call_fails("echo", "HTTP status 500");
    assert_string_equal(call("echo"), "well again");
}
