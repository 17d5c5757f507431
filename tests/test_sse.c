/* The two framings of a streamed answer: server-sent events and lines. */
#include "base/clock.h"
#include "base/entropy.h"
#include "provider/sse.h"
#include "tests/suite.h"

#define MAX ((size_t)1 << 20)

/* The parser's output: "[name]data;" for an event, "line;" for a line. */
struct report {
    struct buf text;
    size_t count;
    size_t stop_after; /* 0: never */
};

static bool on_event(void *context, const char *name, const char *data, size_t len)
{
    struct report *r = context;
    buf_addf(&r->text, "[%s]", name);
    buf_add(&r->text, data, len);
    buf_addch(&r->text, ';');
    return ++r->count != r->stop_after;
}

static bool on_line(void *context, const char *line, size_t len)
{
    struct report *r = context;
    buf_add(&r->text, line, len);
    buf_addch(&r->text, ';');
    return ++r->count != r->stop_after;
}

/* The end of the next piece, for a given start. */
typedef size_t cut_fn(size_t from, size_t len, size_t parameter);

static size_t cut_nowhere(size_t from, size_t len, size_t parameter)
{
    (void)from, (void)parameter;
    return len;
}

static size_t cut_once(size_t from, size_t len, size_t at)
{
    return from < at && at < len ? at : len;
}

static size_t cut_every(size_t from, size_t len, size_t size)
{
    return from + size < len ? from + size : len;
}

static size_t cut_anywhere(size_t from, size_t len, size_t longest)
{
    size_t size = 1 + (size_t)(entropy_unit() * (double)longest);
    return from + size < len ? from + size : len;
}

/* Each piece is copied to the heap, so that a sanitizer sees a read past its end. */
static enum feed_result feed_pieces(struct sse *sse, struct lines *lines, struct report *r,
                                    const char *text, size_t len, cut_fn *cut, size_t parameter)
{
    enum feed_result result = FEED_OK;
    for (size_t from = 0; from < len && result == FEED_OK;) {
        size_t end = cut(from, len, parameter);
        char *piece = support_keep(malloc(end - from));
        assert_non_null(piece);
        memcpy(piece, text + from, end - from);
        result = sse != NULL ? sse_feed(sse, piece, end - from)
                             : lines_feed(lines, piece, end - from, on_line, r);
        from = end;
    }
    if (result != FEED_OK)
        return result;
    return sse != NULL ? sse_end(sse) : lines_end(lines, on_line, r);
}

static void check(bool events, const char *text, size_t len, const char *expected, cut_fn *cut,
                  size_t parameter)
{
    struct report r = {.text = BUF_INIT};
    AUTO(sse_release) struct sse sse = {0};
    AUTO(lines_release) struct lines lines = {0};
    sse_init(&sse, MAX, on_event, &r);
    lines_init(&lines, MAX);
    enum feed_result result =
        feed_pieces(events ? &sse : NULL, &lines, &r, text, len, cut, parameter);
    assert_int_equal(result, FEED_OK);
    assert_string_equal(r.text.data, expected);
    buf_release(&r.text);
}

/* Feeds the bytes in every possible split. */
static void check_splits(bool events, const char *text, const char *expected)
{
    size_t len = strlen(text);
    check(events, text, len, expected, cut_nowhere, 0);
    for (size_t at = 1; at < len; at++)
        check(events, text, len, expected, cut_once, at);
    for (size_t size = 1; size < 5; size++)
        check(events, text, len, expected, cut_every, size);
    for (size_t round = 0; round < 50; round++)
        check(events, text, len, expected, cut_anywhere, 1 + round % 12);
}

