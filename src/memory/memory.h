/* Semantic memory behind a table of functions; `sqlite` is the only one. One connection, one
 * thread. "Store" is the database of sessions.
 *
 * Each call is a transaction of its own unless one is open on the connection, and then a part of
 * that. Errors are SESSION_STORE_ERROR; MEMORY_NOT_FOUND where an id is unknown (its text names
 * it); nothing was changed then. */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/event.h"
#include "chat/memory.h"
#include "config/config.h"
#include "index/graph_file.h"
#include "index/rank.h"
#include "index/vectors.h"
#include "index/words.h"
#include "store/health.h"
#include "store/store.h"

/* ---- queries ---- */

/* [memory] scope. PROJECT: sessions that were begun in `directory`. SESSION: this session and those
 * that it was forked from. */
enum memory_scope_kind { MEMORY_SCOPE_ALL, MEMORY_SCOPE_PROJECT, MEMORY_SCOPE_SESSION };
struct memory_scope {
    enum memory_scope_kind kind;
    const char *directory;  /* PROJECT; borrowed */
    const char *session_id; /* SESSION; borrowed */
    struct memory_filter filter;
};
/* "all", "project", "session" or "session=ID" (which borrows from `text`). False: it is none. */
bool memory_scope_parse(const char *text, struct memory_scope *out);

/* WORDS needs no vector, VECTORS uses it alone, BOTH uses both (index/blend.h). */
enum memory_ranking { MEMORY_WORDS, MEMORY_VECTORS, MEMORY_BOTH };

struct memory_query {
    const char *text;
    int limit;        /* at least 1 */
    double min_score; /* hits below it are left out */
    bool typing;      /* the last word may go on */
    struct memory_scope scope;
    enum memory_ranking ranking;
    struct rank_settings rank;
    const struct vector_query *vector; /* NULL with WORDS */
};

/* limit 5, all entries, words only, k1 and b of [memory]. */
struct memory_query memory_query_for(const struct config *config, const char *text);

/* ---- a memory ---- */

struct memory;

/* MEMORY_NOT_FOUND when the entry is out of scope. */
struct memory_around {
    struct memory_place place; /* the id is whole, or "#" and the key of a hit */
    struct memory_scope scope;
};

/* Entries removed by forget(), for restore(). */
struct memory_forgotten {
    VEC(struct forgotten_entry {
        struct memory_entry entry;
        int64_t key;
        int64_t compaction; /* as in index() */
    })
    items;
    VEC(struct quoting_summary {
        char *session_id;
        int64_t completed_seq; /* of the compaction whose summary quotes an entry */
        int turn;
    })
    summaries; /* now flagged: filled in by the listener */
};
void memory_forgotten_release(struct memory_forgotten *f);

/* Instead of the number of a compaction: entries of a session that was left. */
#define MEMORY_OF_SESSION (-1)

/* Messages that are still to be indexed, in the order of the conversation. */
struct memory_deferred {
    char *session_id;
    int64_t compaction;
    int64_t first; /* seq; with the two members above the key of the row */
    VEC(struct memory_source {
        int64_t seq;
        int64_t turn;
    })
    messages;
};
void memory_deferred_release(struct memory_deferred *d);

/* Whether the messages of an earlier session, from before memory followed it, are indexed; numbers
 * in the database. */
enum memory_backlog {
    BACKLOG_NONE,    /* no earlier session */
    BACKLOG_UNASKED, /* the person was not asked yet */
    BACKLOG_WANTED,
    BACKLOG_DONE, /* indexed, while others are still wanted */
    BACKLOG_REFUSED
};
struct memory_backlog_count {
    int64_t sessions[BACKLOG_REFUSED + 1]; /* by state, without BACKLOG_NONE */
};

/* Sessions that have grown since memory read them. */
struct memory_dues {
    VEC(struct memory_due {
        char *session_id;
        int64_t updated_ms;
    })
    items;
};
void memory_dues_release(struct memory_dues *d);

/* The current state of a session. */
struct memory_following {
    const char *session_id;
    const struct log_messages *messages;
    int64_t last;      /* last event of them */
    bool tool_results; /* are indexed, too */
    bool stays_out;    /* new messages are never indexed: the person's choice */
    bool anew;         /* messages that were read before may be there again: all are new */
};

struct memory_ops {
    const char *name;
    void (*close)(struct memory *m);

