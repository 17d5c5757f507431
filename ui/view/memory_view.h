/* F2: the memory pane as a view, with memory and what else tiro knows as tabs. It stands beside the
 * transcript where there is room, otherwise over it while it has the keyboard. Text that was typed
 * or changed stays when the pane is left. */
#ifndef UI_MEMORY_VIEW_H
#define UI_MEMORY_VIEW_H

#include "ui/view/view.h"

/* A tab: a view within the pane, which is made when it is first shown. A key that it does not take
 * closes the pane, leads to another tab and so on, as everywhere in the pane. */
struct view_tab {
    const char *name;                  /* for gettext; NULL ends a table */
    const struct operation *operation; /* the tab is offered if this operation is */
    struct view *(*make)(const struct view_host *host);
    void (*show)(struct view *v, const char *query); /* it is shown; NULL: as it was left */
};

/* The surface, as only the pane uses it. */
struct pane_host {
    const struct view_tab *tabs; /* beside memory's own; NULL: none */
    const char *memory_scope;    /* "all", "project" or "session" */
    /* Whether build and configuration allow the operation. NULL: every one. */
    bool (*offers)(struct app *app, const struct operation *o);
    bool (*has_memory)(struct app *app); /* if not, it says so */
    /* The pane opens: closes the views over it, and asks for the titles of the sessions. */
    void (*came)(struct app *app, struct view *v);
    bool (*beside)(struct app *app); /* there is room beside the transcript */
    /* Whether the mouse is over the view. */
    bool (*under)(struct app *app, const struct view *v, const struct key *key);
    void (*note)(struct app *app, const char *text);   /* in the transcript */
    void (*scroll_to)(struct app *app, int64_t seq);   /* a message, without a way back */
    void (*insert)(struct app *app, const char *text); /* into the message, as lines */
    int64_t (*want_older)(struct app *app);            /* events of the open session */
    /* Gives a key that waited to the view if it has the keyboard, else to the message, if that has
     * it. */
    void (*type)(struct app *app, struct view *v, const struct key *key);
};

/* Both hosts are borrowed. */
struct view *memory_view_new(const struct view_host *host, const struct pane_host *pane);

/* Query "": none; but an entry that is being changed is shown again. Without a memory the surface
 * says so. */
void memory_view_open(struct view *view, const char *query);
/* The tab of that name; without one that is offered, nothing happens and it is false. */
bool memory_view_open_tab(struct view *view, const char *name, const char *query);
void memory_view_open_session(struct view *view);  /* texts that the open session dropped */
void memory_view_open_recalled(struct view *view); /* passages recalled in the open session */
void memory_view_return(struct view *view, bool focused); /* as it was left */
void memory_view_to_hits(struct view *view);              /* the keys, if it is open */
void memory_view_toggle(struct view *view);

bool memory_view_is_open(const struct view *view);
bool memory_view_focused(const struct view *view); /* it has the keyboard */

/* Keys go to the pane beside the transcript, or to the message. False: there is none. */
bool memory_view_focus(struct view *view, bool focused);

/* Shows the transcript where the pane covers it, and gives the keyboard to the message. */
void memory_view_uncover(struct view *view);

/* Shows that message: of the open session, or of another one, which is opened read-only. */
void memory_view_show_message(struct view *view, const char *session_id, int64_t seq);

/* Says it where the hits are. */
void memory_view_say(struct view *view, const char *text);

/* The other tabs, to be made and shown as struct view_tab has it: learned items, the graph of
 * facts, and corpora. The query "[2]" shows the passage that the model cites by that number for the
 * newest message for which it was given any; "[2]@417" the one before event 417. */
struct view *learned_view_new(const struct view_host *host);
void learned_view_show(struct view *view, const char *query);
struct view *graph_view_new(const struct view_host *host);
void graph_view_show(struct view *view, const char *query);
struct view *corpus_view_new(const struct view_host *host);
void corpus_view_show(struct view *view, const char *query);

#endif
