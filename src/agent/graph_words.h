/* A change of the graph in words, for the person who decides on it or is told of it. Texts are as
 * they were given: who shows them cleans them. */
#ifndef AGENT_GRAPH_WORDS_H
#define AGENT_GRAPH_WORDS_H

#include "base/buf.h"
#include "chat/graph.h"

/* What a call makes of the graph: of one kind. */
enum graph_change {
    GRAPH_MADE,      /* `part`: entities or relations */
    GRAPH_OBSERVED,  /* `added` */
    GRAPH_UNMADE,    /* `part`: entities with all about them, or relations */
    GRAPH_UNOBSERVED /* `part`: of each entity the observations */
};
struct graph_outcome {
    enum graph_change change;
    struct graph_part part;
    struct graph_added added;
};
void graph_outcome_release(struct graph_outcome *o);

/* All of it, a fact a row. */
void graph_words_preview(const struct graph_outcome *o, struct buf *out);

/* Some of it on one row: facts parted by commas, each of a bounded length. Returns how many have no
 * room there; "": nothing has changed. */
int64_t graph_words_receipt(const struct graph_outcome *o, struct buf *out);

#endif
