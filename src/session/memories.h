/* What may be done with semantic memory from outside a conversation: the command line's part.
 * Belongs to one thread. */
#ifndef SESSION_MEMORIES_H
#define SESSION_MEMORIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "chat/memory_entry.h"
#include "chat/memory_hit.h"
#include "config/config.h"

struct memories;
struct store;

/* On the caller's connection: NULL is an empty memory, for what only reads. `directory` is that of
 * the store; NULL: it is in memory. `project`: the working directory, for scopes. Whether there is
 * to be a memory is the caller's question (operation.h). */
struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project);
void memories_free(struct memories *m); /* NULL is fine */

/* A scope is "all", "project", "session=REFERENCE" (an id that entries have, else as catalog.h) or
 * NULL: as configured, where "session" is "all" as long as none is open. USAGE where it is none of
 * these. */
enum memory_order { MEMORY_BY_SCORE, MEMORY_BY_DATE };
struct memory_search {
    const char *query; /* blank: the newest entries */
    const char *scope;
    int limit;
    enum memory_order order;
    bool typing; /* the last word may be the beginning of one */
};
struct memory_found {
    struct memory_hits hits;
    int64_t total; /* entries of the scope */
};
bool memories_search(struct memories *m, const struct memory_search *search,
                     struct memory_found *out, struct error *e);

/* Newest first; limit 0: all. */
bool memories_list(struct memories *m, const char *scope, int limit, struct memory_entries *out,
                   struct error *e);

/* `reference`: an id or the beginning of one. */
bool memories_get(struct memories *m, const char *reference, struct memory_entry *out,
                  struct error *e);
bool memories_edit(struct memories *m, const char *reference, const char *content, struct error *e);
bool memories_pin(struct memories *m, const char *reference, bool pinned, struct error *e);
/* All or none. *summaries: how many summaries quote what went, and are flagged. What went can be
 * put back as long as it is not closed. */
bool memories_forget(struct memories *m, const char *const *references, size_t count, int *deleted,
                     int *summaries, struct error *e);

/* Puts back what the last memories_forget() took that was not put back yet; else MEMORY_NOT_FOUND.
 * `id` (its first entry) is the caller's to free. What could not be put back may be tried again. */
bool memories_restore(struct memories *m, char **id, int *summaries, struct error *e);

/* One JSON object a line, piece by piece; `write` returns false (with `e`) to stop. */
bool memories_export(struct memories *m,
                     bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                     void *context, int64_t *written, struct error *e);
/* Entries are kept in steps of one transaction each, so that another program can write meanwhile
 * and what was read stays if it is killed; to import the same file again adds nothing. A line that
 * is wrong is USAGE that names it ("NAME:LINE: …"), and what stands before it has been imported.
 * Bytes that are no UTF-8 become U+FFFD; empty lines are passed over. */
struct import_progress {
    bool (*tell)(void *context, int64_t lines, int64_t stored); /* false: stop, INTERRUPTED */
    void *context;
};
bool memories_import(struct memories *m, FILE *in, const char *name,
                     const struct import_progress *progress, int64_t *lines, int64_t *stored,
                     struct error *e);

bool memories_stats(struct memories *m, struct memory_stats *out, struct error *e);
/* The words anew in the configured language; then vectors for all that lack one. `tell` as above:
 * what is being done (0 words, 1 vectors), so many of so many; false: stop, INTERRUPTED. It is
 * called, too, when `wake_fd` (-1: none) is readable while the endpoint is waited for. */
bool memories_reindex(struct memories *m,
                      bool (*tell)(void *context, int what, int64_t done, int64_t of), int wake_fd,
                      void *context, struct error *e);

#endif
