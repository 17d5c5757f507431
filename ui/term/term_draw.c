#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/term_private.h"
#include "ui/term/theme.h"
#include "ui/term/tty.h"

#define COMBINED_MAX 4 /* marks on one character: what a cell of curses holds */

void term_resized(void)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        (size.ws_row != LINES || size.ws_col != COLS))
        resizeterm(size.ws_row, size.ws_col);
    getmaxyx(stdscr, term.rows, term.cols);
    size_t cells = (size_t)term.cols + 1;
    term.old_cells = mem_resize(term.old_cells, cells * sizeof *term.old_cells);
    term.new_cells = mem_resize(term.new_cells, cells * sizeof *term.new_cells);
    clusters_reset(&term.clusters, term.rows);
    link_cells_resize(&term.links, term.rows, term.cols);
    term.redrawn = mem_resize(term.redrawn, (size_t)term.rows + 1);
}

static attr_t attributes(unsigned attrs)
{
    return (attrs & ATTR_BOLD ? A_BOLD : 0u) | (attrs & ATTR_ITALIC ? A_ITALIC : 0u) |
           (attrs & ATTR_UNDERLINE ? A_UNDERLINE : 0u) |
           (attrs & (ATTR_STRIKE | ATTR_DIM) ? A_DIM : 0u) | /* curses knows no strike */
           (attrs & ATTR_REVERSE ? A_REVERSE : 0u);
}

void term_set_theme(const struct theme *theme)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        struct look look = theme_resolve(theme->looks[i], term.colors);
        short pair = 0; /* the terminal's own colours; else a style's pair has its number */
        if (term.colors > 0 && (look.fg != THEME_DEFAULT || look.bg != THEME_DEFAULT)) {
            pair = (short)(i + 1);
            init_extended_pair(pair, look.fg, look.bg);
        }
        term.attrs[i] = attributes(look.attrs) | (attr_t)COLOR_PAIR(pair);
    }
}

void term_redraw(void)
{
    clearok(curscr, TRUE);
}

/* One cell: a character and its marks. */
static void put_cell(int row, int col, const wchar_t *text, attr_t attrs)
{
    cchar_t cell;
    short pair = (short)PAIR_NUMBER(attrs);
    clusters_drop(&term.clusters, row, col, 1);
    if (setcchar(&cell, text, attrs & ~(attr_t)A_COLOR, pair, NULL) == OK)
        mvadd_wch(row, col, &cell); /* ERR in the last corner, where it is drawn all the same */
}

/* A character and the marks on it in one cell. Marks without a character stand on a blank. */
static void put_character(int row, int col, const char *text, size_t len, attr_t attrs)
{
    wchar_t cell[COMBINED_MAX + 2];
    int count = 0;
    uint32_t cp;
    if (utf8_width(text, len) == 0)
        cell[count++] = L' ';
    for (size_t at = 0; at < len && count <= COMBINED_MAX;) {
        at += utf8_decode(text + at, len - at, &cp);
        if (cp >= ' ' && (cp < 0x7f || cp >= 0xa0))
            cell[count++] = (wchar_t)cp;
    }
    cell[count] = L'\0';
    put_cell(row, col, cell, attrs);
}

/* Replaces the characters that the locale's character set lacks. */
static void put_stand_ins(int row, int col, const char *text, size_t len, attr_t attrs)
{
    AUTO(buf_release) struct buf shown = BUF_INIT;
    for (size_t at = 0; at < len;) {
        uint32_t cp;
        char stand_in[CHARSET_STAND_IN_MAX];
        size_t used = utf8_decode(text + at, len - at, &cp);
        if (charset_lacks(cp, stand_in))
            buf_addstr(&shown, stand_in);
        else
            buf_add(&shown, text + at, used);
        at += used;
    }
    for (size_t at = 0, next; at < shown.len; at = next) {
        next = utf8_next(shown.data, shown.len, at);
        put_character(row, col, shown.data + at, next - at, attrs);
        int width = (int)utf8_width(shown.data + at, next - at);
        col += width > 0 ? width : 1;
    }
}

/* Puts the first grapheme, or the first character and its marks of one that is no cluster. Returns
 * its bytes and sets *width to its columns; 0: it does not fit into `room` columns. */
