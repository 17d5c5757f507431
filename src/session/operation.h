/* The table of operations. Each operation of the engine is one row: its name, the shapes of its
 * parameters and result, its conditions and its function. Surfaces call rows and have no logic of
 * their own; the table does not depend on any surface. */
#ifndef SESSION_OPERATION_H
#define SESSION_OPERATION_H

#include <stdint.h>
#include <stdio.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/i18n.h"
#include "base/shape.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "session/catalog.h"

/* Member names that are the same in every row: a reference to a session (sessions.h), and the
 * user's text. */
#define SESSION_MEMBER "session_id"
#define TURN_MEMBER "turn"
#define PROMPT_MEMBER "prompt"

#define SAYS_DONE N_("Done.")

/* For the details of a command. */
#define NAMES_A_SESSION                                                                            \
    N_("SESSION is the start or the end of an id, a title or a part of it, last, or ~2 (the "      \
       "last\n"                                                                                    \
       "but one).")
#define NAMES_AN_ENTRY N_("ID is the id of an entry or the start of it; search and list show ids.")
#define NAMES_AN_ITEM N_("ID is the id of an item or the start of it; list and search show ids.")
#define ASKS_ONCE N_("Asks once; without a terminal, --yes is required.")
#define ASKS_FOR_ALL                                                                               \
    N_("Asks once; without a terminal, --yes is required. If one id is unknown, nothing is "       \
       "deleted.")

/* The thread of an engine that runs the operation; the command line runs it on its own thread. In
 * an engine, operations that write to a saved session run on the agent thread, which has the open
 * sessions. */
enum operation_executor {
    OPERATION_CALLER,
    OPERATION_READ,
    OPERATION_MEMORY,
    OPERATION_CORPORA,
    OPERATION_IMPORT,
    OPERATION_SPACE,
    OPERATION_CONVERSATION
};

/* Conditions of an operation, and the error if one is not met. */
enum operation_need {
    NEED_STORE = 1,       /* sessions are kept, else SESSION_PERSISTENCE_DISABLED */
    NEED_MEMORY = 2,      /* else MEMORY_DISABLED */
    NEED_WRITE = 4,       /* the store is open for writing, else SESSION_STORE_ERROR */
    NEED_STREAM = 8,      /* a stream to read from or to write to, else USAGE */
    NEED_COMPACTION = 16, /* histories are shortened, else SESSION_COMPACTION_DISABLED */
    NEED_GRAPH = 32,      /* the graph of facts, else MEMORY_DISABLED */
    NEED_CORPORA = 64,    /* corpora, else MEMORY_DISABLED */
    NEED_LEARNED = 128    /* learned memory, else MEMORY_DISABLED */
};

/* The least authority with which another program may call a row. HTTP and MCP have CLIENT unless
 * they were started with more; the other protocols have OWNER. The terminal and the command line,
 * in the same process, may call every row. */
enum authority {
    AUTHORITY_TERMINAL, /* no other program; the default */
    AUTHORITY_OWNER,    /* deletes, moves content in and out, changes settings, approves tools */
    AUTHORITY_CLIENT    /* converses, reads and searches sessions and memory */
};
const char *authority_name(enum authority a); /* "terminal", "owner", "client" */

/* Bytes that are too many for a struct, and progress. */
struct operation_stream {
    FILE *in;         /* of an import */
    const char *name; /* of `in`, for errors */
    /* Takes the pieces of an export; false (with `e`) stops it. */
    bool (*write)(void *context, const char *bytes, size_t len, struct error *e);
    /* Takes progress; may be NULL. `what` is "words", "vectors", "percent" or "entries"; `of` 0:
     * unknown. False stops with INTERRUPTED. Also called when `wake_fd` (-1: none) is readable
     * while the operation waits for the network. */
    bool (*tell)(void *context, const char *what, int64_t done, int64_t of);
    int wake_fd;
    void *context;
};

struct memories;
struct graphs;
struct corpora;

/* The data that rows work on. Belongs to one thread. */
struct operation_context {
    const struct config *config;
    const char *project; /* working directory */
    unsigned met;        /* needs that are met, except NEED_STREAM */
    struct catalog catalog;
    struct memories *memories; /* NULL: the context has no memory */
    struct graphs *graphs;     /* NULL: no graph */
    struct corpora *corpora;   /* NULL: no corpora */
    const struct operation_stream *stream;
    /* Adds what is wrong with what the surface alone knows ([keys], the theme); NULL: it has none.
     */
    void (*check_screen)(const struct config *config, const char *path,
                         struct config_problems *problems);
    const struct wakeup *wakeup; /* polled by long operations; NULL: nothing interrupts them */
};

/* Handling of a request while a turn runs in its conversation: do it now; do it after the turn;
 * refuse it with SESSION_BUSY; or end the turn, if it is of the session that the request names, and
 * do it then. A request of WHEN_REFUSED ends a question to a server between turns. */
enum operation_when { WHEN_NOW, WHEN_LATER, WHEN_REFUSED, WHEN_ENDS };

/* Preparation of the named session in an engine that serves: nothing (the request makes a session
 * or needs none), claim the session for the conversation, open it for reading, open it for writing.
 */
