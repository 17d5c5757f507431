/* Random bytes, which a test can replace by a seeded generator; UUIDs; bytes as Base64. */
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

/* ---- UUID version 7 (RFC 9562): sorts by time of creation ---- */

#define UUID_LEN 36

/* Lower-case text with a NUL. Within a process each is greater than the one before. */
void uuid_new(char out[UUID_LEN + 1]);

/* The form that uuid_new() writes, of any version. */
bool uuid_valid(const char *s);

/* ---- Base64 (RFC 4648, with padding) ---- */

/* The caller frees. */
char *base64_encode(const unsigned char *bytes, size_t len);

/* Appends the bytes. False, with some of them added, for any other text (also one with blanks or
 * line breaks) and for more bytes than `out` may hold. */
__attribute__((warn_unused_result)) bool base64_decode(const char *text, struct buf *out);

#endif
