/* What the desk of memory is made of: its thread and face (memory_desk.c), and what it does while
 * nobody asks (memory_work.c). */
#ifndef SESSION_MEMORY_DESK_PRIVATE_H
#define SESSION_MEMORY_DESK_PRIVATE_H

#include <pthread.h>

#include "session/desk.h"
#include "session/graphs.h"
#include "session/memories.h"
#include "session/memory_desk.h"
#include "session/memory_follow.h"
#include "session/memory_sink.h"
#include "session/operation.h"

/* By priority: texts that were forgotten leave the index and the journal; what was deferred comes
 * in; a session that was left is followed; when the next one will have been idle for long enough is
 * waited for; what keeps the index quick; vectors that entries lack, and the graph. */
enum memory_chore {
    CHORE_PURGE,
    CHORE_INDEX,
    CHORE_FOLLOW,
    CHORE_AWAIT,
    CHORE_TIDY,
    CHORE_EMBED,
    MEMORY_CHORES
};

/* What was told of the vectors. */
struct memory_work {
    int64_t left;       /* entries that lack one, as last heard */
    int64_t told_at_ms; /* when that was told */
    bool told;          /* and that it is over was not */
    struct error why;   /* why it waits; ERR_OK: it does not */
    int64_t idle_in_ms; /* when the next session is idle; -1: none waits for that */
    bool came;          /* entries did, and that was not told */
    bool backlog_told;  /* that sessions from before come in, and that it is over was not */
};

struct memory_desk {
    struct desk desk;
    const struct config *config;
    char *project;
    int patience_ms;
    int64_t began_ms; /* clock_wall_ms() */
    pthread_mutex_t lock;
    struct text_list left; /* under the lock: sessions of a store without locks that were left and
                              are not followed yet */

    /* The thread's own. */
    struct operation_context context;
    struct memories *memories; /* of the context */
    struct graphs *graphs;     /* likewise */
    struct memory_sink sink;
    struct memory_follow follow;
    struct memory_work work;
};

extern const struct chore memory_chores[MEMORY_CHORES];

/* What it does on its store waits for other processes that write, as long as may be. */
void memory_desk_be_patient(struct memory_desk *d);

/* The chore is due. */
void memory_desk_want(struct memory_desk *d, enum memory_chore chore);

/* Adds what there is to do. */
void memory_work_add(struct memory_desk *d, struct memory_stats *s);

#endif
