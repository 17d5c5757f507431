/* Files of every format from the disk into the store and back: the hits in each and their places
 * (line, page, heading, bytes); commands of the user; formats that change; folders with all of
 * these. The details of each format are tested in tests/test_document.c. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/documents.h"
#include "tests/shelf.h"
#include "tests/suite.h"

FIXTURE(shelf_setup, shelf_teardown);

static void need(const char *program)
{
    if (documents_can_run(program))
        return;
    print_message("%s is not installed\n", program);
    skip();
}

static void write_bytes(const char *name, const char *bytes, size_t len)
{
    assert_ok(paths_write_file(support_path(name), bytes, len, &shelf.e), shelf.e);
}

/* "b.pdf page 2", "a.md line 3 [Travel › Trains]", of the best hit; "" where nothing is found. */
static const char *place(const char *query)
{
    struct buf out = BUF_INIT;
    shelf_find(query, 1);
    if (shelf.found.items.len > 0) {
        const struct corpus_passage *p = &shelf.found.items.items[0];
        buf_addstr(&out, shelf_file_name(p->file));
        if (p->page > 0)
            buf_addf(&out, " page %lld", (long long)p->page);
        if (p->line > 0)
            buf_addf(&out, " line %lld", (long long)p->line);
        if (p->heading)
            buf_addf(&out, " [%s]", p->heading);
    }
    shape_release(&corpus_found_shape, &shelf.found);
    return support_keep(buf_take(&out));
}

/* "file: why", a line each, by name. */
static const char *failures(const char *corpus)
{
    const struct corpus_documents_query failed = {.name = corpus, .failed = true};
    struct corpus_documents listed;
    struct buf out = BUF_INIT;
    assert_ok(corpora_documents(shelf.corpora, &failed, &listed, &shelf.e), shelf.e);
    for (size_t i = 0; i < listed.items.len; i++)
        buf_addf(&out, "%s: %s\n", shelf_file_name(listed.items.items[i].file),
                 listed.items.items[i].error);
    shape_release(&corpus_documents_shape, &listed);
    return support_keep(buf_take(&out));
}

static void set_loader(const char *extension, const char *command)
{
    struct config_problems problems = {0};
    config_load_text(shelf.config, "test",
                     support_text("[corpus]\nloader.%s = %s\n", extension, command), &problems);
    assert_int_equal(problems.list.len, 0);
}

/* --- where a passage stands ------------------------------------------------------------------- */

/* Long enough that each paragraph is a passage of its own. */
static void add_paragraph(struct buf *out, const char *begins)
{
    buf_addstr(out, begins);
    while (out->len % 700 != 0)
        buf_addstr(out, out->len % 7 == 0 ? " " : "w");
    buf_addstr(out, ".\n\n");
}

TEST(text_is_cited_by_line_and_bytes)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_paragraph(&text, "Äpfel grow.");
    add_paragraph(&text, "Pears grow.");
    add_paragraph(&text, "Plums grow.");
    shelf_write("d/fruit.txt", text.data);
    assert_string_equal(shelf_add("d", "d"), "files 1 added 1");
    assert_string_equal(place("pears"), "fruit.txt line 3");
    assert_string_equal(place("plums"), "fruit.txt line 5");
    shelf_find("pears", 0);
    const struct corpus_passage *p = &shelf.found.items.items[0];
    assert_int_equal(p->chunk, 1);
    assert_int_equal(p->finish - p->start, strlen(p->content));
    assert_memory_equal(p->content, text.data + p->start, strlen(p->content));
    assert_memory_equal(p->content, "Pears", 5);
    shape_release(&corpus_found_shape, &shelf.found);
}

TEST(markdown_and_code_are_cited_by_line_and_what_stands_above)
{
    shelf_write("d/notes.md", "# Travel\n\nThe ryokan.\n\n## Trains\n\nThe night train.\n");
    AUTO(buf_release) struct buf code = BUF_INIT;
    buf_addstr(&code, "#include <stdio.h>\n\nint tidal(void)\n{\n    int a = 1;\n");
    for (int i = 0; i < 60; i++)
        buf_addf(&code, "    a += %d; /* wave */\n", i);
    buf_addstr(&code, "    return lighthouse(a);\n}\n");
    shelf_write("d/sea.c", code.data);
    assert_string_equal(shelf_add("d", "d"), "files 2 added 2");
    assert_string_equal(place("night train"), "notes.md line 5 [Travel › Trains]");
    const char *at = place("lighthouse");
    assert_non_null(strstr(at, "sea.c line "));
    assert_true(atoi(at + strlen("sea.c line ")) > 6);
    assert_non_null(strstr(at, " [int tidal(void)]"));
}

