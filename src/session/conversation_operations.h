/* The operations of open conversations: what they take and give. Each runs on the agent thread of
 * its conversation and needs an engine (engine.h); operation_call() refuses it. Texts of parameters
 * are borrowed; NULL: not given. The engine resolves `session`. */
#ifndef SESSION_CONVERSATION_OPERATIONS_H
#define SESSION_CONVERSATION_OPERATIONS_H

#include "base/entropy.h"
#include "chat/context.h"
#include "chat/event.h"
#include "chat/knowledge.h"
#include "chat/mention.h"
#include "chat/usage.h"
#include "session/operation.h"

/* Which tools are offered, as [chat] tools. */
enum tools_offer { TOOLS_CONFIGURED, TOOLS_NONE, TOOLS_READ, TOOLS_FULL };
extern const struct shape_names tools_offer_names;

/* session/create: the new session is then in front (struct session_info). Without provider and
 * model it uses those of the session that was in front before. */
struct session_create_params {
    const char *provider, *model;
    const char *directory; /* absolute path of an existing directory, in which the tools work; NULL:
                              the program's. It is saved with the session. */
    const char *system;    /* as session/set_system */
    const char *labels;    /* words separated by blanks */
    enum tools_offer tools;
};

/* session/open: opens a saved session. An archived session leaves the archive, unless it is opened
 * for reading; then turn/start is SESSION_NOT_FOUND. In an engine that serves, a session that was
 * opened for reading is so for all clients until it is opened for writing or closed; a session that
 * is open for writing stays so. session/fork (session_operations.h) also opens the fork, but not in
 * an engine that serves. */
struct session_open_params {
    const char *session;
    bool read_only;
    const char *directory; /* as in session/create, from now on; NULL: unchanged */
};

/* session/set_model. No provider: the present one. Refused if the provider has no key, or if its
 * server lists models without this one. */
struct session_model_params {
    const char *session;
    const char *provider, *model;
};

/* session/set_effort, saved with the session: how much the model reasons, in a word of its provider
 * (session/settings lists them), or "default": as the provider has it; NULL or "": as configured.
 */
struct session_effort_params {
    const char *session, *effort;
};

/* session/set_system (NULL: the configured prompt), session/set_draft (NULL: no draft). */
struct session_text_params {
    const char *session;
    const char *text;
};

/* session/set_memory, saved with the session. */
struct session_memory_params {
    const char *session;
    enum memory_access access;
};

/* memory/leave_out: the session no longer sends the entry with messages, or with `back` may send it
 * again. Searches of the model still find the entry. */
struct memory_leave_out_params {
    const char *session;
    const char *id; /* id of the entry, or the beginning of the id */
    bool back;
};

/* session/set_tools, saved with the session. */
struct session_tools_params {
    const char *session;
    enum tools_offer tools;
};

/* session/set_compaction, saved with the session: the mode of compactions; NULL: the configured
 * one.
 */
struct session_compaction_params {
    const char *session, *mode;
};

/* session/settings: the settings of the session, or the configured ones. */
struct session_settings {
    char *directory, *provider, *model;
    char *system; /* NULL: the configured one */
    enum tools_offer tools;
    char *compaction; /* its mode; NULL: histories are not shortened */
    char *effort;     /* of reasoning; NULL: as the provider has it */
    char *efforts;    /* words for it, separated by blanks; NULL: none is known for the model */
    enum memory_access memory;
};

/* session/add_image: saves an image with the session, for a later message. */
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
    struct mentions attach;  /* files, folders and skills that are read now; of a name that the text
                                mentions there may be nothing */
    enum input_origin origin;
};

/* Sends the user's last message again, with another text if one is given. That keeps the attached
 * files, except those which only the old text mentions. */
struct turn_retry_params {
    const char *session;
    const char *text;
    struct mentions attach;   /* with the other text */
    enum input_origin origin; /* of the other text */
};

/* Result of turn/start and turn/retry: the message is part of the conversation, however its turn
 * ended. If the operation fails, nothing was saved. */
struct turn_result {
    char session_id[UUID_LEN + 1];
    char *text;         /* the answer, as far as it came */
    int turns;          /* of the conversation */
    int64_t tool_calls; /* of this turn */
    enum stop_reason stop_reason;
    struct usage usage;
    struct error fault; /* that ended it; ERR_OK: none */
};

/* tool/answer, the answer to NOTICE_READ, NOTICE_WRITE and NOTICE_RUN; no client calls it by name.
 * SESSION_NOT_RUNNING: no tool waits for it (any more). */
struct surface_answer_params {
    const char *session;
    int64_t number;
    enum surface_outcome outcome;
    const char *text;    /* DID: the file's text or the command's output; FAILED: the reason */
    bool truncated;      /* the beginning of the output was left out */
    int64_t exit_status; /* of a command; -1: unknown */
    const char *signal;  /* that ended it; NULL: none */
};
extern const struct shape surface_answer_shape;

/* approval/decide, the answer to NOTICE_APPROVAL. SESSION_NOT_RUNNING: the call does not wait for
 * approval (any more). */
struct approval_decide_params {
    const char *session;
    const char *call;
    enum approval_answer decision;
    const char *reason; /* why the call is denied, for the model; NULL: none */
};

