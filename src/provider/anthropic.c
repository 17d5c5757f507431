/* Anthropic's Messages API. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

static struct json *typed(const char *type)
{
    struct json *v = json_new_object();
    json_set_string(v, "type", type);
    return v;
}

static struct json *text_block(const char *text)
{
    struct json *v = typed("text");
    json_set_string(v, "text", text);
    return v;
}

static struct json *image_block(const struct block *b)
{
    struct image image;
    image_load(&image, b);
    struct json *v = NULL;
    if (image.problem != NULL) {
        v = text_block(image.problem);
    } else {
        struct json *source = typed(image.url != NULL ? "url" : "base64");
        if (image.url != NULL) {
            json_set_string(source, "url", image.url);
        } else {
            json_set_string(source, "media_type", image.media_type);
            json_set_string(source, "data", image.base64);
        }
        v = typed("image");
        json_set(v, "source", source);
    }
    image_release(&image);
    return v;
}

/* NULL for reasoning without a proof: it is another provider's. */
static struct json *reasoning_block(const struct block *b)
{
    if (b->signature == NULL || b->signature[0] == '\0')
        return NULL;
    struct json *v = typed(b->redacted ? "redacted_thinking" : "thinking");
    if (b->redacted) {
        json_set_string(v, "data", b->signature);
    } else {
        json_set_string(v, "thinking", b->text == NULL ? "" : b->text);
        json_set_string(v, "signature", b->signature);
    }
    return v;
}

static struct json *call_block(const struct block *b)
{
    struct json *v = typed("tool_use");
    json_set_string(v, "id", b->id);
    json_set_string(v, "name", b->name);
    json_set(v, "input", outgoing_arguments(b));
    return v;
}

static struct json *result_block(const struct block *b)
{
    struct json *v = typed("tool_result");
    json_set_string(v, "tool_use_id", b->id);
    if (b->text != NULL && b->text[0] != '\0')
        json_set_string(v, "content", b->text);
    if (b->is_error)
        json_set_bool(v, "is_error", true);
    return v;
}

static struct json *orphan_block(const struct block *b)
{
    char *text = outgoing_orphan(b);
    struct json *v = text_block(text);
    free(text);
    return v;
}

static struct json *content_block(const struct block *b, enum role role)
{
    switch (b->type) {
    case BLOCK_TEXT:
        return text_block(b->text);
    case BLOCK_REASONING:
        return reasoning_block(b);
    case BLOCK_TOOL_CALL:
        return call_block(b);
    case BLOCK_TOOL_RESULT:
        return role == ROLE_TOOL ? result_block(b) : orphan_block(b);
    case BLOCK_IMAGE:
        return image_block(b);
    }
    return NULL;
}

static void cache_here(struct json *block)
{
    if (block != NULL)
        json_set(block, "cache_control", typed("ephemeral"));
}

/* The messages while they are built. There are only two roles: what follows in the same one goes
 * into the message that is open. Those wait that may still get a breakpoint. */
struct writer {
    struct outgoing_body *body;
    VEC(struct json *) waiting;
    struct json *content; /* of the last message */
    const char *role;
    struct json *cacheable; /* the last block that may carry a breakpoint */
    size_t holder;          /* the waiting message that has it */
    struct json *stable;    /* that block as it was before the newest turn of the user */
};

static void open_message(struct writer *w, const char *role)
{
    if (w->role != NULL && strcmp(w->role, role) == 0)
        return;
    struct json *message = json_new_object();
    w->role = role;
    w->content = json_new_array();
    json_set_string(message, "role", role);
    json_set(message, "content", w->content);
    vec_push(&w->waiting, message);
}

static void write_turn(struct writer *w, const struct outgoing_turn *turn)
{
    for (size_t i = 0; i < turn->blocks.len; i++) {
        struct json *block = content_block(turn->blocks.items[i], turn->role);
        if (block == NULL)
            continue;
        open_message(w, turn->role == ROLE_ASSISTANT ? "assistant" : "user");
        json_push(w->content, block);
        /* The API refuses a breakpoint on thinking. */
        if (turn->blocks.items[i]->type != BLOCK_REASONING) {
            w->cacheable = block;
            w->holder = w->waiting.len - 1;
        }
    }
}

/* The first `count` of those that wait. */
static void write_waiting(struct writer *w, size_t count)
{
    for (size_t i = 0; i < count; i++)
        outgoing_body_add(w->body, w->waiting.items[i]);
    vec_remove(&w->waiting, 0, count);
}

/* A turn of the user comes: older breakpoints are out of the question. */
static void pass_user(struct writer *w)
{
    w->stable = w->cacheable;
    write_waiting(w, w->holder);
    w->holder = 0;
}

static void write_messages(struct outgoing_body *body, const struct request *request)
{
    struct outgoing out;
    struct writer w = {.body = body};
    outgoing_begin(&out, request);
    for (const struct outgoing_turn *turn; (turn = outgoing_next(&out)) != NULL;) {
        if (turn->role == ROLE_USER)
            pass_user(&w);
        write_turn(&w, turn);
    }
    cache_here(w.stable);
    if (w.cacheable != w.stable)
        cache_here(w.cacheable);
    write_waiting(&w, w.waiting.len);
    vec_release(&w.waiting);
    outgoing_release(&out);
}

static struct json *write_system(const char *system)
{
    struct json *blocks = json_new_array();
    struct json *block = text_block(system);
    cache_here(block);
    json_push(blocks, block);
    return blocks;
}

static struct json *write_tools(const struct request *request)
{
    struct json *tools = json_new_array();
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct tool_spec *spec = &request->tools[i];
        struct json *tool = json_new_object();
        json_set_string(tool, "name", spec->name);
        json_set_string(tool, "description", spec->description);
        json_set(tool, "input_schema", outgoing_schema(spec));
        json_push(tools, tool);
    }
    return tools;
}

static struct json *members_of(const struct config *config, const struct request *request)
{
    struct json *body = json_new_object();
    json_set_string(body, "model", request->model);
    json_set_int(body, "max_tokens", request->max_output);
    json_set_bool(body, "stream", true);
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_set_number(body, "temperature", config_real(config, CONFIG_PROVIDER_TEMPERATURE));
    if (!utf8_is_blank(request->system))
        json_set(body, "system", write_system(request->system));
    if (request->tool_count > 0)
        json_set(body, "tools", write_tools(request));
    return body;
}

void anthropic_body(struct outgoing_body *out, const struct config *config,
                    const struct request *request)
{
    outgoing_body_begin(out, members_of(config, request), config);
    write_messages(out, request);
    outgoing_body_end(out);
}

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
    struct outgoing_body body;
    anthropic_body(&body, call->config, request);
    return exchange_stream(call, &dialect, "/v1/messages", &body, request, response, &answer, f);
}

static bool find_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    char *name = url_escape(model);
    char *path = mem_printf("/v1/models/%s", name);
    struct failure f;
    struct json *reply = exchange_fetch(call, &dialect, path, NULL, &f);
    int64_t found = figure_tokens(reply, "max_input_tokens", 0);
    if (found > 0)
        *tokens = found;
    json_free(reply);
    free(path);
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
