#include "serve/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "serve/mcp_private.h"
#include "serve/wire.h"

void mcp_call_free(struct mcp_call *c)
{
    struct mcp *m = c->mcp;
    if (c->asked)
        server_withdraw(m->server, c->asked);
    if (c->work && c->work->free)
        c->work->free(c);
    vec_drop(&m->calls, c);
    free(c->id);
    free(c);
}

static void on_answer(void *context, const struct operation_answer *a)
{
    struct mcp_call *c = context;
    c->asked = 0;
    c->answered(c, a);
}

void mcp_ask(struct mcp_call *c, const struct operation *o, const void *params,
             void (*answered)(struct mcp_call *c, const struct operation_answer *a))
{
    struct error e;
    c->answered = answered;
    c->asked = server_ask_with(c->mcp->server, o, params, NULL, on_answer, c, &e);
    if (!c->asked)
        mcp_fail_with(c, &e);
}

void mcp_call_cancel(struct mcp_call *c)
{
    if (c->rpc)
        rpc_drop(c->rpc);
    c->rpc = NULL;
    if (c->work && c->work->cancel)
        c->work->cancel(c);
    else
        mcp_call_free(c);
}

/* --- answers ---------------------------------------------------------------------------------- */

void mcp_result_begin(const struct mcp_call *c, struct mcp_result *r, const char *name,
                      const char *json)
{
    *r = (struct mcp_result){.text = BUF_INIT};
    r->out.buf = &r->text;
    json_out_open(&r->out, '{');
    if (c->modern)
        json_out_member(&r->out, "resultType", "complete");
    if (!c->modern && !name)
        return;
    json_out_name(&r->out, "_meta");
    json_out_open(&r->out, '{');
    if (c->modern) {
        json_out_name(&r->out, "io.modelcontextprotocol/serverInfo");
        json_out_pack(&r->out, "{name:'tiro' version:s}", PACKAGE_VERSION);
    }
    if (name) {
        json_out_name(&r->out, name);
        json_out_raw(&r->out, json);
    }
    json_out_close(&r->out, '}');
}

/* The result is one person's: no cache may give a copy to another one. */
void mcp_result_begin_kept(const struct mcp_call *c, struct mcp_result *r, int ttl_ms)
{
    mcp_result_begin(c, r, NULL, NULL);
    if (!c->modern)
        return;
    json_out_int(&r->out, "ttlMs", ttl_ms);
    json_out_member(&r->out, "cacheScope", "private");
}

/* The link may be gone once it has its output. */
static void end(struct mcp_call *c)
{
    struct mcp_link *l = c->link;
    c->rpc = NULL;
    mcp_call_free(c);
    if (l)
        l->wrote(l->context);
}

void mcp_result_send(struct mcp_call *c, struct mcp_result *r)
{
    json_out_close(&r->out, '}');
    if (c->rpc)
        rpc_answer(c->rpc, r->text.data);
    buf_release(&r->text);
    end(c);
}

/* The text of an error without advice to run a command: the caller has tools and no shell. The
 * caller frees. */
static char *without_commands(const struct error *e)
{
    static const char *const commands[] = {"'tiro ", "run it in a shell"};
    const char *command = NULL, *advice = "the person who runs tiro can look into it";
    for (size_t i = 0; i < sizeof commands / sizeof *commands && !command; i++)
        command = strstr(e->text, commands[i]);
    if (!command)
        return mem_strdup(e->text);
    if (e->code == ERR_SESSION_NOT_FOUND)
        advice = "tiro_sessions_search finds sessions by their words";
    else if (e->code == ERR_MEMORY_NOT_FOUND)
        advice = strncmp(command, "'tiro corpus", strlen("'tiro corpus")) == 0
                     ? "tiro_rag_corpora lists the corpora"
                     : "tiro_memory_search finds entries";
    while (command > e->text && *command != ';')
        command--;
    return mem_printf("%.*s; %s", (int)(command - e->text), e->text, advice);
}

