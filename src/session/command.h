/* What a surface (terminal, tiro run) asks of the service. Whole and immutable once sent. */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME): which fields it uses
 *   START_TURN   text; attachments: JSON array of image blocks or NULL
 *   RETRY        send the last user message again
 *   INTERRUPT    -
 *   NEW          a fresh session
 *   RESUME       text: reference (sessions_resolve)
 *   RENAME       text: title
 *   SET_MODEL    name: provider or NULL; text: model or NULL
 *   SET_SYSTEM   text: system prompt; NULL: the configured one
 *   SAVE_DRAFT   text: NULL or "" for none
 *   PAGE         of the open session; number: before this seq; limit
 *   LIST         limit (0: all)
 *   INPUTS       limit
 *   MODELS       -
 *   REPORT       what `tiro doctor` says
 *   QUIT         - */
#define COMMAND_TYPES(X)                                                                           \
    X(START_TURN)                                                                                  \
    X(RETRY)                                                                                       \
    X(INTERRUPT)                                                                                   \
    X(NEW)                                                                                         \
    X(RESUME)                                                                                      \
    X(RENAME)                                                                                      \
    X(SET_MODEL)                                                                                   \
    X(SET_SYSTEM)                                                                                  \
    X(SAVE_DRAFT)                                                                                  \
    X(PAGE)                                                                                        \
    X(LIST)                                                                                        \
    X(INPUTS)                                                                                      \
    X(MODELS)                                                                                      \
    X(REPORT)                                                                                      \
    X(QUIT)

enum command_type {
#define X(name) COMMAND_##name,
    COMMAND_TYPES(X)
#undef X
};

struct command {
    enum command_type type;
    char *text;
    char *name;
    char *attachments;
    int64_t number;
    int limit;
};

/* Copies the text (which may be NULL). */
struct command *command_new(enum command_type type, const char *text);
void command_free(struct command *c);

#endif
