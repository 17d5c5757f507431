#include "tests/chunk_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/support.h"

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void add_black(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_white(text[i]))
            buf_addch(out, text[i]);
}

static bool all_white(const char *text, size_t from, size_t to)
{
    while (from < to && is_white(text[from]))
        from++;
    return from >= to;
}

const char *document_fault(const struct loaded_document *d)
{
    size_t at = 0;
    int64_t page = 0;
    if (memchr(d->text.data, '\0', d->text.len))
        return "a NUL in the text";
    for (size_t i = 0; i < d->parts.len; i++) {
        const struct document_part *p = &d->parts.items[i];
        if (p->at < at || p->len == 0 || p->len > d->text.len - p->at)
            return support_text("part %zu is not where it can be", i);
        if (!all_white(d->text.data, at, p->at))
            return support_text("text above part %zu is in no part", i);
        if (p->page < page || p->line < 0)
            return support_text("part %zu is on page %lld, line %lld", i, (long long)p->page,
                                (long long)p->line);
        if ((p->kind == DOCUMENT_HEADING) != (p->level > 0))
            return support_text("part %zu has the level %d", i, p->level);
        if (p->kind == DOCUMENT_HEADING &&
            (p->name_at < p->at || p->name_at + p->name_len > p->at + p->len))
            return support_text("the name of part %zu is not in it", i);
        at = p->at + p->len;
        page = p->page;
    }
    return all_white(d->text.data, at, d->text.len) ? NULL : "text at the end is in no part";
}

static const char *form_fault(const struct chunk *c, size_t most)
{
    struct buf clean = BUF_INIT;
    if (c->len == 0 || strlen(c->text) != c->len)
        return "empty, or a NUL in it";
    if (!utf8_valid(c->text, c->len) || !utf8_valid(c->heading, strlen(c->heading)))
        return "a broken character";
    utf8_clean(&clean, c->text, c->len, UTF8_MULTILINE);
    bool is_clean = strcmp(clean.data, c->text) == 0;
    buf_release(&clean);
    if (!is_clean)
        return "not clean";
    if (utf8_cut_points(c->text, c->len, most) < c->len)
        return "too long";
    if (is_white(c->text[c->len - 1]) || (is_white(*c->text) && c->kind != DOCUMENT_CODE))
        return "white space at its end";
    return NULL;
}

static int64_t line_of(const char *source, int64_t at)
{
    int64_t line = 1;
    for (int64_t i = 0; i < at; i++)
        line += source[i] == '\n';
    return line;
}

static const char *place_fault(const struct chunk *c, const char *source, size_t len)
{
    if (c->byte_from < 0 || c->byte_to <= c->byte_from || c->byte_to > (int64_t)len)
        return "no bytes of the source";
    if (c->line_from != line_of(source, c->byte_from) || c->line_to != line_of(source, c->byte_to))
        return support_text("at lines %lld to %lld, not %lld to %lld", (long long)c->line_from,
                            (long long)c->line_to, (long long)line_of(source, c->byte_from),
                            (long long)line_of(source, c->byte_to));
    AUTO(buf_release) struct buf clean = BUF_INIT;
    char *there = (mem_strndup(source + c->byte_from, (size_t)(c->byte_to - c->byte_from)));
    for (char *at = there; *at; at++)
        if (*at == '\f' || *at == '\v')
            *at = ' ';
    utf8_clean(&clean, there, strlen(there), UTF8_MULTILINE);
    free(there);
    bool same = strcmp(clean.data, c->text) == 0;
    return same ? NULL : "not what the source has there";
}

/* The page of each byte that is no white space, one behind the other. */
static const char *page_fault(const struct chunks *c, const struct loaded_document *d)
{
    size_t part = 0, at = 0; /* the next such byte */
    for (size_t i = 0; i < c->items.len; i++) {
        struct buf clean = BUF_INIT, black = BUF_INIT;
        add_black(&black, c->items.items[i].text, c->items.items[i].len);
        for (size_t left = black.len; left > 0 && part < d->parts.len;) {
            const struct document_part *p = &d->parts.items[part];
            if (at == 0) {
                buf_clear(&clean);
                utf8_clean(&clean, d->text.data + p->at, p->len, UTF8_MULTILINE);
                struct buf own = BUF_INIT;
                add_black(&own, clean.data, clean.len);
                buf_release(&clean);
                clean = own;
                at = clean.len;
            }
            if (p->page != c->items.items[i].page) {
                buf_release(&clean);
                buf_release(&black);
                return support_text("passage %zu is on page %lld, not %lld", i,
                                    (long long)c->items.items[i].page, (long long)p->page);
            }
            size_t step = left < at ? left : at;
            left -= step;
            at -= step;
            part += at == 0;
        }
        buf_release(&clean);
        buf_release(&black);
    }
    return NULL;
}

static const char *loss_fault(const struct chunks *c, const struct loaded_document *d)
{
    AUTO(buf_release) struct buf clean = BUF_INIT, whole = BUF_INIT, cut = BUF_INIT;
    for (size_t i = 0; i < d->parts.len; i++)
        utf8_clean(&clean, d->text.data + d->parts.items[i].at, d->parts.items[i].len,
                   UTF8_MULTILINE);
    add_black(&whole, clean.data, clean.len);
    for (size_t i = 0; i < c->items.len; i++)
        add_black(&cut, c->items.items[i].text, c->items.items[i].len);
    size_t same = 0;
    while (same < cut.len && same < whole.len && cut.data[same] == whole.data[same])
        same++;
    const char *fault = NULL;
    if (same < cut.len || same < whole.len)
        fault = support_text("lost or twice at byte %zu: \"%.40s\", not \"%.40s\"", same,
                             cut.data + same, whole.data + same);
    return fault;
}

const char *chunks_fault(const struct chunks *c, const struct loaded_document *d, size_t most,
                         const char *source, size_t len)
{
    const char *fault = document_fault(d);
    int64_t end = 0;
    for (size_t i = 0; !fault && i < c->items.len; i++) {
        const struct chunk *chunk = &c->items.items[i];
        fault = form_fault(chunk, most);
        if (!fault && source)
            fault = place_fault(chunk, source, len);
        if (!fault && source && chunk->byte_from < end)
            fault = "begins within the one before";
        end = chunk->byte_to;
        if (fault)
            return support_text("passage %zu: %s: \"%.80s\"", i, fault, chunk->text);
    }
    if (!fault)
        fault = loss_fault(c, d);
    return fault ? fault : page_fault(c, d);
}
