/* Sessions that ended and out of whose messages a model is to propose items: which wait, what is
 * read of them, what becomes of proposals. Each call is a transaction of its own. */
#ifndef KNOWLEDGE_LEARNED_EXTRACT_H
#define KNOWLEDGE_LEARNED_EXTRACT_H

#include "knowledge/extraction.h"
#include "knowledge/graph.h"
#include "store/store.h"

enum { EXTRACTION_TRIES = 3 /* that fail before a session is given up */ };

/* The session ended. */
bool learned_extract_want(struct store *s, const char *session_id, struct error *e);

struct waiting_session {
    char *id; /* NULL: none waits */
    int64_t seq;
};
bool learned_extract_next(struct store *s, struct waiting_session *out, struct error *e);

/* What was typed behind event `seq`, and *last of the log. None where the whole session has fewer
 * than EXTRACTION_TURNS turns, or may not write memory. */
bool learned_extract_read(struct store *s, const struct waiting_session *w,
                          struct typed_messages *out, int64_t *last, struct error *e);

/* Keeps proposals as candidates (with the session's project), but for what the session showed
 * (own_words.h), and entities only where there is a graph (NULL: none); the session has been looked
 * at up to `last`. *kept: how many are new. */
bool learned_extract_keep(struct store *s, const struct waiting_session *w, int64_t last,
                          const struct proposals *p, const struct graph *graph, int *kept,
                          struct error *e);

/* A try failed; the session does not wait any more after EXTRACTION_TRIES. */
bool learned_extract_failed(struct store *s, const struct waiting_session *w, struct error *e);

/* The entity of a candidate into the graph, and the candidate goes. USAGE where its text is none.
 */
bool learned_keep_entity(const struct graph *graph, const struct learned_item *item,
                         struct error *e);

#endif
