/* The best entries. Upper bounds of ranks are known before facts of entries are asked, so facts are
 * asked for few, and those of their neighbours only where they decide. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/rank.h"

/* ---- one entry: BM25 of its words, of its best passage, proximity, weights ---- */

/* n * (k1 + 1) / (n + k), which takes most of the time, for the usual n. */
enum { USUAL_COUNTS = 16, USUAL_WORDS = 48 };
struct saturation {
    double k1, k;
    double usual[USUAL_COUNTS];
};

static inline double saturation_at(const struct saturation *s, uint64_t n)
{
    return n < USUAL_COUNTS ? s->usual[n] : saturate((double)n, s->k1, s->k);
}

/* The postings of an entry, by term. */
struct rank_span {
    const struct posting *first, *end;
};

/* For several entries as one text, whatever its length. */
static struct saturation saturation_joint(const struct rank_settings *rank)
{
    struct saturation s = {.k1 = rank->k1, .k = rank->k1};
    for (int n = 0; n < USUAL_COUNTS; n++)
        s.usual[n] = saturate(n, s.k1, s.k);
    return s;
}

/* BM25's k of a text of so many words. */
static double length_factor(const struct rank_settings *s, const struct rank_input *in,
                            double words)
{
    double size = in->average > 0 ? words / in->average : 1;
    return s->k1 * (1 - s->b + s->b * size);
}

/* Sets proximity, and in a long entry the worth of its best passage. `places` is room to work in.
 */
