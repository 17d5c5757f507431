#include "ui/text/markdown_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"

enum { GAP = 3, LEAST_COLUMN = 6 };

void markdown_table_init(struct table *t, size_t columns)
{
    *t = (struct table){.columns = columns};
}

void markdown_table_release(struct table *t)
{
    for (size_t i = 0; i < t->cells.len; i++)
        styled_release(&t->cells.items[i].text);
    vec_release(&t->cells);
}

void markdown_table_add(struct table *t, struct styled *text, enum cell_align align)
{
    for (size_t i = 0; i < text->text.len; i++)
        if (text->text.data[i] == '\t' || text->text.data[i] == '\n')
            text->text.data[i] = ' ';
    struct cell cell = {*text, align};
    vec_push(&t->cells, cell);
    styled_init(text);
}

static size_t widest(const size_t *widths, size_t columns, size_t *second)
{
    size_t best = 0;
    *second = 0;
    for (size_t i = 0; i < columns; i++) {
        if (widths[i] > best) {
            *second = best;
            best = widths[i];
        } else if (widths[i] < best && widths[i] > *second) {
            *second = widths[i];
        }
    }
    return best;
}

/* Cuts all that have `from` columns to `to`, or by what is over, whichever is less. */
static void shrink(size_t *widths, size_t columns, size_t from, size_t to, size_t over)
{
    size_t count = 0;
    for (size_t i = 0; i < columns; i++)
        count += widths[i] == from;
    size_t each = over / count, odd = over % count;
    bool last = from - to >= each + (odd > 0);
    for (size_t i = 0; i < columns; i++) {
        if (widths[i] != from)
            continue;
        widths[i] = last ? from - each - (odd > 0) : to;
        if (odd > 0)
            odd--;
    }
}

bool markdown_table_fit(const size_t *wanted, size_t *widths, size_t columns, size_t room)
{
    size_t sum = 0, second;
    for (size_t i = 0; i < columns; i++) {
        widths[i] = wanted[i] ? wanted[i] : 1;
        sum += widths[i];
    }
    while (sum > room) {
        size_t most = widest(widths, columns, &second);
        if (most <= LEAST_COLUMN)
            return false;
        second = second < LEAST_COLUMN ? LEAST_COLUMN : second;
        shrink(widths, columns, most, second, sum - room);
        sum = 0;
        for (size_t i = 0; i < columns; i++)
            sum += widths[i];
    }
    return true;
}

static void add_spaces(struct rows *out, size_t count)
{
    while (count-- > 0)
        rows_add(out, " ", 1, STYLE_TEXT, 0);
}

static void add_cell_line(struct rows *out, const struct cell *cell, const struct rows *rows,
                          size_t index, size_t width)
{
    bool empty = index >= rows->list.len;
    size_t used = empty ? 0 : rows_width(rows, index), spare = width > used ? width - used : 0;
    size_t before = cell->align == CELL_RIGHT ? spare : cell->align == CELL_CENTER ? spare / 2 : 0;
    add_spaces(out, before);
    if (!empty)
        rows_append(out, rows, index);
    add_spaces(out, spare - before);
}

/* Where the rows go, and what is before them. */
struct target {
    struct rows *out;
    size_t width;
    const struct styled *first, *rest;
    struct styled line; /* the one that is being made */
};

struct columns {
    size_t columns;
    const size_t *widths;
    struct rows *parts; /* one for each cell of a row */
};

static void put_line(struct target *p, const struct styled *line, enum wrap_mode mode)
{
    wrap_text(p->out, line, &(struct wrap_look){p->width, mode, p->first, p->rest});
    p->first = p->rest;
}

static void grid_line(struct target *p, const struct columns *g, const struct cell *cells,
                      size_t index)
{
    wrap_begin(p->out, p->first, p->width);
    p->first = p->rest;
    for (size_t i = 0; i < g->columns; i++) {
        if (i > 0) {
            add_spaces(p->out, 1);
            rows_addstr(p->out, glyph(GLYPH_BAR), STYLE_RULE, 0);
            add_spaces(p->out, 1);
        }
        add_cell_line(p->out, &cells[i], &g->parts[i], index, g->widths[i]);
    }
}

static void grid_row(struct target *p, const struct columns *g, const struct cell *cells)
{
    size_t height = 1;
    for (size_t i = 0; i < g->columns; i++) {
        rows_clear(&g->parts[i]);
        wrap_text(&g->parts[i], &cells[i].text,
                  &(struct wrap_look){g->widths[i], WRAP_WORDS, NULL, NULL});
        if (g->parts[i].list.len > height)
            height = g->parts[i].list.len;
    }
    for (size_t i = 0; i < height; i++)
        grid_line(p, g, cells, i);
}

static void grid_rule(struct target *p, const struct columns *g)
{
    styled_clear(&p->line);
    for (size_t i = 0; i < g->columns; i++) {
        size_t dashes = g->widths[i] + (i > 0) + (i + 1 < g->columns);
        if (i > 0)
            styled_addstr(&p->line, glyph(GLYPH_CROSS), STYLE_RULE, 0);
        while (dashes-- > 0)
            styled_addstr(&p->line, glyph(GLYPH_LINE), STYLE_RULE, 0);
    }
    put_line(p, &p->line, WRAP_HARD);
}

static void as_grid(struct target *p, const struct table *t, const size_t *widths)
{
    struct rows *parts = mem_alloc(t->columns * sizeof *parts);
    struct columns g = {t->columns, widths, parts};
    for (size_t i = 0; i < t->columns; i++)
        rows_init(&parts[i]);
    for (size_t i = 0; i < t->cells.len; i += t->columns) {
        grid_row(p, &g, &t->cells.items[i]);
        if (i == 0)
            grid_rule(p, &g);
    }
    for (size_t i = 0; i < t->columns; i++)
        rows_release(&parts[i]);
    free(parts);
}

static void as_lines(struct target *p, const struct table *t)
{
    for (size_t i = t->columns; i < t->cells.len; i++) {
        const struct cell *head = &t->cells.items[i % t->columns], *cell = &t->cells.items[i];
        styled_clear(&p->line);
        if (i > t->columns && i % t->columns == 0)
            put_line(p, &p->line, WRAP_WORDS);
        styled_append(&p->line, &head->text);
        styled_addstr(&p->line, ": ", STYLE_TEXT, 0);
        styled_append(&p->line, &cell->text);
        put_line(p, &p->line, WRAP_WORDS);
    }
}

static void want_columns(const struct table *t, size_t *wanted)
{
    for (size_t i = 0; i < t->cells.len; i++) {
        const struct buf *text = &t->cells.items[i].text.text;
        size_t columns = utf8_width(text->data, text->len), *most = &wanted[i % t->columns];
        *most = columns > *most ? columns : *most;
    }
}

void markdown_table_rows(struct rows *out, const struct table *t, size_t width,
                         const struct styled *first, const struct styled *rest)
{
    if (t->columns == 0 || t->cells.len < t->columns || t->cells.len % t->columns)
        return;
    struct target p = {.out = out, .width = width, .first = first, .rest = rest};
    size_t *wanted = mem_alloc(2 * t->columns * sizeof *wanted), *widths = wanted + t->columns;
    size_t room = wrap_room(rest, width), gaps = GAP * (t->columns - 1);
    want_columns(t, wanted);
    styled_init(&p.line);
    if (room > gaps && markdown_table_fit(wanted, widths, t->columns, room - gaps))
        as_grid(&p, t, widths);
    else
        as_lines(&p, t);
    styled_release(&p.line);
    free(wanted);
}
