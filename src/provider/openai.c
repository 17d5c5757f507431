/* OpenAI's Chat Completions API, and the many servers that speak it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

static struct json *message(const char *role)
{
    struct json *v = json_new_object();
    json_set_string(v, "role", role);
    return v;
}

static struct json *text_part(const char *text)
{
    struct json *v = json_new_object();
    json_set_string(v, "type", "text");
    json_set_string(v, "text", text);
    return v;
}

static struct json *image_part(const struct block *b)
{
    struct image image;
    image_load(&image, b);
    struct json *v = NULL;
    if (image.problem != NULL) {
        v = text_part(image.problem);
    } else {
        char *data = image.url != NULL
                         ? mem_strdup(image.url)
                         : mem_printf("data:%s;base64,%s", image.media_type, image.base64);
        struct json *url = json_new_object();
        json_set_string(url, "url", data);
        v = json_new_object();
        json_set_string(v, "type", "image_url");
        json_set(v, "image_url", url);
        free(data);
    }
    image_release(&image);
    return v;
}

static bool has_image(const struct outgoing_turn *turn)
{
    for (size_t i = 0; i < turn->blocks.len; i++)
        if (turn->blocks.items[i]->type == BLOCK_IMAGE)
            return true;
    return false;
}

static struct json *parts(const struct outgoing_turn *turn)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        if (b->type == BLOCK_IMAGE) {
            json_push(list, image_part(b));
        } else if (b->type == BLOCK_TEXT) {
            json_push(list, text_part(b->text));
        } else if (b->type == BLOCK_TOOL_RESULT) {
            char *text = outgoing_orphan(b);
            json_push(list, text_part(text));
            free(text);
        }
    }
    return list;
}

/* One string where it does: many compatible servers know nothing else. */
static void add_plain(struct outgoing_body *body, const char *role,
                      const struct outgoing_turn *turn)
{
    struct json *m = message(role);
    char *text = outgoing_text(turn);
    if (has_image(turn))
        json_set(m, "content", parts(turn));
    else
        json_set_string(m, "content", text == NULL ? "" : text);
    outgoing_body_add(body, m);
    free(text);
}

static struct json *call(const struct block *b)
{
    struct json *arguments = outgoing_arguments(b);
    char *text = json_print(arguments);
    struct json *function = json_new_object();
    json_set_string(function, "name", b->name);
    json_set_string(function, "arguments", text);
    struct json *v = json_new_object();
    json_set_string(v, "id", b->id);
    json_set_string(v, "type", "function");
    json_set(v, "function", function);
    json_free(arguments);
    free(text);
    return v;
}

static void add_assistant(struct outgoing_body *body, const struct outgoing_turn *turn)
{
    struct json *calls = outgoing_calls(turn, call);
    char *text = outgoing_text(turn);
    if (text != NULL || calls != NULL) {
        struct json *m = message("assistant");
        json_set(m, "content", json_new_string(text));
        if (calls != NULL)
            json_set(m, "tool_calls", calls);
        outgoing_body_add(body, m);
    }
    free(text);
}

static void add_results(struct outgoing_body *body, const struct outgoing_turn *turn)
{
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        struct json *m = message("tool");
        json_set_string(m, "tool_call_id", b->id);
        json_set_string(m, "content", b->text == NULL ? "" : b->text);
        outgoing_body_add(body, m);
    }
}

static void add_turn(struct outgoing_body *body, const struct outgoing_turn *turn)
{
    switch (turn->role) {
    case ROLE_SYSTEM:
        add_plain(body, "system", turn);
        break;
    case ROLE_USER:
        add_plain(body, "user", turn);
        break;
    case ROLE_ASSISTANT:
        add_assistant(body, turn);
        break;
    case ROLE_TOOL:
        add_results(body, turn);
        break;
    }
}

static void add_messages(struct outgoing_body *body, const struct request *request)
{
    if (request->system != NULL && request->system[0] != '\0') {
        struct json *system = message("system");
        json_set_string(system, "content", request->system);
        outgoing_body_add(body, system);
    }
    struct outgoing out;
    outgoing_begin(&out, request);
    for (const struct outgoing_turn *turn; (turn = outgoing_next(&out)) != NULL;)
        add_turn(body, turn);
    outgoing_release(&out);
}

