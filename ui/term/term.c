#include "ui/term/term.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/charset.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/cluster.h"
#include "ui/term/link_cells.h"
#include "ui/term/probe.h"
#include "ui/term/reader.h"
#include "ui/term/theme.h"
#include "ui/term/tty.h"

#define COPY_MAX 100000
#define COMBINED_MAX 4 /* marks on one character: what a cell of curses holds */

/* Private modes of xterm and its relatives; terminals that lack one pass over it. */
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define TITLE_PUSH "\033[22;0t"
#define TITLE_POP "\033[23;0t"
#define FOCUS_ON "\033[?1004h"
#define FOCUS_OFF "\033[?1004l"
#define SCHEME_ON "\033[?2031h"
#define SCHEME_OFF "\033[?2031l"
#define SYNC_ON "\033[?2026h"
#define SYNC_OFF "\033[?2026l"

/* A terminal that the database does not know is most likely a newer one of xterm's relatives. */
#define RELATIVE "xterm-256color"
/* How the terminal tells more keys than ASCII has codes for, such as Shift-Enter. */
enum keyboard { KEYBOARD_PLAIN, KEYBOARD_MODIFY, KEYBOARD_KITTY };
static const struct {
    const char *on, *off;
} keyboards[] = {
    [KEYBOARD_PLAIN] = {"", ""},
    [KEYBOARD_MODIFY] = {"\033[>4;1m", "\033[>4m"},        /* xterm's modifyOtherKeys */
    [KEYBOARD_KITTY] = {"\033[>1u\033[=4;2u", "\033[<u"}}; /* and what Shift makes of a key */

/* There is one terminal, as there is one curses. */
static struct {
    SCREEN *screen;
    const char *name; /* whose sequences it gets */
    bool assumed;     /* TERM is unknown */
    bool plain; /* knows no private modes */
    bool mouse, suspended;
    bool bare; /* a text stands in place of what curses knows of */
    bool cursor_wanted, cursor_shown;
    int cursor_row, cursor_col;
    int rows, cols, colors;
    attr_t attrs[STYLE_COUNT];
    struct reader reader;
    struct probe probe;
    int64_t asked_ms; /* when the last question was sent; 0: none was */
    bool focus_told;
    enum keyboard keyboard;
    bool keyboard_due; /* to be set in the alternate screen, which the next flush enters */
    cchar_t *old_cells, *new_cells; /* a row each, to compare */
    struct clusters clusters;
    struct link_cells links;
    uint16_t link; /* of what is put */
    bool *redrawn; /* of each row */
} term;

/* Input */

static const struct {
    const char *capability;
    struct key key;
} capabilities[] = {
    {"kcuu1", {.code = K_UP}},     {"kcud1", {.code = K_DOWN}},    {"kcub1", {.code = K_LEFT}},
    {"kcuf1", {.code = K_RIGHT}},  {"khome", {.code = K_HOME}},    {"kend", {.code = K_END}},
    {"kpp", {.code = K_PAGE_UP}},  {"knp", {.code = K_PAGE_DOWN}}, {"kich1", {.code = K_INSERT}},
    {"kdch1", {.code = K_DELETE}}, {"kcbt", {.code = K_BACKTAB}},  {"kent", {.code = K_ENTER}},
    {"kbs", {.code = K_BACKSPACE}}};

/* The string of a capability, or NULL. */
static const char *capability(const char *name)
{
    const char *s = tigetstr(name);
    return s && s != (char *)-1 && *s ? s : NULL;
}

static void bind_capabilities(void)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        const char *sequence = capability(capabilities[i].capability);
        if (sequence)
            input_bind(&term.reader.input, sequence, capabilities[i].key);
    }
    for (uint32_t n = 1; n <= 12; n++) {
        char name[8];
        snprintf(name, sizeof name, "kf%u", (unsigned)n);
        const char *sequence = capability(name);
        if (sequence)
            input_bind(&term.reader.input, sequence, (struct key){.code = K_F, .cp = n});
    }
}

/* Modes */

/* Copies without the padding marks ("$<5>") that terminfo strings may hold. */
static void add_unpadded(char *out, size_t size, const char *s)
{
    size_t len = strlen(out);
    while (s && *s && len + 1 < size) {
        if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
            s = strchr(s, '>') + 1;
        else
            out[len++] = *s++;
    }
    out[len] = '\0';
}

