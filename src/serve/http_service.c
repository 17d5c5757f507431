#include "serve/http_service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "config/config.h"
#include "rpc/peer.h"
#include "serve/contract.h"
#include "serve/describe.h"
#include "serve/http_events.h"
#include "serve/mcp.h"
#include "serve/socket.h"

const struct http_route http_routes[] = {
    {"POST", "/sessions", HTTP_OPERATION, "session/create", .status = 201},
    {"GET", "/sessions", HTTP_OPERATION, "session/list", .status = 200},
    {"GET", "/sessions/{session_id}", HTTP_OPERATION, "session/read", .status = 200},
    {"DELETE", "/sessions/{session_id}", HTTP_OPERATION, "session/archive", .status = 200},
    {"GET", "/sessions/{session_id}/history", HTTP_OPERATION, "session/history", .status = 200},
    {"POST", "/sessions/{session_id}/messages", HTTP_OPERATION, "turn/start", .status = 200,
     .async = true},
    {"POST", "/sessions/{session_id}/interrupt", HTTP_OPERATION, "turn/interrupt", .status = 200},
    {"POST", "/sessions/{session_id}/compact", HTTP_OPERATION, "compaction/run", .status = 200},
    {"GET", "/sessions/{session_id}/events", HTTP_EVENTS, .status = 200,
     .summary = "Streams the events of a session as they happen (text/event-stream)."},
    {"GET", "/events", HTTP_EVENTS, .status = 200,
     .summary = "Streams what happens in all sessions (text/event-stream)."},
    {"POST", "/tickets", HTTP_TICKET, .status = 201,
     .summary = "Gives a ticket that opens one stream of events in place of the token."},
    {"GET", "/memory", HTTP_OPERATION, "memory/search", .status = 200, .q = "query"},
    {"GET", "/capabilities", HTTP_OPERATION, "capabilities/get", .status = 200},
    {"GET", "/config", HTTP_OPERATION, "config/get", .status = 200},
    {"GET", "/models", HTTP_OPERATION, "models/list", .status = 200},
    {"GET", "/health", HTTP_HEALTH, .status = 200, .summary = "Tells that the server answers."},
    {"GET", "/openapi.json", HTTP_DESCRIPTION, .status = 200, .summary = "Gives this description."},
    {"POST", "/mcp", HTTP_MCP, .status = 200,
     .summary = "Takes a message of the Model Context Protocol."},
    {"DELETE", "/mcp", HTTP_MCP, .status = 204,
     .summary = "Ends a session of the Model Context Protocol."},
    {"POST", "/rpc", HTTP_RPC, .status = 200,
     .summary = "Calls any operation, as JSON-RPC 2.0; batches are answered as batches."},
    {0},
};

/* Adds the segments of the pattern's variables to `params` (NULL: to nothing). */
static bool match(const char *pattern, const struct http_target *t, struct json *params)
{
    size_t i = 0;
    for (const char *part = pattern + 1;; i++) {
        size_t len = strcspn(part, "/");
        const char *segment = i < t->path.len ? t->path.items[i] : NULL;
        bool variable = len > 2 && part[0] == '{' && part[len - 1] == '}';
        if (!segment ||
            !(variable ? *segment : strlen(segment) == len && memcmp(part, segment, len) == 0))
            return false;
        auto_free char *name = variable && params ? mem_strndup(part + 1, len - 2) : NULL;
        if (name)
            json_set_string(params, name, segment);
        part += len;
        if (!*part++)
            return i + 1 == t->path.len;
    }
}

static bool serves(const struct http_route *r, const char *method)
{
    return strcmp(r->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0 && r->kind != HTTP_EVENTS);
}

const struct http_route *http_route_find(const char *method, const struct http_target *t,
                                         struct json *params, int *status)
{
    *status = 404;
    for (const struct http_route *r = http_routes; r->path; r++) {
        if (!match(r->path, t, NULL))
            continue;
        *status = 405;
        if (serves(r, method)) {
            match(r->path, t, params);
            return r;
        }
    }
    return NULL;
}

