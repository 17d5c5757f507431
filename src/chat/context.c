#include "chat/context.h"

#include <stdlib.h>

void context_release(struct context *c)
{
    for (size_t i = 0; i < c->parts.len; i++) {
        free(c->parts.items[i].source);
        free(c->parts.items[i].text);
    }
    vec_release(&c->parts);
    free(c->mode);
}
