#include "memory/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* A text shorter than this part of the average counts as being so long. */
static const double shortest = 0.75;

/* Rows with the highest bounds that are looked at first. */
enum { FIRST_ROOM = 250 };

enum { PAUSE_MS = 6 * 60 * 60 * 1000, TALK_PLACES = 1 << MEMORY_TALK_BITS };

struct rank_settings rank_settings_for(double k1, double b)
{
    return (struct rank_settings){
        .k1 = k1, .b = b, .before = 0.3, .after = 0.1, .session = 0.6, .window = 0.4};
}

int64_t memory_place_for(int64_t next, int64_t last_ms, int64_t created_ms)
{
    int64_t pause = created_ms > last_ms ? created_ms - last_ms : last_ms - created_ms;
    bool has_room = next < (int64_t)1 << (MEMORY_PLACE_BITS - 1);
    if (pause < PAUSE_MS || next == 0 || !has_room)
        return next;
    return (next + RANK_WINDOW + TALK_PLACES - 1) / TALK_PLACES * TALK_PLACES;
}

double rank_idf(int64_t all, int64_t entries)
{
    double n = (double)entries;
    double others = (double)(all > entries ? all - entries : 0);
    return log(1 + (others + 0.5) / (n + 0.5));
}

double rank_score(double coverage)
{
    const double knee = 0.32, at_knee = 0.70;
    if (coverage <= 0)
        return 0;
    if (coverage >= 1)
        return 1;
    if (coverage <= knee)
        return coverage / knee * at_knee;
    return at_knee + (coverage - knee) / (1 - knee) * (1 - at_knee);
}

/* ---- order of postings ---- */

static bool stands_before(const struct posting *a, const struct posting *b)
{
    return a->key != b->key ? a->key < b->key : a->term < b->term;
}

/* Of what is in order up to `middle` and from there to `end`. */
static void merge(const struct posting *from, size_t begin, size_t middle, size_t end,
                  struct posting *to)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++)
        to[i] =
            b == end || (a < middle && !stands_before(&from[b], &from[a])) ? from[a++] : from[b++];
}

/* Every second of `begins` goes; the result is how many are left. */
static size_t merge_pairs(const struct posting *from, struct posting *to, size_t *begins,
                          size_t count, size_t len)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i += 2) {
        size_t middle = i + 1 < count ? begins[i + 1] : len;
        size_t end = i + 2 < count ? begins[i + 2] : len;
        merge(from, begins[i], middle, end, to);
        begins[left++] = begins[i];
    }
    return left;
}

static void unite_equal(struct postings *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->items.len; i++) {
        struct posting *last = kept > 0 ? &p->items.items[kept - 1] : NULL;
        const struct posting *this = &p->items.items[i];
        if (!last || stands_before(last, this))
            p->items.items[kept++] = *this;
        else if (this->count > last->count)
            last->count = this->count;
    }
    p->items.len = kept;
}

void postings_order(struct postings *p, const size_t *begins, size_t count)
{
    size_t *left = mem_alloc((count + 1) * sizeof *left);
    struct posting *other = mem_alloc((p->items.len + 1) * sizeof *other);
    for (size_t i = 0; i < count; i++)
        left[i] = begins[i];
    while (count > 1) {
        count = merge_pairs(p->items.items, other, left, count, p->items.len);
        struct posting *swap = p->items.items;
        p->items.items = other;
        p->items.cap = p->items.len + 1;
        other = swap;
    }
    free(other);
    free(left);
    unite_equal(p);
}

/* ---- ranking ---- */

/* An entry with postings, and the most that its rank can be. */
struct row {
    int64_t key;
    size_t first, end; /* postings */
    double own;        /* at most */
    double session, window;
    double bound;
};

/* n * (k1 + 1) / (n + k), which most of the time is spent on, for the usual n. */
enum { USUAL_COUNTS = 16 };
struct saturation {
    double k1, k;
    double usual[USUAL_COUNTS];
};

struct ranker {
    const struct rank_settings *settings;
    const struct rank_input *in;
    struct saturation alone; /* of an entry that is short */
    struct saturation joint; /* of several as one text, whatever its length */
    VEC(struct row) rows;
    uint64_t *counts; /* of each term, in what is being summed up */
};

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
        while (i < r->in->count && p[i].key == row.key)
            i++;
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
        int64_t talk = memory_key_talk(r->rows.items[i].key);
        for (end = i; end < r->rows.len && memory_key_talk(r->rows.items[end].key) == talk;)
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

static void add_bounds(struct ranker *r)
{
    for (size_t i = 0; i < r->rows.len; i++) {
        struct row *row = &r->rows.items[i];
        const struct row *before = neighbour(r, i, -1), *after = neighbour(r, i, 1);
        row->bound = row->own + row->session + row->window +
                     (before ? r->settings->before * before->own : 0) +
                     (after ? r->settings->after * after->own : 0);
    }
}

