/* A server that is reached by HTTP: each message is the body of a POST, whose answer is JSON or a
 * stream of events. One request at a time; a second connection carries answers to what the server
 * asks in a stream, and a thread reads the stream of what it tells at any time. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/client_private.h"
#include "provider/http.h"
#include "provider/sse.h"

enum {
    ASIDE_MS = 5000,
    COMMAND_MS = 30000,
    RETRY_MS = 1000, /* before a stream that broke off is read on, if the server says nothing */
    RETRY_LEAST_MS = 100,
    RETRY_MOST_MS = 60000,
    BARREN_MAX = 5 /* streams in a row that told nothing, after which nobody listens any more */
};

static const char events_type[] = "text/event-stream";

struct link {
    struct mcp_client *c;
    struct http *http, *aside;
    char *session;       /* Mcp-Session-Id of the older era; NULL: none */
    char *header;        /* "Name: value" that headers_command gave; NULL: none */
    VEC(char *) waiting; /* messages of the peer, for the end of the request before */
};

/* One POST. */
struct post {
    struct link *link;
    struct json *message;
    const char *method;
    int64_t id;       /* 0: it is no request */
    uint64_t answers; /* of the client, before it */
    int64_t late_ms;  /* clock_mono_ms() at which it is given up; 0: never */
    struct http_reply reply;
    struct sse events;
    struct buf body; /* JSON */
    struct failure failure;
    char *seen; /* id of the last event, from which the server can go on; NULL: none had one */
};

/* --- headers ---------------------------------------------------------------------------------- */

/* As the specification has values that a header cannot hold. */
static void add_value(struct http_headers *h, const char *name, const char *value)
{
    bool plain = *value && *value != ' ' && value[strlen(value) - 1] != ' ';
    for (const char *p = value; *p && plain; p++)
        plain = *p >= ' ' && *p < 0x7F;
    auto_free char *encoded =
        plain ? NULL : base64_encode((const unsigned char *)value, strlen(value));
    if (plain)
        http_headers_add(h, "%s: %s", name, value);
    else
        http_headers_add(h, "%s: =?base64?%s?=", name, encoded);
}

/* The arguments that the schema of the tool wants in headers, too. */
static void add_arguments(const struct mcp_client *c, const char *tool, const struct json *args,
                          struct http_headers *h)
{
    size_t i = 0;
    while (i < c->view.tools.len && strcmp(c->view.tools.items[i].name, tool) != 0)
        i++;
    if (i == c->view.tools.len)
        return;
    const char *text = c->view.tools.items[i].schema;
    AUTO(json_free_local) struct json *schema = json_parse(text, strlen(text), NULL);
    const struct json *properties = json_get(schema, "properties");
    for (const struct json *p = json_first(properties); p; p = json_next(p)) {
        const char *header = json_get_string(p, MCP_HEADER);
        const struct json *value = json_get(args, json_name(p));
        if (!header || json_type(value) == JSON_NULL)
            continue;
        auto_free char *full = mem_printf("Mcp-Param-%s", header);
        auto_free char *json = json_print(value);
        add_value(h, full, json_string(value) ? json_string(value) : json);
    }
}

static void add_headers(const struct link *l, const struct post *p, struct http_headers *h)
{
    const struct mcp_client *c = l->c;
    const struct mcp_server *server = c->server;
    http_headers_add(h, "Content-Type: application/json");
    http_headers_add(h, "Accept: application/json, text/event-stream");
    for (size_t i = 0; i < server->headers.len; i++)
        http_headers_add(h, "%s: %s", server->headers.items[i].name,
                         server->headers.items[i].value);
    if (l->header)
        http_headers_add(h, "%s", l->header);
    if (l->session)
        http_headers_add(h, "Mcp-Session-Id: %s", l->session);
    if (c->era == MCP_ERA_MODERN || c->phase > MCP_INITIALIZES)
        http_headers_add(h, "MCP-Protocol-Version: %s",
                         c->era == MCP_ERA_MODERN ? MCP_MODERN : c->view.protocol);
    if (c->era != MCP_ERA_MODERN || !p->method)
        return;
    const struct json *params = json_get(p->message, "params");
    const char *name = json_get_string(params, "name"), *uri = json_get_string(params, "uri");
    add_value(h, "Mcp-Method", p->method);
    if (name || uri)
        add_value(h, "Mcp-Name", name ? name : uri);
    if (name && strcmp(p->method, "tools/call") == 0)
        add_arguments(c, name, json_get(params, "arguments"), h);
}

