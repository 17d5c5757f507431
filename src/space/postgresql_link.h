/* A connection to a PostgreSQL server, made where it is needed, through libpq. Calls end early when
 * the place's wakeup says so; then, and when the server does not answer, the connection is closed.
 * Errors: AGENT_ERROR without a server, FORBIDDEN for a role without rights, USAGE where the
 * database or its tables are missing, INTERRUPTED. They have no password. */
#ifndef SPACE_POSTGRESQL_LINK_H
#define SPACE_POSTGRESQL_LINK_H

#include "space/carrier.h"

struct libpq;

struct pg {
    const struct carrier_place *place; /* borrowed */
    char *name;                        /* of the server, for errors */
    char *person;                      /* the role; NULL: not connected yet */
    char state[6];                     /* SQLSTATE of the last statement's failure; "": none */
    /* the link's own */
    const struct libpq *pq;
    struct pg_conn *connection; /* NULL: none */
    int hosts;
    const char *sslmode; /* that the URL does not name; NULL: it does */
    const char *role;    /* the same */
};

/* Reads the URL; does not connect. */
bool pg_open(struct pg *p, const struct carrier_place *place, struct error *e);
void pg_close(struct pg *p);

/* Connects where there is no connection, or where the server ended it while it was idle. */
bool pg_connect(struct pg *p, struct error *e);

struct pg_value {
    const char *bytes; /* NULL: null */
    size_t len;
    bool binary; /* else a text */
};
struct pg_value pg_text(const char *text); /* NULL is fine */
struct pg_value pg_bytes(const struct buf *bytes);
#define PG_VALUES(...)                                                                             \
    (const struct pg_value[]){__VA_ARGS__},                                                        \
        sizeof((const struct pg_value[]){__VA_ARGS__}) / sizeof(struct pg_value)
#define PG_NOTHING (const struct pg_value[]){{0}}, 0

struct pg_rows {
    const struct libpq *pq;
    struct pg_result *result; /* NULL: none */
};
void pg_rows_release(struct pg_rows *rows);
int pg_count(const struct pg_rows *rows);
/* A value, null as "", and its bytes; a copy, null as NULL; a number that was cast to a text. */
const char *pg_cell(const struct pg_rows *rows, int row, int column);
size_t pg_length(const struct pg_rows *rows, int row, int column);
char *pg_copy(const struct pg_rows *rows, int row, int column);
int64_t pg_number(const struct pg_rows *rows, int row, int column);

/* Runs a statement on the connection that pg_connect() made; with NULL values it may be several.
 * Rows (NULL: not wanted) have at least so many columns, in the binary format, which for texts is
 * the text. */
bool pg_run(struct pg *p, const char *sql, const struct pg_value *values, size_t count, int columns,
            struct pg_rows *rows, struct error *e);
/* pg_connect() and pg_run(). */
bool pg_ask(struct pg *p, const char *sql, const struct pg_value *values, size_t count, int columns,
            struct pg_rows *rows, struct error *e);

/* Connects and runs the steps in a transaction, again while another transaction is in the way. */
bool pg_transaction(struct pg *p, bool (*steps)(struct pg *p, const void *context, struct error *e),
                    const void *context, struct error *e);

/* "%s: TEXT" with the server's name and a text of the server's, cleaned and cut. */
bool pg_fail(const struct pg *p, enum err_code code, const char *text, const char *advice,
             struct error *e);

#endif
