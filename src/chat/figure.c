#include "chat/figure.h"

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

double figure_bounded_real(double n)
{
    return n > 0 ? fmin(n, FIGURE_REAL_MAX) : 0;
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
