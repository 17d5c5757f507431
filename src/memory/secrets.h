/* Keys of known shapes (sk-…, ghp_…, AKIA…, xox…, -----BEGIN … PRIVATE KEY-----, JWTs, password=…),
 * so that memory keeps none of them. A pure function. */
#ifndef MEMORY_SECRETS_H
#define MEMORY_SECRETS_H

#include "base/buf.h"

/* Appends the text with each secret replaced by "[secret]"; returns how many there were. */
int secrets_mask(struct buf *out, const char *text, size_t len);

#endif
