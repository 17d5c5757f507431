/* The file of a graph: a header, the entry of each element, the graph, and a checksum over all. It
 * appears whole or not at all. A damaged file is renamed to NAME.damaged. */
#ifndef INDEX_GRAPH_FILE_H
#define INDEX_GRAPH_FILE_H

#include "base/paths.h"
#include "index/vectors_private.h"

struct graph_content {
    const char *model; /* a file of another model or dimension is not read */
    int dimension;
    int64_t version;
    struct vector_ids of;
    struct hnsw *hnsw;
};

/* "DIRECTORY/TABLES-MODEL-HASH.hnsw", for the corpus of these tables; the caller frees. */
char *graph_file_path(const char *directory, const char *tables, const char *model);

/* All 0: there is none. */
struct graph_file graph_file_stat(const char *path);

/* Fills in version, of and hnsw, the caller's. False: there is none that can be used. */
bool graph_file_read(const char *path, struct graph_content *content);
/* Writes and syncs it; whole_file_finish() makes it appear. A failure leaves nothing. */
bool graph_file_write(const char *path, const struct graph_content *content,
                      struct whole_file *file, struct error *e);
void graph_file_remove(const char *path);
void graph_file_remove_aside(const char *path); /* the damaged one */

/* One writer a file, of all processes and threads. False: there is another one. Removes what a
 * writer that died had begun. */
bool graph_file_lock(const char *path, int *lock);
void graph_file_unlock(int *lock);

/* The models that may have files. */
bool graph_names_read(const struct corpus *c, struct text_list *out, struct error *e);

/* Names of all files, also of damaged ones. */
void graph_files_list(const char *directory, const char *tables, struct text_list *out);

/* The model whose file's name this name begins with, and the rest of the name; NULL: none. */
const char *graph_file_model(const char *tables, const struct text_list *models, const char *name,
                             const char **behind);

/* The kind of a file, by its name. */
enum graph_file_kind {
    GRAPH_FILE_NONE, /* nothing */
    GRAPH_FILE_USED, /* a graph or its lock */
    GRAPH_FILE_LEFT, /* of a model that is gone */
    GRAPH_FILE_DAMAGED,
    GRAPH_FILE_BEGUN, /* not written to its end */
};
enum graph_file_kind graph_file_kind(const char *tables, const struct text_list *models,
                                     const char *name);

#endif
