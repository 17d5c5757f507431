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

/* Takes an answer that belongs to no view; otherwise as view_answer (view.h). */
typedef bool app_answer(struct app *app, struct operation_answer *a, const char *words);

/* The function that takes the answer; both NULL: only a failure is reported. */
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

/* The answer is not wanted any more. A request that was answered may be named. */
void asked_withdraw(struct asked *s, struct engine *engine, uint64_t id);
/* All requests of the view. Those that cannot be withdrawn (lasts) report a failure to the surface.
 */
void asked_withdraw_view(struct asked *s, struct engine *engine, const struct view *v);

/* Gives the answer to the function that takes it; true: the person was told of it. */
bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words);

/* Removes the request and copies it out. False: it was withdrawn. */
bool asked_find(struct asked *s, uint64_t id, struct asked_request *out);

struct errands;

/* The first member of a larger struct, which belongs to the errand alone between start and done. */
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

/* Errands that have returned, to poll and pop; errand_finish() calls done and frees the errand. */
struct mailbox *errands_back(struct errands *s);
void errand_finish(struct app *app, struct errand *e);

#endif
