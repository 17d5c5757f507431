#include "provider/ollama_body.h"

#include <stdlib.h>

#include "base/buf.h"
#include "provider/image.h"
#include "provider/openai_body.h"
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

static void push_assistant(struct json *messages, const struct outgoing_turn *turn)
{
    struct json *calls = outgoing_calls(turn, call_of);
    char *text = outgoing_text(turn);
    if (text != NULL || calls != NULL) {
        struct json *m = message("assistant", text);
        if (calls != NULL)
            json_set(m, "tool_calls", calls);
        json_push(messages, m);
    }
    free(text);
}

static void push_results(struct json *messages, const struct outgoing_turn *turn)
{
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        struct json *m = message("tool", b->text);
        json_set_string(m, "tool_name", b->name);
        json_push(messages, m);
    }
}

static struct json *messages_of(const struct request *request)
{
    struct json *list = json_new_array();
    if (request->system != NULL && request->system[0] != '\0')
        json_push(list, message("system", request->system));
    struct outgoing out;
    outgoing_build(&out, request);
    for (size_t i = 0; i < out.turns.len; i++) {
        const struct outgoing_turn *turn = &out.turns.items[i];
        if (turn->role == ROLE_ASSISTANT) {
            push_assistant(list, turn);
        } else if (turn->role == ROLE_TOOL) {
            push_results(list, turn);
        } else if (turn->role == ROLE_SYSTEM) {
            char *text = outgoing_text(turn);
            json_push(list, message("system", text));
            free(text);
        } else {
            json_push(list, user_message(turn));
        }
    }
    outgoing_release(&out);
    return list;
}

struct json *ollama_body(const struct config *config, const struct request *request)
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
    json_set(body, "messages", messages_of(request));
    if (request->tool_count > 0)
        json_set(body, "tools", openai_tools(request));
    json_set(body, "options", options);
    json_set_bool(body, "stream", true);
    return body;
}
