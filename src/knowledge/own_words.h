/* Whether what the user wrote is in their own words, or was copied of what the session showed:
 * results of tools (memory_search is one), files that were attached, messages that were not typed,
 * answers of the model. What is
 * not their own is not learned, so that a document cannot write and nothing feeds itself. Words
 * that the user typed before they were shown (a model repeats them) are the user's. */
#ifndef KNOWLEDGE_OWN_WORDS_H
#define KNOWLEDGE_OWN_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/* How many words in a row are no chance: of what a tool gave, was recalled or attached; of an
 * answer. */
enum { OWN_WORDS_OF_TEXTS = 3, OWN_WORDS_OF_ANSWERS = 5 };

/* Looks in the log of the session, in events before `seq`. A text of fewer words is the user's. */
bool own_words(struct store *s, const char *session_id, int64_t seq, const char *text, bool *own,
               struct error *e);

#endif
