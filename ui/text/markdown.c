#include "ui/text/markdown.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

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

/* A line of the source, and what it would begin. */
struct line {
    const char *text; /* behind the indentation */
    size_t len;       /* of that, without trailing spaces */
    size_t indent;    /* columns */
    size_t next;      /* offset of the next line */
};

struct marker {
    char mark;       /* 0: none */
    size_t content;  /* columns from the line's start to the item's text */
    bool interrupts; /* a paragraph */
};

void markdown_split_init(struct markdown_split *s)
{
    *s = (struct markdown_split){0};
}

static struct line line_of(const char *source, size_t from, size_t end, size_t next)
{
    struct line l = {.next = next};
    while (from < end && (source[from] == ' ' || source[from] == '\t')) {
        l.indent += source[from] == '\t' ? 4 - l.indent % 4 : 1;
        from++;
    }
    while (end > from && isspace((unsigned char)source[end - 1]))
        end--;
    l.text = source + from;
    l.len = end - from;
    return l;
}

static size_t run_of(const struct line *l, char c)
{
    size_t n = 0;
    while (n < l->len && l->text[n] == c)
        n++;
    return n;
}

/* Of ``` or ~~~; 0: the line does not open a code block. */
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

static bool is_heading(const struct line *l)
{
    size_t n = run_of(l, '#');
    return n >= 1 && n <= 6 && (n == l->len || l->text[n] == ' ');
}

static size_t spaces_behind(const struct line *l, size_t at)
{
    size_t n = 0;
    while (at + n < l->len && l->text[at + n] == ' ')
        n++;
    return n;
}

static struct marker marker_of(const struct line *l)
{
    size_t digits = 0;
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
    size_t spaces = spaces_behind(l, width);
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

/* Ends the piece at `at`, where one of this kind begins. False: there was nothing before. */
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

static void take_line(struct markdown_split *s, const struct line *l)
{
    s->scan = l->next;
    s->blank = false;
    s->lines++;
    if (s->lines == 2 && s->piece.kind == MARKDOWN_BLOCKS && is_table_rule(l)) {
        s->table = true;
        s->piece.head = s->piece.from;
        s->piece.head_end = l->next;
    }
}

static bool open_fence(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = cut(s, s->scan, MARKDOWN_FENCE, out);
    s->piece.indent = l->indent;
    s->fence = *l->text;
    s->fence_len = fence_run(l);
    return found;
}

/* What comes behind a code block: the rest of the list item around it, or anything. */
static void behind_fence(struct markdown_split *s)
{
    s->fence = 0;
    s->piece.kind = s->indent ? MARKDOWN_ITEM_MORE : MARKDOWN_BLOCKS;
    s->piece.indent = s->indent;
}

/* Every line in a code block, its opening and closing ones too, is a piece. */
static bool fence_line(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
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
    if (closing)
        behind_fence(s);
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

static bool blank_line(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = false;
    size_t end = s->scan;
    s->scan = l->next;
    s->blank = true;
    if (s->indent == 0) {
        found = cut(s, l->next, MARKDOWN_BLOCKS, out);
        out->to = end;
        found = found && end > out->from;
    }
    return found;
}

static bool ends_item(const struct markdown_split *s, const struct line *l)
{
    return s->blank || fence_run(l) || is_heading(l) || is_rule(l) || *l->text == '>';
}

static bool in_list(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = false;
    struct marker m = marker_of(l);
    if (l->indent >= s->indent && fence_run(l))
        return open_fence(s, l, out);
    if (l->indent < s->indent && m.mark) {
        found = open_item(s, m, out);
    } else if (l->indent < s->indent && ends_item(s, l)) {
        s->indent = 0;
        if (fence_run(l))
            return open_fence(s, l, out);
        found = cut(s, s->scan, MARKDOWN_BLOCKS, out);
    }
    take_line(s, l);
    return found;
}

static bool outside_list(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    bool found = false;
    struct marker m = marker_of(l);
    if (l->indent <= 3 && fence_run(l))
        return open_fence(s, l, out);
    if (l->indent <= 3 && m.mark && (s->lines == 0 || m.interrupts))
        found = open_item(s, m, out);
    take_line(s, l);
    return found;
}

static size_t character_start(const char *source, size_t from, size_t at)
{
    size_t i = at;
    while (i > from && ((unsigned char)source[i] & 0xc0) == 0x80)
        i--;
    return i > from ? i : at;
}

static size_t word_start(const char *source, size_t from, size_t at)
{
    for (size_t i = at; i > from + MARKDOWN_PIECE_MAX / 2; i--)
        if (source[i - 1] == ' ')
            return i;
    return character_start(source, from, at);
}

/* The piece has got too long: at the last line if it has more than one, else inside of it. */
static bool cut_long(struct markdown_split *s, const char *source, struct markdown_piece *out)
{
    enum markdown_kind kind = s->piece.kind;
    size_t at = s->piece.from + MARKDOWN_PIECE_MAX, indent = s->piece.indent;
    size_t head = s->piece.head, head_end = s->piece.head_end;
    if (s->fence) {
        s->blank = false;
        cut(s, character_start(source, s->piece.from, at), MARKDOWN_CODE, out);
        s->piece.indent = indent;
        s->scan = s->piece.from;
        return true;
    }
    bool table = s->table || kind == MARKDOWN_TABLE_MORE;
    bool whole = s->scan > s->piece.from;
    cut(s, whole ? s->scan : word_start(source, s->piece.from, at), MARKDOWN_BLOCKS, out);
    s->scan = s->piece.from;
    if (table && whole) {
        s->piece.kind = MARKDOWN_TABLE_MORE;
        s->piece.head = head;
        s->piece.head_end = head_end;
    } else if (s->indent) {
        s->piece.kind = MARKDOWN_ITEM_MORE;
        s->piece.indent = s->indent;
    }
    s->lines = 1; /* goes on with a paragraph */
    return true;
}

static bool one_line(struct markdown_split *s, const struct line *l, struct markdown_piece *out)
{
    if (s->fence)
        return fence_line(s, l, out);
    if (l->len == 0)
        return blank_line(s, l, out);
    return s->indent ? in_list(s, l, out) : outside_list(s, l, out);
}

bool markdown_split_next(struct markdown_split *s, const char *source, size_t len, bool complete,
                         struct markdown_piece *out)
{
    while (s->scan < len) {
        size_t limit = s->piece.from + MARKDOWN_PIECE_MAX;
        size_t end = len < limit ? len : limit;
        const char *newline = s->scan < end ? memchr(source + s->scan, '\n', end - s->scan) : NULL;
        if (!newline && len >= limit)
            return cut_long(s, source, out);
        if (!newline && !complete)
            return false;
        size_t stop = newline ? (size_t)(newline - source) : len;
        struct line l = line_of(source, s->scan, stop, newline ? stop + 1 : len);
        if (one_line(s, &l, out))
            return true;
    }
    if (!complete || s->piece.from >= len)
        return false;
    bool found = cut(s, len, MARKDOWN_BLOCKS, out);
    s->scan = len;
    return found;
}
