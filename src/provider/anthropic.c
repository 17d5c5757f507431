/* Anthropic's Messages API. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/figure.h"
#include "provider/anthropic_body.h"
#include "provider/exchange.h"
#include "provider/rows.h"

/* The figures of the usage as they stand: later ones replace earlier ones. -1: not told. */
struct answer {
    int64_t fresh, written, read, output;
};

static void add_headers(const struct endpoint *endpoint, struct http_headers *out)
{
    http_headers_add(out, "anthropic-version: 2023-06-01");
    if (endpoint->key != NULL && endpoint->key[0] != '\0')
        http_headers_add(out, endpoint->bearer ? "Authorization: Bearer %s" : "x-api-key: %s",
                         endpoint->key);
}

static void take_usage(struct stream *s, struct answer *a, const struct json *usage)
{
    a->fresh = figure_tokens(usage, "input_tokens", a->fresh);
    a->written = figure_tokens(usage, "cache_creation_input_tokens", a->written);
    a->read = figure_tokens(usage, "cache_read_input_tokens", a->read);
    a->output = figure_tokens(usage, "output_tokens", a->output);

    struct usage *u = &s->response->usage;
    u->input = figure_sum(figure_sum(a->fresh, a->written), a->read);
    u->cached = a->read;
    u->output = a->output;
}

static bool message_start(struct stream *s, struct answer *a, const struct json *event)
{
    const struct json *message = json_get(event, "message");
    const char *model = json_get_string(message, "model");
    if (model != NULL && s->response->model == NULL)
        s->response->model = mem_strdup(model);
    take_usage(s, a, json_get(message, "usage"));
    return true;
}

static const struct {
    const char *name;
    enum block_type type;
    const char *text;      /* member that may hold a beginning */
    const char *signature; /* likewise */
} block_kinds[] = {
    {"text", BLOCK_TEXT, "text", NULL},
    {"thinking", BLOCK_REASONING, "thinking", "signature"},
    {"redacted_thinking", BLOCK_REASONING, NULL, "data"},
    {"tool_use", BLOCK_TOOL_CALL, NULL, NULL},
};

static bool block_start(struct stream *s, struct answer *a, const struct json *event)
{
    (void)a;
    const struct json *block = json_get(event, "content_block");
    const char *type = json_get_string(block, "type");
    for (size_t i = 0; type != NULL && i < sizeof block_kinds / sizeof *block_kinds; i++) {
        if (strcmp(type, block_kinds[i].name) != 0)
            continue;
        const char *text = block_kinds[i].text;
        const char *signature = block_kinds[i].signature;
        struct stream_part *part =
            stream_open(s, block_kinds[i].type, json_get_int(event, "index", -1));
        if (part == NULL)
            return false;
        part->redacted = strcmp(type, "redacted_thinking") == 0;
        if (part->type == BLOCK_TOOL_CALL)
            stream_name_call(part, json_get_string(block, "id"), json_get_string(block, "name"));
        return (text == NULL || stream_add(s, part, json_get_string(block, text))) &&
               (signature == NULL || stream_sign(s, part, json_get_string(block, signature)));
    }
    return true;
}

static const struct {
    const char *name;
    enum block_type type;
    const char *member;
    bool (*take)(struct stream *s, struct stream_part *part, const char *text);
} delta_kinds[] = {
    {"text_delta", BLOCK_TEXT, "text", stream_add},
    {"thinking_delta", BLOCK_REASONING, "thinking", stream_add},
    {"signature_delta", BLOCK_REASONING, "signature", stream_sign},
    {"input_json_delta", BLOCK_TOOL_CALL, "partial_json", stream_add},
};

static bool block_delta(struct stream *s, struct answer *a, const struct json *event)
{
    (void)a;
    const struct json *delta = json_get(event, "delta");
    const char *type = json_get_string(delta, "type");
    struct stream_part *part = stream_find(s, json_get_int(event, "index", -1));
    for (size_t i = 0; type != NULL && i < sizeof delta_kinds / sizeof *delta_kinds; i++)
        if (strcmp(type, delta_kinds[i].name) == 0 && part != NULL &&
            part->type == delta_kinds[i].type)
            return delta_kinds[i].take(s, part, json_get_string(delta, delta_kinds[i].member));
    return true;
}

static const struct {
    const char *name;
    enum stop_reason reason;
} stop_reasons[] = {
    {"end_turn", STOP_END_TURN},
    {"max_tokens", STOP_MAX_TOKENS},
    {"stop_sequence", STOP_SEQUENCE},
    {"tool_use", STOP_TOOL_USE},
    {"pause_turn", STOP_PAUSE},
    {"refusal", STOP_REFUSAL},
    {"model_context_window_exceeded", STOP_CONTEXT_EXCEEDED},
};

static enum stop_reason find_stop_reason(const char *name)
{
    for (size_t i = 0; i < sizeof stop_reasons / sizeof *stop_reasons; i++)
        if (strcmp(name, stop_reasons[i].name) == 0)
            return stop_reasons[i].reason;
    return STOP_OTHER;
}

static bool message_delta(struct stream *s, struct answer *a, const struct json *event)
{
    const char *reason = json_get_string(json_get(event, "delta"), "stop_reason");
    if (reason != NULL)
        stream_stop(s, find_stop_reason(reason));
    take_usage(s, a, json_get(event, "usage"));
    return true;
}

static bool message_stop(struct stream *s, struct answer *a, const struct json *event)
{
    (void)a;
    (void)event;
    s->ended = true;
    return true;
}

static const struct {
    const char *type;
    bool (*take)(struct stream *s, struct answer *a, const struct json *event);
} events[] = {
    {"message_start", message_start},     {"content_block_start", block_start},
    {"content_block_delta", block_delta}, {"message_delta", message_delta},
    {"message_stop", message_stop},
};

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    const char *type = json_get_string(event, "type");
    for (size_t i = 0; type != NULL && i < sizeof events / sizeof *events; i++)
        if (strcmp(type, events[i].type) == 0)
            return events[i].take(s, state, event);
    return true;
}

static const struct dialect dialect = {
    .name = "anthropic",
    .framing = FRAMING_SSE,
    .headers = add_headers,
    .event = take_event,
};

static bool complete(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *f)
{
    struct answer answer = {.fresh = -1, .written = -1, .read = -1, .output = -1};
    struct json *body = anthropic_body(call->config, request);
    return exchange_stream(call, &dialect, "/v1/messages", body, request, response, &answer, f);
}

static bool find_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    char *name = http_escape(model);
    char *url = mem_printf("%s/v1/models/%s", call->endpoint->base_url, name);
    struct failure f;
    struct json *reply = exchange_fetch(call, &dialect, url, NULL, &f);
    int64_t found = figure_tokens(reply, "max_input_tokens", 0);
    if (found > 0)
        *tokens = found;
    json_free(reply);
    free(url);
    free(name);
    return found > 0;
}

static bool list_models(const struct provider_call *call, struct provider_names *out,
                        struct failure *f)
{
    return exchange_names(call, &dialect, "/v1/models?limit=1000", "data", "id", out, f);
}

const struct provider provider_anthropic = {
    .name = "anthropic",
    .has_network = true,
    .usual_model = "claude-sonnet-5-5",
    .complete = complete,
    .window = find_window,
    .models = list_models,
};
