/* The editor: actions, undo, kill ring, history, a layout that is kept up to date by parts, and a
 * text on one row, where the caret and its neighbours are always visible. */
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

/* An action by its name in [keys], and "older" and "newer" of the history. */
static bool act_named(const char *name)
{
    enum action action = ACTION_NONE + 1;
    if (strcmp(name, "older") == 0 || strcmp(name, "newer") == 0)
        return *name == 'o' ? editor_history_older(e) : editor_history_newer(e);
    while (strcmp(action_info(action)->name, name) != 0)
        action++;
    return editor_do(e, action);
}

static void act_by_name(void *to, const char *name)
{
    (void)to;
    (void)act_named(name);
}

static const struct typist typist = {type, act_by_name};

static char *row_at(const struct editor_view *v, size_t index)
{
    const struct row *row = &v->rows->list.items[index];
    return mem_strndup(v->rows->text.data + row->text, row->len);
}

/* "WIDTH HEIGHT COUNT TOP ROW COLUMN|TEXT": the layout at this size, and the text of its first row.
 */
static void is_laid_out(const char *step)
{
    size_t count, top;
    int width, height, row, col, len = 0;
    assert_int_equal(
        sscanf(step, "%d %d %zu %zu %d %d|%n", &width, &height, &count, &top, &row, &col, &len), 6);
    struct editor_view v = editor_layout(e, width, height);
    assert_int_equal(v.row_count, count);
    assert_int_equal(v.top, top);
    assert_int_equal(v.caret_row, row);
    assert_int_equal(v.caret_col, col);
    assert_string_equal(support_keep(row_at(&v, top)), step + len);
}

/* The text on one row of so many columns. */
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

/* Steps: ":" and typed text with actions, "one two<word_left*2>"; "=" and the text that is there,
 * "@" and the caret's place in it; "!" and an action that does nothing; "~" and a text that is set,
 * "<" and one that is pasted, "&" and a folded paste of so many lines "a", "+" and one for the
 * history; "#COLUMNS TEXT": the text on one row,
 * "^" and the caret's column there; "%": is_laid_out(). */
static void play_steps(const char *const *steps)
{
    for (; *steps; steps++) {
        const char *rest = *steps + 1;
        switch (**steps) {
        case ':':
            steps_type(rest, &typist, e);
            break;
        case '=':
            assert_string_equal(editor_text(e), rest);
            break;
        case '@':
            assert_int_equal(editor_caret(e), atoi(rest));
            break;
        case '!':
            assert_false(act_named(rest));
            break;
        case '~':
            editor_set(e, rest);
            break;
        case '<':
            editor_paste(e, rest, strlen(rest));
            break;
        case '&': {
            struct buf text = BUF_INIT;
            for (int i = atoi(rest); i > 0; i--)
                buf_addstr(&text, i > 1 ? "a\n" : "a");
            editor_paste_folded(e, text.data, text.len);
            buf_release(&text);
            break;
        }
        case '+':
            editor_history_add(e, rest);
            break;
        case '#':
            assert_string_equal(draw((size_t)atoi(rest)), strchr(rest, ' ') + 1);
            break;
        case '^':
            assert_int_equal(caret, atoi(rest));
            break;
        case '%':
            is_laid_out(rest);
            break;
        default:
            fail_msg("no such step: %s", *steps);
        }
    }
}

#define edit(...) play_steps(STEPS(__VA_ARGS__))
#define EDIT(name, ...) STEPS_TEST(true, name, edit, __VA_ARGS__)

BEFORE_ALL(support_utf8);
FIXTURE(new_editor, free_editor);

EDIT(moves_by_graphemes_words_and_lines, ":one e\u0301 two\nlast<line_start>", "@12",
     ":<left><word_left>", "@8", ":<left*2>", "@4", ":<right>", "@7", ":<line_end>", "@11",
     ":<word_right>", "@16", "!right", ":<text_start>", "@0", "!left", ":<text_end>", "@16");

EDIT(erases_whole_graphemes, ":a👩‍👩‍👧e\u0301<backspace*2>", "=a",
     ":<text_start><delete>", "=", "!delete", "!backspace");

EDIT(caret_leaves_a_grapheme_that_forms_around_it, "~\u0301x", ":<text_start>", ":e", "@3");

EDIT(undo_goes_word_by_word, ":one two three<undo>", "=one two ", ":<undo>", "=one ", ":<redo>",
     "=one two ", ":new", "!redo", ":<undo*3>", "=", "!undo");

EDIT(a_paste_is_one_step, ":ab", "<x y\nz\x1b[0m", "=abx y\nz\u241b[0m", ":c<undo*2>", "=ab",
     ":<backspace*2><undo>", "=ab", "@2");

#define A9 "a\na\na\na\na\na\na\na\na\n"
#define A10 A9 "a\n"
#define A21 A10 A10 "a"

