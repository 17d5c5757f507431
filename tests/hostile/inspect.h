/* Invariants of every byte that a client of a hostile server writes. */
#ifndef TESTS_HOSTILE_INSPECT_H
#define TESTS_HOSTILE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends what of a terminal's input came from the server: a line for the first of each kind.
 * `plain`: the program writes no escape sequences of its own. Else those are told apart by their
 * meaning: no strings but titles, no eight-bit controls, and nothing that says "hostile" or 31337.
 */
void inspect_terminal(struct buf *faults, const char *bytes, size_t len, bool plain);

/* Whether a piece of the key is there: 12 bytes in a row of what follows its prefix. */
bool inspect_has_key(const char *bytes, size_t len, const char *key);

/* Looks into every file below a directory, and appends a line for each with a piece of the key
 * (NULL: there is none). `size`: bytes of all files together. */
void inspect_files(struct buf *faults, const char *directory, const char *key, size_t *size);

#endif
