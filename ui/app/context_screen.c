#include "ui/app/context_screen.h"

#include "ui/app/cover.h"
#include "ui/app/jump.h"
#include "ui/view/context_view.h"

static void send(void *context, struct command *c)
{
    struct app *app = context;
    if (c->type == COMMAND_COMPACT)
        app_follow(app);
    service_send(app->service, c);
}

void context_screen_open(struct app *app)
{
    const struct context_host host = {&app->keymap, send, app, &app->meters.suspended};
    cover_close(app);
    app_close_overlay(app);
    app->context_screen = context_view_new(&host);
    app_touch_now(app, DIRTY_ALL);
}

void context_screen_close(struct app *app)
{
    context_view_free(app->context_screen);
    app->context_screen = NULL;
    app_touch_now(app, DIRTY_ALL);
}

void context_screen_key(struct app *app, enum action action, const struct key *key)
{
    enum context_result result = context_view_key(app->context_screen, action, key);
    int64_t message = context_view_message(app->context_screen);
    app_touch_now(app, DIRTY_BODY);
    if (result != CONTEXT_STAYS)
        context_screen_close(app);
    if (result == CONTEXT_JUMP) {
        way_back_mark(app);
        jump_to(app, message);
    }
}

void context_screen_click(struct app *app, int row)
{
    context_view_click(app->context_screen, row);
    app_touch_now(app, DIRTY_BODY);
}

void context_screen_take(struct app *app, struct notice *n)
{
    if (!app->context_screen)
        return;
    context_view_take(app->context_screen, n);
    app_touch_now(app, DIRTY_BODY);
}

void context_screen_event(struct app *app, const struct event *ev)
{
    if (app->context_screen)
        context_view_event(app->context_screen, ev->type);
}

void context_screen_changed(struct app *app)
{
    if (app->context_screen)
        context_view_changed(app->context_screen);
}

void context_screen_idle(struct app *app)
{
    if (app->context_screen)
        context_view_idle(app->context_screen);
}

bool context_screen_failed(struct app *app, const struct notice *n, const char *words)
{
    return app->context_screen && context_view_failed(app->context_screen, n->command, words);
}

int64_t context_screen_due(const struct app *app)
{
    return app->context_screen ? context_view_due(app->context_screen) : 0;
}

void context_screen_tick(struct app *app, int64_t now_ms)
{
    if (app->context_screen)
        context_view_tick(app->context_screen, now_ms);
}
