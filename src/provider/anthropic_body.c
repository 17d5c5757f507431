#include "provider/anthropic_body.h"

#include <stdlib.h>
#include <string.h>

#include "provider/image.h"
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
 * into the message that is open. */
struct writer {
    struct json *messages;
    struct json *content; /* of the last message */
    const char *role;
    struct json *cacheable; /* the last block that may carry a breakpoint */
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
    json_push(w->messages, message);
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
        if (turn->blocks.items[i]->type != BLOCK_REASONING)
            w->cacheable = block;
    }
}

static size_t newest_user_turn(const struct outgoing *out)
{
    for (size_t i = out->turns.len; i > 0; i--)
        if (out->turns.items[i - 1].role == ROLE_USER)
            return i - 1;
    return out->turns.len;
}

static struct json *write_messages(const struct request *request)
{
    struct outgoing out;
    outgoing_build(&out, request);
    struct writer w = {.messages = json_new_array()};
    size_t newest = newest_user_turn(&out);
    struct json *stable = NULL;
    for (size_t i = 0; i < out.turns.len; i++) {
        if (i == newest)
            stable = w.cacheable;
        write_turn(&w, &out.turns.items[i]);
    }
    cache_here(stable);
    if (w.cacheable != stable)
        cache_here(w.cacheable);
    outgoing_release(&out);
    return w.messages;
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

struct json *anthropic_body(const struct config *config, const struct request *request)
{
    struct json *body = json_new_object();
    json_set_string(body, "model", request->model);
    json_set_int(body, "max_tokens", request->max_output);
    json_set_bool(body, "stream", true);
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_set_number(body, "temperature", config_real(config, CONFIG_PROVIDER_TEMPERATURE));
    if (request->system != NULL && request->system[strspn(request->system, " \t\r\n")] != '\0')
        json_set(body, "system", write_system(request->system));
    if (request->tool_count > 0)
        json_set(body, "tools", write_tools(request));
    json_set(body, "messages", write_messages(request));
    return body;
}
