/* `tiro serve --acp`: the real program as an agent of the Agent Client Protocol, with a scripted
 * client and a scripted model. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "session/capability.h"
#include "session/operation.h"
#include "tests/acp_client.h"
#include "tests/import_case.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/suite.h"

FIXTURE(acp_set_up, acp_tear_down);

/* --- initialize ------------------------------------------------------------------------------- */

TEST(what_it_can_is_what_the_build_has)
{
    START(NULL);
    const struct json *r = rpc_client_result(&client, "initialize", "{'protocolVersion':7}");
    bool kept = capability_store();
    const struct json *can = json_get(r, "agentCapabilities");
    assert_int_equal(json_get_int(r, "protocolVersion", 0), 1);
    assert_int_equal(json_get_bool(can, "loadSession", !kept), kept);
    assert_int_equal(json_get(json_get(can, "sessionCapabilities"), "list") != NULL, kept);
    assert_int_equal(json_get_bool(json_get(can, "promptCapabilities"), "image", !kept), kept);
    assert_false(json_get_bool(json_get(can, "promptCapabilities"), "audio", true));
    assert_string_equal(text_of(json_get(r, "agentInfo"), "name"), "tiro");
}

TEST(initialize_comes_first)
{
    START(NULL);
    fails("session/new", "{'cwd':'/','mcpServers':[]}", -32600, NULL);
    fails("initialize", "{}", -32602, "USAGE");
    initialize("{}");
}

/* --- prompts ---------------------------------------------------------------------------------- */

TEST(a_prompt_streams_and_ends)
{
    begin();
    QUEUE(model, .text = "First answer.", .reasoning = "Let me see");
    int id = prompt("What is this?");
    assert_string_equal(told_text("agent_thought_chunk"), "Let me see");
    expect_stop(id, "end_turn");
    assert_string_equal(all_said("agent_message_chunk"), "First answer.");
    assert_false(rpc_client_was_told(&client, "session/update", "user_message_chunk"));
}

TEST(servers_of_the_editor_give_their_tools)
{
    const char *program = support_program();
    START("--tools", "full");
    initialize("{}");
    const struct json *made = rpc_client_result(
        &client, "session/new",
        support_text("{'cwd':'%s','mcpServers':[{'name':'files','command':'%.*s/tests/mcp-server',"
                     "'args':['modern','prompts'],'env':[{'name':'A','value':'${NOT_SET}'}]},"
                     "{'type':'http','name':'web','url':'http://127.0.0.1:1/','headers':[]}]}",
                     support_dir(), (int)(strrchr(program, '/') - program), program));
    session = support_text("%s", json_get_string(made, "sessionId"));
    client_told("available_commands_update");
    assert_text(ask("/files:greet Ada"), "Hello from the scripted model.");
    assert_text(model_server_body(model, 0), "mcp__files__echo");
    assert_text(model_server_body(model, 0), "{\\\"who\\\":\\\"Ada\\\"}");
    char *told = support_keep(json_print(client_told("available_commands_update")));
    assert_text(told,
                "{\"name\":\"files:greet\",\"description\":\"Greets a person.\",\"input\":{"
                "\"hint\":\"who [style]\"}}");
    const char *listed = ask("/mcp");
    assert_text(listed, "files  ready  (editor)  15 tools");
    assert_text(listed, "web  failed  (editor)");
}

TEST(a_failed_turn_is_an_error)
{
    begin();
    QUEUE(model, .fault = REPLY_STATUS, .status = 401, .error_type = "invalid_key",
          .error_message = "no such key");
    expect_code(prompt("x"), -32603, "AGENT_ERROR");
    assert_text(ask("again"), "Hello from the scripted model.");
}

TEST(a_cancelled_prompt_is_no_error)
{
    begin();
    QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
    int id = prompt("Tell me all.");
    client_told("agent_message_chunk");
    fails("session/prompt", PARAMS(",'prompt':[{'type':'text','text':'x'}]"), -32600,
          "SESSION_BUSY");
    rpc_client_write(&client, CANCEL);
    rpc_client_write(&client, CANCEL);
    expect_stop(id, "cancelled");
    assert_string_equal(ask("Go on."), "Hello from the scripted model.");
}

