/* Corpora: named sets of documents that are searched on demand. What they are told and what they
 * tell, as structs and shapes; where they are kept: knowledge/corpora.h. */
#ifndef CHAT_CORPORA_H
#define CHAT_CORPORA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "base/vec.h"

/* Bounds. */
enum {
    CORPUS_NAME_BYTES = 64,
    CORPUS_FILE_BYTES = 4096,             /* of a path, or a given text's name */
    CORPUS_PATHS = 1000,                  /* files and folders that a corpus is made of */
    CORPUS_TEXT_BYTES = 16 * 1024 * 1024, /* of a given text */
    CORPUS_QUERY_BYTES = 65536,
    CORPUS_TOP_K = 5, /* passages that a search gives, unless it says how many */
    CORPUS_TOP_K_MOST = 20,
    CORPUS_PAGE = 1000 /* rows of a list, at most */
};

/* Letters of ASCII, digits, ".", "_" and "-", the first a letter or a digit: a name stands in
 * "@corpus:NAME" and in tiro.ini. */
bool corpus_name_valid(const char *name);

/* The next name that a text mentions so, from *at on, which moves behind it; NULL: none. The caller
 * frees. */
char *corpus_next_mention(const char **at);
/* The text without them, and without the blanks before them. The caller frees. */
char *corpus_without_mentions(const char *text);

/* ---- what is told of them ---- */

struct corpus_info {
    char *name;
    VEC(char *) paths;
    int64_t documents; /* that can be searched */
    int64_t failed;    /* files that could not be read */
    int64_t passages, bytes;
    int64_t updated_ms; /* end of the last ingest; 0: there was none */
    bool pending;       /* an ingest has begun and not ended */
};
struct corpus_list {
    VEC(struct corpus_info) items; /* by name */
};

enum corpus_document_state { CORPUS_DOCUMENT_READY, CORPUS_DOCUMENT_FAILED };
struct corpus_document {
    int64_t id;
    char *corpus, *file;
    enum corpus_document_state state;
    char *error; /* NULL: ready */
    int64_t passages, bytes, ingested_ms;
    bool given; /* a text without a file */
};
struct corpus_documents {
    VEC(struct corpus_document) items; /* by file */
    int64_t total;                     /* that there are of this state */
};

struct corpus_passage {
    int number; /* that a model cites it by; 0: none */
    int64_t document;
    int64_t chunk; /* its number in the document, from 0 on */
    char *corpus, *file, *heading, *content;
    int64_t line, page;    /* from 1 on; 0: the format has none */
    int64_t start, finish; /* bytes of the file; -1: the format does not tell */
    double score;          /* of a search: 0 … 1 */
    double words, vector;  /* what it is made of; vector -1: it has none */
};
struct corpus_passages {
    VEC(struct corpus_passage) items;
    int64_t total; /* of the document */
};
/* Of a search, best first. */
struct corpus_found {
    VEC(struct corpus_passage) items;
    int64_t documents, searched; /* documents and passages that were looked at */
    char *badge;                 /* what could not be used of vectors or reranker; NULL: nothing */
};

struct corpus_stats {
    int64_t corpora, documents, failed, passages;
    int64_t bytes;             /* of texts */
    int64_t index;             /* bytes of words and vectors */
    int64_t embedded, missing; /* passages with and without a vector of the model */
    char *model;               /* NULL: words alone */
};

/* Of an ingest, while it goes on and at its end. */
struct corpus_progress {
    char *corpus;
    int64_t files; /* that were found */
    int64_t done;  /* of them */
    int64_t added, changed, unchanged, removed, failed;
    int64_t passages, bytes; /* that were read */
    bool finished;
    bool asks; /* nothing was done: so many files or bytes go to an embedding endpoint only with
                  consent */
};

struct corpus_ingested {
    int64_t document, chunks;
};
struct corpus_removed {
    int64_t documents;
};

extern const struct shape corpus_info_shape, corpus_list_shape, corpus_document_shape,
    corpus_documents_shape, corpus_passage_shape, corpus_passages_shape, corpus_found_shape,
    corpus_stats_shape, corpus_progress_shape, corpus_ingested_shape, corpus_removed_shape;

/* ---- what they are told ---- texts are the reader's (shape_release()) or a caller's */

struct corpus_add {
    const char *name;
    VEC(const char *) paths; /* none: those that the corpus has, and those of tiro.ini */
    bool consent;            /* however much goes to an embedding endpoint */
};
struct corpus_documents_query {
    const char *name;
    bool failed;       /* these instead of those that are ready */
    const char *after; /* from behind this file on; NULL: from the beginning */
    int limit;         /* 0: CORPUS_PAGE */
};
struct corpus_passages_query {
    int64_t document;
    int64_t from; /* number of the first */
    int limit;    /* 0: CORPUS_PAGE */
};
struct corpus_cited {
    const char *session_id;
    int64_t before; /* number of an event: what was given last before it; 0: last of all */
};
struct corpus_search {
    const char *corpus; /* NULL: all of them */
    const char *query;
    int top_k;            /* 0: as configured */
    double hybrid_weight; /* share of words, 0 … 1; negative: as configured */
    const char *filter;   /* files whose path has this in it, or fits it as a glob; NULL: all */
};
struct corpus_ingest {
    const char *corpus, *filename, *text;
};
struct corpus_remove {
    const char *name;
    const char *file; /* NULL: the whole corpus */
};

extern const struct shape corpus_add_shape, corpus_documents_query_shape,
    corpus_passages_query_shape, corpus_cited_shape, corpus_search_shape, corpus_ingest_shape,
    corpus_remove_shape;

#endif
