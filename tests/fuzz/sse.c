/* Server-sent events: any split gives the same events, and no event is longer than it may be. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "provider/sse.h"
#include "tests/fuzz/fuzz.h"

enum { LONGEST_EVENT = 4096 };

static bool take_event(void *context, const char *name, const char *data, size_t len)
{
    struct buf *out = context;
    FUZZ_CHECK(len <= LONGEST_EVENT && strlen(name) <= LONGEST_EVENT && data[len] == '\0');
    buf_addf(out, "[%s]%zu:", name, len);
    buf_add(out, data, len);
    return true;
}

static enum feed_result read_events(const uint8_t *data, size_t size, struct dice *d,
                                    struct buf *out)
{
    AUTO(sse_release) struct sse sse = {0};
    enum feed_result result = FEED_OK;
    sse_init(&sse, LONGEST_EVENT, take_event, out);
    for (size_t at = 0; at < size && result == FEED_OK;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        result = sse_feed(&sse, (const char *)data + at, len);
        at += len;
    }
    if (result == FEED_OK)
        result = sse_end(&sse);
    return result;
}

int fuzz_sse(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf whole = BUF_INIT, split = BUF_INIT;
    struct dice d = fuzz_dice(data, size);
    enum feed_result of_whole = read_events(data, size, NULL, &whole);
    enum feed_result of_split = read_events(data, size, &d, &split);
    FUZZ_CHECK(of_whole == of_split);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    return 0;
}
