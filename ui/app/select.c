#include "ui/app/select.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/conversation_operations.h"
#include "session/session_operations.h"
#include "ui/app/clipboard.h"
#include "ui/app/turns.h"
#include "ui/view/context_view.h"
#include "ui/view/hints.h"

static void leave(struct view *view)
{
    struct app *app = view->host->app;
    mem_replace(&app->selecting.told, NULL);
    app->selecting.active = app->selecting.waiting = false;
    (void)transcript_leave_selected(app->transcript);
    app_touch_now(app, DIRTY_ALL);
}

void select_step(struct app *app, bool older)
{
    struct selecting *s = &app->selecting;
    bool found = transcript_select(app->transcript, older);
    s->active = s->active || found;
    s->waiting = app_want_older(app) != 0 && older && !found; /* numbers need all events, too */
    if (!found && !older)
        leave(&s->view);
    app_touch_now(app, DIRTY_ALL);
}

/* A message that is pinned already is unpinned. */
static bool take_pinned(struct app *app, struct operation_answer *a, const char *words)
{
    bool pinned =
        words && a->request->operation == &operation_compaction_pin && a->error.code == ERR_USAGE;
    if (pinned)
        (void)app_ask(app, &operation_compaction_unpin, a->request->params, take_pinned);
    else if (!words && app->selecting.active)
        app_note_briefly(app, STYLE_NOTE, "%s", _(a->request->operation->done));
    return !words || pinned;
}

/* False: the key does nothing here. */
static bool act(struct app *app, enum action action, const struct transcript_selected *m)
{
    const struct compaction_pin_params pin = {.seq = m->turn_seq};
    bool of_turn = m->turn_seq > 0 && !m->rewound;
    int64_t card = transcript_card(app->transcript, m->item);
    switch (action) {
    case ACTION_SELECT_COPY:
        clipboard_copy(app, m->text);
        return true;
    case ACTION_SEND:
    case ACTION_TOGGLE:
        if (card > 0)
            views_open(&app->views, compaction_detail_new(&app->host, card));
        else
            (void)transcript_toggle(app->transcript, m->item);
        return true;
    case ACTION_SELECT_FORK:
        message_fork(app, m);
        break;
    case ACTION_SELECT_EDIT:
    case ACTION_SELECT_REWIND:
    case ACTION_SELECT_PIN:
        if (!of_turn) {
            app_note_briefly(app, STYLE_NOTE, "%s", _("No longer part of the conversation."));
            return true;
        }
        if (action == ACTION_SELECT_PIN) {
            (void)app_ask(app, &operation_compaction_pin, &pin, take_pinned);
            return true;
        }
        if (action == ACTION_SELECT_EDIT && !message_edit_selected(app, m))
            return true;
        if (action == ACTION_SELECT_REWIND)
            message_rewind_to(app, m->turn_seq);
        break;
    default:
        return false;
    }
    leave(&app->selecting.view);
    return true;
}

/* Any other key ends the selection and does what it does elsewhere. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct app *app = view->host->app;
    struct transcript_selected m;
    enum action letter = keymap_find_in(view->host->keymap, key, KEYS_SELECT);
    mem_replace(&app->selecting.told, NULL);
    bool older = action == ACTION_SELECT_OLDER || action == ACTION_UP;
    if (older || action == ACTION_SELECT_NEWER || action == ACTION_DOWN) {
        select_step(app, older);
        return true;
    }
    if (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN || action == ACTION_SCROLL_UP ||
        action == ACTION_SCROLL_DOWN)
        return false; /* they scroll the transcript */
    if (transcript_selected(app->transcript, &m) &&
        act(app, letter != ACTION_NONE ? letter : action, &m)) {
        app_touch_now(app, DIRTY_ALL);
        return true;
    }
    leave(view);
    return action == ACTION_CANCEL || action == ACTION_CLEAR;
}

static void notice(struct view *view, struct notice *n)
{
    struct app *app = view->host->app;
    struct selecting *s = &app->selecting;
    if (s->active && n->type == NOTICE_SESSION && n->flag)
        leave(view);
    if (!s->active || n->type != NOTICE_PAGE)
        return;
    if (s->waiting)
        select_step(app, true);
    else
        (void)app_want_older(app);
    app->dirty |= DIRTY_BODY;
}

static bool shown(const struct view *view)
{
    return view->host->app->selecting.active;
}

static void release(struct view *view)
{
    rows_release(&view->host->app->selecting.foot);
    free(view->host->app->selecting.told);
}

static const struct view_ops ops = {
    .layer = VIEW_SELECT,
    .free = release,
    .close = leave,
    .shown = shown,
    .key = take_key,
    .notice = notice,
};

void select_init(struct app *app)
{
    app->selecting = (struct selecting){.view = {.ops = &ops, .host = &app->host}};
    rows_init(&app->selecting.foot);
    views_open(&app->views, &app->selecting.view);
}

const struct rows *select_foot(struct app *app, int columns)
{
    static const struct hint keys[] = {
        {ACTION_SELECT_COPY, NULL, N_("copy|copy the message")},
        {ACTION_SELECT_EDIT, NULL,
         N_("edit|edit your message and send it in place of the old one")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_SELECT_REWIND, NULL, N_("go back|go on from before your message")},
        {ACTION_SELECT_FORK, NULL, N_("fork|continue in a copy of the session up to there")},
        {ACTION_SELECT_PIN, NULL, N_("pin|pin or unpin your message")},
        {ACTION_SEND, NULL, N_("unfold|open or fold a tool call or reasoning")}};
    rows_clear(&app->selecting.foot);
    if (app->selecting.told)
        remark_row(&app->selecting.foot, app->selecting.told, STYLE_NOTE, (size_t)columns);
    else
        hints_rows(&app->selecting.foot, &app->keymap, HINTS(keys, 0), (size_t)columns, 1);
    return &app->selecting.foot;
}
