/* Lists over the transcript: filtering, moving, choosing, drawing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/view/list.h"

static struct list *list;

static void begin(enum list_mode mode)
{
    list = list_new(mode, "Fruit");
    list_add(list, "Apple", "red and round", "a");
    list_add(list, "Banana", "yellow", "b");
    list_add(list, "Cherry", "red", "c");
    list_add(list, "Jujube", "red", "j");
    list_rows(list, 60, 20);
}

static int tear_down(void **state)
{
    (void)state;
    list_free(list);
    list = NULL;
    return 0;
}

static enum list_result act(enum action action)
{
    struct key none = {.code = K_NONE};
    return list_key(list, action, &none);
}

static enum list_result type(const char *text)
{
    enum list_result result = LIST_STAYS;
    for (; *text; text++) {
        struct key key = {.code = K_CHAR, .cp = (unsigned char)*text};
        result = list_key(list, ACTION_NONE, &key);
    }
    return result;
}

static char *drawn(int width, int height)
{
    const struct rows *rows = list_rows(list, width, height);
    struct buf out = BUF_INIT;
    assert_true(rows->list.len <= (size_t)height);
    for (size_t i = 0; i < rows->list.len; i++) {
        const struct row *row = &rows->list.items[i];
        const char *text = rows->text.data + row->text;
        size_t len = row->len;
        assert_true(utf8_width(text, len) <= (size_t)width);
        while (len > 0 && text[len - 1] == ' ')
            len--;
        buf_add(&out, text, len);
        buf_addch(&out, '\n');
    }
    return buf_take(&out);
}

static void assert_drawn(int width, int height, const char *want)
{
    char *got = drawn(width, height);
    assert_string_equal(got, want);
    free(got);
}

BEFORE_ALL(support_utf8);
FIXTURE(NULL, tear_down);

TEST(test_moving)
{
    begin(LIST_PICK);
    assert_string_equal(list_value(list), "a");
    type("jj");
    assert_string_equal(list_value(list), "c");
    type("k");
    assert_string_equal(list_value(list), "b");
    type("G");
    assert_string_equal(list_value(list), "j");
    act(ACTION_DOWN);
    assert_string_equal(list_value(list), "j");
    type("g");
    act(ACTION_UP);
    assert_string_equal(list_value(list), "a");
    act(ACTION_BOTTOM);
    assert_string_equal(list_value(list), "j");
    act(ACTION_LINE_START);
    assert_string_equal(list_value(list), "a");
    assert_true(list_moved(list));
}

TEST(test_filtering)
{
    begin(LIST_PICK);
    type("RED");
    assert_int_equal(list_count(list), 3);
    type(" app");
    assert_int_equal(list_count(list), 1);
    assert_string_equal(list_value(list), "a");
    type("xyz");
    assert_int_equal(list_count(list), 0);
    assert_null(list_value(list));
    assert_int_equal(act(ACTION_SEND), LIST_STAYS);
    assert_drawn(40, 4, " Fruit / RED appxyz                   0\n no matches\n");
    act(ACTION_KILL_START);
    assert_int_equal(list_count(list), 4);
    type("/j"); /* a filter may begin with a letter that moves */
    assert_int_equal(list_count(list), 1);
    assert_string_equal(list_value(list), "j");
    act(ACTION_BACKSPACE);
    type("j");
    assert_string_equal(list_value(list), "b");
}

TEST(test_typing_lists_filter_at_once)
{
    begin(LIST_TYPE);
    type("j");
    assert_string_equal(list_value(list), "j");
    struct key paste = {.code = K_PASTE, .text = mem_strdup("uju\nbe")};
    list_key(list, ACTION_NONE, &paste);
    free(paste.text);
    assert_int_equal(list_count(list), 1);
    int row, col;
    list_rows(list, 60, 5);
    assert_true(list_caret(list, &row, &col));
    assert_int_equal(row, 0);
    assert_int_equal(col, (int)strlen(" Fruit / juju"));
}