    /* Entries of one session in the order of the conversation, of the compaction with this number
     * (0: an import; MEMORY_OF_SESSION). Ids that are NULL are made, and filled in for what is
     * stored; an id that is taken by another text or session is USAGE, unless the user edited that
     * text. *stored is how many the session has more than before: an entry with an id is known by
     * that alone, one without by session and seq (not 0), and passed over; between an import and
     * anything else the text must be the same, too, unless the user edited it (an import may number
     * the messages of each talk anew). One whose text equals an entry of the session that is pinned
     * or not older is passed over, too; an older, unpinned copy gives way. What was forgotten does
     * not come again but by an import. Content is stored trimmed, with secrets masked (content.h);
     * what is then empty is passed over. */
    bool (*index)(struct memory *m, const char *session_id, int64_t compaction,
                  struct memory_entry *entries, size_t count, int *stored, struct error *e);

    /* Entries of one session that a shared space has, with ids. One that is there takes the new
     * content, `pinned` and `edited`; USAGE if it is of another session. Copies stay. All stand in
     * the order of event, time and id, in whichever order they come. Without entries: those that
     * are there are placed anew, after some were forgotten, so that ranks are those of a memory
     * that never had them. */
    bool (*replicate)(struct memory *m, const char *session_id, struct memory_entry *entries,
                      size_t count, struct error *e);

    /* Removes the entries of a compaction, except those that the user pinned or edited since. A
     * copy that gave way to one does not come back: the text is in the history again. */
    bool (*withdraw)(struct memory *m, const char *session_id, int64_t compaction, struct error *e);

    /* Notes messages to be indexed later, in idle time, when they are too many for a transaction
     * that others wait for. withdraw() and forget_session() drop them, too. */
    bool (*defer)(struct memory *m, const struct memory_deferred *d, struct error *e);
    /* NULL: of any session. */
    bool (*has_deferred)(struct memory *m, const char *session_id, bool *out, struct error *e);
    /* Some hundred, the oldest of a session first; none: out->session_id is NULL. The caller
     * indexes and drops them in one transaction. */
    bool (*next_deferred)(struct memory *m, struct memory_deferred *out, struct error *e);
    bool (*drop_deferred)(struct memory *m, const struct memory_deferred *d, struct error *e);

    /* ---- followed sessions: their messages are indexed when the session is left ---- */

    /* A due session that has not grown since before_ms, or is archived; none: *session_id is NULL.
     * The caller frees it. */
    bool (*next_idle)(struct memory *m, int64_t before_ms, char **session_id, struct error *e);
    /* Due sessions that have grown after since_ms, newest first. */
    bool (*fresh)(struct memory *m, int64_t since_ms, struct memory_dues *out, struct error *e);
    /* Defers the messages since the last call (the log may have grown if the caller has no
     * transaction); removes entries that are no longer messages, except those that the user pinned
     * or edited. Messages of the parent session are not indexed again. */
    bool (*follow)(struct memory *m, const struct memory_following *f, struct error *e);
    /* The person's answer about earlier sessions; accepting also makes refused ones wanted. */
    bool (*answer_backlog)(struct memory *m, bool accepted, struct error *e);
    bool (*backlog)(struct memory *m, struct memory_backlog_count *out, struct error *e);

    /* Best first, at most query->limit. A query without a word and a vector finds nothing. */
    bool (*search)(struct memory *m, const struct memory_query *query, struct memory_hits *out,
                   struct error *e);

    /* Newest first. `after` skips that many; a negative limit is none. */
    bool (*list)(struct memory *m, const struct memory_scope *scope, int64_t after, int limit,
                 struct memory_entries *out, struct error *e);
    bool (*count)(struct memory *m, const struct memory_scope *scope, int64_t *out,
                  struct error *e);

    bool (*get)(struct memory *m, const char *id, struct memory_entry *out, struct error *e);
    /* The entry and those around it; `out` is initialised here. */
    bool (*around)(struct memory *m, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e);
    /* Ids with this beginning, ascending, at most `limit`. */
    bool (*ids)(struct memory *m, const char *beginning, int limit, struct text_list *out,
                struct error *e);
    /* Every entry, those of a session together and in their order, until visit() returns false; it
     * does not change the memory. */
    bool (*each)(struct memory *m, bool (*visit)(void *context, const struct memory_entry *entry),
                 void *context, struct error *e);

