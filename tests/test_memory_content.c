/* The normalisation of texts in memory, the equality of texts, and summaries that quote a text. */
#include "memory/content.h"
#include "memory/summary_flags.h"
#include "tests/suite.h"

static void expect_clean(const char *text, const char *clean)
{
    char *got = support_keep(content_clean(text));
    if (!clean)
        assert_null(got);
    else
        assert_string_equal(got, clean);
}

TEST(texts_are_trimmed)
{
    expect_clean("a", "a");
    expect_clean(" \t\r\n a  b \n ", "a  b");
    expect_clean("\u3000日本\u00a0", "日本");
    expect_clean("\ufeffx\u2028", "x");
    expect_clean("", NULL);
    expect_clean(" \n\u2003 ", NULL);
    expect_clean(" password=hunter2 ", "password=[secret]");
    expect_clean("\xff ", "\xff");
}

TEST(blanks_do_not_part_texts)
{
    assert_string_equal(support_keep(content_normal("  a \n\n b\u3000c ")), "a b c");
    assert_true(content_equal("a  b", " a\nb"));
    assert_false(content_equal("a b", "ab"));
    assert_false(content_equal("a b", "A b"));
    assert_true(content_digest("a  b") == content_digest(" a\nb "));
    assert_true(content_digest("a b") != content_digest("ab"));
    assert_true(content_digest("") != content_digest("b"));
}

TEST(the_newer_and_the_pinned_stay)
{
    const struct memory_entry old = {.created_ms = 1}, new = {.created_ms = 2},
                              pinned = {.created_ms = 1, .pinned = true};
    assert_false(content_stays(&old, &new));
    assert_true(content_stays(&new, &old));
    assert_true(content_stays(&old, &old));
    assert_true(content_stays(&pinned, &new));
}

/* Borrows both. */
static struct memory_entry entry_of(const char *session_id, const char *content)
{
    return (struct memory_entry){.session_id = (char *)session_id, .content = (char *)content};
}

TEST(an_id_is_again_or_taken)
{
    const struct memory_entry there = entry_of("s", "a b"), same = entry_of("s", "a  b"),
                              other = entry_of("s", "c"), elsewhere = entry_of("t", "a b");
    struct memory_entry edited = entry_of("s", "x");
    edited.edited = true;
    assert_true(content_is_again(&there, &same));
    assert_false(content_is_again(&there, &other));
    assert_false(content_is_again(&there, &elsewhere));
    assert_true(content_is_again(&edited, &other));
    assert_false(content_is_again(&edited, &elsewhere));
}

TEST(ids_are_short_and_differ)
{
    struct fresh_ids supply = {0};
    char *a = support_keep(fresh_ids_next(&supply)), *b = support_keep(fresh_ids_next(&supply));
    assert_int_equal(strlen(a), 12);
    assert_int_equal(strspn(a, "0123456789abcdefghjkmnpqrstvwxyz"), 12);
    assert_string_not_equal(a, b);
}

TEST(many_ids_differ)
{
    enum { MANY = 3 * FRESH_IDS };
    struct fresh_ids supply = {0};
    char *ids[MANY];
    for (size_t i = 0; i < MANY; i++) {
        ids[i] = fresh_ids_next(&supply);
        assert_int_equal(strlen(ids[i]), 12);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ids[k], ids[i]);
    }
    for (size_t i = 0; i < MANY; i++)
        free(ids[i]);
}

/* A text of millions of sentences is scanned once. */
TEST(a_long_text_of_short_sentences)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < (int)suite_sample(1000000, 4000000); i++)
        buf_addstr(&text, ".\n");
    buf_addstr(&text, "The access code of the eastern gate is forty-two.");
    assert_true(summary_quotes("The access code of the eastern gate is forty-two", text.data));
    assert_false(summary_quotes("Nothing of the kind", text.data));
}

TEST(summaries_that_quote)
{
    static const char text[] =
        "Short one. The access code of the eastern gate is forty-two seven. Bye!";
    assert_true(summary_quotes(
        "It says: The access code of the eastern gate\nis forty-two  seven, so.", text));
    assert_true(summary_quotes(text, text));
    assert_false(summary_quotes("The access code of the eastern gate is forty-two", text));
    assert_false(summary_quotes("Short one. Bye!", text));
    assert_false(summary_quotes("", text));
    /* The whole of a short text. */
    assert_true(summary_quotes("they said my cat is Tom.", "my cat is Tom"));
    assert_false(summary_quotes("they said yes", "yes"));
    assert_false(summary_quotes("01234567890", "01234567890"));
    assert_true(summary_quotes("012345678901", "012345678901"));
    /* Characters and not bytes; full stops of other scripts; one in a number ends nothing. */
    assert_false(summary_quotes("x ééééééé", "ééééééé"));
    assert_true(summary_quotes(
        "私は先週の土曜日に友達と一緒に京都へ行って古いお寺をたくさん見てから美味しいご飯"
        "を食べました",
        "はい。私は先週の土曜日に友達と一緒に京都へ行って古いお寺をたくさん見てから美味し"
        "いご飯を食べました。"));
    assert_false(
        summary_quotes("5 and the rest of the sentence is long enough for it",
                       "A. It costs 3.5 and the rest of the sentence is long enough for it."));
    /* A line ends a sentence, too. */
    assert_true(
        summary_quotes("a line that is long enough to be a quotation of it",
                       "# Title\na line that is long enough to be a quotation of it\nand more"));
    /* 39 and 40 characters. */
    assert_false(summary_quotes("y 123456789012345678901234567890123456789",
                                "z. 123456789012345678901234567890123456789. z"));
    assert_true(summary_quotes("y 1234567890123456789012345678901234567890",
                               "z. 1234567890123456789012345678901234567890. z"));
}