/* The cancellation may come at any moment: before the request is sent, while the model is asked, or
 * when its answer begins. */
TEST(a_prompt_that_is_cancelled_at_once_is_no_error)
{
    begin();
    for (int i = 0; i < 20; i++) {
        QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
        int id = ++client.asked;
        rpc_client_write(
            &client, support_text("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/prompt\","
                                  "\"params\":{\"sessionId\":\"%s\",\"prompt\":[{\"type\":"
                                  "\"text\",\"text\":\"x\"}]}}\n%s",
                                  id, session, CANCEL));
        expect_stop(id, "cancelled");
    }
}

/* Withdrawing a prompt cancels its turn. */
TEST(a_withdrawn_prompt_is_cancelled)
{
    begin();
    QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
    int id = prompt("Tell me all.");
    client_told("agent_message_chunk");
    rpc_client_write(&client, support_text("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\","
                                           "\"params\":{\"requestId\":%d}}\n",
                                           id));
    expect_stop(id, "cancelled");
}

TEST(two_sessions_answer_at_once)
{
    begin();
    const char *other = new_session();
    assert_string_not_equal(other, session);
    QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
    int slow = prompt("Tell me all.");
    client_told("agent_message_chunk");
    expect_stop(prompt_in(other, "And you?"), "end_turn");
    assert_string_equal(all_said("agent_message_chunk"), "Hello from the scripted model.");
    rpc_client_write(&client, CANCEL);
    expect_stop(slow, "cancelled");
}

/* --- permissions ------------------------------------------------------------------------------ */

static void queue_write(const char *content)
{
    queue_tool("write_file", support_text("{'path':'note.txt','content':'%s'}", content));
}

static void answer_question(const struct json *question, const char *outcome)
{
    answer_with(question, support_text("{'outcome':%s}", outcome));
}

static const char *note(void)
{
    return support_path("note.txt");
}

TEST(a_tool_asks_and_runs_where_it_is_allowed)
{
    begin();
    support_write(note(), "one\n");
    queue_write("two\\n");
    int id = prompt("Write it.");
    const struct json *asked = next_request("session/request_permission"),
                      *params = json_get(asked, "params");
    assert_json(json_get(params, "toolCall"),
                support_text("{'kind':'edit','status':'pending','title':'Write note.txt',"
                             "'locations':[{'path':'%s'}],'content':[{'type':'diff','path':'%s',"
                             "'oldText':'one\\n','newText':'two\\n'}]}",
                             note(), note()));
    assert_json(params,
                "{'options':[{'kind':'allow_once'},{'kind':'reject_once'},"
                "{'kind':'allow_always','name':'Allow for this session: write_file'},"
                "{'kind':'allow_always','name':'Allow always in this project: write_file'},"
                "{'kind':'reject_always','name':'Deny for this session: write_file'}]}");
    assert_string_equal(support_read(note()), "one\n");
    answer_question(asked, "{'outcome':'selected','optionId':'once'}");
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "two\n");
}

TEST(a_change_is_shown_where_nobody_is_asked)
{
    START("--tools", "full", "--allow", "write");
    initialize("{}");
    session = new_session();
    support_write(note(), "one\n");
    queue_write("two\\n");
    expect_stop(prompt("Write it."), "end_turn");
    assert_string_equal(support_read(note()), "two\n");
    assert_string_equal(text_of(client_told("tool_call_update"), "status"), "in_progress");
    const struct json *done = client_told("tool_call_update");
    assert_string_equal(text_of(done, "status"), "completed");
    assert_json(done, support_text("{'content':[{'type':'diff','path':'%s','oldText':'one\n',"
                                   "'newText':'two\n'}]}",
                                   note()));
}

TEST(a_tool_does_not_run_where_it_is_not_allowed)
{
    static const char *const outcomes[] = {
        "{'outcome':'selected','optionId':'deny'}", "{'outcome':'cancelled'}",
        "{'outcome':'selected','optionId':'unheard of'}", "{'outcome':'selected'}", "null"};
    begin();
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        queue_write("x\\n");
        int id = prompt("Write it.");
        answer_question(next_request("session/request_permission"), outcomes[i]);
        expect_stop(id, "end_turn");
        assert_false(is_there(note()));
    }
}

