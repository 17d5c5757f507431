/* Views stand over the conversation or beside it. Each is a struct that begins with a struct view,
 * and a table of what it does. The stack of the open views decides which one gets the keys, and in
 * which order they are drawn; a view knows neither the stack nor the engine, but asks its host. No
 * curses. */
#ifndef UI_VIEW_H
#define UI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/conversation_operations.h"
#include "session/notice.h"
#include "session/operation.h"
#include "ui/term/keymap.h"
#include "ui/term/rows.h"

/* Layers of the stack, from below. At most one view of a layer is open. */
enum view_layer {
    VIEW_DRAFT, /* in the place of the message */
    VIEW_FIND,  /* in the place of the status line, as the next */
    VIEW_SELECT,
    VIEW_PANE, /* from here on over the transcript; this one also beside it */
    VIEW_COVER,
    VIEW_LIST,
    VIEW_QUESTION, /* below the newest message of the transcript */
    VIEW_BARE,     /* in the place of everything */
    VIEW_LAYERS
};

struct editor;
struct view;
struct app; /* the surface, which a view only hands back */

/* Gets the answer to a request of the view; it may take members out of the result. `words`: why the
 * request failed, for the user; NULL: it was done. False: the view does not tell of the failure. */
typedef bool view_answer(struct view *v, struct operation_answer *a, const char *words);

/* The surface, as views use it. Times are those of clock_mono_ms(). */
struct view_host {
    /* Borrowed: they outlive the views. */
    const struct keymap *keymap;
    const struct session_info *session; /* the open one */
    const struct meters *meters;        /* of the open session */
    const bool *read_only;              /* the open session cannot be continued */
    bool persist;                       /* sessions are kept */
    struct app *app;
    /* Asks the engine for an operation and returns the request's id. A view that was freed gets no
     * answer. `take` NULL: the surface tells of a failure, whether the view is there or not. */
    uint64_t (*ask)(struct app *app, struct view *v, const struct operation *o, const void *params,
                    view_answer *take);
    /* No answer is wanted any more: to that request (0 is fine), or to any request of the view,
     * which is freed now. View NULL: only to the request. */
    void (*withdraw)(struct app *app, const struct view *v, uint64_t id);
    void (*close)(struct app *app, struct view *v);
    void (*touch)(struct app *app); /* its rows have changed */
    /* Shows a message of any session; another session is opened read-only. Session NULL: of the
     * open one; the view gives way, and the way back leads to it. */
    void (*show_message)(struct app *app, struct view *v, const char *session_id, int64_t seq);
    /* The title of a session, "" for the open one; NULL: not known. Not clean. */
    const char *(*title)(struct app *app, const char *session_id);
    void (*edit_outside)(struct app *app, struct editor *editor); /* with $EDITOR */
    /* Opens a file in $EDITOR at the line; line 0 or no such file: opens the text instead. */
    void (*open_file)(struct app *app, const char *path, int64_t line, const char *text);

    /* For the sessions screen. Looks for a text in the transcript: of that session as soon as it is
     * open; session NULL: of the open one, now. Text NULL: forgets a text that was still to be
     * looked for. */
    void (*find)(struct app *app, const char *session_id, const char *text);
    /* Whether a conversation in the background has a turn of that session going on; *waits: it
     * waits for the person. NULL: there are no such conversations. */
    bool (*works)(struct app *app, const char *session_id, bool *waits);

    /* ACTION_CANCEL stops the turn and whatever it asks, ACTION_LEAVE ends the program,
     * ACTION_CARD_MEMORY shows the entries that memory has of the open session. */
    void (*act)(struct app *app, enum action action);

    /* For questions of the engine. */
    bool (*drafting)(struct app *app); /* a text was begun, in the message or in a view */
    /* Gives a text to the receiver of the keys, if it can be written there. */
    void (*write)(struct app *app, enum action action, const struct key *key);
};

/* A member is NULL where a view has no use for it. */
struct view_ops {
    enum view_layer layer;
    bool of_session; /* it shows the open session: closed when another one is opened */
    void (*free)(struct view *v);
    /* Leaves the screen and keeps its state on the stack. NULL: the view is freed. */
    void (*close)(struct view *v);
    bool (*shown)(const struct view *v); /* whether it is on the screen; NULL: it is */
    /* False: it does not use the key; the views below get it. */
    bool (*key)(struct view *v, enum action action, const struct key *key);
    bool (*passes)(const struct view *v); /* it leaves the keyboard to those below; NULL: never */
    void (*click)(struct view *v, int row, int col); /* at a place of what rows() returned last */
    /* Rows that it takes of `room`, from below; NULL: all. */
    int (*height)(struct view *v, int width, int room);
    /* Its rows, at most `height` and none wider than `width`, and its caret. Borrowed until the
     * next call. view_draw() calls it. */
    const struct rows *(*rows)(struct view *v);
    void (*notice)(struct view *v, struct notice *n); /* everything that the engine tells unasked */
    int64_t (*due)(const struct view *v); /* when it is to be drawn again; 0: when it is touched */
    bool due_with_keys;           /* due() counts only while no view over it has the keyboard */
    void (*tick)(struct view *v); /* before it is drawn because it is due */
};

struct view {
    const struct view_ops *ops;
    const struct view_host *host;
    struct view *within; /* the view of which it is a part; NULL: it is on the stack */
    int width, height;   /* at the last drawing */
    struct view_caret {
        bool shown;
        int row, col;
    } caret; /* in the rows of the last drawing */
};

/* Draws the view at that size, which is made at least 2 columns and 1 row. */
const struct rows *view_draw(struct view *v, int width, int height);

/* The view on the stack that it is part of, or itself. */
struct view *view_outer(struct view *v);

uint64_t view_ask(struct view *v, const struct operation *o, const void *params, view_answer *take);
void view_withdraw(const struct view *v, uint64_t id);

void view_touch(const struct view *v);

/* False: the message beside it has the keyboard. */
bool view_has_keyboard(const struct view *v);

/* Frees the view unless it keeps its state. */
void view_close(struct view *v);

/* The action of the key where letters are keys (KEYS_READING): they come before `action`. */
enum action view_action(const struct view *v, enum action action, const struct key *key);

/* The stack. */
struct views {
    struct view *at[VIEW_LAYERS]; /* NULL: none */
};

/* Opens a view in place of the one in its layer, and closes those over it but for a question. */
void views_open(struct views *s, struct view *v);

/* Nothing happens if it is not open. */
void views_close(struct views *s, struct view *v);
void views_release(struct views *s);
/* Closes the views in that layer and over it, but for a question. */
void views_close_from(struct views *s, enum view_layer lowest);

void views_close_session(struct views *s); /* closes those that show the open session */

/* The view of that layer, if it is on the screen; NULL: none. */
struct view *views_shown(const struct views *s, enum view_layer layer);

/* The view that has the keyboard; NULL: none. */
struct view *views_holder(const struct views *s);

/* Gives the key to the views from the top down until one takes it; *by: its layer. The view may be
 * freed by then. */
bool views_key(struct views *s, enum action action, const struct key *key, enum view_layer *by);

/* Gives the notice to all of them. */
void views_notice(struct views *s, struct notice *n);

int64_t views_due(const struct views *s); /* the earliest due(); 0: none */

/* Ticks the views that are due by now; true if any was. */
bool views_tick(struct views *s, int64_t now_ms);

#endif
