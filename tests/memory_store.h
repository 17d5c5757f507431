/* Entries for tests of a store of semantic memory. Faults of the store fail the test. */
#ifndef TESTS_MEMORY_STORE_H
#define TESTS_MEMORY_STORE_H

#include "memory/memory.h"

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
