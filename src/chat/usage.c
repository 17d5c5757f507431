#include "chat/usage.h"

#include "chat/figure.h"

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
    total->estimated = total->estimated || u->estimated;
}

double usage_cost(const struct usage *u, const struct price *p)
{
    if (u->input < 0 || u->output < 0 || p->input < 0 || p->output < 0)
        return -1;
    int64_t cached = u->cached < 0 ? 0 : u->cached;
    if (cached > u->input)
        cached = u->input;
    double cached_price = p->cached < 0 ? p->input : p->cached;
    return ((double)(u->input - cached) * p->input + (double)cached * cached_price +
            (double)u->output * p->output) /
           1e6;
}

double usage_cost_sum(double a, double b)
{
    if (!(a >= 0))
        return b >= 0 ? figure_bounded_real(b) : -1;
    return figure_bounded_real(a + (b > 0 ? b : 0));
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
        SHAPE_FIELD("estimated", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct usage, estimated),       \
                    .help = "A guess of tiro's, no figure of the provider's.")

static const struct shape_field fields[] = {FIGURES, {0}};

const struct shape usage_shape = {
    .name = "usage", .size = sizeof(struct usage), .fields = fields, .known = known};

static const struct shape_field turn_fields[] = {
    FIGURES,
    SHAPE_FIELD("summaries", OBJECT, OPTIONAL, sizeof(struct usage), .of = &usage_shape,
                .help = "The part that compactions used."),
    {0}};

const struct shape usage_turn_shape = {
    .name = "turn usage", .size = 2 * sizeof(struct usage), .fields = turn_fields, .known = known};
