#include "serve/jsonrpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "serve/contract.h"
#include "serve/notification.h"
#include "serve/wire.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

/* What a client of JSON-RPC is made of. */

struct request; /* a call that is not answered yet */

/* Notifications that a slow reader was not told. */
struct dropped {
    char session[UUID_LEN + 1]; /* "": of none */
    int64_t count;
};

struct jsonrpc {
    struct server *server;
    struct rpc_peer *peer;
    struct subscriptions *subscriptions;
    struct wire *wire;
    void (*closed)(void *context);
    void *context;
    VEC(struct request *) requests;
    VEC(struct dropped) dropped;
    bool alone, initialized, input_ended;
};

/* Calls jsonrpc_methods[index]. */
void jsonrpc_call_method(struct jsonrpc *j, struct rpc_call *call, size_t index,
                         const struct json *params);

/* What sessions ask and nobody has answered is asked again: whom they asked may have gone. */
void jsonrpc_tell_questions(struct jsonrpc *j);

/* Answers the call once the session of this name is known, and subscribes it. */
void jsonrpc_subscribe(struct jsonrpc *j, struct rpc_call *call, const char *reference,
                       int64_t since);

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

/* A call that is not answered yet. */
struct request {
    struct jsonrpc *client;
    struct rpc_call *call;
    uint64_t id;                /* contract_start()'s, or server_ask()'s while a name is resolved */
    bool resolves;              /* the session's name, before the call itself */
    char *method;               /* of an operation; NULL: events/subscribe */
    struct json *params;        /* while it resolves; NULL: none */
    int64_t since;              /* of events/subscribe */
    char session[UUID_LEN + 1]; /* whose turn it is; "": none's */
    bool follows;               /* that session since this request */
    bool waits;                 /* that turn asks for an answer */
};

/* --- the end of input ------------------------------------------------------------------------- */

static void ignore(void *context, const struct operation_answer *a)
{
    (void)context, (void)a;
}

/* What a turn asks cannot be answered any more. */
static void interrupt(struct jsonrpc *j, const struct request *r)
{
    (void)server_ask(j->server, &operation_turn_interrupt,
                     &(struct session_params){.session = r->session}, ignore, NULL);
}

static void on_ended(void *context)
{
    struct jsonrpc *j = context;
    j->input_ended = true;
    for (size_t i = 0; i < j->requests.len; i++)
        if (j->requests.items[i]->waits && j->alone)
            interrupt(j, j->requests.items[i]);
}

static void on_closed(void *context)
{
    struct jsonrpc *j = context;
    j->closed(j->context);
}

/* --- notifications ---------------------------------------------------------------------------- */

static void count_dropped(struct jsonrpc *j, const char *session)
{
    for (size_t i = 0; i < j->dropped.len; i++)
        if (strcmp(j->dropped.items[i].session, session) == 0) {
            j->dropped.items[i].count++;
            return;
        }
    struct dropped d = {.count = 1};
    memcpy(d.session, session, strnlen(session, UUID_LEN));
    vec_push(&j->dropped, d);
}

/* False: there is still no room. */
static bool tell_truncated(struct jsonrpc *j, const struct dropped *d)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_member(&o, "session_id", *d->session ? d->session : NULL);
    json_out_name(&o, "event");
    json_out_open(&o, '{');
    json_out_member(&o, "type", "stream_truncated");
    json_out_int(&o, "dropped", d->count);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    bool told = rpc_notify(j->peer, "session/event", text.data);
    buf_release(&text);
    return told;
}

static void tell_dropped(void *context)
{
    struct jsonrpc *j = context;
    while (j->dropped.len > 0 && tell_truncated(j, &j->dropped.items[0]))
        vec_remove(&j->dropped, 0, 1);
}

static void note_question(struct jsonrpc *j, const struct notice *n)
{
    for (size_t i = 0; i < j->requests.len; i++) {
        struct request *r = j->requests.items[i];
        if (strcmp(r->session, n->session) != 0 || !*r->session)
            continue;
        r->waits = question_begins(n);
        if (r->waits && j->input_ended && j->alone)
            interrupt(j, r);
    }
}

static void on_notice(void *context, const struct notice *n)
{
    struct jsonrpc *j = context;
    const struct notification *kind = notification_of(n->type);
    if (question_begins(n) || question_ends(n))
        note_question(j, n);
    if (!kind->method || !j->initialized)
        return;
    tell_dropped(j);
    char *json = notice_json(n);
    if (j->dropped.len > 0 || !rpc_notify(j->peer, kind->method, json))
        count_dropped(j, n->session);
    free(json);
    wire_update(j->wire);
}

