#include "ui/term/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { MARKS_MAX = 4, EMOJI_LOOK = 0xFE0F, FLAG_FIRST = 0x1F1E6, FLAG_LAST = 0x1F1FF };

bool cluster_is(const char *grapheme, size_t len)
{
    uint32_t first, cp;
    size_t at = utf8_decode(grapheme, len, &first), marks = 0;
    bool emoji =
        (utf8_is_pictograph(first) || (first >= FLAG_FIRST && first <= FLAG_LAST)) && at < len;
    while (at < len) {
        at += utf8_decode(grapheme + at, len - at, &cp);
        emoji = emoji || cp == EMOJI_LOOK;
        marks++;
    }
    return emoji || marks > MARKS_MAX;
}

void clusters_reset(struct clusters *c, int rows)
{
    for (int i = 0; i < c->count; i++) {
        for (size_t k = 0; k < c->rows[i].list.len; k++)
            free(c->rows[i].list.items[k].text);
        vec_release(&c->rows[i].list);
    }
    if (rows != c->count) {
        free(c->rows);
        c->rows = rows > 0 ? mem_alloc((size_t)rows * sizeof *c->rows) : NULL;
        c->count = rows;
    }
}

void clusters_drop(struct clusters *c, int row, int col, int cols)
{
    if (row < 0 || row >= c->count)
        return;
    struct cluster_row *r = &c->rows[row];
    for (size_t i = r->list.len; i-- > 0;) {
        const struct cluster *there = &r->list.items[i];
        if (there->col >= col + cols || there->col + there->cols <= col)
            continue;
        free(there->text);
        vec_remove(&r->list, i, 1);
    }
}

enum { COLLECT_FROM = 256 };

static size_t size(const struct link_cells *l)
{
    return (size_t)l->rows * (size_t)l->cols;
}

void link_cells_resize(struct link_cells *l, int rows, int cols)
{
    vec_free_each(&l->addresses);
    free(l->wanted);
    *l = (struct link_cells){.rows = rows, .cols = cols};
    if (size(l) == 0)
        return;
    l->wanted = mem_alloc(2 * size(l) * sizeof *l->wanted);
    l->shown = l->wanted + size(l);
    memset(l->wanted, 0, 2 * size(l) * sizeof *l->wanted);
}

uint16_t link_cells_number(struct link_cells *l, const char *address)
{
    size_t at = l->addresses.len; /* where a new address can stand */
    if (!address)
        return 0;
    for (size_t i = 0; i < l->addresses.len; i++) {
        const char *known = l->addresses.items[i];
        if (!known)
            at = i;
        else if (strcmp(known, address) == 0)
            return (uint16_t)(i + 1);
    }
    if (at == l->addresses.len && at >= COLLECT_FROM) { /* free the addresses that no cell has */
        auto_free bool *used = mem_alloc(l->addresses.len + 1);
        for (size_t i = 0; i < 2 * size(l); i++)
            used[l->wanted[i]] = true;
        for (size_t i = 0; i < l->addresses.len; i++)
            if (!used[i + 1]) {
                free(l->addresses.items[i]);
                l->addresses.items[i] = NULL;
                at = i;
            }
    }
    if (at == UINT16_MAX)
        return 0; /* more than a screen has cells for */
    if (at == l->addresses.len)
        vec_push(&l->addresses, NULL);
    l->addresses.items[at] = mem_strdup(address);
    return (uint16_t)(at + 1);
}

void link_cells_put(struct link_cells *l, int row, int col, int cols, uint16_t number)
{
    if (row < 0 || row >= l->rows)
        return;
    for (int i = col < 0 ? 0 : col; i < col + cols && i < l->cols; i++)
        l->wanted[row * l->cols + i] = number;
}

bool link_cells_any(const struct link_cells *l)
{
    for (size_t i = 0; i < 2 * size(l); i++)
        if (l->wanted[i])
            return true;
    return false;
}

/* The terminal forgets the link of a cell that curses draws. */
static bool is_due(const struct link_cells *l, size_t at, bool redrawn)
{
    return l->wanted[at] != l->shown[at] || (redrawn && l->wanted[at]);
}

bool link_cells_next(const struct link_cells *l, int row, int col, bool redrawn,
                     struct link_run *out)
{
    size_t start = (size_t)row * (size_t)l->cols;
    while (col < l->cols && !is_due(l, start + (size_t)col, redrawn))
        col++;
    if (row >= l->rows || col >= l->cols)
        return false;
    *out = (struct link_run){.col = col, .number = l->wanted[start + (size_t)col]};
    out->address = out->number ? l->addresses.items[out->number - 1] : NULL;
    while (col < l->cols && is_due(l, start + (size_t)col, redrawn) &&
           l->wanted[start + (size_t)col] == out->number)
        col++;
    out->cols = col - out->col;
    return true;
}

bool link_cells_forget(struct link_cells *l, int row)
{
    bool any = false;
    for (int col = 0; row < l->rows && col < l->cols; col++) {
        uint16_t *shown = &l->shown[row * l->cols + col];
        any = any || *shown;
        *shown = 0;
    }
    return any;
}

void link_cells_done(struct link_cells *l, int row)
{
    size_t start = (size_t)row * (size_t)l->cols;
    if (row < l->rows)
        memcpy(l->shown + start, l->wanted + start, (size_t)l->cols * sizeof *l->shown);
}
