/* A worker that runs operations on its own connection to the store, so that they do not wait for a
 * turn. Its thread and connection begin with the first request or chore. */
#ifndef SESSION_DESK_H
#define SESSION_DESK_H

#include <pthread.h>

#include "base/worker.h"
#include "session/notice.h"
#include "session/operation.h"
#include "store/store.h"

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

/* The first member of a desk's own struct, which can be cast to it. */
struct desk {
    const struct desk_role *role;
    struct worker_role worker_role;
    struct worker *worker;
    struct mailbox *notices; /* borrowed */
    struct place *place;     /* of the store; borrowed */
    struct store *store;     /* the thread's; NULL: see `fault` */
    struct error fault;
    bool settles;                /* the journal is emptied at the next call of desk_settle() */
    const struct wakeup *wakeup; /* of the present request: functions that wait poll it */
};

void desk_init(struct desk *d, const struct desk_role *role, struct place *place,
               struct mailbox *notices);
/* Ends the worker; operations that change something are still done. */
void desk_release(struct desk *d);

/* Takes the request. Its answer is sent unless the request was withdrawn before; an operation that
 * changes something is done also then. */
void desk_start(struct desk *d, struct operation_request *r);
void desk_withdraw(struct desk *d, uint64_t id);

/* For a chore that has deleted something: empties the journal of the store, once for several
 * deletions, and tries again until no other connection reads. Returns CHORE_DONE, or the
 * milliseconds until the next call. */
int desk_settle(struct desk *d);

/* The place of the sessions: the file, or memory if the file cannot be used, so that the user can
 * still chat. Each thread opens its own connection. */

enum place_kind {
    PLACE_USUAL,
    PLACE_KEPT, /* never in memory in place of the file: if the file cannot be used, place_open()
                   fails, and the next call tries again */
    PLACE_READS /* an existing file, opened only for reading in every mode; if it cannot be used, an
                   empty store in memory */
};

struct place {
    char *asked; /* the path of place_new(); NULL: in memory */
    enum place_kind kind;
    pthread_mutex_t lock; /* over the rest; once `settled`, only `first` and `fault` change */
    bool settled;
    char *path, *directory; /* directory NULL: the store is in memory */
    struct store *first;    /* of a file: for the caller that opens it next; in memory: keeps it */
    struct error fault;
};

/* Opens nothing yet. path NULL: in memory. */
struct place *place_new(const char *path, enum place_kind kind);
void place_free(struct place *p); /* after the connections; NULL is fine */

/* Any thread. The first call makes and migrates the file, or finds that it cannot be used; other
 * calls wait for it. */
bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e);

/* Makes and migrates the file now. False with `e`: it cannot be used, and all will be in memory. */
bool place_settle(struct place *p, struct error *e);

/* After place_open(): why the file was not used; true once. False: the file is used, no file was
 * asked for, or another caller has taken the error. */
bool place_take_fault(struct place *p, struct error *e);

/* The desk of reads: rows with OPERATION_READ on a read-only connection, so that they wait
 * neither for a turn nor for a writer. A row that writes fails. */
extern const struct desk_role reader_role;

#endif
