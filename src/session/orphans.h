/* Files in the store's directory that nothing refers to: what a kill left, what was set aside, what
 * is not ours. Nothing is changed. */
#ifndef SESSION_ORPHANS_H
#define SESSION_ORPHANS_H

#include "base/vec.h"

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

/* Beside the database of this path (NULL: the default). None where the database cannot be read:
 * then nothing is known of what belongs to it. What another process makes or removes meanwhile is
 * not among them. */
void orphans_find(const char *store_path, struct orphans *out);
void orphans_release(struct orphans *o);

#endif
