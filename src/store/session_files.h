/* What the database knows of the files below sessions/: how far those that are derived from a
 * session's log have been written (session/projection.h), and which sessions are gone while files
 * of theirs may still be there (session/removal.h). The transaction that deletes a session notes
 * its id down by itself; a session that is stored again under the same id strikes it out. */
#ifndef STORE_SESSION_FILES_H
#define STORE_SESSION_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/vec.h"
#include "store/store.h"

struct projected {
    int64_t seq; /* the last event in them; 0: none was written */
    int64_t transcript_bytes, events_bytes;
};

/* All zero when nothing is known. */
bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e);
bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e);

struct removal {
    char id[UUID_LEN + 1];
};
struct removals {
    VEC(struct removal) items;
};
void removals_release(struct removals *r);

/* At most `limit`, in no order: one that cannot be finished does not keep the others waiting. What
 * is no id of a session is left out. */
bool removals_some(struct store *s, int limit, struct removals *out, struct error *e);

/* Whether it is noted down. */
bool removals_has(struct store *s, const char *id, bool *out, struct error *e);

/* The files are gone. */
bool removals_strike(struct store *s, const char *id, struct error *e);

#endif
