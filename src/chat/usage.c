#include "chat/usage.h"

#include <math.h>

int64_t figure_from(double n, int64_t most)
{
    return n >= 0 && n <= (double)most && n == floor(n) ? (int64_t)n : -1;
}

int64_t figure_tokens(const struct json *object, const char *name, int64_t absent)
{
    int64_t n = figure_from(json_get_number(object, name, -1), FIGURE_TOKENS_MAX);
    return n < 0 ? absent : n;
}

int64_t figure_bounded(int64_t n, int64_t most)
{
    if (n < 0)
        return 0;
    return n < most ? n : most;
}

int64_t figure_known(int64_t n)
{
    return n < 0 ? -1 : figure_bounded(n, FIGURE_MAX);
}

int64_t figure_sum(int64_t a, int64_t b)
{
    if (a < 0 && b < 0)
        return -1;
    return figure_bounded(figure_bounded(a, FIGURE_MAX) + figure_bounded(b, FIGURE_MAX),
                          FIGURE_MAX);
}

int figure_share(int64_t part, int64_t whole, int steps, int most)
{
    if (part <= 0 || whole <= 0)
        return 0;
    double share = floor(steps * (double)part / (double)whole + 0.5);
    return share < most ? (int)share : most;
}

bool usage_known(const struct usage *u)
{
    return u->input >= 0 || u->output >= 0;
}

void usage_add(struct usage *total, const struct usage *u)
{
    if (!usage_known(u))
        return;
    total->input = figure_sum(total->input, u->input);
    total->output = figure_sum(total->output, u->output);
    total->cached = figure_sum(total->cached, u->cached);
    total->searches = figure_sum(total->searches, u->searches);
    total->estimated = total->estimated || u->estimated;
}

double usage_cost(const struct usage *u, const struct price *p)
{
    if (u->input < 0 || u->output < 0 || p->input < 0 || p->output < 0 ||
        (u->searches > 0 && p->search < 0))
        return -1;
    int64_t cached = u->cached < 0 ? 0 : u->cached;
    if (cached > u->input)
        cached = u->input;
    double cached_price = p->cached < 0 ? p->input : p->cached;
    return ((double)(u->input - cached) * p->input + (double)cached * cached_price +
            (double)u->output * p->output) /
               1e6 +
           (double)u->searches * p->search / 1e3;
}

double usage_cost_sum(double a, double b)
{
    if (!(a >= 0) && !(b >= 0))
        return -1;
    double sum = (a > 0 ? a : 0) + (b > 0 ? b : 0);
    return fmin(sum, FIGURE_REAL_MAX);
}

static bool known(const void *usage)
{
    return usage_known(usage);
}

#define FIGURE(name, member, what)                                                                 \
    SHAPE_FIELD(name, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct usage, member), .absent = -1,    \
                .nearest = true, .help = what)
#define FIGURES                                                                                    \
    FIGURE("input_tokens", input, "All input tokens, cached ones included."),                      \
        FIGURE("output_tokens", output, "Output tokens."),                                         \
        FIGURE("cached_tokens", cached, "Input tokens read from the provider's cache."),           \
        SHAPE_FIELD("searches", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct usage, searches),      \
                    .nearest = true, .help = "Searches of the web by the provider."),              \
        SHAPE_FIELD("estimated", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct usage, estimated),       \
                    .help = "A guess of tiro's, no figure of the provider's.")

static const struct shape_field usage_fields[] = {FIGURES, {0}};

const struct shape usage_shape = {
    .name = "usage", .size = sizeof(struct usage), .fields = usage_fields, .known = known};

static const struct shape_field turn_fields[] = {
    FIGURES,
    SHAPE_FIELD("summaries", OBJECT, OPTIONAL, sizeof(struct usage), .of = &usage_shape,
                .help = "The part that compactions used."),
    {0}};

const struct shape usage_turn_shape = {
    .name = "turn usage", .size = 2 * sizeof(struct usage), .fields = turn_fields, .known = known};

struct request_measure request_measured(const struct usage *u, int64_t history)
{
    if (u->input < 0)
        return REQUEST_UNMEASURED;
    return (struct request_measure){.tokens = figure_sum(u->input, u->output),
                                    .history = history,
                                    .estimated = u->estimated || u->output < 0};
}

static bool is_measured(const void *measure)
{
    return ((const struct request_measure *)measure)->tokens >= 0;
}

const struct shape request_measure_shape = SHAPE_OF(
    "measure", struct request_measure,
    SHAPE_FIELD("measured", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct request_measure, tokens),
                .absent = -1, .nearest = true),
    SHAPE_FIELD("measured_history", INTEGER, OPTIONAL,
                SHAPE_AT(int64_t, struct request_measure, history), .there = is_measured,
                .nearest = true),
    SHAPE_FIELD("measured_estimated", BOOLEAN, OPTIONAL,
                SHAPE_AT(bool, struct request_measure, estimated)));

int64_t request_resized(int64_t tokens, int64_t before, int64_t after)
{
    if (before <= 0 || before == after)
        return before == after ? tokens : after;
    double resized = (double)tokens * (double)after / (double)before + 0.5;
    return resized < (double)FIGURE_MAX ? figure_bounded((int64_t)resized, FIGURE_MAX) : FIGURE_MAX;
}

struct request_size request_size(const struct request_measure *m, int64_t history, int64_t overhead,
                                 int64_t last_input)
{
    int64_t estimate = figure_sum(overhead, history);
    if (m->tokens < 0)
        return (struct request_size){.tokens = estimate > last_input ? estimate : last_input,
                                     .estimated = true};
    int64_t since = history - m->history;
    return (struct request_size){
        .tokens = since >= 0 ? figure_sum(m->tokens, since)
                             : request_resized(m->tokens, overhead + m->history, estimate),
        .estimated = m->estimated || since != 0};
}
