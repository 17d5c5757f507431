/* Hostile files: each is refused with a reason or read within its limits, and nothing outside of it
 * is touched. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/paths.h"
#include "tests/chunk_check.h"
#include "tests/documents.h"
#include "tests/suite.h"
#include "tests/zip_file.h"

FIXTURE(support_setup, support_teardown);

#define MIB ((size_t)1 << 20)

static void expect_refused(const char *name, enum document_outcome outcome, const char *reason)
{
    const char *is = documents_refused(name, outcome);
    if (!strstr(is, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, is, reason);
}

/* --- files other than regular ones ------------------------------------------------------------ */

static void make_sparse(const char *name, off_t size)
{
    int fd = open(support_path(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
}

TEST(what_is_no_text_is_passed_over)
{
    support_write(support_path("a.bin.txt"), "a");
    make_sparse("a.txt", 10);
    make_sparse("sparse", (off_t)60 * (off_t)MIB);
    expect_refused("a.txt", DOCUMENT_SKIPPED, "a binary file");
    expect_refused("sparse", DOCUMENT_SKIPPED, "a binary file");
    expect_refused("picture.png", DOCUMENT_SKIPPED, "a .png file has no text");
    char controls[200];
    memset(controls, 1, sizeof controls);
    controls[0] = '\xFE';
    controls[sizeof controls - 1] = '\0';
    support_write(support_path("controls"), controls);
    expect_refused("controls", DOCUMENT_SKIPPED, "a binary file");
}

TEST(what_is_too_large_is_not_read)
{
    static const char *const names[] = {"a.txt", "a.html", "a.docx", "a.pdf"};
    int64_t begun = clock_mono_ms();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make_sparse(names[i], (off_t)1 << 30);
        expect_refused(names[i], DOCUMENT_FAILED, "is larger than 64 MiB");
    }
    assert_true(clock_mono_ms() - begun < 2000 * support_patience());
}

TEST(what_is_no_regular_file_is_not_opened)
{
    support_write(support_path("real.txt"), "text");
    assert_int_equal(symlink("real.txt", support_path("link.txt")), 0);
    assert_int_equal(symlink("loop.txt", support_path("loop.txt")), 0);
    assert_int_equal(mkdir(support_path("dir.txt"), 0700), 0);
    assert_int_equal(mkfifo(support_path("fifo.txt"), 0600), 0);
    assert_int_equal(mkfifo(support_path("fifo.pdf"), 0600), 0);
    expect_refused("link.txt", DOCUMENT_FAILED, "is a symbolic link");
    expect_refused("loop.txt", DOCUMENT_FAILED, "is a symbolic link");
    expect_refused("dir.txt", DOCUMENT_FAILED, "is not a regular file");
    expect_refused("fifo.txt", DOCUMENT_FAILED, "is not a regular file");
    expect_refused("fifo.pdf", DOCUMENT_FAILED, "is not a regular file");
    expect_refused("none.txt", DOCUMENT_FAILED, "cannot be opened: No such file or directory");
    expect_refused("../../../../../dev/zero", DOCUMENT_FAILED, "is not a regular file");
}

#ifdef __linux__
TEST(files_of_the_kernel_are_not_read)
{
    expect_refused("../../../../../proc/self/pagemap", DOCUMENT_FAILED, "is made by the kernel");
    expect_refused("../../../../../proc/self/status", DOCUMENT_FAILED, "is made by the kernel");
}
#endif

static bool grows(void *context)
{
    FILE *f = fopen(context, "a");
    assert_non_null(f);
    assert_true(fputs("more ", f) >= 0);
    assert_int_equal(fclose(f), 0);
    return true;
}

TEST(a_file_that_grows_is_read_to_its_size)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    struct error e;
    int always[2];
    support_write(support_path("a.txt"), "text ");
    assert_int_equal(pipe(always), 0);
    assert_int_equal(write(always[1], "x", 1), 1);
    const struct wakeup wakeup = {
        .fd = always[0], .go_on = grows, .context = (void *)support_path("a.txt")};
    const struct document_options o = {.limits = document_limits, .wakeup = &wakeup};
    assert_int_equal(document_load_file(&d, support_path("a.txt"), &o, &e), DOCUMENT_LOADED);
    assert_int_equal(d.text.len, strlen("text "));
    close(always[0]);
    close(always[1]);
}

/* --- very long -------------------------------------------------------------------------------- */

