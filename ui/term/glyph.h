/* The symbols that are not ASCII, each with its stand-in for a locale or terminal without UTF-8.
 * Every one of them is as many columns wide as it has characters, in both forms. */
#ifndef UI_GLYPH_H
#define UI_GLYPH_H

#include <stdbool.h>

#define GLYPHS(X)                                                                                  \
    X(FOLDED, "\u25b8", ">")                                                                       \
    X(UNFOLDED, "\u25be", "v")                                                                     \
    X(BULLET, "\u2022", "*")                                                                       \
    X(BULLET_INNER, "\u25e6", "-")                                                                 \
    X(BULLET_DEEP, "\u25aa", "+")                                                                  \
    X(TASK_OPEN, "\u2610", "[ ]")                                                                  \
    X(TASK_DONE, "\u2611", "[x]")                                                                  \
    X(BAR, "\u2502", "|")                                                                          \
    X(LINE, "\u2500", "-")                                                                         \
    X(CROSS, "\u253c", "+")                                                                        \
    X(ELLIPSIS, "\u2026", "...")                                                                   \
    X(DASH, "\u2014", "--")                                                                        \
    X(DOT, "\u00b7", "-")                                                                          \
    X(ARROW, "\u2192", "->")                                                                       \
    X(FAILED, "\u2717", "x")                                                                       \
    X(QUOTE_OPEN, "\u201c", "\"")                                                                  \
    X(QUOTE_CLOSE, "\u201d", "\"")                                                                 \
    X(TOOL, "\u2699", "%")                                                                         \
    X(TOOL_SEARCH, "\u2315", "?")                                                                  \
    X(TOOL_READ, "\u25a4", "=")                                                                    \
    X(CARD, "\u25a3", "#")                                                                         \
    X(ENTER, "\u23ce", "Enter")                                                                    \
    X(AGAIN, "\u27f3", "@")                                                                        \
    X(GAUGE_FULL, "\u2593", "#")                                                                   \
    X(GAUGE_EMPTY, "\u2591", ".")                                                                  \
    X(SCORE_FULL, "\u2587", "#")                                                                   \
    X(PINNED, "\u25c6", "*")                                                                       \
    X(DOWN, "\u2193", "v")                                                                         \
    X(POINTER, "\u203a", ">")

enum glyph {
#define X(id, symbol, ascii) GLYPH_##id,
    GLYPHS(X)
#undef X
        GLYPH_COUNT
};

const char *glyph(enum glyph which);

/* Set once at the start, before anything is laid out. */
void glyph_set_ascii(bool ascii);

/* After charset_start(), before any text: how a surface is translated, and what the locale lacks. */
void glyph_set_up(void);

/* What the locale costs and how to get all characters, in one line; NULL: nothing. The caller
 * frees. */
char *glyph_note(void);

#endif
