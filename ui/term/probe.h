/* The questions to the terminal, its answers, and notifications in the form that it knows. Pure.
 * Answers are foreign: they may come late, wrong or never, and a missing answer means a missing
 * feature. The last question is one that every terminal answers (DA1), so nobody has to wait for
 * the others.
 * Sources: kitty's "keyboard protocol" and "desktop notifications"; xterm's ctlseqs.txt (XTVERSION,
 * OSC 11, DA1); Contour's "dark and light mode detection" (DSR 996, mode 2031). OSC 9 is iTerm2's
 * notification, which many terminals know, OSC 777 that of urxvt and VTE, OSC 99 kitty's. */
#ifndef UI_PROBE_H
#define UI_PROBE_H

#include <stdbool.h>

#include "base/buf.h"
#include "config/config.h"
#include "ui/term/keymap.h"

#define PROBE_GROUND_QUESTION "\033]11;?\033\\\033[c" /* the background's colour, DA1 */

/* keyboard protocol, name, notifications, dark or light */
#define PROBE_QUESTIONS "\033[?u\033[>q\033]99;i=tiro:p=?;\033\\\033[?996n" PROBE_GROUND_QUESTION

enum { PROBE_NAME_MAX = 64 };

struct probe {
    int pending;         /* questions sent whose DA1 has not come */
    bool kitty_keyboard; /* it knows kitty's keyboard protocol */
    bool osc99;          /* it knows kitty's notifications */
    bool ground_known, light;
    bool colour_told;          /* `light` is from the colour, which counts more than DSR 997 */
    char name[PROBE_NAME_MAX]; /* as it calls itself, "kitty(0.26.5)"; "" if it does not */
};

enum probe_news {
    PROBE_NOTHING, /* the caller need not act */
    PROBE_ENDED,   /* that was the last answer to a question */
    PROBE_GROUND,  /* `light` has changed, or is known now */
    PROBE_ASK      /* the background has changed; send PROBE_GROUND_QUESTION */
};

/* Takes an answer as the decoder gives it: the bytes between ESC and the ending. */
enum probe_news probe_take(struct probe *p, const char *answer);

/* Whether the terminal's name begins with `name`. */
bool probe_is(const struct probe *p, const char *name);

/* Whether the terminal surely tells when its window gets and loses the keyboard. tmux does only if
 * its user wants that. */
bool probe_reports_focus(const struct probe *p);

/* X(ID, word in [ui] notify) */
#define NOTIFICATIONS(X)                                                                           \
    X(AUTO, "auto") /* what the terminal knows; if that is not known, the bell and OSC 9 */        \
    X(BELL, "bell")                                                                                \
    X(OSC9, "osc9")                                                                                \
    X(OSC777, "osc777")                                                                            \
    X(OSC99, "osc99")                                                                              \
    X(OFF, "off")

enum notification {
#define X(id, word) NOTIFICATION_##id,
    NOTIFICATIONS(X)
#undef X
};

/* Whether the window has the keyboard. */
enum focus { FOCUS_UNKNOWN, FOCUS_HERE, FOCUS_ELSEWHERE };

/* Updates the focus from a key; true if the key tells nothing else. A typed key means that the
 * window has the keyboard, whatever the terminal said last: $EDITOR may have read the rest. */
bool notification_saw(enum focus *focus, const struct key *key);

/* Whether to tell the end of a turn that took so long: by [ui] notify and notify_after, and only if
 * the window is not known to have the keyboard. */
bool notification_is_due(const struct config *config, enum focus focus, int64_t took_ms);

enum notification notification_by_word(const char *word);

/* Appends the bytes. `text` is clean (base/utf8.h), one line, and cut after 160 columns. `tmux`:
 * wrapped so that tmux hands them to the terminal around it; its user may have forbidden that, so a
 * notification of NOTIFICATION_AUTO also rings the bell. */
void notification_write(struct buf *out, enum notification how, const struct probe *terminal,
                        bool tmux, const char *text);

#endif
