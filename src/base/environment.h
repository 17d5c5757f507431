/* Our own environment. Keys that came in it are taken out once they are known by name, so that
 * neither a child nor /proc/PID/environ shows them, and found here from then on. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

/* Takes a variable out, if it is there, and overwrites its bytes. Before any thread is started. */
void environment_hide(const char *name);

/* As getenv(), also of what was hidden. Not to be changed or freed. */
char *environment_get(const char *name);

#endif
