/* The operations on kept sessions: session/…, and what they take and give. A session is named by a
 * reference (catalog.h). Texts of parameters are borrowed. */
#ifndef SESSION_SESSION_OPERATIONS_H
#define SESSION_SESSION_OPERATIONS_H

#include "base/vec.h"
#include "session/export.h"
#include "session/operation.h"

/* The row of a member that names one. In an engine with a conversation in front NULL means that; a
 * caller from outside has no such thing. */
#define SESSION_FIELD(S)                                                                           \
    SHAPE_REQ_AS(SESSION_MEMBER, S, session,                                                       \
                 "Id, title, unique part of an id, \"last\" or \"~N\".", .least = 1)

/* What takes a session and nothing else. */
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

/* A page of a transcript: behind an event, or with `newest` the last ones before one. */
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
    bool more;     /* beyond the page, in the direction that was asked */
    int64_t large; /* the event before which the page ended, as it alone has more bytes; 0: none */
};

/* Of a page that names no bound. */
enum { SESSION_HISTORY_BYTES = 4 << 20 };

/* A part of an event's line: an event of any size is read so, in bounded memory. */
struct session_event_params {
    const char *session;
    int64_t seq, from; /* the event; 0, then `next` of the part before */
    int bytes;
};
struct session_event_result {
    char *type, *text;
    int64_t next; /* 0: that was the end */
};

/* Texts that were sent, of all sessions. */
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
    int64_t at;
    bool before_compaction;
};

/* Without a path the text goes to the stream. */
struct session_export_params {
    const char *session, *path;
    enum export_format format;
    bool replace;
};

/* Out of the stream; gives a struct session_info. */
struct session_import_params {
    const char *title, *directory;
};

/* What a change gives. */
struct session_changed {
    char id[UUID_LEN + 1];
};

extern const struct operation operation_session_list, operation_session_search,
    operation_session_read, operation_session_history, operation_session_event,
    operation_session_inputs, operation_session_rename, operation_session_label,
    operation_session_archive, operation_session_unarchive, operation_session_delete,
    operation_session_fork, operation_session_export, operation_session_import,
    operation_session_rebuild;

/* The operations on compactions: compaction/…, and what they take and give. Texts of parameters are
 * borrowed. */

/* A page of the events that the messages which a compaction dropped were made of. */
struct compaction_ledger_params {
    const char *session; /* a reference (catalog.h) */
    int64_t seq;         /* of its compaction_completed */
    int64_t place;       /* of the page's first among all of them; 0: the first */
    int limit;
};
struct compaction_ledger {
    struct event *completed;
    struct event_list events;
    bool more;             /* behind the page */
    bool quotes_forgotten; /* its summary: something that memory was told to forget */
};

extern const struct operation operation_compaction_ledger;

/* The compaction_completed of this number; the caller frees. USAGE: there is no such event. */
bool compaction_find(struct store *s, const char *session, int64_t seq, struct event **out,
                     struct error *e);

#endif
