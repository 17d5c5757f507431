/* The best entries. What is known of each before its facts are asked for bounds its rank from
 * above, so facts are asked of few, and of their neighbours only where these decide. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/rank_talks.h"

struct ranker {
    struct rank_settings settings;
    const struct rank_input *in;
    size_t limit;
    struct ranking *out;
    size_t *near;              /* in each list, where it was looked for last */
    struct postings around[3]; /* of the entry before, the entry, the one behind it */
    struct occurrences places; /* of the entry that is looked at */
    struct rank_survey survey;
};

/* ---- postings ---- */

static void find_postings(struct ranker *r, int64_t key)
{
    for (size_t i = 0; i < 3; i++)
        vec_clear(&r->around[i].items);
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct postings *list = &r->in->lists[t];
        r->near[t] = postings_find(list, r->near[t], key - 1);
        for (size_t i = r->near[t]; i < list->items.len; i++) {
            const struct posting *p = &list->items.items[i];
            if (p->key > key + 1)
                break;
            vec_push(&r->around[p->key - key + 1].items, *p);
        }
    }
}

static struct rank_span span_of(const struct postings *p)
{
    return (struct rank_span){p->items.items, p->items.items + p->items.len};
}

/* ---- one entry ---- */

/* What is known of an entry; nothing of a neighbour that has no word of the query. */
struct real {
    double own;
    struct rank_facts facts;
};

static bool find_length(const struct ranker *r, int64_t key, const struct postings *p,
                        struct real *out)
{
    *out = (struct real){0};
    if (p->items.len == 0)
        return true;
    struct rank_span span = span_of(p);
    if (!r->in->words(r->in->context, key, &out->facts.words))
        return false;
    out->own = rank_own(&r->settings, r->in, &span, &out->facts);
    return true;
}

/* Of a long text it does not matter. */
static bool find_asking(const struct ranker *r, int64_t key, const struct postings *p,
                        struct real *out)
{
    return p->items.len == 0 || out->facts.words > RANK_ASKING ||
           r->in->asks(r->in->context, key, &out->facts.asks);
}

static bool add_neighbours(const struct ranker *r, int64_t key, struct memory_why *why)
{
    const struct rank_settings *s = &r->settings;
    struct real before, after;
    if (!find_length(r, key - 1, &r->around[0], &before) ||
        !find_asking(r, key - 1, &r->around[0], &before) ||
        !find_length(r, key + 1, &r->around[2], &after))
        return false;
    why->before = rank_before(s, &before.facts) * before.own;
    why->after = s->after * after.own;
    return true;
}

static double sum_of(const struct memory_why *why)
{
    return why->words + why->proximity + why->before + why->after + why->session + why->window;
}

/* Whose message it is is asked only where that could take it up to the floor. */
static bool weigh_user(const struct ranker *r, double floor, struct ranked *out)
{
    double user = r->settings.user;
    bool is_user = false;
    if (user != 1 && out->rank * fmax(1, user) >= floor &&
        !r->in->is_user(r->in->context, out->key, &is_user))
        return false;
    out->why.user = is_user ? user : 1;
    out->why.weight *= out->why.user;
    out->rank *= out->why.user;
    return true;
}

/* What a rank can still be, as far as `why` and the weights are known. */
static double reach_of(const struct ranker *r, const struct rank_entry *entry,
                       const struct memory_why *why)
{
    return (sum_of(why) + entry->neighbours) * why->weight * fmax(1, r->settings.user);
}

/* … where only its length is known. */
static double reach_of_length(const struct ranker *r, const struct rank_entry *entry,
                              const struct rank_span *span, const struct real *real)
{
    const struct rank_settings *s = &r->settings;
    struct memory_why why = {
        .words = real->own, .session = entry->session, .window = entry->window};
    for (const struct posting *p = span->first; span->end - span->first > 1 && p < span->end; p++)
        why.proximity += s->near * places_proximity_most(r->in->idf[p->term], s->k1);
    rank_weigh(s, entry->named, &real->facts, &why);
    return reach_of(r, entry, &why) * fmax(1, s->asks);
}

/* An entry's rank, with its facts and its neighbours'; -HUGE_VAL where it is below the floor, which
 * mostly is known without all of them. False: they could not be found. */
