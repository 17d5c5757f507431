#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
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
    bool filled; /* there is a block in it already */
};

struct render {
    struct rows *out;
    const struct markdown_look *look;
    struct markdown_context *context;
    struct styled first, rest; /* prefixes: before the next row, before the ones after it */
    struct markdown_leaf leaf; /* the block that is being read */
    VEC(struct level) levels;
    bool paragraph_apart; /* a paragraph that comes now has a blank line before it */
    bool fenced;
    struct buf language;
    struct table table;
    unsigned cell;
    enum cell_align align;
    bool lists_seen;
    bool bullet_due; /* `first` has a bullet that no row shows yet */
};

static void set_prefix(struct styled *to, const struct styled *from)
{
    styled_clear(to);
    styled_append(to, from);
}

static void after_rows(struct render *r)
{
    set_prefix(&r->first, &r->rest);
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
    rows_begin(r->out);
    struct styled empty;
    styled_init(&empty);
    if (r->levels.len > 0 && r->levels.items[0].kind == LEVEL_QUOTE) {
        r->out->list.len--;
        emit(r, &empty, WRAP_WORDS);
    }
    styled_release(&empty);
}

static bool in_loose(const struct render *r)
{
    for (size_t i = r->levels.len; i-- > 0;)
        if (r->levels.items[i].kind == LEVEL_LIST)
            return r->levels.items[i].loose;
    return false;
}

/* Blocks of one piece have no blank line between them, but for those of loose lists and, of
 * necessity, two paragraphs. */
static void separate(struct render *r, bool paragraph)
{
    struct level *inner = r->levels.len ? &vec_last(&r->levels) : NULL;
    bool filled = inner ? inner->filled : false;
    if ((filled && in_loose(r)) || (r->paragraph_apart && paragraph))
        emit_blank(r);
    if (inner)
        inner->filled = true;
    r->paragraph_apart = paragraph;
}

/* --- containers --- */

static void push_level(struct render *r, struct level level)
{
    styled_init(&level.outside);
    styled_append(&level.outside, &r->rest);
    vec_push(&r->levels, level);
    r->paragraph_apart = false;
}

static void pop_level(struct render *r)
{
    struct level *top = &vec_last(&r->levels);
    bool unused = r->bullet_due && top->kind == LEVEL_ITEM && !top->filled;
    struct styled empty;
    styled_init(&empty);
    if (unused)
        emit(r, &empty, WRAP_WORDS);
    if (top->kind != LEVEL_LIST) {
        set_prefix(&r->rest, &top->outside);
        set_prefix(&r->first, &r->rest);
    }
    styled_release(&empty);
    styled_release(&top->outside);
    r->levels.len--;
    r->paragraph_apart = false;
}

static void enter_quote(struct render *r)
{
    separate(r, false);
    push_level(r, (struct level){.kind = LEVEL_QUOTE});
    if (r->levels.len > DEEPEST_PREFIX)
        return;
    struct styled *both[] = {&r->first, &r->rest};
    for (size_t i = 0; i < 2; i++) {
        styled_addstr(both[i], glyph(GLYPH_BAR), STYLE_QUOTE, 0);
        styled_addstr(both[i], " ", STYLE_QUOTE, 0);
    }
}

static void enter_list(struct render *r, unsigned number, char delimiter, bool loose)
{
    if (!r->lists_seen && number > 0 && r->context->ordinal > 0)
        number = r->context->ordinal;
    r->lists_seen = true;
    separate(r, false);
    push_level(r,
               (struct level){
                   .kind = LEVEL_LIST, .number = number, .delimiter = delimiter, .loose = loose});
}

static size_t bullets_around(const struct render *r)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < r->levels.len; i++)
        count += r->levels.items[i].kind == LEVEL_LIST && r->levels.items[i].number == 0;
    return count;
}

static char *bullet_of(struct render *r, struct level *list, const MD_BLOCK_LI_DETAIL *item)
{
    static const enum glyph bullets[] = {GLYPH_BULLET, GLYPH_BULLET_INNER, GLYPH_BULLET_DEEP};
    struct buf text = BUF_INIT;
    size_t depth = bullets_around(r);
    if (list->number > 0)
        buf_addf(&text, "%u%c ", list->number++, list->delimiter);
    if (item->is_task)
        buf_addf(&text, "%s ", glyph(item->task_mark == ' ' ? GLYPH_TASK_OPEN : GLYPH_TASK_DONE));
    else if (text.len == 0)
        buf_addf(&text, "%s ", glyph(bullets[depth > 2 ? 2 : depth]));
    return buf_take(&text);
}

