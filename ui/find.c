#include "ui/find.h"

#include <string.h>

#include "base/utf8.h"
#include "ui/edit_keys.h"
#include "ui/memory_screen.h"

static void step(struct app *app, bool older)
{
    const char *text = editor_text(app->find.line);
    app->find.failed = app->find.waiting = false;
    if (!*text)
        return;
    bool found = transcript_find(app->transcript, text, older);
    if (!found && older) { /* the store may hold older events than the screen */
        transcript_scroll_to_top(app->transcript);
        app_want_page(app);
        app->find.waiting = app->page_asked;
    }
    app->find.failed = !found && !app->find.waiting;
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

void find_open(struct app *app, const char *text)
{
    app_close_overlay(app);
    memory_screen_uncover(app);
    app->find.active = true;
    app->find.failed = app->find.waiting = false;
    if (*text)
        editor_set(app->find.line, text);
    step(app, true);
    app_touch_now(app, DIRTY_ALL);
}

void find_close(struct app *app)
{
    app->find.active = app->find.waiting = false;
    transcript_find(app->transcript, NULL, true);
    app_touch_now(app, DIRTY_ALL);
}

void find_page_came(struct app *app)
{
    if (app->find.active && app->find.waiting)
        step(app, true);
}

static void edit(struct app *app, enum action action, const struct key *key)
{
    if (key->code == K_PASTE) {
        struct buf clean = BUF_INIT;
        utf8_clean(&clean, key->text, strcspn(key->text, "\r\n"), UTF8_ONE_LINE);
        editor_paste(app->find.line, clean.data, clean.len);
        buf_release(&clean);
    } else {
        edit_key(app->find.line, action, key);
    }
    app->find.failed = false;
    app_touch_now(app, DIRTY_STATUS);
}

void find_key(struct app *app, enum action action, const struct key *key)
{
    switch (action) {
    case ACTION_CANCEL:
    case ACTION_CLEAR:
        find_close(app);
        break;
    case ACTION_SEND:
    case ACTION_FIND:
    case ACTION_UP:
        step(app, true);
        break;
    case ACTION_FIND_NEWER:
    case ACTION_NEWLINE:
    case ACTION_DOWN:
        step(app, false);
        break;
    default:
        edit(app, action, key);
    }
}
