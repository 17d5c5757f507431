/* Markdown: what blocks look like, and that it does not matter how the text arrived. */
#include "base/utf8.h"
#include "tests/seen.h"
#include "tests/suite.h"
#include "ui/text/highlight.h"
#include "ui/text/markdown.h"
#include "ui/text/markdown_private.h"

static void lay_out(struct rows *rows, const char *source, size_t width)
{
    struct markdown m;
    struct markdown_look look = {.width = width, .style = STYLE_TEXT};
    rows_init(rows);
    markdown_init(&m, &look, rows);
    markdown_update(&m, source, strlen(source), true);
}

static void expect(const char *source, size_t width, const char *wanted)
{
    AUTO(rows_release) struct rows rows = {0};
    lay_out(&rows, source, width);
    assert_string_equal(seen_text(&rows), wanted);
}

/* The look of the first span whose text is this. */
static struct span look_of(const struct rows *rows, const char *text)
{
    size_t at = 0;
    for (size_t i = 0; i < rows->spans.len; i++) {
        const struct span *span = &rows->spans.items[i];
        if (span->len == strlen(text) && memcmp(rows->text.data + at, text, span->len) == 0)
            return *span;
        at += span->len;
    }
    fail_msg("there is no span \"%s\"", text);
    return (struct span){0};
}

static void expect_look(const char *source, const char *text, enum style style, unsigned attrs)
{
    AUTO(rows_release) struct rows rows = {0};
    lay_out(&rows, source, 60);
    struct span span = look_of(&rows, text);
    assert_int_equal(span.style, style);
    assert_int_equal(span.attrs, attrs);
}

BEFORE_ALL(support_utf8);

TEST(spans_have_looks)
{
    expect_look("a *b* c", "b", STYLE_TEXT, ATTR_ITALIC);
    expect_look("a **b** c", "b", STYLE_TEXT, ATTR_BOLD);
    expect_look("a ***b*** c", "b", STYLE_TEXT, ATTR_BOLD | ATTR_ITALIC);
    expect_look("a ~~b~~ c", "b", STYLE_TEXT, ATTR_STRIKE);
    expect_look("a `b *c*` d", "b *c*", STYLE_CODE, 0);
    expect_look("# head", "head", STYLE_HEADING, ATTR_BOLD | ATTR_UNDERLINE);
    expect_look("## head", "head", STYLE_HEADING, ATTR_BOLD);
    expect_look("### head", "head", STYLE_HEADING, ATTR_BOLD | ATTR_ITALIC);
    expect_look("# head\n\ntext", "text", STYLE_TEXT, 0);
    expect_look("> quoted", "│ quoted", STYLE_QUOTE, 0);
    expect_look("see [here](http://x.org/a)", "here", STYLE_LINK, ATTR_UNDERLINE);
}

TEST(links_show_where_they_lead)
{
    expect("[here](http://x.org/a)", 60, "here (http://x.org/a)\n");
    expect("<http://x.org/a>", 60, "http://x.org/a\n");
    expect("So[[12]](http://x.org/a).", 60, "So[12].\n");
    expect("[12](http://x.org/a) [[]](x) [[1a]](x)", 60, "12 (http://x.org/a) [] (x) [1a] (x)\n");
    expect("http://x.org/a and www.x.org", 60, "http://x.org/a and www.x.org\n");
    expect("[x.org](https://x.org)", 60, "x.org\n");
    expect("![a cat](cat.png)", 60, "[image: a cat] (cat.png)\n");
}

TEST(html_is_text_and_entities_are_characters)
{
    expect("a <b>c</b> &amp; &#8212; &mdash; &nosuch;", 60,
           "a <b>c</b> & \u2014 \u2014 &nosuch;\n");
    expect("&#27;[31m &#x202e; &#0; &#x110000;", 60, "\u241b[31m \ufffd \ufffd \ufffd\n");
    expect("x\x1b[31m [a](http://\x1b]0;t\x07)", 60, "x\u241b[31m [a](http://\u241b]0;t\u2407)\n");
}

TEST(lists_hang)
{
    expect("- one two three\n- four\n  - five\n    - six\n", 12,
           "• one two\n  three\n• four\n  ◦ five\n    ▪ six\n");
    expect("- [x] done\n- [ ] open", 40, "☑ done\n☐ open\n");
    expect("text\n- item\n", 40, "text\n• item\n");
    expect("-\n- b", 40, "•\n• b\n");
}

