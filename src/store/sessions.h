/* Rows of sessions (chat/session_info.h), how they are named, and the tables that belong to them:
 * settings, and the state of the files below sessions/. */
#ifndef STORE_SESSIONS_H
#define STORE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/session_info.h"
#include "store/store.h"

/* Inserts or updates the whole row. */
bool sessions_put(struct store *s, const struct session_info *info, struct error *e);

/* The sessions that one was forked from, the nearest first, and up to which event of each it has
 * their messages. */
struct session_line {
    VEC(struct session_ancestor {
        char id[UUID_LEN + 1];
        int64_t last;
    })
    items;
};
bool sessions_line(struct store *s, const char *id, struct session_line *out, struct error *e);

/* SESSION_NOT_FOUND when there is none. */
bool sessions_get(struct store *s, const char *id, struct session_info *out, struct error *e);

enum session_state { SESSION_ANY, SESSION_LIVE, SESSION_ARCHIVED };

/* Which sessions a listing shows; all zero: every session. */
struct session_filter {
    const char *text;  /* is in title (or draft, without a title), directory, model, labels or last
                          line, case folded; with "from:SOURCE" in it, see sessions_take_from().
                          NULL: any */
    const char *label; /* NULL: any */
    const char *directory; /* where the session was begun; NULL: any */
    const char *project;   /* it was begun there or below; NULL: anywhere */
    enum session_state state;
    int limit; /* 0: all */
};

/* Takes "from:SOURCE" out of what a person typed, where it is a word and not within quotes. *from:
 * the beginning of the name of a source, "tiro" for sessions that were begun here; NULL: there is
 * none. The caller frees both. */
char *sessions_take_from(const char *text, char **from);
/* An SQL condition for the table session: the parameter is such a beginning, or NULL. */
#define SESSIONS_FROM(parameter)                                                                   \
    "(" parameter " IS NULL OR substr(ifnull(session.imported, 'tiro'), 1, length(" parameter      \
    ")) = " parameter ")"

/* Newest first by updated_ms. System prompts are left out, and drafts of sessions with a title.
 * `total`, if not NULL, is how many match without the limit. */
bool sessions_list(struct store *s, const struct session_filter *filter, struct session_list *out,
                   int64_t *total, struct error *e);

/* The full id of a reference: an id, a title (case ignored), a unique prefix or suffix of an id, a
 * unique part of a title (three bytes or more), "last", "~N" (N-th last, ~1 = last).
 * SESSION_NOT_FOUND where none matches, SESSION_AMBIGUOUS with a text that lists candidates where
 * several do. */
bool sessions_resolve(struct store *s, const char *reference, char id[UUID_LEN + 1],
                      struct error *e);

/* Whether a session has exactly this title. */
bool sessions_has_title(struct store *s, const char *title, bool *out, struct error *e);

/* Deletes the row, its events and snapshot; transcripts_delete() deletes their words, too. In a
 * transaction of its own unless one is open. Deleted content is overwritten on the disk
 * (secure_delete). SESSION_NOT_FOUND. */
bool sessions_delete(struct store *s, const char *id, struct error *e);

/* Calls `visit` with every id, oldest first, until it returns false. With `unsent_in` only with the
 * live sessions that were begun in this directory and have a draft but no events, newest first. */
bool sessions_each(struct store *s, const char *unsent_in,
                   bool (*visit)(void *context, const char *id), void *context, struct error *e);

/* NULL removes it. A session that has neither events nor a draft is removed with it. */
bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e);

/* ---- settings of a session that differ from the configuration ---- */

/* *out NULL: it is as configured. The caller frees. */
bool session_setting_get(struct store *s, const char *session_id, const char *name, char **out,
                         struct error *e);
/* `value` NULL: as configured again. */
bool session_setting_put(struct store *s, const char *session_id, const char *name,
                         const char *value, struct error *e);
bool session_settings_copy(struct store *s, const char *from, const char *to, struct error *e);

/* ---- how much of a session's log is in the files made from it (session/projection.h) ---- */

struct projected {
    int64_t seq; /* the last event in them; 0: none was written */
    int64_t transcript_bytes, events_bytes;
};

/* All zero when nothing is known. */
bool projected_get(struct store *s, const char *session_id, struct projected *out, struct error *e);
bool projected_put(struct store *s, const char *session_id, const struct projected *p,
                   struct error *e);

/* ---- deleted sessions whose files may still exist (session/catalog.h) ---- */

/* The transaction that deletes a session notes its id; a session that is stored again under the
 * same id removes the note. */
struct removal {
    char id[UUID_LEN + 1];
};
struct removals {
    VEC(struct removal) items;
};

/* At most `limit` in random order, so that one that fails does not keep the others waiting. */
bool removals_some(struct store *s, int limit, struct removals *out, struct error *e);
bool removals_has(struct store *s, const char *id, bool *out, struct error *e);
/* The files are gone. */
bool removals_strike(struct store *s, const char *id, struct error *e);

#endif
