#include "agent/budget.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/turn.h"
#include "base/clock.h"
#include "base/mem.h"

enum { FIRST_WARNING = 80, LAST_WARNING = 95 };

/* Figures are sums of thousands of parts. What is left below this share of the limit is an error
 * of rounding. */
#define ROUNDING 1e-13

/* 2^62: a time or a count past it is no limit, and a caller may still add a clock to it. */
#define LONGEST 4611686018427387904.0

static const struct {
    const char *name, *unit;
    int decimals;
    const char *way_out;
    enum config_key key;
} kinds[] = {
#define X(id, key, unit, decimals, way_out)                                                        \
    [BUDGET_##id] = {key, unit, decimals, way_out, CONFIG_BUDGET_##id},
    BUDGET_KINDS(X)
#undef X
};

void budget_read(struct budget *b, const struct config *config)
{
    *b = (struct budget){.limit = {0}};
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++) {
        enum config_key key = kinds[i].key;
        b->limit[i] = config_key_info(key)->type == CONFIG_REAL
                          ? config_real(config, key)
                          : (double)config_integer(config, key);
    }
}

const char *budget_kind_name(enum budget_kind kind)
{
    return kinds[kind].name;
}

static bool is_measured(const struct budget *b, const struct budget_use *use, enum budget_kind kind)
{
    return b->limit[kind] > 0 && use->used[kind] >= 0;
}

static double left(const struct budget *b, const struct budget_use *use, enum budget_kind kind)
{
    double rest = b->limit[kind] - use->used[kind];
    return rest > b->limit[kind] * ROUNDING ? rest : 0;
}

static bool is_reached(const struct budget *b, const struct budget_use *use, enum budget_kind kind)
{
    return is_measured(b, use, kind) && left(b, use, kind) <= 0;
}

int budget_percent(const struct budget *b, const struct budget_use *use, enum budget_kind kind)
{
    if (!is_measured(b, use, kind))
        return -1;
    double percent = floor(100 * (use->used[kind] / b->limit[kind] + ROUNDING));
    if (is_reached(b, use, kind) != (percent >= 100))
        return is_reached(b, use, kind) ? 100 : 99;
    return percent < INT_MAX ? (int)percent : INT_MAX;
}

bool budget_nearest(const struct budget *b, const struct budget_use *use, enum budget_kind *kind)
{
    double most = -1;
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++) {
        if (is_measured(b, use, i) && use->used[i] / b->limit[i] > most) {
            most = use->used[i] / b->limit[i];
            *kind = i;
        }
    }
    return most >= 0;
}

/* The warning that is due at this percentage; 0: none. */
static int warning_at(int percent)
{
    return percent >= LAST_WARNING ? LAST_WARNING : percent >= FIRST_WARNING ? FIRST_WARNING : 0;
}

bool budget_next_warning(struct budget *b, const struct budget_use *use, enum budget_kind *kind,
                         int *percent)
{
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++) {
        int due = warning_at(budget_percent(b, use, i));
        if (due <= b->warned[i])
            continue;
        b->warned[i] = *percent = due;
        *kind = i;
        return true;
    }
    return false;
}

bool budget_allows(const struct budget *b, const struct budget_use *use, struct error *e)
{
    for (enum budget_kind i = 0; i < BUDGET_KIND_COUNT; i++)
        if (is_reached(b, use, i))
            return err_set(e, ERR_BUDGET_EXHAUSTED,
                           "[budget] %s is used up: %.*f of %.*f %s; raise the limit, or %s",
                           kinds[i].name, kinds[i].decimals, use->used[i], kinds[i].decimals,
                           b->limit[i], kinds[i].unit, kinds[i].way_out);
    return true;
}

void budget_begin_turn(struct budget *b, const struct history *h)
{
    for (enum budget_kind kind = 0; kind < BUDGET_KIND_COUNT; kind++)
        for (size_t i = 0; i < h->budgets.len; i++) {
            const struct budget_told *told = &h->budgets.items[i];
            int warned = warning_at(told->percent);
            if (strcmp(told->kind, kinds[kind].name) == 0 && warned > b->warned[kind] &&
                fabs(told->limit - b->limit[kind]) <= b->limit[kind] * ROUNDING)
                b->warned[kind] = warned;
        }
    b->warned[BUDGET_TURN_DURATION] = 0;
}

int64_t budget_time_left_ms(const struct budget *b, const struct budget_use *use)
{
    static const enum budget_kind times[] = {BUDGET_DURATION, BUDGET_TURN_DURATION};
    double least = LONGEST;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (is_measured(b, use, times[i]))
            least = fmin(least, ceil(1000 * left(b, use, times[i])));
    return least < LONGEST ? (int64_t)least : -1;
}

int64_t budget_tokens_left(const struct budget *b, const struct budget_use *use)
{
    if (!is_measured(b, use, BUDGET_TOKENS))
        return -1;
    double rest = floor(left(b, use, BUDGET_TOKENS));
    return rest < LONGEST ? (int64_t)rest : -1;
}

/* --- the limits of a turn --------------------------------------------------------------------- */

int64_t turn_elapsed_ms(const struct turn *t)
{
    return clock_mono_ms() - t->started_ms - t->waited_ms;
}

/* An unknown figure uses nothing up: neither the cost of a model without prices, nor tokens that a
 * server does not count. */
static double known(double figure)
{
    return figure > 0 ? figure : 0;
}

static struct budget_use use_of(const struct turn *t)
{
    const double *spent = t->a->spent.used;
    double seconds = (double)turn_elapsed_ms(t) / 1000;
    double tokens = known((double)t->usage.input) + known((double)t->usage.output) +
                    known((double)t->overhead.input) + known((double)t->overhead.output);
    return (struct budget_use){
        {[BUDGET_TOKENS] = known(spent[BUDGET_TOKENS]) + tokens,
         [BUDGET_DURATION] = known(spent[BUDGET_DURATION]) + seconds,
         [BUDGET_TURN_DURATION] = seconds,
         [BUDGET_TOOL_CALLS] = known(spent[BUDGET_TOOL_CALLS]) + t->tool_calls,
         [BUDGET_COST] = known(spent[BUDGET_COST]) + known(t->cost)}};
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