TEST(ordered_lists_keep_their_numbers)
{
    expect("3. a\n3. b\n\n3. c\n", 40, "3. a\n4. b\n\n5. c\n");
    expect("1. a\n\n   more\n\n2. b\n", 40, "1. a\n\n   more\n\n2. b\n");
    expect("1. a\n   ```\n   x\n   ```\n   more\n1. b\n", 40,
           "1. a\n     x\n   ─\n   more\n2. b\n");
    expect("1. a\n2. b\n\ntext\n\n1. c\n", 40, "1. a\n2. b\n\ntext\n\n1. c\n");
    expect("1. a\n1) b\n", 40, "1. a\n1) b\n");
    expect("9. a\n10. b\n", 40, "9. a\n10. b\n");
}

TEST(quotes_nest)
{
    expect("> one two\n> > three\n\nend", 8, "│ one\n│ two\n│ │ thre\n│ │ e\n\nend\n");
    expect("> a\n>\n> b", 20, "│ a\n│\n│ b\n");
}

TEST(code_is_not_filled)
{
    expect("```sh\necho  a\n\n\tb\n```\n", 40, "─ sh\n  echo  a\n\n      b\n─\n");
    expect("text\n```\nabcdefgh\n```\nend", 6, "text\n  abcd\n› efgh\n─\nend\n");
    expect("> ```\n> abcdefgh\n> ```\n", 8, "│   abcd\n│ › efgh\n│ ─\n");
    expect("~~~\n```\n~~~\n", 40, "  ```\n─\n");
    expect("```\nopen", 40, "  open\n");
    expect("    indented\n", 40, "  indented\n");
    expect_look("```c\nint x = 12; // y\n```", "int", STYLE_CODE_KEYWORD, 0);
    expect_look("```c\nint x = 12; // y\n```", "12", STYLE_CODE_NUMBER, 0);
    expect_look("```c\nint x = 12; // y\n```", "// y", STYLE_CODE_COMMENT, 0);
    expect_look("```python\ns = \"\"\"a\nb\"\"\"\n```", "b\"\"\"", STYLE_CODE_STRING, 0);
    expect_look("```sql\nSelect 1\n```", "Select", STYLE_CODE_KEYWORD, 0);
    expect_look("```html\n<a href=\"x\">don't</a>\n```", "\"x\"", STYLE_CODE_STRING, 0);
    expect_look("```nosuch\nint x\n```", "  int x", STYLE_CODE, 0);
}

TEST(diffs_have_the_looks_of_diffs)
{
    static const char diff[] = "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n```";
    expect_look(diff, "-old", STYLE_DIFF_REMOVED, 0);
    expect_look(diff, "+new", STYLE_DIFF_ADDED, 0);
    expect_look(diff, "--- a/x", STYLE_CODE_COMMENT, 0);
    expect_look(diff, "+++ b/x", STYLE_CODE_COMMENT, 0);
    expect_look(diff, "@@ -1 +1 @@", STYLE_CODE_COMMENT, 0);
}

TEST(code_has_an_end)
{
    expect("```sh\na\n```\nb\n", 40, "─ sh\n  a\n─\nb\n");
    expect("```\na\n", 40, "  a\n");
    expect("- x\n  ```\n  a\n  ```\n- y\n", 40, "• x\n    a\n  ─\n• y\n");
    expect("> ```\n> a\n> ```\n> b\n", 40, "│   a\n│ ─\n│ b\n");
    expect("- ```\n  ```\n", 40, "•\n  ─\n");
    expect_look("```\na\n```\n", "─", STYLE_RULE, 0);
}

TEST(tables_fit)
{
    static const char table[] = "| a | b |\n|--:|:-:|\n| 1 | long cell |\n| 222 | x |\n";
    expect(table, 40, "  a │     b\n────┼──────────\n  1 │ long cell\n222 │     x\n");
    expect(table, 13, "  a │    b\n────┼────────\n  1 │  long\n    │  cell\n222 │    x\n");
    expect(table, 8, "a: 1\nb: long\ncell\n\na: 222\nb: x\n");
    expect("| a |\n|---|\n", 40, "a\n─\n");
}

TEST(table_columns_share_the_room)
{
    static const size_t wanted[] = {3, 50, 30, 10};
    size_t widths[4];
    assert_true(markdown_table_fit(wanted, widths, 4, 100));
    assert_int_equal(widths[1], 50);
    assert_true(markdown_table_fit(wanted, widths, 4, 60));
    assert_int_equal(widths[0], 3);
    assert_int_equal(widths[3], 10);
    assert_int_equal(widths[0] + widths[1] + widths[2] + widths[3], 60);
    assert_true(widths[1] - widths[2] <= 1 || widths[2] - widths[1] <= 1);
    assert_false(markdown_table_fit(wanted, widths, 4, 20));
}

