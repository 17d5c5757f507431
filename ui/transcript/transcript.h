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

/* The keys that cards of compactions and recalled passages name (NULL: none), and whether the cards
 * tell how to choose another mode. Call it before any event. */
void transcript_set_hints(struct transcript *t, const char *cancel, const char *open,
                          const char *leave_out, bool settings);

/* Returns whether the screen may have changed. An event that was applied before is ignored. */
bool transcript_apply(struct transcript *t, const struct event *ev);

/* The passages of memory of the newest message that was sent with passages; NULL: no message was.
 * Valid until the next event. */
const struct recalled *transcript_last_sent(const struct transcript *t);

/* Puts older events (ascending) in front; the view stays where it is. `more`: there are still older
 * ones. */
void transcript_prepend(struct transcript *t, struct event *const *events, size_t count, bool more);

/* Adds a note that is not an event (an error). It may have many lines. `brief`: the next message
 * removes it ("copied"). */
void transcript_note(struct transcript *t, enum style style, const char *text, bool brief);

/* The number of the oldest event held, if the page before it is needed: it exists, and the view is
 * within two screens of the top. Else 0. */
int64_t transcript_wants_before(const struct transcript *t);

void transcript_resize(struct transcript *t, int width, int height);

/* Positive: towards older. From TRANSCRIPT_ALL rows on: to the top of what is held, or to the end.
 * Returns whether the view moved. */
enum { TRANSCRIPT_ALL = 1 << 30 };
bool transcript_scroll(struct transcript *t, int rows);
bool transcript_at_end(const struct transcript *t);

/* A row of the item of an event, which can be found again after the conversation is reloaded. */
struct transcript_place {
    int64_t seq; /* of the event; 0: the end */
    size_t row;  /* from the beginning of its text */
};

/* The view's first row. */
struct transcript_place transcript_place(const struct transcript *t);

/* Makes that row the view's first. False, with the view at the top, if the event is not held. */
bool transcript_show_place(struct transcript *t, const struct transcript_place *place);

/* The number of new rows below the view, as of the last transcript_rows(); 0 at the end. */
int transcript_unread(const struct transcript *t);

/* The visible rows from top to bottom, at most `height`; *count is their number. Valid until the
 * next call of any function of the transcript. */
struct transcript_row {
    const struct rows *rows;
    size_t index;
    size_t item;
};
const struct transcript_row *transcript_rows(struct transcript *t, size_t *count);

/* Lets one transcript_rows() lay out at most so many bytes of a model's text, unless the view would
 * move by that, so that a giant answer does not block the keys. transcript_is_behind() tells
 * whether some of it is not laid out yet. Without a pace everything is laid out at once. */
void transcript_set_pace(struct transcript *t, size_t bytes);
bool transcript_is_behind(const struct transcript *t);

/* Opens or folds an item (tool call, reasoning). False if it cannot be folded. */
bool transcript_toggle(struct transcript *t, size_t item);
/* Folds or opens all tool calls and reasoning at once. */
void transcript_toggle_all(struct transcript *t);

/* Shows output of a call that runs (item_add_output()). False: there is no such call. */
bool transcript_output(struct transcript *t, const char *id, const char *text, bool anew,
                       int64_t ms);

/* Sets how long the running compaction has taken. Returns whether its rows change. */
bool transcript_tick(struct transcript *t, int64_t elapsed_ms);

/* Drops the draft of the running compaction's summary; another one follows. */
void transcript_redraft(struct transcript *t);

/* Number of the compaction_completed of this item; 0: none. */
int64_t transcript_card(const struct transcript *t, size_t item);
/* The same for the newest in the view. */
int64_t transcript_newest_card(struct transcript *t);

/* An item learned from a message was kept or not: its note says so instead of asking. */
void transcript_decided(struct transcript *t, const char *id, bool kept, const char *text);

/* A citation "[2]" of a passage, in an answer behind a search in corpora. */
struct transcript_citation {
    int number;
    int64_t before; /* event before which the model was given the passage */
};

/* The greatest number among the passages that the model was given last before that item; SIZE_MAX:
 * last of all; 0: none is held. */
int transcript_passages(const struct transcript *t, size_t item);

/* The citation at a row and column of the view; false: none. */
bool transcript_citation_at(struct transcript *t, size_t row, size_t column,
                            struct transcript_citation *out);

/* Chooses the next citation in the view, after the last the first; at first the first one of the
 * newest answer. False: there is none in the view. */
bool transcript_choose_citation(struct transcript *t);
/* The chosen citation, if it is still in the view. */
bool transcript_chosen_citation(struct transcript *t, struct transcript_citation *out);
/* Chooses none. Returns whether one was chosen. */
bool transcript_leave_citation(struct transcript *t);

/* Selects a message, reasoning or tool call, first the newest in the view and then the next older
 * or newer one, and brings it into the view. False: there is none on that side among those held.
 * While one is selected, messages show the numbers of their turns if all events are held. */
bool transcript_select(struct transcript *t, bool older);
/* Returns whether one was selected. */
bool transcript_leave_selected(struct transcript *t);

struct transcript_selected {
    enum item_kind kind;
    size_t item;
    int64_t seq;      /* of its first event */
    const char *text; /* the message as it came, or the result of the call; borrowed */
    bool rewound;     /* no longer part of the conversation */
    /* The user's message of its turn, which `turn_seq` 0 lacks, and an event of the last message of
     * the turn; 0: the turn is the newest. */
    int64_t turn_seq, turn_last;
    const char *turn_text;
};
/* False: none is selected. */
bool transcript_selected(const struct transcript *t, struct transcript_selected *out);

/* Appends the sources of the items around the view, at most so many bytes above it and below;
 * returns where the view begins in them, or their end if the view is at the end. */
size_t transcript_source(struct transcript *t, size_t most, struct buf *out);

/* Source text of the newest answer (borrowed), and of the newest fenced code block; NULL: none. */
const char *transcript_last_answer(const struct transcript *t);
char *transcript_last_code(const struct transcript *t); /* the caller frees */

/* A message of the user and the events that followed it. */
struct transcript_turn {
    size_t number;    /* from 1, among those that are held */
    const char *text; /* clean */
    int64_t seq;      /* of the message */
    int64_t last;     /* number of the last event that belongs to it */
};
void transcript_each_turn(const struct transcript *t,
                          void (*visit)(void *context, const struct transcript_turn *turn),
                          void *context);

/* The items, for plain output. Later events may remove items from the end. */
size_t transcript_item_count(const struct transcript *t);
struct item *transcript_item(struct transcript *t, size_t index);

/* Number of the oldest event held; 0: there are no older ones. */
int64_t transcript_oldest(const struct transcript *t);

/* Sets the text that is searched for: marks the matches, which can be counted. The view stays. NULL
 * or "": none. */
void transcript_look_for(struct transcript *t, const char *text);

/* Moves the view to the next match (older: upwards) after the current one, case folded; a new text
 * is searched for from the current match on, or from the view. Matches are marked with STYLE_MATCH
 * until the text is NULL. False: no match, and the view stays. */
bool transcript_find(struct transcript *t, const char *text, bool older);

/* Goes on from the other end, once there is no match on one side. False: none is held. */
bool transcript_find_around(struct transcript *t, bool older);

/* The number of rows that match among those held; `at`: the current match, 1 is the newest; 0:
 * none. One call counts over about so many bytes; not `whole`: the next call goes on. */
struct transcript_matches {
    size_t at, count;
    bool whole;
};
struct transcript_matches transcript_matches(struct transcript *t, size_t bytes);

#endif
