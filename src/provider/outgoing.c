#include "provider/outgoing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

/* The turns of a request, made one after the other. */
struct outgoing {
    const struct request *request;
    VEC(struct outgoing_turn) turns;
    VEC(struct message *)
    read; /* from message first_read on; NULL: not read, or not needed to be */
    size_t first_read;
    VEC(struct block *) made; /* texts in place of images, or before them; owned */
};

/* The message with its blocks, which stay until no turn has them. */
static const struct message *message_at(struct outgoing *out, size_t at)
{
    const struct message *m = &out->request->messages[at];
    if (m->row == 0)
        return m;
    while (out->read.len <= at - out->first_read)
        vec_push(&out->read, NULL);
    struct message **read = &out->read.items[at - out->first_read];
    if (!*read) {
        struct message room;
        *read = mem_alloc(sizeof **read);
        **read = *message_whole(out->request->source, m, &room);
    }
    return *read;
}

#define ROLE_AT(out, at) ((out)->request->messages[at].role)

/* Message `at` has a block of `type` with the same id. A call that the provider ran has only the
 * result that came with it: after a crash or a compaction another may stand there. */
static bool has_block(struct outgoing *out, size_t at, enum block_type type,
                      const struct block *like)
{
    const struct message *m = message_at(out, at);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->type == type && b->id && like->id && strcmp(b->id, like->id) == 0 &&
            !b->signature == !like->signature)
            return true;
    }
    return false;
}

/* The tool messages right after assistant message `at` answer the call. */
static bool is_answered(struct outgoing *out, size_t at, const struct block *call)
{
    for (size_t i = at + 1; i < out->request->message_count && ROLE_AT(out, i) == ROLE_TOOL; i++)
        if (has_block(out, i, BLOCK_TOOL_RESULT, call))
            return true;
    return false;
}

/* The message right before the tool messages that end with `at`, which may have their calls. */
static size_t find_caller(const struct outgoing *out, size_t at)
{
    while (at > 0 && ROLE_AT(out, at) == ROLE_TOOL)
        at--;
    return at;
}

static bool is_sent(struct outgoing *out, size_t at, const struct block *block)
{
    const struct message *m = message_at(out, at);
    const char *model = out->request->model;
    switch (block->type) {
    case BLOCK_TEXT:
        return !utf8_is_blank(block->text);
    case BLOCK_REASONING: /* `name`: the model that it is of */
        if (m->role != ROLE_ASSISTANT || m->partial ||
            (block->name && model && strcmp(block->name, model) != 0))
            return false;
        for (const struct block *b = block + 1; b < m->blocks.items + m->blocks.len; b++)
            if ((b->type == BLOCK_TEXT && !utf8_is_blank(b->text)) ||
                (b->type == BLOCK_TOOL_CALL && is_answered(out, at, b)))
                return true;
        return false;
    case BLOCK_TOOL_CALL:
        return m->role == ROLE_ASSISTANT && is_answered(out, at, block);
    case BLOCK_TOOL_RESULT:
        return true;
    case BLOCK_IMAGE: /* the result of a tool has a text for it */
        return m->role == ROLE_USER || (m->role == ROLE_TOOL && out->request->eyes == EYES_SEE);
    }
    return false;
}

/* A block that lasts as long as the request; takes the text. */
static const struct block *make_text(struct outgoing *out, char *text)
{
    struct block *block = mem_alloc(sizeof *block);
    *block = (struct block){.type = BLOCK_TEXT, .text = text};
    vec_push(&out->made, block);
    return block;
}

static void add(struct outgoing *out, enum role role, size_t at, const struct block *block)
{
    if (block->type == BLOCK_IMAGE && out->request->eyes == EYES_NONE) {
        struct buf text = BUF_INIT;
        image_add_text(&text, block);
        block = make_text(out, buf_take(&text));
    }
    if (out->turns.len == 0 || vec_last(&out->turns).role != role)
        vec_push(&out->turns, (struct outgoing_turn){.role = role, .first = at});
    vec_push(&vec_last(&out->turns).blocks, block);
}

/* The results of a tool message with a call go first: those without one become the user's, and must
 * not stand between. So do images of results, for which most dialects have no other place. */
static void add_message(struct outgoing *out, size_t at)
{
    const struct message *m = message_at(out, at);
    bool tool = m->role == ROLE_TOOL;
    for (int pass = tool ? 0 : 1; pass < 2; pass++)
        for (size_t i = 0; i < m->blocks.len; i++) {
            const struct block *b = &m->blocks.items[i];
            size_t caller = tool ? find_caller(out, at) : 0;
            bool answer = tool && b->type == BLOCK_TOOL_RESULT &&
                          ROLE_AT(out, caller) == ROLE_ASSISTANT &&
                          has_block(out, caller, BLOCK_TOOL_CALL, b);
            if (!is_sent(out, at, b) || answer != (pass == 0))
                continue;
            if (tool && b->type == BLOCK_IMAGE)
                add(out, ROLE_USER, at,
                    make_text(out, mem_printf("[an image of the result of the tool %s]",
                                              b->name ? b->name : "")));
            add(out, answer ? ROLE_TOOL : tool ? ROLE_USER : m->role, at, b);
        }
}

/* Drops messages before `end`. */
static void drop_read(struct outgoing *out, size_t end)
{
    size_t count = 0;
    for (; count < out->read.len && out->first_read + count < end; count++) {
        if (out->read.items[count])
            message_release(out->read.items[count]);
        free(out->read.items[count]);
    }
    vec_remove(&out->read, 0, count);
    if (end > out->first_read)
        out->first_read = end;
}

