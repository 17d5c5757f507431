#include "serve/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/mcp_admit.h"
#include "serve/mcp_private.h"

/* How long a client may go by what it was told at first: it holds as long as the process. */
enum { DISCOVERED_MS = 3600 * 1000 };

static const char instructions[] =
    "tiro keeps conversations with models, shortens them when they grow too long, and remembers "
    "what "
    "it took out. tiro_memory_search finds past statements by meaning; tiro_sessions_search finds "
    "words in whole transcripts; tiro_session_read and the resources tiro://session/ID give the "
    "text around a hit.";

/* --- what leave is for ------------------------------------------------------------------------ */

static const struct {
    const char *word;
    enum mcp_leave leave;
} leaves[] = {
#define X(leave, bit, word) {word, MCP_##leave},
    MCP_LEAVES(X)
#undef X
};
enum { LEAVES = sizeof leaves / sizeof *leaves };

static unsigned leave_of(const char *word, size_t len)
{
    for (size_t i = 0; i < LEAVES; i++)
        if (strlen(leaves[i].word) == len && strncmp(leaves[i].word, word, len) == 0)
            return leaves[i].leave;
    return 0;
}

const char *mcp_leave_word(enum mcp_leave leave)
{
    size_t i = 0;
    while (leaves[i].leave != leave)
        i++;
    return leaves[i].word;
}

unsigned mcp_take_leave(struct buf *words)
{
    unsigned given = 0;
    for (size_t at = 0; at < words->len;) {
        size_t len = strcspn(words->data + at, ", ");
        unsigned leave = leave_of(words->data + at, len);
        given |= leave;
        if (leave)
            buf_splice(words, at, len, "", 0);
        else
            at += len + 1;
    }
    return given;
}

enum authority mcp_authority(const struct mcp *m)
{
    return m->leave & MCP_OWNER ? AUTHORITY_OWNER : AUTHORITY_CLIENT;
}

/* --- beginnings ------------------------------------------------------------------------------- */

/* Whoever is told of changes listens to a stream: of 2026-07-28 one that it asks for, before that
 * the only one, which HTTP does not have here. */
static const char *capabilities_of(const struct mcp_call *c)
{
    if (c->modern)
        return "{\"tools\":{},\"resources\":{\"subscribe\":true,\"listChanged\":true}}";
    return c->link->http ? "{\"tools\":{},\"resources\":{}}"
                         : "{\"tools\":{},\"resources\":{\"subscribe\":true}}";
}

static void write_capabilities(struct json_out *o, const struct mcp_call *c)
{
    json_out_name(o, "capabilities");
    json_out_raw(o, capabilities_of(c));
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
    mcp_result_begin(c, &r);
    json_out_member(&r.out, "protocolVersion", c->link->agreed);
    write_capabilities(&r.out, c);
    json_out_name(&r.out, "serverInfo");
    json_out_raw(&r.out,
                 "{\"name\":\"tiro\",\"title\":\"tiro\",\"version\":\"" PACKAGE_VERSION "\"}");
    json_out_member(&r.out, "instructions", instructions);
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
    json_out_member(&r.out, "instructions", instructions);
    mcp_result_send(c, &r);
}

static void ping(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    (void)params;
    mcp_result_begin(c, &r);
    mcp_result_send(c, &r);
}

/* --- requests --------------------------------------------------------------------------------- */

enum { LEGACY = 1, MODERN = 2 };

static const struct {
    const char *name;
    unsigned eras;
    mcp_method *run;
} methods[] = {
    {"initialize", LEGACY, initialize},
    {"ping", LEGACY, ping},
    {"server/discover", MODERN, discover},
    {"tools/list", LEGACY | MODERN, mcp_tools_list},
    {"tools/call", LEGACY | MODERN, mcp_tools_call},
    {"resources/list", LEGACY | MODERN, mcp_resources_list},
    {"resources/templates/list", LEGACY | MODERN, mcp_resources_templates},
    {"resources/read", LEGACY | MODERN, mcp_resources_read},
    {"resources/subscribe", LEGACY, mcp_subscribe},
    {"resources/unsubscribe", LEGACY, mcp_unsubscribe},
    {"subscriptions/listen", MODERN, mcp_listen},
};

static mcp_method *find_method(const char *name, bool modern)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0 && methods[i].eras & (modern ? MODERN : LEGACY))
            return methods[i].run;
    return NULL;
}

