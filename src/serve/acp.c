#include "serve/acp.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "serve/acp_private.h"
#include "serve/wire.h"
#include "session/capability.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

enum { PROTOCOL_VERSION = 1 };

/* --- errors ----------------------------------------------------------------------------------- */

void acp_fail(struct rpc_call *call, const struct error *e)
{
    auto_free char *data = mem_printf("{\"code\":\"%s\"}", err_info(e->code)->name);
    rpc_fail(call, acp_error_code(e->code), e->text, data);
}

void acp_refuse(struct rpc_call *call, enum err_code code, const char *text)
{
    struct error e;
    err_set(&e, code, "%s", text);
    acp_fail(call, &e);
}

bool acp_failed(struct rpc_call *call, const struct operation_answer *answer)
{
    if (answer->error.code == ERR_OK)
        return false;
    acp_fail(call, &answer->error);
    return true;
}

/* --- what the engine is asked ----------------------------------------------------------------- */

static void free_ask(struct acp_ask *ask)
{
    free(ask->text);
    free(ask->servers);
    acp_sending_free(ask->sending);
    free(ask);
}

static void engine_answered(void *context, const struct operation_answer *answer)
{
    struct acp_ask *ask = context;
    struct acp *a = ask->acp;
    vec_drop(&a->asks, ask);
    if (ask->done)
        ask->done(ask, answer);
    free_ask(ask);
    wire_update(a->wire);
}

struct acp_ask *acp_ask(struct acp *a, struct rpc_call *call, struct acp_session *s,
                        const struct operation *o, const void *params, acp_done *done)
{
    struct acp_ask *ask = mem_alloc(sizeof *ask);
    *ask = (struct acp_ask){.acp = a, .call = call, .session = s, .done = done};
    vec_push(&a->asks, ask);
    ask->id = server_ask(a->server, o, params, engine_answered, ask);
    return ask;
}

bool acp_withdraw(struct acp *a, const struct acp_session *s, acp_done *done)
{
    for (size_t i = 0; i < a->asks.len; i++) {
        struct acp_ask *ask = a->asks.items[i];
        if (ask->session != s || ask->done != done)
            continue;
        server_withdraw(a->server, ask->id);
        vec_drop(&a->asks, ask);
        free_ask(ask);
        return true;
    }
    return false;
}

/* --- initialize ------------------------------------------------------------------------------- */

/* {} or more of it. */
static bool offers(const struct json *capabilities, const char *name)
{
    return json_type(json_get(capabilities, name)) == JSON_OBJECT;
}

static void initialize(struct acp *a, struct rpc_call *call, const struct json *params)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    const struct json *can = json_get(params, "clientCapabilities");
    const struct json *session = json_get(can, "session"), *fs = json_get(can, "fs");
    const struct json *version = json_get(params, "protocolVersion");
    bool kept = capability_store() && server_options(a->server)->persist;
    if (json_type(version) != JSON_NUMBER) {
        acp_refuse(call, ERR_USAGE, "\"protocolVersion\" does not fit; give a whole number");
        return;
    }
    a->initialized = true;
    a->client = (struct acp_client){.compaction = offers(session, "compaction"),
                                    .notices = offers(session, "notices"),
                                    .forms = offers(json_get(can, "elicitation"), "form"),
                                    .pages = offers(json_get(can, "elicitation"), "url"),
                                    .reads = json_get_bool(fs, "readTextFile", false),
                                    .writes = json_get_bool(fs, "writeTextFile", false),
                                    .terminals = json_get_bool(can, "terminal", false)};
    json_out_open(&o, '{');
    json_out_int(&o, "protocolVersion", PROTOCOL_VERSION);
    json_out_name(&o, "agentCapabilities");
    json_out_open(&o, '{');
    /* images are kept with their session */
    json_out_pack(&o,
                  "loadSession:b promptCapabilities:{image:b audio:b embeddedContext:b} "
                  "mcpCapabilities:{http:b sse:b}",
                  kept, kept, false, true, true, false);
    json_out_pack(&o, kept ? "sessionCapabilities:{resume:{} close:{} list:{} delete:{} fork:{}}"
                           : "sessionCapabilities:{resume:{} close:{}}");
    json_out_close(&o, '}');
    json_out_pack(&o, "agentInfo:{name:'tiro' title:'Tiro' version:s} authMethods:[]",
                  PACKAGE_VERSION);
    json_out_close(&o, '}');
    rpc_answer(call, buf.data);
}

