/* The operations on learned memory (learned/…), their parameters and results. An item is named by
 * its id or the beginning of it. Texts of parameters are borrowed. */
#ifndef SESSION_LEARNED_OPERATIONS_H
#define SESSION_LEARNED_OPERATIONS_H

#include "base/vec.h"
#include "chat/knowledge.h"
#include "session/notice.h"
#include "session/operation.h"

/* learned/list and learned/search give a struct learned_items. Scope, kind and state are words
 * of learned_item.h; NULL: any. USAGE: an unknown word. */
struct learned_list_params {
    const char *query; /* words; NULL: any text */
    const char *scope; /* "tool" and "history" are computed from the logs of sessions; NULL:
                          items of project and user */
    const char *kind, *state, *tag;
    const char *project; /* "all", or a directory in it; NULL: the session's, else that of the
                            working directory */
    const char *session; /* only items from this session; a reference (catalog.h) */
    bool unused;         /* only active items that no session was told of */
    int limit;           /* 0: all */
};

/* Active items with a word of the query, most words first. */
struct learned_search_params {
    const char *query, *scope, *kind, *tag, *project, *session;
    int limit;
};

/* learned/read, learned/accept, learned/reject, learned/history. Accept and reject give the struct
 * learned_item as it is then; history a struct learned_items. */
struct learned_id_params {
    const char *id;
};

/* A text that is no directive (knowledge/directive.h) becomes a fact about the project. */
struct learned_add_params {
    const char *text;
    const char *scope;   /* "project" or "user"; NULL: by its kind */
    const char *session; /* its session and the session's project; NULL: the open session and the
                            project of the working directory */
};
struct learned_add_result {
    struct learned_item item;
    bool known; /* the item existed already */
};
struct learned_edit_params {
    const char *id, *text;
};

/* Deletes all of the items with their history, or none. */
struct learned_forget_params {
    VEC(const char *) ids;
};
struct learned_forget_result {
    int deleted; /* items; their history is not counted */
};

/* learned/restore restores the items that were last forgotten in the same context, and gives a
 * struct learned_item. */

/* learned/stats: of the session's project (NULL: of the working directory's), and the user's. */
struct learned_stats_params {
    const char *session;
};
struct learned_stats {
    int64_t active, candidates, superseded, rejected;
};

/* Makes a NOTICE_LEARNED about the project of the directory from the store. The caller frees. */
struct notice *learned_notice(struct store *s, const char *directory, bool proposed);

#endif
