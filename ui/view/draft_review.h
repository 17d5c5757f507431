/* A summary that the person reviews before it replaces the older part of a conversation: it is
 * changed, kept, refused, or asked for again with something to focus on.
 *
 * It comes while a person may be writing a message, so it waits, with a row that says so, until
 * nothing was written for a moment; then it stands where the message stood, which is not touched
 * and comes back. Keys that decide count only while they are shown. Times are the caller's clock.
 * No curses. */
#ifndef UI_DRAFT_REVIEW_H
#define UI_DRAFT_REVIEW_H

#include "ui/text/editor.h"
#include "ui/view/view.h"

enum {
    DRAFT_LOOK_MS = 300, /* from the row that announces it on */
    DRAFT_PAUSE_MS = 700 /* from the last character on */
};

enum draft_stage {
    DRAFT_NONE,
    DRAFT_WAITING, /* announced; keys are the message's */
    DRAFT_TEXT,    /* the summary is edited */
    DRAFT_FOCUS    /* … and what to focus on is asked for */
};

struct draft_review {
    struct view view;
    enum draft_stage stage;
    bool seen;            /* the keys of this stage are on the screen */
    bool empty_refused;   /* an empty text was to be kept */
    int64_t announced_ms; /* its first frame; 0: none yet */
    int64_t typed_ms;     /* the last character of a message, set by the caller; 0: none, or sent */
    struct editor *text;  /* the summary */
    struct editor *focus; /* one line */
    char *original;       /* the summary as it came, clean */
    char *mode;           /* clean */
    bool by_model;        /* which can be asked again, with a focus */
    struct draft_figures figures;

    struct rows rows;
    int text_rows; /* of them, the summary's */
    int caret_row, caret_col;
};

void draft_review_init(struct draft_review *r, const struct view_host *host);
void draft_review_release(struct view *view); /* but not the struct */

/* As NOTICE_DRAFT tells it. */
void draft_review_begin(struct draft_review *r, const struct notice *n);

/* The review is over: answered, or nobody waits for the answer any more. */
void draft_review_end(struct draft_review *r);

bool draft_review_pending(const struct view *view);   /* at any stage */
bool draft_review_open(const struct draft_review *r); /* keys are its own */

/* When it is to be opened; 0: there is none that waits and was announced. */
int64_t draft_review_due(const struct view *view);

/* A frame is drawn now: announces it, or opens it if it is time and `free`, that is, if keys would
 * go to the message. */
void draft_review_advance(struct draft_review *r, bool free, int64_t now_ms);

/* The screen has another size, perhaps too small a one: nothing is seen until it is drawn. */
void draft_review_hidden(struct draft_review *r);

/* Rows that would show all of it. */
int draft_review_height(struct draft_review *r, const struct keymap *keymap, int width);

/* The rows to show, at most `height`, none wider than `width`, and the caret in them; drawing them
 * is what makes the keys count. Borrowed until the next call. */
const struct rows *draft_review_rows(struct draft_review *r, const struct keymap *keymap, int width,
                                     int height);

/* Appends the row that announces it. */
void draft_review_announcement(const struct draft_review *r, int width, struct rows *out);

#endif