void http_route_allow(const struct http_target *t, struct buf *out)
{
    for (const struct http_route *r = http_routes; r->path; r++)
        if (match(r->path, t, NULL))
            buf_addf(out, "%s%s%s", out->len ? ", " : "", r->method,
                     serves(r, "HEAD") ? ", HEAD" : "");
}

const char *http_ticket_make(struct http_tickets *t, int64_t now_ms)
{
    struct http_ticket *made = &t->list[t->given++ % HTTP_TICKETS];
    unsigned char bytes[HTTP_TICKET_LEN / 2];
    entropy_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(made->text + 2 * i, 3, "%02x", bytes[i]);
    made->until_ms = now_ms + 1000 * HTTP_TICKET_S;
    return made->text;
}

bool http_ticket_take(struct http_tickets *t, const char *text, int64_t now_ms)
{
    for (size_t i = 0; i < HTTP_TICKETS; i++) {
        struct http_ticket *one = &t->list[i];
        if (!*one->text || !http_is_secret(text, one->text))
            continue;
        *one->text = '\0';
        return now_ms < one->until_ms;
    }
    return false;
}

#ifndef HAVE_LIBMICROHTTPD

struct http_service *http_service_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e)
{
    (void)loop, (void)mcp, (void)address;
    err_set(e, ERR_USAGE, "this tiro was built without HTTP; install one with libmicrohttpd");
    return NULL;
}

void http_service_free(struct http_service *s)
{
    (void)s;
}

#else

static const char json_type_name[] = "application/json";

/* A request whose path is served. */
struct request {
    struct http_service *service;
    struct http_exchange *exchange;
    const struct http_route *route;
    struct json *params;
    uint64_t asked;        /* an operation that runs; 0: none */
    struct listener *kept; /* for what its caller does not wait for; NULL */
    struct rpc_peer *peer; /* of POST /rpc; NULL */
    VEC(struct rpc_running *) running;
    bool fed; /* all of the body */
};

/* A call of such a body, until it is answered. */
struct rpc_running {
    struct request *request;
    struct rpc_call *call;
    uint64_t id;
};

static void request_free(void *mine)
{
    struct request *r = mine;
    server_unlisten(r->service->loop, r->kept);
    if (r->asked)
        server_withdraw(r->service->loop, r->asked);
    for (size_t i = 0; i < r->running.len; i++)
        server_withdraw(r->service->loop, r->running.items[i]->id);
    vec_free_each(&r->running);
    rpc_peer_free(r->peer);
    json_free(r->params);
    free(r);
}

/* --- operations ------------------------------------------------------------------------------- */

static void on_done(void *context, const struct operation_answer *a)
{
    struct request *r = context;
    struct http_exchange *x = r->exchange;
    const struct error *fault = contract_fault(a);
    int status = r->route->status;
    r->asked = 0;
    if (a->error.code != ERR_OK) {
        http_exchange_fail(x, &a->error);
        return;
    }
    auto_free char *result = contract_result(a);
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    if (fault) { /* of a turn, whose message is in the log nevertheless */
        json_out_pack(&out, "{code:s message:s result:r}", err_info(fault->code)->name, fault->text,
                      result);
        status = err_info(fault->code)->rest;
    } else if (a->request->operation->opens) {
        auto_free char *path =
            mem_printf("/sessions/%s", ((const struct session_info *)a->result)->id);
        http_exchange_add_field(x, "Location", path);
    }
    const char *body = fault ? text.data : result;
    http_exchange_reply(x, status, json_type_name, body, strlen(body));
}

