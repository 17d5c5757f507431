/* What memory makes of a text before it keeps it, and when two entries are the same. Pure functions
 * but for the id. */
#ifndef MEMORY_CONTENT_H
#define MEMORY_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/memory.h"

/* Trimmed, with secrets masked (secrets.h); NULL: nothing is left. The caller frees. */
char *content_clean(const char *text);

/* Runs of blanks as one space, none at either end: what texts are compared by. The caller frees. */
char *content_normal(const char *text);
int64_t content_digest(const char *text); /* of the normal text */
bool content_equal(const char *a, const char *b);

/* Of two entries of a session with the same text: whether the one that is there stays. */
bool content_stays(const struct memory_entry *there, const struct memory_entry *newcomer);

/* An entry that comes with the id of one that is there is that entry again, as it was or as the
 * user changed it; else the id is taken. */
bool content_is_again(const struct memory_entry *there, const struct memory_entry *newcomer);

/* The text whose words are indexed for an entry: speaker (first), weekday, day, month and year in
 * English (UTC), content, and the mark that tells its facts (index/words_facts.h). A function of the
 * entry alone, so that it can be taken out again. The caller frees. */
char *content_words(const struct memory_entry *m);

/* It ends with a question, perhaps in quotes or with a smile behind it: as the table's column "asks"
 * has it. */
bool content_asks(const char *text);

/* Ids for new entries, 12 characters of Crockford's base32: the system is asked for chance once for
 * many of them, and they begin alike, so that they come to lie together in an index. Zeroed: none
 * is left. The caller frees what fresh_ids_next() gives. */
enum { FRESH_IDS = 64, FRESH_IDS_SHARED = 3 };
struct fresh_ids {
    uint64_t random[FRESH_IDS];
    size_t left;
};
char *fresh_ids_next(struct fresh_ids *ids);

#endif
