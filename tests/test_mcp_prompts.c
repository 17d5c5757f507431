/* Prompts of MCP servers (mcp_server_main.c): listed as commands, their arguments, and what a
 * message that opens one brings to the model. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agent/mcp_prompts.h"
#include "base/clock.h"
#include "base/paths.h"
#include "session/conversation_operations.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* Names the scripted server with these words, two of them, in the user's file. */
static void configure(const char *words)
{
    const char *program = support_program();
    auto_free char *path = mcp_config_path(NULL), *directory = paths_parent(path);
    struct error e;
    assert_ok(paths_make_dir(directory, &e), e);
    support_write(
        path, support_json(support_text("{'mcpServers':{'s':{'command':'%.*s/tests/mcp-server',"
                                        "'args':['legacy',%s]},'off':{'command':'x','disabled':"
                                        "true},'bad':{'command':'/nowhere/at/all'}}}",
                                        (int)(strrchr(program, '/') - program), program, words)));
}

static int set_up(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    surface_setup(state);
    configure("'prompts','file=starts'");
    return 0;
}

FIXTURE(set_up, surface_teardown);

static void say(struct engine *s, const char *text, enum input_origin origin)
{
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = text, .origin = origin});
    surface_expect_answer(s, &operation_turn_start);
}

static void fails(struct engine *s, const char *text, const char *words)
{
    size_t before = surface_requests();
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = text, .origin = INPUT_TYPED});
    const struct error *e = surface_error(surface_expect_failure(s));
    if (!strstr(e->text, words))
        fail_msg("%s: %s", text, e->text);
    assert_int_equal(surface_requests(), before);
}

TEST(a_prompt_comes_with_the_message)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    say(s, "/s:greet Ada style=short", INPUT_TYPED); /* starts the server */
    assert_text(surface_last_body(),
                "<prompt name=\\\"s:greet\\\">\\n"
                "{\\\"style\\\":\\\"short\\\",\\\"who\\\":\\\"Ada\\\"}\\n"
                "[assistant]\\n[resource file:///b]\\ninner\\n"
                "[image: image/png, 3 bytes, not shown]\\n</prompt>");
    assert_text(surface_last_body(), "/s:greet Ada style=short");
    say(s, "/s:greet Bob", INPUT_PROGRAM); /* only a person opens one */
    assert_no_text(surface_last_body(), "{\\\"who\\\":\\\"Bob\\\"}");
    say(s, " /nothing:here", INPUT_TYPED);
    say(s, "/usr/bin:/bin is my path", INPUT_TYPED);
    assert_text(surface_last_body(), "/usr/bin:/bin is my path");

    const struct skills *list = surface_call(s, &operation_skill_list, NULL)->result;
    assert_int_equal(list->items.len, 2);
    const struct skill *one = &list->items.items[0], *two = &list->items.items[1];
    assert_string_equal(one->name, "s:greet");
    assert_string_equal(one->arguments, "who [style]");
    assert_string_equal(one->description, "Greets a person.");
    assert_string_equal(one->place, "MCP server s");
    assert_true(one->state == SKILL_READY && one->command && !*one->path);
    assert_string_equal(two->name, "s:plain_one");
    assert_string_equal(two->arguments, "");
}

TEST(what_cannot_be_opened_is_explained)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    fails(s, "/t:greet", "there is no MCP server \"t\"");
    fails(s, "/off:greet", "off: it is off; /mcp on turns it on");
    fails(s, "/bad:greet", "/nowhere/at/all");
    fails(s, "/s:hello", "the server s has no prompt /s:hello");
    fails(s, "/s:plain_one", "the server refused the call: there is no such prompt (-32602)");
    fails(s, "/s:greet style=short",
          "\"who\" is missing; write /s:greet who [style], or NAME=VALUE");
    surface_set(CONFIG_CHAT_TOOLS, "none");
    engine_free(s);
    s = surface_open(NULL, true);
    fails(s, "/s:greet Ada", "this session uses no tools");
}

TEST(a_server_that_lists_nothing_can_be_left)
{
    configure("'prompts','mute'");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = "/s:greet Ada", .origin = INPUT_TYPED});
    (void)surface_send(s, &operation_turn_interrupt, NULL);
    assert_int_equal(surface_error(surface_expect_failure(s))->code, ERR_INTERRUPTED);
}

/* --- arguments -------------------------------------------------------------------------------- */

TEST(arguments_are_given_by_place_or_name)
{
    static const struct {
        const char *words, *sent; /* or the error */
    } rows[] = {
        {" Ada", "{'who':'Ada'}"},
        {"Ada short", "{'style':'short','who':'Ada'}"},
        {"style=short  Ada", "{'style':'short','who':'Ada'}"},
        {"\"Ada Lovelace\" 'very short'", "{'style':'very short','who':'Ada Lovelace'}"},
        {"who=Ada as short as can be", "{'style':'as short as can be','who':'Ada'}"},
        {"O'Brien", "{'who':'O'Brien'}"},
        {"other=1", "{'who':'other=1'}"},
        {"who='Ada = L'", "{'who':'Ada = L'}"},
        {"who=", "{'who':''}"},
        {"", "\"who\" is missing"},
        {"who=a style=b c", "/s:greet takes no such argument"},
    };
    AUTO(mcp_servers_release) struct mcp_servers servers;
    const struct wakeup never = {.fd = -1};
    struct error e;
    mcp_servers_read(support_dir(), NULL, &servers);
    struct mcp_client *client = mcp_client_new(mcp_servers_find(&servers, "s"), support_dir(),
                                               &(struct http_reach){NULL, 0}, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        bool ok = mcp_prompt_open(client, "s:greet", rows[i].words, &never, &out, &e);
        char *sent = support_text("%s", ok ? out.data : e.text);
        for (char *p = sent; ok && *p; p++)
            *p = *p == '"' ? '\'' : *p;
        if (!strstr(sent, rows[i].sent))
            fail_msg("%s: %s", rows[i].words, sent);
    }
    mcp_client_free(client);
}
