/* Passages ranked by the words that they share with a question: pure functions. */
#ifndef PROVIDER_OFFLINE_RANK_H
#define PROVIDER_OFFLINE_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct passage {
    char *source; /* for a person: "the manual, “Keys”", "you, turn 3" */
    char *title;  /* its words count more; "" if none */
    char *text;
    bool is_talk;    /* from a conversation */
    double weight;   /* factor of its score: 1, or less for a page of reference */
    double recalled; /* the score that a search of memory gave it; 0: it is from elsewhere */
};

struct passages {
    VEC(struct passage) items;
};

/* Copies. */
void passages_add(struct passages *p, const char *source, const char *title, const char *text,
                  size_t len, bool is_talk);

/* One passage for each section of data/manual.md: "## " of the guide, "### " of a page of
 * reference. */
void passages_add_manual(struct passages *p, const char *markdown);
void passages_release(struct passages *p);

struct ranked {
    const struct passage *passage;
    double score;    /* BM25, more where the title fits */
    double coverage; /* part of the question's words that it has, by their rarity: (0, 1] */
};
struct ranking {
    VEC(struct ranked) hits;
};

/* Those with a word in common, best first; of equals, the later passage first. Words are compared
 * without case, ending and the most frequent ones. */
void passages_rank(const struct passages *p, const char *question, struct ranking *out);
void ranking_release(struct ranking *r);

/* Whether the word (lower case) stands in the text, case ignored. */
bool offline_has_word(const char *text, const char *word);

#endif
