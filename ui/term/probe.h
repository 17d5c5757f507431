/* What the terminal is asked when the program begins, and what its answers mean. Pure. Answers are
 * foreign: they may come late, wrong or never, and what is not answered counts as missing. The last
 * question is one that every terminal answers (DA1), so nobody has to wait for the others.
 * Sources: kitty's "keyboard protocol" and "desktop notifications"; xterm's ctlseqs.txt (XTVERSION,
 * OSC 11, DA1); Contour's "dark and light mode detection" (DSR 996, mode 2031). */
#ifndef UI_PROBE_H
#define UI_PROBE_H

#include <stdbool.h>

#define PROBE_GROUND_QUESTION "\033]11;?\033\\\033[c" /* the background's colour, DA1 */

/* keyboard protocol, name, notifications, dark or light */
#define PROBE_QUESTIONS "\033[?u\033[>q\033]99;i=tiro:p=?;\033\\\033[?996n" PROBE_GROUND_QUESTION

enum { PROBE_NAME_MAX = 64 };

struct probe {
    int pending;         /* questions sent whose DA1 has not come */
    bool kitty_keyboard; /* it knows kitty's keyboard protocol */
    bool osc99;          /* it knows kitty's notifications */
    bool ground_known, light;
    bool colour_told; /* … by its colour, which counts more than a word */
    char name[PROBE_NAME_MAX]; /* as it calls itself, "kitty(0.26.5)"; "" if it does not */
};

enum probe_news {
    PROBE_NOTHING, /* or what is only to be kept */
    PROBE_ENDED,   /* that was the last answer to what was asked */
    PROBE_GROUND,  /* `light` has changed, or is known now */
    PROBE_ASK      /* the background has changed: PROBE_GROUND_QUESTION tells into what */
};

/* Takes an answer as the decoder gives it: what is between ESC and the ending. */
enum probe_news probe_take(struct probe *p, const char *answer);

/* Whether its name begins so. */
bool probe_is(const struct probe *p, const char *name);

/* Whether it tells when its window gets and loses the keyboard. False also where nobody can say:
 * tmux tells only if its user wants that. */
bool probe_reports_focus(const struct probe *p);

#endif
