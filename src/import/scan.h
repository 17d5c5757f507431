/* Scans the places of other agents' histories, or given files and folders, and takes what is new
 * into the store: each conversation is a session that is marked as imported. What a file had when
 * it was read last is noted in the transaction that stores what was read of it, so that a scan can
 * be killed at any time and the next one goes on. */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/shape.h"
#include "base/vec.h"
#include "store/store.h"

struct import_watch;

enum import_results { IMPORT_RESULTS_SHORT, IMPORT_RESULTS_NONE, IMPORT_RESULTS_WHOLE };

/* Counts of one source. */
struct import_counts {
    char *name, *label;
    char *places;          /* of import_survey(): those that are there, a line each; NULL: none */
    char *kinds;           /* of import_survey(): what was not understood, "3 KIND, 1 KIND" */
    int64_t files;         /* that belong to it */
    int64_t read;          /* of them: were new or had changed */
    int64_t failed;        /* … and could not be read */
    char *fault;           /* why the first of these; NULL: of an earlier scan, or there is none */
    int64_t bytes;         /* of all of them */
    int64_t conversations; /* that got something new */
    int64_t messages;      /* new ones, of the person and of the assistant: no calls, no results */
    int64_t not_understood;
    int64_t newest_ms; /* when the newest file was changed; 0: there is none */
};
struct import_report {
    VEC(struct import_counts) sources; /* one for each row of import_sources[] */
};
extern const struct shape import_report_shape;
void import_report_release(struct import_report *r);

struct import_options {
    const char *from;    /* names of sources, separated by commas or blanks; NULL or "all": all */
    int64_t since_ms;    /* only what was changed since; 0: all */
    const char *project; /* only conversations of this directory or below; NULL: all */
    bool dry;            /* nothing is stored: counts what would be */
    bool branches;       /* also those that were taken back */
    enum import_results results;
    struct import_watch *watch; /* is told of the folders; may be NULL */
    /* For a watch: only these files and folders below the places are looked at. NULL or none: all.
     */
    const struct text_list *changed;
    int step_ms; /* a transaction ends after this time; 0: half a second */
    /* Called with each session that got something new, before that is committed. May be NULL. */
    void (*came)(void *context, const char *session_id);
    /* Called some times a second with the files that were read, of how many; false stops with
     * INTERRUPTED, and what was stored stays. May be NULL. */
    bool (*tell)(void *context, int64_t done, int64_t of);
    /* Takes a session that tiro exported, in a transaction of its own; nothing if it is there.
     * *messages: those that are new. NULL: such files are passed over. */
    bool (*own)(void *context, FILE *in, int64_t *messages, struct error *e);
    void *context;
};

/* `paths`: files and folders; NULL or none: the places of the sources. The store is not in a
 * transaction. A file that cannot be read is counted; false only for a fault of the store, of a
 * name in `from` (USAGE) or of a given path. */
bool import_scan(struct store *s, const struct text_list *paths, const struct import_options *o,
                 struct import_report *out, struct error *e);

/* The survey reads no file: files, bytes and the newest of each source; and of earlier
 * readings the conversations and messages, and what was not understood. */
bool import_survey(struct store *s, const struct import_options *o, struct import_report *out,
                   struct error *e);

/* Recovers what a damaged database still knows of imports, so that nothing comes twice or back. */
extern const struct store_extension import_extension;

#endif