void mcp_fail(struct mcp_call *c, int code, const char *message, const char *data_json)
{
    if (c->rpc)
        rpc_fail(c->rpc, code, message, data_json);
    end(c);
}

void mcp_fail_with(struct mcp_call *c, const struct error *e)
{
    auto_free char *data = mem_printf("{\"code\":\"%s\"}", err_info(e->code)->name);
    auto_free char *text = without_commands(e);
    mcp_fail(c, e->code == ERR_USAGE ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, text, data);
}

bool mcp_notify(struct mcp_link *l, const char *method, const char *params_json)
{
    bool heard = l && l->hears && rpc_notify(l->peer, method, params_json);
    if (heard)
        l->wrote(l->context);
    return heard;
}

void mcp_done(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    (void)params;
    mcp_result_begin(c, &r, NULL, NULL);
    mcp_result_send(c, &r);
}

/* --- results of tools ------------------------------------------------------------------------- */

/* `text` NULL: the JSON itself, for clients that know no structured content. */
static void write_content(struct json_out *o, const struct shape *shape, const void *result,
                          const char *text)
{
    AUTO(buf_release) struct buf json = BUF_INIT;
    if (shape)
        shape_write(shape, result, &(struct json_out){.buf = &json});
    json_out_pack(o, "content:[{type:'text' text:s}]", text ? text : shape ? json.data : "done");
    if (!shape)
        return;
    json_out_name(o, "structuredContent");
    json_out_raw(o, json.data);
}

void mcp_tool_send(struct mcp_call *c, const struct shape *shape, const void *result,
                   const char *text)
{
    struct mcp_result r;
    mcp_result_begin(c, &r, NULL, NULL);
    write_content(&r.out, shape, result, text);
    mcp_result_send(c, &r);
}

void mcp_tool_fail(struct mcp_call *c, const struct error *e, const struct shape *shape,
                   const void *result)
{
    struct mcp_result r;
    const char *name = err_info(e->code)->name;
    auto_free char *code = mem_printf("\"%s\"", name);
    auto_free char *told = without_commands(e);
    auto_free char *text = mem_printf("%s: %s", name, told);
    mcp_result_begin(c, &r, "tiro/code", code);
    write_content(&r.out, shape, result, text);
    json_out_pack(&r.out, "isError:b", true);
    mcp_result_send(c, &r);
}

/* How long a client may go by what it was told at first: it holds as long as the process. */
enum { DISCOVERED_MS = 3600 * 1000 };

static const char *const instructions[] = {
    [MCP_AS_TIRO] =
        "tiro keeps conversations with models, shortens them when they grow too long, and "
        "remembers what it took out. tiro_memory_search finds past statements by meaning; "
        "tiro_sessions_search finds words in whole transcripts; tiro_session_read and the "
        "resources tiro://session/ID give the text around a hit.",
    [MCP_AS_MEMORY] =
        "tiro remembers what was said in past conversations, and in the part of this one that was "
        "compacted away. Search it before you answer from a guess or ask the user again.",
    [MCP_AS_SERVER_MEMORY] =
        "A knowledge graph that lasts across conversations: entities with observations, and "
        "relations between them.",
};

/* --- rights of clients ------------------------------------------------------------------------ */

static const struct {
    const char *word;
    enum mcp_right right;
} right_words[] = {
#define X(right, bit, word) {word, MCP_##right},
    MCP_RIGHTS(X)
#undef X
};
enum { RIGHTS_COUNT = sizeof right_words / sizeof *right_words };

const char *mcp_right_word(enum mcp_right right)
{
    size_t i = 0;
    while (right_words[i].right != right)
        i++;
    return right_words[i].word;
}

