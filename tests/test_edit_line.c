/* A text on one row: the caret and its neighbours are always visible. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"

static struct editor *editor;
static struct rows rows;
static int caret;

static int set_up(void **state)
{
    (void)state;
    editor = editor_new();
    rows_init(&rows);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    glyph_set_ascii(false);
    editor_free(editor);
    rows_release(&rows);
    return 0;
}

static const char *draw(size_t columns)
{
    rows_clear(&rows);
    rows_begin(&rows);
    size_t used = edit_line(&rows, editor, columns, &caret);
    assert_int_equal(used, rows_width(&rows, 0));
    assert_true(used <= columns);
    assert_true(caret >= 0 && (size_t)caret < columns);
    return seen_row(&rows, 0);
}

static void back(int times)
{
    while (times-- > 0)
        editor_do(editor, ACTION_LEFT);
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(what_fits_is_seen)
{
    assert_string_equal(draw(10), "");
    assert_int_equal(caret, 0);
    editor_set(editor, "123456789");
    assert_string_equal(draw(10), "123456789");
    assert_int_equal(caret, 9);
    back(9);
    assert_string_equal(draw(10), "123456789");
    assert_int_equal(caret, 0);
}

/* No empty row follows a text that fills its rows exactly. */
TEST(the_end_is_seen_whatever_fits)
{
    char text[64] = "";
    (void)state;
    for (int len = 1; len < 60; len++) {
        text[len - 1] = (char)('a' + len % 26);
        editor_set(editor, text);
        const char *row = draw(10);
        if (len < 10)
            assert_string_equal(row, text);
        else
            assert_string_equal(row + strlen("\u2026"), text + len - 8);
        assert_int_equal(caret, len < 10 ? len : 9);
    }
}

TEST(both_sides_of_the_caret_are_seen)
{
    editor_set(editor, "abcdefghijklmnopqrstuvwxyz");
    back(4);
    assert_string_equal(draw(12), "\u2026qrstuvwxyz");
    assert_int_equal(caret, 7);
    back(8);
    assert_string_equal(draw(12), "\u2026hijklmnopqr");
    assert_int_equal(caret, 8);
    back(10);
    assert_string_equal(draw(12), "abcdefghijkl");
    assert_int_equal(caret, 4);
}

TEST(nothing_breaks_the_row)
{
    editor_set(editor, "two\nlines\tand more");
    assert_string_equal(draw(40), "two lines and more");
    glyph_set_ascii(true);
    editor_set(editor, "abcdefghijklmnopqrstuvwxyz");
    assert_true(strstr(draw(12), "xyz") != NULL);
}

/* Wide and combined characters, every caret, every width. */
TEST(the_caret_stands_beside_its_text)
{
    static const char text[] =
        "w\u00fcnsche \u4eac\u90fd\u306e\u5bbf e\u0301a\u0302 \U0001f469\u200d\U0001f4bb "
        "\u65c5\u9928 river";
    (void)state;
    for (size_t columns = 1; columns < 40; columns++) {
        editor_set(editor, text);
        do {
            size_t at = editor_caret(editor), before = utf8_prev(text, strlen(text), at);
            const char *row = draw(columns);
            char piece[32] = "";
            if (at > 0)
                memcpy(piece, text + before, at - before);
            if (columns >= 8 && at > 0 && !strstr(row, piece))
                fail_msg("%zu columns, caret %zu: \"%s\"", columns, at, row);
        } while (editor_do(editor, ACTION_LEFT));
    }
}
