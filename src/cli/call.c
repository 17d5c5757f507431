#include "cli/call.h"

#include <stdlib.h>

#include "cli/output.h"

bool call_begin(struct call *c, const struct operation *o, struct error *e)
{
    setup_load(&c->setup);
    setup_print_problems(&c->setup);
    c->directory = realpath(".", NULL);
    return operation_open(&c->context, o, c->setup.config, NULL, c->directory, e);
}

void call_end(struct call *c)
{
    operation_close(&c->context);
    free(c->directory);
    setup_release(&c->setup);
}

void call_print_member(const struct operation *o, const char *member, const void *result)
{
    output_json(shape_value_to_json(o->result, member, result));
}
