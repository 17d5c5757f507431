#include "chat/request_size.h"

#include "base/json_out.h"
#include "chat/figure.h"

struct request_measure request_measured(const struct usage *u, int64_t history)
{
    if (u->input < 0)
        return REQUEST_UNMEASURED;
    return (struct request_measure){.tokens = figure_sum(u->input, u->output),
                                    .history = history,
                                    .estimated = u->estimated || u->output < 0};
}

void request_measure_write(struct json_out *o, const struct request_measure *m)
{
    if (m->tokens < 0)
        return;
    json_out_int(o, "measured", figure_bounded(m->tokens, FIGURE_MAX));
    json_out_int(o, "measured_history", figure_bounded(m->history, FIGURE_MAX));
    json_out_flag(o, "measured_estimated", m->estimated);
}

struct request_measure request_measure_read(const struct json *v)
{
    return (struct request_measure){
        .tokens = figure_known(json_get_int(v, "measured", -1)),
        .history = figure_bounded(json_get_int(v, "measured_history", 0), FIGURE_MAX),
        .estimated = json_get_bool(v, "measured_estimated", false)};
}

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
