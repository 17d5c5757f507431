/* The best entries. Upper bounds of ranks are known before facts of entries are asked, so facts are
 * asked for few, and those of their neighbours only where they decide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Sets proximity, and in a long entry the worth of its best passage. */
static void rank_add_places(const struct rank_settings *s, const struct rank_input *in,
                            const struct occurrences *places, double words, struct memory_why *why)
{
    const struct place_worth worth = {in->idf, s->k1, length_factor(s, in, words)};
    why->passage = s->passages && words > PASSAGE_WORDS;
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
     * and with the weight of the length. The last n stands for any number from it on. */
    struct part {
        double plain, weighed;
    } parts[USUAL_COUNTS + 1][USUAL_WORDS];
    double near, k1;
    double before[2]; /* share of the previous turn; where it may ask (an index, as a branch would
                       * be foretold wrongly) */
    double after, weight, named; /* at most */
};

static struct rank_ceiling ceiling_of(const struct rank_settings *s, const struct rank_input *in)
{
    struct rank_ceiling c = {.near = s->near,
                             .k1 = s->k1,
                             .before = {s->before, fmax(s->before, s->answer)},
                             .after = s->after,
                             .weight = fmax(1, s->asks) * fmax(1, s->user),
                             .named = s->named};
    /* The longer a text, the less a word is worth; but up to RANK_FULL words it weighs more. */
    for (int count = 1; count < USUAL_COUNTS; count++)
        for (int words = USUAL_WORDS; words > 0; words--) {
            int least = words > count ? words : count;
            double plain = saturate(count, s->k1, length_factor(s, in, least));
            double longer = words < USUAL_WORDS ? c.parts[count][words].weighed : 0;
            c.parts[count][words - 1] =
                (struct part){plain, fmax(fullness(s, least) * plain, longer)};
        }
    for (int words = 0; words < USUAL_WORDS; words++)
        c.parts[USUAL_COUNTS][words] = (struct part){s->k1 + 1, s->k1 + 1};
    return c;
}