static bool rank_one(struct ranker *r, const struct rank_entry *entry, double floor,
                     struct ranked *out)
{
    const struct rank_settings *s = &r->settings;
    double most = r->in->idf_sum * (s->k1 + 1);
    struct real real;
    *out = (struct ranked){.key = entry->key, .rank = -HUGE_VAL};
    find_postings(r, entry->key);
    struct rank_span span = span_of(&r->around[1]);
    if (!find_length(r, entry->key, &r->around[1], &real))
        return false;
    if (reach_of_length(r, entry, &span, &real) < floor)
        return true;
    if (!find_asking(r, entry->key, &r->around[1], &real))
        return false;
    out->why =
        (struct memory_why){.words = real.own, .session = entry->session, .window = entry->window};
    rank_add_places(s, r->in, &span, &real.facts, &r->places, &out->why);
    rank_weigh(s, entry->named, &real.facts, &out->why);
    out->why.held = rank_held(r->in, &span);
    out->why.coverage = most > 0 ? fmin(1, out->why.words / most) : 0;
    if (reach_of(r, entry, &out->why) < floor)
        return true;
    if (!add_neighbours(r, entry->key, &out->why))
        return false;
    out->rank = sum_of(&out->why) * out->why.weight;
    return weigh_user(r, floor, out);
}

/* ---- the best of them ---- */

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

/* What ranks lower is none of the best. */
static double floor_of(const struct ranker *r)
{
    return r->out->items.len >= r->limit ? r->out->items.items[r->limit - 1].rank - RANK_SAME
                                         : -HUGE_VAL;
}

struct entries {
    VEC(struct rank_entry) items;
    size_t room; /* for the highest bounds, as a heap with the lowest first; 0: for all */
    double floor;
};

static bool is_lower(const struct rank_entry *a, const struct rank_entry *b)
{
    return a->most != b->most ? a->most < b->most : a->key > b->key;
}

static void sift(struct entries *e, size_t at)
{
    struct rank_entry *items = e->items.items;
    for (size_t child; (child = 2 * at + 1) < e->items.len; at = child) {
        if (child + 1 < e->items.len && is_lower(&items[child + 1], &items[child]))
            child++;
        if (is_lower(&items[at], &items[child]))
            return;
        struct rank_entry swap = items[at];
        items[at] = items[child];
        items[child] = swap;
    }
}

static double keep_entry(void *context, const struct rank_entry *entry)
{
    struct entries *e = context;
    if (e->room == 0 || e->items.len < e->room) {
        vec_push(&e->items, *entry);
        for (size_t at = e->room / 2; e->items.len == e->room && at-- > 0;)
            sift(e, at);
    } else if (is_lower(&e->items.items[0], entry)) {
        e->items.items[0] = *entry;
        sift(e, 0);
    }
    return e->room > 0 && e->items.len == e->room ? e->items.items[0].most : e->floor;
}

static int compare_entries(const void *a, const void *b)
{
    return is_lower(a, b) ? 1 : -1;
}

/* *passed: it cannot be among the best, which rank `least` or more. */
static bool look_at(struct ranker *r, const struct rank_entry *entry, double least, bool *passed)
{
    struct ranked found;
    double floor = fmax(floor_of(r), least);
    if (entry->most < floor) {
        *passed = true;
        return true;
    }
    if (!rank_one(r, entry, floor, &found))
        return false;
    if (found.rank >= floor)
        keep_best(r->out, r->limit, &found);
    return true;
}

/* Of the `room` entries with the highest bounds, these first; 0: of all that can be among the best
 * as far as is known by then, by key, since facts lie side by side. *done: no entry that was left
 * out could be among the best. */
static bool take_best(struct ranker *r, size_t room, bool *done)
{
    struct entries e = {.room = room, .floor = floor_of(r)};
    bool ok = true;
    vec_clear(&r->out->items);
    rank_talks(&r->settings, r->in, e.floor, keep_entry, &e, &r->survey);
    *done = room == 0 || e.items.len < room;
    if (room > 0)
        vec_sort(&e.items, compare_entries);
    for (size_t i = 0; ok && i < e.items.len; i++)
        ok = look_at(r, &e.items.items[i], e.floor, done);
    vec_release(&e.items);
    return ok;
}

/* Entries with the highest bounds that are looked at first, but for those that are asked for. */
enum { FIRST_ROOM = 250 };

bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out)
{
    struct ranker r = {
        .settings = rank_settings_at(settings, in->average), .in = in, .limit = limit, .out = out};
    bool done = false;
    *out = (struct ranking){0};
    if (limit == 0)
        return true;
    r.near = mem_alloc((in->terms + 1) * sizeof *r.near);
    bool ok = take_best(&r, limit + FIRST_ROOM, &done) && (done || take_best(&r, 0, &done));
    for (size_t i = 0; i < 3; i++)
        vec_release(&r.around[i].items);
    out->whole = r.survey.whole;
    vec_release(&r.survey.talks);
    vec_release(&r.places.items);
    free(r.near);
    if (!ok)
        vec_release(&out->items);
    return ok;
}