unsigned mcp_take_rights(struct buf *words)
{
    unsigned given = 0;
    for (size_t at = 0; at < words->len;) {
        const char *word = words->data + at;
        size_t len = strcspn(word, ", ");
        unsigned right = 0;
        for (size_t i = 0; i < RIGHTS_COUNT; i++)
            if (strlen(right_words[i].word) == len && strncmp(right_words[i].word, word, len) == 0)
                right = right_words[i].right;
        given |= right;
        if (right)
            buf_splice(words, at, len, "", 0);
        else
            at += len + 1;
    }
    return given;
}

enum authority mcp_authority(const struct mcp *m)
{
    return m->rights & MCP_OWNER ? AUTHORITY_OWNER : AUTHORITY_CLIENT;
}

/* --- beginnings ------------------------------------------------------------------------------- */

/* A client that is told of changes listens to a stream: of 2026-07-28 the one that it asks for,
 * before that the only one, which HTTP does not have here. */
static void write_capabilities(struct json_out *o, const struct mcp_call *c)
{
    json_out_name(o, "capabilities");
    bool graph = c->mcp->as == MCP_AS_SERVER_MEMORY;
    json_out_raw(o, graph && (c->modern || c->link->http) ? "{\"tools\":{},\"resources\":{}}"
                    : !graph && c->modern ? "{\"tools\":{},\"resources\":{\"subscribe\":true,"
                                            "\"listChanged\":true}}"
                    : c->link->http       ? "{\"tools\":{},\"resources\":{}}"
                                          : "{\"tools\":{},\"resources\":{\"subscribe\":true}}");
}

static void initialize(struct mcp_call *c, const struct json *params)
{
    const char *wanted = json_get_string(params, "protocolVersion");
    struct mcp_result r;
    if (!wanted) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"protocolVersion\" is missing; give a string", NULL);
        return;
    }
    c->link->agreed = mcp_version_for(wanted);
    c->link->begun = true;
    mcp_result_begin(c, &r, NULL, NULL);
    json_out_member(&r.out, "protocolVersion", c->link->agreed);
    write_capabilities(&r.out, c);
    json_out_pack(&r.out, "serverInfo:{name:'tiro' title:'tiro' version:s} instructions:s",
                  PACKAGE_VERSION, instructions[c->mcp->as]);
    mcp_result_send(c, &r);
}

static void discover(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    (void)params;
    mcp_result_begin_kept(c, &r, DISCOVERED_MS);
    json_out_name(&r.out, "supportedVersions");
    mcp_write_versions(&r.out);
    write_capabilities(&r.out, c);
    json_out_member(&r.out, "instructions", instructions[c->mcp->as]);
    mcp_result_send(c, &r);
}

/* --- requests --------------------------------------------------------------------------------- */

enum { LEGACY = 1, MODERN = 2 };

static const struct {
    const char *name;
    unsigned eras;
    mcp_method *run;
    mcp_method *graph; /* as server-memory */
} methods[] = {
    {"initialize", LEGACY, initialize, initialize},
    {"ping", LEGACY, mcp_done, mcp_done},
    {"server/discover", MODERN, discover, discover},
    {"tools/list", LEGACY | MODERN, mcp_tools_list, mcp_tools_list},
    {"tools/call", LEGACY | MODERN, mcp_tools_call, mcp_tools_call},
    {"resources/list", LEGACY | MODERN, mcp_resources_list, mcp_graph_resources},
    {"resources/templates/list", LEGACY | MODERN, mcp_resources_templates, mcp_graph_templates},
    {"resources/read", LEGACY | MODERN, mcp_resources_read, mcp_graph_read},
    {"resources/subscribe", LEGACY, mcp_subscribe, mcp_graph_subscribe},
    {"resources/unsubscribe", LEGACY, mcp_unsubscribe, mcp_graph_unsubscribe},
    {"subscriptions/listen", MODERN, mcp_listen, NULL},
};

