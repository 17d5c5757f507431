/* Ids for the tool calls of servers that give none: "call_1", "call_2", …, unique in a
 * conversation. Their cost is that of a sort of the ids that are taken. */
#ifndef PROVIDER_CALL_IDS_H
#define PROVIDER_CALL_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct call_ids {
    VEC(uint64_t) taken; /* the numbers of ids of this form */
    size_t next;         /* of those, once they are sorted: the first that is not passed */
    uint64_t given;      /* the newest number that was given; 0 before the first */
};

void call_ids_release(struct call_ids *ids);

/* Notes an id that is taken; one of another form, or NULL, is in nobody's way. All of them come
 * before the first call_ids_next(). */
void call_ids_add(struct call_ids *ids, const char *id);

/* The smallest that is neither taken nor given yet. The caller frees. */
char *call_ids_next(struct call_ids *ids);

#endif
