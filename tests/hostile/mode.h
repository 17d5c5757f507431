/* The ways of being hostile: tables, of which each row is one. */
#ifndef TESTS_HOSTILE_MODE_H
#define TESTS_HOSTILE_MODE_H

#include <stddef.h>

#include "tests/hostile/server.h"

enum mode_flag {
    MODE_ENDLESS = 1, /* the client need not end by itself */
    MODE_ONCE = 2,    /* only the first answer is hostile */
    MODE_DEAF = 4,    /* the request is not read */
    MODE_REFUSE = 8,  /* nobody listens */
    MODE_LONG = 16,   /* is asked with a long question */
    MODE_WELL = 32,   /* the turn succeeds all the same */
    MODE_FAILS = 64,  /* the turn fails, and says why */
    MODE_ALL = 128    /* is meant for listings and embeddings, too */
};

struct mode {
    const char *name;
    const char *says; /* what it does, in a line */
    void (*serve)(struct peer *p);
    const char *text; /* what serve() makes of these is its own */
    long number;
    unsigned flags;
    int kept_mib; /* text of the answer that is kept, as JSON */
    /* More than one answer: how many there are for this peer; each is one run. NULL: one. */
    long (*steps)(struct peer *p);
};

/* Each table ends with a row without a name. */
extern const struct mode connection_modes[], head_modes[], framing_modes[], status_modes[],
    stream_modes[], json_modes[], text_modes[], figure_modes[], call_modes[], listing_modes[],
    embedding_modes[];

struct mode_table {
    const struct mode *modes;
    unsigned targets; /* bits */
};
extern const struct mode_table mode_tables[]; /* ends with NULL */

#endif
