/* A step of the scripted session, run with one failing call, and the checks afterwards. */
#ifndef TESTS_TORTURE_TRIAL_H
#define TESTS_TORTURE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/damage.h"
#include "tests/torture/steps.h"

/* Path below the build directory. */
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
    char *printed;  /* without parts that change between runs */
    char *file;     /* likewise, the contents of step.file; NULL: none */
    char *names;    /* names of the files in HOME, one per line, likewise */
    char *database; /* path of a copy; NULL: none */
};

struct trial {
    const struct step *step;
    const char *home;                 /* the initial home, a directory to copy */
    const char *log;                  /* path of the log of calls */
    const struct damage_events *kept; /* events that must be there afterwards */
    const char *memory;               /* likewise entries, in the form of damage_memory() */
    struct torture_choice choice;
    bool trace;                          /* keep the stacks of blocks */
    const struct step_outcome *expected; /* NULL: this run records the expected outcome */
    const char *outcome;                 /* directory for the outcome of this run; NULL: not kept */
};

/* Runs in a process of its own and changes its HOME. Returns TRIAL_PASSED, TRIAL_FAILED with a
 * report on standard output, or TRIAL_MISSED if the call did not occur. */
enum trial_result { TRIAL_PASSED, TRIAL_FAILED, TRIAL_MISSED };
enum trial_result trial_run(const struct trial *t);

/* Reads the outcome from a directory that trial.outcome named. The caller releases it. */
struct step_outcome trial_outcome(const char *directory);
void step_outcome_release(struct step_outcome *o);

#endif
