/* The best entries. Upper bounds of ranks are known before facts of entries are asked, so facts are
 * asked for few, and those of their neighbours only where they decide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/rank.h"

/* ---- one entry: BM25 of its words, of its best passage, proximity, weights ---- */

/* n * (k1 + 1) / (n + k), which takes most of the time, for the usual n. */
enum { USUAL_COUNTS = 16, USUAL_WORDS = 48, PARTS = (USUAL_COUNTS + 1) * USUAL_WORDS };
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
    } parts[PARTS];
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
            struct part *part = &c.parts[count * USUAL_WORDS + words - 1];
            double longer = words < USUAL_WORDS ? part[1].weighed : 0;
            *part = (struct part){plain, fmax(fullness(s, least) * plain, longer)};
        }
    for (int i = USUAL_COUNTS * USUAL_WORDS; i < PARTS; i++)
        c.parts[i] = (struct part){s->k1 + 1, s->k1 + 1};
    return c;
}

/* Index of the part of a word that occurs so often up to the last place. */
static inline size_t part_index(uint32_t count, uint32_t last)
{
    return (size_t)(count < USUAL_COUNTS ? count : USUAL_COUNTS) * USUAL_WORDS +
           (last < USUAL_WORDS ? last : USUAL_WORDS - 1);
}

/* An upper bound of the rank of an entry, from the sum of its parts. */
static inline double rank_most(const struct rank_ceiling *c, double sum, bool named)
{
    return sum * c->weight * (named ? c->named : 1);
}

/* ---- the same in whole numbers: for each word a table, so that a posting costs one addition ----
 *
 * The sum of an entry has three fields: the worth of its words with proximity; their worth for the
 * neighbours; and how many of its words stand behind the length of a short question. Each worth is
 * rounded up, in units of which the largest sum fits its field. */

enum { OWN_SHIFT = 36, BESIDE_SHIFT = 8, LONG_MASK = (1 << BESIDE_SHIFT) - 1, SHARE_UNITS = 4096 };
#define WORTH_MOST ((UINT64_C(1) << (64 - OWN_SHIFT)) - 1)

struct sums {
    uint64_t *tables; /* of each word, PARTS */
    double units;     /* in a worth of one */
};

static uint64_t units_of(const struct sums *s, double worth)
{
    return (uint64_t)(worth * s->units) + 1;
}

static uint64_t share_units(double share)
{
    return (uint64_t)(share * SHARE_UNITS) + 1;
}

static inline uint64_t sum_own(uint64_t sum)
{
    return sum >> OWN_SHIFT;
}

static inline uint64_t sum_beside(uint64_t sum)
{
    return sum >> BESIDE_SHIFT & WORTH_MOST;
}

static struct sums sums_of(const struct rank_ceiling *c, const struct rank_input *in)
{
    struct sums s = {.tables = mem_alloc((in->terms + 1) * PARTS * sizeof *s.tables)};
    double share = in->terms > 1 ? c->near : 0, most = 0; /* a single word has no proximity */
    for (size_t t = 0; t < in->terms; t++)
        most += in->idf[t] * (c->k1 + 1) + share * places_proximity_most(in->idf[t], c->k1);
    s.units = (double)(WORTH_MOST - 2 * PLACE_TERMS) / (most > 0 ? most : 1);
    for (size_t t = 0; t < in->terms; t++) {
        uint64_t *table = s.tables + t * PARTS;
        double near = share * places_proximity_most(in->idf[t], c->k1);
        for (size_t i = 0; i < PARTS; i++)
            table[i] = units_of(&s, in->idf[t] * c->parts[i].weighed + near) << OWN_SHIFT |
                       units_of(&s, in->idf[t] * c->parts[i].plain) << BESIDE_SHIFT |
                       (i % USUAL_WORDS >= RANK_ASKING);
    }
    return s;
}

/* ---- talks: long lists of postings, read talk by talk for the bounds of their entries ---- */

/* Places of a talk, with a margin for places of the neighbouring talks that a window reaches. */
enum {
    TALK_PLACES = 1 << RANK_TALK_BITS,
    MARGIN = RANK_WINDOW,
    WIDTH = MARGIN + TALK_PLACES + MARGIN
};

struct talk {
    int64_t number;   /* rank_key_talk() */
    uint64_t *sums;   /* of each entry, WIDTH; the block holds words and counts, too */
    uint64_t *words;  /* of each word, a bit a place */
    uint16_t *counts; /* of each word, WIDTH each */
    size_t *starts;   /* of each word, its first posting in the talk */
    uint64_t present; /* places with a word */
    uint64_t named;
    bool opens, goes_on; /* the margin before it, behind it has words */
    double joint;        /* worth of the talk as one text */
};

