/* The desk of histories of other agents: scans their places on its own connection, so that a long
 * import delays neither lists nor a turn. NOTICE_IMPORT_STATE tells its progress. While it has no
 * requests, it follows what the agents write. */
#ifndef SESSION_IMPORT_DESK_H
#define SESSION_IMPORT_DESK_H

#include "config/config.h"
#include "session/desk.h"
#include "session/memory_desk.h"

struct import_desk; /* its first member is a struct desk */

/* All are borrowed. `memory` follows the sessions that came; `indexes`: there is memory. `serves`:
 * an import of named sources does not mean that they are to be followed. */
struct import_desk *import_desk_new(const struct config *config, struct place *place,
                                    struct memory_desk *memory, bool indexes, bool serves,
                                    struct mailbox *notices);
void import_desk_free(struct import_desk *d); /* NULL is fine */

/* Follows the sources that the person has chosen ([import] sources, or the answer to the offer)
 * from now on; nothing if none are chosen. Any thread. */
void import_desk_follow(struct import_desk *d);

#endif
