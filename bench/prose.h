/* Markdown as models write it: headings, paragraphs with emphasis, links and code, lists, fenced
 * code, tables, quotations, some text in other alphabets. Equal seeds give equal texts. */
#ifndef BENCH_PROSE_H
#define BENCH_PROSE_H

#include <stddef.h>

#include "base/buf.h"

/* Appends about `bytes` bytes, then a last paragraph that is exactly `ending`. */
void prose(struct buf *out, size_t bytes, unsigned seed, const char *ending);

/* Code points of valid UTF-8. */
size_t prose_characters(const char *text, size_t len);

#endif
