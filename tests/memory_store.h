/* Semantic memory in a store of its own, for tests. Faults of the store fail the test. */
#ifndef TESTS_MEMORY_STORE_H
#define TESTS_MEMORY_STORE_H

#include "memory/memory.h"

extern char *lore_path; /* of the database */
extern struct store *lore_store;
extern struct memory *lore_memory;
extern struct error lore_error; /* of the last call */

int lore_setup(void **state);
int lore_teardown(void **state);
void lore_open(void);
void lore_close(void);

/* Calls a function of the memory, which must not fail. */
#define lore_do(operation, ...)                                                                    \
    memory_check(lore_memory->ops->operation(lore_memory, __VA_ARGS__, &lore_error), &lore_error)

/* Indexes entries of the user; returns how many were stored. */
struct lore_entry {
    const char *id, *text;
    int64_t at, seq;
    bool pinned;
};
int lore_index(const char *session_id, int64_t compaction, const struct lore_entry *given,
               size_t count);
#define LORE_INDEX(session_id, compaction, ...)                                                    \
    lore_index(session_id, compaction, (const struct lore_entry[]){__VA_ARGS__},                   \
               sizeof((const struct lore_entry[]){__VA_ARGS__}) / sizeof(struct lore_entry))

/* Stores an entry, which must be new; `id` NULL: any. */
void lore_say(const char *session_id, const char *id, const char *content, int64_t created_ms);
void lore_forget(const char *id);
void lore_run(const char *sql);
int64_t lore_number(const char *sql);

/* Searches for at most 20; returns how many there are. */
int lore_hits(const char *text, struct memory_scope scope);

/* The search finds these contents, one per line, best first. */
void lore_expect_found(const char *text, const char *contents);
struct memory_query lore_query(const char *text); /* for at most 5 */

/* An entry of the user at this time; strings are copied, `id` may be NULL. */
struct memory_entry memory_said(const char *id, const char *content, int64_t created_ms);

/* Stores one entry as an import; returns its new id (the caller frees), or NULL if it was
 * skipped. */
char *memory_store_one(struct memory *m, const char *session_id, const char *id,
                       const char *content, int64_t created_ms);

/* Contents, one per line: of a session in its order, or of all sessions (NULL), newest first as
 * list() returns them. The caller frees. */
char *memory_contents(struct memory *m, const char *session_id);
char *memory_newest(struct memory *m, const char *session_id, int64_t after, int limit);

int64_t memory_total(struct memory *m);
bool memory_has(struct memory *m, const char *id);
void memory_check(bool ok, const struct error *e);

#endif
