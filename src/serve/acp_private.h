/* Shared by the files of the agent: vocabularies, options, prompts, answers of the client,
 * sessions. */
#ifndef SERVE_ACP_PRIVATE_H
#define SERVE_ACP_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/err.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/vec.h"
#include "chat/event.h"
#include "rpc/peer.h"
#include "serve/acp.h"
#include "serve/acp_updates.h"
#include "serve/notification.h"
#include "session/conversation_operations.h"
#include "session/mcp_operations.h"
#include "session/operation.h"

/* --- vocabularies of the protocol (version 1): static tables -------------------------------------
 */

/* Errors of the protocol's schema; the other numbers there are JSON-RPC's own (rpc/peer.h). */
enum { ACP_AUTH_REQUIRED = -32000, ACP_NOT_FOUND = -32002, ACP_CANCELLED = -32800 };

/* The number of an error: base/err.h has others that mean something else to a client of this
 * protocol. */
int acp_error_code(enum err_code code);

/* "end_turn", "max_tokens", "refusal" or "cancelled". */
const char *acp_stop_reason(enum stop_reason reason);

/* An answer that a person may give when a tool asks, or a draft summary waits. */
struct acp_choice {
    const char *id;   /* of the option */
    const char *kind; /* "allow_once", "allow_always", "reject_once" or "reject_always" */
    const char *name; /* English, to be translated; of those for always, the grant is added */
    int answer;       /* enum approval_answer, enum draft_answer */
};
struct acp_choices {
    const struct acp_choice *items;
    size_t len;
};

/* The last three approvals need a grant (notice.h): they allow its calls for the session, or always
 * in the project, or deny them for the session. */
extern const struct acp_choices acp_approval_choices, acp_draft_choices;

/* The answer of the selected option; of NULL and of an id that was not offered, the refusal. */
int acp_choice_answer(struct acp_choices choices, const char *id);

/* --- options of a session: model, compaction mode, tools and effort
 * ---------------------------------------
 *
 * The protocol's configuration options; the tools are also session modes, for clients that know
 * only those. Pure. */

/* The present values of a session. Texts are owned. */
struct acp_options {
    char *provider, *model; /* NULL: not known yet */
    VEC(char *) models;     /* of the provider; none: not known, or it lists none */
    VEC(char *) providers;  /* others that can be chosen */
    char *compaction;       /* mode; NULL: histories are not shortened */
    char *tools;            /* "none", "read" or "full" */
    char *effort;           /* of reasoning; NULL: as the provider has it */
    char *efforts;          /* words for it, separated by blanks; NULL: the model has none */
};

/* ACP_OPTION_UNKNOWN: no option has this id. */
enum acp_option {
    ACP_OPTION_MODEL,
    ACP_OPTION_COMPACTION,
    ACP_OPTION_TOOLS,
    ACP_OPTION_EFFORT,
    ACP_OPTION_UNKNOWN
};

/* Sets the present value; a model is named "provider/model", "provider", or as one of the present
 * provider's. */
void acp_options_choose(struct acp_options *options, enum acp_option option, const char *value);

/* --- prompts: a list of content blocks becomes the text of a turn and its images. Pure -----------
 */

struct acp_image {
    const char *data;       /* base64, borrowed of the blocks */
    const char *media_type; /* likewise */
};

struct acp_prompt {
    struct buf text; /* embedded files first (chat/attached_file.h), then what was written */
    VEC(struct acp_image) images;
};

/* False with USAGE that names the block: "prompt[2]: …". `out` is to be released in either case. */
bool acp_prompt_read(const struct json *blocks, struct acp_prompt *out, struct error *e);
void acp_prompt_release(struct acp_prompt *p);

/* The path of a file:// address, with the part behind "#"; another address, and one that is no
 * UTF-8, is copied. The caller frees. */
char *acp_uri_to_path(const char *uri);

/* The file:// address of a path; the caller frees. */
char *acp_path_to_uri(const char *path);

/* --- answers of the client to requests for tools
 * --------------------------------------------------
 *
 * They are foreign, and become what the engine is told. Pure; texts are borrowed of the JSON unless
 * the function says otherwise. */

/* To terminal/wait_for_exit, and the member exitStatus of terminal/output: members that fit replace
 * the known values. `signal` is owned. */
void acp_answer_exit(const struct json *exit, int64_t *status, char **signal);

/* The reason of a failure, for the model. `fault` NULL: the answer did not fit. The caller frees.
 */
char *acp_answer_refusal(const struct rpc_fault *fault, const char *method);

/* --- the connection and its sessions
 * -------------------------------------------------------------- */

struct acp_editor_request;
struct acp_session;
struct acp_sending;
struct wire;

struct acp {
    struct server *server;
    struct rpc_peer *peer;
    struct wire *wire;
    void (*closed)(void *context); /* acp_new()'s */
    void *context;
    struct acp_client client; /* as it said in initialize */
    bool initialized;
    bool gone;                           /* its input has ended: it answers nothing any more */
    struct subscriptions *subscriptions; /* all sessions; the log of a loading one first */
    VEC(struct acp_session *) sessions;  /* that the client has open */
    VEC(struct acp_ask *) asks;          /* that wait for the engine */
    VEC(struct acp_editor_request *) editor_requests; /* on behalf of tools */
};

struct acp_ask;
typedef void acp_done(struct acp_ask *ask, const struct operation_answer *answer);