static inline const struct part *ceiling_part(const struct rank_ceiling *c, const struct posting *p)
{
    return &c->parts[p->count < USUAL_COUNTS ? p->count : USUAL_COUNTS]
                    [p->last < USUAL_WORDS ? p->last : USUAL_WORDS - 1];
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

struct talk {
    int64_t number; /* rank_key_talk() */
    /* Upper bounds of the worth of an entry's words, with proximity, and for its neighbours. */
    double own[WIDTH], beside[WIDTH];
    unsigned char last[WIDTH]; /* the last place of a word, or one before it */
    uint16_t *counts;          /* of each word, WIDTH each */
    uint64_t *words;           /* of each word, a bit a place */
    size_t *starts;            /* of each word, its first posting in the talk */
    uint64_t present, several; /* places with a word, with more than one */
    uint64_t named;
    bool opens, goes_on; /* the margin before it, behind it has words */
    double joint;        /* worth of the talk as one text */
};

struct reader {
    const struct rank_settings *settings;
    const struct rank_input *in;
    struct rank_ceiling ceiling;
    struct saturation joint; /* of several as one text, whatever its length */
    size_t *heads;           /* of each list, what has been read */
    int64_t *next;           /* the talk of the next posting; INT64_MAX: there is none */
    double floor;
    double (*visit)(void *context, const struct rank_entry *entry);
    void *context;
    struct rank_survey *survey;
    struct occurrences places; /* of an entry */
    bool again;                /* the survey is filled */
    size_t reach;              /* the next talk of it that may have entries at the floor */
};

static void move_head(struct reader *r, size_t term, size_t to)
{
    const struct postings *list = &r->in->lists[term];
    r->heads[term] = to;
    r->next[term] = to < list->items.len ? rank_key_talk(list->items.items[to].key) : INT64_MAX;
}

/* The next talk with a posting; with a filled survey the next one that is worth it, or beside such
 * a one. */
static bool next_talk(struct reader *r, int64_t *talk)
{
    for (;;) {
        *talk = INT64_MAX;
        for (size_t t = 0; t < r->in->terms; t++)
            *talk = r->next[t] < *talk ? r->next[t] : *talk;
        if (*talk == INT64_MAX || !r->again)
            return *talk != INT64_MAX;
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
            if (r->next[t] < from)
                move_head(r, t, postings_find(&r->in->lists[t], r->heads[t], from * TALK_PLACES));
    }
}

/* Adds the postings of a word in the talk. */
static void add_word(struct reader *r, size_t word, struct talk *to)
{
    const struct rank_ceiling *c = &r->ceiling;
    const struct postings *list = &r->in->lists[word];
    const struct posting *p = list->items.items + r->heads[word];
    const struct posting *end = list->items.items + list->items.len;
    double idf = r->in->idf[word];
    double *own = to->own + MARGIN, *beside = to->beside + MARGIN;
    unsigned char *last = to->last + MARGIN;
    uint16_t *counts = to->counts + word * WIDTH + MARGIN;
    uint64_t present = 0, count = 0;
    for (; p < end && rank_key_talk(p->key) == to->number; p++) {
        size_t bit = (size_t)p->key & (TALK_PLACES - 1);
        const struct part *part = ceiling_part(c, p);
        own[bit] += idf * part->weighed;
        beside[bit] += idf * part->plain;
        last[bit] = p->last > last[bit] ? p->last & POSTING_LAST : last[bit];
        counts[bit] = p->count;
        present |= UINT64_C(1) << bit;
        to->named |= (uint64_t)p->named << bit;
        count += p->count;
    }
    to->words[word] = present;
    to->starts[word] = r->heads[word];
    to->several |= to->present & present;
    to->present |= present;
    to->joint += idf * saturation_at(&r->joint, count);
    move_head(r, word, (size_t)(p - list->items.items));
}

static void read_talk(struct reader *r, int64_t number, struct talk *to)
{
    size_t terms = r->in->terms;
    uint16_t *counts = to->counts;
    uint64_t *words = to->words;
    size_t *starts = to->starts;
    memset(counts, 0, terms * WIDTH * sizeof *counts);
    memset(words, 0, terms * sizeof *words);
    *to = (struct talk){.number = number, .counts = counts, .words = words, .starts = starts};
    for (size_t t = 0; t < terms; t++)
        if (r->next[t] == number)
            add_word(r, t, to);
    /* A single word has no proximity. */
    for (size_t t = 0; t < terms; t++) {
        double idf = r->in->idf[t];
        double near = r->ceiling.near * places_proximity_most(idf, r->ceiling.k1);
        for (uint64_t left = to->words[t] & to->several; left; left &= left - 1)
            to->own[MARGIN + (size_t)__builtin_ctzll(left)] += near;
    }
}

static void copy_place(struct talk *to, size_t at, const struct talk *from, size_t of, size_t terms)
{
    to->beside[at] = from->beside[of];
    to->last[at] = from->last[of];
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

static const struct posting *posting_at(const struct reader *r, const struct talk *p, size_t word,
                                        size_t place)
{
    uint64_t before = (UINT64_C(1) << place) - 1;
    return r->in->lists[word].items.items + p->starts[word] +
           __builtin_popcountll(p->words[word] & before);
}

/* Whether the last places of the words, which all occur, are within the span. */
static bool is_together(const struct reader *r, const struct talk *p, size_t place)
{
    size_t first = POSTING_LAST, last = 0;
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct posting *it = posting_at(r, p, t, place);
        first = it->last < first ? it->last : first;
        last = it->last > last ? it->last : last;
    }
    return r->in->span == 0 || last == POSTING_LAST || last - first < r->in->span;
}

/* Most of the proximity that an entry with several words could have, and has not: the places of its
 * words are known, not how long its text is. */
static double lost_proximity(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_input *in = r->in;
    uint32_t last = 0;
    double most = 0;
    vec_clear(&r->places.items);
    for (size_t t = 0; t < in->terms; t++) {
        if (!(p->words[t] >> place & 1))
            continue;
        const struct posting *it = posting_at(r, p, t, place);
        places_unpack(in->places + it->places, it->count, it->term, &r->places);
        last = it->last > last ? it->last : last;
        most += places_proximity_most(in->idf[t], r->ceiling.k1);
    }
    places_order(&r->places);
    const struct place_worth worth = {in->idf, r->ceiling.k1,
                                      length_factor(r->settings, in, last + 1.0)};
    return r->ceiling.near * (most - places_proximity(&r->places, in->terms, &worth));
}

/* Visits an entry whose rank may reach the floor. Returns the upper bound of its rank. */
static double bound_entry(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_settings *s = r->settings;
    const struct rank_ceiling *c = &r->ceiling;
    size_t at = MARGIN + place;
    bool named = p->named >> place & 1;
    bool may_ask = p->last[at - 1] < RANK_ASKING;
    double neighbours = c->before[may_ask] * p->beside[at - 1] + c->after * p->beside[at + 1];
    double session = s->session * p->joint;
    double sum = p->own[at] + neighbours + session;
    /* A window inside of the talk is not worth more than the talk. */
    bool inside =
        (place >= RANK_WINDOW || !p->opens) && (place + RANK_WINDOW < TALK_PLACES || !p->goes_on);
    double window = inside ? p->joint : window_at(r, p, at);
    double most = rank_most(c, sum + s->window * window, named);
    if (most < r->floor)
        return most;
    window = s->window * window_at(r, p, at);
    most = rank_most(c, sum + window, named);
    if (most < r->floor)
        return most;
    if (p->several >> place & 1)
        sum -= lost_proximity(r, p, place);
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
    uint64_t all = p->present;
    for (uint64_t left = p->present; left; left &= left - 1) {
        double most = bound_entry(r, p, (size_t)__builtin_ctzll(left));
        reach.most = most > reach.most ? most : reach.most;
    }
    if (r->again)
        return;
    vec_push(&r->survey->talks, reach);
    for (size_t t = 0; t < r->in->terms; t++)
        all &= p->words[t];
    for (; all; all &= all - 1) {
        size_t place = (size_t)__builtin_ctzll(all);
        if (!is_together(r, p, place))
            continue;
        if (whole->count < RANK_WHOLE)
            whole->keys[whole->count] = p->number * TALK_PLACES + (int64_t)place;
        whole->count++;
    }
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
                       .next = mem_alloc((in->terms + 1) * sizeof *r.next),
                       .floor = floor,
                       .visit = visit,
                       .context = context,
                       .survey = survey,
                       .again = survey->talks.len > 0};
    struct talk both[2], *before = NULL;
    for (size_t i = 0; i < 2; i++) {
        both[i].counts = mem_alloc((in->terms + 1) * WIDTH * sizeof *both[i].counts);
        both[i].words = mem_alloc((in->terms + 1) * sizeof *both[i].words);
        both[i].starts = mem_alloc((in->terms + 1) * sizeof *both[i].starts);
    }
    for (size_t t = 0; t < in->terms; t++)
        move_head(&r, t, 0);
    for (int64_t talk = 0; next_talk(&r, &talk);) {
        struct talk *this = before == &both[0] ? &both[1] : &both[0];
        read_talk(&r, talk, this);
        /* The margins of neighbouring talks are places of the other one. */
        this->opens = before && before->number + 1 == talk;
        for (size_t i = 0; this->opens && i < MARGIN; i++) {
            copy_place(this, i, before, TALK_PLACES + i, in->terms);
            copy_place(before, MARGIN + TALK_PLACES + i, this, MARGIN + i, in->terms);
        }
        if (before) {
            before->goes_on = this->opens;
            end_talk(&r, before);
        }
        before = this;
    }
    if (before)
        end_talk(&r, before);
    for (size_t i = 0; i < 2; i++) {
        free(both[i].counts);
        free(both[i].words);
        free(both[i].starts);
    }
    vec_release(&r.places.items);
    free(r.heads);
    free(r.next);
}

