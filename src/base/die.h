/* The one way out when going on is impossible: out of memory, or a thread that cannot start.
 * Everything else is a value (err.h). */
#ifndef BASE_DIE_H
#define BASE_DIE_H

/* `hook` runs once before the program dies (the terminal restores itself). NULL removes it. */
void die_set_hook(void (*hook)(void));

/* Runs the hook, prints "tiro: WHAT" to standard error and exits with status 70. */
_Noreturn void die(const char *what);

#endif
