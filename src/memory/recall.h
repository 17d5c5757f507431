/* Searching as [memory] and [embedding] configure it, for the model's tool, the pane and the
 * command line. Without vectors it searches by words, and the badge of the hits tells why. Belongs
 * to one thread. */
#ifndef MEMORY_RECALL_H
#define MEMORY_RECALL_H

#include "base/wakeup.h"
#include "config/config.h"
#include "index/embedder.h"
#include "memory/memory.h"
#include "store/store.h"

/* RECALL_FILL: hits of a search whose result has as many hits as fit a number of tokens. */
enum { RECALL_DEFAULT = 5, RECALL_MOST = 20, RECALL_FILL = 60 };

struct recall {
    const struct config *config;
    struct memory *memory;
    bool alone; /* nobody computes missing vectors meanwhile, and a search may not write; set by
                   the owner */
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

/* The ranking by [memory] ranking and [embedding] provider: auto is BOTH with a configured
 * endpoint, else WORDS. A pure function. */
enum memory_ranking recall_ranking(const char *ranking, const char *provider);

/* The scope that [memory] scope says, for this session and directory (borrowed). */
struct memory_scope recall_scope(const struct recall *r, const char *session_id,
                                 const char *directory);

/* stats() with the counts of vectors. `wakeup` (may be NULL) ends the wait for the command that
 * gives the key of the endpoint. */
bool recall_stats(struct recall *r, const struct wakeup *wakeup, struct memory_stats *out,
                  struct error *e);

/* Called before recall_work() without a search: if the model of the endpoint has another dimension
 * than its stored vectors, all entries lack theirs from now on. An endpoint that does not answer
 * changes nothing. */
bool recall_know_model(struct recall *r, const struct wakeup *wakeup, struct error *e);

/* A step of background work: vectors for entries without one, the graph. RECALL_IDLE: nothing to
 * do; RECALL_WAITS: the endpoint is down (`why`), try again after *retry_ms. */
enum recall_work { RECALL_IDLE, RECALL_WORKED, RECALL_WAITS };
enum recall_work recall_work(struct recall *r, const struct wakeup *wakeup, int64_t *left,
                             int *retry_ms, struct error *why);

#endif
