/* Semantic memory as data: entries (texts of earlier conversations), an entry with its neighbours,
 * hits of a search, and numbers about the whole. Pure. */
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

/* Where an entry comes from: an import, a compaction that dropped it, a session that was left. */
enum memory_origin { MEMORY_IMPORTED, MEMORY_DROPPED, MEMORY_LEFT, MEMORY_ORIGINS };

/* Which entries a search or a listing returns, within its scope. */
struct memory_filter {
    int origin;                  /* 0: any; else 1 + enum memory_origin */
    int64_t after_ms, before_ms; /* said at or after, and before these times; 0: at any */
    const char *project;         /* the session's working directory, or its last part; NULL: any.
                                    Borrowed */
    const char *from; /* the beginning of the name of the agent whose history the session is of, as
                         in [import] sources; "tiro": it was begun here; NULL: any. Borrowed */
};

struct memory_entry {
    char *id;          /* permanent; NULL before the store made one */
    bool id_is_number; /* it was a number in an import, and is one again in an export */
    char *session_id;  /* any text: imported sessions are not in the store */
    enum memory_origin origin;
    int64_t turn;       /* of the session; 0 unknown */
    int64_t seq;        /* of the event of its message; 0 unknown */
    enum role role;     /* USER, ASSISTANT or TOOL */
    char *speaker;      /* a name; NULL: use the role */
    int64_t created_ms; /* when it was said */
    char *content;      /* trimmed, not empty, not clean for a terminal */
    bool pinned;        /* by the user: wins ties, no copy replaces it */
    bool edited;        /* by the user */
    char *from;         /* of an imported session its source, "claude"; of another person the shared
                           space; NULL: it was begun here, or is not known. Not kept with the
                           entry */
    char *author;       /* the other person; NULL: the user of this machine. Likewise */
};

struct memory_entries {
    VEC(struct memory_entry) items;
};

void memory_entry_release(struct memory_entry *m);
void memory_entries_release(struct memory_entries *list);

/* The speaker, else the person of another machine, else the role's name. */
const char *memory_entry_speaker(const struct memory_entry *m);

extern const struct shape memory_entry_shape;
extern const struct shape_names memory_origin_names; /* "import", "dropped", "session" */

/* Reads and writes the ID, which may be a number; NULL is left out. */
extern const struct shape_codec memory_entry_id;

/* shape_read() for lines of imports: an empty speaker becomes NULL; "content" may be empty. */
bool memory_entry_read(const struct json *v, struct memory_entry *out, struct error *e);

/* ---- an entry with its neighbours in the conversation ---- */

/* The request: an entry by its ID or, if that is NULL, the first of a turn of a session; and how
 * many entries before and after it. Texts are borrowed. */
struct memory_place {
    const char *id;
    const char *session_id;
    int64_t turn; /* -1: none */
    int before, after;
};

enum { MEMORY_AROUND_DEFAULT = 2, MEMORY_AROUND_MOST = 20 };

/* The members for the shape and for the schema of the model's tool: X(row, member, help) with row
 * TEXT, TURN or COUNT; FIRST instead of X for the first. */
#define MEMORY_PLACE_MEMBERS(FIRST, X)                                                             \
    FIRST(TEXT, id, "the entry: its id, or #NUMBER as in a result")                                \
    X(TEXT, session_id, "instead of id, with turn")                                                \
    X(TURN, turn, "the first entry of this turn")                                                  \
    X(COUNT, before, "how many entries before it; default 2, at most 20")                          \
    X(COUNT, after, "how many entries after it; default 2, at most 20")

extern const struct shape memory_place_shape; /* closed: parameters */

/* False with USAGE if it names no entry. */
bool memory_place_check(const struct memory_place *p, struct error *e);

struct memory_excerpt {
    struct memory_entries entries; /* in the order of the conversation, one at least */
    int asked;                     /* index of the requested entry */
    int64_t bytes_cut;             /* of its content, at the end */
    int left_out;                  /* neighbours */
};

void memory_excerpt_release(struct memory_excerpt *x);

/* Makes it fit into so many bytes of memory_excerpt_model_shape: leaves out the farthest neighbours
 * first, then the end of the entry itself. */
void memory_excerpt_fit(struct memory_excerpt *x, size_t max);

extern const struct shape memory_excerpt_shape;       /* whole entries */
extern const struct shape memory_excerpt_model_shape; /* the model's members; only for writing */

/* ---- hits of a search ---- */

/* The parts of a hit's rank; 0 if unused. Those up to `window` are on the scale of BM25; their sum
 * times `weight` is the rank by words. */
