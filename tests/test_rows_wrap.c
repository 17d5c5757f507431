/* rows and wrap: looks are kept, rows fit, nothing is lost. */
#include "base/clock.h"
#include "base/utf8.h"
#include "tests/suite.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"

/* All rows, each ended by '|'. The caller releases. */
static struct buf joined(const struct rows *r)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < r->list.len; i++) {
        buf_add(&out, r->text.data + r->list.items[i].text, r->list.items[i].len);
        buf_addch(&out, '|');
    }
    return out;
}

static void expect(const char *text, size_t width, enum wrap_mode mode, const char *first,
                   const char *rest, const char *wanted)
{
    AUTO(rows_release) struct rows rows = {0};
    AUTO(styled_release) struct styled styled = {0}, a = {0}, b = {0};
    rows_init(&rows);
    styled_init(&styled);
    styled_init(&a);
    styled_init(&b);
    styled_addstr(&styled, text, STYLE_TEXT, 0);
    styled_addstr(&a, first, STYLE_DIM, 0);
    styled_addstr(&b, rest, STYLE_DIM, 0);
    wrap_text(&rows, &styled, &(struct wrap_look){width, mode, &a, &b});
    AUTO(buf_release) struct buf got = joined(&rows);
    assert_string_equal(got.data, wanted);
}

BEFORE_ALL(support_utf8);

TEST(breaks_at_spaces)
{
    expect("the quick brown fox", 9, WRAP_WORDS, "", "", "the quick|brown fox|");
    expect("the quick brown fox", 10, WRAP_WORDS, "", "", "the quick|brown fox|");
    expect("a     b", 3, WRAP_WORDS, "", "", "a|b|");
    expect("", 10, WRAP_WORDS, "> ", "  ", "> |");
    expect("one\n\ntwo\n", 10, WRAP_WORDS, "", "", "one||two|");
    expect("full \nrow", 4, WRAP_WORDS, "", "", "full|row|");
    expect("  indented text", 10, WRAP_WORDS, "", "", "  indented|text|");
}

TEST(breaks_long_words_between_graphemes)
{
    expect("abcdefghij", 4, WRAP_WORDS, "", "", "abcd|efgh|ij|");
    expect("to abcdefghij", 4, WRAP_WORDS, "", "", "to|abcd|efgh|ij|");
    expect("e\u0301e\u0301e\u0301", 2, WRAP_WORDS, "", "", "e\u0301e\u0301|e\u0301|");
}

TEST(keeps_wide_characters_whole)
{
    expect("日本語", 5, WRAP_WORDS, "", "", "日本|語|");
    expect("a日本", 2, WRAP_HARD, "", "", "a|日|本|");
    expect("日a", 1, WRAP_WORDS, "", "", "?|a|");
    expect("です。次", 6, WRAP_WORDS, "", "", "です。|次|");
    expect("です。次", 4, WRAP_WORDS, "", "", "で|す。|次|");
}

TEST(hangs_the_indent)
{
    expect("the quick brown fox", 13, WRAP_WORDS, "- ", "  ", "- the quick|  brown fox|");
    expect("abcdef", 3, WRAP_WORDS, "        ", "        ", " ab| cd| ef|");
}

TEST(code_is_broken_hard)
{
    expect("if (a) b", 4, WRAP_HARD, "", "", "if (|a) b|");
    expect("\tx\ty", 20, WRAP_HARD, "", "", "    x   y|");
    expect("ab\tc", 3, WRAP_HARD, "", "", "ab|   |c|");
}

TEST(spans_follow_their_text)
{
    AUTO(rows_release) struct rows rows = {0};
    AUTO(styled_release) struct styled s = {0};
    rows_init(&rows);
    styled_init(&s);
    styled_addstr(&s, "plain ", STYLE_TEXT, 0);
    styled_addstr(&s, "bold bold", STYLE_TEXT, ATTR_BOLD);
    styled_addstr(&s, " code", STYLE_CODE, 0);
    wrap_text(&rows, &s, &(struct wrap_look){10, WRAP_WORDS, NULL, NULL});
    assert_int_equal(rows.list.len, 2);
    assert_int_equal(rows.list.items[0].span_count, 2);
    assert_int_equal(rows.list.items[1].span_count, 2);
    const struct span *span = &rows.spans.items[rows.list.items[1].spans];
    assert_int_equal(span[0].attrs, ATTR_BOLD);
    assert_int_equal(span[0].len, 4);
    assert_int_equal(span[1].style, STYLE_CODE);
    assert_int_equal(span[1].len, 5);
}