static void on_request(void *context, struct rpc_call *rpc, const char *method,
                       const struct json *params)
{
    struct mcp_link *l = context;
    const struct mcp_request r = {.method = method,
                                  .params = params,
                                  .batch = rpc->batch,
                                  .headers = l->headers,
                                  .agreed = l->agreed};
    struct mcp_refusal refusal;
    bool modern;
    if (!mcp_admit(&r, &modern, &refusal)) {
        l->status = refusal.status;
        rpc_fail(rpc, refusal.code, refusal.message, refusal.data);
        free(refusal.data);
        return;
    }
    if (!modern && l->lost && strcmp(method, "initialize") != 0) {
        l->status = 404;
        rpc_fail(rpc, RPC_INVALID_REQUEST, "this session has ended; begin with initialize", NULL);
        return;
    }
    mcp_method *run = NULL;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, method) == 0 && methods[i].eras & (modern ? MODERN : LEGACY))
            run = l->mcp->as == MCP_AS_SERVER_MEMORY ? methods[i].graph : methods[i].run;
    l->status = run || !modern ? 200 : 404;
    if (!run) {
        rpc_fail(rpc, RPC_METHOD_NOT_FOUND, "Method not found", NULL);
        return;
    }
    struct mcp_call *c = mem_alloc(sizeof *c);
    *c = (struct mcp_call){
        .mcp = l->mcp, .link = l, .rpc = rpc, .modern = modern, .id = mem_strdup(rpc->id)};
    memcpy(c->session, l->session, sizeof c->session);
    rpc->kept = c;
    vec_push(&l->mcp->calls, c);
    run(c, params);
}

/* A client of HTTP cancels by session and id: each of its messages has a peer of its own. */
static void on_notification(void *context, const char *method, const struct json *params)
{
    struct mcp_link *l = context;
    const struct json *which = json_get(params, "requestId");
    if (l->lost)
        l->status = 404;
    if (strcmp(method, "notifications/cancelled") != 0 || !which || !*l->session)
        return;
    auto_free char *id = json_print(which);
    for (size_t i = 0; i < l->mcp->calls.len; i++) {
        struct mcp_call *c = l->mcp->calls.items[i];
        struct mcp_link *asked_by = c->link;
        if (strcmp(c->session, l->session) != 0 || strcmp(c->id, id) != 0)
            continue;
        mcp_call_cancel(c);
        if (asked_by) {
            asked_by->status = 202;
            asked_by->wrote(asked_by->context);
        }
        return;
    }
}

static void on_cancelled(void *context, struct rpc_call *rpc)
{
    (void)context;
    mcp_call_cancel(rpc->kept);
}

static const struct rpc_handlers handlers = {.request = on_request,
                                             .notification = on_notification,
                                             .cancelled = on_cancelled,
                                             .cancels_as_mcp = true};

/* --- links ------------------------------------------------------------------------------------ */

void mcp_link_open(struct mcp_link *l, struct mcp *m)
{
    l->mcp = m;
    l->peer = rpc_peer_new(&handlers, l);
    vec_push(&m->links, l);
}

void mcp_link_close(struct mcp_link *l, bool gone)
{
    struct mcp *m = l->mcp;
    mcp_unfollow(l);
    for (size_t i = m->calls.len; i-- > 0;) {
        struct mcp_call *c = m->calls.items[i];
        if (c->link != l)
            continue;
        /* A turn of an older version goes on; a call that only reads does not. */
        bool goes_on = c->work && c->work->lasts && !(gone && c->modern && l->http);
        if (goes_on)
            c->rpc = NULL;
        else
            mcp_call_cancel(c);
    }
    for (size_t i = 0; i < m->calls.len; i++) /* that end when their turns do */
        if (m->calls.items[i]->link == l)
            m->calls.items[i]->link = NULL;
    rpc_peer_free(l->peer);
    vec_drop(&m->links, l);
}

/* --- the server ------------------------------------------------------------------------------- */

/* Ends the requests that only listen. */
static void on_stop(void *context)
{
    struct mcp *m = context;
    for (size_t i = m->links.len; i-- > 0;)
        mcp_stop_listening(m->links.items[i]);
}

