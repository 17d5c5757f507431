/* Whether the rows of a database that opens make sense. */
#ifndef STORE_HEALTH_ROWS_H
#define STORE_HEALTH_ROWS_H

#include "store/health.h"
#include "store/sql.h"

/* The tables of sessions and events are there and can be read. */
bool health_tables(struct store *s, struct health *out);

/* SQLite's own check: of the pages alone, or of the indexes, too. */
bool health_pages(struct store *s, bool indexes, struct health *out);

/* Each event belongs to a session and decodes. Counts them. */
bool health_events(struct store *s, struct health *out);

/* The number that a statement gives; *out stays as it is where there is none. */
bool health_count(struct store *s, const char *sql, int64_t *out, struct health *health);

/* Fills in the state for a result of SQLite's and returns false. */
bool health_fault(struct store *s, int result, struct health *out);

/* Sets state and detail (cleaned and cut) and returns false. */
bool health_found(struct health *out, enum health_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
