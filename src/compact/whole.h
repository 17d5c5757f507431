/* The messages of a conversation with tool results as the tools gave them, where earlier compactions
 * left less of what goes now. */
#ifndef COMPACT_WHOLE_H
#define COMPACT_WHOLE_H

#include "compact/compact.h"
#include "compact/plan.h"

struct whole {
    VEC(struct message) items; /* as many as there are; borrowed but those of `made` */
    VEC(size_t) made;          /* their indices */
};

/* A result that the host does not know stays as it is. */
void whole_make(struct whole *w, const struct compact_input *in, const struct compact_plan *p,
                const struct compact_host *host);
void whole_release(struct whole *w);

#endif
