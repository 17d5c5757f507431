/* Markdown of a model: the rows are the same however it streamed in, fit the width and hold nothing
 * that a terminal obeys. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "ui/text/markdown.h"

/* A single character that is wider than the row is one all the same. */
static void check_row(const struct rows *rows, size_t i, size_t width)
{
    const struct row *row = &rows->list.items[i];
    const char *text = rows->text.data + row->text;
    FUZZ_CHECK(fuzz_is_clean(text, row->len, false));
    FUZZ_CHECK(rows_width(rows, i) <= (width > 2 ? width : 2));
    size_t spans = 0;
    for (size_t k = 0; k < row->span_count; k++) {
        const struct span *s = &rows->spans.items[row->spans + k];
        const char *address = links_at(&rows->links, s->link);
        for (const char *p = address; p && *p != '\0'; p++)
            FUZZ_CHECK(*p > ' ' && *p < 127);
        FUZZ_CHECK(!address || strlen(address) <= LINK_MAX + 2);
        spans += s->len;
    }
    FUZZ_CHECK(spans == row->len);
}

static char *rows_as_text(const struct rows *rows)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        buf_add(&out, rows->text.data + row->text, row->len);
        for (size_t k = 0; k < row->span_count; k++) {
            const struct span *s = &rows->spans.items[row->spans + k];
            const char *address = links_at(&rows->links, s->link);
            buf_addf(&out, "|%u:%u:%u:%s", s->len, s->style, s->attrs, address ? address : "");
        }
        buf_addch(&out, '\n');
    }
    return buf_take(&out);
}

static char *lay_out(const char *text, size_t len, size_t width, struct dice *d)
{
    struct markdown m;
    struct markdown_look look = {.width = width, .style = STYLE_TEXT};
    AUTO(rows_release) struct rows rows = {0};
    rows_init(&rows);
    markdown_init(&m, &look, &rows);
    for (size_t at = 0, updates = 0; d && at < len && updates < 40; updates++) {
        at += fuzz_piece(d, len - at);
        markdown_update(&m, text, at, false);
    }
    markdown_update(&m, text, len, true);
    for (size_t i = 0; i < rows.list.len; i++)
        check_row(&rows, i, width);
    return rows_as_text(&rows);
}

int fuzz_markdown(const uint8_t *data, size_t size)
{
    static const size_t widths[] = {1, 2, 9, 40, 200};
    auto_free char *text = fuzz_text(data, size);
    size_t len = strlen(text);
    struct dice d = fuzz_dice(data, size);
    size_t width = widths[dice_below(&d, sizeof widths / sizeof *widths)];
    auto_free char *whole = lay_out(text, len, width, NULL), *split = lay_out(text, len, width, &d);
    FUZZ_CHECK_SAME(whole, split);
    free(markdown_last_code(text, len));
    return 0;
}