static size_t put_first(int row, int col, int room, const char *text, size_t len, attr_t look,
                        int *width)
{
    uint32_t cp;
    size_t used = utf8_next(text, len, 0);
    bool cluster = cluster_is(text, used);
    if (!cluster) {
        size_t whole = used, next;
        for (used = utf8_decode(text, whole, &cp); used < whole; used += next) {
            next = utf8_decode(text + used, whole - used, &cp);
            if (utf8_cp_width(cp) != 0)
                break;
        }
    }
    *width = (int)utf8_width(text, used);
    if (*width < 1)
        *width = 1;
    if (*width > room)
        return 0;
    if (charset() == CHARSET_OTHER) {
        put_stand_ins(row, col, text, used, look);
    } else if (cluster) {
        /* No text has this blank, so that curses draws over it whatever is written there later.
         * This drops the clusters that stood there. */
        for (int i = 0; i < *width; i++)
            put_cell(row, col + i, L"\u00a0", look);
        if (row >= 0 && row < term.clusters.count) {
            struct cluster cluster_there = {col, *width, look, mem_strndup(text, used)};
            vec_push(&term.clusters.rows[row].list, cluster_there);
            term.clusters.rows[row].due = true;
        }
    } else {
        put_character(row, col, text, used, look);
    }
    return used;
}

int term_put(int row, int col, int max_cols, const char *text, size_t len, enum style style,
             unsigned attrs)
{
    if (max_cols > term.cols - col)
        max_cols = term.cols - col;
    attr_t look = term.attrs[style] | attributes(attrs);
    AUTO(buf_release) struct buf clean = BUF_INIT; /* text being typed or pasted is not clean */
    int used = 0;
    utf8_clean(&clean, text, len, UTF8_ONE_LINE);
    text = clean.data;
    len = clean.len;
    for (size_t at = 0, taken; at < len && used < max_cols; at += taken) {
        int width = 1;
        unsigned char c = (unsigned char)text[at];
        taken = 1;
        if (c >= ' ' && c < 0x7f && !((unsigned char)text[at + 1] & 0x80)) /* no mark follows */
            put_cell(row, col + used, (const wchar_t[]){c, 0}, look);
        else
            taken = put_first(row, col + used, max_cols - used, text + at, len - at, look, &width);
        if (taken == 0)
            break;
        link_cells_put(&term.links, row, col + used, width, term.link);
        used += width;
    }
    return used;
}

int term_put_row(int row, int col, int max_cols, const struct rows *rows, size_t index)
{
    const struct row *r = &rows->list.items[index];
    const char *text = rows->text.data + r->text;
    int used = 0;
    for (uint32_t i = 0; i < r->span_count && used < max_cols; i++) {
        const struct span *s = &rows->spans.items[r->spans + i];
        term.link = link_cells_number(&term.links, links_at(&rows->links, s->link));
        used += term_put(row, col + used, max_cols - used, text, s->len, (enum style)s->style,
                         s->attrs);
        text += s->len;
    }
    term.link = 0;
    return used;
}

void term_fill(int row, int col, int cols, enum style style)
{
    for (int i = col; i < col + cols && i < term.cols; i++)
        put_cell(row, i, L" ", term.attrs[style]);
    link_cells_put(&term.links, row, col, cols, 0);
}

void term_cursor(int row, int col)
{
    term.cursor_wanted = row >= 0;
    term.cursor_row = row;
    term.cursor_col = col;
}

/* Whether the rows have the same cells. */
static bool is_same(WINDOW *one, int row, WINDOW *other, int other_row)
{
    size_t size = (size_t)term.cols * sizeof *term.old_cells;
    memset(term.old_cells, 0, size);
    memset(term.new_cells, 0, size);
    mvwin_wchnstr(one, row, 0, term.old_cells, term.cols);
    mvwin_wchnstr(other, other_row, 0, term.new_cells, term.cols);
    return memcmp(term.old_cells, term.new_cells, size) == 0;
}

/* Whether another row has the same cells, before or after the frame that is drawn next. */
static bool stands_twice(int row)
{
    for (int other = 0; other < term.rows; other++)
        if (other != row &&
            (is_same(curscr, row, curscr, other) || is_same(curscr, row, stdscr, other)))
            return true;
    return false;
}

static struct buf cluster_bytes; /* curses' callback has no context */

static int add_cluster_byte(int c)
{
    buf_addch(&cluster_bytes, (char)c);
    return c;
}

static void add_place(int row, int col)
{
    tputs(tparm(term_capability("cup"), row, col, 0, 0, 0, 0, 0, 0, 0), 1, add_cluster_byte);
}

/* Writes the clusters over the blanks that curses has written. The cursor and the looks are left as
 * curses knows them. */
