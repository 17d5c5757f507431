#include "compact/summary_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/summary_text.h"

/* Of an image's path or URL; one that holds the picture itself is megabytes long. */
#define IMAGE_NAME_BYTES 200

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static void add_image(struct buf *out, const struct block *b)
{
    const char *name = or_empty(b->text);
    buf_addstr(out, "[image ");
    if (strncmp(name, "data:", 5) == 0)
        buf_addstr(out, "without a name");
    else
        utf8_add_cut(out, name, strlen(name), IMAGE_NAME_BYTES);
    if (b->media_type)
        buf_addf(out, ", %s", b->media_type);
    buf_addch(out, ']');
}

static void add_call(struct buf *out, const struct block *b)
{
    buf_addf(out, "[called %s %s]", or_empty(b->name), or_empty(b->text));
}

static void add_result(struct buf *out, const struct block *b)
{
    buf_addf(out, "[%s of %s: %s]", b->is_error ? "error" : "result", or_empty(b->name),
             or_empty(b->text));
}

static void add_text(struct buf *out, const struct block *b)
{
    buf_addstr(out, or_empty(b->text));
}

static char *plain_text(const struct message *m)
{
    static void (*const writers[])(struct buf *,
                                   const struct block *) = {[BLOCK_TEXT] = add_text,
                                                            [BLOCK_TOOL_CALL] = add_call,
                                                            [BLOCK_TOOL_RESULT] = add_result,
                                                            [BLOCK_IMAGE] = add_image,
                                                            [BLOCK_REASONING] = NULL};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (!writers[b->type] || (b->type == BLOCK_TEXT && !*or_empty(b->text)))
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        writers[b->type](&out, b);
    }
    return buf_take(&out);
}

/* Tool results are the user's, as in every model API: an answer cannot give them. */
static struct message plain_message(const struct message *m, const char *text, size_t len)
{
    struct message plain = {.role = m->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER,
                            .summary = m->summary,
                            .seq = m->seq,
                            .turn = m->turn};
    struct block b = {.type = BLOCK_TEXT, .text = mem_strndup(text, len)};
    vec_push(&plain.blocks, b);
    return plain;
}

/* Parts being filled in order. */
struct filling {
    struct summary_parts *out;
    int64_t budget; /* tokens of a part; 0: no bound */
};

static void put(struct filling *f, struct message m)
{
    int64_t size = message_estimate_tokens(&m);
    int64_t used = f->out->items.len > 0 ? vec_last(&f->out->items).tokens : 0;
    bool full = f->budget > 0 && used > 0 && used + size > f->budget;
    if (f->out->items.len == 0 || full)
        vec_push(&f->out->items, (struct summary_part){0});
    vec_push(&vec_last(&f->out->items).messages, m);
    vec_last(&f->out->items).tokens += size;
}

/* Oldest first; a message that no part can hold fills several. */
static void put_text(struct filling *f, const struct message *m, const char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        size_t piece = f->budget > 0 ? summary_text_fit(text + at, len - at, f->budget) : len - at;
        put(f, plain_message(m, text + at, piece));
        at += piece;
    }
}

void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out)
{
    struct filling f = {.out = out, .budget = budget};
    *out = (struct summary_parts){0};
    for (size_t i = 0; i < in->count; i++) {
        if (p->fates.items[i] != FATE_GOES)
            continue;
        char *text = plain_text(&in->messages[i]);
        put_text(&f, &in->messages[i], text);
        free(text);
    }
}

/* --- what stays ------------------------------------------------------------------------------ */

struct lines {
    VEC(char *) items; /* a message each, newest first; owned */
};

static int64_t tokens_of(const char *text)
{
    struct block b = {.type = BLOCK_TEXT, .text = (char *)text};
    const struct message m = {.role = ROLE_USER, .blocks = {.items = &b, .len = 1}};
    return message_estimate_tokens(&m);
}

/* "user: Hello", or as much of its beginning as fits. NULL: that would say nothing. */
static char *line_of(const struct message *m, int64_t tokens)
{
    enum { LEAST_BYTES = 200 }; /* of a beginning */
    char *text = plain_text(m);
    char *line = mem_printf("\n\n%s: %s", role_name(m->role), text);
    size_t len = strlen(line), fits = summary_text_fit(line, len, tokens);
    bool says_something = *text && (fits == len || fits >= LEAST_BYTES);
    free(text);
    if (says_something)
        line[fits] = '\0';
    else
        free(line);
    return says_something ? line : NULL;
}

static void collect_lines(const struct compact_input *in, const struct compact_plan *p,
                          int64_t tokens, struct lines *out)
{
    for (size_t i = in->count; i > 0 && tokens > 0; i--) {
        const struct message *m = &in->messages[i - 1];
        if (p->fates.items[i - 1] == FATE_GOES || m->role == ROLE_SYSTEM)
            continue;
        char *line = line_of(m, tokens);
        if (line)
            vec_push(&out->items, line);
        tokens -= line ? tokens_of(line) : 0;
    }
}

char *summary_parts_stay(const struct compact_input *in, const struct compact_plan *p,
                         int64_t budget)
{
    const int64_t without_limit = INT64_MAX / 8;
    struct lines lines = {0};
    struct buf out = BUF_INIT;
    collect_lines(in, p, budget > 0 ? budget - tokens_of(SUMMARY_STAYS) : without_limit, &lines);
    buf_addstr(&out, SUMMARY_STAYS);
    for (size_t i = lines.items.len; i > 0; i--) {
        buf_addstr(&out, lines.items.items[i - 1]);
        free(lines.items.items[i - 1]);
    }
    bool any = lines.items.len > 0;
    vec_release(&lines.items);
    if (any)
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

void summary_parts_release(struct summary_parts *p)
{
    for (size_t i = 0; i < p->items.len; i++) {
        struct summary_part *part = &p->items.items[i];
        for (size_t m = 0; m < part->messages.len; m++)
            message_release(&part->messages.items[m]);
        vec_release(&part->messages);
    }
    vec_release(&p->items);
}
