#include "ui/app/sessions_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ui/app/find.h"
#include "ui/view/sessions.h"

static void forget_find(struct app *app)
{
    free(app->find_next);
    app->find_next = NULL;
}

/* What was found is looked for again in the session, once that is there. */
static void remember_find(struct app *app, const char *id)
{
    forget_find(app);
    app->find_next = sessions_found(app->sessions_screen);
    memset(app->find_session, 0, sizeof app->find_session);
    memcpy(app->find_session, id, strnlen(id, UUID_LEN));
}

/* Whether the open session gives way, so that what is being written must be kept with it. What is
 * deleted keeps nothing: the text comes along. */
static bool leaves_session(const struct app *app, const struct command *c)
{
    bool archives = c->type == COMMAND_ARCHIVE && c->number == 0;
    return c->type == COMMAND_RESUME || c->type == COMMAND_OPEN || c->type == COMMAND_FORK ||
           (archives && strcmp(c->name, app->session.id) == 0);
}

static void send(void *context, struct command *c)
{
    struct app *app = context;
    if (c->type == COMMAND_RESUME || c->type == COMMAND_OPEN)
        remember_find(app, c->text);
    if (c->type == COMMAND_OPEN)
        way_back_leave(app, c->text);
    if (leaves_session(app, c))
        app_leave_session(app);
    service_send(app->service, c);
}

static void tell_open(struct app *app)
{
    sessions_set_open(app->sessions_screen, app->session.id, !app->read_only);
}

void sessions_screen_open(struct app *app, const char *query)
{
    const struct sessions_host host = {&app->keymap, send, app, app->options->service->persist};
    sessions_screen_close(app);
    app_close_overlay(app);
    app->sessions_screen = sessions_new(&host, query);
    tell_open(app);
    app_touch_now(app, DIRTY_ALL);
}

void sessions_screen_close(struct app *app)
{
    sessions_free(app->sessions_screen);
    app->sessions_screen = NULL;
    app_touch_now(app, DIRTY_ALL);
}

static void finish(struct app *app, enum sessions_result result)
{
    char *found = result == SESSIONS_HERE ? sessions_found(app->sessions_screen) : NULL;
    if (result == SESSIONS_STAYS) {
        app_touch_now(app, DIRTY_BODY);
        return;
    }
    sessions_screen_close(app);
    if (found)
        find_open(app, found);
    free(found);
}

void sessions_screen_key(struct app *app, enum action action, const struct key *key)
{
    finish(app, sessions_key(app->sessions_screen, action, key));
}

void sessions_screen_click(struct app *app, int row, int col)
{
    finish(app, sessions_click(app->sessions_screen, row, col));
}

bool sessions_screen_answer(struct app *app, struct notice *n)
{
    if (!app->sessions_screen)
        return n->text != NULL;
    app_touch_now(app, DIRTY_BODY);
    return sessions_take(app->sessions_screen, n);
}

bool sessions_screen_done(struct app *app, const struct notice *n)
{
    if (!app->sessions_screen)
        return false;
    app_touch_now(app, DIRTY_BODY);
    return sessions_done(app->sessions_screen, n);
}

bool sessions_screen_failed(struct app *app, const struct notice *n, const char *words)
{
    if (n->command == COMMAND_RESUME || n->command == COMMAND_OPEN)
        forget_find(app);
    return app->sessions_screen && sessions_failed(app->sessions_screen, n->command, words);
}

void sessions_screen_session(struct app *app, bool opened)
{
    if (!app->sessions_screen)
        return;
    if (opened && sessions_opened(app->sessions_screen))
        sessions_screen_close(app);
    else
        tell_open(app);
}

void sessions_screen_page(struct app *app)
{
    if (!app->find_next || strcmp(app->find_session, app->session.id) != 0)
        return;
    char *text = app->find_next;
    app->find_next = NULL;
    find_open(app, text);
    free(text);
}
