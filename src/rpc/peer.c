#include "rpc/peer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

/* Bytes of a line whose values may have taken tens of megabytes of small blocks. */
#define LARGE_LINE ((size_t)512 * 1024)

/* The answers to an array of requests, which go out together. */
struct rpc_batch {
    struct buf answers; /* parted by commas */
    size_t open;        /* answers that lack, and one more while its messages are read */
};

struct ask {
    int64_t id;
    rpc_answered *answered;
    void *context;
};

struct rpc_peer {
    const struct rpc_handlers *handlers;
    void *context;
    struct buf in;  /* a line whose end has not come */
    struct buf out; /* of which `written` bytes are gone */
    size_t written;
    VEC(struct rpc_call *) calls;
    VEC(struct ask) asks;
    int64_t asked;
    bool closing;
};

struct rpc_peer *rpc_peer_new(const struct rpc_handlers *handlers, void *context)
{
    struct rpc_peer *p = mem_alloc(sizeof *p);
    p->handlers = handlers;
    p->context = context;
    buf_init(&p->in, RPC_MESSAGE_MAX);
    buf_init(&p->out, 0);
    return p;
}

/* --- output ----------------------------------------------------------------------------------- */

const char *rpc_peer_output(const struct rpc_peer *p, size_t *len)
{
    *len = p->out.len - p->written;
    return p->out.data + p->written;
}

/* Written bytes are cut off when they are most of the buffer, so that no byte moves often. */
void rpc_peer_wrote(struct rpc_peer *p, size_t len)
{
    assert(len <= p->out.len - p->written);
    p->written += len;
    if (p->written == p->out.len && p->out.cap > RPC_OUTPUT_MAX) {
        buf_release(&p->out);
        buf_init(&p->out, 0);
        p->written = 0;
    } else if (p->written > p->out.len / 2) {
        buf_consume(&p->out, p->written);
        p->written = 0;
    }
}

static const char head[] = "{\"jsonrpc\":\"2.0\",";

static void add_method(struct buf *out, const char *method, const char *params_json)
{
    struct json_out o = {.buf = out};
    buf_addstr(out, "\"method\":");
    json_out_string(&o, method);
    if (params_json) {
        buf_addstr(out, ",\"params\":");
        buf_addstr(out, params_json);
    }
    buf_addstr(out, "}\n");
}

static bool has_room(const struct rpc_peer *p, const char *params_json)
{
    size_t len = params_json ? strlen(params_json) : 0;
    return len <= RPC_MESSAGE_MAX && p->out.len - p->written + len <= RPC_OUTPUT_MAX;
}

bool rpc_notify(struct rpc_peer *p, const char *method, const char *params_json)
{
    if (!has_room(p, params_json))
        return false;
    buf_addstr(&p->out, head);
    add_method(&p->out, method, params_json);
    return true;
}

static char *error_json(int code, const char *message, const char *data_json)
{
    struct buf text = BUF_INIT;
    json_out_pack(&(struct json_out){.buf = &text}, "{code:i message:s data:r}", code, message,
                  data_json);
    return buf_take(&text);
}

static void end_batch(struct rpc_peer *p, struct rpc_batch *b)
{
    if (--b->open > 0)
        return;
    if (b->answers.len > 0) {
        buf_addch(&p->out, '[');
        buf_add(&p->out, b->answers.data, b->answers.len);
        buf_addstr(&p->out, "]\n");
    }
    buf_release(&b->answers);
    free(b);
}

