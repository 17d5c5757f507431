#include "tests/acp_client.h"

#include <sys/stat.h>

#include "tests/program.h"
#include "tests/suite.h"

struct model_server *model;
struct rpc_client client;
const char *session;

int acp_set_up(void **state)
{
    support_setup(state);
    model = begin_server();
    return 0;
}

int acp_tear_down(void **state)
{
    if (client.child.pid)
        end();
    end_server(model);
    return support_teardown(state);
}

const char *text_of(const struct json *v, const char *member)
{
    const char *text = json_get_string(v, member);
    if (!text)
        fail_msg("no %s: %s", member, support_keep(json_print(v)));
    return text;
}

void initialize(const char *capabilities)
{
    const struct json *r = rpc_client_result(
        &client, "initialize",
        support_text("{'protocolVersion':1,'clientCapabilities':%s}", capabilities));
    assert_int_equal(json_get_int(r, "protocolVersion", 0), 1);
}

const char *new_session(void)
{
    const struct json *r = rpc_client_result(
        &client, "session/new", support_text("{'cwd':'%s','mcpServers':[]}", support_dir()));
    return support_text("%s", text_of(r, "sessionId"));
}

void begin_with(const char *capabilities)
{
    START("--tools", "full");
    initialize(capabilities);
    session = new_session();
}

void begin(void)
{
    begin_with("{}");
}

void end(void)
{
    assert_int_equal(rpc_client_end(&client), 0);
}

int prompt_in(const char *id, const char *text)
{
    return rpc_client_ask(
        &client, "session/prompt",
        support_text("{'sessionId':'%s','prompt':[{'type':'text','text':'%s'}]}", id, text));
}

int prompt(const char *text)
{
    return prompt_in(session, text);
}

void expect_stop(int id, const char *reason)
{
    const struct json *answer = rpc_client_answer(&client, id);
    const char *said = json_get_string(json_get(answer, "result"), "stopReason");
    if (!said || strcmp(said, reason) != 0)
        fail_msg("not %s: %s", reason, support_keep(json_print(answer)));
}

void expect_code(int id, int code, const char *name)
{
    const struct json *answer = rpc_client_answer(&client, id);
    const struct json *error = json_get(answer, "error");
    if (json_get_int(error, "code", 0) != code)
        fail_msg("not %d: %s", code, support_keep(json_print(answer)));
    if (name)
        assert_string_equal(json_get_string(json_get(error, "data"), "code"), name);
}

void fails(const char *method, const char *params, int code, const char *name)
{
    expect_code(rpc_client_ask(&client, method, params), code, name);
}

const struct json *client_told(const char *kind)
{
    return json_get(rpc_client_told(&client, "session/update", kind), "update");
}

const char *told_text(const char *kind)
{
    return text_of(json_get(client_told(kind), "content"), "text");
}

char *all_said(const char *kind)
{
    struct buf text = BUF_INIT;
    while (rpc_client_was_told(&client, "session/update", kind)) {
        const char *piece = json_get_string(json_get(client_told(kind), "content"), "text");
        buf_addstr(&text, piece ? piece : "");
    }
    return support_keep(buf_take(&text));
}

char *ask(const char *text)
{
    expect_stop(prompt(text), "end_turn");
    return all_said("agent_message_chunk");
}

static bool asks(const struct json *v, const char *method)
{
    const char *named = json_get_string(v, "method");
    return named && strcmp(named, method) == 0 && json_get(v, "id");
}

const struct json *next_request(const char *method)
{
    for (size_t i = 0; i < client.waiting.len; i++)
        if (asks(client.waiting.items[i], method)) {
            const struct json *v = client.waiting.items[i];
            vec_remove(&client.waiting, i, 1);
            return v;
        }
    for (;;) {
        const struct json *v = rpc_client_next(&client);
        if (asks(v, method))
            return v;
        vec_push(&client.waiting, (struct json *)(uintptr_t)v);
    }
}

void answer_with(const struct json *request, const char *result)
{
    rpc_client_write(&client, support_text("{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":%s}\n",
                                           (long long)json_get_int(request, "id", -1),
                                           support_json(result)));
}

void refuse_with(const struct json *request, int code, const char *message)
{
    rpc_client_write(&client,
                     support_text("{\"jsonrpc\":\"2.0\",\"id\":%lld,\"error\":{\"code\":"
                                  "%d,\"message\":\"%s\"}}\n",
                                  (long long)json_get_int(request, "id", -1), code, message));
}

void queue_tool(const char *name, const char *args)
{
    model_server_queue(
        model,
        &(struct reply){.tool_name = name, .tool_args = support_json(args), .tool_id = "call_1"});
}

bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

const char *last_body(void)
{
    return model_server_body(model, model_server_requests(model) - 1);
}

const char *load(const char *id)
{
    rpc_client_result(
        &client, "session/load",
        support_text("{'sessionId':'%s','cwd':'%s','mcpServers':[]}", id, support_dir()));
    return id;
}

const char *id_of(const struct json *request)
{
    return support_text("%lld", (long long)json_get_int(request, "id", -1));
}

const struct json *asked_for(const struct json *request)
{
    return json_get(request, "params");
}

void expect_withdrawn(const struct json *request)
{
    const struct json *p = rpc_client_told(&client, "$/cancel_request", NULL);
    assert_string_equal(support_text("%lld", (long long)json_get_int(p, "requestId", -2)),
                        id_of(request));
}

void expect_no_request(const char *method)
{
    assert_false(rpc_client_was_told(&client, method, NULL));
}

const char *giant(size_t len)
{
    char *text = mem_alloc(len + 3);
    memset(text, 'w', len + 2);
    text[0] = text[len + 1] = '\'';
    text[len + 2] = '\0';
    return support_keep(text);
}

const struct json *next_permission(void)
{
    return next_request("session/request_permission");
}

void allow(const struct json *permission)
{
    answer_with(permission, "{'outcome':{'outcome':'selected','optionId':'once'}}");
}

void begin_allowed(const char *capabilities)
{
    START("--tools", "full", "--allow", "write,execute");
    initialize(capabilities);
    session = new_session();
}

const struct json *next_update_with(const char *member)
{
    const struct json *u = client_told("tool_call_update");
    while (!json_get(u, member))
        u = client_told("tool_call_update");
    return u;
}
