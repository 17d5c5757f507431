/* What the parts of the memory in SQLite share: sqlite_memory.c (the table of functions, and
 * reading), sqlite_row.c (rows), sqlite_scope.c (sessions), sqlite_index.c (putting in),
 * sqlite_around.c (what stands around an entry), sqlite_deferred.c (what is to be put in later),
 * sqlite_followed.c (sessions that come in when they are left), sqlite_forget.c (taking out),
 * sqlite_search.c, sqlite_health.c. */
#ifndef MEMORY_SQLITE_PRIVATE_H
#define MEMORY_SQLITE_PRIVATE_H

#include "index/words.h"
#include "memory/content.h"
#include "memory/memory.h"
#include "store/sql.h"

/* What the names of its tables and of its files begin with. */
#define MEMORY_TABLES "memory"

struct sqlite_memory {
    struct memory memory;
    struct store *store; /* borrowed */
    struct corpus corpus;
    char *language;      /* configured; never NULL */
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
/* That entries of this compaction have. */
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

/* ---- sqlite_row.c ---- */

/* The entries as the index of words and vectors sees them. */
struct corpus memory_sqlite_corpus(struct store *s);

/* A statement's columns and tables, and a row of its. */
#define MEMORY_ROWS                                                                                \
    "SELECT entry.key, entry.id, id_number, memory_session.id, turn, seq, role, speaker,"          \
    " created_ms, pinned, edited, compaction, content FROM memory_entry AS entry"                  \
    " CROSS JOIN memory_session ON memory_session.number = entry.session "
struct memory_row sqlite_row_read(const struct query *q);
/* What is left of them, to the end; the query ends. */
bool sqlite_rows_read(struct query *q, struct memory_rows *out);

/* *found is false where there is none, which is no error; `out` is then empty. */
bool sqlite_row_at(struct store *s, int64_t key, struct memory_row *out, bool *found,
                   struct error *e);
bool sqlite_row_of(struct store *s, const char *id, struct memory_row *out, bool *found,
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
/* The row and its words. */
bool sqlite_row_add(struct store *s, const struct memory_row *row, struct error *e);
/* The row, its words and vectors. */
bool sqlite_row_remove(struct store *s, const struct memory_row *row, struct error *e);
bool sqlite_rows_remove(struct store *s, const struct memory_rows *rows, struct error *e);
/* Other content in the same place, as edited by the user; its vectors go. */
bool sqlite_row_edit(struct store *s, const struct memory_row *row, const char *content,
                     struct error *e);

/* ---- sqlite_scope.c ---- */

/* Of one session; -1: it has none. */
bool sqlite_session_number(struct store *s, const char *session_id, int64_t *number,
                           struct error *e);
/* What a scope means as numbers of sessions; the caller releases out->numbers. */
static inline bool sqlite_filters(const struct memory_filter *f) /* within the sessions */
{
    return f->origin != 0 || f->after_ms != 0 || f->before_ms != 0;
}
bool sqlite_scope(struct store *s, const struct memory_scope *scope, struct corpus_scope *out,
                  struct error *e);

bool sqlite_memory_list(struct memory *m, const struct memory_scope *scope, int64_t after,
                        int limit, struct memory_entries *out, struct error *e);
bool sqlite_memory_count(struct memory *m, const struct memory_scope *scope, int64_t *out,
                         struct error *e);

/* ---- sqlite_around.c ---- */

bool sqlite_memory_around(struct memory *m, const struct memory_around *p,
                          struct memory_excerpt *out, struct error *e);

/* ---- sqlite_index.c ---- */

/* Whether this very entry, of this compaction (0: an import), is there, by its id, where it has
 * none by its session and event. USAGE where its id is that of another one. */
bool sqlite_is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                     bool *known, struct error *e);
bool sqlite_source_is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                            bool *known, struct error *e);
bool sqlite_memory_index(struct memory *m, const char *session_id, int64_t compaction,
                         struct memory_entry *entries, size_t count, int *stored, struct error *e);
bool sqlite_memory_withdraw(struct memory *m, const char *session_id, int64_t compaction,
                            struct error *e);

/* ---- sqlite_deferred.c ---- */

bool sqlite_memory_defer(struct memory *m, const struct memory_deferred *d, struct error *e);
bool sqlite_memory_has_deferred(struct memory *m, const char *session_id, bool *out,
                                struct error *e);
bool sqlite_memory_next_deferred(struct memory *m, struct memory_deferred *out, struct error *e);
bool sqlite_memory_drop_deferred(struct memory *m, const struct memory_deferred *d,
                                 struct error *e);

bool sqlite_deferred_withdraw(struct store *s, const char *session_id, int64_t compaction,
                              struct error *e);
bool sqlite_deferred_forget(struct store *s, const char *session_id, struct error *e);
/* Messages. */
bool sqlite_deferred_count(struct store *s, int64_t *out, struct error *e);

/* ---- sqlite_followed.c ---- */

bool sqlite_memory_next_idle(struct memory *m, int64_t before_ms, char **session_id,
                             struct error *e);
bool sqlite_memory_fresh(struct memory *m, int64_t since_ms, struct memory_dues *out,
                         struct error *e);
bool sqlite_memory_follow(struct memory *m, const struct memory_following *f, struct error *e);
bool sqlite_memory_answer_backlog(struct memory *m, bool accepted, struct error *e);
bool sqlite_memory_backlog(struct memory *m, struct memory_backlog_count *out, struct error *e);

/* What came with event `seq` and behind it is to be looked at again. */
bool sqlite_followed_again(struct store *s, const char *session_id, int64_t seq, struct error *e);

/* A message that is not to come in again: its entry was forgotten, or gave way to a copy. Of an
 * import there is none. */
bool sqlite_gone_add(struct store *s, const struct memory_row *row, bool forgotten,
                     struct error *e);
bool sqlite_gone_has(struct store *s, int64_t number, int64_t seq, bool *out, struct error *e);
bool sqlite_gone_drop(struct store *s, int64_t number, int64_t seq, struct error *e);
bool sqlite_gone_forget(struct store *s, int64_t number, struct error *e); /* of the session */

/* ---- sqlite_forget.c ---- */

bool sqlite_memory_edit(struct memory *m, const char *id, const char *content, struct error *e);
bool sqlite_memory_forget(struct memory *m, const char *const *ids, size_t count,
                          struct memory_forgotten *out, struct error *e);
bool sqlite_memory_purge(struct memory *m, bool *more, struct error *e);
bool sqlite_memory_restore(struct memory *m, const struct memory_forgotten *f, struct error *e);
bool sqlite_memory_forget_session(struct memory *m, const char *session_id, struct error *e);

/* ---- sqlite_search.c ---- */

bool sqlite_memory_search(struct memory *m, const struct memory_query *query,
                          struct memory_hits *out, struct error *e);

#endif
