/* Checking a database file, and recovering the rows of a damaged one. Nothing here writes to the
 * file that is checked. */
#ifndef STORE_HEALTH_H
#define STORE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/* X(name, word, whether it can be recovered from) */
#define HEALTH_STATES(X)                                                                           \
    X(GOOD, "good", false)                                                                         \
    X(MISSING, "missing", false)          /* nothing was ever kept */                              \
    X(EMPTY, "empty", false)              /* a file without a schema */                            \
    X(NEWER, "newer", false)              /* of another version of tiro */                         \
    X(FOREIGN, "foreign", false)          /* of another program */                                 \
    X(LOCKED, "locked", false)            /* another process holds it */                           \
    X(READ_ONLY, "read_only", false)      /* it or its directory cannot be written */              \
    X(UNREADABLE, "unreadable", false)    /* no rights, or no file */                              \
    X(NO_DATABASE, "no_database", true)   /* its beginning is something else, perhaps destroyed */ \
    X(TRUNCATED, "truncated", true)       /* shorter than its header says */                       \
    X(DAMAGED, "damaged", true)           /* SQLite's integrity check finds faults */              \
    X(INCONSISTENT, "inconsistent", true) /* sound, but rows contradict each other or do not       \
                                             decode */

enum health_state {
#define X(name, word, recoverable) HEALTH_##name,
    HEALTH_STATES(X)
#undef X
};

struct health {
    enum health_state state;
    char detail[256];                /* what was found; "" when nothing is to be said */
    int64_t sessions, events, bytes; /* -1: cannot be told */
    int64_t entries, vectors;        /* of memory; likewise */
    int64_t learned, waiting;        /* of learned memory: items that count, that wait; likewise */
    int64_t graph_entities, graph_observations, graph_relations; /* likewise */
    int64_t corpora, documents, passages, unreadable; /* of corpora: files that could not be read;
                                                         likewise */
    char language[24];                                /* of memory's words; "": cannot be told */
};

const char *health_name(enum health_state state); /* "damaged" */
bool health_recoverable(enum health_state state);

struct recovery;

/* How a row of a table, or an entry of an index or of a table without rowid, is recognised in a
 * page that no other page points to. Types: i integer, t text, u text as long as an id, n NULL, #
 * number; a capital letter allows NULL, too. */
struct salvage_shape {
    const char *table, *columns, *types;
    bool index;
};

/* Tables of a layer above in the same database, for the check and the recovery. */
struct store_extension {
    /* Whether they can be read and, `thorough`, their rows make sense; counts them. */
    bool (*check)(struct store *s, bool thorough, struct health *out);

    const struct salvage_shape *shapes; /* the last one has no table */
    const char *const *indexes;         /* whose pages are told apart (salvage.h); ends with NULL */
    const char *choose;                 /* SQL that deletes found rows that do not count */
    /* Puts the found rows into the database's tables, in a transaction; counts saved and lost. */
    bool (*recover)(struct store *to, struct recovery *out, struct error *e);
};

/* Checks the file; `thorough` reads all of it (the integrity check and every payload), and alone
 * counts the events. `extensions`, here and below: a list that ends with NULL; NULL: there are
 * none. Nothing is made or changed, also beside the file. This process must not have the database
 * open: asking who has would drop its locks. */
void health_check(const char *path, bool thorough, const struct store_extension *const *extensions,
                  struct health *out);

/* Lets `visit` read a database with this program's schema, on the same terms; `s` is gone
 * afterwards. False when it cannot be read, and when `visit` returns false. */
bool health_visit(const char *path, bool (*visit)(void *context, struct store *s), void *context);

struct recovery {
    char *copy;               /* the untouched copy of the damaged file; owned */
    char *recovered;          /* the new database; owned */
    int64_t sessions, events; /* saved */
    int64_t entries;          /* of memory, saved */
    int64_t learned;          /* items of learned memory, saved */
    int64_t facts;            /* of the graph, saved: entities, observations, relations */
    int64_t lost;             /* rows that could be counted but not read or decoded */
};

struct recovery_help {
    /* Called with the number of events so far; false stops it (INTERRUPTED). NULL: nobody asks. */
    bool (*progress)(void *context, int64_t events);
    /* Makes the indexes of words, when all rows are in the new database. */
    bool (*index)(void *context, struct store *s, struct error *e);
    void *context;
    const struct store_extension *const *extensions;
};

/* Copies the file (with -wal and -journal) to "PATH.damaged-TIME", then reads whatever rows can
 * still be read from that copy (salvage.h) into a new database "PATH.recovered-TIME", which is
 * sound and on the disk when this returns. The file itself stays as it is. Vectors of memory are
 * not saved: they can be made again. SESSION_BUSY when another process has it open. A failure
 * leaves no file behind. */
bool health_recover(const char *path, struct recovery *out, const struct recovery_help *help,
                    struct error *e);
void recovery_release(struct recovery *r);

/* Removes the copy and the new database. */
void recovery_discard(const struct recovery *r);

/* Puts the recovered database in the damaged one's place by renaming. SESSION_BUSY when another
 * process has the damaged one open, or wrote to it since it was copied. The copy stays. */
bool health_replace(const char *path, const struct recovery *r, struct error *e);

/* ---- for the check() of an extension ---- */

/* The number that a statement gives; *out stays as it is without a row. */
bool health_count(struct store *s, const char *sql, int64_t *out, struct health *health);

/* Statements that count rows that must not be there, and what is wrong with them; the last has no
 * statement. The fault is told as "WHAT: 3 FAULT". */
struct health_rule {
    const char *sql, *fault;
};
bool health_rules(struct store *s, const struct health_rule *rules, const char *what,
                  struct health *out);

/* Fills in the state for a result of SQLite's and returns false. */
bool health_fault(struct store *s, int result, struct health *out);

/* Sets state and detail (cleaned and cut) and returns false. */
bool health_found(struct health *out, enum health_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
