#include "chat/usage.h"

#include "base/json_out.h"
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

static void write_figure(struct json_out *o, const char *name, int64_t n)
{
    if (n >= 0)
        json_out_int(o, name, figure_bounded(n, FIGURE_MAX));
}

static void write_figures(struct json_out *o, const struct usage *u)
{
    write_figure(o, "input_tokens", u->input);
    write_figure(o, "output_tokens", u->output);
    write_figure(o, "cached_tokens", u->cached);
    json_out_flag(o, "estimated", u->estimated);
}

void usage_write(struct json_out *o, const struct usage *u)
{
    json_out_open(o, '{');
    write_figures(o, u);
    json_out_close(o, '}');
}

void usage_write_share(struct json_out *o, const struct usage *u, const char *name,
                       const struct usage *share)
{
    json_out_open(o, '{');
    write_figures(o, u);
    if (usage_known(share)) {
        json_out_name(o, name);
        usage_write(o, share);
    }
    json_out_close(o, '}');
}

static int64_t read_figure(const struct json *v, const char *name)
{
    return figure_known(json_get_int(v, name, -1));
}

struct usage usage_from_json(const struct json *v)
{
    return (struct usage){
        .input = read_figure(v, "input_tokens"),
        .output = read_figure(v, "output_tokens"),
        .cached = read_figure(v, "cached_tokens"),
        .estimated = json_get_bool(v, "estimated", false),
    };
}
