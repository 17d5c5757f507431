/* What the engine knows of its own state, as facts for doctor. */
#ifndef SESSION_REPORT_H
#define SESSION_REPORT_H

#include "base/wakeup.h"
#include "config/config.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/backend.h"
#include "session/conversation_operations.h"
#include "store/store.h"

/* Looks for the key, too; that it lacks is the result's `fault` as well. */
void report_backend(struct report_result *r, struct backend *b);

/* `path` NULL: nothing is kept. */
void report_store(struct report_result *r, const char *path, bool opened);

/* Where the index of words is being made anew; `m` NULL: there is no memory. */

/* Whether there is memory, how it is searched, and who makes vectors; a fault is the
 * result's `fault` as well. Asks nobody. */
void report_memory(struct report_result *r, const struct config *config,
                   const struct wakeup *wakeup);
/* Of this project and of the user. */
void report_learned(struct report_result *r, const struct learned_counts *counts);

#endif
