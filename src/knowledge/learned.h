/* Learned memory: items from the user's words that influence later sessions, in the database of
 * sessions. One connection, one thread.
 *
 * Each call is a transaction of its own unless one is open on the connection. Errors are
 * SESSION_STORE_ERROR; MEMORY_NOT_FOUND where an id is unknown; USAGE where a text is empty or too
 * long. A call that fails has changed nothing. */
#ifndef KNOWLEDGE_LEARNED_H
#define KNOWLEDGE_LEARNED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "chat/knowledge.h"
#include "store/health.h"
#include "store/store.h"

enum learned_added {
    LEARNED_IS_NEW,
    LEARNED_IS_KNOWN,   /* there is one with the same text */
    LEARNED_IS_REJECTED /* there is one, and the user rejected it */
};

/* Adds a candidate or an active item with scope, kind, state, origin, text, project, session and
 * seq of `item`. Secrets in its text are masked. *out: the item that is kept, or was there already.
 * An active one whose kind replaces takes the place of the one before. A rejected item that was
 * typed or extracted does not come back; one that is added by hand does. */
bool learned_add(struct store *s, const struct learned_item *item, struct learned_item *out,
                 enum learned_added *how, struct error *e);

/* Makes it active; one that replaces takes the place of the one before. */
bool learned_accept(struct store *s, const char *id, struct error *e);

/* Makes it rejected; the item that it replaced is active again. */
bool learned_reject(struct store *s, const char *id, struct error *e);

/* Changes its text; the old one stays as history. */
bool learned_edit(struct store *s, const char *id, const char *text, struct error *e);

/* Deletes them with their history, all or none; `out` (empty) gets the deleted ones. */
bool learned_forget(struct store *s, const char *const *ids, size_t count,
                    struct learned_items *out, struct error *e);
/* Puts back items from learned_forget(). */
bool learned_restore(struct store *s, const struct learned_items *items, struct error *e);

/* Deletes candidates of a deleted session and the digest of its log. Accepted items stay, and say
 * that their session is gone. */
bool learned_forget_session(struct store *s, const char *session_id, struct error *e);

/* Items that fit all members are listed. Texts are borrowed. */
struct learned_filter {
    unsigned states;     /* of 1 << enum learned_state; 0: all */
    unsigned scopes;     /* of 1 << enum learned_scope; 0: all */
    unsigned kinds;      /* of 1 << enum learned_kind; 0: all */
    const char *project; /* of it, and of the user; NULL: of all */
    const char *session; /* id */
    const char *tag;     /* with "#tag" in its text, case aside; '#' in front is passed over */
    const char *query;   /* with a word of it, most words first; blank: the newest first */
    bool unused;         /* active ones that no session was told of */
    int limit;           /* 0: all */
};
bool learned_list(struct store *s, const struct learned_filter *filter, struct learned_items *out,
                  struct error *e);
/* Sets title, quotation, time, origin and turn of the message that each item is from. */
bool learned_find_messages(struct store *s, struct learned_items *items, struct error *e);

/* Removes items that do not fit the filter's states, scopes, kinds, tag, query and limit, from a
 * list that learned_list() did not make. */
void learned_filter_items(struct learned_items *items, const struct learned_filter *filter);

bool learned_get(struct store *s, const char *id, struct learned_item *out, struct error *e);

/* The item and all that it replaced, newest first. */
bool learned_history(struct store *s, const char *id, struct learned_items *out, struct error *e);

/* An id or the beginning of one; USAGE where several begin so. The caller frees *id. */
bool learned_resolve(struct store *s, const char *reference, char **id, struct error *e);

/* Counts a use: a session's model gets them for the first time. */
bool learned_note_use(struct store *s, const struct learned_items *items, struct error *e);

struct learned_counts {
    int64_t active, candidates, superseded, rejected;
};
bool learned_count(struct store *s, const char *project, struct learned_counts *out,
                   struct error *e);

/* ---- access ---- */

/* The access of a session to memory; WRITE unless it was changed. */
bool learned_access_read(struct store *s, const char *session_id, enum memory_access *out,
                         struct error *e);
/* From the next message on. */
bool learned_access_write(struct store *s, const char *session_id, enum memory_access access,
                          struct error *e);
/* For a fork that has the log up to event `last`, within its transaction: the access up to there is
 * copied, and the fork itself may write. */
bool learned_access_copy(struct store *s, const char *from, int64_t last, const char *to,
                         struct error *e);

/* Spans of the log in which the session might not write memory: behind an event, up to another. */
struct learned_locked_span {
    int64_t since, until;
};
struct learned_locked {
    VEC(struct learned_locked_span) spans;
};
bool learned_locked_read(struct store *s, const char *session_id, struct learned_locked *out,
                         struct error *e);
/* Whether the message that begins with event `seq` is within one of them. */
bool learned_locked_has(const struct learned_locked *l, int64_t seq);
void learned_locked_release(struct learned_locked *l);

/* For session/health.h: the items and the access of sessions. Digests of logs are not recovered:
 * the next turn of a session makes them again. */
extern const struct store_extension learned_extension;

#endif