static void add_capability(char *out, size_t size, const char *name)
{
    add_unpadded(out, size, capability(name));
}

static void add(char *out, size_t size, const char *s)
{
    size_t len = strlen(out);
    snprintf(out + len, size - len, "%s", s);
}

static void enter_modes(void)
{
    char on[TTY_LEAVE_MAX] = "";
    add_capability(on, sizeof on, "smkx");
    if (!term.plain) {
        add(on, sizeof on, TITLE_PUSH PASTE_ON FOCUS_ON SCHEME_ON);
        if (term.mouse)
            add(on, sizeof on, MOUSE_ON);
    }
    tty_puts(on);
}

/* `whole`: also what endwin() does, for a program that dies. */
static void leave_text(char *out, size_t size, bool whole)
{
    out[0] = '\0';
    if (!term.plain) {
        if (whole)
            add(out, size, SYNC_OFF);
        if (term.mouse)
            add(out, size, MOUSE_OFF);
        add(out, size, keyboards[term.keyboard].off);
        add(out, size, SCHEME_OFF FOCUS_OFF PASTE_OFF TITLE_POP);
    }
    add_capability(out, size, "rmkx");
    if (!whole)
        return;
    add_capability(out, size, "sgr0");
    add_capability(out, size, "cnorm");
    add_capability(out, size, "rmcup");
    add(out, size, "\r");
}

static void arm_emergency(void)
{
    char leave[TTY_LEAVE_MAX];
    leave_text(leave, sizeof leave, true);
    tty_set_leave(leave);
}

void term_emergency_release(void)
{
    tty_emergency_release();
}

/* Questions and answers (probe.h) */

static void ask(const char *questions)
{
    term.probe.pending++;
    term.asked_ms = clock_mono_ms();
    tty_puts(questions);
}

/* What it takes to undo it is known before it is done. */
static void set_keyboard(enum keyboard keyboard)
{
    term.keyboard = keyboard;
    arm_emergency();
    tty_puts(keyboards[keyboard].on);
}

static void take_end_of_answers(struct key *key)
{
    if (term.keyboard == KEYBOARD_PLAIN)
        set_keyboard(term.probe.kitty_keyboard ? KEYBOARD_KITTY : KEYBOARD_MODIFY);
    if (!term.focus_told && probe_reports_focus(&term.probe))
        key->code = K_FOCUS_IN; /* it was started here, and nothing was told since */
    term.focus_told = true;
}

/* True if the answer is news for others, then told by the key. */
static bool take_reply(struct key *key)
{
    enum probe_news news = probe_take(&term.probe, key->text);
    free(key->text);
    *key = (struct key){0};
    if (news == PROBE_ENDED)
        take_end_of_answers(key);
    else if (news == PROBE_GROUND)
        *key = (struct key){.code = K_GROUND, .cp = term.probe.light};
    else if (news == PROBE_ASK)
        ask(PROBE_GROUND_QUESTION);
    return key->code != K_NONE;
}

bool term_read(struct key *key)
{
    if (!term.screen)
        return false;
    if (reader_kept(&term.reader, key))
        return true;
    while (reader_next(&term.reader, key)) {
        term.focus_told = term.focus_told || key->code == K_FOCUS_IN || key->code == K_FOCUS_OUT;
        if (key->code != K_REPLY || take_reply(key))
            return true;
    }
    return false;
}

/* Before the terminal is given back: an answer that comes later would be a line for the shell. */
static void await_answers(void)
{
    int64_t until = term.asked_ms + READER_ANSWER_MS, left;
    while (term.probe.pending > 0 && !term.reader.hung_up && (left = until - clock_mono_ms()) > 0) {
        struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
        struct key key;
        if (!reader_next(&term.reader, &key))
            (void)poll(&more, 1, (int)left);
        else if (key.code != K_REPLY || take_reply(&key))
            reader_keep(&term.reader, &key);
    }
    term.probe.pending = 0;
}

bool term_hung_up(void)
{
    return term.reader.hung_up;
}

/* curses ends the program by itself when it has no memory. */
static bool in_curses;

static void die_of_curses(void)
{
    if (in_curses)
        die("the terminal library gave up: out of memory");
}

static void expect_exit_of_curses(void)
{
    static bool expected;
    if (!expected && atexit(die_of_curses) != 0)
        die("out of memory");
    expected = true;
    in_curses = true;
}

