#include "index/rank_entry.h"

#include <math.h>

static struct saturation saturation_of(double k1, double k)
{
    struct saturation s = {.k1 = k1, .k = k};
    for (int n = 0; n < USUAL_COUNTS; n++)
        s.usual[n] = saturate(n, k1, k);
    return s;
}

struct saturation saturation_joint(const struct rank_settings *s)
{
    return saturation_of(s->k1, s->k1);
}

/* By the average one. */
static double size_of(const struct rank_input *in, double words)
{
    return in->average > 0 ? words / in->average : 1;
}

/* BM25's k of a text of so many words. */
static double length_factor(const struct rank_settings *s, const struct rank_input *in,
                            double words)
{
    return s->k1 * (1 - s->b + s->b * size_of(in, words));
}

double rank_own(const struct rank_settings *s, const struct rank_input *in,
                const struct rank_span *span, const struct rank_facts *facts)
{
    double k = length_factor(s, in, facts->words), sum = 0;
    for (const struct posting *p = span->first; p < span->end; p++)
        sum += in->idf[p->term] * saturate(p->count, s->k1, k);
    return sum;
}

double rank_held(const struct rank_input *in, const struct rank_span *span)
{
    double sum = 0;
    for (const struct posting *p = span->first; p < span->end; p++)
        sum += in->idf[p->term];
    return in->idf_sum > 0 ? fmin(1, sum / in->idf_sum) : 0;
}

/* ---- places ---- */

static void find_places(const struct rank_input *in, const struct rank_span *span,
                        struct occurrences *out)
{
    vec_clear(&out->items);
    for (const struct posting *p = span->first; p < span->end; p++)
        places_unpack(in->places + p->places, p->count, p->term, out);
    places_order(out);
}

void rank_add_places(const struct rank_settings *s, const struct rank_input *in,
                     const struct rank_span *span, const struct rank_facts *facts,
                     struct occurrences *places, struct memory_why *why)
{
    const struct place_worth worth = {in->idf, s->k1, length_factor(s, in, facts->words)};
    why->passage = s->passages && facts->words > PASSAGE_WORDS;
    if (!why->passage && span->end - span->first < 2)
        return;
    find_places(in, span, places);
    why->proximity = s->near * places_proximity(places, in->terms, &worth);
    if (why->passage)
        why->words = places_passage(places, &worth).worth;
}

/* ---- shares and weights ---- */

struct rank_settings rank_settings_at(const struct rank_settings *s, double average)
{
    struct rank_settings out = *s;
    double part = average > s->talk ? s->talk / average : 1;
    double *const shares[] = {&out.before, &out.after, &out.answer, &out.session, &out.window};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        *shares[i] *= part;
    return out;
}

static bool asks_shortly(const struct rank_facts *facts)
{
    return facts->asks && facts->words <= RANK_ASKING;
}

double rank_before(const struct rank_settings *s, const struct rank_facts *before)
{
    return asks_shortly(before) ? s->answer : s->before;
}

/* n / (n + half), by what it is for a text that is not short. */
static double fullness(const struct rank_settings *s, double words)
{
    double n = fmin(words, RANK_FULL);
    return n / (n + s->half) * (RANK_FULL + s->half) / RANK_FULL;
}

void rank_weigh(const struct rank_settings *s, bool named, const struct rank_facts *facts,
                struct memory_why *why)
{
    why->length = fullness(s, facts->words);
    why->asks = asks_shortly(facts) ? s->asks : 1;
    why->named = named ? s->named : 1;
    why->weight = why->length * why->asks * why->named;
}

/* ---- the most ---- */

/* The longer a text, the less a word is worth; but up to RANK_FULL words it weighs more. */
static void add_ceilings(const struct rank_settings *s, const struct rank_input *in, int count,
                         struct rank_ceiling *c)
{
    for (int words = USUAL_WORDS; words > 0; words--) {
        int least = words > count ? words : count;
        double plain = saturate(count, s->k1, length_factor(s, in, least));
        double weighed = fullness(s, least) * plain;
        double longer = words < USUAL_WORDS ? c->weighed[count][words] : 0;
        c->plain[count][words - 1] = plain;
        c->weighed[count][words - 1] = fmax(weighed, longer);
    }
}

struct rank_ceiling rank_ceiling(const struct rank_settings *s, const struct rank_input *in)
{
    struct rank_ceiling c = {.most = s->k1 + 1,
                             .near = s->near,
                             .k1 = s->k1,
                             .before = s->before,
                             .answer = fmax(s->before, s->answer),
                             .after = s->after,
                             .weight = fmax(1, s->asks) * fmax(1, s->user),
                             .named = s->named};
    for (int count = 1; count < USUAL_COUNTS; count++)
        add_ceilings(s, in, count, &c);
    return c;
}
