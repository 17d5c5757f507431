/* Screen rows: styled text that already fits a width and is already clean. Made by wrap, markdown,
 * status and the overlays; drawn by screen. Compact: one text, one array of spans. */
#ifndef UI_ROWS_H
#define UI_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/link.h"
#include "ui/term/style.h"

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
