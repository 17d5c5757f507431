#include "ui/text/markdown.h"

#include <string.h>

#include "base/buf.h"
#include "ui/text/markdown_code.h"

void markdown_init(struct markdown *m, const struct markdown_look *look, struct rows *rows)
{
    *m = (struct markdown){.look = *look, .rows = rows};
    m->start = m->finished = rows_mark(rows);
    markdown_split_init(&m->split);
}

/* Appends the lines without up to `columns` of their indentation. */
static void dedent(struct buf *out, const char *text, size_t len, size_t columns)
{
    for (size_t i = 0; i < len;) {
        size_t column = 0;
        while (i < len && column < columns && (text[i] == ' ' || text[i] == '\t')) {
            column += text[i] == '\t' ? 4 - column % 4 : 1;
            i++;
        }
        for (; column > columns; column--)
            buf_addch(out, ' ');
        const char *newline = memchr(text + i, '\n', len - i);
        size_t next = newline ? (size_t)(newline - text) + 1 : len;
        buf_add(out, text + i, next - i);
        i = next;
    }
}

static void indented_prefix(struct styled *out, const struct styled *prefix, size_t columns)
{
    styled_init(out);
    if (prefix)
        styled_append(out, prefix);
    while (columns-- > 0)
        styled_addstr(out, " ", STYLE_TEXT, 0);
}

static void item_more(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct buf text = BUF_INIT;
    struct styled prefix;
    struct markdown_look look = m->look;
    struct markdown_context context = {.in_item = true};
    dedent(&text, source + p->from, p->to - p->from, p->indent);
    indented_prefix(&prefix, look.prefix, p->indent);
    look.prefix = &prefix;
    markdown_blocks(m->rows, text.data, text.len, &look, &context);
    styled_release(&prefix);
    buf_release(&text);
}

static void table_more(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct buf text = BUF_INIT;
    struct markdown_context context = {0};
    buf_add(&text, source + p->head, p->head_end - p->head);
    buf_add(&text, source + p->from, p->to - p->from);
    markdown_blocks(m->rows, text.data, text.len, &m->look, &context);
    buf_release(&text);
}

static void blocks(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct markdown_context context = {.ordinal = p->same_list ? m->ordinal : 0};
    markdown_blocks(m->rows, source + p->from, p->to - p->from, &m->look, &context);
    m->ordinal = context.ordinal;
}

static void fence(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct styled prefix;
    const char *text = source + p->from, *end = source + p->to;
    while (text < end && strchr(" \t`~", *text))
        text++;
    indented_prefix(&prefix, m->look.prefix, p->indent);
    size_t len = (size_t)(end - text);
    m->code = (struct highlight){0};
    m->code.language = markdown_code_label(m->rows, text, len, m->look.width, &prefix, &prefix);
    styled_release(&prefix);
}

static void code(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct buf text = BUF_INIT;
    struct styled prefix;
    dedent(&text, source + p->from, p->to - p->from, p->indent);
    if (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    indented_prefix(&prefix, m->look.prefix, p->indent);
    markdown_code_line(m->rows, &m->code, text.data, text.len, m->look.width, &prefix);
    styled_release(&prefix);
    buf_release(&text);
}

static void closed(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    struct styled prefix;
    (void)source;
    indented_prefix(&prefix, m->look.prefix, p->indent);
    markdown_code_end(m->rows, m->look.width, &prefix);
    styled_release(&prefix);
    m->code = (struct highlight){0};
}

static void lay_out(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    static void (*const kinds[])(struct markdown *, const char *, const struct markdown_piece *) = {
        [MARKDOWN_BLOCKS] = blocks,       [MARKDOWN_ITEM] = blocks,
        [MARKDOWN_ITEM_MORE] = item_more, [MARKDOWN_TABLE_MORE] = table_more,
        [MARKDOWN_FENCE] = fence,         [MARKDOWN_CODE] = code,
        [MARKDOWN_FENCE_CLOSED] = closed,
    };
    if (p->blank_before && m->rows->list.len > m->start.list)
        rows_begin(m->rows);
    kinds[p->kind](m, source, p);
}

/* A line that only begins could still become anything ("-" an item, a rule, a heading's
 * underline): what may be nothing but a mark is not shown before more of it is there. */
static size_t without_mark(const char *source, size_t from, size_t len)
{
    size_t start = len;
    while (start > from && source[start - 1] != '\n')
        start--;
    if (len - start > 8)
        return len;
    for (size_t i = start; i < len; i++)
        if (!strchr("-*_=`~#>+|:.) \t0123456789", source[i]))
            return len;
    return start;
}

static void lay_out_end(struct markdown *m, const char *source, size_t len)
{
    struct markdown now = *m;
    struct markdown_piece piece = m->split.piece;
    piece.to = without_mark(source, piece.from, len);
    size_t ink = piece.from;
    while (ink < piece.to && strchr(" \t\n", source[ink]))
        ink++;
    if (ink < piece.to)
        lay_out(&now, source, &piece);
}

void markdown_update(struct markdown *m, const char *source, size_t len, bool complete)
{
    struct markdown_piece piece;
    rows_truncate(m->rows, m->finished);
    while (markdown_split_next(&m->split, source, len, complete, &piece))
        lay_out(m, source, &piece);
    m->finished = rows_mark(m->rows);
    if (!complete)
        lay_out_end(m, source, len);
}

size_t markdown_drop_rows(struct markdown *m, size_t count)
{
    struct rows kept;
    size_t end = m->finished.list;
    if (count > end)
        count = end;
    rows_init(&kept);
    for (size_t i = count; i < end; i++)
        rows_copy(&kept, m->rows, i);
    m->finished = rows_mark(&kept);
    for (size_t i = end; i < m->rows->list.len; i++)
        rows_copy(&kept, m->rows, i);
    rows_release(m->rows);
    *m->rows = kept;
    m->start = (struct rows_mark){0};
    return count;
}

char *markdown_last_code(const char *source, size_t len)
{
    struct markdown_split split;
    struct markdown_piece piece;
    struct buf code_text = BUF_INIT;
    bool found = false;
    markdown_split_init(&split);
    while (markdown_split_next(&split, source, len, true, &piece)) {
        if (piece.kind == MARKDOWN_FENCE) {
            found = true;
            buf_clear(&code_text);
        } else if (piece.kind == MARKDOWN_CODE) {
            dedent(&code_text, source + piece.from, piece.to - piece.from, piece.indent);
        }
    }
    if (found)
        return buf_take(&code_text);
    buf_release(&code_text);
    return NULL;
}
