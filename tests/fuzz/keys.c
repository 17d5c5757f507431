/* Bytes of a terminal: any split gives the same keys, no bytes are held for long, and no answer,
 * true or false, breaks the terminal's state. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "ui/term/keymap.h"
#include "ui/term/probe.h"

enum { MOST_KEPT = 260 };

static struct probe probe;

static void add_key(struct buf *out, struct key *key)
{
    FUZZ_CHECK(key->code != K_NONE);
    FUZZ_CHECK((key->text != NULL) == (key->code == K_PASTE || key->code == K_REPLY));
    if (key->code == K_CHAR) /* the editor takes it as it is */
        FUZZ_CHECK(key->cp >= ' ' && key->cp <= 0x10ffff && (key->cp < 0xd800 || key->cp > 0xdfff));
    if (key->code == K_REPLY) {
        const char *answer = key->text;
        probe.pending = 1;
        (void)probe_take(&probe, answer);
        FUZZ_CHECK(probe.pending == 0 || probe.pending == 1);
        FUZZ_CHECK(memchr(probe.name, '\0', sizeof probe.name) != NULL);
        for (const char *p = answer; *p != '\0'; p++)
            FUZZ_CHECK((unsigned char)*p >= ' ' && *p != 127);
    }
    buf_addf(out, "%d:%x:%d%d%d:%d,%d:%s\n", key->code, (unsigned)key->cp, key->ctrl, key->alt,
             key->shift, key->row, key->col, key->text ? key->text : "");
    free(key->text);
}

static char *read_keys(const uint8_t *data, size_t size, struct dice *d)
{
    AUTO(input_release) struct input in = {0};
    struct key key;
    struct buf out = BUF_INIT;
    input_init(&in);
    input_bind(&in, "\033[25~", (struct key){.code = K_F, .cp = 13});
    for (size_t at = 0; at < size;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        input_feed(&in, (const char *)data + at, len);
        at += len;
        while (input_next(&in, false, &key))
            add_key(&out, &key);
        FUZZ_CHECK(in.bytes.len - in.at <= MOST_KEPT);
    }
    while (input_next(&in, true, &key))
        add_key(&out, &key);
    FUZZ_CHECK(!input_unfinished(&in) || in.bytes.len - in.at <= 4);
    return buf_take(&out);
}

int fuzz_keys(const uint8_t *data, size_t size)
{
    struct dice d = fuzz_dice(data, size);
    auto_free char *whole = read_keys(data, size, NULL), *split = read_keys(data, size, &d);
    FUZZ_CHECK_SAME(whole, split);
    return 0;
}