struct mcp *mcp_new(struct server *server, unsigned rights, enum mcp_guise as)
{
    struct mcp *m = mem_alloc(sizeof *m);
    *m = (struct mcp){.server = server, .rights = rights, .as = as};
    if (as == MCP_AS_SERVER_MEMORY)
        m->rights |= MCP_GRAPH;
    m->listener = server_listen(server, mcp_turn_notice, m);
    m->end = server_on_stop(server, on_stop, NULL, m);
    m->tools = mcp_tools_json(m);
    return m;
}

void mcp_free(struct mcp *m)
{
    if (!m)
        return;
    while (m->calls.len > 0)
        mcp_call_free(vec_last(&m->calls));
    server_unlisten(m->server, m->listener);
    server_remove_stop(m->server, m->end);
    server_cancel_timer(m->server, m->watching);
    vec_free_each(&m->sessions);
    vec_release(&m->subscriptions);
    vec_release(&m->calls);
    vec_release(&m->links);
    free(m->tools);
    free(m);
}

/* The protocol on a pair of descriptors, a message a line: standard input and output. */

struct mcp_connection {
    struct mcp_link link; /* first */
    struct wire *wire;
};

static void on_line_output(void *context)
{
    struct mcp_connection *c = context;
    wire_update(c->wire);
}

/* Requests are answered still; those that only listen would never end. */
static void on_end_of_input(void *context)
{
    struct mcp_connection *c = context;
    mcp_stop_listening(&c->link);
}

static const struct wire_events events = {.ended = on_end_of_input};

struct mcp_connection *mcp_connect(struct mcp *m, int in, int out, void (*closed)(void *context),
                                   void *context)
{
    struct mcp_connection *c = mem_alloc(sizeof *c);
    c->link = (struct mcp_link){.hears = true, .wrote = on_line_output, .context = c};
    mcp_link_open(&c->link, m);
    c->wire = wire_new(m->server, c->link.peer, in, out, &events, c, closed, context);
    return c;
}

void mcp_disconnect(struct mcp_connection *c)
{
    if (!c)
        return;
    wire_free(c->wire);
    mcp_link_close(&c->link, true);
    free(c);
}

/* The protocol over HTTP: each POST has one message (or, of 2025-03-26, an array of them), and is
 * answered by one, or by a stream of events where something is to be told before. */

/* Clients that have begun and not ended; of more the one is dropped that was away longest, and has
 * to begin again. */
enum { SESSIONS_MOST = 1024 };

struct mcp_exchange {
    struct mcp_link link; /* first */
    const struct mcp_reply *reply;
    void *context;
    bool takes_json;
    bool reading;   /* its message is looked at */
    bool streaming; /* events are sent */
};

/* --- sessions --------------------------------------------------------------------------------- */

static size_t find_session(const struct mcp *m, const char *id)
{
    size_t i = 0;
    while (i < m->sessions.len && strcmp(m->sessions.items[i]->id, id) != 0)
        i++;
    return i;
}

