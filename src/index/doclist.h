/* The entries and places of a word, read from the pages of FTS5's index: ten times as fast as FTS5
 * hands them over. The format is described at the head of its fts5_index.c; this is version
 * DOCLIST_FORMAT of it, with one column and all places. The bytes are not trusted: the caller asks
 * FTS5 when they make no sense. */
#ifndef INDEX_DOCLIST_H
#define INDEX_DOCLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "index/corpus.h"
#include "index/rank.h"

enum {
    DOCLIST_FORMAT = 4,
    DOCLIST_TOTALS = 1, /* rowids of records in the table of its data */
    DOCLIST_STRUCTURE = 10
};

/* An index is parts ("segments"), each of which has pages from the first to the last. */
struct doclist_part {
    int64_t id, first, last;
};
struct doclist_parts {
    VEC(struct doclist_part) items; /* newest first */
};
/* False: the bytes are no structure. The caller releases in any case. */
bool doclist_parts_read(const uint8_t *bytes, size_t len, struct doclist_parts *out);

/* How many entries there are, and how many words in all of them. */
bool doclist_totals_read(const uint8_t *bytes, size_t len, int64_t *entries, int64_t *words);

/* Lists of several words. */
struct doclist_run {
    size_t begin, end; /* in the postings */
    char *word;        /* owned */
};
struct doclist_runs {
    VEC(struct doclist_run) items;
};
void doclist_runs_release(struct doclist_runs *r);

/* Reads a word's list in one part, page after page; or, with `runs`, the lists of all words that
 * begin so. */
struct doclist {
    const char *word; /* as it stands in the index, behind DOCLIST_WORD */
    size_t word_len;
    struct doclist_runs *runs; /* gets each list; NULL: of the word alone */
    struct postings *out;      /* one posting an entry, by key; a removed entry counts 0 */
    struct place_bytes *places;

    int64_t key;   /* of the last entry; before the first: -1 */
    uint32_t left; /* bytes of its places that are on the next page */
    bool listed;   /* a list has begun */
    bool removed;  /* one of the entries counts 0 */
    struct buf at; /* the word that has been read last; the caller releases it */
};
#define DOCLIST_WORD "0"

enum doclist_step {
    DOCLIST_MORE, /* it may go on on the next page */
    DOCLIST_END,
    DOCLIST_DAMAGED
};
/* The first page must be the one where the word would stand. The list of a word that stands in no
 * page of the part is empty. */
enum doclist_step doclist_read(struct doclist *d, const uint8_t *page, size_t len);

struct list_begins {
    VEC(size_t) items;
};
/* Makes one list of all runs; those of older parts come first. */
void doclist_join(struct postings *p, struct doclist_runs *runs, struct place_bytes *places);

/* ---- the lists of a corpus's index ---- */

/* *out is NULL when FTS5 has to be asked: its pages have another format, or a transaction that is
 * under way has not written them yet. The caller closes it, within the same transaction. */
struct words_lists;
bool words_lists_open(const struct corpus *c, struct words_lists **out, struct error *e);
void words_lists_close(struct words_lists *l); /* NULL is fine */
/* Numbers of entries, and of words in all of them. */
void words_lists_totals(const struct words_lists *l, int64_t *entries, int64_t *words);
/* Adds the postings of a word of the index, by key; `open`: of all words that begin so, one an
 * entry. *whole is false when pages make no sense: then FTS5 has to be asked. */
bool words_list_read(const struct words_lists *l, const char *word, bool open, struct postings *out,
                     struct place_bytes *places, bool *whole, struct error *e);

#endif
