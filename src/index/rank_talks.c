#include "index/rank_talks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Places of a talk, with a margin for those of the talks beside it that a window reaches into. */
enum {
    TALK_PLACES = 1 << RANK_TALK_BITS,
    MARGIN = RANK_WINDOW,
    WIDTH = MARGIN + TALK_PLACES + MARGIN
};

/* The most that an entry's words are worth. */
struct worth {
    double own;           /* with their being near each other */
    double near;          /* of that, what the last word adds */
    double beside;        /* to neighbours */
    uint32_t words, last; /* how many there are; the last place of one, or before */
};
struct talk {
    int64_t number; /* rank_key_talk() */
    struct worth entries[WIDTH];
    uint16_t *counts;        /* of each word, WIDTH each */
    uint64_t present, named; /* a bit a place */
    double joint;            /* what all of it is worth as one text */
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
    size_t reach; /* … the next of it that may have entries at the floor */
};

static size_t lowest_bit(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

/* ---- reading ---- */

/* The next talk that has a posting; false: there is none. */
static bool next_talk(const struct reader *r, int64_t *talk)
{
    bool any = false;
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct postings *list = &r->in->lists[t];
        if (r->heads[t] == list->items.len)
            continue;
        int64_t other = rank_key_talk(list->items.items[r->heads[t]].key);
        *talk = any && *talk < other ? *talk : other;
        any = true;
    }
    return any;
}

/* By a survey, the next one that is worth it or stands beside such a one. */
static bool next_worth_talk(struct reader *r, int64_t *talk)
{
    bool any = next_talk(r, talk);
    while (any && r->again) {
        const struct rank_reach *reach = r->survey->talks.items + r->reach;
        if (r->reach == r->survey->talks.len)
            return false;
        if (reach->most < r->floor || reach->talk + 1 < *talk) {
            r->reach++;
            continue;
        }
        if (*talk >= reach->talk - 1)
            break;
        for (size_t t = 0; t < r->in->terms; t++)
            r->heads[t] =
                postings_find(&r->in->lists[t], r->heads[t], (reach->talk - 1) * TALK_PLACES);
        any = next_talk(r, talk);
    }
    return any;
}

static void clear_place(struct talk *p, size_t at, size_t terms)
{
    p->entries[at] = (struct worth){0};
    for (size_t t = 0; t < terms; t++)
        p->counts[t * WIDTH + at] = 0;
}

static void clear(struct talk *p, int64_t talk, size_t terms)
{
    for (size_t i = 0; i < MARGIN; i++) {
        clear_place(p, i, terms);
        clear_place(p, MARGIN + TALK_PLACES + i, terms);
    }
    for (uint64_t left = p->present; left; left &= left - 1)
        clear_place(p, MARGIN + lowest_bit(left), terms);
    p->present = p->named = 0;
    p->joint = 0;
    p->number = talk;
}

