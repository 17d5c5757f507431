/* Work that the surface waits for without blocking the keyboard: requests to the engine with the
 * function that takes each answer, and errands, which run on a worker thread (base/worker.h)
 * because they may wait for a disk or another program. */
#ifndef UI_APP_REQUESTS_H
#define UI_APP_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "base/worker.h"
#include "session/engine.h"
#include "ui/view/view.h"

struct app;

/* As view_answer (view.h), for what belongs to no view. */
typedef bool app_answer(struct app *app, struct operation_answer *a, const char *words);

/* Who gets the answer; all NULL: only of a failure is told. */
struct asked_request {
    uint64_t id;
    struct view *view; /* NULL: the surface itself */
    view_answer *take_view;
    app_answer *take;
    bool lasts; /* operation_lasts() */
};

struct asked {
    VEC(struct asked_request) requests;
};

void asked_release(struct asked *s);

/* Returns the request's id. */
uint64_t asked_start(struct asked *s, struct engine *engine, const struct operation *o,
                     const void *params, struct asked_request by);

/* It is not wanted any more; what was answered is fine. */
void asked_withdraw(struct asked *s, struct engine *engine, uint64_t id);
/* … all that this view has asked; of what is done all the same the surface tells a failure. */
void asked_withdraw_view(struct asked *s, struct engine *engine, const struct view *v);

/* Gives the answer to who asked; true: it was told. */
bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words);

/* Who gets that answer, and is not there any more. False: it was withdrawn. */
bool asked_find(struct asked *s, uint64_t id, struct asked_request *out);

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
