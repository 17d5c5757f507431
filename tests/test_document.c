/* Documents that the loaders make of files, format by format. */
#include "base/paths.h"
#include "tests/chunk_check.h"
#include "tests/documents.h"
#include "tests/suite.h"

FIXTURE(support_setup, support_teardown);

static void expect_shown(const char *what, const struct loaded_document *d, bool with_lines,
                         const char *expected)
{
    const char *shown = documents_show(d, with_lines);
    if (strcmp(shown, expected) != 0)
        fail_msg("%s:\n%s\nnot\n%s", what, shown, expected);
}

TEST(a_name_tells_the_format)
{
    const struct document_command commands[] = {{"doc", "catdoc $1"}, {"PDF", "mutool $1"}};
    const struct document_options o = {.commands = commands, .command_count = 2};
    const struct {
        const char *name, *format;
    } rows[] = {
        {"a.md", "Markdown"},  {"A.MD", "Markdown"},     {"dir.html/a", "text"}, {"a.htm", "HTML"},
        {"x/a.py", "Python"},  {"Makefile", "Makefile"}, {"a.epub", "epub"},     {"a.docx", "docx"},
        {"a.odt", "odt"},      {"a.txt", "text"},        {"README", "text"},     {".png", "text"},
        {"a.unknown", "text"}, {"a.png", NULL},          {"a.tar.gz", NULL},     {"a.doc", "doc"},
        {"a.pdf", "PDF"},      {"a.", "text"},           {"", "text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *format = document_format_of(rows[i].name, &o);
        if (!format != !rows[i].format || (format && strcmp(format, rows[i].format) != 0))
            fail_msg("%s: %s", rows[i].name, format ? format : "nothing");
    }
}

TEST(sets_of_characters_are_told_apart)
{
    static const char expected[] = "Grüße – 5 €\n";
    const struct {
        const char *bytes;
        size_t len;
        enum document_offsets offsets;
        int64_t from;
    } rows[] = {
        {"Gr\xC3\xBC\xC3\x9F\x65 \xE2\x80\x93 5 \xE2\x82\xAC\n", 18, DOCUMENT_OFFSETS_BYTES, 0},
        {"\xEF\xBB\xBFGr\xC3\xBC\xC3\x9F\x65 \xE2\x80\x93 5 \xE2\x82\xAC\n", 21,
         DOCUMENT_OFFSETS_BYTES, 3},
        {"Gr\xFC\xDF\x65 \x96 5 \x80\n", 12, DOCUMENT_OFFSETS_POINTS, 0},
        {"\xFF\xFEG\0r\0\xFC\0\xDF\0e\0 \0\x13\x20 \0"
         "5\0 \0\xAC\x20\n\0",
         26, DOCUMENT_OFFSETS_UTF16, 2},
        {"\xFE\xFF\0G\0r\0\xFC\0\xDF\0e\0 \x20\x13\0 \0"
         "5\0 \x20\xAC\0\n",
         26, DOCUMENT_OFFSETS_UTF16, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(loaded_document_release) struct loaded_document d = {0};
        struct error e;
        assert_ok(paths_write_file(support_path("a.txt"), rows[i].bytes, rows[i].len, &e), e);
        documents_load(&d, "a.txt");
        assert_string_equal(d.text.data, expected);
        assert_int_equal(d.offsets, rows[i].offsets);
        AUTO(chunks_release) struct chunks c = {0};
        chunks_make(&c, &d, 2);
        int64_t unit = d.offsets == DOCUMENT_OFFSETS_UTF16 ? 2 : 1;
        assert_int_equal(c.items.items[0].byte_from, rows[i].from);
        assert_int_equal(vec_last(&c.items).byte_to, (int64_t)rows[i].len - unit);
    }
}

TEST(a_document_is_named_by_its_first_heading)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    support_write(support_path("a.md"), "Before.\n\n## The *name* ##\n\n# Another\n");
    documents_load(&d, "a.md");
    assert_string_equal(d.title, "The *name*");
}

TEST(broken_utf8_stays_utf8)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    AUTO(chunks_release) struct chunks c = {0};
    support_write(support_path("a.txt"), "äöüÄÖÜßäöü \xC3 end");
    documents_load(&d, "a.txt");
    chunks_make(&c, &d, 800);
    assert_string_equal(c.items.items[0].text, "äöüÄÖÜßäöü \xEF\xBF\xBD end");
    assert_int_equal(c.items.items[0].byte_to, 26);
}

