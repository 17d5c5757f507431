/* A word to somebody who looks elsewhere: the bell, or what the desktop shows. Pure.
 * OSC 9 is iTerm2's, which many terminals know; OSC 777 that of urxvt and VTE; OSC 99 kitty's. */
#ifndef UI_NOTIFICATION_H
#define UI_NOTIFICATION_H

#include <stdbool.h>

#include "base/buf.h"
#include "config/config.h"
#include "ui/term/key.h"
#include "ui/term/probe.h"

/* X(ID, word in [ui] notify) */
#define NOTIFICATIONS(X)                                                                           \
    X(AUTO, "auto") /* what the terminal knows, as far as it told; else the bell and OSC 9 */      \
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

/* Takes what a key tells of the focus; true if it is told by nothing else. Who types has the
 * keyboard, whatever the terminal said last: $EDITOR may have heard the rest. */
bool notification_saw(enum focus *focus, const struct key *key);

/* Whether the end of a turn that took so long is told: it is worth it ([ui] notify, notify_after),
 * and the window is not known to have the keyboard. */
bool notification_is_due(const struct config *config, enum focus focus, int64_t took_ms);

enum notification notification_by_word(const char *word);

/* Appends the bytes. `text` is clean (base/utf8.h) and of one line; what is longer than a
 * notification's line is cut. `tmux`: they go through tmux to the terminal around it, which its
 * user may have forbidden, so that the bell goes along. */
void notification_write(struct buf *out, enum notification how, const struct probe *terminal,
                        bool tmux, const char *text);

#endif
