/* The symbols that are not ASCII, each with its stand-in for a locale or terminal without UTF-8.
 * Every one of them is as many columns wide as it has characters, in both forms. */
#ifndef UI_ROWS_H
#define UI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

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

/* After charset_start(), before any text: how a surface is translated, and what the locale lacks.
 */
void glyph_set_up(void);

/* What the locale costs and how to get all characters, in one line; NULL: nothing. The caller
 * frees. */
char *glyph_note(void);

/* What a piece of text means; themes say how that looks. One table makes the names in theme files.
 */

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

/* Added to whatever the style looks like. */
enum {
    ATTR_BOLD = 1,
    ATTR_ITALIC = 2,
    ATTR_UNDERLINE = 4,
    ATTR_STRIKE = 8,
    ATTR_REVERSE = 16,
    ATTR_DIM = 32
};

/* Addresses that a text leads to. They come from models and pages, so a terminal gets them only
 * cleaned. */

#define LINK_MAX 2000 /* bytes; VTE takes 2083 */

/* Appends the address in the characters that a URI may have (RFC 3986; others are %-encoded).
 * False, with nothing appended, if it has a control character, is too long, or its scheme is none
 * of http, https and mailto: what else may start, the reader does not see. */
bool link_clean(struct buf *out, const char *address, size_t len);

/* The addresses of a text, by number from 1. */
struct links {
    struct buf text; /* each with its NUL */
    VEC(uint32_t) starts;
};

void links_release(struct links *l);
void links_clear(struct links *l);

/* The number of a clean address; NULL: 0. That of the last one if it is the same; 0 if there are as
 * many as a number can say. */
uint16_t links_add(struct links *l, const char *address);

/* NULL for 0. */
const char *links_at(const struct links *l, uint16_t number);

/* Drops all but the first `count`. */
void links_truncate(struct links *l, size_t count);

/* Screen rows: styled text that already fits a width and is already clean. Made by wrap, markdown,
 * status and the overlays; drawn by screen. Compact: one text, one array of spans. */

struct span {
    uint32_t len; /* bytes */
    uint8_t style;
    uint8_t attrs;
    uint16_t link; /* its number in the links beside it; 0: it leads nowhere */
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
    uint16_t link; /* of what is added */
};

void rows_init(struct rows *r);
void rows_release(struct rows *r);
void rows_clear(struct rows *r);

/* Builds the last row: begin, then add pieces. Adjacent pieces of one look become one span. */
void rows_begin(struct rows *r);
void rows_add(struct rows *r, const char *text, size_t len, enum style style, unsigned attrs);
void rows_addstr(struct rows *r, const char *text, enum style style, unsigned attrs);
void rows_pad(struct rows *r, size_t columns, enum style style); /* blanks */

/* What is added from now on leads to this clean address; NULL: nowhere. */
void rows_link(struct rows *r, const char *address);

/* Adds at most `columns` of a text, with an ellipsis where it is cut; returns the columns. */
size_t rows_add_cut(struct rows *r, const char *text, size_t columns, enum style style);

/* Appends row `index` of `from`. */
void rows_copy(struct rows *r, const struct rows *from, size_t index);

/* Adds its bytes [start, end) to the last row, as they look or in another style. */
enum { ROWS_AS_THEY_LOOK = -1 };
void rows_append_part(struct rows *r, const struct rows *from, size_t index, size_t start,
                      size_t end, int style);

/* Adds it to the last row instead. */
void rows_append(struct rows *r, const struct rows *from, size_t index);

/* What was there at a moment; truncating drops all that was added after it. */
struct rows_mark {
    size_t text, spans, list, links;
};
struct rows_mark rows_mark(const struct rows *r);
void rows_truncate(struct rows *r, struct rows_mark mark);

/* Columns of row `index`. */
size_t rows_width(const struct rows *r, size_t index);

#endif
