/* Masking: what was masked holds no secret any more, and nothing grows beyond its mask. */
#include <string.h>

#include "memory/secrets.h"
#include "tests/fuzz/fuzz.h"

int fuzz_secrets(const uint8_t *data, size_t size)
{
    struct buf once = BUF_INIT, twice = BUF_INIT;
    int found = secrets_mask(&once, (const char *)data, size);
    FUZZ_CHECK(found >= 0 && once.len <= size + (size_t)found * strlen("[secret]"));
    FUZZ_CHECK(found > 0 || (once.len == size && memcmp(once.data, data, size) == 0));
    secrets_mask(&twice, once.data, once.len);
    FUZZ_CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    buf_release(&once);
    buf_release(&twice);
    return 0;
}
