#include "ui/app/panes.h"

#include "ui/app/cover.h"
#include "ui/app/jump.h"
#include "ui/app/memory_screen.h"
#include "ui/view/context_view.h"

static const struct {
    enum action action;
    struct view *(*make)(const struct view_host *host);
} panes[] = {{ACTION_CONTEXT, context_view_new}};

void panes_show(struct app *app, struct view *v)
{
    cover_close(app);
    app_close_overlay(app);
    views_open(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

bool panes_open(struct app *app, enum action action)
{
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++)
        if (panes[i].action == action) {
            panes_show(app, panes[i].make(&app->host));
            return true;
        }
    return false;
}

/* --- what a view asks for --- */

static void send(void *surface, struct command *c)
{
    struct app *app = surface;
    if (c->type == COMMAND_COMPACT)
        app_follow(app);
    service_send(app->service, c);
}

static void close_view(void *surface, struct view *v)
{
    struct app *app = surface;
    views_close(&app->views, v);
    app_touch_now(app, DIRTY_ALL);
}

static void jump(void *surface, struct view *v, int64_t seq)
{
    struct app *app = surface;
    close_view(app, v);
    way_back_mark(app);
    jump_to(app, seq);
}

static void show_memory(void *surface, struct view *v)
{
    struct app *app = surface;
    close_view(app, v);
    memory_screen_open_session(app);
}

void panes_init(struct app *app)
{
    app->host = (struct view_host){.keymap = &app->keymap,
                                   .meters = &app->meters,
                                   .surface = app,
                                   .send = send,
                                   .close = close_view,
                                   .jump = jump,
                                   .show_memory = show_memory};
}
