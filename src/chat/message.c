#include "chat/message.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/figure.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const role_words[] = {
    [ROLE_SYSTEM] = "system",
    [ROLE_USER] = "user",
    [ROLE_ASSISTANT] = "assistant",
    [ROLE_TOOL] = "tool",
};

static const char *const block_type_names[] = {
    [BLOCK_TEXT] = "text",           [BLOCK_REASONING] = "reasoning",
    [BLOCK_TOOL_CALL] = "tool_call", [BLOCK_TOOL_RESULT] = "tool_result",
    [BLOCK_IMAGE] = "image",
};

/* The strings of a block under their names, and the types that cannot do without. */
static const struct {
    const char *name;
    size_t offset;
    unsigned needed_by; /* bit set of enum block_type */
} strings[] = {
    {"id", offsetof(struct block, id), 1U << BLOCK_TOOL_CALL | 1U << BLOCK_TOOL_RESULT},
    {"name", offsetof(struct block, name), 1U << BLOCK_TOOL_CALL},
    {"text", offsetof(struct block, text),
     1U << BLOCK_TEXT | 1U << BLOCK_REASONING | 1U << BLOCK_TOOL_CALL | 1U << BLOCK_TOOL_RESULT |
         1U << BLOCK_IMAGE},
    {"signature", offsetof(struct block, signature), 0},
    {"media_type", offsetof(struct block, media_type), 0},
};

static char **string_at(struct block *b, size_t i)
{
    return (char **)(void *)((char *)b + strings[i].offset);
}

static const char *string_of(const struct block *b, size_t i)
{
    return *(char *const *)(const void *)((const char *)b + strings[i].offset);
}

void block_release(struct block *b)
{
    for (size_t i = 0; i < COUNT(strings); i++)
        free(*string_at(b, i));
    *b = (struct block){0};
}

struct block block_clone(const struct block *b)
{
    struct block copy = *b;
    for (size_t i = 0; i < COUNT(strings); i++)
        *string_at(&copy, i) = mem_strdup(string_of(b, i));
    return copy;
}

struct block block_text(const char *text)
{
    return (struct block){.type = BLOCK_TEXT, .text = mem_strdup(text)};
}

void message_release(struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        block_release(&m->blocks.items[i]);
    vec_release(&m->blocks);
    *m = (struct message){0};
}

struct message message_without_blocks(const struct message *m)
{
    struct message copy = *m;
    copy.blocks.items = NULL;
    copy.blocks.len = copy.blocks.cap = 0;
    return copy;
}

struct message message_clone(const struct message *m)
{
    struct message copy = message_without_blocks(m);
    vec_reserve(&copy.blocks, m->blocks.len);
    for (size_t i = 0; i < m->blocks.len; i++)
        vec_push(&copy.blocks, block_clone(&m->blocks.items[i]));
    return copy;
}

char *message_text(const struct message *m)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (b->type != BLOCK_TEXT || !b->text || !*b->text)
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        buf_addstr(&out, b->text);
    }
    return buf_take(&out);
}

static const char *const speaker_words[] = {
    [ROLE_USER] = "user",
    [ROLE_ASSISTANT] = "assistant",
    [ROLE_TOOL] = "tool",
};
const struct shape_names role_names = {speaker_words, COUNT(speaker_words), -1};

const char *role_name(enum role role)
{
    return role_words[role];
}

const char *block_type_name(enum block_type type)
{
    return block_type_names[type];
}

static void block_write(struct json_out *o, const struct block *b)
{
    json_out_open(o, '{');
    json_out_member(o, "type", block_type_names[b->type]);
    for (size_t i = 0; i < COUNT(strings); i++)
        json_out_member(o, strings[i].name, string_of(b, i));
    json_out_flag(o, "is_error", b->is_error);
    json_out_flag(o, "redacted", b->redacted);
    json_out_close(o, '}');
}

