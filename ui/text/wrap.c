#include "ui/text/wrap.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "ui/term/rows.h"

enum {
    LEAST_ROOM = 10,
    UNIT_MAX = 256 /* bytes; a longer grapheme is cut, so that a row has a bounded cost */
};

struct unit { /* a grapheme, or a part of one that is wider than a row */
    size_t len, columns;
    bool space, wide;
    uint32_t cp;
};

static struct unit unit_at(const char *text, size_t len, size_t pos, size_t column)
{
    unsigned char c = (unsigned char)text[pos];
    if (c == '\t')
        return (struct unit){1, TAB_COLUMNS - column % TAB_COLUMNS, true, false, c};
    if (c >= 0x20 && c < 0x7f && (pos + 1 == len || !((unsigned char)text[pos + 1] & 0x80)))
        return (struct unit){1, 1, c == ' ', false, c};
    if (len - pos > UNIT_MAX) {
        len = pos + UNIT_MAX;
        while (((unsigned char)text[len] & 0xc0) == 0x80 && len > pos + 1)
            len--;
    }
    struct unit u = {.len = utf8_next(text, len, pos) - pos};
    u.columns = utf8_width(text + pos, u.len);
    utf8_decode(text + pos, u.len, &u.cp);
    u.space = u.cp == ' ' && u.len == 1;
    u.wide = u.columns > 1;
    return u;
}

/* The part of a grapheme that fits; at least one character. */
static struct unit unit_cut(const char *text, struct unit u, size_t pos, size_t width)
{
    size_t len = 0, columns = 0;
    while (len < u.len) {
        uint32_t cp;
        size_t n = utf8_decode(text + pos + len, u.len - len, &cp);
        size_t w = (size_t)utf8_cp_width(cp);
        if (len > 0 && columns + w > width)
            break;
        len += n;
        columns += w;
    }
    u.len = len;
    u.columns = columns;
    return u;
}

static bool is_among(uint32_t cp, const char *characters)
{
    char text[5] = "";
    return cp != 0 && utf8_encode(cp, text) > 0 && strstr(characters, text);
}

/* Whether a row may end between two units: after spaces, and around wide characters but for the
 * punctuation that belongs to its neighbour. */
static bool break_between(struct unit before, struct unit after)
{
    if (after.space)
        return false;
    if (before.space)
        return true;
    return (before.wide || after.wide) &&
           !is_among(after.cp, "!%),.:;?]}’”…、。々〉》」』】〕ー！），．：；？］｝") &&
           !is_among(before.cp, "([{‘“〈《「『【〔（［｛");
}

struct wrap_piece wrap_next(const char *text, size_t len, size_t pos, size_t width,
                            enum wrap_mode mode)
{
    assert(pos < len && width > 0);
    struct wrap_piece found = {pos, pos}; /* the last good place to break; next == pos: none yet */
    struct unit before = {0};
    size_t column = 0, i = pos, ink = pos; /* `ink`: the end of the last non-space */
    while (i < len && text[i] != '\n') {
        struct unit u = unit_at(text, len, i, column);
        if (i > pos && mode != WRAP_HARD && break_between(before, u) &&
            (mode == WRAP_KEEP || ink > pos))
            found = (struct wrap_piece){mode == WRAP_KEEP ? i : ink, i};
        if (u.columns > width)
            u = u.space ? (struct unit){1, width, true, false, u.cp} : unit_cut(text, u, i, width);
        if (column + u.columns > width && i > pos) {
            if (mode == WRAP_WORDS && u.space) {
                size_t next = i;
                while (next < len && (text[next] == ' ' || text[next] == '\t'))
                    next++;
                next += next < len && text[next] == '\n';
                return (struct wrap_piece){ink > pos ? ink : i, next};
            }
            if (!u.space && found.next > pos)
                return found;
            return (struct wrap_piece){i, i};
        }
        column += u.columns;
        i += u.len;
        if (!u.space)
            ink = i;
        before = u;
    }
    size_t next = i < len ? i + 1 : i;
    return (struct wrap_piece){mode == WRAP_WORDS && ink > pos ? ink : i, next};
}

size_t wrap_columns(const char *text, size_t len)
{
    size_t column = 0;
    for (size_t i = 0; i < len;) {
        struct unit u = unit_at(text, len, i, column);
        column += u.columns;
        i += u.len;
    }
    return column;
}

size_t wrap_room(const struct styled *prefix, size_t width)
{
    size_t used = prefix ? utf8_width(prefix->text.data, prefix->text.len) : 0;
    size_t least = (width + 1) / 2 < LEAST_ROOM ? (width + 1) / 2 : LEAST_ROOM;
    return used + least > width ? least : width - used;
}

/* A place in a styled text that only moves forward. */
struct cursor {
    const struct styled *from;
    size_t pos, span, span_end;
};

static struct cursor cursor_at_front(const struct styled *from)
{
    return (struct cursor){from, 0, 0, from->spans.len ? from->spans.items[0].len : 0};
}