static const struct {
    const char *text;
    const char *expected;
} event_cases[] = {
    {"", ""},
    {"\n\n\n", ""},
    {"data: one\n\n", "[]one;"},
    {"data:one\n\ndata:  two\n\n", "[]one;[] two;"},
    {"event: ping\ndata: {}\n\n", "[ping]{};"},
    {"data: {}\nevent: late\n\n", "[late]{};"},
    {"event: a\nevent: b\ndata: x\n\n", "[b]x;"},
    {"event: lost\n\ndata: x\n\n", "[]x;"},
    {"data: x\n\nevent: y\ndata: z\n\ndata: w\n\n", "[]x;[y]z;[]w;"},
    {"data: first\ndata: second\ndata:\ndata: fourth\n\n", "[]first\nsecond\n\nfourth;"},
    {": a comment\n\n:\ndata: x\n: another\ndata: y\n\n", "[]x\ny;"},
    {"data\n\ndata:\n\n", "[];[];"},
    {"id: 7\nretry: 100\nunknown: u\ndata: x\n\n", "[]x;"},
    {"datax: no\ndat: no\n data: no\ndata: yes\n\n", "[]yes;"},
    {"data: a: b: c\n\n", "[]a: b: c;"},
    {"\xEF\xBB\xBF"
     "data: marked\n\n",
     "[]marked;"},
    {"\xEF\xBB"
     "data: half a mark\n\ndata: x\n\n",
     "[]x;"},
    {"data: \xEF\xBB\xBFinside\n\n", "[]\xEF\xBB\xBFinside;"},
    {"data: no blank line\n", "[]no blank line;"},
    {"data: no line end", "[]no line end;"},
    {"data: x\n\ndata: y", "[]x;[]y;"},
    {"data: x\n\nevent: only a name", "[]x;"},
    {"data: \xC3\xA4\xF0\x9F\x98\x80\n\n", "[]\xC3\xA4\xF0\x9F\x98\x80;"},
};

static const struct {
    const char *text;
    const char *expected;
} line_cases[] = {
    {"", ""},
    {"{}\n{\"a\":1}\n", "{};{\"a\":1};"},
    {"one\n\ntwo\n", "one;;two;"},
    {"last without an end", "last without an end;"},
    {"\xEF\xBB\xBF{}\n", "{};"},
    {"\xEF\xBB", "\xEF\xBB;"},
    {"\xC3\xA4\n", "\xC3\xA4;"},
};

/* The text with its line feeds replaced; the caller frees. */
static char *with_line_ends(const char *text, const char *end)
{
    struct buf out = BUF_INIT;
    for (; *text != '\0'; text++)
        if (*text == '\n')
            buf_addstr(&out, end);
        else
            buf_addch(&out, *text);
    return support_keep(buf_take(&out));
}

static void check_line_ends(bool events, const char *text, const char *expected)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *variant = with_line_ends(text, ends[i]);
        check_splits(events, variant, expected);
    }
}

TEST(test_events)
{
    entropy_seed(support_seed());
    for (size_t i = 0; i < sizeof event_cases / sizeof *event_cases; i++)
        check_line_ends(true, event_cases[i].text, event_cases[i].expected);
}

TEST(test_lines)
{
    entropy_seed(support_seed());
    for (size_t i = 0; i < sizeof line_cases / sizeof *line_cases; i++)
        check_line_ends(false, line_cases[i].text, line_cases[i].expected);
}

TEST(test_mixed_line_ends)
{
    check_splits(true, "data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r", "[]a\nb\nc;[]d;");
    check_splits(false, "a\rb\r\nc\n\rd", "a;b;c;;d;");
}

static enum feed_result feed_long(size_t max, size_t lines_count, size_t line_len)
{
    struct report r = {.text = BUF_INIT};
    struct buf text = BUF_INIT;
    struct sse sse;
    for (size_t i = 0; i < lines_count; i++) {
        buf_addstr(&text, "data:");
        for (size_t j = 0; j < line_len; j++)
            buf_addch(&text, 'x');
        buf_addch(&text, '\n');
    }
    sse_init(&sse, max, on_event, &r);
    enum feed_result whole = feed_pieces(&sse, NULL, &r, text.data, text.len, cut_nowhere, 0);
    sse_release(&sse);
    sse_init(&sse, max, on_event, &r);
    enum feed_result bytes = feed_pieces(&sse, NULL, &r, text.data, text.len, cut_every, 1);
    sse_release(&sse);
    buf_release(&text);
    buf_release(&r.text);
    assert_int_equal(whole, bytes);
    return whole;
}

