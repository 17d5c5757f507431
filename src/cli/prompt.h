/* The message of `tiro run`: words of the command line, files, standard input. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "cli/session_options.h"

/* Appends to `out`, parted by blank lines: the files of -f, the words, and standard input where it
 * is no terminal. "-" is standard input alone. USAGE when there is nothing to send, when the input
 * is no UTF-8 text or over 16 MiB. */
bool prompt_read(const struct session_options *o, const char *words, struct buf *out,
                 struct error *e);

#endif
