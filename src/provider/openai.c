/* OpenAI's Chat Completions API, and the many servers that speak it. */
#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

void openai_content(struct json_out *out, const struct outgoing_turn *turn, bool responses)
{
    json_out_open(out, '[');
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        AUTO(image_release) struct image image = {0};
        auto_free char *orphan = b->type == BLOCK_TOOL_RESULT ? outgoing_orphan(b) : NULL;
        if (b->type == BLOCK_IMAGE)
            image_load(&image, b);
        auto_free char *data =
            image.base64 ? mem_printf("data:%s;base64,%s", image.media_type, image.base64) : NULL;
        const char *url = image.url ? image.url : data;
        const char *text = b->type == BLOCK_TEXT ? b->text : orphan ? orphan : image.problem;
        if (url)
            json_out_pack(out,
                          responses ? "{type:'input_image' image_url:s}"
                                    : "{type:'image_url' image_url:{url:s}}",
                          url);
        else if (text)
            json_out_pack(out, responses ? "{type:'input_text' text:s}" : "{type:'text' text:s}",
                          text);
    }
    json_out_close(out, ']');
}

static void write_turn(struct outgoing_body *body, const struct outgoing_turn *turn, void *context)
{
    struct json_out *out = &body->out;
    auto_free char *text = outgoing_text(turn);
    bool calls = outgoing_has(turn, BLOCK_TOOL_CALL);
    (void)context;
    switch (turn->role) {
    case ROLE_SYSTEM:
    case ROLE_USER: /* content is one string where that will do: many servers know nothing else */
        json_out_open(out, '{');
        json_out_member(out, "role", turn->role == ROLE_USER ? "user" : "system");
        json_out_name(out, "content");
        if (outgoing_has(turn, BLOCK_IMAGE))
            openai_content(out, turn, false);
        else
            json_out_string(out, text ? text : "");
        json_out_close(out, '}');
        break;
    case ROLE_ASSISTANT:
        if (!text && !calls)
            break;
        json_out_open(out, '{');
        json_out_pack(out, "role:'assistant' content:S", text);
        if (calls) {
            json_out_name(out, "tool_calls");
            json_out_open(out, '[');
        }
        for (size_t i = 0; calls && i < turn->blocks.len; i++) {
            const struct block *b = turn->blocks.items[i];
            if (b->type != BLOCK_TOOL_CALL)
                continue;
            AUTO(json_free_local) struct json *arguments = outgoing_object(b->text);
            auto_free char *printed = json_print(arguments);
            json_out_pack(out, "{id:s type:'function' function:{name:s arguments:s}}", b->id,
                          b->name, printed);
        }
        if (calls)
            json_out_close(out, ']');
        json_out_close(out, '}');
        break;
    case ROLE_TOOL:
        for (size_t i = 0; i < turn->blocks.len; i++) {
            const struct block *b = turn->blocks.items[i];
            json_out_pack(out, "{role:'tool' tool_call_id:s content:s}", b->id,
                          b->text ? b->text : "");
        }
        break;
    }
}

void openai_tools(struct json_out *out, const struct request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->tool_count; i++)
        count += !request->tools[i].by_provider;
    if (count == 0)
        return;
    json_out_name(out, "tools");
    json_out_open(out, '[');
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct tool_spec *spec = &request->tools[i];
        if (!spec->by_provider)
            json_out_pack(out, "{type:'function' function:{name:s description:s parameters:o}}",
                          spec->name, spec->description, outgoing_object(spec->schema));
    }
    json_out_close(out, ']');
}

void openai_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request, bool vendor)
{
    outgoing_body_begin(out, config);
    json_out_pack(&out->out, "model:s", request->model);
    openai_tools(&out->out, request);
    json_out_int(&out->out, vendor ? "max_completion_tokens" : "max_tokens", request->max_output);
    outgoing_temperature(out, config);
    if (request->effort)
        json_out_member(&out->out, "reasoning_effort", request->effort);
    json_out_pack(&out->out, "stream:b stream_options:{include_usage:b}", true, true);
    outgoing_body_messages(out, request, true, write_turn, NULL);
    outgoing_body_end(out);
}

static bool is_vendor(const char *base_url)
{
    static const char host[] = "://api.openai.com";
    const char *hit = base_url == NULL ? NULL : strstr(base_url, host);
    return hit != NULL && strchr("/:", hit[sizeof host - 1]) != NULL;
}

/* The part that a piece of a tool call belongs to. Servers that leave the index out send each call
 * whole, or begin a new one with a new id; some number each call 0, where a piece with another id
 * and a name is another call. */
static struct stream_part *find_call(struct stream *s, const struct json *piece)
{
    int64_t index = json_get_int(piece, "index", -1);
    const char *id = json_get_string(piece, "id");
    const char *name = json_get_string(json_get(piece, "function"), "name");
    bool has_id = id && *id;
    struct stream_part *part = index >= 0 ? stream_find(s, index) : stream_last(s);
    bool other_id = part && has_id && (!part->id || strcmp(part->id, id) != 0);
    bool begins = index >= 0 ? other_id && part->id && name && *name
                             : !part || part->type != BLOCK_TOOL_CALL || other_id;
    return part && !begins ? part : stream_open(s, BLOCK_TOOL_CALL, index);
}

