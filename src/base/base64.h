/* Bytes as text (RFC 4648, with padding). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* The caller frees. */
char *base64_encode(const unsigned char *bytes, size_t len);

#endif