static bool takes_more(void *context)
{
    struct jsonrpc *j = context;
    size_t waits;
    (void)rpc_peer_output(j->peer, &waits);
    return waits < RPC_OUTPUT_MAX / 2;
}

static void on_log_failed(void *context, const char *session, const struct error *e)
{
    struct notice n = {.type = NOTICE_ERROR, .error = *e};
    memcpy(n.session, session, strnlen(session, UUID_LEN));
    on_notice(context, &n);
}

static const struct subscription_sink sink = {on_notice, takes_more, on_log_failed};
static const struct wire_events events = {on_ended, on_closed, tell_dropped};

/* --- requests --------------------------------------------------------------------------------- */

static struct request *add_request(struct jsonrpc *j, struct rpc_call *call)
{
    struct request *r = mem_alloc(sizeof *r);
    r->client = j;
    r->call = call;
    call->kept = r;
    vec_push(&j->requests, r);
    return r;
}

/* Its call has been answered, or is gone. */
static void drop_request(struct request *r)
{
    struct jsonrpc *j = r->client;
    for (size_t i = j->requests.len; i-- > 0;)
        if (j->requests.items[i] == r)
            vec_remove(&j->requests, i, 1);
    free(r->method);
    json_free(r->params);
    free(r);
}

/* A turn that was not begun is not heard of. */
static void unfollow(const struct request *r)
{
    if (r->follows)
        (void)subscriptions_remove(r->client->subscriptions, r->session);
}

static void answer(struct request *r, const char *result_json, const struct error *e)
{
    struct jsonrpc *j = r->client;
    if (e)
        unfollow(r);
    contract_answer(r->call, r->method, result_json, e);
    drop_request(r);
    wire_update(j->wire);
}

static void withdraw(struct request *r)
{
    if (r->resolves)
        server_withdraw(r->client->server, r->id);
    else
        contract_withdraw(r->client->server, r->id);
}

/* --- operations ------------------------------------------------------------------------------- */

/* The client is to hear of it from then on. */
static void follow_opened(struct jsonrpc *j, const char *result_json)
{
    struct json *v = json_parse(result_json, strlen(result_json), NULL);
    const char *id = json_get_string(v, "id");
    if (id)
        (void)subscriptions_add(j->subscriptions, id, SUBSCRIBE_NOW);
    json_free(v);
}

static void on_done(void *context, const char *result_json, const struct error *e)
{
    struct request *r = context;
    const struct operation *o = operation_find(r->method);
    if (!e && o && o->opens)
        follow_opened(r->client, result_json);
    answer(r, result_json, e);
}

static void start(struct request *r, const struct json *params)
{
    struct error e;
    r->resolves = false;
    if (!contract_start(r->client->server, AUTHORITY_OWNER, r->method, params, on_done, r, &r->id,
                        &e))
        answer(r, NULL, &e);
}

static void follow(struct request *r, const char *session)
{
    memcpy(r->session, session, strnlen(session, UUID_LEN));
    r->follows = subscriptions_add(r->client->subscriptions, session, SUBSCRIBE_NOW);
}

/* What the session asks is asked again: whom it was asked may have gone. */
static void tell_question(struct jsonrpc *j, const struct question *q)
{
    if (q && !rpc_notify(j->peer, q->method, q->params))
        count_dropped(j, q->session);
}

void jsonrpc_tell_questions(struct jsonrpc *j)
{
    const struct question *q;
    for (size_t i = 0; (q = questions_at(server_questions(j->server), i)); i++)
        tell_question(j, q);
    wire_update(j->wire);
}

/* --- sessions by other names than their id ---------------------------------------------------- */

static void answer_subscribed(struct request *r)
{
    struct jsonrpc *j = r->client;
    char session[UUID_LEN + 1], *json = mem_printf("{\"session_id\":\"%s\"}", r->session);
    int64_t since = r->since;
    memcpy(session, r->session, sizeof session);
    answer(r, json, NULL);
    tell_question(j, questions_of(server_questions(j->server), session));
    (void)subscriptions_add(j->subscriptions, session, since);
    wire_update(j->wire);
    free(json);
}

static void start_resolved(struct request *r)
{
    struct json *params = r->params;
    r->params = NULL;
    json_set_string(params, SESSION_MEMBER, r->session);
    start(r, params);
    json_free(params);
}

