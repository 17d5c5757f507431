/* The ways in which a hostile answer reaches the user. */
#ifndef TESTS_HOSTILE_SURFACE_H
#define TESTS_HOSTILE_SURFACE_H

#include "tests/hostile/visit.h"

struct surface {
    const char *name;
    enum target target;
    void (*visit)(struct visit *v);
};

enum { SURFACE_COUNT = 5 };
extern const struct surface surfaces[SURFACE_COUNT];

#endif
