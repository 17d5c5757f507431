#include "index/rank_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* A text shorter than this part of the average counts as being so long. */
static const double shortest = 0.75;

static double saturate(double n, double k1, double k)
{
    return n > 0 ? n * (k1 + 1) / (n + k) : 0;
}

static struct saturation saturation_of(double k1, double k)
{
    struct saturation s = {.k1 = k1, .k = k};
    for (int n = 0; n < USUAL_COUNTS; n++)
        s.usual[n] = saturate(n, k1, k);
    return s;
}

static double saturation_at(const struct saturation *s, uint64_t n)
{
    return n < USUAL_COUNTS ? s->usual[n] : saturate((double)n, s->k1, s->k);
}

/* `size`: the text's length by the average one. */
static double length_factor(const struct rank_settings *s, double size)
{
    return s->k1 * (1 - s->b + s->b * (size > shortest ? size : shortest));
}

static double most_score(const struct ranker *r, const struct row *row)
{
    const struct posting *p = r->in->postings;
    double sum = 0;
    for (size_t i = row->first; i < row->end; i++)
        sum += r->in->idf[p[i].term] * saturation_at(&r->alone, p[i].count);
    return sum;
}

static double own_score(const struct ranker *r, const struct row *row, double size)
{
    const struct posting *p = r->in->postings;
    double k = length_factor(r->settings, size), sum = 0;
    for (size_t i = row->first; i < row->end; i++)
        sum += r->in->idf[p[i].term] * saturate(p[i].count, r->settings->k1, k);
    return sum;
}

static void make_rows(struct ranker *r)
{
    const struct posting *p = r->in->postings;
    for (size_t i = 0; i < r->in->count;) {
        struct row row = {.key = p[i].key, .first = i};
        for (; i < r->in->count && p[i].key == row.key; i++)
            row.named = row.named || p[i].named;
        row.end = i;
        row.own = most_score(r, &row);
        vec_push(&r->rows, row);
    }
}

/* The score of several entries as one text. */
static double joint_score(const struct ranker *r, size_t first_row, size_t end_row)
{
    const struct posting *p = r->in->postings;
    size_t first = r->rows.items[first_row].first, end = r->rows.items[end_row - 1].end;
    double sum = 0;
    for (size_t i = first; i < end; i++)
        r->counts[p[i].term] += p[i].count;
    for (size_t i = first; i < end; i++) {
        sum += r->in->idf[p[i].term] * saturation_at(&r->joint, r->counts[p[i].term]);
        r->counts[p[i].term] = 0;
    }
    return sum;
}

static void add_talks(struct ranker *r)
{
    for (size_t i = 0, end; i < r->rows.len; i = end) {
        int64_t talk = rank_key_talk(r->rows.items[i].key);
        for (end = i; end < r->rows.len && rank_key_talk(r->rows.items[end].key) == talk;)
            end++;
        double share = r->settings->session * joint_score(r, i, end);
        for (size_t k = i; k < end; k++)
            r->rows.items[k].session = share;
    }
}

static void add_windows(struct ranker *r)
{
    size_t first = 0, end = 0;
    for (size_t i = 0; i < r->rows.len; i++) {
        int64_t key = r->rows.items[i].key;
        while (r->rows.items[first].key < key - RANK_WINDOW)
            first++;
        while (end < r->rows.len && r->rows.items[end].key <= key + RANK_WINDOW)
            end++;
        r->rows.items[i].window = r->settings->window * joint_score(r, first, end);
    }
}

/* The row of a neighbour, NULL: it has no word of the query. */
static const struct row *neighbour(const struct ranker *r, size_t i, int step)
{
    if ((step < 0 && i == 0) || (step > 0 && i + 1 == r->rows.len))
        return NULL;
    const struct row *row = &r->rows.items[step < 0 ? i - 1 : i + 1];
    return row->key == r->rows.items[i].key + step ? row : NULL;
}

/* n / (n + half), by what it is for a text that is not short. */
static double fullness(const struct rank_settings *s, double words)
{
    double n = fmin(words, RANK_FULL);
    return n / (n + s->half) * (RANK_FULL + s->half) / RANK_FULL;
}

static double weight_of(const struct rank_settings *s, const struct row *row,
                        const struct rank_facts *facts)
{
    return fullness(s, facts->words) * (row->named ? s->named : 1) * (facts->asks ? s->asks : 1);
}

/* With the facts that are the best for it. */
static void add_bounds(struct ranker *r)
{
    const struct rank_settings *s = r->settings;
    double most_before = fmax(s->before, s->answer), most_weight = fmax(1, s->asks);
    for (size_t i = 0; i < r->rows.len; i++) {
        struct row *row = &r->rows.items[i];
        const struct row *before = neighbour(r, i, -1), *after = neighbour(r, i, 1);
        double sum = row->own + row->session + row->window +
                     (before ? most_before * before->own : 0) + (after ? s->after * after->own : 0);
        row->bound = sum * most_weight * (row->named ? s->named : 1);
    }
}

void ranker_init(struct ranker *r, const struct rank_settings *settings,
                 const struct rank_input *in)
{
    *r = (struct ranker){.settings = settings, .in = in};
    r->alone = saturation_of(settings->k1, length_factor(settings, 0));
    r->joint = saturation_of(settings->k1, settings->k1);
    r->counts = mem_alloc((in->terms + 1) * sizeof *r->counts);
    make_rows(r);
    add_talks(r);
    add_windows(r);
    add_bounds(r);
}

void ranker_release(struct ranker *r)
{
    vec_release(&r->rows);
    free(r->counts);
}

/* BM25 of the entry itself and what else is known of it; nothing of a row that is not there. */
struct real {
    double own;
    struct rank_facts facts;
};

static bool find_real(const struct ranker *r, const struct row *row, struct real *out)
{
    *out = (struct real){0};
    if (!row)
        return true;
    if (!r->in->facts(r->in->context, row->key, &out->facts))
        return false;
    out->own = own_score(r, row, r->in->average > 0 ? out->facts.words / r->in->average : 1);
    return true;
}

bool ranker_rank(const struct ranker *r, size_t i, struct ranked *out)
{
    const struct row *row = &r->rows.items[i];
    const struct rank_settings *s = r->settings;
    double most = r->in->idf_sum * (s->k1 + 1);
    struct real real, before, after;
    if (!find_real(r, row, &real) || !find_real(r, neighbour(r, i, -1), &before) ||
        !find_real(r, neighbour(r, i, 1), &after))
        return false;
    struct memory_why why = {.words = real.own,
                             .before = (before.facts.asks ? s->answer : s->before) * before.own,
                             .after = s->after * after.own,
                             .session = row->session,
                             .window = row->window,
                             .weight = weight_of(s, row, &real.facts),
                             .coverage = most > 0 ? fmin(1, real.own / most) : 0};
    double sum = why.words + why.before + why.after + why.session + why.window;
    *out = (struct ranked){.key = row->key, .rank = sum * why.weight, .why = why};
    return true;
}
