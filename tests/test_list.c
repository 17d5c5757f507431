/* Lists over the transcript: filtering, moving, choosing, drawing. */
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "ui/term/keymap.h"
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

static struct keymap keymap;

static int key(const struct key *k)
{
    return (int)list_key(list, keymap_find(&keymap, k), k);
}

static const struct person person = {.key = key};

static int set_up(void **state)
{
    (void)state;
    seen_by(&person);
    keymap_init(&keymap);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    list_free(list);
    list = NULL;
    keymap_release(&keymap);
    return 0;
}

static void selects(const char *keys, const char *value)
{
    act(keys);
    assert_string_equal(list_value(list), value);
}

static const char *drawn(int width, int height)
{
    const struct rows *rows = list_rows(list, width, height);
    assert_true(rows->list.len <= (size_t)height);
    for (size_t i = 0; i < rows->list.len; i++)
        assert_true(rows_width(rows, i) <= (size_t)width);
    return seen_text(rows);
}

static void assert_drawn(int width, int height, const char *want)
{
    assert_string_equal(drawn(width, height), want);
}

BEFORE_ALL(support_utf8);
FIXTURE(set_up, tear_down);

TEST(test_moving)
{
    begin(LIST_PICK);
    assert_string_equal(list_value(list), "a");
    selects("jj", "c");
    selects("k", "b");
    selects("G", "j");
    selects("<down>", "j");
    selects("g<up>", "a");
    selects("<ctrl-end>", "j");
    selects("<home>", "a");
}

TEST(test_filtering)
{
    begin(LIST_PICK);
    act("RED");
    assert_int_equal(list_count(list), 3);
    act(" app");
    assert_int_equal(list_count(list), 1);
    assert_string_equal(list_value(list), "a");
    act("xyz");
    assert_int_equal(list_count(list), 0);
    assert_null(list_value(list));
    lead_to(LIST_STAYS, "<enter>");
    assert_drawn(40, 4, " Fruit / RED appxyz                   0\n no matches\n");
    act("<ctrl-u>");
    assert_int_equal(list_count(list), 4);
    act("/j"); /* a filter may begin with a letter that moves */
    assert_int_equal(list_count(list), 1);
    assert_string_equal(list_value(list), "j");
    selects("<backspace>j", "b");
}

TEST(test_typing_lists_filter_at_once)
{
    begin(LIST_TYPE);
    selects("j", "j");
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
    lead_to(LIST_CHOSEN, "<enter>");
    lead_to(LIST_CLOSED, "<escape><ctrl-c>");
    assert_true(list_click(list, 3));
    assert_string_equal(list_value(list), "c");
    assert_false(list_click(list, 0));
    assert_false(list_click(list, 5));
}

TEST(test_popups_leave_the_text_alone)
{
    begin(LIST_POPUP);
    lead_to(LIST_NOT_MINE, "j<backspace><enter><home>");
    lead_to(LIST_STAYS, "<down>");
    assert_string_equal(list_value(list), "b");
    assert_true(list_click(list, 0));
    assert_string_equal(list_value(list), "a");
    assert_drawn(30, 2, "›Apple   red and round\n Banana  yellow\n");
}

TEST(test_reading)
{
    begin(LIST_READ);
    assert_drawn(30, 3, " Fruit\n Apple   red and round\n Banana  yellow\n");
    act("<down>");
    assert_drawn(30, 3, " Fruit\n Banana  yellow\n Cherry  red\n");
    act("<ctrl-end>");
    assert_drawn(30, 3, " Fruit\n Cherry  red\n Jujube  red\n");
    act("<down><down>");
    assert_drawn(30, 3, " Fruit\n Cherry  red\n Jujube  red\n");
    lead_to(LIST_CLOSED, "<enter><escape>");
    act("ju"); /* every letter filters */
    assert_drawn(30, 3, " Fruit / ju\n Jujube  red\n");
}

/* From three rows below the title on, a long text says where it is and how to go on. */
TEST(test_a_long_text_has_a_foot)
{
    begin(LIST_READ);
    assert_drawn(40, 5,
                 " Fruit                   type to filter\n Apple   red and round\n"
                 " Banana  yellow\n Cherry  red\n Jujube  red\n");
    assert_drawn(40, 4,
                 " Fruit\n Apple   red and round\n Banana  yellow\n"
                 " 1/3 · type to filter\n");
    act("<pagedown>");
    assert_drawn(40, 4, " Fruit\n Banana  yellow\n Cherry  red\n 2/3 · type to filter\n");
    act("<end>");
    assert_drawn(40, 4, " Fruit\n Cherry  red\n Jujube  red\n 3/3 · type to filter\n");
    act("<home>e");
    assert_drawn(40, 4, " Fruit / e\n Apple   red and round\n Banana  yellow\n 1/3\n");
}

