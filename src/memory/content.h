/* Texts before memory stores them, and when two entries are the same. Pure functions, except for
 * ids. */
#ifndef MEMORY_CONTENT_H
#define MEMORY_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "chat/memory.h"

/* Trimmed, with secrets masked; NULL: nothing is left. The caller frees. */
char *content_clean(const char *text);

/* The form in which texts are compared: single spaces, none at either end. The caller frees. */
char *content_normal(const char *text);
int64_t content_digest(const char *text); /* of the normal text */
bool content_equal(const char *a, const char *b);

/* Of two entries of a session with the same text: whether the stored one stays. */
bool content_stays(const struct memory_entry *there, const struct memory_entry *newcomer);

/* Whether an entry with the id of a stored one is that entry, unchanged or as the user edited it;
 * else the id is taken. */
bool content_is_again(const struct memory_entry *there, const struct memory_entry *newcomer);

/* The text that is indexed for an entry: speaker (first), weekday, day, month and year in English
 * (UTC), content, and its mark (words_mark()). A function of the entry alone, so that its words can
 * be removed again. The caller frees. */
char *content_words(const struct memory_entry *m);

/* Ids for new entries, 12 characters of Crockford's base32. The system is asked for random bytes
 * once for many of them, and they begin alike, so that they are neighbours in an index. Zeroed:
 * none is left. The caller frees the result of fresh_ids_next(). */
enum { FRESH_IDS = 64, FRESH_IDS_SHARED = 3 };
struct fresh_ids {
    uint64_t random[FRESH_IDS];
    size_t left;
};
char *fresh_ids_next(struct fresh_ids *ids);

/* Appends the text with each secret replaced by "[secret]"; returns how many there were. Secrets
 * are keys of known shapes (sk-…, ghp_…, AKIA…, xox…, -----BEGIN … PRIVATE KEY-----, JWTs,
 * password=…). */
int secrets_mask(struct buf *out, const char *text, size_t len);

#endif
