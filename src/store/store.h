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

/* What a transaction commits survives a power failure; a single write outside of one survives the
 * death of the program, and a power failure from the next transaction on. */
bool store_begin(struct store *s, struct error *e);
bool store_commit(struct store *s, struct error *e); /* on failure it is rolled back */
void store_rollback(struct store *s);                /* no transaction open: nothing happens */

/* Empties the journal into the database, so that deleted texts are in neither. Waits for nobody;
 * false: another connection reads or writes, so try again. Not in a transaction. */
bool store_settle(struct store *s);

/* Frees what the connection has of the database and of its words in memory; it is read again where
 * it is needed. */
void store_give_back_memory(struct store *s);

/* The same of a connection that rests, and what its statements were compiled to, which takes some
 * tenths of a millisecond when they are needed again. Not within a query. */
void store_rest(struct store *s);

/* Says why nothing is written through this connection for reading alone, in place of the file's
 * rights: SESSION_PERSISTENCE_DISABLED with `why`, which is borrowed. */
void store_set_refusal(struct store *s, const char *why);

/* How long a statement waits while another process writes, and who can end that wait: give_up() is
 * asked every few milliseconds and must not use the store; NULL: nobody. Until this is called: five
 * seconds. What waited in vain is SESSION_STORE_ERROR. */
void store_set_patience(struct store *s, int ms, bool (*give_up)(void *context), void *context);

/* `give_up` is not asked before that: where others of this process write, too, each for a moment,
 * an end that is wanted need not lose what is to be kept. Until this is called: none. */
void store_set_grace(struct store *s, int ms);

/* Any thread: the statement that runs now ends with an error. */
void store_interrupt(struct store *s);

/* Schema version that this program writes. */
int store_schema_version(void);

/* data directory + "/tiro.db"; the caller frees. */
char *store_default_path(void);

/* A path for store_open() that is no file: a database in memory, which all connections of this
 * process that open this path share, and which is gone with the last of them. Each call gives
 * another. The caller frees. */
char *store_memory_path(void);
bool store_in_memory(const char *path);

#endif
