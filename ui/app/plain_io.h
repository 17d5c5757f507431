/* Input and output of the line surface.
 *
 * Input is messages, commands and answers. At a terminal, lines that arrive together are one text,
 * because they were pasted. A line that ends with a backslash continues on the next. In a pipe each
 * line is a text.
 *
 * Output is lines without control sequences; nothing is overwritten. Texts are cleaned, encoded in
 * the locale's character set, and at a terminal broken between words. */
#ifndef UI_APP_PLAIN_IO_H
#define UI_APP_PLAIN_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { PLAIN_LINE_MAX = 16 * 1024 * 1024 }; /* bytes of a text; a longer one ends the input */

struct plain_reader {
    int fd;
    bool terminal;
    bool ended;       /* there will be no more */
    bool too_long;    /* … because a text was longer than PLAIN_LINE_MAX */
    struct buf bytes; /* that were read and not given out */
    struct buf text;  /* lines that are to go on */
};

void plain_reader_init(struct plain_reader *r, int fd);
void plain_reader_release(struct plain_reader *r);

/* Whether a text may be had without waiting for the descriptor. */
bool plain_reader_holds(const struct plain_reader *r);

/* Reads what is there, without waiting but for the rest of what is being pasted (20 ms). Call when
 * the descriptor is readable. */
void plain_reader_fill(struct plain_reader *r);

/* The next text, UTF-8 and clean, which the caller frees; NULL: none yet, or at the end none any
 * more. */
char *plain_reader_next(struct plain_reader *r);

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
