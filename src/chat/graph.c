#include "chat/graph.h"

/* clang-format off */
#define TEXT(S, name, at, most_bytes, ...) \
    SHAPE_FIELD(name, STRING, REQUIRED, SHAPE_AT_TEXT(S, at), .least = 1, .most = most_bytes, \
                .help = __VA_ARGS__)
#define COUNTED(S, name, at, text) \
    SHAPE_FIELD(name, INTEGER, REQUIRED, SHAPE_AT(int64_t, S, at), .help = text)
#define PARAMS(T, rows) {.name = "parameters", .size = sizeof(T), .fields = rows, .closed = true}

/* --- told of the graph ------------------------------------------------------------------------ */

#define SOURCE(S) \
    SHAPE_FIELD("session_id", STRING, OPTIONAL, SHAPE_AT_TEXT(S, source.session_id), \
                .help = "The session that it comes from; absent: a person's own, or an import."), \
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, SHAPE_AT(int64_t, S, source.seq), \
                .help = "Number of the event of its message there."), \
    SHAPE_FIELD("created_at", TIME, REQUIRED, SHAPE_AT(int64_t, S, source.created_ms), \
                .help = "When it was noted."), \
    SHAPE_FIELD("session_deleted", BOOLEAN, OPTIONAL, SHAPE_AT(bool, S, source.deleted), \
                .help = "That session was deleted.")

static const struct shape_field observation_fields[] = {
    TEXT(struct graph_observation, "content", content, GRAPH_OBSERVATION_BYTES,
         "What was observed."),
    SOURCE(struct graph_observation),
    {0},
};
static const struct shape observation_shape = {
    .name = "observation", .size = sizeof(struct graph_observation), .fields = observation_fields};

static const struct shape_field entity_fields[] = {
    TEXT(struct graph_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_entity, "entity_type", type, GRAPH_TYPE_BYTES, "What kind of thing it is."),
    SHAPE_FIELD("observations", LIST, REQUIRED, offsetof(struct graph_entity, observations),
                .of = &observation_shape, .help = "Oldest first."),
    SHAPE_FIELD("observed", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, observed),
                .help = "How many observations it has, also where they are left out."),
    SHAPE_FIELD("relation_count", COUNT, REQUIRED, SHAPE_AT(int, struct graph_entity, relations),
                .help = "How many relations it has, out and in."),
    SOURCE(struct graph_entity),
    {0},
};
const struct shape graph_entity_shape = {
    .name = "entity", .size = sizeof(struct graph_entity), .fields = entity_fields};

static const struct shape_field relation_fields[] = {
    TEXT(struct graph_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_relation, "relation_type", type, GRAPH_TYPE_BYTES, "What the one is to the other."),
    SOURCE(struct graph_relation),
    {0},
};
const struct shape graph_relation_shape = {
    .name = "relation", .size = sizeof(struct graph_relation), .fields = relation_fields};

static const struct shape_field part_fields[] = {
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_part, entities),
                .of = &graph_entity_shape, .help = "Of a search: best first."),
    SHAPE_FIELD("relations", LIST, REQUIRED, offsetof(struct graph_part, relations),
                .of = &graph_relation_shape, .help = "That lead from one of them or to one."),
    SHAPE_FIELD("relations_left", INTEGER, OPTIONAL,
                SHAPE_AT(int64_t, struct graph_part, relations_left),
                .help = "How many more there are, which are left out."),
    SHAPE_FIELD("unknown", STRINGS, OPTIONAL, offsetof(struct graph_part, unknown),
                .help = "Names that were asked for, and that no entity has."),
    COUNTED(struct graph_part, "total", total, "Entities that there are."),
    {0},
};
const struct shape graph_part_shape = {
    .name = "part of the graph", .size = sizeof(struct graph_part), .fields = part_fields};

static const struct shape_field stats_fields[] = {
    COUNTED(struct graph_stats, "entities", entities, "Entities."),
    COUNTED(struct graph_stats, "observations", observations, "What was observed of them."),
    COUNTED(struct graph_stats, "relations", relations, "Relations between them."),
    COUNTED(struct graph_stats, "orphans", orphans, "Observations whose session was deleted."),
    COUNTED(struct graph_stats, "bytes", bytes, "What it takes in the database, about."),
    {0},
};
const struct shape graph_stats_shape = {
    .name = "graph figures", .size = sizeof(struct graph_stats), .fields = stats_fields};

