/* FTS5's interface for functions and tokenizers of ours. */
#ifndef STORE_FTS5_H
#define STORE_FTS5_H

#include <stdbool.h>

#include "base/err.h"
#include "store/sql.h"
#include "store/store.h"

bool fts5_find(struct store *s, fts5_api **out, struct error *e);

#endif