/* Adds text up to `end`, with spaces in place of tabs. */
static void add_until(struct rows *out, struct cursor *c, size_t end, size_t room)
{
    bool tabs = c->pos < end && memchr(c->from->text.data + c->pos, '\t', end - c->pos);
    size_t column = 0;
    while (c->pos < end) {
        while (c->pos >= c->span_end)
            c->span_end += c->from->spans.items[++c->span].len;
        const struct span *look = &c->from->spans.items[c->span];
        size_t stop = c->span_end < end ? c->span_end : end;
        const char *text = c->from->text.data + c->pos;
        const char *tab = memchr(text, '\t', stop - c->pos);
        size_t len = tab ? (size_t)(tab - text) : stop - c->pos;
        rows_link(out, links_at(&c->from->links, look->link));
        rows_add(out, text, len, (enum style)look->style, look->attrs);
        c->pos += len;
        if (tabs)
            column += utf8_width(text, len);
        if (!tab)
            continue;
        size_t columns = TAB_COLUMNS - column % TAB_COLUMNS;
        columns = columns > room ? room : columns;
        rows_add(out, "    ", columns, (enum style)look->style, look->attrs);
        column += columns;
        c->pos++;
    }
    rows_link(out, NULL);
}

void wrap_begin(struct rows *out, const struct styled *prefix, size_t columns)
{
    rows_begin(out);
    if (!prefix)
        return;
    struct cursor c = cursor_at_front(prefix);
    add_until(out, &c, utf8_cut_width(prefix->text.data, prefix->text.len, columns), columns);
}

void wrap_text(struct rows *out, const struct styled *text, const struct wrap_look *look)
{
    const char *data = text->text.data;
    size_t len = text->text.len, pos = 0;
    const struct styled *prefix = look->first;
    size_t room = wrap_room(prefix, look->width), rest = wrap_room(look->rest, look->width);
    struct cursor c = cursor_at_front(text);
    do {
        struct wrap_piece piece = {0, 0};
        if (len > 0)
            piece = wrap_next(data, len, pos, room, look->mode);
        wrap_begin(out, prefix, look->width - room);
        c.pos = pos;
        if (room == 1 && utf8_width(data + pos, piece.end - pos) > room)
            rows_addstr(out, "?", STYLE_TEXT, 0);
        else
            add_until(out, &c, piece.end, room);
        pos = piece.next;
        prefix = look->rest;
        room = rest;
    } while (pos < len);
}

void wrap_string(struct rows *out, const char *text, enum style style, unsigned attrs,
                 const struct wrap_look *look)
{
    AUTO(styled_release) struct styled line = STYLED_INIT;
    styled_addstr(&line, text, style, attrs);
    wrap_text(out, &line, look);
}

void wrap_add_cut(struct rows *out, const struct styled *text, size_t columns)
{
    struct cursor c = cursor_at_front(text);
    const char *dots = glyph(GLYPH_ELLIPSIS);
    size_t end = text->text.len, dots_columns = utf8_width(dots, strlen(dots));
    bool cut = utf8_width(text->text.data, end) > columns, marked = cut && columns > dots_columns;
    if (cut)
        end = utf8_cut_width(text->text.data, end, marked ? columns - dots_columns : columns);
    add_until(out, &c, end, columns);
    if (marked)
        rows_addstr(out, dots, STYLE_DIM, 0);
}

/* --- styled text --- */

void styled_init(struct styled *s)
{
    *s = (struct styled)STYLED_INIT;
}

void styled_release(struct styled *s)
{
    buf_release(&s->text);
    vec_release(&s->spans);
    links_release(&s->links);
}

void styled_clear(struct styled *s)
{
    buf_clear(&s->text);
    vec_clear(&s->spans);
    links_truncate(&s->links, 0);
    s->link = 0;
}

void styled_add(struct styled *s, const char *text, size_t len, enum style style, unsigned attrs)
{
    if (len == 0)
        return;
    struct span *last = s->spans.len ? &vec_last(&s->spans) : NULL;
    if (last && last->style == (uint8_t)style && last->attrs == (uint8_t)attrs &&
        last->link == s->link) {
        last->len += (uint32_t)len;
    } else {
        struct span span = {(uint32_t)len, (uint8_t)style, (uint8_t)attrs, s->link};
        vec_push(&s->spans, span);
    }
    buf_add(&s->text, text, len);
}

void styled_addstr(struct styled *s, const char *text, enum style style, unsigned attrs)
{
    styled_add(s, text, strlen(text), style, attrs);
}

void styled_link(struct styled *s, const char *address)
{
    s->link = links_add(&s->links, address);
}

void styled_append(struct styled *s, const struct styled *other)
{
    const char *text = other->text.data;
    for (size_t i = 0; i < other->spans.len; i++) {
        const struct span *span = &other->spans.items[i];
        styled_link(s, links_at(&other->links, span->link));
        styled_add(s, text, span->len, (enum style)span->style, span->attrs);
        text += span->len;
    }
    styled_link(s, NULL);
}

void styled_add_clean(struct styled *s, const char *text, size_t len, enum style style,
                      unsigned attrs)
{
    size_t plain = 0;
    for (; plain < len; plain++) {
        unsigned char c = (unsigned char)text[plain];
        if ((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f)
            break;
    }
    if (plain == len) {
        styled_add(s, text, len, style, attrs);
        return;
    }
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    styled_add(s, clean.data, clean.len, style, attrs);
}
