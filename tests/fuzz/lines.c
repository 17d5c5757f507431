/* Lines of a stream: any split gives the same lines, and none of them holds a line's end. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "provider/lines.h"
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
    struct lines lines;
    enum feed_result result = FEED_OK;
    lines_init(&lines, LONGEST_LINE);
    for (size_t at = 0; at < size && result == FEED_OK;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        result = lines_feed(&lines, (const char *)data + at, len, take_line, out);
        at += len;
    }
    if (result == FEED_OK)
        result = lines_end(&lines, take_line, out);
    lines_release(&lines);
    return result;
}

int fuzz_lines(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_INIT, split = BUF_INIT;
    struct dice d = fuzz_dice(data, size);
    enum feed_result of_whole = read_lines(data, size, NULL, &whole);
    enum feed_result of_split = read_lines(data, size, &d, &split);
    FUZZ_CHECK(of_whole == of_split);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    buf_release(&whole);
    buf_release(&split);
    return 0;
}
