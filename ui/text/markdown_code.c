#include "ui/text/markdown_code.h"

#include <string.h>

#include "ui/term/rows.h"

static const char indent[] = "  ";

/* A row that goes on with the line above has a mark in its indent. */
static void add_indented(struct styled *out, const struct styled *prefix, bool continued)
{
    styled_init(out);
    if (prefix)
        styled_append(out, prefix);
    if (continued)
        styled_addstr(out, glyph(GLYPH_POINTER), STYLE_DIM, 0);
    styled_addstr(out, continued ? " " : indent, STYLE_CODE, 0);
}

const struct language *markdown_code_label(struct rows *out, const char *info, size_t len,
                                           size_t width, const struct styled *first,
                                           const struct styled *rest)
{
    size_t n = 0;
    while (n < len && !strchr(" \t\n{,", info[n]))
        n++;
    if (n == 0)
        return NULL;
    struct styled label;
    styled_init(&label);
    styled_addstr(&label, glyph(GLYPH_LINE), STYLE_RULE, 0);
    styled_addstr(&label, " ", STYLE_DIM, 0);
    styled_add_clean(&label, info, n, STYLE_DIM, 0);
    wrap_text(out, &label, &(struct wrap_look){width, WRAP_HARD, first, rest});
    styled_release(&label);
    return language_find(info, n);
}

void markdown_code_end(struct rows *out, size_t width, const struct styled *prefix)
{
    wrap_string(out, glyph(GLYPH_LINE), STYLE_RULE, 0,
                &(struct wrap_look){width, WRAP_HARD, prefix, prefix});
}

static void add_line(struct rows *out, struct highlight *h, const char *line, size_t len,
                     const struct wrap_look *look)
{
    struct styled clean, code;
    styled_init(&clean);
    styled_init(&code);
    styled_add_clean(&clean, line, len, STYLE_CODE, 0);
    highlight_line(h, &code, clean.text.data, clean.text.len);
    wrap_text(out, &code, look);
    styled_release(&clean);
    styled_release(&code);
}

void markdown_code_line(struct rows *out, struct highlight *h, const char *line, size_t len,
                        size_t width, const struct styled *prefix)
{
    struct styled indented, continued;
    add_indented(&indented, prefix, false);
    add_indented(&continued, prefix, true);
    add_line(out, h, line, len, &(struct wrap_look){width, WRAP_HARD, &indented, &continued});
    styled_release(&indented);
    styled_release(&continued);
}

void markdown_code_lines(struct rows *out, const struct language *language, const char *text,
                         size_t len, size_t width, const struct styled *first,
                         const struct styled *rest)
{
    struct highlight h = {.language = language};
    struct styled before, behind, continued;
    add_indented(&before, first, false);
    add_indented(&behind, rest, false);
    add_indented(&continued, rest, true);
    struct wrap_look look = {width, WRAP_HARD, &before, &continued};
    for (size_t i = 0; i < len;) {
        const char *newline = memchr(text + i, '\n', len - i);
        size_t n = newline ? (size_t)(newline - text) - i : len - i;
        add_line(out, &h, text + i, n, &look);
        look.first = &behind;
        i += n + 1;
    }
    styled_release(&before);
    styled_release(&behind);
    styled_release(&continued);
}
