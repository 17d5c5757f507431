/* Ollama's native API. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "chat/usage.h"
#include "provider/exchange.h"
#include "provider/outgoing.h"

/* Images travel apart from the text, which names those that cannot travel. */
static void write_user(struct json_out *out, const struct outgoing_turn *turn)
{
    auto_free char *said = outgoing_text(turn);
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(char *) images = {0};
    buf_addstr(&text, said ? said : "");
    for (size_t i = 0; i < turn->blocks.len; i++) {
        if (turn->blocks.items[i]->type != BLOCK_IMAGE)
            continue;
        AUTO(image_release) struct image image;
        image_load(&image, turn->blocks.items[i]);
        const char *gap = text.len > 0 ? "\n\n" : "";
        if (image.problem)
            buf_addf(&text, "%s%s", gap, image.problem);
        else if (image.url)
            buf_addf(&text, "%s[image: %s]", gap, image.url);
        else
            vec_push(&images, image.base64);
        image.base64 = NULL;
    }
    json_out_open(out, '{');
    json_out_pack(out, "role:'user' content:s", text.data);
    if (images.len > 0) {
        json_out_name(out, "images");
        json_out_open(out, '[');
        for (size_t i = 0; i < images.len; i++)
            json_out_string(out, images.items[i]);
        json_out_close(out, ']');
    }
    json_out_close(out, '}');
    vec_free_each(&images);
}

static void write_turn(struct outgoing_body *body, const struct outgoing_turn *turn, void *context)
{
    (void)context;
    struct json_out *out = &body->out;
    auto_free char *text = outgoing_text(turn);
    bool calls = outgoing_has(turn, BLOCK_TOOL_CALL);
    if (turn->role == ROLE_USER) {
        write_user(out, turn);
    } else if (turn->role == ROLE_SYSTEM) {
        json_out_pack(out, "{role:'system' content:s}", text ? text : "");
    } else if (turn->role == ROLE_TOOL) {
        for (size_t i = 0; i < turn->blocks.len; i++) {
            const struct block *b = turn->blocks.items[i];
            json_out_pack(out, "{role:'tool' content:s tool_name:s}", b->text ? b->text : "",
                          b->name);
        }
    } else if (text || calls) {
        json_out_open(out, '{');
        json_out_pack(out, "role:'assistant' content:s", text ? text : "");
        if (calls) {
            json_out_name(out, "tool_calls");
            json_out_open(out, '[');
            for (size_t i = 0; i < turn->blocks.len; i++) {
                const struct block *b = turn->blocks.items[i];
                if (b->type == BLOCK_TOOL_CALL)
                    json_out_pack(out, "{function:{name:s arguments:o}}", b->name,
                                  outgoing_object(b->text));
            }
            json_out_close(out, ']');
        }
        json_out_close(out, '}');
    }
}

void ollama_body(struct outgoing_body *out, const struct config *config,
                 const struct request *request)
{
    int64_t configured = config_integer(config, CONFIG_OLLAMA_NUM_CTX);
    int64_t known = request->window > 0 ? request->window : OLLAMA_DEFAULT_WINDOW;
    outgoing_body_begin(out, config);
    json_out_pack(&out->out, "model:s", request->model);
    openai_tools(&out->out, request);
    json_out_name(&out->out, "options");
    json_out_open(&out->out, '{');
    json_out_pack(&out->out, "num_ctx:I num_predict:I", configured > 0 ? configured : known,
                  request->max_output);
    outgoing_temperature(out, config);
    json_out_close(&out->out, '}');
    if (request->effort &&
        (strcmp(request->effort, "true") == 0 || strcmp(request->effort, "false") == 0))
        json_out_pack(&out->out, "think:b", *request->effort == 't');
    else if (request->effort)
        json_out_member(&out->out, "think", request->effort);
    json_out_pack(&out->out, "stream:b", true);
    outgoing_body_messages(out, request, true, write_turn, NULL);
    outgoing_body_end(out);
}

/* Below this our estimate is too rough to accuse the server of dropping the prompt's front. */
#define MIN_ESTIMATE 500
/* Tokens by which the frame of a message in our estimate, JSON, is longer than in a template. */
#define FRAME_TOKENS 15

