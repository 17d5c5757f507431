/* Forms of MCP servers: what is read of them, and the ways in which they reach a person. */
#include <unistd.h>

#include "base/paths.h"
#include "chat/form.h"
#include "mcp/config.h"
#include "tests/acp_client.h"
#include "tests/program.h"
#include "tests/suite.h"

static int setup(void **state)
{
    return acp_set_up(state);
}

FIXTURE(setup, acp_tear_down);

/* --- values --- */

static const struct {
    const char *schema, *typed, *value; /* NULL: `fault` is said; "": there is none */
    const char *fault;
} values[] = {
    {"'type':'string'", "  two words ", "'two words'", NULL},
    {"'type':'string'", " ", "", NULL},
    {"'type':'string','minLength':3", "äö", NULL, "at least 3 characters"},
    {"'type':'string','maxLength':2", "äöü", NULL, "at most 2 characters"},
    {"'type':'string','format':'email'", "a@b", "'a@b'", NULL},
    {"'type':'string','format':'email'", "a b@c", NULL, "a mail address"},
    {"'type':'string','format':'uri'", "https://a/b", "'https://a/b'", NULL},
    {"'type':'string','format':'uri'", "a/b", NULL, "an address"},
    {"'type':'string','format':'date'", "2026-02-28", "'2026-02-28'", NULL},
    {"'type':'string','format':'date'", "2026-02-30", NULL, "a date"},
    {"'type':'string','format':'date-time'", "2026-02-28T10:00:00Z", "'2026-02-28T10:00:00Z'",
     NULL},
    {"'type':'string','format':'date-time'", "soon", NULL, "a time"},
    {"'type':'string','format':'unheard'", "x", "'x'", NULL},
    {"'type':'number','minimum':0.5", "0.5", "0.5", NULL},
    {"'type':'number','minimum':0.5", "0.4", NULL, "at least 0.5"},
    {"'type':'number'", "many", NULL, "a number"},
    {"'type':'integer','maximum':3", "3", "3", NULL},
    {"'type':'integer','maximum':3", "4", NULL, "at most 3"},
    {"'type':'integer'", "1.5", NULL, "a whole number"},
    {"'type':'boolean'", "YES", "true", NULL},
    {"'type':'boolean'", "2", "false", NULL},
    {"'type':'boolean'", "perhaps", NULL, "yes or no"},
    {"'type':'string','enum':['a','b']", "2", "'b'", NULL},
    {"'enum':['a','b']", "a", "'a'", NULL},
    {"'type':'string','enum':['a','b'],'enumNames':['First','Second']", "second", "'b'", NULL},
    {"'type':'string','oneOf':[{'const':'a','title':'First'},{'const':'b'}]", "first", "'a'", NULL},
    {"'type':'string','enum':['a','b']", "3", NULL, "one of the options"},
    {"'type':'string','enum':['7','b']", "7", "'7'", NULL},
    {"'type':'array','items':{'type':'string','enum':['a','b','c']}", "1, c", "['a','c']", NULL},
    {"'type':'array','items':{'anyOf':[{'const':'a','title':'First'}]}", "First", "['a']", NULL},
    {"'type':'array','maxItems':1,'items':{'enum':['a','b']}", "1,2", NULL, "at most 1"},
    {"'type':'array','items':{'enum':['a','b']}", "1,5", NULL, "some of the options"},
};

static struct form form;

static bool reads(const char *params, struct error *e)
{
    AUTO(json_free_local) struct json *v = parse_json(support_json(params));
    form_release(&form);
    return form_read(&form, v, e);
}

TEST(what_a_person_types_becomes_a_value)
{
    struct error e;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_ok(
            reads(support_text("{'requestedSchema':{'properties':{'f':{%s}}}}", values[i].schema),
                  &e),
            e);
        struct json *v = form_field_parse(&form.fields.items[0], values[i].typed, &e);
        auto_free char *got = v ? json_print(v) : mem_strdup("");
        if (values[i].value ? e.code != ERR_OK || strcmp(got, support_json(values[i].value)) != 0
                            : v || !strstr(e.text, values[i].fault))
            fail_msg("%s, %s: %s %s", values[i].schema, values[i].typed, got, e.text);
        json_free(v);
    }
    form_release(&form);
}

static bool accepts(const char *content)
{
    AUTO(json_free_local) struct json *v = parse_json(support_json(content));
    struct error e;
    return form_check(&form, v, &e);
}

