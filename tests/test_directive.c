/* Sentences and their kinds, one file per language in tests/directives/: "KIND: SENTENCE", then
 * perhaps " => " and the text that is kept. */
#include "knowledge/directive.h"
#include "tests/suite.h"

enum { POSITIVES = 40, NEGATIVES = 60 };

static bool is_as_told(char *line, int *positives, int *negatives)
{
    AUTO(directives_release) struct directives found = {0};
    char *said = strstr(line, ": "), *wanted = strstr(line, " => ");
    assert_non_null(said);
    *said = '\0';
    said += 2;
    if (wanted)
        *wanted = '\0';
    directives_read(said, &found);
    bool none = strcmp(line, "none") == 0;
    const char *kind = found.items.len == 1 ? learned_kind_word(found.items.items[0].kind) : "";
    bool ok = none ? found.items.len == 0 : strcmp(kind, line) == 0;
    if (ok && wanted)
        ok = strcmp(found.items.items[0].text, wanted + 4) == 0;
    if (!ok)
        print_error("%s: \"%s\" gave %zu, %s \"%s\"\n", line, said, found.items.len, kind,
                    found.items.len > 0 ? found.items.items[0].text : "");
    *(none ? negatives : positives) += 1;
    return ok;
}

static void expect_language(const char *language)
{
    char *text =
        support_read(support_text("%s/tests/directives/%s.txt", getenv("SOURCE_DIR"), language));
    int positives = 0, negatives = 0, faults = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        faults += !is_as_told(line, &positives, &negatives);
    assert_int_equal(faults, 0);
    assert_true(positives >= POSITIVES);
    assert_true(negatives >= NEGATIVES);
}

FIXTURE(support_setup, support_teardown);

TEST(english)
{
    expect_language("english");
}

TEST(german)
{
    expect_language("german");
}

TEST(spanish)
{
    expect_language("spanish");
}

TEST(french)
{
    expect_language("french");
}

static size_t count_in(const char *message)
{
    AUTO(directives_release) struct directives found = {0};
    directives_read(message, &found);
    return found.items.len;
}

TEST(each_sentence_of_a_message_is_looked_at)
{
    assert_int_equal(count_in("Hi! Reply in French please. No emojis; how are you?"), 2);
    assert_int_equal(count_in("Be concise.\nBe concise."), 1);
}

TEST(what_only_stands_in_a_message_is_none)
{
    assert_int_equal(count_in("notes.md:\n```\nRemember that it is in a file\n```\n\nSum it up."),
                     0);
    assert_int_equal(count_in("```\nAlways use tabs.\n```"), 0);
    assert_int_equal(count_in("> Always use tabs."), 0);
}

TEST(a_message_full_of_them_was_not_typed)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < DIRECTIVES_MOST; i++)
        buf_addf(&text, "Remember that fact %d holds.\n", i);
    assert_int_equal(count_in(text.data), DIRECTIVES_MOST);
    buf_addstr(&text, "Remember that the last one holds.\n");
    assert_int_equal(count_in(text.data), 0);
}

TEST(a_sentence_without_end_and_broken_bytes_are_none)
{
    auto_free char *text = mem_alloc(LEARNED_TEXT_BYTES + 100);
    memset(text, 'x', LEARNED_TEXT_BYTES + 99);
    memcpy(text, "Remember that ", 14);
    assert_int_equal(count_in(text), 0);
    assert_int_equal(count_in("Remember that \xff is broken"), 0);
}
