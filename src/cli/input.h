/* What comes from the user: standard input as a whole, files that are named for reading, yes or no.
 */
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

/* Whether a question can be asked: standard input and standard error are a terminal. */
bool confirm_possible(void);

/* Asks on standard error. `question` is translated and ends with the answers, as in "… [y/N] ".
 * Anything but a yes in the user's language is a no. */
bool confirm(const char *question);

#endif
