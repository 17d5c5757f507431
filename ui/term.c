#include "ui/term.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "base/die.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/input.h"
#include "ui/theme.h"
#include "ui/tty.h"

#define ESCAPE_MS 25
#define COPY_MAX 100000
#define COMBINED_MAX 4 /* marks on one character: what a cell of curses holds */

/* Private modes of xterm and its relatives; terminals that lack one pass over it. */
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define TITLE_PUSH "\033[22;0t"
#define TITLE_POP "\033[23;0t"
#define SYNC_ON "\033[?2026h"
#define SYNC_OFF "\033[?2026l"

/* A terminal that the database does not know is most likely a newer one of xterm's relatives. */
#define RELATIVE "xterm-256color"

/* There is one terminal, as there is one curses. */
static struct {
    SCREEN *screen;
    const char *name; /* whose sequences it gets */
    bool assumed;     /* TERM is unknown */
    bool plain; /* knows no private modes */
    bool mouse, suspended, hung_up;
    bool cursor_wanted, cursor_shown;
    int cursor_row, cursor_col;
    int rows, cols, colors;
    attr_t attrs[STYLE_COUNT];
    struct input input;
    cchar_t *old_cells, *new_cells; /* a row each, to compare */
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
            input_bind(&term.input, sequence, capabilities[i].key);
    }
    for (uint32_t n = 1; n <= 12; n++) {
        char name[8];
        snprintf(name, sizeof name, "kf%u", (unsigned)n);
        const char *sequence = capability(name);
        if (sequence)
            input_bind(&term.input, sequence, (struct key){.code = K_F, .cp = n});
    }
}

/* Takes in what has arrived within timeout_ms; false if nothing did. */
static bool feed(int timeout_ms)
{
    char bytes[16384];
    long n = tty_read(bytes, sizeof bytes, timeout_ms);
    if (n > 0)
        input_feed(&term.input, bytes, (size_t)n);
    else if (n == 0)
        term.hung_up = true;
    return n > 0;
}

bool term_read(struct key *key)
{
    if (!term.screen)
        return false;
    for (;;) {
        if (input_next(&term.input, false, key))
            return true;
        if (term.hung_up)
            return false;
        bool unfinished = input_unfinished(&term.input);
        if (!feed(unfinished ? ESCAPE_MS : 0))
            return unfinished && input_next(&term.input, true, key);
    }
}

bool term_hung_up(void)
{
    return term.hung_up;
}

/* Modes */

/* Copies without the padding marks ("$<5>") that terminfo strings may hold. */
static void add_capability(char *out, size_t size, const char *name)
{
    const char *s = capability(name);
    size_t len = strlen(out);
    while (s && *s && len + 1 < size) {
        if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
            s = strchr(s, '>') + 1;
        else
            out[len++] = *s++;
    }
    out[len] = '\0';
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
        add(on, sizeof on, TITLE_PUSH PASTE_ON);
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
        add(out, size, PASTE_OFF TITLE_POP);
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
    input_init(&term.input);
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
    char leave[TTY_LEAVE_MAX];
    leave_text(leave, sizeof leave, false);
    curs_set(1);
    term.cursor_shown = true;
    tty_puts(leave);
    endwin();
    tty_set_leave(NULL);
    tty_restore();
    term.suspended = true;
}

void term_resume(void)
{
    if (!term.screen)
        return;
    term.suspended = false;
    reset_prog_mode();
    arm_emergency();
    enter_modes();
    term_resized();
    term_redraw();
}

void term_release(void)
{
    if (!term.screen)
        return;
    term_suspend();
    delscreen(term.screen);
    input_release(&term.input);
    free(term.old_cells);
    free(term.new_cells);
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
    if (setcchar(&cell, text, attrs & ~(attr_t)A_COLOR, pair, NULL) == OK)
        mvadd_wch(row, col, &cell); /* ERR in the last corner, where it is drawn all the same */
}

/* Reads a character and the marks on it; returns its columns. Selectors of emoji looks and joiners
 * of emoji are left out: terminals disagree about their width, and so all agree. */
static int next_cell(const char *text, size_t len, size_t *at, wchar_t out[COMBINED_MAX + 2])
{
    uint32_t cp;
    *at += utf8_decode(text + *at, len - *at, &cp);
    int width = utf8_cp_width(cp), count = 0;
    if (width == 0) {
        out[count++] = L' ';
        out[count] = L'\0';
        if (cp < ' ' || (cp >= 0x7f && cp < 0xa0))
            return 1;
        width = 1;
        if (cp != 0xFE0F && cp != 0x200D)
            out[count++] = (wchar_t)cp;
    } else {
        out[count++] = (wchar_t)cp;
    }
    while (*at < len) {
        size_t used = utf8_decode(text + *at, len - *at, &cp);
        if (utf8_cp_width(cp) != 0 || cp < 0xa0)
            break;
        *at += used;
        if (count <= COMBINED_MAX && cp != 0xFE0F && !(cp == 0x200D && width == 2))
            out[count++] = (wchar_t)cp;
    }
    out[count] = L'\0';
    return width;
}

int term_put(int row, int col, int max_cols, const char *text, size_t len, enum style style,
             unsigned attrs)
{
    if (max_cols > term.cols - col)
        max_cols = term.cols - col;
    attr_t look = term.attrs[style] | attributes(attrs);
    int used = 0;
    for (size_t at = 0; at < len;) {
        wchar_t cell[COMBINED_MAX + 2];
        int width = next_cell(text, len, &at, cell);
        if (used + width > max_cols)
            break;
        put_cell(row, col + used, cell, look);
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
        used += term_put(row, col + used, max_cols - used, text, s->len, (enum style)s->style,
                         s->attrs);
        text += s->len;
    }
    return used;
}

void term_fill(int row, int col, int cols, enum style style)
{
    for (int i = col; i < col + cols && i < term.cols; i++)
        put_cell(row, i, L" ", term.attrs[style]);
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

void term_flush(void)
{
    if (!term.screen || term.suspended)
        return;
    bool whole = !term.plain && many_rows_differ();
    if (whole)
        tty_puts(SYNC_ON);
    if (term.cursor_wanted != term.cursor_shown)
        curs_set(term.cursor_wanted);
    term.cursor_shown = term.cursor_wanted;
    if (term.cursor_wanted)
        move(term.cursor_row, term.cursor_col);
    wnoutrefresh(stdscr);
    doupdate();
    if (whole)
        tty_puts(SYNC_OFF);
}

/* Other messages to the terminal */

void term_bell(void)
{
    if (!term.suspended)
        tty_puts("\a");
}

void term_title(const char *clean_text)
{
    if (term.plain || term.suspended)
        return;
    char *sequence = mem_printf("\033]0;%s\033\\", clean_text);
    tty_puts(sequence);
    free(sequence);
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
