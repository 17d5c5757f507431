/* The graph of facts in the sessions' database, on the caller's connection. Each call is a
 * transaction of its own unless one is open, and then a part of that; whatever fails has changed
 * nothing. So two processes never lose each other's writes, and names stay unique.
 *
 * Names and texts are kept trimmed, with secrets masked (memory/secrets.h). What is wrong with a
 * text or beyond a bound (chat/graph.h) is USAGE, an entity or a fact that is not there
 * MEMORY_NOT_FOUND; both name the member. Structs that are filled in are empty where this fails. */
#ifndef KNOWLEDGE_GRAPH_H
#define KNOWLEDGE_GRAPH_H

#include "base/err.h"
#include "chat/knowledge.h"
#include "store/health.h"
#include "store/store.h"

struct graph {
    struct store *store;  /* borrowed */
    const char *language; /* of the words where there are none yet (store/language.h); a constant */
};

/* Who says so; the session's id is borrowed, NULL: a person by himself. */
struct graph_by {
    const char *session_id;
    int64_t seq; /* 0: not known */
};

/* ---- making (graph_write.c) ---- */

/* An entity that is there is left as it is: `created` has the new ones alone, as they are kept. */
bool graph_create(const struct graph *g, const struct graph_create *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e);
bool graph_observe(const struct graph *g, const struct graph_observe *p, const struct graph_by *by,
                   struct graph_added *out, struct error *e);
/* One that is there is left; `created` has the new ones. */
bool graph_relate(const struct graph *g, const struct graph_relate *p, const struct graph_by *by,
                  struct graph_part *created, struct error *e);

/* ---- deleting (graph_delete.c) ---- */

/* All that are named or none; one that is named twice counts once. `gone` (may be NULL) takes what
 * is deleted, an entity with its observations and relations, for graph_restore(). Words of it are
 * in the index until graph_purge(). */
bool graph_delete_entities(const struct graph *g, const struct graph_names *p,
                           struct graph_part *gone, struct error *e);
bool graph_delete_observations(const struct graph *g, const struct graph_unobserve *p,
                               struct graph_part *gone, struct error *e);
bool graph_delete_relations(const struct graph *g, const struct graph_relate *p,
                            struct graph_part *gone, struct error *e);
struct graph_counts graph_part_counts(const struct graph_part *gone);

/* What is there again meanwhile is passed over; MEMORY_NOT_FOUND where a relation leads to an
 * entity that is gone. */
bool graph_restore(const struct graph *g, const struct graph_part *gone, struct error *e);

/* ---- reading (graph_read.c, graph_search.c) ---- */

/* By name, from behind `after` on (NULL: from the beginning); observations are counted, not read.
 */
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

/* ---- lines (graph_import.c, graph_export.c) ----
 * In the form of the MCP project's server-memory (src/memory of modelcontextprotocol/servers):
 * {"type":"entity","name","entityType","observations"} and
 * {"type":"relation","from","to","relationType"}. */

/* A line is checked and kept in memory; its errors do not name it. Relations may stand before the
 * entities that they name. */
struct graph_import;
struct graph_import *graph_import_begin(const struct graph *g);
bool graph_import_line(struct graph_import *in, int64_t line, const char *text, size_t len,
                       struct error *e);
/* Looks whether relations lead somewhere, and writes: in several transactions, so that others write
 * in between. Before each `go_on` (may be NULL) is asked; false is INTERRUPTED. What an earlier
 * one wrote stays (graph_import_counts()); the same text adds the rest. *line: of the fault, 0: it
 * is none of a line. */
bool graph_import_end(struct graph_import *in,
                      bool (*go_on)(void *context, int64_t done, int64_t of), void *context,
                      int64_t *line, struct error *e);
struct graph_counts graph_import_counts(const struct graph_import *in); /* what was new */
void graph_import_free(struct graph_import *in);

/* All of it, a line each, entities first; `write` gets a text with its newline. */
bool graph_export(const struct graph *g,
                  bool (*write)(void *context, const char *line, size_t len, struct error *e),
                  void *context, struct graph_counts *out, struct error *e);

/* ---- upkeep ---- */

/* A step of what deletions left to do, and of what keeps the index quick; *more: that was not all.
 */
bool graph_purge(const struct graph *g, bool *more, struct error *e);
bool graph_tidy(const struct graph *g, bool *more, struct error *e);
/* Makes the index of words anew. */
bool graph_reindex(const struct graph *g, struct error *e);

/* What a check and a recovery of the sessions' database have to know of its tables. */
extern const struct store_extension graph_extension;

#endif