static void enter_item(struct render *r, const MD_BLOCK_LI_DETAIL *item)
{
    struct level *list = &vec_last(&r->levels);
    if (list->filled && list->loose)
        emit_blank(r);
    list->filled = true;
    char *bullet = bullet_of(r, list, item);
    r->bullet_due = true;
    push_level(r, (struct level){.kind = LEVEL_ITEM});
    if (r->levels.len <= DEEPEST_PREFIX) {
        styled_addstr(&r->first, bullet, r->look->style, 0);
        for (size_t n = utf8_width(bullet, strlen(bullet)); n > 0; n--)
            styled_addstr(&r->rest, " ", r->look->style, 0);
    }
    free(bullet);
}

static void leave_list(struct render *r)
{
    unsigned number = vec_last(&r->levels).number;
    pop_level(r);
    r->paragraph_apart = true;
    if (r->levels.len == 0)
        r->context->ordinal = number;
}

/* --- leaves --- */

static enum style plain_style(const struct render *r)
{
    for (size_t i = 0; i < r->levels.len; i++)
        if (r->levels.items[i].kind == LEVEL_QUOTE)
            return STYLE_QUOTE;
    return r->look->style;
}

static void enter_leaf(struct render *r)
{
    markdown_leaf_begin(&r->leaf, plain_style(r));
}

static void enter_heading(struct render *r, unsigned level)
{
    markdown_leaf_begin(&r->leaf, STYLE_HEADING);
    r->leaf.bold = 1;
    r->leaf.underline = level == 1;
    r->leaf.italic = level > 2;
}

static void leave_heading(struct render *r)
{
    separate(r, false);
    r->leaf.underline = false;
    r->leaf.bold = r->leaf.italic = 0;
    emit(r, &r->leaf.line, WRAP_WORDS);
    styled_clear(&r->leaf.line);
}

static void leave_paragraph(struct render *r)
{
    separate(r, true);
    emit(r, &r->leaf.line, WRAP_WORDS);
    styled_clear(&r->leaf.line);
}

/* In tight lists, md4c has no paragraphs: the text of an item stands alone. */
static void flush_tight(struct render *r)
{
    if (r->leaf.line.text.len > 0)
        leave_paragraph(r);
}

static void rule(struct render *r)
{
    struct styled line;
    separate(r, false);
    styled_init(&line);
    for (size_t n = wrap_room(&r->rest, r->look->width); n > 0; n--)
        styled_addstr(&line, glyph(GLYPH_LINE), STYLE_RULE, 0);
    emit(r, &line, WRAP_HARD);
    styled_release(&line);
}

static void enter_code(struct render *r, const MD_BLOCK_CODE_DETAIL *code)
{
    enter_leaf(r);
    buf_clear(&r->language);
    r->fenced = code->fence_char != 0;
    if (r->fenced && code->info.text)
        buf_add(&r->language, code->info.text, code->info.size);
}

static void leave_code(struct render *r)
{
    separate(r, false);
    const struct language *language = NULL;
    size_t width = r->look->width;
    if (r->language.len) {
        language = markdown_code_label(r->out, r->language.data, r->language.len, width, &r->first,
                                       &r->rest);
        after_rows(r);
    }
    markdown_code_lines(r->out, language, r->leaf.line.text.data, r->leaf.line.text.len, width,
                        &r->first, &r->rest);
    if (r->leaf.line.text.len)
        after_rows(r);
    if (r->fenced) {
        markdown_code_end(r->out, width, &r->first);
        after_rows(r);
    }
    styled_clear(&r->leaf.line);
}

static void enter_table(struct render *r, const MD_BLOCK_TABLE_DETAIL *table)
{
    markdown_table_release(&r->table);
    markdown_table_init(&r->table, table->col_count > MOST_CELLS ? MOST_CELLS : table->col_count);
}

static void enter_cell(struct render *r, const MD_BLOCK_TD_DETAIL *cell, bool head)
{
    enter_leaf(r);
    r->leaf.bold = head;
    r->leaf.one_line = true;
    r->align = cell->align == MD_ALIGN_RIGHT    ? CELL_RIGHT
               : cell->align == MD_ALIGN_CENTER ? CELL_CENTER
                                                : CELL_LEFT;
}

