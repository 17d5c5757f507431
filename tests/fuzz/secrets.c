/* Masking: a key is masked after any text, masking again changes nothing, and no text grows by more
 * than its mask. */
#include <string.h>

#include "base/mem.h"
#include "memory/content.h"
#include "tests/fuzz/fuzz.h"

/* A key on a line of its own is masked whatever text stands before it. */
static void check_key(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"ghp_0123456789abcdefghijABCDEFGHIJ012345",
                                       "AKIAIOSFODNN7EXAMPLE",
                                       "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT, masked = BUF_INIT;
        buf_add(&text, data, size);
        buf_addf(&text, "\n%s\n", keys[i]);
        secrets_mask(&masked, text.data, text.len);
        const char *last = masked.len > strlen(keys[i]) + 1
                               ? masked.data + masked.len - strlen(keys[i]) - 1
                               : masked.data;
        FUZZ_CHECK(strncmp(last, keys[i], strlen(keys[i])) != 0);
    }
}

int fuzz_secrets(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
    int found = secrets_mask(&once, (const char *)data, size);
    FUZZ_CHECK(found >= 0 && once.len <= size + (size_t)found * strlen("[secret]"));
    FUZZ_CHECK(found > 0 || (once.len == size && memcmp(once.data, data, size) == 0));
    secrets_mask(&twice, once.data, once.len);
    FUZZ_CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    check_key(data, size);
    return 0;
}
