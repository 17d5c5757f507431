/* The editor: actions, undo, kill ring, history, and a layout that is kept up to date by parts. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/text/editor.h"

static int new_editor(void **state)
{
    *state = editor_new();
    return 0;
}

static int free_editor(void **state)
{
    editor_free(*state);
    return 0;
}

static void type(struct editor *e, const char *text)
{
    for (size_t i = 0, len = strlen(text); i < len;) {
        size_t next = utf8_next(text, len, i);
        editor_insert(e, text + i, next - i);
        i = next;
    }
}

static void times(struct editor *e, enum action action, int count)
{
    while (count-- > 0)
        editor_do(e, action);
}

BEFORE_ALL(support_utf8);
FIXTURE(new_editor, free_editor);

TEST(moves_by_graphemes_words_and_lines)
{
    struct editor *e = *state;
    type(e, "one e\u0301 two\nlast");
    times(e, ACTION_LINE_START, 1);
    assert_int_equal(editor_caret(e), 12);
    times(e, ACTION_LEFT, 1);
    times(e, ACTION_WORD_LEFT, 1);
    assert_int_equal(editor_caret(e), 8);
    times(e, ACTION_LEFT, 2);
    assert_int_equal(editor_caret(e), 4);
    times(e, ACTION_RIGHT, 1);
    assert_int_equal(editor_caret(e), 7);
    times(e, ACTION_LINE_END, 1);
    assert_int_equal(editor_caret(e), 11);
    times(e, ACTION_WORD_RIGHT, 1);
    assert_int_equal(editor_caret(e), 16);
    assert_false(editor_do(e, ACTION_RIGHT));
    times(e, ACTION_TEXT_START, 1);
    assert_int_equal(editor_caret(e), 0);
    assert_false(editor_do(e, ACTION_LEFT));
    times(e, ACTION_TEXT_END, 1);
    assert_int_equal(editor_caret(e), 16);
}

TEST(erases_whole_graphemes)
{
    struct editor *e = *state;
    type(e, "a👩‍👩‍👧e\u0301");
    times(e, ACTION_BACKSPACE, 2);
    assert_string_equal(editor_text(e), "a");
    times(e, ACTION_TEXT_START, 1);
    times(e, ACTION_DELETE, 1);
    assert_string_equal(editor_text(e), "");
    assert_false(editor_do(e, ACTION_DELETE));
    assert_false(editor_do(e, ACTION_BACKSPACE));
}

TEST(caret_leaves_a_grapheme_that_forms_around_it)
{
    struct editor *e = *state;
    editor_set(e, "\u0301x");
    times(e, ACTION_TEXT_START, 1);
    editor_insert(e, "e", 1);
    assert_int_equal(editor_caret(e), 3);
}

TEST(undo_goes_word_by_word)
{
    struct editor *e = *state;
    type(e, "one two three");
    editor_do(e, ACTION_UNDO);
    assert_string_equal(editor_text(e), "one two ");
    editor_do(e, ACTION_UNDO);
    assert_string_equal(editor_text(e), "one ");
    editor_do(e, ACTION_REDO);
    assert_string_equal(editor_text(e), "one two ");
    type(e, "new");
    assert_false(editor_do(e, ACTION_REDO));
    times(e, ACTION_UNDO, 3);
    assert_string_equal(editor_text(e), "");
    assert_false(editor_do(e, ACTION_UNDO));
}

TEST(a_paste_is_one_step)
{
    struct editor *e = *state;
    type(e, "ab");
    editor_paste(e, "x y\nz\x1b[0m", 9);
    assert_string_equal(editor_text(e), "abx y\nz\u241b[0m");
    type(e, "c");
    editor_do(e, ACTION_UNDO);
    editor_do(e, ACTION_UNDO);
    assert_string_equal(editor_text(e), "ab");
    times(e, ACTION_BACKSPACE, 2);
    editor_do(e, ACTION_UNDO);
    assert_string_equal(editor_text(e), "ab");
    assert_int_equal(editor_caret(e), 2);
}

TEST(kills_join_and_come_back)
{
    struct editor *e = *state;
    type(e, "one two three");
    times(e, ACTION_KILL_WORD_LEFT, 2);
    assert_string_equal(editor_text(e), "one ");
    editor_do(e, ACTION_YANK);
    assert_string_equal(editor_text(e), "one two three");
    times(e, ACTION_TEXT_START, 1);
    editor_do(e, ACTION_KILL_WORD_RIGHT);
    assert_string_equal(editor_text(e), " two three");
    editor_do(e, ACTION_YANK);
    assert_string_equal(editor_text(e), "one two three");
    assert_true(editor_do(e, ACTION_YANK_POP));
    assert_string_equal(editor_text(e), "two three two three");
    editor_do(e, ACTION_LEFT);
    assert_false(editor_do(e, ACTION_YANK_POP));
}

TEST(kills_to_both_ends_of_a_line)
{
    struct editor *e = *state;
    editor_set(e, "one\ntwo");
    editor_do(e, ACTION_UP);
    editor_do(e, ACTION_LINE_START);
    editor_do(e, ACTION_KILL_END);
    assert_string_equal(editor_text(e), "\ntwo");
    editor_do(e, ACTION_KILL_END);
    assert_string_equal(editor_text(e), "two");
    editor_do(e, ACTION_TEXT_END);
    editor_do(e, ACTION_KILL_START);
    assert_string_equal(editor_text(e), "");
    assert_false(editor_do(e, ACTION_KILL_START));
}

TEST(transposes_around_the_caret)
{
    struct editor *e = *state;
    type(e, "ab日");
    editor_do(e, ACTION_TRANSPOSE);
    assert_string_equal(editor_text(e), "a日b");
    editor_do(e, ACTION_LINE_START);
    assert_false(editor_do(e, ACTION_TRANSPOSE));
    editor_do(e, ACTION_RIGHT);
    editor_do(e, ACTION_TRANSPOSE);
    assert_string_equal(editor_text(e), "日ab");
    assert_int_equal(editor_caret(e), 4);
}

TEST(replaces_for_completion)
{
    struct editor *e = *state;
    type(e, "see @sr now");
    editor_replace(e, 4, 7, "@src/base");
    assert_string_equal(editor_text(e), "see @src/base now");
    assert_int_equal(editor_caret(e), 13);
    editor_do(e, ACTION_UNDO);
    assert_string_equal(editor_text(e), "see @sr now");
}

TEST(climbs_screen_rows_and_keeps_the_column)
{
    struct editor *e = *state;
    editor_layout(e, 6, 10);
    editor_set(e, "abcdef\nx\n123456789");
    assert_true(editor_do(e, ACTION_UP)); /* from "789" to "123456" */
    assert_int_equal(editor_caret(e), 12);
    assert_true(editor_do(e, ACTION_UP));
    assert_int_equal(editor_caret(e), 8);
    assert_true(editor_do(e, ACTION_UP));
    assert_int_equal(editor_caret(e), 3);
    assert_false(editor_do(e, ACTION_UP));
    times(e, ACTION_DOWN, 2);
    assert_int_equal(editor_caret(e), 12);
    times(e, ACTION_DOWN, 1);
    assert_int_equal(editor_caret(e), 18);
    assert_false(editor_do(e, ACTION_DOWN));
}