TEST(a_content_is_checked_against_its_form)
{
    struct error e;
    assert_ok(reads("{'mode':'form','message':'a\\u001b[2Jb','requestedSchema':{'type':'object',"
                    "'properties':{'a':{'type':'string','default':'x','description':'d'},"
                    "'b':{'type':'integer','default':'no number'},"
                    "'c':{'type':'boolean','default':true}},'required':['a','b']}}",
                    &e),
              e);
    assert_null(strchr(form.message, '\033'));
    AUTO(json_free_local) struct json *defaults = form_defaults(&form);
    assert_json(defaults, "{'a':'x','c':true}");
    assert_false(form_check(&form, defaults, &e));
    assert_true(accepts("{'a':'x','b':1}"));
    assert_false(accepts("{'a':'x','b':'1'}"));
    assert_false(accepts("{'a':'x'}"));
    assert_false(accepts("{'a':'x','b':1,'d':2}"));
    assert_false(accepts("['a']"));
    assert_false(reads("{'requestedSchema':{'properties':{'a':{'type':'object'}}}}", &e));
    assert_false(reads("{'requestedSchema':{'properties':{'a':{'type':'array','items':{}}}}}", &e));
    assert_false(reads("{'mode':'dance'}", &e));
    form_release(&form);
}

TEST(a_page_is_shown_by_an_address_that_reads_in_one_way)
{
    static const char *const refused[] = {"file:///a",
                                          "https://a@b/",
                                          "https://a\\\\@b/",
                                          "https://\\u0430/",
                                          "https://a b/",
                                          "javascript:x",
                                          ""};
    struct error e;
    assert_ok(reads("{'mode':'url','message':'m','url':'https://host.example:1/a?b#c@d'}", &e), e);
    assert_string_equal(form.host, "host.example:1");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(reads(support_text("{'mode':'url','url':'%s'}", refused[i]), &e));
    form_release(&form);
}

/* --- a person --- */

/* A server of the older era that asks in a call, which the model makes; it is told the answer. */
static void ask_in_call(const char *text)
{
    const char *program = support_program();
    auto_free char *directory = paths_dir(PATHS_CONFIG), *path = mcp_config_path(NULL);
    struct error e;
    assert_ok(paths_make_dir(directory, &e), e);
    support_write(path,
                  support_json(support_text("{'mcpServers':{'s':{'command':'%.*s/tests/mcp-server',"
                                            "'args':['legacy']}}}",
                                            (int)(strrchr(program, '/') - program), program)));
    QUEUE(model, .tool_name = "mcp__s__ask",
          .tool_args = support_json(support_text("{'text':'%s'}", text)));
}

/* Checks what the model got as the result of the call: the answer to the form, as the server
 * received it. */
static void server_got_at(size_t request, const char *answer)
{
    assert_true(model_server_wait(model, request + 1, RPC_CLIENT_MS));
    auto_free char *quoted = mem_strdup(support_json(answer));
    AUTO(json_free_local) struct json *text = json_new_string(quoted);
    auto_free char *escaped = json_print(text);
    escaped[strlen(escaped) - 1] = '\0';
    assert_text(model_server_body(model, request), escaped + 1);
}

static void server_got(const char *answer)
{
    server_got_at(1, answer);
}

static int64_t number;

static int begin_call(void)
{
    RPC_START(&client, "--tools", "full", "--allow", "execute");
    session = support_text("%s", text_of(rpc_client_result(&client, "session/create", "{}"), "id"));
    int turn = rpc_client_ask(&client, "turn/start",
                              support_text("{'session_id':'%s','prompt':'go'}", session));
    const struct json *asked = rpc_client_told(&client, "elicitation/requested", NULL);
    number = json_get_int(asked, "number", 0);
    assert_string_equal(text_of(asked, "server"), "s");
    return turn;
}

static const char *decision(const char *more)
{
    return support_text("{'session_id':'%s','number':%d%s}", session, (int)number, more);
}

TEST(a_client_answers_what_fits_the_form)
{
    ask_in_call("form");
    int turn = begin_call();
    (void)rpc_client_error(&client, "elicitation/decide", decision(",'action':'accept'"), "USAGE");
    (void)rpc_client_error(&client, "elicitation/decide",
                           decision(",'action':'accept','content':{'name':'A'}"), "USAGE");
    (void)rpc_client_result(&client, "elicitation/decide",
                            decision(",'action':'accept','content':{'name':'Ann','age':7}"));
    assert_true(
        json_get_bool(rpc_client_told(&client, "elicitation/requested", NULL), "over", false));
    (void)rpc_client_answer(&client, turn);
    server_got("{'action':'accept','content':{'name':'Ann','age':7}}");
    (void)rpc_client_error(&client, "elicitation/decide", decision(",'action':'cancel'"),
                           "SESSION_NOT_RUNNING");
}

