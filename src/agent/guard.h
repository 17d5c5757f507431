/* Places that a tool reaches only after a question about that very call, whatever is allowed: where
 * keys usually are, and the program's own configuration, conversations and log. What counts is the
 * place that is opened, so a symbolic link hides nothing; a hard link to such a file under another
 * name cannot be told from any other file, nor can what a command does. */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H

#include <stdbool.h>

#include "base/vec.h"

/* Where keys usually are: the last names of a path; a star, at the beginning or the end of a name,
 * is any text. Upper case is lower case: some file systems do not tell them apart. Ends with NULL;
 * tiro.ini(5) lists them. */
extern const char *const guard_keys[];

struct guard {
    VEC(char *) own; /* resolved paths */
};

/* Looks where the program's own files are. */
void guard_init(struct guard *g);
void guard_release(struct guard *g);

/* Whether such a place is at this absolute, resolved path, or on the way to it. */
bool guard_covers(const struct guard *g, const char *path);

/* The same for the place itself, where all that leads to it has been looked at before. */
bool guard_begins(const struct guard *g, const char *path);

/* guard_covers() of the places as they are now. */
bool guard_asks(const char *path);

#endif
