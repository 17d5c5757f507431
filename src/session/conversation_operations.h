/* The operations of open conversations: what they take and give. Each runs on the agent thread of
 * its conversation, and needs an engine (engine.h); operation_call() refuses it. Texts of
 * parameters are borrowed; NULL where nothing is said. What `session` names is the engine's to
 * find. */
#ifndef SESSION_CONVERSATION_OPERATIONS_H
#define SESSION_CONVERSATION_OPERATIONS_H

#include "base/entropy.h"
#include "chat/context.h"
#include "chat/event.h"
#include "chat/knowledge.h"
#include "chat/usage.h"
#include "session/operation.h"

/* Which tools are offered, as [chat] tools. */
enum tools_offer { TOOLS_CONFIGURED, TOOLS_NONE, TOOLS_READ, TOOLS_FULL };
extern const struct shape_names tools_offer_names;

/* session/create: the session that was begun is in front then (struct session_info). What it talks
 * to is what was talked to before, where neither is said. */
struct session_create_params {
    const char *provider, *model;
    const char *directory; /* absolute path of one that exists: where its tools work; none: that of
                              the program. It is kept with the session. */
    const char *system;    /* as session/set_system */
    const char *labels;    /* words parted by blanks */
    enum tools_offer tools;
};

/* session/open: the same of one that is kept. An archived one is live again, unless it is opened
 * for reading: then turn/start is SESSION_NOT_FOUND. An engine that serves has it so for all who
 * ask, until the session is opened otherwise or closed, if it was not open to be written to.
 * session/fork (session_operations.h) also opens the fork, but not in an engine that serves. */
struct session_open_params {
    const char *session;
    bool read_only;
    const char
        *directory; /* as of session/create: where it works from now on; none: where it did */
};

/* session/set_model. No provider: the present one. Refused where the provider lacks its key, or its
 * server lists models, but not this one. */
struct session_model_params {
    const char *session;
    const char *provider, *model;
};

/* session/set_system (none: the configured one), session/set_draft (none: nothing is written). */
struct session_text_params {
    const char *session;
    const char *text;
};

/* session/set_memory, kept with the session. */
struct session_memory_params {
    const char *session;
    enum memory_access access;
};

/* session/set_tools, kept with the session. */
struct session_tools_params {
    const char *session;
    enum tools_offer tools;
};

/* session/set_compaction, likewise: the mode of its compactions; none: the configured one. */
struct session_compaction_params {
    const char *session, *mode;
};

/* session/settings: what it is set to, or what is configured. */
struct session_settings {
    char *directory, *provider, *model;
    char *system; /* NULL: the configured one */
    enum tools_offer tools;
    char *compaction; /* its mode; NULL: histories are not shortened */
    enum memory_access memory;
};

/* session/add_image: keeps it with the session, for a message that is to come. */
struct session_image_params {
    const char *session;
    const char *data; /* PNG, JPEG, GIF or WebP, in base64 */
};
struct session_image {
    char *path;
    char *media_type;
};

struct turn_start_params {
    const char *session;
    const char *text;
    const char *attachments; /* JSON array of image blocks */
    enum input_origin origin;
};

/* The last message of the user again, in other words if there are some. */
struct turn_retry_params {
    const char *session;
    const char *text;
    enum input_origin origin; /* of other words */
};

/* Of both: the message is part of the conversation, however its turn ended. Where the operation
 * fails, nothing was kept. */
struct turn_result {
    char session_id[UUID_LEN + 1];
    char *text;         /* the answer, or what came of it */
    int turns;          /* of the conversation */
    int64_t tool_calls; /* of this turn */
    enum stop_reason stop_reason;
    struct usage usage;
    struct error fault; /* that ended it; ERR_OK: none */
};

/* tool/answer, which no client calls by name: to NOTICE_READ, NOTICE_WRITE and NOTICE_RUN.
 * SESSION_NOT_RUNNING: no tool waits for that, or not any more. */
struct surface_answer_params {
    const char *session;
    int64_t number;
    enum surface_outcome outcome;
    const char *text;    /* DID: the file's, or what the command printed; FAILED: why */
    bool truncated;      /* the beginning of what it printed was left out */
    int64_t exit_status; /* of a command; -1: unknown */
    const char *signal;  /* that ended it; NULL: none */
};
extern const struct shape surface_answer_shape;

/* approval/decide: to NOTICE_APPROVAL. SESSION_NOT_RUNNING: that call asks nothing, or not any
 * more. */
struct approval_decide_params {
    const char *session;
    const char *call;
    enum approval_answer decision;
};

struct compaction_run_params {
    const char *session;
    const char *mode, *focus; /* none: the configured mode; nothing above all */
    bool preview;             /* the draft first, whatever is configured */
};

/* It was begun, and the session knows how it ended. Where the operation fails, it was not begun. */
struct compaction_result {
    struct event *completed; /* as the log has it; NULL: it failed */
    struct error fault;      /* that was told as compaction_failed; ERR_OK: it was done */
};

/* compaction/decide: to NOTICE_DRAFT. `text`: the changed summary (COMMIT; NULL: unchanged), or
 * what to focus on (AGAIN). SESSION_NOT_RUNNING: no draft waits. */
struct compaction_decide_params {
    const char *session;
    enum draft_answer decision;
    const char *text;
};

/* compaction/pin, unpin. */
struct compaction_pin_params {
    const char *session;
    int64_t seq; /* of a message; 0: the newest of the user's */
};

/* models/list. The server of the present provider is asked; what it lists may lack. */
struct provider_offer {
    char *name;
    char *wants; /* the variable of the key that it lacks; NULL: it can be chosen */
};
struct models_result {
    VEC(char *) models;
    VEC(struct provider_offer) providers;
    struct error fault; /* why the server lists nothing; ERR_OK: none */
};

/* provider/check. What is not named is what the session talks to. Its server is asked for its
 * models, which needs no tokens. */
struct provider_check_params {
    const char *session;
    const char *provider, *model;
};
struct provider_check_result {
    char *provider, *model; /* "": the first that the server lists */
    char *url;              /* NULL: it has no server */
    int models;             /* that the server lists */
    bool listed;            /* the model is among them */
    int64_t ms;             /* until the answer */
    struct error fault;     /* why there was none; ERR_OK: it answered */
};

/* doctor/report. */
struct report_fact {
    char *name;  /* "provider" */
    char *value; /* English */
};
struct report_result {
    VEC(struct report_fact) facts;
    struct error fault; /* among them; ERR_OK: none */
};

/* A struct error as {"code","message"}. */
extern const struct shape_codec fault_codec;

/* session/close: the turn or compaction that runs is interrupted, and the memory is given back; the
 * next request that names the session opens it again. */
struct session_close_params {
    const char *session;
    bool discard_unused; /* delete it if nothing was said or written in it since it was created */
};

/* turn/interrupt, compaction/undo, context/read (gives a struct context),
 * models/list and doctor/report take a struct session_params. */
extern const struct operation operation_session_create, operation_session_open,
    operation_session_close, operation_session_set_model, operation_session_set_system,
    operation_session_set_draft, operation_session_set_memory, operation_session_set_tools,
    operation_session_set_compaction, operation_session_settings, operation_session_add_image,
    operation_turn_start, operation_turn_retry, operation_turn_interrupt, operation_approval_decide,
    operation_tool_answer, operation_compaction_run, operation_compaction_decide,
    operation_compaction_undo, operation_compaction_pin, operation_compaction_unpin,
    operation_context_read, operation_models_list, operation_provider_check,
    operation_doctor_report;

#endif
