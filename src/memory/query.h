/* What is searched for in semantic memory, and how. */
#ifndef MEMORY_QUERY_H
#define MEMORY_QUERY_H

#include <stdbool.h>

#include "config/config.h"
#include "index/rank.h"

/* [memory] scope. PROJECT: sessions that were begun in `directory`. SESSION: this session and those
 * that it was forked from. */
enum memory_scope_kind { MEMORY_SCOPE_ALL, MEMORY_SCOPE_PROJECT, MEMORY_SCOPE_SESSION };
struct memory_scope {
    enum memory_scope_kind kind;
    const char *directory;  /* PROJECT; borrowed */
    const char *session_id; /* SESSION; borrowed */
};
/* "all", "project", "session" or "session=ID" (which borrows from `text`). False: it is none. */
bool memory_scope_parse(const char *text, struct memory_scope *out);

/* WORDS needs no vector, VECTORS uses it alone, BOTH a weighted sum of calibrated scores. */
enum memory_ranking { MEMORY_WORDS, MEMORY_VECTORS, MEMORY_BOTH };

struct vector_query; /* index/vectors.h */

struct memory_query {
    const char *text;
    int limit;        /* at least 1 */
    double min_score; /* hits below it are left out */
    bool typing;      /* the last word may go on */
    struct memory_scope scope;
    enum memory_ranking ranking;
    struct rank_settings rank;
    const struct vector_query *vector; /* NULL with WORDS */
};

/* limit 5, everything, words alone, what [memory] k1 and b say. */
struct memory_query memory_query_for(const struct config *config, const char *text);

#endif