/* Whether the database has such a terminal; then asks it for the capability, too. */
static bool is_known(const char *name, const char *wanted, bool *has)
{
    int status;
    if (!name || !*name || setupterm(name, STDOUT_FILENO, &status) != OK)
        return false;
    *has = capability(wanted) != NULL;
    del_curterm(cur_term);
    return true;
}

enum term_kind term_kind(void)
{
    bool placed;
    if (is_known(getenv("TERM"), "cup", &placed))
        return placed ? TERM_SCREEN : TERM_LINES;
    return is_known(RELATIVE, "cup", &placed) && placed ? TERM_UNKNOWN : TERM_LINES;
}

static bool is_plain(const char *terminal)
{
    return strncmp(terminal, "linux", 5) == 0;
}

static bool cannot_be_used(struct error *e)
{
    return err_set(e, ERR_USAGE,
                   _("the terminal \"%.60s\" cannot be used; set TERM to another, or use "
                     "\"tiro --plain\""),
                   term.name);
}

static bool check_terminal(struct error *e)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(e, ERR_USAGE, "%s",
                       _("standard input and output must be a terminal; for a single answer use "
                         "\"tiro run\""));
    enum term_kind kind = term_kind();
    if (kind == TERM_LINES)
        return err_set(e, ERR_USAGE,
                       _("the terminal \"%.60s\" (TERM) cannot place its cursor; set TERM to a "
                         "fuller one, or use \"tiro --plain\""),
                       getenv("TERM") ? getenv("TERM") : "");
    int status;
    term.assumed = kind == TERM_UNKNOWN;
    term.name = term.assumed ? RELATIVE : getenv("TERM");
    term.plain = is_plain(term.name);
    if (setupterm(term.name, STDOUT_FILENO, &status) != OK)
        return cannot_be_used(e);
    arm_emergency();
    del_curterm(cur_term);
    return true;
}

static void set_up_curses(void)
{
    raw();
    noecho();
    nonl();
    typeahead(-1);
    intrflush(stdscr, FALSE);
    idlok(stdscr, TRUE);
    scrollok(stdscr, FALSE);
    leaveok(stdscr, FALSE);
    const char *no_color = getenv("NO_COLOR");
    if ((!no_color || !*no_color) && has_colors() && start_color() == OK) {
        use_default_colors();
        term.colors = COLORS;
    }
}

static bool start_curses(struct error *e)
{
    tty_save();
    if (!check_terminal(e))
        return false;
    use_tioctl(TRUE);
    term.screen = newterm(term.name, stdout, stdin);
    return term.screen || cannot_be_used(e);
}

bool term_init(const struct theme *theme, bool mouse, struct error *e)
{
    memset(&term, 0, sizeof term);
    term.mouse = mouse;
    expect_exit_of_curses();
    if (!start_curses(e)) {
        tty_set_leave(NULL);
        in_curses = false;
        return false;
    }
    set_term(term.screen);
    term.cursor_shown = true;
    reader_init(&term.reader);
    bind_capabilities();
    set_up_curses();
    enter_modes();
    if (theme)
        term_set_theme(theme);
    term_resized();
    return true;
}

const char *term_assumed(void)
{
    return term.assumed ? term.name : NULL;
}

void term_suspend(void)
{
    if (!term.screen || term.suspended)
        return;
    await_answers();
    char leave[TTY_LEAVE_MAX];
    leave_text(leave, sizeof leave, false);
    curs_set(1);
    term.cursor_shown = true;
    tty_puts(leave);
    endwin();
    tty_set_leave(NULL);
    tty_restore();
    term.suspended = true;
    term.bare = false;
}

void term_resume(void)
{
    if (!term.screen)
        return;
    term.suspended = false;
    reset_prog_mode();
    arm_emergency();
    enter_modes();
    term.keyboard_due = true;
    term_resized();
    term_redraw();
}

void term_release(void)
{
    if (!term.screen)
        return;
    term_suspend();
    delscreen(term.screen);
    reader_release(&term.reader);
    free(term.old_cells);
    free(term.new_cells);
    clusters_reset(&term.clusters, 0);
    free(term.redrawn);
    link_cells_resize(&term.links, 0, 0);
    memset(&term, 0, sizeof term);
    in_curses = false;
}

/* Size and looks */

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

void term_size(int *rows, int *cols)
{
    *rows = term.rows;
    *cols = term.cols;
}

