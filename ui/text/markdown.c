#include "ui/text/markdown.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ui/text/markdown_private.h"

/* --- where the text is cut --- */

struct line {
    const char *text; /* behind the indentation */
    size_t len;       /* of that, without trailing spaces */
    size_t indent;    /* columns */
    size_t next;      /* offset of the next line */
};

/* The beginning of a list item. */
struct marker {
    char mark;       /* 0: none */
    size_t content;  /* columns from the line's start to the item's text */
    bool interrupts; /* it can end a paragraph */
};

static size_t run_of(const struct line *l, char c)
{
    size_t n = 0;
    while (n < l->len && l->text[n] == c)
        n++;
    return n;
}

/* The number of ` or ~ in a line that opens a code block; 0: the line opens none. */
static size_t fence_run(const struct line *l)
{
    if (l->len < 3 || (*l->text != '`' && *l->text != '~'))
        return 0;
    size_t n = run_of(l, *l->text);
    bool inline_code = *l->text == '`' && memchr(l->text + n, '`', l->len - n);
    return n >= 3 && !inline_code ? n : 0;
}

static bool is_rule(const struct line *l)
{
    size_t count = 0;
    if (l->len == 0 || !strchr("-*_", *l->text))
        return false;
    for (size_t i = 0; i < l->len; i++) {
        if (l->text[i] == *l->text)
            count++;
        else if (l->text[i] != ' ' && l->text[i] != '\t')
            return false;
    }
    return count >= 3;
}

static struct marker marker_of(const struct line *l)
{
    size_t digits = 0, spaces = 0;
    struct marker m = {0};
    while (digits < l->len && digits < 10 && isdigit((unsigned char)l->text[digits]))
        digits++;
    if (l->len == digits || digits > 9 || is_rule(l))
        return m;
    char c = l->text[digits];
    bool fits = digits ? c == '.' || c == ')' : c == '-' || c == '*' || c == '+';
    size_t width = digits + 1;
    bool empty = l->len == width;
    if (!fits || (!empty && l->text[width] != ' ' && l->text[width] != '\t'))
        return m;
    while (width + spaces < l->len && l->text[width + spaces] == ' ')
        spaces++;
    m.mark = c;
    m.content = l->indent + width + (spaces > 4 || spaces == 0 ? 1 : spaces);
    m.interrupts = !empty && (digits == 0 || (digits == 1 && *l->text == '1'));
    return m;
}

static bool is_table_rule(const struct line *l)
{
    bool dash = false, pipe = false;
    for (size_t i = 0; i < l->len; i++) {
        dash |= l->text[i] == '-';
        pipe |= l->text[i] == '|';
        if (!strchr("-|: \t", l->text[i]))
            return false;
    }
    return dash && pipe;
}

/* Ends the piece at `at`, where one of this kind begins. False: the piece is empty. */
static bool cut(struct markdown_split *s, size_t at, enum markdown_kind kind,
                struct markdown_piece *out)
{
    *out = s->piece;
    out->to = at;
    bool found = at > out->from;
    bool blank = s->blank || (!found && out->blank_before);
    s->piece = (struct markdown_piece){.kind = kind, .from = at, .blank_before = blank};
    s->lines = 0;
    s->table = false;
    return found;
}

static bool open_fence(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = cut(s, s->scan, MARKDOWN_FENCE, out);
    s->piece.indent = l->indent;
    s->fence = *l->text;
    s->fence_len = fence_run(l);
    return found;
}

/* Each line of a code block is a piece, also the opening and the closing one. */
static bool code_line(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    size_t indent = s->piece.indent;
    bool opening = s->piece.kind == MARKDOWN_FENCE;
    bool closing = !opening && l->len >= s->fence_len && run_of(l, s->fence) == l->len &&
                   l->indent <= indent + 3;
    if (closing)
        s->piece.kind = MARKDOWN_FENCE_CLOSED;
    s->blank = false;
    cut(s, l->next, MARKDOWN_CODE, out);
    s->piece.indent = indent;
    s->scan = l->next;
    if (closing) { /* the rest of the list item follows, or anything */
        s->fence = 0;
        s->piece.kind = s->indent ? MARKDOWN_ITEM_MORE : MARKDOWN_BLOCKS;
        s->piece.indent = s->indent;
    }
    return true;
}

