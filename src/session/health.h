/* The health of the database file for the command line, without an engine: the check of
 * store/health.h, and rescuing the content of a damaged file. */
#ifndef SESSION_HEALTH_H
#define SESSION_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "import/scan.h"
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

/* Replaces a damaged database by one with everything that can be read of it; the damaged one is
 * kept as out->copy. SESSION_BUSY: a tiro has a session or the database open. SESSION_NOT_FOUND:
 * nothing can be read. After any failure the file is unchanged, and no other file is left.
 * `language` is [memory] language. `progress` (may be NULL) as in store/health.h. */
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

/* The histories of other agents, as import/list tells them; without what was imported, if the
 * database of this path (NULL: the default) cannot be read. Nothing is written. */
void health_histories(const char *store_path, struct import_report *out);

#endif
