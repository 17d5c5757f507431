/* Randomness enters here, so that a test can replace it by a seeded generator. */
#ifndef BASE_ENTROPY_H
#define BASE_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void entropy_fill(void *out, size_t len);
double entropy_unit(void); /* uniform in [0, 1) */

/* Tests only: from now on a deterministic sequence. */
void entropy_seed(uint64_t seed);

/* UUID version 7 (RFC 9562): sorts by time of creation. */

#define UUID_LEN 36

/* Lower-case text with a NUL. Two calls of one process never yield the same, and the later is the
 * greater, also within one millisecond. */
void uuid_new(char out[UUID_LEN + 1]);

/* The form that uuid_new() writes, of any version. */
bool uuid_valid(const char *s);

/* Bytes as text (RFC 4648, with padding). */

/* The caller frees. */
char *base64_encode(const unsigned char *bytes, size_t len);

/* Appends the bytes. False, with some of them added, where the text is something else (blanks and
 * line breaks, too) or they are more than `out` may hold. */
__attribute__((warn_unused_result)) bool base64_decode(const char *text, struct buf *out);

#endif
