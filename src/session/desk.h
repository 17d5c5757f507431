/* A worker that answers commands by a table, on a connection of its own to the store: what it is
 * asked never waits for a turn. Its thread and connection begin with the first command or chore. */
#ifndef SESSION_DESK_H
#define SESSION_DESK_H

#include "base/mailbox.h"
#include "base/worker.h"
#include "session/command.h"
#include "session/notice.h"
#include "session/place.h"

struct desk;

struct desk_answer {
    enum command_type command;
    enum notice_type notice; /* that tells it; what fails is a NOTICE_ERROR */
    uint64_t topic;          /* both as in struct job: what is out of date is not told */
    bool lasting;
    /* Fills the notice, whose text is the command's and `command` its type. */
    bool (*run)(struct desk *d, const struct command *c, struct notice *n, struct error *e);
};

struct desk_role {
    enum store_mode mode;
    /* Runs the request's row on the desk's connection. */
    bool (*call)(struct desk *d, const struct operation_request *r, void *result, struct error *e);
    const struct desk_answer *answers;
    size_t answer_count;
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
    const struct wakeup *wakeup; /* of what is being answered: polled by what waits */
};

void desk_init(struct desk *d, const struct desk_role *role, struct place *place,
               struct mailbox *notices);
/* Ends the worker: what is lasting is still done. */
void desk_release(struct desk *d);

/* The row of the command; NULL: it has none. */
const struct desk_answer *desk_find_answer(const struct desk_role *role, enum command_type type);

/* Takes the command, which has a row. One that cannot be taken is answered with an error. */
void desk_ask(struct desk *d, struct command *c);

/* Takes the request, whose answer is told unless it is withdrawn before. What it changes is done
 * also then. */
void desk_start(struct desk *d, struct operation_request *r);
void desk_withdraw(struct desk *d, uint64_t id);

#endif
