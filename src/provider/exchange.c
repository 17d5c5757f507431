#include "provider/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "provider/failure.h"
#include "provider/sse.h"

#define FETCH_STALL_MS 10000
#define LARGE_EVENT ((size_t)256 * 1024)

struct exchange {
    const struct dialect *dialect;
    const char *name; /* in messages */
    struct stream *stream;
    void *state;
    const struct error_origin *server;
    struct failure *failure;
    struct http_reply reply;
    struct sse sse;     /* FRAMING_SSE */
    struct lines lines; /* FRAMING_NDJSON */
    bool type_checked;
    bool refused;    /* by us: the failure bears the name already */
    bool whole_json; /* a JSON document came in place of a stream of events */
    bool at_end;     /* the event that is parsed was cut off by the end of the body */
};

static bool endpoint_fits(const struct endpoint *endpoint, const char *name, struct failure *f)
{
    if (!endpoint->base_url || !*endpoint->base_url)
        return failure_set(f, FAILURE_SETUP, "%s: no base URL is configured", name);
    for (const char *s = endpoint->key; s && *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return failure_set(f, FAILURE_SETUP, "%s: the API key holds a control character", name);
    return true;
}

/* The name in messages. */
static const char *name_of(const struct provider_call *call, const struct dialect *dialect)
{
    return call->endpoint->name ? call->endpoint->name : dialect->name;
}

static bool body_fits(const struct outgoing_body *body, const struct request *request,
                      const char *name, struct failure *f)
{
    int64_t bytes = body->out.len;
    if (request->source && request->source->failed)
        return failure_set(f, FAILURE_SETUP, "%s", request->source->fault.text);
    if (bytes <= body->most)
        return true;
    f->body_bytes = bytes;
    return failure_set(f, FAILURE_OVERFLOW,
                       "%s: the request has %lld bytes, and may have %lld; compact it, or start a "
                       "new session",
                       name, (long long)bytes, (long long)body->most);
}

/* Puts the provider's name before the failure of the transport, which may quote the server. */
static void add_name(const struct error_origin *server, struct failure *f)
{
    AUTO(buf_release) struct buf masked = BUF_INIT;
    mask_add(server->mask, &masked, f->text, strlen(f->text));
    failure_set(f, f->kind, "%s: %s", server->name, masked.data);
}

/* Sends one request; `body` NULL: GET. */
static bool perform(const struct provider_call *call, const struct dialect *dialect,
                    const char *path, const char *body, size_t len, struct http_request *request,
                    struct http_reply *reply, struct failure *f)
{
    const struct config *c = call->config;
    const char *key = call->endpoint->key;
    auto_free char *url = mem_printf("%s%s", call->endpoint->base_url, path);
    AUTO(http_headers_release) struct http_headers headers = {0};
    if (body)
        http_headers_add(&headers, "Content-Type: application/json");
    if (dialect->headers)
        dialect->headers(call->endpoint, &headers);
    else if (key && *key)
        http_headers_add(&headers, "Authorization: Bearer %s", key);
    int64_t stall_ms = config_integer(c, CONFIG_PROVIDER_STALL_TIMEOUT) * 1000;
    if (request->stall_timeout_ms > stall_ms)
        request->stall_timeout_ms = stall_ms;
    request->url = url;
    request->headers = &headers;
    request->body = body;
    request->body_len = len;
    request->reach = http_reach_of(c);
    return http_perform(call->http, request, call->wakeup, reply, f);
}

/* Each step over an event of 16 MiB takes up to 60 ms: the wakeup is asked between them. */
static bool goes_on(struct exchange *x, size_t len)
{
    return len < LARGE_EVENT || stream_goes_on(x->stream);
}

static bool take_event(struct exchange *x, const char *data, size_t len)
{
    if (x->stream->ended)
        return true;
    if (x->dialect->framing == FRAMING_SSE && len == 6 && memcmp(data, "[DONE]", 6) == 0) {
        x->stream->ended = true;
        return true;
    }
    if (!json_has_at_most(data, len, PROVIDER_MAX_EVENT_VALUES))
        return failure_set(x->failure, FAILURE_TOO_LARGE,
                           "%s: one event has more than %d JSON values", x->name,
                           PROVIDER_MAX_EVENT_VALUES);
    if (!goes_on(x, len))
        return false;
    /* Some servers cut a character in two, and the parser refuses the whole event for it. */
    auto_free char *repaired = json_repair_surrogates(data, len);
    if (!goes_on(x, len))
        return false;
    AUTO(json_free_local)
    struct json *event = json_parse(repaired ? repaired : data, len, NULL);
    if (!goes_on(x, len))
        return false;
    if (!event)
        return x->at_end || failure_set(x->failure, FAILURE_PROTOCOL,
                                        "%s: the answer holds malformed JSON", x->name);
    x->stream->begun = true;
    const struct json *error = json_get(event, "error");
    return error && json_type(error) != JSON_NULL ? server_error_event(x->server, event, x->failure)
                                                  : x->dialect->event(x->stream, x->state, event);
}

static bool take_sse(void *context, const char *name, const char *data, size_t len)
{
    (void)name; /* every API repeats it inside the data */
    return take_event(context, data, len);
}

static bool take_line(void *context, const char *line, size_t len)
{
    for (; len > 0 && (*line == ' ' || *line == '\t'); len--)
        line++;
    return len == 0 || take_event(context, line, len);
}

static bool feed_ok(struct exchange *x, enum feed_result result)
{
    if (result == FEED_TOO_LARGE)
        failure_set(x->failure, FAILURE_TOO_LARGE, "%s: one event has more than %zu MiB", x->name,
                    PROVIDER_MAX_EVENT >> 20);
    return result == FEED_OK;
}

static bool check_type(struct exchange *x)
{
    static const char *const streams[] = {
        [FRAMING_SSE] = "text/event-stream", [FRAMING_NDJSON] = "application/x-ndjson"};
    const char *type = x->reply.content_type;
    x->type_checked = true;
    if (*type == '\0' || strcmp(type, streams[x->dialect->framing]) == 0)
        return true;
    if (strcmp(type, "application/json") == 0) {
        x->whole_json = x->dialect->framing == FRAMING_SSE;
        return true;
    }
    AUTO(buf_release) struct buf masked = BUF_INIT;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    mask_add(x->server->mask, &masked, type, strlen(type));
    utf8_clean(&clean, masked.data, masked.len, UTF8_ONE_LINE);
    return failure_set(x->failure, FAILURE_PROTOCOL,
                       "%s: the server sent %s where %s belongs; is the base URL right?", x->name,
                       clean.data, streams[x->dialect->framing]);
}

static bool take_body(void *context, const char *bytes, size_t len)
{
    struct exchange *x = context;
    bool ok = x->type_checked || check_type(x);
    if (ok && x->whole_json)
        ok = feed_ok(x, buf_try_add(&x->reply.body, bytes, len) ? FEED_OK : FEED_TOO_LARGE);
    else if (ok && x->dialect->framing == FRAMING_SSE)
        ok = feed_ok(x, sse_feed(&x->sse, bytes, len));
    else if (ok)
        ok = feed_ok(x, lines_feed(&x->lines, bytes, len, take_line, x));
    x->refused = !ok;
    return ok;
}

static bool read_ended(void *context)
{
    struct exchange *x = context;
    return stream_flush(x->stream) && !x->stream->ended;
}

/* The body is over without a fault of the transport: whether the answer is whole. */
static bool check_end(struct exchange *x)
{
    const struct buf *rest = &x->reply.body;
    if (x->reply.status / 100 != 2)
        return server_error_status(x->server, x->reply.status, rest->data, rest->len, x->failure);
    if (x->whole_json) {
        AUTO(json_free_local) struct json *body = json_parse_foreign(rest->data, rest->len, NULL);
        return json_get(body, "error")
                   ? server_error_event(x->server, body, x->failure)
                   : failure_set(x->failure, FAILURE_PROTOCOL,
                                 "%s: the server sent JSON in place of a stream", x->name);
    }
    x->at_end = true;
    if (!feed_ok(x, x->dialect->framing == FRAMING_SSE ? sse_end(&x->sse)
                                                       : lines_end(&x->lines, take_line, x)))
        return false;
    if (!x->stream->begun)
        return failure_set(x->failure, FAILURE_PROTOCOL, "%s: the answer is empty", x->name);
    return x->stream->ended || x->stream->stopped ||
           failure_set(x->failure, FAILURE_CONNECT, "%s: the answer ended too early", x->name);
}

bool exchange_stream(const struct provider_call *call, const struct dialect *dialect,
                     const char *path, struct outgoing_body *body, const struct request *request,
                     struct response *response, void *state, struct failure *f)
{
    AUTO(buf_release) struct buf text = body->text;
    const char *name = name_of(call, dialect);
    failure_clear(f);
    if (!endpoint_fits(call->endpoint, name, f) || !body_fits(body, request, name, f))
        return false;
    AUTO(mask_release) struct mask mask;
    mask_init(&mask, call->endpoint->key, call->endpoint->base_url);
    const struct error_origin server = {.name = name, .mask = &mask, .body_bytes = body->out.len};
    AUTO(stream_release) struct stream stream;
    stream_init(&stream, name, &mask, call, request, response, f);
    struct exchange x = {.dialect = dialect,
                         .name = name,
                         .stream = &stream,
                         .state = state,
                         .server = &server,
                         .failure = f};
    struct http_request sent = {
        .on_body = take_body, .on_read = read_ended, .context = &x, .stall_timeout_ms = INT64_MAX};
    http_reply_init(&x.reply);
    sse_init(&x.sse, PROVIDER_MAX_EVENT, take_sse, &x);
    lines_init(&x.lines, PROVIDER_MAX_EVENT);

    bool ok = perform(call, dialect, path, text.data, text.len, &sent, &x.reply, f);
    if (!ok && stream.ended && !x.refused && f->kind != FAILURE_CANCELLED) {
        /* A connection that breaks after the last event does no harm. */
        f->kind = FAILURE_NONE;
        f->text[0] = '\0';
        ok = true;
    } else if (!ok && !x.refused) {
        add_name(&server, f);
    }
    ok = ok && check_end(&x);
    f->retry_after_ms = ok ? -1 : x.reply.retry_after_ms;
    if (!ok && f->kind == FAILURE_CONNECT && f->content_seen)
        f->kind = FAILURE_CUT;
    if (!ok && f->kind == FAILURE_PROTOCOL)
        http_distrust(call->http);
    log_line(LOG_INFO, "%s: status %d, failure %d", name, x.reply.status, (int)f->kind);
    ok = stream_finish(&stream, ok);

    lines_release(&x.lines);
    sse_release(&x.sse);
    http_reply_release(&x.reply);
    return ok;
}

static struct json *fetch(const struct provider_call *call, const struct dialect *dialect,
                          const char *path, struct json *body, int64_t longest_stall_ms,
                          struct failure *f)
{
    auto_free char *text = body ? json_print(body) : NULL;
    const char *name = name_of(call, dialect);
    json_free(body);
    failure_clear(f);
    if (!endpoint_fits(call->endpoint, name, f))
        return NULL;
    AUTO(mask_release) struct mask mask;
    mask_init(&mask, call->endpoint->key, call->endpoint->base_url);
    const struct error_origin server = {.name = name, .mask = &mask};
    struct http_request request = {.stall_timeout_ms = longest_stall_ms};
    AUTO(http_reply_release) struct http_reply reply;
    http_reply_init(&reply);
    const struct buf *got = &reply.body;
    struct json *json = NULL;
    if (!perform(call, dialect, path, text, text ? strlen(text) : 0, &request, &reply, f)) {
        add_name(&server, f);
    } else if (reply.status / 100 != 2) {
        server_error_status(&server, reply.status, got->data, got->len, f);
        f->retry_after_ms = reply.retry_after_ms;
    } else if (!json_has_at_most(got->data, got->len, JSON_FOREIGN_VALUES)) {
        failure_set(f, FAILURE_TOO_LARGE, "%s: the reply has more than %d JSON values", name,
                    JSON_FOREIGN_VALUES);
    } else if (!(json = json_parse(got->data, got->len, NULL))) {
        failure_set(f, FAILURE_PROTOCOL, "%s: the reply is no JSON", name);
    }
    return json;
}

struct json *exchange_fetch(const struct provider_call *call, const struct dialect *dialect,
                            const char *path, struct json *body, struct failure *f)
{
    return fetch(call, dialect, path, body, FETCH_STALL_MS, f);
}

struct json *exchange_ask(const struct provider_call *call, const struct dialect *dialect,
                          const char *path, struct json *body, struct failure *f)
{
    return fetch(call, dialect, path, body, INT64_MAX, f);
}

bool exchange_names(const struct provider_call *call, const struct dialect *dialect,
                    const char *path, const char *list, const char *name,
                    struct provider_names *out, struct failure *f)
{
    AUTO(json_free_local) struct json *reply = exchange_fetch(call, dialect, path, NULL, f);
    const struct json *v = json_first(json_get(reply, list));
    for (; v && out->names.len < PROVIDER_MAX_NAMES; v = json_next(v)) {
        const char *s = json_get_string(v, name);
        if (s && *s && strlen(s) <= PROVIDER_MAX_NAME)
            vec_push(&out->names, mem_strdup(s));
    }
    return reply != NULL;
}
