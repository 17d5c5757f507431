/* Views: what stands over the conversation or beside it. Each is a struct that begins with a
 * struct view, and a table of what it does. The stack of the open ones says who gets keys, and what
 * is drawn over what; a view knows neither the stack nor the engine: what it wants it asks of its
 * host. No curses. */
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

/* Where in the stack, from below: of each at most one is open. */
enum view_layer {
    VIEW_DRAFT, /* in the place of the message */
    VIEW_FIND,  /* in the place of the status line */
    VIEW_PANE,  /* from here on over the transcript, this one also beside it */
    VIEW_COVER,
    VIEW_LIST,
    VIEW_QUESTION, /* below the newest of the transcript */
    VIEW_BARE,     /* in the place of all */
    VIEW_LAYERS
};

struct editor;
struct view;
struct app; /* the surface; a view hands it back, and knows no more of it */

/* Gets the answer to what a view asked; it may take members out of the result. `words`: what could
 * not be done, in the user's words; NULL: it was done. False: the view does not tell of a failure.
 */
typedef bool view_answer(struct view *v, struct operation_answer *a, const char *words);

/* What a view asks of the surface. Times are those of clock_mono_ms(). */
struct view_host {
    /* Borrowed: they outlive the views. */
    const struct keymap *keymap;
    const struct session_info *session; /* the open one */
    const struct meters *meters;        /* its */
    const bool *read_only;              /* it cannot be talked to */
    bool persist;                       /* sessions are kept */
    struct app *app;
    /* Asks the engine for a row of the table and returns the request's id. Whoever is freed gets no
     * answer any more; `take` NULL: the surface tells of a failure, whether the view is there or
     * not. */
    uint64_t (*ask)(struct app *app, struct view *v, const struct operation *o, const void *params,
                    view_answer *take);
    void (*withdraw)(struct app *app, uint64_t id); /* no answer is wanted any more; 0 is fine */
    void (*gone)(struct app *app, const struct view *v); /* it is freed now */
    void (*close)(struct app *app, struct view *v);
    void (*touch)(struct app *app);                          /* it looks other than before */
    void (*raise)(struct app *app, struct view *v);          /* closes what stands over it */
    bool (*has_keys)(struct app *app, const struct view *v); /* none over it has the keyboard */
    void (*stop)(struct app *app);                           /* the turn, with whatever it asks */
    void (*leave)(struct app *app);                          /* the program */
    /* Whether a text has been begun: in the message, or in a view that has the keyboard. */
    bool (*drafting)(struct app *app);
    /* Text for whoever has the keyboard, if it can be written there. */
    void (*write)(struct app *app, enum action action, const struct key *key);
    void (*note)(struct app *app, const char *text); /* in the transcript */
    /* Shows that message in the transcript; the view gives way to it, and the way back leads here.
     */
    void (*jump)(struct app *app, struct view *v, int64_t seq);
    /* Looks for a text in the transcript: of that session, as soon as it is open; NULL: of the open
     * one, now. Text NULL: what is still to be looked for is not. */
    void (*find)(struct app *app, const char *session_id, const char *text);
    /* Whether another conversation than the one that is shown has a turn of that session going on;
     * *waits: it waits for the person's word. NULL: there are no others. */
    bool (*works)(struct app *app, const char *session_id, bool *waits);
    /* Shows what memory has of the open session, and closes the view. */
    void (*show_memory)(struct app *app, struct view *v);

    /* For the pane of memory. */
    const struct view_tab *tabs; /* beside memory's own; NULL: there are none */
    /* Whether build and configuration allow that row. NULL: every one. */
    bool (*offers)(struct app *app, const struct operation *o);
    /* Shows that message, in its session, which is opened read-only if it is another one. */
    void (*show_message)(struct app *app, const char *session_id, int64_t seq);
    const char *memory_scope;             /* "all", "project" or "session" */
    bool (*has_memory)(struct app *app);  /* if not, it says so */
    void (*want_titles)(struct app *app); /* of the sessions */
    bool (*beside)(struct app *app);      /* there is room beside the transcript */
    /* Whether the mouse is over the view. */
    bool (*under)(struct app *app, const struct view *v, const struct key *key);
    /* What a session is called, "" for the open one; NULL: not known. Not clean. */
    const char *(*title)(struct app *app, const char *session_id);
    void (*scroll_to)(struct app *app, int64_t seq);   /* a message, without a way back */
    void (*insert)(struct app *app, const char *text); /* into the message, as lines */
    void (*edit_outside)(struct app *app, struct editor *editor); /* with $EDITOR */
    /* Opens a file with $EDITOR, at the line (0: none is known, or it has none to be opened: then
     * the text is). */
    void (*open_file)(struct app *app, const char *path, int64_t line, const char *text);
    void (*want_older)(struct app *app); /* events of the open session */
    /* A key that the view kept: the view gets it if it has the keyboard, else the message, if that
     * has it. */
    void (*type)(struct app *app, struct view *v, const struct key *key);
};

