/* The desk of shared spaces: sends what waits and reads what others wrote on its own connection, so
 * that a slow or missing server delays nothing else. NOTICE_SPACE_STATE tells what waits long. */
#ifndef SESSION_SPACE_DESK_H
#define SESSION_SPACE_DESK_H

#include "config/config.h"
#include "session/desk.h"
#include "session/memory_desk.h"

struct space_desk; /* its first member is a struct desk */

/* All are borrowed. `memory` makes the vectors of what came. */
struct space_desk *space_desk_new(const struct config *config, struct place *place,
                                  const char *project, struct memory_desk *memory,
                                  struct mailbox *notices);
void space_desk_free(struct space_desk *d); /* NULL is fine */

/* Keeps the replicas of all spaces current from now on. */
void space_desk_work(struct space_desk *d);

#endif
