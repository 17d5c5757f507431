/* The file of a graph: a header of ours, which entry each element is, the graph, and a checksum
 * over all of it. It appears whole or not at all. What is damaged is set aside as NAME.damaged. */
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
bool graph_file_same(const struct graph_file *a, const struct graph_file *b);

/* Fills in version, of and hnsw, the caller's. False: there is none that can be used. */
bool graph_file_read(const char *path, struct graph_content *content);
/* All of it on the disk; whole_file_finish() makes it appear. On failure nothing is left. */
bool graph_file_write(const char *path, const struct graph_content *content,
                      struct whole_file *file, struct error *e);
void graph_file_remove(const char *path);
void graph_file_remove_aside(const char *path); /* what was damaged */

/* One writer a file, of all processes and threads. False: another one is. What one that died had
 * begun to write is removed. */
bool graph_file_lock(const char *path, int *lock);
void graph_file_unlock(int *lock);

/* The models that there may be files of. */
bool graph_names_read(const struct corpus *c, struct text_list *out, struct error *e);

/* Names of all that there are, and of those that were set aside. */
void graph_files_list(const char *directory, const char *tables, struct text_list *out);

/* Which of the models a name is of, and what follows in it on that of the model's graph; NULL: of
 * none. */
const char *graph_file_model(const char *tables, const struct text_list *models, const char *name,
                             const char **behind);

/* What a file of this name is for graphs of these models. */
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
