#include "ui/app/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "ui/app/way_back.h"

static void keep_waiting(struct app *app, const char *text)
{
    char *joined = app->waiting ? mem_printf("%s\n\n%s", app->waiting, text) : mem_strdup(text);
    free(app->waiting);
    app->waiting = joined;
    app->waiting_after = app->activity.over;
}

static void begin_turn(struct app *app)
{
    app->activity.busy = true;
    app->activity.over = false;
    app->activity.started_ms = clock_mono_ms();
    way_back_forget(app);
    transcript_scroll_to_end(app->transcript);
    app_touch_now(app, DIRTY_ALL);
}

void message_send(struct app *app, const char *text)
{
    if (app_is_blank(text))
        return;
    editor_history_add(app->editor, text);
    if (app->activity.busy) {
        keep_waiting(app, text);
        app_touch_now(app, DIRTY_ALL);
    } else {
        (void)app_ask(app, &operation_turn_start,
                      &(struct turn_start_params){.text = text, .origin = INPUT_TYPED}, NULL);
        begin_turn(app);
    }
}

/* In other words; NULL: the same. */
static void retry(struct app *app, const char *text)
{
    (void)app_ask(app, &operation_turn_retry,
                  &(struct turn_retry_params){.text = text, .origin = INPUT_TYPED}, NULL);
    begin_turn(app);
}

void message_retry(struct app *app)
{
    if (app->activity.over) {
        app->retry_after = true;
        return;
    }
    if (app->activity.busy) {
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; use /retry when it has ended."));
        return;
    }
    if (app->fresh) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("No message was sent in this session yet."));
        return;
    }
    retry(app, NULL);
}

static void send_instead(struct app *app, const char *text)
{
    editor_history_add(app->editor, text);
    retry(app, text);
}

/* --- in place of the last one --- */

static bool wait_for_turn(struct app *app)
{
    if (app->activity.busy)
        app_note_briefly(app, STYLE_NOTE, "%s",
                         _("A turn is running; edit its message when it has ended."));
    return app->activity.busy;
}

void message_edit(struct app *app)
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

void message_keep(struct app *app)
{
    if (!app->replacing)
        return;
    app->replacing = false;
    app_touch_now(app, DIRTY_STATUS);
}

void message_replace(struct app *app, const char *text)
{
    if (wait_for_turn(app)) {
        app_give_back(app, text);
        return;
    }
    message_keep(app);
    send_instead(app, text);
}