TEST_IF(READS_MARKUP, html_is_read_by_its_elements)
{
    const struct {
        const char *html, *shown;
    } rows[] = {
        {"", ""},
        {"<p>one\n two<p>three", "1: one two\n2: three\n"},
        {"<h1>A <b>b</b></h1>\n<div>x<div>y</div>z</div>", "1: #1 A b\n2: x\n2: y\n2: z\n"},
        {"<title>T</title><body>x", "1: x\n"},
        {"<style>p{}</style><script>if (a<b) c()</script>x<template>y</template>", "1: x\n"},
        {"<pre>a\n<div>b</div>\nc</pre>d", "1: code: a⏎b⏎c\n1: d\n"},
        {"<pre>\n  a\n    b\n</pre>c", "1: code:   a⏎    b\n1: c\n"},
        {"<table>\n<tr><th>a<th>b\n<tr><td>c<td><p>d</p><p>e</p></table>f",
         "2: row: a⇥b\n3: row: c⇥d e\n3: f\n"},
        {"<table><tr><td>a<h2>b</h2>c</table>", "1: row: a\n1: #2 b\n1: c\n"},
        {"<ul><li>a<li>b</ul>", "1: a\n1: b\n"},
        {"a<br>b &amp; &uuml;&#x20AC;&lt;", "1: a⏎b & ü€<\n"},
        {"a<span>b</span> <i>c</i>d", "1: ab cd\n"},
        {"a<!-- b -->c", "1: ac\n"},
        {"<p>a</p></div></p><p>b", "1: a\n1: b\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(loaded_document_release) struct loaded_document d = {0};
        support_write(support_path("a.html"), rows[i].html);
        documents_load(&d, "a.html");
        expect_shown(rows[i].html, &d, true, rows[i].shown);
    }
}

TEST_IF(READS_MARKUP, html_says_its_set_and_its_title)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    support_write(support_path("a.html"),
                  "<html><head><meta charset=\"iso-8859-2\"><title> Na \xB9i\n</title></head>"
                  "<body>\xBB\xE1\xF8");
    documents_load(&d, "a.html");
    expect_shown("ISO 8859-2", &d, false, "ťář\n");
    assert_string_equal(d.title, "Na ši");
}

TEST_IF(READS_MARKUP, bytes_tell_the_format_where_the_name_does_not)
{
    struct loaded_document d;
    support_write(support_path("page"), "<!DOCTYPE html><h1>A</h1>b");
    documents_load(&d, "page");
    assert_string_equal(d.format, "HTML");
    loaded_document_release(&d);
    support_write(support_path("page"), "no <html>");
    documents_load(&d, "page");
    assert_string_equal(d.format, "text");
    loaded_document_release(&d);
}

/* --- output of pandoc and groff --------------------------------------------------------------- */

static const char manual[] =
    "---\ntitle: The Manual\n---\n\n"
    "# Start\n\nFirst *words* of it. With a note.[^1]\n\n"
    "## Install\n\n- one\n- two\n\n"
    "~~~\nmake\n  install\n~~~\n\n"
    "| a | b |\n|---|---|\n| c | d ü |\n\n"
    "# End\n\nLast words.\n\n[^1]: Noted.\n";

static void convert(const char *to, const char *name)
{
    if (!documents_can_run("pandoc")) {
        print_message("pandoc is not installed\n");
        skip();
    }
    support_write(support_path("manual.md"), manual);
    const char *line = support_text("cd '%s' && pandoc -t %s -s -o %s manual.md 2>/dev/null",
                                    support_dir(), to, name);
    assert_int_equal(system(line), 0);
}

static void expect_manual(const char *name, const char *format, const char *expected)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    documents_load(&d, name);
    assert_string_equal(d.format, format);
    assert_string_equal(d.title, "The Manual");
    expect_shown(name, &d, false, expected);
}

TEST_IF(READS_PACKAGES, docx_is_read)
{
    convert("docx", "manual.docx");
    expect_manual("manual.docx", "docx",
                  "The Manual\n#1 Start\nFirst words of it. With a note.\n#2 Install\none\ntwo\n"
                  "code: make⏎  install\nrow: a⇥b\nrow: c⇥d ü\n#1 End\nLast words.\nNoted.\n");
}

TEST_IF(READS_PACKAGES, odt_is_read)
{
    convert("odt", "manual.odt");
    expect_manual("manual.odt", "odt",
                  "The Manual\n#1 Start\nFirst words of it. With a note. (Noted.)\n#2 Install\n"
                  "one\ntwo\ncode: make\ncode:   install\nrow: a⇥b\nrow: c⇥d ü\n#1 End\n"
                  "Last words.\n");
}