struct json *openai_tools(const struct request *request)
{
    struct json *tools = json_new_array();
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct tool_spec *spec = &request->tools[i];
        struct json *function = json_new_object();
        json_set_string(function, "name", spec->name);
        json_set_string(function, "description", spec->description);
        json_set(function, "parameters", outgoing_schema(spec));
        struct json *tool = json_new_object();
        json_set_string(tool, "type", "function");
        json_set(tool, "function", function);
        json_push(tools, tool);
    }
    return tools;
}

static struct json *members_of(const struct config *config, const struct request *request,
                               bool vendor)
{
    struct json *options = json_new_object();
    json_set_bool(options, "include_usage", true);
    struct json *body = json_new_object();
    json_set_string(body, "model", request->model);
    if (request->tool_count > 0)
        json_set(body, "tools", openai_tools(request));
    json_set_int(body, vendor ? "max_completion_tokens" : "max_tokens", request->max_output);
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_set_number(body, "temperature", config_real(config, CONFIG_PROVIDER_TEMPERATURE));
    json_set_bool(body, "stream", true);
    json_set(body, "stream_options", options);
    return body;
}

void openai_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request, bool vendor)
{
    outgoing_body_begin(out, members_of(config, request, vendor), config);
    add_messages(out, request);
    outgoing_body_end(out);
}

static bool is_vendor(const char *base_url)
{
    static const char host[] = "://api.openai.com";
    const char *hit = base_url == NULL ? NULL : strstr(base_url, host);
    return hit != NULL && strchr("/:", hit[sizeof host - 1]) != NULL;
}

static void take_usage(struct stream *s, const struct json *usage)
{
    if (json_type(usage) != JSON_OBJECT)
        return;
    struct usage *u = &s->response->usage;
    u->input = figure_tokens(usage, "prompt_tokens", u->input);
    u->output = figure_tokens(usage, "completion_tokens", u->output);
    u->cached = figure_tokens(json_get(usage, "prompt_tokens_details"), "cached_tokens", u->cached);
}

static const struct {
    const char *name;
    enum stop_reason reason;
} finish_reasons[] = {
    {"stop", STOP_END_TURN},          {"length", STOP_MAX_TOKENS},
    {"tool_calls", STOP_TOOL_USE},    {"function_call", STOP_TOOL_USE},
    {"content_filter", STOP_REFUSAL},
};

static enum stop_reason find_reason(const char *name)
{
    for (size_t i = 0; i < sizeof finish_reasons / sizeof *finish_reasons; i++)
        if (strcmp(name, finish_reasons[i].name) == 0)
            return finish_reasons[i].reason;
    return STOP_OTHER;
}

/* Some servers number each call 0: one with an id and a name of its own is another call. */
static bool begins_anew(const struct stream_part *part, const struct json *piece)
{
    const char *id = json_get_string(piece, "id");
    const char *name = json_get_string(json_get(piece, "function"), "name");
    return id != NULL && id[0] != '\0' && name != NULL && name[0] != '\0' && part->id != NULL &&
           strcmp(part->id, id) != 0;
}

/* The part that a piece of a tool call belongs to. Servers that leave the index out send each call
 * whole, or begin a new one with a new id. */
static struct stream_part *find_call(struct stream *s, const struct json *piece)
{
    int64_t index = json_get_int(piece, "index", -1);
    const char *id = json_get_string(piece, "id");
    struct stream_part *last = stream_last(s);
    struct stream_part *part = NULL;
    if (index >= 0)
        part = stream_find(s, index);
    else if (last != NULL && last->type == BLOCK_TOOL_CALL &&
             (id == NULL || id[0] == '\0' || (last->id != NULL && strcmp(last->id, id) == 0)))
        part = last;
    return part != NULL && !begins_anew(part, piece) ? part
                                                     : stream_open(s, BLOCK_TOOL_CALL, index);
}

