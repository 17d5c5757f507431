/* The desk of histories of other agents: scans their places on its own connection, so that a long
 * import delays neither lists nor a turn. NOTICE_IMPORT_STATE tells its progress. */
#ifndef SESSION_IMPORT_DESK_H
#define SESSION_IMPORT_DESK_H

#include "config/config.h"
#include "session/desk.h"
#include "session/memory_desk.h"

struct import_desk; /* its first member is a struct desk */

/* All are borrowed. `memory` follows the sessions that came. */
struct import_desk *import_desk_new(const struct config *config, struct place *place,
                                    struct memory_desk *memory, struct mailbox *notices);
void import_desk_free(struct import_desk *d); /* NULL is fine */

#endif