/* With the entry's real length; a row that is not there scores 0. */
static bool real_score(const struct ranker *r, const struct row *row, double *out)
{
    double words = 0;
    *out = 0;
    if (!row)
        return true;
    if (!r->in->length(r->in->context, row->key, &words))
        return false;
    *out = own_score(r, row, r->in->average > 0 ? words / r->in->average : 1);
    return true;
}

static bool rank_row(const struct ranker *r, size_t i, struct ranked *out)
{
    const struct row *row = &r->rows.items[i];
    double most = r->in->idf_sum * (r->settings->k1 + 1);
    double own, before, after;
    if (!real_score(r, row, &own) || !real_score(r, neighbour(r, i, -1), &before) ||
        !real_score(r, neighbour(r, i, 1), &after))
        return false;
    struct memory_why why = {.words = own,
                             .before = r->settings->before * before,
                             .after = r->settings->after * after,
                             .session = row->session,
                             .window = row->window,
                             .coverage = most > 0 ? fmin(1, own / most) : 0};
    *out = (struct ranked){
        .key = row->key,
        .rank = why.words + why.before + why.after + why.session + why.window,
        .why = why,
    };
    return true;
}

/* ---- the best ---- */

static bool ranks_below(const struct ranked *a, const struct ranked *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->key < b->key;
}

/* Adds what was found, in order; what then ranks below the limit'th goes. */
static void keep_best(struct ranking *out, size_t limit, const struct ranked *found)
{
    size_t at = out->items.len;
    while (at > 0 && ranks_below(&out->items.items[at - 1], found))
        at--;
    vec_insert(&out->items, at, *found);
    while (out->items.len > limit + RANK_TIES ||
           (out->items.len > limit &&
            vec_last(&out->items).rank < out->items.items[limit - 1].rank - RANK_SAME))
        out->items.len--;
}

/* The rows with the highest bounds, as a heap with the lowest of them first. */
struct bounds {
    struct bound {
        double most;
        size_t row;
    } * items;
    size_t len;
};

static bool is_lower(const struct bound *a, const struct bound *b)
{
    return a->most != b->most ? a->most < b->most : a->row < b->row;
}

static void sift(struct bounds *b, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < b->len; at = child) {
        if (child + 1 < b->len && is_lower(&b->items[child + 1], &b->items[child]))
            child++;
        if (is_lower(&b->items[at], &b->items[child]))
            return;
        struct bound swap = b->items[at];
        b->items[at] = b->items[child];
        b->items[child] = swap;
    }
}

static int compare_bounds(const void *a, const void *b)
{
    return is_lower(a, b) ? 1 : -1;
}

/* Highest first. */
static struct bounds highest_bounds(const struct ranker *r, size_t room)
{
    struct bounds b = {.items = mem_alloc(room * sizeof *b.items)};
    for (size_t i = 0; i < r->rows.len; i++) {
        struct bound bound = {r->rows.items[i].bound, i};
        if (b.len < room) {
            b.items[b.len++] = bound;
            for (size_t at = b.len / 2; b.len == room && at-- > 0;)
                sift(&b, at);
        } else if (is_lower(&b.items[0], &bound)) {
            b.items[0] = bound;
            sift(&b, 0);
        }
    }
    qsort(b.items, b.len, sizeof *b.items, compare_bounds);
    return b;
}

/* Lengths are asked only of rows that could still be among the best. *done: no row that is not
 * among the `room` with the highest bounds could be. */
static bool take_best(const struct ranker *r, size_t room, size_t limit, struct ranking *out,
                      bool *done)
{
    struct bounds b = highest_bounds(r, room);
    bool ok = true;
    *done = b.len == r->rows.len;
    for (size_t i = 0; ok && i < b.len; i++) {
        struct ranked found;
        if (out->items.len >= limit &&
            b.items[i].most < out->items.items[limit - 1].rank - RANK_SAME) {
            *done = true;
            break;
        }
        ok = rank_row(r, b.items[i].row, &found);
        if (ok)
            keep_best(out, limit, &found);
    }
    free(b.items);
    return ok;
}

bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out)
{
    struct ranker r = {.settings = settings, .in = in};
    *out = (struct ranking){0};
    if (in->count == 0 || limit == 0)
        return true;
    r.alone = saturation_of(settings->k1, length_factor(settings, 0));
    r.joint = saturation_of(settings->k1, settings->k1);
    r.counts = mem_alloc(in->terms * sizeof *r.counts);
    make_rows(&r);
    add_talks(&r);
    add_windows(&r);
    add_bounds(&r);
    bool ok = true, done = false;
    for (size_t room = limit + FIRST_ROOM; ok && !done; room *= 16) {
        vec_clear(&out->items);
        ok = take_best(&r, room, limit, out, &done);
    }
    if (!ok)
        vec_release(&out->items);
    vec_release(&r.rows);
    free(r.counts);
    return ok;
}
