/* A step of the scripted session, played with one call failing, and all that must hold afterwards.
 */
#ifndef TESTS_TORTURE_TRIAL_H
#define TESTS_TORTURE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/damage.h"
#include "tests/torture/steps.h"

/* Below the directory of the build. */
#define TRIAL_LIBRARY "tests/torture.so"

/* Which call fails; torture.h says what each means. */
struct torture_choice {
    const char *class;
    uint64_t stack;
    long nth; /* 0: none */
    int cause;
    bool stays;
};

/* The result of a step in which no call fails. */
struct step_outcome {
    char *printed;  /* without what changes from run to run */
    char *file;     /* the same of step.file; NULL: none */
    char *names;    /* of the files in HOME, a line each, likewise */
    char *database; /* path of a copy; NULL: none */
};

struct trial {
    const struct step *step;
    const char *home;                 /* that it begins with, a directory to copy */
    const char *log;                  /* of the calls */
    const struct damage_events *kept; /* events that must be there afterwards */
    const char *memory;               /* entries likewise, as damage_memory() has them */
    struct torture_choice choice;
    bool trace;                          /* keep the stacks of blocks */
    const struct step_outcome *expected; /* NULL: this is the run whose outcome counts */
    const char *outcome;                 /* directory for that of this run; NULL: not kept */
};

/* In a process of its own, whose HOME it changes: TRIAL_PASSED, TRIAL_FAILED with words on standard
 * output, or TRIAL_MISSED when the call did not come. */
enum trial_result { TRIAL_PASSED, TRIAL_FAILED, TRIAL_MISSED };
enum trial_result trial_run(const struct trial *t);

/* The files of a directory that trial.outcome named. The caller releases. */
struct step_outcome trial_outcome(const char *directory);
void step_outcome_release(struct step_outcome *o);

#endif