static void leave_cell(struct render *r)
{
    r->leaf.bold = 0;
    if (r->cell < r->table.columns)
        markdown_table_add(&r->table, &r->leaf.line, r->align);
    r->cell++;
    styled_clear(&r->leaf.line);
}

static void leave_table(struct render *r)
{
    separate(r, false);
    markdown_table_rows(r->out, &r->table, r->look->width, &r->first, &r->rest);
    after_rows(r);
    markdown_table_release(&r->table);
    markdown_table_init(&r->table, 0);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct render *r = context;
    const MD_BLOCK_OL_DETAIL *ol = detail;
    const MD_BLOCK_UL_DETAIL *ul = detail;
    flush_tight(r);
    switch (type) {
    case MD_BLOCK_QUOTE:
        enter_quote(r);
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
        rule(r);
        break;
    case MD_BLOCK_H:
        enter_heading(r, ((const MD_BLOCK_H_DETAIL *)detail)->level);
        break;
    case MD_BLOCK_CODE:
        enter_code(r, detail);
        break;
    case MD_BLOCK_P:
        enter_leaf(r);
        break;
    case MD_BLOCK_TABLE:
        enter_table(r, detail);
        break;
    case MD_BLOCK_TR:
        r->cell = 0;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        enter_cell(r, detail, type == MD_BLOCK_TH);
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    static void (*const leave[])(struct render *) = {
        [MD_BLOCK_QUOTE] = pop_level,   [MD_BLOCK_UL] = leave_list,
        [MD_BLOCK_OL] = leave_list,     [MD_BLOCK_LI] = pop_level,
        [MD_BLOCK_H] = leave_heading,   [MD_BLOCK_CODE] = leave_code,
        [MD_BLOCK_P] = leave_paragraph, [MD_BLOCK_TABLE] = leave_table,
        [MD_BLOCK_TH] = leave_cell,     [MD_BLOCK_TD] = leave_cell,
    };
    (void)detail;
    if (type == MD_BLOCK_LI)
        flush_tight(context);
    if ((size_t)type < sizeof leave / sizeof *leave && leave[type])
        leave[type](context);
    return 0;
}

static int add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *context)
{
    markdown_leaf_text(&((struct render *)context)->leaf, type, text, size);
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    markdown_leaf_enter(&((struct render *)context)->leaf, type, detail);
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    markdown_leaf_leave(&((struct render *)context)->leaf, type, detail);
    return 0;
}

/* --- */

static void render_init(struct render *r, struct rows *out, const struct markdown_look *look,
                        struct markdown_context *context)
{
    *r = (struct render){.out = out, .look = look, .context = context, .language = BUF_INIT};
    styled_init(&r->first);
    styled_init(&r->rest);
    markdown_leaf_init(&r->leaf, look->style, look->keep_lines);
    if (look->prefix) {
        styled_append(&r->first, look->prefix);
        styled_append(&r->rest, look->prefix);
    }
}

static void render_release(struct render *r)
{
    while (r->levels.len > 0) {
        styled_release(&vec_last(&r->levels).outside);
        r->levels.len--;
    }
    vec_release(&r->levels);
    markdown_table_release(&r->table);
    buf_release(&r->language);
    styled_release(&r->first);
    styled_release(&r->rest);
    markdown_leaf_release(&r->leaf);
}

void markdown_blocks(struct rows *out, const char *text, size_t len,
                     const struct markdown_look *look, struct markdown_context *context)
{
    unsigned flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML;
    struct rows_mark before = rows_mark(out);
    struct buf source = BUF_INIT;
    struct render r;
    if (context->in_item)
        flags |= MD_FLAG_NOINDENTEDCODEBLOCKS;
    render_init(&r, out, look, context);
    /* md4c 0.4.8 reads past a text that ends inside a link, unless it ends with a newline. */
    buf_add(&source, text, len);
    buf_addch(&source, '\n');
    r.leaf.source = source.data;
    r.leaf.source_end = source.data + source.len;
    MD_PARSER parser = {0,          flags,    enter_block, leave_block, enter_span,
                        leave_span, add_text, NULL,        NULL};
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
    render_release(&r);
    buf_release(&source);
}

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
