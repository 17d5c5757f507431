#include "ui/term/term.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/term_private.h"
#include "ui/term/tty.h"

/* A terminal that the database does not know is most likely a newer one of xterm's relatives. */
#define RELATIVE "xterm-256color"

#define ESCAPE_MS 25  /* tell a lone Esc from the beginning of a sequence */
#define ANSWER_MS 500 /* of silence after which an answer will not come any more */

const struct term_keyboard term_keyboards[] = {
    [KEYBOARD_PLAIN] = {"", ""},
    [KEYBOARD_MODIFY] = {"\033[>4;1m", "\033[>4m"},        /* xterm's modifyOtherKeys */
    [KEYBOARD_KITTY] = {"\033[>1u\033[=4;2u", "\033[<u"}}; /* and what Shift makes of a key */

struct terminal term;

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

const char *term_capability(const char *name)
{
    const char *s = tigetstr(name);
    return s && s != (char *)-1 && *s ? s : NULL;
}

static void bind_capabilities(void)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        const char *sequence = term_capability(capabilities[i].capability);
        if (sequence)
            input_bind(&term.reader.input, sequence, capabilities[i].key);
    }
    for (uint32_t n = 1; n <= 12; n++) {
        char name[8];
        snprintf(name, sizeof name, "kf%u", (unsigned)n);
        const char *sequence = term_capability(name);
        if (sequence)
            input_bind(&term.reader.input, sequence, (struct key){.code = K_F, .cp = n});
    }
}

/* Takes in what has arrived within timeout_ms; false if nothing did. */
static bool feed(struct reader *r, int timeout_ms)
{
    char bytes[16384];
    long n = tty_read(bytes, sizeof bytes, timeout_ms);
    int64_t now_ms = clock_mono_ms();
    if (n > 0) {
        if (now_ms - r->fed_ms > ANSWER_MS)
            input_give_up(&r->input);
        input_feed(&r->input, bytes, (size_t)n);
        r->fed_ms = now_ms;
    } else if (n == 0) {
        r->hung_up = true;
    }
    return n > 0;
}

/* The next key that has arrived, K_REPLY among them; false when there is none (yet). Never waits
 * longer than the time that tells a lone Esc from a sequence. */
static bool next_key(struct reader *r, struct key *key)
{
    for (;;) {
        if (input_next(&r->input, false, key))
            return true;
        if (r->hung_up)
            return false;
        bool unfinished = input_unfinished(&r->input);
        if (!feed(r, unfinished ? ESCAPE_MS : 0))
            return unfinished && input_next(&r->input, true, key);
    }
}

static bool next_kept(struct reader *r, struct key *key)
{
    if (r->kept_at == r->kept.len)
        return false;
    *key = r->kept.items[r->kept_at++];
    return true;
}

/* Modes */

void term_add_unpadded(struct buf *out, const char *s)
{
    while (s && *s) {
        const char *padding_end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (!padding_end)
            buf_addch(out, *s);
        s = padding_end ? padding_end + 1 : s + 1;
    }
}

void term_add_capability(struct buf *out, const char *name)
{
    term_add_unpadded(out, term_capability(name));
}

static void enter_modes(void)
{
    struct buf on = BUF_INIT;
    term_add_capability(&on, "smkx");
    if (!term.plain) {
        buf_addstr(&on, TITLE_PUSH PASTE_ON FOCUS_ON SCHEME_ON);
        buf_addstr(&on, term.mouse ? MOUSE_ON : "");
    }
    tty_puts(on.data);
    buf_release(&on);
}

/* `whole`: also what endwin() does, for a program that dies. */
static void add_leave(struct buf *out, bool whole)
{
    static const char *const capabilities_of_end[] = {"sgr0", "cnorm", "rmcup"};
    if (!term.plain) {
        buf_addstr(out, whole ? SYNC_OFF : "");
        buf_addstr(out, term.mouse ? MOUSE_OFF : "");
        buf_addstr(out, term_keyboards[term.keyboard].off);
        buf_addstr(out, SCHEME_OFF FOCUS_OFF PASTE_OFF TITLE_POP);
    }
    term_add_capability(out, "rmkx");
    for (size_t i = 0; whole && i < 3; i++)
        term_add_capability(out, capabilities_of_end[i]);
    buf_addstr(out, whole ? "\r" : "");
}

static void arm_emergency(void)
{
    struct buf leave = BUF_INIT;
    add_leave(&leave, true);
    tty_set_leave(leave.data);
    buf_release(&leave);
}

void term_emergency_release(void)
{
    tty_emergency_release();
}

/* Questions and answers (probe.h) */

void term_ask(const char *questions)
{
    term.probe.pending++;
    term.asked_ms = clock_mono_ms();
    tty_puts(questions);
}

/* Sets the bytes that undo the mode first, so that a crash can always undo it. */
static void set_keyboard(enum keyboard keyboard)
{
    term.keyboard = keyboard;
    arm_emergency();
    tty_puts(term_keyboards[keyboard].on);
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
        term_ask(PROBE_GROUND_QUESTION);
    return key->code != K_NONE;
}

bool term_read(struct key *key)
{
    if (!term.screen)
        return false;
    if (next_kept(&term.reader, key))
        return true;
    while (next_key(&term.reader, key)) {
        term.focus_told = term.focus_told || key->code == K_FOCUS_IN || key->code == K_FOCUS_OUT;
        if (key->code != K_REPLY || take_reply(key))
            return true;
    }
    return false;
}

/* Before the terminal is given back: an answer that comes later would be a line for the shell. */
static void await_answers(void)
{
    int64_t until = term.asked_ms + ANSWER_MS, left;
    while (term.probe.pending > 0 && !term.reader.hung_up && (left = until - clock_mono_ms()) > 0) {
        struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
        struct key key;
        if (!next_key(&term.reader, &key))
            (void)poll(&more, 1, (int)left);
        else if (key.code != K_REPLY || take_reply(&key))
            vec_push(&term.reader.kept, key);
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
    *has = term_capability(wanted) != NULL;
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
    input_init(&term.reader.input);
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
    struct buf leave = BUF_INIT;
    add_leave(&leave, false);
    curs_set(1);
    term.cursor_shown = true;
    tty_puts(leave.data);
    buf_release(&leave);
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
    for (struct key key; next_kept(&term.reader, &key);)
        free(key.text);
    vec_release(&term.reader.kept);
    input_release(&term.reader.input);
    free(term.old_cells);
    free(term.new_cells);
    clusters_reset(&term.clusters, 0);
    free(term.redrawn);
    link_cells_resize(&term.links, 0, 0);
    memset(&term, 0, sizeof term);
    in_curses = false;
}

#define COPY_MAX 100000

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
    return term.screen && term_capability("Ms");
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

void term_bare(const char *text, size_t len, const char *last_row)
{
    struct buf out = BUF_INIT;
    if (!term.screen || term.suspended)
        return;
    if (!term.bare && term.mouse && !term.plain)
        buf_addstr(&out, MOUSE_OFF);
    term.bare = true;
    buf_addstr(&out, term.plain ? "" : SYNC_ON);
    term_add_capability(&out, "sgr0");
    term_add_capability(&out, "clear");
    add_lines(&out, text, len);
    term_add_unpadded(&out, tiparm(term_capability("cup"), term.rows - 1, 0));
    term_add_capability(&out, "rev");
    charset_encode(&out, last_row,
                   utf8_cut_width(last_row, strlen(last_row), (size_t)term.cols - 1));
    term_add_capability(&out, "sgr0");
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
