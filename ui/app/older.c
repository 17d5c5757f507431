#include "ui/app/older.h"

#include "session/session_operations.h"
#include "ui/app/completion.h"
#include "ui/app/jump.h"
#include "ui/app/turns.h"

enum { PAGE_EVENTS = 200 };

void older_came(struct app *app)
{
    if (turns_page_came(app))
        completion_listed(app);
    jump_page_came(app);
}

void older_forget(struct app *app)
{
    asked_withdraw(&app->asked, app->engine, app->older_asked);
    app->older_asked = 0;
}

/* Views hear of it as they do of the first page. */
static void tell_views(struct app *app, struct session_history_result *page, int64_t before)
{
    struct notice n = {.type = NOTICE_PAGE, .number = before, .flag = page->more};
    n.events.items = page->events.items.items;
    n.events.len = page->events.items.len;
    (void)views_notice(&app->views, &n, NULL);
}

static void show(struct app *app, struct session_history_result *page, int64_t before)
{
    transcript_prepend(app->transcript, page->events.items.items, page->events.items.len,
                       page->more);
    older_came(app);
    tell_views(app, page, before);
    older_want_in_view(app);
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

static bool take(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_history_params *asked = a->request->params;
    app->older_asked = 0;
    if (words) {
        turns_forget(app);
        jump_forget(app);
        app->find.waiting = false;
        return false;
    }
    show(app, a->result, asked->before);
    return true;
}

static void ask(struct app *app, int64_t before)
{
    const struct session_history_params params = {
        .session = app->session.id, .newest = true, .before = before, .limit = PAGE_EVENTS};
    if (before > 0 && !app->older_asked)
        app->older_asked = app_ask(app, &operation_session_history, &params, take);
}

void older_want_in_view(struct app *app)
{
    ask(app, transcript_wants_before(app->transcript));
}

int64_t older_want(struct app *app)
{
    int64_t oldest = transcript_oldest(app->transcript);
    ask(app, oldest);
    return oldest;
}
