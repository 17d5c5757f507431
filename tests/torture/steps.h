/* The scripted session that is tortured: a home with conversations and memories, and what is done
 * with it, a command a step. */
#ifndef TESTS_TORTURE_STEPS_H
#define TESTS_TORTURE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/model_server.h"

enum { STEP_ARGUMENTS = 16, STEP_REPLIES = 8 };

/* How the program is used. */
enum step_form {
    STEP_COMMAND, /* what it prints is always the same, but for numbers and times */
    STEP_EVENTS,  /* a turn, an event a line; each is kept once it is shown */
    STEP_REPORT,  /* it prints what it finds, which a fault may change */
    STEP_SCREEN,  /* a turn on the whole screen */
};

struct step {
    const char *name;
    enum step_form form;
    const char *arguments[STEP_ARGUMENTS];
    bool fresh;         /* in an empty home */
    bool prints_id;     /* of a session that it made */
    bool breaks_before; /* the database is damaged first */
    const char *file;   /* of HOME, which it writes; NULL: none */
    const char *takes;  /* a word that only a session or entry has that may be gone or changed
                           afterwards; NULL: none */
    const char *setting, *value; /* in its environment; NULL: none */
    struct reply replies[STEP_REPLIES];
    /* A command that shows afterwards what it told that it did. */
    const char *look[STEP_ARGUMENTS];
    const char *there, *gone; /* in that; NULL: nothing is looked for */
};

extern const struct step steps[];
extern const size_t step_count;

#define STEPS_ANSWER "It has five points, as on a die."
#define STEPS_MODEL "scripted-model"

/* Makes the home that the steps begin with out of an empty one. Faults fail the test. */
void steps_make_home(void);

#endif