static void fill(const char *name, const char *start, const char *piece, size_t len)
{
    AUTO(buf_release) struct buf b = BUF_INIT;
    struct error e;
    buf_addstr(&b, start);
    while (b.len < len)
        buf_addstr(&b, piece);
    assert_ok(paths_write_file(support_path(name), b.data, b.len, &e), e);
}

TEST(lines_of_10_mb_are_cut)
{
    static const struct {
        const char *name, *start, *piece;
        bool markup;
    } rows[] = {
        {"a.txt", "", "x", false},
        {"b.txt", "", "\xF0\x9F\x91\xA9\xE2\x80\x8D", false},
        {"c.txt", "", "e\xCC\x81\xCC\x81", false},
        {"d.txt", "", "\xE2\x80\xA8", false},
        {"a.md", "", "#", false},
        {"b.md", "", "`", false},
        {"a.py", "", "    ", false},
        {"a.c", "x", "}", false},
        {"a.html", "<p>", "x", true},
        {"b.html", "<p>", "&amp;", true},
        {"c.html", "", "<", true},
        {"d.html", "<!--", "-", true},
        {"e.html", "<p a='", "x", true},
        {"f.html", "<script>", "x", true},
    };
    size_t step = suite_sample(7, 1);
    for (size_t i = support_seed() % step; i < sizeof rows / sizeof *rows; i += step) {
        struct loaded_document d;
        int64_t begun = clock_mono_ms();
        if (rows[i].markup && !READS_MARKUP)
            continue;
        fill(rows[i].name, rows[i].start, rows[i].piece, 10 * MIB);
        documents_load(&d, rows[i].name); /* looks at its passages */
        loaded_document_release(&d);
        if (clock_mono_ms() - begun > 30000 * support_patience())
            fail_msg("%s takes %lld ms", rows[i].name, (long long)(clock_mono_ms() - begun));
    }
}

/* Parts are larger than the lines that they are of, and paths of headings than the headings. */
TEST(headings_are_bounded)
{
    struct loaded_document d;
    AUTO(chunks_release) struct chunks c = {0};
    fill("a.md", "# first\n", "# a\n", 2 * MIB);
    documents_load(&d, "a.md");
    assert_int_equal(d.parts.len, document_limits.parts);
    assert_int_equal(vec_last(&d.parts).at + vec_last(&d.parts).len, d.text.len - 1);
    loaded_document_release(&d);
    fill("b.md", "",
         "# aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
         "## bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
         "### ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\n"
         "#### d\n#### e\n#### f\n#### g\n#### h\n#### i\n#### j\n#### k\n",
         3 * MIB);
    documents_load(&d, "b.md");
    chunks_make(&c, &d, CHUNK_CHARACTERS);
    size_t bytes = 0;
    for (size_t i = 0; i < c.headings.len; i++)
        bytes += strlen(c.headings.items[i]);
    assert_in_range(bytes, CHUNKS_HEADING_BYTES_MOST / 2, CHUNKS_HEADING_BYTES_MOST);
    loaded_document_release(&d);
}

TEST(text_that_grows_when_it_is_cleaned_is_bounded)
{
    AUTO(loaded_document_release) struct loaded_document d = {0};
    struct error e;
    struct chunks c = {0};
    const struct document_options o = {.limits = document_limits};
    fill("a.txt", "", "\x01", 20 * MIB); /* 3 bytes each when it is clean */
    assert_int_equal(document_load_file(&d, support_path("a.txt"), &o, &e), DOCUMENT_LOADED);
    chunks_make(&c, &d, CHUNK_CHARACTERS);
    assert_true(c.is_cut_off);
    assert_in_range(c.bytes, CHUNKS_BYTES_MOST, CHUNKS_BYTES_MOST + 4 * CHUNK_CHARACTERS);
    chunks_release(&c);
    fill("b.txt", "a", "\xE9", 12 * MIB);
    expect_refused("b.txt", DOCUMENT_FAILED, "has more than 32 MiB of text");
    fill("c.txt", "", "text ", 33 * MIB);
    expect_refused("c.txt", DOCUMENT_FAILED, "is larger than 32 MiB");
}

#define DOCX_START                                                                                 \
    "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">"        \
    "<w:body><w:p><w:r><w:t>"
#define DOCX_END "</w:t></w:r></w:p></w:body></w:document>"