/* F1's words about each kind of list. */
TEST(test_keys_are_as_the_help_says)
{
    static const struct {
        enum list_mode mode;
        const char *before, *key;
        enum list_result result;
        size_t count;
        const char *value; /* NULL: not looked at */
    } cases[] = {
        {LIST_TYPE, "", "j", LIST_STAYS, 1, "j"},
        {LIST_PICK, "", "u", LIST_STAYS, 2, NULL},
        {LIST_READ, "", "j", LIST_STAYS, 1, NULL},
        {LIST_PICK, "/", "j", LIST_STAYS, 1, "j"},
        {LIST_READ, "/", "j", LIST_STAYS, 1, NULL},
        {LIST_PICK, "", "j", LIST_STAYS, 4, "b"},
        {LIST_PICK, "G", "k", LIST_STAYS, 4, "c"},
        {LIST_PICK, "j", "G", LIST_STAYS, 4, "j"},
        {LIST_PICK, "G", "g", LIST_STAYS, 4, "a"},
        {LIST_PICK, "j", "n", LIST_STAYS, 4, "c"},
        {LIST_PICK, "G", "N", LIST_STAYS, 4, "c"},
        {LIST_PICK, "j", "<ctrl-n>", LIST_STAYS, 4, "c"},
        {LIST_TYPE, "<down*2>", "<ctrl-p>", LIST_STAYS, 4, "b"},
        {LIST_TYPE, "", "<pagedown>", LIST_STAYS, 4, "j"},
        {LIST_TYPE, "", "<end>", LIST_STAYS, 4, "j"},
        {LIST_PICK, "<end>", "<ctrl-a>", LIST_STAYS, 4, "a"},
        {LIST_PICK, "", "<enter>", LIST_CHOSEN, 4, "a"},
        {LIST_TYPE, "", "<enter>", LIST_CHOSEN, 4, "a"},
        {LIST_READ, "", "<enter>", LIST_CLOSED, 4, NULL},
        {LIST_PICK, "", "<escape>", LIST_CLOSED, 4, NULL},
        {LIST_TYPE, "", "<escape>", LIST_CLOSED, 4, NULL},
        {LIST_READ, "", "<ctrl-c>", LIST_CLOSED, 4, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        list_free(list);
        begin(cases[i].mode);
        act(cases[i].before);
        lead_to((int)cases[i].result, cases[i].key);
        assert_int_equal(list_count(list), cases[i].count);
        if (cases[i].value)
            assert_string_equal(list_value(list), cases[i].value);
    }
    list_free(list);
    begin(LIST_READ); /* a space turns the page */
    assert_drawn(40, 4,
                 " Fruit\n Apple   red and round\n Banana  yellow\n"
                 " 1/3 · type to filter\n");
    act(" ");
    assert_drawn(40, 4, " Fruit\n Banana  yellow\n Cherry  red\n 2/3 · type to filter\n");
}

TEST(test_what_is_read_is_wrapped)
{
    list = list_new(LIST_READ, "Fruit");
    list_add(list, "Apple", "red and round", "");
    list_add(list, "Fig", "blue", "");
    assert_drawn(18, 4, " Fruit\n Apple  red and\n        round\n Fig    blue\n");
    assert_drawn(9, 6, " Fruit\n Apple\n   red\n   and\n   round\n 1/2\n");
    list_filter(list, "fig");
    assert_drawn(18, 4, " Fruit / fig\n Fig    blue\n");
    list_filter(list, "");
    assert_drawn(18, 3, " Fruit\n Apple  red and\n        round\n");
    act("<ctrl-end>");
    assert_drawn(18, 3, " Fruit\n        round\n Fig    blue\n");
    act("<ctrl-home>");
    list_add(list, "Pomegranate", "sour", ""); /* a wide label moves no other text */
    assert_drawn(
        18, 6,
        " Fruit\n Apple  red and\n        round\n Fig    blue\n Pomegranate\n        sour\n");
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
        act("<ctrl-home>");
        for (int i = 0; i < 1200; i++) {
            const char *mark = strstr(drawn(20, height), "›");
            if (height > 1) {
                assert_non_null(mark);
                assert_memory_equal(mark + strlen("›"), list_value(list), strlen(list_value(list)));
            }
            act(i % 5 ? "<down>" : "<pagedown>");
        }
        assert_string_equal(list_value(list), "row 999");
    }
}

TEST(test_a_key_stands_at_the_right)
{
    list = list_new(LIST_POPUP, NULL);
    list_add_key(list, "/find TEXT", "find a text", "find", "Ctrl-F");
    list_add_key(list, "/new", "begin another one", "new", "");
    assert_drawn(40, 3,
                 "›/find TEXT  find a text         Ctrl-F\n /new        begin another one\n");
    assert_drawn(30, 3, "›/find TEXT  find a t… Ctrl-F\n /new        begin another one\n");
    assert_drawn(18, 3, "›/find TE…  find …\n /new       begin…\n");
    list_mark(list, "new");
    list_mark(list, "gone");
    assert_string_equal(list_value(list), "new");
}

TEST(test_foreign_text_is_cleaned)
{
    list = list_new(LIST_PICK, "x");
    list_add(list, "a\033[31m\nb", "\x9b!", "v");
    assert_says(drawn(40, 3), "!\033", "a␛[31m b");
}

TEST(test_any_size_can_be_drawn)
{
    begin(LIST_PICK);
    list_add(list, "日本語の長い題名がここにあります", "とても長い説明文", "w");
    act("/");
    for (int width = 0; width < 50; width++)
        for (int height = 1; height < 8; height++) {
            const struct rows *rows = list_rows(list, width, height);
            assert_true(rows->list.len <= (size_t)height);
            for (size_t i = 0; i < rows->list.len && width > 1; i++)
                assert_true(rows_width(rows, i) <= (size_t)width);
        }
}
