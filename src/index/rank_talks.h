/* Long lists of postings gone through talk by talk: the most that each entry can be worth, at the
 * price of a few additions a posting. Pure functions. */
#ifndef INDEX_RANK_TALKS_H
#define INDEX_RANK_TALKS_H

#include "index/rank_entry.h"

/* An entry with postings; what depends on no facts is as it is. */
struct rank_entry {
    int64_t key;
    double most;            /* that its rank can be */
    double neighbours;      /* … what those add to it */
    double session, window; /* shares */
    bool named;             /* the query names who said it */
};

/* What a first reading tells; empty before. */
struct rank_survey {
    VEC(struct rank_reach {
        int64_t talk; /* rank_key_talk(), ascending */
        double most;  /* that the rank of an entry in it can be */
    })
    talks;
    struct rank_whole whole;
};

/* Calls visit() with the entries whose rank may be `floor` or more; it gives the floor from then
 * on, never a lower one. By key. Fills an empty survey; by one that is filled, of the same
 * postings, it passes over talks without such entries. */
void rank_talks(const struct rank_settings *settings, const struct rank_input *in, double floor,
                double (*visit)(void *context, const struct rank_entry *entry), void *context,
                struct rank_survey *survey);

#endif
