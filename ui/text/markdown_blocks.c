#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"
#include "ui/text/markdown_private.h"

enum {
    DEEPEST_PREFIX = 12, /* further quotes and lists are not indented any more */
    MOST_CELLS = 64      /* in a table's row */
};

enum level_kind { LEVEL_QUOTE, LEVEL_LIST, LEVEL_ITEM };

struct level {
    enum level_kind kind;
    struct styled outside; /* the prefix before this level was entered (not of a list) */
    unsigned number;       /* of a list: the next item's; 0: bullets */
    char delimiter;
    bool loose;
    bool filled; /* it has a block already */
};

struct render {
    struct markdown_leaf leaf; /* the text being read; first, because md4c's context is also its */
    struct rows *out;
    const struct markdown_look *look;
    struct markdown_context *context;
    struct styled first, rest; /* prefixes: before the next row, before the ones after it */
    VEC(struct level) levels;
    bool paragraph_apart; /* a paragraph now needs a blank line before it */
    bool fenced;
    struct buf language;
    struct table table;
    unsigned cell;
    enum cell_align align;
    bool lists_seen;
    bool bullet_due; /* `first` has a bullet that no row shows yet */
};

/* After the first rows of a block, the prefix of its other rows holds. */
static void after_rows(struct render *r)
{
    styled_clear(&r->first);
    styled_append(&r->first, &r->rest);
    r->bullet_due = false;
}

static void emit(struct render *r, const struct styled *text, enum wrap_mode mode)
{
    size_t width = r->look->width;
    if (mode == WRAP_WORDS && width > MARKDOWN_PROSE_COLUMNS)
        width = MARKDOWN_PROSE_COLUMNS;
    struct wrap_look look = {width, mode, &r->first, &r->rest};
    wrap_text(r->out, text, &look);
    after_rows(r);
}

static void emit_blank(struct render *r)
{
    AUTO(styled_release) struct styled empty = STYLED_INIT;
    if (r->levels.len > 0 && r->levels.items[0].kind == LEVEL_QUOTE)
        emit(r, &empty, WRAP_WORDS);
    else
        rows_begin(r->out);
}

/* Adds a blank line before a block where it needs one: in a loose list, and between paragraphs. */
static void separate(struct render *r, bool paragraph)
{
    struct level *inner = r->levels.len ? &vec_last(&r->levels) : NULL;
    size_t list = r->levels.len;
    while (list > 0 && r->levels.items[list - 1].kind != LEVEL_LIST)
        list--;
    bool loose = list > 0 && r->levels.items[list - 1].loose;
    if ((inner && inner->filled && loose) || (r->paragraph_apart && paragraph))
        emit_blank(r);
    if (inner)
        inner->filled = true;
    r->paragraph_apart = paragraph;
}

/* --- containers --- */

static void push_level(struct render *r, struct level level)
{
    level.outside = (struct styled)STYLED_INIT;
    styled_append(&level.outside, &r->rest);
    vec_push(&r->levels, level);
    r->paragraph_apart = false;
}

static void pop_level(struct render *r)
{
    struct level *top = &vec_last(&r->levels);
    AUTO(styled_release) struct styled empty = STYLED_INIT;
    if (r->bullet_due && top->kind == LEVEL_ITEM && !top->filled)
        emit(r, &empty, WRAP_WORDS); /* an empty item */
    if (top->kind == LEVEL_LIST) {
        styled_release(&top->outside);
    } else {
        styled_release(&r->rest);
        r->rest = top->outside;
        styled_clear(&r->first);
        styled_append(&r->first, &r->rest);
    }
    r->levels.len--;
    r->paragraph_apart = false;
}

static void enter_list(struct render *r, unsigned number, char delimiter, bool loose)
{
    if (!r->lists_seen && number > 0 && r->context->ordinal > 0)
        number = r->context->ordinal;
    r->lists_seen = true;
    separate(r, false);
    struct level list = {
        .kind = LEVEL_LIST, .number = number, .delimiter = delimiter, .loose = loose};
    push_level(r, list);
}

