/* Corpora in the sessions' database, on the caller's connection. A document is written in steps,
 * each a transaction, and counts from the last step on, so a killed program leaves no half of it
 * and others write meanwhile. A wrong argument is USAGE, a missing corpus or document
 * MEMORY_NOT_FOUND. Structs that are filled in are empty after a failure. Belongs to one thread. */
#ifndef KNOWLEDGE_CORPORA_H
#define KNOWLEDGE_CORPORA_H

#include "base/err.h"
#include "base/wakeup.h"
#include "chat/knowledge.h"
#include "config/config.h"
#include "index/embedder.h"
#include "index/graph_file.h"
#include "index/vectors.h"
#include "store/health.h"
#include "store/store.h"

struct corpora {
    struct store *store; /* borrowed */
    const struct config *config;
    const char *language; /* of a new index of words (store/language.h); a constant */
    struct vectors *vectors;
    struct encoder encoder;
    int64_t reranker_retry_ms; /* clock_mono_ms() before which it is not asked again */
    bool alone;                /* nobody makes missing vectors meanwhile: badges name the command */
};

/* `directory` is that of the store's file; NULL: the store is in memory. */
struct corpora *corpora_open(const struct config *config, struct store *s, const char *directory);
void corpora_close(struct corpora *c); /* NULL is fine */

/* Whether vectors are used: [corpus] ranking and [embedding] provider. */
bool corpora_wants_vectors(const struct corpora *c);

/* ---- reading ---- */

bool corpora_list(struct corpora *c, struct corpus_list *out, struct error *e);
bool corpora_documents(struct corpora *c, const struct corpus_documents_query *query,
                       struct corpus_documents *out, struct error *e);
bool corpora_passages(struct corpora *c, const struct corpus_passages_query *query,
                      struct corpus_passages *out, struct error *e);
bool corpora_stats(struct corpora *c, struct corpus_stats *out, struct error *e);
/* Whether an ingest was not finished. */
bool corpora_pending(struct corpora *c, bool *out, struct error *e);
/* Names of corpora that a user's message in the session mentions as "@corpus:NAME", in their order
 * of mention; the caller frees each and the list. */
bool corpora_named(struct corpora *c, const char *session_id, struct text_list *out,
                   struct error *e);

/* Passages of the newest message before an event for which the model was given any, by `number`. */
bool corpora_cited(struct corpora *c, const struct corpus_cited *query, struct corpus_passages *out,
                   struct error *e);

/* ---- ingest ---- */

/* A text that is no file. It replaces a document of that name; a missing corpus is made. */
bool corpora_ingest_text(struct corpora *c, const struct corpus_ingest *text,
                         const struct wakeup *wakeup, struct corpus_ingested *out, struct error *e);

/* The files of a corpus, in bounded steps. An ingest that was ended goes on the next time and
 * passes over unchanged files. Where paths are added meanwhile it removes no documents, and another
 * ingest follows for them. */
struct ingest;
/* For the corpus `name`, with these paths, its own and those of tiro.ini. Nothing is written yet.
 * False: a path cannot be read, or there is none. */
bool ingest_begin(struct corpora *c, const char *name, const char *const *paths, size_t count,
                  struct ingest **out, struct error *e);
/* From now on it is resumed until it ends; a missing corpus is made. The first step does so too. */
bool ingest_start(struct ingest *in, struct error *e);
/* An ingest that was not finished; *out NULL: there is none. After a failure that is not the
 * store's, here and in a step, only the next update tries it again. */
bool ingest_resume(struct corpora *c, struct ingest **out, struct error *e);
void ingest_free(struct ingest *in); /* NULL is fine */

/* Names of corpora that tiro.ini gives paths; the caller frees each and the list. */
void corpora_configured(const struct config *config, struct text_list *out);

/* Ends early when the wakeup says stop. *more: that was not all. */
bool ingest_step(struct ingest *in, const struct wakeup *wakeup, bool *more, struct error *e);
/* Whether a document is written in part: another process would begin it anew. */
bool ingest_is_writing(const struct ingest *in);
/* The caller releases *out (corpus_progress_shape). */
void ingest_progress(const struct ingest *in, struct corpus_progress *out);

/* Before it is started: whether a person must agree that so many new files or bytes go to an
 * embedding endpoint over a network. Looks at all files, reads none. */
enum { INGEST_ASK_FILES = 1000, INGEST_ASK_BYTES = 100 * 1024 * 1024 };
bool ingest_asks(struct ingest *in, const struct wakeup *wakeup, bool *out, struct error *e);

/* ---- removing ---- */

/* Searches find nothing of it any more; corpora_purge() deletes the rows. */
bool corpora_remove(struct corpora *c, const struct corpus_remove *what, struct corpus_removed *out,
                    struct error *e);
/* Deletes some rows of removed or changed documents and of killed ingests; *more: there are more.
 */
bool corpora_purge(struct corpora *c, bool *more, struct error *e);
/* A step that keeps the index quick. */
bool corpora_tidy(struct corpora *c, bool *more, struct error *e);
bool corpora_reindex(struct corpora *c, struct error *e);

/* ---- search ---- */

bool corpora_search(struct corpora *c, const struct corpus_search *what,
                    const struct wakeup *wakeup, struct corpus_found *out, struct error *e);

/* Makes some missing vectors; *left: of them. IDLE: there is nothing to do; WAITS: the endpoint is
 * down for the reason in `why`, try again after *retry_ms. */
enum corpora_work { CORPORA_IDLE, CORPORA_WORKED, CORPORA_WAITS };
enum corpora_work corpora_embed(struct corpora *c, const struct wakeup *wakeup, int64_t *left,
                                int *retry_ms, struct error *why);

/* The corpora's files beside the database: the models that may have some, and the kind of a file by
 * its name. */
bool corpora_files_read(struct store *s, struct text_list *models, struct error *e);
enum graph_file_kind corpora_file_kind(const struct text_list *models, const char *name);

/* For session/health.h: a check and a recovery of its tables. */
extern const struct store_extension corpora_extension;

#endif
