/* Standard output of commands that list or tell: cleaned where it is a terminal, as it is
 * elsewhere. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct output {
    bool terminal;
    struct buf line; /* that is not whole yet */
};

void output_init(struct output *o);

/* Bytes may end anywhere, also inside a character. False when standard output takes no more. */
bool output_write(struct output *o, const char *bytes, size_t len);

/* Writes what is left, and releases. */
bool output_end(struct output *o);

/* A whole text. */
void output_text(const char *text);

/* Frees the tree. */
void output_json(struct json *v);

/* Whether a file may be written that is to be new, unless it may be replaced; else FILE_ERROR. */
bool output_may_write(const char *path, bool replace, struct error *e);

/* Columns of the terminal; without one a line is as long as it is. */
size_t output_width(void);

/* "2026-03-09 14:05" of the local time. */
void output_time(struct buf *out, int64_t wall_ms);

/* Where a line of `width` columns has to begin so that what matched stands in its middle. */
size_t output_start(const char *text, size_t match, size_t width);

#endif
