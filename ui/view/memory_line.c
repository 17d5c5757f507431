#include "ui/view/memory_line.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "ui/term/rows.h"

enum {
    BYTES_A_COLUMN = 8, /* looked at: characters of several bytes, and those without a width */
    BEFORE_MARK = 3     /* a line has this part of its columns before the first mark */
};

struct range {
    size_t from, to;
};

static size_t forward_to_character(const char *text, size_t at, size_t end)
{
    while (at < end && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

/* The best passage, without blanks before it; the whole text if it is out of range. */
static struct range passage_of(const struct memory_hit *h)
{
    const char *text = h->entry.content;
    struct range r = {h->passage.start, h->passage.start + h->passage.len};
    size_t len = strnlen(text, r.to > r.from ? r.to : SIZE_MAX);
    if (r.to > len || r.to < r.from)
        r.to = len;
    if (r.from >= r.to)
        r = (struct range){0, len};
    r.from = forward_to_character(text, r.from, r.to);
    while (r.from < r.to && strchr(" \t\r\n", text[r.from]))
        r.from++;
    return r;
}

static bool is_within(struct memory_span mark, struct range r)
{
    return mark.start >= r.from && mark.start < r.to && mark.len <= r.to - mark.start;
}

/* Tabs become blanks; in one line several blanks become one. */
static void add_piece(struct styled *out, const char *text, size_t len, enum utf8_clean_mode mode,
                      enum style style, unsigned attrs)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    size_t to = 0;
    utf8_clean(&clean, text, len, mode);
    for (size_t i = 0; i < clean.len; i++) {
        char c = clean.data[i] == '\t' ? ' ' : clean.data[i];
        if (c != ' ' || mode != UTF8_ONE_LINE || to == 0 || clean.data[to - 1] != ' ')
            clean.data[to++] = c;
    }
    styled_add(out, clean.data, to, style, attrs);
}

static void add_range(struct styled *out, const char *text, struct range r,
                      const struct memory_hit *h, enum utf8_clean_mode mode, enum style style)
{
    size_t at = r.from;
    for (size_t i = 0; h && i < h->marks.len && h->marks.items[i].start < r.to; i++) {
        struct memory_span mark = h->marks.items[i];
        if (mark.start < at || !is_within(mark, r) || mark.len == 0)
            continue;
        add_piece(out, text + at, mark.start - at, mode, style, 0);
        add_piece(out, text + mark.start, mark.len, mode, STYLE_MATCH, ATTR_UNDERLINE);
        at = mark.start + mark.len;
    }
    add_piece(out, text + at, r.to - at, mode, style, 0);
}

/* The line begins with the passage, or behind a blank before its first mark if that would not be
 * seen. */
void memory_line(struct styled *out, const struct memory_hit *h, size_t columns, enum style style)
{
    const char *text = h->entry.content;
    struct range r = passage_of(h);
    size_t i = 0, begin = r.from, most = columns * BYTES_A_COLUMN;
    while (i < h->marks.len && !is_within(h->marks.items[i], r))
        i++;
    size_t mark = i < h->marks.len ? h->marks.items[i].start : r.from;
    size_t len = i < h->marks.len ? mark + h->marks.items[i].len - r.from : 0;
    if (len > most || (len > columns && utf8_width(text + r.from, len) > columns)) {
        size_t before = columns / BEFORE_MARK, blank;
        begin = mark - (mark - r.from < before ? mark - r.from : before);
        for (blank = begin; blank < mark && !strchr(" \t\n", text[blank]);)
            blank++;
        begin = blank < mark ? blank + strspn(text + blank, " \t\n")
                             : forward_to_character(text, begin, mark);
    }
    if (begin > r.from) {
        styled_addstr(out, glyph(GLYPH_ELLIPSIS), style, 0);
        styled_addstr(out, " ", style, 0);
    }
    r.from = begin;
    if (r.to - r.from > most)
        r.to = r.from + utf8_cut_bytes(text + r.from, r.to - r.from, most);
    add_range(out, text, r, h, UTF8_ONE_LINE, style);
}

void memory_marked_text(struct styled *out, const char *content, const struct memory_hit *marks,
                        enum style style)
{
    struct range all = {0, strlen(content)};
    add_range(out, content, all, marks, UTF8_MULTILINE, style);
}

char *memory_quote(const char *text, size_t len, const char *source)
{
    struct buf out = BUF_INIT;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line = end ? (size_t)(end - text) - at : len - at;
        buf_addstr(&out, line > 0 ? "> " : ">");
        buf_add(&out, text + at, line);
        buf_addch(&out, '\n');
        at += line + (end != NULL);
    }
    buf_addf(&out, "> %s %s\n", glyph(GLYPH_DASH), source);
    return buf_take(&out);
}
