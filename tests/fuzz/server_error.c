/* Bodies of errors: the message is clean, bounded, and holds no key. The first byte is a part of
 * the status. */
#include <string.h>

#include "base/mem.h"
#include "provider/failure.h"
#include "tests/fuzz/fuzz.h"

static const char key[] = "sk-ant-0123456789abcdef";

static void check(const struct failure *f)
{
    size_t len = strlen(f->text);
    FUZZ_CHECK(len > 0 && f->kind != FAILURE_NONE);
    FUZZ_CHECK(fuzz_is_clean(f->text, len, false));
    /* No piece of the key that is worth something. */
    enum { PIECE = 8 };
    for (size_t i = 0; i + PIECE < sizeof key; i++) {
        char piece[PIECE + 1] = {0};
        memcpy(piece, key + i, PIECE);
        FUZZ_CHECK(!strstr(f->text, piece));
    }
    FUZZ_CHECK(f->prompt_tokens >= -1 && f->window >= -1);
    FUZZ_CHECK(failure_retry_wait(f, 1, 3, 0.5) >= -1);
}

int fuzz_server_error(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"anthropic", "openai", "ollama"};
    if (size == 0)
        return -1;
    AUTO(mask_release) struct mask mask = {0};
    struct error_origin server = {.name = names[data[0] % 3], .mask = &mask};
    struct failure f;
    mask_init(&mask, key, NULL);
    failure_clear(&f);
    FUZZ_CHECK(!server_error_status(&server, 300 + data[0], (const char *)data + 1, size - 1, &f));
    check(&f);
    AUTO(json_free_local) struct json *event = json_parse((const char *)data + 1, size - 1, NULL);
    if (json_get(event, "error")) {
        failure_clear(&f);
        FUZZ_CHECK(!server_error_event(&server, event, &f));
        check(&f);
    }
    return 0;
}
