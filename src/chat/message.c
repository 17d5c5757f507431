#include "chat/message.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/context.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define SPEAKERS [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant", [ROLE_TOOL] = "tool"
static const char *const role_words[] = {[ROLE_SYSTEM] = "system", SPEAKERS};
static const char *const speaker_words[] = {SPEAKERS};

static const char *const block_type_names[] = {
    [BLOCK_TEXT] = "text",           [BLOCK_REASONING] = "reasoning",
    [BLOCK_TOOL_CALL] = "tool_call", [BLOCK_TOOL_RESULT] = "tool_result",
    [BLOCK_IMAGE] = "image",
};

static const struct shape_names block_types = {block_type_names, COUNT(block_type_names), -1};
static const struct shape_names roles = {role_words, COUNT(role_words), -1};

#define TEXT(member, what)                                                                         \
    SHAPE_FIELD(#member, STRING, OPTIONAL, SHAPE_AT_TEXT(struct block, member), .help = what)
#define FLAG(T, member, what)                                                                      \
    SHAPE_FIELD(#member, BOOLEAN, OPTIONAL, SHAPE_AT(bool, T, member), .help = what)

const struct shape block_shape =
    SHAPE_OF("content block", struct block,
             SHAPE_FIELD("type", ENUM, REQUIRED, SHAPE_AT(enum block_type, struct block, type),
                         .names = &block_types, .help = "What it is."),
             TEXT(id, "Of the call; of an image its size, \"1024×768 png 210 kB\"."),
             TEXT(name, "The tool, the model that reasoned, or @ and an attached file."),
             TEXT(text, "The content; arguments; an image's path or URL."),
             TEXT(signature, "The provider's proof of reasoning, or its own blocks for this one."),
             TEXT(media_type, "Of an image; \"inode/directory\" of an attached folder."),
             FLAG(struct block, redacted, "The signature is the encrypted content."),
             FLAG(struct block, is_error, "The result says why the call failed."));

const struct shape message_shape =
    SHAPE_OF("message", struct message,
             SHAPE_FIELD("role", ENUM, REQUIRED, SHAPE_AT(enum role, struct message, role),
                         .names = &roles, .help = "Who says it."),
             SHAPE_FIELD("seq", INTEGER, DEFAULT, SHAPE_AT(int64_t, struct message, seq),
                         .help = "Number of the event that began it."),
             SHAPE_FIELD("turn", COUNT, DEFAULT, SHAPE_AT(int, struct message, turn),
                         .help = "The user's message that it belongs to."),
             FLAG(struct message, partial, "It was interrupted or cut off."),
             FLAG(struct message, summary, "Made by a compaction."),
             FLAG(struct message, pinned, "By the user."),
             SHAPE_FIELD("content", LIST, REQUIRED, offsetof(struct message, blocks),
                         .of = &block_shape, .help = "Its blocks."));

void block_release(struct block *b)
{
    shape_release(&block_shape, b);
}

struct block block_clone(const struct block *b)
{
    struct block copy = *b;
    shape_copy(&block_shape, &copy, b);
    return copy;
}

struct block block_text(const char *text)
{
    return (struct block){.type = BLOCK_TEXT, .text = mem_strdup(text)};
}

void message_release(struct message *m)
{
    shape_release(&message_shape, m);
}

struct message message_without_blocks(const struct message *m)
{
    struct message copy = *m;
    copy.blocks.items = NULL;
    copy.blocks.len = copy.blocks.cap = 0;
    copy.row = 0;
    return copy;
}

struct message message_clone(const struct message *m)
{
    struct message copy = *m;
    shape_copy(&message_shape, &copy, m);
    return copy;
}

char *message_text(const struct message *m)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        bool surrounds = b->name && strcmp(b->name, MESSAGE_SURROUNDINGS) == 0;
        if (b->type != BLOCK_TEXT || !b->text || !*b->text || surrounds)
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        buf_addstr(&out, b->text);
    }
    return buf_take(&out);
}

const struct shape_names role_names = {speaker_words, COUNT(speaker_words), -1};

const char *role_name(enum role role)
{
    return role_words[role];
}

int64_t message_estimate_tokens(const struct message *m)
{
    return shape_bytes(&message_shape, m) / MESSAGE_BYTES_A_TOKEN;
}

/* Whether the block has the members that its type needs. */
static bool is_whole(const struct block *b, struct error *e)
{
    bool call = b->type == BLOCK_TOOL_CALL, result = b->type == BLOCK_TOOL_RESULT;
    const char *lacks = !b->text                     ? "text"
                        : (call || result) && !b->id ? "id"
                        : call && !b->name           ? "name"
                                                     : NULL;
    return !lacks || err_set(e, ERR_AGENT_ERROR, "the %s block has no \"%s\"",
                             block_type_names[b->type], lacks);
}

bool block_from_json(const struct json *v, struct block *out, struct error *e)
{
    struct error cause;
    if (!shape_read(&block_shape, v, out, &cause))
        return err_set(e, ERR_AGENT_ERROR, "a content block: %s", cause.text);
    if (is_whole(out, e))
        return true;
    block_release(out);
    return false;
}

bool message_from_json(const struct json *v, struct message *out, struct error *e)
{
    struct error cause;
    bool ok = true;
    out->row = 0;
    if (!shape_read(&message_shape, v, out, &cause))
        return err_set(e, ERR_AGENT_ERROR, "a message: %s", cause.text);
    for (size_t i = 0; i < out->blocks.len && ok; i++)
        ok = is_whole(&out->blocks.items[i], e);
    if (!ok)
        message_release(out);
    return ok;
}

const struct message *message_whole(struct message_source *s, const struct message *m,
                                    struct message *room)
{
    struct error e;
    *room = (struct message){.role = m->role};
    if (m->row == 0)
        return m;
    assert(s);
    if (s->read(s, m, room, &e))
        return room;
    if (!s->failed)
        s->fault = e;
    s->failed = true;
    return m;
}

void context_release(struct context *c)
{
    for (size_t i = 0; i < c->parts.len; i++) {
        free(c->parts.items[i].source);
        free(c->parts.items[i].text);
    }
    vec_release(&c->parts);
    free(c->effort);
    free(c->mode);
}
