/* What the transcript's parts share. Nobody else includes it. */
#ifndef UI_TRANSCRIPT_PRIVATE_H
#define UI_TRANSCRIPT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/transcript/transcript.h"
#include "ui/transcript/fold.h"

/* A row of an item: never counted from the top of the conversation. */
struct place {
    size_t item, row;
};

/* A citation in the view. */
struct cited {
    struct place place;
    size_t visible;  /* its row among the visible ones */
    size_t from, to; /* bytes of the row */
    int number;
};

struct transcript {
    struct fold fold;
    enum reasoning_view reasoning;
    struct card_hints hints;
    int width, height;

    bool follow;      /* the view is at the end and stays there */
    struct place top; /* the view's first row, as of the last transcript_rows() if it follows */
    VEC(struct transcript_row) visible;

    size_t unread;      /* rows that came since the view left the end, and are below it */
    size_t unread_from; /* the first item whose growth counts */

    VEC(struct item *) laid; /* items that have rows */
    size_t pace;             /* bytes that one transcript_rows() lays out of what a model says */
    size_t room;             /* what is left of them; SIZE_MAX outside of it */
    unsigned walk;

    char *needle; /* what is searched for; NULL: nothing */
    unsigned search; /* counts changes of the needle and of the width */
    bool sought;  /* the view went to a match of it, or tried to */
    bool found;   /* `match` is a place */
    struct place match;
    struct rows marked; /* visible rows with matches */

    VEC(struct cited) cited; /* in the view, top to bottom */
    bool chose_cited;
    struct cited chosen_cited;
    struct rows cited_rows; /* visible rows with citations */
};

static inline size_t item_count(const struct transcript *t)
{
    return t->fold.items.len;
}

static inline struct item *item_at(const struct transcript *t, size_t index)
{
    return t->fold.items.items[index];
}

/* How many rows the item has; laid out as far as it must be. */
size_t transcript_rows_of(struct transcript *t, size_t item);

/* … and those from `row` on are there. */
size_t transcript_rows_from(struct transcript *t, size_t item, size_t row);

/* --- transcript_scroll.c --- */

/* Move a place over that many rows, less where the conversation ends; return how many. */
size_t transcript_up(struct transcript *t, struct place *p, size_t rows);
size_t transcript_down(struct transcript *t, struct place *p, size_t rows);

/* Makes this the view's first row. */
void transcript_show(struct transcript *t, struct place top);

/* The first row of the view that shows the end. */
struct place transcript_end_top(struct transcript *t);

/* After the conversation changed under it, the place at the top may be none. */
void transcript_clamp_top(struct transcript *t);

/* What was at the top stays there, as far as it still exists. */
void transcript_hold_top(struct transcript *t);

/* Rows of news since the last call; what grows from here on is news. */
void transcript_count_unread(struct transcript *t);
void transcript_count_from_last(struct transcript *t);

/* --- transcript_find.c --- */

/* The match is which among those of its item, from below; 0: there is none. It
 * is the same one where the rows have become others. */
size_t transcript_match_rank(struct transcript *t);
void transcript_match_set_rank(struct transcript *t, size_t rank);

/* Exchanges visible rows that match for marked ones. */
void transcript_mark_matches(struct transcript *t);

/* --- transcript_citations.c --- */

/* Lists the citations in the view and exchanges their rows for marked ones. */
void transcript_mark_citations(struct transcript *t);

#endif
