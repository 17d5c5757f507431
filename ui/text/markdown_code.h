/* Code blocks → rows: a label, lines that are never filled, only broken where they must, and an
 * end. */
#ifndef UI_MARKDOWN_CODE_H
#define UI_MARKDOWN_CODE_H

#include <stddef.h>

#include "ui/term/rows.h"
#include "ui/text/highlight.h"
#include "ui/text/wrap.h"

/* A row with the language's name, if the info string has one; returns the language for
 * highlight_line(). */
const struct language *markdown_code_label(struct rows *out, const char *info, size_t len,
                                           size_t width, const struct styled *first,
                                           const struct styled *rest);

/* The row that ends a fenced block. */
void markdown_code_end(struct rows *out, size_t width, const struct styled *prefix);

/* One line without its newline. */
void markdown_code_line(struct rows *out, struct highlight *h, const char *line, size_t len,
                        size_t width, const struct styled *prefix);

/* Lines of a whole block. `first` is before the first row only. */
void markdown_code_lines(struct rows *out, const struct language *language, const char *text,
                         size_t len, size_t width, const struct styled *first,
                         const struct styled *rest);

#endif
