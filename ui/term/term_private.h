/* Shared by term.c (takes the terminal, reads it, gives it back) and term_draw.c (draws). No other
 * file includes this header, or curses. */
#ifndef UI_TERM_PRIVATE_H
#define UI_TERM_PRIVATE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/cells.h"
#include "ui/term/keymap.h"
#include "ui/term/probe.h"
#include "ui/term/term.h"

#include <curses.h>
#include <term.h> /* behind ours: it makes macros of common words */

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

/* How the terminal tells more keys than ASCII has codes for, such as Shift-Enter. */
enum keyboard { KEYBOARD_PLAIN, KEYBOARD_MODIFY, KEYBOARD_KITTY };
struct term_keyboard {
    const char *on, *off;
};
extern const struct term_keyboard term_keyboards[];

/* Bytes of standard input as keys. */
struct reader {
    struct input input;
    bool hung_up;         /* standard input has ended */
    int64_t fed_ms;       /* when bytes came last, monotonic */
    VEC(struct key) kept; /* from kept_at on: came while something else was awaited */
    size_t kept_at;
};

/* There is one terminal, as there is one curses. */
struct terminal {
    SCREEN *screen;
    const char *name; /* in terminfo */
    bool assumed;     /* TERM is unknown */
    bool plain;       /* knows no private modes */
    bool copies;      /* as in struct term_facts */
    bool mouse, suspended;
    bool bare; /* term_bare() shows a text instead of curses' screen */
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
    uint16_t link; /* of the text that is put */
    bool *redrawn; /* of each row, whether curses draws in it at this flush */
};
extern struct terminal term;

/* The string of a capability, or NULL. */
const char *term_capability(const char *name);

void term_ask(const char *questions);

#endif
