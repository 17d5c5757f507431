/* What the service tells a surface. Whole and immutable once pushed; who pops it frees it. */
#ifndef SESSION_NOTICE_H
#define SESSION_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/session_info.h"
#include "session/command.h"

/* X(NAME): which fields it uses
 *   EVENT     event
 *   SESSION   info (with draft), meters, flag: freshly opened (clear the transcript; a PAGE with
 * the last screen follows if it has events) or changed (title, counters) PAGE      events
 * (ascending), number: the `before` that was asked, flag: older ones exist LIST      sessions
 *   INPUTS    texts, newest first
 *   PROVIDER  provider, model, reason, detail, meters: window and price
 *   MODELS    texts
 *   REPORT    texts: lines; error: the fault among them, if there is one
 *   BUSY      flag: a turn runs / has ended. Comes before the turn's first and after its last event
 *   ERROR     error, command: what could not be done; text: the command's text (nothing is lost) */
enum notice_type {
    NOTICE_EVENT,
    NOTICE_SESSION,
    NOTICE_PAGE,
    NOTICE_LIST,
    NOTICE_INPUTS,
    NOTICE_PROVIDER,
    NOTICE_MODELS,
    NOTICE_REPORT,
    NOTICE_BUSY,
    NOTICE_ERROR
};

/* Why this provider; the surface has the words. Same order as provider/choose.h. */
enum provider_reason {
    PROVIDER_BY_OPTION,
    PROVIDER_BY_CONFIG,
    PROVIDER_BY_ENVIRONMENT,
    PROVIDER_ANSWERED,
    PROVIDER_FALLBACK
};

struct meters {
    int64_t estimate;   /* tokens of the history */
    int64_t last_input; /* -1 unknown */
    int64_t window;     /* 0 unknown */
    struct usage total;
    struct price price;
};

struct notice {
    enum notice_type type;
    struct event *event;
    struct session_info info;
    struct meters meters;
    VEC(struct event *) events;
    struct session_list sessions;
    VEC(char *) texts;
    char *provider, *model, *detail, *text;
    enum provider_reason reason;
    enum command_type command;
    struct error error;
    int64_t number;
    bool flag;
};

struct notice *notice_new(enum notice_type type);
void notice_free(struct notice *n);

#endif
