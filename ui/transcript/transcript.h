/* The conversation as the screen shows it: a fold over events into items (user message, answer,
 * reasoning, tool call, compaction, note), each laid out for the current width when it is first
 * looked at and then cached. The place in it is an item and a row in it, never a row number from
 * the top: cost grows with what is on the screen. No curses. */
#ifndef UI_TRANSCRIPT_H
#define UI_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "chat/event.h"
#include "ui/term/rows.h"
#include "ui/transcript/item.h"

struct transcript;

struct transcript *transcript_new(void);
void transcript_free(struct transcript *t);
void transcript_clear(struct transcript *t);
void transcript_set_reasoning(struct transcript *t, enum reasoning_view view);

/* What the cards of compactions say of keys (NULL: nothing), and whether how to choose another
 * mode. Before any event. */
void transcript_set_hints(struct transcript *t, const char *cancel, const char *open,
                          bool settings);

/* Returns whether what is on the screen may have changed. Seen numbers are passed over. */
bool transcript_apply(struct transcript *t, const struct event *ev);

/* Older events (ascending) before all that is there; the place on the screen stays. `more`: there
 * are still older ones. */
void transcript_prepend(struct transcript *t, struct event *const *events, size_t count, bool more);

/* A note of the program's own, not an event (an error). Multi-line text is fine. */
void transcript_note(struct transcript *t, enum style style, const char *text);

/* One that the next message takes away ("copied"). */
void transcript_note_briefly(struct transcript *t, enum style style, const char *text);

/* Sequence number of the oldest event held, if older ones exist and the view is within two screens
 * of the top: ask for the page before it. 0: nothing to ask. */
int64_t transcript_wants_before(const struct transcript *t);

void transcript_resize(struct transcript *t, int width, int height);

/* Positive: towards older. Returns whether the view moved. */
bool transcript_scroll(struct transcript *t, int rows);
bool transcript_scroll_to_end(struct transcript *t);
bool transcript_scroll_to_top(struct transcript *t); /* of what is held */
bool transcript_at_end(const struct transcript *t);

/* A row of what an event began, which is there again when the conversation was loaded anew. */
struct transcript_place {
    int64_t seq; /* of the event; 0: the end */
    size_t row;  /* from where its text begins */
};

/* The view's first row. */
struct transcript_place transcript_place(const struct transcript *t);

/* That row becomes the view's first. False, with the view at the top, if the event is on a page
 * that is not held, or nowhere. */
bool transcript_show_place(struct transcript *t, const struct transcript_place *place);

/* Rows of news below the view as of the last transcript_rows(); 0 at the end. */
int transcript_unread(const struct transcript *t);

/* The visible rows, top to bottom, at most `height`; *count tells how many. References stay valid
 * until the next call of anything here. */
struct transcript_row {
    const struct rows *rows;
    size_t index;
    size_t item;
};
const struct transcript_row *transcript_rows(struct transcript *t, size_t *count);

/* One transcript_rows() lays out at most so many bytes of what a model says, unless the view would
 * move by it, so that a giant answer does not keep the keys waiting; transcript_is_behind() tells
 * whether more is to come, and then the end is not the end yet. Before it is called: all at once.
 */
void transcript_set_pace(struct transcript *t, size_t bytes);
bool transcript_is_behind(const struct transcript *t);

/* What a call that waits or runs would change. */
void transcript_set_difference(struct transcript *t, const char *id, const char *text);

/* Opens / folds the item (tool call, reasoning). False if it cannot be folded. */
bool transcript_toggle(struct transcript *t, size_t item);
/* Folds or opens all tool calls and reasoning at once. */
void transcript_toggle_all(struct transcript *t);

/* How long the compaction that goes on has taken. Returns whether that shows. */
bool transcript_tick(struct transcript *t, int64_t elapsed_ms);

/* Another draft of the running compaction's summary follows in place of this one. */
void transcript_redraft(struct transcript *t);

/* Number of the compaction_completed that this item tells of; 0: none. */
int64_t transcript_card(const struct transcript *t, size_t item);
/* The same of the newest in the view. */
int64_t transcript_newest_card(struct transcript *t);

/* What was noted of a message was decided: its note says so, and asks no more. */
void transcript_decided(struct transcript *t, const char *id, bool kept, const char *text);

/* A citation "[2]" of a passage, in an answer behind a search in corpora. */
struct transcript_citation {
    int number;
    int64_t before; /* event before which the model was given the passage */
};

/* The greatest number of a passage that the model was given last; 0: none, as far as is held. */
int transcript_passages(const struct transcript *t);

/* The one at a row and column of the view; false: there is none. */
bool transcript_citation_at(struct transcript *t, size_t row, size_t column,
                            struct transcript_citation *out);

/* Marks the next one in the view as chosen, after the last the first; to begin with the first of
 * the newest answer. False: there is none in the view. */
bool transcript_choose_citation(struct transcript *t);
/* The chosen one, if it is still in the view. */
bool transcript_chosen_citation(struct transcript *t, struct transcript_citation *out);
/* None is chosen any more. Returns whether one was. */
bool transcript_leave_citation(struct transcript *t);

/* Appends the sources of what is around the view, at most so many bytes above it and below; returns
 * where in them the view begins, or their end if it is at the end. */
size_t transcript_source(struct transcript *t, size_t most, struct buf *out);

/* Source text of the newest answer / newest fenced code block; NULL if there is none. Borrowed. */
const char *transcript_last_answer(const struct transcript *t);
char *transcript_last_code(const struct transcript *t); /* the caller frees */

/* A message of the person's and what followed it. */
struct transcript_turn {
    size_t number;    /* from 1, among those that are held */
    const char *text; /* clean */
    int64_t seq;      /* of the message */
    int64_t last;     /* number of the last event that belongs to it */
};
void transcript_each_turn(const struct transcript *t,
                          void (*visit)(void *context, const struct transcript_turn *turn),
                          void *context);

/* What it is made of, for who writes it instead of showing rows. Later events may take items away
 * from the end. */
struct item;
size_t transcript_item_count(const struct transcript *t);
struct item *transcript_item(struct transcript *t, size_t index);

/* The oldest event held, if there are older ones; 0: all are held. */
int64_t transcript_oldest(const struct transcript *t);

/* Marks what matches, and it can be counted; the view stays. NULL or "": no more. */
void transcript_look_for(struct transcript *t, const char *text);

/* Moves the view to the next match (older: upwards) after the current one, case folded; a changed
 * text is looked for from the current match on, or from the view. Marks what matches with
 * STYLE_MATCH until the search text is NULL. False: no match, and the view stays. */
bool transcript_find(struct transcript *t, const char *text, bool older);

/* The same text from the other end on, once there is no more of it on one side. False: there is
 * none at all among what is held. */
bool transcript_find_around(struct transcript *t, bool older);

/* Rows that match, among what is held; `at`: the one that was found last, 1 is the newest; 0: none.
 * Counts on where the last call stopped, over about so many bytes; not `whole`: call it again. */
struct transcript_matches {
    size_t at, count;
    bool whole;
};
struct transcript_matches transcript_matches(struct transcript *t, size_t bytes);

#endif
