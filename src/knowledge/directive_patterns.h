/* The patterns that directives are recognised by (directive.h). The first row that fits a sentence
 * decides.
 *
 * A pattern is matched against the sentence's words from the first one on: without case and
 * accents, parted at apostrophes and hyphens, and without what is said politely around it. Its
 * elements:
 *
 *     word     that word          a|b    one of them        $class  one of a class
 *     ?a|b     one of them, or nothing
 *     *        one word or more   ~      any number of words
 *     :        a colon            .      the end
 *     @        nothing, but "from now on" was said
 *     <        what is kept begins here; without it the whole sentence is kept
 */
#ifndef KNOWLEDGE_DIRECTIVE_PATTERNS_H
#define KNOWLEDGE_DIRECTIVE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "chat/knowledge.h"

/* A row of this kind makes a sentence no directive. */
enum { DIRECTIVE_NONE = LEARNED_KIND_COUNT };

struct directive_pattern {
    int kind; /* of enum learned_kind, or DIRECTIVE_NONE */
    const char *pattern;
};

/* A table a language; the last row of each has no pattern. */
extern const struct directive_pattern directive_english[], directive_german[], directive_spanish[],
    directive_french[];

/* Words parted by "|"; NULL: there is no such class. */
const char *directive_class(const char *name, size_t len);

/* What stands before or behind a directive and is no part of it. */
struct directive_courtesy {
    const char *words;
    bool lasting; /* it says "from now on" */
    bool asks;    /* what follows is a wish, though a question mark ends it */
};
extern const struct directive_courtesy directive_before[], directive_behind[];

#endif
