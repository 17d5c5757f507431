/* Shared by corpora.c (corpora, reading, health), corpora_write.c (documents in, documents out),
 * corpora_ingest.c (files) and corpora_search.c. */
#ifndef KNOWLEDGE_CORPORA_PRIVATE_H
#define KNOWLEDGE_CORPORA_PRIVATE_H

#include "index/words.h"
#include "knowledge/chunk.h"
#include "knowledge/corpora.h"
#include "store/sql.h"

#define CORPORA_TABLES "corpus"

/* ---- corpora.c ---- */

/* Chunks as the index of words and vectors sees them. */
struct corpus corpora_index(struct store *s);

/* The text whose words are indexed for a chunk: the file's name, headings, content. */
char *corpora_words(const char *file, const char *heading, const char *content);

/* The number of the corpus of that name, -1: there is none. */
bool corpora_number(struct store *s, const char *name, int64_t *number, struct error *e);
/* The same; MEMORY_NOT_FOUND: there is none. */
bool corpora_need(struct store *s, const char *name, int64_t *number, struct error *e);
/* The same; it is made where there is none. USAGE: it cannot be a name. */
bool corpora_make(struct store *s, const char *name, int64_t *number, struct error *e);
/* Sets USAGE and returns false. */
bool corpora_refuse_name(const char *name, struct error *e);

/* A text column; NULL for "", too. The caller frees. */
char *corpora_column(const struct query *q, int i);

/* ---- corpora_write.c ---- */

/* Columns of a row of corpus_document. */
struct document_row {
    int64_t number, corpus;
    const char *file;
    bool given;
    int64_t size, modified_ns, changed_ns, digest;
    const char *loader;
};

/* A document that is being written; its row has the state `loading`. */
struct writing {
    struct corpora *corpora;
    struct document_row row;
    struct chunks chunks;
    size_t next; /* chunk */
    int64_t bytes;
};
/* The chunks and texts of the row are borrowed until the last step. */
bool writing_begin(struct corpora *c, const struct document_row *row, const struct chunks *chunks,
                   struct writing *out, struct error *e);
/* Writes some of its chunks, in a transaction. The last step makes the document ready and marks the
 * earlier one of that file as gone. */
bool writing_step(struct writing *w, bool *more, struct error *e);

/* A file that cannot be read takes the place of the earlier document. */
bool write_failure(struct corpora *c, const struct document_row *row, const char *why,
                   struct error *e);
/* Marks the document of the file as gone. */
bool write_gone(struct store *s, int64_t corpus, const char *file, struct error *e);

#endif
