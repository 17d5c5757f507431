/* What a server was told in confidence does not come back in what we say of its words: not on the
 * screen, in the log or the database. */
#ifndef PROVIDER_MASK_H
#define PROVIDER_MASK_H

#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"

/* The secrets of one endpoint. */
struct mask {
    VEC(char *) secrets;
};

/* The key, and the name and password of the URL as they are and as HTTP's Basic authentication
 * writes them. Either may be NULL. */
void mask_init(struct mask *m, const char *key, const char *base_url);
void mask_release(struct mask *m); /* wipes them */

/* Appends the text, in which "[key]" stands for each secret and for each piece of 8 bytes in a row
 * or more, so that it does not matter where who cut the text. The bytes may be written as in JSON
 * strings or URLs; those of secrets from 16 bytes on, which are no words, in either case. Takes
 * time in the length of the text times that of the secrets. */
void mask_add(const struct mask *m, struct buf *out, const char *text, size_t len);

#endif
