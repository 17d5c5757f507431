/* Cleaning: the result is UTF-8 without terminal controls; cleaning it again changes nothing. Cuts
 * and borders stay within the text. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tests/fuzz/fuzz.h"

static bool is_raw(uint32_t cp, enum utf8_clean_mode mode)
{
    bool allowed = mode == UTF8_MULTILINE && (cp == '\n' || cp == '\t');
    return (cp < 0x20 && !allowed) || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x202a && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0x2028 || cp == 0x2029 ||
           (cp >= 0xe0000 && cp <= 0xe0fff);
}

static void check_clean(const char *text, size_t len, enum utf8_clean_mode mode)
{
    AUTO(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
    utf8_clean(&once, text, len, mode);
    FUZZ_CHECK(utf8_valid(once.data, once.len));
    FUZZ_CHECK(once.len <= 3 * len);
    for (size_t at = 0; at < once.len;) {
        uint32_t cp;
        at += utf8_decode(once.data + at, once.len - at, &cp);
        FUZZ_CHECK(!is_raw(cp, mode));
    }
    utf8_clean(&twice, once.data, once.len, mode);
    FUZZ_CHECK_SAME(once.data, twice.data);
}

int fuzz_utf8(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct dice d = fuzz_dice(data, size);
    check_clean(text, size, UTF8_ONE_LINE);
    check_clean(text, size, UTF8_MULTILINE);
    if (size <= 4096) { /* the way back looks for a border each time */
        /* The way back meets the same borders as the way forward. */
        VEC(size_t) borders = {0};
        for (size_t at = 0; at < size;) {
            vec_push(&borders, at);
            size_t next = utf8_next(text, size, at);
            FUZZ_CHECK(next > at && next <= size);
            at = next;
        }
        for (size_t at = size; at > 0; at = vec_last(&borders), borders.len--)
            FUZZ_CHECK(borders.len > 0 && utf8_prev(text, size, at) == vec_last(&borders));
        vec_release(&borders);
        size_t max = dice_below(&d, size + 2), columns = dice_below(&d, 100);
        size_t cut = utf8_cut_bytes(text, size, max);
        FUZZ_CHECK(cut <= max && cut <= size);
        cut = utf8_cut_width(text, size, columns);
        FUZZ_CHECK(cut <= size && utf8_width(text, cut) <= columns);
    }
    FUZZ_CHECK(utf8_incomplete_tail(text, size) <= 3);
    return 0;
}
