/* The turn loop on a stage: a provider that plays a script, a user who answers as told, a record in
 * memory. The tools are the real ones, in the test's directory. */
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
    const char *reasoning; /* streams before it */
    const char *tool, *args;
    int calls;    /* of that tool: 0 is one */
    bool refused; /* it asked for more of them than an answer may have */
    enum stop_reason stop;
    enum failure_kind failure;
    int status;
    int64_t retry_after_ms;
    int64_t window;     /* that an overflow tells */
    int64_t input;      /* tokens of the request, as the server counts; 0: 10 */
    bool truncated;     /* the server dropped the front of the prompt */
    bool cancel_after;  /* the user interrupts once the answer is there */
    int64_t takes_ms;   /* of the stage's clock */
    bool to_the_end;    /* streams on until the wakeup says stop */
    bool without_usage; /* the server does not say */
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
    struct buf offered; /* names of its tools, a blank before each */
    struct buf system;  /* its system prompt */
    int64_t last_deadline_ms;
    int wake[2];
    bool stop;
    enum event_type store_fails; /* at the first of these; TURN_STARTED: never */
    bool reads_on;               /* the script saw that its delta was taken */
    struct wakeup wakeup;
    struct config *config;
    struct history history;
    struct buf trail; /* names of the events, one a word */
    VEC(struct event *) events;

    /* The agent's, for a test to set before play_run(). */
    const struct tool_source *const *sources; /* the program's, if the test says nothing */
    const char *offer;
    bool rootless, timeless; /* no directory; a deadline cannot be set */
    int root_fd;          /* the test's directory */
    struct toolset tools; /* play_tools() */
    struct approval_policy policy;
    struct budget budget;
    struct prompt_told told;
    struct budget_use spent;
    struct price price;

    const struct tool_memory *memory;
    const struct tool_graph *graph;
    const struct tool_corpora *corpora;
    const char *prompt;

    /* The user. */
    bool absent; /* there is no way to ask */
    enum approval_verdict answer;
    bool for_session;  /* the answer holds for the session */
    bool escapes;      /* interrupts instead, and the question is answered with `answer` */
    int64_t thinks_ms; /* of the stage's clock */
    int questions;
    char *asked_id, *asked_name, *asked_args, *asked_preview; /* newest question */
    int64_t deadline_while_asked_ms;

    /* Compaction: `compact` is the configuration's, which a test may change. */
    bool compacts;
    struct compact_settings compact;
    int64_t window, model_output;
    const char *label; /* of the model for summaries; NULL: there is none */
    struct price summary_price;
    int64_t summary_window;
    enum commit_result commit_result;
    int commits, summaries;      /* that were tried; calls of the model for summaries */
    struct buf summary_request;  /* the texts of the newest, one a line */
    const struct said *verdicts; /* what the user says of drafts, in order */
    size_t verdict_count, drafts;
    struct buf draft; /* the newest */
};

extern struct play play;

/* For cmocka_unit_test_setup_teardown(). */
int play_setup(void **state);
int play_teardown(void **state);
#define PLAY_TEST(f) cmocka_unit_test_setup_teardown(f, play_setup, play_teardown)

/* The clock stands still but for takes_ms, thinks_ms and to_the_end. Nothing may wait then. */
void play_stop_clock(void);

/* The lists of [tools]; NULL: as configured by default. */
void play_policy(const char *allow, const char *ask, const char *deny);

/* Makes the toolset anew, with what the test has set. A run does so at its beginning. */
struct toolset *play_tools(void);

void play_press_escape(void);
bool play_run(const struct act *acts, size_t count, const char *input, struct error *e);

#define PLAY(...)                                                                                  \
    assert_true(play_run((const struct act[]){__VA_ARGS__},                                        \
                         sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act), "hello",  \
                         &(struct error){0}))

/* As `/compact` does. */
bool play_compact(const struct act *acts, size_t count, const char *mode, const char *focus,
                  struct error *e);

/* Whether the newest request offered the tool. */
bool play_offered(const char *tool);

const struct event *play_last(void);

/* The n-th event of a type, from 0; NULL when there are fewer. */
const struct event *play_event(enum event_type type, int n);

/* Fails the test unless no run is open and each call of the history has its result right behind the
 * message that calls. */
void play_check_history(void);

#endif
