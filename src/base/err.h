/* Faults: errors as values, the diagnostic log, and the end of the program.
 *
 * A fault of the network, the database, a model, a file or the user is a struct error. The caller
 * owns it; a function that can fail takes it last, fills it in and returns false. `text` is for a
 * person: "what happened; what to do". It never holds a secret. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

/* X(name, JSON-RPC code, HTTP status, exit status) */
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

/* The code with this name; ERR_AGENT_ERROR for an unknown name or NULL. */
enum err_code err_from_name(const char *name);

/* The part of an error's text after "; ", which says what to do; NULL: it has none. */
const char *err_advice(const char *text);

/* Fills in `e` (which may be NULL) and returns false, so that `return err_set(…)` reads well.
 * A text that is longer than the field is cut after a sentence, else it ends with "…". */
bool err_set(struct error *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* err_set() with ": ", strerror(errno), "; " and an advice for this errno appended. The formatted
 * text is cut so that these fit whole. errno is kept. */
bool err_set_errno(struct error *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- the end of the program ---- */

/* Ends the program when it cannot go on: out of memory, or a thread cannot start. Runs the hook,
 * removes the files of die_unlinks(), prints "tiro: REASON" to standard error and exits with status
 * 70. */
_Noreturn void die(const char *reason);

/* The hook runs once (it restores the terminal). NULL removes it. */
void die_set_hook(void (*hook)(void));

/* Registers a file that is useless until it is finished: die() removes PATH with each of these
 * endings (NULL-terminated; "" is PATH itself). Both are borrowed until die_keeps(PATH). */
void die_unlinks(const char *path, const char *const *endings);
void die_keeps(const char *path);

/* ---- the diagnostic log ---- off unless configured, one line an entry, file mode 0600. Never pass
 * secrets, request headers or message texts. Any thread may call. */

enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_DEBUG };

/* Opens the file for appending. Without it, log_line() does nothing. */
bool log_open(const char *path, enum log_level level, struct error *e);
void log_close(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