static void enter_item(struct render *r, const MD_BLOCK_LI_DETAIL *item)
{
    static const enum glyph bullets[] = {GLYPH_BULLET, GLYPH_BULLET_INNER, GLYPH_BULLET_DEEP};
    AUTO(buf_release) struct buf bullet = BUF_INIT;
    struct level *list = &vec_last(&r->levels);
    size_t depth = 0;
    for (size_t i = 0; i + 1 < r->levels.len; i++)
        depth += r->levels.items[i].kind == LEVEL_LIST && r->levels.items[i].number == 0;
    if (list->filled && list->loose)
        emit_blank(r);
    list->filled = true;
    if (list->number > 0)
        buf_addf(&bullet, "%u%c ", list->number++, list->delimiter);
    if (item->is_task)
        buf_addf(&bullet, "%s ", glyph(item->task_mark == ' ' ? GLYPH_TASK_OPEN : GLYPH_TASK_DONE));
    else if (bullet.len == 0)
        buf_addf(&bullet, "%s ", glyph(bullets[depth > 2 ? 2 : depth]));
    r->bullet_due = true;
    push_level(r, (struct level){.kind = LEVEL_ITEM});
    if (r->levels.len > DEEPEST_PREFIX)
        return;
    styled_addstr(&r->first, bullet.data, r->look->style, 0);
    for (size_t n = utf8_width(bullet.data, bullet.len); n > 0; n--)
        styled_addstr(&r->rest, " ", r->look->style, 0);
}

/* --- leaves --- */

static void enter_leaf(struct render *r)
{
    enum style style = r->look->style;
    for (size_t i = 0; i < r->levels.len; i++)
        if (r->levels.items[i].kind == LEVEL_QUOTE)
            style = STYLE_QUOTE;
    markdown_leaf_begin(&r->leaf, style);
}

/* The text that was read becomes a paragraph or a heading. */
static void leave_leaf(struct render *r, bool paragraph)
{
    separate(r, paragraph);
    emit(r, &r->leaf.line, WRAP_WORDS);
    styled_clear(&r->leaf.line);
}

/* In tight lists, md4c has no paragraphs: the text of an item stands alone. */
static void flush_tight(struct render *r)
{
    if (r->leaf.line.text.len > 0)
        leave_leaf(r, true);
}

