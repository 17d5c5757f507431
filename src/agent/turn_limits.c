#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/mem.h"

int64_t run_elapsed_ms(const struct run *r)
{
    return clock_mono_ms() - r->started_ms - r->waited_ms;
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

static struct budget_use use_of(const struct run *r)
{
    const double *spent = r->a->spent.used;
    double seconds = (double)run_elapsed_ms(r) / 1000;
    double tokens = tokens_of(&r->usage) + tokens_of(&r->overhead);
    struct budget_use use = {{0}};
    use.used[BUDGET_TOKENS] = known(spent[BUDGET_TOKENS]) + tokens;
    use.used[BUDGET_DURATION] = known(spent[BUDGET_DURATION]) + seconds;
    use.used[BUDGET_TURN_DURATION] = seconds;
    use.used[BUDGET_TOOL_CALLS] = known(spent[BUDGET_TOOL_CALLS]) + r->tool_calls;
    use.used[BUDGET_COST] = known(spent[BUDGET_COST]) + known(r->cost);
    return use;
}

bool run_has_budget(struct run *r)
{
    const struct budget_use use = use_of(r);
    return budget_allows(r->a->budget, &use, &r->end);
}

void run_warn(struct run *r)
{
    struct budget *b = r->a->budget;
    const struct budget_use use = use_of(r);
    enum budget_kind kind;
    int threshold;
    while (budget_next_warning(b, &use, &kind, &threshold)) {
        struct event *ev = event_new(EVENT_BUDGET_WARNING);
        ev->name = mem_strdup(budget_kind_name(kind));
        ev->used = use.used[kind];
        ev->bound = b->limit[kind];
        ev->count = budget_percent(b, &use, kind);
        run_emit(r, ev);
    }
}

static void warn_once(struct run *r, char **told, const char *code, char *text)
{
    if (text && (!*told || strcmp(*told, text) != 0)) {
        run_tell_warning(r, code, text);
        free(*told);
        *told = text;
    } else {
        free(text);
    }
}

void run_warn_of_prompt(struct run *r, const struct context *prompt)
{
    struct prompt_told *told = r->a->told;
    int64_t most = config_integer(r->a->config, CONFIG_TOOLS_MAX_TOKENS);
    warn_once(r, &told->cut, "prompt_cut", prompt_cut_warning(prompt));
    warn_once(r, &told->tools, "many_tools", prompt_tools_warning(prompt, most));
}

int64_t run_output_within(const struct run *r, int64_t most)
{
    const struct budget_use use = use_of(r);
    int64_t left = budget_tokens_left(r->a->budget, &use);
    return left > 0 && left < most ? left : most;
}

void run_set_deadline(struct run *r)
{
    const struct budget_use use = use_of(r);
    int64_t left = budget_time_left_ms(r->a->budget, &use);
    if (r->a->deadline)
        r->a->deadline->deadline_ms = left < 0 ? 0 : clock_mono_ms() + left;
}

void run_clear_deadline(struct run *r)
{
    if (r->a->deadline)
        r->a->deadline->deadline_ms = 0;
}

void run_pause(struct run *r)
{
    r->paused_ms = clock_mono_ms();
    run_clear_deadline(r);
}

void run_resume(struct run *r)
{
    r->waited_ms += clock_mono_ms() - r->paused_ms;
    run_set_deadline(r);
}

enum outcome run_stopped(struct run *r)
{
    const struct budget_use use = use_of(r);
    if (budget_time_left_ms(r->a->budget, &use) != 0)
        return OUTCOME_INTERRUPTED;
    budget_allows(r->a->budget, &use, &r->end);
    return OUTCOME_FAILED;
}
