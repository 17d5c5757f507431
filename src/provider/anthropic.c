/* Anthropic's Messages API. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

/* The members of a content block. */
static void write_block(struct json_out *out, const struct block *b, enum role role)
{
    switch (b->type) {
    case BLOCK_TEXT:
        json_out_pack(out, "type:'text' text:s", b->text);
        break;
    case BLOCK_REASONING:
        if (b->redacted)
            json_out_pack(out, "type:'redacted_thinking' data:s", b->signature);
        else
            json_out_pack(out, "type:'thinking' thinking:s signature:s", b->text ? b->text : "",
                          b->signature);
        break;
    case BLOCK_TOOL_CALL:
        json_out_pack(out, "type:'tool_use' id:s name:s input:o", b->id, b->name,
                      outgoing_object(b->text));
        break;
    case BLOCK_TOOL_RESULT:
        if (role == ROLE_TOOL) {
            json_out_pack(out, "type:'tool_result' tool_use_id:s content:s", b->id,
                          b->text && *b->text ? b->text : NULL);
            if (b->is_error)
                json_out_pack(out, "is_error:b", true);
        } else {
            auto_free char *text = outgoing_orphan(b);
            json_out_pack(out, "type:'text' text:s", text);
        }
        break;
    case BLOCK_IMAGE: {
        AUTO(image_release) struct image image;
        image_load(&image, b);
        if (image.problem)
            json_out_pack(out, "type:'text' text:s", image.problem);
        else if (image.url)
            json_out_pack(out, "type:'image' source:{type:'url' url:s}", image.url);
        else
            json_out_pack(out, "type:'image' source:{type:'base64' media_type:s data:s}",
                          image.media_type, image.base64);
        break;
    }
    }
}

/* The messages while they are written. There are only two roles: a turn in the role of the one
 * before continues its message. */
struct writer {
    const char *role; /* of the message that is open; NULL: none is */
    size_t cacheable; /* where a breakpoint of the last block that may have one goes; 0: nowhere */
    size_t stable;    /* the same before the newest turn of the user */
};

static void end_message(struct json_out *out, const struct writer *w)
{
    if (!w->role)
        return;
    json_out_close(out, ']');
    json_out_close(out, '}');
}

static void write_turn(struct outgoing_body *body, const struct outgoing_turn *turn, void *context)
{
    struct writer *w = context;
    struct json_out *out = &body->out;
    const char *role = turn->role == ROLE_ASSISTANT ? "assistant" : "user";
    if (turn->role == ROLE_USER)
        w->stable = w->cacheable;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        bool reasoning = b->type == BLOCK_REASONING;
        if (reasoning && (!b->signature || !*b->signature))
            continue; /* it is another provider's */
        if (!w->role || strcmp(w->role, role) != 0) {
            end_message(out, w);
            json_out_open(out, '{');
            json_out_member(out, "role", w->role = role);
            json_out_name(out, "content");
            json_out_open(out, '[');
        }
        json_out_open(out, '{');
        write_block(out, b, turn->role);
        if (!reasoning) /* the API refuses a breakpoint on thinking */
            w->cacheable = (size_t)out->len;
        json_out_close(out, '}');
    }
}

static const char breakpoint[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

static void add_breakpoint(struct outgoing_body *body, size_t at)
{
    if (at == 0)
        return;
    body->out.len += (int64_t)(sizeof breakpoint - 1);
    if (body->out.buf)
        buf_splice(body->out.buf, at, 0, breakpoint, sizeof breakpoint - 1);
}

void anthropic_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request)
{
    struct writer w = {0};
    struct json_out *o = &out->out;
    outgoing_body_begin(out, config);
    json_out_pack(o, "model:s max_tokens:I stream:b", request->model, request->max_output, true);
    outgoing_temperature(out, config);
    if (!utf8_is_blank(request->system))
        json_out_pack(o, "system:[{type:'text' text:s cache_control:{type:'ephemeral'}}]",
                      request->system);
    if (request->tool_count > 0) {
        json_out_name(o, "tools");
        json_out_open(o, '[');
        for (size_t i = 0; i < request->tool_count; i++) {
            const struct tool_spec *spec = &request->tools[i];
            json_out_pack(o, "{name:s description:s input_schema:o}", spec->name, spec->description,
                          outgoing_object(spec->schema));
        }
        json_out_close(o, ']');
    }
    outgoing_body_messages(out, request, false, write_turn, &w);
    end_message(o, &w);
    outgoing_body_end(out);
    /* The later place first: it does not move the earlier one. */
    if (w.cacheable != w.stable)
        add_breakpoint(out, w.cacheable);
    add_breakpoint(out, w.stable);
}

static void add_headers(const struct endpoint *endpoint, struct http_headers *out)
{
    http_headers_add(out, "anthropic-version: 2023-06-01");
    if (endpoint->key && *endpoint->key)
        http_headers_add(out, endpoint->bearer ? "Authorization: Bearer %s" : "x-api-key: %s",
                         endpoint->key);
}