int term_colors(void)
{
    return term.colors;
}

static attr_t attributes(unsigned attrs)
{
    return (attrs & ATTR_BOLD ? A_BOLD : 0u) | (attrs & ATTR_ITALIC ? A_ITALIC : 0u) |
           (attrs & ATTR_UNDERLINE ? A_UNDERLINE : 0u) |
           (attrs & (ATTR_STRIKE | ATTR_DIM) ? A_DIM : 0u) | /* curses knows no strike */
           (attrs & ATTR_REVERSE ? A_REVERSE : 0u);
}

/* A style's colour pair has its number; those in the terminal's own colours need none. */
static short style_pair(enum style style, const struct look *look)
{
    if (look->fg == THEME_DEFAULT && look->bg == THEME_DEFAULT)
        return 0;
    init_extended_pair((int)style + 1, look->fg, look->bg);
    return (short)(style + 1);
}

void term_set_theme(const struct theme *theme)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        struct look look = theme_resolve(theme->looks[i], term.colors);
        short pair = term.colors > 0 ? style_pair((enum style)i, &look) : 0;
        term.attrs[i] = attributes(look.attrs) | (attr_t)COLOR_PAIR(pair);
    }
}

/* Drawing */

void term_erase(void)
{
    erase();
    clusters_reset(&term.clusters, term.rows);
    link_cells_erase(&term.links);
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

/* The bytes of a character and the marks on it. */
static size_t character_len(const char *text, size_t len)
{
    uint32_t cp;
    size_t end = utf8_decode(text, len, &cp), used;
    for (; end < len; end += used) {
        used = utf8_decode(text + end, len - end, &cp);
        if (utf8_cp_width(cp) != 0)
            break;
    }
    return end;
}

static int columns_of(const char *text, size_t len)
{
    int width = (int)utf8_width(text, len);
    return width > 0 ? width : 1;
}

/* A character and the marks on it in the cell. Marks without a character stand on a blank. */
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

/* Blanks that no text has, so that curses takes them away with what is written over them. */
static void put_cluster(int row, int col, int cols, const char *text, size_t len, attr_t attrs)
{
    char *copy = mem_strndup(text, len);
    for (int i = 0; i < cols; i++)
        put_cell(row, col + i, L"\u00a0", attrs);
    clusters_put(&term.clusters, row, &(struct cluster){col, cols, attrs, copy});
    free(copy);
}

/* What the locale's character set lacks, by what stands in for it. */
static void put_stand_ins(int row, int col, const char *text, size_t len, attr_t attrs)
{
    struct buf shown = BUF_INIT;
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
        col += columns_of(shown.data + at, next - at);
    }
    buf_release(&shown);
}

/* Most characters are, and no mark can follow there. */
static bool is_ascii_alone(const char *text, size_t len)
{
    return text[0] >= ' ' && text[0] < 0x7f && (len == 1 || !((unsigned char)text[1] & 0x80));
}

/* The first grapheme, or the first character of one that is no cluster, if it fits into so many
 * columns: the bytes of it, and its columns in `width`. 0: it does not fit. */
static size_t put_first(int row, int col, int room, const char *text, size_t len, attr_t look,
                        int *width)
{
    size_t whole = utf8_next(text, len, 0);
    bool cluster = cluster_is(text, whole);
    size_t used = cluster ? whole : character_len(text, whole);
    *width = columns_of(text, used);
    if (*width > room)
        return 0;
    if (charset() == CHARSET_OTHER)
        put_stand_ins(row, col, text, used, look);
    else if (cluster)
        put_cluster(row, col, *width, text, used, look);
    else
        put_character(row, col, text, used, look);
    return used;
}

