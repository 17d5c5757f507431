/* The turn loop: model call, tools, again, until the model stops, the user interrupts or the turn
 * has as many calls as [tools] max_calls allows. It runs on the agent thread and tells all it does
 * as events. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/approval.h"
#include "agent/budget.h"
#include "agent/hooks.h"
#include "agent/prompt.h"
#include "agent/tool.h"
#include "base/wakeup.h"
#include "chat/event.h"
#include "chat/history.h"
#include "compact/compact.h"
#include "config/config.h"
#include "knowledge/project.h"
#include "provider/provider.h"

struct agent {
    const struct config *config;
    const struct provider *provider;
    const struct endpoint *endpoint;
    struct http *http;
    const char *model;
    const char *system;
    bool watched;                            /* by a person, as answers come */
    const struct instructions *instructions; /* files for the model; NULL: none */
    const char *skills;                      /* names of skills, for the tool; NULL: none */
    const char *learned;                     /* text on learned memory; NULL: none */
    const char *graph_hint;      /* … of the graph, where its tools are offered; NULL: nothing */
    const char *recalled;        /* what memory has on the turn's message; NULL: nothing */
    const char *session_id;      /* NULL: unknown */
    enum input_origin origin;    /* of the input */
    const enum model_eyes *eyes; /* of the model; keep_images() may learn it */
    int64_t window;              /* tokens; 0 unknown. Learned from an overflow */
    int64_t max_output;          /* tokens of one answer */
    const char *effort;          /* of reasoning; NULL: as the provider has it */
    struct toolset *tools;       /* asked again between its model calls */
    const char *offer;           /* level of tools: none, read or full */
    const struct wakeup *wakeup;
    struct wakeup *deadline; /* the same one, where the agent sets the end of its time; NULL: it
                                cannot */
    const struct approval_policy *policy;
    struct hooks *hooks; /* NULL: none run */
    struct budget *budget;
    struct prompt_told *told;
    struct budget_use spent;       /* by the session before this turn */
    struct price price;            /* of the model */
    const struct history *history; /* follows the events as they are emitted */

    /* Takes the event; numbers it, keeps it, applies it to the history and shows it. False: the
     * record could not be kept, and the turn must end. */
    bool (*emit)(void *context, struct event *ev, struct error *e);

    /* Returns passages of memory on the message, within so many tokens, and an event for them;
     * NULL: none is likely to matter. The text lasts until the turn ends. No function: memory is
     * not asked. */
    const char *(*recall)(void *context, const char *input, int64_t tokens, struct event **told);

    /* Asks the user and waits for the answer. APPROVAL_ASK stands for "nobody can be asked". An
     * interrupt while it waits is an APPROVAL_DENY, after which go_on() says no. Sets the
     * `refusal` of the call if the user gives a reason. */
    enum approval_verdict (*ask)(void *context, struct tool_call *call, const char *id,
                                 const char *args, const char *preview);

    /* Keeps the images of a tool's result, [{data: Base64}], with the session, and returns image
     * blocks of the tool for the result's event, JSON; the caller frees. NULL: there are none. No
     * function: texts stand for images. */
    char *(*keep_images)(void *context, const char *tool, const struct json *images);

    /* As in struct tool_context; NULL: nobody looks, or is there. */
    void (*show)(void *context, const struct tool_output *output);
    char *(*elicit)(void *context, const char *server, const struct json *params,
                    bool (*waits)(void *of), void *of);

    /* Compaction; NULL: histories are not shortened. The callbacks as in struct compact_host. */
    const struct compact_settings *compaction;
    int64_t model_output; /* the model's own limit of output; 0 unknown */
    enum commit_result (*commit)(void *context, struct event *completed, struct error *e);
    struct draft_verdict (*review)(void *context, const struct draft *draft); /* NULL: nobody */
    const struct summariser *(*summariser)(void *context, struct error *e);
    char *(*tool_result)(void *context, int64_t seq, const char *id); /* NULL: nobody knows */
    const char *summary_label; /* "provider/model" that it would give, for the breaker */
    void *context;             /* of all */
};

/* One turn of the conversation: run_started … run_completed, run_failed or interrupted. A budget
 * that is used up ends it as run_failed with BUDGET_EXHAUSTED, before the next model call, before a
 * tool, or in mid-answer when it is one of time; the answer so far stays. It warns before
 * (budget.h). With more than [tools] max_calls calls, or when the same call has failed three times
 * while no call succeeded, it ends as run_completed with that stop reason, and a warning says what
 * the user can do.
 *
 * `attachments` is a JSON array of image blocks and attached files, behind the text of a skill that
 * comes with the message, which is pinned then; or NULL. `retries` the run_started that this one
 * repeats, or 0. Faults of the model are events; false with `e` only when emit() failed. */
bool agent_take_turn(struct agent *a, const char *input, const char *attachments, int64_t retries,
                     struct error *e);

/* A turn without the model: runs the command of a person, who needs no permission for it, with no
 * sandbox, as long as it takes; `input` is "!COMMAND". run_started, command_completed, run_completed
 * or interrupted. False as above. */
bool agent_run_command(struct agent *a, const char *input, struct error *e);

/* Compacts now, whatever the thresholds and the breaker say (an attempt all the same). Not while a
 * turn runs. False with the reason: nothing was changed (it was told as compaction_failed too, if
 * it began). */
bool agent_compact(struct agent *a, const struct compact_mode *mode, const char *focus,
                   bool preview, struct error *e);

/* Tokens of the whole next request (system prompt, offered tools, history), estimated as the
 * history is. */
int64_t agent_request_estimate(const struct agent *a);

/* The same as the meters show it: on the base of what the provider counted. */
struct request_size agent_request_size(const struct agent *a);

/* Limit of one answer: as configured, else the model's own but at most 8192, or 32768 where it
 * `reasons` with an effort, which counts as output; and at most a quarter of a known window.
 * Arguments are 0 where unknown. */
int64_t agent_max_output(int64_t configured, int64_t model_limit, int64_t window, bool reasons);

/* That limit after a request of so many tokens: the rest of the window, since many servers
 * refuse a request whose tokens and limit together are beyond it; at least a sixteenth of the
 * window, for what our estimate errs. */
int64_t agent_answer_room(int64_t max_output, int64_t window, int64_t request);

#endif