/* A member that the path or the query has, too, must say the same. */
static bool add_body(struct request *r, struct error *e)
{
    const struct buf *body = &r->exchange->body;
    if (body->len == 0)
        return true;
    struct error fault = {0};
    AUTO(json_free_local) struct json *v = json_parse_foreign(body->data, body->len, &fault);
    if (!v)
        return err_set(e, ERR_USAGE, "the body is %s; give a JSON object", fault.text);
    if (json_type(v) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "the body is no JSON object; give one");
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const struct json *had = json_get(r->params, json_name(m));
        auto_free char *first = had ? json_print(had) : NULL;
        auto_free char *second = had ? json_print(m) : NULL;
        if (had && strcmp(first, second) != 0)
            return err_set(e, ERR_USAGE,
                           "\"%.60s\" is said twice, and not alike; leave it out of the body",
                           json_name(m));
        if (!had)
            json_set(r->params, json_name(m), json_clone(m));
    }
    return true;
}

/* Answers a request that does not wait for its turn, once the log has its message. */
static void on_notice(void *context, const struct notice *n)
{
    struct request *r = context;
    const char *session = r->exchange->target.path.items[1];
    bool ours = false;
    if (!r->asked || n->type != NOTICE_EVENT || n->event->type != EVENT_TURN_STARTED ||
        strcmp(n->session, session) != 0)
        return;
    for (const struct json *m = json_first(r->params); m; m = json_next(m))
        ours = ours || (json_string(m) && strcmp(json_string(m), n->event->text) == 0);
    if (!ours)
        return;
    server_withdraw(r->service->loop, r->asked);
    r->asked = 0;
    auto_free char *body =
        mem_printf("{\"session_id\":\"%s\",\"seq\":%" PRId64 "}", session, n->event->seq);
    auto_free char *path = mem_printf("/sessions/%s/events?after=%" PRId64, session, n->event->seq);
    http_exchange_add_field(r->exchange, "Location", path);
    http_exchange_add_field(r->exchange, "Preference-Applied", "respond-async");
    http_exchange_reply(r->exchange, 202, json_type_name, body, strlen(body));
}

/* The short name "q" of a query stands for a member of the route's. */
static void serve_operation(struct request *r)
{
    static const char async[] = "respond-async";
    struct error e = {0};
    const struct operation *o = operation_find(r->route->operation);
    const char *prefers = http_head_field(&r->exchange->head, "Prefer");
    if (r->route->async && prefers && strncasecmp(prefers, async, sizeof async - 1) == 0)
        r->kept = server_listen(r->service->loop, on_notice, r);

    struct http_target t = r->exchange->target;
    AUTO(vec_release_local) VEC(struct http_parameter) query = {0};
    for (size_t i = 0; i < t.query.len; i++) {
        struct http_parameter p = t.query.items[i];
        if (r->route->q && strcmp(p.name, "q") == 0)
            p.name = (char *)(uintptr_t)r->route->q;
        vec_push(&query, p);
    }
    t.query.items = query.items;
    if (!http_target_add_params(&t, o->params, r->params, &e) || !add_body(r, &e) ||
        !contract_start(r->service->loop, mcp_authority(r->service->mcp), o, r->params, on_done, r,
                        &r->asked, &e))
        http_exchange_fail(r->exchange, &e);
}

/* --- events ----------------------------------------------------------------------------------- */

static void serve_events(struct request *r)
{
    struct error e = {0};
    struct http_exchange *x = r->exchange;
    struct http_service *s = r->service;
    auto_free char *session = mem_strdup(json_get_string(r->params, SESSION_MEMBER));
    const char *after = http_head_field(&x->head, "Last-Event-ID");
    if (!after)
        after = http_target_query(&x->target, "after");
    size_t digits = after ? strspn(after, "0123456789") : 0;
    if (after && (digits == 0 || digits > 15 || after[digits]))
        err_set(&e, ERR_USAGE, "\"after\" does not fit; give the number of an event");
    else if (after && !session)
        err_set(&e, ERR_USAGE, "\"after\" is of one session; leave it out");
    if (e.code != ERR_OK) {
        http_exchange_fail(x, &e);
        return;
    }
    request_free(r);
    http_events_begin(s->events, x, session, after ? strtoll(after, NULL, 10) : -1);
}

/* --- JSON-RPC --------------------------------------------------------------------------------- */