TEST_IF(READS_MARKUP, html_is_cited_by_line_and_heading)
{
    shelf_write("d/page.html",
                "<html><head><title>T</title></head>\n<body>\n<h1>Harbour</h1>\n"
                "<p>Ships come in.</p>\n<h2>Night</h2>\n<p>A lantern &uuml;ber.\n");
    assert_string_equal(shelf_add("d", "d"), "files 1 added 1");
    assert_string_equal(place("lantern"), "page.html line 5 [Harbour › Night]");
    assert_string_equal(place("über"), "page.html line 5 [Harbour › Night]");
}

TEST(pdf_is_cited_by_page)
{
    need("pdftotext");
    mkdir(support_path("d"), 0700);
    documents_write_pdf("d/book.pdf", 12, false);
    assert_string_equal(shelf_add("d", "d"), "files 1 added 1");
    assert_string_equal(place("\"page 1\""), "book.pdf page 1");
    assert_string_equal(place("\"page 12\""), "book.pdf page 12");
    shelf_find("\"page 7\"", 0);
    assert_int_equal(shelf.found.items.len, 1);
    assert_int_equal(shelf.found.items.items[0].page, 7);
    assert_int_equal(shelf.found.items.items[0].start, -1);
    assert_string_equal(shelf.found.items.items[0].content, "This is page 7.");
    shape_release(&corpus_found_shape, &shelf.found);
}

static const char manual[] =
    "---\ntitle: The Manual\n---\n\n"
    "# Start\n\nFirst words with a ryokan.\n\n"
    "## Install\n\n~~~\nmake lantern\n~~~\n\n"
    "| a | b |\n|---|---|\n| c | zeppelin |\n\n"
    "# End\n\nLast words with moles.\n";

