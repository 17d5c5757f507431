/* The operations on learned memory: learned/…, and what they take and give. An item is named by its
 * id or the beginning of it. Texts of parameters are borrowed. */
#ifndef SESSION_LEARNED_OPERATIONS_H
#define SESSION_LEARNED_OPERATIONS_H

#include "base/vec.h"
#include "chat/knowledge.h"
#include "session/notice.h"
#include "session/operation.h"

/* learned/list and learned/search give a struct learned_items. Words are those of learned_item.h;
 * NULL: any. USAGE where a word is none of them. */
struct learned_list_params {
    const char *query; /* words; NULL: any text */
    const char *scope; /* "tool" and "history" are what the logs of sessions say; NULL: what was
                          said, of project and user */
    const char *kind, *state, *tag;
    const char *project; /* "all", or a directory of it; NULL: the session's, else the one of the
                            working directory */
    const char *session; /* what was said in it, of its project; as in catalog.h */
    bool unused;         /* active ones that no session was told of */
    int limit;           /* 0: all */
};

/* Active ones with a word of the query, most words first. */
struct learned_search_params {
    const char *query, *scope, *kind, *tag, *project, *session;
    int limit;
};

/* learned/read, learned/accept, learned/reject, learned/history. Accept and reject give the struct
 * learned_item as it is then; history a struct learned_items. */
struct learned_id_params {
    const char *id;
};

/* What no pattern of directives fits is a fact about the project. */
struct learned_add_params {
    const char *text;
    const char *scope;   /* "project" or "user"; NULL: what its kind says */
    const char *session; /* that it is said in, of whose project it is; NULL: the open one, and the
                            project of the working directory */
};
struct learned_add_result {
    struct learned_item item;
    bool known; /* it was there */
};
struct learned_edit_params {
    const char *id, *text;
};

/* All or none, with their history. */
struct learned_forget_params {
    VEC(const char *) ids;
};
struct learned_forget_result {
    int deleted; /* items; their history is not counted */
};

/* What was forgotten last through the same context; gives a struct learned_item. */

/* learned/stats: of the session's project (NULL: of the working directory's), and the user's. */
struct learned_stats_params {
    const char *session;
};
struct learned_stats {
    int64_t active, candidates, superseded, rejected;
};

/* NOTICE_LEARNED of the project of that directory, as the store has it now. The caller frees. */
struct notice *learned_notice(struct store *s, const char *directory, bool proposed);

extern const struct operation operation_learned_list, operation_learned_search,
    operation_learned_read, operation_learned_history, operation_learned_add,
    operation_learned_edit, operation_learned_accept, operation_learned_reject,
    operation_learned_forget, operation_learned_restore, operation_learned_stats;

#endif
