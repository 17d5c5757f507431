#include "provider/outgoing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

static bool same_call(const struct block *a, const struct block *b)
{
    return a->id != NULL && b->id != NULL && strcmp(a->id, b->id) == 0;
}

/* With its blocks, which stay until no turn has them. */
static const struct message *message_at(struct outgoing *out, size_t at)
{
    const struct message *m = &out->request->messages[at];
    if (m->row == 0)
        return m;
    while (out->read.len <= at - out->first_read)
        vec_push(&out->read, NULL);
    struct message **read = &out->read.items[at - out->first_read];
    if (*read == NULL) {
        struct message room;
        *read = mem_alloc(sizeof **read);
        **read = *message_whole(out->request->source, m, &room);
    }
    return *read;
}

static enum role role_at(const struct outgoing *out, size_t at)
{
    return out->request->messages[at].role;
}

/* The block of `type` with the same id in message `at`, NULL if none. */
static const struct block *find_block(struct outgoing *out, size_t at, enum block_type type,
                                      const struct block *like)
{
    const struct message *m = message_at(out, at);
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type && same_call(&m->blocks.items[i], like))
            return &m->blocks.items[i];
    return NULL;
}

/* Is the call of assistant message `at` answered by the tool messages right after it? */
static bool is_answered(struct outgoing *out, size_t at, const struct block *call)
{
    for (size_t i = at + 1; i < out->request->message_count && role_at(out, i) == ROLE_TOOL; i++)
        if (find_block(out, i, BLOCK_TOOL_RESULT, call) != NULL)
            return true;
    return false;
}

/* What the tool messages at `at` may answer: the message right before them. */
static size_t find_answer(const struct outgoing *out, size_t at)
{
    while (at > 0 && role_at(out, at) == ROLE_TOOL)
        at--;
    return at;
}

/* Does the result of tool message `at` answer it? */
static bool is_called(struct outgoing *out, size_t at, const struct block *result)
{
    at = find_answer(out, at);
    return role_at(out, at) == ROLE_ASSISTANT &&
           find_block(out, at, BLOCK_TOOL_CALL, result) != NULL;
}

static void add(struct outgoing *out, enum role role, size_t at, const struct block *block)
{
    if (out->turns.len == 0 || vec_last(&out->turns).role != role)
        vec_push(&out->turns, (struct outgoing_turn){.role = role, .first = at});
    vec_push(&vec_last(&out->turns).blocks, block);
}

static bool is_own(const struct request *r, const struct block *reasoning)
{
    return reasoning->name == NULL || r->model == NULL || strcmp(reasoning->name, r->model) == 0;
}

/* Does an answer go on after this reasoning? */
static bool leads_on(struct outgoing *out, size_t at, const struct block *reasoning)
{
    const struct message *m = message_at(out, at);
    for (const struct block *b = reasoning + 1; b < m->blocks.items + m->blocks.len; b++)
        if ((b->type == BLOCK_TEXT && !utf8_is_blank(b->text)) ||
            (b->type == BLOCK_TOOL_CALL && is_answered(out, at, b)))
            return true;
    return false;
}

static bool is_sent(struct outgoing *out, size_t at, const struct block *block)
{
    const struct message *m = message_at(out, at);
    switch (block->type) {
    case BLOCK_TEXT:
        return !utf8_is_blank(block->text);
    case BLOCK_REASONING:
        return m->role == ROLE_ASSISTANT && !m->partial && is_own(out->request, block) &&
               leads_on(out, at, block);
    case BLOCK_TOOL_CALL:
        return m->role == ROLE_ASSISTANT && is_answered(out, at, block);
    case BLOCK_TOOL_RESULT:
        return true;
    case BLOCK_IMAGE:
        return m->role == ROLE_USER;
    }
    return false;
}

/* Results go first: what has no call becomes the user's, and must not stand between. */
static void add_tool_message(struct outgoing *out, size_t at)
{
    const struct message *m = message_at(out, at);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->blocks.len; i++) {
            const struct block *b = &m->blocks.items[i];
            bool answer = b->type == BLOCK_TOOL_RESULT && is_called(out, at, b);
            if (is_sent(out, at, b) && answer == (pass == 0))
                add(out, answer ? ROLE_TOOL : ROLE_USER, at, b);
        }
}

static void add_message(struct outgoing *out, size_t at)
{
    const struct message *m = message_at(out, at);
    if (m->role == ROLE_TOOL) {
        add_tool_message(out, at);
        return;
    }
    for (size_t i = 0; i < m->blocks.len; i++)
        if (is_sent(out, at, &m->blocks.items[i]))
            add(out, m->role, at, &m->blocks.items[i]);
}

/* --- one after the other --------------------------------------------------------------------- */

void outgoing_begin(struct outgoing *out, const struct request *request)
{
    *out = (struct outgoing){.request = request};
}

/* Of messages before `end`. */
static void drop_read(struct outgoing *out, size_t end)
{
    size_t count = 0;
    for (; count < out->read.len && out->first_read + count < end; count++) {
        if (out->read.items[count] != NULL)
            message_release(out->read.items[count]);
        free(out->read.items[count]);
    }
    vec_remove(&out->read, 0, count);
    out->first_read = end;
}

