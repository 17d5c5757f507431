/* Semantic memory behind a table of functions. `sqlite` is the one that programs use; the tests
 * have a simple one beside it. One connection, one thread. "Store" is the database of sessions.
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

/* ---- what is searched for ---- */

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

/* WORDS needs no vector, VECTORS uses it alone, BOTH a weighted sum of calibrated scores. */
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

/* limit 5, everything, words alone, what [memory] k1 and b say. */
struct memory_query memory_query_for(const struct config *config, const char *text);

/* ---- a memory ---- */

struct memory;

/* MEMORY_NOT_FOUND where it is not of the scope. */
struct memory_around {
    struct memory_place place; /* the id is whole */
    struct memory_scope scope;
};

/* What was taken out by forget(), to be put back by restore(). */
struct memory_forgotten {
    VEC(struct forgotten_entry {
        struct memory_entry entry;
        int64_t key;        /* its place in the memory */
        int64_t compaction; /* that brought it; as index() takes it */
    })
    items;
    VEC(struct quoting_summary {
        char *session_id;
        int64_t completed_seq; /* of the compaction whose summary quotes one of them */
        int turn;
    })
    summaries; /* now flagged: filled in by who listens */
};
void memory_forgotten_release(struct memory_forgotten *f);

/* Stands for the number of a compaction: a session that was left brought it. */
#define MEMORY_OF_SESSION (-1)

/* Messages that are still to be indexed, in the order of the conversation. */
struct memory_deferred {
    char *session_id;
    int64_t compaction;
    int64_t first; /* seq; with the two above it names those that next_deferred() found */
    VEC(struct memory_source {
        int64_t seq;
        int64_t turn;
    })
    messages;
};
void memory_deferred_release(struct memory_deferred *d);

/* Whether the messages of a session from before are to come in; as numbers in the database. */
enum memory_backlog {
    BACKLOG_NONE,    /* it is not from before */
    BACKLOG_UNASKED, /* the person has not said */
    BACKLOG_WANTED,
    BACKLOG_DONE, /* was wanted, and others still are */
    BACKLOG_REFUSED
};
struct memory_backlog_count {
    int64_t sessions[BACKLOG_REFUSED + 1]; /* by state; not of BACKLOG_NONE */
};

/* Sessions that something was said in since memory looked. */
struct memory_dues {
    VEC(struct memory_due {
        char *session_id;
        int64_t updated_ms;
    })
    items;
};
void memory_dues_release(struct memory_dues *d);

/* A session as it is now. */
struct memory_following {
    const char *session_id;
    const struct log_messages *messages;
    int64_t last;      /* event that they are known up to */
    bool tool_results; /* they come in, too */
    bool stays_out;    /* what is new does not, nor will it: the person does not want that */
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
     * not come again but by an import. Content is stored trimmed, with secrets masked (secrets.h);
     * what is then empty is passed over. */
    bool (*index)(struct memory *m, const char *session_id, int64_t compaction,
                  struct memory_entry *entries, size_t count, int *stored, struct error *e);

    /* Takes back what the compaction of this number brought, but what the user pinned or edited
     * since. A copy that gave way to it does not come back: the text is in the history again. */
    bool (*withdraw)(struct memory *m, const char *session_id, int64_t compaction, struct error *e);

    /* Notes messages to be indexed later, by whoever has the time: what is too much for a
     * transaction that others wait for. withdraw() and forget_session() take them, too. */
    bool (*defer)(struct memory *m, const struct memory_deferred *d, struct error *e);
    /* NULL: of any session. */
    bool (*has_deferred)(struct memory *m, const char *session_id, bool *out, struct error *e);
    /* Some hundred, the oldest of a session first; none: out->session_id is NULL. Who indexes them
     * drops them in the same transaction. */
    bool (*next_deferred)(struct memory *m, struct memory_deferred *out, struct error *e);
    bool (*drop_deferred)(struct memory *m, const struct memory_deferred *d, struct error *e);

    /* ---- sessions that are followed: their messages come in when they are left ---- */

    /* One to be followed that nobody has written to since before_ms, or that is archived; none:
     * *session_id is NULL. The caller frees it. */
    bool (*next_idle)(struct memory *m, int64_t before_ms, char **session_id, struct error *e);
    /* Those that were written to after since_ms, newest first. */
    bool (*fresh)(struct memory *m, int64_t since_ms, struct memory_dues *out, struct error *e);
    /* Defers what came since the session was followed last (the log has grown meanwhile if the
     * caller has no transaction); takes out what is no message any more, but what the user pinned
     * or edited. What the session that it was forked from has, it does not have again. */
    bool (*follow)(struct memory *m, const struct memory_following *f, struct error *e);
    /* What the person says about the sessions from before: accepted, those that were refused
     * earlier are wanted, too. */
    bool (*answer_backlog)(struct memory *m, bool accepted, struct error *e);
    bool (*backlog)(struct memory *m, struct memory_backlog_count *out, struct error *e);

    /* Best first, at most query->limit. A query without a word and without a vector finds nothing.
     */
    bool (*search)(struct memory *m, const struct memory_query *query, struct memory_hits *out,
                   struct error *e);

    /* Newest first. `after` skips that many; a negative limit is none. */
    bool (*list)(struct memory *m, const struct memory_scope *scope, int64_t after, int limit,
                 struct memory_entries *out, struct error *e);
    bool (*count)(struct memory *m, const struct memory_scope *scope, int64_t *out,
                  struct error *e);