/* md4c 0.4.8 follows a link that the text's end cuts off into what lies behind the text. */
TEST(a_cut_link_does_not_lead_out_of_the_text)
{
    static const char source[] = "see [here](http://x) and [there](http://y)";
    for (size_t len = 0; len <= strlen(source); len++) {
        AUTO(rows_release) struct rows rows = {0};
        struct markdown m;
        struct markdown_look look = {.width = 80, .style = STYLE_TEXT};
        auto_free char *exact = malloc(len + 1);
        assert_non_null(exact);
        memcpy(exact, source, len);
        rows_init(&rows);
        markdown_init(&m, &look, &rows);
        markdown_update(&m, exact, len, true);
        assert_true(rows.text.len <= len + 20);
    }
}

TEST(rules_and_headings)
{
    expect("# A\ntext\n\n---\n\nB\n===\n", 5, "A\ntext\n\n─────\n\nB\n");
}

TEST(formulas_stay_as_they_are)
{
    static const char formulas[] = "let $\\int x\\,dx$ be $\\{a\\}$ or $$\\\\ x\\;y $$";
    expect(formulas, 80, "let $\\int x\\,dx$ be $\\{a\\}$ or $$\\\\ x\\;y $$\n");
    expect("\\*no\\* formula: $5\\, $10\\!", 60, "*no* formula: $5, $10!\n");
    expect("from $5 to *at most* $10, **or** US$20", 60, "from $5 to at most $10, or US$20\n");
}

