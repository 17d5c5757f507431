#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/mem.h"

int64_t turn_elapsed_ms(const struct turn *t)
{
    return clock_mono_ms() - t->started_ms - t->waited_ms;
}

/* What is unknown uses nothing up: not what a model without prices costs, nor the tokens that a
 * server does not count. What is known to be used stays used. */
static double known(double figure)
{
    return figure > 0 ? figure : 0;
}

static double tokens_of(const struct usage *u)
{
    return known((double)u->input) + known((double)u->output);
}

static struct budget_use use_of(const struct turn *t)
{
    const double *spent = t->a->spent.used;
    double seconds = (double)turn_elapsed_ms(t) / 1000;
    double tokens = tokens_of(&t->usage) + tokens_of(&t->overhead);
    struct budget_use use = {{0}};
    use.used[BUDGET_TOKENS] = known(spent[BUDGET_TOKENS]) + tokens;
    use.used[BUDGET_DURATION] = known(spent[BUDGET_DURATION]) + seconds;
    use.used[BUDGET_TURN_DURATION] = seconds;
    use.used[BUDGET_TOOL_CALLS] = known(spent[BUDGET_TOOL_CALLS]) + t->tool_calls;
    use.used[BUDGET_COST] = known(spent[BUDGET_COST]) + known(t->cost);
    return use;
}

bool turn_has_budget(struct turn *t)
{
    const struct budget_use use = use_of(t);
    return budget_allows(t->a->budget, &use, &t->end);
}

void turn_warn(struct turn *t)
{
    struct budget *b = t->a->budget;
    const struct budget_use use = use_of(t);
    enum budget_kind kind;
    int threshold;
    while (budget_next_warning(b, &use, &kind, &threshold)) {
        struct event *ev = event_new(EVENT_BUDGET_WARNING);
        ev->name = mem_strdup(budget_kind_name(kind));
        ev->used = use.used[kind];
        ev->bound = b->limit[kind];
        ev->count = budget_percent(b, &use, kind);
        turn_emit(t, ev);
    }
}

static void warn_once(struct turn *t, char **told, const char *code, char *text)
{
    if (text && (!*told || strcmp(*told, text) != 0)) {
        turn_tell_warning(t, code, text);
        free(*told);
        *told = text;
    } else {
        free(text);
    }
}

/* What has changed since the last model call of the session is said: a text that steers the model
 * is not exchanged unseen. */
static void note_instructions(struct turn *t, char **told)
{
    char *now = prompt_instructions_state(t->a->instructions);
    if (*told && strcmp(*told, now) != 0)
        turn_tell_warning(t, "instructions_changed",
                          "AGENTS.md or CLAUDE.md has changed; the model is told what it says now");
    free(*told);
    *told = now;
}

void turn_warn_of_prompt(struct turn *t, const struct context *prompt)
{
    struct prompt_told *told = t->a->told;
    int64_t most = config_integer(t->a->config, CONFIG_TOOLS_MAX_TOKENS);
    warn_once(t, &told->cut, "prompt_cut", prompt_cut_warning(prompt));
    warn_once(t, &told->faults, "instructions", prompt_instructions_warning(t->a->instructions));
    note_instructions(t, &told->instructions);
    warn_once(t, &told->tools, "many_tools", prompt_tools_warning(prompt, most));
}

int64_t turn_output_within(const struct turn *t, int64_t most)
{
    const struct budget_use use = use_of(t);
    int64_t left = budget_tokens_left(t->a->budget, &use);
    return left > 0 && left < most ? left : most;
}

void turn_set_deadline(struct turn *t)
{
    const struct budget_use use = use_of(t);
    int64_t left = budget_time_left_ms(t->a->budget, &use);
    if (t->a->deadline)
        t->a->deadline->deadline_ms = left < 0 ? 0 : clock_mono_ms() + left;
}

void turn_clear_deadline(struct turn *t)
{
    if (t->a->deadline)
        t->a->deadline->deadline_ms = 0;
}

void turn_pause(struct turn *t)
{
    t->paused_ms = clock_mono_ms();
    turn_clear_deadline(t);
}

void turn_resume(struct turn *t)
{
    t->waited_ms += clock_mono_ms() - t->paused_ms;
    turn_set_deadline(t);
}

enum outcome turn_stopped(struct turn *t)
{
    const struct budget_use use = use_of(t);
    if (budget_time_left_ms(t->a->budget, &use) != 0)
        return OUTCOME_INTERRUPTED;
    budget_allows(t->a->budget, &use, &t->end);
    return OUTCOME_FAILED;
}
