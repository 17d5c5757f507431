#include "base/die.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_SOFTWARE = 70 };

static _Atomic(void (*)(void)) die_hook;

void die_set_hook(void (*hook)(void))
{
    atomic_store(&die_hook, hook);
}

_Noreturn void die(const char *what)
{
    /* Taken out first: a hook that runs out of memory itself must not run again. */
    void (*hook)(void) = atomic_exchange(&die_hook, NULL);
    if (hook)
        hook();
    fprintf(stderr, "tiro: %s\n", what);
    /* Not exit(): other threads still run, and what exit handlers free they may use. */
    _exit(EXIT_SOFTWARE);
}