TEST_IF(READS_PACKAGES, books_and_office_documents_are_cited_by_heading)
{
    static const char *const formats[] = {"docx", "odt", "epub"};
    need("pandoc");
    mkdir(support_path("d"), 0700);
    support_write(support_path("manual.md"), manual);
    for (size_t i = 0; i < 3; i++) {
        const char *line = support_text("cd '%s' && pandoc -t %s -s -o d/m.%s manual.md 2>&1",
                                        support_dir(), formats[i], formats[i]);
        assert_int_equal(system(line), 0);
        assert_string_equal(shelf_add("d", "d"),
                            i == 0 ? "files 1 added 1" : "files 1 added 1 removed 1");
        assert_string_equal(place("ryokan"), support_text("m.%s [Start]", formats[i]));
        assert_string_equal(place("lantern"), support_text("m.%s [Start › Install]", formats[i]));
        assert_string_equal(place("zeppelin"), support_text("m.%s [Start › Install]", formats[i]));
        assert_string_equal(place("moles"), support_text("m.%s [End]", formats[i]));
        assert_int_equal(unlink(support_text("%s/d/m.%s", support_dir(), formats[i])), 0);
    }
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(passages_of_a_document_are_read_where_a_hit_is)
{
    struct corpus_passages read;
    shelf_write("d/notes.md", "# Travel\n\nThe ryokan.\n\n# Trains\n\nThe night train.\n");
    shelf_add("d", "d");
    shelf_find("night train", 0);
    const struct corpus_passage *hit = &shelf.found.items.items[0];
    const struct corpus_passages_query query = {.document = hit->document, .from = hit->chunk};
    assert_true(corpora_passages(shelf.corpora, &query, &read, &shelf.e));
    const struct corpus_passage *p = &read.items.items[0];
    assert_string_equal(p->content, hit->content);
    assert_string_equal(p->file, hit->file);
    assert_string_equal(p->heading, hit->heading);
    assert_true(p->chunk == hit->chunk && p->line == hit->line);
    assert_true(p->start == hit->start && p->finish == hit->finish);
    shape_release(&corpus_passages_shape, &read);
    shape_release(&corpus_found_shape, &shelf.found);
}

/* --- commands of the user --------------------------------------------------------------------- */

TEST(a_configured_command_reads_its_files)
{
    set_loader("log", "tr x ' ' <$1");
    set_loader("txt", "printf 'one\\ftwo %s' lantern; cat $1");
    shelf_write("d/a.log", "thexryokanxisxbooked\n");
    shelf_write("d/it's; a.txt", " basil\n");
    assert_string_equal(shelf_add("d", "d"), "files 2 added 2");
    assert_string_equal(place("ryokan"), "a.log");
    assert_string_equal(place("lantern"), "it's; a.txt page 2");
    assert_string_equal(place("basil"), "it's; a.txt page 2");
    assert_string_equal(shelf_add("d", NULL), "files 2 unchanged 2");
}

TEST(a_changed_command_reads_its_files_again)
{
    shelf_write("d/a.log", "lantern\n");
    shelf_write("d/b.txt", "lantern\n");
    shelf_add("d", "d");
    set_loader("log", "echo zeppelin");
    assert_string_equal(shelf_add("d", NULL), "files 2 changed 1 unchanged 1");
    assert_string_equal(shelf_search("d", "lantern"), "b.txt:1");
    assert_string_equal(place("zeppelin"), "a.log");
    set_loader("log", "echo basil");
    assert_string_equal(shelf_add("d", NULL), "files 2 changed 1 unchanged 1");
    assert_string_equal(place("zeppelin"), "");
    assert_string_equal(place("basil"), "a.log");
}

TEST(a_command_that_fails_costs_its_file_alone)
{
    set_loader("bad", "exit 3");
    set_loader("sig", "kill -SEGV $$");
    set_loader("nop", "no-such-program $1");
    shelf_write("d/a.bad", "lantern\n");
    shelf_write("d/b.sig", "lantern\n");
    shelf_write("d/c.nop", "lantern\n");
    shelf_write("d/d.txt", "lantern\n");
    assert_string_equal(shelf_add("d", "d"), "files 4 added 1 failed 3");
    assert_string_equal(failures("d"),
                        "a.bad: cannot be read: exit ended with status 3\n"
                        "b.sig: cannot be read: kill was ended by signal 11\n"
                        "c.nop: cannot be read: no-such-program is not installed\n");
    assert_string_equal(shelf_search("d", "lantern"), "d.txt:1");
    set_loader("bad", "cat $1");
    assert_string_equal(shelf_add("d", NULL), "files 4 changed 1 unchanged 1 failed 2");
    assert_string_equal(shelf_search("d", "lantern"), "a.bad:0 d.txt:1");
}

/* --- changes ---------------------------------------------------------------------------------- */

TEST(what_cannot_be_read_any_more_is_not_found_any_more)
{
    shelf_write("d/a.md", "a lantern\n");
    shelf_write("d/b.txt", "a lantern\n");
    shelf_add("d", "d");
    shelf_write("d/b.txt", " \n");
    assert_string_equal(shelf_add("d", NULL), "files 2 unchanged 1 failed 1");
    assert_string_equal(shelf_search("d", "lantern"), "a.md:1");
    assert_string_equal(failures("d"), "b.txt: it has no text\n");
    shelf_purge();
    assert_int_equal(shelf_number("SELECT count(*) FROM corpus_entry"), 1);
    shelf_write("d/b.txt", "a lantern again\n");
    assert_string_equal(shelf_add("d", NULL), "files 2 changed 1 unchanged 1");
    assert_string_equal(failures("d"), "");
    assert_string_equal(shelf_search("d", "lantern"), "a.md:1 b.txt:1");
    assert_string_equal(shelf_expect_sound(), "sound");
}

TEST(a_text_that_becomes_a_picture_is_taken_out)
{
    shelf_write("d/a", "a lantern\n");
    shelf_write("d/b", "a lantern\n");
    shelf_add("d", "d");
    write_bytes("d/a", "\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
    assert_string_equal(shelf_add("d", NULL), "files 2 unchanged 1 removed 1");
    assert_string_equal(shelf_search("d", "lantern"), "b:1");
    assert_int_equal(rename(support_path("d/b"), support_path("d/b.jpg")), 0);
    assert_string_equal(shelf_add("d", NULL), "files 2 removed 1");
    assert_string_equal(shelf_search("d", "lantern"), "");
}

TEST(a_file_that_is_named_and_no_text_is_told)
{
    write_bytes("a.bin", "\0\1\2\3\0\1\2\3", 8);
    assert_string_equal(shelf_add("d", "a.bin"), "files 1 failed 1");
    assert_non_null(strstr(failures("d"), "a.bin: "));
}

TEST(a_file_is_named_also_within_a_folder_that_is)
{
    const char *paths[] = {support_path("d"), support_path("d/a.bin")};
    struct ingest *in;
    shelf_write("d/b.txt", "a lantern\n");
    write_bytes("d/a.bin", "\0\1\2\3\0\1\2\3", 8);
    assert_true(ingest_begin(shelf.corpora, "d", paths, 2, &in, &shelf.e));
    assert_string_equal(shelf_run(in), "files 2 added 1 failed 1");
}

TEST(a_renamed_file_is_found_under_its_new_name)
{
    shelf_write("d/old.txt", "a lantern\n");
    shelf_add("d", "d");
    assert_int_equal(rename(support_path("d/old.txt"), support_path("d/new.txt")), 0);
    assert_string_equal(shelf_add("d", NULL), "files 1 added 1 removed 1");
    assert_string_equal(shelf_search("d", "lantern"), "new.txt:1");
    assert_string_equal(shelf_search("d", "old"), "");
}

/* The file's size and bytes change, and its modification time is set back. */
TEST(a_file_whose_time_was_set_back_is_read)
{
    struct stat before;
    shelf_write("d/a.txt", "a lantern\n");
    shelf_add("d", "d");
    assert_int_equal(stat(support_path("d/a.txt"), &before), 0);
    shelf_write("d/a.txt", "a candles\n");
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, support_path("d/a.txt"), times, 0), 0);
    assert_string_equal(shelf_add("d", NULL), "files 1 changed 1");
    assert_string_equal(shelf_search("d", "candles"), "a.txt:1");
}