static void leave_code(struct render *r)
{
    const struct styled *code = &r->leaf.line;
    const struct language *language = NULL;
    size_t width = r->look->width;
    separate(r, false);
    if (r->language.len) {
        language = markdown_code_label(r->out, r->language.data, r->language.len, width, &r->first,
                                       &r->rest);
        after_rows(r);
    }
    markdown_code_lines(r->out, language, code->text.data, code->text.len, width, &r->first,
                        &r->rest);
    if (code->text.len)
        after_rows(r);
    if (r->fenced) {
        markdown_code_end(r->out, width, &r->first);
        after_rows(r);
    }
    styled_clear(&r->leaf.line);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct render *r = context;
    const MD_BLOCK_OL_DETAIL *ol = detail;
    const MD_BLOCK_UL_DETAIL *ul = detail;
    const MD_BLOCK_CODE_DETAIL *code = detail;
    const MD_BLOCK_TD_DETAIL *cell = detail;
    struct styled *prefixes[] = {&r->first, &r->rest};
    unsigned number;
    flush_tight(r);
    switch (type) {
    case MD_BLOCK_QUOTE:
        separate(r, false);
        push_level(r, (struct level){.kind = LEVEL_QUOTE});
        for (size_t i = 0; i < 2 && r->levels.len <= DEEPEST_PREFIX; i++) {
            styled_addstr(prefixes[i], glyph(GLYPH_BAR), STYLE_QUOTE, 0);
            styled_addstr(prefixes[i], " ", STYLE_QUOTE, 0);
        }
        break;
    case MD_BLOCK_UL:
        enter_list(r, 0, 0, !ul->is_tight);
        break;
    case MD_BLOCK_OL:
        enter_list(r, ol->start, ol->mark_delimiter, !ol->is_tight);
        break;
    case MD_BLOCK_LI:
        enter_item(r, detail);
        enter_leaf(r);
        break;
    case MD_BLOCK_HR:
        separate(r, false);
        for (size_t n = wrap_room(&r->rest, r->look->width); n > 0; n--)
            styled_addstr(&r->leaf.line, glyph(GLYPH_LINE), STYLE_RULE, 0);
        emit(r, &r->leaf.line, WRAP_HARD);
        styled_clear(&r->leaf.line);
        break;
    case MD_BLOCK_H:
        number = ((const MD_BLOCK_H_DETAIL *)detail)->level;
        markdown_leaf_begin(&r->leaf, STYLE_HEADING);
        r->leaf.bold = 1;
        r->leaf.underline = number == 1;
        r->leaf.italic = number > 2;
        break;
    case MD_BLOCK_CODE:
        enter_leaf(r);
        buf_clear(&r->language);
        r->fenced = code->fence_char != 0;
        if (r->fenced && code->info.text)
            buf_add(&r->language, code->info.text, code->info.size);
        break;
    case MD_BLOCK_P:
        enter_leaf(r);
        break;
    case MD_BLOCK_TABLE:
        number = ((const MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
        markdown_table_release(&r->table);
        r->table.columns = number > MOST_CELLS ? MOST_CELLS : number;
        break;
    case MD_BLOCK_TR:
        r->cell = 0;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        enter_leaf(r);
        r->leaf.bold = type == MD_BLOCK_TH;
        r->leaf.one_line = true;
        r->align = cell->align == MD_ALIGN_RIGHT    ? CELL_RIGHT
                   : cell->align == MD_ALIGN_CENTER ? CELL_CENTER
                                                    : CELL_LEFT;
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct render *r = context;
    unsigned number;
    (void)detail;
    switch (type) {
    case MD_BLOCK_LI:
        flush_tight(r);
        pop_level(r);
        break;
    case MD_BLOCK_QUOTE:
        pop_level(r);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        number = vec_last(&r->levels).number;
        pop_level(r);
        r->paragraph_apart = true;
        if (r->levels.len == 0)
            r->context->ordinal = number;
        break;
    case MD_BLOCK_P:
        leave_leaf(r, true);
        break;
    case MD_BLOCK_H:
        r->leaf.underline = false;
        r->leaf.bold = r->leaf.italic = 0;
        leave_leaf(r, false);
        break;
    case MD_BLOCK_CODE:
        leave_code(r);
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        r->leaf.bold = 0;
        if (r->cell++ < r->table.columns)
            markdown_table_add(&r->table, &r->leaf.line, r->align);
        styled_clear(&r->leaf.line);
        break;
    case MD_BLOCK_TABLE:
        separate(r, false);
        markdown_table_rows(r->out, &r->table, r->look->width, &r->first, &r->rest);
        after_rows(r);
        markdown_table_release(&r->table);
        break;
    default:
        break;
    }
    return 0;
}

void markdown_blocks(struct rows *out, const char *text, size_t len,
                     const struct markdown_look *look, struct markdown_context *context)
{
    unsigned flags =
        MD_DIALECT_GITHUB | MD_FLAG_NOHTML | (context->in_item ? MD_FLAG_NOINDENTEDCODEBLOCKS : 0);
    struct rows_mark before = rows_mark(out);
    AUTO(buf_release) struct buf source = BUF_INIT;
    struct render r = {
        .out = out,
        .look = look,
        .context = context,
        .language = BUF_INIT,
        .first = STYLED_INIT,
        .rest = STYLED_INIT,
        .leaf = {.line = STYLED_INIT, .style = look->style, .keep_lines = look->keep_lines}};
    if (look->prefix) {
        styled_append(&r.first, look->prefix);
        styled_append(&r.rest, look->prefix);
    }
    /* md4c 0.4.8 reads past a text that ends inside a link, unless it ends with a newline. */
    buf_add(&source, text, len);
    buf_addch(&source, '\n');
    r.leaf.source = source.data;
    r.leaf.source_end = source.data + source.len;
    MD_PARSER parser = {.flags = flags,
                        .enter_block = enter_block,
                        .leave_block = leave_block,
                        .enter_span = markdown_enter_span,
                        .leave_span = markdown_leave_span,
                        .text = markdown_add_text};
    bool refused = md_parse(source.data, (MD_SIZE)source.len, &parser, &r) != 0;
    if (!r.lists_seen)
        context->ordinal = 0;
    if (refused) {
        rows_truncate(out, before);
        styled_clear(&r.leaf.line);
        styled_add_clean(&r.leaf.line, text, len, look->style, 0);
        wrap_text(out, &r.leaf.line,
                  &(struct wrap_look){look->width, WRAP_WORDS, look->prefix, look->prefix});
    }
    for (; r.levels.len > 0; r.levels.len--)
        styled_release(&vec_last(&r.levels).outside);
    vec_release(&r.levels);
    markdown_table_release(&r.table);
    buf_release(&r.language);
    styled_release(&r.first);
    styled_release(&r.rest);
    styled_release(&r.leaf.line);
    vec_release(&r.leaf.link_starts);
}

/* --- code --- */

/* The prefix and the indent of code; a row that goes on with the line above has a mark in it. */
static struct styled indented(const struct styled *prefix, bool continued)
{
    struct styled out = STYLED_INIT;
    if (prefix)
        styled_append(&out, prefix);
    if (continued)
        styled_addstr(&out, glyph(GLYPH_POINTER), STYLE_DIM, 0);
    styled_addstr(&out, continued ? " " : "  ", STYLE_CODE, 0);
    return out;
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
    AUTO(styled_release) struct styled label = STYLED_INIT;
    styled_addstr(&label, glyph(GLYPH_LINE), STYLE_RULE, 0);
    styled_addstr(&label, " ", STYLE_DIM, 0);
    styled_add_clean(&label, info, n, STYLE_DIM, 0);
    wrap_text(out, &label, &(struct wrap_look){width, WRAP_HARD, first, rest});
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
    AUTO(styled_release) struct styled clean = STYLED_INIT;
    AUTO(styled_release) struct styled code = STYLED_INIT;
    styled_add_clean(&clean, line, len, STYLE_CODE, 0);
    highlight_line(h, &code, clean.text.data, clean.text.len);
    wrap_text(out, &code, look);
}

void markdown_code_line(struct rows *out, struct highlight *h, const char *line, size_t len,
                        size_t width, const struct styled *prefix)
{
    AUTO(styled_release) struct styled first = indented(prefix, false);
    AUTO(styled_release) struct styled continued = indented(prefix, true);
    add_line(out, h, line, len, &(struct wrap_look){width, WRAP_HARD, &first, &continued});
}

void markdown_code_lines(struct rows *out, const struct language *language, const char *text,
                         size_t len, size_t width, const struct styled *first,
                         const struct styled *rest)
{
    struct highlight h = {.language = language};
    AUTO(styled_release) struct styled before = indented(first, false);
    AUTO(styled_release) struct styled behind = indented(rest, false);
    AUTO(styled_release) struct styled continued = indented(rest, true);
    struct wrap_look look = {width, WRAP_HARD, &before, &continued};
    for (size_t i = 0; i < len;) {
        const char *newline = memchr(text + i, '\n', len - i);
        size_t n = newline ? (size_t)(newline - text) - i : len - i;
        add_line(out, &h, text + i, n, &look);
        look.first = &behind;
        i += n + 1;
    }
}
