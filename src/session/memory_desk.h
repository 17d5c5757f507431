/* The desk of memory: searches, shows and changes semantic memory and the graph for the surface,
 * and makes vectors of entries while idle; NOTICE_MEMORY_STATE tells the progress. */
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

/* Sets how long the desk waits for another process that writes. Before the first request; for
 * tests.
 */
void memory_desk_set_patience(struct memory_desk *d, int ms);

/* Takes a part of the graph that the model deleted: removes it from the index, and graph/restore
 * can restore it. */
void memory_desk_keep_gone(struct memory_desk *d, struct graph_part *gone);

/* After a deletion by another connection of this program: removes the text from the indexes and the
 * journal as soon as no connection reads. */
void memory_desk_purge(struct memory_desk *d);

/* Makes the missing vectors of entries if an embedder is configured. */
void memory_desk_work(struct memory_desk *d);

/* [memory] index = sessions: looks for sessions to index. memory_desk_left(): this process has left
 * the session. */
void memory_desk_follow(struct memory_desk *d);
void memory_desk_left(struct memory_desk *d, const char *session_id);

#endif