TEST(an_interrupted_turn_takes_its_form_back)
{
    ask_in_call("form");
    int turn = begin_call();
    (void)rpc_client_result(&client, "turn/interrupt",
                            support_text("{'session_id':'%s'}", session));
    assert_true(
        json_get_bool(rpc_client_told(&client, "elicitation/requested", NULL), "over", false));
    (void)rpc_client_answer(&client, turn);
}

TEST(an_editor_shows_forms_if_it_can)
{
    ask_in_call("form");
    begin_allowed("{'elicitation':{'form':{}}}");
    int id = prompt("go");
    const struct json *asked = next_request("elicitation/create");
    const struct json *params = json_get(asked, "params");
    assert_string_equal(text_of(params, "mode"), "form");
    assert_string_equal(text_of(params, "message"), "s: Who are you?");
    assert_string_equal(text_of(params, "sessionId"), session);
    assert_non_null(json_get(json_get(json_get(params, "requestedSchema"), "properties"), "age"));
    answer_with(asked, "{'action':'accept','content':{'name':'Ann'}}");
    expect_stop(id, "end_turn");
    server_got("{'action':'accept','content':{'name':'Ann'}}");
}

TEST(an_editor_that_sends_what_does_not_fit_cancels)
{
    ask_in_call("form");
    begin_allowed("{'elicitation':{'form':{}}}");
    int id = prompt("go");
    answer_with(next_request("elicitation/create"), "{'action':'accept','content':{'name':1}}");
    expect_stop(id, "end_turn");
    server_got("{'action':'cancel'}");
}

TEST(an_editor_without_pages_declines_them)
{
    ask_in_call("page");
    begin_allowed("{'elicitation':{'form':{}}}");
    expect_stop(prompt("go"), "end_turn");
    server_got("{'action':'decline'}");
}

/* A server is told what the editor can show, and nothing more. */
TEST(servers_know_what_an_editor_can_show)
{
    static const char *const can[][2] = {
        {"{}", "{}"},
        {"{'elicitation':{'form':{}}}", "{'elicitation':{'form':{}}}"},
        {"{'elicitation':{'url':{}}}", "{'elicitation':{'url':{}}}"},
        {"{'elicitation':{'url':{},'form':{}}}", "{'elicitation':{'form':{},'url':{}}}"}};
    for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
        ask_in_call("can");
        begin_allowed(can[i][0]);
        expect_stop(prompt("go"), "end_turn");
        server_got_at(2 * i + 1, can[i][1]);
        end();
    }
}

TEST(lines_fill_in_a_form_field_by_field)
{
    ask_in_call("form");
    struct result r = RUN_WITH("go\nyes\nA\nAnn\nno number\n\n-\nyes\n", "--plain", "--tools",
                               "full", "--allow", "execute");
    run_ok(r);
    assert_text(r.out,
                "The MCP server s asks you:\nWho are you?\n\nYour name: (needed)\nage: 30\n");
    assert_text(r.out, "Your name: at least 2 characters\n");
    assert_text(r.out, "age: give a whole number\n");
    assert_text(r.out, "Your name: Ann\nage: 30\ncolor: -\n");
    server_got("{'action':'accept','content':{'name':'Ann','age':30}}");
}

TEST(lines_that_end_decline)
{
    ask_in_call("form");
    run_ok(RUN_WITH("go\nfill\n", "--plain", "--tools", "full", "--allow", "execute"));
    server_got("{'action':'decline'}");
}

TEST(a_page_is_named_and_agreed_to)
{
    ask_in_call("page");
    struct result r = RUN_WITH("go\nyes\n", "--plain", "--tools", "full", "--allow", "execute");
    run_ok(r);
    assert_text(r.out, "Host: example.org\nhttps://example.org/login?a=b\n");
    server_got("{'action':'accept'}");
}

TEST(without_a_person_forms_are_declined)
{
    ask_in_call("form");
    run_ok(RUN("run", "--tools", "full", "--allow", "execute", "go"));
    server_got("{'action':'decline'}");
}
