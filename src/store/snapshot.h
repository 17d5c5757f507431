/* The history as it stood after a turn: a shortcut that resume may take, never the truth. */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include <stdbool.h>

#include "chat/history.h"
#include "store/store.h"

bool snapshot_save(struct store *s, const char *session_id, const struct history *h,
                   struct error *e);

/* Snapshot + the events after it; without one (or with one that cannot be read) all events. `out`
 * is initialised here; an open run is left open for the caller to drop. */
bool snapshot_resume(struct store *s, const char *session_id, struct history *out, struct error *e);

#endif
