/* SQL statements: prepared once a connection, bound in order and stepped. Errors name the database
 * and what to do. Several rows: sql_query(), query_next() while there are rows, query_end(), whose
 * result alone tells whether all calls went well. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdarg.h>
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
    bool searchable;                  /* the function of index/transcripts.c has been registered */
    bool collects;                    /* the function of index/words_search.c has been registered */
    VEC(struct language *) languages; /* of its tokenizers */
    struct language *asked;           /* of the last question, in this language: */
    char *asked_name;

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
    sqlite3_stmt *handle; /* NULL: it could not be prepared */
    struct error *error;  /* takes the first fault; may be NULL */
    int fault;            /* SQLite's code; after it nothing more is bound or stepped */
};

/* Begins a statement and binds its parameters. `sql` is a constant; a statement must end before it
 * begins again. `types` has a letter for each parameter, in order: t const char * (NULL binds
 * NULL), i int64_t, k int64_t (a negative one binds NULL), r double (a negative one binds NULL), b
 * const void * and size_t, p void * and const char * (for a function of this program, which asks
 * for a pointer of this type). All are borrowed until the query ends. */
struct query sql_query(struct store *s, struct error *e, const char *sql, const char *types, ...);
/* sql_query(), run to its end. */
bool sql_exec(struct store *s, struct error *e, const char *sql, const char *types, ...);
/* sql_query(), and the integer in the first column of its first row; *out is unchanged without a
 * row. */
bool sql_number(struct store *s, int64_t *out, struct error *e, const char *sql, const char *types,
                ...);
/* sql_query(), and whether it has a row. *out is false after a fault. */
bool sql_any(struct store *s, bool *out, struct error *e, const char *sql, const char *types, ...);
/* sql_query() for one of several sets of tables: each # in `sql` stands for `tables`, a constant;
 * NULL: none does. */
struct query sql_query_in(struct store *s, const char *tables, struct error *e, const char *sql,
                          const char *types, va_list args);

bool query_next(struct query *q); /* whether there is a row */
bool query_end(struct query *q);  /* whether there was no fault */

/* These run the query and end it. */
bool query_run(struct query *q);
bool query_number(struct query *q, int64_t *out); /* as sql_number() */
bool query_any(struct query *q, bool *out);       /* as sql_any() */
/* Adds the texts in the first column to a list, which is empty after a fault. */
bool query_texts(struct query *q, struct text_list *out);

/* Column `i` of the row: a copy, NULL for NULL; a number, -1 for NULL. */
char *query_column_text(const struct query *q, int i);
int64_t query_column_known(const struct query *q, int i);

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

/* The schema of a file, by its header. Changes nothing. */
enum schema_state {
    SCHEMA_EMPTY, /* no tables yet */
    SCHEMA_CURRENT,
    SCHEMA_FOREIGN, /* a database of another program */
    SCHEMA_NEWER,   /* of another version of this program */
};
bool schema_inspect(struct store *s, enum schema_state *out, struct error *e);

/* FTS5's interface for tokenizers of this program, and a function of this program within its
 * queries, which is registered once a connection (*known). */
bool store_fts5(struct store *s, fts5_api **out, struct error *e);
bool store_fts5_function(struct store *s, const char *name, fts5_extension_function call,
                         bool *known, struct error *e);

#endif
