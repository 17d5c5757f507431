/* The messages between client and server in either era of the protocol: the agreement on a
 * version, the list of tools, one call at a time. The peer (rpc/peer.h) has the messages; the bytes
 * are moved by stdio.c and http_link.c. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/client_private.h"

enum {
    PAGES_MAX = 64,       /* of a list of tools */
    ROUNDS_MAX = 8,       /* of a call whose results want input */
    UNSUPPORTED = -32022, /* version, in an error */
    URL_NEEDED = -32042   /* a person has to open a page first; before 2026-07-28 */
};

/* By MCP_ELICITS_…: capabilities of a client that has a person. */
static const char *const capabilities[] = {"{}", "{\"elicitation\":{\"form\":{}}}",
                                           "{\"elicitation\":{\"url\":{}}}",
                                           "{\"elicitation\":{\"form\":{},\"url\":{}}}"};

static void discover(struct mcp_client *c, int wait_ms);
static void initialize(struct mcp_client *c);
static void list(struct mcp_client *c, const char *cursor);

void mcp_dialogue_close(struct mcp_client *c, const char *why)
{
    if (c->closes)
        return;
    c->closes = true;
    c->closes_ms = clock_mono_ms();
    c->fault = mem_strdup(why);
}

__attribute__((format(printf, 2, 3))) static void fail(struct mcp_client *c, const char *format,
                                                       ...)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    auto_free char *why = utf8_clean_line(text.data);
    mcp_dialogue_close(c, why);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Members of params. */
struct params {
    struct buf text;
    struct json_out out;
};

static void params_begin(struct params *p)
{
    *p = (struct params){.text = BUF_INIT};
    p->out.buf = &p->text;
    json_out_open(&p->out, '{');
}

/* Sends the request and releases its params; a token (0: none) is that of its progress. */
static int64_t ask(struct mcp_client *c, const char *method, struct params *p, uint64_t token,
                   rpc_answered *answered)
{
    if (c->era == MCP_ERA_MODERN || token) {
        json_out_name(&p->out, "_meta");
        json_out_open(&p->out, '{');
        if (c->era == MCP_ERA_MODERN) {
            json_out_member(&p->out, MCP_META "protocolVersion", MCP_MODERN);
            json_out_name(&p->out, MCP_META "clientInfo");
            json_out_pack(&p->out, "{name:'tiro' version:s}", PACKAGE_VERSION);
            json_out_name(&p->out, MCP_META "clientCapabilities");
            json_out_raw(&p->out, capabilities[c->elicits]);
        }
        if (token)
            json_out_int(&p->out, "progressToken", (int64_t)token);
        json_out_close(&p->out, '}');
    }
    json_out_close(&p->out, '}');
    int64_t id = rpc_ask(c->peer, method, p->text.data, answered, c);
    buf_release(&p->text);
    if (!id)
        mcp_dialogue_close(c, "it does not read what it is sent");
    return id;
}

static void enter(struct mcp_client *c, enum mcp_phase phase, int wait_ms)
{
    c->phase = phase;
    c->phase_end_ms = wait_ms > 0 ? clock_mono_ms() + wait_ms : 0;
}

/* --- the beginning ---------------------------------------------------------------------------- */

/* Keeps what the server says of itself. */
static void note_server(struct mcp_client *c, const char *protocol, const struct json *result,
                        const struct json *info)
{
    const char *name = json_get_string(info, "name"), *version = json_get_string(info, "version");
    struct mcp_view *v = &c->view;
    pthread_mutex_lock(&c->lock);
    free(v->protocol);
    free(v->name);
    free(v->server_version);
    free(v->instructions);
    v->protocol = mem_strdup(protocol);
    v->name = name ? utf8_clean_line(name) : NULL;
    v->server_version = version ? utf8_clean_line(version) : NULL;
    v->instructions = mem_strdup(json_get_string(result, "instructions"));
    pthread_mutex_unlock(&c->lock);
    const struct json *tools = json_get(json_get(result, "capabilities"), "tools");
    c->has_tools = tools;
    mcp_offers_note(c, json_get(result, "capabilities"));
    c->listens = json_get_bool(tools, "listChanged", false);
    mcp_note_era(c);
    list(c, NULL);
}