static bool take_event(struct stream *s, void *state, const struct json *event)
{
    (void)state;
    stream_set_once(&s->response->model, json_get_string(event, "model"));
    const struct json *m = json_get(event, "message");
    if (!stream_text(s, BLOCK_REASONING, json_get_string(m, "thinking")) ||
        !stream_text(s, BLOCK_TEXT, json_get_string(m, "content")))
        return false;
    const struct json *call = json_first(json_get(m, "tool_calls"));
    for (; call; call = json_next(call)) { /* each comes whole */
        const struct json *function = json_get(call, "function");
        struct stream_part *part = stream_open(s, BLOCK_TOOL_CALL, -1);
        if (!part)
            return false;
        stream_set_once(&part->id, json_get_string(call, "id"));
        stream_set_once(&part->name, json_get_string(function, "name"));
        if (!stream_arguments(s, part, json_get(function, "arguments")))
            return false;
    }
    if (!json_get_bool(event, "done", false))
        return true;
    struct response *r = s->response;
    const char *reason = json_get_string(event, "done_reason");
    r->usage.input = figure_tokens(event, "prompt_eval_count", -1);
    r->usage.output = figure_tokens(event, "eval_count", -1);
    stream_stop(s, !reason || strcmp(reason, "stop") == 0 ? STOP_END_TURN
                   : strcmp(reason, "length") == 0        ? STOP_MAX_TOKENS
                                                          : STOP_OTHER);
    s->ended = true;
    /* An estimate may be off by a third, a server that cut the prompt is off by much more. */
    int64_t estimate = s->request->estimate - FRAME_TOKENS * (int64_t)s->request->message_count;
    r->prompt_truncated =
        r->usage.input > 0 && estimate > MIN_ESTIMATE && r->usage.input < estimate / 2;
    return true;
}

static const struct dialect dialect = {
    .name = "ollama",
    .framing = FRAMING_NDJSON,
    .event = take_event,
};

bool ollama_complete(const struct provider_call *call, const struct request *request,
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
    return listed && strncmp(listed, model, len) == 0 &&
           (listed[len] == '\0' || strcmp(listed + len, ":latest") == 0);
}

bool ollama_window(const struct provider_call *call, const char *model, int64_t *tokens)
{
    struct failure f = {.kind = FAILURE_NONE};
    int64_t found = config_integer(call->config, CONFIG_OLLAMA_NUM_CTX);
    if (found <= 0) {
        /* The window of the model as it is loaded now. */
        AUTO(json_free_local)
        struct json *reply = exchange_fetch(call, &dialect, "/api/ps", NULL, &f);
        for (const struct json *v = json_first(json_get(reply, "models")); v; v = json_next(v))
            if (same_model(json_get_string(v, "model"), model) ||
                same_model(json_get_string(v, "name"), model))
                found = figure_tokens(v, "context_length", 0);
    }
    /* A server that was stopped, or does not answer, is not asked again. */
    if (found <= 0 && (f.kind == FAILURE_NONE || f.kind == FAILURE_STATUS)) {
        AUTO(json_free_local)
        struct json *reply =
            exchange_fetch(call, &dialect, "/api/show", json_pack("{model:s}", model), &f);
        const struct json *info = json_get(reply, "model_info");
        const char *family = json_get_string(info, "general.architecture");
        auto_free char *name = mem_printf("%s.context_length", family ? family : "");
        int64_t trained = family ? figure_tokens(info, name, 0) : 0;
        found = trained < OLLAMA_DEFAULT_WINDOW ? trained : OLLAMA_DEFAULT_WINDOW;
    }
    if (found > 0)
        *tokens = found;
    return found > 0;
}

bool ollama_sees(const struct provider_call *call, const char *model, bool *sees)
{
    struct failure f = {.kind = FAILURE_NONE};
    AUTO(json_free_local)
    struct json *reply =
        exchange_fetch(call, &dialect, "/api/show", json_pack("{model:s}", model), &f);
    const struct json *capabilities = json_get(reply, "capabilities");
    *sees = false;
    for (const struct json *v = json_first(capabilities); v; v = json_next(v))
        *sees = *sees || (json_string(v) && strcmp(json_string(v), "vision") == 0);
    return json_type(capabilities) == JSON_ARRAY; /* before 0.6 the server did not say */
}

bool ollama_models(const struct provider_call *call, struct provider_names *out, struct failure *f)
{
    return exchange_names(call, &dialect, "/api/tags", "models", "name", out, f);
}
