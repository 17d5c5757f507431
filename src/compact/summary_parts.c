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

static char *plain_text(const struct compact_input *in, size_t index)
{
    static void (*const writers[])(struct buf *,
                                   const struct block *) = {[BLOCK_TEXT] = add_text,
                                                            [BLOCK_TOOL_CALL] = add_call,
                                                            [BLOCK_TOOL_RESULT] = add_result,
                                                            [BLOCK_IMAGE] = add_image,
                                                            [BLOCK_REASONING] = NULL};
    struct buf out = BUF_INIT;
    struct message room;
    const struct message *m = message_whole(in->source, &in->messages[index], &room);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (!writers[b->type] || (b->type == BLOCK_TEXT && !*or_empty(b->text)))
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        writers[b->type](&out, b);
    }
    message_release(&room);
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

/* A walk over what goes, oldest first, as the messages that tell it. */
struct walk {
    const struct compact_input *in;
    const struct compact_plan *plan;
    int64_t budget; /* tokens of a part; 0: no bound */
    struct summary_place at;
    char *text; /* of the message there; NULL: not made yet */
    size_t len;
};

static void step_over(struct walk *w)
{
    free(w->text);
    w->text = NULL;
    w->at = (struct summary_place){.message = w->at.message + 1};
}

static bool is_at_message(const struct walk *w)
{
    return w->at.message < w->in->count && w->plan->fates.items[w->at.message] == FATE_GOES;
}

/* The message there has something left to tell. */
static bool has_text(struct walk *w)
{
    if (!w->text) {
        w->text = plain_text(w->in, w->at.message);
        w->len = strlen(w->text);
    }
    return w->at.byte < w->len;
}

/* Not read, for it fits in one piece: it tells no more than it is. */
static bool fits_unread(const struct walk *w)
{
    int64_t room = w->budget - message_bytes_to_tokens(SUMMARY_MESSAGE_BYTES);
    return w->in->messages[w->at.message].row > 0 && w->at.byte == 0 &&
           (w->budget == 0 || w->in->estimates[w->at.message] <= room);
}

/* A message that no part can hold becomes several. */
static struct message take_message(struct walk *w)
{
    const char *text = w->text + w->at.byte;
    size_t rest = w->len - w->at.byte;
    bool whole = w->budget == 0 || fits_unread(w);
    size_t piece = whole ? rest : summary_text_fit(text, rest, w->budget);
    w->at.byte += piece;
    return plain_message(&w->in->messages[w->at.message], text, piece);
}

/* Tokens of what comes next, behind which the walk then is; 0: the message has no more. */
static int64_t pass(struct walk *w)
{
    int64_t tokens = 0;
    if (fits_unread(w)) {
        tokens = w->in->estimates[w->at.message];
        step_over(w);
    } else if (has_text(w)) {
        struct message m = take_message(w);
        tokens = message_estimate_tokens(&m);
        message_release(&m);
    } else {
        step_over(w);
    }
    return tokens;
}

static void add_tokens(struct summary_parts *out, struct summary_place from, int64_t tokens,
                       int64_t budget)
{
    int64_t used = out->items.len > 0 ? vec_last(&out->items).tokens : 0;
    bool full = budget > 0 && used > 0 && used + tokens > budget;
    if (out->items.len == 0 || full)
        vec_push(&out->items, (struct summary_part){.begin = from});
    vec_last(&out->items).tokens += tokens;
}

void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out)
{
    struct walk w = {.in = in, .plan = p, .budget = budget};
    *out = (struct summary_parts){0};
    while (w.at.message < in->count) {
        if (!is_at_message(&w)) {
            step_over(&w);
            continue;
        }
        struct summary_place from = w.at;
        int64_t tokens = pass(&w);
        if (tokens > 0)
            add_tokens(out, from, tokens, budget);
    }
}

void summary_part_read(const struct compact_input *in, const struct compact_plan *p, int64_t budget,
                       const struct summary_parts *parts, size_t index,
                       struct summary_messages *out)
{
    const struct summary_place all = {.message = in->count};
    const struct summary_part *part = &parts->items.items[index];
    struct summary_place end = index + 1 < parts->items.len ? part[1].begin : all;
    struct walk w = {.in = in, .plan = p, .budget = budget, .at = part->begin};
    *out = (struct summary_messages){0};
    while (w.at.message < end.message || (w.at.message == end.message && w.at.byte < end.byte)) {
        if (is_at_message(&w) && has_text(&w))
            vec_push(&out->items, take_message(&w));
        else
            step_over(&w);
    }
    free(w.text);
}

void summary_messages_release(struct summary_messages *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        message_release(&m->items.items[i]);
    vec_release(&m->items);
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
static char *line_of(const struct compact_input *in, size_t index, int64_t tokens)
{
    enum { LEAST_BYTES = 200 }; /* of a beginning */
    char *text = plain_text(in, index);
    char *line = mem_printf("\n\n%s: %s", role_name(in->messages[index].role), text);
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
        if (p->fates.items[i - 1] == FATE_GOES || in->messages[i - 1].role == ROLE_SYSTEM)
            continue;
        char *line = line_of(in, i - 1, tokens);
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
