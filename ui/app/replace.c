#include "ui/app/replace.h"

#include "base/i18n.h"

static bool wait_for_turn(struct app *app)
{
    if (app->activity.busy)
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; edit its message when it has ended."));
    return app->activity.busy;
}

void replace_begin(struct app *app)
{
    if (wait_for_turn(app))
        return;
    if (!app->last_sent) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("No message was sent in this session yet."));
        return;
    }
    app->replacing = true;
    app_give_back(app, app->last_sent);
    app_touch_now(app, DIRTY_EDITOR | DIRTY_STATUS);
}

void replace_forget(struct app *app)
{
    if (!app->replacing)
        return;
    app->replacing = false;
    app_touch_now(app, DIRTY_STATUS);
}

void replace_send(struct app *app, const char *text)
{
    if (wait_for_turn(app)) {
        app_give_back(app, text);
        return;
    }
    replace_forget(app);
    app_send_instead(app, text);
}