static void on_discovered(void *client, const struct json *result, const struct rpc_fault *fault)
{
    struct mcp_client *c = client;
    c->answers++;
    if (c->closes)
        return;
    for (const struct json *v = json_first(json_get(result, "supportedVersions")); v;
         v = json_next(v))
        if (json_string(v) && strcmp(json_string(v), MCP_MODERN) == 0) {
            note_server(c, MCP_MODERN, result,
                        json_get(json_get(result, "_meta"), MCP_META "serverInfo"));
            return;
        }
    const struct json *supported = fault ? json_get(fault->data, "supported") : NULL;
    for (const struct json *v = json_first(supported); v && !c->rejected; v = json_next(v))
        if (fault->code == UNSUPPORTED && json_string(v) &&
            strcmp(json_string(v), MCP_MODERN) == 0) {
            c->rejected = true;
            discover(c, MCP_START_MS);
            return;
        }
    if (c->slow) {
        fail(c, "it speaks no version of the protocol that tiro knows: %s",
             fault ? fault->message : "its answer to server/discover names none");
        return;
    }
    c->era = MCP_ERA_LEGACY;
    initialize(c);
}

static void discover(struct mcp_client *c, int wait_ms)
{
    struct params p;
    c->era = MCP_ERA_MODERN;
    enter(c, MCP_DISCOVERS, wait_ms);
    params_begin(&p);
    (void)ask(c, "server/discover", &p, 0, on_discovered);
}

