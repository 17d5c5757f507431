#include "serve/jsonrpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "serve/contract.h"
#include "serve/notification.h"
#include "serve/wire.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"

/* A request of the client that is not answered yet. */
struct request {
    struct jsonrpc *client;
    struct rpc_call *call;
    uint64_t id;                       /* of the operation, or of the look-up of its session */
    bool resolves;                     /* the reference to the session, before the call itself */
    const struct operation *operation; /* NULL: events/subscribe */
    struct json *params;               /* while it resolves; NULL: none */
    int64_t since;                     /* of events/subscribe */
    char session[UUID_LEN + 1];        /* in which its turn runs; "": none */
    bool follows;                      /* that session since this request */
    bool waits;                        /* that turn asks for an answer */
};

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
    VEC(struct request *) requests;
    VEC(struct dropped) dropped;
    bool alone, initialized, input_ended;
};

/* --- the end of input ---------------------------------------------------------------------------
 */

/* Interrupts a turn whose question nobody can answer any more. */
static void interrupt(struct jsonrpc *j, const struct request *r)
{
    (void)server_ask(j->server, &operation_turn_interrupt,
                     &(struct session_params){.session = r->session}, NULL, NULL);
}

static void on_input_ended(void *context)
{
    struct jsonrpc *j = context;
    j->input_ended = true;
    for (size_t i = 0; i < j->requests.len; i++)
        if (j->requests.items[i]->waits && j->alone)
            interrupt(j, j->requests.items[i]);
}

/* --- notifications ------------------------------------------------------------------------------
 */

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

/* Sends the counts of notifications that were dropped, as long as there is room. */
static void tell_dropped(void *context)
{
    struct jsonrpc *j = context;
    bool told = true;
    while (j->dropped.len > 0 && told) {
        const struct dropped *d = &j->dropped.items[0];
        AUTO(buf_release) struct buf text = BUF_INIT;
        struct json_out o = {.buf = &text};
        json_out_pack(&o, "{session_id:s event:{type:'stream_truncated' dropped:I}}",
                      *d->session ? d->session : NULL, d->count);
        told = rpc_notify(j->peer, "session/event", text.data);
        if (told)
            vec_remove(&j->dropped, 0, 1);
    }
}

static void on_notice(void *context, const struct notice *n)
{
    struct jsonrpc *j = context;
    const struct notification *kind = notification_of(n->type);
    enum question_step step = question_step(n);
    for (size_t i = 0; step && i < j->requests.len; i++) {
        struct request *r = j->requests.items[i];
        if (strcmp(r->session, n->session) != 0 || !*r->session)
            continue;
        r->waits = step == QUESTION_BEGINS;
        if (r->waits && j->input_ended && j->alone)
            interrupt(j, r);
    }
    if (!kind->method || !j->initialized)
        return;
    tell_dropped(j);
    auto_free char *json = notice_json(n);
    if (j->dropped.len > 0 || !rpc_notify(j->peer, kind->method, json))
        count_dropped(j, n->session);
    wire_update(j->wire);
}

static void on_log_failed(void *context, const char *session, const struct error *e)
{
    struct notice n = {.type = NOTICE_ERROR, .error = *e};
    memcpy(n.session, session, strnlen(session, UUID_LEN));
    on_notice(context, &n);
}

/* Repeats the questions of a session (NULL: all) that wait: the client that was asked may have
 * gone. */
static void tell_questions(struct jsonrpc *j, const char *session)
{
    const struct questions *waiting = server_questions(j->server);
    for (size_t i = 0; i < waiting->items.len; i++) {
        const struct question *q = &waiting->items.items[i];
        if ((!session || strcmp(q->session, session) == 0) &&
            !rpc_notify(j->peer, q->method, q->params))
            count_dropped(j, q->session);
    }
}

/* --- requests -----------------------------------------------------------------------------------
 */

static struct request *add_request(struct jsonrpc *j, struct rpc_call *call,
                                   const struct operation *o)
{
    struct request *r = mem_alloc(sizeof *r);
    *r = (struct request){.client = j, .call = call, .operation = o};
    call->kept = r;
    vec_push(&j->requests, r);
    return r;
}

/* The call has been answered, or is gone. */
static void drop_request(struct request *r)
{
    vec_drop(&r->client->requests, r);
    json_free(r->params);
    free(r);
}

static void fail(struct request *r, const struct error *e)
{
    struct wire *wire = r->client->wire;
    if (r->follows) /* the turn was not begun */
        (void)subscriptions_remove(r->client->subscriptions, r->session);
    rpc_fail_with(r->call, e);
    drop_request(r);
    wire_update(wire);
}

static void on_done(void *context, const struct operation_answer *a)
{
    struct request *r = context;
    struct jsonrpc *j = r->client;
    if (a->error.code != ERR_OK) {
        fail(r, &a->error);
        return;
    }
    if (r->operation->opens) /* its events are told from now on */
        (void)subscriptions_add(j->subscriptions, ((const struct session_info *)a->result)->id,
                                SUBSCRIBE_NOW);
    contract_answer(r->call, a);
    drop_request(r);
    wire_update(j->wire);
}

