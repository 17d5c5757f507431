/* Times of other programs: an accepted time survives writing and reading; retry-after never waits
 * for ever. */
#include <stdlib.h>

#include "base/clock.h"
#include "provider/http.h"
#include "tests/fuzz/fuzz.h"

int fuzz_time(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    char written[25];
    int64_t ms, again, now = 1683554160000;
    if (rfc3339_parse(text, &ms)) {
        rfc3339_format(ms, written);
        FUZZ_CHECK(rfc3339_parse(written, &again) && again == ms);
    }
    if (rfc3339_parse_exact(text, &ms)) {
        rfc3339_format(ms, written);
        FUZZ_CHECK_SAME(text, written);
    }
    int64_t wait = http_retry_after(text, now);
    FUZZ_CHECK(wait >= -1 && wait <= INT32_MAX);
    free(text);
    return 0;
}
