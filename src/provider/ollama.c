/* Ollama's native API. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

static struct json *message(const char *role, const char *content)
{
    struct json *v = json_new_object();
    json_set_string(v, "role", role);
    json_set_string(v, "content", content == NULL ? "" : content);
    return v;
}

/* Images travel apart from the text; what cannot travel is named in it. */
static struct json *user_message(const struct outgoing_turn *turn)
{
    char *said = outgoing_text(turn);
    struct buf text = BUF_INIT;
    buf_addstr(&text, said == NULL ? "" : said);
    struct json *images = json_new_array();
    for (size_t i = 0; i < turn->blocks.len; i++) {
        if (turn->blocks.items[i]->type != BLOCK_IMAGE)
            continue;
        struct image image;
        image_load(&image, turn->blocks.items[i]);
        if (image.base64 != NULL)
            json_push(images, json_new_string(image.base64));
        else if (image.problem != NULL)
            buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", image.problem);
        else
            buf_addf(&text, "%s[image: %s]", text.len > 0 ? "\n\n" : "", image.url);
        image_release(&image);
    }
    struct json *m = message("user", text.data);
    if (json_first(images) != NULL)
        json_set(m, "images", images);
    else
        json_free(images);
    buf_release(&text);
    free(said);
    return m;
}

static struct json *call_of(const struct block *b)
{
    struct json *function = json_new_object();
    json_set_string(function, "name", b->name);
    json_set(function, "arguments", outgoing_arguments(b));
    struct json *v = json_new_object();
    json_set(v, "function", function);
    return v;
}

static void add_assistant(struct outgoing_body *body, const struct outgoing_turn *turn)
{
    struct json *calls = outgoing_calls(turn, call_of);
    char *text = outgoing_text(turn);
    if (text != NULL || calls != NULL) {
        struct json *m = message("assistant", text);
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
        struct json *m = message("tool", b->text);
        json_set_string(m, "tool_name", b->name);
        outgoing_body_add(body, m);
    }
}

static void add_turn(struct outgoing_body *body, const struct outgoing_turn *turn)
{
    if (turn->role == ROLE_ASSISTANT) {
        add_assistant(body, turn);
    } else if (turn->role == ROLE_TOOL) {
        add_results(body, turn);
    } else if (turn->role == ROLE_SYSTEM) {
        char *text = outgoing_text(turn);
        outgoing_body_add(body, message("system", text));
        free(text);
    } else {
        outgoing_body_add(body, user_message(turn));
    }
}

static void add_messages(struct outgoing_body *body, const struct request *request)
{
    if (request->system != NULL && request->system[0] != '\0')
        outgoing_body_add(body, message("system", request->system));
    struct outgoing out;
    outgoing_begin(&out, request);
    for (const struct outgoing_turn *turn; (turn = outgoing_next(&out)) != NULL;)
        add_turn(body, turn);
    outgoing_release(&out);
}

static struct json *members_of(const struct config *config, const struct request *request)
{
    int64_t configured = config_integer(config, CONFIG_OLLAMA_NUM_CTX);
    int64_t known = request->window > 0 ? request->window : OLLAMA_DEFAULT_WINDOW;
    struct json *options = json_new_object();
    json_set_int(options, "num_ctx", configured > 0 ? configured : known);
    json_set_int(options, "num_predict", request->max_output);
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_set_number(options, "temperature", config_real(config, CONFIG_PROVIDER_TEMPERATURE));

    struct json *body = json_new_object();
    json_set_string(body, "model", request->model);
    if (request->tool_count > 0)
        json_set(body, "tools", openai_tools(request));
    json_set(body, "options", options);
    json_set_bool(body, "stream", true);
    return body;
}

void ollama_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request)
{
    outgoing_body_begin(out, members_of(config, request), config);
    add_messages(out, request);
    outgoing_body_end(out);
}

/* Below this our estimate is too rough to accuse the server of dropping the prompt's front. */
#define MIN_ESTIMATE 500
/* Tokens by which the frame of a message in our estimate, JSON, is longer than in a template. */
#define FRAME_TOKENS 15

/* Each call comes whole. */
static bool take_call(struct stream *s, const struct json *call)
{
    const struct json *function = json_get(call, "function");
    struct stream_part *part = stream_open(s, BLOCK_TOOL_CALL, -1);
    if (part == NULL)
        return false;
    stream_name_call(part, json_get_string(call, "id"), json_get_string(function, "name"));
    return stream_arguments(s, part, json_get(function, "arguments"));
}

