/* What was asked of the engine and is not answered yet, and who gets the answer. */
#ifndef UI_ASKED_H
#define UI_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
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

#endif
