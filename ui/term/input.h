/* Bytes of a terminal to keys. Pure: any split of the bytes gives the same keys. Knows the
 * sequences of xterm and its many relatives; those of other terminals are told to it with
 * input_bind(). */
#ifndef UI_INPUT_H
#define UI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "ui/term/keymap.h"

#define INPUT_PASTE_MAX (16u * 1024 * 1024)

struct input_binding {
    char *sequence;
    struct key key;
};

struct input {
    struct buf bytes; /* not decoded yet, from `at` on */
    size_t at;
    bool pasting;
    enum { SKIPS_NOTHING, SKIPS_CSI, SKIPS_STRING } skipping; /* the rest of what is too long */
    struct buf paste;
    VEC(struct input_binding) bindings;
};

void input_init(struct input *in);
void input_release(struct input *in);

/* Makes a sequence mean this key, before all other meanings. */
void input_bind(struct input *in, const char *sequence, struct key key);

void input_feed(struct input *in, const char *bytes, size_t len);

/* The next whole key. `final`: nothing more came within the time that tells a lone Esc from the
 * beginning of a sequence. Unknown sequences are skipped. */
bool input_next(struct input *in, bool final, struct key *key);

/* Forgets the beginning of an answer of the terminal (K_REPLY) whose end did not come. No other
 * sequence waits longer than until `final`. */
void input_give_up(struct input *in);

/* Whether input_next() waits for the rest of an escape sequence (not of a paste or an answer). */
bool input_unfinished(const struct input *in);

#endif