    /* Replaces the content by this one, trimmed (empty is USAGE) and masked; the old one is
     * forgotten, as with forget(). */
    bool (*edit)(struct memory *m, const char *id, const char *content, struct error *e);
    bool (*pin)(struct memory *m, const char *id, bool pinned, struct error *e);

    /* All or none of them: rows, words, vectors, and copies of the listener. Nothing of the text
     * stays in the tables of memory, its index or the journal of the database (which another
     * connection that is reading holds until it is done; within an open transaction the caller
     * settles it). An id that is named twice counts once. `out` may be NULL. */
    bool (*forget)(struct memory *m, const char *const *ids, size_t count,
                   struct memory_forgotten *out, struct error *e);
    /* A step of the work that forget() and edit() left because the memory is lazy; *more: steps are
     * left, which any connection can do at any time. */
    bool (*purge)(struct memory *m, bool *more, struct error *e);
    /* The messages may be indexed again, too. Entries that exist again meanwhile are skipped.
     * MEMORY_NOT_FOUND when a session was deleted. */
    bool (*restore)(struct memory *m, const struct memory_forgotten *f, struct error *e);
    /* All entries of a session, which is deleted. */
    bool (*forget_session)(struct memory *m, const char *session_id, struct error *e);

    /* All but the counts of vectors. */
    bool (*stats)(struct memory *m, struct memory_stats *out, struct error *e);

    /* words_reindex(); `language` NULL: the configured one. */
    bool (*reindex)(struct memory *m, const char *language,
                    bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                    struct error *e);

    /* words_tidy(). */
    bool (*tidy)(struct memory *m, bool *more, struct error *e);

    /* Vectors of a model (index/vectors.h): lacking() gives texts without one, keep() takes their
     * vectors. */
    bool (*lacking)(struct memory *m, const char *model, size_t max_bytes,
                    struct vectors_lacking *out, struct error *e);
    bool (*keep)(struct memory *m, const char *model, const struct vectors_lacking *of,
                 const struct embeddings *made, struct error *e);
    bool (*count_vectors)(struct memory *m, const char *model, struct vectors_counts *out,
                          struct error *e);
    bool (*know_model)(struct memory *m, const char *model, int dimension, struct error *e);
    /* Called when no text lacks a vector; *left: the work that is left. */
    bool (*tidy_vectors)(struct memory *m, const char *model, int64_t *left, struct error *e);
};

/* Sessions have copies of texts, in summaries and snapshots. A listener is called within the
 * transaction, before a text is removed and after one is restored; when it returns false, nothing
 * happens. For SESSION_FORGOTTEN the entry has only the session. */
enum memory_event {
    MEMORY_FORGOTTEN, /* `out` takes the summaries */
    MEMORY_EDITED,    /* `entry` is what it was */
    MEMORY_RESTORED,
    MEMORY_SESSION_FORGOTTEN
};
struct memory_listener {
    bool (*hear)(void *context, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e); /* NULL: none */
    void *context;
};

struct memory {
    const struct memory_ops *ops;
    struct memory_listener listener;
    /* Index, graph and journal may have remains of forgotten texts until purge() is called in idle
     * time. */
    bool lazy;
};

/* The memory in the sessions' database, on the caller's connection, which outlives it. The sessions
 * listen (summary_flags.h). Reads nothing: opening costs the same at any size. */
struct memory_settings {
    const char *language; /* of an index without entries; NULL: auto. Another index keeps its own
                             until a reindex */
    const char *graph_directory; /* of the files of graphs; NULL: no graphs */
    int64_t graph_from;          /* entries from which on a graph is used */
};
struct memory *memory_open(struct store *s, const struct memory_settings *settings); /* or NULL */
void memory_close(struct memory *m); /* NULL is fine */

/* Files of memory beside the database: the models that may have some, and the kind of a file by its
 * name. */
bool memory_files_read(struct store *s, struct text_list *models, struct error *e);
enum graph_file_kind memory_file_kind(const struct text_list *models, const char *name);

/* The tables of memory, for the check and the recovery of the database. */
extern const struct store_extension memory_extension;

/* For implementations: calls the listener. */
bool memory_tell(const struct memory *m, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e);

/* The entry with this id, or the only one whose id begins so. MEMORY_NOT_FOUND lists candidates
 * when there are several. For people; the functions above take whole ids. */
bool memory_resolve(struct memory *m, const char *reference, char **id, struct error *e);

/* around() with the beginning of an id. */
bool memory_around(struct memory *m, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e);

#endif
