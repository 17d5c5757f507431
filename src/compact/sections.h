/* The sections of a structured summary (data/prompts/compaction-structured.md). Pure. */
#ifndef COMPACT_SECTIONS_H
#define COMPACT_SECTIONS_H

#include <stdbool.h>

enum { SECTIONS = 7, SECTIONS_LEAST = 4 };

/* How many of them the text has, a heading of its own each. */
int sections_count(const char *text);

/* The text with all sections in the template's order, each once, with "(none)" in one that is
 * empty. One that is not there is that of `earlier`, a summary before it (NULL: there is none).
 * What stands above the first heading is left out. The caller frees. */
char *sections_complete(const char *text, const char *earlier);

#endif
