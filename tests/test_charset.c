/* A locale that is not UTF-8: the replacement characters, and columns that agree with them. */
#include <locale.h>

#include "base/utf8.h"
#include "tests/suite.h"

static void start(const char *all, const char *lang)
{
    setenv("LC_ALL", all, 1);
    setenv("LANG", lang, 1);
    setlocale(LC_ALL, "C"); /* as a program begins */
    charset_start();
}

static void expect(void (*convert)(struct buf *, const char *, size_t), const char *text,
                   const char *wanted)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    convert(&out, text, strlen(text));
    assert_string_equal(out.data, wanted);
}

FIXTURE(support_setup, support_teardown);

TEST(ascii_stands_in)
{
    start("C", "C");
    assert_int_equal(charset(), CHARSET_OTHER);
    expect(charset_encode, "für Köln", "fur Koln");
    expect(charset_encode, "e\u0301 \u00e9 \u0141 \u00df \u20ac \u2192 \u2026",
           "e e ? ss EUR -> ...");
    expect(charset_encode, "\u65e5\u672c \U0001F468\u200D\U0001F469 \u2764\uFE0F", "?? ?? ?");
    expect(charset_encode, "plain\n\ttext", "plain\n\ttext");
    expect(charset_reveal, "a\u0430/\u00fc", "a<U+0430>/<U+00FC>");
    start("C", "de_DE.UTF-8");
    expect(charset_encode, "für KÖLN, Äpfel, naïve", "fuer KOeLN, Aepfel, naive");
}

TEST(utf8_is_left_alone)
{
    char stand_in[CHARSET_STAND_IN_MAX];
    start("C.UTF-8", "C");
    assert_int_equal(charset(), CHARSET_UTF8);
    assert_false(charset_lacks(0x65e5, stand_in));
    expect(charset_encode, "für \u65e5\u672c", "für \u65e5\u672c");
    expect(charset_decode, "für", "für");
    expect(charset_reveal, "für", "für");
    start("", "");
    assert_int_equal(charset(), CHARSET_UTF8);
}

TEST(a_locale_that_is_not_there_keeps_its_characters)
{
    start("xx_XX.utf8@euro", "C");
    assert_int_equal(charset(), CHARSET_ASSUMED);
    assert_string_equal(charset_locale(), "xx_XX.utf8@euro");
    assert_int_equal(utf8_cp_width(0x65e5), 2);
    start("xx_XX", "C"); /* not of UTF-8 by its name */
    assert_int_equal(charset(), CHARSET_OTHER);
}

TEST(bytes_of_the_set_are_read)
{
    start("C", "C");
    expect(charset_decode, "für", "für");
    expect(charset_decode,
           "a\xfc"
           "b",
           "a\ufffdb");
}

/* The columns of the layout are those of the characters that are written. */
TEST(columns_are_those_of_the_stand_in)
{
    uint64_t seed = support_seed();
    start("C", "C");
    for (int round = 0; round < 2000; round++) {
        char text[64];
        size_t len = 0;
        AUTO(buf_release) struct buf out = BUF_INIT;
        for (int i = 0; i < 10; i++)
            len += utf8_encode((uint32_t)support_random(&seed) % 0x1FFFF | 0x20, text + len);
        charset_encode(&out, text, len);
        assert_true(utf8_valid(out.data, out.len));
        assert_int_equal(utf8_width(text, len), utf8_width(out.data, out.len));
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.data[i] < 0x80);
    }
}
