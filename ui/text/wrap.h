/* Styled text and how it is broken into rows of a width. */
#ifndef UI_WRAP_H
#define UI_WRAP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/rows.h"

/* A tab reaches to the next multiple of this, counted from where the row's text begins. */
enum { TAB_COLUMNS = 4 };

/* One text and its looks; the lengths of the spans add up to the text's. Newlines and tabs are
 * fine, other control characters are not (base/utf8.h). */
struct styled {
    struct buf text;
    VEC(struct span) spans;
    struct links links;
    uint16_t link; /* of the text that is added */
};

#define STYLED_INIT                                                                                \
    {                                                                                              \
        .text = BUF_INIT                                                                           \
    }
void styled_init(struct styled *s);
void styled_release(struct styled *s);
void styled_clear(struct styled *s);
void styled_add(struct styled *s, const char *text, size_t len, enum style style, unsigned attrs);
void styled_addstr(struct styled *s, const char *text, enum style style, unsigned attrs);
void styled_link(struct styled *s, const char *address); /* as rows_link() */
void styled_append(struct styled *s, const struct styled *other);

/* Adds a text of foreign origin: cleaned, with newlines and tabs. */
void styled_add_clean(struct styled *s, const char *text, size_t len, enum style style,
                      unsigned attrs);

enum wrap_mode {
    WRAP_WORDS, /* after spaces, which vanish at the row's end, and around wide characters */
    WRAP_KEEP,  /* the same, but spaces stay: every byte but a newline is in a row */
    WRAP_HARD   /* wherever the row is full */
};

/* The row that begins at `pos` (< len) shows [pos, end); the next one begins at `next` (> pos),
 * beyond a newline that ends the row. The result depends only on text[pos…], of which no more is
 * read than the row and the character that no longer fits. A character wider than `width` (at least
 * 1) is a row of its own. */
struct wrap_piece {
    size_t end, next;
};
struct wrap_piece wrap_next(const char *text, size_t len, size_t pos, size_t width,
                            enum wrap_mode mode);

/* Columns of a text, tabs as above. */
size_t wrap_columns(const char *text, size_t len);

struct wrap_look {
    size_t width;               /* at least 1 */
    enum wrap_mode mode;        /* WRAP_WORDS or WRAP_HARD */
    const struct styled *first; /* before the first row; NULL: nothing */
    const struct styled *rest;  /* before the others */
};

/* Appends the rows of a text; an empty text is one row. Prefixes are cut if they leave less than
 * ten columns, or half of the width if that is less. A final newline adds no row. */
void wrap_text(struct rows *out, const struct styled *text, const struct wrap_look *look);

/* The same for a text with one look. */
void wrap_string(struct rows *out, const char *text, enum style style, unsigned attrs,
                 const struct wrap_look *look);

/* Begins a row with the prefix, cut to so many columns; NULL: none. */
void wrap_begin(struct rows *out, const struct styled *prefix, size_t columns);

/* Columns that wrap_text() has for the text after this prefix. */
size_t wrap_room(const struct styled *prefix, size_t width);

/* Adds the text to the last row, cut with an ellipsis if it has more than `columns`. The text has
 * no newline or tab. */
void wrap_add_cut(struct rows *out, const struct styled *text, size_t columns);

#endif
