#include "agent/grep_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FULL_BYTES = 4 * 1024 * 1024, FULL_FILES = 2000 };

void grep_batch_add(struct grep_batch *b, const char *path, const char *text, size_t len)
{
    for (size_t start = 0; start < len;) {
        const char *newline = memchr(text + start, '\n', len - start);
        size_t end = newline ? (size_t)(newline - text) : len;
        size_t line_len = end - start;
        if (line_len > 0 && text[end - 1] == '\r')
            line_len--;
        buf_add(&b->text, text + start, line_len);
        buf_addch(&b->text, '\n');
        start = end + 1;
    }
    vec_push(&b->files, (struct grep_batch_file){.path = mem_strdup(path), .end = b->text.len});
}

bool grep_batch_is_full(const struct grep_batch *b)
{
    return b->text.len >= FULL_BYTES || b->files.len >= FULL_FILES;
}

void grep_batch_clear(struct grep_batch *b)
{
    for (size_t i = 0; i < b->files.len; i++)
        free(b->files.items[i].path);
    b->files.len = 0;
    buf_clear(&b->text);
}

void grep_batch_release(struct grep_batch *b)
{
    grep_batch_clear(b);
    vec_release(&b->files);
    buf_release(&b->text);
}

/* A search, and the line that it has come to. */
struct search {
    const struct grep_batch *batch;
    grep_matches *out;
    size_t most;
    size_t start, line; /* of the batch */
    size_t file, number;
};

static size_t line_length(const struct search *s)
{
    const struct buf *text = &s->batch->text;
    const char *end = memchr(text->data + s->start, '\n', text->len - s->start);
    return (size_t)(end - (text->data + s->start));
}

/* Past files that end here, which empty ones do at once. */
static void enter_file(struct search *s)
{
    while (s->file < s->batch->files.len && s->batch->files.items[s->file].end <= s->start) {
        s->file++;
        s->number = 1;
    }
}

static bool found(void *context, size_t number, const char *text, size_t len)
{
    struct search *s = context;
    (void)text;
    (void)len;
    enter_file(s);
    for (; s->line < number && s->start < s->batch->text.len; s->line++) {
        s->start += line_length(s) + 1;
        s->number++;
        enter_file(s);
    }
    if (s->start >= s->batch->text.len || s->line != number)
        return false;
    vec_push(s->out, (struct grep_match){.path = s->batch->files.items[s->file].path,
                                         .number = s->number,
                                         .line = s->batch->text.data + s->start,
                                         .len = line_length(s)});
    return s->out->len < s->most;
}

/* Long lines that match, while it is asked where. */
struct locator {
    struct buf text;
    VEC(struct grep_match *) lines;
    size_t done;
};

static size_t find(const struct grep_match *m, const char *text, size_t len)
{
    for (const char *p = m->line; len > 0 && (size_t)(p - m->line) + len <= m->len; p++) {
        p = memchr(p, text[0], m->len - (size_t)(p - m->line) - (len - 1));
        if (!p)
            return 0;
        if (memcmp(p, text, len) == 0)
            return (size_t)(p - m->line);
    }
    return 0;
}

static bool located(void *context, size_t number, const char *text, size_t len)
{
    struct locator *l = context;
    if (number > l->done && number <= l->lines.len) {
        struct grep_match *m = l->lines.items[number - 1];
        m->at = find(m, text, len);
        l->done = number;
    }
    return l->done < l->lines.len;
}

static enum grep_end locate(const struct grep *g, size_t whole, grep_matches *matches,
                            struct error *e)
{
    struct locator l = {.text = BUF_INIT};
    enum grep_end end = GREP_DONE;
    for (size_t i = 0; i < matches->len; i++) {
        struct grep_match *m = &matches->items[i];
        if (m->len <= whole)
            continue;
        buf_add(&l.text, m->line, m->len);
        buf_addch(&l.text, '\n');
        vec_push(&l.lines, m);
    }
    const struct grep_lines lines = {
        .text = &l.text, .only_matches = true, .line = located, .context = &l};
    if (l.lines.len > 0)
        end = grep_run(g, &lines, e);
    vec_release(&l.lines);
    buf_release(&l.text);
    return end;
}

enum grep_end grep_batch_search(const struct grep_batch *b, const struct grep *g, size_t most,
                                size_t whole, grep_matches *out, struct error *e)
{
    struct search s = {.batch = b, .out = out, .most = most, .line = 1, .number = 1};
    const struct grep_lines lines = {.text = &b->text, .line = found, .context = &s};
    if (b->text.len == 0)
        return GREP_DONE;
    enum grep_end end = grep_run(g, &lines, e);
    return end == GREP_DONE ? locate(g, whole, out, e) : end;
}
