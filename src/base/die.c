#include "base/die.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_SOFTWARE = 70 };

static _Atomic(void (*)(void)) die_hook;

void die_set_hook(void (*hook)(void))
{
    atomic_store(&die_hook, hook);
}

static struct unfinished {
    struct unfinished *next;
    const char *path;
    const char *const *endings;
} * unfinished;

/* Nobody dies while he holds it. */
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

void die_unlinks(const char *path, const char *const *endings)
{
    struct unfinished *u = malloc(sizeof *u);
    if (!u)
        die("out of memory");
    pthread_mutex_lock(&unfinished_lock);
    *u = (struct unfinished){unfinished, path, endings};
    unfinished = u;
    pthread_mutex_unlock(&unfinished_lock);
}

void die_keeps(const char *path)
{
    pthread_mutex_lock(&unfinished_lock);
    struct unfinished **link = &unfinished, *found;
    while (*link && (*link)->path != path)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&unfinished_lock);
    free(found);
}

/* Without memory of its own: there may be none. */
static void unlink_with(const char *path, const char *const *endings)
{
    char name[PATH_MAX];
    for (; *endings; endings++)
        if (snprintf(name, sizeof name, "%s%s", path, *endings) < (int)sizeof name)
            unlink(name);
}

static void unlink_unfinished(void)
{
    pthread_mutex_lock(&unfinished_lock);
    for (const struct unfinished *u = unfinished; u; u = u->next)
        unlink_with(u->path, u->endings);
    pthread_mutex_unlock(&unfinished_lock);
}

/* One thread dies for all: another that came to its end, too, must not take the program away
 * before the first has put things in order. */
static void wait_unless_first(void)
{
    static atomic_bool dying;
    static _Thread_local bool first;
    if (!first && atomic_exchange(&dying, true))
        for (;;)
            pause();
    first = true;
}

_Noreturn void die(const char *what)
{
    wait_unless_first();
    /* Taken out first: a hook that runs out of memory itself must not run again. */
    void (*hook)(void) = atomic_exchange(&die_hook, NULL);
    if (hook)
        hook();
    unlink_unfinished();
    fprintf(stderr, "tiro: %s\n", what);
    /* Not exit(): other threads still run, and what exit handlers free they may use. */
    _exit(EXIT_SOFTWARE);
}
