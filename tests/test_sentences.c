#include "knowledge/sentences.h"
#include "tests/suite.h"

/* The sentences, each in brackets, a question with its mark. */
static void expect(const char *message, const char *wanted)
{
    struct sentences s = {0};
    struct buf out = BUF_INIT;
    sentences_read(message, &s);
    for (size_t i = 0; i < s.items.len; i++) {
        const struct sentence *one = &s.items.items[i];
        buf_addf(&out, "[%.*s]%s", (int)one->len, one->text, one->question ? "?" : "");
    }
    vec_release(&s.items);
    assert_string_equal(out.data ? out.data : "", wanted);
    buf_release(&out);
}

TEST(marks_and_newlines_end_a_sentence)
{
    expect("One. Two! Three? Four; five\nsix", "[One][Two][Three]?[Four][five][six]");
    expect("  Wait... what?!  \r\n\n", "[Wait][what]?");
    expect("", "");
    expect(" . ! ", "");
    expect("你好。再见", "[你好。再见]");
}

TEST(a_dot_that_belongs_to_a_word_ends_none)
{
    expect("Use 3.5 of main.c, e.g. for v1.2.3. Then go",
           "[Use 3.5 of main.c, e.g. for v1.2.3][Then go]");
    expect("Ask Dr. Who vs. Mr. X", "[Ask Dr. Who vs. Mr. X]");
    expect("Wir tagen am 3. Mai, z. B. hier", "[Wir tagen am 3. Mai, z. B. hier]");
    expect("It was 1999. Then came 2000", "[It was 1999][Then came 2000]");
    expect("tabs, spaces etc. are fine, tabs etc. Next",
           "[tabs, spaces etc. are fine, tabs etc][Next]");
    expect("1. First thing", "[1. First thing]");
}

TEST(code_is_no_sentence)
{
    expect("Look:\n```c\nx = 1; remember\n```\nDone", "[Look:][Done]");
    expect("````\n```\nstill code\n````\nout", "[out]");
    expect("~~~\ncode", "");
    expect("if `a; b. c! d` fails, stop", "[if `a; b. c! d` fails, stop]");
    expect("    remember that this is code\n\tand this", "");
    expect("a != b", "[a != b]");
}

TEST(what_is_quoted_is_no_sentence)
{
    expect("> remember that it is quoted\nmine", "[mine]");
    expect("\"Always use tabs.\" He said so", "[\"Always use tabs.\" He said so]");
    expect("„Immer Tabs. Nie anders.“\n«Toujours. Encore.»", "");
    expect("5\" of rain. Then sun", "[5\" of rain][Then sun]");
}

TEST(attached_files_are_no_sentences)
{
    expect("notes.md:\n```\nremember that it is in a file\n```\n\nSum it up", "[Sum it up]");
    expect("notes.md:\n```\nremember that it is in a file\n```\n", "");
}
