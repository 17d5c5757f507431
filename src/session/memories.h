/* The context of the operations on semantic memory (memory_operations.h). Belongs to one thread. */
#ifndef SESSION_MEMORIES_H
#define SESSION_MEMORIES_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "chat/knowledge.h"
#include "chat/session_info.h"
#include "config/config.h"
#include "knowledge/graph.h"
#include "memory/recall.h"

struct memories {
    const struct config *config;
    struct store *store;         /* borrowed; NULL: nothing was ever saved, and `recall` is empty */
    char *directory;             /* of the store; NULL: it is in memory */
    char *project;               /* working directory, where no session is named */
    struct session_info named;   /* the session that the row names (memories_work_in()) */
    const char *session;         /* that is open, for scopes; NULL: none. Borrowed, as the next */
    const struct wakeup *wakeup; /* ends the waits of a search; NULL: nothing does */
    struct recall recall;
    VEC(struct memory_forgotten) forgotten; /* that can be put back, the last one last */
    VEC(struct learned_items) unlearned;    /* the same for learned items */
};

/* Uses the caller's connection; NULL: an empty memory, for operations that only read. `directory`
 * is that of the store; NULL: the store is in memory. `project`: the working directory, for scopes.
 * The caller has checked that memory is enabled (operation.h). */
struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project);
void memories_free(struct memories *m); /* NULL is fine */

/* The table of functions of memory; `store` is not NULL. */
static inline const struct memory_ops *memories_ops(const struct memories *m)
{
    return m->recall.memory->ops;
}

/* Sets the session that the running row names, by any reference (sessions.h); NULL: none. Its
 * directory is the project until the next row calls this. */
bool memories_work_in(struct memories *m, const char *reference, struct error *e);
/* The session of memories_work_in(), else the open one; NULL: none. */
const char *memories_session(const struct memories *m);
/* The working directory of the session of memories_work_in(), else the context's. */
const char *memories_directory(const struct memories *m);

/* The context of the operations on the graph of facts (graph_operations.h). Belongs to one thread.
 */

struct graphs {
    struct graph graph; /* its store NULL: nothing was ever kept */
    bool lazy;          /* the caller removes deleted words from the index, with graph_purge() */
    VEC(struct graph_part) gone; /* that can be put back, the last one last */
};
enum { GRAPHS_GONE = 100 /* deletions that can be undone */ };

/* Takes a deleted part, for graph/restore. */
void graphs_keep_gone(struct graphs *g, struct graph_part *gone);

/* Uses the caller's connection; NULL: an empty graph, for operations that only read. */
struct graphs *graphs_new(const struct config *config, struct store *store);
void graphs_free(struct graphs *g); /* NULL is fine */

/* The lines of a file that an import reads, each as text that JSON can be. */

struct memories_lines {
    FILE *in;
    struct buf line; /* the last one, without its end */
    int64_t number;  /* its number, from 1 */
    char *chunk;
    size_t at, len; /* of the chunk: what was not looked at yet */
};

/* `in` is borrowed; no line is longer than `max` bytes. */
void memories_lines_init(struct memories_lines *l, FILE *in, size_t max);
void memories_lines_release(struct memories_lines *l);

/* The next line that holds more than blanks; a byte order mark at the beginning is dropped, bytes
 * that are no UTF-8 are replaced. LINES_BAD: the line is too long or has a NUL character. */
enum lines_result { LINES_NEXT, LINES_END, LINES_BAD, LINES_FAILED };
enum lines_result memories_lines_next(struct memories_lines *l, struct error *e);

#endif