static void write_docx(const char *name, const char *xml)
{
    struct zip_file z = {0};
    zip_add(&z, "word/document.xml", xml, strlen(xml), false);
    zip_write(&z, support_path(name));
}

#define CONTAINER                                                                                  \
    "<container><rootfiles><rootfile full-path=\"a/b/content.opf\"/></rootfiles></container>"
#define ONE_CHAPTER                                                                                \
    "<package><manifest><item id=\"1\" href=\"1.html\"/></manifest><spine><itemref idref=\"1\"/>"  \
    "</spine></package>"

static void add_text(struct zip_file *z, const char *name, const char *text)
{
    zip_add(z, name, text, strlen(text), false);
}

/* A package with this member alone is refused. */
static void expect_package_refused(const char *name, const char *member, const char *text,
                                   bool encrypted, const char *reason)
{
    struct zip_file z = {0};
    zip_add(&z, member, text, strlen(text), encrypted);
    zip_write(&z, support_path(name));
    expect_refused(name, DOCUMENT_FAILED, reason);
}

/* libxml2 compares each with all before it. */
TEST_IF(READS_PACKAGES, many_attributes_are_refused)
{
    AUTO(buf_release) struct buf html = BUF_INIT, docx = BUF_INIT, dtd = BUF_INIT;
    struct error e;
    int64_t begun = clock_mono_ms();
    buf_addstr(&html, "<p");
    buf_addstr(&docx, "<a><b");
    buf_addstr(&dtd, "<!DOCTYPE a [");
    for (int i = 0; i < 100000; i++) {
        buf_addf(&html, " a%d", i);
        buf_addf(&docx, " a%d=\"\"", i);
        buf_addf(&dtd, "<!ATTLIST b a%d CDATA \"\">", i);
    }
    buf_addstr(&html, ">text</p>");
    buf_addstr(&docx, "/></a>");
    buf_addstr(&dtd, "]><a><b/></a>");
    assert_true(paths_write_file(support_path("a.html"), html.data, html.len, &e));
    expect_refused("a.html", DOCUMENT_FAILED, "more attributes than 10000");
    expect_package_refused("a.docx", "word/document.xml", docx.data, false,
                           "more attributes than 10000");
    expect_package_refused("b.docx", "word/document.xml", dtd.data, false,
                           "the first element is behind byte 65536");
    assert_true(clock_mono_ms() - begun < 10000 * support_patience());
}

