/* Keys as they come from the terminal: bytes of standard input, decoded (ui/term/input.h), with the
 * times that tell what belongs together. */
#ifndef UI_READER_H
#define UI_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "ui/term/input.h"

/* Silence after which an answer of the terminal will not come any more. */
#define READER_ANSWER_MS 500

struct reader {
    struct input input;
    bool hung_up;   /* standard input has ended */
    int64_t fed_ms; /* when bytes came last, monotonic */
    VEC(struct key) kept; /* from kept_at on */
    size_t kept_at;
};

void reader_init(struct reader *r);
void reader_release(struct reader *r);

/* The next key that has arrived, K_REPLY among them; false when there is none (yet). Never waits
 * longer than the 25 ms that tell a lone Esc from a sequence. */
bool reader_next(struct reader *r, struct key *key);

/* Keeps a key that came while something else was awaited; takes its text. reader_kept() gives them
 * back, the oldest first. */
void reader_keep(struct reader *r, const struct key *key);
bool reader_kept(struct reader *r, struct key *key);

#endif