void message_write(struct json_out *o, const struct message *m)
{
    json_out_open(o, '{');
    json_out_member(o, "role", role_words[m->role]);
    json_out_int(o, "seq", figure_bounded(m->seq, FIGURE_MAX));
    json_out_int(o, "turn", figure_bounded(m->turn, INT32_MAX));
    json_out_flag(o, "partial", m->partial);
    json_out_flag(o, "summary", m->summary);
    json_out_flag(o, "pinned", m->pinned);
    json_out_name(o, "content");
    json_out_open(o, '[');
    for (size_t i = 0; i < m->blocks.len; i++)
        block_write(o, &m->blocks.items[i]);
    json_out_close(o, ']');
    json_out_close(o, '}');
}

struct json *message_to_json(const struct message *m)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    message_write(&o, m);
    return json_out_tree(&text);
}

int64_t message_bytes(const struct message *m)
{
    struct json_out o = {0};
    message_write(&o, m);
    return o.len;
}

int64_t block_bytes(const struct block *b)
{
    struct json_out o = {0};
    block_write(&o, b);
    return o.len;
}

int64_t message_bytes_to_tokens(int64_t bytes)
{
    return bytes / 4;
}

int64_t message_estimate_tokens(const struct message *m)
{
    return message_bytes_to_tokens(message_bytes(m));
}

static int name_index(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static bool read_string(const struct json *v, size_t i, struct block *b, struct error *e)
{
    const struct json *member = json_get(v, strings[i].name);
    const char *text = json_string(member);
    bool needed = strings[i].needed_by & 1U << b->type;
    if (!text && (member || needed))
        return err_set(e, ERR_AGENT_ERROR, "the %s block's \"%s\" is no string",
                       block_type_names[b->type], strings[i].name);
    *string_at(b, i) = mem_strdup(text);
    return true;
}

bool block_from_json(const struct json *v, struct block *out, struct error *e)
{
    *out = (struct block){0};
    int type = name_index(block_type_names, COUNT(block_type_names), json_get_string(v, "type"));
    if (type < 0)
        return err_set(e, ERR_AGENT_ERROR, "a content block's \"type\" is unknown");
    out->type = (enum block_type)type;
    for (size_t i = 0; i < COUNT(strings); i++) {
        if (!read_string(v, i, out, e)) {
            block_release(out);
            return false;
        }
    }
    out->is_error = json_get_bool(v, "is_error", false);
    out->redacted = json_get_bool(v, "redacted", false);
    return true;
}

static bool read_content(const struct json *content, struct message *m, struct error *e)
{
    if (!content || json_type(content) != JSON_ARRAY)
        return err_set(e, ERR_AGENT_ERROR, "the message's \"content\" is no array");
    for (const struct json *v = json_first(content); v; v = json_next(v)) {
        struct block b;
        if (!block_from_json(v, &b, e))
            return false;
        vec_push(&m->blocks, b);
    }
    return true;
}

bool message_from_json(const struct json *v, struct message *out, struct error *e)
{
    *out = (struct message){0};
    int role = name_index(role_words, COUNT(role_words), json_get_string(v, "role"));
    int64_t seq = json_get_int(v, "seq", 0);
    int64_t turn = json_get_int(v, "turn", 0);
    if (role < 0)
        return err_set(e, ERR_AGENT_ERROR, "the message's \"role\" is unknown");
    if (seq < 0)
        return err_set(e, ERR_AGENT_ERROR, "the message's \"seq\" is negative");
    if (turn < 0 || turn > INT32_MAX)
        return err_set(e, ERR_AGENT_ERROR, "the message's \"turn\" is out of range");
    out->role = (enum role)role;
    out->seq = seq;
    out->turn = (int)turn;
    out->partial = json_get_bool(v, "partial", false);
    out->summary = json_get_bool(v, "summary", false);
    out->pinned = json_get_bool(v, "pinned", false);
    if (read_content(json_get(v, "content"), out, e))
        return true;
    message_release(out);
    return false;
}
