/* The editor: actions, undo, kill ring, history, a layout that is kept up to date by parts, and a
 * text on one row, where the caret and its neighbours are always visible. */
#include "base/buf.h"
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "ui/text/editor.h"

static struct editor *e; /* of the test */
static struct rows rows; /* of edit_line() */
static int caret;

static int new_editor(void **state)
{
    (void)state;
    e = editor_new();
    rows_init(&rows);
    return 0;
}

static int free_editor(void **state)
{
    (void)state;
    editor_free(e);
    rows_release(&rows);
    return 0;
}

static void type(void *to, const char *text)
{
    for (size_t i = 0, len = strlen(text); i < len;) {
        size_t next = utf8_next(text, len, i);
        editor_insert(to, text + i, next - i);
        i = next;
    }
}

/* An action by its name in [keys]. */
static void act_by_name(void *to, const char *name)
{
    enum action action = ACTION_NONE + 1;
    while (strcmp(action_info(action)->name, name) != 0)
        action++;
    editor_do(to, action);
}

static const struct typist typist = {type, act_by_name};

/* Typed text and editor actions: "one two<word_left*2>". */
static void keys(const char *what)
{
    steps_type(what, &typist, e);
}

static void gives(const char *what, const char *text)
{
    keys(what);
    assert_string_equal(editor_text(e), text);
}

static void leads(const char *what, size_t to)
{
    keys(what);
    assert_int_equal(editor_caret(e), to);
}

BEFORE_ALL(support_utf8);
FIXTURE(new_editor, free_editor);

TEST(moves_by_graphemes_words_and_lines)
{
    leads("one e\u0301 two\nlast<line_start>", 12);
    leads("<left><word_left>", 8);
    leads("<left*2>", 4);
    leads("<right>", 7);
    leads("<line_end>", 11);
    leads("<word_right>", 16);
    assert_false(editor_do(e, ACTION_RIGHT));
    leads("<text_start>", 0);
    assert_false(editor_do(e, ACTION_LEFT));
    leads("<text_end>", 16);
}

TEST(erases_whole_graphemes)
{
    gives("a👩‍👩‍👧e\u0301<backspace*2>", "a");
    gives("<text_start><delete>", "");
    assert_false(editor_do(e, ACTION_DELETE));
    assert_false(editor_do(e, ACTION_BACKSPACE));
}

TEST(caret_leaves_a_grapheme_that_forms_around_it)
{
    editor_set(e, "\u0301x");
    keys("<text_start>");
    editor_insert(e, "e", 1);
    assert_int_equal(editor_caret(e), 3);
}

TEST(undo_goes_word_by_word)
{
    gives("one two three<undo>", "one two ");
    gives("<undo>", "one ");
    gives("<redo>", "one two ");
    keys("new");
    assert_false(editor_do(e, ACTION_REDO));
    gives("<undo*3>", "");
    assert_false(editor_do(e, ACTION_UNDO));
}

TEST(a_paste_is_one_step)
{
    keys("ab");
    editor_paste(e, "x y\nz\x1b[0m", 9);
    assert_string_equal(editor_text(e), "abx y\nz\u241b[0m");
    gives("c<undo*2>", "ab");
    gives("<backspace*2><undo>", "ab");
    assert_int_equal(editor_caret(e), 2);
}

TEST(kills_join_and_come_back)
{
    gives("one two three<kill_word_left*2>", "one ");
    gives("<yank>", "one two three");
    gives("<text_start><kill_word_right>", " two three");
    gives("<yank>", "one two three");
    assert_true(editor_do(e, ACTION_YANK_POP));
    assert_string_equal(editor_text(e), "two three two three");
    keys("<left>");
    assert_false(editor_do(e, ACTION_YANK_POP));
}

TEST(kills_to_both_ends_of_a_line)
{
    editor_set(e, "one\ntwo");
    gives("<up><line_start><kill_to_end>", "\ntwo");
    gives("<kill_to_end>", "two");
    gives("<text_end><kill_to_start>", "");
    assert_false(editor_do(e, ACTION_KILL_START));
}