int term_put(int row, int col, int max_cols, const char *text, size_t len, enum style style,
             unsigned attrs)
{
    if (max_cols > term.cols - col)
        max_cols = term.cols - col;
    attr_t look = term.attrs[style] | attributes(attrs);
    int used = 0;
    for (size_t at = 0, taken; at < len && used < max_cols; at += taken) {
        int width = 1;
        taken = 1;
        if (is_ascii_alone(text + at, len - at))
            put_cell(row, col + used, (const wchar_t[]){(unsigned char)text[at], 0}, look);
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
    term.cursor_wanted = true;
    term.cursor_row = row;
    term.cursor_col = col;
}

void term_cursor_hide(void)
{
    term.cursor_wanted = false;
}

static bool row_differs(int row)
{
    size_t size = (size_t)term.cols * sizeof *term.old_cells;
    memset(term.old_cells, 0, size);
    memset(term.new_cells, 0, size);
    mvwin_wchnstr(curscr, row, 0, term.old_cells, term.cols);
    mvwin_wchnstr(stdscr, row, 0, term.new_cells, term.cols);
    return memcmp(term.old_cells, term.new_cells, size) != 0;
}

static bool many_rows_differ(void)
{
    if (is_cleared(curscr))
        return true;
    int count = 0;
    for (int row = 0; row < term.rows && count < 2; row++)
        if (is_linetouched(stdscr, row))
            count += row_differs(row);
    return count > 1;
}

static struct buf cluster_bytes; /* curses' callback has no context */

static int add_cluster_byte(int c)
{
    buf_addch(&cluster_bytes, (char)c);
    return c;
}

static void add_place(int row, int col)
{
    tputs(tparm(capability("cup"), row, col, 0, 0, 0, 0, 0, 0, 0), 1, add_cluster_byte);
}

static void mark_clusters_due(void)
{
    for (int row = 0; row < term.clusters.count; row++)
        if (term.clusters.rows[row].list.len > 0)
            term.clusters.rows[row].due |= is_cleared(curscr) || row_differs(row);
}

/* Over the blanks that curses has written. The cursor and the looks are left as curses knows them.
 */
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

/* Links (OSC 8), which curses knows nothing of */

static void go_to(int row, int col)
{
    wmove(newscr, row, col);
    doupdate();
}

/* Has curses draw these cells once more, and nothing else: the cursor stands there already and
 * stays behind them, because curses may move it by writing what it passes over. */
static void draw_again(int row, int col, int cols)
{
    mvwchgat(curscr, row, col, cols, A_BLINK | A_INVIS, 0, NULL); /* as no cell is */
    touchline(newscr, row, 1);
    go_to(row, col + cols < term.cols ? col + cols : term.cols - 1);
}

static void draw_run(int row, const struct link_run *run)
{
    if (row < term.clusters.count)
        term.clusters.rows[row].due = true; /* curses draws their blanks */
    go_to(row, run->col);
    if (run->number > 0) { /* with an id, the rows of a link are one for the mouse */
        const char *address = link_cells_address(&term.links, run->number);
        char *on = mem_printf("\033]8;id=%u;%s\033\\", (unsigned)run->number, address);
        tty_puts(on);
        free(on);
    }
    draw_again(row, run->col, run->cols);
    if (run->number > 0)
        tty_puts("\033]8;;\033\\");
}

/* `redrawn`: of each row, whether curses has drawn in it. */
static void draw_links(const bool *redrawn)
{
    int cursor_row, cursor_col;
    getyx(newscr, cursor_row, cursor_col);
    for (int row = 0; row < term.rows; row++) {
        struct link_run run = {0};
        while (link_cells_next(&term.links, row, run.col + run.cols, redrawn[row], &run))
            draw_run(row, &run);
        link_cells_done(&term.links, row);
    }
    go_to(cursor_row, cursor_col);
}

/* Tells which rows curses will draw in; false if there are no links. Whatever lies among those rows
 * may be moved, with its links: so rows that have some are drawn as if nothing were known of them.
 */
static bool prepare_links(bool *redrawn)
{
    int first = term.rows, last = -1;
    if (term.plain || !link_cells_any(&term.links))
        return false;
    for (int row = 0; row < term.rows; row++) {
        redrawn[row] = is_cleared(curscr) || (is_linetouched(stdscr, row) && row_differs(row));
        if (redrawn[row])
            last = row;
        if (redrawn[row] && first == term.rows)
            first = row;
    }
    for (int row = first; row <= last; row++)
        if (link_cells_forget(&term.links, row)) {
            redrawn[row] = true;
            wredrawln(stdscr, row, 1);
        }
    return true;
}

void term_flush(void)
{
    if (!term.screen || term.suspended || term.bare)
        return;
    bool links = prepare_links(term.redrawn);
    bool whole = links || (!term.plain && many_rows_differ());
    mark_clusters_due();
    if (whole)
        tty_puts(SYNC_ON);
    if (term.cursor_wanted != term.cursor_shown)
        curs_set(term.cursor_wanted);
    term.cursor_shown = term.cursor_wanted;
    if (term.cursor_wanted)
        move(term.cursor_row, term.cursor_col);
    wnoutrefresh(stdscr);
    doupdate();
    if (links)
        draw_links(term.redrawn);
    write_clusters();
    if (whole)
        tty_puts(SYNC_OFF);
    if (term.keyboard_due)
        tty_puts(keyboards[term.keyboard].on);
    term.keyboard_due = false;
    if (term.asked_ms == 0 && !term.plain) /* behind the first frame: nobody waits for it */
        ask(PROBE_QUESTIONS);
}

/* Other messages to the terminal */

void term_notify(enum notification how, const char *clean_text)
{
    const char *tmux = getenv("TMUX");
    bool in_tmux = (tmux && *tmux) || probe_is(&term.probe, "tmux");
    struct buf bytes = BUF_INIT;
    if (term.suspended)
        return;
    if (term.plain && how != NOTIFICATION_OFF)
        how = NOTIFICATION_BELL;
    notification_write(&bytes, how, &term.probe, in_tmux, clean_text);
    tty_write(bytes.data, bytes.len);
    buf_release(&bytes);
}

void term_title(const char *clean_text)
{
    if (term.plain || term.suspended)
        return;
    struct buf sequence = BUF_INIT;
    buf_addstr(&sequence, "\033]0;");
    charset_encode(&sequence, clean_text, strlen(clean_text));
    buf_addstr(&sequence, "\033\\");
    tty_write(sequence.data, sequence.len);
    buf_release(&sequence);
}

static char *base64(const unsigned char *s, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = mem_alloc((len + 2) / 3 * 4 + 1), *p = out;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = (uint32_t)s[i] << 16;
        group |= i + 1 < len ? (uint32_t)s[i + 1] << 8 : 0;
        group |= i + 2 < len ? s[i + 2] : 0;
        *p++ = digits[group >> 18 & 63];
        *p++ = digits[group >> 12 & 63];
        *p++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
        *p++ = i + 2 < len ? digits[group & 63] : '=';
    }
    return out;
}

