/* The database file's health for the command line, without an engine: what store/health.h says, and
 * saving what a damaged one still has. */
#ifndef SESSION_HEALTH_H
#define SESSION_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "store/health.h"

/* The parts of the database that belong to layers above the store. */
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

/* Files in the store's directory that nothing refers to: left by killed processes, copies of
 * damaged databases, and foreign files. Nothing is changed. */

/* X(NAME, "word") */
#define ORPHAN_KINDS(X)                                                                            \
    X(REMOVAL, "removal")     /* of a deleted session; still to be removed (removal.h) */          \
    X(SESSION, "session")     /* of a session that the database does not have */                   \
    X(LOCK, "lock")           /* likewise, and nobody holds it */                                  \
    X(TEMPORARY, "temporary") /* begun by a process that was killed */                             \
    X(GRAPH, "graph")         /* of a model without vectors here */                                \
    X(COPY, "copy")           /* damaged, and set aside */                                         \
    X(UNKNOWN, "unknown")     /* not made by this program */

enum orphan_kind {
#define X(name, word) ORPHAN_##name,
    ORPHAN_KINDS(X)
#undef X
};

struct orphan {
    enum orphan_kind kind;
    char *path; /* below the directory, cleaned to be shown */
};

struct orphans {
    VEC(struct orphan) items; /* by path */
};

const char *orphan_word(enum orphan_kind kind); /* "removal" */

/* Finds the orphans beside the database of this path (NULL: the default). None if the database
 * cannot be read, because it says which files belong to it. Files that another process makes or
 * removes meanwhile are not among them. */
void orphans_find(const char *store_path, struct orphans *out);
void orphans_release(struct orphans *o);

#endif