/* --- requests --------------------------------------------------------------------------------- */

static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    static const struct {
        const char *name;
        acp_method *run;
        bool at_once; /* before initialize */
    } methods[] = {
        {"initialize", initialize, true},
        {"session/new", acp_session_new, false},
        {"session/load", acp_session_load, false},
        {"session/resume", acp_session_resume, false},
        {"session/fork", acp_session_fork, false},
        {"session/list", acp_session_list, false},
        {"session/close", acp_session_close, false},
        {"session/delete", acp_session_delete, false},
        {"session/prompt", acp_session_prompt, false},
        {"session/set_mode", acp_session_set_mode, false},
        {"session/set_config_option", acp_session_set_option, false},
    };
    struct acp *a = context;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(method, methods[i].name) != 0)
            continue;
        if (a->initialized || methods[i].at_once)
            methods[i].run(a, call, params);
        else
            rpc_fail(call, RPC_INVALID_REQUEST, "initialize comes first", NULL);
        return;
    }
    rpc_fail(call, RPC_METHOD_NOT_FOUND, "there is no such method", NULL);
}

static void on_notification(void *context, const char *method, const struct json *params)
{
    const char *id = json_get_string(params, "sessionId");
    struct acp_session *s = id ? acp_find_session(context, id) : NULL;
    if (s && strcmp(method, "session/cancel") == 0)
        acp_cancel_prompt(s);
}

/* A cancelled prompt is a session/cancel; other requests are answered soon anyway. */
static void on_cancelled(void *context, struct rpc_call *call)
{
    struct acp *a = context;
    for (size_t i = 0; i < a->sessions.len; i++)
        if (a->sessions.items[i]->prompt == call)
            acp_cancel_prompt(a->sessions.items[i]);
}

static const struct rpc_handlers handlers = {
    .request = on_request, .notification = on_notification, .cancelled = on_cancelled};

static void on_notice(void *context, const struct notice *n)
{
    struct acp *a = context;
    struct acp_session *s = acp_find_session(a, n->session);
    if (!acp_editor_notice(a, n) && s)
        acp_session_notice(s, n);
    wire_update(a->wire);
}

/* --- the connection --------------------------------------------------------------------------- */

/* A person who cannot be asked any more has not allowed anything; what nobody uses is closed, so
 * that a session in which nothing was said is not kept. */
static void input_ended(void *context)
{
    struct acp *a = context;
    a->gone = true; /* no tool waits for the client any more */
    acp_editor_leave(a);
    for (size_t i = 0; i < a->sessions.len; i++) {
        struct acp_session *s = a->sessions.items[i];
        const struct session_close_params close = {.session = s->id, .discard_unused = true};
        if (s->questions.len > 0)
            acp_cancel_prompt(s);
        else if (!s->prompt)
            acp_ask(a, NULL, NULL, &operation_session_close, &close, NULL);
    }
}

static void closed(void *context)
{
    struct acp *a = context;
    a->gone = true; /* no tool waits for the client any more */
    acp_editor_leave(a);
    a->closed(a->context);
}

static const struct wire_events wire_events = {.ended = input_ended};

struct acp *acp_new(struct server *s, int in, int out, void (*over)(void *context), void *context)
{
    static const struct subscription_sink sink = {on_notice, acp_log_told, acp_log_failed};
    struct acp *a = mem_alloc(sizeof *a);
    a->server = s;
    a->closed = over;
    a->context = context;
    a->peer = rpc_peer_new(&handlers, a);
    a->wire = wire_new(s, a->peer, in, out, &wire_events, a, closed, a);
    a->subscriptions = subscriptions_new(s, a->peer, &sink, a);
    (void)subscriptions_add(a->subscriptions, NULL, SUBSCRIBE_NOW);
    return a;
}

void acp_free(struct acp *a)
{
    if (!a)
        return;
    acp_editor_leave(a);
    while (a->sessions.len > 0)
        acp_session_free(a->sessions.items[0]);
    subscriptions_free(a->subscriptions);
    vec_release(&a->sessions);
    while (a->asks.len > 0) {
        struct acp_ask *ask = a->asks.items[0];
        server_withdraw(a->server, ask->id);
        vec_drop(&a->asks, ask);
        free_ask(ask);
    }
    vec_release(&a->asks);
    wire_free(a->wire);
    rpc_peer_free(a->peer);
    free(a);
}