int mcp_delete(struct mcp *m, const char *session)
{
    size_t at = session ? find_session(m, session) : 0;
    if (!session)
        return 405;
    if (at == m->sessions.len)
        return 404;
    free(m->sessions.items[at]);
    vec_remove(&m->sessions, at, 1);
    return 204;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void begin_stream(struct mcp_exchange *x)
{
    x->streaming = true;
    x->reply->begin(x->context, x->link.begun ? x->link.session : NULL);
}

/* Sends what there is: a message alone as the answer, unless the client takes only events or
 * another message is still to come. Returns whether the exchange is over. */
static bool pump(struct mcp_exchange *x)
{
    struct rpc_peer *peer = x->link.peer;
    const int said = x->link.status; /* 0: the body was no request */
    bool sent = false;
    size_t len;
    const char *bytes;
    while ((bytes = rpc_peer_output(peer, &len), len > 0)) {
        size_t line = (size_t)((const char *)memchr(bytes, '\n', len) - bytes);
        bool only = line + 1 == len && rpc_peer_calls(peer) == 0;
        int status = said ? said : 400;
        if (!x->streaming && only && (status != 200 || x->takes_json)) {
            x->reply->answer(x->context, status, x->link.begun ? x->link.session : NULL, bytes,
                             line);
        } else {
            if (!x->streaming)
                begin_stream(x);
            x->reply->event(x->context, bytes, line);
        }
        rpc_peer_wrote(peer, line + 1);
        sent = true;
    }
    if (rpc_peer_calls(peer) > 0)
        return false;
    if (x->streaming)
        x->reply->end(x->context);
    else if (!sent)
        x->reply->answer(x->context, said ? said : 202, NULL, NULL, 0);
    return true;
}

static void on_http_output(void *context)
{
    struct mcp_exchange *x = context;
    if (x->reading || !pump(x))
        return;
    mcp_link_close(&x->link, false);
    free(x);
}

/* --- messages --------------------------------------------------------------------------------- */

/* A session that is used moves behind the others. */
static struct mcp_exchange *exchange_new(struct mcp *m, const struct mcp_headers *headers,
                                         const struct mcp_reply *reply, void *context)
{
    const char *version = headers->protocol_version;
    bool modern = version && strcmp(version, mcp_versions[0]) == 0; /* which has no sessions */
    size_t at = headers->session ? find_session(m, headers->session) : m->sessions.len;
    struct mcp_session *session = at < m->sessions.len ? m->sessions.items[at] : NULL;
    struct mcp_exchange *x = mem_alloc(sizeof *x);
    x->reply = reply;
    x->context = context;
    x->takes_json = headers->takes_json;
    x->link = (struct mcp_link){.agreed = session ? session->version : NULL,
                                .http = true,
                                .headers = headers,
                                .lost = headers->session && !session && !modern,
                                .hears = headers->takes_events,
                                .wrote = on_http_output,
                                .context = x};
    if (session) {
        memcpy(x->link.session, session->id, sizeof x->link.session);
        vec_remove(&m->sessions, at, 1);
        vec_push(&m->sessions, session);
    }
    mcp_link_open(&x->link, m);
    return x;
}

struct mcp_exchange *mcp_post(struct mcp *m, const struct mcp_headers *headers, const char *body,
                              size_t len, const struct mcp_reply *reply, void *context)
{
    struct error e;
    if (!headers->takes_events && !headers->takes_json) {
        reply->answer(context, 406, NULL, NULL, 0);
        return NULL;
    }
    struct mcp_exchange *x = exchange_new(m, headers, reply, context);
    x->reading = true;
    (void)rpc_peer_take(x->link.peer, body, len, &e); /* a fault of the body is answered */
    x->reading = false;
    x->link.headers = NULL;
    if (x->link.begun) {
        struct mcp_session *s = mem_alloc(sizeof *s);
        uuid_new(s->id);
        s->version = x->link.agreed;
        memcpy(x->link.session, s->id, sizeof x->link.session);
        if (m->sessions.len >= SESSIONS_MOST) {
            free(m->sessions.items[0]);
            vec_remove(&m->sessions, 0, 1);
        }
        vec_push(&m->sessions, s);
    }
    if (pump(x)) {
        mcp_link_close(&x->link, false);
        free(x);
        return NULL;
    }
    /* Only on a stream does it show that the client has gone, which matters where a model works. */
    bool works = false;
    for (size_t i = 0; i < m->calls.len; i++) {
        const struct mcp_call *c = m->calls.items[i];
        works = works || (c->link == &x->link && c->modern && c->work && c->work->lasts);
    }
    if (works && x->link.hears)
        begin_stream(x);
    return x;
}

void mcp_hang_up(struct mcp_exchange *x)
{
    mcp_link_close(&x->link, true);
    free(x);
}
