#include "ui/term/term.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
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
#define COPY_MAX 100000

const struct term_keyboard term_keyboards[] = {
    [KEYBOARD_PLAIN] = {"", ""},
    [KEYBOARD_MODIFY] = {"\033[>4;1m", "\033[>4m"},        /* xterm's modifyOtherKeys */
    [KEYBOARD_KITTY] = {"\033[>1u\033[=4;2u", "\033[<u"}}; /* with the shifted keys */

struct terminal term;

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

/* The next key that has arrived, K_REPLY among them; false when there is none (yet). Never waits
 * longer than the time that tells a lone Esc from a sequence. */
static bool next_key(struct reader *r, struct key *key)
{
    char bytes[16384];
    while (!input_next(&r->input, false, key)) {
        if (r->hung_up)
            return false;
        bool unfinished = input_unfinished(&r->input);
        long n = tty_read(bytes, sizeof bytes, unfinished ? ESCAPE_MS : 0);
        int64_t now_ms = clock_mono_ms();
        r->hung_up = n == 0;
        if (n <= 0)
            return unfinished && input_next(&r->input, true, key);
        input_feed(&r->input, bytes, (size_t)n, now_ms - r->fed_ms > ANSWER_MS);
        r->fed_ms = now_ms;
    }
    return true;
}

/* Appends a string of terminfo without its padding marks ("$<5>"). */
static void add_unpadded(struct buf *out, const char *s)
{
    while (s && *s) {
        const char *padding_end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (!padding_end)
            buf_addch(out, *s);
        s = padding_end ? padding_end + 1 : s + 1;
    }
}

static void add_capability(struct buf *out, const char *name)
{
    add_unpadded(out, term_capability(name));
}

static void enter_modes(void)
{
    AUTO(buf_release) struct buf on = BUF_INIT;
    add_capability(&on, "smkx");
    if (!term.plain) {
        buf_addstr(&on, TITLE_PUSH PASTE_ON FOCUS_ON SCHEME_ON);
        buf_addstr(&on, term.mouse ? MOUSE_ON : "");
    }
    tty_puts(on.data);
}

/* The bytes that undo our modes. `whole`: and what endwin() undoes, for a program that dies. */
static void add_leave(struct buf *out, bool whole)
{
    if (!term.plain) {
        buf_addstr(out, whole ? SYNC_OFF : "");
        buf_addstr(out, term.mouse ? MOUSE_OFF : "");
        buf_addstr(out, term_keyboards[term.keyboard].off);
        buf_addstr(out, SCHEME_OFF FOCUS_OFF PASTE_OFF TITLE_POP);
    }
    add_capability(out, "rmkx");
    if (whole) {
        add_capability(out, "sgr0");
        add_capability(out, "cnorm");
        add_capability(out, "rmcup");
        buf_addstr(out, "\r");
    }
}

static void arm_emergency(void)
{
    AUTO(buf_release) struct buf leave = BUF_INIT;
    add_leave(&leave, true);
    tty_set_leave(leave.data);
}

void term_ask(const char *questions)
{
    term.probe.pending++;
    term.asked_ms = clock_mono_ms();
    tty_puts(questions);
}

/* Takes an answer of the terminal. True: `key` is a report for the caller of term_read(). */
static bool take_reply(struct key *key)
{
    enum probe_news news = probe_take(&term.probe, key->text);
    free(key->text);
    *key = (struct key){0};
    if (news == PROBE_ENDED) {
        if (term.keyboard == KEYBOARD_PLAIN) {
            term.keyboard = term.probe.kitty_keyboard ? KEYBOARD_KITTY : KEYBOARD_MODIFY;
            arm_emergency(); /* before the mode is set, so that a crash always undoes it */
            tty_puts(term_keyboards[term.keyboard].on);
        }
        if (!term.focus_told && probe_reports_focus(&term.probe))
            key->code = K_FOCUS_IN; /* tiro was started in this window, and it has told no change */
        term.focus_told = true;
    } else if (news == PROBE_GROUND) {
        *key = (struct key){.code = K_GROUND, .cp = term.probe.light};
    } else if (news == PROBE_ASK) {
        term_ask(PROBE_GROUND_QUESTION);
    }
    return key->code != K_NONE;
}

bool term_read(struct key *key)
{
    struct reader *r = &term.reader;
    if (!term.screen)
        return false;
    if (r->kept_at < r->kept.len) {
        *key = r->kept.items[r->kept_at++];
        return true;
    }
    while (next_key(r, key)) {
        term.focus_told = term.focus_told || key->code == K_FOCUS_IN || key->code == K_FOCUS_OUT;
        if (key->code != K_REPLY || take_reply(key))
            return true;
    }
    return false;
}

/* curses ends the program by itself when it has no memory. */
static bool in_curses;

static void die_of_curses(void)
{
    if (in_curses)
        die("the terminal library gave up: out of memory");
}

enum term_kind term_kind(void)
{
    const char *names[] = {getenv("TERM"), RELATIVE};
    for (int i = 0; i < 2; i++) {
        int status;
        if (!names[i] || !*names[i] || setupterm(names[i], STDOUT_FILENO, &status) != OK)
            continue; /* the database does not have it */
        bool places = term_capability("cup") != NULL;
        del_curterm(cur_term);
        return !places ? TERM_LINES : i == 0 ? TERM_SCREEN : TERM_UNKNOWN;
    }
    return TERM_LINES;
}