/* --- one POST --------------------------------------------------------------------------------- */

static void send_aside(struct link *l);

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool take_message(struct post *p, const char *text, size_t len)
{
    struct mcp_client *c = p->link->c;
    struct error e;
    if (!rpc_peer_take(c->peer, text, len, &e))
        return failure_set(&p->failure, FAILURE_TOO_LARGE, "%s", e.text);
    send_aside(p->link);
    return true;
}

static bool on_event(void *context, const char *name, const char *data, size_t len)
{
    return len == 0 || (*name && strcmp(name, "message") != 0) || take_message(context, data, len);
}

static bool on_body(void *context, const char *bytes, size_t len)
{
    struct post *p = context;
    if (!mcp_dialogue_heard(p->link->c, len))
        return failure_set(&p->failure, FAILURE_TOO_LARGE, "it sends without end");
    if (strcmp(p->reply.content_type, events_type) != 0)
        return buf_try_add(&p->body, bytes, len) ||
               failure_set(&p->failure, FAILURE_TOO_LARGE, "an answer has more than 32 MiB");
    enum feed_result fed = sse_feed(&p->events, bytes, len);
    return fed == FEED_OK || p->failure.kind != FAILURE_NONE ||
           failure_set(&p->failure, FAILURE_TOO_LARGE, "an event has more than 32 MiB");
}

/* Whether more is wanted of the answer. */
static bool on_read(void *context)
{
    const struct post *p = context;
    return p->link->c->answers == p->answers;
}

/* Sends what the peer has to say now, beside the stream that is being read; what is answered does
 * not matter. Requests wait for the end of the stream. */
static void send_aside(struct link *l)
{
    struct mcp_client *c = l->c;
    size_t len;
    for (const char *bytes; (bytes = rpc_peer_output(c->peer, &len)), len > 0;) {
        size_t line = (size_t)((const char *)memchr(bytes, '\n', len) + 1 - bytes);
        AUTO(json_free_local) struct json *message = json_parse(bytes, line, NULL);
        if (json_get(message, "method")) {
            vec_push(&l->waiting, mem_strndup(bytes, line));
            rpc_peer_wrote(c->peer, line);
            continue;
        }
        const struct post none = {.link = l};
        struct http_headers headers = {0};
        struct http_reply reply;
        struct failure ignored;
        const struct wakeup soon = {
            .fd = -1, .go_on = never, .deadline_ms = clock_mono_ms() + ASIDE_MS};
        http_reply_init(&reply);
        add_headers(l, &none, &headers);
        const struct http_request request = {.url = c->server->url,
                                             .headers = &headers,
                                             .body = bytes,
                                             .body_len = line,
                                             .reach = c->reach,
                                             .stall_timeout_ms = ASIDE_MS};
        (void)http_perform(l->aside, &request, &soon, &reply, &ignored);
        http_reply_release(&reply);
        http_headers_release(&headers);
        rpc_peer_wrote(c->peer, line);
    }
}

/* Waits for the answer to a request, whatever else comes meanwhile. False: it is not to come: the
 * connection ends, the call was cancelled, or the phase took too long. */
static bool goes_on(void *context)
{
    const struct post *p = context;
    struct mcp_client *c = p->link->c;
    (void)mcp_take_orders(c);
    if (c->phase != MCP_WORKS)
        (void)mcp_dialogue_due(c);
    bool late = p->late_ms && clock_mono_ms() >= p->late_ms;
    bool is_call = p->method && mcp_is_call(p->method);
    bool goes = !c->closes && !late && (!is_call || c->call.ask == p->id);
    if (goes) /* a person may have answered what the server asked */
        send_aside(p->link);
    return goes;
}

/* Ends a request that has no answer, as if the server had refused it. */
static void refuse(struct post *p, const char *why)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    if (p->id && p->answers == p->link->c->answers && p->link->c->peer) {
        json_out_pack(&(struct json_out){.buf = &text},
                      "{jsonrpc:'2.0' id:I error:{code:i message:s}}", p->id, RPC_INTERNAL_ERROR,
                      why);
        (void)rpc_peer_take(p->link->c->peer, text.data, text.len, &e);
    }
}