/* A client of this protocol may offer it; another tool asks as before. */
TEST(a_tool_is_declined_for_the_session)
{
    begin();
    queue_write("x\\n");
    int id = prompt("Write it.");
    answer_question(next_request("session/request_permission"),
                    "{'outcome':'selected','optionId':'never'}");
    expect_stop(id, "end_turn");
    queue_write("y\\n");
    expect_stop(prompt("Write it again."), "end_turn");
    assert_false(is_there(note()));
    queue_tool("run_command", "{'command':'true'}");
    id = prompt("Run it.");
    answer_question(next_request("session/request_permission"), "{'outcome':'cancelled'}");
    expect_stop(id, "end_turn");
}

/* A client that cannot ask. */
TEST(a_client_that_fails_has_not_allowed_it)
{
    begin();
    queue_write("x\\n");
    int id = prompt("Write it.");
    refuse_with(next_request("session/request_permission"), -32601, "no");
    expect_stop(id, "end_turn");
    assert_false(is_there(note()));
}

TEST(a_question_ends_with_its_prompt)
{
    begin();
    queue_write("x\\n");
    int id = prompt("Write it.");
    const struct json *asked = next_request("session/request_permission");
    rpc_client_write(&client, CANCEL);
    assert_int_equal(
        json_get_int(rpc_client_told(&client, "$/cancel_request", NULL), "requestId", -1),
        json_get_int(asked, "id", -2));
    expect_stop(id, "cancelled");
    answer_question(asked, "{'outcome':'selected','optionId':'once'}");
    assert_string_equal(ask("Go on."), "Hello from the scripted model.");
    assert_false(is_there(note()));
}

/* Before the prompt's turn, as a tool call of its own. */
TEST(the_programs_of_a_project_are_asked_about)
{
    mkdir(support_path(".claude"), 0700);
    support_write(support_path(".claude/settings.json"),
                  support_json("{'hooks':{'Stop':[{'hooks':[{'command':'echo x > note.txt'}]}]}}"));
    begin();
    int id = prompt("Hello");
    const struct json *asked = next_request("session/request_permission"),
                      *params = json_get(asked, "params");
    assert_json(params,
                "{'options':[{'optionId':'deny','kind':'reject_once','name':'Not now'},"
                "{'optionId':'once','kind':'allow_once'},"
                "{'optionId':'project','kind':'allow_always','name':'Trust this "
                "directory'}]}");
    assert_json(json_get(params, "toolCall"),
                "{'status':'pending','title':'Do you trust the programs of this project?'}");
    const char *call = text_of(json_get(params, "toolCall"), "toolCallId");
    assert_non_null(strstr(support_keep(json_print(json_get(params, "toolCall"))),
                           "hook Stop:\\n    echo x > note.txt"));
    answer_question(asked, "{'outcome':'cancelled'}");
    expect_stop(id, "end_turn");
    assert_string_equal(text_of(client_told("tool_call"), "toolCallId"), call);
    assert_json(client_told("tool_call_update"),
                support_text("{'toolCallId':'%s','status':'failed'}", call));
    assert_false(is_there(note()));
    end();
    begin();
    id = prompt("Hello");
    answer_question(next_request("session/request_permission"),
                    "{'outcome':'selected','optionId':'project'}");
    expect_stop(id, "end_turn");
    assert_string_equal(support_read(note()), "x\n");
}

TEST(a_client_that_goes_away_has_not_allowed_it)
{
    begin();
    queue_write("x\\n");
    prompt("Write it.");
    next_request("session/request_permission");
    end();
    assert_false(is_there(note()));
}

TEST(a_signal_ends_a_prompt_as_cancelled)
{
    begin();
    QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
    int id = prompt("Tell me all.");
    client_told("agent_message_chunk");
    assert_int_equal(kill(client.child.pid, SIGTERM), 0);
    expect_stop(id, "cancelled");
}

/* --- sessions --------------------------------------------------------------------------------- */

static void compact(void)
{
    auto_free char *words = mem_alloc(4001);
    memset(words, 'w', 4000);
    for (int i = 0; i < 6; i++)
        ask(support_text("message %d %s", i, words));
    QUEUE(model, .text = "What was said, in short.");
    expect_stop(prompt("/compact llm_replace"), "end_turn");
}

