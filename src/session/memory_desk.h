/* The desk of memory: searches, shows and changes semantic memory and the graph for the surface,
 * and gives entries their vectors while nobody asks; how far that is it tells with MEMORY_STATE. */
#ifndef SESSION_MEMORY_DESK_H
#define SESSION_MEMORY_DESK_H

#include "base/worker.h"
#include "chat/knowledge.h"
#include "config/config.h"
#include "session/desk.h"
#include "session/operation.h"

struct memory_desk;

/* Answers go to `notices`; it, place and configuration are borrowed. `project` is the working
 * directory. */
struct memory_desk *memory_desk_new(const struct config *config, struct place *place,
                                    const char *project, struct mailbox *notices);
void memory_desk_free(struct memory_desk *d); /* NULL is fine */

/* How long it waits for another process that writes; before the first command, and for tests. */
void memory_desk_set_patience(struct memory_desk *d, int ms);

/* Takes the request, of a row with OPERATION_MEMORY. */
void memory_desk_start(struct memory_desk *d, struct operation_request *r);
void memory_desk_withdraw(struct memory_desk *d, uint64_t id);

/* Takes what the model deleted of the graph: it leaves the index, and graph/restore puts it back.
 */
void memory_desk_keep_gone(struct memory_desk *d, struct graph_part *gone);

/* Something was deleted by another connection of this program: takes it out of the indices and the
 * journal as soon as nobody reads. */
void memory_desk_purge(struct memory_desk *d);

/* There are entries that may lack vectors: gives them theirs if an embedder is configured. */
void memory_desk_work(struct memory_desk *d);

/* [memory] index = sessions: there may be sessions to be followed. / A session was left. */
void memory_desk_follow(struct memory_desk *d);
void memory_desk_left(struct memory_desk *d, const char *session_id);

#endif
