/* The database file's health for the command line, without an engine: what store/health.h says, and
 * saving what a damaged one still has. */
#ifndef SESSION_HEALTH_H
#define SESSION_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/health.h"

/* All that layers above the store keep in its database. */
extern const struct store_extension *const health_extensions[];

struct health_report {
    char *path;
    struct health found;
    const char *name; /* of the state: "damaged" */
    bool recoverable;
};

/* Changes nothing. `path` NULL: the default. */
void health_report(const char *path, bool thorough, struct health_report *out);
void health_report_release(struct health_report *r);

/* Saves what can be read of a damaged database and puts that in its place; the damaged one is kept
 * as out->copy. SESSION_BUSY when a tiro has a session or the database open, SESSION_NOT_FOUND when
 * nothing can be read of it: then the file stays as it is, and no other is left behind, as after
 * any failure. `language` is that of memory's words, as [memory] has it. `progress` (may be NULL)
 * as in store/health.h. */
bool health_rescue(const char *path, const char *language, struct recovery *out,
                   bool (*progress)(void *context, int64_t events), void *context, struct error *e);
void health_rescue_release(struct recovery *r);

#endif
