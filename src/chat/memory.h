/* A text of an earlier conversation that can be found again. */
#ifndef CHAT_MEMORY_H
#define CHAT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"
#include "chat/message.h"

enum {
    MEMORY_ID_BYTES = 200,      /* longest id of an entry, and of a session of an import */
    MEMORY_SPEAKER_BYTES = 200, /* longest name */
    MEMORY_CONTENT_BYTES = 8 * 1024 * 1024
};

/* How it came: by an import, by the compaction that dropped it, with a session that was left. */
enum memory_origin { MEMORY_IMPORTED, MEMORY_DROPPED, MEMORY_LEFT, MEMORY_ORIGINS };

/* Which entries a search or a listing gives, besides its scope. */
struct memory_filter {
    int origin;                  /* 0: any; else 1 + enum memory_origin */
    int64_t after_ms, before_ms; /* said at or after, and before these times; 0: at any */
    const char
        *project; /* working directory of the session, or its last part; NULL: any. Borrowed */
};

struct memory_entry {
    char *id;          /* names it for ever; NULL before the store made one */
    bool id_is_number; /* it was a number in an import, and is one again in an export */
    char *session_id;  /* of any form: imports bring sessions that are not here */
    enum memory_origin origin;
    int64_t turn;       /* that it was said in; 0 unknown */
    int64_t seq;        /* of the event of its message; 0 unknown */
    enum role role;     /* USER, ASSISTANT or TOOL */
    char *speaker;      /* NULL: none was given, the role stands for it */
    int64_t created_ms; /* when it was said */
    char *content;      /* trimmed, not empty, not clean for a terminal */
    bool pinned;        /* by the user: wins ties, no copy replaces it */
    bool edited;        /* by the user */
};

struct memory_entries {
    VEC(struct memory_entry) items;
};

void memory_entry_release(struct memory_entry *m);
struct memory_entry memory_entry_clone(const struct memory_entry *m);
void memory_entries_release(struct memory_entries *list);

const char *
memory_entry_speaker(const struct memory_entry *m); /* the role's name where none is given */

extern const struct shape memory_entry_shape;
extern const struct shape_names memory_origin_names; /* "import", "dropped", "session" */

/* Its id, again a number where it was one; NULL is no member. */
extern const struct shape_codec memory_entry_id;
bool memory_entry_has_id(const void *entry);

/* shape_read(), for lines of imports: an empty speaker is none. "content" is as it was written,
 * perhaps empty. */
bool memory_entry_read(const struct json *v, struct memory_entry *out, struct error *e);

/* An entry of memory with those around it in its conversation: how it is named, and what is given
 * of it. Pure. */

/* An entry by its id, or, where that is NULL, the first of this turn of the session; and how many
 * before and after it. Texts are borrowed. */
struct memory_place {
    const char *id;
    const char *session_id;
    int64_t turn; /* -1: none is named */
    int before, after;
};

enum { MEMORY_AROUND_DEFAULT = 2, MEMORY_AROUND_MOST = 20 };

/* Its members, for its shape and for the schema that models are told: X(row, member, help), where a
 * row is TEXT, TURN or COUNT; `FIRST` instead of X for the first. */
#define MEMORY_PLACE_MEMBERS(FIRST, X)                                                             \
    FIRST(TEXT, id, "the entry, as memory_search names it")                                        \
    X(TEXT, session_id, "instead of id, with turn")                                                \
    X(TURN, turn, "the first entry of this turn")                                                  \
    X(COUNT, before, "how many entries before it; default 2, at most 20")                          \
    X(COUNT, after, "how many entries after it; default 2, at most 20")

extern const struct shape memory_place_shape; /* closed: parameters */

/* USAGE: it names no entry. */
bool memory_place_check(const struct memory_place *p, struct error *e);

struct memory_excerpt {
    struct memory_entries entries; /* in the order of the conversation, one at least */
    int asked;                     /* which of them was asked for */
    int64_t bytes_cut;             /* of its content */
    int left_out;                  /* of the others */
};

void memory_excerpt_release(struct memory_excerpt *x);

/* Leaves out what does not fit into so many bytes of memory_excerpt_model_shape: the farthest
 * neighbours first, then the end of the entry itself. */
void memory_excerpt_fit(struct memory_excerpt *x, size_t max);

extern const struct shape memory_excerpt_shape;       /* whole entries */
extern const struct shape memory_excerpt_model_shape; /* what a model needs of them; to write */

/* What a search in semantic memory found, and why. */

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
