#include "ui/term/rows.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char *const symbols[][2] = {
#define X(id, symbol, ascii) {symbol, ascii},
    GLYPHS(X)
#undef X
};

static bool ascii_only;

const char *glyph(enum glyph which)
{
    return symbols[which][ascii_only];
}

void glyph_set_up(bool ascii)
{
    ascii_only = ascii || charset() == CHARSET_OTHER;
    bind_textdomain_codeset("tiro", "UTF-8");
}

char *glyph_note(void)
{
    switch (charset()) {
    case CHARSET_OTHER:
        return mem_printf(
            _("The locale \"%.60s\" lacks some characters; similar ones replace them. To see all, "
              "start with LC_ALL=C.UTF-8."),
            charset_locale());
    case CHARSET_ASSUMED:
        return mem_printf(_("The locale \"%.60s\" is not installed; texts are English, characters "
                            "UTF-8. \"locale -a\" lists the installed ones."),
                          charset_locale());
    default:
        return NULL;
    }
}

bool link_clean(struct buf *out, const char *address, size_t len)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};
    static const char others[] = " \"<>\\^`{|}";
    size_t before = out->len;
    bool ok = false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        ok = ok || (len > n && strncasecmp(address, schemes[i], n) == 0);
    }
    for (size_t i = 0; ok && i < len; i++) {
        unsigned char c = (unsigned char)address[i];
        ok = (c >= ' ' && c != 0x7f) && out->len - before < LINK_MAX;
        if (c >= 0x80 || strchr(others, c))
            buf_addf(out, "%%%02X", c);
        else
            buf_addch(out, (char)c);
    }
    if (!ok)
        buf_truncate(out, before);
    return ok;
}

void links_release(struct links *l)
{
    buf_release(&l->text);
    vec_release(&l->starts);
}

uint16_t links_add(struct links *l, const char *address)
{
    uint16_t last = (uint16_t)l->starts.len;
    if (!address)
        return 0;
    if (last > 0 && strcmp(links_at(l, last), address) == 0)
        return last;
    if (last == UINT16_MAX)
        return 0;
    vec_push(&l->starts, (uint32_t)l->text.len);
    buf_add(&l->text, address, strlen(address) + 1);
    return (uint16_t)(last + 1);
}

const char *links_at(const struct links *l, uint16_t number)
{
    return number ? l->text.data + l->starts.items[number - 1] : NULL;
}

void links_truncate(struct links *l, size_t count)
{
    if (count >= l->starts.len)
        return;
    buf_truncate(&l->text, l->starts.items[count]);
    l->starts.len = count;
}

void rows_init(struct rows *r)
{
    *r = (struct rows){0};
    buf_init(&r->text, 0);
}

void rows_release(struct rows *r)
{
    buf_release(&r->text);
    vec_release(&r->spans);
    vec_release(&r->list);
    links_release(&r->links);
}

void rows_clear(struct rows *r)
{
    buf_clear(&r->text);
    vec_clear(&r->spans);
    vec_clear(&r->list);
    links_truncate(&r->links, 0);
    r->link = 0;
}

void rows_begin(struct rows *r)
{
    struct row row = {.text = (uint32_t)r->text.len, .spans = (uint32_t)r->spans.len};
    vec_push(&r->list, row);
}

void rows_add(struct rows *r, const char *text, size_t len, enum style style, unsigned attrs)
{
    assert(r->list.len > 0);
    assert(len <= UINT32_MAX - r->text.len);
    if (len == 0)
        return;
    struct row *row = &vec_last(&r->list);
    struct span *last = row->span_count ? &vec_last(&r->spans) : NULL;
    if (last && last->style == (uint8_t)style && last->attrs == (uint8_t)attrs &&
        last->link == r->link) {
        last->len += (uint32_t)len;
    } else {
        struct span span = {(uint32_t)len, (uint8_t)style, (uint8_t)attrs, r->link};
        vec_push(&r->spans, span);
        row->span_count++;
    }
    row->len += (uint32_t)len;
    buf_add(&r->text, text, len);
}

void rows_addstr(struct rows *r, const char *text, enum style style, unsigned attrs)
{
    rows_add(r, text, strlen(text), style, attrs);
}

void rows_pad(struct rows *r, size_t columns, enum style style)
{
    static const char blanks[] = "                                ";
    while (columns > 0) {
        size_t n = columns < sizeof blanks - 1 ? columns : sizeof blanks - 1;
        rows_add(r, blanks, n, style, 0);
        columns -= n;
    }
}

void rows_link(struct rows *r, const char *address)
{
    r->link = links_add(&r->links, address);
}

size_t rows_add_cut(struct rows *r, const char *text, size_t columns, enum style style)
{
    size_t len = strlen(text), width = utf8_width(text, len);
    if (width <= columns) {
        rows_add(r, text, len, style, 0);
        return width;
    }
    const char *mark = glyph(GLYPH_ELLIPSIS);
    size_t mark_columns = utf8_width(mark, strlen(mark));
    if (columns < mark_columns)
        return 0;
    size_t cut = utf8_cut_width(text, len, columns - mark_columns);
    rows_add(r, text, cut, style, 0);
    rows_addstr(r, mark, style, 0);
    return utf8_width(text, cut) + mark_columns;
}

void rows_copy(struct rows *r, const struct rows *from, size_t index)
{
    rows_begin(r);
    rows_append(r, from, index);
}

void rows_append(struct rows *r, const struct rows *from, size_t index)
{
    rows_append_part(r, from, index, 0, from->list.items[index].len, ROWS_AS_THEY_LOOK);
}

void rows_append_part(struct rows *r, const struct rows *from, size_t index, size_t start,
                      size_t end, int style)
{
    assert(r != from);
    const struct row *row = &from->list.items[index];
    const char *text = from->text.data + row->text;
    size_t at = 0;
    for (uint32_t i = 0; i < row->span_count; i++) {
        const struct span *span = &from->spans.items[row->spans + i];
        size_t a = at > start ? at : start, after = at + span->len, b = after < end ? after : end;
        enum style look = style == ROWS_AS_THEY_LOOK ? (enum style)span->style : (enum style)style;
        rows_link(r, links_at(&from->links, span->link));
        if (a < b)
            rows_add(r, text + a, b - a, look, span->attrs);
        at = after;
    }
    rows_link(r, NULL);
}

struct rows_mark rows_mark(const struct rows *r)
{
    return (struct rows_mark){r->text.len, r->spans.len, r->list.len, r->links.starts.len};
}

void rows_truncate(struct rows *r, struct rows_mark mark)
{
    buf_truncate(&r->text, mark.text);
    r->spans.len = mark.spans;
    r->list.len = mark.list;
    links_truncate(&r->links, mark.links);
    r->link = 0;
}

size_t rows_width(const struct rows *r, size_t index)
{
    const struct row *row = &r->list.items[index];
    return utf8_width(r->text.data + row->text, row->len);
}

size_t rows_room(const struct rows *r, size_t width)
{
    size_t used = rows_width(r, r->list.len - 1);
    return used < width ? width - used : 0;
}
