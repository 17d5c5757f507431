/* HTML entities, as far as text for people has them. */
#ifndef UI_MARKDOWN_ENTITY_H
#define UI_MARKDOWN_ENTITY_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the character of "&amp;", "&#8212;" or "&#x2014;", else the text as it is. The result is
 * not cleaned: a number may name any character. */
void entity_decode(struct buf *out, const char *text, size_t len);

#endif