static void on_resolved(void *context, const struct operation_answer *a)
{
    struct request *r = context;
    if (a->error.code != ERR_OK) {
        answer(r, NULL, &a->error);
        return;
    }
    const struct session_info *info = a->result;
    memcpy(r->session, info->id, sizeof r->session);
    if (!r->method) {
        answer_subscribed(r);
        return;
    }
    follow(r, info->id);
    start_resolved(r);
}

static void resolve(struct request *r, const char *reference)
{
    const struct session_params p = {.session = reference};
    r->resolves = true;
    r->id = server_ask(r->client->server, &operation_session_read, &p, on_resolved, r);
}

void jsonrpc_subscribe(struct jsonrpc *j, struct rpc_call *call, const char *reference,
                       int64_t since)
{
    struct request *r = add_request(j, call);
    r->since = since;
    resolve(r, reference);
}

/* Events of a turn are heard from its first on, so its session must be known before it is begun. */
static void start_operation(struct jsonrpc *j, struct rpc_call *call, const char *method,
                            const struct json *params)
{
    struct request *r = add_request(j, call);
    const char *session = json_get_string(params, SESSION_MEMBER);
    r->method = mem_strdup(method);
    if (!contract_runs(method) || !session) {
        start(r, params);
    } else if (uuid_valid(session)) {
        follow(r, session);
        start(r, params);
    } else {
        r->params = json_clone(params);
        resolve(r, session);
    }
}

/* --- what comes ------------------------------------------------------------------------------- */

static void no_method(struct rpc_call *call, const char *method)
{
    char *text =
        mem_printf("there is no method \"%.60s\"; initialize lists those there are", method);
    rpc_fail(call, RPC_METHOD_NOT_FOUND, text, NULL);
    free(text);
}

static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    struct jsonrpc *j = context;
    size_t own = 0;
    while (jsonrpc_methods[own].name && strcmp(jsonrpc_methods[own].name, method) != 0)
        own++;
    if (!j->initialized && own != 0)
        rpc_fail(call, RPC_INVALID_REQUEST, "the connection has not begun; call initialize first",
                 NULL);
    else if (jsonrpc_methods[own].name)
        jsonrpc_call_method(j, call, own, params);
    else if (operation_find(method))
        start_operation(j, call, method, params);
    else
        no_method(call, method);
}

/* What is said of a request that was begun before it was cancelled. */
static const char *goes_on(const struct request *r)
{
    const struct operation *o = r->method ? operation_find(r->method) : NULL;
    if (contract_runs(r->method))
        return "nobody waits for the answer any more, but the turn goes on; turn/interrupt stops "
               "it";
    return o && operation_lasts(o)
               ? "nobody waits for the answer any more, but what was begun is done"
               : "the request was cancelled";
}

/* What is not begun is not done; else what changes something is done all the same, and a turn goes
 * on. */
static void on_cancelled(void *context, struct rpc_call *call)
{
    struct jsonrpc *j = context;
    struct request *r = call->kept;
    if (!r)
        return;
    bool undone = r->resolves || contract_cancel(j->server, r->id);
    if (r->resolves)
        withdraw(r);
    if (undone)
        unfollow(r);
    rpc_fail(call, JSONRPC_CANCELLED, undone ? "the request was cancelled" : goes_on(r), NULL);
    drop_request(r);
    wire_update(j->wire);
}

static const struct rpc_handlers handlers = {.request = on_request, .cancelled = on_cancelled};

/* --- lifecycle -------------------------------------------------------------------------------- */

struct jsonrpc *jsonrpc_new(struct server *s, int in, int out, bool alone,
                            void (*closed)(void *context), void *context)
{
    struct jsonrpc *j = mem_alloc(sizeof *j);
    *j = (struct jsonrpc){.server = s, .alone = alone, .closed = closed, .context = context};
    j->peer = rpc_peer_new(&handlers, j);
    j->wire = wire_new(s, j->peer, in, out, &events, j);
    j->subscriptions = subscriptions_new(s, &sink, j);
    return j;
}

void jsonrpc_free(struct jsonrpc *j)
{
    if (!j)
        return;
    while (j->requests.len > 0) {
        withdraw(vec_last(&j->requests));
        drop_request(vec_last(&j->requests));
    }
    subscriptions_free(j->subscriptions);
    wire_free(j->wire);
    rpc_peer_free(j->peer);
    vec_release(&j->requests);
    vec_release(&j->dropped);
    free(j);
}
