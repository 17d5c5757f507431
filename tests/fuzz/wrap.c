/* Breaking a text into rows: they fit the width, and nothing of the text is lost or changed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "ui/text/wrap.h"

/* The pieces follow each other; between two there is at most the newline. */
static void check_pieces(const char *text, size_t len, size_t width, enum wrap_mode mode)
{
    for (size_t at = 0; at < len;) {
        struct wrap_piece p = wrap_next(text, len, at, width, mode);
        FUZZ_CHECK(p.end >= at && p.next >= p.end && p.next > at && p.next <= len);
        if (mode != WRAP_WORDS)
            FUZZ_CHECK(p.next == p.end || (p.next == p.end + 1 && text[p.end] == '\n'));
        else
            for (size_t i = p.end; i < p.next; i++)
                FUZZ_CHECK(strchr(" \t\n", text[i]));
        /* A tab is cut to a narrow row, which check_rows() sees. */
        bool alone = utf8_next(text, len, at) >= p.end || width < TAB_COLUMNS;
        FUZZ_CHECK(alone || wrap_columns(text + at, p.end - at) <= width || mode == WRAP_KEEP);
        at = p.next;
    }
}

static void check_rows(const struct styled *text, size_t width, enum wrap_mode mode)
{
    AUTO(rows_release) struct rows rows = {0};
    AUTO(styled_release) struct styled prefix = {0};
    rows_init(&rows);
    styled_init(&prefix);
    styled_addstr(&prefix, "> ", STYLE_QUOTE, 0);
    wrap_text(&rows, text,
              &(struct wrap_look){.width = width, .mode = mode, .first = &prefix, .rest = &prefix});
    FUZZ_CHECK(rows.list.len > 0);
    for (size_t i = 0; i < rows.list.len; i++) {
        const struct row *row = &rows.list.items[i];
        FUZZ_CHECK(rows_width(&rows, i) <= (width > 2 ? width : 2));
        FUZZ_CHECK(fuzz_is_clean(rows.text.data + row->text, row->len, false));
    }
}

int fuzz_wrap(const uint8_t *data, size_t size)
{
    static const enum wrap_mode modes[] = {WRAP_WORDS, WRAP_KEEP, WRAP_HARD};
    static const size_t widths[] = {1, 2, 7, 33, 120};
    AUTO(styled_release) struct styled text = {0};
    styled_init(&text);
    styled_add_clean(&text, (const char *)data, size, STYLE_TEXT, 0);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            check_pieces(text.text.data, text.text.len, widths[w], modes[i]);
            if (modes[i] != WRAP_KEEP)
                check_rows(&text, widths[w], modes[i]);
        }
    return 0;
}