/* --- told to it ------------------------------------------------------------------------------- */

static const struct shape_field new_entity_fields[] = {
    TEXT(struct graph_new_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_new_entity, "entity_type", type, GRAPH_TYPE_BYTES, "What kind of thing it is.",
         .also = "entityType"),
    SHAPE_FIELD("observations", STRINGS, OPTIONAL, offsetof(struct graph_new_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "What is known of it."),
    {0},
};
static const struct shape new_entity_shape = {.name = "new entity",
                                              .size = sizeof(struct graph_new_entity),
                                              .fields = new_entity_fields,
                                              .closed = true};
static const struct shape_field create_fields[] = {
    SHAPE_FIELD("entities", LIST, REQUIRED, offsetof(struct graph_create, entities),
                .of = &new_entity_shape, .least = 1, .most = GRAPH_BATCH, .help = "New ones."),
    {0},
};
const struct shape graph_create_shape = PARAMS(struct graph_create, create_fields);

static const struct shape_field contents_fields[] = {
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom.",
         .also = "entityName"),
    SHAPE_FIELD("contents", STRINGS, REQUIRED, offsetof(struct graph_new_observations, contents),
                .least = 1, .most = GRAPH_OBSERVATIONS, .help = "What is known of it."),
    {0},
};
static const struct shape contents_shape = {.name = "observations",
                                            .size = sizeof(struct graph_new_observations),
                                            .fields = contents_fields,
                                            .closed = true};
static const struct shape_field observe_fields[] = {
    SHAPE_FIELD("observations", LIST, REQUIRED, offsetof(struct graph_observe, observations),
                .of = &contents_shape, .least = 1, .most = GRAPH_BATCH, .help = "By entity."),
    {0},
};
const struct shape graph_observe_shape = PARAMS(struct graph_observe, observe_fields);

static const struct shape_field new_relation_fields[] = {
    TEXT(struct graph_new_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_new_relation, "relation_type", type, GRAPH_TYPE_BYTES,
         "What the one is to the other: \"works at\".", .also = "relationType"),
    {0},
};
static const struct shape new_relation_shape = {.name = "new relation",
                                                .size = sizeof(struct graph_new_relation),
                                                .fields = new_relation_fields,
                                                .closed = true};
static const struct shape_field relate_fields[] = {
    SHAPE_FIELD("relations", LIST, REQUIRED, offsetof(struct graph_relate, relations),
                .of = &new_relation_shape, .least = 1, .most = GRAPH_BATCH,
                .help = "From one entity to another."),
    {0},
};
const struct shape graph_relate_shape = PARAMS(struct graph_relate, relate_fields);

static const struct shape_field query_fields[] = {
    TEXT(struct graph_query, "query", query, 65536, "Words, or a part of a text."),
    {0},
};
const struct shape graph_query_shape = PARAMS(struct graph_query, query_fields);

static const struct shape_field search_fields[] = {
    SHAPE_FIELD("query", STRING, REQUIRED, SHAPE_AT_TEXT(struct graph_search, query),
                .help = "Words, or a part of a text."),
    SHAPE_FIELD("limit", COUNT, OPTIONAL, SHAPE_AT(int, struct graph_search, limit),
                .least = 1, .most = GRAPH_FOUND_MOST, .absent = GRAPH_FOUND, .help = "Entities."),
    SHAPE_FIELD("typing", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct graph_search, typing),
                .help = "The last word may be the beginning of one."),
    SHAPE_FIELD("brief", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct graph_search, brief),
                .help = "Observations are counted, not given, and there are no relations."),
    {0},
};
const struct shape graph_search_shape = PARAMS(struct graph_search, search_fields);

static const struct shape_field names_fields[] = {
    SHAPE_FIELD("names", STRINGS, REQUIRED, offsetof(struct graph_names, names), .least = 1,
                .most = GRAPH_BATCH, .help = "Of entities."),
    {0},
};
const struct shape graph_names_shape = PARAMS(struct graph_names, names_fields);

