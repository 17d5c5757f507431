/* The one way out when going on is impossible: out of memory, or a thread that cannot start.
 * Everything else is a value (err.h). */
#ifndef BASE_DIE_H
#define BASE_DIE_H

/* `hook` runs once before the program dies (the terminal restores itself). NULL removes it. */
void die_set_hook(void (*hook)(void));

/* A file that is of use only once the program has finished it: die() removes PATH with each of
 * these endings, up to a NULL, "" for PATH itself. Both are borrowed until die_keeps() of the same
 * PATH. */
void die_unlinks(const char *path, const char *const *endings);
void die_keeps(const char *path);

/* Removes these files, runs the hook, prints "tiro: WHAT" to standard error and exits with
 * status 70. */
_Noreturn void die(const char *what);

#endif
