/* What can still be read from a database whose pages are damaged: every page is looked at by
 * itself, and what looks like a row of ours is one. So a row is lost only with a page that it
 * stands on, not with those that lead to it. */
#ifndef STORE_SALVAGE_H
#define STORE_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "chat/event.h"
#include "store/db_pages.h"
#include "store/salvage_memory.h"
#include "store/salvage_session.h"

struct event_number {
    int64_t key, seq; /* of the session's row */
};

/* Where an event's row stands. */
struct event_place {
    struct event_number number;
    uint32_t page, cell;
    bool free; /* on a page that is given up: a row that was deleted unless the index has it */
};

struct session_id {
    int64_t key;
    uint32_t page; /* that it stands on */
    char id[UUID_LEN + 1];
};

struct salvage {
    struct db_pages pages;
    VEC(struct session_row) rows;      /* by key, one each */
    VEC(struct session_id) ids;        /* by key, one each, as the index of ids has them */
    VEC(struct event_place) events;    /* by number, perhaps several of one */
    VEC(struct event_number) expected; /* by number: what the index of events has */
    struct salvaged_memory memory;
};

/* Finds rows. `go_on` (may be NULL) is asked now and then; false ends it with INTERRUPTED. */
bool salvage_open(struct salvage *s, const char *path, bool (*go_on)(void *context), void *context,
                  struct error *e);
void salvage_release(struct salvage *s);

/* The id that the index has for this key; NULL if none. */
const char *salvage_id(const struct salvage *s, int64_t key);

/* Reads and decodes the event, without its session's id; `payload` becomes the row's own text.
 * NULL when that is not possible. The caller frees. */
struct event *salvage_event(const struct salvage *s, const struct event_place *place,
                            struct buf *payload, int *version);

/* For qsort() and bsearch() of what begins with an event_number. */
int event_number_order(const void *a, const void *b);

#endif
