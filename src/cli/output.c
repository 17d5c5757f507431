#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"

/* --- cleaned text ----------------------------------------------------------------------------- */

enum { UNBOUNDED = 1 << 20 };

void output_init(struct output *o)
{
    *o = (struct output){.terminal = isatty(STDOUT_FILENO), .line = BUF_INIT};
}

/* Writes the first `len` bytes of the line. */
static void write_clean(struct output *o, size_t len)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, o->line.data, len, UTF8_MULTILINE);
    fwrite(clean.data, 1, clean.len, stdout);
    buf_consume(&o->line, len);
}

bool output_write(struct output *o, const char *bytes, size_t len)
{
    if (!o->terminal)
        return fwrite(bytes, 1, len, stdout) == len;
    buf_add(&o->line, bytes, len);
    size_t whole = o->line.len;
    while (whole > 0 && o->line.data[whole - 1] != '\n')
        whole--;
    write_clean(o, whole);
    return !ferror(stdout);
}

bool output_end(struct output *o)
{
    write_clean(o, o->line.len);
    buf_release(&o->line);
    return !ferror(stdout);
}

void output_text(const char *text)
{
    struct output o;
    output_init(&o);
    output_write(&o, text, strlen(text));
    output_end(&o);
}

void output_json(struct json *v)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *compact = json_print(v);
    json_out_pretty(compact, &text);
    output_text(text.data);
    putchar('\n');
    json_free(v);
}

bool output_may_write(const char *path, bool replace, struct error *e)
{
    return replace || access(path, F_OK) != 0 ||
           err_set(e, ERR_FILE_ERROR,
                   _("%.200s already exists; name another file, or overwrite it with --force"),
                   path);
}

size_t output_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return UNBOUNDED;
    return size.ws_col;
}

size_t output_start(const char *text, size_t match, size_t width)
{
    size_t len = strlen(text), start = 0;
    size_t last = match < len ? match : len;
    if (utf8_width(text, len) <= width)
        return 0;
    while (start < last && utf8_width(text + start, last - start) > width / 2)
        start = utf8_next(text, len, start);
    return start;
}

/* --- grid ------------------------------------------------------------------------------------- */

enum { GAP = 2 };

void grid_add(struct grid *g, const char *text)
{
    struct buf clean = BUF_INIT;
    if (text)
        utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    vec_push(&g->cells, buf_take(&clean));
}

/* Cuts the columns that are to be cut first, or the others; returns the excess that is left. */
static size_t shrink(const struct grid *g, size_t *widths, bool first, size_t excess)
{
    for (size_t c = 0; c < g->count && excess > 0; c++) {
        size_t least = g->columns[c].shrink;
        if (g->columns[c].first != first || least == 0 || widths[c] <= least)
            continue;
        size_t spare = widths[c] - least;
        size_t less = spare < excess ? spare : excess;
        widths[c] -= less;
        excess -= less;
    }
    return excess;
}

/* The widths of all columns; 0 for a column without text. The caller frees. */
static size_t *measure(const struct grid *g, size_t width)
{
    size_t *widths = mem_alloc(g->count * sizeof *widths);
    for (size_t i = 0; i < g->cells.len; i++) {
        size_t cell = utf8_width(g->cells.items[i], strlen(g->cells.items[i]));
        size_t c = i % g->count, max = g->columns[c].max;
        if (max > 0 && cell > max)
            cell = max;
        if (cell > widths[c])
            widths[c] = cell;
    }
    size_t total = 0;
    for (size_t c = 0; c < g->count; c++)
        total += widths[c] > 0 ? widths[c] + GAP : 0;
    size_t excess = total > width + GAP ? total - width - GAP : 0;
    excess = shrink(g, widths, true, excess);
    shrink(g, widths, false, excess);
    return widths;
}

/* Appends the text, cut to `width` columns; returns its columns. */
static size_t add_cut(struct buf *out, const char *text, size_t width)
{
    size_t len = strlen(text);
    size_t whole = utf8_width(text, len);
    if (whole <= width) {
        buf_add(out, text, len);
        return whole;
    }
    size_t keep = utf8_cut_width(text, len, width > 0 ? width - 1 : 0);
    buf_add(out, text, keep);
    if (width > 0)
        buf_addstr(out, "…");
    return utf8_width(text, keep) + (width > 0);
}

void grid_print(struct grid *g)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    size_t width = output_width();
    auto_free size_t *widths = measure(g, width);
    for (size_t row = 0; row + g->count <= g->cells.len; row += g->count) {
        AUTO(buf_release) struct buf line = BUF_INIT, cell = BUF_INIT;
        for (size_t c = 0; c < g->count; c++) {
            if (widths[c] == 0)
                continue;
            if (line.len > 0)
                buf_addf(&line, "%*s", GAP, "");
            buf_clear(&cell);
            int blanks = (int)(widths[c] - add_cut(&cell, g->cells.items[row + c], widths[c]));
            bool right = g->columns[c].right;
            buf_addf(&line, "%*s%s%*s", right ? blanks : 0, "", cell.data, right ? 0 : blanks, "");
        }
        buf_trim_end(&line, " ");
        add_cut(&out, line.data, width);
        buf_addch(&out, '\n');
    }
    fwrite(out.data, 1, out.len, stdout);
    vec_free_each(&g->cells);
}
