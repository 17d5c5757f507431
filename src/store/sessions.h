/* The sessions table: one row a session, as chat/session_info.h. */
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

/* What a listing shows; all zero: every session. */
struct session_filter {
    const char *text;  /* in title (the draft without one), directory, model, labels or last line,
                          case folded; NULL */
    const char *label; /* has it; NULL */
    const char *directory; /* was begun there; NULL */
    enum session_state state;
    int limit; /* 0: all */
};

/* Newest first by updated_ms. System prompts are left out, and drafts but for those of sessions
 * without a title, which nothing else would tell apart. `total`, if not NULL, is how
 * many match without the limit. */
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

/* The row, its events and snapshot; transcripts_delete() takes their words, too. Inside a
 * transaction of its own unless one is open; what was written is overwritten on the disk
 * (secure_delete). SESSION_NOT_FOUND. */
bool sessions_delete(struct store *s, const char *id, struct error *e);

/* Calls `visit` with every id, oldest first, until it returns false. */
bool sessions_each(struct store *s, bool (*visit)(void *context, const char *id), void *context,
                   struct error *e);

/* Calls `visit` with the id of each live session that was begun in the directory and has a draft,
 * but nothing that was sent, newest first, until it returns false. */
bool sessions_each_unsent(struct store *s, const char *directory,
                          bool (*visit)(void *context, const char *id), void *context,
                          struct error *e);

/* NULL removes it. A session that has neither events nor a draft is removed with it. */
bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e);

#endif