TEST(test_limits)
{
    assert_int_equal(feed_long(100, 1, 95), FEED_OK);
    assert_int_equal(feed_long(100, 1, 96), FEED_TOO_LARGE);
    /* Lines that fit, of an event that does not. */
    assert_int_equal(feed_long(100, 2, 49), FEED_OK);
    assert_int_equal(feed_long(100, 2, 50), FEED_TOO_LARGE);
    assert_int_equal(feed_long(100, 9, 40), FEED_TOO_LARGE);
}

TEST(test_limit_without_line_end)
{
    struct report r = {.text = BUF_INIT};
    AUTO(lines_release) struct lines lines = {0};
    lines_init(&lines, 10);
    assert_int_equal(lines_feed(&lines, "0123456789", 10, on_line, &r), FEED_OK);
    assert_int_equal(lines_feed(&lines, "0", 1, on_line, &r), FEED_TOO_LARGE);
    assert_int_equal(r.count, 0);
    buf_release(&r.text);
}

TEST(test_stop)
{
    struct report r = {.text = BUF_INIT, .stop_after = 2};
    AUTO(sse_release) struct sse sse = {0};
    static const char text[] = "data: 1\n\ndata: 2\n\ndata: 3\n\n";
    sse_init(&sse, MAX, on_event, &r);
    assert_int_equal(sse_feed(&sse, text, sizeof text - 1), FEED_STOPPED);
    assert_string_equal(r.text.data, "[]1;[]2;");
    buf_release(&r.text);
}

static bool count_event(void *context, const char *name, const char *data, size_t len)
{
    (void)name, (void)data;
    size_t *count = context;
    *count += len > 0;
    return true;
}

/* A megabyte of small events in reads of 64 KiB, and of lines that end with CR alone. */
TEST(test_speed)
{
    static const char event[] =
        "event: content_block_delta\ndata: {\"type\":\"delta\","
        "\"delta\":{\"text\":\" word\"}}\n\n";
    for (int variant = 0; variant < 2; variant++) {
        char *one = with_line_ends(event, variant == 0 ? "\n" : "\r");
        AUTO(buf_release) struct buf text = BUF_INIT;
        size_t events = 0;
        size_t count = 0;
        for (; text.len < (size_t)1 << 20; events++)
            buf_addstr(&text, one);
        AUTO(sse_release) struct sse sse = {0};
        sse_init(&sse, MAX, count_event, &count);
        int64_t begin = clock_mono_ms();
        for (size_t at = 0; at < text.len; at += 65536)
            assert_int_equal(
                sse_feed(&sse, text.data + at, text.len - at < 65536 ? text.len - at : 65536),
                FEED_OK);
        int64_t took = clock_mono_ms() - begin;
        assert_int_equal(count, events);
        assert_true(took < 500); /* a few ms; much less than anything quadratic */
    }
}

/* From there a server can go on; what was cut off has not come. */
TEST(the_id_of_the_last_whole_event_is_known)
{
    static const char stream[] =
        "id: 1\ndata: x\n\nretry: 250\nid: two\ndata:\n\nretry: soon\n"
        "id: three\ndata: y";
    struct report r = {.text = BUF_INIT};
    AUTO(sse_release) struct sse sse = {0};
    sse_init(&sse, MAX, on_event, &r);
    assert_int_equal(sse.retry_ms, -1);
    assert_int_equal(sse_feed(&sse, stream, sizeof stream - 1), FEED_OK);
    assert_int_equal(sse_end(&sse), FEED_OK);
    assert_string_equal(sse.last_id.data, "two");
    assert_int_equal(sse.retry_ms, 250);
    buf_release(&r.text);
}
