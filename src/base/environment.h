/* Our own environment. Keys that came in it are taken out once they are known by name, so that
 * neither a child nor /proc/PID/environ shows them, and found here from then on. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stddef.h>

/* Takes a variable out, if it is there, and overwrites its bytes; its name is known from then on in
 * any case. Before any thread is started. */
void environment_hide(const char *name);

/* The names that were hidden, one after the other; NULL behind the last. Another program may have
 * them in an environment of its own. */
const char *environment_hidden(size_t index);

/* As getenv(), also of what was hidden. Not to be changed or freed. */
char *environment_get(const char *name);

#endif