TEST(transposes_around_the_caret)
{
    gives("ab日<transpose>", "a日b");
    keys("<line_start>");
    assert_false(editor_do(e, ACTION_TRANSPOSE));
    gives("<right><transpose>", "日ab");
    assert_int_equal(editor_caret(e), 4);
}

TEST(replaces_for_completion)
{
    keys("see @sr now");
    editor_replace(e, 4, 7, "@src/base");
    assert_string_equal(editor_text(e), "see @src/base now");
    assert_int_equal(editor_caret(e), 13);
    gives("<undo>", "see @sr now");
}

TEST(climbs_screen_rows_and_keeps_the_column)
{
    editor_layout(e, 6, 10);
    editor_set(e, "abcdef\nx\n123456789");
    assert_true(editor_do(e, ACTION_UP)); /* from "789" to "123456" */
    assert_int_equal(editor_caret(e), 12);
    assert_true(editor_do(e, ACTION_UP));
    assert_int_equal(editor_caret(e), 8);
    assert_true(editor_do(e, ACTION_UP));
    assert_int_equal(editor_caret(e), 3);
    assert_false(editor_do(e, ACTION_UP));
    leads("<down*2>", 12);
    leads("<down>", 18);
    assert_false(editor_do(e, ACTION_DOWN));
}

static char *row_at(const struct editor_view *v, size_t index)
{
    const struct row *row = &v->rows->list.items[index];
    return mem_strndup(v->rows->text.data + row->text, row->len);
}

TEST(layout_shows_the_caret)
{
    editor_set(e, "the quick brown\nfox");
    struct editor_view v = editor_layout(e, 10, 2);
    assert_int_equal(v.row_count, 3);
    assert_int_equal(v.top, 1);
    assert_int_equal(v.caret_row, 1);
    assert_int_equal(v.caret_col, 3);
    char *row = row_at(&v, 1);
    assert_string_equal(row, "brown");
    free(row);
    keys("<text_start>");
    v = editor_layout(e, 10, 2);
    assert_int_equal(v.top, 0);
    assert_int_equal(v.caret_row, 0);
    row = row_at(&v, 0);
    assert_string_equal(row, "the quick ");
    free(row);
}

TEST(caret_has_a_place_behind_a_full_row)
{
    keys("abcd");
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

static void compare_layouts(int width)
{
    struct editor *fresh = editor_new();
    editor_paste(fresh, editor_text(e), editor_len(e));
    struct editor_view a = editor_layout(e, width, 100000), b;
    b = editor_layout(fresh, width, 100000);
    assert_int_equal(a.row_count, b.row_count);
    for (size_t i = 0; i < a.row_count; i++) {
        auto_free char *x = row_at(&a, i), *y = row_at(&b, i);
        assert_string_equal(x, y);
        assert_true(rows_width(a.rows, i) <= (size_t)width);
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

static void random_edit(uint64_t *seed)
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
        for (uint64_t n = support_random(seed) % 9, move = support_random(seed) % 4; n > 0; n--)
            editor_do(e, (enum action)(ACTION_UP + move));
    else if (r < 38)
        editor_paste(e, "some pasted text\nin lines \n\nhere", 32);
    else
        keys("<undo*3>");
}

/* After any edit, the rows equal a layout from scratch, the caret is on a border, and undo and redo
 * lead to the earlier texts. */
TEST(parts_are_as_good_as_the_whole)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 60; round++) {
        editor_free(e);
        e = editor_new();
        int width = 1 + (int)(support_random(&seed) % 14);
        for (int step = 0; step < 80; step++) {
            random_edit(&seed);
            compare_layouts(width);
            assert_true(is_border(editor_text(e), editor_len(e), editor_caret(e)));
        }
        auto_free char *text = mem_strdup(editor_text(e));
        int steps = 0;
        while (editor_do(e, ACTION_UNDO))
            steps++;
        assert_string_equal(editor_text(e), "");
        while (steps-- > 0 && strcmp(editor_text(e), text) != 0)
            assert_true(editor_do(e, ACTION_REDO));
        assert_string_equal(editor_text(e), text);
    }
}