struct reader {
    const struct rank_settings *settings;
    const struct rank_input *in;
    struct rank_ceiling ceiling;
    struct sums sums;
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
    const uint64_t *table = r->sums.tables + word * PARTS;
    const struct postings *list = &r->in->lists[word];
    const struct posting *p = list->items.items + r->heads[word];
    const struct posting *end = list->items.items + list->items.len;
    const int64_t last = to->number * TALK_PLACES + TALK_PLACES - 1;
    uint64_t *sums = to->sums + MARGIN, present = 0, named = 0, count = 0;
    uint16_t *counts = to->counts + word * WIDTH + MARGIN;
    for (; p < end && p->key <= last; p++) {
        size_t bit = (size_t)p->key & (TALK_PLACES - 1);
        sums[bit] += table[part_index(p->count, p->last)];
        counts[bit] = p->count;
        present |= UINT64_C(1) << bit;
        named |= (uint64_t)p->named << bit;
        count += p->count;
    }
    to->named |= named;
    to->words[word] = present;
    to->starts[word] = r->heads[word];
    to->present |= present;
    to->joint += r->in->idf[word] * saturation_at(&r->joint, count);
    move_head(r, word, (size_t)(p - list->items.items));
}

/* The sums, words and counts of a talk. */
static size_t talk_bytes(size_t terms)
{
    return (WIDTH + terms) * sizeof(uint64_t) + (terms + 1) * WIDTH * sizeof(uint16_t);
}

static void read_talk(struct reader *r, int64_t number, struct talk *to)
{
    size_t terms = r->in->terms;
    memset(to->sums, 0, talk_bytes(terms));
    *to = (struct talk){.number = number,
                        .sums = to->sums,
                        .words = to->words,
                        .counts = to->counts,
                        .starts = to->starts};
    for (size_t t = 0; t < terms; t++)
        if (r->next[t] == number)
            add_word(r, t, to);
}

