/* A worker that runs rows of the table of operations on a connection of its own to the store: what
 * it is asked never waits for a turn. Its thread and connection begin with the first request or
 * chore. */
#ifndef SESSION_DESK_H
#define SESSION_DESK_H

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

/* Where a process keeps its sessions: the file, or memory where that cannot be used, so that nobody
 * is kept from talking; but not where nobody would see that they are not kept. Each thread opens a
 * connection of its own. */

struct place;

/* Touches nothing yet. NULL: in memory alone. `kept`: never in memory in place of the file; where
 * that cannot be used nothing is opened, and whoever comes next tries again. */
struct place *place_new(const char *path, bool kept);
/* The file as it is, for reading alone, whatever mode is asked for. Where it cannot be used: an
 * empty one in memory. */
struct place *place_new_reading(const char *path);
bool place_reads(const struct place *p);
void place_free(struct place *p); /* after the connections; NULL is fine */

/* Any thread. Whoever comes first makes and migrates the file, or finds that it cannot be used; who
 * comes meanwhile waits for that. */
bool place_open(struct place *p, enum store_mode mode, struct store **out, struct error *e);

/* Makes and migrates the file now. False with `e`: it cannot be used, and all will be in memory. */
bool place_settle(struct place *p, struct error *e);

/* Once it was opened. The directory that holds the file; NULL: it is in memory. */
const char *place_directory(const struct place *p);

/* Once it was opened: why the file was not used, for one caller alone; false: it was, there is
 * none, or somebody was told. */
bool place_take_fault(struct place *p, struct error *e);

/* As it was asked for; NULL: in memory alone. */
const char *place_path(const struct place *p);

/* The desk of reads: rows with OPERATION_READ on a read-only connection, so that they wait neither
 * for a turn nor for who writes. */

struct reader;

/* Answers go to `notices`. Both are borrowed. */
struct reader *reader_new(struct place *place, struct mailbox *notices);
void reader_free(struct reader *r);

/* Takes the request. A row that writes fails. */
void reader_start(struct reader *r, struct operation_request *request);
void reader_withdraw(struct reader *r, uint64_t id);

#endif
