/* An entry of memory as texts: the line around what matched, and a quotation. */
#ifndef UI_MEMORY_LINE_H
#define UI_MEMORY_LINE_H

#include "chat/memory.h"
#include "ui/text/wrap.h"

/* Appends the part of the hit's best passage around its first mark, clean, as one line of at most
 * `columns`; marked words look different without colours, too. The cost grows with the columns, not
 * with the entry. */
void memory_line(struct styled *out, const struct memory_hit *h, size_t columns, enum style style);

/* Appends the whole text with its marks, clean, of many lines. */
void memory_marked_text(struct styled *out, const char *content, const struct memory_hit *marks,
                        enum style style);

/* Markdown: "> " before each line, and a last one with the source. Not clean. The caller frees. */
char *memory_quote(const char *text, size_t len, const char *source);

#endif