enum operation_want { WANTS_NOTHING, WANTS_SESSION, WANTS_READING, WANTS_WRITING };

/* The work that keeps a conversation busy until the answer, which then has a result on failure, too
 * (with the member "error"). */
enum operation_busy { BUSY_NOT, BUSY_TURN, BUSY_COMPACTION };

/* A stream that protocols carry in JSON, as the member "content". */
enum operation_content { CONTENT_NONE, CONTENT_IN, CONTENT_OUT };

struct conversation;

struct operation {
    const char *name;    /* "session/list" */
    const char *summary; /* one sentence, English */
    /* How a person asks for it at the command line: "sessions rename" (NULL: not at all), and the
     * words that follow: "SESSION TITLE", "[X]" may lack, "X..." may be several. They are the
     * members of the parameters, in order, that are no option (SHAPE_OPTION()). Help: N_(). */
    const char *words, *operands, *help, *details;
    bool dashes; /* after the first word, "-x" is a word: it removes or excludes something */
    /* The command of a chat and of an editor that asks for it: "rename", "TITLE" ("": nothing may
     * follow, "[X]": it may lack) and its help. A surface that has no more to do than to ask gives
     * the session and the text (operation_slash_params()). */
    const char *slash, *takes, *about;
    const char *alias; /* the name that other programs have for the command; NULL: none */
    /* Sentences of a chat and an editor: after success (NULL: the line of the result, or an event
     * tells), and after a failure whose code says less. */
    const char *done, *undone;
    /* The result as a line, for example "{id}  {text}" with members of the result or of its member
     * `lines`; an array gives a line for each element. One with words is N_(). NULL: surfaces show
     * it in their own way. */
    const char *lines, *line;
    const char *none; /* the text for a list without elements, N_(); NULL: no text */
    enum authority authority;
    const struct shape *params; /* NULL: it takes nothing */
    const struct shape *result; /* NULL: it gives nothing */
    enum operation_executor executor;
    unsigned needs; /* of enum operation_need */
    bool lasting;   /* it changes something outside the store */
    bool opens;     /* its result is the session that it opens (struct session_info) */
    enum operation_content content;
    /* `result` is empty before, and after a failure. NULL: a conversation of an engine runs the row
     * (`converse`). */
    bool (*run)(struct operation_context *c, const void *params, void *result, struct error *e);
    /* For OPERATION_CONVERSATION: the function, on the conversation's thread, and when it runs.
     * `params` and `result` as above. */
    bool (*converse)(struct conversation *c, const void *params, void *result, struct error *e);
    enum operation_when in_turn;
    enum operation_busy busy;
    enum operation_want wants;
};

/* The beginning of a row, and shapes that stand in it: struct tag and rows of members (shape.h). */
#define OPERATION(title, least, where, text)                                                       \
    .name = title, .summary = text, .authority = AUTHORITY_##least, .executor = OPERATION_##where
#define COMMAND(title, takes, text) .words = title, .operands = takes, .help = text
#define SLASH(title, arguments, text) .slash = title, .takes = arguments, .about = text
#define PARAMETERS(S, ...) &(const struct shape)SHAPE_PARAMETERS(struct S, __VA_ARGS__)
#define RESULT(title, S, ...) &(const struct shape)SHAPE_OF(title, struct S, __VA_ARGS__)
#define CONVERSE(function, when, want)                                                             \
    .converse = converse_##function, .in_turn = WHEN_##when, .wants = WANTS_##want

/* Defines the function of a row that is one expression of `c`, `params`, `result` and `e`. */
#define OPERATION_RUN(name, expression)                                                            \
    static bool name(struct operation_context *c, const void *params, void *result,                \
                     struct error *e)                                                              \
    {                                                                                              \
        (void)c, (void)params, (void)result, (void)e;                                              \
        return expression;                                                                         \
    }

/* The operations that a client can call, as operation_NAME, in the order in which they are listed.
 * tool/answer is missing: it answers notices that ACP alone gets, and ACP makes requests of its own
 * of them. */
