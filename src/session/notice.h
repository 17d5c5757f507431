/* What the engine tells a surface. Whole and immutable once pushed; who pops it frees it. */
#ifndef SESSION_NOTICE_H
#define SESSION_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "chat/context.h"
#include "chat/decision.h"
#include "chat/event.h"
#include "chat/memory_hit.h"
#include "chat/message.h"
#include "chat/request_size.h"
#include "chat/session_info.h"
#include "session/command.h"
#include "session/conversation_operations.h"
#include "session/operation_request.h"

/* Which fields a notice uses:
 *   ANSWER    answer, to engine_start()
 *   EVENT     event
 *   SESSION   info (with draft), meters, read_only; flag: freshly opened (clear the transcript; a
 *             PAGE with the last screen follows if it has events) or changed (title, counters)
 *   PAGE      events (ascending) of the end, after a SESSION; flag: older ones exist. What views
 *             hear of older ones later: number: the event before which they are
 *   PROVIDER  provider, model, reason, detail, meters: window and threshold
 *   MODELS    texts: of the present provider; offers: the providers
 *   REPORT    facts; error: the fault among them, if there is one
 *   BUSY      flag: a turn runs / has ended; number: for how many ms it has run. Comes before the
 *             turn's first and after its last event
 *   APPROVAL  a tool asks before it runs. text: id of the call; name: tool; detail: its class;
 *             args: JSON text; preview: the diff or the command in full; guarded: the place of keys
 *             or of the program's own files that it leads to, which is asked each time, NULL: none.
 *             Answer with ANSWER; the question is over with an ANSWER, or when its
 * tool_execution_completed comes DRAFT     a summary waits for review, to be answered with a DRAFT
 * command. text: the summary; name: effective mode; detail: "provider/model" or NULL; draft:
 * figures. It is over with that answer or when compaction_completed or _failed comes CONTEXT
 * context: the next request by parts MEMORY_STATE  stats, when the making of vectors goes on or
 * waits DONE command: what was done (RENAME, LABEL, ARCHIVE, DELETE, FORK); text:
 * the session's id. ARCHIVE: number as asked ERROR
 * error, command: what could not be done; text: the command's text (nothing is lost). COMPACT:
 * name: the mode; detail: the keys by which it keeps beginning and end, as "name = value, …", NULL:
 * it has none */
enum notice_type {
    NOTICE_ANSWER,
    NOTICE_EVENT,
    NOTICE_SESSION,
    NOTICE_PAGE,
    NOTICE_PROVIDER,
    NOTICE_MODELS,
    NOTICE_REPORT,
    NOTICE_BUSY,
    NOTICE_APPROVAL,
    NOTICE_DRAFT,
    NOTICE_CONTEXT,
    NOTICE_MEMORY_STATE,
    NOTICE_DONE,
    NOTICE_ERROR
};

/* Why this provider; the surface has the words. As enum choice_reason of provider/choose.h. */
enum provider_reason {
    PROVIDER_BY_OPTION,
    PROVIDER_BY_CONFIG,
    PROVIDER_BY_ENVIRONMENT,
    PROVIDER_ANSWERED,
    PROVIDER_FALLBACK
};

struct draft_figures {
    int64_t tokens_before, tokens_after;
    int messages_before, messages_after;
};

struct meters {
    struct request_size request; /* the whole next one */
    int64_t window;              /* 0 unknown */
    int64_t threshold;           /* of compaction; 0: histories are not shortened */
    int compactions;             /* in force */
    bool suspended;              /* automatic compaction stopped after failures */
    bool memory;                 /* semantic memory is there */
    struct usage total;
    double cost;       /* USD of the session's calls whose cost is known; negative: of none is it */
    bool cost_partial; /* there are others */
    /* The budget that is nearest its end; NULL: none is set. */
    const char *budget; /* "max_tokens"; static */
    int budget_percent; /* of it that is used */
};

struct notice {
    enum notice_type type;
    char session[UUID_LEN + 1]; /* that it is about or was asked for; "": none */
    struct operation_answer *answer;
    struct event *event;
    struct session_info info;
    struct meters meters;
    VEC(struct event *) events;
    struct memory_stats stats;
    VEC(char *) texts;
    VEC(struct report_fact) facts;
    VEC(struct provider_offer) offers;
    struct context context;
    struct draft_figures draft;
    char *provider, *model, *detail, *text, *name, *args, *preview, *guarded;
    enum provider_reason reason;
    enum command_type command;
    struct error error;
    int64_t number;
    bool flag;
    bool read_only;
};

struct notice *notice_new(enum notice_type type);

/* NULL: none. */
void notice_name_session(struct notice *n, const char *id);

/* What tells that the command could not be done. */
struct notice *notice_fault(const struct command *c, const struct error *e);
void notice_free(struct notice *n);

#endif