static void on_initialized(void *client, const struct json *result, const struct rpc_fault *fault)
{
    static const char *const known[] = {MCP_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"};
    struct mcp_client *c = client;
    const char *version = json_get_string(result, "protocolVersion"), *agreed = NULL;
    c->answers++;
    if (c->closes)
        return;
    /* It came too late to the probe, or is another one now, and speaks the newer era alone. */
    if (fault && (c->slow || c->known == MCP_ERA_LEGACY)) {
        c->slow = true;
        discover(c, MCP_START_MS);
        return;
    }
    if (fault) {
        fail(c, "it cannot be begun with: %s", fault->message);
        return;
    }
    for (size_t i = 0; version && i < sizeof known / sizeof *known; i++)
        agreed = strcmp(version, known[i]) == 0 ? known[i] : agreed;
    if (!agreed) {
        fail(c, "it speaks version %.40s of the protocol, which tiro does not know",
             version ? version : "(none)");
        return;
    }
    (void)rpc_notify(c->peer, "notifications/initialized", NULL);
    note_server(c, agreed, result, json_get(result, "serverInfo"));
}

static void initialize(struct mcp_client *c)
{
    struct params p;
    enter(c, MCP_INITIALIZES, MCP_START_MS);
    params_begin(&p);
    json_out_pack(
        &p.out, "protocolVersion:s capabilities:r clientInfo:{name:'tiro' title:'tiro' version:s}",
        MCP_LEGACY, capabilities[c->elicits], PACKAGE_VERSION);
    (void)ask(c, "initialize", &p, 0, on_initialized);
}

/* --- the list of tools ------------------------------------------------------------------------ */

static void forget_found(struct mcp_client *c)
{
    mcp_view_release(&c->found);
    c->schema_bytes = 0;
}

/* The new list is the one that counts. */
static void end_list(struct mcp_client *c)
{
    bool first = c->phase != MCP_WORKS;
    struct mcp_view *v = &c->view;
    enter(c, MCP_WORKS, 0);
    pthread_mutex_lock(&c->lock);
    __typeof__(v->tools) old = v->tools;
    v->tools = c->found.tools;
    v->left_out = c->found.left_out;
    c->found.tools = old;
    pthread_mutex_unlock(&c->lock);
    forget_found(c);
    c->pages = 0;
    mcp_tell_state(c, MCP_READY, NULL);
    if (first)
        mcp_dialogue_call(c);
    if (first)
        mcp_offers_read(c);
    /* A server of the newer era tells changes to those alone who ask. */
    if (first && c->listens && c->era == MCP_ERA_MODERN) {
        struct params p;
        params_begin(&p);
        json_out_pack(&p.out,
                      "notifications:{toolsListChanged:b promptsListChanged:b "
                      "resourcesListChanged:b}",
                      c->has_tools, c->has_offer[MCP_OFFER_PROMPTS],
                      c->has_offer[MCP_OFFER_RESOURCES]);
        (void)ask(c, "subscriptions/listen", &p, 0, NULL);
    }
}

static void on_listed(void *client, const struct json *result, const struct rpc_fault *fault)
{
    struct mcp_client *c = client;
    c->answers++;
    if (c->closes)
        return;
    if (fault && c->phase == MCP_WORKS) { /* the old list stays */
        c->pages = 0;
        forget_found(c);
        return;
    }
    if (fault) {
        fail(c, "it does not list its tools: %s", fault->message);
        return;
    }
    mcp_take_tools(c, json_get(result, "tools"));
    const char *cursor = json_get_string(result, "nextCursor");
    if (cursor && c->pages < PAGES_MAX)
        list(c, cursor);
    else
        end_list(c);
}

int64_t mcp_dialogue_list(struct mcp_client *c, const char *method, const char *cursor,
                          rpc_answered *answered)
{
    struct params p;
    params_begin(&p);
    json_out_member(&p.out, "cursor", cursor);
    return ask(c, method, &p, 0, answered);
}

static void list(struct mcp_client *c, const char *cursor)
{
    if (c->phase != MCP_WORKS)
        enter(c, MCP_LISTS, MCP_START_MS);
    if (!cursor)
        forget_found(c);
    if (!c->has_tools) {
        end_list(c);
        return;
    }
    c->pages++;
    (void)mcp_dialogue_list(c, "tools/list", cursor, on_listed);
}

/* --- a call ----------------------------------------------------------------------------------- */

static void send_call(struct mcp_client *c, const struct json *inputs, const struct json *answers);

/* Handles a result that has requests in place of content. Without a person they are declined. */
static void take_requests(struct mcp_client *c, const struct json *result)
{
    const struct json *requests = json_get(result, "inputRequests");
    AUTO(json_free_local) struct json *declined = json_new_object();
    bool known = ++c->call.rounds <= ROUNDS_MAX;
    for (const struct json *r = json_first(requests); r; r = json_next(r)) {
        const char *method = json_get_string(r, "method");
        known = known && method && strcmp(method, "elicitation/create") == 0;
        json_set(declined, json_name(r), json_pack("{action:'decline'}"));
    }
    if (!known) {
        mcp_tell_failure(c, "the server wants to ask for more than tiro answers");
    } else if (c->elicits && json_first(requests)) {
        c->call.inputs = json_clone(result);
        mcp_tell_question(c, requests);
    } else {
        send_call(c, result, declined);
    }
}

/* The same for an error that names pages to open, after which the call is sent again. */
static bool take_pages(struct mcp_client *c, const struct rpc_fault *fault)
{
    AUTO(json_free_local) struct json *result = json_new_object();
    const struct json *pages = json_get(fault->data, "elicitations");
    if (fault->code != URL_NEEDED || !c->elicits || !json_first(pages))
        return false;
    struct json *requests = json_new_object();
    for (const struct json *p = json_first(pages); p; p = json_next(p)) {
        auto_free char *name = mem_printf("%zu", json_len(requests));
        struct json *request = json_pack("{method:'elicitation/create'}");
        json_set(request, "params", json_clone(p));
        json_set(requests, name, request);
    }
    json_set(result, "inputRequests", requests);
    take_requests(c, result);
    return true;
}

static void on_called(void *client, const struct json *result, const struct rpc_fault *fault)
{
    struct mcp_client *c = client;
    const char *type = json_get_string(result, "resultType");
    c->answers++;
    c->call.ask = 0;
    if (c->closes && !result)
        return; /* why, is told when the connection has ended */
    if (fault && take_pages(c, fault))
        return;
    if (fault) {
        auto_free char *why =
            mem_printf("the server refused the call: %s (%d)",
                       *fault->message ? fault->message : "without a reason", fault->code);
        mcp_tell_failure(c, why);
    } else if (type && strcmp(type, "input_required") == 0) {
        take_requests(c, result);
    } else {
        c->deaths = 0;
        const struct mcp_outcome outcome = mcp_call_outcome(c->call.what, result);
        mcp_tell_result(c, &outcome);
    }
}

/* `inputs`: the result or error that wanted input; NULL: there was none. */
static void send_call(struct mcp_client *c, const struct json *inputs, const struct json *answers)
{
    struct params p;
    params_begin(&p);
    if (c->call.what == MCP_READ_RESOURCE)
        json_out_member(&p.out, "uri", c->call.name);
    else
        json_out_pack(&p.out, "name:s arguments:r", c->call.name, c->call.args);
    if (inputs && c->era == MCP_ERA_MODERN) {
        auto_free char *responses = json_print(answers);
        json_out_pack(&p.out, "inputResponses:r", responses);
    }
    if (json_get(inputs, "requestState")) {
        auto_free char *state = json_print(json_get(inputs, "requestState"));
        json_out_pack(&p.out, "requestState:r", state);
    }
    c->call.ask = ask(c, mcp_call_method(c->call.what), &p, c->call.number, on_called);
}

void mcp_dialogue_answer(struct mcp_client *c, const char *answers)
{
    AUTO(json_free_local) struct json *all = json_parse(answers, strlen(answers), NULL);
    AUTO(json_free_local) struct json *inputs = c->call.inputs;
    struct rpc_call *asked = c->call.asked;
    bool accepted = true;
    c->call.inputs = NULL;
    mcp_take_back_question(c);
    for (const struct json *a = json_first(all); a; a = json_next(a)) {
        const char *action = json_get_string(a, "action");
        accepted = accepted && action && strcmp(action, "accept") == 0;
    }
    if (asked) {
        auto_free char *result = json_print(json_first(all));
        rpc_answer(asked, result);
    } else if (inputs && (accepted || c->era == MCP_ERA_MODERN)) {
        send_call(c, inputs, all);
    } else if (inputs) {
        mcp_tell_failure(c, "the user did not open the page that the server needs");
    }
}

void mcp_dialogue_call(struct mcp_client *c)
{
    if (c->call.number && !c->call.ask && c->phase == MCP_WORKS && !c->closes)
        send_call(c, NULL, NULL);
}

void mcp_dialogue_cancel(struct mcp_client *c)
{
    if (c->call.ask && c->peer)
        rpc_withdraw(c->peer, c->call.ask);
    c->call.ask = 0;
}

/* --- what the server sends -------------------------------------------------------------------- */

static void on_request(void *client, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    struct mcp_client *c = client;
    if (strcmp(method, "ping") == 0) {
        rpc_answer(call, "{}");
    } else if (strcmp(method, "elicitation/create") != 0) {
        rpc_fail(call, RPC_METHOD_NOT_FOUND, "tiro does not have this method", NULL);
    } else if (c->elicits && params && c->call.ask && !c->call.asked) {
        AUTO(json_free_local) struct json *requests = json_new_object();
        struct json *request = json_new_object();
        json_set(request, "params", json_clone(params));
        json_set(requests, "form", request);
        c->call.asked = call;
        mcp_tell_question(c, requests);
    } else {
        rpc_answer(call, c->elicits ? MCP_NO_ANSWER : "{\"action\":\"decline\"}");
    }
}

static void on_cancelled(void *client, struct rpc_call *call)
{
    struct mcp_client *c = client;
    if (c->call.asked == call)
        mcp_take_back_question(c);
    rpc_drop(call);
}

/* "Copying (3 of 10)", or what of it is known. */
static void on_progress(struct mcp_client *c, const struct json *params)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    const char *message = json_get_string(params, "message");
    double done = json_get_number(params, "progress", 0);
    double all = json_get_number(params, "total", 0);
    if (json_get_number(params, "progressToken", 0) != (double)c->call.number || !c->call.ask)
        return;
    if (message)
        utf8_add_cut(&line, message, strlen(message), 200);
    buf_addf(&line, "%s%g", message ? " (" : "", done);
    if (all > 0)
        buf_addf(&line, " of %g", all);
    if (message)
        buf_addch(&line, ')');
    auto_free char *clean = utf8_clean_line(line.data);
    mcp_tell_progress(c, clean);
}

