/* Lines on standard output for a terminal that shows one after the other: no sequences, nothing is
 * written over. Texts are cleaned, in the locale's character set, and at a terminal broken between
 * words. */
#ifndef UI_PLAIN_WRITER_H
#define UI_PLAIN_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct plain_writer {
    size_t column; /* where the open line has come to */
    size_t blanks; /* that follow there if a word does */
    bool prompted; /* a prompt is the open line: it is left before anything else is written */
    bool mid_line; /* a text that comes in pieces has not ended its line */
    int failed;    /* errno of standard output, which is closed or full; 0: it is not */
};

/* Lines of their own. */
void plain_write(struct plain_writer *w, const char *text);
void plain_writef(struct plain_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A piece of a text that goes on. */
void plain_write_piece(struct plain_writer *w, const char *text, size_t len);

/* Ends the line of such a text. */
void plain_end_line(struct plain_writer *w);

/* A question at the beginning of a line; the answer stands behind it. */
void plain_prompt(struct plain_writer *w, const char *text);

/* A line was typed: the terminal has ended the prompt's. */
void plain_typed(struct plain_writer *w);

/* Rings the terminal's bell. */
void plain_bell(struct plain_writer *w);

/* Appends the clean text as it stands behind `w` in lines of so many columns (0: as it is): a word
 * that does not fit begins a line, and takes the place of the blanks before it. Pure but for `w`.
 */
void plain_wrap(struct plain_writer *w, struct buf *out, const char *text, size_t len,
                size_t columns);

/* How much of a text that is still growing can be written: whole lines, and of a long line whole
 * sentences, of a very long one whole words. Pure. */
size_t plain_ready(const char *text, size_t len);

#endif
