/* What could not be done: said in words, and whatever was asked for comes back. */
#ifndef UI_FAULTS_H
#define UI_FAULTS_H

#include "ui/app/app.h"

/* What goes on: a turn, a compaction (of a turn or by itself). */
struct doing {
    bool turn, compaction;
    const struct config *config;
};

/* What a NOTICE_ERROR tells, in the user's words; `whole`: nothing of the engine's is in it, so
 * that it is less of a fault. Not clean. The caller frees. */
char *faults_words(const struct notice *n, const struct doing *doing, bool *whole);

/* The same of an answer that failed. */
char *faults_of_answer(const struct operation_answer *a, const struct doing *doing, bool *whole);

/* A NOTICE_ERROR. */
void faults_take(struct app *app, struct notice *n);

#endif
