#include "ui/app/compaction_screen.h"

#include "ui/app/cover.h"
#include "ui/app/jump.h"
#include "ui/app/memory_screen.h"
#include "ui/view/compaction_detail.h"

static void send(void *context, struct command *c)
{
    struct app *app = context;
    service_send(app->service, c);
}

void compaction_screen_open(struct app *app, int64_t seq)
{
    const struct compaction_host host = {&app->keymap, send, app};
    cover_close(app);
    app_close_overlay(app);
    app->compaction_screen = compaction_detail_new(&host, seq);
    app_touch_now(app, DIRTY_ALL);
}

void compaction_screen_close(struct app *app)
{
    compaction_detail_free(app->compaction_screen);
    app->compaction_screen = NULL;
    app_touch_now(app, DIRTY_ALL);
}

void compaction_screen_key(struct app *app, enum action action, const struct key *key)
{
    enum compaction_result result = compaction_detail_key(app->compaction_screen, action, key);
    int64_t message = compaction_detail_message(app->compaction_screen);
    app_touch_now(app, DIRTY_BODY);
    if (result != COMPACTION_STAYS)
        compaction_screen_close(app);
    if (result == COMPACTION_JUMP) {
        way_back_mark(app);
        jump_to(app, message);
    }
    if (result == COMPACTION_MEMORY)
        memory_screen_open_session(app);
}

void compaction_screen_click(struct app *app, int row)
{
    compaction_detail_click(app->compaction_screen, row);
    app_touch_now(app, DIRTY_BODY);
}

void compaction_screen_take(struct app *app, const struct notice *n)
{
    if (!app->compaction_screen)
        return;
    compaction_detail_take(app->compaction_screen, n);
    app_touch_now(app, DIRTY_BODY);
}

bool compaction_screen_failed(struct app *app, const struct notice *n, const char *words)
{
    return app->compaction_screen &&
           compaction_detail_failed(app->compaction_screen, n->command, words);
}