TEST_IF(READS_PACKAGES, epub_is_read_in_the_order_of_its_spine)
{
    convert("epub", "manual.epub");
    AUTO(loaded_document_release) struct loaded_document d = {0};
    documents_load(&d, "manual.epub");
    const char *shown = documents_show(&d, false);
    assert_string_equal(d.title, "The Manual");
    const char *at = shown;
    static const char *const order[] = {
        "#1 Start\n",   "First words of it.", "#2 Install\n", "code: make⏎  install\n",
        "row: c⇥d ü\n", "#1 End\n",           "Last words."};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (!at)
            fail_msg("no \"%s\" in its place in\n%s", order[i], shown);
    }
}

TEST_IF(READS_PACKAGES, a_package_is_known_by_its_first_member)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    convert("epub", "manual.epub");
    assert_int_equal(rename(support_path("manual.epub"), support_path("book")), 0);
    documents_load(&d, "book");
    assert_string_equal(d.format, "epub");
}

TEST_IF(READS_MARKUP, html_of_pandoc_is_read)
{
    convert("html", "manual.html");
    AUTO(loaded_document_release) struct loaded_document d = {0};
    documents_load(&d, "manual.html");
    const char *shown = documents_show(&d, false);
    assert_non_null(strstr(shown,
                           "#1 Start\nFirst words of it. With a note.1\n#2 Install\none\n"
                           "two\ncode: make⏎  install\nrow: a⇥b\nrow: c⇥d ü\n#1 End\n"));
    assert_null(strstr(shown, "color:")); /* of its style sheet */
}

static void need(const char *program)
{
    if (documents_can_run(program))
        return;
    print_message("%s is not installed\n", program);
    skip();
}

TEST(pdf_is_read_page_by_page)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    need("pdftotext");
    documents_write_pdf("a.pdf", 3, false);
    documents_load(&d, "a.pdf");
    assert_string_equal(d.format, "PDF");
    expect_shown("a.pdf", &d, true,
                 "0: page 1: This is page 1.\n0: page 2: This is page 2.\n"
                 "0: page 3: This is page 3.\n");
}

TEST(pdf_of_groff_is_read)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    need("pdftotext");
    need("groff");
    support_write(support_path("a.ms"), ".LP\nOn one.\n.bp\nOn \\[u00FC]two.\n");
    const char *line =
        support_text("cd '%s' && groff -ms -Tpdf a.ms >a.pdf 2>/dev/null", support_dir());
    if (system(line) != 0) {
        print_message("this groff writes no PDF\n");
        skip();
    }
    documents_load(&d, "a.pdf");
    expect_shown("a.pdf", &d, false, "page 1: On one.\npage 2: -2-⏎⏎On ütwo.\n");
}

/* --- commands of the user --------------------------------------------------------------------- */

static enum document_outcome load_by(const char *name, const char *command,
                                     struct loaded_document *d, struct error *e)
{
    const struct document_command commands[] = {{"mine", command}};
    struct document_options o = {
        .limits = document_limits, .commands = commands, .command_count = 1};
    return document_load_file(d, support_path(name), &o, e);
}

TEST(a_command_reads_what_is_named_so)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    struct error e;
    const char *name = "it's a *; $(touch x).MINE";
    support_write(support_path(name), "a\fb");
    support_write(support_path("it's a b.MINE"), "no");
    assert_int_equal(load_by(name, "cat $1 | tr a x; printf %s $#", &d, &e), DOCUMENT_LOADED);
    expect_shown("command", &d, false, "page 1: x\npage 2: b1\n");
}

TEST(a_command_that_fails_is_told)
{
    struct loaded_document d;
    struct error e;
    support_write(support_path("a.mine"), "a");
    const struct {
        const char *command, *error;
    } rows[] = {
        {"no-such-program $1", "cannot be read: no-such-program is not installed"},
        {"exit 3", "cannot be read: exit ended with status 3"},
        {"kill -SEGV $$", "cannot be read: kill was ended by signal 11"},
        {"printf 'a\\0b'", "cannot be read: what came of it is no text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(load_by("a.mine", rows[i].command, &d, &e), DOCUMENT_FAILED);
        assert_string_equal(e.text, rows[i].error);
    }
    assert_int_equal(load_by("a.mine", "true", &d, &e), DOCUMENT_SKIPPED);
}