TEST_IF(capability_store() && capability_compaction(), a_compacted_session_is_loaded_whole)
{
    begin();
    support_write(note(), "old\n");
    queue_write("x\\n");
    int id = prompt("Write it.");
    answer_question(next_request("session/request_permission"),
                    "{'outcome':'selected','optionId':'once'}");
    expect_stop(id, "end_turn");
    compact();
    assert_text(all_said("agent_message_chunk"), "Compacted (llm_replace)");
    end();

    START(NULL);
    initialize("{}");
    load(session);
    assert_json(client_told("tool_call"), "{'title':'Write note.txt','kind':'edit'}");
    client_told("tool_call_update"); /* it runs */
    assert_json(client_told("tool_call_update"),
                "{'status':'completed','content':[{'type':'diff','oldText':'old\n','newText':"
                "'x\n'}]}");
    char *mine = all_said("user_message_chunk");
    assert_text(mine, "message 0 www");
    assert_text(mine, "message 5 www");
    assert_text(all_said("agent_message_chunk"), "Compacted (llm_replace)");
    assert_string_equal(ask("Go on."), "Hello from the scripted model.");
}

TEST_IF(capability_store() && capability_compaction(), a_compaction_is_told_to_who_knows_them)
{
    START(NULL);
    initialize("{'session':{'compaction':{}}}");
    session = new_session();
    compact();
    const struct json *begun = client_told("compaction_update");
    assert_string_equal(text_of(begun, "status"), "in_progress");
    assert_text(all_said("compaction_summary_chunk"), "What was");
    end();

    START(NULL);
    initialize("{'session':{'compaction':{}}}");
    load(session);
    client_told("compaction_update");
    assert_json(client_told("compaction_update"),
                "{'status':'completed','summary':[{'type':'text'}]}");
    assert_text(all_said("user_message_chunk"), "");
}

TEST_IF(capability_store(), sessions_are_listed_closed_resumed_and_deleted)
{
    begin();
    ask("hello");
    assert_json(rpc_client_result(&client, "session/list", "{}"),
                support_text("{'sessions':[{'sessionId':'%s','cwd':'%s','title':'hello'}]}",
                             session, support_dir()));
    assert_int_equal(
        json_len(
            json_get(rpc_client_result(&client, "session/list", "{'cwd':'/nowhere'}"), "sessions")),
        0);
    rpc_client_result(&client, "session/close", PARAMS(""));
    fails("session/close", PARAMS(""), -32002, "SESSION_NOT_FOUND");
    rpc_client_result(&client, "session/resume",
                      support_text("{'sessionId':'%s','cwd':'%s'}", session, support_dir()));
    assert_false(rpc_client_was_told(&client, "session/update", "user_message_chunk"));
    ask("more");
    rpc_client_result(&client, "session/delete", PARAMS(""));
    fails("session/delete", PARAMS(""), -32002, "SESSION_NOT_FOUND");
    assert_int_equal(
        json_len(json_get(rpc_client_result(&client, "session/list", "{}"), "sessions")), 0);
}

TEST_IF(capability_store(), a_fork_goes_on_by_itself)
{
    begin();
    ask("hello");
    const struct json *made =
        rpc_client_result(&client, "session/fork",
                          support_text("{'sessionId':'%s','cwd':'%s'}", session, support_dir()));
    char *fork = support_text("%s", json_get_string(made, "sessionId"));
    assert_non_null(json_get(made, "configOptions"));
    assert_string_not_equal(fork, session);
    rpc_client_result(
        &client, "session/prompt",
        support_text("{'sessionId':'%s','prompt':[{'type':'text','text':'more'}]}", fork));
    rpc_client_result(&client, "session/close", PARAMS(""));
    const char *shown = program_output(RUN("sessions", "show", fork));
    assert_text(shown, "hello");
    assert_text(shown, "more");
    assert_no_text(program_output(RUN("sessions", "show", session)), "more");
    fails("session/fork", support_text("{'sessionId':'nobody','cwd':'%s'}", support_dir()), -32002,
          "SESSION_NOT_FOUND");
}