TEST(test_choosing_and_closing)
{
    begin(LIST_PICK);
    assert_int_equal(act(ACTION_SEND), LIST_CHOSEN);
    assert_int_equal(act(ACTION_CANCEL), LIST_CLOSED);
    assert_int_equal(act(ACTION_CLEAR), LIST_CLOSED);
    assert_true(list_click(list, 3));
    assert_string_equal(list_value(list), "c");
    assert_false(list_click(list, 0));
    assert_false(list_click(list, 5));
}

TEST(test_popups_leave_the_text_alone)
{
    begin(LIST_POPUP);
    assert_int_equal(type("j"), LIST_NOT_MINE);
    assert_int_equal(act(ACTION_BACKSPACE), LIST_NOT_MINE);
    assert_int_equal(act(ACTION_SEND), LIST_NOT_MINE);
    assert_int_equal(act(ACTION_LINE_START), LIST_NOT_MINE);
    assert_false(list_moved(list));
    assert_int_equal(act(ACTION_DOWN), LIST_STAYS);
    assert_string_equal(list_value(list), "b");
    assert_true(list_click(list, 0));
    assert_string_equal(list_value(list), "a");
    assert_drawn(30, 2, "›Apple   red and round\n Banana  yellow\n");
}

TEST(test_reading)
{
    begin(LIST_READ);
    assert_drawn(30, 3, " Fruit\n Apple   red and round\n Banana  yellow\n");
    type("j");
    assert_drawn(30, 3, " Fruit\n Banana  yellow\n Cherry  red\n");
    type("G");
    assert_drawn(30, 3, " Fruit\n Cherry  red\n Jujube  red\n");
    type("jjj");
    assert_drawn(30, 3, " Fruit\n Cherry  red\n Jujube  red\n");
    assert_int_equal(act(ACTION_SEND), LIST_CLOSED);
    assert_int_equal(type("q"), LIST_CLOSED);
}

TEST(test_what_is_read_is_wrapped)
{
    list = list_new(LIST_READ, "Fruit");
    list_add(list, "Apple", "red and round", "");
    list_add(list, "Fig", "blue", "");
    assert_drawn(18, 4, " Fruit\n Apple  red and\n        round\n Fig    blue\n");
    assert_drawn(9, 6, " Fruit\n Apple\n   red\n   and\n   round\n Fig\n");
    list_filter(list, "fig");
    assert_drawn(18, 4, " Fruit / fig\n Fig    blue\n");
    list_filter(list, "");
    assert_drawn(18, 3, " Fruit\n Apple  red and\n        round\n");
    type("G");
    assert_drawn(18, 3, " Fruit\n        round\n Fig    blue\n");
}

TEST(test_the_selected_row_stays_in_view)
{
    list = list_new(LIST_PICK, "");
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "row %d", i);
        list_add(list, name, NULL, name);
    }
    for (int height = 1; height < 30; height += 7) {
        act(ACTION_TOP);
        for (int i = 0; i < 1200; i++) {
            char *text = drawn(20, height), *mark = strstr(text, "›");
            if (height > 1) {
                assert_non_null(mark);
                assert_memory_equal(mark + strlen("›"), list_value(list), strlen(list_value(list)));
            }
            free(text);
            act(i % 5 ? ACTION_DOWN : ACTION_PAGE_DOWN);
        }
        assert_string_equal(list_value(list), "row 999");
    }
}

TEST(test_foreign_text_is_cleaned)
{
    list = list_new(LIST_PICK, "x");
    list_add(list, "a\033[31m\nb", "\x9b!", "v");
    char *text = drawn(40, 3);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "a␛[31m b"));
    free(text);
}

TEST(test_any_size_can_be_drawn)
{
    begin(LIST_PICK);
    list_add(list, "日本語の長い題名がここにあります", "とても長い説明文", "w");
    type("/");
    for (int width = 0; width < 50; width++)
        for (int height = 1; height < 8; height++) {
            const struct rows *rows = list_rows(list, width, height);
            assert_true(rows->list.len <= (size_t)height);
            for (size_t i = 0; i < rows->list.len && width > 1; i++)
                assert_true(rows_width(rows, i) <= (size_t)width);
        }
}
