#include <wchar.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/utf8.h"
#include "tests/suite.h"

#define WATER "\xE6\xB0\xB4" /* U+6C34, two columns */
#define E_ACUTE "e\xCC\x81"  /* e and a combining accent */
#define FAMILY "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"
#define FLAG_DE "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA"
#define FLAG_JP "\xF0\x9F\x87\xAF\xF0\x9F\x87\xB5"
#define BAD "\xEF\xBF\xBD" /* U+FFFD */

BEFORE_ALL(support_utf8);

TEST(every_code_point_survives)
{
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        char bytes[4];
        uint32_t back;
        size_t len = utf8_encode(cp, bytes);
        assert_int_equal(utf8_decode(bytes, len, &back), len);
        assert_int_equal(back, cp >= 0xD800 && cp <= 0xDFFF ? 0xFFFD : cp);
        assert_true(utf8_valid(bytes, len));
    }
    char bytes[4];
    assert_int_equal(utf8_encode(0x110000, bytes), 3);
    assert_memory_equal(bytes, BAD, 3);
}

TEST(broken_sequences_are_single_bytes)
{
    static const char *const broken[] = {
        "\x80",
        "\xBF",
        "\xC0\x80",
        "\xC1\xBF",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80",
        "\xF5\x80\x80",
        "\xF8\x88\x80\x80",
        "\xFE",
        "\xFF",
        "\xC3",
        "\xE6\xB0",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE6\xB0(",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        uint32_t cp;
        assert_int_equal(utf8_decode(broken[i], strlen(broken[i]), &cp), 1);
        assert_int_equal(cp, 0xFFFD);
        assert_false(utf8_valid(broken[i], strlen(broken[i])));
    }
    uint32_t cp;
    assert_int_equal(utf8_decode("", 0, &cp), 0);
    assert_true(utf8_valid(BAD "\0" WATER, 7));
}

TEST(incomplete_tails_are_counted)
{
    static const struct {
        const char *text;
        size_t tail;
    } cases[] = {
        {"", 0},
        {"abc", 0},
        {WATER, 0},
        {"a\xC3", 1},
        {"a\xE6\xB0", 2},
        {"a\xE6", 1},
        {"\xF0\x9F\x98", 3},
        {"\xF0\x9F", 2},
        {"\xC3\xA9\xC3", 1},
        {"\x80\x80", 0},
        {"\xE0\x80", 0},
        {"\xED\xA0", 0},
        {"\xFF", 0},
        {"\xC3\xA9\x80", 0},
        {"\xF5\x80", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_incomplete_tail(cases[i].text, strlen(cases[i].text)), cases[i].tail);
}

TEST(columns_are_those_of_wcwidth)
{
    assert_int_equal(utf8_width("plain", 5), 5);
    assert_int_equal(utf8_width(WATER WATER, 6), 4);
    assert_int_equal(utf8_width(E_ACUTE "x", 4), 2);
    assert_int_equal(utf8_width("\t\x1B\x7F", 3), 0);
    for (uint32_t cp = 0; cp < 0x30000; cp++) {
        int theirs = wcwidth((wchar_t)cp);
        char text[5] = "";
        AUTO(buf_release) struct buf shown = BUF_INIT;
        utf8_clean(&shown, text, utf8_encode(cp, text), UTF8_ONE_LINE);
        bool marked = strcmp(shown.data, BAD) == 0 && strcmp(text, BAD) != 0;
        assert_int_equal(utf8_cp_width(cp), theirs > 0 ? theirs : marked);
    }
}

TEST(graphemes_are_stepped_over_whole)
{
    static const char *const graphemes[] = {"a",     "b",     E_ACUTE, WATER, FAMILY, FLAG_DE,
                                            FLAG_JP, "\r\n",  "\n",    "c",   "\xFF", "\x80",
                                            WATER,   E_ACUTE, FLAG_JP, "z"};
    const size_t count = sizeof graphemes / sizeof *graphemes;
    char text[256] = "";
    for (size_t i = 0; i < count; i++)
        strcat(text, graphemes[i]);
    size_t len = strlen(text), pos = 0;
    for (size_t i = 0; i < count; i++) {
        pos += strlen(graphemes[i]);
        assert_int_equal(utf8_next(text, len, pos - strlen(graphemes[i])), pos);
    }
    assert_int_equal(utf8_next(text, len, len), len);
    for (size_t i = count; i-- > 0;) {
        size_t before = utf8_prev(text, len, pos);
        assert_int_equal(pos - before, strlen(graphemes[i]));
        pos = before;
    }
    assert_int_equal(utf8_prev(text, len, 0), 0);
}

TEST(cuts_end_on_borders)
{
    const char *text = "ab" E_ACUTE WATER FLAG_DE "c";
    size_t len = strlen(text); /* borders: 0 1 2 5 8 16 17 */
    static const size_t by_bytes[] = {0, 1, 2, 2, 2, 5, 5, 5, 8, 8, 8, 8, 8, 8, 8, 8, 16, 17, 17};
    for (size_t max = 0; max < sizeof by_bytes / sizeof *by_bytes; max++)
        assert_int_equal(utf8_cut_bytes(text, len, max), by_bytes[max]);
    static const size_t by_width[] = {0, 1, 2, 5, 5, 8};
    for (size_t max = 0; max < sizeof by_width / sizeof *by_width; max++)
        assert_int_equal(utf8_cut_width(text, len, max), by_width[max]);
    assert_int_equal(utf8_cut_width(text, len, 100), len);
}

TEST(what_is_cut_ends_with_a_mark)
{
    const char *text = "ab" E_ACUTE;
    AUTO(buf_release) struct buf out = BUF_INIT;
    utf8_add_cut(&out, text, strlen(text), strlen(text));
    utf8_add_cut(&out, text, strlen(text), strlen(text) - 1);
    utf8_add_cut(&out, "", 0, 0);
    utf8_add_cut(&out, text, 1, 9);
    assert_string_equal(out.data, "ab" E_ACUTE "ab…a");
}

/* Random texts: moving back border by border meets the same borders as moving forward, and cuts
 * agree with them. */
TEST(back_and_forth_agree)
{
    static const char *const parts[] = {"a",
                                        " ",
                                        "\xCC\x81",
                                        "\xE2\x80\x8D",
                                        "\xF0\x9F\x91\xA8",
                                        WATER,
                                        "\xF0\x9F\x87\xA9",
                                        "\r",
                                        "\n",
                                        "\xD8\x80",
                                        "\xE1\x84\x80",
                                        "\xE1\x85\xA1",
                                        "\x80",
                                        "\xE6",
                                        "\xF0\x9F\x8F\xBD",
                                        "\xE0\xA4\xA8",
                                        "\xE0\xA5\x8D"};
    entropy_seed(support_seed());
    for (int round = 0; round < 3000; round++) {
        char text[64] = "";
        size_t count = 1 + (size_t)(entropy_unit() * 14);
        for (size_t i = 0; i < count; i++)
            strcat(text, parts[(size_t)(entropy_unit() * (sizeof parts / sizeof *parts))]);
        size_t len = strlen(text), last = 0;
        for (size_t pos = 0; pos < len; last = pos) {
            pos = utf8_next(text, len, pos);
            assert_true(pos > last && pos <= len);
            assert_int_equal(utf8_prev(text, len, pos), last);
            for (size_t max = last; max < pos; max++)
                assert_int_equal(utf8_cut_bytes(text, len, max), last);
        }
    }
}

static void assert_cleaned(const char *from, enum utf8_clean_mode mode, const char *to)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    buf_addstr(&out, "> ");
    utf8_clean(&out, from, strlen(from), mode);
    assert_string_equal(out.data + 2, to);
}

TEST(cleaning_leaves_nothing_that_acts)
{
    assert_cleaned("plain " WATER E_ACUTE FAMILY, UTF8_ONE_LINE, "plain " WATER E_ACUTE FAMILY);
    assert_cleaned("a\x1B[31mb\x07\x7F", UTF8_ONE_LINE,
                   "a\xE2\x90\x9B[31mb\xE2\x90\x87\xE2\x90\xA1");
    assert_cleaned("a\r\nb\rc\n\td", UTF8_MULTILINE, "a\nb\nc\n\td");
    assert_cleaned("a\r\nb\rc\n\td", UTF8_ONE_LINE, "a b c  d");
    assert_cleaned(
        "\xC2\x9B"
        "31m\xC2\x85",
        UTF8_MULTILINE, BAD "31m" BAD);
    assert_cleaned(
        "\xE2\x80\xAE"
        "x\xE2\x81\xA6"
        "y",
        UTF8_MULTILINE, BAD "x" BAD "y");
    assert_cleaned("\xE2\x80\xA8\xE2\x80\xA9", UTF8_MULTILINE, "\n\n");
    assert_cleaned("x\U000E0041\U000E01EFy\u2062\uFE01\uFFFA", UTF8_MULTILINE,
                   "x" BAD BAD "y" BAD BAD BAD);
    assert_cleaned("\u2764\uFE0F a\u200Cb\u200Bc\u200Fd\u00AD", UTF8_MULTILINE,
                   "\u2764\uFE0F a\u200Cb\u200Bc\u200Fd\u00AD");
    assert_cleaned(
        "\xFF"
        "a\xE6\xB0",
        UTF8_MULTILINE, BAD "a" BAD BAD);
    assert_cleaned("trailing\r", UTF8_MULTILINE, "trailing\n");
    AUTO(buf_release) struct buf out = BUF_INIT;
    utf8_clean(&out, "a\0b", 3, UTF8_ONE_LINE);
    assert_string_equal(out.data,
                        "a\xE2\x90\x80"
                        "b");
}

/* For any bytes the result is valid, without controls, and unchanged by a second pass. */
TEST(cleaning_random_bytes_is_final)
{
    entropy_seed(support_seed());
    for (int round = 0; round < 500; round++) {
        unsigned char bytes[200];
        entropy_fill(bytes, sizeof bytes);
        enum utf8_clean_mode mode = round % 2 ? UTF8_ONE_LINE : UTF8_MULTILINE;
        AUTO(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
        utf8_clean(&once, (const char *)bytes, sizeof bytes, mode);
        assert_true(utf8_valid(once.data, once.len));
        for (size_t i = 0; i < once.len; i++) {
            unsigned char c = (unsigned char)once.data[i];
            bool layout = mode == UTF8_MULTILINE && (c == '\n' || c == '\t');
            assert_true((c >= 0x20 && c != 0x7F) || layout);
        }
        utf8_clean(&twice, once.data, once.len, mode);
        assert_string_equal(once.data, twice.data);
    }
}

static void assert_revealed(const char *from, enum utf8_clean_mode mode, const char *to)
{
    AUTO(buf_release) struct buf out = BUF_INIT, again = BUF_INIT;
    utf8_reveal(&out, from, strlen(from), mode);
    assert_string_equal(out.data, to);
    utf8_reveal(&again, out.data, out.len, mode);
    assert_string_equal(again.data, to);
}

TEST(revealing_leaves_nothing_unseen)
{
    static const char *const untouched[] = {
        "plain " WATER E_ACUTE FAMILY FLAG_DE, "\u00E4\u0416\u05D0\u0928\u3042",
        "\u2764\uFE0F 1\uFE0F\u20E3 \u270B\U0001F3FD", "\U0001F469\U0001F3FD\u200D\U0001F4BB"};
    for (size_t i = 0; i < sizeof untouched / sizeof *untouched; i++)
        assert_revealed(untouched[i], UTF8_ONE_LINE, untouched[i]);
    static const struct {
        const char *from, *to;
    } hidden[] = {
        {"r\u200Bm", "r<U+200B>m"},
        {"a\u200Db\u200Cc\u200Ed\u200F", "a<U+200D>b<U+200C>c<U+200E>d<U+200F>"},
        {"\u202Etxt\u202C\u2066\u2069", "<U+202E>txt<U+202C><U+2066><U+2069>"},
        {"\u2060\u2064\uFEFF\u00AD\u061C", "<U+2060><U+2064><U+FEFF><U+00AD><U+061C>"},
        {"x\U000E0041\U000E007F", "x<U+E0041><U+E007F>"},
        {"x\uFE0Fy\uFE00\U000E0100", "x<U+FE0F>y<U+FE00><U+E0100>"},
        {"\u2764\uFE0F\uFE0F", "\u2764\uFE0F<U+FE0F>"},
        {"1\uFE0Fx", "1<U+FE0F>x"},
        {"\u3164\u115F\u1160\uFFA0\u2800\u034F\u180E",
         "<U+3164><U+115F><U+1160><U+FFA0><U+2800><U+034F><U+180E>"},
        {"a\u00A0b\u3000c\u2003", "a<U+00A0>b<U+3000>c<U+2003>"},
        {"\u2028\u2029\xC2\x85\xC2\x9B", "<U+2028><U+2029><U+0085><U+009B>"},
        {"a\x1B[31m\x07\x7F\r", "a\u241B[31m\u2407\u2421\u240D"},
        {"a\xFF\xE2\x80", "a<0xFF><0xE2><0x80>"},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        assert_revealed(hidden[i].from, UTF8_ONE_LINE, hidden[i].to);
    assert_revealed("a\r\n\tb\n", UTF8_MULTILINE, "a\u240D\n\tb\n");
    assert_revealed("a\r\n\tb\n", UTF8_ONE_LINE, "a\u240D\u240A\u2409b\u240A");
}

TEST(matching_ignores_case)
{
    assert_true(utf8_contains_folded("The Quick Fox", "quick"));
    assert_true(utf8_contains_folded("\xC3\x89T\xC3\x89", "\xC3\xA9t\xC3\xA9"));
    assert_true(utf8_contains_folded("\xCE\xA3\xCE\xAF\xCF\x82", "\xCF\x83\xCE\xAF\xCF\x83"));
    assert_true(utf8_contains_folded("anything", ""));
    assert_false(utf8_contains_folded("", "x"));
    assert_false(utf8_contains_folded("quic", "quick"));
    assert_true(utf8_contains_folded("aaab", "AAB")); /* a partial match may contain the start of
                                                       * another */
    assert_true(utf8_contains_folded("x\xE2\x84\xAA", "k"));            /* the sign of Kelvin */
    assert_true(utf8_contains_folded("\xC5\xBF", "S"));                 /* the long s */
    assert_false(utf8_contains_folded("gr\xC3\xB6\xC3\x9F", "gr\xC3")); /* half a character */
    assert_true(utf8_contains_folded("a\xC3(b", "\xC3(B"));
    assert_false(utf8_contains_folded("[", "{"));
    assert_false(utf8_contains_folded("@", "`"));
}

/* Megabytes take milliseconds; the limit is for a machine under load with sanitizers, yet far
 * below what anything quadratic would need. */
TEST(long_texts_are_linear)
{
    enum { SIZE = 1 << 20 };
    static char text[SIZE];
    static const char *const fills[] = {"a", WATER, "\xCC\x81", "\x80", "\xF0\x9F\x87\xA9"};
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++) {
        size_t unit = strlen(fills[f]), len = SIZE / unit * unit;
        for (size_t i = 0; i < len; i += unit)
            memcpy(text + i, fills[f], unit);
        int64_t start = clock_mono_ms();
        AUTO(buf_release) struct buf out = BUF_INIT;
        utf8_clean(&out, text, len, UTF8_MULTILINE);
        size_t steps = 0;
        for (size_t pos = 0; pos < len; steps++)
            pos = utf8_next(text, len, pos);
        assert_true(steps > 0);
        assert_true(utf8_cut_width(text, len, SIZE * 4) == len);
        (void)utf8_cut_bytes(text, len, len - 1);
        assert_true(clock_mono_ms() - start < 5000);
    }
}
