#include "index/rank_entry.h"

#include <math.h>

/* A text shorter than this part of the average counts as being so long. */
static const double shortest = 0.75;

static struct saturation saturation_of(double k1, double k)
{
    struct saturation s = {.k1 = k1, .k = k};
    for (int n = 0; n < USUAL_COUNTS; n++)
        s.usual[n] = saturate(n, k1, k);
    return s;
}

/* `size`: the text's length by the average one. */
static double length_factor(const struct rank_settings *s, double size)
{
    return s->k1 * (1 - s->b + s->b * (size > shortest ? size : shortest));
}

struct saturation saturation_shortest(const struct rank_settings *s)
{
    return saturation_of(s->k1, length_factor(s, 0));
}

struct saturation saturation_joint(const struct rank_settings *s)
{
    return saturation_of(s->k1, s->k1);
}

double rank_own(const struct rank_settings *s, const struct rank_input *in, size_t first,
                size_t end, const struct rank_facts *facts)
{
    double size = in->average > 0 ? facts->words / in->average : 1;
    double k = length_factor(s, size), sum = 0;
    for (size_t i = first; i < end; i++)
        sum += in->idf[in->postings[i].term] * saturate(in->postings[i].count, s->k1, k);
    return sum;
}

/* n / (n + half), by what it is for a text that is not short. */
static double fullness(const struct rank_settings *s, double words)
{
    double n = fmin(words, RANK_FULL);
    return n / (n + s->half) * (RANK_FULL + s->half) / RANK_FULL;
}

double rank_weight(const struct rank_settings *s, bool named, const struct rank_facts *facts)
{
    return fullness(s, facts->words) * (named ? s->named : 1) * (facts->asks ? s->asks : 1);
}

double rank_most(const struct rank_settings *s, const struct rank_most *parts)
{
    double sum = parts->own + parts->session + parts->window +
                 fmax(s->before, s->answer) * parts->before + s->after * parts->after;
    return sum * fmax(1, s->asks) * (parts->named ? s->named : 1);
}