bool term_copy(const char *text, size_t len)
{
    if (len > COPY_MAX || !term.screen || term.plain || term.suspended)
        return false;
    char *coded = base64((const unsigned char *)text, len);
    char *sequence = mem_printf("\033]52;c;%s\033\\", coded);
    tty_puts(sequence);
    free(sequence);
    free(coded);
    return true;
}

bool term_claims_copies(void)
{
    return term.screen && capability("Ms");
}

/* --- bare text --- */

/* With the ends of lines that a raw terminal wants. */
static void add_lines(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *line_end = memchr(text + at, '\n', len - at);
        size_t end = line_end ? (size_t)(line_end - text) : len;
        charset_encode(out, text + at, end - at);
        if (line_end)
            buf_addstr(out, "\r\n");
        at = end + (line_end != NULL);
    }
}

static void add_to_row(struct buf *out, int row)
{
    char sequence[64] = "";
    add_unpadded(sequence, sizeof sequence, tiparm(capability("cup"), row, 0));
    buf_addstr(out, sequence);
}

static void add_attribute(struct buf *out, const char *name)
{
    char sequence[64] = "";
    add_capability(sequence, sizeof sequence, name);
    buf_addstr(out, sequence);
}

void term_bare(const char *text, size_t len, const char *last_row)
{
    struct buf out = BUF_INIT;
    if (!term.screen || term.suspended)
        return;
    if (!term.bare && term.mouse && !term.plain)
        buf_addstr(&out, MOUSE_OFF);
    term.bare = true;
    buf_addstr(&out, term.plain ? "" : SYNC_ON);
    add_attribute(&out, "sgr0");
    add_attribute(&out, "clear");
    add_lines(&out, text, len);
    add_to_row(&out, term.rows - 1);
    add_attribute(&out, "rev");
    charset_encode(&out, last_row,
                   utf8_cut_width(last_row, strlen(last_row), (size_t)term.cols - 1));
    add_attribute(&out, "sgr0");
    buf_addstr(&out, term.plain ? "" : SYNC_OFF);
    tty_write(out.data, out.len);
    buf_release(&out);
}

void term_bare_end(void)
{
    if (!term.bare)
        return;
    term.bare = false;
    if (term.mouse && !term.plain)
        tty_puts(MOUSE_ON);
    term_redraw();
}