/* --- the body --------------------------------------------------------------------------------- */

void outgoing_body_begin(struct outgoing_body *b, const struct config *config)
{
    *b = (struct outgoing_body){
        .text = BUF_INIT, .list = "messages", .most = provider_max_request(config)};
    b->out.buf = &b->text;
    json_out_open(&b->out, '{');
}

void outgoing_temperature(struct outgoing_body *b, const struct config *config)
{
    if (config_is_set(config, CONFIG_PROVIDER_TEMPERATURE))
        json_out_pack(&b->out, "temperature:d", config_real(config, CONFIG_PROVIDER_TEMPERATURE));
}

void outgoing_body_messages(struct outgoing_body *b, const struct request *request, bool system,
                            outgoing_write *write, void *context)
{
    struct outgoing out = {.request = request};
    const struct block recalled = {.type = BLOCK_TEXT, .text = (char *)request->recalled};
    json_out_name(&b->out, b->list);
    json_out_open(&b->out, '[');
    if (system && request->system && *request->system) {
        const struct block block = {.type = BLOCK_TEXT, .text = (char *)request->system};
        add(&out, ROLE_SYSTEM, 0, &block);
        write(b, &out.turns.items[0], context);
        vec_release(&out.turns.items[0].blocks);
        out.turns.len = 0;
    }
    for (size_t next = 0;;) {
        /* A turn is whole once the next one has begun. */
        while (out.turns.len < 2 && next < request->message_count) {
            if (request->recalled && next == request->recalled_at)
                add(&out, ROLE_USER, next, &recalled);
            add_message(&out, next++);
        }
        if (out.turns.len == 0)
            break;
        write(b, &out.turns.items[0], context);
        if (b->out.buf && b->out.len > b->most) {
            b->out.buf = NULL;
            buf_release(&b->text);
        }
        vec_release(&out.turns.items[0].blocks);
        vec_remove(&out.turns, 0, 1);
        /* Messages go that neither a turn nor a later answer needs. */
        size_t end = next < request->message_count ? find_caller(&out, next) : next;
        if (out.turns.len > 0 && out.turns.items[0].first < end)
            end = out.turns.items[0].first;
        drop_read(&out, end);
    }
    drop_read(&out, out.first_read + out.read.len);
    for (size_t i = 0; i < out.made.len; i++) {
        block_release(out.made.items[i]);
        free(out.made.items[i]);
    }
    vec_release(&out.made);
    vec_release(&out.turns);
    vec_release(&out.read);
}

void outgoing_body_end(struct outgoing_body *b)
{
    json_out_close(&b->out, ']');
    json_out_close(&b->out, '}');
}

/* --- parts of turns --------------------------------------------------------------------------- */

char *outgoing_orphan(const struct block *result)
{
    return mem_printf("[result of the tool %s]\n%s", result->name ? result->name : "",
                      result->text ? result->text : "");
}

void outgoing_own(struct json_out *out, const char *signature)
{
    auto_free char *list = mem_printf("[%s]", signature);
    AUTO(json_free_local) struct json *own = json_parse_foreign(list, strlen(list), NULL);
    for (const struct json *v = json_first(own); v; v = json_next(v)) {
        auto_free char *value = json_type(v) == JSON_OBJECT ? json_print(v) : NULL;
        if (value)
            json_out_raw(out, value);
    }
}

bool outgoing_has(const struct outgoing_turn *turn, enum block_type type)
{
    for (size_t i = 0; i < turn->blocks.len; i++)
        if (turn->blocks.items[i]->type == type)
            return true;
    return false;
}

char *outgoing_text(const struct outgoing_turn *turn)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct block *b = turn->blocks.items[i];
        bool orphan = b->type == BLOCK_TOOL_RESULT && turn->role == ROLE_USER;
        if (b->type != BLOCK_TEXT && !orphan)
            continue;
        if (text.len > 0)
            buf_addstr(&text, "\n\n");
        auto_free char *owned = orphan ? outgoing_orphan(b) : NULL;
        buf_addstr(&text, orphan ? owned : b->text);
    }
    return text.len > 0 ? buf_take(&text) : NULL;
}

struct json *outgoing_object(const char *text)
{
    struct json *v = text ? json_parse_foreign(text, strlen(text), NULL) : NULL;
    if (v && json_type(v) == JSON_OBJECT)
        return v;
    json_free(v);
    return json_new_object();
}

/* --- images ----------------------------------------------------------------------------------- */

void image_load(struct image *out, const struct block *block)
{
    const char *where = block->text ? block->text : "";
    *out = (struct image){0};
    if (strncasecmp(where, "http://", 7) == 0 || strncasecmp(where, "https://", 8) == 0) {
        out->url = where;
        out->media_type = block->media_type;
        return;
    }
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    bytes.max = IMAGE_MAX_BYTES;
    struct error e;
    if (!paths_read_file(where, PATHS_FILE, &bytes, &e))
        out->problem = mem_printf("[an image that cannot be read: %s]", e.text);
    else if (!(out->media_type = image_media_type(bytes.data, bytes.len)))
        out->problem = mem_printf("[%s is not a PNG, JPEG, GIF or WebP image]", where);
    else
        out->base64 = base64_encode((const unsigned char *)bytes.data, bytes.len);
}

void image_release(struct image *image)
{
    free(image->base64);
    free(image->problem);
}