/* The figures of the usage so far: later ones replace earlier ones. -1: not told. */
struct answer {
    int64_t fresh, written, read, output;
};

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

static bool block_start(struct stream *s, const struct json *event)
{
    static const struct {
        const char *name;
        enum block_type type;
        const char *text, *signature; /* members that may hold a beginning */
    } kinds[] = {
        {"text", BLOCK_TEXT, "text", NULL},
        {"thinking", BLOCK_REASONING, "thinking", "signature"},
        {"redacted_thinking", BLOCK_REASONING, NULL, "data"},
        {"tool_use", BLOCK_TOOL_CALL, NULL, NULL},
    };
    const struct json *block = json_get(event, "content_block");
    const char *type = json_get_string(block, "type");
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].name) != 0)
            continue;
        const char *text = kinds[i].text, *signature = kinds[i].signature;
        struct stream_part *part = stream_open(s, kinds[i].type, json_get_int(event, "index", -1));
        if (!part)
            return false;
        part->redacted = strcmp(type, "redacted_thinking") == 0;
        if (part->type == BLOCK_TOOL_CALL) {
            stream_set_once(&part->id, json_get_string(block, "id"));
            stream_set_once(&part->name, json_get_string(block, "name"));
        }
        return (!text || stream_add(s, part, json_get_string(block, text))) &&
               (!signature || stream_sign(s, part, json_get_string(block, signature)));
    }
    return true;
}

static bool block_delta(struct stream *s, const struct json *event)
{
    static const struct {
        const char *name;
        enum block_type type;
        const char *member;
        bool (*take)(struct stream *s, struct stream_part *part, const char *text);
    } kinds[] = {
        {"text_delta", BLOCK_TEXT, "text", stream_add},
        {"thinking_delta", BLOCK_REASONING, "thinking", stream_add},
        {"signature_delta", BLOCK_REASONING, "signature", stream_sign},
        {"input_json_delta", BLOCK_TOOL_CALL, "partial_json", stream_add},
    };
    const struct json *delta = json_get(event, "delta");
    const char *type = json_get_string(delta, "type");
    struct stream_part *part = stream_find(s, json_get_int(event, "index", -1));
    for (size_t i = 0; type && part && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0 && part->type == kinds[i].type)
            return kinds[i].take(s, part, json_get_string(delta, kinds[i].member));
    return true;
}

static enum stop_reason find_stop_reason(const char *name)
{
    static const struct {
        const char *name;
        enum stop_reason reason;
    } reasons[] = {
        {"end_turn", STOP_END_TURN},
        {"max_tokens", STOP_MAX_TOKENS},
        {"stop_sequence", STOP_SEQUENCE},
        {"tool_use", STOP_TOOL_USE},
        {"pause_turn", STOP_PAUSE},
        {"refusal", STOP_REFUSAL},
        {"model_context_window_exceeded", STOP_CONTEXT_EXCEEDED},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(name, reasons[i].name) == 0)
            return reasons[i].reason;
    return STOP_OTHER;
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    const char *type = json_get_string(event, "type");
    if (!type)
        return true;
    if (strcmp(type, "content_block_start") == 0)
        return block_start(s, event);
    if (strcmp(type, "content_block_delta") == 0)
        return block_delta(s, event);
    if (strcmp(type, "message_start") == 0) {
        const struct json *message = json_get(event, "message");
        stream_set_once(&s->response->model, json_get_string(message, "model"));
        take_usage(s, state, json_get(message, "usage"));
    } else if (strcmp(type, "message_delta") == 0) {
        const char *reason = json_get_string(json_get(event, "delta"), "stop_reason");
        if (reason)
            stream_stop(s, find_stop_reason(reason));
        take_usage(s, state, json_get(event, "usage"));
    } else if (strcmp(type, "message_stop") == 0) {
        s->ended = true;
    }
    return true;
}

static const struct dialect dialect = {
    .name = "anthropic",
    .framing = FRAMING_SSE,
    .headers = add_headers,
    .event = take_event,
};

bool anthropic_complete(const struct provider_call *call, const struct request *request,
                        struct response *response, struct failure *f)
{
    struct answer answer = {.fresh = -1, .written = -1, .read = -1, .output = -1};
    struct outgoing_body body;
    anthropic_body(&body, call->config, request);
    return exchange_stream(call, &dialect, "/v1/messages", &body, request, response, &answer, f);
}

bool anthropic_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    struct failure f;
    auto_free char *name = url_escape(model);
    auto_free char *path = mem_printf("/v1/models/%s", name);
    AUTO(json_free_local) struct json *reply = exchange_fetch(call, &dialect, path, NULL, &f);
    int64_t found = figure_tokens(reply, "max_input_tokens", 0);
    if (found > 0)
        *tokens = found;
    return found > 0;
}

bool anthropic_models(const struct provider_call *call, struct provider_names *out,
                      struct failure *f)
{
    return exchange_names(call, &dialect, "/v1/models?limit=1000", "data", "id", out, f);
}
