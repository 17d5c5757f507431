/* The graph of facts in the sessions' database, on the caller's connection. Each call is a
 * transaction, or a part of one that is open; a call that fails has changed nothing. So two
 * processes do not lose each other's writes, and names stay unique.
 *
 * Names and texts are kept trimmed, with secrets masked (memory/content.h). A faulty text and one
 * beyond a bound (chat/knowledge.h) are USAGE, a missing entity or fact is MEMORY_NOT_FOUND; both
 * name the member. Structs that are filled in are empty after a failure. */
#ifndef KNOWLEDGE_GRAPH_H
#define KNOWLEDGE_GRAPH_H

#include "base/err.h"
#include "chat/knowledge.h"
#include "store/health.h"
#include "store/store.h"

struct graph {
    struct store *store;  /* borrowed */
    const char *language; /* of a new index of words (store/language.h); a constant */
};

/* The source of a fact. The session's id is borrowed; NULL: a person. */
struct graph_by {
    const char *session_id;
    int64_t seq; /* 0: not known */
};

/* ---- making ---- */

/* Existing entities are left as they are: `created` has only new ones, as they are kept. */
bool graph_create(const struct graph *g, const struct graph_create *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e);
bool graph_observe(const struct graph *g, const struct graph_observe *p, const struct graph_by *by,
                   struct graph_added *out, struct error *e);
/* Existing relations are left; `created` has the new ones. */
bool graph_relate(const struct graph *g, const struct graph_relate *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e);

/* ---- deleting ---- */

/* Delete all named facts or none; a fact that is named twice counts once. `gone` (may be NULL) gets
 * the deleted facts, an entity with its observations and relations, for graph_restore(). Their
 * words are in the index until graph_purge(). */
bool graph_delete_entities(const struct graph *g, const struct graph_names *p,
                           struct graph_part *gone, struct error *e);
bool graph_delete_observations(const struct graph *g, const struct graph_unobserve *p,
                               struct graph_part *gone, struct error *e);
bool graph_delete_relations(const struct graph *g, const struct graph_relate *p,
                            struct graph_part *gone, struct error *e);
struct graph_counts graph_part_counts(const struct graph_part *gone);

/* Facts that exist again are passed over. MEMORY_NOT_FOUND: a relation leads to a missing entity.
 */
bool graph_restore(const struct graph *g, const struct graph_part *gone, struct error *e);

/* ---- reading ---- */

/* By name, from behind `after` on (NULL: from the beginning); observations are only counted. */
bool graph_list(const struct graph *g, const char *after, int limit, struct graph_part *out,
                struct error *e);

/* These entities, whole, and their relations; those beyond GRAPH_PART_RELATIONS are counted. */
bool graph_open(const struct graph *g, const struct graph_names *p, struct graph_part *out,
                struct error *e);

/* At most `limit` entities: those with words of the query, best first, then those with the query
 * as it is written, case aside, in name, type or an observation. With their relations. A blank
 * query finds nothing. */
bool graph_search(const struct graph *g, const struct graph_search *search, struct graph_part *out,
                  struct error *e);

bool graph_stats(const struct graph *g, struct graph_stats *out, struct error *e);

/* ---- lines ----
 * In the form of the MCP project's server-memory (src/memory of modelcontextprotocol/servers):
 * {"type":"entity","name","entityType","observations"} and
 * {"type":"relation","from","to","relationType"}. */

/* A line is checked and kept in memory; its errors do not name it. Relations may stand before the
 * entities that they name. */
struct graph_import;
struct graph_import *graph_import_begin(const struct graph *g);
bool graph_import_line(struct graph_import *in, int64_t line, const char *text, size_t len,
                       struct error *e);
/* Writes in several transactions, so that others write in between. `go_on` (may be NULL) is called
 * before each; false is INTERRUPTED. Facts of earlier transactions stay (graph_import_counts());
 * the same text adds the rest. *line: of the fault; 0: of no line. */
bool graph_import_end(struct graph_import *in,
                      bool (*go_on)(void *context, int64_t done, int64_t of), void *context,
                      int64_t *line, struct error *e);
struct graph_counts graph_import_counts(const struct graph_import *in); /* what was new */
void graph_import_free(struct graph_import *in);

/* Writes the whole graph, a line for each fact, entities first. `write` gets lines with their
 * newline. */
bool graph_export(const struct graph *g,
                  bool (*write)(void *context, const char *line, size_t len, struct error *e),
                  void *context, struct graph_counts *out, struct error *e);

/* ---- upkeep ---- */

/* Steps that clean up after deletions and keep the index quick; *more: there are more. */
bool graph_purge(const struct graph *g, bool *more, struct error *e);
bool graph_tidy(const struct graph *g, bool *more, struct error *e);
/* Makes the index of words anew. */
bool graph_reindex(const struct graph *g, struct error *e);

/* For session/health.h: a check and a recovery of its tables. */
extern const struct store_extension graph_extension;

#endif
