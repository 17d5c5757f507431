/* What could not be done: said in words, and whatever was asked for comes back. */
#ifndef UI_FAULTS_H
#define UI_FAULTS_H

#include "ui/app/app.h"

/* What goes on: a turn, a compaction (of a turn or by itself). */
struct doing {
    bool turn, compaction;
    const struct config *config;
};

/* What failed. */
struct fault {
    const struct error *error;
    const struct operation *operation; /* that was asked for; NULL: nobody asked */
    const void *params;                /* its; NULL: none */
};
struct fault faults_of_answer(const struct operation_answer *a);

/* In the user's words; `whole`: nothing of the engine's is in it, so that it is less of a fault.
 * Not clean. The caller frees. */
char *faults_words(const struct fault *f, const struct doing *doing, bool *whole);

/* An answer that failed: what was asked for comes back, and who asked is told, or the person. */
void faults_take_answer(struct app *app, const struct notice *n, const struct asked_request *by);

/* A fault that nobody asked for, or beside what was answered. */
void faults_say(struct app *app, const struct error *e);

/* A NOTICE_ERROR. */
void faults_take(struct app *app, struct notice *n);

#endif
