/* Shared by transcript.c (events, rows, scrolling), transcript_find.c (searches, citations, what is
 * read out) and transcript_select.c. No other file includes it. */
#ifndef UI_TRANSCRIPT_PRIVATE_H
#define UI_TRANSCRIPT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/transcript/fold.h"
#include "ui/transcript/transcript.h"

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
    size_t pace;             /* bytes of a model's text that one transcript_rows() lays out */
    size_t room;             /* the rest of them; SIZE_MAX outside of transcript_rows() */
    unsigned walk;

    char *needle;    /* the text searched for; NULL: none */
    unsigned search; /* counts changes of the needle and of the width */
    bool sought;     /* the view went to a match of it, or tried to */
    bool found;      /* `match` is a place */
    struct place match;
    struct rows marked; /* visible rows with matches */

    VEC(struct cited) cited; /* in the view, top to bottom */
    bool chose_cited;
    struct cited chosen_cited;
    struct rows cited_rows; /* visible rows with citations */

    const struct item *selected; /* NULL: none */
    struct rows selected_rows;   /* visible rows of it, and labels with numbers */
    struct rows dimmed;          /* visible rows of items that were rewound */
};

static inline size_t item_count(const struct transcript *t)
{
    return t->fold.items.len;
}

static inline struct item *item_at(const struct transcript *t, size_t index)
{
    return t->fold.items.items[index];
}

/* Lays the item out as far as it must be, and returns the number of its rows. */
size_t transcript_rows_of(struct transcript *t, size_t item);

/* The same, and the rows from `row` on are there. */
size_t transcript_rows_from(struct transcript *t, size_t item, size_t row);

/* Move a place over that many rows, less where the conversation ends; return how many. */
size_t transcript_up(struct transcript *t, struct place *p, size_t rows);
size_t transcript_down(struct transcript *t, struct place *p, size_t rows);

/* The view stays where it is from now on. */
void transcript_leave_end(struct transcript *t);

/* Makes this the view's first row. */
void transcript_show(struct transcript *t, struct place top);

/* --- transcript_find.c --- */

/* The number of the match among those of its item, from below; 0: none. Setting it finds the match
 * again when the rows have changed. */
size_t transcript_match_rank(struct transcript *t);
void transcript_match_set_rank(struct transcript *t, size_t rank);

/* Replaces visible rows that match by marked ones. */
void transcript_mark_matches(struct transcript *t);

/* Replaces visible rows of the selected item by marked ones and adds the numbers of turns. */
void transcript_mark_selected(struct transcript *t);

/* Replaces visible rows of rewound items by dimmed ones. */
void transcript_dim_rewound(struct transcript *t);

/* Lists the citations in the view and replaces their rows by marked ones. */
void transcript_mark_citations(struct transcript *t);

#endif