static void reply_rpc(struct request *r)
{
    size_t len;
    if (!r->fed || rpc_peer_calls(r->peer) > 0)
        return;
    const char *output = rpc_peer_output(r->peer, &len);
    http_exchange_reply(r->exchange, len ? r->route->status : 202, json_type_name, output, len);
}

static void on_rpc_done(void *context, const struct operation_answer *a)
{
    struct rpc_running *c = context;
    struct request *r = c->request;
    contract_answer(c->call, a);
    vec_drop(&r->running, c);
    free(c);
    reply_rpc(r);
}

static void on_rpc_request(void *context, struct rpc_call *call, const char *method,
                           const struct json *params)
{
    struct request *r = context;
    struct error e = {0};
    const struct operation *o = operation_find(method);
    if (!o) {
        rpc_fail(call, RPC_METHOD_NOT_FOUND, "there is no such method", NULL);
        return;
    }
    struct rpc_running *c = mem_alloc(sizeof *c);
    *c = (struct rpc_running){.request = r, .call = call};
    if (contract_start(r->service->loop, mcp_authority(r->service->mcp), o, params, on_rpc_done, c,
                       &c->id, &e)) {
        vec_push(&r->running, c);
    } else {
        rpc_fail_with(call, &e);
        free(c);
    }
}

static const struct rpc_handlers rpc_handlers = {.request = on_rpc_request};

static void serve_rpc(struct request *r)
{
    struct error e = {0};
    const struct buf *body = &r->exchange->body;
    r->peer = rpc_peer_new(&rpc_handlers, r);
    if (!rpc_peer_take(r->peer, body->data, body->len, &e)) {
        http_exchange_fail(r->exchange, &e);
        return;
    }
    r->fed = true;
    reply_rpc(r);
}

/* --- the Model Context Protocol -----------------------------------------------------------------
 */

/* After so long without a message a comment is sent, so that nobody takes the stream for dead and a
 * reader that has gone is noticed. At most WAITING_MAX bytes wait for a slow reader. */
enum { HEARTBEAT_MS = 15000, WAITING_MAX = 8 << 20 };

/* A message of the Model Context Protocol until it is answered (mcp.h). */
struct posted {
    struct server *loop;
    struct http_exchange *exchange;
    struct mcp_exchange *message; /* NULL: it is answered */
    struct buf out;               /* of a stream, of which `sent` bytes are gone */
    size_t sent;
    bool over; /* nothing is added any more */
    struct timer *heartbeat;
};

static void post_free(void *mine)
{
    struct posted *p = mine;
    server_cancel_timer(p->loop, p->heartbeat);
    if (p->message)
        mcp_hang_up(p->message);
    buf_release(&p->out);
    free(p);
}

static void on_mcp_answer(void *context, int status, const char *session, const char *json,
                          size_t len)
{
    struct posted *p = context;
    p->message = NULL;
    if (session)
        http_exchange_add_field(p->exchange, "Mcp-Session-Id", session);
    if (status == 405)
        http_exchange_add_field(p->exchange, "Allow", "POST");
    http_exchange_reply(p->exchange, status, json_type_name, json ? json : "", len);
}

static long read_stream(void *context, char *to, size_t size)
{
    struct posted *p = context;
    size_t waits = p->out.len - p->sent, len = waits < size ? waits : size;
    if (len == 0)
        return p->over ? -1 : 0;
    memcpy(to, p->out.data + p->sent, len);
    p->sent += len;
    if (p->sent == p->out.len) {
        buf_clear(&p->out);
        p->sent = 0;
    }
    return (long)len;
}

static void add(struct posted *p, const char *before, const char *text, size_t len)
{
    if (p->over)
        return;
    p->over = p->out.len - p->sent > WAITING_MAX; /* a client that reads nothing is hung up on */
    if (p->over)
        return;
    buf_addstr(&p->out, before);
    buf_add(&p->out, text, len);
    buf_addstr(&p->out, "\n\n");
    http_exchange_wake(p->exchange);
}

