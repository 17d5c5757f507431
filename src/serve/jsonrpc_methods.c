#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "serve/contract.h"
#include "serve/jsonrpc_private.h"
#include "session/config_operations.h"

struct client_info {
    char *name, *version;
};
struct initialize_params {
    struct client_info client;
};

static bool is_known(const void *client)
{
    return ((const struct client_info *)client)->name;
}

static const struct shape_field client_fields[] = {
    SHAPE_FIELD("name", STRING, REQUIRED, SHAPE_AT_TEXT(struct client_info, name), .most = 200,
                .help = "The client."),
    SHAPE_FIELD("version", STRING, OPTIONAL, SHAPE_AT_TEXT(struct client_info, version),
                .most = 200, .help = "Its version."),
    {0},
};
static const struct shape client_shape = {.name = "client_info",
                                          .size = sizeof(struct client_info),
                                          .fields = client_fields,
                                          .known = is_known};
static const struct shape_field initialize_fields[] = {
    SHAPE_FIELD("client_info", OBJECT, OPTIONAL,
                SHAPE_AT(struct client_info, struct initialize_params, client), .of = &client_shape,
                .help = "Who asks; for the log."),
    {0},
};
static const struct shape initialize_shape = {
    .name = "parameters", .size = sizeof(struct initialize_params), .fields = initialize_fields};

/* What a row that needs no engine gives, as a value. */
static void write_result(struct jsonrpc *j, const struct operation *o, struct json_out *out)
{
    struct operation_context c = {.config = server_config(j->server)};
    void *result = mem_alloc(o->result->size);
    if (operation_call(&c, o, NULL, result, NULL))
        shape_write(o->result, result, out);
    shape_release(o->result, result);
    free(result);
}

static void write_methods(struct json_out *out)
{
    const struct operation *o;
    json_out_open(out, '[');
    for (const struct jsonrpc_method *m = jsonrpc_methods; m->name; m++)
        json_out_string(out, m->name);
    for (size_t i = 0; (o = operation_at(i)); i++)
        json_out_string(out, o->name);
    json_out_close(out, ']');
}

static char *initialize_result(struct jsonrpc *j)
{
    struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    json_out_open(&out, '{');
    json_out_name(&out, "server_info");
    write_result(j, &operation_engine_info, &out);
    json_out_member(&out, "contract_version", CONTRACT_VERSION);
    json_out_name(&out, "capabilities");
    write_result(j, &operation_capabilities_get, &out);
    json_out_name(&out, "methods");
    write_methods(&out);
    json_out_close(&out, '}');
    return buf_take(&text);
}

static struct json *initialize_schema(void)
{
    static const char rest[] =
        "{\"type\":\"object\",\"properties\":{\"contract_version\":{\"type\":\"string\"},"
        "\"methods\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"server_"
        "info\",\"contract_version\",\"capabilities\",\"methods\"],\"additionalProperties\":false}";
    struct json *v = json_parse(rest, strlen(rest), NULL);
    struct json *members = json_clone(json_get(v, "properties"));
    json_set(members, "server_info", shape_schema(operation_engine_info.result));
    json_set(members, "capabilities", shape_schema(operation_capabilities_get.result));
    json_set(v, "properties", members);
    return v;
}

/* A struct of the method's shape is filled in, or the call is failed. */
static void run_initialize(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    const struct initialize_params *p = params;
    char *json = initialize_result(j);
    if (p->client.name)
        log_line(LOG_INFO, "a client: %s %s", p->client.name,
                 p->client.version ? p->client.version : "");
    j->initialized = true;
    rpc_answer(call, json);
    free(json);
}

struct subscribe_params {
    char *session;
    int64_t since;
};

#define SUBSCRIBE_SESSION                                                                          \
    SHAPE_FIELD(SESSION_MEMBER, STRING, OPTIONAL, SHAPE_AT_TEXT(struct subscribe_params, session), \
                .least = 1,                                                                        \
                .help =                                                                            \
                    "Id, title, unique part of an id, \"last\" or \"~N\"; absent: "                \
                    "every session.")

static const struct shape_field subscribe_fields[] = {
    SUBSCRIBE_SESSION,
    SHAPE_FIELD("since", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct subscribe_params, since),
                .absent = SUBSCRIBE_NOW,
                .help = "Its events behind this number come first; absent: from now on."),
    {0},
};
static const struct shape subscribe_shape = {.name = "parameters",
                                             .size = sizeof(struct subscribe_params),
                                             .fields = subscribe_fields,
                                             .closed = true};
static const struct shape_field unsubscribe_fields[] = {SUBSCRIBE_SESSION, {0}};
static const struct shape unsubscribe_shape = {.name = "parameters",
                                               .size = sizeof(struct subscribe_params),
                                               .fields = unsubscribe_fields,
                                               .closed = true};

static struct json *subscribed_schema(void)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"session_id\":{\"type\":"
        "\"string\",\"format\":\"uuid\"}},\"additionalProperties\":false}";
    return json_parse(schema, strlen(schema), NULL);
}

static void run_subscribe(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    const struct subscribe_params *p = params;
    struct error e;
    if (p->session) {
        jsonrpc_subscribe(j, call, p->session, p->since);
    } else if (p->since != SUBSCRIBE_NOW) {
        err_set(&e, ERR_USAGE, "\"since\" is of one session; give \"session_id\", or leave it out");
        rpc_fail_with(call, &e);
    } else {
        subscriptions_all(j->subscriptions, true);
        rpc_answer(call, "{}");
        jsonrpc_tell_questions(j);
    }
}

/* What is not subscribed is not subscribed afterwards. */
static void run_unsubscribe(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    const struct subscribe_params *p = params;
    if (p->session)
        (void)subscriptions_remove(j->subscriptions, p->session);
    else
        subscriptions_all(j->subscriptions, false);
    rpc_answer(call, "{}");
}

typedef void run_method(struct jsonrpc *j, struct rpc_call *call, const void *params);
static run_method *const runners[] = {run_initialize, run_subscribe, run_unsubscribe};

const struct jsonrpc_method jsonrpc_methods[] = {
    {"initialize", "Begins: tells who the server is and what it can do.", &initialize_shape,
     initialize_schema},
    {"events/subscribe", "Has what happens in a session told, or in all.", &subscribe_shape,
     subscribed_schema},
    {"events/unsubscribe", "Ends that; the session is named by its id.", &unsubscribe_shape,
     subscribed_schema},
    {0},
};

void jsonrpc_call_method(struct jsonrpc *j, struct rpc_call *call, size_t index,
                         const struct json *params)
{
    const struct shape *shape = jsonrpc_methods[index].params;
    void *read = mem_alloc(shape->size);
    struct json *none = params ? NULL : json_new_object();
    struct error e;
    if (shape_read(shape, params ? params : none, read, &e)) {
        runners[index](j, call, read);
        shape_release(shape, read);
    } else {
        rpc_fail_with(call, &e);
    }
    json_free(none);
    free(read);
}