/* A word's postings of the talk, from `p` to before `end`; what is behind them. */
static const struct posting *add_word(const struct reader *r, size_t word, const struct posting *p,
                                      const struct posting *end, struct talk *to)
{
    double idf = r->in->idf[word], near = rank_most_near(&r->ceiling, idf);
    uint16_t *counts = to->counts + word * WIDTH + MARGIN;
    uint64_t present = 0, named = 0, count = 0;
    for (; p < end && rank_key_talk(p->key) == to->number; p++) {
        size_t bit = (size_t)p->key & (TALK_PLACES - 1);
        struct worth *worth = &to->entries[MARGIN + bit];
        worth->near = near;
        worth->own += idf * rank_most_alone(&r->ceiling, p) + near;
        worth->beside += idf * rank_most_beside(&r->ceiling, p);
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

static void read_talk(const struct reader *r, int64_t number, struct talk *out)
{
    clear(out, number, r->in->terms);
    for (size_t t = 0; t < r->in->terms; t++) {
        const struct postings *list = &r->in->lists[t];
        const struct posting *items = list->items.items;
        if (r->heads[t] < list->items.len)
            r->heads[t] =
                (size_t)(add_word(r, t, items + r->heads[t], items + list->items.len, out) - items);
    }
}

/* ---- talks without a pause between them ---- */

static void copy_place(struct talk *to, size_t at, const struct talk *from, size_t of, size_t terms)
{
    to->entries[at] = from->entries[of];
    for (size_t t = 0; t < terms; t++)
        to->counts[t * WIDTH + at] = from->counts[t * WIDTH + of];
}

/* Where one follows on the other, the margins are places of the other one. */
static void join(struct talk *before, struct talk *after, size_t terms)
{
    if (before->number + 1 != after->number)
        return;
    for (size_t i = 0; i < MARGIN; i++) {
        copy_place(after, i, before, TALK_PLACES + i, terms);
        copy_place(before, MARGIN + TALK_PLACES + i, after, MARGIN + i, terms);
    }
}

/* ---- bounds ---- */

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

/* A window is not worth more than the talk that it lies in. */
static double most_window_at(const struct reader *r, const struct talk *p, size_t place)
{
    bool inside = place >= RANK_WINDOW && place + RANK_WINDOW < TALK_PLACES;
    return inside ? p->joint : window_at(r, p, MARGIN + place);
}

/* The most that its rank can be. */
static double look_at(struct reader *r, const struct talk *p, size_t place)
{
    const struct rank_settings *s = r->settings;
    const struct worth *it = &p->entries[MARGIN + place];
    bool named = p->named >> place & 1;
    double neighbours = rank_most_neighbours(&r->ceiling, it[-1].beside, it[-1].last, it[1].beside);
    double session = s->session * p->joint;
    double sum = it->own - (it->words == 1 ? it->near : 0) + neighbours + session;
    double most = rank_most(&r->ceiling, sum + s->window * most_window_at(r, p, place), named);
    if (most < r->floor)
        return most;
    double window = s->window * window_at(r, p, MARGIN + place);
    struct rank_entry entry = {.key = p->number * TALK_PLACES + (int64_t)place,
                               .most = rank_most(&r->ceiling, sum + window, named),
                               .neighbours = neighbours,
                               .session = session,
                               .window = window,
                               .named = named};
    if (entry.most >= r->floor)
        r->floor = r->visit(r->context, &entry);
    return entry.most;
}

static void note_whole(struct rank_whole *out, const struct talk *p, size_t place)
{
    if (out->count < RANK_WHOLE)
        out->keys[out->count] = p->number * TALK_PLACES + (int64_t)place;
    out->count++;
}

static void end_talk(struct reader *r, const struct talk *p)
{
    struct rank_reach reach = {p->number, -HUGE_VAL};
    for (uint64_t left = p->present; left; left &= left - 1) {
        size_t place = lowest_bit(left);
        reach.most = fmax(reach.most, look_at(r, p, place));
        if (!r->again && p->entries[MARGIN + place].words == r->in->terms)
            note_whole(&r->survey->whole, p, place);
    }
    if (!r->again)
        vec_push(&r->survey->talks, reach);
}

static void read_all(struct reader *r, struct talk *before, struct talk *this)
{
    bool first = true;
    for (int64_t talk = 0; next_worth_talk(r, &talk); first = false) {
        read_talk(r, talk, this);
        if (!first) {
            join(before, this, r->in->terms);
            end_talk(r, before);
        }
        struct talk *swap = before;
        before = this;
        this = swap;
    }
    if (!first)
        end_talk(r, before);
}

void rank_talks(const struct rank_settings *settings, const struct rank_input *in, double floor,
                double (*visit)(void *context, const struct rank_entry *entry), void *context,
                struct rank_survey *survey)
{
    struct reader r = {.settings = settings,
                       .in = in,
                       .ceiling = rank_ceiling(settings, in),
                       .joint = saturation_joint(settings),
                       .heads = mem_alloc((in->terms + 1) * sizeof *r.heads),
                       .floor = floor,
                       .visit = visit,
                       .context = context,
                       .survey = survey,
                       .again = survey->talks.len > 0};
    struct talk both[2] = {{0}, {0}};
    for (size_t i = 0; i < 2; i++)
        both[i].counts = mem_alloc((in->terms + 1) * WIDTH * sizeof *both[i].counts);
    read_all(&r, &both[0], &both[1]);
    free(both[0].counts);
    free(both[1].counts);
    free(r.heads);
}
