/* What the model asked of semantic memory and what it was given, out of memory_recalled events. */
#ifndef UI_ITEM_H
#define UI_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "chat/event.h"
#include "chat/memory.h"
#include "ui/term/rows.h"
#include "ui/text/markdown.h"

struct recalled {
    int64_t seq, at_ms;
    char *query; /* clean, one line */
    char *badge; /* likewise; NULL: it was searched as configured */
    struct memory_hits hits;
    bool fresh; /* came while the person was not looking at it */
};

struct recalled *recalled_new(const struct event *ev);
void recalled_free(struct recalled *r); /* NULL is fine */

/* Those of a session, oldest first. */
struct recalls {
    VEC(struct recalled *) items;
};
void recalls_clear(struct recalls *r);
void recalls_release(struct recalls *r);

/* In any order of pages; false if it was there, or is no memory_recalled. */
bool recalls_add(struct recalls *r, const struct event *ev, bool fresh);

/* One thing that the transcript shows: its clean source text, and the rows made of it. */

enum item_kind { ITEM_USER, ITEM_ANSWER, ITEM_REASONING, ITEM_TOOL, ITEM_NOTE, ITEM_COMPACTION };

enum card_state {
    CARD_RUNNING,
    CARD_DONE,
    CARD_FAILED,
    CARD_CUT_OFF /* the program ended before it was over */
};

/* Names of keys as they are bound; NULL or "": there is none. */
struct card_hints {
    char *cancel, *open;
    bool settings; /* say how to choose another mode */
};

/* What a compaction's events say of it (compaction_card.h). */
struct compaction_card {
    enum card_state state;
    bool undone;
    const struct card_hints *hints; /* borrowed */
    /* Without the summary and what was made of the history. NULL: not seen (an older page), or not
     * over. */
    struct event *started, *ended;
    int part, parts; /* of a history that is folded; 0: it is not */
    int64_t elapsed_ms;
};

struct recalled;

enum reasoning_view { REASONING_FOLDED, REASONING_OPEN, REASONING_HIDDEN };

enum item_change {
    ITEM_SAME,   /* its rows are right */
    ITEM_GROWN,  /* text was added at its end */
    ITEM_CHANGED /* anything else */
};

/* Rows that match what is searched for, as they were counted. */
struct item_matches {
    unsigned search;   /* number of the search that they were counted in; 0: none */
    size_t source_len; /* of the text and the result then */
    bool laid_out;     /* counted in rows; else its text cannot match */
    size_t count;
};

struct item {
    enum item_kind kind;
    int64_t seq;      /* of the event that began it; of a note of our own: of the last before it */
    int64_t from;     /* of a user message: where its turn began, with tries that were taken back */
    bool label;       /* begins what the assistant does in a turn */
    bool lead;        /* a blank row before it */
    bool streaming;   /* text may still come */
    bool partial;     /* an answer that was interrupted */
    bool hidden_text; /* reasoning that the provider keeps to itself */
    bool flipped;     /* open where it would be folded, or folded where it would be open */
    enum style style; /* of a note */
    bool brief;       /* a note that the next message takes away */
    struct buf text;  /* clean. Message, reasoning, note; arguments of a tool call; end of a summary
                         that streams */
    struct buf tail;  /* bytes at the end that are no whole character or line end yet */
    size_t words;     /* of reasoning */
    bool in_word;
    struct buf images; /* of a user message: one name a line */

    char *id, *name; /* of a tool call; the id also of a note of what was learned */
    struct buf result;
    struct buf
        difference;      /* what it would change, as it was shown before; empty: nobody saw that */
    size_t result_lines; /* of all of it; `result` may hold less */
    int passages;        /* of a search in corpora: greatest number that it gave */
    int64_t ms;
    bool answered, failed;
    bool orphan;               /* the request is on an older page */
    struct recalled *recalled; /* what memory answered; NULL: it was not asked, or not seen */
    bool given_up;             /* its turn is over: no result will come */

    struct compaction_card *card; /* of a compaction */

    /* item_layout.c */
    enum item_change change;
    int width;      /* that the rows are for; 0: there are none */
    size_t given;   /* bytes of the text that the rows are made of, where it is Markdown */
    size_t counted; /* rows that were there when the unread ones were last counted */
    struct item_matches matches;
    unsigned seen; /* mark of the walk that frees rows far from the view */
    size_t gone;   /* rows at the beginning that were let go again; `rows` has those behind them */
    struct rows rows;
    struct markdown *markdown; /* of a text that is laid out; NULL without rows */
};

struct item *item_new(enum item_kind kind, int64_t seq);
void item_free(struct item *item); /* NULL is fine */

/* Blanks and line ends at a text's beginning; a model's answer often begins with some. */
size_t item_blank_front(const char *text);

/* Adds a piece of a text that comes in pieces, cut anywhere. */
void item_append(struct item *item, const char *text);

/* The whole text is known: keeps what came in pieces if it is the same. */
void item_set_text(struct item *item, const char *text);

/* Whether it is a search in corpora that has succeeded. */
bool item_gave_passages(const struct item *item);

/* No more pieces will come. */
void item_end_text(struct item *item);

void item_set_call(struct item *item, const char *id, const char *name, const char *args);
void item_set_result(struct item *item, const char *text, bool failed, int64_t ms);

void item_set_difference(struct item *item, const char *text);

/* JSON array of image blocks; NULL or a text that is none adds nothing. */
void item_add_images(struct item *item, const char *attachments);

#endif
