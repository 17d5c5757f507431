/* The scripted session of the torture test: a home with conversations and memories, and one command
 * per step. */
#ifndef TESTS_TORTURE_STEPS_H
#define TESTS_TORTURE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/model_server.h"

enum { STEP_ARGUMENTS = 16, STEP_REPLIES = 8 };

/* How the program is used. */
enum step_form {
    STEP_COMMAND, /* prints the same every time, except for numbers and times */
    STEP_EVENTS,  /* a turn, one event per line; each is kept once it is shown */
    STEP_REPORT,  /* prints its findings, which a fault may change */
    STEP_SCREEN,  /* a turn on the whole screen */
};

struct step {
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

extern const struct step steps[];
extern const size_t step_count;

#define STEPS_ANSWER "It has five points, as on a die."
#define STEPS_MODEL "scripted-model"

/* Makes the home of the first step in an empty directory. Faults fail the test. */
void steps_make_home(void);

#endif
