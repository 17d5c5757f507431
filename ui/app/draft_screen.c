#include "ui/app/draft_screen.h"

#include "base/clock.h"
#include "base/i18n.h"
#include "ui/app/dispatch.h"

void draft_screen_take(struct app *app, const struct notice *n)
{
    draft_review_begin(&app->draft, n);
    attention_asked(app, _("a summary waits to be read"));
    app_touch_now(app, DIRTY_ALL);
}

void draft_screen_close(struct app *app)
{
    if (!draft_review_pending(&app->draft))
        return;
    draft_review_end(&app->draft);
    app_touch_now(app, DIRTY_ALL);
}

static void answer(struct app *app, enum draft_reply reply, const char *text)
{
    struct command *c = command_new(COMMAND_DRAFT, text);
    c->number = reply;
    engine_send(app->engine, c);
    draft_screen_close(app);
}

static void keep(struct app *app)
{
    answer(app, REPLY_COMMIT, draft_review_text(&app->draft));
}

static void refuse(struct app *app)
{
    answer(app, REPLY_REFUSE, NULL);
}

static void ask_again(struct app *app)
{
    answer(app, REPLY_AGAIN, draft_review_focus(&app->draft));
    transcript_redraft(app->transcript);
}

static void leave(struct app *app)
{
    app->leaving = true;
}

static void edit_outside(struct app *app)
{
    dispatch_edit_outside(app, draft_review_editor(&app->draft));
}

bool draft_screen_key(struct app *app, enum action action, const struct key *key)
{
    static void (*const what[])(struct app * app) = {
        [REVIEW_KEEP] = keep,          [REVIEW_REFUSE] = refuse, [REVIEW_AGAIN] = ask_again,
        [REVIEW_STOP] = dispatch_stop, [REVIEW_LEAVE] = leave,   [REVIEW_EXTERNAL] = edit_outside,
    };
    if (!draft_review_open(&app->draft) || !app_writes(app))
        return false;
    enum review_key k = draft_review_key(&app->draft, action, key);
    if (k == REVIEW_PASS)
        return false;
    if (k != REVIEW_TAKEN)
        what[k](app);
    app_touch_now(app, DIRTY_EDITOR);
    return true;
}

int64_t draft_screen_due(const struct app *app)
{
    return app_writes(app) ? draft_review_due(&app->draft) : 0;
}

/* A list of completions belongs to the message. */
void draft_screen_advance(struct app *app, int64_t now_ms)
{
    enum draft_stage before = app->draft.stage;
    draft_review_advance(&app->draft, app_writes(app), now_ms);
    if (app->draft.stage == before)
        return;
    app_close_list(app);
    app->dirty = DIRTY_ALL;
}