static enum stop_reason find_reason(const char *name)
{
    if (name == NULL || strcmp(name, "stop") == 0)
        return STOP_END_TURN;
    return strcmp(name, "length") == 0 ? STOP_MAX_TOKENS : STOP_OTHER;
}

/* An estimate may be off by a third, a server that cut the prompt is off by much more. */
static bool is_cut(const struct request *request, int64_t counted)
{
    int64_t estimate = request->estimate - FRAME_TOKENS * (int64_t)request->message_count;
    return counted > 0 && estimate > MIN_ESTIMATE && counted < estimate / 2;
}

static void take_end(struct stream *s, const struct json *event)
{
    struct response *r = s->response;
    r->usage.input = figure_tokens(event, "prompt_eval_count", -1);
    r->usage.output = figure_tokens(event, "eval_count", -1);
    stream_stop(s, find_reason(json_get_string(event, "done_reason")));
    s->ended = true;
    r->prompt_truncated = is_cut(s->request, r->usage.input);
}

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    (void)state;
    const char *model = json_get_string(event, "model");
    if (model != NULL && s->response->model == NULL)
        s->response->model = mem_strdup(model);
    const struct json *m = json_get(event, "message");
    if (!stream_text(s, BLOCK_REASONING, json_get_string(m, "thinking")) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(m, "content")))
        return false;
    const struct json *calls = json_get(m, "tool_calls");
    for (const struct json *call = json_first(calls); call != NULL; call = json_next(call))
        if (!take_call(s, call))
            return false;
    if (json_get_bool(event, "done", false))
        take_end(s, event);
    return true;
}

static const struct dialect dialect = {
    .name = "ollama",
    .framing = FRAMING_NDJSON,
    .event = take_event,
};

static bool complete(const struct provider_call *call, const struct request *request,
                     struct response *response, struct failure *f)
{
    struct outgoing_body body;
    ollama_body(&body, call->config, request);
    return exchange_stream(call, &dialect, "/api/chat", &body, request, response, NULL, f);
}

/* "llama3.2" is "llama3.2:latest" to the server. */
static bool same_model(const char *listed, const char *model)
{
    size_t len = strlen(model);
    return listed != NULL && strncmp(listed, model, len) == 0 &&
           (listed[len] == '\0' || strcmp(listed + len, ":latest") == 0);
}

/* The window of the model as it is loaded now; 0 if it is not. */
static int64_t allocated_window(const struct provider_call *call, const char *model,
                                struct failure *f)
{
    struct json *reply = exchange_fetch(call, &dialect, "/api/ps", NULL, f);
    int64_t found = 0;
    for (const struct json *v = json_first(json_get(reply, "models")); v != NULL; v = json_next(v))
        if (same_model(json_get_string(v, "model"), model) ||
            same_model(json_get_string(v, "name"), model))
            found = figure_tokens(v, "context_length", 0);
    json_free(reply);
    return found;
}

static int64_t trained_window(const struct provider_call *call, const char *model)
{
    struct failure f;
    struct json *body = json_new_object();
    json_set_string(body, "model", model);
    struct json *reply = exchange_fetch(call, &dialect, "/api/show", body, &f);
    const struct json *info = json_get(reply, "model_info");
    const char *family = json_get_string(info, "general.architecture");
    int64_t found = 0;
    if (family != NULL) {
        char *name = mem_printf("%s.context_length", family);
        found = figure_tokens(info, name, 0);
        free(name);
    }
    json_free(reply);
    return found;
}

static bool find_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    struct failure f = {.kind = FAILURE_NONE};
    int64_t found = config_integer(call->config, CONFIG_OLLAMA_NUM_CTX);
    if (found <= 0)
        found = allocated_window(call, model, &f);
    /* Who was stopped, or does not answer, is not asked again. */
    if (found <= 0 && (f.kind == FAILURE_NONE || f.kind == FAILURE_STATUS)) {
        int64_t trained = trained_window(call, model);
        found = trained < OLLAMA_DEFAULT_WINDOW ? trained : OLLAMA_DEFAULT_WINDOW;
    }
    if (found > 0)
        *tokens = found;
    return found > 0;
}

static bool list_models(const struct provider_call *call, struct provider_names *out,
                        struct failure *f)
{
    return exchange_names(call, &dialect, "/api/tags", "models", "name", out, f);
}

const struct provider provider_ollama = {
    .name = "ollama",
    .has_network = true,
    .usual_model = "llama3.2",
    .complete = complete,
    .window = find_window,
    .models = list_models,
};
