/* One connection to the SQLite database that holds everything. It belongs to one thread. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

struct store;

/* Texts that a statement found; vec_free_each(&items) releases them. */
struct text_list {
    VEC(char *) items;
};

enum store_mode { STORE_READ_WRITE, STORE_READ_ONLY };

/* READ_WRITE makes the file (0600), its directory (0700) and its schema where they are missing.
 * Both modes refuse a file with the schema of another version of the program, and one that is no
 * database, untouched. READ_ONLY of a file that does not exist is SESSION_NOT_FOUND. Errors are
 * SESSION_STORE_ERROR and name the path and what to do. */
bool store_open(const char *path, enum store_mode mode, struct store **out, struct error *e);
void store_close(struct store *s); /* NULL is fine */

/* A committed transaction survives a power failure; a single write outside of one survives the
 * death of the program, and a power failure from the next transaction on. */
bool store_begin(struct store *s, struct error *e);
bool store_commit(struct store *s, struct error *e); /* on failure it is rolled back */
void store_rollback(struct store *s);                /* no transaction open: nothing happens */

/* Empties the journal into the database, so that deleted texts are in neither. Does not wait;
 * false: another connection reads or writes, so try again. Not in a transaction. */
bool store_settle(struct store *s);

/* Frees the connection's caches of pages and words, which fill again. */
void store_give_back_memory(struct store *s);

/* The same for an idle connection, and its compiled statements, which take some tenths of a
 * millisecond to compile again. Not within a query. */
void store_rest(struct store *s);

/* Writing through a read-only connection then fails with SESSION_PERSISTENCE_DISABLED and `why`,
 * which is borrowed, instead of the rights of the file. */
void store_set_refusal(struct store *s, const char *why);

/* How long a statement waits while another process writes. give_up() is asked every few
 * milliseconds whether to end the wait, and must not use the store; NULL: never. It is not asked
 * during the first grace_ms: other threads of this process write for a moment only, and a program
 * that ends need not lose its last write to them. The default is five seconds. A statement that
 * waited in vain fails with SESSION_STORE_ERROR. */
void store_set_patience(struct store *s, int ms, int grace_ms, bool (*give_up)(void *context),
                        void *context);

/* Any thread: the statement that runs now ends with an error. */
void store_interrupt(struct store *s);

/* Schema version that this program writes, that of data/schema.sql. From the first release on, a
 * newer schema is a step from the one before. */
enum { SCHEMA_VERSION = 1 };

/* data directory + "/tiro.db"; the caller frees. */
char *store_default_path(void);

/* A path for store_open() that is no file: a database in memory, which all connections of this
 * process that open this path share, and which is gone with the last of them. Each call gives
 * another. The caller frees. */
char *store_memory_path(void);
bool store_in_memory(const char *path);

#endif
