/* What a person types, or a pipe holds, line by line: the messages, commands and answers of a
 * surface without a screen.
 *
 * At a terminal, lines that come together are one text: nobody types so fast, they were pasted. A
 * line that ends with a backslash goes on with the next. Elsewhere a line is a text. */
#ifndef UI_PLAIN_READER_H
#define UI_PLAIN_READER_H

#include <stdbool.h>

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

#endif
