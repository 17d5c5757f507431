/* The context screen (F4): what the next request would carry, part by part, with what each takes;
 * what a compaction now would drop; and what can be done about it. Knows neither the terminal nor
 * the service: commands go to its host, notices come from it. */
#ifndef UI_CONTEXT_VIEW_H
#define UI_CONTEXT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "session/command.h"
#include "session/notice.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"

struct context_view;

struct context_host {
    const struct keymap *keymap;                    /* borrowed; outlives the view */
    void (*send)(void *context, struct command *c); /* takes the command */
    void *context;
    const bool *suspended; /* whether compaction has stopped after failures; NULL: it has not */
};

/* Asks at once. */
struct context_view *context_view_new(const struct context_host *host);
void context_view_free(struct context_view *v); /* NULL is fine */

/* CLOSED: it is left. JUMP: likewise, for the message context_view_message() in the transcript. */
enum context_result { CONTEXT_STAYS, CONTEXT_CLOSED, CONTEXT_JUMP };
enum context_result context_view_key(struct context_view *v, enum action action,
                                     const struct key *key);
int64_t context_view_message(const struct context_view *v);

/* A click at a row of what context_view_rows() returned last. */
void context_view_click(struct context_view *v, int row);

/* Takes in a CONTEXT. What is chosen, open and in view stays. */
void context_view_take(struct context_view *v, struct notice *n);

/* An ERROR, with the words for it. False if it is none of the view's. */
bool context_view_failed(struct context_view *v, enum command_type command, const char *text);

/* What it shows may be out of date: after an event of the session; after another change; at the end
 * of a turn, when it asks at once. Otherwise it asks at most once a second, when
 * context_view_due() has come. */
void context_view_event(struct context_view *v, enum event_type type);
void context_view_changed(struct context_view *v);
void context_view_idle(struct context_view *v);
int64_t context_view_due(const struct context_view *v); /* monotonic; 0: never */
void context_view_tick(struct context_view *v, int64_t now_ms);

void context_view_resize(struct context_view *v, int width, int height);

/* The rows to show, exactly as many as the height, none wider than the width. Borrowed until the
 * next call. */
const struct rows *context_view_rows(struct context_view *v);

#endif
