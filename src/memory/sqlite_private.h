/* Shared by the files of the memory in SQLite: sqlite_memory.c (the table of functions, scopes,
 * lists), sqlite_entries.c (rows, indexing, editing, forgetting), sqlite_followed.c (deferred
 * messages, followed sessions), sqlite_search.c, sqlite_health.c. */
#ifndef MEMORY_SQLITE_PRIVATE_H
#define MEMORY_SQLITE_PRIVATE_H

#include "index/words.h"
#include "memory/content.h"
#include "memory/memory.h"
#include "store/sql.h"

/* The prefix of the names of its tables and files. */
#define MEMORY_TABLES "memory"

struct sqlite_memory {
    struct memory memory;
    struct store *store; /* borrowed */
    struct corpus corpus;
    char *language; /* configured; never NULL */
    struct vectors *vectors;
    struct fresh_ids ids; /* for new entries */
};
static inline struct sqlite_memory *sqlite_memory_of(struct memory *m)
{
    return (struct sqlite_memory *)m;
}

/* An entry with its place. */
struct memory_row {
    int64_t key;
    int64_t compaction; /* as index() takes it */
    struct memory_entry entry;
};
/* Of entries of this compaction. */
static inline enum memory_origin sqlite_origin(int64_t compaction)
{
    return compaction == 0                   ? MEMORY_IMPORTED
           : compaction == MEMORY_OF_SESSION ? MEMORY_LEFT
                                             : MEMORY_DROPPED;
}
struct memory_rows {
    VEC(struct memory_row) items;
};
void memory_row_release(struct memory_row *row);
void memory_rows_release(struct memory_rows *rows);

/* ---- sqlite_entries.c ---- */

/* The entries as the index of words and vectors sees them. */
struct corpus memory_sqlite_corpus(struct store *s);

/* Columns and tables of a statement, and a row of it. */
#define MEMORY_FOREIGN(column)                                                                     \
    "(SELECT " column                                                                              \
    " FROM space_object AS o JOIN space ON space.number = o.space"                                 \
    " WHERE o.id = entry.id AND kind = 0 AND owner <> person LIMIT 1)"
#define MEMORY_ROWS                                                                                \
    "SELECT entry.key, entry.id, id_number, memory_session.id, turn, seq, role, speaker,"          \
    " created_ms, pinned, edited, compaction, content,"                                            \
    " ifnull((SELECT imported FROM session WHERE session.id = memory_session.id), " MEMORY_FOREIGN( \
        "space.name") "), " MEMORY_FOREIGN("owner")                                              \
    " FROM memory_entry AS entry"                                                                  \
    " CROSS JOIN memory_session ON memory_session.number = entry.session "
struct memory_row sqlite_row_read(const struct query *q);
/* Reads the rest of the rows, and ends the query. */
bool sqlite_rows_read(struct query *q, struct memory_rows *out);

/* *found is false when there is none; `out` is then empty. */
bool sqlite_row_at(struct store *s, int64_t key, struct memory_row *out, bool *found,
                   struct error *e);
/* MEMORY_NOT_FOUND where there is none. */
bool sqlite_row_need(struct store *s, const char *id, struct memory_row *out, struct error *e);
/* Keys of entries in scope whose normalised text (content.h) is that of `text`, ascending; the
 * caller releases. */
struct memory_keys {
    VEC(int64_t) items;
};
bool sqlite_equal_texts(struct store *s, const char *text, const struct corpus_scope *scope,
                        struct memory_keys *out, struct error *e);
/* The row, its words and vectors. */
bool sqlite_row_remove(struct store *s, const struct memory_row *row, struct error *e);

bool sqlite_memory_index(struct memory *m, const char *session_id, int64_t compaction,
                         struct memory_entry *entries, size_t count, int *stored, struct error *e);
bool sqlite_memory_replicate(struct memory *m, const char *session_id, struct memory_entry *entries,
                             size_t count, struct error *e);
bool sqlite_memory_withdraw(struct memory *m, const char *session_id, int64_t compaction,
                            struct error *e);
bool sqlite_memory_edit(struct memory *m, const char *id, const char *content, struct error *e);
bool sqlite_memory_forget(struct memory *m, const char *const *ids, size_t count,
                          struct memory_forgotten *out, struct error *e);
bool sqlite_memory_purge(struct memory *m, bool *more, struct error *e);
bool sqlite_memory_restore(struct memory *m, const struct memory_forgotten *f, struct error *e);
bool sqlite_memory_forget_session(struct memory *m, const char *session_id, struct error *e);

/* ---- sqlite_memory.c ---- */

/* The number of a session; -1: it has none. */
bool sqlite_session_number(struct store *s, const char *session_id, int64_t *number,
                           struct error *e);
static inline bool sqlite_filters(const struct memory_filter *f) /* within the sessions */
{
    return f->origin != 0 || f->after_ms != 0 || f->before_ms != 0;
}
/* The sessions of a scope; the caller releases out->numbers. */
bool sqlite_scope(struct store *s, const struct memory_scope *scope, struct corpus_scope *out,
                  struct error *e);

/* ---- sqlite_followed.c ---- */

bool sqlite_memory_defer(struct memory *m, const struct memory_deferred *d, struct error *e);
bool sqlite_memory_has_deferred(struct memory *m, const char *session_id, bool *out,
                                struct error *e);
bool sqlite_memory_next_deferred(struct memory *m, struct memory_deferred *out, struct error *e);
bool sqlite_memory_drop_deferred(struct memory *m, const struct memory_deferred *d,
                                 struct error *e);

bool sqlite_deferred_withdraw(struct store *s, const char *session_id, int64_t compaction,
                              struct error *e);
/* Messages. */
bool sqlite_deferred_count(struct store *s, int64_t *out, struct error *e);

bool sqlite_memory_next_idle(struct memory *m, int64_t before_ms, char **session_id,
                             struct error *e);
bool sqlite_memory_fresh(struct memory *m, int64_t since_ms, struct memory_dues *out,
                         struct error *e);
bool sqlite_memory_follow(struct memory *m, const struct memory_following *f, struct error *e);
bool sqlite_memory_answer_backlog(struct memory *m, bool accepted, struct error *e);
bool sqlite_memory_backlog(struct memory *m, struct memory_backlog_count *out, struct error *e);

/* Messages from event `seq` on are read again. */
bool sqlite_followed_again(struct store *s, const char *session_id, int64_t seq, struct error *e);

/* A message that must not be indexed again: its entry was forgotten, or gave way to a copy. Not for
 * entries of an import. */
bool sqlite_gone_add(struct store *s, const struct memory_row *row, bool forgotten,
                     struct error *e);

/* ---- sqlite_search.c ---- */

bool sqlite_memory_search(struct memory *m, const struct memory_query *query,
                          struct memory_hits *out, struct error *e);

#endif