/* --- all of it -------------------------------------------------------------------------------- */

TEST(of_two_settings_of_one_name_the_last_counts)
{
    struct config_problems problems = {0};
    shelf_write("a/a.txt", "a lantern\n");
    shelf_write("b/b.txt", "a lantern\n");
    for (int i = 0; i < 2; i++)
        config_load_text(shelf.config, "test",
                         support_text("[corpus]\nw.paths = %s\n", support_path(i ? "b" : "a")),
                         &problems);
    assert_int_equal(problems.list.len, 0);
    assert_string_equal(shelf_add("w", NULL), "files 1 added 1");
    assert_string_equal(shelf_search("w", "lantern"), "b.txt:1");
}

TEST_IF(READS_PACKAGES, a_folder_of_everything)
{
    need("pdftotext");
    shelf_write("d/.gitignore", "*.log\n");
    shelf_write("d/a.txt", "lantern of text\n");
    shelf_write("d/deep/er/b.md", "# Lantern\n\nof Markdown\n");
    shelf_write("d/c.py", "def lantern():\n    return 1\n");
    shelf_write("d/bad.pdf", "%PDF-1.4 not really\n");
    shelf_write("d/bad.docx", "no package\n");
    shelf_write("d/empty.txt", "");
    shelf_write("d/no.png", "lantern\n");
    shelf_write("d/no.log", "lantern\n");
    shelf_write("d/.hidden", "lantern\n");
    documents_write_pdf("d/good.pdf", 2, false);
    assert_string_equal(shelf_add("d", "d"), "files 8 added 4 failed 3");
    const char *failed = failures("d");
    assert_non_null(strstr(failed, "bad.docx: "));
    assert_non_null(strstr(failed, "bad.pdf: "));
    assert_non_null(strstr(failed, "empty.txt: it has no text"));
    assert_string_equal(shelf_search("d", "lantern"), "c.py:1 b.md:1 a.txt:1");
    assert_string_equal(place("\"page 2\""), "good.pdf page 2");
    assert_string_equal(shelf_add("d", NULL), "files 8 unchanged 4 failed 3");
    shelf_purge();
    assert_string_equal(shelf_expect_sound(), "sound");
}
