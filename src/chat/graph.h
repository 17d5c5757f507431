/* The graph of facts: entities, what was observed of them, and relations between them. What it is
 * told and what it tells, as structs and shapes; where it is kept: knowledge/graph.h. */
#ifndef CHAT_GRAPH_H
#define CHAT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "base/vec.h"

/* Bounds: of texts in bytes, of one call, and of all. */
enum {
    GRAPH_NAME_BYTES = 256,
    GRAPH_TYPE_BYTES = 128, /* of an entity and of a relation */
    GRAPH_OBSERVATION_BYTES = 4096,
    GRAPH_ENTITY_BYTES = 256 * 1024, /* all observations of an entity */
    GRAPH_BATCH = 200,               /* entities, relations, names of one call */
    GRAPH_OBSERVATIONS = 1000,       /* of an entity */
    GRAPH_ENTITIES = 100000,
    GRAPH_OBSERVATIONS_IN_ALL = 1000000,
    GRAPH_RELATIONS = 500000,
    GRAPH_IMPORT_BYTES = 256 * 1024 * 1024,
    GRAPH_FOUND = 20, /* entities that a search gives, unless it says how many */
    GRAPH_FOUND_MOST = 1000,
    GRAPH_PART_RELATIONS = 2000 /* that a part of the graph has; others are counted */
};

/* Where a fact comes from. */
struct graph_source {
    char *session_id; /* NULL: a person's own, or an import */
    int64_t seq;      /* of the event of its message; 0 unknown */
    int64_t created_ms;
    bool deleted; /* the session is not here any more */
};

/* ---- what is told of the graph ---- */

struct graph_observation {
    char *content;
    struct graph_source source;
};
struct graph_entity {
    char *name, *type;
    VEC(struct graph_observation) observations; /* oldest first */
    int observed;                               /* how many it has, also where they are left out */
    int relations;                              /* out and in */
    struct graph_source source;
};
struct graph_relation {
    char *from, *to, *type;
    struct graph_source source;
};

/* Some of the graph. */
struct graph_part {
    VEC(struct graph_entity) entities;
    VEC(struct graph_relation) relations;
    int64_t relations_left; /* that had no room among them */
    VEC(char *) unknown;    /* names that were asked for and are none */
    int64_t total;          /* entities that there are */
};
void graph_part_release(struct graph_part *p);
extern const struct shape graph_entity_shape, graph_relation_shape, graph_part_shape;

struct graph_stats {
    int64_t entities, observations, relations;
    int64_t orphans; /* observations whose session was deleted */
    int64_t bytes;   /* that it takes in the database, about */
};
extern const struct shape graph_stats_shape;

/* ---- what it is told ---- texts are the reader's (shape_release()) or a caller's */

struct graph_new_entity {
    const char *name, *type;
    VEC(const char *) observations;
};
struct graph_create {
    VEC(struct graph_new_entity) entities;
};

struct graph_new_observations {
    const char *entity;
    VEC(const char *) contents;
};
struct graph_observe {
    VEC(struct graph_new_observations) observations;
};

struct graph_new_relation {
    const char *from, *to, *type;
};
struct graph_relate {
    VEC(struct graph_new_relation) relations;
};

struct graph_query {
    const char *query;
};
struct graph_search {
    const char *query;
    int limit;   /* entities */
    bool typing; /* the last word may be the beginning of one */
    bool brief;  /* observations are counted, not given, and there are no relations */
};
struct graph_names {
    VEC(const char *) names;
};
struct graph_unobserve {
    VEC(struct graph_new_observations) deletions;
};

extern const struct shape graph_create_shape, graph_observe_shape, graph_relate_shape,
    graph_query_shape, graph_search_shape, graph_names_shape, graph_entity_names_shape,
    graph_unobserve_shape;

/* ---- what came of it ---- */

/* Of add_observations: what is new, for each entity that was named. */
struct graph_added {
    VEC(struct graph_added_to {
        char *entity;
        VEC(char *) added;
    })
    items;
};
extern const struct shape graph_added_shape;

struct graph_counts {
    int64_t entities, observations, relations;
    int64_t skipped; /* of an import: relations of entities that are nowhere */
};
extern const struct shape graph_counts_shape;

/* ---- a line of an export, in the form of the MCP project's server-memory ---- */

struct graph_line_entity {
    char *name, *type;
    VEC(char *) observations;
};
struct graph_line_relation {
    char *from, *to, *type;
};
extern const struct shape graph_line_entity_shape, graph_line_relation_shape;

#endif