/* Handles a status that is no success. The server may answer a request of the newer era with an
 * error of JSON-RPC, which tells its era. */
static void judge_status(struct post *p)
{
    struct mcp_client *c = p->link->c;
    int status = p->reply.status;
    AUTO(buf_release) struct buf url = BUF_INIT;
    (void)url_mask(&url, c->server->url);
    if (status == 401 || status == 403) {
        auto_free char *why = mem_printf(
            "it wants a login (HTTP %d); give it a header, or a command that prints one "
            "(headers_command), or start 'npx mcp-remote %s' in its place",
            status, url.data);
        mcp_dialogue_close(c, why);
    } else if (status == 404 && p->link->session) {
        mcp_dialogue_close(c, "its session has ended (HTTP 404); the next call begins another");
    } else {
        if (*p->reply.body.data == '{')
            (void)take_message(p, p->reply.body.data, p->reply.body.len);
        auto_free char *why = mem_printf("HTTP status %d", status);
        refuse(p, why);
    }
}

static int64_t pause_of(const struct sse *events)
{
    int64_t ms = events->retry_ms < 0 ? RETRY_MS : events->retry_ms;
    return ms < RETRY_LEAST_MS ? RETRY_LEAST_MS : ms > RETRY_MOST_MS ? RETRY_MOST_MS : ms;
}

/* Whether a stream that broke off before the answer can be read on from the last event that had an
 * id, as servers of the older era offer; waits as long as they ask for. */
static bool reads_on(struct post *p, bool ok, const struct wakeup *wakeup)
{
    const struct mcp_client *c = p->link->c;
    bool streamed = ok && p->reply.status == 200 && strcmp(p->reply.content_type, events_type) == 0;
    bool lost = !ok && (p->failure.kind == FAILURE_CONNECT || p->failure.kind == FAILURE_CUT);
    int64_t pause = pause_of(&p->events);
    if (streamed)
        (void)sse_end(&p->events);
    if (p->events.last_id.len > 0)
        mem_replace(&p->seen, mem_strdup(p->events.last_id.data));
    if (!p->seen || !(streamed || lost) || !p->id || c->era == MCP_ERA_MODERN ||
        p->answers != c->answers || !wakeup_sleep(wakeup, (int)pause) || p->answers != c->answers)
        return false;
    http_reply_release(&p->reply);
    http_reply_init(&p->reply);
    sse_release(&p->events);
    sse_init(&p->events, RPC_MESSAGE_MAX, on_event, p);
    p->events.retry_ms = pause;
    return true;
}

static void post(struct link *l, const char *text, struct json *message)
{
    struct mcp_client *c = l->c;
    struct post p = {.link = l,
                     .message = message,
                     .method = json_get_string(message, "method"),
                     .id = json_get(message, "method") ? json_get_int(message, "id", 0) : 0,
                     .answers = c->answers};
    /* In the newer era the end of the stream says that. */
    if (c->era == MCP_ERA_MODERN && p.method && strcmp(p.method, "notifications/cancelled") == 0)
        return;
    struct http_headers headers = {0};
    struct wakeup wakeup = {.fd = mailbox_fd(c->orders), .go_on = goes_on, .context = &p};
    wakeup.deadline_ms = c->phase_end_ms;
    if (p.id && p.id == c->offer_ask) /* calls wait for it */
        wakeup.deadline_ms = p.late_ms = clock_mono_ms() + MCP_OFFER_MS;
    http_reply_init(&p.reply);
    buf_init(&p.body, RPC_MESSAGE_MAX);
    sse_init(&p.events, RPC_MESSAGE_MAX, on_event, &p);
    add_headers(l, &p, &headers);
    bool begins = p.method && strcmp(p.method, "initialize") == 0;
    const struct http_request request = {.url = c->server->url,
                                         .headers = &headers,
                                         .body = text,
                                         .body_len = strlen(text),
                                         .wanted = begins ? "Mcp-Session-Id" : NULL,
                                         .reach = c->reach,
                                         .stall_timeout_ms = INT32_MAX, /* the deadline counts */
                                         .on_body = on_body,
                                         .on_read = p.id ? on_read : NULL,
                                         .context = &p};
    bool ok = http_perform(l->http, &request, &wakeup, &p.reply, &p.failure);
    while (reads_on(&p, ok, &wakeup)) {
        const struct post none = {.link = l};
        struct http_headers again = {0};
        struct http_request rest = request;
        add_headers(l, &none, &again);
        http_headers_add(&again, "Last-Event-ID: %s", p.seen);
        rest.headers = &again;
        rest.body = NULL;
        rest.body_len = 0;
        ok = http_perform(l->http, &rest, &wakeup, &p.reply, &p.failure);
        http_headers_release(&again);
    }
    if (ok && p.reply.header && strlen(p.reply.header) < 1024) {
        free(l->session);
        l->session = mem_strdup(p.reply.header);
    }
    if (ok && p.reply.status / 100 != 2) {
        judge_status(&p);
    } else if (ok && strcmp(p.reply.content_type, events_type) == 0) {
        refuse(&p, "the answer ended before the result");
    } else if (ok) {
        if (p.body.len > 0)
            (void)take_message(&p, p.body.data, p.body.len);
        refuse(&p, "there was no answer");
    } else {
        refuse(&p, p.failure.text);
    }
    http_headers_release(&headers);
    http_reply_release(&p.reply);
    sse_release(&p.events);
    buf_release(&p.body);
    free(p.seen);
}