static bool open_item(struct markdown_split *s, struct marker m, struct markdown_piece *out)
{
    bool same = s->indent > 0 && s->mark == m.mark;
    bool found = cut(s, s->scan, MARKDOWN_ITEM, out);
    s->piece.same_list = same;
    s->indent = m.content;
    s->mark = m.mark;
    return found;
}

static bool text_line(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = false, fence = fence_run(l) > 0;
    struct marker m = marker_of(l);
    size_t hashes = run_of(l, '#');
    bool heading = hashes >= 1 && hashes <= 6 && (hashes == l->len || l->text[hashes] == ' ');
    if (fence && (s->indent > 0 ? l->indent >= s->indent : l->indent <= 3))
        return open_fence(s, l, out);
    if (s->indent == 0) {
        if (l->indent <= 3 && m.mark && (s->lines == 0 || m.interrupts))
            found = open_item(s, m, out);
    } else if (l->indent < s->indent && m.mark) {
        found = open_item(s, m, out);
    } else if (l->indent < s->indent &&
               (s->blank || fence || heading || is_rule(l) || *l->text == '>')) {
        s->indent = 0; /* the list ends */
        if (fence)
            return open_fence(s, l, out);
        found = cut(s, s->scan, MARKDOWN_BLOCKS, out);
    }
    s->scan = l->next;
    s->blank = false;
    s->lines++;
    if (s->lines == 2 && s->piece.kind == MARKDOWN_BLOCKS && is_table_rule(l)) {
        s->table = true;
        s->piece.head = s->piece.from;
        s->piece.head_end = l->next;
    }
    return found;
}

static size_t character_start(const char *source, size_t from, size_t at)
{
    size_t i = at;
    while (i > from && ((unsigned char)source[i] & 0xc0) == 0x80)
        i--;
    return i > from ? i : at;
}

/* Cuts a piece that is too long: before its last line, or within the line if it has only one. */
static bool cut_long(struct markdown_split *s, const char *source, struct markdown_piece *out)
{
    struct markdown_piece long_one = s->piece;
    size_t from = s->piece.from, at = from + MARKDOWN_PIECE_MAX;
    bool table = s->table || s->piece.kind == MARKDOWN_TABLE_MORE, whole = s->scan > from;
    if (s->fence) {
        s->blank = false;
        cut(s, character_start(source, from, at), MARKDOWN_CODE, out);
        s->piece.indent = long_one.indent;
        s->scan = s->piece.from;
        return true;
    }
    if (!whole) {
        size_t word = at;
        while (word > from + MARKDOWN_PIECE_MAX / 2 && source[word - 1] != ' ')
            word--;
        at = word > from + MARKDOWN_PIECE_MAX / 2 ? word : character_start(source, from, at);
    }
    cut(s, whole ? s->scan : at, MARKDOWN_BLOCKS, out);
    s->scan = s->piece.from;
    if (table && whole) {
        s->piece.kind = MARKDOWN_TABLE_MORE;
        s->piece.head = long_one.head;
        s->piece.head_end = long_one.head_end;
    } else if (s->indent) {
        s->piece.kind = MARKDOWN_ITEM_MORE;
        s->piece.indent = s->indent;
    }
    s->lines = 1; /* the piece goes on with a paragraph */
    return true;
}

bool markdown_split_next(struct markdown_split *s, const char *source, size_t len, bool complete,
                         struct markdown_piece *out)
{
    while (s->scan < len) {
        size_t limit = s->piece.from + MARKDOWN_PIECE_MAX;
        size_t end = len < limit ? len : limit, from = s->scan;
        const char *newline = from < end ? memchr(source + from, '\n', end - from) : NULL;
        if (!newline && len >= limit)
            return cut_long(s, source, out);
        if (!newline && !complete)
            return false;
        size_t stop = newline ? (size_t)(newline - source) : len;
        struct line l = {.next = newline ? stop + 1 : len};
        for (; from < stop && (source[from] == ' ' || source[from] == '\t'); from++)
            l.indent += source[from] == '\t' ? 4 - l.indent % 4 : 1;
        while (stop > from && isspace((unsigned char)source[stop - 1]))
            stop--;
        l.text = source + from;
        l.len = stop - from;
        if (s->fence || l.len > 0) {
            if (s->fence ? code_line(s, &l, out) : text_line(s, &l, out))
                return true;
            continue;
        }
        end = s->scan; /* a blank line ends the piece, but for a list's */
        s->scan = l.next;
        s->blank = true;
        if (s->indent == 0 && cut(s, l.next, MARKDOWN_BLOCKS, out)) {
            out->to = end;
            if (end > out->from)
                return true;
        }
    }
    if (!complete || s->piece.from >= len)
        return false;
    bool found = cut(s, len, MARKDOWN_BLOCKS, out);
    s->scan = len;
    return found;
}

