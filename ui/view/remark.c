#include "ui/view/remark.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ui/transcript/message_row.h"

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