/* A member may be NULL where a view has no use for it. */
struct view_ops {
    enum view_layer layer;
    bool of_session; /* what it shows is of the open session: closed when another one is opened */
    void (*free)(struct view *v);
    /* For one that stays on the stack and keeps its state: it leaves the screen. NULL: it is freed.
     */
    void (*close)(struct view *v);
    bool (*shown)(const struct view *v); /* whether it is on the screen; NULL: it is */
    /* False: not its key; those below get it. */
    bool (*key)(struct view *v, enum action action, const struct key *key);
    bool (*passes)(const struct view *v); /* what is below it has the keyboard; NULL: it has it */
    void (*click)(struct view *v, int row, int col); /* at a place of what rows() returned last */
    /* Rows that it takes of so many, from below; NULL: all. */
    int (*height)(struct view *v, int width, int room);
    void (*resize)(struct view *v, int width, int height);
    /* What to draw: at most as many rows as the height, none wider than the width. Borrowed until
     * the next call. */
    const struct rows *(*rows)(struct view *v);
    bool (*caret)(const struct view *v, int *row, int *col); /* in those rows; false: it has none */
    void (*notice)(struct view *v, struct notice *n);        /* all that the engine tells unasked */
    int64_t (*due)(const struct view *v); /* when something of it is due; 0: nothing is */
    void (*tick)(struct view *v);         /* it is, and the view is drawn again; NULL: no more */
};

struct view {
    const struct view_ops *ops;
    const struct view_host *host;
    struct view *within; /* the one that shows it as a part of it; NULL: it is on the stack */
};

/* A tab of the pane of memory: a view within it, which is made when it is first shown. A key that
 * it does not take closes the pane, leads to another tab … as everywhere in the pane. */
struct view_tab {
    const char *name;                  /* for gettext; NULL ends a table */
    const struct operation *operation; /* that it cannot be without */
    struct view *(*make)(const struct view_host *host);
    void (*show)(struct view *v, const char *query); /* it comes; NULL: as it was left */
};

/* The one on the stack. */
struct view *view_outer(struct view *v);

uint64_t view_ask(struct view *v, const struct operation *o, const void *params, view_answer *take);
void view_withdraw(const struct view *v, uint64_t id);

void view_touch(const struct view *v);

/* False: keys go to the message beside it. */
bool view_has_keyboard(const struct view *v);

/* The view is gone after these, unless it keeps its state. */
void view_close(struct view *v);
void view_jump(struct view *v, int64_t seq);

/* A table of keys ends with ACTION_NONE. */
struct view_key {
    enum action action;
    void (*run)(struct view *v);
};

/* Does what the table has for the action. False: nothing. */
bool view_run_action(struct view *v, const struct view_key *keys, enum action action);

/* The same where letters are keys, too; they come first. */
bool view_run_key(struct view *v, const struct view_key *keys, enum action action,
                  const struct key *key);

/* The stack. */
struct views {
    struct view *at[VIEW_LAYERS]; /* NULL: none */
};

/* In place of the one in its layer; what stands over it is closed, but for a question. */
void views_open(struct views *s, struct view *v);

/* Not open: nothing happens. */
void views_close(struct views *s, struct view *v);
void views_release(struct views *s);
/* Those in that layer and over it / those over v; but for a question. */
void views_close_from(struct views *s, enum view_layer lowest);
void views_close_over(struct views *s, const struct view *v);

void views_close_session(struct views *s); /* those that show the open session */

/* The one in that layer that is on the screen; NULL: none. */
struct view *views_shown(const struct views *s, enum view_layer layer);

/* Who of those over v has the keyboard; NULL: none of them. */
struct view *views_holder_over(const struct views *s, const struct view *v);

/* The same of all. */
struct view *views_holder(const struct views *s);

/* From the top down, until one takes it; *by: its layer. It may be gone by then. */
bool views_key(struct views *s, enum action action, const struct key *key, enum view_layer *by);

/* To all of them. */
void views_notice(struct views *s, struct notice *n);

int64_t views_due(const struct views *s); /* the earliest; 0: nothing is */

/* Does what is due by now; true if anything was. */
bool views_tick(struct views *s, int64_t now_ms);

#endif
