/* Standard input as a whole. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends all of it to `out`, whose max is the limit; USAGE when it is longer. */
bool input_read(struct buf *out, struct error *e);

#endif
