#include "ui/fork.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "ui/completion.h"

static void fork_after(struct app *app, int64_t event)
{
    struct command *c = command_new(COMMAND_FORK, NULL);
    c->number = event;
    app_leave_session(app);
    service_send(app->service, c);
}

struct wanted {
    size_t number, count;
    int64_t last;
};

static void look_at(void *context, const struct transcript_turn *turn)
{
    struct wanted *w = context;
    w->count = turn->number;
    if (turn->number == w->number)
        w->last = turn->last;
}

static void fork_after_turn(struct app *app, size_t number)
{
    struct wanted w = {.number = number};
    transcript_each_turn(app->transcript, look_at, &w);
    if (w.last == 0)
        app_note(app, STYLE_WARNING,
                 ngettext("You have sent %zu message in this session; /fork N takes along all up "
                          "to the N-th and its answer.",
                          "You have sent %zu messages in this session; /fork N takes along all up "
                          "to the N-th and its answer.",
                          w.count),
                 w.count);
    else
        fork_after(app, number == w.count ? 0 : w.last);
}

static bool all_is_here(struct app *app)
{
    return app_want_older(app) == 0;
}

void fork_run(struct app *app, const char *arguments)
{
    char *end;
    long number = strtol(arguments, &end, 10);
    if (!*arguments) {
        fork_after(app, 0);
    } else if (*end || number < 1) {
        app_note(
            app, STYLE_WARNING, "%s",
            _("/fork takes the number of a message of yours, counted from 1; Tab lists them."));
    } else if (all_is_here(app)) {
        fork_after_turn(app, (size_t)number);
    } else {
        app->fork_turn = number;
    }
}

/* Turns come oldest first and are listed newest first, so they are kept for a moment. */
struct turns {
    VEC(struct transcript_turn) items;
};

static void keep(void *context, const struct transcript_turn *turn)
{
    struct turns *turns = context;
    vec_push(&turns->items, *turn);
}

void fork_list_turns(struct app *app, struct list *list, const char *prefix)
{
    struct turns turns = {0};
    if (!all_is_here(app)) {
        app->turns_asked = app->completion_wanted = true;
        return;
    }
    transcript_each_turn(app->transcript, keep, &turns);
    for (size_t i = turns.items.len; i-- > 0;) {
        struct buf number = BUF_INIT;
        buf_addf(&number, "%zu", turns.items.items[i].number);
        if (strncmp(number.data, prefix, strlen(prefix)) == 0)
            list_add(list, number.data, turns.items.items[i].text, number.data);
        buf_release(&number);
    }
    vec_release(&turns.items);
}

void fork_page_came(struct app *app)
{
    if ((app->fork_turn == 0 && !app->turns_asked) || !all_is_here(app))
        return;
    size_t number = (size_t)app->fork_turn;
    bool listed = app->turns_asked;
    fork_forget(app);
    if (number > 0)
        fork_after_turn(app, number);
    if (listed)
        completion_listed(app);
}

void fork_forget(struct app *app)
{
    app->fork_turn = 0;
    app->turns_asked = false;
}
