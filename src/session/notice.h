/* What the engine tells a surface. Whole and immutable once pushed; who pops it frees it. */
#ifndef SESSION_NOTICE_H
#define SESSION_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/knowledge.h"
#include "chat/memory.h"
#include "chat/message.h"
#include "chat/session_info.h"
#include "chat/usage.h"
#include "session/conversation_operations.h"
#include "session/operation.h"

/* What there is of each kind; other members are empty.
 *
 * ANSWER: to a request (engine.h). `answer`.
 *
 * The others come unasked. Each but ERROR names the session that it is about.
 *
 * ERROR: what nobody asked for could not be done: the session or the store of the start, a draft
 *     that came during a turn. `error`.
 * SESSION: `info` with its draft, `meters`, `read_only`. `flag`: it was opened, and the transcript
 *     begins anew; else its title, labels or counters have changed.
 * PAGE: after a SESSION that was opened, if it has events: the last screens of it. `events`,
 *     ascending. `flag`: there are older ones. A surface may tell its views of older ones in the
 *     same way; `number` is the event before which they are then.
 *
 * PROVIDER: what the session talks to, and why. `provider`, `model`, `reason`, `detail`; of
 *     `meters` the request, window and threshold.
 *
 * BUSY: `flag`: a turn or a compaction by hand began `number` ms ago; else it has ended. It comes
 *     before the first event of a turn, and after its last event and the answer to its request.
 *
 * EVENT: `event`. Numbers ascend. All but pieces of an answer (deltas) is in the log when it is
 * told; the log has pieces up to a second later, joined under the number of the last, or the whole
 * text alone. So who listens first, then reads the log behind a number (session/history), and drops
 * of what came meanwhile what the log had, misses nothing but pieces from before it listened, and
 * gets nothing twice.
 *
 * APPROVAL: a tool asks before it runs, and waits for approval/decide. `text`: id of the call,
 *     `name`: tool, `detail`: its class, `args`: JSON, `preview`: the difference or the command in
 *     full, `guarded`: the place of keys or of the program's own files that it leads to, which is
 *     asked each time; NULL: none. `grant`: which calls "session" allows, to be read; NULL: it is
 *     as "once". It is over when tool_execution_completed comes.
 *
 * CHANGE: a tool changes a file without asking, and begins now. `text`: id of the call, `preview`:
 *     the difference.
 *
 * READ: a tool wants the text of a file, which the surface may have open, and waits for
 *     tool/answer, some seconds at most. `number`: of what is wanted, `detail`: the path.
 * WRITE: … a file written. `number`, `detail`, `text`: the content.
 * RUN: … a command run. `number`, `text`: the command of a shell, `args`: what the shell does
 *     before (child_environment_script()), `detail`: the directory, `limit`: bytes of what it
 *     prints that are wanted, the last ones.
 * ENOUGH: what `number` says is not waited for any more. A command ends now; within a moment what
 *     it has printed is still taken.
 *
 * DRAFT: a summary waits for compaction/decide. `text`: the summary, `name`: effective mode,
 *     `detail`: "provider/model" or NULL, `draft`: figures. It is over when compaction_completed or
 *     compaction_failed comes.
 *
 * MEMORY_STATE: `stats`, when the making of vectors goes on or waits, or sessions from before come
 *     in.
 *
 * LEARNED: what was learned has changed; `number`: items of the project `text` and the user that
 *     wait for their word. `flag`: a model proposed some of them just now.
 *
 * MEMORY_OFFER: `number` sessions from before are not in memory; memory/index says whether they are
 *     to be. Once a start.
 *
 * CORPORA_STATE: an ingest goes on or ends: `progress`, `error` where it failed. `flag`: or vectors
 *     of passages are made: `number` lack, `error` says why it waits. */
enum notice_type {
    NOTICE_ANSWER,
    NOTICE_ERROR,
    NOTICE_SESSION,
    NOTICE_PAGE,
    NOTICE_PROVIDER,
    NOTICE_BUSY,
    NOTICE_EVENT,
    NOTICE_APPROVAL,
    NOTICE_DRAFT,
    NOTICE_CHANGE,
    NOTICE_READ,
    NOTICE_WRITE,
    NOTICE_RUN,
    NOTICE_ENOUGH,
    NOTICE_MEMORY_STATE,
    NOTICE_LEARNED,
    NOTICE_MEMORY_OFFER,
    NOTICE_CORPORA_STATE,
    NOTICE_TYPES /* how many */
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
    enum memory_access access;   /* … and what the session may do with it */
    struct usage total;
    double cost;       /* USD of the session's calls whose cost is known; negative: of none is it */
    bool cost_partial; /* there are others */
    /* The budget that is nearest its end; NULL: none is set. */
    const char *budget; /* "max_tokens"; static */
    int budget_percent; /* of it that is used */
};

struct notice {
    enum notice_type type;
    char session[UUID_LEN + 1]; /* that it is about, or that an answer is of; "": none */
    struct operation_answer *answer;
    struct event *event;
    struct session_info info;
    struct meters meters;
    VEC(struct event *) events;
    struct memory_stats stats;
    struct corpus_progress progress;
    struct draft_figures draft;
    char *provider, *model, *detail, *text, *name, *args, *preview, *guarded, *grant;
    enum provider_reason reason;
    struct error error;
    int64_t number, limit;
    bool flag;
    bool read_only;
};

struct notice *notice_new(enum notice_type type);

/* NULL: none. */
void notice_name_session(struct notice *n, const char *id);

void notice_free(struct notice *n);

#endif
