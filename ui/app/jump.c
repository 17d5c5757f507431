#include "ui/app/jump.h"

#include "ui/view/memory_view.h"

static void go_on(struct app *app)
{
    bool shown = transcript_show_place(app->transcript, &app->jump);
    bool over = shown || app_want_older(app) == 0;
    if (over)
        jump_forget(app);
    if (over && !shown)
        memory_view_missed(app->memory);
    app_want_page(app);
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

void jump_to_place(struct app *app, const struct transcript_place *place)
{
    app->jump = *place;
    go_on(app);
}

void jump_to(struct app *app, int64_t seq)
{
    jump_to_place(app, &(struct transcript_place){.seq = seq});
}

void jump_page_came(struct app *app)
{
    if (app->jump.seq > 0)
        go_on(app);
}

void jump_forget(struct app *app)
{
    app->jump = (struct transcript_place){0};
}
