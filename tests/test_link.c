/* Addresses of links in text: the part that a terminal may get, and the cells. */
#include "tests/suite.h"
#include "ui/term/cells.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"

BEFORE_ALL(support_utf8);

TEST(test_cleaning)
{
    static const struct {
        const char *address, *clean; /* NULL: refused */
    } cases[] = {{"https://example.org/a?b=c&d#e", "https://example.org/a?b=c&d#e"},
                 {"HTTP://EXAMPLE.ORG", "HTTP://EXAMPLE.ORG"},
                 {"mailto:a@example.org", "mailto:a@example.org"},
                 {"https://example.org/a b<c>", "https://example.org/a%20b%3Cc%3E"},
                 {"https://example.org/größe", "https://example.org/gr%C3%B6%C3%9Fe"},
                 {"https://example.org/\xe2\x80\xae", "https://example.org/%E2%80%AE"},
                 {"https://", NULL},
                 {"javascript:alert(1)", NULL},
                 {"file:///etc/passwd", NULL},
                 {"ssh://host", NULL},
                 {"x-man-page://ls", NULL},
                 {"/relative", NULL},
                 {"", NULL},
                 {"https://example.org/\033]0;x\007", NULL},
                 {"https://example.org/\033\\", NULL},
                 {"https://example.org/\n", NULL},
                 {"https://example.org/\x7f", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        buf_addstr(&out, "before ");
        bool ok = link_clean(&out, cases[i].address, strlen(cases[i].address));
        assert_int_equal(ok, cases[i].clean != NULL);
        assert_string_equal(out.data + 7, cases[i].clean ? cases[i].clean : "");
    }
}

TEST(test_length)
{
    char address[LINK_MAX + 2] = "https://";
    memset(address + 8, 'a', sizeof address - 8);
    AUTO(buf_release) struct buf out = BUF_INIT;
    assert_true(link_clean(&out, address, LINK_MAX));
    assert_false(link_clean(&out, address, LINK_MAX + 1));
    assert_int_equal(out.len, LINK_MAX);
}

/* "<a>" leads to a, "[b]" to b, and so on; "-" nowhere. */
static void assert_leads(const char *markdown, size_t width, const char *want)
{
    struct markdown m;
    struct markdown_look look = {.width = width, .style = STYLE_TEXT};
    AUTO(rows_release) struct rows rows = {0};
    AUTO(buf_release) struct buf got = BUF_INIT;
    rows_init(&rows);
    markdown_init(&m, &look, &rows);
    markdown_update(&m, markdown, strlen(markdown), true);
    for (size_t i = 0; i < rows.list.len; i++) {
        const struct row *row = &rows.list.items[i];
        const char *text = rows.text.data + row->text;
        for (size_t k = 0; k < row->span_count; k++) {
            const struct span *s = &rows.spans.items[row->spans + k];
            const char *address = links_at(&rows.links, s->link);
            if (address)
                buf_addf(&got, "%.*s -> %s\n", (int)s->len, text, address);
            text += s->len;
        }
    }
    assert_string_equal(got.data ? got.data : "", want);
}

TEST(test_markdown)
{
    assert_leads("see [the page](https://e.org/p) there", 60,
                 "the page -> https://e.org/p\nhttps://e.org/p -> https://e.org/p\n");
    assert_leads("see https://e.org/x?a=1&b=2 there", 60,
                 "https://e.org/x?a=1&b=2 -> https://e.org/x?a=1&b=2\n");
    assert_leads("[q](https://e.org/?a&amp;b)", 60,
                 "q -> https://e.org/?a&b\nhttps://e.org/?a&amp;b -> https://e.org/?a&b\n");
    assert_leads("[a b](https://e.org) [c](mailto:c@e.org)", 60,
                 "a b -> https://e.org\nhttps://e.org -> https://e.org\n"
                 "c -> mailto:c@e.org\nmailto:c@e.org -> mailto:c@e.org\n");
    assert_leads("[x](javascript:alert) and [y](file:///etc/passwd)", 60, "");
    assert_leads("<https://e.org/a-long-way>", 12,
                 "https://e.or -> https://e.org/a-long-way\n"
                 "g/a-long-way -> https://e.org/a-long-way\n");
    assert_leads("| a | b |\n|---|---|\n| <https://e.org> | c |", 60,
                 "https://e.org -> https://e.org\n");
    assert_leads("- one\n- <https://e.org>\n\n> <https://f.org>\n", 60,
                 "https://e.org -> https://e.org\nhttps://f.org -> https://f.org\n");
}

enum { ROWS = 4, COLS = 8 };

static int due(const struct link_cells *l, int row, bool redrawn)
{
    struct link_run run = {0};
    int cells = 0;
    while (link_cells_next(l, row, run.col + run.cols, redrawn, &run))
        cells += run.cols;
    return cells;
}

TEST(test_cells)
{
    struct link_cells l = {0};
    struct link_run run;
    link_cells_resize(&l, ROWS, COLS);
    uint16_t a = link_cells_number(&l, "https://a"), b = link_cells_number(&l, "https://b");
    assert_int_not_equal(a, b);
    assert_int_equal(link_cells_number(&l, "https://a"), a);
    assert_int_equal(link_cells_number(&l, NULL), 0);
    assert_false(link_cells_any(&l));
    link_cells_put(&l, 1, 2, 3, a);
    link_cells_put(&l, 1, 5, 9, b); /* over the edge */
    link_cells_put(&l, 9, 0, 1, b);
    assert_true(link_cells_any(&l));
    assert_int_equal(due(&l, 0, true), 0);
    assert_true(link_cells_next(&l, 1, 0, false, &run));
    assert_int_equal(run.col, 2);
    assert_int_equal(run.cols, 3);
    assert_int_equal(run.number, a);
    assert_true(link_cells_next(&l, 1, 5, false, &run));
    assert_int_equal(run.cols, 3);
    assert_int_equal(run.number, b);
    assert_false(link_cells_next(&l, 1, 8, false, &run));
    link_cells_done(&l, 1);
    assert_int_equal(due(&l, 1, false), 0);
    assert_int_equal(due(&l, 1, true), 6); /* curses wrote over them */
    link_cells_put(&l, 1, 3, 1, 0);
    assert_int_equal(due(&l, 1, false), 1); /* what leads nowhere now */
    assert_true(link_cells_forget(&l, 1));  /* somebody else has drawn the row */
    assert_false(link_cells_forget(&l, 1));
    assert_int_equal(due(&l, 1, false), 5);
    link_cells_done(&l, 1);
    link_cells_put(&l, 1, 0, COLS, 0);
    assert_true(link_cells_any(&l)); /* the terminal still has them */
    assert_int_equal(due(&l, 1, false), 5);
    link_cells_done(&l, 1);
    assert_false(link_cells_any(&l));
    link_cells_resize(&l, 0, 0);
}

/* Links on the screen keep their numbers in spite of any number of others, and few are kept. */
TEST(test_numbers_are_used_again)
{
    struct link_cells l = {0};
    link_cells_resize(&l, ROWS, COLS);
    uint16_t kept = link_cells_number(&l, "https://kept");
    link_cells_put(&l, 0, 0, 1, kept);
    for (int i = 0; i < 100000; i++) {
        char *address = support_text("https://e.org/%d", i);
        uint16_t number = link_cells_number(&l, address);
        link_cells_put(&l, 1, i % COLS, 1, number);
        struct link_run run;
        assert_true(link_cells_next(&l, 1, i % COLS, false, &run));
        assert_string_equal(run.address, address);
    }
    struct link_run run;
    assert_true(link_cells_next(&l, 0, 0, false, &run));
    assert_string_equal(run.address, "https://kept");
    assert_true(l.addresses.len < 400);
    link_cells_resize(&l, 0, 0);
}