static void write_clusters(void)
{
    for (int row = 0; row < term.clusters.count; row++) {
        struct cluster_row *r = &term.clusters.rows[row];
        for (size_t i = 0; r->due && i < r->list.len; i++) {
            const struct cluster *c = &r->list.items[i];
            attr_t attrs = (attr_t)c->attrs;
            add_place(row, c->col);
            vid_puts(attrs & ~(attr_t)A_COLOR, (short)PAIR_NUMBER(attrs), NULL, add_cluster_byte);
            buf_addstr(&cluster_bytes, c->text);
        }
        r->due = false;
    }
    if (cluster_bytes.len == 0)
        return;
    vid_puts(A_NORMAL, 0, NULL, add_cluster_byte);
    add_place(getcury(curscr), getcurx(curscr));
    tty_write(cluster_bytes.data, cluster_bytes.len);
    buf_release(&cluster_bytes);
}

/* Has curses draw the cells of each link once more, between its start and its end (OSC 8), and
 * nothing else: the cursor stands at the first cell already and stays behind the last, because
 * curses may move it by writing what it passes over. */
static void draw_links(void)
{
    int cursor_row, cursor_col;
    getyx(newscr, cursor_row, cursor_col);
    for (int row = 0; row < term.rows; row++) {
        struct link_run run = {0};
        while (link_cells_next(&term.links, row, run.col + run.cols, term.redrawn[row], &run)) {
            int behind = run.col + run.cols;
            if (row < term.clusters.count)
                term.clusters.rows[row].due = true; /* curses draws their blanks */
            wmove(newscr, row, run.col);
            doupdate();
            if (run.number > 0) { /* the id lets the terminal take the rows of a link for one */
                auto_free char *on =
                    mem_printf("\033]8;id=%u;%s\033\\", (unsigned)run.number, run.address);
                tty_puts(on);
            }
            mvwchgat(curscr, row, run.col, run.cols, A_BLINK | A_INVIS, 0,
                     NULL); /* as no cell is */
            touchline(newscr, row, 1);
            wmove(newscr, row, behind < term.cols ? behind : term.cols - 1);
            doupdate();
            if (run.number > 0)
                tty_puts("\033]8;;\033\\");
        }
        link_cells_done(&term.links, row);
    }
    wmove(newscr, cursor_row, cursor_col);
    doupdate();
}

/* Sets term.redrawn for the rows that curses will draw in; false if there are no links. curses may
 * move the rows between them, with their links, and rows beside them that it finds elsewhere, too:
 * those of them that have links are drawn as if curses knew nothing of them. */
static bool prepare_links(void)
{
    int first = term.rows, last = -1;
    if (term.plain || !link_cells_any(&term.links))
        return false;
    for (int row = 0; row < term.rows; row++) {
        term.redrawn[row] = is_cleared(curscr) ||
                            (is_linetouched(stdscr, row) && !is_same(curscr, row, stdscr, row));
        if (term.redrawn[row])
            last = row;
        if (term.redrawn[row] && first == term.rows)
            first = row;
    }
    while (last >= first && first > 0 && stands_twice(first - 1))
        first--;
    while (last >= first && last + 1 < term.rows && stands_twice(last + 1))
        last++;
    for (int row = first; row <= last; row++)
        if (link_cells_forget(&term.links, row)) {
            term.redrawn[row] = true;
            wredrawln(stdscr, row, 1);
        }
    return true;
}

void term_flush(void)
{
    if (!term.screen || term.suspended || term.bare)
        return;
    bool links = prepare_links(), together = links || (!term.plain && is_cleared(curscr));
    for (int row = 0, differ = 0; row < term.rows && !together && !term.plain; row++) {
        differ += is_linetouched(stdscr, row) && !is_same(curscr, row, stdscr, row);
        together = differ > 1;
    }
    for (int row = 0; row < term.clusters.count; row++)
        if (term.clusters.rows[row].list.len > 0)
            term.clusters.rows[row].due |= is_cleared(curscr) || !is_same(curscr, row, stdscr, row);
    if (together)
        tty_puts(SYNC_ON);
    if (term.cursor_wanted != term.cursor_shown)
        curs_set(term.cursor_wanted);
    term.cursor_shown = term.cursor_wanted;
    if (term.cursor_wanted)
        move(term.cursor_row, term.cursor_col);
    wnoutrefresh(stdscr);
    doupdate();
    if (links)
        draw_links();
    write_clusters();
    if (together)
        tty_puts(SYNC_OFF);
    if (term.keyboard_due)
        tty_puts(term_keyboards[term.keyboard].on);
    term.keyboard_due = false;
    if (term.asked_ms == 0 && !term.plain) /* after the first frame: nobody waits for it */
        term_ask(PROBE_QUESTIONS);
}
