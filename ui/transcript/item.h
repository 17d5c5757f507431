/* An item of the transcript: its clean source text, and the rows made of it. */
#ifndef UI_ITEM_H
#define UI_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "chat/change.h"
#include "chat/event.h"
#include "chat/memory.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"

/* Names of keys by their bindings; NULL or "": none. */
struct card_hints {
    char *cancel, *open;
    char *leave_out; /* keys that lead to a passage and leave it out */
    bool settings;   /* the card tells how to choose another mode */
};

/* A memory_recalled event: a question of the model to semantic memory, or a message of the user
 * that was sent with passages; and the hits. */
struct recalled {
    int64_t seq, at_ms;
    char *query; /* clean, one line */
    char *badge; /* clean, one line; NULL: the search was as configured */
    struct memory_hits hits;
    int64_t tokens; /* of what was sent with a message; 0: a question of the model */
    bool fresh;     /* the user has not looked at it yet */
    const struct card_hints *hints; /* borrowed; NULL: none */
};

struct recalled *recalled_new(const struct event *ev);
void recalled_free(struct recalled *r); /* NULL is fine */

/* The state of entries of memory by their newest memory_left_out event; pages of events may come in
 * any order. `seq` 0: the surface has asked for the event, which has not come yet. */
struct left_out_entry {
    char *id;
    int64_t seq;
    bool holds;
};
struct left_out {
    VEC(struct left_out_entry) items;
};
/* Notes that the entry is left out (`holds`) or not. Ignored if a newer event is known; `seq` 0 is
 * never ignored. */
void left_out_note(struct left_out *l, const char *id, int64_t seq, bool holds);
bool left_out_has(const struct left_out *l, const char *id);
void left_out_clear(struct left_out *l);

/* The recalls of a session, oldest first. */
struct recalls {
    VEC(struct recalled *) items;
    struct left_out left_out;
};
void recalls_clear(struct recalls *r);

/* Pages may come in any order. False if the event was there, or is no memory_recalled. */
bool recalls_add(struct recalls *r, const struct event *ev, bool fresh);

enum { ITEM_RESULT_MAX = 64 * 1024 /* bytes of a result, or of a difference */ };

enum item_kind { ITEM_USER, ITEM_ANSWER, ITEM_REASONING, ITEM_TOOL, ITEM_NOTE, ITEM_COMPACTION };

enum card_state {
    CARD_RUNNING,
    CARD_DONE,
    CARD_FAILED,
    CARD_CUT_OFF /* the program ended before it was over */
};

/* A compaction, by its events (compaction_card.h). */
struct compaction_card {
    enum card_state state;
    bool undone;
    const struct card_hints *hints; /* borrowed */
    /* Without the summary and the rebuilt history. NULL: on an older page, or not over. */
    struct event *started, *ended;
    int part, parts; /* of a history that is summarised in parts; 0: it is not */
    int64_t elapsed_ms;
};

enum reasoning_view { REASONING_FOLDED, REASONING_OPEN, REASONING_HIDDEN };

enum item_change {
    ITEM_SAME,   /* its rows are right */
    ITEM_GROWN,  /* text was added at its end */
    ITEM_CHANGED /* anything else */
};

/* Rows that match the search, as they were counted. */
struct item_matches {
    unsigned search;   /* number of the search that counted them; 0: none */
    size_t source_len; /* of the text and the result at that time */
    bool laid_out;     /* counted in rows; else its text cannot match */
    size_t count;
};

struct item {
    enum item_kind kind;
    int64_t seq;      /* of the event that began it; of a note of our own: of the last before it */
    int64_t from;     /* of a user message: where its turn began, with the failed tries */
    bool label;       /* the first of the assistant's items in a turn */
    bool lead;        /* a blank row before it */
    bool streaming;   /* more text may come */
    bool partial;     /* an answer that was interrupted */
    bool hidden_text; /* reasoning that the provider hides */
    bool flipped;     /* the user has opened or folded it */
    bool rewound;     /* no longer part of the conversation: a rewind is in force */
    enum style style; /* of a note */
    bool brief;       /* a note that the next message removes */
    struct buf text;  /* clean: message, reasoning, note, arguments of a tool call, end of a summary
                         that streams */
    char *raw;        /* the message as it came, where it is not the same as `text` */
    struct buf tail;  /* bytes at the end that are not a whole character or line end yet */
    struct buf images; /* of a user message: a line for each image and attached file */

    char *id, *name; /* of a tool call; the id also of a note of a learned item */
    struct buf result;
    struct buf difference;          /* of the file that the call changed; empty: none is known */
    struct difference_size changed; /* of the whole difference; `difference` may be cut */
    size_t result_lines;            /* of all of it; `result` may hold less */
    int passages;                   /* of a search in corpora: the greatest number of a passage */
    int64_t ms;
    bool runs; /* `result` has what it has put out so far, `ms` its time */
    bool answered, failed;
    bool orphan;               /* the request is on an older page */
    struct recalled *recalled; /* the answer of memory; NULL: none, or on another page */
    bool given_up;             /* its turn is over: no result will come */

    struct compaction_card *card; /* of a compaction */

    /* item_layout.c */
    enum item_change change;
    int width;      /* of the rows; 0: there are none */
    size_t given;   /* bytes of a Markdown text that the rows are made of */
    size_t counted; /* rows when the unread ones were last counted */
    struct item_matches matches;
    unsigned seen; /* mark of the walk that frees rows far from the view */
    size_t gone;   /* rows at the beginning that were let go again; `rows` has those behind them */
    struct rows rows;
    struct markdown *markdown; /* of a text that is laid out; NULL without rows */
};

struct item *item_new(enum item_kind kind, int64_t seq);
void item_free(struct item *item); /* NULL is fine */

/* Adds a piece of a streamed text, cut anywhere. */
void item_append(struct item *item, const char *text);

/* Sets the whole text; the rows stay if it is the same as the streamed one. */
void item_set_text(struct item *item, const char *text);

/* Keeps the text as it came, for a copy. */
void item_keep_raw(struct item *item, const char *text);

/* Whether it is a search in corpora that has succeeded. */
bool item_gave_passages(const struct item *item);

/* Ends a streamed text. */
void item_end_text(struct item *item);

/* Output of a call that runs: its text after what there is, or `anew`; and its time so far. */
void item_add_output(struct item *item, const char *text, bool anew, int64_t ms);

/* Sets the result of a call and the difference that it made, from tool_execution_completed. */
void item_set_result(struct item *item, const struct event *ev);

/* Items of the transcript → rows. */

/* Brings the item's rows up to date and returns their number (0: it is not shown). At most *room
 * bytes of a model's text are laid out, and subtracted from *room. */
size_t item_lay_out(struct item *item, int width, enum reasoning_view reasoning, size_t *room);

/* Whether some of the text is not laid out yet; the next item_lay_out() goes on. */
bool item_is_behind(const struct item *item);

/* Frees the rows. */
void item_forget_rows(struct item *item);

/* The number of rows, with those that were let go. */
size_t item_row_count(const struct item *item);

bool item_can_fold(const struct item *item, enum reasoning_view reasoning);
bool item_is_open(const struct item *item, enum reasoning_view reasoning);
void item_set_open(struct item *item, bool open, enum reasoning_view reasoning);

#endif
