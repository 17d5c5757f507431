/* The turn loop: model call, tools, again, until the model stops, the user interrupts or MAX_ROUNDS
 * model calls have passed. It runs on the agent thread and tells all it does as events. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wakeup.h"
#include "chat/event.h"
#include "chat/history.h"
#include "config/config.h"
#include "provider/provider.h"

enum { AGENT_MAX_ROUNDS = 50 };

struct agent {
    const struct config *config;
    const struct provider *provider;
    const struct endpoint *endpoint;
    struct http *http;
    const char *model;
    const char *system;
    int64_t window;     /* tokens; 0 unknown. Learned from an overflow */
    int64_t max_output; /* tokens of one answer */
    bool offer_tools;
    int root_fd; /* working directory of the tools */
    const char *root;
    const struct wakeup *wakeup;
    const struct history *history; /* follows the events as they are emitted */

    /* Takes the event; numbers it, keeps it, applies it to the history and shows it. False: the
     * record could not be kept, and the run must end. */
    bool (*emit)(void *context, struct event *ev, struct error *e);
    void *context;
};

/* One turn of the conversation: run_started … run_completed, run_failed or interrupted.
 * `attachments` is a JSON array of image blocks or NULL; `retries` the run_started that this one
 * repeats, or 0. Faults of the model are events; false with `e` only when emit() failed. */
bool agent_run(struct agent *a, const char *input, const char *attachments, int64_t retries,
               struct error *e);

/* Limit of one answer: as configured, else the model's own but at most 8192, and at most a quarter
 * of a known window. Arguments are 0 where unknown. */
int64_t agent_max_output(int64_t configured, int64_t model_limit, int64_t window);

#endif