static char *row_at(const struct editor_view *v, size_t index)
{
    const struct row *row = &v->rows->list.items[index];
    return mem_strndup(v->rows->text.data + row->text, row->len);
}

TEST(layout_shows_the_caret)
{
    struct editor *e = *state;
    editor_set(e, "the quick brown\nfox");
    struct editor_view v = editor_layout(e, 10, 2);
    assert_int_equal(v.row_count, 3);
    assert_int_equal(v.top, 1);
    assert_int_equal(v.caret_row, 1);
    assert_int_equal(v.caret_col, 3);
    char *row = row_at(&v, 1);
    assert_string_equal(row, "brown");
    free(row);
    editor_do(e, ACTION_TEXT_START);
    v = editor_layout(e, 10, 2);
    assert_int_equal(v.top, 0);
    assert_int_equal(v.caret_row, 0);
    row = row_at(&v, 0);
    assert_string_equal(row, "the quick ");
    free(row);
}

TEST(caret_has_a_place_behind_a_full_row)
{
    struct editor *e = *state;
    type(e, "abcd");
    struct editor_view v = editor_layout(e, 4, 5);
    assert_int_equal(v.row_count, 2);
    assert_int_equal(v.caret_row, 1);
    assert_int_equal(v.caret_col, 0);
    editor_set(e, "a\n");
    v = editor_layout(e, 4, 5);
    assert_int_equal(v.row_count, 2);
    assert_int_equal(v.caret_row, 1);
    editor_set(e, "");
    v = editor_layout(e, 1, 1);
    assert_int_equal(v.row_count, 1);
    editor_set(e, "a\tb");
    v = editor_layout(e, 20, 1);
    assert_int_equal(v.caret_col, 5);
}

static void compare_layouts(struct editor *e, int width)
{
    struct editor *fresh = editor_new();
    editor_paste(fresh, editor_text(e), editor_len(e));
    struct editor_view a = editor_layout(e, width, 100000), b;
    b = editor_layout(fresh, width, 100000);
    assert_int_equal(a.row_count, b.row_count);
    for (size_t i = 0; i < a.row_count; i++) {
        char *x = row_at(&a, i), *y = row_at(&b, i);
        assert_string_equal(x, y);
        assert_true(rows_width(a.rows, i) <= (size_t)width);
        free(x);
        free(y);
    }
    assert_in_range(a.caret_col, 0, width - 1);
    editor_free(fresh);
}