static void drop_first(struct outgoing *out)
{
    vec_release(&out->turns.items[0].blocks);
    vec_remove(&out->turns, 0, 1);
}

/* What no turn has any more, and nothing to come asks for. */
static void drop_given(struct outgoing *out)
{
    size_t end = out->next;
    if (end < out->request->message_count)
        end = find_answer(out, end);
    drop_first(out);
    if (out->turns.len > 0 && out->turns.items[0].first < end)
        end = out->turns.items[0].first;
    if (end > out->first_read)
        drop_read(out, end);
}

const struct outgoing_turn *outgoing_next(struct outgoing *out)
{
    if (out->turns.len > 0 && out->turns.items[0].given)
        drop_given(out);
    while (out->turns.len < 2 && out->next < out->request->message_count)
        add_message(out, out->next++);
    if (out->turns.len == 0)
        return NULL;
    out->turns.items[0].given = true;
    return &out->turns.items[0];
}

void outgoing_release(struct outgoing *out)
{
    while (out->turns.len > 0)
        drop_first(out);
    drop_read(out, out->first_read + out->read.len);
    vec_release(&out->turns);
    vec_release(&out->read);
}

/* --- the body -------------------------------------------------------------------------------- */

void outgoing_body_begin(struct outgoing_body *b, struct json *members, const struct config *config)
{
    char *text = json_print(members);
    json_free(members);
    *b = (struct outgoing_body){.text = BUF_INIT, .most = provider_max_request(config)};
    b->out.buf = &b->text;
    text[strlen(text) - 1] = '\0'; /* its brace */
    json_out_raw(&b->out, text);
    json_out_name(&b->out, "messages");
    json_out_open(&b->out, '[');
    free(text);
}

void outgoing_body_add(struct outgoing_body *b, struct json *message)
{
    char *text = json_print(message);
    json_free(message);
    json_out_raw(&b->out, text);
    free(text);
    if (b->out.buf && b->out.len > b->most) {
        b->out.buf = NULL;
        buf_release(&b->text);
    }
}

void outgoing_body_end(struct outgoing_body *b)
{
    json_out_close(&b->out, ']');
    json_out_close(&b->out, '}');
}

/* --- parts of turns -------------------------------------------------------------------------- */

char *outgoing_orphan(const struct block *result)
{
    return mem_printf("[result of the tool %s]\n%s", result->name == NULL ? "" : result->name,
                      result->text == NULL ? "" : result->text);
}

struct json *outgoing_calls(const struct outgoing_turn *turn,
                            struct json *(*call)(const struct block *b))
{
    struct json *calls = NULL;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        if (turn->blocks.items[i]->type != BLOCK_TOOL_CALL)
            continue;
        if (!calls)
            calls = json_new_array();
        json_push(calls, call(turn->blocks.items[i]));
    }
    return calls;
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
        char *owned = orphan ? outgoing_orphan(b) : NULL;
        buf_addstr(&text, orphan ? owned : b->text);
        free(owned);
    }
    if (text.len == 0)
        return NULL;
    return buf_take(&text);
}

static struct json *parse_object(const char *text)
{
    struct json *v = text == NULL ? NULL : json_parse_foreign(text, strlen(text), NULL);
    if (v != NULL && json_type(v) == JSON_OBJECT)
        return v;
    json_free(v);
    return json_new_object();
}

struct json *outgoing_arguments(const struct block *call)
{
    return parse_object(call->text);
}

struct json *outgoing_schema(const struct tool_spec *tool)
{
    return parse_object(tool->schema);
}

/* --- image --- */

static const struct {
    const char *media_type;
    size_t at;
    const char *magic;
} formats[] = {
    {"image/png", 0, "\x89PNG\r\n\x1a\n"},
    {"image/jpeg", 0, "\xff\xd8\xff"},
    {"image/gif", 0, "GIF8"},
    {"image/webp", 8, "WEBP"},
};

/* What the bytes are counts, not what the file is called: servers refuse a mismatch. */
const char *image_media_type(const char *bytes, size_t bytes_len)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t len = strlen(formats[i].magic);
        if (bytes_len >= formats[i].at + len &&
            memcmp(bytes + formats[i].at, formats[i].magic, len) == 0)
            return formats[i].media_type;
    }
    return NULL;
}

static bool is_url(const char *s)
{
    return strncasecmp(s, "http://", 7) == 0 || strncasecmp(s, "https://", 8) == 0;
}

void image_load(struct image *out, const struct block *block)
{
    *out = (struct image){0};
    const char *where = block->text == NULL ? "" : block->text;
    if (is_url(where)) {
        out->url = where;
        out->media_type = block->media_type;
        return;
    }
    struct buf bytes;
    struct error e;
    buf_init(&bytes, IMAGE_MAX_BYTES);
    if (!paths_read_regular(where, &bytes, &e))
        out->problem = mem_printf("[an image that cannot be read: %s]", e.text);
    else if ((out->media_type = image_media_type(bytes.data, bytes.len)) == NULL)
        out->problem = mem_printf("[%s is not a PNG, JPEG, GIF or WebP image]", where);
    else
        out->base64 = base64_encode((const unsigned char *)bytes.data, bytes.len);
    buf_release(&bytes);
}

void image_release(struct image *image)
{
    free(image->base64);
    free(image->problem);
}
