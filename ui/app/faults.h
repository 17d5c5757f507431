/* Errors: their texts for a person, and the state restored after a refused request. */
#ifndef UI_FAULTS_H
#define UI_FAULTS_H

#include "ui/app/app.h"

/* The work that runs: a turn, a compaction (of a turn or by itself). */
struct doing {
    bool turn, compaction;
    const struct config *config;
};

/* An error and the request that failed. */
struct fault {
    const struct error *error;
    const struct operation *operation; /* NULL: the error belongs to no request */
    const void *params;                /* its; NULL: none */
};

/* The text for a person, not cleaned; the caller frees. *whole: it does not quote the engine, and
 * is a warning more than an error. */
char *faults_words(const struct fault *f, const struct doing *doing, bool *whole);

/* A failed answer: restores the state, and tells the function that takes the answer or the person.
 */
void faults_take_answer(struct app *app, const struct notice *n, const struct asked_request *by);

/* Reports an error without a request, or one that comes with an answer. */
void faults_say(struct app *app, const struct error *e);

#endif
