/* Lasting instructions and facts to remember in what the user typed, found by patterns in English,
 * German, Spanish and French. Pure. */
#ifndef KNOWLEDGE_DIRECTIVE_H
#define KNOWLEDGE_DIRECTIVE_H

#include <stdbool.h>

#include "base/vec.h"
#include "chat/knowledge.h"
#include "knowledge/sentences.h"

struct directive {
    enum learned_kind kind;
    char *text; /* to be kept, in the user's words; at most LEARNED_TEXT_BYTES */
};
struct directives {
    VEC(struct directive) items;
};
void directives_release(struct directives *d);

/* False: the sentence is none, and *out is empty. A question is none unless it is a polite wish
 * ("could you …"). The caller frees out->text. */
bool directive_of(const struct sentence *s, struct directive *out);

/* A message with more directives was hardly typed: none is taken. */
enum { DIRECTIVES_MOST = 8 };

/* The directives of a message, in its order, each once. */
void directives_read(const char *message, struct directives *out);

#endif