/* The second request arrives while the first one looks the session up. */
TEST_IF(capability_store(), loads_of_one_session_at_once_are_each_answered)
{
    begin();
    ask("hello");
    const char *place = support_text("{'sessionId':'%s','cwd':'%s'}", session, support_dir());
    int first = rpc_client_ask(&client, "session/load", place);
    int second = rpc_client_ask(&client, "session/load", place);
    assert_non_null(json_get(rpc_client_answer(&client, first), "result"));
    const struct json *answer = rpc_client_answer(&client, second);
    const struct json *refusal = json_get(json_get(answer, "error"), "data");
    if (refusal)
        assert_json(refusal, "{'code':'SESSION_BUSY'}");
}

TEST_IF(capability_store(), a_session_whose_directory_is_gone_moves)
{
    const char *before = support_path("before"), *after = support_path("after");
    START(NULL);
    initialize("{}");
    assert_int_equal(mkdir(before, 0700), 0);
    session = support_text(
        "%s", text_of(rpc_client_result(&client, "session/new",
                                        support_text("{'cwd':'%s','mcpServers':[]}", before)),
                      "sessionId"));
    ask("hello");
    assert_text(last_body(), support_text("Working directory: %s", before));
    rpc_client_result(&client, "session/close", PARAMS(""));
    assert_int_equal(rename(before, after), 0);
    rpc_client_result(&client, "session/resume",
                      support_text("{'sessionId':'%s','cwd':'%s'}", session, after));
    ask("hello");
    assert_text(last_body(), support_text("Working directory: %s", after));
}

TEST_IF(capability_store(), a_session_in_which_nothing_was_said_is_not_kept)
{
    begin();
    const char *used = session;
    ask("hello");
    session = new_session();
    end();
    START(NULL);
    initialize("{}");
    const struct json *r = rpc_client_result(&client, "session/list", "{}");
    assert_int_equal(json_len(json_get(r, "sessions")), 1);
    assert_json(r, support_text("{'sessions':[{'sessionId':'%s'}]}", used));
}

TEST_IF(capability_store(), a_list_has_pages)
{
    struct store *store;
    struct error e;
    begin();
    ask("hello");
    assert_ok(store_open(support_path(".local/share/tiro/tiro.db"), STORE_READ_WRITE, &store, &e),
              e);
    for (int i = 0; i < 102; i++) {
        AUTO(record_release) struct record r = {0};
        record_begin(&r, store);
        record_run(&r, "hello", "Hello.");
    }
    store_close(store);
    const struct json *page = rpc_client_result(&client, "session/list", "{}");
    const char *cursor = text_of(page, "nextCursor");
    assert_int_equal(json_len(json_get(page, "sessions")), 100);
    page = rpc_client_result(&client, "session/list", support_text("{'cursor':'%s'}", cursor));
    assert_int_equal(json_len(json_get(page, "sessions")), 3);
    assert_null(json_get(page, "nextCursor"));
    fails("session/list", "{'cursor':'-1'}", -32602, "USAGE");
}

TEST_IF(capability_store(), a_closed_session_is_called_off)
{
    begin();
    QUEUE(model, .fault = REPLY_STALL, .text = "Half of it");
    int id = prompt("Tell me all.");
    client_told("agent_message_chunk");
    rpc_client_result(&client, "session/close", PARAMS(""));
    expect_stop(id, "cancelled");
}

/* --- choices ---------------------------------------------------------------------------------- */

TEST(tools_and_mode_are_chosen)
{
    START("--tools", "full");
    initialize("{}");
    session = new_session();
    ask("x");
    assert_text(last_body(), "write_file");
    rpc_client_result(&client, "session/set_mode", PARAMS(",'modeId':'read'"));
    assert_string_equal(text_of(client_told("current_mode_update"), "currentModeId"), "read");
    ask("x");
    assert_no_text(last_body(), "write_file");
    assert_text(last_body(), "read_file");
    const struct json *r = rpc_client_result(&client, "session/set_config_option",
                                             PARAMS(",'configId':'tools','value':'none'"));
    assert_text(support_keep(json_print(r)), "\"currentValue\":\"none\"");
    ask("x");
    assert_no_text(last_body(), "read_file");
}