/* Finds the terminal's name and the bytes that leave its modes, before curses takes it. */
static bool start_curses(struct error *e)
{
    tty_save();
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
    term.plain = strncmp(term.name, "linux", 5) == 0;
    if (setupterm(term.name, STDOUT_FILENO, &status) == OK) {
        arm_emergency();
        del_curterm(cur_term);
        use_tioctl(TRUE);
        term.screen = newterm(term.name, stdout, stdin);
    }
    return term.screen || err_set(e, ERR_USAGE,
                                  _("the terminal \"%.60s\" cannot be used; set TERM to another, "
                                    "or use \"tiro --plain\""),
                                  term.name);
}

bool term_init(const struct theme *theme, bool mouse, struct error *e)
{
    static bool expects_exit;
    memset(&term, 0, sizeof term);
    term.mouse = mouse;
    if (!expects_exit && atexit(die_of_curses) != 0)
        die("out of memory");
    expects_exit = in_curses = true;
    if (!start_curses(e)) {
        tty_set_leave(NULL);
        in_curses = false;
        return false;
    }
    set_term(term.screen);
    term.copies = term_capability("Ms") != NULL;
    term.cursor_shown = true;
    input_init(&term.reader.input);
    bind_capabilities();
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
    enter_modes();
    if (theme)
        term_set_theme(theme);
    term_resized();
    return true;
}

struct term_facts term_facts(void)
{
    return (struct term_facts){term.rows,   term.cols,
                               term.colors, term.assumed ? term.name : NULL,
                               term.copies, term.reader.hung_up};
}

void term_suspend(void)
{
    if (!term.screen || term.suspended)
        return;
    /* an answer that came after the terminal is given back would be a line for the shell */
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
    AUTO(buf_release) struct buf leave = BUF_INIT;
    add_leave(&leave, false);
    curs_set(1);
    term.cursor_shown = true;
    tty_puts(leave.data);
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
    struct reader *r = &term.reader;
    if (!term.screen)
        return;
    term_suspend();
    delscreen(term.screen);
    while (r->kept_at < r->kept.len)
        free(r->kept.items[r->kept_at++].text);
    vec_release(&r->kept);
    input_release(&r->input);
    free(term.old_cells);
    free(term.new_cells);
    clusters_reset(&term.clusters, 0);
    free(term.redrawn);
    link_cells_resize(&term.links, 0, 0);
    memset(&term, 0, sizeof term);
    in_curses = false;
}

void term_notify(enum notification how, const char *clean_text)
{
    const char *tmux = getenv("TMUX");
    bool in_tmux = (tmux && *tmux) || probe_is(&term.probe, "tmux");
    if (term.suspended)
        return;
    if (term.plain && how != NOTIFICATION_OFF)
        how = NOTIFICATION_BELL;
    AUTO(buf_release) struct buf bytes = BUF_INIT;
    notification_write(&bytes, how, &term.probe, in_tmux, clean_text);
    tty_write(bytes.data, bytes.len);
}

void term_title(const char *clean_text)
{
    if (term.plain || term.suspended)
        return;
    AUTO(buf_release) struct buf sequence = BUF_INIT;
    buf_addstr(&sequence, "\033]0;");
    charset_encode(&sequence, clean_text, strlen(clean_text));
    buf_addstr(&sequence, "\033\\");
    tty_write(sequence.data, sequence.len);
}

bool term_copy(const char *text, size_t len)
{
    if (len > COPY_MAX || !term.screen || term.plain || term.suspended)
        return false;
    auto_free char *coded = base64_encode((const unsigned char *)text, len);
    auto_free char *sequence = mem_printf("\033]52;c;%s\033\\", coded);
    tty_puts(sequence);
    return true;
}

void term_bare(const char *text, size_t len, const char *last_row)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    if (!text && term.bare) {
        term.bare = false;
        tty_puts(term.mouse && !term.plain ? MOUSE_ON : "");
        term_redraw();
    }
    if (!text || !term.screen || term.suspended)
        return;
    if (!term.bare && term.mouse && !term.plain)
        buf_addstr(&out, MOUSE_OFF);
    term.bare = true;
    buf_addstr(&out, term.plain ? "" : SYNC_ON);
    add_capability(&out, "sgr0");
    add_capability(&out, "clear");
    for (size_t at = 0; at < len;) {
        const char *line_end = memchr(text + at, '\n', len - at);
        size_t end = line_end ? (size_t)(line_end - text) : len;
        charset_encode(&out, text + at, end - at);
        buf_addstr(&out, line_end ? "\r\n" : ""); /* as a raw terminal wants it */
        at = end + (line_end != NULL);
    }
    add_unpadded(&out, tiparm(term_capability("cup"), term.rows - 1, 0));
    add_capability(&out, "rev");
    charset_encode(&out, last_row,
                   utf8_cut_width(last_row, strlen(last_row), (size_t)term.cols - 1));
    add_capability(&out, "sgr0");
    buf_addstr(&out, term.plain ? "" : SYNC_OFF);
    tty_write(out.data, out.len);
}