/* clang-format off */
#define OPERATIONS(X) \
    X(engine_info) \
    X(capabilities_get) \
    X(config_get) X(config_set) \
    X(session_list) X(session_search) X(session_read) X(session_history) X(session_event) \
    X(session_inputs) X(session_rename) X(session_label) X(session_archive) X(session_unarchive) \
    X(session_delete) X(session_fork) X(import_run) X(import_list) X(session_export) X(session_import) X(session_rebuild) \
    X(memory_search) X(memory_list) X(memory_read) X(memory_around) X(memory_edit) X(memory_pin) \
    X(memory_forget) X(memory_restore) X(memory_leave_out) X(memory_stats) X(memory_export) \
    X(memory_import) X(memory_reindex) X(memory_index) \
    X(space_status) X(space_init) X(space_invite) X(space_join) X(space_members) X(space_remove) \
    X(space_rotate) X(space_approve) \
    X(space_share) X(space_sync) X(space_check) X(space_leave) \
    X(space_sql) \
    X(compaction_ledger) \
    X(session_create) X(session_open) X(session_set_model) X(session_set_effort) \
    X(session_set_system) \
    X(session_set_draft) X(session_set_memory) X(session_set_tools) X(session_set_compaction) \
    X(session_settings) X(session_add_image) X(session_close) \
    X(turn_start) X(turn_retry) X(turn_interrupt) X(turn_background) \
    X(approval_decide) X(elicitation_decide) X(permission_list) X(skill_list) \
    X(mcp_list) X(mcp_switch) X(mcp_test) X(mcp_add) X(mcp_remove) \
    X(plugin_list) X(plugin_add) X(plugin_remove) \
    X(compaction_run) X(compaction_decide) X(compaction_undo) X(compaction_pin) \
    X(compaction_unpin) X(session_rewind) X(session_unrewind) \
    X(session_changes) X(session_restore) \
    X(context_read) \
    X(models_list) \
    X(provider_check) \
    X(doctor_report) \
    X(graph_list) X(graph_search) X(graph_open) X(graph_create) X(graph_observe) X(graph_relate) \
    X(graph_delete) X(graph_unobserve) X(graph_unrelate) X(graph_restore) X(graph_stats) \
    X(graph_export) X(graph_import) X(graph_reindex) \
    X(learned_list) X(learned_search) X(learned_read) X(learned_history) X(learned_add) \
    X(learned_edit) X(learned_accept) X(learned_reject) X(learned_forget) X(learned_restore) \
    X(learned_stats) \
    X(corpus_list) X(corpus_documents) X(corpus_passages) X(corpus_cited) X(corpus_search) \
    X(corpus_stats) X(corpus_add) X(corpus_update) X(corpus_ingest) X(corpus_remove)
/* clang-format on */
#define X(name) extern const struct operation operation_##name;
OPERATIONS(X)
#undef X

/* The table; NULL past the last row. */
const struct operation *operation_at(size_t index);
const struct operation *operation_find(const char *name); /* NULL: there is none */

/* Whether the row has a slash command of that name or alias. */
bool operation_is_slash(const struct operation *o, const char *name, size_t len);

/* The parameters of a slash command: the session (NULL: the one in front), and the arguments as the
 * first other text. The caller frees the struct; the texts are borrowed. NULL: it takes none. */
void *operation_slash_params(const struct operation *o, const char *session, const char *arguments);

/* The result as lines, as the row says; the caller frees. NULL: the row does not say; "": a list
 * without elements, for which the surface says the row's `none`. `translate`: gettext(). */
char *operation_lines(const struct operation *o, const void *result,
                      char *(*translate)(const char *word));

/* True if the operation changes something: it is done even if no caller waits for the answer. False
 * for OPERATION_IMPORT: the next import goes on where one was stopped. */
bool operation_lasts(const struct operation *o);

/* True if build, configuration and command line have these parts (NEED_MEMORY … NEED_COMPACTION);
 * false with the reason why the first lacks. */
bool operation_has(unsigned needs, const struct config *config, struct error *e);

/* True if build and configuration meet the row's needs; false with the error of the missing one.
 * The store and the stream are checked when the row is called. */
bool operation_offered(const struct operation *o, const struct config *config, struct error *e);

/* Opens the context of a row with its own connection (store_path NULL: the default), for this row
 * and others of its executor with no more needs. False: a need is not met. A store that does not
 * exist is empty to readers. `config` and `project` are borrowed. */
bool operation_open(struct operation_context *c, const struct operation *o,
                    const struct config *config, const char *store_path, const char *project,
                    struct error *e);
void operation_close(struct operation_context *c);

/* Checks the row's needs and runs it. `params` and `result` are structs of its shapes. On failure
 * the result is empty; else the caller releases it with its shape. `*result` may be uninitialised.
 */
bool operation_call(struct operation_context *c, const struct operation *o, const void *params,
                    void *result, struct error *e);

/* A request of a surface to the engine, and its answer. Both are immutable once they are sent; the
 * thread that pops one frees it. */

struct operation_request {
    uint64_t id; /* of the engine's counting, from 1 */
    const struct operation *operation;
    void *params;               /* struct of the row's shape; NULL: it takes none */
    char session[UUID_LEN + 1]; /* the session of the request, else the one in front; "": none */
};

/* Copies the parameters. */
struct operation_request *operation_request_new(const struct operation *o, const void *params);
void operation_request_free(struct operation_request *r); /* NULL is fine */

/* The member of the parameters that names a session; NULL: they have none. */
char **operation_request_session(struct operation_request *r);
void operation_request_name(struct operation_request *r, const char *session);

struct operation_answer {
    struct operation_request *request; /* owned */
    void *result;       /* struct of the row's shape; NULL: it gives none, or failed */
    char *text;         /* written to the stream; NULL: none */
    struct error error; /* ERR_OK: it was done */
};

/* Takes the request. The result is empty. */
struct operation_answer *operation_answer_new(struct operation_request *r);
void operation_answer_free(struct operation_answer *a); /* NULL is fine */

/* Fails it: the result is released. */
void operation_answer_fail(struct operation_answer *a, const struct error *e);

bool operation_answers(const struct operation_answer *a, const struct operation *o);

#endif
