/* A key, a paste, a move of the mouse, or what the terminal tells of itself. */
#ifndef UI_KEY_H
#define UI_KEY_H

#include <stdbool.h>
#include <stdint.h>

enum key_code {
    K_NONE,
    K_CHAR, /* cp; with ctrl: cp is the small letter; with alt: Meta was held */
    K_ENTER,
    K_TAB,
    K_BACKTAB,
    K_ESCAPE,
    K_BACKSPACE,
    K_DELETE,
    K_INSERT,
    K_UP,
    K_DOWN,
    K_LEFT,
    K_RIGHT,
    K_HOME,
    K_END,
    K_PAGE_UP,
    K_PAGE_DOWN,
    K_F, /* cp: the number */
    K_WHEEL_UP,
    K_WHEEL_DOWN,
    K_CLICK, /* row, col */
    K_PASTE, /* text: the whole paste, unchecked bytes; the caller frees. Pastes past 16 MiB are cut
              */
    K_FOCUS_IN,
    K_FOCUS_OUT, /* the window has the keyboard, or no more */
    K_GROUND,    /* the background is light (cp 1) or dark (cp 0) */
    K_REPLY /* of ui/term/input.h only: an answer of the terminal, text as in ui/term/probe.h */
};

struct key {
    enum key_code code;
    uint32_t cp;
    bool ctrl, alt, shift;
    int row, col;
    char *text;
};

#endif
