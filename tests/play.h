/* Runs the turn loop with a scripted provider, a scripted user, and a record in memory. The tools
 * are the real ones, in the test's directory. */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/buf.h"
#include "base/vec.h"
#include "compact/policy.h"

/* One model call. A failure kind other than NONE fails it after `text` has streamed. */
struct act {
    const char *text;
    const char *reasoning; /* streamed before the text */
    const char *tool, *args;
    int calls;    /* number of calls of that tool; 0: one */
    bool refused; /* more calls than an answer may have: the rest is refused */
    enum stop_reason stop;
    enum failure_kind failure;
    int status;
    int64_t retry_after_ms;
    int64_t window;     /* the window that an overflow reports */
    int64_t input;      /* tokens of the request, as the server counts; 0: 10 */
    bool truncated;     /* the server dropped the front of the prompt */
    bool cancel_after;  /* the user interrupts once the answer is there */
    int64_t takes_ms;   /* duration on the stage's clock */
    bool to_the_end;    /* streams until the wakeup says stop */
    bool without_usage; /* the server reports no usage */
};

/* The verdict on a draft; the text as in struct draft_verdict. */
struct said {
    enum draft_answer answer;
    const char *text;
};

struct play {
    const struct act *acts;
    size_t act_count, at;
    size_t last_message_count; /* of the newest request */
    int64_t last_max_output;
    struct buf offered;  /* names of its tools, a blank before each */
    struct buf system;   /* its system prompt */
    struct buf recalled; /* passages that it sends with the message */
    int64_t last_deadline_ms;
    int wake[2];
    bool stop;
    enum event_type store_fails; /* the store fails at the first such event; TURN_STARTED: never */
    bool reads_on;               /* set when the script saw that its delta was taken */
    struct wakeup wakeup;
    struct config *config;
    struct history history;
    struct buf trail; /* names of the events, one a word */
    VEC(struct event *) events;

    /* Options of the agent, which a test sets before play_run(). */
    const struct tool_source *const *sources; /* NULL: the program's */
    const char *offer;
    bool rootless, timeless; /* no directory; a deadline cannot be set */
    bool sandbox;            /* commands run in one */
    int root_fd;             /* the test's directory */
    struct toolset tools;    /* play_tools() */
    struct approval_policy policy;
    struct hooks hooks;
    struct budget budget;
    struct prompt_told told;
    struct budget_use spent;
    struct price price;

    const struct tool_memory *memory;
    const struct tool_graph *graph;
    const struct tool_corpora *corpora;
    const char *prompt;

    /* Behaviour of the user. */
    bool absent; /* nobody can be asked */
    enum approval_verdict answer;
    bool for_session;  /* the answer holds for the session */
    bool escapes;      /* interrupts; the question gets `answer` all the same */
    int64_t thinks_ms; /* duration on the stage's clock */
    int questions;
    char *asked_id, *asked_name, *asked_args, *asked_preview; /* newest question */
    int64_t deadline_while_asked_ms;

    /* Compaction: `compact` is the configuration, which a test may change. */
    bool compacts;
    struct compact_settings compact;
    int64_t window, model_output;
    const char *label; /* label of the summary model; NULL: none */
    struct price summary_price;
    int64_t summary_window;
    enum commit_result commit_result;
    int commits, summaries;      /* attempted commits; calls of the summary model */
    struct buf summary_request;  /* the texts of the newest, one a line */
    const struct said *verdicts; /* the user's verdicts on drafts, in order */
    size_t verdict_count, drafts;
    struct buf draft; /* the newest */
};

extern struct play play;

/* For cmocka_unit_test_setup_teardown(). */
int play_setup(void **state);
int play_teardown(void **state);

/* Stops the clock except for takes_ms, thinks_ms and to_the_end. No code may wait then. */
void play_stop_clock(void);

/* The lists of [tools]; NULL: as configured by default. */
void play_policy(const char *allow, const char *ask, const char *deny);

/* Makes the toolset anew with the test's settings. A run does so at its beginning. */
struct toolset *play_tools(void);

void play_press_escape(void);
bool play_run(const struct act *acts, size_t count, const char *input, struct error *e);

#define PLAY(...)                                                                                  \
    assert_true(play_run((const struct act[]){__VA_ARGS__},                                        \
                         sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act), "hello",  \
                         &(struct error){0}))

/* A turn in which the model calls the tool; arguments with ' for ". The event of the result. */
const struct event *play_call(const char *tool, const char *args);

/* The call's result is this text, or an error that contains it; with ' for ". */
void play_gives(const char *tool, const char *args, const char *text);
void play_refuses(const char *tool, const char *args, const char *part);

/* Compacts as `/compact` does. */
bool play_compact(const struct act *acts, size_t count, const char *mode, const char *focus,
                  struct error *e);

/* Whether the newest request offered the tool. */
bool play_offered(const char *tool);

const struct event *play_last(void);

/* The n-th event of a type, from 0; NULL if there are fewer. */
const struct event *play_event(enum event_type type, int n);

/* Fails the test unless no run is open and each call of the history has its result directly after
 * the message that calls. */
void play_check_history(void);

#endif
