/* A step of the scripted session, run with one failing call, and the checks afterwards. */
#ifndef TESTS_TORTURE_TRIAL_H
#define TESTS_TORTURE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/damage.h"
#include "tests/model_server.h"

enum { STEP_ARGUMENTS = 16, STEP_REPLIES = 8 };

/* How the program is used. */
enum step_form {
    STEP_COMMAND, /* prints the same every time, except for numbers and times */
    STEP_EVENTS,  /* a turn, one event per line; each is kept once it is shown */
    STEP_REPORT,  /* prints its findings, which a fault may change */
    STEP_SCREEN,  /* a turn on the whole screen */
};

struct trial_step {
    const char *name;
    enum step_form form;
    const char *arguments[STEP_ARGUMENTS];
    bool fresh;                  /* in an empty home */
    bool prints_id;              /* prints the id of a session that it made */
    bool breaks_before;          /* the database is damaged first */
    const char *file;            /* file in HOME that it writes; NULL: none */
    const char *takes;           /* a word of the one session or entry that may be gone or changed
                                  * afterwards; NULL: none */
    const char *setting, *value; /* in its environment; NULL: none */
    struct reply replies[STEP_REPLIES];
    /* A command that shows afterwards that the reported change was made. */
    const char *look[STEP_ARGUMENTS];
    const char *there, *gone; /* texts in its output; NULL: none */
};

#define STEPS_ANSWER "It has five points, as on a die."
#define STEPS_MODEL "scripted-model"

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
    const struct trial_step *step;
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