static void on_notification(void *client, const char *method, const struct json *params)
{
    struct mcp_client *c = client;
    if (strcmp(method, "notifications/progress") == 0)
        on_progress(c, params);
    else if (strcmp(method, "notifications/tools/list_changed") == 0 && c->has_tools)
        c->relist_ms = c->relist_ms ? c->relist_ms : clock_mono_ms() + MCP_RELIST_MS;
    else
        mcp_offers_heard(c, method);
}

bool mcp_dialogue_heard(struct mcp_client *c, size_t len)
{
    c->heard = c->answers != c->answers_heard ? len : c->heard + len;
    c->answers_heard = c->answers;
    if (c->heard > MCP_HEARD_MAX)
        mcp_dialogue_close(c, "it sends without end");
    return c->heard <= MCP_HEARD_MAX;
}

int mcp_dialogue_due(struct mcp_client *c)
{
    int64_t now = clock_mono_ms(), next = c->phase_end_ms ? c->phase_end_ms : INT64_MAX;
    if (c->closes)
        return INT_MAX;
    if (now >= next && c->phase == MCP_DISCOVERS && !c->slow) {
        c->slow = c->afresh = true;
        mcp_dialogue_close(c, NULL);
        return INT_MAX;
    }
    if (now >= next) {
        fail(c, "it did not answer for %d s", MCP_START_MS / 1000);
        return INT_MAX;
    }
    if (c->relist_ms && now >= c->relist_ms && c->phase == MCP_WORKS && c->pages == 0) {
        c->relist_ms = 0;
        list(c, NULL);
    }
    if (c->relist_ms && c->phase == MCP_WORKS && c->pages == 0 && c->relist_ms < next)
        next = c->relist_ms;
    bool idle = c->offers_due_ms && c->phase == MCP_WORKS && c->offer == MCP_OFFERS;
    if (idle && now >= c->offers_due_ms)
        mcp_offers_read(c);
    else if (idle && c->offers_due_ms < next)
        next = c->offers_due_ms;
    return next - now < INT_MAX ? (int)(next - now) : INT_MAX;
}