static bool is_border(const char *text, size_t len, size_t pos)
{
    size_t at = 0;
    while (at < pos)
        at = utf8_next(text, len, at);
    return at == pos;
}

enum { EDITOR_ACTIONS = ACTION_REDO - ACTION_UP + 1 }; /* they stand together */

static void random_edit(struct editor *e, uint64_t *seed)
{
    static const char *const pieces[] = {"a",
                                         "word ",
                                         " ",
                                         "日本",
                                         "e",
                                         "\u0301",
                                         "\n",
                                         "\t",
                                         "👩‍👩‍👧",
                                         "🇩",
                                         "🇪",
                                         "   ",
                                         "long-long-word-here"};
    uint64_t r = support_random(seed) % 40;
    const char *piece = pieces[support_random(seed) % (sizeof pieces / sizeof *pieces)];
    if (r < EDITOR_ACTIONS)
        editor_do(e, (enum action)(ACTION_UP + r));
    else if (r < 30)
        editor_insert(e, piece, strlen(piece));
    else if (r < 36)
        times(e, (enum action)(ACTION_UP + support_random(seed) % 4),
              (int)(support_random(seed) % 9));
    else if (r < 38)
        editor_paste(e, "some pasted text\nin lines \n\nhere", 32);
    else
        times(e, ACTION_UNDO, 3);
}

/* Whatever is done, the rows are those of a layout from scratch, the caret is on a border, and undo
 * leads back to nothing and redo to what was. */
TEST(parts_are_as_good_as_the_whole)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 60; round++) {
        struct editor *e = editor_new();
        int width = 1 + (int)(support_random(&seed) % 14);
        for (int step = 0; step < 80; step++) {
            random_edit(e, &seed);
            compare_layouts(e, width);
            assert_true(is_border(editor_text(e), editor_len(e), editor_caret(e)));
        }
        char *text = mem_strdup(editor_text(e));
        int steps = 0;
        while (editor_do(e, ACTION_UNDO))
            steps++;
        assert_string_equal(editor_text(e), "");
        while (steps-- > 0 && strcmp(editor_text(e), text) != 0)
            assert_true(editor_do(e, ACTION_REDO));
        assert_string_equal(editor_text(e), text);
        free(text);
        editor_free(e);
    }
}

TEST(redo_is_the_inverse_of_undo)
{
    uint64_t seed = support_seed();
    struct editor *e = editor_new();
    for (int step = 0; step < 400; step++) {
        random_edit(e, &seed);
        char *text = mem_strdup(editor_text(e));
        if (editor_do(e, ACTION_UNDO))
            assert_true(editor_do(e, ACTION_REDO));
        assert_string_equal(editor_text(e), text);
        free(text);
    }
    editor_free(e);
}

TEST(history_keeps_what_was_being_written)
{
    struct editor *e = *state;
    assert_false(editor_history_older(e));
    editor_history_add(e, "first");
    editor_history_add(e, "second");
    editor_history_add(e, "second");
    editor_history_add(e, "");
    assert_int_equal(editor_history_count(e), 2);
    assert_string_equal(editor_history_at(e, 0), "second");
    assert_string_equal(editor_history_at(e, 1), "first");
    assert_null(editor_history_at(e, 2));
    type(e, "half");
    assert_true(editor_history_older(e));
    assert_true(editor_history_older(e));
    assert_false(editor_history_older(e));
    assert_string_equal(editor_text(e), "first");
    assert_true(editor_history_newer(e));
    assert_string_equal(editor_text(e), "second");
    assert_true(editor_history_newer(e));
    assert_string_equal(editor_text(e), "half");
    assert_false(editor_history_newer(e));
}

TEST(history_is_loaded_newest_first)
{
    struct editor *e = *state;
    char newest[] = "new", oldest[] = "old";
    char *const texts[] = {newest, oldest};
    editor_history_load(e, texts, 2);
    assert_true(editor_history_older(e));
    assert_string_equal(editor_text(e), "new");
    assert_int_equal(editor_caret(e), 3);
}

TEST(loading_leaves_one_who_browses_where_he_is)
{
    struct editor *e = *state;
    char newest[] = "new", oldest[] = "old";
    char *const texts[] = {newest, oldest};
    editor_history_add(e, "new");
    editor_insert(e, "half", 4);
    assert_true(editor_history_older(e));
    editor_history_load(e, texts, 2);
    assert_true(editor_history_older(e));
    assert_string_equal(editor_text(e), "old");
    assert_true(editor_history_newer(e));
    assert_true(editor_history_newer(e));
    assert_string_equal(editor_text(e), "half");
}
