#include "ui/app/panes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ui/app/find.h"
#include "ui/app/jump.h"
#include "ui/app/memory_screen.h"
#include "ui/view/context_view.h"
#include "ui/view/sessions.h"

static const struct {
    enum action action;
    struct view *(*make)(const struct view_host *host, const char *query);
} panes[] = {{ACTION_CONTEXT, context_view_new}, {ACTION_SESSIONS, sessions_new}};

void panes_show(struct app *app, struct view *v)
{
    views_open(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

bool panes_open(struct app *app, enum action action, const char *query)
{
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++)
        if (panes[i].action == action) {
            panes_show(app, panes[i].make(&app->host, query));
            return true;
        }
    return false;
}

/* --- what a view asks for --- */

/* Whether the open session gives way, so that what is being written must be kept with it. What is
 * deleted keeps nothing: the text comes along. */
static bool leaves_session(const struct app *app, const struct command *c)
{
    bool archives = c->type == COMMAND_ARCHIVE && c->number == 0;
    return c->type == COMMAND_RESUME || c->type == COMMAND_OPEN || c->type == COMMAND_FORK ||
           (archives && strcmp(c->name, app->session.id) == 0);
}

static void send(struct app *app, struct command *c)
{
    if (c->type == COMMAND_OPEN)
        way_back_leave(app, c->text);
    if (leaves_session(app, c))
        app_leave_session(app);
    if (c->type == COMMAND_COMPACT)
        app_follow(app);
    engine_send(app->engine, c);
}

static void close_view(struct app *app, struct view *v)
{
    views_close(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

static void jump(struct app *app, struct view *v, int64_t seq)
{
    close_view(app, v);
    way_back_mark(app);
    jump_to(app, seq);
}

void panes_forget_find(struct app *app)
{
    free(app->find_next);
    app->find_next = NULL;
}

static void find(struct app *app, const char *session_id, const char *text)
{
    panes_forget_find(app);
    if (!text)
        return;
    if (!session_id) {
        find_open(app, text);
        return;
    }
    app->find_next = mem_strdup(text);
    memset(app->find_session, 0, sizeof app->find_session);
    memcpy(app->find_session, session_id, strnlen(session_id, UUID_LEN));
}

void panes_page_came(struct app *app)
{
    if (!app->find_next || strcmp(app->find_session, app->session.id) != 0)
        return;
    char *text = app->find_next;
    app->find_next = NULL;
    find_open(app, text);
    free(text);
}

static void show_memory(struct app *app, struct view *v)
{
    close_view(app, v);
    memory_screen_open_session(app);
}

void panes_init(struct app *app)
{
    app->host = (struct view_host){.keymap = &app->keymap,
                                   .session = &app->session,
                                   .meters = &app->meters,
                                   .read_only = &app->read_only,
                                   .persist = app->options->engine->persist,
                                   .app = app,
                                   .send = send,
                                   .close = close_view,
                                   .jump = jump,
                                   .find = find,
                                   .show_memory = show_memory};
}