TEST(a_model_is_chosen)
{
    static const char *const names[] = {"scripted-model", "other/model", NULL};
    model_server_set_models(model, names);
    begin();
    rpc_client_result(&client, "session/set_config_option",
                      PARAMS(",'configId':'model','value':'openai/other/model'"));
    ask("x");
    assert_text(last_body(), "\"other/model\"");
    fails("session/set_config_option", PARAMS(",'configId':'model','value':'openai/unheard of'"),
          -32602, NULL);
    assert_text(ask("/model scripted-model"), "scripted-model");
    ask("x");
    assert_text(last_body(), "\"scripted-model\"");
}

TEST(an_effort_is_chosen_where_the_model_has_some)
{
    static const char *const names[] = {"scripted-model", "gpt-5", NULL};
    model_server_set_models(model, names);
    begin();
    fails("session/set_config_option", PARAMS(",'configId':'effort','value':'high'"), -32602, NULL);
    rpc_client_result(&client, "session/set_config_option",
                      PARAMS(",'configId':'model','value':'openai/gpt-5'"));
    const struct json *r;
    do
        r = client_told("config_option_update");
    while (!strstr(support_keep(json_print(r)), "thought_level"));
    r = rpc_client_result(&client, "session/set_config_option",
                          PARAMS(",'configId':'effort','value':'high'"));
    assert_text(support_keep(json_print(r)), "\"currentValue\":\"high\"");
    ask("x");
    assert_text(last_body(), "\"reasoning_effort\":\"high\"");
    assert_text(ask("/effort"), "high (");
    rpc_client_result(&client, "session/set_config_option",
                      PARAMS(",'configId':'effort','value':'default'"));
    ask("x");
    assert_no_text(last_body(), "reasoning_effort");
}

TEST(models_of_all_providers_with_a_key_are_listed)
{
    static const char *const names[] = {"scripted-model", "other", NULL};
    model_server_set_models(model, names);
    setenv("ANTHROPIC_API_KEY", "k", 1);
    setenv("ANTHROPIC_BASE_URL", model_server_url(model), 1);
    begin();
    const char *list = ask("/model");
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("ANTHROPIC_BASE_URL");
    assert_text(list, "- `openai/other`");
    assert_text(list, "- `anthropic/other`");
}

/* --- attachments ------------------------------------------------------------------------------ */

#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg" \
    "gg=="

TEST_IF(capability_store() && capability_memory(), a_prompt_was_typed)
{
    begin();
    ask("Always answer in French.");
    end();
    assert_text(program_output(RUN("learned", "list", "--state", "candidate")),
                "Always answer in French");
}