static void on_silence(void *context)
{
    struct posted *p = context;
    if (p->out.len == 0)
        add(p, ":", "", 0);
    p->heartbeat = server_after(p->loop, HEARTBEAT_MS, on_silence, p);
}

static void on_begin(void *context, const char *session)
{
    struct posted *p = context;
    const struct http_source source = {.read = read_stream, .context = p};
    if (session)
        http_exchange_add_field(p->exchange, "Mcp-Session-Id", session);
    http_exchange_stream(p->exchange, &source);
    p->heartbeat = server_after(p->loop, HEARTBEAT_MS, on_silence, p);
}

static void on_event(void *context, const char *json, size_t len)
{
    add(context, "event: message\ndata: ", json, len);
}

static void on_end(void *context)
{
    struct posted *p = context;
    p->message = NULL;
    p->over = true;
    http_exchange_wake(p->exchange);
}

/* A field's value without the blanks around it; NULL: it is not there. The caller frees. */
static char *field(const struct http_head *h, const char *name)
{
    const char *value = http_head_field(h, name);
    if (!value)
        return NULL;
    value += strspn(value, " \t");
    size_t len = strlen(value);
    while (len > 0 && strchr(" \t", value[len - 1]))
        len--;
    return mem_strndup(value, len);
}

static void serve_mcp(struct request *r)
{
    static const struct mcp_reply reply = {
        .answer = on_mcp_answer, .begin = on_begin, .event = on_event, .end = on_end};
    struct http_exchange *x = r->exchange;
    struct http_service *s = r->service;
    const struct http_head *h = &x->head;
    struct posted *p = mem_alloc(sizeof *p);
    *p = (struct posted){.loop = s->loop, .exchange = x, .out = BUF_INIT};
    request_free(r);
    x->kept = p;
    x->forget = post_free;
    if (strcmp(h->method, "DELETE") == 0) {
        on_mcp_answer(p, mcp_delete(s->mcp, http_head_field(h, "Mcp-Session-Id")), NULL, NULL, 0);
        return;
    }
    auto_free char *version = field(h, "MCP-Protocol-Version");
    auto_free char *method = field(h, "Mcp-Method");
    auto_free char *name = field(h, "Mcp-Name");
    auto_free char *session = field(h, "Mcp-Session-Id");
    const struct mcp_headers headers = {
        .takes_json = http_accepts(h, json_type_name),
        .takes_events = http_accepts(h, "text/event-stream"),
        .protocol_version = version,
        .method = method,
        .name = name,
        .session = session,
    };
    p->message = mcp_post(s->mcp, &headers, x->body.data, x->body.len, &reply, p);
}

/* --- what the server itself knows ------------------------------------------------------------- */

static void serve_health(struct request *r)
{
    static const char body[] = "{\"status\":\"ok\",\"version\":\"" PACKAGE_VERSION
                               "\",\"contract_version\":\"" CONTRACT_VERSION "\"}";
    http_exchange_reply(r->exchange, r->route->status, json_type_name, body, sizeof body - 1);
}

static void serve_description(struct request *r)
{
    AUTO(json_free_local) struct json *v = describe_contract("openapi");
    /* the address or proxy that it was read by */
    json_set(v, "servers", json_pack("[{url:'/'}]"));
    auto_free char *text = json_print(v);
    http_exchange_reply(r->exchange, r->route->status, json_type_name, text, strlen(text));
}

static void serve_ticket(struct request *r)
{
    const char *ticket = http_ticket_make(&r->service->tickets, clock_mono_ms());
    auto_free char *body = mem_printf("{\"ticket\":\"%s\",\"seconds\":%d}", ticket, HTTP_TICKET_S);
    http_exchange_reply(r->exchange, r->route->status, json_type_name, body, strlen(body));
}

/* --- requests --------------------------------------------------------------------------------- */

static void (*const serve_kind[])(struct request *r) = {
    [HTTP_OPERATION] = serve_operation,
    [HTTP_EVENTS] = serve_events,
    [HTTP_RPC] = serve_rpc,
    [HTTP_MCP] = serve_mcp,
    [HTTP_HEALTH] = serve_health,
    [HTTP_DESCRIPTION] = serve_description,
    [HTTP_TICKET] = serve_ticket,
};