    bool (*get)(struct memory *m, const char *id, struct memory_entry *out, struct error *e);
    /* The entry and those around it, all of them; `out` is fresh. */
    bool (*around)(struct memory *m, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e);
    /* Ids that begin so, ascending, at most `limit`. */
    bool (*ids)(struct memory *m, const char *beginning, int limit, struct text_list *out,
                struct error *e);
    /* Every entry, those of a session together and in their order, until visit() returns false; it
     * does not change the memory. */
    bool (*each)(struct memory *m, bool (*visit)(void *context, const struct memory_entry *entry),
                 void *context, struct error *e);

    /* New content, trimmed (empty is USAGE) and masked; nothing of the old one stays, as with
     * forget(). */
    bool (*edit)(struct memory *m, const char *id, const char *content, struct error *e);
    bool (*pin)(struct memory *m, const char *id, bool pinned, struct error *e);

    /* All or none of them: rows, words, vectors, and what the listener has of them. Nothing of the
     * text stays in the tables of memory, its index or the journal of the database (which another
     * connection that is just reading holds until it is done; within a transaction that was open,
     * the caller settles it). An id twice counts once. `out` may be NULL. */
    bool (*forget)(struct memory *m, const char *const *ids, size_t count,
                   struct memory_forgotten *out, struct error *e);
    /* Some of what forget() and edit() left to do because the memory is lazy; *more: that was not
     * all. Who does not come to the end may go on another time, on any connection. */
    bool (*purge)(struct memory *m, bool *more, struct error *e);
    /* Also lets the messages come in again. What is there again meanwhile is passed over.
     * MEMORY_NOT_FOUND where a session was deleted.
     */
    bool (*restore)(struct memory *m, const struct memory_forgotten *f, struct error *e);
    /* All entries of a session, which is deleted. */
    bool (*forget_session)(struct memory *m, const char *session_id, struct error *e);

    /* All but the counts of vectors. */
    bool (*stats)(struct memory *m, struct memory_stats *out, struct error *e);

    /* Makes the index of words anew in this language, with progress (may be NULL; false stops it,
     * and searches find as before). Where no transaction is open, it takes many, and others write
     * in between; what was stopped goes on the next time. */
    bool (*reindex)(struct memory *m, const char *language,
                    bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                    struct error *e);

    /* A little of what keeps the index of words quick, and of a reindex that somebody did not bring
     * to its end; *more: that was not all. For who has the time, and no transaction. */
    bool (*tidy)(struct memory *m, bool *more, struct error *e);

    /* Vectors of a model (index/vectors.h). Who makes them asks for some texts that lack one (each
     * up to what the embedder reads), and gives their vectors to keep(). */
    bool (*lacking)(struct memory *m, const char *model, size_t max_bytes,
                    struct vectors_lacking *out, struct error *e);
    bool (*keep)(struct memory *m, const char *model, const struct vectors_lacking *of,
                 const struct embeddings *made, struct error *e);
    bool (*count_vectors)(struct memory *m, const char *model, struct vectors_counts *out,
                          struct error *e);
    bool (*know_model)(struct memory *m, const char *model, int dimension, struct error *e);
    /* When none lacks one: *left is how much there is still to do. */
    bool (*tidy_vectors)(struct memory *m, const char *model, int64_t *left, struct error *e);
};

/* Sessions have texts of memory, too: in summaries, in snapshots. They are told within the
 * transaction, before the text is gone, behind one that comes back; what they say no to does not
 * happen. Of SESSION_FORGOTTEN the entry has the session alone. */
enum memory_event {
    MEMORY_FORGOTTEN, /* `out` takes the summaries */
    MEMORY_EDITED,    /* `entry` is what it was */
    MEMORY_RESTORED,
    MEMORY_SESSION_FORGOTTEN
};
struct memory_listener {
    bool (*hear)(void *context, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e); /* NULL: nobody listens */
    void *context;
};

struct memory {
    const struct memory_ops *ops;
    struct memory_listener listener;
    /* Index, graph and journal may have something of a forgotten or edited text until purge() was
     * called: for who has others waiting, and calls it when they do not. */
    bool lazy;
};

/* The memory that is kept in the sessions' database (sqlite_private.h), which these sessions listen
 * to (quoting.h), on the caller's connection, which outlives it. Reads nothing: opening costs the
 * same at any size. */
struct memory_settings {
    const char *language; /* what an index without entries is made for; NULL: english. One that has
                             some keeps its own until a reindex */
    const char *graph_directory; /* where graphs are files; NULL: none are used */
    int64_t graph_from;          /* entries from which on a graph is used */
};
struct memory *memory_open(struct store *s, const struct memory_settings *settings); /* or NULL */
void memory_close(struct memory *m); /* NULL is fine */

/* The files beside the database that are memory's: of which models there may be some, and what one
 * of this name is. */
bool memory_files_read(struct store *s, struct text_list *models, struct error *e);
enum graph_file_kind memory_file_kind(const struct text_list *models, const char *name);

/* What a check and a recovery of the sessions' database have to know of memory's tables. */
extern const struct store_extension memory_extension;

/* For the functions of a memory: tells who listens. */
bool memory_tell(const struct memory *m, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e);

/* The one entry whose id this is, or begins with this where no other does. MEMORY_NOT_FOUND lists
 * candidates where it is ambiguous. For people; the functions above take whole ids. */
bool memory_resolve(struct memory *m, const char *reference, char **id, struct error *e);

/* around() where the id may be the beginning of one. */
bool memory_around(struct memory *m, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e);

#endif
