/* What the parts of the corpora share: corpora.c (corpora, rows and words), corpora_read.c,
 * corpora_cited.c, corpora_write.c (documents in steps), corpora_ingest.c, corpora_given.c,
 * corpora_remove.c, corpora_search.c, corpora_embed.c, corpora_health.c. */
#ifndef KNOWLEDGE_CORPORA_PRIVATE_H
#define KNOWLEDGE_CORPORA_PRIVATE_H

#include "base/vec.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "index/words.h"
#include "knowledge/chunk.h"
#include "knowledge/corpora.h"
#include "provider/http.h"
#include "store/sql.h"

#define CORPORA_TABLES "corpus"

/* Documents that were made by other rules are read again. */
#define DOCUMENT_RULES "1"

/* ---- corpora.c ---- */

/* Chunks as the index of words and vectors sees them. */
struct corpus corpora_index(struct store *s);

/* The text whose words are indexed for a chunk: the file's name, headings, content. */
char *corpora_words(const char *file, const char *heading, const char *content);

/* The number of the corpus of that name, -1: there is none. */
bool corpora_number(struct store *s, const char *name, int64_t *number, struct error *e);
/* … or MEMORY_NOT_FOUND. */
bool corpora_need(struct store *s, const char *name, int64_t *number, struct error *e);
/* USAGE, and false. */
bool corpora_refuse_name(const char *name, struct error *e);
/* … which is made where there is none; USAGE where it cannot be a name. */
bool corpora_make(struct store *s, const char *name, int64_t *number, struct error *e);

/* A text column; NULL for "", too. The caller frees. */
char *corpora_column(const struct query *q, int i);

/* ---- corpora_write.c ---- */

/* What a row of corpus_document has. */
struct document_row {
    int64_t number, corpus;
    const char *file;
    bool given;
    int64_t size, modified_ns, changed_ns, digest;
    const char *loader;
};

/* A document that is being put in; its row has the state `loading`. */
struct writing {
    struct corpora *corpora;
    struct document_row row;
    struct chunks chunks;
    size_t next; /* chunk */
    int64_t bytes;
};
bool writing_begin(struct corpora *c, const struct document_row *row, struct writing *out,
                   struct error *e);
/* Some of its chunks, in a transaction; the last one makes it ready in the place of what was there
 * of that file. */
bool writing_step(struct writing *w, bool *more, struct error *e);
void writing_release(struct writing *w);

/* A file that cannot be read, in the place of what was there of it. */
bool write_failure(struct corpora *c, const struct document_row *row, const char *why,
                   struct error *e);
/* What is there of the file is gone. */
bool write_gone(struct store *s, int64_t corpus, const char *file, struct error *e);

/* A server that orders texts by how well they answer a question: POST {"query", "documents",
 * "top_n", "model"?} to [corpus] reranker_url, answered by {"results": [{"index",
 * "relevance_score"}]}, an array of such objects by itself, or with "data" or "score" in place of
 * these names (Cohere, Jina, Voyage, llama.cpp, text-embeddings-inference). */

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
