/* Standard input as a whole, and files that are named for reading. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends all of it to `out`, whose max is the limit; USAGE when it is longer. */
bool input_read(struct buf *out, struct error *e);

/* A regular file or a pipe ("-": standard input) to read from; NULL with FILE_ERROR. Never waits
 * for a named pipe's writer. */
FILE *input_open(const char *path, struct error *e);

/* Unless it is standard input. */
void input_close(FILE *in);

#endif
