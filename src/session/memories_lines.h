/* The lines of a file that an import reads, each as text that JSON can be. */
#ifndef SESSION_MEMORIES_LINES_H
#define SESSION_MEMORIES_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

struct memories_lines {
    FILE *in;
    struct buf line; /* the last one, without its end */
    int64_t number;  /* its number, from 1 */
    char *chunk;
    size_t at, len; /* of the chunk: what was not looked at yet */
};

/* `in` is borrowed; no line is longer than `max` bytes. */
void memories_lines_init(struct memories_lines *l, FILE *in, size_t max);
void memories_lines_release(struct memories_lines *l);

/* The next line that holds more than blanks; a byte order mark at the beginning is dropped, bytes
 * that are no UTF-8 are replaced. LINES_BAD: the line is too long or has a NUL character. */
enum lines_result { LINES_NEXT, LINES_END, LINES_BAD, LINES_FAILED };
enum lines_result memories_lines_next(struct memories_lines *l, struct error *e);

#endif
