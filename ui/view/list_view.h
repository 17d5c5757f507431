/* A list over the transcript as a view: one row is chosen, or it is left. A popup (LIST_POPUP)
 * leaves to the message what is not its own. */
#ifndef UI_LIST_VIEW_H
#define UI_LIST_VIEW_H

#include "ui/view/list.h"
#include "ui/view/view.h"

/* What stands in it, for who fills it later. */
enum list_subject {
    LIST_HELP,
    LIST_PALETTE,
    LIST_HISTORY,
    LIST_MODELS,
    LIST_THEMES,
    LIST_CONFIG,
    LIST_REPORT,
    LIST_COMPLETION
};

struct list_view_host {
    /* Gets the value of the chosen row, once the list is closed. NULL: nothing can be chosen. */
    void (*chosen)(struct app *app, const char *value);
    void (*left)(struct app *app); /* it was closed without; NULL: never mind */
    bool sends;                    /* a popup's row that Enter chooses is sent at once */
};

/* Takes the list. */
struct view *list_view_new(const struct view_host *host, enum list_subject subject,
                           struct list *list, const struct list_view_host *to);

/* The list, if such a view is open and has that subject; NULL otherwise. */
struct list *list_view_find(const struct views *s, enum list_subject subject);

#endif
