#include "ui/view/remark.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"
#include "ui/transcript/messages.h"

enum {
    MOST_ROWS = 4,
    KEY_ROWS = 3,        /* that keys have at most */
    ROWS_A_KEY_ROW = 10, /* of a view, for each of them */
    NAME_COLUMNS = 40
};

void remark_release(struct remark *r)
{
    free(r->text);
    r->text = NULL;
}

void remark_set(struct remark *r, enum style style, const char *text)
{
    struct buf clean = BUF_INIT;
    remark_release(r);
    r->style = style;
    if (!text)
        return;
    utf8_clean(&clean, text, strlen(text), UTF8_ONE_LINE);
    r->text = buf_take(&clean);
}

void remark_row(struct rows *out, const char *text, enum style style, size_t columns)
{
    rows_begin(out);
    rows_addstr(out, " ", style, 0);
    message_row_field(out, text, columns - 1, style);
}

int remark_height(const char *text, size_t columns, int height, int from)
{
    int rows = 0, keys = height / ROWS_A_KEY_ROW,
        most = height / 3 < MOST_ROWS ? height / 3 : MOST_ROWS;
    size_t len = text ? strlen(text) : 0, at = 0;
    if (height < from)
        return 0;
    do {
        at = len > 0 ? wrap_next(text, len, at, columns - 1, WRAP_WORDS).next : 0;
        rows++;
    } while (at < len && rows < most);
    keys = keys < 1 ? 1 : keys < KEY_ROWS ? keys : KEY_ROWS;
    return rows > keys ? rows : keys;
}

void remark_rows(struct rows *out, const char *text, enum style style, size_t columns, int rows)
{
    size_t len = strlen(text), at = 0;
    for (int i = 1; i <= rows; i++) {
        struct wrap_piece piece = {len, len};
        if (i < rows && at < len)
            piece = wrap_next(text, len, at, columns - 1, WRAP_WORDS);
        char *row = mem_strndup(text + at, piece.end - at);
        remark_row(out, row, style, columns);
        free(row);
        at = piece.next;
    }
}

char *remark_name(const char *text)
{
    struct buf out = BUF_INIT;
    utf8_reveal(&out, text, strlen(text), UTF8_ONE_LINE);
    size_t len = out.len, cut = utf8_cut_width(out.data ? out.data : "", len, NAME_COLUMNS);
    char *name = mem_printf("%.*s%s", (int)cut, out.data ? out.data : "",
                            cut < len ? glyph(GLYPH_ELLIPSIS) : "");
    buf_release(&out);
    return name;
}
