#include "ui/term/reader.h"

#include <stdlib.h>

#include "base/clock.h"
#include "ui/term/tty.h"

#define ESCAPE_MS 25

void reader_init(struct reader *r)
{
    *r = (struct reader){0};
    input_init(&r->input);
}

void reader_release(struct reader *r)
{
    struct key key;
    while (reader_kept(r, &key))
        free(key.text);
    vec_release(&r->kept);
    input_release(&r->input);
}

/* Takes in what has arrived within timeout_ms; false if nothing did. */
static bool feed(struct reader *r, int timeout_ms)
{
    char bytes[16384];
    long n = tty_read(bytes, sizeof bytes, timeout_ms);
    int64_t now_ms = clock_mono_ms();
    if (n > 0) {
        if (now_ms - r->fed_ms > READER_ANSWER_MS)
            input_give_up(&r->input);
        input_feed(&r->input, bytes, (size_t)n);
        r->fed_ms = now_ms;
    } else if (n == 0) {
        r->hung_up = true;
    }
    return n > 0;
}

bool reader_next(struct reader *r, struct key *key)
{
    for (;;) {
        if (input_next(&r->input, false, key))
            return true;
        if (r->hung_up)
            return false;
        bool unfinished = input_unfinished(&r->input);
        if (!feed(r, unfinished ? ESCAPE_MS : 0))
            return unfinished && input_next(&r->input, true, key);
    }
}

void reader_keep(struct reader *r, const struct key *key)
{
    vec_push(&r->kept, *key);
}

bool reader_kept(struct reader *r, struct key *key)
{
    if (r->kept_at == r->kept.len)
        return false;
    *key = r->kept.items[r->kept_at++];
    return true;
}
