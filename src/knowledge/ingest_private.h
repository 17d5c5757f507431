/* What the parts of an ingest share: corpora_ingest.c (its beginning, steps and end),
 * ingest_files.c (what is configured, and the files there are) and ingest_load.c (each is looked
 * at, read and written). Nobody else includes it. */
#ifndef KNOWLEDGE_INGEST_PRIVATE_H
#define KNOWLEDGE_INGEST_PRIVATE_H

#include "knowledge/corpora_private.h"
#include "knowledge/document.h"
#include "knowledge/walk.h"

enum { INGEST_FILES = 2000 /* that a step looks at */ };

struct found {
    char *path;
    int64_t size, modified_ns, changed_ns;
    bool named; /* by a person, not found in a folder */
};

/* A file that was read and is to be written. */
struct prepared {
    struct document_row row; /* its texts are the found file's and the ingest's */
    char *loader;
    struct chunks chunks;
    size_t bytes;
    char *failure; /* NULL: it has chunks */
    bool is_new;
};

enum phase { PHASE_SCAN, PHASE_LOAD, PHASE_SWEEP, PHASE_DONE };

struct ingest {
    struct corpora *corpora;
    char *name;
    int64_t corpus;
    int64_t asked; /* which of those that were asked for it is */
    enum phase phase;
    bool started;

    struct text_list added; /* paths that are new, resolved */
    const char *configured; /* paths of tiro.ini, the configuration's; NULL: none */
    VEC(char *) roots;
    size_t root;
    struct walk *walk;
    VEC(struct found) files; /* by path, each once, from the end of the scan on */
    size_t next;

    VEC(struct document_command) commands; /* of tiro.ini; borrow from it */
    VEC(struct prepared) batch;
    size_t batch_bytes;
    struct writing writing; /* of a large document */
    struct prepared large;
    bool is_writing;

    struct corpus_progress progress; /* without the name */
};

/* ---- ingest_files.c ---- */

/* Commands of [corpus] loader.EXTENSION, and NAME.paths. */
void ingest_read_loaders(struct ingest *in);
void ingest_add_paths(struct ingest *in);

struct document_options ingest_options(const struct ingest *in, const struct wakeup *wakeup);
bool ingest_is_stopped(const struct wakeup *wakeup);

/* Some of the files; PHASE_LOAD follows when all are found. */
bool ingest_scan_some(struct ingest *in, const struct wakeup *wakeup, struct error *e);

/* ---- ingest_load.c ---- */

void prepared_release(struct prepared *p);

/* Some of them read and written; PHASE_SWEEP follows after the last. */
bool ingest_load_some(struct ingest *in, const struct wakeup *wakeup, struct error *e);
/* … a piece of a large one, while in->is_writing. */
bool ingest_write_large(struct ingest *in, struct error *e);

/* How many of the found files would be read, and their bytes. */
bool ingest_count_new(struct ingest *in, int64_t *files, int64_t *bytes, struct error *e);

#endif