/* --- rows of the pieces --- */

void markdown_init(struct markdown *m, const struct markdown_look *look, struct rows *rows)
{
    *m = (struct markdown){.look = *look, .rows = rows};
    m->start = m->finished = rows_mark(rows);
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

static void lay_out(struct markdown *m, const char *source, const struct markdown_piece *p)
{
    const char *text = source + p->from, *end = source + p->to;
    struct markdown_context context = {.in_item = p->kind == MARKDOWN_ITEM_MORE,
                                       .ordinal = p->same_list ? m->ordinal : 0};
    if (p->blank_before && m->rows->list.len > m->start.list)
        rows_begin(m->rows);
    if (p->kind == MARKDOWN_BLOCKS || p->kind == MARKDOWN_ITEM) {
        markdown_blocks(m->rows, text, p->to - p->from, &m->look, &context);
        m->ordinal = context.ordinal;
        return;
    }
    AUTO(styled_release) struct styled prefix = STYLED_INIT;
    AUTO(buf_release) struct buf part = BUF_INIT;
    struct markdown_look look = m->look;
    if (look.prefix)
        styled_append(&prefix, look.prefix);
    for (size_t n = p->indent; n > 0; n--)
        styled_addstr(&prefix, " ", STYLE_TEXT, 0);
    switch (p->kind) {
    case MARKDOWN_ITEM_MORE:
        dedent(&part, text, p->to - p->from, p->indent);
        look.prefix = &prefix;
        markdown_blocks(m->rows, part.data, part.len, &look, &context);
        break;
    case MARKDOWN_TABLE_MORE:
        buf_add(&part, source + p->head, p->head_end - p->head);
        buf_add(&part, text, p->to - p->from);
        markdown_blocks(m->rows, part.data, part.len, &look, &context);
        break;
    case MARKDOWN_FENCE:
        while (text < end && strchr(" \t`~", *text))
            text++;
        m->code = (struct highlight){0};
        m->code.language =
            markdown_code_label(m->rows, text, (size_t)(end - text), look.width, &prefix, &prefix);
        break;
    case MARKDOWN_CODE:
        dedent(&part, text, p->to - p->from, p->indent);
        if (part.len > 0 && part.data[part.len - 1] == '\n')
            part.len--;
        markdown_code_line(m->rows, &m->code, part.data, part.len, look.width, &prefix);
        break;
    default:
        markdown_code_end(m->rows, look.width, &prefix);
        m->code = (struct highlight){0};
    }
}

void markdown_update(struct markdown *m, const char *source, size_t len, bool complete)
{
    struct markdown_piece piece;
    rows_truncate(m->rows, m->finished);
    while (markdown_split_next(&m->split, source, len, complete, &piece))
        lay_out(m, source, &piece);
    m->finished = rows_mark(m->rows);
    if (complete)
        return;
    /* A line that only begins may still become anything: "-" an item, a rule, a heading's
     * underline. A line of nothing but marks is not shown before more of it is there. */
    struct markdown now = *m;
    piece = m->split.piece;
    size_t line = len, ink = piece.from;
    while (line > piece.from && source[line - 1] != '\n')
        line--;
    piece.to = len - line <= 8 ? line : len;
    for (size_t i = line; i < len && piece.to == line; i++)
        if (!strchr("-*_=`~#>+|:.) \t0123456789", source[i]))
            piece.to = len;
    while (ink < piece.to && strchr(" \t\n", source[ink]))
        ink++;
    if (ink < piece.to)
        lay_out(&now, source, &piece);
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
    struct markdown_split split = {0};
    struct markdown_piece piece;
    AUTO(buf_release) struct buf code = BUF_INIT;
    bool found = false;
    while (markdown_split_next(&split, source, len, true, &piece)) {
        if (piece.kind == MARKDOWN_FENCE) {
            found = true;
            buf_clear(&code);
        } else if (piece.kind == MARKDOWN_CODE) {
            dedent(&code, source + piece.from, piece.to - piece.from, piece.indent);
        }
    }
    return found ? buf_take(&code) : NULL;
}
