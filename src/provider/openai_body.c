#include "provider/openai_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "provider/image.h"
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
static void push_plain(struct json *messages, const char *role, const struct outgoing_turn *turn)
{
    struct json *m = message(role);
    char *text = outgoing_text(turn);
    if (has_image(turn))
        json_set(m, "content", parts(turn));
    else
        json_set_string(m, "content", text == NULL ? "" : text);
    json_push(messages, m);
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

static void push_assistant(struct json *messages, const struct outgoing_turn *turn)
{
    struct json *calls = outgoing_calls(turn, call);
    char *text = outgoing_text(turn);
    if (text != NULL || calls != NULL) {
        struct json *m = message("assistant");
        json_set(m, "content", json_new_string(text));
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
        struct json *m = message("tool");
        json_set_string(m, "tool_call_id", b->id);
        json_set_string(m, "content", b->text == NULL ? "" : b->text);
        json_push(messages, m);
    }
}

static struct json *messages_of(const struct request *request)
{
    struct json *list = json_new_array();
    if (request->system != NULL && request->system[0] != '\0') {
        struct json *system = message("system");
        json_set_string(system, "content", request->system);
        json_push(list, system);
    }
    struct outgoing out;
    outgoing_build(&out, request);
    for (size_t i = 0; i < out.turns.len; i++) {
        const struct outgoing_turn *turn = &out.turns.items[i];
        switch (turn->role) {
        case ROLE_SYSTEM:
            push_plain(list, "system", turn);
            break;
        case ROLE_USER:
            push_plain(list, "user", turn);
            break;
        case ROLE_ASSISTANT:
            push_assistant(list, turn);
            break;
        case ROLE_TOOL:
            push_results(list, turn);
            break;
        }
    }
    outgoing_release(&out);
    return list;
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

struct json *openai_body(const struct config *config, const struct request *request, bool vendor)
{
    struct json *options = json_new_object();
    json_set_bool(options, "include_usage", true);
    struct json *body = json_new_object();
    json_set_string(body, "model", request->model);
    json_set(body, "messages", messages_of(request));
    if (request->tool_count > 0)
        json_set(body, "tools", openai_tools(request));
    json_set_int(body, vendor ? "max_completion_tokens" : "max_tokens", request->max_output);
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_set_number(body, "temperature", config_real(config, CONFIG_PROVIDER_TEMPERATURE));
    json_set_bool(body, "stream", true);
    json_set(body, "stream_options", options);
    return body;
}
