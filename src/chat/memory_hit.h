/* What a search in semantic memory found, and why. */
#ifndef CHAT_MEMORY_HIT_H
#define CHAT_MEMORY_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/vec.h"
#include "chat/memory_entry.h"

/* The parts of a hit's rank, each 0 where it had none. Those up to `window` are on the scale of
 * BM25; their sum times `weight` is the rank by words. */
struct memory_why {
    double words;         /* BM25 of the entry itself */
    bool passage;         /* it is long: that is of its best passage */
    double proximity;     /* how close the words stand */
    double before, after; /* share of its neighbours */
    double session;       /* share of the talk that it stands in */
    double window;        /* share of the turns around it, as one text */
    double weight;        /* the product of those that follow; 0: not by words */
    double length;        /* less than 1: it is short */
    double asks;          /* it is a mere question */
    double named;         /* the query names who said it */
    double user;          /* it is the user's own message */
    double held;     /* part of the question's words that stand in it, by their rarity: 0 … 1 */
    double coverage; /* `words` by the most that they can be, what the score is made of: 0 … 1 */
    bool has_vector; /* then: */
    double cosine;   /* -1 … 1 */
    bool exact;      /* the same text */
};

struct memory_span {
    size_t start, len; /* bytes of the entry's content */
};

struct memory_hit {
    struct memory_entry entry;
    double score; /* 0: nothing in common … 1: the same text; for people and models */
    double rank;  /* what hits are ordered by */
    struct memory_why why;
    struct memory_span passage;    /* the best part of a long entry; else all of it */
    VEC(struct memory_span) marks; /* the words that matched, ascending, apart */
    char *title,
        *project;   /* of its session, as it is now, and its working directory; NULL: unknown */
    char *question; /* of a long answer what it answers, its first MEMORY_PASSAGE characters; else
                       NULL */
};
enum { MEMORY_PASSAGE = 800 }; /* characters of the text that a hit shows */

struct memory_hits {
    VEC(struct memory_hit) items; /* best first */
    const char *badge; /* why it is not what was configured, English, static: "words only: …";
                          NULL: it is */
};

void memory_hit_release(struct memory_hit *h);
void memory_hits_release(struct memory_hits *h);

/* The best part of its text; the caller frees. */
char *memory_hit_passage(const struct memory_hit *h);

/* `why` has the members that are not 0, and the cosine of what has a vector. Figures have 4
 * decimals. "speaker" is memory_entry_speaker(). */
extern const struct shape memory_hit_shape, memory_why_shape;

/* What models get of a hit. It is only written. */
extern const struct shape memory_hit_model_shape;

/* The result of memory_search: an array of {"content","score","session_id","turn","id","speaker",
 * "created_at","title"?,"project"?}, best first; of an entry of more than MEMORY_PASSAGE characters
 * its best passage, which says so. The caller frees. */
char *memory_hits_for_model(const struct memory_hits *h);

/* The same for people, with what a hit has besides, and the message that it came from. */
char *memory_hits_told(const struct memory_hits *h);

/* How much there is. */
struct memory_stats {
    int64_t entries, sessions, pinned;
    int64_t dropped, left; /* entries that came by compactions, with sessions that were left */
    int64_t deferred;      /* messages that are still to come in */
    /* Sessions from before memory followed them: the person was not asked yet; they are wanted, of
     * which so many came in. */
    int64_t unasked, backlog, backlog_done;
    int64_t embedded, missing; /* entries with and without a vector of the model in use */
    int64_t stale;             /* vectors of other models */
    int64_t flagged;           /* summaries that quote what was forgotten */
    int64_t bytes;             /* that memory takes in the database */
    char *language;            /* that the words are stemmed in */
    bool language_stale;       /* another one is configured: reindex */
    char *model;               /* of the vectors, "openai/text-embedding-3-small"; NULL: none */
    int dimension;
    bool graph; /* an HNSW graph is in use */
    /* Of who gives entries their vectors while nobody asks; a command has none. */
    bool embedding;  /* it is not done yet */
    int64_t pending; /* entries that it has before it */
    char *waits_for; /* why it waits, English; NULL: it does not */
};
void memory_stats_release(struct memory_stats *s);
extern const struct shape memory_stats_shape;

#endif
