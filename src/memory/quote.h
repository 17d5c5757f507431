/* Whether a summary quotes a text. A pure function. */
#ifndef MEMORY_QUOTE_H
#define MEMORY_QUOTE_H

#include <stdbool.h>

/* It holds a whole sentence of the text of at least QUOTE_SENTENCE characters, or the whole text of
 * at least QUOTE_TEXT, however blanks run. */
enum { QUOTE_SENTENCE = 40, QUOTE_TEXT = 12 };
bool quote_in(const char *summary, const char *text);

#endif
