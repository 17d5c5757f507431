/* An entry of memory as a line around what matched, and as a quotation. */
#include "base/utf8.h"
#include "tests/suite.h"
#include "ui/view/memory_line.h"

BEFORE_ALL(support_utf8);

static char *line_of(const struct memory_hit *h, size_t columns, const char **marked)
{
    static char mark[64];
    AUTO(styled_release) struct styled line = {0};
    styled_init(&line);
    memory_line(&line, h, columns, STYLE_OVERLAY);
    size_t at = 0;
    *mark = '\0';
    for (size_t i = 0; i < line.spans.len; i++) {
        const struct span *span = &line.spans.items[i];
        if (span->style == STYLE_MATCH) {
            assert_true(span->attrs & ATTR_UNDERLINE); /* where there are no colours */
            snprintf(mark, sizeof mark, "%.*s", (int)span->len, line.text.data + at);
        }
        at += span->len;
    }
    assert_int_equal(at, line.text.len);
    char *text = mem_strdup(line.text.data);
    if (marked)
        *marked = mark;
    return text;
}

TEST(the_line_shows_the_first_mark)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    const char *marked;
    for (int i = 0; i < 200; i++)
        buf_addf(&text, "word%d \n", i);
    struct memory_hit h = {.entry.content = text.data, .passage.len = text.len};
    const size_t word = (size_t)(strstr(text.data, "word150") - text.data);
    vec_push(&h.marks, ((struct memory_span){word, 7}));
    char *line = line_of(&h, 40, &marked);
    size_t at = (size_t)(strstr(line, "word150") - line);
    assert_string_equal(marked, "word150");
    assert_true(at < 30);
    assert_int_equal(strncmp(line, "\xe2\x80\xa6 word14", 9), 0);
    assert_null(strchr(line, '\n'));
    free(line);
    h.passage = (struct memory_span){(size_t)(strstr(text.data, "word149") - text.data), 60};
    line = line_of(&h, 40, &marked);
    assert_int_equal(strncmp(line, "word149 word150 ", 16), 0);
    free(line);
    vec_release(&h.marks);
}

TEST(wrong_places_do_no_harm)
{
    char content[] = "\xe4\xba\xac\xe9\x83\xbd\xe3\x81\xae\xe5\xae\xbf \x1b[31m!";
    struct memory_hit h = {.entry.content = content};
    const struct memory_span spans[] = {{1, 1}, {2, 500}, {400, 3}, {3, SIZE_MAX}, {0, 0}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        vec_push(&h.marks, spans[i]);
    const struct memory_span passages[] = {{0, 0}, {1, 3}, {100, 3}, {3, SIZE_MAX}, {0, 9}};
    for (size_t i = 0; i < sizeof passages / sizeof *passages; i++)
        for (size_t columns = 1; columns < 20; columns++) {
            h.passage = passages[i];
            auto_free char *line = line_of(&h, columns, NULL);
            assert_true(utf8_valid(line, strlen(line)));
            assert_null(strchr(line, '\x1b'));
        }
    vec_release(&h.marks);
}

TEST(a_quotation_has_all_lines)
{
    auto_free char *quote = memory_quote("one\n\ntwo\n", 9, "me");
    assert_string_equal(quote, "> one\n>\n> two\n> \u2014 me\n");
}
