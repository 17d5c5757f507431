/* Bytes as text (RFC 4648, with padding). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The caller frees. */
char *base64_encode(const unsigned char *bytes, size_t len);

/* Appends the bytes. False, with some of them added, where the text is something else (blanks and
 * line breaks, too) or they are more than `out` may hold. */
__attribute__((warn_unused_result)) bool base64_decode(const char *text, struct buf *out);

#endif