struct memory_why {
    double words;         /* BM25 of the entry itself */
    bool passage;         /* the entry is long: BM25 of its best passage */
    double proximity;     /* how close the words stand */
    double before, after; /* share of its neighbours */
    double session;       /* share of its session */
    double window;        /* share of the turns around it, as one text */
    double weight;        /* the product of the next four; 0: not found by words */
    double length;        /* below 1: the entry is short */
    double asks;          /* it is only a question */
    double named;         /* the query names the speaker */
    double user;          /* it is the user's own message */
    double held;          /* the part of the query's words that it has, by their rarity: 0 … 1 */
    double coverage;      /* `words` divided by their maximum, the base of the score: 0 … 1 */
    bool has_vector;      /* then: */
    double cosine;        /* -1 … 1 */
    bool exact;           /* the same text */
};

struct memory_span {
    size_t start, len; /* bytes of the entry's content */
};

struct memory_hit {
    struct memory_entry entry;
    double score; /* 0: nothing in common, or a neighbour of a hit; 1: the same text; for people and
                     models */
    double rank;  /* the order of the hits */
    struct memory_why why;
    struct memory_span passage;    /* the best part of a long entry; else all of it */
    VEC(struct memory_span) marks; /* the words that matched, ascending, apart */
    int64_t key;                   /* of the entry, which "#KEY" names; 0: its id names it */
    char *title, *project; /* the session's title now, and its working directory; NULL: unknown */
    bool left_out;         /* the session does not send it with messages; only surfaces set this */
    char *question; /* for a long answer the first MEMORY_PASSAGE characters of the question; else
                       NULL */
};
enum { MEMORY_PASSAGE = 800 }; /* characters of the text that a hit shows */

struct memory_hits {
    VEC(struct memory_hit) items; /* best first */
    /* The rarity (idf) of the question's words: of all, of those that memory has, and of a word
     * that it does not have; 0: not ranked by words. */
    double rarity, known, rarest;
    const char *badge; /* why the search was not the configured one, English, static: "words only:
                          …"; NULL: it was */
};

void memory_hit_release(struct memory_hit *h);
void memory_hits_release(struct memory_hits *h);

/* The passage; the caller frees. */
char *memory_hit_passage(const struct memory_hit *h);

/* `why` has the members that are not 0, and the cosine if there is a vector. Numbers have 4
 * decimals. "speaker" is memory_entry_speaker(). */
extern const struct shape memory_hit_shape, memory_why_shape;

/* A hit for the model; only for writing. */
extern const struct shape memory_hit_model_shape;

/* The result of memory_search: an array of {"content","score","session_id","turn","id","speaker",
 * "created_at","title"?,"project"?}, best first; the content of a longer entry than MEMORY_PASSAGE
 * characters is its best passage with a note. `told`: for people, with the other members of a hit
 * and the number of its message. The caller frees. */
char *memory_hits_json(const struct memory_hits *h, bool told);

/* Writes the hits as text for the model, within `most` bytes, best first: date, speaker, title, the
 * question of a long answer, and the text. A text that does not fit, and a long answer, is its best
 * passage; only the first two hits may be whole long answers. Removes the hits that do not fit; a
 * last line tells their number and tokens. */
void memory_hits_fit(struct memory_hits *h, size_t most, struct buf *out);

/* ---- numbers about the whole memory ---- */

struct memory_stats {
    int64_t entries, sessions, pinned;
    int64_t dropped, left; /* entries from compactions, from sessions that were left */
    int64_t deferred;      /* messages that are not indexed yet */
    /* Sessions older than the memory: the user was not asked about them yet; the user wants them;
     * so many of these are indexed. */
    int64_t unasked, backlog, backlog_done;
    int64_t embedded, missing; /* entries with and without a vector of the model in use */
    int64_t stale;             /* vectors of other models */
    int64_t flagged;           /* summaries that quote a forgotten entry */
    int64_t bytes;             /* in the database */
    char *language;            /* of the stemmer */
    bool language_stale;       /* another one is configured: reindex */
    char *model;               /* of the vectors, "openai/text-embedding-3-small"; NULL: none */
    int dimension;
    bool graph; /* an HNSW graph is in use */
    /* The chore that makes vectors; a command has none. */
    bool embedding;  /* it is not done yet */
    int64_t pending; /* entries that it still has to do */
    char *waits_for; /* why it waits, English; NULL: it does not */
};
void memory_stats_release(struct memory_stats *s);
extern const struct shape memory_stats_shape;

#endif