static void rank_add_places(const struct rank_settings *s, const struct rank_input *in,
                            const struct rank_span *span, const struct rank_facts *facts,
                            struct occurrences *places, struct memory_why *why)
{
    const struct place_worth worth = {in->idf, s->k1, length_factor(s, in, facts->words)};
    why->passage = s->passages && facts->words > PASSAGE_WORDS;
    if (!why->passage && span->end - span->first < 2)
        return;
    vec_clear(&places->items);
    for (const struct posting *p = span->first; p < span->end; p++)
        places_unpack(in->places + p->places, p->count, p->term, places);
    places_order(places);
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

/* n / (n + half), relative to a text that is not short. */
static double fullness(const struct rank_settings *s, double words)
{
    double n = fmin(words, RANK_FULL);
    return n / (n + s->half) * (RANK_FULL + s->half) / RANK_FULL;
}

/* Sets the weights by its facts, and their product. */
static void rank_weigh(const struct rank_settings *s, bool named, const struct rank_facts *facts,
                       struct memory_why *why)
{
    why->length = fullness(s, facts->words);
    why->asks = asks_shortly(facts) ? s->asks : 1;
    why->named = named ? s->named : 1;
    why->weight = why->length * why->asks * why->named;
}

/* ---- upper bounds, before the facts of an entry are known ---- */

struct rank_ceiling {
    /* The part of BM25 of a word that occurs n times in a text of more than so many words: at most,
     * and with the weight of the length. */
    double plain[USUAL_COUNTS][USUAL_WORDS], weighed[USUAL_COUNTS][USUAL_WORDS];
    double most; /* for any number of occurrences */
    double near, k1;
    double before, answer, after, weight, named; /* at most */
};

static struct rank_ceiling ceiling_of(const struct rank_settings *s, const struct rank_input *in)
{
    struct rank_ceiling c = {.most = s->k1 + 1,
                             .near = s->near,
                             .k1 = s->k1,
                             .before = s->before,
                             .answer = fmax(s->before, s->answer),
                             .after = s->after,
                             .weight = fmax(1, s->asks) * fmax(1, s->user),
                             .named = s->named};
    /* The longer a text, the less a word is worth; but up to RANK_FULL words it weighs more. */
    for (int count = 1; count < USUAL_COUNTS; count++)
        for (int words = USUAL_WORDS; words > 0; words--) {
            int least = words > count ? words : count;
            double plain = saturate(count, s->k1, length_factor(s, in, least));
            double longer = words < USUAL_WORDS ? c.weighed[count][words] : 0;
            c.plain[count][words - 1] = plain;
            c.weighed[count][words - 1] = fmax(fullness(s, least) * plain, longer);
        }
    return c;
}

/* An upper bound of the rank of an entry, from the sum of its parts. */
static inline double rank_most(const struct rank_ceiling *c, double sum, bool named)
{
    return sum * c->weight * (named ? c->named : 1);
}

/* ---- talks: long lists of postings, read talk by talk for the bounds of their entries ---- */

/* Places of a talk, with a margin for places of the neighbouring talks that a window reaches. */
enum {
    TALK_PLACES = 1 << RANK_TALK_BITS,
    MARGIN = RANK_WINDOW,
    WIDTH = MARGIN + TALK_PLACES + MARGIN
};

/* Upper bounds of the worth of an entry's words. */
struct worth {
    double own;           /* with proximity */
    double near;          /* proximity that the last word adds */
    double beside;        /* for the neighbours */
    uint32_t words, last; /* their number; the last place, or one before it */
};
struct talk {
    int64_t number; /* rank_key_talk() */
    struct worth entries[WIDTH];
    uint16_t *counts;        /* of each word, WIDTH each */
    uint64_t present, named; /* a bit a place */
    double joint;            /* worth of the talk as one text */
};

struct reader {
    const struct rank_settings *settings;
    const struct rank_input *in;
    struct rank_ceiling ceiling;
    struct saturation joint; /* of several as one text, whatever its length */
    size_t *heads;           /* of each list, what has been read */
    double floor;
    double (*visit)(void *context, const struct rank_entry *entry);
    void *context;
    struct rank_survey *survey;
    bool again;   /* the survey is filled */
    size_t reach; /* the next talk of it that may have entries at the floor */
};

/* The next talk with a posting; with a filled survey the next one that is worth it, or beside such
 * a one. */
static bool next_talk(struct reader *r, int64_t *talk)
{
    for (;;) {
        bool any = false;
        for (size_t t = 0; t < r->in->terms; t++) {
            const struct postings *list = &r->in->lists[t];
            if (r->heads[t] == list->items.len)
                continue;
            int64_t other = rank_key_talk(list->items.items[r->heads[t]].key);
            *talk = any && *talk < other ? *talk : other;
            any = true;
        }
        if (!any || !r->again)
            return any;
        const struct rank_reach *reach = r->survey->talks.items;
        while (r->reach < r->survey->talks.len &&
               (reach[r->reach].most < r->floor || reach[r->reach].talk + 1 < *talk))
            r->reach++;
        if (r->reach == r->survey->talks.len)
            return false;
        int64_t from = reach[r->reach].talk - 1;
        if (*talk >= from)
            return true;
        for (size_t t = 0; t < r->in->terms; t++)
            r->heads[t] = postings_find(&r->in->lists[t], r->heads[t], from * TALK_PLACES);
    }
}

static void clear_place(struct talk *p, size_t at, size_t terms)
{
    p->entries[at] = (struct worth){0};
    for (size_t t = 0; t < terms; t++)
        p->counts[t * WIDTH + at] = 0;
}

/* Clears the margins and the places that have words. */
static void clear_talk(struct talk *p, int64_t talk, size_t terms)
{
    for (size_t i = 0; i < MARGIN; i++) {
        clear_place(p, i, terms);
        clear_place(p, MARGIN + TALK_PLACES + i, terms);
    }
    for (uint64_t left = p->present; left; left &= left - 1)
        clear_place(p, MARGIN + (size_t)__builtin_ctzll(left), terms);
    p->present = p->named = 0;
    p->joint = 0;
    p->number = talk;
}

/* Adds the postings of a word in the talk, from `p` to before `end`; returns the next posting. */
static const struct posting *add_word(const struct reader *r, size_t word, const struct posting *p,
                                      const struct posting *end, struct talk *to)
{
    const struct rank_ceiling *c = &r->ceiling;
    double idf = r->in->idf[word], near = c->near * places_proximity_most(idf, c->k1);
    uint16_t *counts = to->counts + word * WIDTH + MARGIN;
    uint64_t present = 0, named = 0, count = 0;
    for (; p < end && rank_key_talk(p->key) == to->number; p++) {
        size_t bit = (size_t)p->key & (TALK_PLACES - 1);
        struct worth *worth = &to->entries[MARGIN + bit];
        worth->near = near;
        size_t words = p->last < USUAL_WORDS ? p->last : USUAL_WORDS - 1;
        bool usual = p->count < USUAL_COUNTS;
        worth->own += idf * (usual ? c->weighed[p->count][words] : c->most) + near;
        worth->beside += idf * (usual ? c->plain[p->count][words] : c->most);
        worth->last = p->last > worth->last ? p->last : worth->last;
        worth->words++;
        counts[bit] = p->count;
        present |= UINT64_C(1) << bit;
        named |= (uint64_t)p->named << bit;
        count += p->count;
    }
    to->present |= present;
    to->named |= named;
    to->joint += idf * saturation_at(&r->joint, count);
    return p;
}

static void copy_place(struct talk *to, size_t at, const struct talk *from, size_t of, size_t terms)
{
    to->entries[at] = from->entries[of];
    for (size_t t = 0; t < terms; t++)
        to->counts[t * WIDTH + at] = from->counts[t * WIDTH + of];
}

static double window_at(const struct reader *r, const struct talk *p, size_t at)
{
    double sum = 0;
    for (size_t t = 0; t < r->in->terms; t++) {
        const uint16_t *counts = p->counts + t * WIDTH + at - MARGIN;
        uint64_t count = 0;
        for (int i = 0; i <= 2 * RANK_WINDOW; i++)
            count += counts[i];
        sum += r->in->idf[t] * saturation_at(&r->joint, count);
    }
    return sum;
}

/* Visits an entry whose rank may reach the floor. Returns the upper bound of its rank. */
static double bound_entry(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_settings *s = r->settings;
    const struct rank_ceiling *c = &r->ceiling;
    const struct worth *it = &p->entries[MARGIN + place];
    bool named = p->named >> place & 1;
    double neighbours = (it[-1].last < RANK_ASKING ? c->answer : c->before) * it[-1].beside +
                        c->after * it[1].beside;
    double session = s->session * p->joint;
    double sum = it->own - (it->words == 1 ? it->near : 0) + neighbours + session;
    /* A window inside of the talk is not worth more than the talk. */
    bool inside = place >= RANK_WINDOW && place + RANK_WINDOW < TALK_PLACES;
    double window = inside ? p->joint : window_at(r, p, MARGIN + place);
    double most = rank_most(c, sum + s->window * window, named);
    if (most < r->floor)
        return most;
    window = s->window * window_at(r, p, MARGIN + place);
    struct rank_entry entry = {.key = p->number * TALK_PLACES + (int64_t)place,
                               .most = rank_most(c, sum + window, named),
                               .neighbours = neighbours,
                               .session = session,
                               .window = window,
                               .named = named};
    if (entry.most >= r->floor)
        r->floor = r->visit(r->context, &entry);
    return entry.most;
}

static void end_talk(struct reader *r, const struct talk *p)
{
    struct rank_reach reach = {p->number, -HUGE_VAL};
    struct rank_whole *whole = &r->survey->whole;
    for (uint64_t left = p->present; left; left &= left - 1) {
        size_t place = (size_t)__builtin_ctzll(left);
        reach.most = fmax(reach.most, bound_entry(r, p, place));
        if (r->again || p->entries[MARGIN + place].words != r->in->terms)
            continue;
        if (whole->count < RANK_WHOLE)
            whole->keys[whole->count] = p->number * TALK_PLACES + (int64_t)place;
        whole->count++;
    }
    if (!r->again)
        vec_push(&r->survey->talks, reach);
}

void rank_talks(const struct rank_settings *settings, const struct rank_input *in, double floor,
                double (*visit)(void *context, const struct rank_entry *entry), void *context,
                struct rank_survey *survey)
{
    struct reader r = {.settings = settings,
                       .in = in,
                       .ceiling = ceiling_of(settings, in),
                       .joint = saturation_joint(settings),
                       .heads = mem_alloc((in->terms + 1) * sizeof *r.heads),
                       .floor = floor,
                       .visit = visit,
                       .context = context,
                       .survey = survey,
                       .again = survey->talks.len > 0};
    struct talk both[2] = {{0}, {0}}, *before = NULL;
    for (size_t i = 0; i < 2; i++)
        both[i].counts = mem_alloc((in->terms + 1) * WIDTH * sizeof *both[i].counts);
    for (int64_t talk = 0; next_talk(&r, &talk);) {
        struct talk *this = before == &both[0] ? &both[1] : &both[0];
        clear_talk(this, talk, in->terms);
        for (size_t t = 0; t < in->terms; t++) {
            const struct postings *list = &in->lists[t];
            const struct posting *items = list->items.items;
            if (r.heads[t] < list->items.len)
                r.heads[t] =
                    (size_t)(add_word(&r, t, items + r.heads[t], items + list->items.len, this) -
                             items);
        }
        /* The margins of neighbouring talks are places of the other one. */
        for (size_t i = 0; before && before->number + 1 == talk && i < MARGIN; i++) {
            copy_place(this, i, before, TALK_PLACES + i, in->terms);
            copy_place(before, MARGIN + TALK_PLACES + i, this, MARGIN + i, in->terms);
        }
        if (before)
            end_talk(&r, before);
        before = this;
    }
    if (before)
        end_talk(&r, before);
    free(both[0].counts);
    free(both[1].counts);
    free(r.heads);
}

struct ranker {
    struct rank_settings settings;
    const struct rank_input *in;
    size_t limit;
    struct ranking *out;
    size_t *near;              /* in each list, the index of the last search */
    struct postings around[3]; /* of the entry before, the entry, the next one */
    struct occurrences places; /* of the entry */
    struct rank_survey survey;
};

/* ---- the rank of an entry, with its facts and its neighbours ---- */

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

/* Facts of an entry; zero of a neighbour without a word of the query. */
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
    if (!r->in->words(r->in->context, key, &out->facts.words))
        return false;
    double k = length_factor(&r->settings, r->in, out->facts.words); /* BM25 of the whole entry */
    for (size_t i = 0; i < p->items.len; i++)
        out->own += r->in->idf[p->items.items[i].term] *
                    saturate(p->items.items[i].count, r->settings.k1, k);
    return true;
}

