/* Calling operations (session/operation.h) on the command's own thread. */
#ifndef CLI_CALL_H
#define CLI_CALL_H

#include "cli/setup.h"
#include "session/operation.h"

struct call {
    struct setup setup;
    char *directory; /* the working directory; NULL: it is gone */
    struct operation_context context;
};

/* Reads the configuration, prints its problems, and opens what the operation works on. Ended in any
 * case. */
bool call_begin(struct call *c, const struct operation *o, struct error *e);
void call_end(struct call *c);

/* Prints the value of one member of a result as its shape has it. */
void call_print_member(const struct operation *o, const char *member, const void *result);

#endif
