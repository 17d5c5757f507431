#include "compact/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "chat/extract.h"

#define HEADING "## Earlier highlights"
#define OMITTED "(lines left out)\n"
#define LEAST_BYTES 2000
#define MOST_BYTES 16000

struct tally {
    int64_t user, assistant, tool;
};

/* Is the message among what goes, and no earlier summary? */
static bool goes(const struct compact_input *in, const struct compact_plan *p, size_t i)
{
    return p->fates.items[i] == FATE_GOES && !in->messages[i].summary;
}

static bool is_earlier(const struct compact_input *in, const struct compact_plan *p, size_t i)
{
    return p->fates.items[i] == FATE_GOES && in->messages[i].summary;
}

/* ---- counts ---- */

/* Both step over what they read and say no where it is not there. */
static bool read_word(const char **at, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool read_number(const char **at, int64_t *out)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 9)
        return false;
    *out = 0;
    for (; digits > 0; digits--)
        *out = *out * 10 + *(*at)++ - '0';
    return true;
}

/* The counts that a summary begins with; `rest` is what follows them. */
static bool read_counts(const char *text, struct tally *out, const char **rest)
{
    int64_t all;
    if (!read_word(&text, COMPACT_PREFIX " ") || !read_number(&text, &all) ||
        !(read_word(&text, " earlier messages were dropped: ") ||
          read_word(&text, " earlier message was dropped: ")) ||
        !read_number(&text, &out->user) || !read_word(&text, " user, ") ||
        !read_number(&text, &out->assistant) || !read_word(&text, " assistant, ") ||
        !read_number(&text, &out->tool) || !read_word(&text, " tool."))
        return false;
    *rest = text;
    return true;
}

static void count_role(struct tally *t, enum role role)
{
    t->user += role == ROLE_USER;
    t->assistant += role == ROLE_ASSISTANT;
    t->tool += role == ROLE_TOOL;
}

static void count_earlier(struct tally *t, const struct message *m)
{
    struct tally before;
    const char *rest;
    char *text = message_text(m);
    if (read_counts(text, &before, &rest)) {
        t->user += before.user;
        t->assistant += before.assistant;
        t->tool += before.tool;
    }
    free(text);
}

void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p)
{
    struct tally t = {0};
    for (size_t i = 0; i < in->count; i++) {
        if (goes(in, p, i))
            count_role(&t, in->messages[i].role);
        else if (is_earlier(in, p, i))
            count_earlier(&t, &in->messages[i]);
    }
    long long all = (long long)(t.user + t.assistant + t.tool);
    buf_addf(out, COMPACT_PREFIX " %lld earlier %s dropped: %lld user, %lld assistant, %lld tool.",
             all, all == 1 ? "message was" : "messages were", (long long)t.user,
             (long long)t.assistant, (long long)t.tool);
}

/* ---- texts ---- */

/* A line of an earlier summary below the heading: its own headings are a level lower. */
static void add_line(struct buf *out, const char *line, size_t len)
{
    bool blank = strspn(line, " \t\r") >= len;
    if ((len == strlen(HEADING) && strncmp(line, HEADING, len) == 0) || (blank && out->len == 0))
        return;
    if (len > 3 && strncmp(line, "## ", 3) == 0)
        buf_addch(out, '#');
    buf_add(out, line, len);
    buf_addch(out, '\n');
}

/* Without what it begins with, be it counts or the prefix alone. */
static void add_summary(struct buf *out, const struct message *m)
{
    struct tally counted;
    char *text = message_text(m);
    const char *line = text;
    if (!read_counts(text, &counted, &line))
        read_word(&line, COMPACT_PREFIX);
    while (*line) {
        size_t len = strcspn(line, "\n");
        add_line(out, line, len);
        line += len + (line[len] == '\n');
    }
    free(text);
}

static size_t bound(const struct compact_input *in)
{
    if (in->threshold < LEAST_BYTES)
        return LEAST_BYTES;
    return in->threshold > MOST_BYTES ? MOST_BYTES : (size_t)in->threshold;
}

/* Both end at the border of a line, or where that would cost half, at one of a grapheme. */
static size_t first_bytes(const struct buf *text, size_t max)
{
    for (size_t i = max; i > max / 2; i--)
        if (text->data[i - 1] == '\n')
            return i;
    return utf8_cut_bytes(text->data, text->len, max);
}

static size_t last_begins(const struct buf *text, size_t max)
{
    size_t from = text->len - max;
    const char *line = memchr(text->data + from, '\n', max / 2);
    if (line)
        return (size_t)(line - text->data) + 1;
    size_t border = utf8_cut_bytes(text->data, text->len, from);
    return border < from ? utf8_next(text->data, text->len, border) : from;
}

/* The newest is at the end, what the conversation began with at the beginning. */
static void add_bounded(struct buf *out, const struct buf *text, size_t max)
{
    if (text->len <= max) {
        buf_add(out, text->data, text->len);
        return;
    }
    size_t first = first_bytes(text, max / 2);
    size_t last = last_begins(text, max / 2);
    buf_add(out, text->data, first);
    if (first == 0 || text->data[first - 1] != '\n')
        buf_addch(out, '\n');
    buf_addstr(out, OMITTED);
    buf_add(out, text->data + last, text->len - last);
}

void compact_add_earlier(struct buf *out, const struct compact_input *in,
                         const struct compact_plan *p)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < in->count; i++)
        if (is_earlier(in, p, i))
            add_summary(&text, &in->messages[i]);
    buf_trim_end(&text, " \t\r\n\v\f");
    if (text.len > 0) {
        buf_addstr(out, "\n\n" HEADING "\n\n");
        add_bounded(out, &text, bound(in));
    }
    buf_release(&text);
}

char *compact_extract(const struct compact_input *in, const struct compact_plan *p)
{
    VEC(const struct message *) gone = {0};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < in->count; i++)
        if (goes(in, p, i))
            vec_push(&gone, &in->messages[i]);
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    extract_add(&out, gone.items, gone.len, in->source);
    vec_release(&gone);
    return buf_take(&out);
}
