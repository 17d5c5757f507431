/* Work that may wait for a disk or another program, on a worker (base/worker.h), so that the keyboard
 * never does. It comes back to the screen's thread through a mailbox. */
#ifndef UI_ERRAND_H
#define UI_ERRAND_H

#include <stdbool.h>

#include "base/worker.h"

struct app;
struct errands;

/* The first member of what an errand carries, which is the errand's alone between start and done.
 */
struct errand {
    void (*run)(struct errand *e); /* on its thread; knows nothing of the screen */
    void (*done)(struct app *app, struct errand *e); /* on the screen's */
    void (*release)(struct errand *e);               /* frees all of it */
    bool refused;                                    /* no thread was to be had: it was not run */
    struct errands *errands;                         /* errand_start() sets it */
};

/* Starts nothing yet. */
struct errands *errands_new(void);

/* Never waits: a thread that hangs in a dead file system is left to the end of the process. */
void errands_free(struct errands *s);

/* Takes the errand. */
void errand_start(struct errands *s, struct errand *e);

/* Those that came back, to poll and pop; errand_finish() says what it was for, and frees it. */
struct mailbox *errands_back(struct errands *s);
void errand_finish(struct app *app, struct errand *e);

#endif