/* A call to the engine, for a request of the client or for a session. */
struct acp_ask {
    struct acp *acp;
    struct rpc_call *call;       /* that waits for it; NULL: none does */
    struct acp_session *session; /* that it is about; NULL: none, or it is gone */
    acp_done *done;
    uint64_t id;
    /* For `done`; texts and `sending` are owned. */
    int64_t number;
    char *text, *servers;
    bool answers_options;
    struct acp_sending *sending;
};

/* A person is asked by way of the client: about a tool call, a draft summary or a form. */
struct acp_question {
    struct acp_session *session;
    struct acp_choices choices;
    char *call;  /* id of the engine; NULL: a draft */
    char *told;  /* the tool call that was made for the question; NULL: the question is of a call */
    char *grant; /* as in the notice; NULL: none */
    int64_t id;  /* of the request to the client; 0: answered */
    int64_t form; /* of NOTICE_ELICITATION; 0: it is another question */
};

/* A session that is not ready yet: its log is told, or its settings are asked for. */
struct acp_loading {
    struct rpc_call *call; /* to be answered then; NULL: the session is ready */
    char *servers;         /* of MCP, that the client names, JSON; NULL: none */
};

struct acp_session {
    struct acp *acp;
    char id[UUID_LEN + 1];
    char *directory;
    struct acp_telling telling;
    struct acp_options options;
    int64_t dropped;         /* updates that the client was too slow for */
    struct rpc_call *prompt; /* that waits for the end of its turn; NULL: none */
    bool cancelled;          /* … and was called off */
    struct acp_loading loading;
    char *servers;  /* of MCP, that the client names, JSON; NULL: none */
    char *commands; /* as they were last told, JSON; NULL: not yet */
    int64_t drafts; /* that were shown */
    VEC(struct acp_question *) questions;
    VEC(char *) refused; /* grants that are denied without a question */
};

/* --- acp.c -------------------------------------------------------------------------------------
 */

/* Calls the engine. `done` (NULL: nobody wants the answer) is called once, with a session of NULL
 * if it is gone by then. The ask is freed after `done`. */
struct acp_ask *acp_ask(struct acp *a, struct rpc_call *call, struct acp_session *s,
                        const struct operation *o, const void *params, acp_done *done);
/* The answer is not wanted any more; false: the session does not wait for one. */
bool acp_withdraw(struct acp *a, const struct acp_session *s, acp_done *done);

/* As rpc_fail(), with acp_error_code() and the name of the code. */
void acp_fail(struct rpc_call *call, const struct error *e);
void acp_refuse(struct rpc_call *call, enum err_code code, const char *text);

/* Fails the call where the answer is an error. */
bool acp_failed(struct rpc_call *call, const struct operation_answer *answer);

/* --- acp_session.c -----------------------------------------------------------------------------
 */

struct acp_session *acp_find_session(struct acp *a, const char *id);
void acp_session_free(struct acp_session *s);

/* The open session that the parameters name; NULL: the call was failed. */
struct acp_session *acp_need_session(struct acp *a, struct rpc_call *call,
                                     const struct json *params);

/* The client is told what can be chosen, and what is. */
void acp_tell_options(struct acp_session *s);
/* Another model has other efforts: reads them, and tells the client. */
void acp_read_efforts(struct acp_session *s);

/* Callbacks of the subscriptions: the log of a session that is loaded was told, or cannot be read.
 */
void acp_log_told(void *acp, const char *session);
void acp_log_failed(void *acp, const char *session, const struct error *e);

/* `value` names a model as for acp_options_choose(). */
struct acp_ask *acp_ask_for_model(struct acp_session *s, struct rpc_call *call, const char *value,
                                  acp_done *done);

typedef void acp_method(struct acp *a, struct rpc_call *call, const struct json *params);
acp_method acp_session_new, acp_session_load, acp_session_resume, acp_session_fork,
    acp_session_list, acp_session_close, acp_session_delete, acp_session_set_mode,
    acp_session_set_option;

/* --- acp_prompt.c ------------------------------------------------------------------------------
 */

acp_method acp_session_prompt;
/* A prompt whose images are kept before it is sent. NULL is fine. */
void acp_sending_free(struct acp_sending *w);
void acp_cancel_prompt(struct acp_session *s);
void acp_forget_questions(struct acp_session *s); /* nobody is to answer them */

/* A notice of the engine about an open session. */
void acp_session_notice(struct acp_session *s, const struct notice *n);

/* The turn of the prompt has ended: the client is answered. */
void acp_end_prompt(struct acp_session *s, const char *stop_reason);
void acp_fail_prompt(struct acp_session *s, const struct error *e);
acp_done acp_answer_turn;

/* --- acp_editor.c --------------------------------------------------------------------------------
 */

/* Asks the client for what a tool wants, in a session that the client has open; else the tool does
 * it itself. False: the notice is of another kind. */
bool acp_editor_notice(struct acp *a, const struct notice *n);

/* The client has gone: no tool waits for it any more. */
void acp_editor_leave(struct acp *a);

/* --- acp_commands.c ----------------------------------------------------------------------------
 */

/* Runs what the prompt says if it is a command ("/compact"), which ends the prompt. */
bool acp_run_command(struct acp_session *s, const char *text);
/* Stops the import of the prompt, and answers it; false: it has none. */
bool acp_stop_import(struct acp_session *s);
void acp_tell_commands(struct acp_session *s); /* if they are others than were told */

#endif
