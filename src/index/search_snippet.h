/* The line that shows where a search found a text. Pure. */
#ifndef INDEX_SEARCH_SNIPPET_H
#define INDEX_SEARCH_SNIPPET_H

#include <stddef.h>

#include "chat/search_hit.h"

/* Fills in snippet, match and len of the hit; the `match_len` bytes at `match` were found. Blanks
 * are drawn together, and an ellipsis stands where the text goes on. */
void search_snippet(const char *text, size_t len, size_t match, size_t match_len,
                    struct search_hit *out);

#endif
