/* Learned memory: items of what the user said that are to influence later sessions, in the
 * database of sessions. One connection, one thread.
 *
 * Each call is a transaction of its own unless one is open on the connection. Errors are
 * SESSION_STORE_ERROR; MEMORY_NOT_FOUND where an id is unknown; USAGE where a text is empty or too
 * long. Nothing was changed then. */
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
    LEARNED_IS_KNOWN,   /* one with the same text is there */
    LEARNED_IS_REJECTED /* … which the user does not want */
};

/* Keeps a candidate, or an active item, of what `item` has (scope, kind, state, origin, text,
 * project, session, seq); *out is what is kept, or there already. Secrets in its text are masked.
 * An active one whose kind replaces takes the place of the one before. What was typed or extracted
 * does not come back once it was rejected; what was added does. */
bool learned_add(struct store *s, const struct learned_item *item, struct learned_item *out,
                 enum learned_added *how, struct error *e);

/* Makes it active; one that replaces takes the place of the one before. */
bool learned_accept(struct store *s, const char *id, struct error *e);

/* Makes it rejected, whatever it was; what it took the place of is active again. */
bool learned_reject(struct store *s, const char *id, struct error *e);

/* Another text in its place; the old one stays as history. */
bool learned_edit(struct store *s, const char *id, const char *text, struct error *e);

/* Deletes them with their history, all or none; `out` (empty) gets what went. */
bool learned_forget(struct store *s, const char *const *ids, size_t count,
                    struct learned_items *out, struct error *e);
/* Puts back what learned_forget() gave. */
bool learned_restore(struct store *s, const struct learned_items *items, struct error *e);

/* Candidates of a deleted session, and what its log was folded to. Items that were accepted stay,
 * and tell that their session is gone. */
bool learned_forget_session(struct store *s, const char *session_id, struct error *e);

/* Which are listed: those that fit all members. Texts are borrowed. */
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
/* Sets what the log says of the messages that they are of. */
bool learned_find_messages(struct store *s, struct learned_items *items, struct error *e);

/* Leaves of them what fits the filter's states, scopes, kinds, tag, query and limit: of those that
 * no list came from. */
void learned_leave_fitting(struct learned_items *items, const struct learned_filter *filter);

bool learned_get(struct store *s, const char *id, struct learned_item *out, struct error *e);

/* It and all that it took the place of, newest first. */
bool learned_history(struct store *s, const char *id, struct learned_items *out, struct error *e);

/* An id or the beginning of one; USAGE where several begin so. The caller frees *id. */
bool learned_resolve(struct store *s, const char *reference, char **id, struct error *e);

/* A session's model is told of them for the first time. */
bool learned_note_use(struct store *s, const struct learned_items *items, struct error *e);

struct learned_counts {
    int64_t active, candidates, superseded, rejected;
};
bool learned_count(struct store *s, const char *project, struct learned_counts *out,
                   struct error *e);

/* ---- access (learned_access.c) ---- */

/* What a session may do with memory: WRITE where nothing else was said. */
bool learned_access_read(struct store *s, const char *session_id, enum memory_access *out,
                         struct error *e);
/* From the next message on. */
bool learned_access_write(struct store *s, const char *session_id, enum memory_access access,
                          struct error *e);
/* For a fork that has the log up to event `last`, within its transaction: what was said there stays
 * as it was said, and what comes may be written. */
bool learned_access_copy(struct store *s, const char *from, int64_t last, const char *to,
                         struct error *e);

/* What was said while the session might not write: behind an event, up to another one. */
struct learned_closed_span {
    int64_t since, until;
};
struct learned_closed {
    VEC(struct learned_closed_span) spans;
};
bool learned_closed_read(struct store *s, const char *session_id, struct learned_closed *out,
                         struct error *e);
/* `seq` of the event that begins a message. */
bool learned_closed_has(const struct learned_closed *c, int64_t seq);
void learned_closed_release(struct learned_closed *c);

/* For session/health.h: the items, and what sessions may do. Folds of logs are not saved: the next
 * turn of a session makes them again. */
extern const struct store_extension learned_extension;

#endif