static void copy_place(struct talk *to, size_t at, const struct talk *from, size_t of, size_t terms)
{
    to->sums[at] = from->sums[of];
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

/* Upper bound of the worth of an entry's words with their proximity: the places of its words are
 * known, not how long its text is. */
static double own_most(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_input *in = r->in;
    const uint16_t *counts = p->counts + MARGIN + place;
    uint32_t last = 0;
    size_t words = 0;
    double sum = 0;
    vec_clear(&r->places.items);
    for (size_t t = 0; t < in->terms; t++) {
        if (!(p->words[t] >> place & 1))
            continue;
        const struct posting *it = posting_at(r, p, t, place);
        places_unpack(in->places + it->places, it->count, (uint32_t)t, &r->places);
        last = it->last > last ? it->last : last;
        words++;
    }
    for (size_t t = 0; t < in->terms; t++)
        if (counts[t * WIDTH] > 0)
            sum += in->idf[t] * r->ceiling.parts[part_index(counts[t * WIDTH], last)].weighed;
    if (words < 2)
        return sum;
    places_order(&r->places);
    const struct place_worth worth = {in->idf, r->ceiling.k1,
                                      length_factor(r->settings, in, last + 1.0)};
    return sum + r->ceiling.near * places_proximity(&r->places, in->terms, &worth);
}

/* Visits an entry whose rank may reach the floor. Returns the upper bound of its rank. */
static double bound_entry(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_settings *s = r->settings;
    const struct rank_ceiling *c = &r->ceiling;
    const uint64_t *sum = &p->sums[MARGIN + place];
    struct rank_entry entry = {.key = p->number * TALK_PLACES + (int64_t)place,
                               .session = s->session * p->joint,
                               .window = s->window * window_at(r, p, MARGIN + place),
                               .named = p->named >> place & 1};
    entry.neighbours = (c->before[(sum[-1] & LONG_MASK) == 0] * (double)sum_beside(sum[-1]) +
                        c->after * (double)sum_beside(sum[1])) /
                       r->sums.units;
    double around = entry.neighbours + entry.session + entry.window;
    entry.most = rank_most(c, (double)sum_own(*sum) / r->sums.units + around, entry.named);
    if (entry.most < r->floor)
        return entry.most;
    entry.most = rank_most(c, own_most(r, p, place) + around, entry.named);
    if (entry.most >= r->floor)
        r->floor = r->visit(r->context, &entry);
    return entry.most;
}

/* Bounds all entries of a talk in whole numbers, then those that may reach the floor by
 * bound_entry(). Returns the highest bound. */
static double bound_talk(struct reader *r, const struct talk *p)
{
    const struct rank_settings *s = r->settings;
    const struct rank_ceiling *c = &r->ceiling;
    const uint64_t before[] = {share_units(c->before[0]), share_units(c->before[1])};
    const uint64_t after = share_units(c->after);
    const double units = r->sums.units * SHARE_UNITS;
    /* A window inside of the talk is not worth more than the talk. Other windows, and entries with
     * names, are few. */
    const double around = (s->session + s->window) * p->joint;
    const uint64_t first = (1 << RANK_WINDOW) - 1, last = first << (TALK_PLACES - RANK_WINDOW);
    const uint64_t apart = p->named | (p->opens ? first : 0) | (p->goes_on ? last : 0);
    const uint64_t needed = (uint64_t)fmin(fmax((r->floor / c->weight - around) * units, 0), 1e18);
    uint64_t high = apart & p->present, low = 0; /* the highest sum below the needed one */
    double most = -HUGE_VAL;
    for (uint64_t left = p->present & ~apart; left; left &= left - 1) {
        const uint64_t *at = &p->sums[MARGIN + __builtin_ctzll(left)];
        uint64_t sum = sum_own(*at) * SHARE_UNITS +
                       before[(at[-1] & LONG_MASK) == 0] * sum_beside(at[-1]) +
                       after * sum_beside(at[1]);
        if (sum >= needed)
            high |= left & -left;
        else
            low = sum > low ? sum : low;
    }
    for (; high; high &= high - 1)
        most = fmax(most, bound_entry(r, p, (size_t)__builtin_ctzll(high)));
    return low > 0 ? fmax(most, rank_most(c, (double)low / units + around, false)) : most;
}

static void end_talk(struct reader *r, const struct talk *p)
{
    struct rank_reach reach = {p->number, bound_talk(r, p)};
    struct rank_whole *whole = &r->survey->whole;
    uint64_t all = p->present;
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
    r.sums = sums_of(&r.ceiling, in);
    for (size_t i = 0; i < 2; i++) {
        both[i].sums = mem_alloc(talk_bytes(in->terms));
        both[i].words = both[i].sums + WIDTH;
        both[i].counts = (uint16_t *)(both[i].words + in->terms);
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
        free(both[i].sums);
        free(both[i].starts);
    }
    vec_release(&r.places.items);
    free(r.sums.tables);
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

static void note_posting(struct postings *to, const struct posting *p, size_t term)
{
    vec_push(&to->items, *p);
    vec_last(&to->items).term = term & (PLACE_TERMS - 1);
}

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
            note_posting(&r->around[1], &p[at], t);
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
            note_posting(&r->around[0], &p[at - 1], t);
        at += at < end && p[at].key == key;
        if (at < end && p[at].key == key + 1)
            note_posting(&r->around[2], &p[at], t);
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
    uint32_t last = 0;
    for (size_t i = 0; i < p->items.len; i++)
        last = p->items.items[i].last > last ? p->items.items[i].last : last;
    for (size_t i = 0; i < p->items.len; i++)
        sum += r->in->idf[p->items.items[i].term] *
               r->ceiling.parts[part_index(p->items.items[i].count, last)].plain;
    *least = p->items.len > 0 ? last + 1.0 : 0;
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
    find_neighbours(r, entry->key);
    double after_most = s->after * neighbour_most(r, &r->around[2], &least);
    double before_most = neighbour_most(r, &r->around[0], &least);
    bool may_ask = least > 0 && least <= RANK_ASKING;
    double neighbours = after_most + r->ceiling.before[may_ask] * before_most;
    if (entry->most - rank_most(&r->ceiling, entry->neighbours - neighbours, entry->named) < floor)
        return true;

    if (may_ask && !in->asks(in->context, entry->key - 1, &before.facts.asks))
        return false;
    neighbours = after_most + r->ceiling.before[before.facts.asks] * before_most;
    if (entry->most - rank_most(&r->ceiling, entry->neighbours - neighbours, entry->named) < floor)
        return true;

    if (!find_length(r, entry->key, &r->around[1], &real))
        return false;
    vec_clear(&r->places.items);
    for (size_t i = 0; i < r->around[1].items.len; i++) {
        const struct posting *p = &r->around[1].items.items[i];
        places_unpack(in->places + p->places, p->count, p->term, &r->places);
    }
    places_order(&r->places);
    *why =
        (struct memory_why){.words = real.own, .session = entry->session, .window = entry->window};
    rank_add_places(s, in, &r->places, real.facts.words, why);
    rank_weigh(s, entry->named, &real.facts, why);
    double high = (sum_of(why) + neighbours) * why->weight * fmax(1, s->asks);
    if (high * user < floor)
        return true;

    /* Whether it is a user's message is asked only if that decides whether it can reach the floor.
     */
    bool is_user = false, known = s->user != 1 && high < floor;
    if (known && !in->is_user(in->context, entry->key, &is_user))
        return false;
    if (known && !is_user)
        return true;

    /* For a long text it does not matter whether it asks. */
    if (real.facts.words <= RANK_ASKING && !in->asks(in->context, entry->key, &real.facts.asks))
        return false;
    rank_weigh(s, entry->named, &real.facts, why);
    if ((sum_of(why) + neighbours) * why->weight * user < floor)
        return true;

    if (!find_length(r, entry->key - 1, &r->around[0], &before) ||
        !find_length(r, entry->key + 1, &r->around[2], &after))
        return false;
    why->before = (asks_shortly(&before.facts) ? s->answer : s->before) * before.own;
    why->after = s->after * after.own;
    out->rank = sum_of(why) * why->weight;
    if (!known && s->user != 1 && out->rank * user >= floor &&
        !in->is_user(in->context, out->key, &is_user))
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