static bool take_call(struct stream *s, const struct json *piece)
{
    struct stream_part *part = find_call(s, piece);
    if (part == NULL)
        return false;
    const struct json *function = json_get(piece, "function");
    stream_name_call(part, json_get_string(piece, "id"), json_get_string(function, "name"));
    return stream_arguments(s, part, json_get(function, "arguments"));
}

static bool take_delta(struct stream *s, const struct json *delta)
{
    const char *reasoning = json_get_string(delta, "reasoning_content");
    if (reasoning == NULL)
        reasoning = json_get_string(delta, "reasoning");
    if (!stream_text(s, BLOCK_REASONING, reasoning) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(delta, "content")) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(delta, "refusal")))
        return false;
    const struct json *calls = json_get(delta, "tool_calls");
    for (const struct json *piece = json_first(calls); piece != NULL; piece = json_next(piece))
        if (!take_call(s, piece))
            return false;
    return true;
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    (void)state;
    const char *model = json_get_string(event, "model");
    if (model != NULL && model[0] != '\0' && s->response->model == NULL)
        s->response->model = mem_strdup(model);
    take_usage(s, json_get(event, "usage"));

    const struct json *choice = json_first(json_get(event, "choices"));
    if (!take_delta(s, json_get(choice, "delta")))
        return false;
    const char *reason = json_get_string(choice, "finish_reason");
    if (reason != NULL && reason[0] != '\0')
        stream_stop(s, find_reason(reason));
    return true;
}

static const struct dialect dialect = {
    .name = "openai",
    .framing = FRAMING_SSE,
    .event = take_event,
};

static bool complete(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *f)
{
    struct outgoing_body body;
    openai_body(&body, call->config, request, is_vendor(call->endpoint->base_url));
    return exchange_stream(call, &dialect, "/chat/completions", &body, request, response, NULL, f);
}

/* OpenRouter, vLLM and Groq tell it in their listing. */
static int64_t window_of_listing(const struct json *listing, const char *model)
{
    static const char *const names[] = {"context_length", "max_model_len", "context_window"};
    for (const struct json *v = json_first(json_get(listing, "data")); v != NULL;
         v = json_next(v)) {
        const char *id = json_get_string(v, "id");
        if (id == NULL || strcmp(id, model) != 0)
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            int64_t n = figure_tokens(v, names[i], 0);
            if (n > 0)
                return n;
        }
    }
    return 0;
}

/* llama.cpp tells it beside the API. */
static int64_t window_of_props(const struct provider_call *call, struct failure *f)
{
    struct endpoint root = *call->endpoint;
    struct provider_call at_root = *call;
    size_t len = strlen(root.base_url);
    bool versioned = len >= 3 && strcmp(root.base_url + len - 3, "/v1") == 0;
    root.base_url = mem_strndup(root.base_url, versioned ? len - 3 : len);
    at_root.endpoint = &root;
    struct json *props = exchange_fetch(&at_root, &dialect, "/props", NULL, f);
    int64_t found = figure_tokens(json_get(props, "default_generation_settings"), "n_ctx", 0);
    json_free(props);
    free(root.base_url);
    return found;
}

static bool find_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    struct failure f;
    if (call->endpoint->base_url == NULL || is_vendor(call->endpoint->base_url))
        return false;
    struct json *listing = exchange_fetch(call, &dialect, "/models", NULL, &f);
    int64_t found = window_of_listing(listing, model);
    json_free(listing);
    /* Who does not answer the first question need not be asked the second. */
    if (found <= 0 && (f.kind == FAILURE_NONE || f.kind == FAILURE_STATUS))
        found = window_of_props(call, &f);
    if (found > 0)
        *tokens = found;
    return found > 0;
}

static bool list_models(const struct provider_call *call, struct provider_names *out,
                        struct failure *f)
{
    return exchange_names(call, &dialect, "/models", "data", "id", out, f);
}

const struct provider provider_openai = {
    .name = "openai",
    .has_network = true,
    .usual_model = "gpt-4.1",
    .complete = complete,
    .window = find_window,
    .models = list_models,
};