struct ranker {
    struct rank_settings settings;
    const struct rank_input *in;
    size_t limit;
    struct ranking *out;
    size_t *near;              /* in each list, the index of the last search */
    struct postings around[3]; /* of the entry before, the entry, the next one */
    struct occurrences places; /* of the entry */
    struct rank_ceiling ceiling;
    struct rank_survey survey;
};

/* ---- the rank of an entry, with its facts and its neighbours ---- */

static void find_own(struct ranker *r, int64_t key)
{
    vec_clear(&r->around[1].items);
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct postings *list = &r->in->lists[t];
        const struct posting *p = list->items.items;
        size_t len = list->items.len, near = 0;
        if (len > 0 && key > p[0].key) /* entries with a word are spread evenly */
            near = (size_t)((double)(key - p[0].key) / (double)(p[len - 1].key - p[0].key + 1) *
                            (double)len);
        size_t at = r->near[t] = postings_find(list, near, key);
        if (at < len && p[at].key == key)
            vec_push(&r->around[1].items, p[at]);
    }
}

/* Finds the postings of the neighbours; call it after find_own(). */
static void find_neighbours(struct ranker *r, int64_t key)
{
    vec_clear(&r->around[0].items);
    vec_clear(&r->around[2].items);
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct posting *p = r->in->lists[t].items.items;
        size_t at = r->near[t], end = r->in->lists[t].items.len;
        if (at > 0 && p[at - 1].key == key - 1)
            vec_push(&r->around[0].items, p[at - 1]);
        at += at < end && p[at].key == key;
        if (at < end && p[at].key == key + 1)
            vec_push(&r->around[2].items, p[at]);
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
    out->own = out->facts.words = 0;
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

/* An upper bound of the worth of the words of a neighbour. *least: a lower bound of its number of
 * words. */
static double neighbour_most(const struct ranker *r, const struct postings *p, double *least)
{
    double sum = 0;
    *least = 0;
    for (size_t i = 0; i < p->items.len; i++) {
        const struct posting *it = &p->items.items[i];
        sum += r->in->idf[it->term] * ceiling_part(&r->ceiling, it)->plain;
        *least = fmax(*least, it->last + 1.0);
    }
    return sum;
}

static double sum_of(const struct memory_why *why)
{
    return why->words + why->proximity + why->before + why->after + why->session + why->window;
}

/* Computes the rank; -HUGE_VAL if it is below the floor. Reads a fact only if the rank could still
 * reach the floor with some value of it. False: a fact could not be read. */
static bool rank_one(struct ranker *r, const struct rank_entry *entry, double floor,
                     struct ranked *out)
{
    const struct rank_settings *s = &r->settings;
    const struct rank_input *in = r->in;
    double most = in->idf_sum * (s->k1 + 1), held = 0, user = fmax(1, s->user), least;
    struct memory_why *why = &out->why;
    struct real real = {0}, before = {0}, after = {0};
    *out = (struct ranked){.key = entry->key, .rank = -HUGE_VAL};
    find_own(r, entry->key);
    vec_clear(&r->places.items);
    for (size_t i = 0; i < r->around[1].items.len; i++) {
        const struct posting *p = &r->around[1].items.items[i];
        places_unpack(in->places + p->places, p->count, p->term, &r->places);
    }
    places_order(&r->places);

    if (!find_length(r, entry->key, &r->around[1], &real))
        return false;
    *why =
        (struct memory_why){.words = real.own, .session = entry->session, .window = entry->window};
    rank_add_places(s, in, &r->places, real.facts.words, why);
    rank_weigh(s, entry->named, &real.facts, why);
    if ((sum_of(why) + entry->neighbours) * why->weight * fmax(1, s->asks) * user < floor)
        return true;

    /* For a long text it does not matter whether it asks. */
    if (real.facts.words <= RANK_ASKING && !in->asks(in->context, entry->key, &real.facts.asks))
        return false;
    rank_weigh(s, entry->named, &real.facts, why);
    if ((sum_of(why) + entry->neighbours) * why->weight * user < floor)
        return true;

    find_neighbours(r, entry->key);
    double most_after = s->after * neighbour_most(r, &r->around[2], &least);
    double most_before = neighbour_most(r, &r->around[0], &least);
    if (least > 0 && least <= RANK_ASKING &&
        !in->asks(in->context, entry->key - 1, &before.facts.asks))
        return false;
    most_before *= before.facts.asks ? fmax(s->before, s->answer) : s->before;
    if ((sum_of(why) + most_before + most_after) * why->weight * user < floor)
        return true;

    if (!find_length(r, entry->key - 1, &r->around[0], &before) ||
        !find_length(r, entry->key + 1, &r->around[2], &after))
        return false;
    why->before = (asks_shortly(&before.facts) ? s->answer : s->before) * before.own;
    why->after = s->after * after.own;
    out->rank = sum_of(why) * why->weight;
    /* Whether it is a user's message is asked only if that could raise its rank to the floor. */
    bool is_user = false;
    if (s->user != 1 && out->rank * user >= floor && !in->is_user(in->context, out->key, &is_user))
        return false;
    why->user = is_user ? s->user : 1;
    why->weight *= why->user;
    out->rank *= why->user;
    for (size_t i = 0; i < r->around[1].items.len; i++)
        held += in->idf[r->around[1].items.items[i].term];
    why->held = in->idf_sum > 0 ? fmin(1, held / in->idf_sum) : 0;
    why->coverage = most > 0 ? fmin(1, why->words / most) : 0;
    return true;
}

/* ---- the best of them ---- */

/* Entries by key. When a quarter more have come than there is room for, those with the lowest
 * bounds go. Room grows with the share of the keys that have come, so that the floor is high early.
 */
struct entries {
    VEC(struct rank_entry) items;
    size_t room;           /* 0: for all */
    double first, last;    /* keys that there are */
    double floor, ceiling; /* entries above have been ranked */
    bool left_out;         /* entries whose bounds are at most the floor */
};

/* The n'th highest bound; n counts from 1. */
static double nth_highest(const struct entries *e, size_t n)
{
    auto_free double *v = mem_alloc((e->items.len + 1) * sizeof *v);
    for (size_t i = 0; i < e->items.len; i++)
        v[i] = e->items.items[i].most;
    for (ptrdiff_t from = 0, to = (ptrdiff_t)e->items.len - 1, wanted = (ptrdiff_t)n - 1;
         from < to;) {
        double middle = v[from + (to - from) / 2];
        ptrdiff_t i = from, k = to;
        while (i <= k) {
            while (v[i] > middle)
                i++;
            while (v[k] < middle)
                k--;
            if (i > k)
                break;
            double swap = v[i];
            v[i++] = v[k];
            v[k--] = swap;
        }
        if (wanted > k && wanted < i)
            break;
        from = wanted >= i ? i : from;
        to = wanted <= k ? k : to;
    }
    return v[n - 1];
}

static double keep_entry(void *context, const struct rank_entry *entry)
{
    struct entries *e = context;
    if (entry->most > e->ceiling || (e->left_out && entry->most <= e->floor))
        return e->floor;
    vec_push(&e->items, *entry);
    double share = ((double)entry->key - e->first) / (e->last - e->first + 1);
    size_t room = e->room / 8 + (size_t)((double)e->room * share);
    if (e->room == 0 || e->items.len < room + room / 4)
        return e->floor;
    size_t kept = 0, higher = 0;
    e->floor = nth_highest(e, room);
    e->left_out = true;
    for (size_t i = 0; i < e->items.len; i++)
        higher += e->items.items[i].most > e->floor;
    for (size_t i = 0, equal = room - higher; i < e->items.len; i++) {
        bool same = e->items.items[i].most == e->floor;
        if (e->items.items[i].most > e->floor || (same && equal > 0)) {
            equal -= same;
            e->items.items[kept++] = e->items.items[i];
        }
    }
    e->items.len = kept;
    return e->floor;
}

static int compare_entries(const void *a, const void *b)
{
    const struct rank_entry *x = a, *y = b;
    return x->most != y->most ? (x->most < y->most) - (x->most > y->most)
                              : (x->key > y->key) - (x->key < y->key);
}

/* An entry that ranks lower is none of the best. */
static double floor_of(const struct ranker *r)
{
    return r->out->items.len >= r->limit ? r->out->items.items[r->limit - 1].rank - RANK_SAME
                                         : -HUGE_VAL;
}

/* Inserts an entry that is not there yet; drops those that then rank below the limit'th. */
static void insert(struct ranker *r, const struct ranked *found)
{
    struct ranking *out = r->out;
    size_t at = out->items.len;
    for (; at > 0; at--) {
        const struct ranked *before = &out->items.items[at - 1];
        if (before->rank != found->rank ? before->rank > found->rank : before->key >= found->key)
            break;
    }
    if (at > 0 && out->items.items[at - 1].key == found->key)
        return;
    vec_insert(&out->items, at, *found);
    while (out->items.len > r->limit + RANK_TIES ||
           (out->items.len > r->limit &&
            vec_last(&out->items).rank < out->items.items[r->limit - 1].rank - RANK_SAME))
        out->items.len--;
}

/* Entries that are kept besides the limit. */
enum { KEPT_ROOM = 650 };

/* Ranks entries whose bounds are at most *ceiling, those with the highest bounds first, so that
 * facts are read only of entries that come near the best: of the `room` with the highest bounds; 0:
 * of all that can still be among the best. *ceiling is from then on the highest bound of those that
 * were left out; *done: none of them could be among the best. */
static bool take_best(struct ranker *r, size_t room, double *ceiling, bool *done)
{
    struct entries e = {.room = room, .floor = floor_of(r), .ceiling = *ceiling, .first = HUGE_VAL};
    bool ok = true;
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct postings *list = &r->in->lists[t];
        if (list->items.len == 0)
            continue;
        e.first = fmin(e.first, (double)list->items.items[0].key);
        e.last = fmax(e.last, (double)vec_last(&list->items).key);
    }
    rank_talks(&r->settings, r->in, e.floor, keep_entry, &e, &r->survey);
    vec_sort(&e.items, compare_entries);
    for (size_t i = 0; ok && i < e.items.len; i++) {
        struct ranked found;
        double floor = floor_of(r);
        if (e.items.items[i].most < floor)
            break;
        ok = rank_one(r, &e.items.items[i], floor, &found);
        if (ok && found.rank >= floor)
            insert(r, &found);
    }
    *ceiling = e.floor;
    *done = !e.left_out || floor_of(r) > e.floor;
    vec_release(&e.items);
    return ok;
}

bool rank_best(const struct rank_settings *settings, const struct rank_input *in, size_t limit,
               struct ranking *out)
{
    struct ranker r = {
        .settings = rank_settings_at(settings, in->average), .in = in, .limit = limit, .out = out};
    double ceiling = HUGE_VAL;
    bool done = false;
    *out = (struct ranking){0};
    if (limit == 0)
        return true;
    r.near = mem_alloc((in->terms + 1) * sizeof *r.near);
    r.ceiling = ceiling_of(&r.settings, in);
    bool ok = take_best(&r, limit + KEPT_ROOM, &ceiling, &done) &&
              (done || take_best(&r, 0, &ceiling, &done));
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
