/* How far the files that are derived from a session's log have been written (session/projection.h).
 */
#ifndef STORE_PROJECTED_H
#define STORE_PROJECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct projected {
    int64_t seq; /* the last event in them; 0: none was written */
    int64_t transcript_bytes, events_bytes;
};

/* All zero when nothing is known. */
bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e);
bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e);

#endif
