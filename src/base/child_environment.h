/* The environment of a command that a model wrote: without what it could give away. */
#ifndef BASE_CHILD_ENVIRONMENT_H
#define BASE_CHILD_ENVIRONMENT_H

#include "base/vec.h"

struct child_environment {
    VEC(char *) list; /* ends with NULL */
};

/* `from` without keys, tokens, passwords and our own settings, as their names tell them, and for a
 * terminal that shows text and nothing else. */
void child_environment_init(struct child_environment *e, char *const *from);
void child_environment_release(struct child_environment *e);

#endif
