/* Semantic memory as the operations on it find it (memory_operations.h). Belongs to one thread. */
#ifndef SESSION_MEMORIES_H
#define SESSION_MEMORIES_H

#include "base/entropy.h"
#include "chat/knowledge.h"
#include "chat/session_info.h"
#include "memory/recall.h"

struct memories {
    const struct config *config;
    struct store *store; /* borrowed; NULL: nothing was ever kept, then `recall` is not there */
    char *directory;     /* of the store; NULL: it is in memory */
    char *project;       /* working directory, where no session is named */
    struct session_info named;   /* the session that the row names (memories_work_in()) */
    const char *session;         /* that is open, for scopes; NULL: none. Borrowed, as the next */
    const struct wakeup *wakeup; /* ends what a search waits for; NULL: nothing does */
    struct recall recall;
    VEC(struct memory_forgotten) forgotten; /* that can be put back, the last one last */
    VEC(struct learned_items) unlearned;    /* the same of what was learned */
};

/* On the caller's connection: NULL is an empty memory, for what only reads. `directory` is that of
 * the store; NULL: it is in memory. `project`: the working directory, for scopes. Whether there is
 * to be a memory is the caller's question (operation.h). */
struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project);
void memories_free(struct memories *m); /* NULL is fine */

/* Its table of functions; only where there is a store. */
static inline const struct memory_ops *memories_ops(const struct memories *m)
{
    return m->recall.memory->ops;
}

/* The row that runs is for this session, by any reference (sessions.h); NULL: it names none. Its
 * directory is the project from then on, until the next row says otherwise. */
bool memories_work_in(struct memories *m, const char *reference, struct error *e);
/* That session, else the open one; NULL: none. / Its working directory, else the context's. */
const char *memories_session(const struct memories *m);
const char *memories_directory(const struct memories *m);

/* `text` is as in struct memory_search; `id` holds a session's that was found, and the scope may
 * borrow from it and from `text`. */
bool memories_find_scope(struct memories *m, const char *text, char id[UUID_LEN + 1],
                         struct memory_scope *out, struct error *e);

/* `reference`: an entry's id or the beginning of it; NULL is USAGE. *id is the caller's to free. */
bool memories_resolve(struct memories *m, const char *reference, char **id, struct error *e);

#endif