/* Writes an answer; in a batch it is one of the `open` ones. */
static void put_answer(struct rpc_peer *p, struct rpc_batch *b, const char *id, const char *member,
                       const char *json)
{
    size_t together = strlen(json) + RPC_ID_MAX + sizeof head + (b ? b->answers.len : 0);
    struct buf *out = b ? &b->answers : &p->out;
    auto_free char *instead = NULL;
    if (together > RPC_MESSAGE_MAX || p->out.len - p->written + together > RPC_ANSWERS_MAX) {
        member = "error";
        json = instead = error_json(RPC_INTERNAL_ERROR,
                                    "the answer is too long, or too many wait to be read; ask for "
                                    "less, or read what was answered",
                                    NULL);
    }
    buf_addf(out, "%s%s\"id\":%s,\"%s\":", b && b->answers.len > 0 ? "," : "", head, id, member);
    buf_addstr(out, json);
    buf_addstr(out, b ? "}" : "}\n");
    if (b)
        end_batch(p, b);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void forget_call(struct rpc_call *c)
{
    struct rpc_peer *p = c->peer;
    vec_drop(&p->calls, c);
    free(c->id);
    free(c);
}

void rpc_drop(struct rpc_call *call)
{
    if (call->batch)
        end_batch(call->peer, call->batch);
    forget_call(call);
}

void rpc_answer(struct rpc_call *call, const char *result_json)
{
    put_answer(call->peer, call->batch, call->id, "result", result_json);
    forget_call(call);
}

void rpc_fail(struct rpc_call *call, int code, const char *message, const char *data_json)
{
    auto_free char *json = error_json(code, message, data_json);
    put_answer(call->peer, call->batch, call->id, "error", json);
    forget_call(call);
}

void rpc_fail_with(struct rpc_call *call, const struct error *e)
{
    const struct err_info *info = err_info(e->code);
    char data[64];
    snprintf(data, sizeof data, "{\"code\":\"%s\"}", info->name);
    rpc_fail(call, info->rpc, e->text, data);
}

size_t rpc_peer_calls(const struct rpc_peer *p)
{
    return p->calls.len;
}

/* --- what we ask ------------------------------------------------------------------------------ */

int64_t rpc_ask(struct rpc_peer *p, const char *method, const char *params_json,
                rpc_answered *answered, void *context)
{
    if (p->closing || p->asks.len >= RPC_CALLS_MAX || !has_room(p, params_json))
        return 0;
    int64_t id = ++p->asked;
    vec_push(&p->asks, (struct ask){id, answered, context});
    buf_addf(&p->out, "%s\"id\":%" PRId64 ",", head, id);
    add_method(&p->out, method, params_json);
    return id;
}

/* False: nobody waits for the answer to that question. */
static bool take_ask(struct rpc_peer *p, double id, struct ask *out)
{
    size_t i = 0;
    while (i < p->asks.len && (double)p->asks.items[i].id != id)
        i++;
    if (i == p->asks.len)
        return false;
    *out = p->asks.items[i];
    vec_remove(&p->asks, i, 1);
    return true;
}

void rpc_withdraw(struct rpc_peer *p, int64_t id)
{
    struct ask gone;
    if (!take_ask(p, (double)id, &gone))
        return;
    bool mcp = p->handlers->cancels_as_mcp;
    char params[48];
    snprintf(params, sizeof params, "{\"requestId\":%" PRId64 "}", id);
    buf_addstr(&p->out, head);
    add_method(&p->out, mcp ? "notifications/cancelled" : "$/cancel_request", params);
}

void rpc_peer_free(struct rpc_peer *p)
{
    static const struct rpc_fault gone = {RPC_INTERNAL_ERROR, "the other side has gone", NULL};
    if (!p)
        return;
    p->closing = true;
    for (size_t i = 0; i < p->asks.len; i++)
        if (p->asks.items[i].answered)
            p->asks.items[i].answered(p->asks.items[i].context, NULL, &gone);
    for (size_t i = 0; i < p->calls.len; i++) {
        struct rpc_batch *b = p->calls.items[i]->batch;
        if (b)
            end_batch(p, b);
        free(p->calls.items[i]->id);
        free(p->calls.items[i]);
    }
    vec_release(&p->asks);
    vec_release(&p->calls);
    buf_release(&p->in);
    buf_release(&p->out);
    free(p);
}

/* --- what comes ------------------------------------------------------------------------------- */

static void refuse(struct rpc_peer *p, struct rpc_batch *b, const char *id, int code,
                   const char *why)
{
    auto_free char *json = error_json(code, why, NULL);
    put_answer(p, b, id ? id : "null", "error", json);
}

/* The text of an id; NULL where it cannot be one. The caller frees. */
static char *id_text(const struct json *id)
{
    enum json_type type = json_type(id);
    bool may = id && (type == JSON_STRING || type == JSON_NUMBER || type == JSON_NULL);
    char *text = may ? json_print(id) : NULL;
    if (text && strlen(text) <= RPC_ID_MAX)
        return text;
    free(text);
    return NULL;
}

static void on_notification(struct rpc_peer *p, const char *method, const struct json *params)
{
    bool lsp = strcmp(method, "$/cancel_request") == 0;
    struct rpc_call *cancelled = NULL;
    if (lsp || strcmp(method, "notifications/cancelled") == 0) {
        const struct json *which = json_get(params, "requestId");
        auto_free char *id = id_text(which || !lsp ? which : json_get(params, "id"));
        for (size_t i = 0; id && !cancelled && i < p->calls.len; i++)
            if (strcmp(p->calls.items[i]->id, id) == 0)
                cancelled = p->calls.items[i];
    }
    if (cancelled && p->handlers->cancelled)
        p->handlers->cancelled(p->context, cancelled);
    else if (p->handlers->notification && strncmp(method, "$/", 2) != 0)
        p->handlers->notification(p->context, method, params);
}

/* Why the message is no request and no notification; NULL: it is one. */
static const char *fault_of(const struct json *message, const struct json *id, const char *id_text)
{
    const char *version = json_get_string(message, "jsonrpc");
    const struct json *params = json_get(message, "params");
    enum json_type type = json_type(params);
    if (json_type(message) != JSON_OBJECT)
        return "a message is an object; give {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"…\"}";
    if (!version || strcmp(version, "2.0") != 0)
        return "\"jsonrpc\" is not \"2.0\"; give it so";
    if (!json_get_string(message, "method"))
        return "\"method\" is no string; name a method";
    if (id && !id_text)
        return "\"id\" is no string and no number, or too long; give a short one";
    if (params && type != JSON_OBJECT && type != JSON_ARRAY && type != JSON_NULL)
        return "\"params\" is no object; give one, or leave it out";
    return NULL;
}

/* In a batch, an answer to the message is counted. */
static void on_message(struct rpc_peer *p, struct rpc_batch *b, const struct json *message)
{
    const struct json *id = json_get(message, "id"), *params = json_get(message, "params");
    const struct json *result = json_get(message, "result"), *error = json_get(message, "error");
    const char *method = json_get_string(message, "method");
    double number = json_get_number(message, "id", 0);
    /* An answer is never answered itself, even if it makes no sense. One with neither result nor
     * error does not fit, and ends the wait all the same. */
    struct ask ask;
    bool asked = !json_get(message, "method") && take_ask(p, number, &ask);
    if (!json_get(message, "method") && (result || error || asked)) {
        const char *text = json_get_string(error, "message");
        struct rpc_fault fault = {(int)json_get_int(error, "code", RPC_INTERNAL_ERROR),
                                  text ? text : "", json_get(error, "data")};
        bool failed = !result || json_type(error) != JSON_NULL;
        if (asked && ask.answered)
            ask.answered(ask.context, failed ? NULL : result, failed ? &fault : NULL);
        return;
    }
    auto_free char *text = id_text(id);
    const char *fault = fault_of(message, id, text);
    if (b && (fault || id))
        b->open++;
    if (json_type(params) == JSON_NULL)
        params = NULL;
    if (fault) {
        refuse(p, b, text, RPC_INVALID_REQUEST, fault);
    } else if (!id) {
        on_notification(p, method, params);
    } else if (p->calls.len >= RPC_CALLS_MAX) {
        refuse(p, b, text, RPC_INTERNAL_ERROR, "too many requests wait; wait for their answers");
    } else {
        struct rpc_call *c = mem_alloc(sizeof *c);
        *c = (struct rpc_call){.peer = p, .batch = b, .id = mem_strdup(text)};
        vec_push(&p->calls, c);
        if (p->handlers->request)
            p->handlers->request(p->context, c, method, params);
        else
            rpc_fail(c, RPC_METHOD_NOT_FOUND, "there is no such method", NULL);
    }
}

static struct json *parse(const char *line, size_t len, struct error *e)
{
    if (!utf8_valid(line, len)) {
        err_set(e, ERR_USAGE, "the message is not UTF-8");
        return NULL;
    }
    if (json_find_nul(line, len)) {
        err_set(e, ERR_USAGE, "the message has a NUL character");
        return NULL;
    }
    auto_free char *repaired = json_repair_surrogates(line, len);
    return json_parse_foreign(repaired ? repaired : line, len, e);
}

/* --- lines that cannot be read ---------------------------------------------------------------- */

/* The parts of an unparsable message that are needed. */
struct outline {
    const char *id; /* the text of its value; NULL: none was seen */
    size_t id_len;
    bool has_method;
};

/* Answers the request that the message is, or fails the question that it answers: somebody waits
 * all the same. False: nobody is known to. */
static bool end_unreadable(struct rpc_peer *p, struct rpc_batch *b, const struct outline *o,
                           const char *why)
{
    static const struct rpc_fault unreadable = {RPC_PARSE_ERROR, "the answer cannot be read", NULL};
    AUTO(json_free_local)
    struct json *id = o->id && o->id_len <= RPC_ID_MAX ? parse(o->id, o->id_len, NULL) : NULL;
    struct ask ask;
    if (!o->has_method) {
        bool answers = take_ask(p, json_number(id, 0), &ask);
        if (answers && ask.answered)
            ask.answered(ask.context, NULL, &unreadable);
        return answers;
    }
    auto_free char *text = id ? id_text(id) : NULL;
    if (text && b)
        b->open++;
    if (text)
        refuse(p, b, text, RPC_PARSE_ERROR, why);
    return text;
}

/* Bytes of the string or number there, or 1. */
static size_t token_span(const char *at, const char *end)
{
    const char *from = at++;
    if (*from == '"') {
        while (at < end && *at != '"')
            at += *at == '\\' && end - at > 1 ? 2 : 1;
        return (size_t)(at - from) + (at < end);
    }
    while (at < end && strchr("-.0123456789", *from) && *at && strchr("+-.eE0123456789", *at))
        at++;
    return (size_t)(at - from);
}

/* Finds ids by the nesting of brackets and strings alone. False: nobody is known to wait. */
static bool end_messages(struct rpc_peer *p, struct rpc_batch *b, const char *line, size_t len,
                         const char *why)
{
    const char *end = line + len, *key = line;
    struct outline o = {0};
    size_t depth = 0, of_message = *line == '[' ? 2 : 1, span;
    bool in_value = false, known = false;
    for (const char *at = line; at < end; at += span) {
        bool top = depth == of_message;
        span = token_span(at, end);
        if (*at == '{' || *at == '[') {
            depth++;
            in_value = in_value && depth != of_message;
        } else if (*at == '}' || *at == ']') {
            known = (top && end_unreadable(p, b, &o, why)) || known;
            o = top ? (struct outline){0} : o;
            depth -= depth > 0;
        } else if (top && (*at == ':' || *at == ',')) {
            in_value = *at == ':';
        } else if (top && !in_value && *at == '"') {
            key = at;
            o.has_method = o.has_method || (span == 8 && memcmp(key, "\"method\"", 8) == 0);
        } else if (top && in_value && *at > ' ' && !o.id && end - key > 4 &&
                   memcmp(key, "\"id\"", 4) == 0) {
            o.id = at;
            o.id_len = span;
        }
    }
    return (depth >= of_message && end_unreadable(p, b, &o, why)) || known; /* cut off */
}

static void on_line(struct rpc_peer *p, const char *line, size_t len)
{
    struct error e;
    size_t text = len;
    while (text > 0 && strchr(" \t\r\n", line[text - 1]) && line[text - 1])
        text--;
    if (text == 0)
        return;
    AUTO(json_free_local) struct json *message = parse(line, len, &e);
    if (message && json_type(message) != JSON_ARRAY) {
        on_message(p, NULL, message);
        return;
    }
    if (message && !json_first(message)) {
        refuse(p, NULL, NULL, RPC_INVALID_REQUEST, "the array is empty; give one with messages");
        return;
    }
    struct rpc_batch *b = NULL;
    bool known = message;
    if (message || *line == '[') {
        b = mem_alloc(sizeof *b);
        buf_init(&b->answers, 0);
        b->open = 1;
    }
    for (const struct json *m = json_first(message); m; m = json_next(m))
        on_message(p, b, m);
    if (!message && (*line == '{' || *line == '['))
        known = end_messages(p, b, line, len, e.text);
    if (b)
        end_batch(p, b);
    if (!known)
        refuse(p, NULL, NULL, RPC_PARSE_ERROR, e.text);
}

static bool too_long(struct rpc_peer *p, struct error *e)
{
    err_set(e, ERR_USAGE, "a message has more than %zu bytes; send less at once", RPC_MESSAGE_MAX);
    refuse(p, NULL, NULL, RPC_INVALID_REQUEST, "the message has more than 32 MiB; send less");
    return false;
}

bool rpc_peer_take(struct rpc_peer *p, const char *text, size_t len, struct error *e)
{
    if (len > RPC_MESSAGE_MAX)
        return too_long(p, e);
    on_line(p, text, len);
    return true;
}

bool rpc_peer_feed(struct rpc_peer *p, const char *bytes, size_t len, struct error *e)
{
    const char *end;
    while ((end = memchr(bytes, '\n', len))) {
        size_t piece = (size_t)(end - bytes);
        if (!buf_try_add(&p->in, bytes, piece))
            return too_long(p, e);
        struct buf line = p->in; /* a handler may not feed, but the line is gone all the same */
        buf_init(&p->in, RPC_MESSAGE_MAX);
        bool large = line.len >= LARGE_LINE;
        on_line(p, line.data, line.len);
        buf_release(&line);
        if (large)
            mem_return_unused();
        bytes = end + 1;
        len -= piece + 1;
    }
    return buf_try_add(&p->in, bytes, len) || too_long(p, e);
}
