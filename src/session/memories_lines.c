#include "session/memories_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { CHUNK_BYTES = 65536 };

void memories_lines_init(struct memories_lines *l, FILE *in, size_t max)
{
    *l = (struct memories_lines){.in = in, .chunk = mem_alloc(CHUNK_BYTES)};
    buf_init(&l->line, max);
}

void memories_lines_release(struct memories_lines *l)
{
    buf_release(&l->line);
    free(l->chunk);
}

static bool refill(struct memories_lines *l)
{
    l->at = 0;
    l->len = fread(l->chunk, 1, CHUNK_BYTES, l->in);
    return l->len > 0;
}

static enum lines_result read_line(struct memories_lines *l, struct error *e)
{
    bool any = false;
    buf_clear(&l->line);
    l->number++;
    while (l->at < l->len || refill(l)) {
        const char *begin = l->chunk + l->at;
        const char *newline = memchr(begin, '\n', l->len - l->at);
        size_t len = newline ? (size_t)(newline - begin) : l->len - l->at;
        any = true;
        if (!buf_try_add(&l->line, begin, len)) {
            err_set(e, ERR_USAGE, "the line is longer than %zu bytes; shorten it", l->line.max);
            return LINES_BAD;
        }
        l->at += len + (newline != NULL);
        if (newline)
            return LINES_NEXT;
    }
    if (ferror(l->in)) {
        err_set_errno(e, ERR_FILE_ERROR, "it cannot be read");
        return LINES_FAILED;
    }
    l->number -= !any;
    return any ? LINES_NEXT : LINES_END;
}

static void drop_mark(struct memories_lines *l)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (l->number == 1 && strncmp(l->line.data, mark, 3) == 0)
        buf_consume(&l->line, 3);
}

static void repair(struct buf *line)
{
    struct buf whole = BUF_INIT;
    for (size_t i = 0; i < line->len;) {
        uint32_t cp;
        char encoded[4];
        i += utf8_decode(line->data + i, line->len - i, &cp);
        buf_add(&whole, encoded, utf8_encode(cp, encoded));
    }
    whole.max = line->max;
    buf_release(line);
    *line = whole;
}

static bool is_blank(const struct buf *line)
{
    size_t i = 0;
    while (i < line->len && line->data[i] && strchr(" \t\r", line->data[i]))
        i++;
    return i == line->len;
}

enum lines_result memories_lines_next(struct memories_lines *l, struct error *e)
{
    for (;;) {
        enum lines_result result = read_line(l, e);
        if (result != LINES_NEXT)
            return result;
        drop_mark(l);
        if (is_blank(&l->line))
            continue;
        if (!utf8_valid(l->line.data, l->line.len))
            repair(&l->line);
        if (!json_find_nul(l->line.data, l->line.len))
            return LINES_NEXT;
        err_set(e, ERR_USAGE, "a NUL character; take it out");
        return LINES_BAD;
    }
}
