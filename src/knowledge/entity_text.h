/* An entity of the graph as a line that a person reads and changes before it is kept:
 * "Kyoto (city): has ryokans by the river; was the capital". Pure functions. */
#ifndef KNOWLEDGE_ENTITY_TEXT_H
#define KNOWLEDGE_ENTITY_TEXT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

struct entity_text {
    char *name, *type;
    VEC(char *) observations; /* may be none */
};
void entity_text_release(struct entity_text *t);

/* The caller frees. Parentheses of the name and semicolons of observations become other marks, so
 * that the line reads as the same parts. */
char *entity_text_write(const char *name, const char *type, const char *const *observations,
                        size_t count);

/* USAGE where the line is none. */
bool entity_text_read(const char *line, struct entity_text *out, struct error *e);

#endif