TEST_IF(capability_store(), an_image_is_kept_with_its_session)
{
    struct stat st;
    begin();
    expect_stop(rpc_client_ask(&client, "session/prompt",
                               PARAMS(",'prompt':[{'type':'text','text':'Look'},{'type':'image',"
                                      "'mimeType':'image/png','data':'" PIXEL "'}]")),
                "end_turn");
    assert_text(last_body(), PIXEL);
    load(session);
    char *path = support_keep(mem_strdup(
        strstr(text_of(json_get(client_told("user_message_chunk"), "content"), "text"), "Look")));
    const char *uri = text_of(json_get(client_told("user_message_chunk"), "content"), "uri");
    assert_string_equal(path, "Look");
    assert_int_equal(strncmp(uri, "file:///", 8), 0);
    assert_int_equal(stat(uri + 7, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    rpc_client_result(&client, "session/delete", PARAMS(""));
    assert_false(is_there(uri + 7));
}

TEST_IF(capability_store(), what_is_no_image_is_refused)
{
    begin();
    fails("session/prompt",
          PARAMS(",'prompt':[{'type':'image','mimeType':'image/png','data':'aGVsbG8='}]"), -32602,
          "USAGE");
    fails("session/prompt",
          PARAMS(",'prompt':[{'type':'image','mimeType':'image/png','data':'no base64'}]"), -32602,
          "USAGE");
    ask("x");
}

TEST(an_embedded_file_goes_along)
{
    begin();
    expect_stop(rpc_client_ask(&client, "session/prompt",
                               PARAMS(",'prompt':[{'type':'text','text':'What is '},{'type':"
                                      "'resource','resource':{'uri':'file:///x/a.c','text':'int a;"
                                      "'}}]")),
                "end_turn");
    assert_text(last_body(), "/x/a.c:\\n```\\nint a;\\n```\\n\\nWhat is `/x/a.c`");
}

/* --- commands --------------------------------------------------------------------------------- */

TEST_IF(capability_compaction(), commands_are_told_and_run)
{
    support_write(support_path("AGENTS.md"), giant(8000)); /* to be a token by the server's scale */
    begin();
    char *told = support_keep(json_print(client_told("available_commands_update")));
    const struct operation *o;
    for (size_t i = 0; (o = operation_at(i)); i++) /* those that say that they were done */
        if (o->slash && *o->takes && (o->line || o->done) && !o->opens &&
            o->executor != OPERATION_MEMORY)
            assert_text(told, support_text("\"name\":\"%s\"", o->slash));
    assert_text(told, "\"uncompact\"");
    assert_text(ask("/label +greeting"), "Done.");
    ask("hello");
    char *context = ask("/context");
    assert_text(context, "The next request has about ");
    assert_text(context, "- project: ");
    assert_no_text(context, "(null)");
    assert_text(ask("/pin"), "pinned");
    assert_text(ask("/pin 7"), "from 1 to 1");
    assert_text(ask("/uncompact"), "undo");
    assert_text(ask("/undo"), "undo");
    assert_text(ask("/rewind 7"), "from 1 to 1");
    assert_text(ask("/rewind"), "goes on from before that message");
    assert_text(ask("/restore"), "No file differs from then.");
    assert_text(ask("/unrewind"), "The rewind was undone");
    size_t asked = model_server_requests(model);
    assert_text(ask("/etc is what?"), "Hello from the scripted model.");
    assert_int_equal(model_server_requests(model), asked + 1);
    ask("/rename Greetings");
}

TEST(a_skill_is_a_command)
{
    struct error e;
    assert_true(paths_make_dir(support_path(".agents/skills/pdf"), &e));
    support_write(support_path(".agents/skills/pdf/SKILL.md"),
                  "---\nname: pdf\ndescription: Reads PDF files.\n---\nDo it with $ARGUMENTS.\n");
    begin();
    client_told("available_commands_update");
    char *told = support_keep(json_print(client_told("available_commands_update")));
    assert_text(told, "\"name\":\"pdf\"");
    assert_text(told, "\"label\"");
    ask("/pdf a form");
    assert_text(last_body(), "Do it with a form.");
}

TEST_IF(capability_compaction() && capability_memory(), memory_is_searched_by_a_command)
{
    begin();
    ask("The lighthouse keeper is called Ole.");
    compact();
    assert_text(ask("/memory lighthouse"), "keeper is called Ole");
    assert_text(ask("/memory"), "keeper is called Ole");
    assert_no_text(ask("/memory"), "0.00");
    assert_text(ask("/memory zebra"), "Memory has nothing about that.");
}

TEST_IF(capability_store(), histories_of_other_agents_come_in_by_a_command)
{
    struct store *store;
    struct error e;
    import_case_copy("claude/turns.jsonl", ".claude/projects/-w/turns.jsonl");
    begin();
    assert_text(ask("/import"), "1 conversation, 5 messages from Claude Code.");
    assert_text(ask("/import ~/.claude"), "nothing new");
    assert_text(ask("/import nowhere"), "nowhere cannot be read");
    import_case_append(".claude/projects/-w/turns.jsonl", "{'type':'summary'}\n");
    assert_ok(store_open(support_path(".local/share/tiro/tiro.db"), STORE_READ_WRITE, &store, &e),
              e);
    assert_ok(store_exec(store, "BEGIN IMMEDIATE", &e), e);
    int id = prompt("/import");
    rpc_client_write(&client, CANCEL);
    expect_stop(id, "cancelled");
    assert_ok(store_exec(store, "COMMIT", &e), e);
    store_close(store);
    assert_text(ask("/import"), "nothing new");
}

/* --- hostile clients -------------------------------------------------------------------------- */

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *method, *params; /* %s: the session */
        int code;
    } rows[] = {
        {"session/new", "{}", -32602},
        {"session/new", "{'cwd':3,'mcpServers':[]}", -32602},
        {"session/new", "{'cwd':'here','mcpServers':[]}", -32602},
        {"session/new", "{'cwd':'/','mcpServers':[],'additionalDirectories':['/x']}", -32602},
        {"session/new", "[]", -32602},
        {"session/load", "{'cwd':'/'}", -32602},
        {"session/load", "{'sessionId':'','cwd':'/'}", -32602},
        {"session/load", "{'sessionId':'%s','cwd':'/'}", -32602},
        {"session/load", "{'sessionId':'last','cwd':'/'}", -32002},
        {"session/prompt", "{'sessionId':'%s'}", -32602},
        {"session/prompt", "{'sessionId':'%s','prompt':'hello'}", -32602},
        {"session/prompt", "{'sessionId':'%s','prompt':[{}]}", -32602},
        {"session/prompt", "{'sessionId':7,'prompt':[]}", -32602},
        {"session/prompt", "{'sessionId':'unheard of','prompt':[]}", -32002},
        {"session/set_mode", "{'sessionId':'%s','modeId':'root'}", -32602},
        {"session/set_config_option", "{'sessionId':'%s','configId':'x','value':'y'}", -32602},
        {"session/set_config_option", "{'sessionId':'%s','configId':'tools','value':true}", -32602},
        {"session/set_config_option", "{'sessionId':'%s','configId':'compaction','value':''}",
         -32602},
        {"session/delete", "{}", -32602},
        {"session/unheard_of", "{}", -32601},
        {"authenticate", "{'methodId':'x'}", -32601},
        {"fs/read_text_file", "{}", -32601},
    };
    begin();
    ask("hello");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *place = strstr(rows[i].params, "%s");
        const char *params = place ? support_text("%.*s%s%s", (int)(place - rows[i].params),
                                                  rows[i].params, session, place + 2)
                                   : rows[i].params;
        if (strcmp(rows[i].method, "session/load") == 0 && !capability_store())
            continue;
        fails(rows[i].method, params, rows[i].code, NULL);
    }
    rpc_client_write(&client,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\"}\n"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":"
                     "{\"sessionId\":[]}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\nno JSON\n");
    assert_string_equal(ask("still there?"), "Hello from the scripted model.");
}

