/* Removes the secrets of an endpoint from what its server says, so that they reach neither the
 * screen, the log nor the database. */
#ifndef PROVIDER_MASK_H
#define PROVIDER_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"

/* The secrets of one endpoint. */
struct mask {
    VEC(char *) secrets;
    VEC(const char *) firm; /* of these: the ones that no answer holds by chance */
};

/* The key, the values in the URL's query, and its name and password as they are and as HTTP's Basic
 * authentication writes them. Either may be NULL. */
void mask_init(struct mask *m, const char *key, const char *base_url);
void mask_release(struct mask *m); /* wipes them */

/* Appends the text, in which "[key]" stands for each secret and for each piece of 8 bytes in a row
 * or more, so that it does not matter where the text was cut. The bytes may be written as in JSON
 * strings or URLs; those of secrets from 16 bytes on, which are no words, in either case. Takes
 * time in the length of the text times that of the secrets. */
void mask_add(const struct mask *m, struct buf *out, const char *text, size_t len);

/* For answers, which come in pieces and in which pieces of a secret may be words: puts "[key]" for
 * each whole secret in the text from *settled on, in the writings of mask_add(), and moves *settled
 * to the end, or to where the text may have the beginning of a secret, which the next call looks at
 * again. `ended`: nothing follows, so that 8 bytes or more of a beginning are masked too.
 * Secrets of less than 8 bytes stay, and those of less than 16 that are words or placeholders, such
 * as "lm-studio". The text is UTF-8, and so is what stands before *settled. */
void mask_settle(const struct mask *m, struct buf *text, size_t *settled, bool ended);

#endif