/* --- a connection ----------------------------------------------------------------------------- */

void mcp_dialogue_begin(struct mcp_client *c)
{
    static const struct rpc_handlers handlers = {.request = on_request,
                                                 .notification = on_notification,
                                                 .cancelled = on_cancelled,
                                                 .cancels_as_mcp = true};
    c->peer = rpc_peer_new(&handlers, c);
    c->phase = MCP_SILENT;
    c->closes = c->afresh = c->rejected = false;
    c->heard = 0;
    c->relist_ms = 0;
    c->pages = 0;
    c->offer = MCP_OFFERS;
    c->offer_ask = c->offers_due_ms = 0;
    free(c->fault);
    c->fault = NULL;
    c->era = MCP_ERA_LEGACY;
    if (c->known == MCP_ERA_LEGACY || c->slow)
        initialize(c);
    else
        discover(c, c->known == MCP_ERA_MODERN || c->server->url ? MCP_START_MS : MCP_PROBE_MS);
}

void mcp_dialogue_end(struct mcp_client *c)
{
    c->closes = true; /* nothing follows from the answers that will not come */
    mcp_take_back_question(c);
    rpc_peer_free(c->peer);
    c->peer = NULL;
    c->phase = MCP_SILENT;
    c->call.ask = 0;
    forget_found(c);
}