static void start(struct request *r, const struct json *params)
{
    struct error e;
    r->resolves = false;
    if (!contract_start(r->client->server, AUTHORITY_OWNER, r->operation, params, on_done, r,
                        &r->id, &e))
        fail(r, &e);
}

static void follow(struct request *r, const char *session)
{
    memcpy(r->session, session, strnlen(session, UUID_LEN));
    r->follows = subscriptions_add(r->client->subscriptions, session, SUBSCRIBE_NOW);
}

static void on_resolved(void *context, const struct operation_answer *a)
{
    struct request *r = context;
    struct jsonrpc *j = r->client;
    const struct session_info *info = a->result;
    if (a->error.code != ERR_OK) {
        fail(r, &a->error);
    } else if (!r->operation) {
        auto_free char *json = mem_printf("{\"session_id\":\"%s\"}", info->id);
        int64_t since = r->since;
        rpc_answer(r->call, json);
        drop_request(r);
        tell_questions(j, info->id);
        (void)subscriptions_add(j->subscriptions, info->id, since);
        wire_update(j->wire);
    } else {
        AUTO(json_free_local) struct json *params = r->params;
        r->params = NULL;
        follow(r, info->id);
        json_set_string(params, SESSION_MEMBER, info->id);
        start(r, params);
    }
}

/* Looks up the id of a session that is named otherwise. */
static void resolve(struct request *r, const char *reference)
{
    const struct session_params p = {.session = reference};
    r->resolves = true;
    r->id = server_ask(r->client->server, &operation_session_read, &p, on_resolved, r);
}

/* --- methods that are no operations -------------------------------------------------------------
 */

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

static const struct shape client_shape = {
    .name = "client_info",
    .size = sizeof(struct client_info),
    .fields = SHAPE_ROWS(SHAPE_REQ(client_info, name, "Name of the client.", .most = 200),
                         SHAPE_OPT(client_info, version, "Version of the client.", .most = 200)),
    .known = is_known};
static const struct shape initialize_shape =
    SHAPE_OF("parameters", struct initialize_params,
             SHAPE_FIELD("client_info", OBJECT, OPTIONAL,
                         SHAPE_AT(struct client_info, struct initialize_params, client),
                         .of = &client_shape, .help = "The client, for the log."));

/* Writes the result of a row that needs no engine. */
static void write_result(struct jsonrpc *j, const struct operation *o, struct json_out *out)
{
    struct operation_context c = {.config = server_config(j->server)};
    auto_free void *result = mem_alloc(o->result->size);
    if (operation_call(&c, o, NULL, result, NULL))
        shape_write(o->result, result, out);
    shape_release(o->result, result);
}

static struct json *initialize_schema(void)
{
    struct json *v = json_pack(
        "{type:'object' properties:{contract_version:{type:'string'} methods:{type:'array' "
        "items:{type:'string'}}} required:['server_info' 'contract_version' 'capabilities' "
        "'methods'] additionalProperties:b}",
        false);
    struct json *members = json_clone(json_get(v, "properties"));
    json_set(members, "server_info", shape_schema(operation_engine_info.result));
    json_set(members, "capabilities", shape_schema(operation_capabilities_get.result));
    json_set(v, "properties", members);
    return v;
}

static void run_initialize(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    const struct initialize_params *p = params;
    const struct operation *o;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    json_out_open(&out, '{');
    json_out_name(&out, "server_info");
    write_result(j, &operation_engine_info, &out);
    json_out_member(&out, "contract_version", CONTRACT_VERSION);
    json_out_name(&out, "capabilities");
    write_result(j, &operation_capabilities_get, &out);
    json_out_name(&out, "methods");
    json_out_open(&out, '[');
    for (const struct jsonrpc_method *m = jsonrpc_methods; m->name; m++)
        json_out_string(&out, m->name);
    for (size_t i = 0; (o = operation_at(i)); i++)
        if (o->authority != AUTHORITY_TERMINAL)
            json_out_string(&out, o->name);
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    if (p->client.name)
        log_line(LOG_INFO, "a client: %s %s", p->client.name,
                 p->client.version ? p->client.version : "");
    j->initialized = true;
    rpc_answer(call, text.data);
}

struct subscribe_params {
    char *session;
    int64_t since;
};

#define SUBSCRIBE_SESSION                                                                          \
    SHAPE_OPT_AS(SESSION_MEMBER, subscribe_params, session,                                        \
                 "Id, title, unique part of an id, \"last\" or \"~N\"; absent: every session.",    \
                 .least = 1)
static const struct shape subscribe_shape =
    SHAPE_PARAMETERS(struct subscribe_params, SUBSCRIBE_SESSION,
                     SHAPE_OPT(subscribe_params, since,
                               "Send events after this number first; absent: only new events.",
                               .absent = SUBSCRIBE_NOW));
static const struct shape unsubscribe_shape =
    SHAPE_PARAMETERS(struct subscribe_params, SUBSCRIBE_SESSION);

