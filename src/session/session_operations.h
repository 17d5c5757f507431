/* The operations on saved sessions (session/…), their parameters and results. A session is named by
 * a reference (catalog.h). Texts of parameters are borrowed. */
#ifndef SESSION_SESSION_OPERATIONS_H
#define SESSION_SESSION_OPERATIONS_H

#include "base/vec.h"
#include "session/export.h"
#include "session/operation.h"

/* The member that names a session. NULL: that of the conversation in front, if the engine has one.
 */
#define SESSION_FIELD(S)                                                                           \
    SHAPE_REQ_AS(SESSION_MEMBER, S, session,                                                       \
                 "Id, title, unique part of an id, \"last\" or \"~N\".", .least = 1)

/* Parameters of operations that take a session only. */
struct session_params {
    const char *session;
};
extern const struct shape session_params_shape;

/* session/list: struct session_filter. */
struct session_list_result {
    struct session_list sessions; /* newest first */
    int64_t total;                /* how many match without the limit */
};

struct session_search_params {
    const char *query, *session;
    int limit;
};
struct session_search_result {
    struct search_hits matches;
    bool more;
};

/* session/read (gives a struct session_info), archive, unarchive, delete and rebuild take a struct
 * session_params. */

/* A page of a transcript: the events after one, or with `newest` the last ones before one. */
struct session_history_params {
    const char *session;
    int64_t after;
    int64_t before; /* 0: the end */
    bool newest;
    int limit;
    int bytes; /* 0: SESSION_HISTORY_BYTES, but one event whatever its size */
};
struct session_history_result {
    struct session_info session;
    struct event_list events;
    bool more;     /* there are more in this direction */
    int64_t large; /* the page ended before this event, which alone is too large; 0: none */
};

/* Bytes of a page if `bytes` is 0. */
enum { SESSION_HISTORY_BYTES = 4 << 20 };

/* A part of an event's line, to read an event of any size in bounded memory. */
struct session_event_params {
    const char *session;
    int64_t seq, from; /* the event; 0, then `next` of the part before */
    int bytes;
};
struct session_event_result {
    char *type, *text;
    int64_t next; /* 0: the end */
};

/* The user's messages of all sessions. */
struct session_inputs_params {
    int limit;
};
struct session_inputs_result {
    VEC(char *) texts; /* newest first, each once */
};

struct session_rename_params {
    const char *session, *title;
};
struct session_label_params {
    const char *session, *changes; /* as session_labels_change() */
};

/* Gives a struct session_info. */
struct session_fork_params {
    const char *session;
    int64_t turn; /* replaces `at`: number of one of the user's messages; -1: no number */
    int64_t at;
    bool before_compaction;
};

/* path NULL: the text goes to the stream. */
struct session_export_params {
    const char *session, *path;
    enum export_format format;
    bool replace;
};

/* Reads the stream; gives a struct session_info. */
struct session_import_params {
    const char *title, *directory;
};

/* Result of operations that change a session. */
struct session_changed {
    char id[UUID_LEN + 1];
};

/* The operations on compactions (compaction/…), their parameters and results. Texts of parameters
 * are borrowed. */

/* A page of the events whose messages a compaction dropped. */
struct compaction_ledger_params {
    const char *session; /* a reference (catalog.h) */
    int64_t seq;         /* of its compaction_completed */
    int64_t place;       /* index of the page's first event among all of them */
    int limit;
};
struct compaction_ledger {
    struct event *completed;
    struct event_list events;
    bool more;             /* there are more after the page */
    bool quotes_forgotten; /* the summary quotes an entry that was forgotten */
};

/* Reads the compaction_completed of this number; the caller frees. USAGE: there is no such event.
 */
bool compaction_find(struct store *s, const char *session, int64_t seq, struct event **out,
                     struct error *e);

#endif
