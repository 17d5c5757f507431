/* Invariants of every byte that a client of a hostile server writes. */
#ifndef TESTS_HOSTILE_INSPECT_H
#define TESTS_HOSTILE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends a line for the first occurrence of each kind of server bytes in the terminal's input.
 * `plain`: the program writes no escape sequences of its own. Otherwise sequences are judged by
 * their meaning: no strings but titles, no eight-bit controls, and no sequence with "hostile" or
 * 31337. */
void inspect_terminal(struct buf *faults, const char *bytes, size_t len, bool plain);

/* Whether a part of the key occurs: 12 adjacent bytes of the text after its prefix. */
bool inspect_has_key(const char *bytes, size_t len, const char *key);

/* Reads every file below a directory, and appends a line for each that has a part of the key (NULL:
 * no key). `size`: bytes of all files together. */
void inspect_files(struct buf *faults, const char *directory, const char *key, size_t *size);

#endif
