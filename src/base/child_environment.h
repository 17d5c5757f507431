/* The environment of a program that we start, by who wrote its command line. The command for a key
 * and $EDITOR are the user's own and get all of ours, from which our keys were taken
 * (environment.h); others get what a list names. */
#ifndef BASE_CHILD_ENVIRONMENT_H
#define BASE_CHILD_ENVIRONMENT_H

#include "base/buf.h"
#include "base/vec.h"

enum child_kind {
    CHILD_HELPER,  /* diff: what finds programs and tells the language */
    CHILD_OF_MODEL /* a command that a model wrote: what builds and tools need, and no keys */
};

struct child_environment {
    VEC(char *) list; /* ends with NULL */
};

/* What `from` has of the kind's list, and of the names in `also` (parted by blanks or commas, a
 * star at the end is any text; NULL: none). What our list names does not go along when it is a URL
 * with a password, as of a proxy. For a model's command TERM is dumb and PAGER cat, so that it
 * shows text and nothing else. */
void child_environment_init(struct child_environment *e, char *const *from, enum child_kind kind,
                            const char *also);

/* The variable that such a program gives the lines below in; they take it away, too. */
#define CHILD_SCRIPT_VARIABLE "TIRO_FIRST"

/* Appends lines of a shell (POSIX) for a program that starts it with an environment of its own:
 * they leave of that what this list has, and then run their first argument ("$1") as a command,
 * without input. What was hidden of ours (environment.h) is taken away, too, whoever names it.
 * There is no value in them. */
void child_environment_script(struct buf *out, enum child_kind kind, const char *also);

void child_environment_release(struct child_environment *e);

#endif