static struct json *subscribed_schema(void)
{
    return json_pack(
        "{type:'object' properties:{session_id:{type:'string' format:'uuid'}} "
        "additionalProperties:b}",
        false);
}

static void run_subscribe(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    const struct subscribe_params *p = params;
    struct error e;
    if (p->session) {
        struct request *r = add_request(j, call, NULL);
        r->since = p->since;
        resolve(r, p->session);
    } else if (p->since != SUBSCRIBE_NOW) {
        err_set(&e, ERR_USAGE, "\"since\" is of one session; give \"session_id\", or leave it out");
        rpc_fail_with(call, &e);
    } else {
        (void)subscriptions_add(j->subscriptions, NULL, SUBSCRIBE_NOW);
        rpc_answer(call, "{}");
        tell_questions(j, NULL);
        wire_update(j->wire);
    }
}

/* A session that is not subscribed is no error. */
static void run_unsubscribe(struct jsonrpc *j, struct rpc_call *call, const void *params)
{
    (void)subscriptions_remove(j->subscriptions,
                               ((const struct subscribe_params *)params)->session);
    rpc_answer(call, "{}");
}

const struct jsonrpc_method jsonrpc_methods[] = {
    {"initialize", "Begins the connection: gives the server's name, version and capabilities.",
     &initialize_shape, initialize_schema, run_initialize},
    {"events/subscribe", "Subscribes to the events of one session or of all.", &subscribe_shape,
     subscribed_schema, run_subscribe},
    {"events/unsubscribe", "Ends a subscription; names the session by its id.", &unsubscribe_shape,
     subscribed_schema, run_unsubscribe},
    {0},
};

/* --- the connection -----------------------------------------------------------------------------
 */

static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    struct jsonrpc *j = context;
    const struct operation *o = operation_find(method);
    const struct jsonrpc_method *m = jsonrpc_methods;
    struct error e;
    while (m->name && strcmp(m->name, method) != 0)
        m++;
    if (!j->initialized && m != jsonrpc_methods) {
        rpc_fail(call, RPC_INVALID_REQUEST, "the connection has not begun; call initialize first",
                 NULL);
    } else if (m->name) {
        AUTO(json_free_local) struct json *none = params ? NULL : json_new_object();
        auto_free void *read = mem_alloc(m->params->size);
        if (shape_read(m->params, params ? params : none, read, &e)) {
            m->run(j, call, read);
            shape_release(m->params, read);
        } else {
            rpc_fail_with(call, &e);
        }
    } else if (!o) {
        auto_free char *text =
            mem_printf("there is no method \"%.60s\"; initialize lists those there are", method);
        rpc_fail(call, RPC_METHOD_NOT_FOUND, text, NULL);
    } else {
        /* The events of a turn are told from its first on, so its session must be known before it
         * begins. */
        struct request *r = add_request(j, call, o);
        const char *session = o->busy ? json_get_string(params, SESSION_MEMBER) : NULL;
        if (session && !uuid_valid(session)) {
            r->params = json_clone(params);
            resolve(r, session);
            return;
        }
        if (session)
            follow(r, session);
        start(r, params);
    }
}

/* A call that has not begun is not carried out. One that has begun is, if it changes something; a
 * turn goes on. */
static void on_cancelled(void *context, struct rpc_call *call)
{
    struct jsonrpc *j = context;
    struct request *r = call->kept;
    const char *text = "the request was cancelled";
    if (!r)
        return;
    bool undone = server_cancel(j->server, r->id) || r->resolves;
    if (undone && r->follows)
        (void)subscriptions_remove(j->subscriptions, r->session);
    if (!undone && r->operation->busy)
        text =
            "nobody waits for the answer any more, but the turn goes on; turn/interrupt stops it";
    else if (!undone && operation_lasts(r->operation))
        text = "nobody waits for the answer any more, but what was begun is done";
    rpc_fail(call, JSONRPC_CANCELLED, text, NULL);
    drop_request(r);
    wire_update(j->wire);
}

struct jsonrpc *jsonrpc_new(struct server *s, int in, int out, bool alone,
                            void (*closed)(void *context), void *context)
{
    static const struct rpc_handlers handlers = {.request = on_request, .cancelled = on_cancelled};
    static const struct wire_events events = {on_input_ended, tell_dropped};
    static const struct subscription_sink sink = {.tell = on_notice, .failed = on_log_failed};
    struct jsonrpc *j = mem_alloc(sizeof *j);
    *j = (struct jsonrpc){.server = s, .alone = alone};
    j->peer = rpc_peer_new(&handlers, j);
    j->wire = wire_new(s, j->peer, in, out, &events, j, closed, context);
    j->subscriptions = subscriptions_new(s, j->peer, &sink, j);
    return j;
}

void jsonrpc_free(struct jsonrpc *j)
{
    if (!j)
        return;
    while (j->requests.len > 0) {
        server_withdraw(j->server, vec_last(&j->requests)->id);
        drop_request(vec_last(&j->requests));
    }
    subscriptions_free(j->subscriptions);
    wire_free(j->wire);
    rpc_peer_free(j->peer);
    vec_release(&j->requests);
    vec_release(&j->dropped);
    free(j);
}