static bool take_delta(struct stream *s, const struct json *delta)
{
    const char *reasoning = json_get_string(delta, "reasoning_content");
    if (!reasoning)
        reasoning = json_get_string(delta, "reasoning");
    if (!stream_text(s, BLOCK_REASONING, reasoning) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(delta, "content")) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(delta, "refusal")))
        return false;
    const struct json *calls = json_get(delta, "tool_calls");
    for (const struct json *piece = json_first(calls); piece; piece = json_next(piece)) {
        struct stream_part *part = find_call(s, piece);
        const struct json *function = json_get(piece, "function");
        if (!part)
            return false;
        stream_set_once(&part->id, json_get_string(piece, "id"));
        stream_set_once(&part->name, json_get_string(function, "name"));
        if (!stream_arguments(s, part, json_get(function, "arguments")))
            return false;
    }
    return true;
}

/* The pages of a model that searches: an answer that has no links to all of them gets a list, whose
 * numbers are those that its text may use. */
static void take_sources(struct sources *all, const struct json *annotations)
{
    for (const struct json *v = json_first(annotations); v; v = json_next(v)) {
        const struct json *page = json_get(v, "url_citation");
        sources_number(all, json_get_string(page, "url"), json_get_string(page, "title"));
    }
}

static bool list_sources(struct stream *s, struct sources *all)
{
    const struct stream_part *part = stream_last(s);
    bool text = part && part->type == BLOCK_TEXT;
    for (size_t i = 0; text && i < all->len; i++)
        if (!strstr(part->text.data, all->items[i].url))
            return stream_list_sources(s, all);
    return true;
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    static const struct {
        const char *name;
        enum stop_reason reason;
    } reasons[] = {
        {"stop", STOP_END_TURN},          {"length", STOP_MAX_TOKENS},
        {"tool_calls", STOP_TOOL_USE},    {"function_call", STOP_TOOL_USE},
        {"content_filter", STOP_REFUSAL},
    };
    stream_set_once(&s->response->model, json_get_string(event, "model"));
    const struct json *usage = json_get(event, "usage");
    struct usage *u = &s->response->usage;
    u->input = figure_tokens(usage, "prompt_tokens", u->input);
    u->output = figure_tokens(usage, "completion_tokens", u->output);
    u->cached = figure_tokens(json_get(usage, "prompt_tokens_details"), "cached_tokens", u->cached);
    const struct json *choice = json_first(json_get(event, "choices"));
    if (!take_delta(s, json_get(choice, "delta")))
        return false;
    take_sources(state, json_get(json_get(choice, "delta"), "annotations"));
    const char *reason = json_get_string(choice, "finish_reason");
    if (reason && *reason)
        stream_stop(s, STOP_OTHER);
    for (size_t i = 0; reason && i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reason, reasons[i].name) == 0)
            stream_stop(s, reasons[i].reason);
    return !reason || !*reason || list_sources(s, state);
}

static const struct dialect dialect = {
    .name = "openai",
    .framing = FRAMING_SSE,
    .event = take_event,
};

bool openai_complete(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *f)
{
    AUTO(sources_release) struct sources sources = {.items = NULL};
    struct outgoing_body body;
    bool by_itself = strstr(request->model, "-search-") != NULL; /* which Responses does not know */
    /* Newer models of the vendor refuse an effort together with tools in Chat Completions. */
    if (request->effort && request->tool_count > 0 && is_vendor(call->endpoint->base_url))
        return responses_complete(call, request, response, f);
    for (size_t i = 0; i < request->tool_count && !by_itself; i++)
        if (request->tools[i].by_provider)
            return responses_complete(call, request, response, f);
    openai_body(&body, call->config, request, is_vendor(call->endpoint->base_url));
    return exchange_stream(call, &dialect, "/chat/completions", &body, request, response, &sources,
                           f);
}

bool openai_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    static const char *const names[] = {"context_length", "max_model_len", "context_window"};
    struct failure f;
    int64_t found = 0;
    if (!call->endpoint->base_url || is_vendor(call->endpoint->base_url))
        return false;
    /* OpenRouter, vLLM and Groq tell it in their listing. */
    AUTO(json_free_local)
    struct json *listing = exchange_fetch(call, &dialect, "/models", NULL, &f);
    const struct json *v = json_first(json_get(listing, "data"));
    for (; v && found <= 0; v = json_next(v)) {
        const char *id = json_get_string(v, "id");
        bool same = id && strcmp(id, model) == 0;
        for (size_t i = 0; same && found <= 0 && i < sizeof names / sizeof *names; i++)
            found = figure_tokens(v, names[i], 0);
    }
    /* llama.cpp tells it beside the API. A server that did not answer is not asked again. */
    if (found <= 0 && (f.kind == FAILURE_NONE || f.kind == FAILURE_STATUS)) {
        struct endpoint root = *call->endpoint;
        struct provider_call at_root = *call;
        size_t len = strlen(root.base_url);
        bool versioned = len >= 3 && strcmp(root.base_url + len - 3, "/v1") == 0;
        auto_free char *url = mem_strndup(root.base_url, versioned ? len - 3 : len);
        root.base_url = url;
        at_root.endpoint = &root;
        AUTO(json_free_local)
        struct json *props = exchange_fetch(&at_root, &dialect, "/props", NULL, &f);
        found = figure_tokens(json_get(props, "default_generation_settings"), "n_ctx", 0);
    }
    if (found > 0)
        *tokens = found;
    return found > 0;
}

bool openai_models(const struct provider_call *call, struct provider_names *out, struct failure *f)
{
    return exchange_names(call, &dialect, "/models", "data", "id", out, f);
}
