/* Time from Esc until the prompt accepts input, in every state of a turn. Each state would last for
 * a minute at least. */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/table.h"
#include "tests/model_server.h"

enum { RUNS = 50, GOAL_MS = 100 };

static const struct state {
    const char *name;
    struct reply reply;
    const char *arguments[6];
    const char *sign; /* on the screen when it is there; NULL: when the request is */
    bool compacts;    /* in the second turn, which asks for a summary first */
} states[] = {
    {"connecting", {.hold = true}, {NULL}, NULL, false},
    {"streaming", {.fault = REPLY_STALL, .text = "half an ans"}, {NULL}, "half an ans", false},
    {"in a tool",
     {.tool_name = "run_command", .tool_args = "{\"command\":\"echo begun; sleep 100\"}"},
     {"--tools", "full", "--allow", "run_command", NULL},
     "sleep 100",
     false},
    {"waiting for a retry",
     {.fault = REPLY_STATUS, .status = 529, .error_message = "overloaded", .retry_after = "60"},
     {NULL},
     "overloaded",
     false},
    {"asking",
     {.tool_name = "run_command", .tool_args = "{\"command\":\"true\"}"},
     {"--tools", "full", NULL},
     "asks to run",
     false},
    {"compacting", {.fault = REPLY_STALL, .text = "half a summ"}, {NULL}, "half a summ", true},
};

static void first_turn(struct chat *c)
{
    chat_ask(c);
    chat_must(c, screen_wait_text(c->screen, "scripted model", CHAT_DEADLINE_MS), "not answered");
    chat_wait_idle(c);
}

static double interrupt_once(const struct state *state)
{
    struct chat c;
    struct model_server *server = model_server_start();
    if (state->compacts)
        setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "1", 1);
    chat_open_with(&c, model_server_url(server), state->arguments);
    unsetenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD");
    if (state->compacts)
        first_turn(&c);
    model_server_queue(server, &state->reply);
    chat_ask(&c);
    chat_must(
        &c,
        model_server_wait(server, state->compacts ? 2 : 1, CHAT_DEADLINE_MS) &&
            (state->sign == NULL || screen_wait_text(c.screen, state->sign, CHAT_DEADLINE_MS)),
        state->name);
    chat_watch(&c, 30);
    double start = screen_clock();
    screen_key(c.screen, SCREEN_ESCAPE);
    chat_must(&c, screen_wait_text(c.screen, "interrupted", CHAT_DEADLINE_MS), "not interrupted");
    chat_wait_idle(&c);
    double ms = screen_clock() - start;
    chat_close(&c);
    model_server_stop(server);
    return ms;
}

void measure_interrupt(void)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        double ms[RUNS];
        for (int run = 0; run < RUNS; run++)
            ms[run] = interrupt_once(&states[i]);
        char *measure = mem_printf("Esc to the end, %s, p99 of %d", states[i].name, RUNS);
        table_row(measure, GOAL_MS, percentile(ms, RUNS, 99), "ms", 1);
        table_note("  its p50", "%.1f ms", percentile(ms, RUNS, 50));
        free(measure);
    }
}
