/* Corpora in a store of their own, for tests (knowledge/corpora.h): files below support_dir(),
 * results as short texts. An unexpected error fails the test. */
#ifndef TESTS_SHELF_H
#define TESTS_SHELF_H

#include <sys/types.h>

#include "knowledge/corpora.h"

extern struct shelf {
    struct config *config;
    struct store *store;
    struct corpora *corpora;
    char *path; /* of the database */
    struct error e;
    struct corpus_found found; /* of the last shelf_search_for(), until shelf_hits() */
} shelf;

int shelf_setup(void **state);
int shelf_teardown(void **state);
void shelf_open(void);
void shelf_close(void);
void shelf_configure(enum config_key key, const char *value);

/* Writes a file, and makes the folders above it. */
void shelf_write(const char *name, const char *text);

/* Ingests a file or folder into the corpus; NULL: its known sources. Returns "files 2 added 1
 * failed 1", without counts of 0. */
const char *shelf_add(const char *corpus, const char *file);
/* Runs the ingestion to its end, and frees it. */
const char *shelf_run(struct ingest *in);
/* Begins an ingestion of a file or folder; NULL: of the known sources. */
struct ingest *shelf_begin(const char *corpus, const char *file);
/* The ingestion that was requested; NULL: none. */
struct ingest *shelf_resume(void);
/* A step of it; whether there are more. */
bool shelf_step(struct ingest *in);
/* Requests an ingestion without beginning it. */
void shelf_ask(const char *corpus, const char *file);
/* Starts a process that runs `act`, which can wait for a byte from `go`. The process opens the
 * store itself. */
pid_t shelf_start(void (*act)(int go), int *go);
void shelf_purge(void);
/* Works as long as there is work that can be done. */
enum corpora_work shelf_embed(void);

void shelf_search_for(const struct corpus_search *what);
/* In all corpora, with the usual weight; `top_k` 0: the usual number. */
void shelf_find(const char *query, int top_k);
/* "a.txt:1 b.md:3", by line. */
const char *shelf_hits(void);
const char *shelf_search(const char *corpus, const char *query);

void shelf_sql(const char *sql);
int64_t shelf_number(const char *sql);
/* "sound", after a check of the whole database. */
const char *shelf_expect_sound(void);
const char *shelf_file_name(const char *file);

#endif
