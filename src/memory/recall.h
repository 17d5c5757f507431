/* A whole search as [memory] and [embedding] configure it: for the model's tool, the pane and the
 * command line. What cannot be had of vectors is searched for by words, and the hits say so.
 * Belongs to one thread. */
#ifndef MEMORY_RECALL_H
#define MEMORY_RECALL_H

#include "base/wakeup.h"
#include "config/config.h"
#include "index/embedder.h"
#include "memory/memory.h"
#include "store/store.h"

enum { RECALL_DEFAULT = 5, RECALL_MOST = 20 };

struct recall {
    const struct config *config;
    struct memory *memory;
    bool alone; /* nobody makes missing vectors meanwhile, nor may a search write: set by the owner;
                   badges say what does */
    struct encoder encoder;
};

/* On the caller's connection. `directory` is that of the store's file; NULL: it is in memory. Costs
 * nothing until it is used. */
void recall_init(struct recall *r, const struct config *config, struct store *s,
                 const char *directory);
void recall_release(struct recall *r);

/* Fills in ranking and vector of the query and searches; min_score is [memory]'s. Waits for an
 * endpoint 5 s at most, then words alone. */
bool recall_search(struct recall *r, struct memory_query *query, const struct wakeup *wakeup,
                   struct memory_hits *out, struct error *e);

/* What [memory] ranking and [embedding] provider say: auto is BOTH where an endpoint is configured,
 * else WORDS. A pure function. */
enum memory_ranking recall_ranking(const char *ranking, const char *provider);

/* The scope that [memory] scope says, for this session and directory (borrowed). */
struct memory_scope recall_scope(const struct recall *r, const char *session_id,
                                 const char *directory);

/* Everything of `stats`, with vectors. `wakeup` (may be NULL) ends the wait for the command that
 * gives the endpoint's key. */
bool recall_stats(struct recall *r, const struct wakeup *wakeup, struct memory_stats *out,
                  struct error *e);

/* Before that work is asked for without a search: whether the endpoint's model still has the
 * dimension that its vectors have. If not, all entries lack theirs from now on. An endpoint that
 * does not answer changes nothing. */
bool recall_know_model(struct recall *r, const struct wakeup *wakeup, struct error *e);

/* Something of the work that waits: vectors for entries that have none, the graph. RECALL_IDLE:
 * there is nothing to do; RECALL_WAITS: the endpoint is down, `why` says how, try again after
 * *retry_ms. */
enum recall_work { RECALL_IDLE, RECALL_WORKED, RECALL_WAITS };
enum recall_work recall_work(struct recall *r, const struct wakeup *wakeup, int64_t *left,
                             int *retry_ms, struct error *why);

#endif
