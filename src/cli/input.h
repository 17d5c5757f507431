/* Input of the user: all of standard input, files to read, yes or no. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends standard input to `out`; USAGE when it is longer than out->max. */
bool input_read(struct buf *out, struct error *e);

/* Opens a regular file or a pipe for reading ("-": standard input); NULL with FILE_ERROR. Does not
 * wait for the writer of a named pipe. */
FILE *input_open(const char *path, struct error *e);

/* Whether a question can be asked: standard input and standard error are a terminal. */
bool confirm_possible(void);

/* Asks on standard error. `question` is translated and ends with the answers, as in "… [y/N] ".
 * Anything but a yes in the user's language is a no. */
bool confirm(const char *question);

#endif
