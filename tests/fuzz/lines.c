/* Lines of a stream: they follow the rule, in any split. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "provider/sse.h"
#include "tests/fuzz/fuzz.h"

enum { LONGEST_LINE = 4096 };

static bool take_line(void *context, const char *line, size_t len)
{
    FUZZ_CHECK(len <= LONGEST_LINE);
    FUZZ_CHECK(len == 0 || (!memchr(line, '\n', len) && !memchr(line, '\r', len)));
    struct buf *out = context;
    buf_addf(out, "%zu:", len);
    buf_add(out, line, len);
    return true;
}

static enum feed_result read_lines(const uint8_t *data, size_t size, struct dice *d,
                                   struct buf *out)
{
    AUTO(lines_release) struct lines lines = {0};
    enum feed_result result = FEED_OK;
    lines_init(&lines, LONGEST_LINE);
    for (size_t at = 0; at < size && result == FEED_OK;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        result = lines_feed(&lines, (const char *)data + at, len, take_line, out);
        at += len;
    }
    if (result == FEED_OK)
        result = lines_end(&lines, take_line, out);
    return result;
}

/* Splits the lines by the letter of the rule; returns false if one is too long. */
static bool expect_lines(const char *text, size_t len, struct buf *out)
{
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < len) {
        size_t end = at;
        while (end < len && text[end] != '\n' && text[end] != '\r')
            end++;
        if (end - at > LONGEST_LINE)
            return false;
        buf_addf(out, "%zu:", end - at);
        buf_add(out, text + at, end - at);
        bool both = end + 1 < len && text[end] == '\r' && text[end + 1] == '\n';
        at = end + (both ? 2 : 1);
    }
    return true;
}

int fuzz_lines(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf whole = BUF_INIT, split = BUF_INIT, expected = BUF_INIT;
    struct dice d = fuzz_dice(data, size);
    enum feed_result of_whole = read_lines(data, size, NULL, &whole);
    enum feed_result of_split = read_lines(data, size, &d, &split);
    FUZZ_CHECK(of_whole == of_split);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    FUZZ_CHECK(expect_lines((const char *)data, size, &expected) == (of_whole == FEED_OK));
    FUZZ_CHECK(of_whole != FEED_OK ||
               (whole.len == expected.len && memcmp(whole.data, expected.data, whole.len) == 0));
    return 0;
}
