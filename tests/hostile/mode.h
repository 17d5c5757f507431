/* The hostile modes: tables with one row per mode. */
#ifndef TESTS_HOSTILE_MODE_H
#define TESTS_HOSTILE_MODE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/hostile/server.h"

enum mode_flag {
    MODE_ENDLESS = 1, /* the client need not end by itself */
    MODE_ONCE = 2,    /* only the first answer is hostile */
    MODE_DEAF = 4,    /* the request is not read */
    MODE_REFUSE = 8,  /* nobody listens */
    MODE_LONG = 16,   /* asked with a long question */
    MODE_WELL = 32,   /* the turn succeeds all the same */
    MODE_FAILS = 64,  /* the turn fails, and says why */
    MODE_ALL = 128    /* also for listings and embeddings */
};

struct mode {
    const char *name;
    const char *says; /* description, one line */
    void (*serve)(struct peer *p);
    const char *text; /* parameters of serve() */
    long number;
    unsigned flags;
    int kept_mib; /* MiB of the answer's text that are kept, as JSON */
    /* The number of answers for this peer if there is more than one; each is a run. NULL: one. */
    long (*steps)(struct peer *p);
};

/* Rows leave out the last fields. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Each table ends with a row without a name. */
extern const struct mode connection_modes[], head_modes[], framing_modes[], status_modes[],
    stream_modes[], json_modes[], text_modes[], figure_modes[], call_modes[], listing_modes[],
    embedding_modes[];

struct mode_table {
    const struct mode *modes;
    unsigned targets; /* bits */
};
extern const struct mode_table mode_tables[]; /* ends with NULL */

/* An answer in parts, so that a mode can insert hostile bytes between them. Each function returns
 * false if the client has gone. */

/* Head and first events. The model's name is inside a JSON string, the tokens are JSON. */
bool answer_begin(struct peer *p);
bool answer_begin_as(struct peer *p, const char *model, const char *tokens);

/* A piece of text, inside a JSON string. */
bool answer_text(struct peer *p, const char *text);

/* The last events. The reason is inside a JSON string, the tokens are JSON. */
bool answer_end(struct peer *p);
bool answer_end_as(struct peer *p, const char *stop, const char *in, const char *out);

/* A text again and again; the caller frees. */
char *answer_repeat(const char *text, long count);

#endif
