/* Statements, prepared once a connection, bound in order and stepped, with errors that name the
 * database and what to do: query_begin(), query_text()…, query_next() while there are rows,
 * query_end(), which alone need be asked whether all of them went well. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/store.h"

struct statement {
    const char *sql, *tables;
    sqlite3_stmt *handle;
};

struct store {
    sqlite3 *db;
    char *path;
    enum store_mode mode;
    VEC(struct statement) statements;
    bool searchable; /* the function of index/transcripts_search.c has been registered */
    bool collects;   /* … and the function of index/words_search.c */
    VEC(struct language *) languages; /* of its tokenizers */

    /* While another process writes: */
    int patience_ms;
    bool (*give_up)(void *context);
    void *give_up_context;
    const char *refusal; /* NULL: none */
    int grace_ms;
    int64_t waiting_since; /* clock_mono_ms() */
};

struct query {
    struct store *store;
    sqlite3_stmt *handle; /* NULL where it could not be prepared */
    struct error *error;  /* takes the first fault; may be NULL */
    int parameter;        /* the last that was bound */
    int fault;            /* SQLite's code; after it nothing more is bound or stepped */
};

/* `sql` is a constant; the same one is not begun again before it ended. */
struct query query_begin(struct store *s, const char *sql, struct error *e);
/* The same statement for several sets of tables: each # of it stands for `tables`, a constant. */
struct query query_begin_in(struct store *s, const char *tables, const char *sql, struct error *e);
/* With its first parameter bound to the text, mostly a session's id. */
struct query query_for(struct store *s, const char *sql, const char *id, struct error *e);

/* Begin and bind in one call. `types` has a letter for each parameter, in order: t const char *
 * (NULL binds NULL), i int64_t, k int64_t of which a negative one binds NULL, r double of which a
 * negative one binds NULL, b const void * and size_t. Texts and bytes are borrowed until the query
 * ends. */
struct query sql_query(struct store *s, struct error *e, const char *sql, const char *types, ...);
/* The same, run to its end. */
bool sql_exec(struct store *s, struct error *e, const char *sql, const char *types, ...);
/* The same; *out is the integer in the first column of the first row, and unchanged without a row.
 */
bool sql_number(struct store *s, int64_t *out, struct error *e, const char *sql, const char *types,
                ...);

void query_text(struct query *q, const char *text); /* NULL binds NULL; borrowed until the end */
void query_int(struct query *q, int64_t n);
void query_known(struct query *q, int64_t n); /* a negative one binds NULL */
void query_known_real(struct query *q, double n);
void query_bytes(struct query *q, const void *bytes, size_t len); /* borrowed until the end */
/* For a function of ours, which asks for this type; borrowed until the end. */
void query_pointer(struct query *q, void *pointer, const char *type);

bool query_next(struct query *q); /* whether there is a row */
bool query_end(struct query *q);  /* whether there was no fault */

/* Runs what has been bound to its end and ends it. */
bool query_run(struct query *q);

/* One step, and the end: the number in the first row (without one *out stays), whether there is
 * one. */
bool query_number(struct query *q, int64_t *out);
bool query_any(struct query *q, bool *out);

/* All rows, and the end: the texts in the first column, added to a list that is empty again after a
 * fault. */
bool query_texts(struct query *q, struct text_list *out);

/* Column `i` of the row: a copy, NULL for NULL; -1 for NULL. */
char *query_column_text(const struct query *q, int i);
int64_t query_column_known(const struct query *q, int i);
double query_column_known_real(const struct query *q, int i);

/* The number that a statement without parameters gives; 0: it gives no row. */
bool store_number(struct store *s, const char *sql, int64_t *out, struct error *e);

/* Statements without parameters or rows. */
bool store_exec(struct store *s, const char *sql, struct error *e);
bool store_exec_in(struct store *s, const char *tables, const char *sql, struct error *e);

/* Fills in `e` for a result of SQLite's (its extended code), and returns false. */
bool store_fault(const struct store *s, int result, struct error *e);

/* A transaction of its own unless one is open already; `began` is for store_leave(), which commits
 * it if `ok`, else rolls it back, and returns whether all went well. */
bool store_enter(struct store *s, bool *began, struct error *e);
bool store_leave(struct store *s, bool began, bool ok, struct error *e);

/* The same without waiting for the disk: as lasting as a single statement. */
bool store_step_begin(struct store *s, bool *began, struct error *e);
bool store_step_end(struct store *s, bool began, bool ok, struct error *e);

/* FTS5's interface for tokenizers of ours, and a function of ours within its queries, once a
 * connection (*known). */
bool store_fts5(struct store *s, fts5_api **out, struct error *e);
bool store_fts5_function(struct store *s, const char *name, fts5_extension_function call,
                         bool *known, struct error *e);

#endif
