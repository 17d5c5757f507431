/* Corpora in the sessions' database, on the caller's connection. A document is whole or not there:
 * its chunks come in steps, each a transaction, and count from the last one on; so whoever is
 * killed leaves nothing half, and others write in between. What is wrong is USAGE, what is not
 * there MEMORY_NOT_FOUND. Structs that are filled in are empty where this fails. Belongs to one
 * thread. */
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
    const char *language; /* of the words where there are none yet (store/language.h); a constant */
    struct vectors *vectors;
    struct encoder encoder;
    int64_t reranker_retry_ms; /* clock_mono_ms() before which a dead one is not asked again */
    bool alone;                /* nobody makes missing vectors meanwhile: badges say what does */
};

/* `directory` is that of the store's file; NULL: it is in memory. Costs nothing until it is used.
 */
struct corpora *corpora_open(const struct config *config, struct store *s, const char *directory);
void corpora_close(struct corpora *c); /* NULL is fine */

/* Whether vectors are used: [corpus] ranking and [embedding] provider. */
bool corpora_wants_vectors(const struct corpora *c);

/* ---- what there is (corpora_read.c) ---- */

bool corpora_list(struct corpora *c, struct corpus_list *out, struct error *e);
/* MEMORY_NOT_FOUND: there is none of that name. */
bool corpora_info(struct corpora *c, const char *name, struct corpus_info *out, struct error *e);
bool corpora_documents(struct corpora *c, const struct corpus_documents_query *query,
                       struct corpus_documents *out, struct error *e);
bool corpora_passages(struct corpora *c, const struct corpus_passages_query *query,
                      struct corpus_passages *out, struct error *e);
bool corpora_stats(struct corpora *c, struct corpus_stats *out, struct error *e);
/* Whether an ingest was left undone. */
bool corpora_pending(struct corpora *c, bool *out, struct error *e);
/* Names of corpora that a user's message in the session mentions as "@corpus:NAME", in their order
 * of mention; the caller frees each and the list. */
bool corpora_named(struct corpora *c, const char *session_id, struct text_list *out,
                   struct error *e);

/* Passages that the model was given in a session for the newest message for which it was given any
 * before that event, by `number` (corpora_cited.c). */
bool corpora_cited(struct corpora *c, const struct corpus_cited *query, struct corpus_passages *out,
                   struct error *e);

/* ---- ingest (corpora_ingest.c) ---- */

/* A text that is no file. A document of that name in the corpus is replaced; the corpus is made
 * where there is none. */
bool corpora_ingest_text(struct corpora *c, const struct corpus_ingest *text,
                         const struct wakeup *wakeup, struct corpus_ingested *out, struct error *e);

/* The files of a corpus, in bounded steps; one that was ended anywhere goes on the next time,
 * passing over what is unchanged. Where paths are added meanwhile it takes nothing out, and the one
 * that was asked for them is still to come. */
struct ingest;
/* Of the corpus `name`, with these paths and those that it has or tiro.ini gives it. Nothing is
 * written yet. False where a path cannot be read or there is none. */
bool ingest_begin(struct corpora *c, const char *name, const char *const *paths, size_t count,
                  struct ingest **out, struct error *e);
/* From now on it is one that is resumed until it ends; the corpus is made where there is none. The
 * first step does so. */
bool ingest_start(struct ingest *in, struct error *e);
/* Of one that was left undone; *out NULL: there is none. One that fails for another reason than the
 * store is given up, here and in a step: the next update tries it again. */
bool ingest_resume(struct corpora *c, struct ingest **out, struct error *e);
void ingest_free(struct ingest *in); /* NULL is fine */

/* Names of corpora that tiro.ini gives paths; the caller frees each and the list. */
void corpora_configured(const struct config *config, struct text_list *out);

/* Ends early when the wakeup says stop. *more: that was not all. */
bool ingest_step(struct ingest *in, const struct wakeup *wakeup, bool *more, struct error *e);
/* Whether a document is written in part, so that another process would do it, too. */
bool ingest_is_amid(const struct ingest *in);
/* Where it is; copies `name` and all. */
void ingest_progress(const struct ingest *in, struct corpus_progress *out);

/* Before it is started: whether so much is new that a person is asked before it goes to an
 * embedding endpoint over a network: more than INGEST_ASK_FILES or INGEST_ASK_BYTES. Looks at all
 * files, reads none. */
enum { INGEST_ASK_FILES = 1000, INGEST_ASK_BYTES = 100 * 1024 * 1024 };
bool ingest_asks(struct ingest *in, const struct wakeup *wakeup, bool *out, struct error *e);

/* ---- taking out (corpora_remove.c) ---- */

/* At once not found any more; the rows go by corpora_purge(). */
bool corpora_remove(struct corpora *c, const struct corpus_remove *what, struct corpus_removed *out,
                    struct error *e);
/* A step of what removals, changes and killed ingests left to do; *more: that was not all. */
bool corpora_purge(struct corpora *c, bool *more, struct error *e);
/* A step of what keeps the index quick. */
bool corpora_tidy(struct corpora *c, bool *more, struct error *e);
bool corpora_reindex(struct corpora *c, struct error *e);

/* ---- search (corpora_search.c) ---- */

bool corpora_search(struct corpora *c, const struct corpus_search *what,
                    const struct wakeup *wakeup, struct corpus_found *out, struct error *e);

/* Some of the vectors that lack (corpora_embed.c). IDLE: there is nothing to do; WAITS: the
 * endpoint is down, `why` says how, try again after *retry_ms. */
enum corpora_work { CORPORA_IDLE, CORPORA_WORKED, CORPORA_WAITS };
enum corpora_work corpora_embed(struct corpora *c, const struct wakeup *wakeup, int64_t *left,
                                int *retry_ms, struct error *why);

/* The files beside the database that are the corpora's: of which models there may be some, and what
 * one of this name is. */
bool corpora_files_read(struct store *s, struct text_list *models, struct error *e);
enum graph_file_kind corpora_file_kind(const struct text_list *models, const char *name);

/* What a check and a recovery of the sessions' database have to know of its tables. */
extern const struct store_extension corpora_extension;

#endif
