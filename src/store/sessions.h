/* The sessions table: one row a session, as chat/session_info.h. */
#ifndef STORE_SESSIONS_H
#define STORE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "chat/session_info.h"
#include "store/store.h"

/* Inserts or updates the whole row. */
bool sessions_put(struct store *s, const struct session_info *info, struct error *e);

/* SESSION_NOT_FOUND when there is none. */
bool sessions_get(struct store *s, const char *id, struct session_info *out, struct error *e);

/* Newest first by updated_ms; limit 0 is all. Drafts and system prompts are left out. */
bool sessions_list(struct store *s, int limit, struct session_list *out, struct error *e);

/* The full id of a reference: an id, a title (whole, case ignored), a unique prefix or suffix of an
 * id (4 characters at least), "last", "~N" (N-th last, ~1 = last). An ambiguous one is
 * SESSION_NOT_FOUND whose text lists candidates. */
bool sessions_resolve(struct store *s, const char *reference, char id[UUID_LEN + 1],
                      struct error *e);

/* NULL removes it. A session that has neither events nor a draft is removed with it. */
bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e);

#endif