/* For a long text it does not matter. */
static bool find_asking(const struct ranker *r, int64_t key, const struct postings *p,
                        struct real *out)
{
    return p->items.len == 0 || out->facts.words > RANK_ASKING ||
           r->in->asks(r->in->context, key, &out->facts.asks);
}

static double sum_of(const struct memory_why *why)
{
    return why->words + why->proximity + why->before + why->after + why->session + why->window;
}

/* An upper bound of the rank, as far as `why` and the weights are known. */
static double reach_of(const struct ranker *r, const struct rank_entry *entry,
                       const struct memory_why *why)
{
    return (sum_of(why) + entry->neighbours) * why->weight * fmax(1, r->settings.user);
}

/* The same when only its length is known. */
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

/* -HUGE_VAL when the rank is below the floor, which mostly shows before all facts are known. False:
 * a fact could not be read. */
static bool rank_one(struct ranker *r, const struct rank_entry *entry, double floor,
                     struct ranked *out)
{
    const struct rank_settings *s = &r->settings;
    double most = r->in->idf_sum * (s->k1 + 1);
    struct real real;
    *out = (struct ranked){.key = entry->key, .rank = -HUGE_VAL};
    find_postings(r, entry->key);
    const struct posting *own = r->around[1].items.items;
    struct rank_span span = {own, own + r->around[1].items.len};
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
    double held = 0;
    for (const struct posting *p = span.first; p < span.end; p++)
        held += r->in->idf[p->term];
    out->why.held = r->in->idf_sum > 0 ? fmin(1, held / r->in->idf_sum) : 0;
    out->why.coverage = most > 0 ? fmin(1, out->why.words / most) : 0;
    if (reach_of(r, entry, &out->why) < floor)
        return true;
    struct real before, after;
    if (!find_length(r, entry->key - 1, &r->around[0], &before) ||
        !find_asking(r, entry->key - 1, &r->around[0], &before) ||
        !find_length(r, entry->key + 1, &r->around[2], &after))
        return false;
    out->why.before = (asks_shortly(&before.facts) ? s->answer : s->before) * before.own;
    out->why.after = s->after * after.own;
    out->rank = sum_of(&out->why) * out->why.weight;
    /* Whether it is a user's message is asked only if that could raise its rank to the floor. */
    bool is_user = false;
    if (s->user != 1 && out->rank * fmax(1, s->user) >= floor &&
        !r->in->is_user(r->in->context, out->key, &is_user))
        return false;
    out->why.user = is_user ? s->user : 1;
    out->why.weight *= out->why.user;
    out->rank *= out->why.user;
    return true;
}

/* ---- the best of them ---- */

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

/* An entry that ranks lower is none of the best. */
static double floor_of(const struct ranker *r)
{
    return r->out->items.len >= r->limit ? r->out->items.items[r->limit - 1].rank - RANK_SAME
                                         : -HUGE_VAL;
}

/* *passed: the entry cannot be among the best, which rank `least` or more. */
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
    if (found.rank < floor)
        return true;
    /* Inserts it; drops those that then rank below the limit'th. */
    struct ranking *out = r->out;
    size_t at = out->items.len;
    for (; at > 0; at--) {
        const struct ranked *before = &out->items.items[at - 1];
        if (before->rank != found.rank ? before->rank > found.rank : before->key >= found.key)
            break;
    }
    vec_insert(&out->items, at, found);
    while (out->items.len > r->limit + RANK_TIES ||
           (out->items.len > r->limit &&
            vec_last(&out->items).rank < out->items.items[r->limit - 1].rank - RANK_SAME))
        out->items.len--;
    return true;
}

/* Ranks the `room` entries with the highest bounds, the highest first; 0: all that can still be
 * among the best, by key, since facts of neighbours lie side by side. *done: no entry that was left
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

/* Entries with the highest bounds that are ranked first, besides the limit. */
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