static void serve(void *context, struct http_exchange *x)
{
    (void)context;
    struct request *r = x->kept;
    serve_kind[r->route->kind](r);
}

/* Where clients look for an authorization server there is nothing, as they are told whoever asks: a
 * 401 would make them ask the person to log in. */
static bool is_open(void *context, struct http_exchange *x)
{
    struct http_service *s = context;
    int status;
    const char *ticket = http_target_query(&x->target, "ticket");
    const struct http_route *route = http_route_find(x->head.method, &x->target, NULL, &status);
    return strcmp(x->target.path.items[0], ".well-known") == 0 ||
           (route && route->kind == HTTP_EVENTS && ticket &&
            http_ticket_take(&s->tickets, ticket, clock_mono_ms()));
}

static void admit(void *context, struct http_exchange *x)
{
    int status;
    struct json *params = json_new_object();
    const struct http_head *h = &x->head;
    const struct http_route *route = http_route_find(h->method, &x->target, params, &status);
    bool mcp = route && route->kind == HTTP_MCP; /* which looks at Accept itself */
    bool events = route && route->kind == HTTP_EVENTS;
    if (route && (mcp || http_accepts(h, events ? "text/event-stream" : json_type_name))) {
        struct request *r = mem_alloc(sizeof *r);
        *r = (struct request){.service = context, .exchange = x, .route = route, .params = params};
        x->kept = r;
        x->forget = request_free;
        return;
    }
    json_free(params);
    if (route) {
        http_exchange_refuse(x, 406, NULL,
                             "Accept leaves out what this path gives; allow its type");
    } else if (status == 405) {
        AUTO(buf_release) struct buf allow = BUF_INIT;
        http_route_allow(&x->target, &allow);
        http_exchange_add_field(x, "Allow", allow.data);
        http_exchange_refuse(x, 405, NULL, "this path has other methods; see Allow");
    } else {
        http_exchange_refuse(x, 404, NULL, "there is nothing at this path; see doc/protocols.md");
    }
}

/* --- the token -------------------------------------------------------------------------------- */

/* Fewer could be tried out. */
enum { HTTP_TOKEN_LEAST = 16 };