TEST(adjacent_pieces_of_one_look_are_one_span)
{
    AUTO(rows_release) struct rows a = {0}, b = {0};
    rows_init(&a);
    rows_init(&b);
    rows_begin(&a);
    rows_addstr(&a, "one", STYLE_TEXT, 0);
    rows_addstr(&a, "", STYLE_DIM, 0);
    rows_addstr(&a, "two", STYLE_TEXT, 0);
    rows_addstr(&a, "日", STYLE_TEXT, ATTR_BOLD);
    assert_int_equal(a.list.items[0].span_count, 2);
    assert_int_equal(rows_width(&a, 0), 8);
    struct rows_mark mark = rows_mark(&a);
    rows_copy(&b, &a, 0);
    rows_begin(&a);
    rows_addstr(&a, "dropped", STYLE_DIM, 0);
    rows_truncate(&a, mark);
    assert_int_equal(a.list.len, 1);
    assert_int_equal(a.spans.len, 2);
    assert_string_equal(a.text.data, b.text.data);
    assert_int_equal(b.list.items[0].span_count, 2);
}

TEST(cuts_with_an_ellipsis)
{
    static const struct {
        size_t columns;
        const char *wanted;
    } cases[] = {{20, "a 日本 b"}, {8, "a 日本 b"}, {7, "a 日本…"}, {5, "a 日…"},
                 {4, "a …"},       {1, "a"},        {0, ""}};
    AUTO(styled_release) struct styled s = {0};
    styled_init(&s);
    styled_addstr(&s, "a 日本 b", STYLE_TEXT, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(rows_release) struct rows rows = {0};
        rows_init(&rows);
        rows_begin(&rows);
        wrap_add_cut(&rows, &s, cases[i].columns);
        assert_string_equal(rows.text.data, cases[i].wanted);
    }
}

static void random_text(struct buf *out, uint64_t *seed)
{
    static const char *const pieces[] = {
        "a",  "word",      " ", "  ", "日", "。",     "e\u0301",
        "\t", "\u200d",    "-", "(",  ")",  "\u0301", "👩‍👩‍👧‍👦",
        "🇩🇪", "longerword"};
    buf_clear(out);
    for (size_t n = support_random(seed) % 40; n > 0; n--)
        buf_addstr(out, pieces[support_random(seed) % (sizeof pieces / sizeof *pieces)]);
}

static void add_ink(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t')
            buf_addch(out, text[i]);
}

/* At any width from 2 on, rows fit and contain all text that is not blank, in order. */
TEST(nothing_is_lost_and_all_fits)
{
    uint64_t seed = support_seed();
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int round = 0; round < 3000; round++) {
        size_t width = 2 + support_random(&seed) % 20;
        enum wrap_mode mode = support_random(&seed) % 2 ? WRAP_WORDS : WRAP_HARD;
        AUTO(rows_release) struct rows rows = {0};
        AUTO(styled_release) struct styled s = {0};
        AUTO(buf_release) struct buf want = BUF_INIT, got = BUF_INIT;
        random_text(&text, &seed);
        rows_init(&rows);
        styled_init(&s);
        styled_addstr(&s, text.data, STYLE_TEXT, 0);
        wrap_text(&rows, &s, &(struct wrap_look){width, mode, NULL, NULL});
        for (size_t i = 0; i < rows.list.len; i++) {
            assert_true(rows_width(&rows, i) <= width);
            add_ink(&got, rows.text.data + rows.list.items[i].text, rows.list.items[i].len);
        }
        add_ink(&want, text.data, text.len);
        assert_string_equal(got.data, want.data);
    }
}

TEST(kept_spaces_leave_no_gap)
{
    uint64_t seed = support_seed();
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int round = 0; round < 2000; round++) {
        random_text(&text, &seed);
        size_t width = 1 + support_random(&seed) % 12;
        for (size_t pos = 0; pos < text.len;) {
            struct wrap_piece p = wrap_next(text.data, text.len, pos, width, WRAP_KEEP);
            assert_true(p.next > pos);
            assert_int_equal(p.end, p.next);
            pos = p.next;
        }
    }
}

/* A grapheme of a megabyte must not be measured again for each of its rows. */
TEST(a_giant_grapheme_is_no_trap)
{
    AUTO(rows_release) struct rows rows = {0};
    AUTO(styled_release) struct styled s = {0};
    rows_init(&rows);
    styled_init(&s);
    for (int i = 0; i < 200000; i++)
        styled_addstr(&s, "👩\u200d", STYLE_TEXT, 0);
    int64_t begun = clock_mono_ms();
    wrap_text(&rows, &s, &(struct wrap_look){80, WRAP_WORDS, NULL, NULL});
    assert_true(clock_mono_ms() - begun < 5000);
    for (size_t i = 0; i < rows.list.len; i++)
        assert_true(rows_width(&rows, i) <= 80);
    assert_true(rows.list.len >= 2500);
}

TEST(glyphs_have_the_width_that_they_say)
{
    for (int ascii = 0; ascii < 2; ascii++) {
        glyph_set_up(ascii);
        for (int i = 0; i < GLYPH_COUNT; i++) {
            const char *text = glyph((enum glyph)i);
            assert_true(utf8_width(text, strlen(text)) >= 1);
            if (ascii)
                assert_int_equal(utf8_width(text, strlen(text)), strlen(text));
            else
                assert_int_equal(utf8_width(text, strlen(text)), 1);
        }
    }
    glyph_set_up(false);
}