/* --- what the server tells at any time -------------------------------------------------------- */

/* Reads the stream of a GET (older era) or of subscriptions/listen, in a thread of its own. */
struct listener {
    struct mcp_client *c; /* its const parts, and mcp_hand_over() */
    uint64_t connection;
    pthread_t thread;
    struct mailbox *stop; /* anything in it ends the thread */
    struct http_headers headers;
    char *body; /* NULL: GET */
    struct http_reply reply;
    struct sse events;
    struct failure failure;
    bool heard; /* something in this stream */
};

static bool stays(void *listener)
{
    return mailbox_count(((struct listener *)listener)->stop, NULL) == 0;
}

static bool on_told(void *context, const char *name, const char *data, size_t len)
{
    struct listener *l = context;
    l->heard = true;
    return len == 0 || (*name && strcmp(name, "message") != 0) ||
           mcp_hand_over(l->c, l->connection, data, len);
}

static bool on_piece(void *context, const char *bytes, size_t len)
{
    struct listener *l = context;
    if (strcmp(l->reply.content_type, events_type) == 0 &&
        sse_feed(&l->events, bytes, len) == FEED_OK)
        return true;
    return failure_set(&l->failure, FAILURE_PROTOCOL, "it tells what nobody wants");
}

static void *listen_on(void *context)
{
    struct listener *l = context;
    struct http *http = http_new();
    const struct wakeup wakeup = {.fd = mailbox_fd(l->stop), .go_on = stays, .context = l};
    auto_free char *seen = NULL;
    bool offered = true;
    for (int barren = 0; offered && barren < BARREN_MAX; barren = l->heard ? 0 : barren + 1) {
        const struct http_request request = {.url = l->c->server->url,
                                             .headers = &l->headers,
                                             .body = l->body,
                                             .body_len = l->body ? strlen(l->body) : 0,
                                             .reach = l->c->reach,
                                             .stall_timeout_ms = INT32_MAX,
                                             .on_body = on_piece,
                                             .context = l};
        if (seen)
            http_headers_add(&l->headers, "Last-Event-ID: %s", seen);
        l->heard = false;
        http_reply_init(&l->reply);
        sse_init(&l->events, RPC_MESSAGE_MAX, on_told, l);
        bool ok = http_perform(http, &request, &wakeup, &l->reply, &l->failure);
        offered = ok ? l->reply.status == 200 && strcmp(l->reply.content_type, events_type) == 0
                     : l->failure.kind != FAILURE_PROTOCOL;
        if (seen)
            free(l->headers.list.items[--l->headers.list.len]);
        if (l->events.last_id.len > 0 && !l->body)
            mem_replace(&seen, mem_strdup(l->events.last_id.data));
        int64_t pause = pause_of(&l->events);
        http_reply_release(&l->reply);
        sse_release(&l->events);
        if (!offered || !wakeup_sleep(&wakeup, (int)pause))
            break;
    }
    http_free(http);
    return NULL;
}