static void close_local(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

enum { TOKEN_MOST = 4096, MADE_BYTES = 32, COMMAND_MS = 30000 };

/* Reads the first line of a file that is the user's alone. `flags`: O_NOFOLLOW, or 0 for a file
 * that the user named, which may be a link to a secret that a service manager mounts. */
static bool read_file(const char *path, int flags, char **token, struct error *e)
{
    struct stat st;
    char text[TOKEN_MOST + 1] = "";
    AUTO(close_local) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s is a symbolic link; remove the link", path);
    if (fd < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be opened", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG_ERROR, "the token's file %s is no regular file; name one",
                       path);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s belongs to another user; remove it, or name your own",
                       path);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return err_set(e, ERR_CONFIG_ERROR,
                       "others may read the token's file %s; make it yours alone: chmod 600", path);
    if (read(fd, text, TOKEN_MOST) < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be read", path);
    *token = mem_strndup(text, strcspn(text, "\r\n"));
    mem_wipe(text, sizeof text);
    return true;
}

/* The file appears whole under its name. Where two servers start at once, the first one's stays. */
static bool read_own(char **token, char **path, struct error *e)
{
    auto_free char *directory = paths_dir(PATHS_STATE);
    unsigned char bytes[MADE_BYTES];
    char text[2 * MADE_BYTES + 2];
    struct whole_file f;
    struct stat st;
    *path = paths_join(directory, "http-token");
    if (lstat(*path, &st) != 0) {
        entropy_fill(bytes, sizeof bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
            snprintf(text + 2 * i, 4, "%02x\n", bytes[i]);
        bool ok = paths_make_dir(directory, e) && whole_file_begin(&f, *path, false, e) &&
                  whole_file_write(&f, text, strlen(text), e) && whole_file_finish(&f, e);
        mem_wipe(bytes, sizeof bytes);
        mem_wipe(text, sizeof text);
        if (!ok && lstat(*path, &st) != 0)
            return false;
    }
    return read_file(*path, O_NOFOLLOW, token, e);
}

/* The token of [serve] token_file or token_command; where neither is set, that of the file
 * "http-token" (mode 0600) in the state directory, which is made at the first start. False with
 * CONFIG_ERROR or FILE_ERROR: both keys are set, the file is not the user's alone, the one in the
 * state directory is a symbolic link or cannot be made, the command fails, or the first line is no
 * token: at least HTTP_TOKEN_LEAST visible ASCII characters. `path` is the file; NULL: a command
 * gave the token. Free the token with key_command_free(), the path with free(), also after a
 * failure. */
static bool read_token(const struct config *config, char **token, char **path, struct error *e)
{
    const char *file = config_string(config, CONFIG_SERVE_TOKEN_FILE);
    const char *command = config_string(config, CONFIG_SERVE_TOKEN_COMMAND);
    bool ok;
    *token = NULL;
    *path = *file ? mem_strdup(file) : NULL;
    if (*file && *command)
        return err_set(e, ERR_CONFIG_ERROR,
                       "[serve] has token_file and token_command; set one of them");
    if (*command)
        ok = key_command_run("[serve] token_command", command, COMMAND_MS, NULL, token, e);
    else
        ok = *file ? read_file(file, 0, token, e) : read_own(token, path, e);
    size_t len = 0;
    while (ok && (*token)[len] > ' ' && (*token)[len] < 0x7F)
        len++;
    if (ok && len >= HTTP_TOKEN_LEAST && !(*token)[len])
        return true;
    key_command_free(*token);
    *token = NULL;
    return ok ? err_set(
                    e, ERR_CONFIG_ERROR,
                    "the token of [serve] is too short or has blanks; take %d characters or more",
                    HTTP_TOKEN_LEAST)
              : false;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* TIRO on the keys of a telephone. */
enum { USUAL_PORT = 8476 };

struct http_service *http_service_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e)
{
    const struct config *config = server_config(loop);
    int head_ms = 1000 * (int)config_integer(config, CONFIG_SERVE_TIMEOUT), port = USUAL_PORT;
    struct listening sockets = {0};
    auto_free char *host = NULL;
    struct http_service *s = mem_alloc(sizeof *s);
    s->loop = loop;
    s->mcp = mcp;
    server_hold(loop);
    if (!address)
        address = config_string(config, CONFIG_SERVE_ADDRESS);
    bool ok = read_token(config, &s->token, &s->token_path, e);
    if (ok)
        listening_take_over(&sockets);
    if (ok && sockets.sockets.len == 0)
        ok =
            http_parse_address(address, &host, &port, e) && listening_open(&sockets, host, port, e);
    if (ok) {
        const struct http_policy policy = {.hosts = config_string(config, CONFIG_SERVE_HOSTS),
                                           .origins = config_string(config, CONFIG_SERVE_ORIGINS),
                                           .token = s->token};
        const struct http_handler handler = {
            .open = is_open, .admit = admit, .serve = serve, .context = s};
        struct buf urls = BUF_INIT;
        size_t count = sockets.sockets.len;
        listening_add_urls(&sockets, &urls);
        s->urls = buf_take(&urls);
        s->events = http_events_new(loop);
        sockets.sockets.len = 0; /* they are the server's now */
        s->server =
            http_server_new(loop, sockets.sockets.items, count, &policy, head_ms, &handler, e);
    }
    listening_release(&sockets);
    if (s->server)
        return s;
    http_service_free(s);
    return NULL;
}

void http_service_free(struct http_service *s)
{
    if (!s)
        return;
    http_server_free(s->server);
    http_events_free(s->events);
    key_command_free(s->token);
    free(s->token_path);
    server_unhold(s->loop);
    free(s->urls);
    free(s);
}

#endif