static bool admit(struct mcp_link *l, struct rpc_call *rpc, const char *method,
                  const struct json *params, bool *modern)
{
    const struct mcp_request r = {.method = method,
                                  .params = params,
                                  .batch = rpc_call_in_batch(rpc),
                                  .headers = l->headers,
                                  .agreed = l->agreed};
    struct mcp_refusal refusal;
    if (!mcp_admit(&r, modern, &refusal)) {
        l->status = refusal.status;
        rpc_fail(rpc, refusal.code, refusal.message, refusal.data);
        free(refusal.data);
        return false;
    }
    if (*modern || !l->lost || strcmp(method, "initialize") == 0)
        return true;
    l->status = 404;
    rpc_fail(rpc, RPC_INVALID_REQUEST, "this session has ended; begin with initialize", NULL);
    return false;
}

static void on_request(void *context, struct rpc_call *rpc, const char *method,
                       const struct json *params)
{
    struct mcp_link *l = context;
    bool modern;
    if (!admit(l, rpc, method, params, &modern))
        return;
    mcp_method *run = find_method(method, modern);
    l->status = run || !modern ? 200 : 404;
    if (run)
        run(mcp_call_new(l, rpc, modern), params);
    else
        rpc_fail(rpc, RPC_METHOD_NOT_FOUND, "Method not found", NULL);
}

/* Of a client of HTTP each message has a peer of its own, so that it cancels by session and id. */
static void on_notification(void *context, const char *method, const struct json *params)
{
    struct mcp_link *l = context;
    const struct json *which = json_get(params, "requestId");
    if (l->lost)
        l->status = 404;
    if (strcmp(method, "notifications/cancelled") != 0 || !which || !*l->session)
        return;
    char *id = json_print(which);
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
        break;
    }
    free(id);
}

static void on_cancelled(void *context, struct rpc_call *rpc)
{
    (void)context;
    mcp_call_cancel(rpc_call_kept(rpc));
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

/* What only reads is left; a turn of an older version goes on. */
static void leave(struct mcp_call *c, bool gone)
{
    bool goes_on = c->work && c->work->lasts && !(gone && c->modern && c->link->http);
    if (!goes_on) {
        mcp_call_cancel(c);
        return;
    }
    c->link = NULL;
    c->rpc = NULL;
}

void mcp_link_close(struct mcp_link *l, bool gone)
{
    struct mcp *m = l->mcp;
    mcp_unfollow(l);
    for (size_t i = m->calls.len; i-- > 0;)
        if (m->calls.items[i]->link == l)
            leave(m->calls.items[i], gone);
    for (size_t i = 0; i < m->calls.len; i++) /* that end when their turns do */
        if (m->calls.items[i]->link == l)
            m->calls.items[i]->link = NULL;
    rpc_peer_free(l->peer);
    for (size_t i = m->links.len; i-- > 0;)
        if (m->links.items[i] == l)
            vec_remove(&m->links, i, 1);
}

/* --- the server ------------------------------------------------------------------------------- */

static void on_notice(void *context, const struct notice *n)
{
    mcp_turn_notice(context, n);
}

/* Who only listens is told that it is over. */
static void on_stop(void *context)
{
    struct mcp *m = context;
    for (size_t i = m->links.len; i-- > 0;)
        mcp_stop_listening(m->links.items[i]);
}

static bool is_written(void *context)
{
    (void)context;
    return true;
}

struct mcp *mcp_new(struct server *server, unsigned leave)
{
    struct mcp *m = mem_alloc(sizeof *m);
    *m = (struct mcp){.server = server, .leave = leave};
    m->listener = server_listen(server, on_notice, m);
    m->end = server_at_end(server, on_stop, is_written, m);
    m->tools = mcp_tools_json(server_config(server), leave);
    return m;
}

void mcp_free(struct mcp *m)
{
    if (!m)
        return;
    while (m->calls.len > 0)
        mcp_call_free(vec_last(&m->calls));
    server_deafen(m->server, m->listener);
    server_take_end(m->server, m->end);
    server_take_back(m->server, m->watching);
    vec_free_each(&m->sessions);
    vec_release(&m->subscriptions);
    vec_release(&m->calls);
    vec_release(&m->links);
    free(m->tools);
    free(m);
}