TEST(a_giant_line_is_hung_up_on)
{
    char line[65536];
    ssize_t written = 1;
    memset(line, 'x', sizeof line);
    begin();
    for (int i = 0; i < 33 * 16 && written > 0; i++)
        written = write(client.child.in, line, sizeof line);
}

struct rest {
    const char *work;
    int looks; /* at which it had done no more */
};

static bool rests(void *context)
{
    struct rest *r = context;
    /* The work that the program has done so far, from /proc; NULL if /proc does not say. */
    char *stat = NULL;
    size_t size = 0;
    FILE *f = fopen(support_text("/proc/%d/stat", (int)client.child.pid), "r");
    if (f && getline(&stat, &size, f) < 0)
        *stat = '\0';
    if (f)
        fclose(f);
    const char *work = support_keep(stat);
    r->looks = work && r->work && strcmp(work, r->work) == 0 ? r->looks + 1 : 0;
    r->work = work;
    return !work || r->looks > 100;
}

/* A client that reads late loses no part of a long log, and the program does not hold all of it. */
TEST_IF(capability_store(), a_long_session_is_loaded_as_it_is_read)
{
    enum { BYTES = 2000000 };
    const int turns = (int)suite_sample(4, 12);
    auto_free char *words = mem_alloc(BYTES + 1);
    memset(words, 'w', BYTES);
    START("--tools", "none", "--no-compaction", "--no-memory");
    initialize("{}");
    session = new_session();
    for (int i = 0; i < turns; i++) {
        QUEUE(model, .text = words, .piece = 100000);
        expect_stop(prompt("More."), "end_turn");
        all_said("agent_message_chunk");
    }
    rpc_client_result(&client, "session/close", PARAMS(""));
    int id = rpc_client_ask(&client, "session/load",
                            support_text("{'sessionId':'%s','cwd':'%s'}", session, support_dir()));
    assert_true(support_wait_until(rests, &(struct rest){NULL, 0}, RPC_CLIENT_MS));
    assert_non_null(json_get(rpc_client_answer(&client, id), "result"));
    assert_int_equal(strlen(all_said("agent_message_chunk")), (size_t)turns * BYTES);
}