TEST(entities_alone)
{
    static const char *const cases[][2] = {{"&lt;", "<"}, {"&#65;", "A"}, {"&#x41;", "A"},
                                           {"&;", "&;"},  {"&", "&"},     {"&#;", "&#;"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT;
        markdown_entity(&out, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(out.data, cases[i][1]);
    }
}

TEST(keywords_are_sorted)
{
    for (size_t i = 0; i < language_count; i++) {
        char *words = mem_strdup(languages[i].keywords), *rest = NULL;
        const char *before = "";
        for (char *word = words ? strtok_r(words, " ", &rest) : NULL; word;
             word = strtok_r(NULL, " ", &rest)) {
            assert_true(strcmp(before, word) < 0);
            before = word;
        }
        free(words);
    }
}

TEST(languages_go_by_many_names)
{
    static const char *const names[] = {"c",    "cpp", "py",   "ts",  "js",   "go",   "rs",
                                        "java", "sh",  "bash", "sql", "json", "yaml", "html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(language_find(names[i], strlen(names[i])));
    assert_ptr_equal(language_find("C++", 3), language_find("cpp", 3));
    assert_null(language_find("", 0));
    assert_null(language_find("brainfuck", 9));
}

TEST(last_code_block)
{
    static const char source[] = "```\nfirst\n```\n\n1. x\n   ```c\n   int y;\n     z\n   ```\nend";
    auto_free char *code = markdown_last_code(source, strlen(source));
    assert_string_equal(code, "int y;\n  z\n");
    assert_null(markdown_last_code("none", 4));
}

/* --- however it arrives --- */

static void random_source(struct buf *out, uint64_t *seed)
{
    static const char *const pieces[] = {"word ",
                                         "*em* ",
                                         "**",
                                         "`code`",
                                         "\n",
                                         "\n\n",
                                         "- item\n",
                                         "1. one\n",
                                         "  - in",
                                         "> q\n",
                                         "```c\n",
                                         "```\n",
                                         "   ```\n",
                                         "    four\n",
                                         "# h\n",
                                         "---\n",
                                         "| a | b |\n|---|---|\n| c | d |\n",
                                         "~~~",
                                         "日本語",
                                         "[l](u) ",
                                         "===\n",
                                         "\t",
                                         "int x; /* ",
                                         "   text",
                                         "2) two\n",
                                         "* * *\n",
                                         "-\n",
                                         "e\u0301",
                                         "&amp;",
                                         "<b>",
                                         "- [x] t\n"};
    buf_clear(out);
    for (size_t n = support_random(seed) % 60; n > 0; n--)
        buf_addstr(out, pieces[support_random(seed) % (sizeof pieces / sizeof *pieces)]);
}

static void assert_same_rows(const struct rows *a, const struct rows *b)
{
    assert_string_equal(a->text.data, b->text.data);
    assert_int_equal(a->list.len, b->list.len);
    assert_int_equal(a->spans.len, b->spans.len);
    for (size_t i = 0; i < a->list.len; i++)
        assert_memory_equal(&a->list.items[i], &b->list.items[i], sizeof a->list.items[i]);
    for (size_t i = 0; i < a->spans.len; i++) {
        assert_int_equal(a->spans.items[i].len, b->spans.items[i].len);
        assert_int_equal(a->spans.items[i].style, b->spans.items[i].style);
        assert_int_equal(a->spans.items[i].attrs, b->spans.items[i].attrs);
    }
}

static void stream(struct rows *rows, const char *source, size_t len, size_t width, uint64_t *seed,
                   size_t most)
{
    struct markdown m;
    struct markdown_look look = {.width = width, .style = STYLE_TEXT};
    rows_init(rows);
    markdown_init(&m, &look, rows);
    for (size_t have = 0; have < len; have += 1 + support_random(seed) % most)
        markdown_update(&m, source, have, false);
    markdown_update(&m, source, len, true);
}

/* Rows fit any width, and are the same whether the source came at once or in pieces. */
TEST(pieces_make_the_same_rows)
{
    uint64_t seed = support_seed();
    AUTO(buf_release) struct buf source = BUF_INIT;
    for (int round = 0; round < 1500; round++) {
        AUTO(rows_release) struct rows whole = {0}, parts = {0};
        size_t width = 1 + support_random(&seed) % 40;
        random_source(&source, &seed);
        lay_out(&whole, source.data, width);
        stream(&parts, source.data, source.len, width, &seed, 9);
        assert_same_rows(&whole, &parts);
        for (size_t i = 0; i < whole.list.len; i++)
            assert_true(rows_width(&whole, i) <= width);
    }
}

static void repeat(struct buf *out, const char *text, size_t bytes)
{
    while (out->len < bytes)
        buf_addstr(out, text);
}

/* Texts that never end a block: cut in the same places however they come, and no word is lost. */
TEST(endless_blocks_are_cut)
{
    static const char *const starts[][2] = {{"", "word and "},
                                            {"", "line and\n"},
                                            {"- ", "item and\n  "},
                                            {"> ", "quote\n> "},
                                            {"```c\n", "int line;\n"},
                                            {"1. x\n   ```\n", "   code\n"},
                                            {"```\n", "longline"},
                                            {"", "nospacesatall"},
                                            {"| a | b |\n|---|---|\n", "| c | d |\n"},
                                            {"", "- a\n  - b\n"},
                                            {"", "日本"},
                                            {"# ", "endless heading "}};
    uint64_t seed = support_seed();
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        AUTO(buf_release) struct buf source = BUF_INIT;
        AUTO(rows_release) struct rows whole = {0}, parts = {0};
        buf_addstr(&source, starts[i][0]);
        repeat(&source, starts[i][1], 40000);
        lay_out(&whole, source.data, 50);
        stream(&parts, source.data, source.len, 50, &seed, 700);
        assert_same_rows(&whole, &parts);
    }
}

TEST(cut_tables_repeat_their_head)
{
    AUTO(buf_release) struct buf source = BUF_INIT;
    AUTO(rows_release) struct rows rows = {0};
    buf_addstr(&source, "| head | b |\n|---|---|\n");
    repeat(&source, "| cell | d |\n", 20000);
    lay_out(&rows, source.data, 50);
    size_t heads = 0;
    for (size_t i = 0; i < rows.list.len; i++)
        heads += memcmp(rows.text.data + rows.list.items[i].text, "head", 4) == 0;
    assert_int_equal(heads, 3);
    assert_null(strstr(rows.text.data, "|"));
}

TEST(deep_nesting_is_no_trap)
{
    AUTO(buf_release) struct buf source = BUF_INIT;
    struct rows rows;
    repeat(&source, "> ", 6000);
    buf_addstr(&source, "end\n");
    lay_out(&rows, source.data, 40);
    assert_non_null(strstr(rows.text.data, "end"));
    rows_release(&rows);
    buf_clear(&source);
    repeat(&source, "- ", 6000);
    buf_addstr(&source, "end\n");
    lay_out(&rows, source.data, 40);
    assert_non_null(strstr(rows.text.data, "end"));
    rows_release(&rows);
}
