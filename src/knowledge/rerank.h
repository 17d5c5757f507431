/* A server that orders texts by how well they answer a question: POST {"query", "documents",
 * "top_n", "model"?} to [corpus] reranker_url, answered by {"results": [{"index",
 * "relevance_score"}]}, an array of such objects by itself, or with "data" or "score" in place of
 * these names (Cohere, Jina, Voyage, llama.cpp, text-embeddings-inference). */
#ifndef KNOWLEDGE_RERANK_H
#define KNOWLEDGE_RERANK_H

#include "base/vec.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "provider/http.h"

struct reranked {
    VEC(struct reranked_text {
        size_t index;
        double score; /* as the server has it */
    })
    items; /* best first, each text once */
};

bool rerank_is_configured(const struct config *config);

/* One try; waits RERANK_MS at most. False with the failure: `out` is empty. */
enum { RERANK_MS = 5000 };
bool rerank(const struct config *config, struct http *http, const struct wakeup *wakeup,
            const char *query, const char *const *texts, size_t count, int top_n,
            struct reranked *out, struct failure *f);

#endif
