/* What a surface (terminal, tiro run) asks of the engine. Whole and immutable once sent. */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME): which fields it uses. A session is named by a reference (catalog.h); NULL is the open
 * one.
 *   START_TURN   text; attachments: JSON array of image blocks or NULL
 *   RETRY        send the last user message again. text: in other words; NULL: the same
 *   INTERRUPT    -
 *   NEW          a fresh session. name: provider, text: model that it talks to; NULL: as before
 *   RESUME       text: reference. An archived one is live again
 *   OPEN         text: reference. Opens it for reading only: any START_TURN is SESSION_NOT_FOUND
 *   FORK         name: reference; number: event of the last message to take along, 0: all, -1: as
 *                the session was before its last compaction. The fork becomes the open session
 *   RENAME       name: reference; text: title
 *   LABEL        name: reference; text: changes, as session_labels_change()
 *   ARCHIVE      name: reference. Interrupts its turn; the open session gives way to a new one.
 *                number 1: takes it out of the archive again
 *   DELETE       name: reference. As ARCHIVE, and nothing of it is kept
 *   ANSWER       name: id of the tool call; number: enum approval_answer
 *   COMPACT      shorten the history now. name: mode or NULL; text: what to focus on or NULL;
 *                number 1: show the draft first, 0: as configured. A failure is a
 *                compaction_failed where it had begun, else an ERROR
 *   UNCOMPACT    take the last compaction back
 *   PIN          number: seq of a message, 0: the newest of the user's; limit 1: pin, 0: unpin
 *   DRAFT        answers NOTICE_DRAFT. number: enum draft_answer; text: the changed summary
 * (COMMIT; NULL: unchanged) or the focus (AGAIN) CONTEXT      what the next request would carry;
 * answered with NOTICE_CONTEXT SET_MODEL    name: provider, NULL: the present one; text: model or
 * NULL. SET_SYSTEM   text: system prompt; NULL: the configured one SAVE_DRAFT   text: NULL or "" for
 * none MODELS       - REPORT       what `tiro doctor` says LEAVE QUIT from the engine - */
#define COMMAND_TYPES(X)                                                                           \
    X(START_TURN)                                                                                  \
    X(RETRY)                                                                                       \
    X(INTERRUPT)                                                                                   \
    X(NEW)                                                                                         \
    X(RESUME)                                                                                      \
    X(OPEN)                                                                                        \
    X(FORK)                                                                                        \
    X(RENAME)                                                                                      \
    X(LABEL)                                                                                       \
    X(ARCHIVE)                                                                                     \
    X(DELETE)                                                                                      \
    X(ANSWER)                                                                                      \
    X(COMPACT)                                                                                     \
    X(UNCOMPACT)                                                                                   \
    X(PIN)                                                                                         \
    X(DRAFT)                                                                                       \
    X(CONTEXT)                                                                                     \
    X(SET_MODEL)                                                                                   \
    X(SET_SYSTEM)                                                                                  \
    X(SAVE_DRAFT)                                                                                  \
    X(MODELS)                                                                                      \
    X(REPORT)                                                                                      \
    X(LEAVE)                                                                                       \
    X(QUIT)

enum command_type {
#define X(name) COMMAND_##name,
    COMMAND_TYPES(X)
#undef X
};

struct operation_answer;
struct operation_request;
struct notice;

struct command {
    enum command_type type;
    char *text;
    char *name;
    char *attachments;
    char *session; /* id of the one that is meant; NULL: the open one */
    int64_t number;
    int limit;
};

/* Copies the text (which may be NULL). */
struct command *command_new(enum command_type type, const char *text);
void command_free(struct command *c);

/* As the request for a row that it means, which owns it. */
struct operation_request *command_request(struct command *c);
/* The answer to that, as the notice that it was; NULL: there was none. Takes it. */
struct notice *command_answered(struct operation_answer *a);

#endif
