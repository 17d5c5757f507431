/* The best entries. What is known of each before its facts are asked for bounds its rank from
 * above: BM25, the shares of talk and window; so facts are asked of few. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/rank_entry.h"

/* An entry with postings, and the most that its rank can be. */
struct rank_entry {
    int64_t key;
    struct rank_span span;
    double own; /* at most */
    double session, window;
    double bound;
    bool named; /* the query names who said it */
};

struct ranker {
    struct rank_settings settings;
    const struct rank_input *in;
    struct rank_ceiling ceiling;
    struct saturation joint; /* of several as one text, whatever its length */
    VEC(struct rank_entry) entries;
    uint64_t *counts;          /* of each term, in what is being summed up */
    struct occurrences places; /* of the entry that is looked at */
};

static void make_entries(struct ranker *r)
{
    const struct posting *p = r->in->postings;
    for (size_t i = 0; i < r->in->count;) {
        struct rank_entry entry = {.key = p[i].key, .span.first = i};
        for (; i < r->in->count && p[i].key == entry.key; i++)
            entry.named = entry.named || p[i].named;
        entry.span.end = i;
        entry.own = rank_most_own(&r->settings, &r->ceiling, r->in, &entry.span);
        vec_push(&r->entries, entry);
    }
}

/* The score of several entries as one text. */
static double joint_score(const struct ranker *r, size_t first_entry, size_t end_entry)
{
    const struct posting *p = r->in->postings;
    size_t first = r->entries.items[first_entry].span.first;
    size_t end = r->entries.items[end_entry - 1].span.end;
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
    for (size_t i = 0, end; i < r->entries.len; i = end) {
        int64_t talk = rank_key_talk(r->entries.items[i].key);
        for (end = i; end < r->entries.len && rank_key_talk(r->entries.items[end].key) == talk;)
            end++;
        double share = r->settings.session * joint_score(r, i, end);
        for (size_t k = i; k < end; k++)
            r->entries.items[k].session = share;
    }
}

static void add_windows(struct ranker *r)
{
    size_t first = 0, end = 0;
    for (size_t i = 0; i < r->entries.len; i++) {
        int64_t key = r->entries.items[i].key;
        while (r->entries.items[first].key < key - RANK_WINDOW)
            first++;
        while (end < r->entries.len && r->entries.items[end].key <= key + RANK_WINDOW)
            end++;
        r->entries.items[i].window = r->settings.window * joint_score(r, first, end);
    }
}

/* The entry of a neighbour, NULL: it has no word of the query. */
static const struct rank_entry *neighbour(const struct ranker *r, size_t i, int step)
{
    if ((step < 0 && i == 0) || (step > 0 && i + 1 == r->entries.len))
        return NULL;
    const struct rank_entry *entry = &r->entries.items[step < 0 ? i - 1 : i + 1];
    return entry->key == r->entries.items[i].key + step ? entry : NULL;
}

static void add_bounds(struct ranker *r)
{
    for (size_t i = 0; i < r->entries.len; i++) {
        struct rank_entry *entry = &r->entries.items[i];
        const struct rank_entry *before = neighbour(r, i, -1), *after = neighbour(r, i, 1);
        const struct rank_most most = {.own = entry->own,
                                       .before = before ? before->own : 0,
                                       .after = after ? after->own : 0,
                                       .session = entry->session,
                                       .window = entry->window,
                                       .named = entry->named};
        entry->bound = rank_most(&r->settings, &r->ceiling, &most);
    }
}

static void ranker_init(struct ranker *r, const struct rank_settings *settings,
                        const struct rank_input *in)
{
    *r = (struct ranker){.settings = rank_settings_at(settings, in->average), .in = in};
    r->ceiling = rank_ceiling(&r->settings, in);
    r->joint = saturation_joint(&r->settings);
    r->counts = mem_alloc((in->terms + 1) * sizeof *r->counts);
    make_entries(r);
    add_talks(r);
    add_windows(r);
    add_bounds(r);
}

static void ranker_release(struct ranker *r)
{
    vec_release(&r->entries);
    vec_release(&r->places.items);
    free(r->counts);
}

/* BM25 of the entry itself and what else is known of it; nothing of an entry that is not there. */
struct real {
    double own;
    struct rank_facts facts;
};

static bool find_real(const struct ranker *r, const struct rank_entry *entry, struct real *out)
{
    *out = (struct real){0};
    if (!entry)
        return true;
    if (!r->in->facts(r->in->context, entry->key, &out->facts))
        return false;
    out->own = rank_own(&r->settings, r->in, &entry->span, &out->facts);
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

/* An entry's rank, with its facts and its neighbours'; where it cannot be more than the floor,
 * perhaps less than it is. False: facts() failed. */
static bool ranker_rank(struct ranker *r, size_t i, double floor, struct ranked *out)
{
    const struct rank_entry *entry = &r->entries.items[i];
    const struct rank_settings *s = &r->settings;
    double most = r->in->idf_sum * (s->k1 + 1);
    struct real real, before, after;
    if (!find_real(r, entry, &real) || !find_real(r, neighbour(r, i, -1), &before) ||
        !find_real(r, neighbour(r, i, 1), &after))
        return false;
    struct memory_why why = {.words = real.own,
                             .before = rank_before(s, &before.facts) * before.own,
                             .after = s->after * after.own,
                             .session = entry->session,
                             .window = entry->window};
    rank_add_places(s, r->in, &entry->span, &real.facts, &r->places, &why);
    rank_weigh(s, entry->named, &real.facts, &why);
    why.coverage = most > 0 ? fmin(1, why.words / most) : 0;
    *out = (struct ranked){.key = entry->key, .rank = sum_of(&why) * why.weight, .why = why};
    return weigh_user(r, floor, out);
}

/* ---- the best of them ---- */

/* Rows with the highest bounds that are looked at first. */
enum { FIRST_ROOM = 250 };

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

/* The entries with the highest bounds, as a heap with the lowest of them first. */
struct bounds {
    struct bound {
        double most;
        size_t entry;
    } * items;
    size_t len;
};

static bool is_lower(const struct bound *a, const struct bound *b)
{
    return a->most != b->most ? a->most < b->most : a->entry < b->entry;
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
    for (size_t i = 0; i < r->entries.len; i++) {
        struct bound bound = {r->entries.items[i].bound, i};
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

/* Facts are asked only of entries that could still be among the best. *done: no entry that is not
 * among the `room` with the highest bounds could be. */
static bool take_best(struct ranker *r, size_t room, size_t limit, struct ranking *out, bool *done)
{
    struct bounds b = highest_bounds(r, room);
    bool ok = true;
    *done = b.len == r->entries.len;
    for (size_t i = 0; ok && i < b.len; i++) {
        struct ranked found;
        double floor =
            out->items.len >= limit ? out->items.items[limit - 1].rank - RANK_SAME : -HUGE_VAL;
        if (b.items[i].most < floor) {
            *done = true;
            break;
        }
        ok = ranker_rank(r, b.items[i].entry, floor, &found);
        if (ok)
            keep_best(out, limit, &found);
    }
    free(b.items);
    return ok;
}

bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out)
{
    struct ranker r;
    bool ok = true, done = false;
    *out = (struct ranking){0};
    if (in->count == 0 || limit == 0)
        return true;
    ranker_init(&r, settings, in);
    for (size_t room = limit + FIRST_ROOM; ok && !done; room *= 16) {
        vec_clear(&out->items);
        ok = take_best(&r, room, limit, out, &done);
    }
    ranker_release(&r);
    if (!ok)
        vec_release(&out->items);
    return ok;
}
