/* Whether a sentence that the user typed is a lasting instruction or a fact to remember: a pure
 * function over tables of patterns (directive_patterns.h) in English, German, Spanish and French.
 */
#ifndef KNOWLEDGE_DIRECTIVE_H
#define KNOWLEDGE_DIRECTIVE_H

#include <stdbool.h>

#include "base/vec.h"
#include "chat/knowledge.h"
#include "knowledge/sentences.h"

struct directive {
    enum learned_kind kind;
    char *text; /* what is to be kept, in the user's words; at most LEARNED_TEXT_BYTES */
};
struct directives {
    VEC(struct directive) items;
};
void directives_release(struct directives *d);

/* False: it is none, and *out is empty. A question is none, unless it asks politely ("could you
 * …"). out->text is the caller's to free. */
bool directive_of(const struct sentence *s, struct directive *out);

/* A message with more of them than that was hardly typed: none is taken. */
enum { DIRECTIVES_MOST = 8 };

/* Those of a message, in its order, without doubles. */
void directives_read(const char *message, struct directives *out);

#endif