TEST_IF(READS_PACKAGES, nothing_is_printed)
{
    static const char broken[] = "\xFF\xFE<\0p\0>\0\x3D\xD8\0\x3D\x6F\xD8\x63\x75\0\0";
    struct loaded_document d;
    struct error e;
    struct document_options o = {.limits = document_limits};
    struct zip_file z = {0};
    zip_add(&z, "word/document.xml", broken, sizeof broken - 1, false);
    zip_write(&z, support_path("a.docx"));
    int before = dup(STDERR_FILENO);
    int fd = open(support_path("printed"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(before >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    if (document_load_file(&d, support_path("a.docx"), &o, &e) == DOCUMENT_LOADED)
        loaded_document_release(&d);
    dup2(before, STDERR_FILENO);
    close(before);
    close(fd);
    assert_string_equal(support_read(support_path("printed")), "");
}

TEST_IF(READS_MARKUP, deep_html_ends)
{
    static const char *const pieces[][2] = {
        {"a.html", "<b>"}, {"b.html", "<div><p>"}, {"c.html", "<table><tr><td>"}};
    for (size_t i = 0; i < 3; i++) {
        fill(pieces[i][0], "", pieces[i][1], 10 * MIB);
        expect_refused(pieces[i][0], DOCUMENT_FAILED, "elements in one another");
    }
}

/* --- packages --------------------------------------------------------------------------------- */

TEST_IF(READS_PACKAGES, bombs_do_not_go_off)
{
    struct zip_file z = {0};
    add_text(&z, "META-INF/container.xml", CONTAINER);
    add_text(&z, "a/b/content.opf", ONE_CHAPTER);
    zip_add_bomb(&z, "a/b/1.html", "<p>", 200 * MIB);
    zip_write(&z, support_path("a.epub"));
    expect_refused("a.epub", DOCUMENT_FAILED, "grows to more than 128 MiB");
    zip_add_bomb(&z, "word/document.xml", DOCX_START, 200 * MIB);
    zip_write(&z, support_path("b.docx"));
    expect_refused("b.docx", DOCUMENT_FAILED, "huge text node");
    zip_add_bomb(&z, "word/styles.xml", "", 200 * MIB);
    add_text(&z, "word/document.xml", DOCX_START DOCX_END);
    zip_write(&z, support_path("c.docx"));
    expect_refused("c.docx", DOCUMENT_FAILED, "the first element is behind byte 65536");
}

TEST_IF(READS_PACKAGES, broken_packages_are_told)
{
    static const char word[] = "word/document.xml";
    support_write(support_path("a.docx"), "no zip file");
    expect_refused("a.docx", DOCUMENT_FAILED, "cannot be read: ");
    expect_package_refused("b.docx", word, "x", true, "is encrypted");
    expect_package_refused("c.docx", "other", "x", false, "is no docx");
    expect_package_refused("c.odt", "other", "x", false, "is no odt");
    expect_package_refused("c.epub", "other", "x", false,
                           "is no epub: it lacks META-INF/container.xml");
    expect_package_refused("d.docx", word, DOCX_START "text\n</w:t>", false,
                           "word/document.xml: its XML, line 2: ");
    expect_package_refused("e.docx", word, "", false, "word/document.xml: ");
}

TEST_IF(READS_PACKAGES, a_cut_off_package_is_told)
{
    struct zip_file z = {0};
    AUTO(buf_release) struct buf whole = BUF_INIT;
    struct error e;
    add_text(&z, "word/document.xml", DOCX_START "text" DOCX_END);
    zip_write(&z, support_path("a.docx"));
    assert_true(paths_read_file(support_path("a.docx"), PATHS_FILE, &whole, &e));
    for (size_t len = 0; len < whole.len; len++) {
        struct loaded_document d;
        struct document_options o = {.limits = document_limits};
        assert_true(paths_write_file(support_path("b.docx"), whole.data, len, &e));
        enum document_outcome outcome = document_load_file(&d, support_path("b.docx"), &o, &e);
        if (outcome == DOCUMENT_LOADED)
            loaded_document_release(&d);
        else
            assert_int_equal(outcome, DOCUMENT_FAILED);
    }
}

TEST_IF(READS_PACKAGES, names_of_members_lead_nowhere)
{
    static const char contents[] =
        "<package><metadata><title>T</title></metadata><manifest>"
        "<item id=\"1\" href=\"../../../../../../../../../etc/passwd\"/>"
        "<item id=\"2\" href=\"/etc/passwd\"/><item id=\"3\" href=\"one%20two.html#x\"/>"
        "<item id=\"4\" href=\"../../up.html\"/><item id=\"5\"/><item href=\"x\"/>"
        "</manifest><spine><itemref idref=\"1\"/><itemref idref=\"2\"/><itemref idref=\"3\"/>"
        "<itemref idref=\"4\"/><itemref idref=\"5\"/><itemref "
        "idref=\"none\"/><itemref/></spine></package>";
    struct zip_file z = {0};
    AUTO(loaded_document_release) struct loaded_document d = {0};
    zip_add(&z, "../outside", "x", 1, false);
    zip_add(&z, "/tmp/../outside", "x", 1, false);
    zip_add(&z, "up.html", "up", 2, false);
    zip_add(&z, "a/b/one two.html", "<h1>one</h1>", 12, false);
    add_text(&z, "a/b/content.opf", contents);
    add_text(&z, "META-INF/container.xml", CONTAINER);
    zip_write(&z, support_path("a.epub"));
    documents_load(&d, "a.epub");
    assert_string_equal(documents_show(&d, false), "#1 one\nup\n");
    assert_string_equal(d.title, "T");
    assert_int_equal(access(support_path("../outside"), F_OK), -1);
}

TEST_IF(READS_PACKAGES, a_chapter_is_read_once)
{
    AUTO(buf_release) struct buf contents = BUF_INIT;
    struct zip_file z = {0};
    AUTO(loaded_document_release) struct loaded_document d = {0};
    buf_addstr(&contents, "<package><manifest><item id=\"1\" href=\"1.html\"/></manifest><spine>");
    for (int i = 0; i < 1000; i++)
        buf_addstr(&contents, "<itemref idref=\"1\"/>");
    buf_addstr(&contents, "</spine></package>");
    add_text(&z, "META-INF/container.xml", CONTAINER);
    add_text(&z, "a/b/content.opf", contents.data);
    add_text(&z, "a/b/1.html", "<h1>one</h1>");
    zip_write(&z, support_path("a.epub"));
    documents_load(&d, "a.epub");
    assert_string_equal(documents_show(&d, false), "#1 one\n");
}

/* --- entities --------------------------------------------------------------------------------- */

static int listen_here(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* The document is refused, or its text has nothing of the entity. */
static void expect_without(const char *name, const char *secret)
{
    struct loaded_document d;
    struct error e;
    struct document_options o = {.limits = document_limits};
    if (document_load_file(&d, support_path(name), &o, &e) != DOCUMENT_LOADED)
        return;
    if (strstr(d.text.data, secret))
        fail_msg("%s: %s", name, d.text.data);
    loaded_document_release(&d);
}

TEST_IF(READS_PACKAGES, nothing_outside_is_looked_up)
{
    int port, fd = listen_here(&port);
    support_write(support_path("secret"), "TOP SECRET");
    const char *places[] = {support_text("file://%s", support_path("secret")),
                            support_path("secret"), "secret",
                            support_text("http://127.0.0.1:%d/x", port)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        write_docx("a.docx", support_text("<!DOCTYPE a [<!ENTITY e SYSTEM \"%s\">]>" DOCX_START
                                          "before &e; after" DOCX_END,
                                          places[i]));
        write_docx("b.docx",
                   support_text("<!DOCTYPE a SYSTEM \"%s\">" DOCX_START "&e;" DOCX_END, places[i]));
        write_docx("c.docx",
                   support_text("<!DOCTYPE a [<!ENTITY %% p SYSTEM \"%s\"> %%p;]>" DOCX_START
                                "x" DOCX_END,
                                places[i]));
        write_docx("d.docx",
                   support_text("<a xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include "
                                "href=\"%s\" parse=\"text\"/></a>",
                                places[i]));
        support_write(support_path("e.html"),
                      support_text("<!DOCTYPE html [<!ENTITY e SYSTEM \"%s\">]><link href=\"%s\">"
                                   "<iframe src=\"%s\"></iframe><img src=\"%s\">&e;",
                                   places[i], places[i], places[i], places[i]));
        static const char *const names[] = {"a.docx", "b.docx", "c.docx", "d.docx", "e.html"};
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            expect_without(names[n], "SECRET");
    }
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&asked, 1, 0), 0);
    close(fd);
}

TEST_IF(READS_PACKAGES, entities_do_not_multiply)
{
    AUTO(buf_release) struct buf xml = BUF_INIT;
    int64_t begun = clock_mono_ms();
    buf_addstr(&xml, "<!DOCTYPE a [<!ENTITY l0 \"laugh\">");
    for (int i = 1; i < 30; i++) {
        buf_addf(&xml, "<!ENTITY l%d \"", i);
        for (int n = 0; n < 10; n++)
            buf_addf(&xml, "&l%d;", i - 1);
        buf_addstr(&xml, "\">");
    }
    buf_addstr(&xml, "]>" DOCX_START "&l29;</w:t><w:t a=\"&l29;\">" DOCX_END);
    write_docx("a.docx", xml.data);
    expect_without("a.docx", "laugh");
    assert_true(clock_mono_ms() - begun < 10000 * support_patience());
}

/* --- PDF and programs ------------------------------------------------------------------------- */

static void need_pdftotext(void)
{
    if (documents_can_run("pdftotext"))
        return;
    print_message("pdftotext is not installed\n");
    skip();
}

TEST(pdf_of_2000_pages_has_them)
{
    enum { PAGES = 2000 };
    AUTO(loaded_document_release) struct loaded_document d = {0};
    AUTO(chunks_release) struct chunks c = {0};
    need_pdftotext();
    documents_write_pdf("a.pdf", PAGES, false);
    documents_load(&d, "a.pdf");
    chunks_make(&c, &d, CHUNK_CHARACTERS);
    assert_int_equal(c.items.len, PAGES);
    for (size_t i = 0; i < PAGES; i++) {
        assert_int_equal(c.items.items[i].page, i + 1);
        assert_string_equal(c.items.items[i].text, support_text("This is page %zu.", i + 1));
    }
}

TEST(broken_pdf_is_told)
{
    need_pdftotext();
    documents_write_pdf("a.pdf", 2, true);
    expect_refused("a.pdf", DOCUMENT_FAILED, "Incorrect password");
    support_write(support_path("b.pdf"), "%PDF-1.4\nnothing");
    expect_refused("b.pdf", DOCUMENT_FAILED, "cannot be read: pdftotext: ");
    support_write(support_path("c.pdf"), "");
    expect_refused("c.pdf", DOCUMENT_FAILED, "cannot be read: pdftotext: ");
    documents_write_pdf("d.pdf", 0, false);
    documents_refused("d.pdf", DOCUMENT_FAILED);
}

TEST(without_pdftotext_pdf_says_so)
{
    documents_write_pdf("a.pdf", 1, false);
    char *before = support_keep(mem_strdup(getenv("PATH")));
    setenv("PATH", support_dir(), 1);
    expect_refused("a.pdf", DOCUMENT_FAILED, "cannot be read: pdftotext is not installed");
    setenv("PATH", before, 1);
}

static bool says_no(void *context)
{
    (void)context;
    return false;
}

TEST(a_loader_that_hangs_or_floods_is_ended)
{
    const struct document_command hangs[] = {{"txt", "sleep 1000; cat $1"}};
    const struct document_command floods[] = {{"txt", "yes $1"}};
    struct document_options o = {.limits = document_limits, .commands = hangs, .command_count = 1};
    support_write(support_path("a.txt"), "text");
    o.limits.ms = 200;
    assert_string_equal(documents_refused_with("a.txt", &o, DOCUMENT_FAILED),
                        "takes longer than 1 s to read");
    int wake[2];
    assert_int_equal(pipe(wake), 0);
    assert_int_equal(write(wake[1], "x", 1), 1);
    const struct wakeup wakeup = {.fd = wake[0], .go_on = says_no};
    o.limits.ms = 60000;
    o.wakeup = &wakeup;
    documents_refused_with("a.txt", &o, DOCUMENT_STOPPED);
    o.commands = NULL;
    o.command_count = 0;
    documents_refused_with("a.txt", &o, DOCUMENT_STOPPED);
    o.wakeup = NULL;
    AUTO(loaded_document_release) struct loaded_document d = {0};
    AUTO(chunks_release) struct chunks c = {.wakeup = &wakeup};
    fill("b.txt", "", "text ", MIB);
    documents_load(&d, "b.txt");
    chunks_make(&c, &d, CHUNK_CHARACTERS);
    assert_true(c.is_stopped && c.items.len < 100);
    o.commands = floods;
    o.command_count = 1;
    o.limits.text = (int64_t)MIB;
    assert_string_equal(documents_refused_with("a.txt", &o, DOCUMENT_FAILED),
                        "has more than 1 MiB of text");
    close(wake[0]);
    close(wake[1]);
}

/* Standard input, output and error, and that of ls. */
TEST(a_loader_gets_limits_and_nothing_of_ours)
{
    static const struct {
        const char *command, *text;
    } rows[] = {{"ulimit -S -v; ulimit -S -t", "524288 20"},
                {"echo ${SECRET-none} ${LANG-none}", "none C"},
                {"ls /proc/self/fd", "0 1 2 3"}};
    struct document_command command = {.extension = "txt"};
    struct document_options o = {
        .limits = document_limits, .commands = &command, .command_count = 1};
    int ours = socket(AF_UNIX, SOCK_STREAM, 0); /* may be inherited */
    assert_true(ours >= 0);
    support_write(support_path("a.txt"), "text");
    setenv("SECRET", "s", 1);
    setenv("LANG", "C", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(loaded_document_release) struct loaded_document d = {0};
        struct error e;
        command.command = rows[i].command;
        assert_int_equal(document_load_file(&d, support_path("a.txt"), &o, &e), DOCUMENT_LOADED);
        for (char *at = d.text.data; (at = strchr(at, '\n'));)
            *at = at[1] ? ' ' : '\0';
        assert_string_equal(d.text.data, rows[i].text);
    }
    command.command = "ulimit -S -t 0; while :; do :; done";
    assert_string_equal(documents_refused_with("a.txt", &o, DOCUMENT_FAILED),
                        "takes longer than 20 s of processor time to read");
    unsetenv("SECRET");
    close(ours);
}

TEST(time_is_up_for_what_is_read_here)
{
    struct document_options o = {.limits = document_limits};
    o.limits.ms = 0;
    fill("a.txt", "", "text ", MIB);
    documents_refused_with("a.txt", &o, DOCUMENT_FAILED);
    fill("a.html", "", "text ", MIB);
    documents_refused_with("a.html", &o, DOCUMENT_FAILED);
}
