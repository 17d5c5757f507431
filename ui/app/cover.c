#include "ui/app/cover.h"

#include "ui/app/memory_screen.h"
#include "ui/app/sessions_screen.h"
#include "ui/view/sessions.h"

bool cover_open(const struct app *app)
{
    return app->sessions_screen || views_top(&app->views);
}

void cover_close(struct app *app)
{
    sessions_screen_close(app);
    views_close_from(&app->views, VIEW_COVER);
    if (memory_screen_covers(app))
        memory_screen_close(app);
}

void cover_key(struct app *app, enum action action, const struct key *key)
{
    if (app->sessions_screen)
        sessions_screen_key(app, action, key);
    else if (views_key(&app->views, action, key))
        app_touch_now(app, DIRTY_BODY);
}

void cover_click(struct app *app, int row, int col)
{
    if (app->sessions_screen)
        sessions_screen_click(app, row, col);
    else
        views_top(&app->views)->ops->click(views_top(&app->views), row, col);
    app_touch_now(app, DIRTY_BODY);
}

const struct rows *cover_rows(struct app *app, int width, int height)
{
    if (app->sessions_screen) {
        sessions_resize(app->sessions_screen, width, height);
        return sessions_rows(app->sessions_screen);
    }
    struct view *v = views_top(&app->views);
    v->ops->resize(v, width, height);
    return v->ops->rows(v);
}

bool cover_caret(const struct app *app, int *row, int *col)
{
    if (!app->sessions_screen)
        return false;
    sessions_caret(app->sessions_screen, row, col);
    return true;
}
