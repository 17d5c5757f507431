/* Faults of the network, the database, a model, a file or the user are values of this type.
 * The caller owns the struct; a function that can fail takes it last and returns false after it
 * filled it in. `text` is for a person: "what happened; what to do". It never holds a secret. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

/* X(name, JSON-RPC number, REST status, exit status): one row is an error's every face. */
#define ERR_TABLE(X)                                                                               \
    X(OK, 0, 200, 0)                                                                               \
    X(SESSION_NOT_FOUND, -32001, 404, 1)                                                           \
    X(SESSION_AMBIGUOUS, -32008, 409, 1)                                                           \
    X(SESSION_BUSY, -32002, 409, 1)                                                                \
    X(SESSION_PERSISTENCE_DISABLED, -32003, 501, 1)                                                \
    X(SESSION_COMPACTION_DISABLED, -32004, 501, 1)                                                 \
    X(SESSION_NOT_RUNNING, -32005, 409, 1)                                                         \
    X(SESSION_STORE_ERROR, -32000, 500, 1)                                                         \
    X(AGENT_ERROR, -32000, 500, 1)                                                                 \
    X(CONFIG_ERROR, -32000, 500, 1)                                                                \
    X(FILE_ERROR, -32000, 500, 1)                                                                  \
    X(MEMORY_NOT_FOUND, -32006, 404, 1)                                                            \
    X(MEMORY_DISABLED, -32007, 501, 1)                                                             \
    X(NOTHING_TO_COMPACT, -32009, 409, 1)                                                          \
    X(TOO_SMALL_TO_COMPACT, -32010, 409, 1)                                                        \
    X(NOTHING_TO_UNDO, -32011, 409, 1)                                                             \
    X(MESSAGE_NOT_SENT, -32012, 409, 1)                                                            \
    X(FORBIDDEN, -32013, 403, 1)                                                                   \
    X(EVENT_NOT_FOUND, -32014, 410, 1)                                                             \
    X(INTERRUPTED, -32000, 409, 1)                                                                 \
    X(BUDGET_EXHAUSTED, -32000, 402, 2)                                                            \
    X(USAGE, -32602, 400, 64)

enum err_code {
#define X(name, rpc, rest, status) ERR_##name,
    ERR_TABLE(X)
#undef X
};

struct error {
    enum err_code code;
    char text[256];
};

struct err_info {
    const char *name; /* "SESSION_NOT_FOUND" */
    int rpc;
    int rest;
    int exit_status;
};

const struct err_info *err_info(enum err_code code);

/* The code whose name this is; ERR_AGENT_ERROR for a name that the table lacks. */
enum err_code err_from_name(const char *name);

/* Texts of errors are "what happened; what to do". The second part; NULL: there is none. */
const char *err_advice(const char *text);

/* Fills in `e` (which may be NULL) and returns false, so that `return err_set(…)` reads well.
 * A text that is longer than the field is cut behind a sentence, else it ends with "…". */
bool err_set(struct error *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* err_set() with ": ", strerror(errno), "; " and what helps against it added. What is too long
 * gives way, marked by "…", so that these stay whole. */
bool err_set_errno(struct error *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The one way out when going on is impossible: out of memory, or a thread that cannot start.
 * Everything else is a value (err.h). */

/* `hook` runs once before the program dies (the terminal restores itself). NULL removes it. */
void die_set_hook(void (*hook)(void));

/* A file that is of use only once the program has finished it: die() removes PATH with each of
 * these endings, up to a NULL, "" for PATH itself. Both are borrowed until die_keeps() of the same
 * PATH. */
void die_unlinks(const char *path, const char *const *endings);
void die_keeps(const char *path);

/* Removes these files, runs the hook, prints "tiro: WHAT" to standard error and exits with
 * status 70. */
_Noreturn void die(const char *what);

/* A diagnostic log for a person who hunts a fault: off unless configured, one line an entry, file
 * mode 0600. Never pass secrets, request headers or message texts. Any thread may call. */

enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_DEBUG };

/* Opens (appends to) the file. Without it, log_line() does nothing. */
bool log_open(const char *path, enum log_level level, struct error *e);
void log_close(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
