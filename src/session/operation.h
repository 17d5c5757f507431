/* Everything that can be asked of the engine is one row of one table:
 * what it is called, what it takes and gives (shapes), what must hold before, and the function that
 * does it. Surfaces call rows and hold no logic of their own; the table knows none of them. */
#ifndef SESSION_OPERATION_H
#define SESSION_OPERATION_H

#include <stdint.h>
#include <stdio.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/shape.h"
#include "base/wakeup.h"
#include "config/config.h"
#include "session/catalog.h"

/* Names of members that are the same in every row: any reference to a session (sessions.h), and the
 * words of the person. */
#define SESSION_MEMBER "session_id"
#define PROMPT_MEMBER "prompt"

/* On which thread of an engine it runs; a command of the command line runs it on its own. What
 * writes to a kept session is the agent thread's in an engine, as that holds the open ones. */
enum operation_executor {
    OPERATION_CALLER,
    OPERATION_READ,
    OPERATION_MEMORY,
    OPERATION_CORPORA,
    OPERATION_CONVERSATION
};

/* What must hold before it is run, and what is said where it does not. */
enum operation_need {
    NEED_STORE = 1,  /* sessions are kept, else SESSION_PERSISTENCE_DISABLED */
    NEED_MEMORY = 2, /* else MEMORY_DISABLED */
    NEED_WRITE = 4,  /* the store opened for writing; an executor that has it for reading refuses
                        with SESSION_STORE_ERROR */
    NEED_STREAM = 8, /* a stream to read from or to write to, else USAGE */
    NEED_COMPACTION = 16, /* histories are shortened, else SESSION_COMPACTION_DISABLED */
    NEED_GRAPH = 32,      /* the graph of facts, else MEMORY_DISABLED */
    NEED_CORPORA = 64,    /* corpora, else MEMORY_DISABLED */
    NEED_LEARNED = 128    /* learned memory, else MEMORY_DISABLED */
};

/* The least caller of another program that may call a row (HTTP and MCP have CLIENT unless they
 * were started with more, the other protocols OWNER). Callers in the same process, the terminal and
 * the command line, are not asked. */
enum authority {
    AUTHORITY_TERMINAL, /* none: also of a row that does not say */
    AUTHORITY_OWNER,    /* deletes, moves content in and out, changes settings, approves tools */
    AUTHORITY_CLIENT    /* converses, reads and searches sessions and memory */
};
const char *authority_name(enum authority a); /* "terminal", "owner", "client" */

/* What is too large for a struct: bytes that come or go, and how far it is. */
struct operation_stream {
    FILE *in;         /* of an import */
    const char *name; /* of that, for errors */
    /* Of an export, piece by piece; false (with `e`) stops it. */
    bool (*write)(void *context, const char *bytes, size_t len, struct error *e);
    /* NULL: nobody asks. `what` is the row's ("words", "vectors", "percent", "entries"); `of` may
     * be 0, unknown. False stops with INTERRUPTED; it is also called when `wake_fd` (-1: none) is
     * readable while a network is waited for. */
    bool (*tell)(void *context, const char *what, int64_t done, int64_t of);
    int wake_fd;
    void *context;
};

struct memories;
struct graphs;
struct corpora;

/* What a row works on. Belongs to one thread. */
struct operation_context {
    const struct config *config;
    const char *project; /* working directory */
    unsigned met;        /* needs that are, NEED_STREAM aside */
    struct catalog catalog;
    struct memories *memories; /* NULL: the context is not one for memory */
    struct graphs *graphs;     /* NULL: nor for the graph */
    struct corpora *corpora;   /* NULL: nor for corpora */
    const struct operation_stream *stream;
    /* Adds what is wrong with what the surface alone knows ([keys], the theme); NULL: it has none.
     */
    void (*check_screen)(const struct config *config, const char *path,
                         struct config_problems *problems);
    const struct wakeup *wakeup; /* polled by what takes long; NULL: nothing ends it */
};

/* What becomes of a request while a turn runs in its conversation: it is done at once, or when the
 * turn has ended; it is refused with SESSION_BUSY; or it ends the turn, if that is of the session
 * that it names, and is done then. A request that a turn refuses ends a question to a server
 * between turns. */
enum operation_when { WHEN_NOW, WHEN_LATER, WHEN_REFUSED, WHEN_ENDS };

