#include "ui/app/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/text/editor.h"
#include "ui/view/memory_view.h"

enum {
    PAGES_COUNTED = 50,         /* fetched so that all matches are known; only a step needs more */
    COUNTED_A_FRAME = 64 * 1024 /* bytes; so many take a few milliseconds */
};

static void want_all(struct app *app)
{
    if (app->find.waiting || app->find.pages >= PAGES_COUNTED)
        return;
    app->find.pages++;
    (void)app_want_older(app);
}

static void step(struct app *app, bool older)
{
    struct find *f = &app->find;
    f->failed = f->waiting = false;
    if (editor_len(f->line) == 0)
        return;
    f->stepped = true;
    if (!transcript_find(app->transcript, editor_text(f->line), older)) {
        /* Older events that are not loaded may match: the search wraps when all are loaded. */
        f->older = older;
        f->waiting = app_want_older(app) != 0;
        f->failed = !f->waiting && !transcript_find_around(app->transcript, older);
    }
    want_all(app);
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

void find_open(struct app *app, const char *text)
{
    struct find *f = &app->find;
    app_close_list(app);
    memory_view_uncover(app->memory);
    f->active = true;
    f->pages = 0;
    f->failed = f->waiting = f->stepped = false;
    if (editor_len(f->line) > 0) {
        free(f->former);
        f->former = mem_strdup(editor_text(f->line));
    }
    editor_set(f->line, text);
    step(app, true);
    app_touch_now(app, DIRTY_ALL);
}

static void close_line(struct view *view)
{
    struct app *app = view->host->app;
    app->find.active = app->find.waiting = false;
    transcript_find(app->transcript, NULL, true);
    view_touch(view);
}

static void edit(struct app *app, enum action action, const struct key *key)
{
    if (key->code == K_PASTE) {
        AUTO(buf_release) struct buf clean = BUF_INIT;
        utf8_clean(&clean, key->text, strcspn(key->text, "\r\n"), UTF8_ONE_LINE);
        editor_paste(app->find.line, clean.data, clean.len);
    } else {
        editor_take_key(app->find.line, action, key);
    }
    app->find.failed = app->find.stepped = app->find.waiting = false;
    transcript_look_for(app->transcript, editor_text(app->find.line));
    app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct app *app = view->host->app;
    switch (action) {
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_SCROLL_UP:
    case ACTION_SCROLL_DOWN:
        return false; /* they scroll the transcript */
    case ACTION_CANCEL:
    case ACTION_CLEAR:
        close_line(view);
        break;
    case ACTION_UP:
        if (editor_len(app->find.line) == 0 && app->find.former) {
            editor_set(app->find.line, app->find.former);
            app_touch_now(app, DIRTY_STATUS);
            break;
        } /* fallthrough */
    case ACTION_SEND:
    case ACTION_FIND:
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
    return true;
}

static void notice(struct view *view, struct notice *n)
{
    struct app *app = view->host->app;
    struct find *f = &app->find;
    if (f->active && n->type == NOTICE_SESSION && n->flag)
        close_line(view);
    if (!f->active || !f->stepped || n->type != NOTICE_PAGE)
        return;
    /* The search continues in the older events that have come. */
    if (f->waiting && (f->older || app_want_older(app) == 0))
        step(app, f->older);
    want_all(app);
    app->dirty |= DIRTY_STATUS;
}

static bool shown(const struct view *view)
{
    return view->host->app->find.active;
}

static void release(struct view *view)
{
    struct find *f = &view->host->app->find;
    editor_free(f->line);
    free(f->former);
}

static const struct view_ops ops = {
    .layer = VIEW_FIND,
    .free = release,
    .close = close_line,
    .shown = shown,
    .key = take_key,
    .notice = notice,
};

void find_init(struct app *app)
{
    app->find = (struct find){.view = {.ops = &ops, .host = &app->host}, .line = editor_new()};
    views_open(&app->views, &app->find.view);
}

bool find_state(struct app *app, struct buf *out)
{
    const struct find *f = &app->find;
    if (f->failed || f->waiting) {
        buf_addstr(out, f->failed ? _("no match") : _("looking further back"));
        return true;
    }
    if (editor_len(f->line) == 0)
        return true;
    /* "2 of 7", or "7 matches" while a person types; "2 of 7+" if pages that are not loaded may
     * match. */
    struct transcript_matches m = transcript_matches(app->transcript, COUNTED_A_FRAME);
    bool older = transcript_oldest(app->transcript) != 0;
    if (f->stepped && m.at > 0)
        buf_addf(out, _("%zu of %zu"), m.at, m.count);
    else if (!f->stepped)
        buf_addf(out, ngettext("%zu match", "%zu matches", m.count), m.count);
    if ((!f->stepped || m.at > 0) && (older || !m.whole))
        buf_addch(out, '+');
    return m.whole;
}