static const struct shape_field entity_names_fields[] = {
    SHAPE_FIELD("entity_names", STRINGS, REQUIRED, offsetof(struct graph_names, names), .least = 1,
                .most = GRAPH_BATCH, .help = "Of entities.", .also = "entityNames"),
    {0},
};
const struct shape graph_entity_names_shape = PARAMS(struct graph_names, entity_names_fields);

static const struct shape_field deletion_fields[] = {
    TEXT(struct graph_new_observations, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom.",
         .also = "entityName"),
    SHAPE_FIELD("observations", STRINGS, REQUIRED,
                offsetof(struct graph_new_observations, contents), .least = 1,
                .most = GRAPH_OBSERVATIONS, .help = "Exactly as they are."),
    {0},
};
static const struct shape deletion_shape = {.name = "deletion",
                                            .size = sizeof(struct graph_new_observations),
                                            .fields = deletion_fields,
                                            .closed = true};
static const struct shape_field unobserve_fields[] = {
    SHAPE_FIELD("deletions", LIST, REQUIRED, offsetof(struct graph_unobserve, deletions),
                .of = &deletion_shape, .least = 1, .most = GRAPH_BATCH, .help = "By entity."),
    {0},
};
const struct shape graph_unobserve_shape = PARAMS(struct graph_unobserve, unobserve_fields);

/* --- what came of it -------------------------------------------------------------------------- */

static const struct shape_field added_to_fields[] = {
    TEXT(struct graph_added_to, "entity_name", entity, GRAPH_NAME_BYTES, "Of whom."),
    SHAPE_FIELD("added_observations", STRINGS, REQUIRED, offsetof(struct graph_added_to, added),
                .help = "That are new."),
    {0},
};
static const struct shape added_to_shape = {
    .name = "added to entity", .size = sizeof(struct graph_added_to), .fields = added_to_fields};
static const struct shape_field added_fields[] = {
    SHAPE_FIELD("results", LIST, REQUIRED, offsetof(struct graph_added, items),
                .of = &added_to_shape, .help = "In the order in which they were named."),
    {0},
};
const struct shape graph_added_shape = {
    .name = "added observations", .size = sizeof(struct graph_added), .fields = added_fields};

static const struct shape_field counts_fields[] = {
    COUNTED(struct graph_counts, "entities", entities, "How many."),
    COUNTED(struct graph_counts, "observations", observations, "How many."),
    COUNTED(struct graph_counts, "relations", relations, "How many."),
    SHAPE_FIELD("skipped", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct graph_counts, skipped),
                .help = "Relations of an import whose entities are neither in it nor in the graph."),
    {0},
};
const struct shape graph_counts_shape = {
    .name = "graph counts", .size = sizeof(struct graph_counts), .fields = counts_fields};

/* --- lines ------------------------------------------------------------------------------------ */

static const struct shape_field line_entity_fields[] = {
    TEXT(struct graph_line_entity, "name", name, GRAPH_NAME_BYTES, "Names it alone."),
    TEXT(struct graph_line_entity, "entityType", type, GRAPH_TYPE_BYTES, "What kind of thing it is."),
    SHAPE_FIELD("observations", STRINGS, REQUIRED, offsetof(struct graph_line_entity, observations),
                .most = GRAPH_OBSERVATIONS, .help = "What is known of it."),
    {0},
};
const struct shape graph_line_entity_shape = {
    .name = "entity", .size = sizeof(struct graph_line_entity), .fields = line_entity_fields};

static const struct shape_field line_relation_fields[] = {
    TEXT(struct graph_line_relation, "from", from, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "to", to, GRAPH_NAME_BYTES, "Name of an entity."),
    TEXT(struct graph_line_relation, "relationType", type, GRAPH_TYPE_BYTES,
         "What the one is to the other."),
    {0},
};
const struct shape graph_line_relation_shape = {
    .name = "relation", .size = sizeof(struct graph_line_relation), .fields = line_relation_fields};
/* clang-format on */

void graph_part_release(struct graph_part *p)
{
    shape_release(&graph_part_shape, p);
}
