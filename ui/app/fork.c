#include "ui/app/fork.h"

#include <string.h>

#include "base/i18n.h"
#include "session/session_operations.h"
#include "ui/app/turns.h"

static const char before_compaction[] = "~before-compaction";
enum { ALL = 0 }; /* in place of an event's number */

static void fork_after(struct app *app, int64_t event, bool before)
{
    const struct session_fork_params params = {app->session.id, event, before};
    app_leave_session(app);
    (void)app_ask(app, &operation_session_fork, &params, NULL);
}

static void fork_after_turn(struct app *app, const struct turn_found *turn)
{
    if (turn->seq == 0)
        app_note(app, STYLE_WARNING,
                 ngettext("You have sent %zu message in this session; /fork N copies all up to "
                          "the N-th and its answer.",
                          "You have sent %zu messages in this session; /fork N copies all up to "
                          "the N-th and its answer.",
                          turn->count),
                 turn->count);
    else
        fork_after(app, turn->number == turn->count ? ALL : turn->last, false);
}

void fork_run(struct app *app, const char *arguments)
{
    size_t number;
    if (!*arguments)
        fork_after(app, ALL, false);
    else if (strcmp(arguments, before_compaction) == 0)
        fork_after(app, ALL, true);
    else if (turns_number(arguments, &number))
        turns_find(app, number, fork_after_turn);
    else
        app_note(app, STYLE_WARNING, "%s",
                 _("/fork takes the number of one of your messages, counted from 1, or "
                   "~before-compaction; Tab lists them."));
}

void fork_list(struct app *app, struct list *list, const char *prefix)
{
    turns_list(app, list, prefix);
    if (strncmp(before_compaction, prefix, strlen(prefix)) == 0 && app->meters.compactions > 0)
        list_add(list, before_compaction, _("the state before the last compaction"),
                 before_compaction);
}