EDIT(a_long_paste_is_one_sign, ":say ", "&21", ":!", "=say " A21 "!", "@46",
     "%40 3 1 0 0 22|say [pasted 21 lines]!", ":<left*2>", "@4", ":<right>", "@45", ":<word_left>",
     "@4", ":<word_right>", "@45", ":<backspace>", "=say !", ":<undo>", "=say " A21 "!",
     ":<delete>", "=say " A21, ":<kill_to_start>", "=", ":<yank*2>", "=say " A21 "say " A21,
     ":<undo*4>", "=say " A21 "!");

EDIT(a_paste_of_twenty_lines_stays_open, "&20", "=" A10 A9 "a", "%40 3 20 17 2 1|a");

EDIT(folds_survive_the_history_and_a_text_that_is_set, "&21", ":x", "+sent", ":<older>", "=sent",
     ":<newer>", "=" A21 "x", "%40 3 1 0 0 18|[pasted 21 lines]x", "~see " A21 "!",
     "%40 3 1 0 0 22|see [pasted 21 lines]!", ":<left><transpose>", "=see !" A21);

TEST(a_fold_is_opened_in_its_place_and_stays_open)
{
    edit(":1", "&21", ":2", "&30", ":3<word_left>");
    assert_true(editor_unfold(e));
    edit("%9 3 32 29 2 1|a", "@102");
    assert_true(editor_unfold(e));
    assert_false(editor_unfold(e));
    edit("=1" A21 "2" A10 A10 A9 "a3", ":<undo>");
    assert_true(editor_unfold(e));
    edit(":<undo*2>", "~" A21, "%40 30 21 0 20 1|a");
}

TEST(a_draft_is_folded_between_its_first_and_its_last_line)
{
    edit("~see\n" A21 "\nend");
    editor_fold_draft(e);
    edit("=see\n" A21 "\nend", "%40 9 3 0 2 3|see", ":<undo>");
    editor_fold_draft(e); /* it was opened */
    edit("%40 30 23 0 22 3|see");
}

EDIT(kills_join_and_come_back, ":one two three<kill_word_left*2>", "=one ", ":<yank>",
     "=one two three", ":<text_start><kill_word_right>", "= two three", ":<yank>", "=one two three",
     ":<yank_pop>", "=two three two three", ":<left>", "!yank_pop");

EDIT(kills_to_both_ends_of_a_line, "~one\ntwo", ":<up><line_start><kill_to_end>", "=\ntwo",
     ":<kill_to_end>", "=two", ":<text_end><kill_to_start>", "=", "!kill_to_start");

EDIT(transposes_around_the_caret, ":ab日<transpose>", "=a日b", ":<line_start>", "!transpose",
     ":<right><transpose>", "=日ab", "@4");

TEST(replaces_for_completion)
{
    edit(":see @sr now");
    editor_replace(e, 4, 7, "@src/base");
    edit("=see @src/base now", "@13", ":<undo>", "=see @sr now");
}

TEST(climbs_screen_rows_and_keeps_the_column)
{
    editor_layout(e, 6, 10);
    edit("~abcdef\nx\n123456789", ":<up>", /* from "789" to "123456" */
         "@12", ":<up>", "@8", ":<up>", "@3", "!up", ":<down*2>", "@12", ":<down>", "@18", "!down");
}

EDIT(layout_shows_the_caret, "~the quick brown\nfox", "%10 2 3 1 1 3|brown", ":<text_start>",
     "%10 2 3 0 0 0|the quick ");
EDIT(caret_has_a_place_behind_a_full_row, ":abcd", "%4 5 2 0 1 0|abcd", "~a\n", "%4 5 2 0 1 0|a",
     "~", "%1 1 1 0 0 0|", "~a\tb", "%20 1 1 0 0 5|a   b");

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
        edit(":<undo*3>");
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
        edit("=");
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
    edit("!older", "+first", "+second", "+second", "+");
    assert_string_equal(editor_history_at(e, 0), "second");
    assert_string_equal(editor_history_at(e, 1), "first");
    assert_null(editor_history_at(e, 2));
    edit(":half", ":<older>", ":<older>", "!older", "=first", ":<newer>", "=second", ":<newer>",
         "=half", "!newer");
}

TEST(history_is_loaded_newest_first)
{
    char newest[] = "new", oldest[] = "old";
    char *const texts[] = {newest, oldest};
    editor_history_load(e, texts, 2);
    edit(":<older>", "=new", "@3", ":<newer>", "=", ":half<older>");
    editor_history_load(e, texts, 2); /* leaves one who browses where he is */
    edit(":<older>", "=old", ":<newer>", ":<newer>", "=half");
}

/* --- on one row --- */

EDIT(what_fits_is_seen, "#10 ", "^0", "~123456789", "#10 123456789", "^9", ":<left*9>",
     "#10 123456789", "^0");

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

EDIT(both_sides_of_the_caret_are_seen, "~abcdefghijklmnopqrstuvwxyz", ":<left*4>",
     "#12 \u2026qrstuvwxyz", "^7", ":<left*8>", "#12 \u2026hijklmnopqr", "^8", ":<left*10>",
     "#12 abcdefghijkl", "^4");

TEST(nothing_breaks_the_row)
{
    edit("~two\nlines\tand more", "#40 two lines and more");
    glyph_set_up(true);
    edit("~abcdefghijklmnopqrstuvwxyz");
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