/* `body` NULL: with a GET. */
static struct listener *listener_new(struct link *l, const char *body, struct json *message)
{
    const struct post as = {
        .link = l, .message = message, .method = json_get_string(message, "method")};
    struct listener *n = mem_alloc(sizeof *n);
    *n = (struct listener){.c = l->c,
                           .connection = l->c->connections,
                           .stop = mailbox_new(free),
                           .body = mem_strdup(body)};
    add_headers(l, &as, &n->headers);
    if (!thread_start(&n->thread, listen_on, n)) {
        mailbox_free(n->stop);
        n->stop = NULL;
    }
    return n;
}

static void listener_free(struct listener *l)
{
    if (!l)
        return;
    if (l->stop) {
        mailbox_push(l->stop, mem_strdup("stop"));
        pthread_join(l->thread, NULL);
        mailbox_free(l->stop);
    }
    http_headers_release(&l->headers);
    free(l->body);
    free(l);
}

/* --- the connection --------------------------------------------------------------------------- */

static bool run_headers_command(struct link *l)
{
    struct mcp_client *c = l->c;
    struct error e;
    if (!c->server->headers_command ||
        key_command_run("headers_command", c->server->headers_command, COMMAND_MS, NULL, &l->header,
                        &e))
        return true;
    mcp_dialogue_close(c, e.text);
    return false;
}

/* Tells the server of the older era that the session is over. */
static void leave(struct link *l)
{
    struct mcp_client *c = l->c;
    const struct wakeup soon = {
        .fd = -1, .go_on = never, .deadline_ms = clock_mono_ms() + MCP_GOODBYE_MS};
    const struct post none = {.link = l};
    struct http_headers headers = {0};
    struct http_reply reply;
    struct failure ignored;
    http_reply_init(&reply);
    add_headers(l, &none, &headers);
    const struct http_request request = {.url = c->server->url,
                                         .headers = &headers,
                                         .method = "DELETE",
                                         .reach = c->reach,
                                         .stall_timeout_ms = MCP_GOODBYE_MS};
    (void)http_perform(l->aside, &request, &soon, &reply, &ignored);
    http_reply_release(&reply);
    http_headers_release(&headers);
}

static bool ends_sleep(void *client)
{
    (void)mcp_take_orders(client);
    return false;
}

void mcp_run_http(struct mcp_client *c)
{
    struct link l = {.c = c, .http = http_new(), .aside = http_new()};
    struct listener *listener = NULL;
    bool usable = run_headers_command(&l);
    while (usable && !c->closes) {
        /* Servers of the older era may ask there, too. */
        if (!listener && c->era == MCP_ERA_LEGACY && c->phase == MCP_WORKS &&
            (c->listens || c->elicits))
            listener = listener_new(&l, NULL, NULL);
        size_t len;
        int due = mcp_dialogue_due(c); /* which may ask */
        const char *bytes = rpc_peer_output(c->peer, &len);
        if (l.waiting.len > 0) {
            auto_free char *text = l.waiting.items[0];
            vec_remove(&l.waiting, 0, 1);
            AUTO(json_free_local) struct json *message = json_parse(text, strlen(text), NULL);
            const char *method = json_get_string(message, "method");
            if (!listener && method && strcmp(method, "subscriptions/listen") == 0)
                listener = listener_new(&l, text, message);
            else
                post(&l, text, message);
            continue;
        }
        if (len > 0) {
            /* Kept apart: an answer may add to the output. */
            size_t line = (size_t)((const char *)memchr(bytes, '\n', len) + 1 - bytes);
            char *message = mem_strndup(bytes, line);
            rpc_peer_wrote(c->peer, line);
            vec_push(&l.waiting, message);
            continue;
        }
        const struct wakeup order = {.fd = c->wakeup.fd, .go_on = ends_sleep, .context = c};
        (void)wakeup_sleep(&order, due < INT_MAX ? due : -1);
    }
    listener_free(listener);
    if (l.session)
        leave(&l);
    for (size_t i = 0; i < l.waiting.len; i++)
        free(l.waiting.items[i]);
    vec_release(&l.waiting);
    key_command_free(l.header);
    free(l.session);
    http_free(l.http);
    http_free(l.aside);
}
