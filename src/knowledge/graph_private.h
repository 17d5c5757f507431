/* Shared by graph.c (rows, words, reading, health), graph_write.c (changes) and graph_lines.c. */
#ifndef KNOWLEDGE_GRAPH_PRIVATE_H
#define KNOWLEDGE_GRAPH_PRIVATE_H

#include "index/words.h"
#include "knowledge/graph.h"
#include "store/sql.h"

/* ---- graph.c ---- */

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

/* A name, type or text as it is kept: trimmed, composed, with secrets masked. NULL with USAGE that
 * names the member at `path`: it is empty, longer than `most`, or (a name, a type) not one line.
 * The caller frees. */
char *graph_clean_line(const char *text, size_t most, const char *path, struct error *e);
char *graph_clean_text(const char *text, const char *path, struct error *e);

/* Take the entity's words out of the index before it or its observations change, and put them back
 * afterwards. */
bool graph_unindex(struct store *s, int64_t key, struct error *e);
bool graph_index(const struct graph *g, int64_t key, struct error *e);

/* The columns of a fact's source, and their values from column `at` on. */
#define GRAPH_SOURCE(table)                                                                        \
    table ".session, " table ".seq, " table ".created_ms, " table                                  \
          ".session IS NOT NULL AND " table ".session NOT IN (SELECT id FROM session)"
struct graph_source graph_source_read(const struct query *q, int at);

/* The entity; its observations are read if it is wanted `whole`, else only counted. */
bool graph_read_entity(struct store *s, int64_t key, bool whole, struct graph_entity *out,
                       struct error *e);

struct graph_keys {
    VEC(int64_t) items;
};
bool graph_keys_have(const struct graph_keys *keys, int64_t key);

/* Adds these entities whole, with their relations, each once. Relations beyond `most_relations` are
 * only counted. */
bool graph_read_part(struct store *s, const struct graph_keys *keys, size_t most_relations,
                     struct graph_part *out, struct error *e);

/* ---- graph_write.c: within a transaction; texts are clean ---- */

/* The type of an entity that only a relation names. */
#define GRAPH_TYPE_UNKNOWN "unknown"

/* *key: of the entity, which is made where there is none. */
bool graph_put_entity(const struct graph *g, const char *name, const char *type,
                      const struct graph_source *source, int64_t *key, bool *is_new,
                      struct error *e);

/* The observations of an entity, which are bounded (chat/graph.h). */
struct graph_load {
    int64_t observations, bytes;
};
bool graph_load_of(struct store *s, int64_t key, struct graph_load *out, struct error *e);
/* Counts one more; USAGE that names the member at `path`: that is too much. */
bool graph_load_add(struct graph_load *load, const char *text, const char *path, struct error *e);

/* The entity is not indexed at this moment. */
bool graph_put_observation(const struct graph *g, int64_t key, const char *text,
                           const struct graph_source *source, struct graph_load *load,
                           const char *path, bool *is_new, struct error *e);
bool graph_put_relation(const struct graph *g, int64_t from, int64_t to, const char *type,
                        const struct graph_source *source, bool *is_new, struct error *e);

#endif