/* elicitation/decide, the answer to NOTICE_ELICITATION. SESSION_NOT_RUNNING: it does not wait for
 * an answer (any more). USAGE: the content does not fit the form, which still waits. */
enum elicitation_action { ELICITATION_ACCEPT, ELICITATION_DECLINE, ELICITATION_CANCEL };
struct elicitation_decide_params {
    const char *session;
    int64_t number;
    enum elicitation_action action;
    const char *content; /* JSON, with ACCEPT; NULL: the defaults of the form */
};

/* permission/list: the grants of the session and of the project, and all trusted directories. From
 * the command line, none of a session. */
struct permission_list_params {
    const char *session;
    const char *revoke; /* a permission that is taken back first: its number in the list, or its
                           text, for a command also without quotes and "…"; NULL: none */
};
enum permission_scope { PERMISSION_SESSION, PERMISSION_PROJECT, PERMISSION_DIRECTORY };
struct permission_list {
    VEC(struct permission {
        int64_t number; /* from 1 */
        char *text;
        enum permission_scope scope;
    })
    items;
    char *project; /* the real path of its top directory */
};

struct compaction_run_params {
    const char *session;
    const char *mode, *focus; /* NULL: the configured mode; no focus */
    bool preview;             /* show the draft first, whatever is configured */
};

/* The words behind /compact. Pure. A word that begins with "--" and is no option ends it:
 * `unknown`. What follows mode and options, from its first word on, is the focus. */
#define COMPACT_PREVIEW "--preview"
struct compact_words {
    const char *mode; /* static; NULL: none */
    bool preview;
    const char *focus;   /* in the text; "" */
    const char *unknown; /* in the text; NULL */
};
struct compact_words compact_parse(const char *arguments);

/* Result of a compaction that was begun; the log has its end, too. If the operation fails, the
 * compaction was not begun. */
struct compaction_result {
    struct event *completed; /* as the log has it; NULL: it failed */
    struct error fault;      /* of the event compaction_failed; ERR_OK: the compaction succeeded */
};

/* compaction/decide, the answer to NOTICE_DRAFT. `text`: the changed summary (COMMIT; NULL:
 * unchanged), or the focus (AGAIN). SESSION_NOT_RUNNING: no draft waits. */
struct compaction_decide_params {
    const char *session;
    enum draft_answer decision;
    const char *text;
};

/* compaction/pin, unpin. Both 0: the newest message of the user that is sent. */
struct compaction_pin_params {
    const char *session;
    int64_t turn; /* counts the user's messages from 1 on (event_log_turns()); -1: no number */
    int64_t seq;  /* of any message */
};

/* session/rewind. `seq` 0: the message is that of the turn; `turn` 0: the last one of the user's.
 */
struct session_rewind_params {
    const char *session;
    int64_t turn; /* as above */
    int64_t seq;  /* of the message */
};
struct session_rewound {
    int64_t seq; /* of the message */
    char *text;  /* of the message, without its attachments */
};

/* session/changes: the files that tools changed since the point of the newest rewind. */
enum restorable_state {
    RESTORABLE_READY,   /* it is as the tools left it */
    RESTORABLE_CHANGED, /* it was changed since: given back only by its name */
    RESTORABLE_LOST,    /* `why` it cannot be given back */
    RESTORABLE_DONE,
    RESTORABLE_FAILED /* `why` */
};
struct restorable {
    char *path; /* as the tools named it */
    enum restorable_state state;
    bool removes; /* there was no file then */
    int64_t added, removed;
    char *difference; /* of the present text to that of then; NULL: too long */
    char *why;
};
struct session_files {
    VEC(struct restorable) files;
    VEC(char *) commands; /* whose changes are not covered */
};

/* session/restore; the result as of session/changes, with what was done. */
struct session_restore_params {
    const char *session;
    const char *file; /* its path in session/changes; NULL, "": all that are ready */
};

/* models/list asks the server of a provider (NULL: the present one); its list may be missing
 * (`fault`). */
struct models_params {
    const char *session, *provider;
};
struct model_offer {
    char *name;
    int64_t window;                   /* tokens; 0: unknown */
    double input_price, output_price; /* USD for a million tokens; -1: unknown */
    char *price_date;                 /* when the prices were true; NULL: unknown */
};
struct provider_offer {
    char *name;
    char *wants; /* the environment variable of its missing key; NULL: it can be chosen */
};
struct models_result {
    char *provider;
    VEC(struct model_offer) models;
    VEC(struct provider_offer) providers;
    struct error fault; /* why the server lists nothing; ERR_OK: none */
};

/* provider/check asks the provider's server for its models, which costs no tokens. A provider or
 * model that is not named is the session's. */
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
    struct error fault;     /* why there was no answer; ERR_OK: the server answered */
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

/* Commands of the terminal that no operation has, with their aliases. A skill with such a name is
 * not opened by it. */
#define TERMINAL_COMMANDS                                                                          \
    "help", "edit", "attach", "copy", "find", "theme", "config", "quit", "exit"

/* skill/list gives a struct skills. turn/interrupt, compaction/undo, context/read (gives a struct
 * context), skill/list and doctor/report take a struct session_params. */
extern const struct operation operation_tool_answer;

#endif