TEST(redo_is_the_inverse_of_undo)
{
    uint64_t seed = support_seed();
    for (int step = 0; step < 400; step++) {
        random_edit(&seed);
        auto_free char *text = mem_strdup(editor_text(e));
        if (editor_do(e, ACTION_UNDO))
            assert_true(editor_do(e, ACTION_REDO));
        assert_string_equal(editor_text(e), text);
    }
}

TEST(history_keeps_what_was_being_written)
{
    assert_false(editor_history_older(e));
    editor_history_add(e, "first");
    editor_history_add(e, "second");
    editor_history_add(e, "second");
    editor_history_add(e, "");
    assert_string_equal(editor_history_at(e, 0), "second");
    assert_string_equal(editor_history_at(e, 1), "first");
    assert_null(editor_history_at(e, 2));
    keys("half");
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
    char newest[] = "new", oldest[] = "old";
    char *const texts[] = {newest, oldest};
    editor_history_load(e, texts, 2);
    assert_true(editor_history_older(e));
    assert_string_equal(editor_text(e), "new");
    assert_int_equal(editor_caret(e), 3);
}

TEST(loading_leaves_one_who_browses_where_he_is)
{
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

/* --- on one row --- */

static const char *draw(size_t columns)
{
    rows_clear(&rows);
    rows_begin(&rows);
    size_t used = edit_line(&rows, e, columns, &caret);
    assert_int_equal(used, rows_width(&rows, 0));
    assert_true(used <= columns);
    assert_true(caret >= 0 && (size_t)caret < columns);
    return seen_row(&rows, 0);
}

TEST(what_fits_is_seen)
{
    assert_string_equal(draw(10), "");
    assert_int_equal(caret, 0);
    editor_set(e, "123456789");
    assert_string_equal(draw(10), "123456789");
    assert_int_equal(caret, 9);
    keys("<left*9>");
    assert_string_equal(draw(10), "123456789");
    assert_int_equal(caret, 0);
}

/* No empty row follows a text that fills its rows exactly. */
TEST(the_end_is_seen_whatever_fits)
{
    char text[64] = "";
    for (int len = 1; len < 60; len++) {
        text[len - 1] = (char)('a' + len % 26);
        editor_set(e, text);
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
    editor_set(e, "abcdefghijklmnopqrstuvwxyz");
    keys("<left*4>");
    assert_string_equal(draw(12), "\u2026qrstuvwxyz");
    assert_int_equal(caret, 7);
    keys("<left*8>");
    assert_string_equal(draw(12), "\u2026hijklmnopqr");
    assert_int_equal(caret, 8);
    keys("<left*10>");
    assert_string_equal(draw(12), "abcdefghijkl");
    assert_int_equal(caret, 4);
}

TEST(nothing_breaks_the_row)
{
    editor_set(e, "two\nlines\tand more");
    assert_string_equal(draw(40), "two lines and more");
    glyph_set_up(true);
    editor_set(e, "abcdefghijklmnopqrstuvwxyz");
    assert_true(strstr(draw(12), "xyz") != NULL);
    glyph_set_up(false);
}

/* Wide and combined characters, every caret, every width. */
TEST(the_caret_stands_beside_its_text)
{
    static const char text[] =
        "w\u00fcnsche \u4eac\u90fd\u306e\u5bbf e\u0301a\u0302 \U0001f469\u200d\U0001f4bb "
        "\u65c5\u9928 river";
    for (size_t columns = 1; columns < 40; columns++) {
        editor_set(e, text);
        do {
            size_t at = editor_caret(e), before = utf8_prev(text, strlen(text), at);
            const char *row = draw(columns);
            char piece[32] = "";
            if (at > 0)
                memcpy(piece, text + before, at - before);
            if (columns >= 8 && at > 0 && !strstr(row, piece))
                fail_msg("%zu columns, caret %zu: \"%s\"", columns, at, row);
        } while (editor_do(e, ACTION_LEFT));
    }
}
