#include "chat/request_size.h"

#include "chat/figure.h"

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

static const struct shape_field fields[] = {
    SHAPE_FIELD("measured", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct request_measure, tokens),
                .absent = -1, .nearest = true),
    SHAPE_FIELD("measured_history", INTEGER, OPTIONAL,
                SHAPE_AT(int64_t, struct request_measure, history), .there = is_measured,
                .nearest = true),
    SHAPE_FIELD("measured_estimated", BOOLEAN, OPTIONAL,
                SHAPE_AT(bool, struct request_measure, estimated)),
    {0},
};

const struct shape request_measure_shape = {
    .name = "measure", .size = sizeof(struct request_measure), .fields = fields};

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
