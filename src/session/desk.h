/* A worker that runs rows of the table of operations on a connection of its own to the store: what
 * it is asked never waits for a turn. Its thread and connection begin with the first request or
 * chore. */
#ifndef SESSION_DESK_H
#define SESSION_DESK_H

#include "base/worker.h"
#include "session/notice.h"
#include "session/place.h"

struct desk;

struct desk_role {
    enum store_mode mode;
    /* Runs the request's row on the desk's connection. */
    bool (*call)(struct desk *d, const struct operation_request *r, void *result, struct error *e);
    void (*opened)(struct desk *d); /* on its thread, once the store is open; both may be NULL */
    void (*closes)(struct desk *d); /* before it is closed */
    const struct chore *chores;     /* their context is the desk; it may be without a store */
    size_t chore_count;
};

/* The first member of a desk's own struct. */
struct desk {
    const struct desk_role *role;
    struct worker_role worker_role;
    struct worker *worker;
    struct mailbox *notices; /* borrowed */
    struct place *place;     /* of the store; borrowed */
    struct store *store;     /* the thread's; NULL: see `fault` */
    struct error fault;
    bool settles;                /* the journal is emptied at the next call of desk_settle() */
    const struct wakeup *wakeup; /* of what is being answered: polled by what waits */
};

void desk_init(struct desk *d, const struct desk_role *role, struct place *place,
               struct mailbox *notices);
/* Ends the worker: what is lasting is still done. */
void desk_release(struct desk *d);

/* Takes the request, whose answer is told unless it is withdrawn before. What it changes is done
 * also then. */
void desk_start(struct desk *d, struct operation_request *r);
void desk_withdraw(struct desk *d, uint64_t id);

/* For a chore that has deleted something: empties the journal of the store, once for all removals
 * of a moment, and tries again until no other connection reads. CHORE_DONE, or after how many
 * milliseconds it is to be called again. */
int desk_settle(struct desk *d);

#endif