/* What an engine that serves does first for the session that a request names: nothing (the request
 * makes a session, or is about none), see that no other conversation has it, open it for reading,
 * open it for writing. */
enum operation_want { WANTS_NOTHING, WANTS_SESSION, WANTS_READING, WANTS_WRITING };

/* What keeps a conversation busy until the answer, which then has a result also if it failed (with
 * the member "error"). */
enum operation_busy { BUSY_NOT, BUSY_TURN, BUSY_COMPACTION };

/* A stream that protocols carry in JSON, as the member "content". */
enum operation_content { CONTENT_NONE, CONTENT_IN, CONTENT_OUT };

struct conversation;

struct operation {
    const char *name;    /* "session/list" */
    const char *summary; /* one sentence, English */
    enum authority authority;
    const struct shape *params; /* NULL: it takes nothing */
    const struct shape *result; /* NULL: it gives nothing */
    enum operation_executor executor;
    unsigned needs; /* of enum operation_need */
    bool lasting;   /* it leaves something behind, and not in the store */
    bool opens;     /* its result is the session that it opens (struct session_info) */
    enum operation_content content;
    /* `result` is empty, and again where this fails. NULL: it needs an engine (engine.h), whose
     * conversations know how. */
    bool (*run)(struct operation_context *c, const void *params, void *result, struct error *e);
    /* Of OPERATION_CONVERSATION: how a conversation does it, on its thread, and when. `params` and
     * `result` as above. */
    bool (*converse)(struct conversation *c, const void *params, void *result, struct error *e);
    enum operation_when in_turn;
    enum operation_busy busy;
    enum operation_want wants;
};

/* The beginning of a row, and shapes that stand in it: struct tag and rows of members (shape.h). */
#define OPERATION(title, least, where, text)                                                       \
    .name = title, .summary = text, .authority = AUTHORITY_##least, .executor = OPERATION_##where
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

/* The table; NULL past the last row. */
const struct operation *operation_at(size_t index);
const struct operation *operation_find(const char *name); /* NULL: there is none */

/* It changes something: what was begun is done, whether or not anybody waits for the answer. */
bool operation_lasts(const struct operation *o);

/* Whether build and configuration have what the row needs: false with the code of what is lacking.
 * Whether a store is there, can be written, or a stream comes along, shows when it is called. */
bool operation_offered(const struct operation *o, const struct config *config, struct error *e);

/* Opens what the row works on (store_path NULL: the default), with a connection of its own, for it
 * and the other rows of its executor that need no more. False where a need is not met. A store that
 * does not exist yet is empty to readers. `config` and `project` are borrowed. */
bool operation_open(struct operation_context *c, const struct operation *o,
                    const struct config *config, const char *store_path, const char *project,
                    struct error *e);
void operation_close(struct operation_context *c);

/* Checks the row's needs and runs it. `params` and `result` are structs of its shapes. The result
 * is empty where this fails, whatever stood there before; else the caller's to release with its
 * shape. */
bool operation_call(struct operation_context *c, const struct operation *o, const void *params,
                    void *result, struct error *e);

/* What a surface asked of the engine, and the answer to it. Both are whole and immutable once they
 * are sent; who pops one frees it. */

struct operation_request {
    uint64_t id; /* of the engine's counting, from 1 */
    const struct operation *operation;
    void *params;               /* struct of the row's shape; NULL: it takes none */
    char session[UUID_LEN + 1]; /* that it is for, or that was in front; "": none */
};

/* Copies the parameters. */
struct operation_request *operation_request_new(const struct operation *o, const void *params);
void operation_request_free(struct operation_request *r); /* NULL is fine */

/* Where the parameters name a session; NULL: they do not. */
char **operation_request_session(struct operation_request *r);
void operation_request_name(struct operation_request *r, const char *session);

struct operation_answer {
    struct operation_request *request; /* what was asked: nothing is lost */
    void *result;       /* struct of the row's shape; NULL: it gives none, or failed */
    char *text;         /* that it wrote to its stream; NULL: none */
    struct error error; /* ERR_OK: it was done */
};

/* Takes the request. The result is empty. */
struct operation_answer *operation_answer_new(struct operation_request *r);
void operation_answer_free(struct operation_answer *a); /* NULL is fine */

/* Fails it: the result is released. */
void operation_answer_fail(struct operation_answer *a, const struct error *e);

bool operation_answers(const struct operation_answer *a, const struct operation *o);

#endif
