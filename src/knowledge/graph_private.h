/* What the parts of the graph share: graph_row.c (rows and words), graph_write.c, graph_delete.c,
 * graph_read.c, graph_search.c, graph_import.c, graph_export.c, graph_health.c. */
#ifndef KNOWLEDGE_GRAPH_PRIVATE_H
#define KNOWLEDGE_GRAPH_PRIVATE_H

#include "index/words.h"
#include "knowledge/graph.h"
#include "store/sql.h"

/* ---- graph_row.c ---- */

/* Entities as the index of words sees them. */
struct corpus graph_corpus(struct store *s);

/* The key of the entity of that name, -1: there is none. */
bool graph_key(struct store *s, const char *name, int64_t *key, struct error *e);
/* The same; MEMORY_NOT_FOUND that names the member at `path`. */
bool graph_need(struct store *s, const char *name, const char *path, int64_t *key, struct error *e);

/* Where a member stands: "entities[1].name", "entities[1].observations[2]"; NULL: the element. */
enum { GRAPH_PATH_BYTES = 80 };
struct graph_path {
    char text[GRAPH_PATH_BYTES];
};
struct graph_path graph_path_of(const char *list, size_t at, const char *member);
struct graph_path graph_path_in(const char *list, size_t at, const char *member, size_t within);

/* Trimmed, composed and without secrets; NULL: nothing is left. The caller frees. */
char *graph_plain(const char *text);

/* A name, type or text as it is kept; NULL with USAGE that names the member at `path`: it is empty,
 * longer than `most`, or (a name, a type) not one line. The caller frees. */
char *graph_clean_line(const char *text, size_t most, const char *path, struct error *e);
char *graph_clean_text(const char *text, const char *path, struct error *e);

/* A row's: its words, before and after a change of the entity or its observations. */
bool graph_unindex(struct store *s, int64_t key, struct error *e);
bool graph_index(const struct graph *g, int64_t key, struct error *e);

/* Columns of where a fact comes from, which a row has from column `at` on. */
#define GRAPH_SOURCE(table)                                                                        \
    table ".session, " table ".seq, " table ".created_ms, " table                                  \
          ".session IS NOT NULL AND " table ".session NOT IN (SELECT id FROM session)"
struct graph_source graph_source_read(const struct query *q, int at);
struct graph_source graph_source_copy(const struct graph_source *s);

/* Its row, without observations (they are counted), or with all of them. */
bool graph_read_entity(struct store *s, int64_t key, bool whole, struct graph_entity *out,
                       struct error *e);

struct graph_keys {
    VEC(int64_t) items;
};
bool graph_keys_have(const struct graph_keys *keys, int64_t key);

/* Adds these entities, and how many there are; graph_read_part(): whole, with their relations, each
 * once, by name. Relations beyond so many are counted. */
bool graph_read_entities(struct store *s, const struct graph_keys *keys, bool whole,
                         struct graph_part *out, struct error *e);
bool graph_read_part(struct store *s, const struct graph_keys *keys, size_t most_relations,
                     struct graph_part *out, struct error *e);

/* ---- graph_write.c: within a transaction; texts are clean ---- */

/* *key: of the entity, which is made where there is none. */
bool graph_put_entity(const struct graph *g, const char *name, const char *type,
                      const struct graph_source *source, int64_t *key, bool *is_new,
                      struct error *e);

/* What an entity has, which is bounded (chat/graph.h). */
struct graph_load {
    int64_t observations, bytes;
};
bool graph_load_of(struct store *s, int64_t key, struct graph_load *out, struct error *e);
/* One more; USAGE that names the member at `path`: that is too much. */
bool graph_load_add(struct graph_load *load, const char *text, const char *path, struct error *e);

/* The entity is not indexed at this moment. */
bool graph_put_observation(const struct graph *g, int64_t key, const char *text,
                           const struct graph_source *source, struct graph_load *load,
                           const char *path, bool *is_new, struct error *e);
bool graph_put_relation(const struct graph *g, int64_t from, int64_t to, const char *type,
                        const struct graph_source *source, bool *is_new, struct error *e);

/* *number: of the observation with that text, -1: there is none. */
bool graph_find_observation(struct store *s, int64_t key, const char *text, int64_t *number,
                            struct error *e);

/* A relation that is named, its ends found; the caller frees `type`. */
struct graph_ends {
    int64_t from, to;
    char *type;
};
bool graph_find_ends(const struct graph *g, const struct graph_new_relation *n, size_t at,
                     struct graph_ends *out, struct error *e);
/* Adds it to a part, with the names as they are kept. */
bool graph_add_relation(const struct graph *g, const struct graph_ends *ends,
                        const struct graph_source *source, struct graph_part *out, struct error *e);

#endif
