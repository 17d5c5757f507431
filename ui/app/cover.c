#include "ui/app/cover.h"

#include "ui/app/compaction_screen.h"
#include "ui/app/context_screen.h"
#include "ui/app/memory_screen.h"
#include "ui/app/sessions_screen.h"
#include "ui/view/compaction_detail.h"
#include "ui/view/context_view.h"
#include "ui/view/sessions.h"

bool cover_open(const struct app *app)
{
    return app->sessions_screen || app->context_screen || app->compaction_screen;
}

void cover_close(struct app *app)
{
    sessions_screen_close(app);
    context_screen_close(app);
    compaction_screen_close(app);
    if (memory_screen_covers(app))
        memory_screen_close(app);
}

void cover_key(struct app *app, enum action action, const struct key *key)
{
    if (app->sessions_screen)
        sessions_screen_key(app, action, key);
    else if (app->context_screen)
        context_screen_key(app, action, key);
    else
        compaction_screen_key(app, action, key);
}

void cover_click(struct app *app, int row, int col)
{
    if (app->sessions_screen)
        sessions_screen_click(app, row, col);
    else if (app->context_screen)
        context_screen_click(app, row);
    else
        compaction_screen_click(app, row);
}

const struct rows *cover_rows(struct app *app, int width, int height)
{
    if (app->sessions_screen) {
        sessions_resize(app->sessions_screen, width, height);
        return sessions_rows(app->sessions_screen);
    }
    if (app->context_screen) {
        context_view_resize(app->context_screen, width, height);
        return context_view_rows(app->context_screen);
    }
    compaction_detail_resize(app->compaction_screen, width, height);
    return compaction_detail_rows(app->compaction_screen);
}

bool cover_caret(const struct app *app, int *row, int *col)
{
    if (!app->sessions_screen)
        return false;
    sessions_caret(app->sessions_screen, row, col);
    return true;
}
