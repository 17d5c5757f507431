/* Rows of the screen and the parts they are made of: symbols, styles, links. */
#ifndef UI_ROWS_H
#define UI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

/* The symbols that are not ASCII, each with its stand-in for a locale or terminal without UTF-8.
 * Each form has as many columns as characters. */
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
    X(CORNER_TOP_LEFT, "\u250c", "+")                                                              \
    X(CORNER_TOP_RIGHT, "\u2510", "+")                                                             \
    X(CORNER_BOTTOM_LEFT, "\u2514", "+")                                                           \
    X(CORNER_BOTTOM_RIGHT, "\u2518", "+")                                                          \
    X(ELLIPSIS, "\u2026", "...")                                                                   \
    X(DASH, "\u2014", "--")                                                                        \
    X(DOT, "\u00b7", "-")                                                                          \
    X(ARROW, "\u2192", "->")                                                                       \
    X(DONE, "\u2713", "ok")                                                                        \
    X(FAILED, "\u2717", "x")                                                                       \
    X(QUOTE_OPEN, "\u201c", "\"")                                                                  \
    X(QUOTE_CLOSE, "\u201d", "\"")                                                                 \
    X(TOOL, "\u2699", "%")                                                                         \
    X(TOOL_SEARCH, "\u2315", "?")                                                                  \
    X(TOOL_READ, "\u25a4", "=")                                                                    \
    X(TOOL_EDIT, "\u270e", "~")                                                                    \
    X(TOOL_FETCH, "\u21e3", "v")                                                                   \
    X(MINUS, "\u2212", "-")                                                                        \
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

/* Chooses the form of the symbols: ASCII if that is asked for or the locale lacks the others.
 * Called after charset_start(), before any text is laid out. */
void glyph_set_up(bool ascii);

/* One line that says what the locale lacks and how to get all characters; NULL: it lacks nothing.
 * The caller frees. */
char *glyph_note(void);

/* X(ID, name in theme files): the meaning of a piece of text, whose look a theme gives. */
#define STYLES(X)                                                                                  \
    X(TEXT, "text")                                                                                \
    X(DIM, "dim")                                                                                  \
    X(TITLE, "title")                                                                              \
    X(USER, "user")                                                                                \
    X(ASSISTANT, "assistant")                                                                      \
    X(HEADING, "heading")                                                                          \
    X(CODE, "code")                                                                                \
    X(CODE_KEYWORD, "code_keyword")                                                                \
    X(CODE_STRING, "code_string")                                                                  \
    X(CODE_COMMENT, "code_comment")                                                                \
    X(CODE_NUMBER, "code_number")                                                                  \
    X(LINK, "link")                                                                                \
    X(QUOTE, "quote")                                                                              \
    X(RULE, "rule")                                                                                \
    X(TOOL, "tool")                                                                                \
    X(DIFF_ADDED, "diff_added")                                                                    \
    X(DIFF_REMOVED, "diff_removed")                                                                \
    X(REASONING, "reasoning")                                                                      \
    X(NOTE, "note")                                                                                \
    X(WARNING, "warning")                                                                          \
    X(ERROR, "error")                                                                              \
    X(STATUS, "status")                                                                            \
    X(GAUGE, "gauge")                                                                              \
    X(GAUGE_HIGH, "gauge_high")                                                                    \
    X(PROMPT, "prompt")                                                                            \
    X(EDITOR, "editor")                                                                            \
    X(OVERLAY, "overlay")                                                                          \
    X(OVERLAY_TITLE, "overlay_title")                                                              \
    X(SELECTED, "selected")                                                                        \
    X(MATCH, "match")

enum style {
#define X(id, name) STYLE_##id,
    STYLES(X)
#undef X
        STYLE_COUNT
};

/* Added to the style's look. */
enum {
    ATTR_BOLD = 1,
    ATTR_ITALIC = 2,
    ATTR_UNDERLINE = 4,
    ATTR_STRIKE = 8,
    ATTR_REVERSE = 16,
    ATTR_DIM = 32
};

#define LINK_MAX 2000 /* bytes; VTE takes 2083 */

/* Appends an address of foreign origin in the characters that a URI may have (RFC 3986; others are
 * %-encoded). False, with nothing appended, if it has a control character, is longer than LINK_MAX,
 * or its scheme is not http, https or mailto: the reader would not see that another one starts a
 * program. */
bool link_clean(struct buf *out, const char *address, size_t len);

/* The link addresses of a text, numbered from 1. */
struct links {
    struct buf text; /* each with its NUL */
    VEC(uint32_t) starts;
};

void links_release(struct links *l);
void links_truncate(struct links *l, size_t count); /* keeps the first ones */

/* Adds a clean address and returns its number; an address equal to the last one gets the same
 * number. 0 for NULL, and when all numbers are taken. */
uint16_t links_add(struct links *l, const char *address);

/* NULL for 0. */
const char *links_at(const struct links *l, uint16_t number);

/* Rows of styled text that already fits a width and is already clean. */
struct span {
    uint32_t len; /* bytes */
    uint8_t style;
    uint8_t attrs;
    uint16_t link; /* number in the links of the rows; 0: no link */
};

struct row {
    uint32_t text, len;         /* bytes in rows.text */
    uint32_t spans, span_count; /* in rows.spans; their lengths add up to len */
};

struct rows {
    struct buf text;
    VEC(struct span) spans;
    VEC(struct row) list;
    struct links links;
    uint16_t link; /* of the text that is added */
};

void rows_init(struct rows *r);
void rows_release(struct rows *r);
void rows_clear(struct rows *r);

/* Builds the last row: begin, then add pieces. Adjacent pieces of one look become one span. */
void rows_begin(struct rows *r);
void rows_add(struct rows *r, const char *text, size_t len, enum style style, unsigned attrs);
void rows_addstr(struct rows *r, const char *text, enum style style, unsigned attrs);
void rows_pad(struct rows *r, size_t columns, enum style style); /* blanks */

/* Links the text that is added from now on to this clean address; NULL: to none. */
void rows_link(struct rows *r, const char *address);

/* Adds at most `columns` of a text, with an ellipsis where it is cut; returns the columns. */
size_t rows_add_cut(struct rows *r, const char *text, size_t columns, enum style style);

/* Appends row `index` of `from`. */
void rows_copy(struct rows *r, const struct rows *from, size_t index);

/* Adds bytes [start, end) of row `index` to the last row, in their own style or in another. */
enum { ROWS_AS_THEY_LOOK = -1 };
void rows_append_part(struct rows *r, const struct rows *from, size_t index, size_t start,
                      size_t end, int style);

/* Adds row `index` to the last row. */
void rows_append(struct rows *r, const struct rows *from, size_t index);

/* A moment to go back to: truncating drops all that was added after it. */
struct rows_mark {
    size_t text, spans, list, links;
};
struct rows_mark rows_mark(const struct rows *r);
void rows_truncate(struct rows *r, struct rows_mark mark);

/* Columns of row `index`. */
size_t rows_width(const struct rows *r, size_t index);

/* Columns that are left in the last row of a screen of this width. */
size_t rows_room(const struct rows *r, size_t width);

#endif
