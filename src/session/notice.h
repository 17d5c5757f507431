/* Notices of the engine to a surface. Immutable once pushed; the thread that pops one frees it. */
#ifndef SESSION_NOTICE_H
#define SESSION_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/knowledge.h"
#include "chat/memory.h"
#include "chat/message.h"
#include "chat/session_info.h"
#include "chat/usage.h"
#include "session/conversation_operations.h"
#include "session/import_operations.h"
#include "session/operation.h"

/* The members that each type sets; the others are empty.
 *
 * ANSWER: the answer to a request (engine.h). `answer`.
 *
 * The other types come without a request. All but ERROR name their session.
 *
 * ERROR: a failure without a request: to open the session or store at the start, to save a draft
 *     that came during a turn. `error`.
 * SESSION: `info` with its draft, `meters`, `read_only`. `flag`: the session was opened and the
 *     transcript begins again; else its title, labels or counters have changed.
 * PAGE: after a SESSION with `flag`, if the session has events: the last screens of them. `events`,
 *     ascending. `flag`: there are older ones. A surface may pass older events to its views in the
 *     same way; then `number` is the event after the page.
 *
 * PROVIDER: the session's provider and model, and the reason. `provider`, `model`, `reason`,
 *     `detail`; `name`: the effort of reasoning that is asked for or NULL, `args`: the words for it
 *     or NULL; of `meters` the request, window and threshold.
 *
 * BUSY: `flag`: a turn or a compaction by hand began `number` ms ago; else it has ended. It comes
 *     before the first event of a turn, and after its last event and the answer to its request.
 *
 * EVENT: `event`. Numbers ascend. All events but deltas are in the log before they are sent. Deltas
 *     are in the log up to a second later, joined under the number of the last one, or only as the
 *     whole text. A client that first listens, then reads the log after a number (session/history)
 *     and skips received events that the log had, gets each event once; it can only miss deltas
 *     from before it listened.
 *
 * APPROVAL: a tool asks before it runs, and waits for approval/decide. `text`: id of the call,
 *     `name`: tool, `detail`: its class, `args`: JSON, `preview`: the difference or the command in
 *     full, `change`: the change of a file, if it is known, `guarded`: the place of keys or of the
 * program's own files that it accesses, which needs approval each time; NULL: none. `grant`: text
 * about the calls that "session" and "project" allow; NULL: the same as "once". Ends with
 *     tool_execution_completed. With the class QUESTION_OF_PROJECT it asks before the first turn of
 * a session whether what the project would run (`preview`) is trusted: "project" always, "once" and
 *     "session" in this session. Ends with run_started.
 *
 * ELICITATION: an MCP server has a form for the person, or a page to open, and waits for
 *     elicitation/decide. `number`, `name`: the server, `args`: JSON, foreign, as chat/form.h reads
 *     it. `flag`: `number` does not wait any more.
 *
 * READ: a tool needs the text of a file, which the surface may have open, and waits some seconds
 *     for tool/answer. `number`: of this task, `detail`: the path.
 * WRITE: a tool needs a file written. `number`, `detail`, `text`: the content.
 * RUN: a tool needs a command run. `number`, `text`: the shell command, `args`: shell commands to
 *     run before it (child_environment_script()), `detail`: the directory, `limit`: the answer has
 *     at most so many bytes of output, the last ones.
 * ENOUGH: the tool does not wait for `number` any more. End a command; its output is still accepted
 *     for a moment.
 *
 * OUTPUT: a command of a tool runs, since `number` ms. `text`: id of the call, `detail`: the output
 *     since the last such notice, perhaps "", in which a CR begins its line anew; `flag`:
 *     earlier output was left out. About ten notices a second at most, and one a second without
 *     output; none of them is in the log. Ends with tool_execution_completed, which has the whole
 * result.
 *
 * TASKS: the number of commands in the background has changed: `meters.tasks`. `number`: the task
 *     that has ended by itself, or 0; `text`: its command, `limit`: its exit status, or minus the
 *     number of the signal that ended it. `flag`: the session is left, and `number` tasks were
 * ended with it.
 *
 * DRAFT: a summary waits for compaction/decide. `text`: the summary, `name`: effective mode,
 *     `detail`: "provider/model" or NULL, `draft`: figures. Ends with compaction_completed or
 *     compaction_failed.
 *
 * MEMORY_STATE: `stats`, while vectors are made or wait, or older sessions are indexed.
 *
 * LEARNED: learned items have changed; `number`: items of the project `text` and of the user that
 *     wait for the user's decision. `flag`: a model has just proposed some of them.
 *
 * MEMORY_OFFER: `number` older sessions are not in memory; memory/index decides whether to index
 *     them. Once after the start.
 *
 * CORPORA_STATE: an ingest goes on or ends: `progress`, `error` if it failed. With `flag`: vectors
 *     of passages are made: `number` are missing, `error` is the reason for waiting.
 *
 * IMPORT_STATE: histories of other agents are read: `import`, `text`: the names of
 *     the sources that had something new. Ends with the answer of import/run.
 *
 * SPACE_STATE: `number` lines wait for longer than a minute to be sent to the space `text`; 0: none
 *     does any more. */
enum notice_type {
    NOTICE_ANSWER,
    NOTICE_ERROR,
    NOTICE_SESSION,
    NOTICE_PAGE,
    NOTICE_PROVIDER,
    NOTICE_BUSY,
    NOTICE_EVENT,
    NOTICE_APPROVAL,
    NOTICE_ELICITATION,
    NOTICE_OUTPUT,
    NOTICE_TASKS,
    NOTICE_DRAFT,
    NOTICE_READ,
    NOTICE_WRITE,
    NOTICE_RUN,
    NOTICE_ENOUGH,
    NOTICE_MEMORY_STATE,
    NOTICE_LEARNED,
    NOTICE_MEMORY_OFFER,
    NOTICE_CORPORA_STATE,
    NOTICE_IMPORT_STATE,
    NOTICE_SPACE_STATE,
    NOTICE_TYPES /* how many */
};

/* The reason for the provider; surfaces word it. As enum choice_reason of provider/choose.h. */
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
    int tasks;                   /* commands in the background */
    bool memory;                 /* semantic memory is available */
    enum memory_access access;   /* of the session to memory */
    struct usage total;
    double cost;       /* USD of the session's calls with a known cost; negative: none has one */
    bool cost_partial; /* the cost of other calls is unknown */
    /* The budget that is nearest its end; NULL: none is set. */
    const char *budget; /* "max_tokens"; static */
    int budget_percent; /* used part of it */
};

/* The class of the question about a project's parts, and its id and name in place of a call's. */
#define QUESTION_OF_PROJECT "project"
#define QUESTION_OF_TRUST "trust"

struct notice {
    enum notice_type type;
    char session[UUID_LEN + 1]; /* of the notice or answer; "": none */
    struct operation_answer *answer;
    struct event *event;
    struct session_info info;
    struct meters meters;
    VEC(struct event *) events;
    struct memory_stats stats;
    struct corpus_progress progress;
    struct draft_figures draft;
    struct import_progress import;
    struct file_change change;
    char *provider, *model, *detail, *text, *name, *args, *preview, *guarded, *grant;
    enum provider_reason reason;
    struct error error;
    int64_t number, limit;
    bool flag;
    bool read_only;
};

struct notice *notice_new(enum notice_type type);

/* Sets the session; NULL: none. */
void notice_name_session(struct notice *n, const char *id);

void notice_free(struct notice *n);
AUTO_POINTER(notice_free, struct notice)

#endif
