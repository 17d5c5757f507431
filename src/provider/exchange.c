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
    bool at_end;     /* what is parsed now was cut off by the end of the body */
};

static bool has_control_character(const char *s)
{
    for (; s != NULL && *s != '\0'; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return true;
    return false;
}

static bool endpoint_fits(const struct endpoint *endpoint, const char *name, struct failure *f)
{
    if (endpoint->base_url == NULL || endpoint->base_url[0] == '\0')
        return failure_set(f, FAILURE_SETUP, "%s: no base URL is configured", name);
    if (has_control_character(endpoint->key))
        return failure_set(f, FAILURE_SETUP, "%s: the API key holds a control character", name);
    return true;
}

static bool body_fits(const struct outgoing_body *body, const struct request *request,
                      const char *name, struct failure *f)
{
    int64_t bytes = body->out.len;
    if (request->source != NULL && request->source->failed)
        return failure_set(f, FAILURE_SETUP, "%s", request->source->fault.text);
    if (bytes <= body->most)
        return true;
    f->body_bytes = bytes;
    return failure_set(f, FAILURE_OVERFLOW,
                       "%s: the request has %lld bytes, and may have %lld; compact it, or start a "
                       "new session",
                       name, (long long)bytes, (long long)body->most);
}

/* Puts the provider's name before what the transport said, which may quote the server. */
static void add_name(const struct error_origin *server, struct failure *f)
{
    struct buf masked = BUF_INIT;
    mask_add(server->mask, &masked, f->text, strlen(f->text));
    failure_set(f, f->kind, "%s: %s", server->name, masked.data);
    buf_release(&masked);
}

static struct http_request make_request(const struct provider_call *call, const char *url,
                                        const struct http_headers *headers, const char *body,
                                        size_t len)
{
    const struct config *c = call->config;
    return (struct http_request){
        .url = url,
        .headers = headers,
        .body = body,
        .body_len = len,
        .ca_file = config_string(c, CONFIG_PROVIDER_CA_FILE),
        .connect_timeout_ms = config_integer(c, CONFIG_PROVIDER_CONNECT_TIMEOUT) * 1000,
        .stall_timeout_ms = config_integer(c, CONFIG_PROVIDER_STALL_TIMEOUT) * 1000,
    };
}

static void make_headers(const struct provider_call *call, const struct dialect *dialect,
                         bool has_body, struct http_headers *out)
{
    if (has_body)
        http_headers_add(out, "Content-Type: application/json");
    const char *key = call->endpoint->key;
    if (dialect->headers != NULL)
        dialect->headers(call->endpoint, out);
    else if (key != NULL && key[0] != '\0')
        http_headers_add(out, "Authorization: Bearer %s", key);
}

/* Each step over an event of 16 MiB takes up to 60 ms: between them the wakeup is asked. */
static bool goes_on(struct exchange *x, size_t len)
{
    return len < LARGE_EVENT || stream_goes_on(x->stream);
}

/* False: the failure is filled in. `event` is NULL for what is no JSON. */
static bool parse_event(struct exchange *x, const char *data, size_t len, struct json **event)
{
    *event = NULL;
    if (!json_has_at_most(data, len, PROVIDER_MAX_EVENT_VALUES))
        return failure_set(x->failure, FAILURE_TOO_LARGE,
                           "%s: one event has more than %d JSON values", x->dialect->name,
                           PROVIDER_MAX_EVENT_VALUES);
    if (!goes_on(x, len))
        return false;
    /* Some servers cut a character in two, and the parser refuses the whole event for it. */
    char *repaired = json_repair_surrogates(data, len);
    bool ok = goes_on(x, len);
    if (ok)
        *event = json_parse(repaired == NULL ? data : repaired, len, NULL);
    free(repaired);
    return ok && goes_on(x, len);
}

static bool take_event(struct exchange *x, const char *data, size_t len)
{
    if (x->stream->ended)
        return true;
    if (x->dialect->framing == FRAMING_SSE && len == 6 && memcmp(data, "[DONE]", 6) == 0) {
        x->stream->ended = true;
        return true;
    }
    struct json *event;
    if (!parse_event(x, data, len, &event)) {
        json_free(event);
        return false;
    }
    if (event == NULL && x->at_end)
        return true;
    if (event == NULL)
        return failure_set(x->failure, FAILURE_PROTOCOL, "%s: the answer holds malformed JSON",
                           x->dialect->name);
    x->stream->begun = true;
    const struct json *error = json_get(event, "error");
    bool ok = error != NULL && json_type(error) != JSON_NULL
                  ? server_error_event(x->server, event, x->failure)
                  : x->dialect->event(x->stream, x->state, event);
    json_free(event);
    return ok;
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
        failure_set(x->failure, FAILURE_TOO_LARGE, "%s: one event has more than %zu MiB",
                    x->dialect->name, PROVIDER_MAX_EVENT >> 20);
    return result == FEED_OK;
}

static bool check_type(struct exchange *x)
{
    static const char *const streams[] = {
        [FRAMING_SSE] = "text/event-stream", [FRAMING_NDJSON] = "application/x-ndjson"};
    const char *type = x->reply.content_type;
    x->type_checked = true;
    if (type[0] == '\0' || strcmp(type, streams[x->dialect->framing]) == 0)
        return true;
    if (strcmp(type, "application/json") == 0) {
        x->whole_json = x->dialect->framing == FRAMING_SSE;
        return true;
    }
    struct buf masked = BUF_INIT;
    struct buf clean = BUF_INIT;
    mask_add(x->server->mask, &masked, type, strlen(type));
    utf8_clean(&clean, masked.data, masked.len, UTF8_ONE_LINE);
    failure_set(x->failure, FAILURE_PROTOCOL,
                "%s: the server sent %s where %s belongs; is the base URL right?", x->dialect->name,
                clean.data, streams[x->dialect->framing]);
    buf_release(&masked);
    buf_release(&clean);
    return false;
}

static bool read_body(struct exchange *x, const char *bytes, size_t len)
{
    if (!x->type_checked && !check_type(x))
        return false;
    if (x->whole_json)
        return feed_ok(x, buf_try_add(&x->reply.body, bytes, len) ? FEED_OK : FEED_TOO_LARGE);
    if (x->dialect->framing == FRAMING_SSE)
        return feed_ok(x, sse_feed(&x->sse, bytes, len));
    return feed_ok(x, lines_feed(&x->lines, bytes, len, take_line, x));
}

static bool take_body(void *context, const char *bytes, size_t len)
{
    struct exchange *x = context;
    x->refused = !read_body(x, bytes, len);
    return !x->refused;
}

static bool read_ended(void *context)
{
    struct exchange *x = context;
    return stream_flush(x->stream) && !x->stream->ended;
}

static bool not_a_stream(struct exchange *x)
{
    struct json *body = json_parse_foreign(x->reply.body.data, x->reply.body.len, NULL);
    if (json_get(body, "error") != NULL)
        server_error_event(x->server, body, x->failure);
    else
        failure_set(x->failure, FAILURE_PROTOCOL, "%s: the server sent JSON in place of a stream",
                    x->dialect->name);
    json_free(body);
    return false;
}

/* The body is over without a fault of the transport. Was the answer? */
static bool check_end(struct exchange *x)
{
    if (x->reply.status / 100 != 2)
        return server_error_status(x->server, x->reply.status, x->reply.body.data,
                                   x->reply.body.len, x->failure);
    if (x->whole_json)
        return not_a_stream(x);
    x->at_end = true;
    if (!feed_ok(x, x->dialect->framing == FRAMING_SSE ? sse_end(&x->sse)
                                                       : lines_end(&x->lines, take_line, x)))
        return false;
    if (!x->stream->begun)
        return failure_set(x->failure, FAILURE_PROTOCOL, "%s: the answer is empty",
                           x->dialect->name);
    if (x->stream->ended || x->stream->stopped)
        return true;
    return failure_set(x->failure, FAILURE_CONNECT, "%s: the answer ended too early",
                       x->dialect->name);
}

/* A connection that breaks after the last event has done its work. */
static bool transport_ok(struct exchange *x, bool ok)
{
    if (ok)
        return true;
    if (x->stream->ended && !x->refused && x->failure->kind != FAILURE_CANCELLED) {
        x->failure->kind = FAILURE_NONE;
        x->failure->text[0] = '\0';
        return true;
    }
    if (!x->refused)
        add_name(x->server, x->failure);
    return false;
}

static bool run(struct exchange *x, const struct provider_call *call, const char *url,
                const struct buf *body)
{
    struct http_headers headers = {0};
    make_headers(call, x->dialect, true, &headers);
    struct http_request request = make_request(call, url, &headers, body->data, body->len);
    request.on_body = take_body;
    request.on_read = read_ended;
    request.context = x;
    bool ok = http_perform(call->http, &request, call->wakeup, &x->reply, x->failure);
    ok = transport_ok(x, ok) && check_end(x);
    http_headers_release(&headers);
    x->failure->retry_after_ms = ok ? -1 : x->reply.retry_after_ms;
    if (!ok && x->failure->kind == FAILURE_CONNECT && x->failure->content_seen)
        x->failure->kind = FAILURE_CUT;
    log_line(LOG_INFO, "%s: status %d, failure %d", x->dialect->name, x->reply.status,
             (int)x->failure->kind);
    return ok;
}

bool exchange_stream(const struct provider_call *call, const struct dialect *dialect,
                     const char *path, struct outgoing_body *body, const struct request *request,
                     struct response *response, void *state, struct failure *f)
{
    failure_clear(f);
    if (!endpoint_fits(call->endpoint, dialect->name, f) ||
        !body_fits(body, request, dialect->name, f)) {
        buf_release(&body->text);
        return false;
    }
    struct mask mask;
    const struct error_origin server = {
        .name = dialect->name, .mask = &mask, .body_bytes = body->out.len};
    mask_init(&mask, call->endpoint->key, call->endpoint->base_url);
    struct stream stream;
    stream_init(&stream, dialect->name, &mask, call, request, response, f);
    struct exchange x = {
        .dialect = dialect, .stream = &stream, .state = state, .server = &server, .failure = f};
    http_reply_init(&x.reply);
    sse_init(&x.sse, PROVIDER_MAX_EVENT, take_sse, &x);
    lines_init(&x.lines, PROVIDER_MAX_EVENT);

    char *url = mem_printf("%s%s", call->endpoint->base_url, path);
    bool ok = run(&x, call, url, &body->text);
    ok = stream_finish(&stream, ok);

    free(url);
    buf_release(&body->text);
    lines_release(&x.lines);
    sse_release(&x.sse);
    http_reply_release(&x.reply);
    stream_release(&stream);
    mask_release(&mask);
    return ok;
}

static struct json *read_reply(const struct dialect *dialect, const struct error_origin *server,
                               const struct http_reply *reply, struct failure *f)
{
    if (reply->status / 100 != 2) {
        server_error_status(server, reply->status, reply->body.data, reply->body.len, f);
        f->retry_after_ms = reply->retry_after_ms;
        return NULL;
    }
    if (!json_has_at_most(reply->body.data, reply->body.len, JSON_FOREIGN_VALUES)) {
        failure_set(f, FAILURE_TOO_LARGE, "%s: the reply has more than %d JSON values",
                    dialect->name, JSON_FOREIGN_VALUES);
        return NULL;
    }
    struct json *json = json_parse(reply->body.data, reply->body.len, NULL);
    if (json == NULL)
        failure_set(f, FAILURE_PROTOCOL, "%s: the reply is no JSON", dialect->name);
    return json;
}

static struct json *fetch(const struct provider_call *call, const struct dialect *dialect,
                          const char *path, struct json *body, int64_t longest_stall_ms,
                          struct failure *f)
{
    failure_clear(f);
    char *text = body == NULL ? NULL : json_print(body);
    json_free(body);
    struct json *json = NULL;
    if (endpoint_fits(call->endpoint, dialect->name, f)) {
        char *url = mem_printf("%s%s", call->endpoint->base_url, path);
        struct http_headers headers = {0};
        make_headers(call, dialect, text != NULL, &headers);
        struct http_request request =
            make_request(call, url, &headers, text, text == NULL ? 0 : strlen(text));
        if (request.stall_timeout_ms > longest_stall_ms)
            request.stall_timeout_ms = longest_stall_ms;
        struct http_reply reply;
        http_reply_init(&reply);
        struct mask mask;
        const struct error_origin server = {.name = dialect->name, .mask = &mask};
        mask_init(&mask, call->endpoint->key, call->endpoint->base_url);
        if (http_perform(call->http, &request, call->wakeup, &reply, f))
            json = read_reply(dialect, &server, &reply, f);
        else
            add_name(&server, f);
        mask_release(&mask);
        http_reply_release(&reply);
        http_headers_release(&headers);
        free(url);
    }
    free(text);
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
    struct json *reply = exchange_fetch(call, dialect, path, NULL, f);
    if (reply == NULL)
        return false;
    const struct json *v = json_first(json_get(reply, list));
    for (; v != NULL && out->names.len < PROVIDER_MAX_NAMES; v = json_next(v)) {
        const char *s = json_get_string(v, name);
        if (s != NULL && s[0] != '\0' && strlen(s) <= PROVIDER_MAX_NAME)
            vec_push(&out->names, mem_strdup(s));
    }
    json_free(reply);
    return true;
}
