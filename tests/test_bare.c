/* The bare text: rows as a terminal breaks them, and the part in view. */
#include <string.h>

#include "base/mem.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/app/clipboard.h"

static struct bare bare;

static void show(const char *text, size_t at, int width, int height)
{
    AUTO(buf_release) struct buf source = BUF_INIT;
    bare_release(&bare);
    buf_addstr(&source, text);
    bare_init(&bare, &source, at);
    bare_resize(&bare, width, height);
}

static void assert_view(const char *wanted)
{
    size_t len;
    const char *view = bare_view(&bare, &len);
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(view, wanted, len);
}

static int tear_down(void **state)
{
    (void)state;
    bare_release(&bare);
    bare = (struct bare){0};
    return 0;
}

BEFORE_ALL(support_utf8);
FIXTURE(NULL, tear_down);

TEST(a_long_line_is_one)
{
    show("one two three four\nfive\n", 0, 8, 3);
    assert_int_equal(bare.rows.len, 4);
    assert_view("one two three four"); /* three rows, for the terminal to break */
    bare_scroll(&bare, 1);
    assert_view("three four\nfive");
    bare_scroll(&bare, 99);
    assert_view("three four\nfive");
    bare_scroll(&bare, -99);
    assert_view("one two three four");
}

TEST(a_full_row_is_not_two)
{
    show("12345678\nnext\n\nlast", 0, 8, 2);
    assert_int_equal(bare.rows.len, 4);
    assert_view("12345678\nnext");
    bare_scroll(&bare, 2);
    assert_view("\nlast");
}

TEST(wide_characters_do_not_fit_the_last_column)
{
    show("日本語", 0, 5, 1);
    assert_int_equal(bare.rows.len, 2);
    assert_view("日本");
    show("e\u0301e\u0301e\u0301", 0, 2, 1);
    assert_view("e\u0301e\u0301");
}

TEST(tabs_are_blanks)
{
    show("a\tb\n\tc\n日\td", 6, 40, 9);
    assert_view("a       b\n        c\n日      d");
    show("\t\tx\n\t\ty\n", 4, 80, 1);
    assert_view("                y"); /* the place is in the source */
}

TEST(another_size_keeps_the_place)
{
    show("some words\nthat are told\nin four lines\nand no more\n", 11, 20, 2);
    assert_view("that are told\nin four lines");
    bare_resize(&bare, 5, 2);
    assert_view("that are t");
    bare_resize(&bare, 30, 1);
    assert_view("that are told");
}
