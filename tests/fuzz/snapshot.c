/* A snapshot's counters (the first line) and messages (the others) from a foreign database: an
 * accepted history survives writing and reading. */
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "chat/history.h"
#include "tests/fuzz/fuzz.h"

static char *written(const struct message *m)
{
    struct buf out = BUF_INIT;
    struct json_out o = {.buf = &out};
    shape_write(&message_shape, m, &o);
    return buf_take(&out);
}

static bool read_message(const char *text, size_t len, struct message *out)
{
    struct error e = {0};
    AUTO(json_free_local) struct json *v = json_parse(text, len, &e);
    bool ok = v && message_from_json(v, out, &e);
    if (!ok)
        fuzz_check_error(&e);
    return ok;
}

static void check_message(const struct message *m)
{
    AUTO(message_release) struct message again = {0};
    auto_free char *text = written(m);
    FUZZ_CHECK(read_message(text, strlen(text), &again));
    auto_free char *text_again = written(&again);
    FUZZ_CHECK_SAME(text, text_again);
    FUZZ_CHECK(message_estimate_tokens(m) == message_estimate_tokens(&again));
}

static void take_messages(const char *text, const char *end, struct history *out)
{
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        struct message m;
        if (read_message(text, (size_t)(stop - text), &m)) {
            check_message(&m);
            history_add_saved(out, m);
        }
        text = stop + 1;
    }
}

static void check_history(struct history *h)
{
    AUTO(history_release) struct history again = {0};
    struct error e = {0};
    history_init(&again);
    for (size_t i = 0; i < h->messages.len; i++)
        history_add_saved(&again, message_clone(&h->messages.items[i]));
    auto_free char *counters = history_counters(h);
    FUZZ_CHECK_ERROR(history_restore(&again, counters, strlen(counters), &e), &e);
    auto_free char *counters_again = history_counters(&again);
    FUZZ_CHECK_SAME(counters, counters_again);
}

int fuzz_snapshot(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size;
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    struct history h;
    struct error e = {0};
    if (!newline)
        return -1;
    history_init(&h);
    take_messages(newline + 1, end, &h);
    if (!history_restore(&h, text, (size_t)(newline - text), &e)) {
        fuzz_check_error(&e);
        return 0;
    }
    check_history(&h);
    history_drop_open_turn(&h);
    check_history(&h);
    history_release(&h);
    return 0;
}
