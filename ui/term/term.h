/* The terminal. Only term*.c include curses.h; widgets see this header. Coordinates are rows and
 * columns from 0. Nothing reaches the terminal before term_flush(), which sends the differences to
 * the screen that it shows. Text must be clean (base/utf8.h). */
#ifndef UI_TERM_H
#define UI_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "ui/term/keymap.h"
#include "ui/term/probe.h"
#include "ui/term/rows.h"

struct theme; /* ui/term/theme.h */

/* The kind of terminal that TERM names. Not to be called between term_init() and term_release(). */
enum term_kind {
    TERM_SCREEN,  /* a terminal that can place its cursor */
    TERM_UNKNOWN, /* not in the database: it gets the sequences of xterm-256color */
    TERM_LINES    /* a terminal that can only show one line after the other */
};
enum term_kind term_kind(void);

/* Takes the terminal: raw, alternate screen, bracketed paste, mouse wheel if asked. Without a theme
 * everything looks like the terminal's own text. Fails if the terminal cannot place its cursor. */
bool term_init(const struct theme *theme, bool mouse, struct error *e);

/* The terminal that was taken. */
struct term_facts {
    int rows, cols;
    int colors;          /* that can be shown; 0 also where NO_COLOR asks for none */
    const char *assumed; /* the terminal that an unknown TERM is taken for; NULL: TERM is known */
    bool copies;         /* its entry in terminfo has OSC 52 (the extended capability "Ms") */
    bool hung_up;        /* standard input has ended: the terminal went away */
};
struct term_facts term_facts(void);

/* Gives the terminal back exactly as it was (a dying program calls tty_emergency_release()). Safe
 * to call twice. Like term_suspend(), waits at most half a second for the answer to a recent
 * question. */
void term_release(void);

/* Ctrl-Z and $EDITOR: hand the terminal over and take it back (then everything is redrawn). */
void term_suspend(void);
void term_resume(void);

void term_set_theme(const struct theme *theme);

/* After SIGWINCH: asks the terminal for its size. */
void term_resized(void);

void term_redraw(void); /* Ctrl-L: the next flush repaints everything */

/* Writes at most max_cols columns and returns how many it used. */
int term_put(int row, int col, int max_cols, const char *text, size_t len, enum style style,
             unsigned attrs);
int term_put_row(int row, int col, int max_cols, const struct rows *rows, size_t index);

/* Blanks from col to before col + cols in this style. */
void term_fill(int row, int col, int cols, enum style style);

void term_cursor(int row, int col); /* shown there at the next flush; row -1: hidden */

/* Sends what changed, as one synchronised update where more than one row changed. */
void term_flush(void);

/* Rings the bell or shows a desktop notification. */
void term_notify(enum notification how, const char *clean_text);

void term_title(const char *clean_text);
/* OSC 52, which no terminal answers; false if the text is over 100,000 bytes (terminals drop it) or
 * nothing can be sent */
bool term_copy(const char *text, size_t len);

/* Shows a text as it is instead of the screen: the terminal breaks its lines, and the mouse
 * selects. The text has at most one row less than the terminal, and stays until a call with
 * NULL lets the next flush draw everything again. */
void term_bare(const char *text, size_t len, const char *last_row);

/* The next key or report of the terminal that has arrived; false when there is none (yet). Never
 * waits longer than the 25 ms that tell a lone Esc from a sequence. Poll standard input for
 * readability first. */
bool term_read(struct key *key);

#endif
