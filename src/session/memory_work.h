/* What the third worker (memory_desk.h) does while nobody asks: vectors that entries lack, the
 * graph, what is left in the index of forgotten texts; and what it tells of that. Its thread's. */
#ifndef SESSION_MEMORY_WORK_H
#define SESSION_MEMORY_WORK_H

#include "base/mailbox.h"
#include "memory/recall.h"
#include "session/memory_errands.h"
#include "session/notice.h"

/* What is left in the index of forgotten texts, and then what keeps it quick. */
struct memory_purge {
    bool wanted;
    int64_t at_ms; /* clock_mono_ms() before which it is not tried; 0: at once */
};

/* The work that waits: vectors that entries lack, the graph. */
struct memory_chore {
    bool wanted;
    int64_t at_ms;      /* clock_mono_ms() before which it is not tried; 0: at once */
    int64_t left;       /* entries, as last heard */
    int64_t told_at_ms; /* when that was told */
    bool told;          /* and that it is over was not */
    struct error why;   /* why it waits; ERR_OK: it does not */
};

struct memory_work {
    struct recall *recall; /* the three are borrowed */
    struct errands *errands;
    struct mailbox *notices;
    struct memory_purge purge; /* `wanted` of both is the owner's to set */
    struct memory_chore chore;
};

/* How long until there is something to do; 0: there is; -1: there is nothing. */
int memory_work_due(const struct memory_work *w);

/* A part of what is due, until an errand comes; tells what came of it. */
void memory_work_step(struct memory_work *w);

/* Before the thread ends: what can be purged. What another process's transaction keeps from being
 * purged waits for the next time. */
void memory_work_finish(struct memory_work *w);

/* A NOTICE_MEMORY_STATE. NULL with `e` when the store cannot say, or nobody will hear it. */
struct notice *memory_work_state(struct memory_work *w, struct error *e);

#endif
